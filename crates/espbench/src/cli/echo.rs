//! `espbench echo`.

use super::common::{MeasureArgs, SiteArgs};
use super::file;
use super::flow::{self, Live, Measurement};
use super::output;
use crate::respond::echo::SKETCH_PORT;
use crate::target::spec;
use anyhow::{Context as _, bail};
use espbench_measure::kind::udp_echo::ECHO_SIZES;
use espbench_measure::plan::{DEFAULT_SEED, Plan, defaults, print};
use espbench_measure::units;
use espbench_model::sample::{Fate, Sample};
use espbench_model::workload::{EchoFormat, UdpEcho, Workload};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The device that echoes; the port is 10000 where not given
    #[arg(value_name = "HOST[:PORT]")]
    host: String,
    /// Payload sizes in bytes [default: the 23 of the published benchmark]
    #[arg(short, long, value_delimiter = ',', value_name = "BYTES")]
    size: Vec<u32>,
    /// Probes of each size
    #[arg(short = 'n', visible_short_alias = 'c', long, default_value_t = 1000)]
    count: u32,
    /// Probes sent first and not counted
    #[arg(long, default_value_t = 1)]
    discard: u32,
    /// Binary probes with sequence numbers, instead of ASCII digits and a line feed
    #[arg(short, long)]
    binary: bool,
    /// Most probes in flight; more than one needs --binary
    #[arg(short = 'w', long, default_value_t = 1, value_name = "NUMBER")]
    in_flight: u16,
    /// Time from one probe to the next, such as 10ms [default: as soon as answered]
    #[arg(short, long, value_parser = units::seconds)]
    interval: Option<Duration>,
    /// Time after which a probe is lost, or late if it still comes; without --binary the next one waits as long again, so that a late reply is not
    /// taken for its own
    #[arg(short, long, default_value = "1 s", value_parser = units::seconds)]
    timeout: Duration,
    /// Port of this host that replies come to; 0 is any. The sketch of the published benchmark replies to 10001 only
    #[arg(long, default_value_t = 10001, value_name = "PORT")]
    local_port: u16,
    /// Append one row a size to this file: the size, then each cycle's time in seconds (-1 where
    /// the content differed), as the published client writes it
    #[arg(long, value_name = "FILE")]
    csv_raw: Option<PathBuf>,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    measure: MeasureArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// Whatever kept it from measuring; exit status 2.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let peer = spec::address(&args.host, SKETCH_PORT)?;
    let target_text = format!("udp:{peer}");
    let mut access = args.site.access();
    access.local_port = Some(args.local_port);
    let target = spec::parse(&target_text, &access)?;
    let seed = args.measure.seed.unwrap_or(DEFAULT_SEED);
    let text = print("echo", seed, &workloads(args)?);
    // The text is what is stored; reading it checks the flags' values as a plan's.
    let plan = Plan::parse(&text).map_err(|e| anyhow::anyhow!("{}", e.message))?;
    let set = flow::set_of(vec![plan])?;
    let mut raw = args.csv_raw.as_ref().map(|_| RawRows::default());
    let live = raw.as_mut().map(|rows| -> Live<'_> { Box::new(|sample| rows.add(sample)) });
    let job = Measurement {
        set,
        target_text,
        target,
        args: &args.measure,
        live,
        prints: flow::Prints::Nothing,
        beside: None,
        shard: None,
    };
    let status = flow::measure(job)?;
    if let (Some(path), Some(rows)) = (&args.csv_raw, raw) {
        rows.append(path).with_context(|| output::cannot_write(path))?;
    }
    Ok(status)
}

fn workloads(args: &Args) -> anyhow::Result<Vec<Workload>> {
    let Some(Workload::UdpEcho(usual)) = defaults("udp-echo") else {
        bail!("the echo workload has no defaults");
    };
    let sizes = if args.size.is_empty() { &ECHO_SIZES[..] } else { &args.size[..] };
    let format = if args.binary { EchoFormat::Binary } else { EchoFormat::Ascii };
    // The binary header is longer than the smallest of the published sizes.
    let least = if args.binary && args.size.is_empty() { 16 } else { 0 };
    let work = UdpEcho {
        count: args.count,
        discard: args.discard,
        format,
        in_flight: args.in_flight,
        interval: args.interval,
        timeout: args.timeout,
        ..usual
    };
    let list = sizes.iter().filter(|size| **size >= least);
    Ok(list.map(|&size| Workload::UdpEcho(UdpEcho { size, ..work })).collect())
}

/// The rows of the published client (`udp_benchmark_pc.csv`): by size, then by cycle.
#[derive(Debug, Default)]
struct RawRows(BTreeMap<u32, BTreeMap<u64, String>>);

impl RawRows {
    fn add(&mut self, sample: &Sample) {
        let Sample::Probe(probe) = sample else { return };
        let text = match (probe.fate, probe.sent, probe.received) {
            (Fate::Delivered | Fate::Late, Some(sent), Some(received)) => {
                seconds(received.since(sent))
            }
            (Fate::Corrupt, ..) => "-1".into(),
            // The published client would wait for ever; a lost cycle leaves its place empty.
            (Fate::Lost(_), ..) => String::new(),
            _ => return,
        };
        self.0.entry(probe.bytes).or_default().insert(probe.seq, text);
    }

    fn append(&self, path: &std::path::Path) -> std::io::Result<()> {
        let mut text = String::new();
        for (size, cycles) in &self.0 {
            // Python's csv module ends lines with CR LF (RFC 4180).
            let cycles: Vec<&str> = cycles.values().map(String::as_str).collect();
            text.push_str(&format!("{size},{}\r\n", cycles.join(",")));
        }
        file::append(path, text.as_bytes())
    }
}

/// Prints seconds rounded to six places, as Python prints `round(x, 6)`.
fn seconds(time: Duration) -> String {
    let micros = (time.as_nanos() + 500) / 1000;
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let text = text.trim_end_matches('0');
    if text.ends_with('.') { format!("{text}0") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_as_the_published_client_writes_them() {
        for (nanos, text) in [
            (6_728_499, "0.006728"),
            (6_728_500, "0.006729"),
            (6_700_000, "0.0067"),
            (2_000_000_000, "2.0"),
            (0, "0.0"),
        ] {
            assert_eq!(seconds(Duration::from_nanos(nanos)), text);
        }
    }
}
