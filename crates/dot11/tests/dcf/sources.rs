//! Sources of load: what they ask for is what a room is asked for.

use crate::rig::{packet, room};
use espbench_dot11::mac::GROUP;
use espbench_dot11::mac::source::{Poisson, Saturated};
use espbench_model::time::Instant;

const SECOND: u64 = 1_000_000_000;

/// Arrivals of a Poisson process: their mean is the rate, and the variance of their number is the
/// mean; for arrivals in step it would be 0, for pairs twice as much.
#[test]
fn poisson_arrivals_are_as_many_and_as_irregular_as_they_should_be() {
    let (senders, rate, seconds) = (3, 20.0, 400);
    let mut room = room(1, senders + 1);
    let mut source = Poisson::new(5, packet(GROUP), senders, rate);
    source.start(&mut room);
    let mut counts = vec![Vec::new(); senders as usize];
    let mut before = vec![0; senders as usize];
    for second in 1..=seconds {
        room.run(&mut source, Instant::from_nanos(second * SECOND));
        for station in 0..senders {
            let counters = room.counters(station);
            let arrived = counters.queued + counters.refused;
            counts[station as usize].push((arrived - before[station as usize]) as f64);
            before[station as usize] = arrived;
        }
    }
    for of in &counts {
        let mean = of.iter().sum::<f64>() / of.len() as f64;
        let variance = of.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / of.len() as f64;
        // The standard errors are 0.22 and 1.4.
        assert!((mean - rate).abs() < 0.9, "{mean}");
        assert!((variance - rate).abs() < 5.7, "{variance}");
    }
    // Each sender has a stream of its own, and the last station is no sender.
    assert!(counts[0] != counts[1] && counts[1] != counts[2]);
    assert_eq!(room.counters(senders).queued, 0);
}

/// A saturated sender has its number of frames in the queue whenever one looks.
#[test]
fn a_saturated_sender_never_rests() {
    let mut room = room(1, 4);
    let mut source = Saturated { packet: packet(3), frames: 5 };
    source.start(&mut room, [0, 2]);
    for tenth in 0..50 {
        room.run(&mut source, Instant::from_nanos(tenth * SECOND / 10));
        assert_eq!([0, 1, 2, 3].map(|station| room.queued(station)), [5, 0, 5, 0]);
    }
    let [one, two] = [0, 2].map(|station| room.counters(station));
    // 2.9 ms and some slots for each frame: 5 s are some 1500 of them.
    assert!((1400..1600).contains(&(one.acknowledged + two.acknowledged)), "{one:?} {two:?}");
    assert_eq!(one.refused + two.refused, 0);
}

/// A queue shorter than the source would fill is as good.
#[test]
fn a_short_queue_is_filled_again() {
    let mut room = room(1, 2);
    let mut source = Saturated { packet: packet(GROUP), frames: 100 };
    source.start(&mut room, [0]);
    assert_eq!((room.queued(0), room.counters(0).refused), (32, 68));
    room.run(&mut source, Instant::from_nanos(SECOND));
    assert_eq!(room.queued(0), 32);
}
