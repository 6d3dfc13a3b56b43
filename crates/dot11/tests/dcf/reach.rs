//! Rooms where not all hear all: hidden stations, capture, EIFS, NAV, channels.

use crate::rig::{packet, room_of, room_with};
use crate::script::{ACK, DATA, Script, US};
use espbench_dot11::air::{
    AdjacentChannels, PowerRatio, RadioLinks, ReceiverConfig, ThresholdDecoder,
};
use espbench_dot11::mac::source::Saturated;
use espbench_dot11::mac::{GROUP, MacConfig, MediumConfig, TxFrame, WirelessMedium};
use espbench_dot11::radio::{FrameCapture, Ofdm, RadioChip, TxPower, WifiMode};
use espbench_model::sample::Cause;
use espbench_model::time::Instant;
use std::sync::Arc;

/// Makes a row with station 1 in the middle; 0 and 2 do not hear each other.
fn row(left: f64, right: f64) -> RadioLinks {
    RadioLinks::new(3, -95.0, move |from, to| match (from, to) {
        (0, 1) | (1, 0) => left,
        (2, 1) | (1, 2) => right,
        _ => -120.0,
    })
}

#[test]
fn hidden_stations_collide_though_the_medium_is_busy() {
    let mut room = room_of(1, row(-60.0, -60.0), &MacConfig::default());
    let mut script = Script::default();
    script.send(&mut room, 1000, 0, GROUP);
    script.send(&mut room, 2000, 2, GROUP);
    script.run(&mut room);
    assert_eq!(script.begins(2), [2000 * US], "it does not hear the other");
    let collision = |from| (from, 1, Cause::Collision);
    assert_eq!(script.missed, [collision(0), collision(2)]);
    assert!(script.heard.is_empty());
    assert_eq!(room.counters(1).collided, 2);
}

/// Two senders to one receiver: half of what is sent is lost where they are hidden from each
/// other, one in seventeen where they are not.
#[test]
fn hidden_senders_get_less_through() {
    let share = |links| {
        let mut room = room_of(1, links, &MacConfig::default());
        let mut host = Saturated { packet: packet(1), frames: 2 };
        host.start(&mut room, [0, 2]);
        room.run(&mut host, Instant::from_nanos(60_000_000_000));
        let [a, b] = [0, 2].map(|it| room.counters(it));
        (a.acknowledged + b.acknowledged) as f64 / (a.sent + b.sent) as f64
    };
    let (open, hidden) = (share(RadioLinks::uniform(3, -60.0)), share(row(-60.0, -60.0)));
    assert!((open - 0.941).abs() < 0.01, "{open}");
    assert!(hidden < 0.6, "{hidden}");
}

#[test]
fn the_stronger_of_two_that_begin_together_is_read() {
    for (left, heard) in [(-50.0, Some(0)), (-57.0, None), (-60.0, None), (-70.0, Some(2))] {
        let mut room = room_of(1, row(left, -60.0), &MacConfig::default());
        let mut script = Script::default();
        script.send(&mut room, 1000, 0, GROUP);
        script.send(&mut room, 1000, 2, GROUP);
        script.run(&mut room);
        let expected: Vec<(u32, u32)> = heard.map(|from| (from, 1)).into_iter().collect();
        assert_eq!(script.heard, expected, "{left}");
        assert_eq!(script.heard.len() + script.missed.len(), 2);
    }
}

#[test]
fn a_later_and_stronger_one_is_read_if_the_receiver_can_do_that() {
    for (capture, heard) in
        [(FrameCapture::any_time(10.0), vec![(2, 1)]), (FrameCapture::default(), vec![])]
    {
        let receiver = ReceiverConfig { capture, ..ReceiverConfig::default() };
        let mut room = room_with(1, row(-60.0, -45.0), &MacConfig::default(), receiver);
        let mut script = Script::default();
        script.send(&mut room, 1000, 0, GROUP);
        script.send(&mut room, 2000, 2, GROUP);
        script.run(&mut room);
        assert_eq!(script.heard, heard);
    }
}

#[test]
fn a_frame_much_stronger_than_what_comes_later_survives() {
    let mut room = room_of(1, row(-50.0, -70.0), &MacConfig::default());
    let mut script = Script::default();
    script.send(&mut room, 1000, 0, GROUP);
    script.send(&mut room, 2000, 2, GROUP);
    script.run(&mut room);
    assert_eq!(script.heard, [(0, 1)]);
}

