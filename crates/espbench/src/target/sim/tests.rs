//! Simulated cells come in order, and are the same however they were made.

use super::*;
use espbench_measure::label;
use espbench_measure::run::Recorded;
use espbench_model::overrides::LabOverrides;
use espbench_model::sample::Sample;
use espbench_model::workload::{EspNow, EspNowCast, EspNowTest};
use espbench_sim::lab::suite::Seeds;
use std::collections::BTreeMap;

#[derive(Debug, Default, PartialEq)]
struct Kept {
    samples: Vec<Sample>,
    counters: BTreeMap<String, u64>,
    facts: BTreeMap<String, String>,
    /// Stops after so many samples.
    most: Option<usize>,
}

impl Sink for Kept {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn count(&mut self, name: &str, by: u64) {
        *self.counters.entry(name.into()).or_default() += by;
    }

    fn fact(&mut self, name: &str, value: String) {
        self.facts.insert(name.into(), value);
    }

    fn cancelled(&self) -> bool {
        self.most.is_some_and(|most| self.samples.len() >= most)
    }
}

fn target(threads: usize, lab: Option<&str>) -> SimTarget {
    SimTarget::of(Simulator::new(Library::built_in(), lab), NonZeroUsize::new(threads).unwrap())
}

fn work(test: EspNowTest, size: u32, count: u32, devices: u16) -> EspNow {
    EspNow {
        test,
        cast: EspNowCast::Unicast,
        size,
        count,
        time: std::time::Duration::from_secs(5),
        devices,
        distance_m: (1.0, 1.0),
        encrypted: false,
        lab: LabOverrides::NONE,
    }
}

/// Makes a cell of the run of seed 1, with a seed of its own.
fn cell(workload: Workload, seed: u64) -> SeededCell {
    let step = PlannedCell { ordinal: 0, repetition: 0, workload };
    SeededCell { position: 0, step, seeds: Seeds { place: 1, cell: seed } }
}

fn cells() -> Vec<SeededCell> {
    let of = |work, seed| cell(Workload::EspNow(work), seed);
    vec![
        of(work(EspNowTest::MultiPing, 230, 5, 5), 1),
        of(work(EspNowTest::Ping, 10, 3, 1), 2),
        of(work(EspNowTest::Ping, 10, 700, 1), 3),
        of(work(EspNowTest::Throughput, 100, 1, 1), 4),
        of(work(EspNowTest::Ping, 10, 700, 1), 5),
        of(work(EspNowTest::Handshake, 230, 1, 2), 6),
    ]
}

fn run_all(threads: usize) -> Vec<Kept> {
    let (mut target, cells) = (target(threads, None), cells());
    target.prepare(&cells);
    let one = |cell: &SeededCell| {
        let mut kept = Kept::default();
        target.run(&cell.step.workload, &mut kept).unwrap();
        kept
    };
    cells.iter().map(one).collect()
}

#[test]
fn results_come_in_order_and_are_the_same_with_any_number_of_threads() {
    let alone = run_all(1);
    assert_eq!(alone[2].samples.len(), 700);
    assert_ne!(alone[2], alone[4], "another seed");
    assert!(
        alone.iter().zip(cells()).all(|(kept, it)| kept.facts["seed"] == it.seeds.cell.to_string())
    );
    assert_eq!(alone, run_all(4));
}

#[test]
fn what_nobody_announced_is_simulated_when_it_is_asked_for() {
    let (mut target, cells) = (target(2, None), cells());
    target.prepare(&cells);
    let mut kept = Kept::default();
    target.run(&cells[3].step.workload, &mut kept).unwrap();
    assert!(kept.samples.iter().all(|sample| matches!(sample, Sample::Interval(_))));
    assert!(!kept.samples.is_empty());
}

#[test]
fn whoever_stops_is_not_kept_waiting() {
    // Ten million pings would take minutes.
    let long = Workload::EspNow(work(EspNowTest::Ping, 10, 10_000_000, 1));
    let mut target = target(2, None);
    target.prepare(&[1, 2, 3].map(|seed| cell(long, seed)));
    let mut kept = Kept { most: Some(2000), ..Kept::default() };
    let error = target.run(&long, &mut kept).unwrap_err();
    assert!(matches!(error, TargetError::Cancelled) && kept.samples.len() >= 2000);
}

/// A plan that says no distance is carried out where the lab's file has its devices, and progress names that place, too.
#[test]
fn progress_and_result_are_of_the_same_place() {
    let mut open = work(EspNowTest::Ping, 10, 20, 1);
    open.lab.open.distance = true;
    let work = Workload::EspNow(open);
    let cell = cell(work, 1);
    let mut target = target(1, Some("many-boards"));
    let shown = target.placed(&cell);
    target.prepare(&[cell]);
    let mut kept = Kept::default();
    target.run(&work, &mut kept).unwrap();
    let recorded = Recorded {
        ordinal: 0,
        repetition: 0,
        workload: work,
        samples: Vec::new(),
        counters: BTreeMap::new(),
        facts: kept.facts,
        error: None,
    };
    let told = label::settings(&shown);
    assert_eq!(told, label::settings(&recorded.placed()));
    assert!(told.contains(", 0.5 m,"), "{told}");
}

#[test]
fn a_lab_that_cannot_do_it_says_so_before_anything_is_simulated() {
    let error = |lab: Option<&str>, workload: &Workload| {
        target(1, lab).check(workload).unwrap_err().to_string()
    };
    let many = Workload::EspNow(work(EspNowTest::Provisioning, 230, 1, 1));
    let text = error(Some("two-boards"), &many);
    assert!(
        text.starts_with("sim:two-boards cannot run esp-now") && text.contains("router"),
        "{text}"
    );
    let udp = espbench_measure::plan::defaults("udp-echo").unwrap();
    assert!(error(None, &udp).contains("use --on loopback"));
    let text = error(Some("wifi-home"), &udp);
    assert!(
        text.contains("add `variant = \"arduino\"`") && text.ends_with("arduino, idf-echo"),
        "{text}"
    );
}
