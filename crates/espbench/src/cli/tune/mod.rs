//! `espbench tune`: which settings a firmware should have, and what holds an sdkconfig back.
//!
//! | module | contents |
//! |---|---|
//! | `check` | `espbench tune --check` |
//! | `find` | `espbench tune --want`: a search in the virtual lab |
//! | `lab` | the lab that both are tried in, and evaluations on all cores |
//! | `rtt` | the round trip that both assume |
//! | `units` | quantities of the flags |

mod check;
mod find;
mod lab;
mod rtt;
mod units;

use super::common::{OutputArgs, StoreArgs, chip};
use crate::labs;
use crate::user_error::UserError;
use clap::Args as Flags;
use espbench_measure::plan::DEFAULT_SEED;
use espbench_measure::predict::battery::Battery;
use espbench_measure::tune::Want;
use espbench_model::sdkconfig::{Chip, IdfRelease};
use espbench_model::speech::{FlagName, FlagValue};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  espbench tune --check sdkconfig
  espbench tune --check host/sdkconfig slave/sdkconfig
  espbench tune --check sdkconfig.defaults --chip esp32c3 --rtt 20ms --streams 2 --burst 16
  espbench tune --check sdkconfig --want 'tcp-tx>=20Mbit/s' --rtt ping-1 --fragment sdkconfig.tuned
  espbench tune --want 'tcp-tx>=20Mbit/s' --want 'heap>=100KB' -o tune.html
  espbench tune --want 'udp-latency<=150ms' --want 'battery>=4d' --message-every 30s

What can be wanted: tcp-tx, tcp-rx, udp-tx, udp-rx (>= Mbit/s), udp-latency and udp-latency-p99
(<= ms), heap (>= KB), current (<= mA), battery (>= d). Directions are the device's. Every figure of
the lab is simulated.";

/// Flags.
#[derive(Debug, Flags)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Check an existing sdkconfig, or sdkconfig.defaults: its mistakes, what limits the throughput, and
    /// the one setting that gives most; with --want, search from there. Of ESP-Hosted two: the host's and
    /// the co-processor's
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present = "want")]
    check: Vec<PathBuf>,
    /// Search in the virtual lab for settings that reach this (repeatable): 'tcp-tx>=20Mbit/s'; with
    /// --check, the fewest changes to that file
    #[arg(long, value_name = "WANT")]
    want: Vec<Want>,
    /// The chip [default: the file's CONFIG_IDF_TARGET, or the lab's]
    #[arg(long, value_parser = chip)]
    chip: Option<Chip>,
    /// The release of ESP-IDF, whose names, ranges and defaults hold [default: the file's, or v5.2]
    #[arg(long, value_name = "RELEASE", value_parser = release)]
    idf: Option<IdfRelease>,
    /// TCP streams at a time
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=253))]
    streams: u16,
    /// Round trip to the other side: a time (5ms, 40ms, …), or a stored run of ping or echo, whose
    /// median it is [default: that of a ping in the lab]
    #[arg(long, value_name = "TIME|RUN", value_parser = rtt::parse)]
    rtt: Option<rtt::AskedRoundTrip>,
    /// Heap before Wi-Fi starts, as esp_get_free_heap_size() tells it: 200KB [default: that of a
    /// firmware as small as the iperf example]
    #[arg(long, value_name = "SIZE", value_parser = units::memory)]
    heap: Option<u64>,
    /// The board has PSRAM, so that buffers of Wi-Fi and lwIP may be there [default: what the file's
    /// CONFIG_SPIRAM says]
    #[arg(long)]
    psram: bool,
    /// Write the settings that are recommended to this file, as lines for sdkconfig.defaults
    #[arg(long, value_name = "FILE")]
    fragment: Option<PathBuf>,
    #[command(flatten)]
    lab: LabArgs,
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten, next_help_heading = "Runs and output")]
    store: StoreArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Flags of the lab, in which a file and candidates are tried.