#[test]
fn a_frame_too_weak_is_noise_and_its_hearers_wait_for_eifs() {
    // 4.2 dB above noise: its preamble is found; 4.1 dB of noise and interference are too much
    // for the octets, as the room's cutoff is 5 dB here.
    for (dbm, wait) in [(-89.4, 364), (-60.0, 50)] {
        let links = RadioLinks::new(3, -95.0, move |from, _| if from == 0 { dbm } else { -60.0 });
        let settings = [(); 3].map(|()| MacConfig::default());
        let receiver =
            ReceiverConfig::new(ThresholdDecoder::from_db(5.0), -73.0, FrameCapture::default());
        let mut room = WirelessMedium::new(1, links, &[receiver], settings);
        let mut script = Script::default();
        script.send(&mut room, 1000, 0, GROUP);
        script.send(&mut room, 1500, 1, GROUP);
        script.run(&mut room);
        let slots = script.begins(1)[0] - (1000 * US + DATA) - wait * US;
        assert_eq!(slots % (20 * US), 0, "{dbm}");
        assert!(slots <= 31 * 20 * US, "{dbm}: {slots}");
        assert_eq!(script.missed.contains(&(0, 1, Cause::Noise)), dbm < -80.0);
    }
}

/// Station 0 hears the sender 1 and not its receiver 2: only the Duration field tells it of the ACK.
#[test]
fn the_duration_field_keeps_the_medium_for_the_ack() {
    let mut room = room_of(1, row(-60.0, -60.0), &MacConfig::default());
    let mut script = Script::default();
    script.send(&mut room, 1000, 1, 2);
    script.send(&mut room, 1500, 0, GROUP);
    script.run(&mut room);
    let reserved = 1000 * US + DATA + 10 * US + ACK;
    let slots = script.begins(0)[0] - reserved - 50 * US;
    assert!(slots.is_multiple_of(20 * US) && slots <= 31 * 20 * US);
    assert!(script.done.iter().all(|(_, done)| done.delivered && done.attempts == 1));
}

#[test]
fn stations_on_other_channels_hear_less_or_nothing() {
    let adjacent = AdjacentChannels::by_distance(&[10.0, 40.0].map(PowerRatio::from_db));
    let medium = MediumConfig { adjacent, ..MediumConfig::default() };
    let mut room =
        room_of(1, RadioLinks::uniform(5, -60.0), &MacConfig::default()).with_config(medium);
    let mut script = Script::default();
    for (station, channel) in [(1, 2), (2, 3), (3, 6)] {
        script.tune(&mut room, 100, station, channel);
    }
    script.send(&mut room, 1000, 0, GROUP);
    script.send(&mut room, 1500, 3, GROUP);
    script.run(&mut room);
    // One channel away it arrives with -70 dBm, two away with -100, five away not at all.
    assert_eq!(script.heard, [(0, 1), (0, 4)]);
    assert_eq!(script.begins(3), [1500 * US]);
    assert_eq!((room.channel(3), room.channel(0)), (6, 1));
}

#[test]
fn a_hop_loses_the_frame_and_finds_the_energy_there() {
    let mut room = room_of(1, RadioLinks::uniform(4, -60.0), &MacConfig::default());
    let mut script = Script::default();
    script.tune(&mut room, 100, 3, 6);
    script.tune(&mut room, 100, 2, 6);
    script.send(&mut room, 1000, 0, GROUP);
    script.send(&mut room, 1000, 3, GROUP);
    script.tune(&mut room, 2000, 1, 6);
    script.send(&mut room, 2100, 1, GROUP);
    script.run(&mut room);
    assert_eq!(script.heard, [(3, 2), (1, 2), (1, 3)], "neither frame reaches station 1");
    assert!(script.begins(1)[0] >= 1000 * US + DATA + 50 * US, "it senses the other one");
}

