//! Cells against the consoles of the lab.

use super::bench::{KeptBoards, LabBench};
use crate::boards::{BoardMemory, BoardSetup, run};
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::node::print::LogLevel;
use espbench_model::fact;
use espbench_model::sample::{Fate, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{EspNow, EspNowCast, EspNowTest, Workload};
use espbench_sim::lab::file::Library;
use espbench_sim::lab::live::ExampleApp;
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
    heard_total(kept, observer).expect("a total")
}

/// Returns the total of a stream; `None` where its end was not heard.
fn heard_total(kept: &KeptBoards, observer: Observer) -> Option<espbench_model::sample::Interval> {
    let is_it = |sample: &Sample| match sample {
        Sample::Interval(it) if it.total && it.observer == observer => Some(*it),
        _ => None,
    };
    kept.samples.iter().find_map(is_it)
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
    // That of the lab's file.
    assert_eq!(kept.facts[fact::IDF_RELEASE], "4.4");
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

/// Cells of a mean.
const CELLS: u64 = 40;

/// Returns how many packets of broadcast throughput a device missed on average, in cells one after the other in
/// one room.
fn broadcasts_missed(app: ExampleApp, work: &EspNow) -> f64 {
    let mut bench = LabBench::with_app(work, app);
    let mut memory = BoardMemory::default();
    let missed = (1..=CELLS).filter_map(|seed| {
        let mut kept = KeptBoards::default();
        run(work, &[0, 1], seed, &BoardSetup::default(), &mut memory, &mut bench, &mut kept)
            .unwrap();
        // Where the end was not heard, the device prints no total.
        heard_total(&kept, Observer::Receiver)?.lost
    });
    mean(&missed.collect::<Vec<_>>())
}

fn mean(counts: &[u64]) -> f64 {
    counts.iter().sum::<u64>() as f64 / counts.len() as f64
}

#[test]
fn broadcasts_that_a_device_misses_are_the_labs_unless_it_sends_its_log() {
    let cast = EspNowCast::Broadcast { copies: 0, ack: false };
    let time = Duration::from_secs(10);
    for size in [50, 230] {
        let work = EspNow { test: EspNowTest::Throughput, cast, size, time, ..WORK };
        let in_lab = (1..=CELLS).filter_map(|cell| {
            let mut kept = KeptBoards::default();
            let (seeds, work) = (Seeds { place: 1, cell }, Workload::EspNow(work));
            suite::run(&work, &Library::built_in(), None, seeds, &mut kept).unwrap();
            heard_total(&kept, Observer::Receiver)?.lost
        });
        let own = mean(&in_lab.collect::<Vec<_>>());
        // Cells scatter by 30 %, the mean of forty by 5 %, and the difference of two such by 7 %.
        let silent = broadcasts_missed(ExampleApp::GetStarted, &work);
        assert!((silent / own - 1.0).abs() < 0.2, "{size}: {silent} {own}");
        // A line each second goes out while packets come in; an antenna does one of them at a time.
        let telling = broadcasts_missed(ExampleApp::Solution, &work);
        assert!(telling > silent + 3.0, "{size}: {telling} {silent}");
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

/// The document's pin is of flash on an ESP32-C3: each board drives the pin of its own chip, or the one that was said.
#[test]
fn one_way_tests_drive_a_pin_that_the_chip_has() {
    let work = EspNow { test: EspNowTest::OneWay, count: 1, ..WORK };
    let typed = |chips: [&'static str; 2], pin: Option<u8>| {
        let mut bench = LabBench::of(&work);
        for (node, chip) in bench.scene.nodes.iter_mut().zip(chips) {
            node.settings.target = chip;
        }
        let mut bench = LabBench::in_scene(bench.scene);
        let (mut kept, mut memory) = (KeptBoards::default(), BoardMemory::default());
        let setup = BoardSetup { pin, ..BoardSetup::default() };
        run(&work, &[0, 1], 1, &setup, &mut memory, &mut bench, &mut kept).unwrap();
        let pin_of = |port: usize| -> u8 {
            let text = alloc::string::String::from_utf8_lossy(&kept.consoles[&port]).into_owned();
            let after = text.rsplit_once(" -G ").unwrap().1;
            after
                .chars()
                .take_while(char::is_ascii_digit)
                .collect::<alloc::string::String>()
                .parse()
                .unwrap()
        };
        (pin_of(0), pin_of(1), kept.facts["pins"].clone())
    };
    assert_eq!(
        typed(["esp32c3", "esp32c3"], None),
        (10, 10, "GPIO 10 of the initiator, GPIO 10 of the device".into())
    );
    let (from, to, _) = typed(["esp32", "esp32c6"], None);
    assert_eq!((from, to), (17, 18));
    let (from, to, _) = typed(["esp32c2", "esp32c3"], Some(4));
    assert_eq!((from, to), (4, 4));
}

#[test]
fn one_way_delays_come_from_the_stamps_of_both_boards() {
    const COUNT: u32 = 12;
    let work = EspNow { test: EspNowTest::OneWay, count: COUNT, size: 230, ..WORK };
    let mut bench = LabBench::of(&work);
    bench.scene.nodes.iter_mut().for_each(|node| node.log = LogLevel::Debug);
    let mut bench = LabBench::in_scene(bench.scene);
    let (mut kept, mut memory) = (KeptBoards::default(), BoardMemory::default());
    run(&work, &[0, 1], 1, &BoardSetup::default(), &mut memory, &mut bench, &mut kept).unwrap();
    assert!(
        kept.facts["delay"].starts_with("from the time stamps of both boards"),
        "{:?}",
        kept.facts
    );
    let delays = |kept: &KeptBoards| -> Vec<u64> {
        let read = probes(kept);
        assert!(read.iter().all(|it| it.fate == Fate::Delivered), "{read:?}");
        let delay = |it: &Probe| it.received.unwrap().since(it.sent.unwrap()).as_micros() as u64;
        let mut all: Vec<u64> = read.iter().map(delay).collect();
        all.sort_unstable();
        all
    };
    // The offset of the clocks is known to half of the shortest round trip.
    let (read, own) = (delays(&kept), delays(&in_lab(&work)));
    assert_eq!((read.len(), own.len()), (COUNT as usize, COUNT as usize));
    assert!(read[0].abs_diff(own[0]) < own[0] / 2, "{read:?} {own:?}");
}
