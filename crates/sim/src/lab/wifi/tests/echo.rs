//! UDP echo.

use super::bench::{Bench, ESP, PC, at};
use crate::lab::nodes::Conversation as _;
use core::time::Duration;
use espbench_model::sample::{Fate, Sample};
use espbench_model::workload::{EchoFormat, UdpEcho};
use espbench_proto::node::app::{ArduinoEcho, EchoProbe, EchoServer};
use std::boxed::Box;
use std::vec::Vec;

const PORT: u16 = 10_000;

fn work(size: u32, count: u32) -> UdpEcho {
    UdpEcho {
        size,
        count,
        discard: 1,
        format: EchoFormat::Ascii,
        in_flight: 1,
        interval: None,
        timeout: Duration::from_secs(1),
    }
}

/// Measures round trips in microseconds, of which none is lost.
fn round_trips(bench: &Bench, arduino: bool, size: u32) -> Vec<u64> {
    let mut lab = bench.lab(1);
    if arduino {
        lab.start(ESP, Box::new(ArduinoEcho::new(PORT, at(PC, PORT + 1))));
    } else {
        lab.start(ESP, Box::new(<EchoServer>::new(PORT)));
    }
    let probe = EchoProbe::<1472>::new(work(size, 100), 7, PORT + 1, at(ESP, PORT));
    lab.start(PC, Box::new(probe));
    assert!(lab.run_till(Duration::from_secs(60), |it| it.is_idle(PC)).unwrap(), "it ends");
    let told = lab.take_told(PC);
    let trip = |sample: &Sample| {
        let Sample::Probe(probe) = sample else { panic!("a probe") };
        assert_eq!(probe.fate, Fate::Delivered, "{probe:?}");
        let (sent, received) = (probe.sent.unwrap(), probe.received.unwrap());
        received.as_nanos().saturating_sub(sent.as_nanos()) / 1000
    };
    told.samples.iter().map(trip).collect()
}

#[test]
fn an_echo_comes_back_through_an_access_point_and_from_one() {
    for soft_ap in [false, true] {
        let bench = Bench { soft_ap, ..Bench::default() };
        for arduino in [false, true] {
            let trips = round_trips(&bench, arduino, 100);
            assert_eq!(trips.len(), 100);
            let mean = trips.iter().sum::<u64>() / 100;
            // Two frames of 0.2 ms with their back-offs, and a processor at either end.
            assert!((400..4000).contains(&mean), "soft_ap {soft_ap}: {mean} us");
        }
    }
}

#[test]
fn a_byte_costs_what_reading_it_by_itself_does() {
    let bench = Bench { profile: "esp32", ..Bench::default() };
    let least = |size| round_trips(&bench, true, size).into_iter().min().unwrap();
    let per_byte = (least(900) - least(1)) * 1000 / 899;
    let costs = crate::lab::file::Library::built_in().profile("esp32").unwrap().ip;
    let alone = costs.bytewise.per_byte_ps / 1000;
    assert!(per_byte > alone && per_byte < alone + 1500, "{per_byte} ns, {alone} of them reading");
}
