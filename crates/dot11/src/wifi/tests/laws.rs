//! Invariants of any network.

use super::bench::WifiBench;
use crate::mac::GROUP;
use crate::radio::{ChannelWidth, GuardInterval};
use crate::wifi::{
    ApConfig, CoexistenceConfig, DataRates, FetchMethod, JoinConfig, PowerSave, PowerSaveTimes,
    StationConfig, WifiRole, WifiSecurity,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::vec::Vec;

/// An event in the life of a network.
#[derive(Clone, Debug)]
enum Deed {
    /// A packet from one station to another; the access point is 0.
    Send {
        from: u32,
        to: u32,
        octets: u32,
    },
    Multicast {
        octets: u32,
    },
    Leave(u32),
    Join(u32),
    Expel(u32),
    Off(u32),
    On(u32),
}

const STATIONS: u32 = 3;

fn sleep() -> impl Strategy<Value = PowerSave> {
    prop_oneof![
        Just(PowerSave::None),
        Just(PowerSave::MinModem),
        (1..5_u16).prop_map(|listen_interval| PowerSave::MaxModem { listen_interval }),
    ]
}

fn station(restless: bool) -> impl Strategy<Value = WifiRole> {
    (sleep(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(move |it| {
        let (sleep, poll, shared, ladder) = it;
        let fetch = if poll { FetchMethod::PsPoll } else { FetchMethod::Null };
        WifiRole::Station(StationConfig {
            joined: !restless,
            sleep,
            times: PowerSaveTimes { fetch, ..PowerSaveTimes::default() },
            join: JoinConfig::on(1),
            coexistence: (shared && restless).then(CoexistenceConfig::default),
            rates: if ladder {
                DataRates::ht(ChannelWidth::Mhz20, GuardInterval::Long)
            } else {
                DataRates::default()
            },
            disconnected_sleep: poll,
            ..StationConfig::default()
        })
    })
}

fn ap() -> impl Strategy<Value = WifiRole> {
    (1..4_u8, any::<bool>(), 1..40_u16).prop_map(|(dtim_period, soft, unicast_buffer)| {
        let base = if soft { ApConfig::soft_ap() } else { ApConfig::default() };
        WifiRole::AccessPoint(ApConfig { dtim_period, unicast_buffer, ..base })
    })
}

fn deed(restless: bool) -> impl Strategy<Value = Deed> {
    let who = 1..=STATIONS;
    let send = prop_oneof![
        (who.clone(), 1..1500_u32).prop_map(|(to, octets)| Deed::Send { from: 0, to, octets }),
        (who.clone(), 1..1500_u32).prop_map(|(from, octets)| Deed::Send { from, to: 0, octets }),
    ];
    let others = prop_oneof![
        who.clone().prop_map(Deed::Leave),
        who.clone().prop_map(Deed::Join),
        who.clone().prop_map(Deed::Expel),
        (0..=STATIONS).prop_map(Deed::Off),
        (0..=STATIONS).prop_map(Deed::On),
    ];
    let others =
        others.prop_map(move |it| if restless { it } else { Deed::Multicast { octets: 100 } });
    prop_oneof![12 => send, 2 => (1..500_u32).prop_map(|octets| Deed::Multicast { octets }), 2 => others]
}

fn world(restless: bool) -> impl Strategy<Value = (Vec<WifiRole>, Vec<(u64, Deed)>)> {
    let stations = proptest::collection::vec(station(restless), STATIONS as usize);
    let deeds = proptest::collection::vec((0..60_u64, deed(restless)), 1..120);
    (ap(), stations, deeds)
        .prop_map(|(ap, stations, deeds)| (core::iter::once(ap).chain(stations).collect(), deeds))
}

/// Plays the events and runs until all is over. Returns the packets taken: whether for one or for
/// all.
fn play(bench: &mut WifiBench, deeds: Vec<(u64, Deed)>) -> BTreeMap<u64, bool> {
    let (mut at_ms, mut taken) = (100, BTreeMap::new());
    for (tag, (wait, deed)) in deeds.into_iter().enumerate() {
        let tag = tag as u64;
        at_ms += wait;
        bench.run_ms(at_ms);
        match deed {
            Deed::Send { from, to, octets } => {
                if bench.send(from, to, octets, tag).is_ok() {
                    taken.insert(tag, false);
                }
            }
            Deed::Multicast { octets } => {
                if bench.send(0, GROUP, octets, tag).is_ok() {
                    taken.insert(tag, true);
                }
            }
            Deed::Leave(it) => bench.call(|wifi, medium, log| wifi.leave(medium, it, log)),
            Deed::Join(it) => bench.call(|wifi, medium, log| wifi.join(medium, it, log)),
            Deed::Off(it) => bench.call(|wifi, medium, log| drop(wifi.switch_off(medium, it, log))),
            Deed::On(it) => bench.call(|wifi, medium, log| wifi.switch_on(medium, it, log)),
            Deed::Expel(it) => {
                bench.call(|wifi, medium, log| wifi.deauthenticate(medium, 0, it, log))
            }
        }
    }
    bench.run_ms(at_ms + 15_000);
    taken
}

/// Asserts that each packet taken has ended once, that nothing else has, and that nothing is left.
fn all_have_ended(bench: &WifiBench, taken: &BTreeMap<u64, bool>) {
    let mut ended: Vec<u64> = bench.host.log.sent.iter().map(|it| it.2.tag).collect();
    ended.sort_unstable();
    let expected: Vec<u64> = taken.keys().copied().collect();
    assert_eq!(ended, expected);
    for number in 0..=STATIONS {
        assert!(bench.medium.queued(number) <= 1, "a beacon, a Null frame, a probe request");
        let counters = bench.host.wifi.counters(number);
        assert_eq!(counters.taken, counters.sent + counters.lost);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_ends_once((roles, deeds) in world(true)) {
        let mut bench = WifiBench::new(roles);
        let taken = play(&mut bench, deeds);
        all_have_ended(&bench, &taken);
    }

    #[test]
    fn sleep_loses_no_unicast((roles, deeds) in world(false)) {
        let mut bench = WifiBench::new(roles);
        let taken = play(&mut bench, deeds);
        all_have_ended(&bench, &taken);
        let log = &bench.host.log;
        assert!(log.sent.iter().all(|it| it.2.lost.is_none()), "{:?}", log.sent);
        let mut received: Vec<u64> =
            log.received.iter().filter(|it| !it.2.group).map(|it| it.2.tag).collect();
        received.sort_unstable();
        let unicast: Vec<u64> = taken.iter().filter(|it| !it.1).map(|it| *it.0).collect();
        assert_eq!(received, unicast, "each has come, once");
        // Packets between two stations keep their order, unless the access point's MAC gave up a
        // packet to a station that had fallen asleep: later packets may overtake it.
        let in_order = bench.medium.counters(0).given_up == 0;
        for to in 0..=STATIONS {
            for from in 0..=STATIONS {
                let tags = log.received.iter().filter(|it| {
                    it.1 == to && it.2.from == from && !it.2.group
                });
                let tags: Vec<u64> = tags.map(|it| it.2.tag).collect();
                assert!(!in_order || tags.is_sorted(), "{from} > {to}: {tags:?}");
            }
        }
    }

    #[test]
    fn weak_links_and_open_networks_get_stuck_nowhere(
        (roles, deeds) in world(true),
        power in -95.0..-80.0_f64,
    ) {
        let open = roles.into_iter().map(|role| match role {
            WifiRole::Station(it) => WifiRole::Station(StationConfig { security: WifiSecurity::Open, ..it }),
            WifiRole::AccessPoint(it) => WifiRole::AccessPoint(ApConfig { security: WifiSecurity::Open, ..it }),
            WifiRole::Foreign => WifiRole::Foreign,
        });
        let mut bench = WifiBench::with(1, open, |_, _| power);
        let taken = play(&mut bench, deeds);
        all_have_ended(&bench, &taken);
    }
}