#[test]
fn while_it_hops_a_station_neither_hears_nor_sends() {
    let mut room = room_of(1, RadioLinks::uniform(4, -60.0), &MacConfig::default());
    let mut script = Script::default();
    script.tune(&mut room, 100, 1, 6);
    script.tune(&mut room, 100, 2, 6);
    // Two hops that overlap: the later one counts.
    script.hop(&mut room, 500, 3, 11, 4000);
    script.hop(&mut room, 900, 3, 6, 9000);
    script.send(&mut room, 1000, 1, GROUP);
    script.send(&mut room, 2000, 3, GROUP);
    script.send(&mut room, 15_000, 1, GROUP);
    script.run(&mut room);
    assert_eq!(script.heard, [(1, 2), (3, 1), (3, 2), (1, 2), (1, 3)]);
    let after = script.begins(3)[0] - 9900 * US - 50 * US;
    assert!(after.is_multiple_of(20 * US) && after <= 31 * 20 * US, "as after a busy medium");
}

/// Returns stations whose chip sends 54 Mbit/s 5.5 dB weaker than 1 Mbit/s, a link apart.
fn weaker_when_faster(dbm: f64) -> WirelessMedium {
    let output = Some(Arc::new(TxPower::of(RadioChip::Esp32, 30.0)));
    room_of(1, RadioLinks::uniform(3, dbm), &MacConfig { output, ..MacConfig::default() })
}

fn fast(to: u32) -> TxFrame {
    TxFrame { mode: WifiMode::Ofdm(Ofdm::M54), ..packet(to) }
}

/// A chip's power depends on the mode (its datasheet), and so does what others receive.
#[test]
fn a_mode_with_less_power_arrives_weaker() {
    let mut room = weaker_when_faster(-60.0);
    let mut script = Script::default();
    script.send_packet(&mut room, 1000, 0, packet(GROUP));
    script.send_packet(&mut room, 10_000, 0, fast(GROUP));
    script.send(&mut room, 20_000, 1, 2);
    script.run(&mut room);
    assert_eq!(script.rssi, [-60, -60, -66, -66, -60]);
    // The threshold is 4 dB over noise of -93.6 dBm.
    for (dbm, heard) in [(-83.0, [true, true]), (-87.0, [true, false]), (-91.0, [false, false])] {
        let mut room = weaker_when_faster(dbm);
        let mut script = Script::default();
        script.send_packet(&mut room, 1000, 0, packet(GROUP));
        script.send_packet(&mut room, 10_000, 0, fast(GROUP));
        script.run(&mut room);
        let received = heard.iter().map(|heard| if *heard { 2 } else { 0 }).sum::<usize>();
        assert_eq!(script.heard.len(), received, "{dbm}");
        let lost = script.missed.iter().filter(|it| it.2 == Cause::Noise).count();
        assert_eq!(lost, 4 - received, "{dbm}");
    }
}

/// Who hops to a channel finds the energy there, less of a mode with less power: the threshold of
/// energy is -73 dBm.
#[test]
fn who_hops_finds_the_power_of_the_mode_on_the_air() {
    for (dbm, mode, busy) in [
        (-70.0, WifiMode::ESP_NOW, true),
        (-70.0, WifiMode::Ofdm(Ofdm::M54), false),
        (-65.0, WifiMode::Ofdm(Ofdm::M54), true),
    ] {
        let mut room = weaker_when_faster(dbm);
        let mut script = Script::default();
        script.tune(&mut room, 100, 1, 6);
        let long = TxFrame { mode, octets: 2000, ..packet(GROUP) };
        script.send_packet(&mut room, 1000, 0, long);
        script.tune(&mut room, 1100, 1, 1);
        script.send(&mut room, 1200, 1, GROUP);
        script.run(&mut room);
        let end = script.frames[0].end;
        let begins = script.begins(1)[0];
        assert_eq!(begins > end, busy, "{dbm}, {mode:?}: {begins}");
        assert!(busy || begins == 1200 * US);
    }
}

/// A frame to one is not for others, who neither hear nor miss it.
#[test]
fn a_frame_to_one_is_for_nobody_else() {
    let mut room = room_of(1, RadioLinks::uniform(4, -60.0), &MacConfig::default());
    let mut script = Script::default();
    script.tune(&mut room, 100, 2, 6);
    script.send(&mut room, 1000, 0, 1);
    // To a station on another channel: seven attempts that nobody hears of.
    script.send(&mut room, 10_000, 0, 2);
    script.run(&mut room);
    assert_eq!((script.heard, script.missed), (vec![(0, 1)], vec![]));
    assert_eq!(script.done.iter().map(|it| it.1.attempts).collect::<Vec<u8>>(), [1, 7]);
    assert_eq!((1..4).map(|it| room.counters(it).received).sum::<u64>(), 1);
}
