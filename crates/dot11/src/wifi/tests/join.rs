//! Joining and leaving a network.

use super::bench::WifiBench;
use crate::wifi::{
    ApConfig, DisconnectReason, JoinConfig, PowerSave, StationConfig, WifiRole, WifiSecurity,
};
use espbench_model::sample::Cause;
use std::vec::Vec;

fn ap(security: WifiSecurity) -> WifiRole {
    WifiRole::AccessPoint(ApConfig { security, ..ApConfig::default() })
}

fn station(security: WifiSecurity, join: JoinConfig) -> WifiRole {
    let sleep = PowerSave::MinModem;
    let base = StationConfig { disconnected_sleep: true, ..StationConfig::default() };
    WifiRole::Station(StationConfig { security, join, sleep, ..base })
}

fn conversation(security: WifiSecurity) -> WifiBench {
    let mut bench = WifiBench::on(6, [ap(security), station(security, JoinConfig::on(6))]);
    bench.host.frames = true;
    bench.run_ms(700);
    bench
}

#[test]
fn an_open_network_is_joined() {
    insta::assert_snapshot!(conversation(WifiSecurity::Open).host.log.text);
}

#[test]
fn wpa2_takes_four_frames_more() {
    insta::assert_snapshot!(conversation(WifiSecurity::Wpa2).host.log.text);
}

#[test]
fn wpa3_commits_and_confirms_first() {
    insta::assert_snapshot!(conversation(WifiSecurity::Wpa3).host.log.text);
}

/// Returns the time in milliseconds at which a station has joined.
fn joined_ms(channel: u8, join: JoinConfig) -> u64 {
    let mut bench =
        WifiBench::on(channel, [ap(WifiSecurity::Wpa2), station(WifiSecurity::Wpa2, join)]);
    bench.run_ms(5000);
    let joined = &bench.host.log.joined;
    assert_eq!(joined.len(), 1, "once, and it stays");
    assert_eq!(bench.medium.channel(1), channel);
    joined[0].0 / 1_000_000
}

#[test]
fn the_scan_takes_what_it_takes() {
    let last = joined_ms(13, JoinConfig::default());
    // Eleven channels of 120 ms and two of 360, each to its end.
    assert!((2040..2200).contains(&last), "{last}");
    let known = joined_ms(13, JoinConfig::on(13));
    assert!((120..180).contains(&known), "{known}");
    let all = joined_ms(1, JoinConfig { first: false, ..JoinConfig::default() });
    assert!((2040..2200).contains(&all), "all channels first: {all}");
    assert!((120..180).contains(&joined_ms(1, JoinConfig::default())));
}

#[test]
fn the_strongest_of_all_channels_is_taken() {
    // Three of the network are on one channel, and one of another network; all are equally strong,
    // so the first one found stays.
    let other = ApConfig { network: 9, ..ApConfig::default() };
    let join = JoinConfig { first: false, ..JoinConfig::on(1) };
    let roles =
        [WifiRole::AccessPoint(other), ap(WifiSecurity::Wpa2), station(WifiSecurity::Wpa2, join)];
    let mut bench = WifiBench::new(roles);
    bench.run_ms(1000);
    assert_eq!(bench.host.wifi.ap_of(2), Some(1));
    let wpa3 = [ap(WifiSecurity::Wpa3), station(WifiSecurity::Wpa2, JoinConfig::on(1))];
    let mut bench = WifiBench::new(wpa3);
    bench.run_ms(1000);
    assert_eq!(bench.host.wifi.ap_of(1), None);
    assert!(bench.host.log.left.iter().all(|it| it.2 == DisconnectReason::NotFound));
    assert!(bench.host.log.left.len() > 4, "it tries again");
}

