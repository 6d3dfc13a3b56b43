//! When received data is acknowledged.

use super::super::acks::AckState;
use super::super::clock::TickClock;
use super::*;
use crate::net::AckPolicy;

const RTO: Duration = ms(200);

/// Returns what is asked for after a segment: at once, or by a time in milliseconds.
fn data(acks: &mut AckState, stack: &Stack, now: u64, bytes: u32) -> (bool, Option<u64>) {
    let clock = TickClock::new(&stack.timers, 0);
    acks.data(at(now), &clock, stack, bytes, RTO);
    (acks.at_once, acks.due.map(|due| due.as_nanos() / 1_000_000))
}

#[test]
fn lwip_acknowledges_every_second_segment_whatever_its_length() {
    let stack = esp(5760);
    let mut acks = AckState::new(&stack);
    assert_eq!(data(&mut acks, &stack, 10, 1440), (false, Some(250)));
    assert_eq!(data(&mut acks, &stack, 20, 1), (true, Some(250)));
    acks.sent();
    assert_eq!(data(&mut acks, &stack, 260, 1440), (false, Some(500)));
}

#[test]
fn linux_acknowledges_sixteen_at_once_and_then_by_bytes_or_after_40_ms() {
    let stack = Stack::pc();
    let mut acks = AckState::new(&stack);
    for n in 0..16 {
        assert!(data(&mut acks, &stack, n, 100).0, "{n}");
        acks.sent();
    }
    assert_eq!(data(&mut acks, &stack, 20, 1460), (false, Some(60)));
    assert!(data(&mut acks, &stack, 30, 1).0, "more than a segment waits");
    acks.sent();
    // A pause longer than the timeout begins anew.
    assert!(data(&mut acks, &stack, 30 + 201, 1).0);
}

#[test]
fn segments_that_come_before_an_interrupt_are_acknowledged_as_one() {
    let mut stack = Stack::pc();
    if let AckPolicy::Quick { together, .. } = &mut stack.acks {
        *together = ms(3);
    }
    let mut acks = AckState::new(&stack);
    for n in 10..13 {
        assert_eq!(data(&mut acks, &stack, n, 1440), (false, Some(13)), "three after the first");
    }
    acks.sent();
    assert_eq!(data(&mut acks, &stack, 20, 1440), (false, Some(23)));
}

#[test]
fn linux_waits_for_data_to_carry_an_acknowledgement_in_a_conversation() {
    let stack = Stack::pc();
    let mut acks = AckState::new(&stack);
    assert!(data(&mut acks, &stack, 0, 100).0);
    acks.on_data_sent(at(1), &stack);
    acks.sent();
    assert_eq!(data(&mut acks, &stack, 10, 100), (false, Some(50)));
}

#[test]
fn an_update_goes_out_for_a_window_that_grew_enough() {
    // lwIP: TCP_WND_UPDATE_THRESHOLD, a quarter of 5760 bytes or four segments.
    let asks = |stack: &Stack, grown, free, told| {
        let mut acks = AckState::new(stack);
        acks.read(stack, grown, free, told);
        acks.at_once
    };
    let esp = esp(5760);
    assert!(!asks(&esp, 1439, 1439, 0) && asks(&esp, 1440, 1440, 0));
    // Linux: it has doubled.
    let pc = Stack::pc();
    assert!(!asks(&pc, 9999, 19_999, 10_000) && asks(&pc, 10_000, 20_000, 10_000));
    assert!(!asks(&pc, 0, 20_000, 10_000), "the edge has not moved");
}

/// Checks that what the driver has no room for goes with the next tick, or after Linux's delay.
#[test]
fn an_acknowledgement_without_room_is_postponed() {
    for (stack, due) in [(esp(5760), 250), (Stack::pc(), 140)] {
        let clock = TickClock::new(&stack.timers, 0);
        let mut acks = AckState::new(&stack);
        acks.at_once = true;
        acks.postpone(at(100), &clock, &stack);
        assert_eq!((acks.at_once, acks.due), (false, Some(at(due))));
    }
}
