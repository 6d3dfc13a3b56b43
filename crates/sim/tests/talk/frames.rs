//! Events of frames on their way.

use crate::toys::{Talker, one_talks};
use espbench_dot11::random::Chance;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use espbench_sim::lab::ideal::dsss_1m;
use espbench_sim::lab::ideal::{Fleet, FleetSetup, IdealMediumConfig, MediumLink};
use espbench_sim::lab::nodes::note::MissReason;
use espbench_sim::lab::nodes::{Conversation as _, NodeId};
use espbench_sim::talk::Transcript;
use espbench_sim::talk::transcript::{TalkEvent, TalkFilter};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const C: NodeId = NodeId(2);

fn on(medium: IdealMediumConfig) -> FleetSetup {
    FleetSetup { medium, ..FleetSetup::default() }
}

fn device(fleet: &Fleet<Talker, Transcript>, node: NodeId) -> &Talker {
    fleet.device(node).expect("it is on")
}

#[test]
fn broadcasts_reach_all_one_after_the_other_in_their_air_time() {
    let fleet = one_talks(FleetSetup::default(), 4, Mac::BROADCAST, 3);
    for node in [B, C, NodeId(3)] {
        let air = dsss_1m(100, false);
        let times: Vec<Instant> = device(&fleet, node).heard.iter().map(|h| h.0).collect();
        assert_eq!(times, [1, 2, 3].map(|n| Instant::ZERO + air * n));
        assert_eq!(device(&fleet, node).firsts(), [0, 1, 2]);
    }
    assert_eq!(device(&fleet, A).results, [true; 3]);
    assert_eq!(device(&fleet, A).heard, [], "nobody hears himself");
}

#[test]
fn loss_is_as_often_as_it_says_and_broadcast_knows_nothing_of_it() {
    let fleet =
        one_talks(on(IdealMediumConfig::lossy(Chance::percent(30))), 11, Mac::BROADCAST, 200);
    assert_eq!(device(&fleet, A).results, [true; 200]);
    let heard: usize = (1..11).map(|n| device(&fleet, NodeId(n)).heard.len()).sum();
    // 1400 of 2000 are expected; the standard deviation is 20.
    assert!((1320..1480).contains(&heard), "{heard}");
    let lost: u64 = (1..11).map(|n| fleet.counters(NodeId(n)).lost).sum();
    assert_eq!(heard as u64 + lost, 2000);
}

#[test]
fn unicast_is_tried_again_and_its_sender_learns_the_end() {
    let fleet = one_talks(on(IdealMediumConfig::lossy(Chance::percent(30))), 3, B.mac(), 100);
    let counters = fleet.counters(A);
    // An attempt and its acknowledgement both get through in 49 % of all cases; eight attempts
    // fail in 0.5 %.
    assert!((170..250).contains(&counters.attempts), "{counters:?}");
    assert!(counters.failed < 5, "{counters:?}");
    assert_eq!(device(&fleet, A).results.iter().filter(|ok| !**ok).count() as u64, counters.failed);
    assert_eq!(device(&fleet, B).firsts(), (0..100).collect::<Vec<u8>>(), "each of them once");
    assert_eq!(device(&fleet, C).heard, []);
}

#[test]
fn without_the_macs_filter_a_lost_acknowledgement_doubles() {
    let medium =
        IdealMediumConfig { mac_filter: false, ..IdealMediumConfig::lossy(Chance::percent(30)) };
    let fleet = one_talks(on(medium), 2, B.mac(), 100);
    let heard = device(&fleet, B).firsts();
    assert!(heard.len() > 110 && heard.is_sorted(), "{heard:?}");
}

#[test]
fn unicast_to_nobody_fails_after_all_retries() {
    let fleet = one_talks(FleetSetup::default(), 2, Mac([2, 0, 0, 0, 0, 9]), 2);
    assert_eq!(device(&fleet, A).results, [false; 2]);
    assert_eq!(fleet.counters(A).attempts, 16);
    let text = fleet.watch.to_string();
    assert!(text.contains("attempt 8; not acknowledged"), "{text}");
}

