//! Conversations on virtual time.

mod ping;
mod record;
mod throughput;

use super::*;
use crate::component::iperf::IperfKind;
use crate::node::tests::tasks::{CopyInFlight, Hop, TaskTestbed, mac};
use espbench_model::sample::{Cause, Fate, Interval, Observer, Probe, Sample};
use std::boxed::Box;
use std::string::ToString;
use std::vec::Vec;

/// Creates two nodes: node 0 initiates, node 1 responds.
fn world() -> TaskTestbed<IperfTask> {
    TaskTestbed::new(2, IperfTask::receive)
}

fn respond(world: &mut TaskTestbed<IperfTask>, options: IperfOptions) {
    let options = IperfOptions { responder: true, ..options };
    world.with(1, |iperf, cx| iperf.start(cx, &options)).unwrap();
}

fn initiate(world: &mut TaskTestbed<IperfTask>, options: IperfOptions) {
    let options = IperfOptions { initiator: Some(Ok(mac(1))), ..options };
    world.with(0, |iperf, cx| iperf.start(cx, &options)).unwrap();
}

fn probes(world: &TaskTestbed<IperfTask>, n: usize) -> Vec<Probe> {
    let probe = |sample: &Sample| match sample {
        Sample::Probe(probe) => Some(*probe),
        Sample::Interval(_) => None,
    };
    world.nodes[n].samples.iter().filter_map(probe).collect()
}

fn intervals(world: &TaskTestbed<IperfTask>, n: usize) -> Vec<Interval> {
    let interval = |sample: &Sample| match sample {
        Sample::Interval(interval) => Some(*interval),
        Sample::Probe(_) => None,
    };
    world.nodes[n].samples.iter().filter_map(interval).collect()
}

fn head(payload: &[u8]) -> IperfHead {
    IperfHead::parse(payload).unwrap()
}

/// Returns a rule that decides by sender and header.
fn rule(
    mut hop: impl FnMut(usize, IperfHead) -> Hop + 'static,
) -> Box<dyn FnMut(&CopyInFlight<'_>) -> Hop> {
    Box::new(move |flight| hop(flight.from, head(flight.payload)))
}

#[test]
fn the_command_refuses_what_it_cannot_do() {
    let mut world = world();
    let start = |world: &mut TaskTestbed<IperfTask>, options: IperfOptions| {
        world.with(0, |iperf, cx| iperf.start(cx, &options))
    };
    let base = IperfOptions::default();
    assert_eq!(start(&mut world, base), Err(StartError::Role));
    let both = IperfOptions { initiator: Some(Ok(mac(1))), responder: true, ..base };
    assert_eq!(start(&mut world, both), Err(StartError::Role));
    let sized = |len| IperfOptions { initiator: Some(Ok(mac(1))), len: Some(len), ..base };
    assert_eq!(start(&mut world, sized(7)), Err(StartError::Length));
    assert_eq!(start(&mut world, sized(219)), Err(StartError::Length));
    let bad = IperfOptions { initiator: Some(Err(BadMac)), ..base };
    assert_eq!(start(&mut world, bad), Err(StartError::Address));
    assert_eq!(start(&mut world, sized(8)), Err(StartError::Running), "until -a");
    assert_eq!(
        world.lines(0),
        [
            "iperf_cmd: Should specific initiator/responder mode",
            "iperf_cmd: Should specific initiator/responder mode",
            "iperf_cmd: len: 7 is not within 8 and 218",
            "iperf_cmd: len: 219 is not within 8 and 218",
            "iperf_cmd: [espnow_iperf_func, 643] <ESP_ERR_INVALID_ARG> not an address",
            "iperf_cmd: ESPNOW iperf is running",
        ]
    );
    world.with(0, |iperf, _| iperf.abort());
    assert_eq!(start(&mut world, sized(8)), Ok(()));
}

#[test]
fn a_full_queue_says_so() {
    let mut world = world();
    initiate(&mut world, IperfOptions { ping: true, ..IperfOptions::default() });
    let data = [4, 0, 0, 0, 9, 0, 0, 0];
    let now = world.now;
    world.with(0, |iperf, cx| {
        let data_type = cx.shared.settings.compat.iperf_type();
        let frame = Received { from: mac(1), data_type, data: &data, rssi: 0, channel: 1, at: now };
        (0..12).for_each(|_| iperf.receive(cx, &frame));
        iperf.receive(cx, &Received { data: &data[..7], ..frame });
    });
    assert_eq!(world.nodes[0].part.dropped, IperfDropped { queue: 2, short: 1, strangers: 0 });
    let line = "iperf_cmd: [espnow_iperf_initiator_recv, 233] Send iperf recv queue failed";
    assert_eq!(world.lines(0).iter().filter(|l| **l == line).count(), 2);
}

#[test]
fn the_size_is_known() {
    let size = size_of::<IperfTask>();
    std::println!("Iperf: {size} bytes");
    assert!(size <= 1400, "{size}");
}
