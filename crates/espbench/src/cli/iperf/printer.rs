//! Printed lines of a server about the tests that it sees.

use super::rows::RowStream;
use crate::cli::common::Format;
use crate::respond::iperf::{ClientRequest, ServerEvent};
use espbench_measure::kind::iperf::lines::{IperfLines, Style};
use espbench_measure::units::megabits;
use espbench_model::sample::{Interval, Sample};
use espbench_proto::wire::iperf2::TestMode;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The head of [`PrintForm::Of`] CSV.
pub(super) const CSV_HEAD: &str = "test,peer,transport,observer,total,start_s,end_s,bytes,mbit_per_s,datagrams,\
                                   lost,out_of_order,duplicates,jitter_ms,retransmits\n";
/// Tests whose addresses and sums are kept: older ones are over.
const KEPT: u32 = 1000;
/// Most streams of a client that are summed up.
const MOST_STREAMS: u32 = 128;

/// Form of what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrintForm {
    /// Lines, or this tool's own rows or objects.
    Of(Format),
    /// `-y C`.
    Rows,
}

/// Prints tests as they go on; streams of one client are summed up.
pub(super) struct IperfPrinter {
    kind: PrintForm,
    interval: Duration,
    style: Style,
    tests: HashMap<u32, TestEnds>,
    /// The lines of all streams of a client, by the number of the first.
    groups: HashMap<u32, ClientGroup>,
}

struct TestEnds {
    local: SocketAddr,
    peer: SocketAddr,
    udp: bool,
    group: u32,
}

/// Streams of one client (`-P`).
struct ClientGroup {
    who: (IpAddr, bool, TestMode, u32),
    /// Streams that have not come yet.
    awaited: u32,
    lines: IperfLines,
}

impl IperfPrinter {
    pub(super) fn new(kind: PrintForm, interval: Duration, style: Style) -> Self {
        Self { kind, interval, style, tests: HashMap::new(), groups: HashMap::new() }
    }

    pub(super) fn lines(&mut self, test: u32, seen: &ServerEvent) -> String {
        match seen {
            ServerEvent::Began { peer, local, udp, asked } => {
                let group = self.group(test, *peer, *udp, asked);
                let known = TestEnds { local: *local, peer: *peer, udp: *udp, group };
                self.tests.insert(test, known);
                // Tests of long ago are over; their memory is bounded.
                self.tests.retain(|&number, _| number + KEPT > test);
                self.groups.retain(|&number, _| number + KEPT > test);
                let transport = if *udp { "udp" } else { "tcp" };
                let timed = if asked.trip_times { " (trip-times)" } else { "" };
                let [local, peer] =
                    [local, peer].map(|it| format!("{} port {}", it.ip(), it.port()));
                let began =
                    format!("[{test:3}] local {local} connected with {peer}, {transport}{timed}\n");
                if self.kind == PrintForm::Of(Format::Text) { began } else { String::new() }
            }
            ServerEvent::Note(_) => String::new(),
            ServerEvent::Sample(Sample::Interval(interval)) => self.interval(test, interval),
            ServerEvent::Sample(Sample::Probe(_)) => String::new(),
        }
    }

    /// Returns the group of a new test: that of its client's other streams, where they are still
    /// awaited.
    fn group(&mut self, test: u32, peer: SocketAddr, udp: bool, asked: &ClientRequest) -> u32 {
        let streams = if asked.threads <= MOST_STREAMS { asked.threads } else { 1 };
        let who = (peer.ip(), udp, asked.mode, streams);
        let mut groups = self.groups.iter_mut();
        if let Some((&number, group)) = groups.find(|(_, g)| g.who == who && g.awaited > 0) {
            group.awaited -= 1;
            return number;
        }
        // One-way times are shown where the client asks for them, as iperf 2 does.
        let enhanced = self.style.enhanced || asked.trip_times;
        let style = Style { udp, enhanced, ..self.style };
        let lines = IperfLines::new(streams as u16, self.interval, style);
        self.groups.insert(test, ClientGroup { who, awaited: streams - 1, lines });
        test
    }

    fn interval(&mut self, test: u32, interval: &Interval) -> String {
        let Some(known) = self.tests.get(&test) else { return String::new() };
        let Some(group) = self.groups.get_mut(&known.group) else { return String::new() };
        match self.kind {
            PrintForm::Of(Format::Csv) => row(test, known, interval),
            PrintForm::Of(Format::Json | Format::Jsonl) => object(test, known, interval),
            PrintForm::Of(_) => {
                // A stream that ends is the client's last word: a further one begins another group.
                if interval.total {
                    group.awaited = 0;
                }
                let lines = group.lines.add_as(test, interval);
                lines.iter().map(|line| format!("{line}\n")).collect()
            }
            PrintForm::Rows => {
                let enhanced = self.style.enhanced;
                let TestEnds { local, peer, udp, .. } = *known;
                let stream = RowStream { local, peer, id: test, udp, enhanced };
                stream.row(&group.lines.counted_from_start(test, interval))
            }
        }
    }
}

impl TestEnds {
    const fn transport(&self) -> &'static str {
        if self.udp { "udp" } else { "tcp" }
    }
}

fn row(test: u32, known: &TestEnds, i: &Interval) -> String {
    let count = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
    let rate = megabits(i.bytes, i.end.since(i.start));
    format!(
        "{test},{},{},{},{},{:.6},{:.6},{},{},{},{},{},{},{},{}\n",
        known.peer,
        known.transport(),
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

fn object(test: u32, known: &TestEnds, i: &Interval) -> String {
    let value = serde_json::json!({
        "test": test,
        "peer": known.peer.to_string(),
        "transport": known.transport(),
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

fn seconds(at: espbench_model::time::Instant) -> f64 {
    at.as_nanos() as f64 / 1e9
}
