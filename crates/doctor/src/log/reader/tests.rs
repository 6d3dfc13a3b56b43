//! Events of a log as it streams by.

use super::*;
use proptest::prelude::*;

const LOG: &[u8] = b"I (1) wifi:pm start, type: 1\r\n\x1b[0;33mW (2) wifi_sta: reason=201\x1b[0m\n\nW (3000) wifi_sta: reason=201\n";

fn read(log: &[u8], piece: usize) -> LogSummary {
    let mut reader = LogReader::new();
    log.chunks(piece).for_each(|it| reader.push(it));
    reader.finish()
}

#[test]
fn events_are_counted_with_their_lines() {
    let summary = read(LOG, 5);
    assert_eq!((summary.lines, summary.recorded), (4, 3));
    let lost = &summary.events[&LogEvent::Disconnected(201)];
    assert_eq!(lost.count, 2);
    assert_eq!(lost.places.iter().map(|it| it.line).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(lost.places[1].uptime_ms, Some(3000));
}

#[test]
fn a_disconnection_that_driver_and_program_tell_of_is_one() {
    let log =
        b"I (98187) wifi:state: run -> init (0xc800)\nE (98207) app: Disconnect reason : 200\n\
        E (99999) app: Disconnect reason : 200\n";
    assert_eq!(read(log, 300).events[&LogEvent::Disconnected(200)].count, 2);
}

#[test]
fn what_follows_a_password_is_not_kept() {
    let summary = read(b"E (5) app: disconnect reason=15 password=hunter2\n", 300);
    let place = &summary.events[&LogEvent::Disconnected(15)].places[0];
    assert_eq!(place.text, "disconnect reason=15 …");
}

#[test]
fn endless_lines_and_ever_new_events_take_a_bounded_memory() {
    let mut reader = LogReader::new();
    for _ in 0..1000 {
        reader.push(&[b'x'; 1000]);
    }
    assert!(reader.line.capacity() <= 2 * LONGEST);
    reader.push(b"\n");
    for heap in 0..10_000 {
        reader.push(alloc::format!("I (1) a: free heap: {heap}\n").as_bytes());
    }
    let summary = reader.finish();
    assert_eq!((summary.cut, summary.events.len()), (1, KINDS));
    assert_eq!(summary.dropped, 10_000 - KINDS as u64);
}

proptest! {
    #[test]
    fn a_log_tells_the_same_in_any_pieces(log in proptest::collection::vec(any::<u8>(), 0..300), piece in 1..40_usize) {
        prop_assert_eq!(read(&log, piece), read(&log, 300));
    }
}
