//! Packets between an access point and stations that never sleep.

use super::bench::WifiBench;
use crate::mac::GROUP;
use crate::wifi::{ApConfig, SendError, StationConfig, WifiRole, WifiSecurity};

fn network(stations: usize, security: WifiSecurity) -> WifiBench {
    let station = StationConfig { joined: true, security, ..StationConfig::default() };
    let ap = ApConfig { security, ..ApConfig::default() };
    let stations = core::iter::repeat_n(WifiRole::Station(station), stations);
    WifiBench::new(core::iter::once(WifiRole::AccessPoint(ap)).chain(stations))
}

#[test]
fn packets_go_both_ways_and_to_all() {
    let mut bench = network(2, WifiSecurity::Wpa2);
    bench.host.frames = true;
    bench.send(1, 0, 1500, 1).expect("it is associated");
    bench.send(0, 2, 1500, 2).expect("there is such a station");
    bench.send(0, GROUP, 100, 3).expect("multicast");
    bench.run_ms(250);
    insta::assert_snapshot!(bench.host.log.text);
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let mut bench = network(1, WifiSecurity::Open);
    assert_eq!(bench.send(0, 7, 100, 1), Err(SendError::NotJoined));
    assert_eq!(bench.send(1, 0, 2297, 1), Err(SendError::TooLong));
    for tag in 0..32 {
        bench.send(1, 0, 100, tag).expect("as many as there are buffers");
    }
    assert_eq!(bench.send(1, 0, 100, 32), Err(SendError::NoBuffers));
    bench.run_ms(1000);
    let tags: std::vec::Vec<u64> = bench.host.log.sent.iter().map(|it| it.2.tag).collect();
    assert_eq!(tags, (0..32).collect::<std::vec::Vec<u64>>(), "each taken one ends, in order");
    assert!(bench.host.log.sent.iter().all(|it| it.2.lost.is_none()));
    assert_eq!(bench.host.log.received.len(), 32);
}
