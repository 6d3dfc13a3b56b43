//! Timeouts: lwIP's in ticks, Linux's in nanoseconds.

use super::super::clock::{RetransmissionTimeout, TickClock};
use super::*;

/// Returns the ticks of an ESP, of which the first slow one is at `first` milliseconds.
fn ticks(first: u64) -> TickClock {
    TickClock::new(&esp(5760).timers, first * 1_000_000)
}

#[test]
fn fast_ticks_are_250_ms_apart_and_every_second_is_slow() {
    let clock = ticks(100);
    assert_eq!(
        [0, 99, 100, 349, 350].map(|now| clock.fast(at(now))),
        [100, 100, 350, 350, 600].map(at)
    );
    assert_eq!([0, 99, 100, 600].map(|now| clock.slow(at(now), 1)), [100, 100, 600, 1100].map(at));
    assert_eq!(clock.slow(at(0), 3), at(1100));
    // The first fast tick may be the one between two slow ones.
    let clock = ticks(400);
    assert_eq!((clock.fast(at(0)), clock.slow(at(0), 1)), (at(150), at(400)));
}

#[test]
fn a_pc_has_no_ticks() {
    let clock = TickClock::new(&Stack::pc().timers, 12_345);
    assert_eq!((clock.fast(at(7)), clock.slow(at(7), 3)), (at(7), at(7)));
}

/// Returns lwIP's timeout in slow ticks after round trips of so many.
fn after_round_trips(trips: &[u64]) -> std::vec::Vec<u128> {
    let clock = ticks(100);
    let mut timeout = RetransmissionTimeout::new(&esp(5760));
    let (mut now, mut end) = (at(200), 0);
    let each = trips.iter().map(|&trip| {
        end += 1440;
        timeout.sent(&clock, now, end);
        now = now + ms(500 * trip);
        timeout.acknowledged(&clock, now, end, None);
        timeout.length(&clock).as_millis() / 500
    });
    each.collect()
}

/// Checks `tcp_receive`: `sa` and `sv` in whole ticks, from `sv` = 3 on.
#[test]
fn lwip_estimates_by_van_jacobson_in_whole_ticks() {
    assert_eq!(after_round_trips(&[0; 20]), [3; 20], "it never falls below 1.5 s");
    assert_eq!(after_round_trips(&[2, 0, 0, 0, 0]), [5, 4, 3, 3, 3]);
    // m = 8, sa = 8, sv = 3 + 8 - 0 = 11, rto = 1 + 11; then m = 8 - 1 = 7, sa = 15, sv = 11 + 7 - 2.
    assert_eq!(after_round_trips(&[8, 8]), [12, 17]);
}

#[test]
fn a_segment_that_was_sent_again_measures_nothing() {
    let clock = ticks(100);
    let mut timeout = RetransmissionTimeout::new(&esp(5760));
    timeout.sent(&clock, at(200), 1440);
    timeout.sent_again();
    timeout.acknowledged(&clock, at(9000), 1440, None);
    assert_eq!(timeout.length(&clock), ms(1500));
    // Neither does one that is not yet acknowledged.
    timeout.sent(&clock, at(9000), 2880);
    timeout.acknowledged(&clock, at(20_000), 2879, None);
    assert_eq!(timeout.length(&clock), ms(1500));
}

/// Checks `tcp_backoff` of tcp.c, which shifts the estimate and not what was shifted before.
#[test]
fn lwip_backs_off_by_its_table() {
    let clock = ticks(100);
    let mut timeout = RetransmissionTimeout::new(&esp(5760));
    let seconds = [3, 6, 12, 24, 48, 96, 192, 192, 192, 192, 192, 192];
    for (n, wait) in seconds.into_iter().enumerate() {
        assert_eq!(usize::from(timeout.tries), n);
        timeout.back_off(false);
        assert_eq!(timeout.length(&clock).as_secs(), wait);
    }
    timeout.acknowledged(&clock, at(0), 1, None);
    assert_eq!((timeout.tries, timeout.length(&clock)), (0, ms(1500)));
    timeout.back_off(true);
    assert_eq!(timeout.length(&clock), ms(1500), "a SYN is sent again at the same pace");
}

/// Checks `tcp_persist_backoff` of tcp.c.
#[test]
fn lwip_probes_by_its_table() {
    let (clock, timeout) = (ticks(100), RetransmissionTimeout::new(&esp(5760)));
    let waits = core::array::from_fn::<_, 9, _>(|n| {
        let probe = timeout.probe(&clock, at(100), n as u8);
        probe.since(at(100)).as_millis()
    });
    assert_eq!(waits, [1500, 3000, 6000, 12_000, 24_000, 48_000, 60_000, 60_000, 60_000]);
}

/// Checks RFC 6298 sections 2.2 and 2.3 with Linux's lower limit of 200 ms for the variance's part.
#[test]
fn linux_estimates_by_rfc_6298() {
    let stack = Stack::pc();
    let clock = TickClock::new(&stack.timers, 0);
    let mut timeout = RetransmissionTimeout::new(&stack);
    assert_eq!(timeout.length(&clock), ms(1000));
    let steps = [(10, 10_000, 210_000), (110, 22_500, 222_500), (410, 70_937, 544_687)];
    for (took, smoothed, wait) in steps {
        timeout.acknowledged(&clock, at(0), 1, Some(ms(took)));
        let micros = timeout.smoothed().map(|it| it / 1000);
        assert_eq!((micros, timeout.length(&clock).as_micros()), (Some(smoothed), wait));
    }
    timeout.acknowledged(&clock, at(0), 1, None);
    assert_eq!(timeout.length(&clock).as_micros(), 544_687, "nothing was measured");
}

#[test]
fn linux_doubles_up_to_two_minutes() {
    let stack = Stack::pc();
    let clock = TickClock::new(&stack.timers, 0);
    let mut timeout = RetransmissionTimeout::new(&stack);
    let waits = core::array::from_fn::<_, 9, _>(|_| {
        timeout.back_off(true);
        timeout.length(&clock).as_secs()
    });
    assert_eq!(waits, [2, 4, 8, 16, 32, 64, 120, 120, 120]);
    assert_eq!(timeout.due(&clock, at(5)), at(120_005));
    assert_eq!(timeout.probe(&clock, at(0), 3), at(120_000));
}
