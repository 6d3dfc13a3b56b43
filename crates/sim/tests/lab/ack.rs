//! Acknowledgements that are lost: the receiver has the frame, and its sender does not know.

use crate::rig::{Flights, instant, row};
use esp_now::component::{DataType, FrameConfig};
use esp_now::node::task::{EspNowEvent, SendRequest, TransmitOutcome};
use espbench_dot11::mac::MacCounters;
use espbench_model::time::Duration;
use espbench_sim::lab::nodes::{Conversation as _, NodeId};
use espbench_sim::lab::run::Lab;
use espbench_sim::lab::trace::AirtimeKind;

const SENDER: NodeId = NodeId(0);
const RECEIVER: NodeId = NodeId(1);
/// Attempts of the rig's profile.
const ATTEMPTS: usize = 7;

/// Makes a sender that its peer hears well, and a peer a metre away that sends with this power.
fn room(peer_dbm: f64) -> Lab<'static, Flights> {
    let mut scene = row(2, 1.0, instant());
    scene.nodes[RECEIVER.index()].power_dbm = Some(peer_dbm);
    scene.nodes[RECEIVER.index()].services.data = true;
    let mut lab = Lab::new(&scene, 1, Flights::default());
    lab.run_for(Duration::from_secs(1)).unwrap();
    lab
}

/// Fate of a frame: whether each attempt's acknowledgement was heard, and the result that the
/// sender's application got.
#[derive(Debug)]
struct Fate {
    acknowledged: Vec<bool>,
    outcome: TransmitOutcome,
}

/// Makes a request with one attempt of the component: the MAC's attempts are under test.
fn to_peer() -> SendRequest {
    SendRequest {
        data_type: DataType::Data,
        dest: RECEIVER.mac(),
        config: FrameConfig::UNICAST,
        magic: 0,
        len: 0,
        wait: Duration::MAX,
    }
}

/// Sends a payload to the peer, and holds everything that is known of it against everything else.
fn send(lab: &mut Lab<Flights>, payload: &[u8]) -> Fate {
    let macs = |lab: &Lab<Flights>| [SENDER, RECEIVER].map(|it| lab.mac_counters(it.0.into()));
    let (before, data, told) = (macs(lab), lab.data(RECEIVER).len(), lab.events(SENDER).len());
    lab.watch.0.clear();
    lab.send(SENDER, &to_peer(), payload).unwrap();
    let most = Duration::from_secs(2);
    assert!(lab.run_till(most, |lab| lab.events(SENDER).len() > told).unwrap(), "no callback");
    let Some(&(_, EspNowEvent::Sent(outcome))) = lab.events(SENDER).last() else {
        panic!("no result")
    };

    // An answer that comes after the timeout, or that nobody hears, ends later.
    lab.run_for(Duration::from_millis(1)).unwrap();

    // The same frame in all attempts, each of which that is read is answered; and the peer's
    // application has it once. A retry may begin while the answer that its sender does not hear goes
    // on: then the peer does not hear the retry.
    let (mut acknowledged, mut read, mut sequences) = (Vec::new(), 0, Vec::new());
    for flight in &lab.watch.0 {
        if flight.what == AirtimeKind::Data {
            assert_eq!(usize::from(flight.attempt), acknowledged.len() + 1);
            acknowledged.push(false);
            sequences.push(flight.sequence);
            read += flight.heard as usize;
            continue;
        }
        assert_eq!((flight.what, flight.to), (AirtimeKind::Ack, Some(SENDER.0.into())));
        *acknowledged.last_mut().unwrap() = flight.heard == 1;
    }
    sequences.dedup();
    assert_eq!(sequences.len(), 1);
    let received: Vec<&[u8]> = lab.data(RECEIVER)[data..].iter().map(|it| &it.2[..]).collect();
    assert_eq!(received, [payload]);

    let after = macs(lab);
    let counted =
        |at: usize, of: fn(&MacCounters) -> u64| (of(&after[at]) - of(&before[at])) as usize;
    assert_eq!(counted(0, |it| it.retries), acknowledged.len() - 1);
    assert_eq!(counted(1, |it| it.duplicates), read - 1, "all but the first");
    assert_eq!(counted(1, |it| it.acks), read, "a duplicate is answered");
    let delivered = acknowledged.last() == Some(&true);
    assert_eq!(counted(0, |it| it.acknowledged), usize::from(delivered));
    assert_eq!(counted(0, |it| it.given_up), usize::from(!delivered));
    Fate { acknowledged, outcome }
}

