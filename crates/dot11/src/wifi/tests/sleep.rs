//! Sleeping stations, and the frames that their access point buffers for them.

use super::bench::WifiBench;
use crate::mac::GROUP;
use crate::radio::WifiMode;
use crate::wifi::{
    ApConfig, Capabilities, DataRates, FetchMethod, PowerSave, PowerSaveTimes, StationConfig,
    WifiRole,
};
use espbench_model::sample::Cause;
use std::vec::Vec;

/// Returns an access point with DTIM period 3, and a station.
fn pair(sleep: PowerSave, fetch: FetchMethod) -> WifiBench {
    let times = PowerSaveTimes { fetch, ..PowerSaveTimes::default() };
    let station = StationConfig { joined: true, sleep, times, ..StationConfig::default() };
    let ap = ApConfig { dtim_period: 3, ..ApConfig::default() };
    WifiBench::new([WifiRole::AccessPoint(ap), WifiRole::Station(station)])
}

#[test]
fn a_station_sleeps_and_is_told_what_waits() {
    let mut bench = pair(PowerSave::MinModem, FetchMethod::Null);
    bench.host.frames = true;
    bench.run_ms(100);
    bench.send(0, 1, 500, 1).expect("it is kept");
    bench.send(0, GROUP, 200, 2).expect("it is kept");
    bench.send(0, GROUP, 200, 3).expect("it is kept");
    bench.send(0, 1, 500, 4).expect("it is kept");
    bench.run_ms(500);
    bench.send(1, 0, 300, 5).expect("it wakes");
    bench.run_ms(700);
    insta::assert_snapshot!(bench.host.log.text);
}

#[test]
fn a_station_may_stop_after_the_tim() {
    let stops = |stop_at_tim, waits: bool| {
        let times = PowerSaveTimes { stop_at_tim, ..PowerSaveTimes::default() };
        let sleep = PowerSave::MinModem;
        let station = StationConfig { joined: true, sleep, times, ..StationConfig::default() };
        let ap = ApConfig { dtim_period: 1, ..ApConfig::default() };
        let roles = [WifiRole::AccessPoint(ap), WifiRole::Station(station)];
        let mut bench = WifiBench::new(roles);
        bench.run_ms(200);
        if waits {
            bench.send(0, GROUP, 200, 1).expect("it is kept");
        }
        bench.run_ms(310);
        bench.host.log.stopped
    };
    // Of 196 octets at 1 Mbit/s 65 are the header and all up to the TIM.
    let stopped = stops(true, false);
    assert_eq!(stopped.len(), 2, "{stopped:?}");
    assert!(stopped.iter().all(|(at, end)| end - at == (196 - 65) * 8_000), "{stopped:?}");
    assert_eq!(stops(true, true).len(), 1, "multicast is announced at the second");
    assert!(stops(false, false).is_empty());
}

#[test]
fn a_station_asks_for_one_packet_after_the_other() {
    let mut bench = pair(PowerSave::MaxModem { listen_interval: 2 }, FetchMethod::PsPoll);
    bench.host.frames = true;
    bench.run_ms(100);
    for tag in 0..3 {
        bench.send(0, 1, 500, tag).expect("it is kept");
    }
    bench.run_ms(700);
    insta::assert_snapshot!(bench.host.log.text);
}

/// Returns the delays of packets that came to an access point for a station at many times of its
/// cycle.
fn delays(sleep: PowerSave) -> Vec<u64> {
    let mut bench = pair(sleep, FetchMethod::Null);
    let mut at_ms = Vec::new();
    for tag in 0..60 {
        let at = 1000 + tag * 1037;
        bench.run_ms(at);
        at_ms.push(at);
        bench.send(0, 1, 500, tag).expect("one packet is kept");
    }
    bench.run_ms(70_000);
    let received = &bench.host.log.received;
    assert_eq!(received.len(), 60, "sleep loses nothing");
    received.iter().map(|(at, _, it)| at - at_ms[it.tag as usize] * 1_000_000).collect()
}

