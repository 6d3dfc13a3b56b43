//! Frames of no network, and slices of the radio.

use super::bench::WifiBench;
use crate::mac::{GROUP, TxFrame};
use crate::radio::WifiMode;
use crate::wifi::{
    ApConfig, CoexistenceConfig, ConnectionlessWindow, DisconnectReason, JoinConfig, PowerSave,
    StationConfig, WifiRole,
};
use core::time::Duration;
use std::vec::Vec;

const MS: u64 = 1_000_000;

fn pair(station: StationConfig) -> WifiBench {
    WifiBench::new([WifiRole::AccessPoint(ApConfig::default()), WifiRole::Station(station)])
}

fn connectionless(window_ms: u64, interval_ms: Option<u64>) -> Option<ConnectionlessWindow> {
    Some(ConnectionlessWindow {
        window: Duration::from_millis(window_ms),
        interval: interval_ms.map(Duration::from_millis),
    })
}

/// Returns how long the radio of a station was on between seconds 1 and 5, per mille.
fn on_per_mille(bench: &mut WifiBench) -> u64 {
    bench.run_ms(5000);
    let (mut on, mut since, mut total) = (true, 0, 0);
    let changes = bench.host.log.awake.iter().map(|&(at, _, on)| (at, on));
    for (at, now_on) in changes.chain([(5000 * MS, false)]) {
        if on {
            total += at.max(1000 * MS) - since.max(1000 * MS);
        }
        (on, since) = (now_on, at);
    }
    total / (4 * MS)
}

#[test]
fn windows_are_as_the_table_of_the_document_says() {
    let alone = |connectionless| {
        let join = JoinConfig { again: Duration::from_secs(1000), ..JoinConfig::on(9) };
        let station = StationConfig {
            connectionless,
            disconnected_sleep: true,
            join,
            network: 7,
            ..StationConfig::default()
        };
        on_per_mille(&mut pair(station))
    };
    assert_eq!(alone(None), 0, "nobody wants the radio");
    assert_eq!(alone(connectionless(0, None)), 0);
    assert_eq!(alone(connectionless(0, Some(100))), 0);
    assert_eq!(alone(connectionless(50, None)), 1000, "default mode: always on");
    assert_eq!(alone(connectionless(100, Some(100))), 1000);
    assert_eq!(alone(connectionless(25, Some(100))), 250);
}

#[test]
fn windows_begin_with_beacons() {
    let station = |window| StationConfig {
        joined: true,
        sleep: PowerSave::MaxModem { listen_interval: 10 },
        connectionless: connectionless(window, Some(200)),
        ..StationConfig::default()
    };
    let ap = WifiRole::AccessPoint(ApConfig::default());
    let mut bench =
        WifiBench::new([ap, WifiRole::Station(station(10)), WifiRole::Station(station(20))]);
    bench.host.frames = true;
    bench.run_ms(3000);
    let starts = |number| -> Vec<u64> {
        let windows = bench.host.log.windows.iter();
        windows.filter(|it| it.1 == number).map(|it| it.0).collect()
    };
    let (one, two) = (starts(1), starts(2));
    assert_eq!(one, two, "all stations of an access point at the same time");
    assert!(one.len() >= 14);
    for pair in one.windows(2) {
        assert_eq!(pair[1] - pair[0], 2 * 102_400_000, "the nearest number of beacons");
    }
    // The first beacon is at 6.012802 ms: see the other snapshots.
    assert_eq!(one[1] % 102_400_000, 6_012_802);
}

#[test]
fn a_frame_of_no_network_is_sent_from_sleep() {
    let station =
        StationConfig { joined: true, sleep: PowerSave::MinModem, ..StationConfig::default() };
    let mut bench = pair(station);
    bench.run_ms(140);
    assert!(!bench.host.wifi.is_awake(1));
    let packet = TxFrame::new(GROUP, 100, WifiMode::ESP_NOW, 5);
    bench.call(|wifi, medium, _| wifi.send_foreign(medium, 1, packet).expect("a buffer"));
    bench.run_ms(144);
    let changes = &bench.host.log.awake;
    let [on, off] = [changes[changes.len() - 2], changes[changes.len() - 1]];
    assert_eq!((on.0, on.2), (140_300_000, true));
    // 192 us and 800 us on the air.
    assert!(!off.2 && (900_000..2_000_000).contains(&(off.0 - on.0)), "{off:?}");
}

#[test]
fn outside_of_its_slices_wifi_has_no_radio() {
    let coexistence = Some(CoexistenceConfig::default());
    let station = StationConfig { joined: true, coexistence, ..StationConfig::default() };
    let mut bench = pair(station);
    for tag in 0..50 {
        bench.run_ms(1000 + tag * 47);
        bench.send(0, 1, 400, tag).expect("it is sent or kept");
        bench.send(1, 0, 400, 1000 + tag).expect("it waits for the slice");
    }
    // Half of each beacon interval, of which four seconds are no multiple.
    assert_eq!(on_per_mille(&mut bench), 499);
    let log = &bench.host.log;
    assert_eq!((log.received.len(), log.sent.len()), (100, 100), "nothing is lost");
    assert!(log.sent.iter().all(|it| it.2.lost.is_none()));
    let late =
        |it: &(u64, u32, crate::wifi::ReceivedPacket)| it.0 - (1000 + (it.2.tag % 1000) * 47) * MS;
    let latest = log.received.iter().map(late).max().expect("there are some");
    assert!((50 * MS..70 * MS).contains(&latest), "a slice of others: {latest}");
    assert!(!log.left.iter().any(|it| it.2 == DisconnectReason::BeaconLoss));
}