#[test]
fn an_access_point_takes_so_many() {
    let few = ApConfig { most_stations: 2, ..ApConfig::default() };
    let stations = (0..3).map(|_| station(WifiSecurity::Wpa2, JoinConfig::on(1)));
    let mut bench = WifiBench::new(core::iter::once(WifiRole::AccessPoint(few)).chain(stations));
    bench.run_ms(1000);
    assert_eq!(bench.host.log.joined.len(), 2);
    assert!(bench.host.log.left.iter().any(|it| it.2 == DisconnectReason::Refused));
    // One leaves: the third gets in.
    let gone = bench.host.log.joined[0].1;
    bench.call(|wifi, medium, log| wifi.leave(medium, gone, log));
    bench.run_ms(2000);
    assert_eq!(bench.host.log.joined.len(), 3);
    assert_eq!(bench.host.wifi.stations_of(0).count(), 2);
    assert!(!bench.host.wifi.is_awake(gone), "in no network, with nothing to do, it sleeps");
    bench.call(|wifi, medium, log| wifi.join(medium, gone, log));
    bench.run_ms(2500);
    assert_eq!(bench.host.log.joined.len(), 3, "now it is the one too many");
}

#[test]
fn a_station_that_is_sent_away_comes_back() {
    let mut bench =
        WifiBench::new([ap(WifiSecurity::Wpa2), station(WifiSecurity::Wpa2, JoinConfig::on(1))]);
    bench.run_ms(1000);
    bench.send(0, 1, 100, 1).expect("it waits for the next beacon");
    bench.call(|wifi, medium, log| wifi.deauthenticate(medium, 0, 1, log));
    // The station sleeps and does not hear of it; its next packet is answered.
    bench.run_ms(1500);
    bench.send(1, 0, 100, 2).expect("it thinks that it is associated");
    bench.run_ms(2500);
    let left: Vec<DisconnectReason> = bench.host.log.left.iter().map(|it| it.2).collect();
    assert_eq!(
        (left, bench.host.log.joined.len()),
        ([DisconnectReason::Deauthenticated].into(), 2)
    );
    assert_eq!(bench.host.log.sent.len(), 2, "both packets have ended");
}

#[test]
fn without_beacons_a_station_asks_and_leaves() {
    let mut bench =
        WifiBench::new([ap(WifiSecurity::Wpa2), station(WifiSecurity::Wpa2, JoinConfig::on(1))]);
    bench.host.frames = true;
    bench.run_ms(1000);
    bench.call(|wifi, medium, log| drop(wifi.switch_off(medium, 0, log)));
    bench.host.log.text.clear();
    bench.run_ms(10_000);
    let (at, _, why) = bench.host.log.left[0];
    assert_eq!(why, DisconnectReason::BeaconLoss);
    // 6 s after the last beacon, and five times 500 ms.
    assert!((9_300..9_600).contains(&(at / 1_000_000)), "{at}");
    bench.call(|wifi, medium, log| wifi.switch_on(medium, 0, log));
    bench.run_ms(12_000);
    assert_eq!(bench.host.log.joined.len(), 2);
    let beacons = bench.host.wifi.counters(0).beacons;
    assert!((28..32).contains(&beacons), "in 3 s: {beacons}");
}

#[test]
fn a_station_without_power_loses_what_it_had() {
    let mut bench =
        WifiBench::new([ap(WifiSecurity::Wpa2), station(WifiSecurity::Wpa2, JoinConfig::on(1))]);
    bench.run_ms(1000);
    for tag in 0..20 {
        bench.send(1, 0, 1000, tag).expect("a buffer");
    }
    bench.run_ms(1001);
    bench.call(|wifi, medium, log| drop(wifi.switch_off(medium, 1, log)));
    bench.run_ms(1500);
    let sent = &bench.host.log.sent;
    assert_eq!(sent.len(), 20, "all have ended");
    assert!(sent.iter().filter(|it| it.2.lost == Some(Cause::Disconnected)).count() > 10);
    assert_eq!(bench.medium.queued(1), 0);
    bench.call(|wifi, medium, log| wifi.switch_on(medium, 1, log));
    bench.run_ms(2500);
    assert_eq!(bench.host.log.joined.len(), 2, "the access point takes it again");
    bench.send(1, 0, 1000, 20).expect("a buffer");
    bench.run_ms(3000);
    assert_eq!(bench.host.log.received.last().map(|it| it.2.tag), Some(20));
}