#[test]
fn downlink_waits_for_the_beacon_for_which_a_station_wakes() {
    const BEACON: u64 = 102_400_000;
    // The beacon, the Null frame and the packet take some milliseconds more.
    const AFTER: u64 = 6_000_000;
    for (sleep, beacons) in [
        (PowerSave::MinModem, 3),
        (PowerSave::MaxModem { listen_interval: 1 }, 1),
        (PowerSave::MaxModem { listen_interval: 10 }, 10),
    ] {
        let delays = delays(sleep);
        let (least, most) = (delays.iter().min(), delays.iter().max());
        let (least, most) = (*least.expect("there are some"), *most.expect("there are some"));
        assert!(most <= beacons * BEACON + AFTER, "{sleep:?}: {most}");
        assert!(most > (beacons - 1) * BEACON + BEACON / 2, "{sleep:?}: {most}");
        assert!(least < BEACON * beacons / 5, "{sleep:?}: {least}");
    }
    assert!(delays(PowerSave::None).iter().all(|&it| it < 2_000_000));
}

/// Returns how many of 100 multicast packets, one every 107 ms, a station has received.
fn multicast(sleep: PowerSave, ap: ApConfig) -> usize {
    let station = StationConfig { joined: true, sleep, ..StationConfig::default() };
    let mut bench = WifiBench::new([WifiRole::AccessPoint(ap), WifiRole::Station(station)]);
    for tag in 0..100 {
        bench.run_ms(1000 + tag * 107);
        bench.send(0, GROUP, 200, tag).expect("it is taken");
    }
    bench.run_ms(15_000);
    let log = &bench.host.log;
    assert_eq!(log.sent.len(), 100);
    assert_eq!(log.received.len() + log.missed.len(), 100, "what was missed is told");
    assert!(log.missed.iter().all(|it| it.3 == Cause::Asleep));
    log.received.len()
}

#[test]
fn multicast_reaches_those_who_wake_for_each_dtim() {
    let router = || ApConfig { dtim_period: 2, ..ApConfig::default() };
    assert_eq!(multicast(PowerSave::None, router()), 100);
    assert_eq!(multicast(PowerSave::MinModem, router()), 100);
    // As the document says: a listen interval longer than the DTIM period misses some.
    let missing = multicast(PowerSave::MaxModem { listen_interval: 10 }, router());
    assert!((15..30).contains(&missing), "one DTIM in five: {missing}");
    let odd = multicast(PowerSave::MaxModem { listen_interval: 3 }, router());
    assert!((25..45).contains(&odd), "every second of its beacons is a DTIM, one in three: {odd}");
    // An ESP buffers no multicast, so a sleeping station misses nearly all.
    assert_eq!(multicast(PowerSave::None, ApConfig::soft_ap()), 100);
    let asleep = multicast(PowerSave::MinModem, ApConfig::soft_ap());
    assert!(asleep < 10, "{asleep}");
}

#[test]
fn what_is_on_its_way_to_one_who_falls_asleep_is_kept() {
    // At 1 Mbit/s a packet takes 12 ms. The access point is busy with another station for longer
    // than the time that this one stays awake, with packets for it in its MAC's queue.
    let slow = DataRates::Fixed(WifiMode::ESP_NOW);
    let plain = Capabilities { ht: false, qos: false };
    let ap = ApConfig { rates: slow, capabilities: plain, ..ApConfig::default() };
    let station = |sleep| {
        WifiRole::Station(StationConfig {
            joined: true,
            sleep,
            capabilities: plain,
            ..StationConfig::default()
        })
    };
    let roles = [WifiRole::AccessPoint(ap), station(PowerSave::None), station(PowerSave::MinModem)];
    let mut bench = WifiBench::new(roles);
    for tag in 0..10 {
        bench.send(0, 1, 1400, tag).expect("a buffer");
    }
    for tag in 10..13 {
        bench.send(0, 2, 1400, tag).expect("it has not told that it sleeps");
    }
    bench.run_ms(1000);
    let log = &bench.host.log;
    let asleep = log.awake.iter().find(|it| !it.2).map(|it| it.0);
    let own = log.received.iter().filter(|it| it.1 == 2);
    let own: Vec<(u64, u64)> = own.map(|it| (it.0, it.2.tag)).collect();
    assert!(asleep.is_some_and(|at| at < own[0].0), "it slept before the first came");
    // The last was still in the MAC's queue when the station woke; the others came back from there.
    assert_eq!(own.iter().map(|it| it.1).collect::<Vec<_>>(), [12, 10, 11]);
    assert!(log.sent.len() == 13 && log.sent.iter().all(|it| it.2.lost.is_none()));
    assert!(bench.medium.counters(0).given_up > 0, "the MAC had given up");
}
