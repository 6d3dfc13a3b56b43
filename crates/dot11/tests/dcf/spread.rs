//! Preambles of clauses 15 and 16 among other frames: they are spread, so less must stand out.

use crate::rig::{packet, room_with};
use crate::script::Script;
use espbench_dot11::air::{RadioLinks, ReceiverConfig, ThresholdDecoder};
use espbench_dot11::mac::{GROUP, MacConfig, TxFrame};
use espbench_dot11::radio::{FrameCapture, Hr, Ofdm, WifiMode};

const SPREAD: FrameCapture =
    FrameCapture { spread_db: FrameCapture::BARKER_DB, ..FrameCapture::any_time(10.0) };
const PLAIN: FrameCapture = FrameCapture { spread_db: 0.0, ..SPREAD };

/// Returns the station that station 0 hears, of stations 1, 2, … that send at a time (us) and
/// arrive with a power (dBm). They do not hear each other. Every preamble that is found is read, 8
/// dB below others too.
fn heard(capture: FrameCapture, mode: WifiMode, sent: &[(u64, f64)]) -> Option<u32> {
    let powers: Vec<f64> = sent.iter().map(|(_, dbm)| *dbm).collect();
    let links = RadioLinks::new(sent.len() as u32 + 1, -95.0, move |from, to| match (from, to) {
        (from, 0) => powers[from as usize - 1],
        _ => -120.0,
    });
    let receiver = ReceiverConfig::new(ThresholdDecoder::from_db(-8.0), -73.0, capture);
    let mut room = room_with(1, links, &MacConfig::default(), receiver);
    let mut script = Script::default();
    for (from, (us, _)) in (1..).zip(sent) {
        script.send_packet(&mut room, *us, from, TxFrame { mode, ..packet(GROUP) });
    }
    script.run(&mut room);
    let begins = (1..).zip(sent).all(|(from, (us, _))| script.begins(from) == [us * 1000]);
    assert!(begins, "nobody waits");
    assert_eq!(script.heard.len() + script.missed.len(), sent.len());
    assert!(script.heard.len() <= 1);
    script.heard.first().map(|(from, _)| *from)
}

/// Makes the strongest sender, and so many that are 0.5 dB weaker, all at once; the strongest is
/// station 1 or the last one.
fn crowd(weaker: usize, strongest_first: bool) -> Vec<(u64, f64)> {
    let mut sent = vec![(1000, -60.5); weaker + 1];
    let at = if strongest_first { 0 } else { weaker };
    sent[at].1 = -60.0;
    sent
}

#[test]
fn the_strongest_is_read_unless_all_others_together_are_6_4_db_stronger() {
    for mode in [WifiMode::Hr(Hr::M1), WifiMode::Hr(Hr::M11)] {
        // 1, 2, 3, 4 and 5 of them are together -0.5, 2.5, 4.3, 5.5 and 6.5 dB stronger.
        for weaker in 1..=5 {
            for (first, station) in [(true, 1), (false, weaker as u32 + 1)] {
                let expected = (weaker < 5).then_some(station);
                let sent = crowd(weaker, first);
                assert_eq!(heard(SPREAD, mode, &sent), expected, "{mode:?}, {weaker}, {first}");
            }
        }
    }
}

#[test]
fn without_the_gain_of_spreading_it_takes_4_db() {
    let mode = WifiMode::Hr(Hr::M1);
    for first in [true, false] {
        assert_eq!(heard(PLAIN, mode, &crowd(1, first)), None);
    }
    let pair = |dbm| [(1000, -60.0), (1000, dbm)];
    let heard = [-65.0, -63.0, -57.0, -55.0].map(|dbm| heard(PLAIN, mode, &pair(dbm)));
    assert_eq!(heard, [Some(1), None, None, Some(2)]);
}

#[test]
fn an_ofdm_preamble_must_stand_out_by_4_db_in_any_case() {
    let pair = |dbm| [(1000, -60.0), (1000, dbm)];
    for capture in [SPREAD, PLAIN] {
        let mode = WifiMode::Ofdm(Ofdm::M6);
        let heard = [-65.0, -63.0, -57.0, -55.0].map(|dbm| heard(capture, mode, &pair(dbm)));
        assert_eq!(heard, [Some(1), None, None, Some(2)], "{capture:?}");
    }
}

#[test]
fn the_lock_is_lost_to_a_stronger_one_within_the_window_or_to_a_much_stronger_one() {
    // Station 2 begins within the window of 4 us, or after it.
    for (us, dbm, expected) in [
        (1002, -61.0, 1),
        (1002, -66.0, 1),
        (1002, -59.0, 2),
        (1010, -61.0, 1),
        (1010, -66.0, 1),
        (1010, -55.0, 1),
        (1010, -49.0, 2),
    ] {
        let sent = [(1000, -60.0), (us, dbm)];
        let heard = heard(SPREAD, WifiMode::Hr(Hr::M1), &sent);
        assert_eq!(heard, Some(expected), "{us} us, {dbm} dBm");
    }
}
