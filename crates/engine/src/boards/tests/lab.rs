//! Cells against the consoles of the lab.

use super::bench::{KeptBoards, LabBench};
use crate::boards::{BoardMemory, BoardSetup, run};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::fact;
use espbench_model::sample::{Fate, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{EspNow, EspNowCast, EspNowTest, Workload};
use espbench_sim::lab::file::Library;
use espbench_sim::lab::nodes::NodeId;
use espbench_sim::lab::record::Record;
use espbench_sim::lab::suite::{self, Seeds};

pub(super) const WORK: EspNow = EspNow {
    test: EspNowTest::Ping,
    cast: EspNowCast::Unicast,
    size: 10,
    count: 20,
    time: Duration::from_secs(6),
    devices: 1,
    distance_m: (0.5, 0.5),
    encrypted: false,
    lab: espbench_model::overrides::LabOverrides::NONE,
};

/// Carries out a cell at the consoles of the lab.
fn at_consoles(work: &EspNow, pins: bool) -> KeptBoards {
    let mut bench = LabBench::of(work);
    bench.pins = pins;
    let ports: Vec<usize> = (0..=usize::from(work.devices)).collect();
    let mut kept = KeptBoards::default();
    let (setup, mut memory) = (BoardSetup::default(), BoardMemory::default());
    run(work, &ports, 1, &setup, &mut memory, &mut bench, &mut kept)
        .unwrap_or_else(|error| panic!("{error}\n{}", text(&kept)));
    kept
}

pub(super) fn text(kept: &KeptBoards) -> alloc::string::String {
    kept.consoles.values().map(|bytes| alloc::string::String::from_utf8_lossy(bytes)).collect()
}

/// Carries out a cell in the lab, which has the nodes' own records.
fn in_lab(work: &EspNow) -> KeptBoards {
    let mut kept = KeptBoards::default();
    let record: &mut dyn Record = &mut kept;
    suite::run(&Workload::EspNow(*work), &Library::built_in(), None, Seeds::both(1), record)
        .unwrap();
    kept
}

pub(super) fn probes(kept: &KeptBoards) -> Vec<Probe> {
    let probe = |sample: &Sample| if let Sample::Probe(it) = sample { Some(*it) } else { None };
    kept.samples.iter().filter_map(probe).collect()
}

fn total(kept: &KeptBoards, observer: Observer) -> espbench_model::sample::Interval {
    let is_it = |sample: &Sample| match sample {
        Sample::Interval(it) if it.total && it.observer == observer => Some(*it),
        _ => None,
    };
    kept.samples.iter().find_map(is_it).expect("a total")
}

#[test]
fn a_round_trip_is_the_labs_in_whole_milliseconds() {
    let (kept, lab) = (at_consoles(&WORK, true), in_lab(&WORK));
    let (read, own) = (probes(&kept), probes(&lab));
    assert_eq!((read.len(), own.len()), (20, 20));
    // Bursts of the office's other network make single ones longer, at other times in each of the two.
    let shortest = |probes: &[Probe]| {
        probes.iter().map(|it| it.received.unwrap().since(it.due).as_micros()).min().unwrap()
    };
    let (read_us, own_us) = (shortest(&read), shortest(&own));
    assert!(read_us % 1000 == 0, "whole milliseconds");
    assert!(read_us.abs_diff(own_us / 1000 * 1000) <= 1000, "{read_us} {own_us}");
    for (probe, own) in read.iter().zip(&own) {
        assert_eq!((probe.link, probe.seq, probe.bytes), (own.link, own.seq, own.bytes));
        assert_eq!(probe.fate, Fate::Delivered);
    }
    assert_eq!(kept.facts[fact::CHIP], "esp32");
    assert!(kept.facts["boards"].starts_with("port0 initiator 24:0a:c4:00:00:01 esp32\n"));
    assert!(kept.facts["printed"].starts_with("20 packets transmitted, 20 received"));
    assert!(text(&kept).contains("responder 24:0a:c4:00:00:02 listening"));
}

#[test]
fn ports_without_pins_restart_by_their_command() {
    let kept = at_consoles(&WORK, false);
    assert_eq!(probes(&kept).len(), 20);
    assert!(kept.facts["commands"].starts_with("port0> restart\nport1> restart\n"));
}

#[test]
fn many_boards_are_restarted_and_asked_side_by_side() {
    let devices = 20;
    let work = EspNow { test: EspNowTest::MultiPing, devices, count: 1, size: 230, ..WORK };
    let mut bench = LabBench::of(&work);
    bench.pins = false;
    let ports: Vec<usize> = (0..=usize::from(devices)).collect();
    let (mut kept, mut memory) = (KeptBoards::default(), BoardMemory::default());
    run(&work, &ports, 1, &BoardSetup::default(), &mut memory, &mut bench, &mut kept).unwrap();
    let boards: Vec<&str> = kept.facts["boards"].lines().collect();
    assert_eq!(boards.len(), ports.len());
    assert!(boards.iter().all(|line| line.ends_with(" esp32")), "{boards:#?}");
    let again = b"restart_func: num: 2, reason: ";
    let restarted = |console: &Vec<u8>| console.windows(again.len()).any(|it| it == again);
    assert!(kept.consoles.values().all(restarted));
    // One after the other they took 20 s longer.
    assert!(bench.lab.now() < Instant::ZERO + Duration::from_secs(40), "{:?}", bench.lab.now());
    assert_eq!(probes(&kept).len(), usize::from(devices), "{:?}", kept.counters);
}

#[test]
fn a_line_editor_that_waits_for_an_answer_is_woken() {
    let mut bench = LabBench::of(&WORK);
    bench.pins = false;
    // The boards have started, and nobody heard the queries before their prompts.
    bench.lab.advance(Instant::ZERO + Duration::from_secs(8)).unwrap();
    for node in [NodeId(0), NodeId(1)] {
        while bench.lab.take_printed(node).is_some() {}
    }
    let (mut kept, mut memory) = (KeptBoards::default(), BoardMemory::default());
    let setup = BoardSetup::default();
    run(&WORK, &[0, 1], 1, &setup, &mut memory, &mut bench, &mut kept)
        .unwrap_or_else(|error| panic!("{error}\n{}", text(&kept)));
    assert_eq!(probes(&kept).len(), 20);
}

#[test]
fn throughput_has_both_ends() {
    let work = EspNow { test: EspNowTest::Throughput, size: 230, ..WORK };
    let (kept, lab) = (at_consoles(&work, true), in_lab(&work));
    for observer in [Observer::Sender, Observer::Receiver] {
        let (read, own) = (total(&kept, observer), total(&lab, observer));
        assert_eq!(read.link, own.link);
        let rate = |it: &espbench_model::sample::Interval| {
            it.datagrams.unwrap() as f64 / it.end.since(it.start).as_secs_f64()
        };
        assert!((rate(&read) / rate(&own) - 1.0).abs() < 0.1, "{read:?} {own:?}");
    }
}

#[test]
fn encryption_has_the_means_that_are_printed() {
    let work = EspNow { test: EspNowTest::Crypto, size: 200, count: 50, ..WORK };
    let (kept, lab) = (at_consoles(&work, true), in_lab(&work));
    let spans = |kept: &KeptBoards| -> Vec<(u16, u64)> {
        let spans = kept.samples.iter().filter_map(|sample| match sample {
            Sample::Interval(it) => Some((it.link.0, it.end.since(it.start).as_micros() as u64)),
            Sample::Probe(_) => None,
        });
        spans.collect()
    };
    let (read, own) = (spans(&kept), spans(&lab));
    assert_eq!(read.len(), 2);
    for ((link, read), (own_link, own)) in read.iter().zip(&own) {
        assert_eq!(link, own_link);
        assert!((*read as f64 / *own as f64 - 1.0).abs() < 0.1, "{read} {own}");
        assert_eq!(read % 50, 0, "whole microseconds each");
    }
}

#[test]
fn many_devices_ping_at_once() {
    let work = EspNow { test: EspNowTest::MultiPing, devices: 5, count: 10, size: 230, ..WORK };
    let kept = at_consoles(&work, true);
    let read = probes(&kept);
    assert_eq!(read.len(), 50, "{:?}", kept.counters);
    for link in 1..=5 {
        let seqs: Vec<u64> = read.iter().filter(|it| it.link.0 == link).map(|it| it.seq).collect();
        assert_eq!(seqs, (0..10).collect::<Vec<u64>>(), "link {link}");
    }
}

#[test]
fn one_way_packets_arrive_and_have_no_delay() {
    let work = EspNow { test: EspNowTest::OneWay, count: 3, ..WORK };
    let kept = at_consoles(&work, true);
    let read = probes(&kept);
    let seqs: Vec<(u64, Fate)> = read.iter().map(|it| (it.seq, it.fate)).collect();
    assert_eq!(seqs, [(0, Fate::Delivered), (1, Fate::Delivered), (2, Fate::Delivered)]);
    assert!(read.iter().all(|it| it.received.is_none() && it.sent.is_none()));
}