#[derive(Clone, Debug, Flags)]
#[command(next_help_heading = "The lab")]
struct LabArgs {
    /// The lab: a built-in one or a TOML file, with variants
    #[arg(long, default_value = "shield-box")]
    lab: String,
    /// Which of its variants: the place, the network, the firmware's other settings [default: the
    /// first]
    #[arg(long)]
    variant: Option<String>,
    /// Virtual time for which each throughput is measured
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = units::test_time)]
    time: Duration,
    /// Worker threads [default: one for each core]; they do not change the result
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Seed of everything random
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// No progress on stderr
    #[arg(short, long)]
    quiet: bool,
}

/// Flags of a check alone.
#[derive(Debug, Flags)]
#[command(next_help_heading = "With --check, without --want")]
struct FileArgs {
    /// UDP sockets at a time [default: 1]
    #[arg(long, requires = "check", conflicts_with = "want", value_parser = clap::value_parser!(u16).range(0..=253))]
    udp_sockets: Option<u16>,
    /// UDP datagrams that come back to back
    #[arg(long, value_name = "DATAGRAMS", requires = "check", conflicts_with = "want", value_parser = clap::value_parser!(u32).range(1..))]
    burst: Option<u32>,
    /// Exit with status 1 where something is wrong
    #[arg(long, requires = "check", conflicts_with = "want")]
    strict: bool,
}

/// Flags of a search.
#[derive(Clone, Debug, Flags)]
#[command(next_help_heading = "With --want")]
struct SearchArgs {
    /// Evaluations of candidates [default: 120]; those with which the best is pruned and tried again come
    /// on top
    #[arg(long, requires = "want", value_parser = clap::value_parser!(u16).range(1..=20_000))]
    budget: Option<u16>,
    /// Time between two messages of 100 bytes, each sent and answered, while the current is measured
    /// [default: 10s]
    #[arg(long, value_name = "TIME", requires = "want", value_parser = units::test_time)]
    message_every: Option<Duration>,
    /// Battery of the device: 2xAA, AAA, CR123A, 18650, LiPo-500, CR2032, or a charge such as 2500mAh
    /// [default: 18650]
    #[arg(long, alias = "battery-mah", value_name = "BATTERY", requires = "want", value_parser = battery)]
    battery: Option<Battery>,
}

/// Parses a battery: the name of a cell such as 18650, else a number alone is its charge in mAh.
fn battery(text: &str) -> Result<Battery, String> {
    let named: Result<Battery, String> = text.parse();
    match text.parse::<f64>() {
        Ok(_) if named.is_err() => format!("{text}mAh").parse(),
        _ => named,
    }
}

fn release(text: &str) -> Result<IdfRelease, String> {
    text.parse().map_err(|e| format!("`{text}` is {e}"))
}

/// Runs the subcommand. Exit status: 0 fine, 1 something is wrong and --strict was said, or nothing
/// has all that is wanted, 2 could not be done.
///
/// # Errors
/// A flag or a file is wrong, or the output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &*args.check {
        [path] if args.want.is_empty() => check::run(args, path, None),
        [host, co_processor] if args.want.is_empty() => check::run(args, host, Some(co_processor)),
        [] | [_] => find::run(args),
        [_, _, third, ..] => {
            Err(UserError::new(format!("{} is a third sdkconfig", third.display()))
                .because("a check is of one file, or of a host's and its co-processor's")
                .remedy(format!(
                    "check each alone, or the two: {}",
                    FlagValue("--check", "HOST SLAVE")
                ))
                .into())
        }
        [_, _] => Err(UserError::new("a search begins with one sdkconfig")
            .because(labs::NO_HOST)
            .remedy(format!("check the two without {}, or name one", FlagName("--want")))
            .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_s_name_is_no_charge() {
        for (text, same) in [("18650", "18650"), ("2500", "2500mAh"), ("2500mAh", "2500mAh")] {
            assert_eq!(battery(text), same.parse(), "{text}");
        }
        assert_eq!(battery("18650").unwrap().name, "18650");
        assert!(battery("-5").is_err());
    }
}
