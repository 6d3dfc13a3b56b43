//! `espbench tune`: which settings a firmware should have, and what holds an sdkconfig back.
//!
//! | module | contents |
//! |---|---|
//! | `check` | `espbench tune --check` |
//! | `find` | `espbench tune --want`: a search in the virtual lab |
//! | `units` | quantities of the flags |

mod check;
mod find;
mod units;

use super::common::OutputArgs;
use clap::Args as Flags;
use espbench_measure::plan::DEFAULT_SEED;
use espbench_measure::tune::Want;
use espbench_model::sdkconfig::{Chip, IdfRelease};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  espbench tune --check sdkconfig
  espbench tune --check sdkconfig.defaults --chip esp32c3 --rtt 20ms --streams 2 --burst 16
  espbench tune --want 'tcp-tx>=20Mbit/s' --want 'heap>=100KB' -o tune.html --fragment sdkconfig.tuned
  espbench tune --want 'udp-latency<=150ms' --want 'battery>=10d' --message-every 30s

What can be wanted: tcp-tx, tcp-rx, udp-tx, udp-rx (>= Mbit/s), udp-latency and udp-latency-p99
(<= ms), heap (>= KB), current (<= mA), battery (>= d). Directions are the device's. Every figure of
a search is simulated.";

/// Flags.
#[derive(Debug, Flags)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Check an existing sdkconfig, or sdkconfig.defaults, against Espressif's documents, without a
    /// run: its mistakes, and what limits the throughput
    #[arg(long, value_name = "FILE", required_unless_present = "want", conflicts_with = "want")]
    check: Option<PathBuf>,
    /// Search in the virtual lab for settings that reach this (repeatable): 'tcp-tx>=20Mbit/s'
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
    /// Round trip to the other side: 5ms, 40ms, … [default: 5 ms for a check, the lab's for a search]
    #[arg(long, value_name = "TIME", value_parser = units::round_trip)]
    rtt: Option<Duration>,
    /// Heap before Wi-Fi starts, as esp_get_free_heap_size() tells it: 200KB [default: that of a
    /// firmware as small as the iperf example]
    #[arg(long, value_name = "SIZE", value_parser = units::memory)]
    heap: Option<u64>,
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Flags of a check.
#[derive(Debug, Flags)]
#[command(next_help_heading = "With --check")]
struct FileArgs {
    /// UDP sockets at a time
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(0..=253))]
    udp_sockets: u16,
    /// UDP datagrams that come back to back
    #[arg(long, value_name = "DATAGRAMS", value_parser = clap::value_parser!(u32).range(1..))]
    burst: Option<u32>,
    /// Buffers of Wi-Fi and lwIP are in PSRAM [default: what the file says]
    #[arg(long)]
    psram: bool,
    /// Exit with status 1 where something is wrong
    #[arg(long)]
    strict: bool,
}

/// Flags of a search.
#[derive(Clone, Debug, Flags)]
#[command(next_help_heading = "With --want")]
struct SearchArgs {
    /// The lab: a built-in one or a TOML file, with variants
    #[arg(long, default_value = "shield-box")]
    lab: String,
    /// Which of its variants: the place, the network, the firmware's other settings [default: the
    /// first]
    #[arg(long)]
    variant: Option<String>,
    /// Evaluations of candidates; those of the recommended one without each of its settings come on top
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u16).range(1..=20_000))]
    budget: u16,
    /// Virtual time for which each throughput is measured
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = units::test_time)]
    time: Duration,
    /// Time between two messages of 100 bytes, each sent and answered, while the current is measured
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = units::test_time)]
    message_every: Duration,
    /// Capacity of the battery that the device can use, in mAh; the default is 85 % of an 18650
    /// cell
    #[arg(long, value_name = "MAH", default_value_t = 2210.0, value_parser = units::capacity)]
    battery_mah: f64,
    /// Write the recommended settings to this file, as lines for sdkconfig.defaults
    #[arg(long, value_name = "FILE")]
    fragment: Option<PathBuf>,
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

fn chip(text: &str) -> Result<Chip, String> {
    text.parse().map_err(|e| format!("`{text}` is {e}"))
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
    match &args.check {
        Some(path) => check::run(args, path),
        None => find::run(args),
    }
}
