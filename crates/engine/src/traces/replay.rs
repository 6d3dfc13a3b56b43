//! Whether a lab that replays a trace has the RSSI and the delivery of it, in both directions.

use super::*;
use crate::seeded_cells;
use crate::simulator::Simulator;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::ToString as _;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_measure::plan::{Plan, PlanSet};
use espbench_model::sample::Sample;
use espbench_model::time::Instant;
use espbench_sim::lab::file::{FileKind, Library};
use espbench_sim::lab::nodes::note::{Note, Watch};
use espbench_sim::lab::record::Record;
use espbench_sim::lab::run::{Content, Tap};
use espbench_sim::lab::trace::{AirtimeKind, Flight};
use espbench_sim::lab::wifi::watch::Watcher;

const PLAN: &str = "name = \"p\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\ncast = \"broadcast\"\n\
                    count = 3000\nsize = 100\ndistance = \"1 m\"\n";

/// Measurements in turn, each of ten seconds: RSSI and delivery there, and back.
const TOLD: [[(f64, f64); 2]; 2] = [[(-61.0, 0.9), (-66.0, 0.95)], [(-72.0, 0.6), (-77.0, 0.8)]];

/// Frames that were heard of each link in each of the two measurements, and the console of node 0.
#[derive(Default)]
struct Heard {
    octets: u32,
    seen: BTreeMap<(u32, u64), (u32, u32)>,
    console: String,
}

impl Watch for Heard {
    fn note(&mut self, at: Instant, note: &Note<'_>) {
        if let Note::Printed { node, text } = note
            && node.0 == 0
        {
            // The log's own time is the device's; the lab's is the trace's.
            let text = text.split_once(") ").map_or(*text, |it| it.1);
            self.console += &alloc::format!("I ({}) {text}\n", at.as_nanos() / 1_000_000);
        }
    }
}

impl Watcher for Heard {}

impl Tap for Heard {
    fn flight(&mut self, flight: &Flight, content: Option<Content<'_>>) {
        if content.is_none_or(|it| it.data.len() < 100) || flight.what == AirtimeKind::Background {
            return;
        }
        self.octets = flight.octets;
        let part = flight.begin.as_nanos() / 10_000_000_000 % 2;
        let own = self.seen.entry((flight.from, part)).or_default();
        own.0 += 1;
        own.1 += flight.heard.min(1);
    }
}

struct Nothing;

impl Record for Nothing {
    fn sample(&mut self, _: Sample) {}
    fn count(&mut self, _: &str, _: u64) {}
    fn fact(&mut self, _: &str, _: String) {}
}

/// Returns the trace, as others would write it and as it was converted.
fn converted(first: &str, second: &str) -> String {
    let mut table = String::from("time,from,to,rssi,delivered\n");
    for (part, told) in TOLD.iter().enumerate() {
        for ((from, to), (rssi, delivered)) in [("a", "b"), ("b", "a")].iter().zip(told) {
            table += &alloc::format!("{},{from},{to},{rssi},{delivered}\n", 100 + 10 * part);
        }
    }
    let names = [(first, "node0"), (second, "node1")].map(|(a, b)| (a.to_string(), b.to_string()));
    let settings = TraceSettings { window: Duration::from_secs(10), at: None, names: names.into() };
    let mut windows = TraceWindows::new(settings);
    let mut reader = TraceReader::of(table.as_bytes());
    reader.push(table.as_bytes(), &mut windows).unwrap();
    reader.finish(&mut windows).unwrap();
    windows.csv()
}

fn replay(octets: u32, first: &str, second: &str) -> Heard {
    let mut library = Library::built_in();
    let lab = alloc::format!(
        "title = \"t\"\nenvironment = \"free-space\"\n[link]\ntrace = \"any.csv\"\noctets = {octets}\n\
         [[group]]\nname = \"a\"\nprofile = \"esp32\"\n[[group]]\nname = \"b\"\nprofile = \"esp32\"\n"
    );
    library.add_link_trace("any.csv", &converted(first, second)).unwrap();
    library.add(FileKind::Lab, "replayed", &lab).unwrap();
    let set = PlanSet { plans: [Plan::parse(PLAN).unwrap()].into() };
    let simulator = Simulator::new(library, Some("replayed"));
    let cell = seeded_cells(&set, 1).remove(0);
    let scene = simulator.scene(&cell).unwrap();
    let mut heard = Heard::default();
    simulator.carry_out_in(&cell, &scene, &mut heard, &mut Nothing).unwrap();
    heard
}

#[test]
fn a_replay_has_the_rssi_and_the_delivery_of_the_trace_in_both_directions() {
    let octets = replay(143, "a", "b").octets;
    let heard = replay(octets, "a", "b");
    for (part, told) in TOLD.iter().enumerate() {
        for (from, (_, delivered)) in told.iter().enumerate() {
            let (sent, arrived) = heard.seen[&(from as u32, part as u64)];
            let share = f64::from(arrived) / f64::from(sent);
            let scatter = libm::sqrt(delivered * (1.0 - delivered) / f64::from(sent));
            assert!(sent > 100, "{sent} frames of node{from}");
            // Four standard deviations, and what tables of error rates round.
            let off = (share - delivered).abs();
            assert!(off < 4.0 * scatter + 0.005, "node{from}, part {part}: {share} of {delivered}");
        }
    }
    // The console of node 0 tells how strong answers came, and its log becomes a trace again: from b, and in
    // the other room from a.
    let other = replay(octets, "b", "a");
    assert_eq!(strengths(&heard), [-77.0, -66.0].map(f64::to_bits).into());
    assert_eq!(strengths(&other), [-72.0, -61.0].map(f64::to_bits).into());
}

/// Returns the strengths of all answers, from the console's log as a trace with a row for each.
fn strengths(heard: &Heard) -> BTreeSet<u64> {
    let at = Some("node0".to_string());
    let settings = TraceSettings { window: Duration::from_millis(1), at, names: Vec::new() };
    let mut windows = TraceWindows::new(settings);
    let mut reader = TraceReader::of(heard.console.as_bytes());
    reader.push(heard.console.as_bytes(), &mut windows).unwrap();
    reader.finish(&mut windows).unwrap();
    let csv = windows.csv();
    let rssi = |row: &str| row.split(',').nth(3).and_then(|it| it.parse::<f64>().ok());
    csv.lines().skip(1).filter_map(rssi).map(f64::to_bits).collect()
}
