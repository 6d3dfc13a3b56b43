//! Stations that are switched off, doze or hop, alarms, and the time that all of it takes.

use crate::rig::{packet, room, room_of};
use crate::script::{ACK, DATA, Script, US};
use core::time::Duration;
use espbench_dot11::air::RadioLinks;
use espbench_dot11::mac::{AmpduConfig, GROUP, MacConfig, Spent, TxFrame, WirelessMedium};
use espbench_dot11::radio::{ChannelWidth, GuardInterval, Mcs, Timing, WifiMode};
use espbench_model::time::Instant;

const HT: WifiMode = WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Long);

fn micros(us: u64) -> Duration {
    Duration::from_micros(us)
}

fn at(us: u64) -> Instant {
    Instant::from_nanos(us * US)
}

/// Makes stations that send A-MPDUs, and hear each other well.
fn aggregating(stations: u32) -> WirelessMedium {
    let settings = MacConfig {
        timing: Timing::ERP_SHORT_SLOT,
        ampdu: Some(AmpduConfig { send: 8, receive: 8, ..AmpduConfig::MOST }),
        ..MacConfig::default()
    };
    room_of(1, RadioLinks::uniform(stations, -40.0), &settings)
}

fn ht(to: u32) -> TxFrame {
    TxFrame::new(to, 1538, HT, 0).aggregated()
}

/// A station has nothing left of an A-MPDU that is over, and may be switched off.
#[test]
fn a_station_is_switched_off_after_an_ampdu() {
    let mut room = aggregating(2);
    let mut script = Script::default();
    (0..3).for_each(|_| script.send_packet(&mut room, 1000, 0, ht(1)));
    script.act(&mut room, 5000, |room| {
        assert_eq!(room.queued(0), 0);
        assert!(room.switch_off(0).is_empty(), "nothing is lost");
        room.switch_on(0);
    });
    script.send_packet(&mut room, 6000, 0, ht(1));
    script.run(&mut room);
    assert_eq!(script.heard, [(0, 1); 4]);
    assert_eq!(script.done.iter().filter(|(_, done)| done.delivered).count(), 4);
}