/// Lowers the peer's power until nothing of it can be read, so that acknowledgements are lost more
/// and more often, whatever a receiver of these chips can just read.
fn sweep() -> Vec<Fate> {
    let mut fates = Vec::new();
    for step in 0..80 {
        let mut lab = room(-40.0 - f64::from(step) / 2.0);
        fates.extend((0..20).map(|number| send(&mut lab, &[number; 50])));
    }
    fates
}

#[test]
fn the_sender_of_a_frame_learns_of_it_only_by_an_ack_that_it_hears() {
    let fates = sweep();
    for Fate { acknowledged, outcome } in &fates {
        // It goes on until one is heard, or for as many attempts as it has.
        let (last, before) = acknowledged.split_last().unwrap();
        assert!(before.iter().all(|heard| !heard), "{acknowledged:?}");
        assert!(*last || acknowledged.len() == ATTEMPTS, "{acknowledged:?}");
        let told =
            if *last { TransmitOutcome::Done { attempts: 1 } } else { TransmitOutcome::Failed };
        assert_eq!(*outcome, told, "{acknowledged:?}");
    }
    let tries = |wanted: &dyn Fn(&Fate) -> bool| fates.iter().filter(|it| wanted(it)).count();
    let done = |it: &Fate| it.outcome != TransmitOutcome::Failed;
    let [at_once, later, never] = [
        tries(&|it| done(it) && it.acknowledged.len() == 1),
        tries(&|it| done(it) && it.acknowledged.len() > 1),
        tries(&|it| !done(it)),
    ];
    assert!(at_once > 100 && later > 10 && never > 100, "{at_once} {later} {never}");
}

#[test]
fn a_frame_whose_every_ack_is_lost_is_given_up_though_it_was_received() {
    let mut lab = room(-120.0);
    let fate = send(&mut lab, b"it is there");
    assert_eq!(fate.acknowledged, [false; ATTEMPTS]);
    assert_eq!(fate.outcome, TransmitOutcome::Failed);
    assert!(lab.mac_counters(RECEIVER.0.into()).duplicates > 0);
    // The node's own filter had nothing to do: the MAC suppressed all repetitions.
    assert_eq!((lab.counters(RECEIVER).received, lab.counters(RECEIVER).duplicate), (1, 0));
}

#[test]
fn a_frame_that_nobody_can_read_is_given_up_and_not_received() {
    let mut scene = row(2, 1.0, instant());
    // It arrives at -110 dBm, under the noise of the channel.
    scene.nodes[SENDER.index()].power_dbm = Some(-70.0);
    let mut lab = Lab::new(&scene, 1, Flights::default());
    lab.run_for(Duration::from_secs(1)).unwrap();
    lab.send(SENDER, &to_peer(), b"x").unwrap();
    lab.run_for(Duration::from_secs(1)).unwrap();
    let flights = &lab.watch.0;
    assert_eq!(flights.len(), ATTEMPTS, "no acknowledgement among them");
    assert!(
        flights.iter().all(|it| it.what == AirtimeKind::Data && (it.heard, it.noise) == (0, 1))
    );
    let (_, told) = lab.events(SENDER).last().unwrap();
    assert_eq!(*told, EspNowEvent::Sent(TransmitOutcome::Failed));
    let peer = lab.mac_counters(RECEIVER.0.into());
    assert_eq!((peer.received, peer.duplicates, peer.acks), (0, 0, 0));
}
