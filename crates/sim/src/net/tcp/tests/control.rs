//! Congestion windows.

use super::super::control::{AckAction, AckedData, CongestionState};
use super::*;

const MSS: u32 = 1440;

fn acked(now: Instant, bytes: u32, una: u32, flight: u32) -> AckedData {
    AckedData { now, bytes, una, flight, round_trip: 0 }
}

/// Returns the windows after each of these acknowledgements.
fn windows<const N: usize>(control: &mut CongestionState, bytes: [u32; N]) -> [u32; N] {
    bytes.map(|bytes| {
        let flight = control.window();
        assert_eq!(control.acknowledged(acked(at(0), bytes, 0, flight)), AckAction::Send);
        control.window()
    })
}

/// Checks RFC 3390 for lwIP, and RFC 6928 for Linux.
#[test]
fn the_first_window_is_the_stacks() {
    let first = |stack: &Stack, mss| CongestionState::new(stack, mss).window();
    let esp = esp(5760);
    assert_eq!([536, 1095, 1440, 1460].map(|mss| first(&esp, mss)), [2144, 4380, 4380, 4380]);
    assert_eq!(first(&Stack::pc(), 1460), 14_600);
}

/// Checks RFC 3465 section 2.2: slow start counts bytes, at most two segments of an acknowledgement.
#[test]
fn lwip_starts_slowly_by_bytes() {
    let mut control = CongestionState::new(&esp(57_600), MSS);
    assert_eq!(control.threshold(), 57_600, "the send buffer");
    assert_eq!(windows(&mut control, [100, 1440, 2880, 5760]), [4480, 5920, 8800, 11_680]);
}

#[test]
fn lwip_grows_by_a_segment_for_each_window_above_the_threshold() {
    let mut control = CongestionState::new(&esp(5760), MSS);
    // One acknowledgement leads over the threshold; then five make 7200 bytes, more than a window.
    let windows = windows(&mut control, [MSS; 6]);
    assert_eq!(windows, [5820, 5820, 5820, 5820, 5820, 7260]);
}

#[test]
fn lwip_halves_the_smaller_window_at_a_loss() {
    let mut control = CongestionState::new(&esp(57_600), MSS);
    windows(&mut control, [2880; 10]);
    assert_eq!(control.window(), 33_180);
    control.lost(20_000, 1000);
    assert_eq!((control.threshold(), control.window()), (10_000, 10_000 + 3 * MSS));
    assert!(control.in_recovery());
    control.duplicate();
    assert_eq!(control.window(), 10_000 + 4 * MSS, "each duplicate is a segment that has left");
    // Any new acknowledgement ends it, below the end of what was sent as well.
    assert_eq!(control.acknowledged(acked(at(0), 1440, 500, 10_000)), AckAction::Send);
    assert_eq!((control.in_recovery(), control.window()), (false, 10_000));
    control.duplicate();
    assert_eq!(control.window(), 10_000, "a duplicate outside recovery counts nothing");
    // No threshold is below two segments.
    control.lost(1000, 2000);
    assert_eq!(control.threshold(), 2 * MSS);
}

#[test]
fn after_a_timeout_lwip_begins_with_one_segment_and_grows_by_one() {
    let mut control = CongestionState::new(&esp(57_600), MSS);
    windows(&mut control, [2880; 10]);
    control.timed_out(30_000, false);
    assert_eq!((control.threshold(), control.window()), (15_000, MSS));
    assert_eq!(windows(&mut control, [MSS, 4 * MSS]), [2 * MSS, 3 * MSS]);
    // A second timeout halves what is left.
    control.timed_out(30_000, true);
    assert_eq!(control.threshold(), 2 * MSS);
}

/// Checks RFC 6582 section 3.2: a partial acknowledgement repeats the next segment and deflates.
#[test]
fn linux_stays_in_recovery_until_all_of_it_is_acknowledged() {
    let mut control = CongestionState::new(&Stack::pc(), 1460);
    control.lost(65_535, 14_600);
    assert_eq!((control.threshold(), control.window()), (10_220, 10_220 + 3 * 1460));
    let partial = acked(at(0), 2920, 2920, 14_600);
    assert_eq!(control.acknowledged(partial), AckAction::Retransmit);
    assert_eq!((control.in_recovery(), control.window()), (true, 10_220 + 2 * 1460));
    let rest = acked(at(0), 11_680, 14_600, 11_680);
    assert_eq!(control.acknowledged(rest), AckAction::Send);
    assert!(!control.in_recovery());
    assert!((10_220..=10_220 + 1460).contains(&control.window()), "{}", control.window());
}

/// Checks RFC 9438 sections 4.2 and 4.6: after a loss at ten segments CUBIC goes on with seven, is
/// back at ten after the cube root of 3 / 0.4 seconds, stays near it, and then goes beyond.
#[test]
fn cubic_returns_to_the_window_of_the_loss() {
    let mut control = CongestionState::new(&Stack::pc(), 1460);
    control.lost(65_535, 0);
    // A round trip of a second: W(t) = 0.4 (t - 1.957)^3 + 10.
    let windows = core::array::from_fn::<_, 11, _>(|n| {
        let flight = control.window();
        control.acknowledged(acked(at(1000 * n as u64), flight, 1, flight));
        f64::from(control.window()) / 1460.0
    });
    let curve = [(1, 9.65), (2, 10.0), (3, 10.45)];
    for (n, wanted) in curve {
        assert!((windows[n] - wanted).abs() < 0.02, "{windows:?} after {n} s, {wanted} wanted");
    }
    assert!((7.0..8.0).contains(&windows[0]) && windows[10] > 20.0, "{windows:?}");
    assert!(windows.is_sorted(), "it never shrinks by itself: {windows:?}");
}

/// Checks RFC 9438 section 5.8: who does not fill the window does not open it.
#[test]
fn cubic_does_not_grow_for_a_sender_with_little_to_send() {
    let mut control = CongestionState::new(&Stack::pc(), 1460);
    for n in 0..100 {
        control.acknowledged(acked(at(n), 100, 1, 100));
    }
    assert_eq!(control.window(), 14_600);
    control.acknowledged(acked(at(100), 1460, 1, 14_600));
    assert_eq!(control.window(), 16_060);
}
