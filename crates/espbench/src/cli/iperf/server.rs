//! `espbench iperf -s`: the server, and its lines as they come.

use super::Args;
use crate::cli::common::Format;
use crate::cli::flow::on_interrupt;
use crate::cli::output;
use crate::respond::Log;
use crate::respond::iperf::{Observe, Options, Seen, start};
use crate::say::say;
use anyhow::{Context as _, bail};
use espbench_measure::summary::iperf::{lines::Lines, megabits};
use espbench_proto::sample::{Interval, Sample};
use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const CSV_HEAD: &str = "test,peer,transport,observer,total,start_s,end_s,bytes,mbit_per_s,datagrams,\
                        lost,out_of_order,duplicates,jitter_ms,retransmits\n";

/// Serves until Ctrl-C, or for `-t`.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let format = args.measure.output.format;
    if !matches!(format, Format::Text | Format::Json | Format::Jsonl | Format::Csv) {
        bail!("the server prints lines: use --format text, json or csv");
    }
    let any = if args.ipv6_domain {
        SocketAddr::from((Ipv6Addr::UNSPECIFIED, args.port))
    } else {
        SocketAddr::from((Ipv4Addr::UNSPECIFIED, args.port))
    };
    let address = match &args.bind {
        Some(text) => super::bind_address(text, args.port)?,
        None => any,
    };
    let window = args.window.map(u32::try_from).transpose().context("-w is too much")?;
    let interval = args.interval.unwrap_or_default();
    let options = Options { interval, window, tcp: !args.udp, udp: true };
    let cancel = on_interrupt()?;
    let log: Log = Arc::new(move |line| say!("{line}"));
    let printer = Arc::new(Mutex::new(Printer { format, interval, tests: HashMap::new() }));
    let observe: Observe = Arc::new(move |test, seen| {
        let mut printer = printer.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = output::print(&printer.lines(test, seen));
    });
    let service = start(address, options, &log, Some(observe)).with_context(|| {
        format!("cannot serve on {address}: is another server there? choose a port with -p")
    })?;
    let transports = if args.udp { "UDP" } else { "TCP and UDP" };
    say!("Server listening on {} port {}", transports, service.address.port());
    if format == Format::Csv {
        let _ = output::print(CSV_HEAD);
    }
    let end = args.time.map(|time| Instant::now() + time);
    while !cancel.load(Ordering::Relaxed) && end.is_none_or(|end| Instant::now() < end) {
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(ExitCode::SUCCESS)
}

struct Printer {
    format: Format,
    interval: Duration,
    tests: HashMap<u32, Known>,
}

struct Known {
    peer: SocketAddr,
    transport: &'static str,
    lines: Lines,
}

impl Printer {
    fn lines(&mut self, test: u32, seen: &Seen) -> String {
        match seen {
            Seen::Began { peer, local, udp, .. } => {
                let transport = if *udp { "udp" } else { "tcp" };
                let lines = Lines::new(1, self.interval);
                self.tests.insert(test, Known { peer: *peer, transport, lines });
                // Tests of long ago are over; their memory is bounded.
                self.tests.retain(|&number, _| number + 1000 > test);
                let began =
                    format!("[{test:3}] local {local} connected with {peer}, {transport}\n");
                if self.format == Format::Text { began } else { String::new() }
            }
            Seen::Note(_) => String::new(),
            Seen::Sample(Sample::Interval(interval)) => self.interval(test, interval),
            Seen::Sample(Sample::Probe(_)) => String::new(),
        }
    }

    fn interval(&mut self, test: u32, interval: &Interval) -> String {
        let Some(known) = self.tests.get_mut(&test) else { return String::new() };
        match self.format {
            Format::Csv => row(test, known, interval),
            Format::Json | Format::Jsonl => object(test, known, interval),
            _ => known
                .lines
                .add(interval)
                .iter()
                // The server's number is the test's.
                .map(|line| format!("{}\n", line.replacen("[  1]", &format!("[{test:3}]"), 1)))
                .collect(),
        }
    }
}

fn row(test: u32, known: &Known, i: &Interval) -> String {
    let count = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
    let rate = megabits(i.bytes, i.end.since(i.start));
    format!(
        "{test},{},{},{},{},{:.6},{:.6},{},{},{},{},{},{},{},{}\n",
        known.peer,
        known.transport,
        i.observer.name(),
        i.total,
        seconds(i.start),
        seconds(i.end),
        i.bytes,
        rate.map_or_else(String::new, |r| format!("{r:.6}")),
        count(i.datagrams),
        count(i.lost),
        count(i.out_of_order),
        count(i.duplicates),
        i.jitter_ns.map_or_else(String::new, |j| format!("{:.6}", j as f64 / 1e6)),
        count(i.retransmits),
    )
}

fn object(test: u32, known: &Known, i: &Interval) -> String {
    let value = serde_json::json!({
        "test": test,
        "peer": known.peer.to_string(),
        "transport": known.transport,
        "observer": i.observer.name(),
        "total": i.total,
        "start_s": seconds(i.start),
        "end_s": seconds(i.end),
        "bytes": i.bytes,
        "mbit_per_s": megabits(i.bytes, i.end.since(i.start)),
        "datagrams": i.datagrams,
        "lost": i.lost,
        "out_of_order": i.out_of_order,
        "duplicates": i.duplicates,
        "jitter_ms": i.jitter_ns.map(|j| j as f64 / 1e6),
        "retransmits": i.retransmits,
    });
    format!("{value}\n")
}

fn seconds(at: espbench_proto::time::Instant) -> f64 {
    at.as_nanos() as f64 / 1e9
}
