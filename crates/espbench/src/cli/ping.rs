//! `espbench ping`.

use super::common::{Format, MeasureArgs, SiteArgs};
use super::flow::{self, Live, Measurement};
use super::output;
use crate::target::ping::PingTarget;
use crate::target::spec;
use espbench_measure::plan::{DEFAULT_SEED, Plan, defaults, print};
use espbench_measure::units;
use espbench_model::sample::{Cause, Fate, Probe, Sample};
use espbench_model::workload::{Ping, Workload};
use std::net::IpAddr;
use std::process::ExitCode;
use std::time::Duration;

/// Flags, under the names that ping has for them.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Any host that answers ICMP echo requests
    #[arg(value_name = "HOST")]
    host: String,
    /// Requests of each size
    #[arg(short, long, default_value_t = 100)]
    count: u32,
    /// Time from one request to the next: seconds, or such as "20 ms"
    #[arg(short, long, default_value = "100 ms", value_parser = units::seconds)]
    interval: Duration,
    /// Bytes of data; several make a sweep
    #[arg(short, long, value_delimiter = ',', default_value = "56", value_name = "BYTES")]
    size: Vec<u32>,
    /// Time after which a request is lost, or late if its reply still comes: seconds, or such as "500 ms"
    #[arg(short = 'W', long, default_value = "2 s", value_parser = units::seconds)]
    timeout: Duration,
    /// Requests sent first and not counted: the first one may wait for ARP
    #[arg(long, default_value_t = 0, value_name = "COUNT")]
    discard: u32,
    /// Type of service, or traffic class: such as 0xb8 for expedited forwarding
    #[arg(short = 'Q', long, value_parser = byte)]
    tos: Option<u8>,
    /// Time to live, or hop limit
    #[arg(short, long, value_parser = clap::value_parser!(u8).range(1..))]
    ttl: Option<u8>,
    /// IPv4 only
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// IPv6 only
    #[arg(short = '6', long)]
    ipv6: bool,
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
    let v6 = (args.ipv4 || args.ipv6).then_some(args.ipv6);
    let peer = spec::host(&args.host, v6)?;
    let seed = args.measure.seed.unwrap_or(DEFAULT_SEED);
    // The text is what is stored; reading it checks the flags' values as a plan's.
    let text = print("ping", seed, &workloads(args));
    let plan = Plan::parse(&text).map_err(|e| anyhow::anyhow!("{}", e.message))?;
    let prints = args.measure.output.format == Format::Text && !args.measure.quiet;
    if prints {
        output::print(&format!("PING {} ({})\n", args.host, peer.ip()))?;
    }
    let live = prints.then(|| -> Live<'_> {
        Box::new(move |sample| {
            // What is awaited when the user stops is not lost.
            if let Sample::Probe(probe) = sample
                && probe.fate != Fate::Lost(Cause::Stopped)
            {
                let _ = output::print(&line(peer.ip(), probe));
            }
        })
    });
    flow::measure(Measurement {
        set: flow::set_of(vec![plan])?,
        target_text: format!("icmp:{}", args.host),
        target: Box::new(PingTarget { peer, site: args.site.site() }),
        args: &args.measure,
        live,
        prints: if prints { flow::Prints::Lines } else { flow::Prints::Nothing },
        beside: None,
        shard: None,
    })
}

fn workloads(args: &Args) -> Vec<Workload> {
    let Some(Workload::Ping(usual)) = defaults("ping") else { return Vec::new() };
    let work = Ping {
        count: args.count,
        discard: args.discard,
        interval: args.interval,
        timeout: args.timeout,
        tos: args.tos,
        ttl: args.ttl,
        ..usual
    };
    args.size.iter().map(|&size| Workload::Ping(Ping { size, ..work })).collect()
}

/// Returns a line as ping prints it: `64 bytes from 192.0.2.7: icmp_seq=1 time=3.21 ms`.
fn line(peer: IpAddr, probe: &Probe) -> String {
    let seq = probe.seq + 1;
    let bytes = u64::from(probe.bytes) + 8;
    let time = probe.sent.zip(probe.received).map(|(sent, received)| received.since(sent));
    let time = time.map_or_else(String::new, |t| format!(" time={:.3} ms", t.as_secs_f64() * 1e3));
    match probe.fate {
        Fate::Delivered => format!("{bytes} bytes from {peer}: icmp_seq={seq}{time}\n"),
        Fate::Late => format!("{bytes} bytes from {peer}: icmp_seq={seq}{time} (late)\n"),
        Fate::Duplicate => format!("{bytes} bytes from {peer}: icmp_seq={seq}{time} (DUP!)\n"),
        Fate::Corrupt => format!("from {peer}: icmp_seq={seq}{time} (wrong data)\n"),
        Fate::Lost(cause) => format!("to {peer}: icmp_seq={seq} lost: {}\n", cause.name()),
    }
}

/// Parses a byte, decimal or hexadecimal.
fn byte(text: &str) -> Result<u8, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "a byte: 0 to 255, or 0x00 to 0xff".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_model::time::Instant;

    #[test]
    fn bytes_as_ping_takes_them() {
        assert_eq!((byte("0xB8"), byte("184")), (Ok(184), Ok(184)));
        assert!(byte("256").is_err() && byte("0x100").is_err() && byte("-1").is_err());
    }

    #[test]
    fn lines_are_those_of_ping() {
        let peer = IpAddr::from([192, 0, 2, 7]);
        let at = |us: u64| Some(Instant::from_nanos(us * 1000));
        let (sent, received) = (at(100), at(3310));
        let probe = Probe { bytes: 56, sent, received, ..Probe::default() };
        assert_eq!(line(peer, &probe), "64 bytes from 192.0.2.7: icmp_seq=1 time=3.210 ms\n");
        let lost = Probe { fate: Fate::Lost(Cause::HopLimit), seq: 4, ..Probe::default() };
        assert_eq!(line(peer, &lost), "to 192.0.2.7: icmp_seq=5 lost: hop-limit\n");
    }
}