#[test]
fn one_way_links_deliver_what_is_not_acknowledged() {
    let mut medium = IdealMediumConfig::default();
    medium.one_way(B, A, None);
    let fleet = one_talks(on(medium), 2, B.mac(), 1);
    assert_eq!(device(&fleet, A).results, [false]);
    assert_eq!(device(&fleet, B).firsts(), [0], "it has it, and filters the retries");
    let duplicates = fleet.watch.entries.iter().filter(|entry| match &entry.what {
        TalkEvent::Frame(frame) => frame.missed == [(B, MissReason::Duplicate)],
        _ => false,
    });
    assert_eq!(duplicates.count(), 7);
}

#[test]
fn neighbours_in_a_chain_hear_each_other_with_their_signal_strength() {
    let mut medium = IdealMediumConfig::chain(&[A, B, C], -61);
    medium.link(A, C, Some(MediumLink { rssi: -88, loss: Some(Chance::ALWAYS) }));
    let fleet = one_talks(on(medium), 4, Mac::BROADCAST, 2);
    assert_eq!(device(&fleet, B).heard.iter().map(|h| h.2).collect::<Vec<_>>(), [-61, -61]);
    assert_eq!((&device(&fleet, C).heard[..], fleet.counters(C).lost), (&[][..], 2));
    assert_eq!(device(&fleet, NodeId(3)).heard, []);
}

#[test]
fn only_stations_on_the_channel_hear_a_frame() {
    let mut fleet =
        Fleet::new(FleetSetup::default(), Transcript::new(TalkFilter::ALL), |birth, _| {
            let mut talker = match birth.node {
                A => Talker::sending(Mac::BROADCAST, 1),
                _ => Talker::default(),
            };
            talker.tune = (birth.node != C).then_some(6);
            talker
        });
    fleet.add_many(3);
    fleet.run_for(Duration::from_secs(1)).unwrap();
    assert_eq!((device(&fleet, B).heard.len(), device(&fleet, C).heard.len()), (1, 0));
    assert_eq!((fleet.channel(B), fleet.channel(C)), (6, 1));
}

#[test]
fn a_full_driver_refuses_and_the_rest_is_sent() {
    let setup = FleetSetup { tx_buffers: 4, ..FleetSetup::default() };
    let mut fleet = Fleet::new(setup, Transcript::new(TalkFilter::ALL), |birth, _| {
        let count = if birth.node == A { 10 } else { 0 };
        Talker { burst: true, ..Talker::sending(Mac::BROADCAST, count) }
    });
    fleet.add_many(2);
    fleet.run_for(Duration::from_secs(1)).unwrap();
    assert_eq!(device(&fleet, B).firsts(), [0, 1, 2, 3]);
    let sender = device(&fleet, A);
    assert_eq!((sender.results.len(), sender.refused), (4, 6));
    assert_eq!(fleet.counters(A).refused, 6);
}

#[test]
fn frames_come_late_twice_and_out_of_order() {
    let medium = IdealMediumConfig {
        delay: Duration::from_millis(2),
        jitter: Duration::from_millis(1),
        duplicate: Chance::percent(20),
        reorder: Chance::percent(20),
        hold: Duration::from_millis(20),
        ..IdealMediumConfig::default()
    };
    let fleet = one_talks(on(medium), 2, Mac::BROADCAST, 200);
    let heard = device(&fleet, B).firsts();
    let doubled = fleet.counters(B).doubled;
    assert_eq!(heard.len() as u64, 200 + doubled);
    // 40 are expected; the standard deviation is 6.
    assert!((20..60).contains(&doubled), "{doubled}");
    let overtaken = heard.windows(2).filter(|pair| pair[1] < pair[0]).count();
    assert!(overtaken > 20, "{overtaken}");
    let first = device(&fleet, B).heard[0].0.since(Instant::ZERO);
    assert!(first >= dsss_1m(100, false) + Duration::from_millis(2), "{first:?}");
}
