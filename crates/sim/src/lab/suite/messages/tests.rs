//! Whole cells, and what follows from their settings.

use super::slots::SlotClock;
use crate::lab::file::Library;
use crate::lab::record::KeptRecord;
use crate::lab::suite::{Seeds, SuiteError, check, run};
use alloc::string::ToString as _;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::fact::{CHARGE_NC, TIME_NS};
use espbench_model::messages::{BeaconSlots, BluetoothState, EspNowMessages, MessagePattern};
use espbench_model::overrides::LabOverrides;
use espbench_model::sample::{Cause, Fate, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{EspNowCast, Name, Workload};

const SLOTS: BeaconSlots = BeaconSlots {
    slot: Duration::from_millis(8),
    guard: Duration::from_millis(1),
    beacon_interval: Duration::from_secs(1),
    drift_ppm: 20.0,
    task_jitter: Duration::from_micros(500),
    missed_most: 3,
};

const LINE: EspNowMessages = EspNowMessages {
    pattern: MessagePattern::RelayLine,
    devices: 10,
    size: 64,
    count: 5,
    interval: Duration::from_secs(1),
    cast: EspNowCast::Broadcast { copies: 1, ack: false },
    ttl: EspNowMessages::TTL_ENDLESS,
    forward_rssi: i8::MIN,
    spacing_m: 14.0,
    in_slots: false,
    slots: SLOTS,
    radio_scheduled: false,
    bluetooth: None,
    lab: LabOverrides::NONE,
};

fn quiet() -> LabOverrides {
    LabOverrides { environment: Name::new("free-space"), ..LabOverrides::NONE }
}

fn carried_out(work: EspNowMessages) -> (Vec<Probe>, KeptRecord) {
    let mut record = KeptRecord::default();
    let work = Workload::EspNowMessages(work);
    run(&work, &Library::built_in(), None, Seeds::both(1), &mut record).unwrap();
    let probes = record.samples.iter().filter_map(|it| match it {
        Sample::Probe(probe) => Some(*probe),
        _ => None,
    });
    (probes.collect(), record)
}

fn lost(probes: &[Probe], cause: Cause) -> usize {
    probes.iter().filter(|it| it.fate == Fate::Lost(cause)).count()
}

fn delivered(probes: &[Probe]) -> usize {
    probes.iter().filter(|it| it.fate == Fate::Delivered).count()
}

/// Each relay sends a message on once, so that ten hops are ten frames: the last node does not, since it is for
/// it.
#[test]
fn a_message_goes_from_relay_to_relay_in_one_frame_each() {
    let (probes, record) = carried_out(LINE);
    assert_eq!(delivered(&probes), 5);
    assert_eq!((record.counters["message-frames"], record.counters["hops-reached"]), (50, 50));
    // A frame of 64 bytes and 20 of header takes 1.2 ms on the air at 1 Mbit/s.
    for probe in &probes {
        let hop = probe.received.unwrap().since(probe.due) / 10;
        assert!((Duration::from_micros(1200)..Duration::from_micros(2500)).contains(&hop));
    }
}

#[test]
fn a_message_ends_where_its_ttl_does() {
    for ttl in [0, 3, 8] {
        let (probes, record) = carried_out(EspNowMessages { ttl, ..LINE });
        assert_eq!(lost(&probes, Cause::HopLimit), 5, "TTL {ttl}");
        // The first frame goes a hop whatever its TTL is.
        assert_eq!(record.counters["hops-reached"], 5 * (u64::from(ttl) + 1));
    }
    assert_eq!(delivered(&carried_out(EspNowMessages { ttl: 9, ..LINE }).0), 5);
}

#[test]
fn a_relay_sends_nothing_on_that_it_heard_weaker_than_the_sender_wants() {
    let (probes, record) = carried_out(EspNowMessages { forward_rssi: -80, ..LINE });
    assert_eq!((delivered(&probes), record.counters["hops-reached"]), (0, 5));
}

/// The acknowledgement goes back in one frame of each relay. A copy that the sender repeats meanwhile may
/// destroy it: then the sender waits for 3 s, and what it has to say next waits with it.
#[test]
fn an_acknowledgement_comes_back_over_the_relays_unless_a_copy_meets_it() {
    let cast = EspNowCast::Broadcast { copies: 5, ack: true };
    let mut acked = [0; 6];
    for (devices, acked) in (0..).zip(&mut acked).skip(1) {
        let (probes, _) = carried_out(EspNowMessages { cast, devices, ..LINE });
        for probe in probes.iter().filter(|it| it.acked.is_some()) {
            let (there, back) = (probe.received.unwrap(), probe.acked.unwrap());
            // It takes 696 us on the air, and is sent before the application has the message.
            let least = Duration::from_micros(696) * u32::from(devices - 1);
            assert!(back.since(there) > least, "{devices}: {:?}", back.since(there));
            *acked += 1;
        }
    }
    assert_eq!(acked, [0, 5, 5, 5, 0, 5]);
}

/// Out of reach nothing is relayed, and the cause is the noise that it does not stand out from.
#[test]
fn a_gap_that_nobody_hears_over_is_told() {
    let (probes, record) = carried_out(EspNowMessages { spacing_m: 60.0, ..LINE });
    assert_eq!(record.counters["hops-reached"], 0);
    assert_eq!(lost(&probes, Cause::Noise) + lost(&probes, Cause::Unknown), 5);
}

#[test]
fn a_message_to_all_counts_at_each_of_them() {
    let pattern = MessagePattern::ManyToMany;
    let work = EspNowMessages { pattern, devices: 9, ttl: 0, lab: quiet(), ..LINE };
    let (probes, record) = carried_out(work);
    assert_eq!((probes.len() as u64, work.probes()), (450, 450));
    assert_eq!(record.counters["message-frames"], 50);
    assert!(delivered(&probes) > 430);
    let any = EspNowMessages { pattern: MessagePattern::ManyToAny, ..work };
    let (probes, _) = carried_out(any);
    assert_eq!(probes.len(), 50);
    let mut receivers: Vec<u16> = probes.iter().map(|it| it.link.0).collect();
    receivers.sort_unstable();
    receivers.dedup();
    assert!(receivers.len() > 5, "{receivers:?}");
}

/// Slots keep the nodes apart, and radios that are off between them draw less.
#[test]
fn slots_keep_nodes_apart_and_let_their_radios_rest() {
    let pattern = MessagePattern::ManyToOne;
    let contention = EspNowMessages {
        pattern,
        devices: 50,
        size: 230,
        count: 20,
        ttl: 0,
        interval: Duration::from_millis(500),
        lab: quiet(),
        ..LINE
    };
    let slots = BeaconSlots { beacon_interval: Duration::from_millis(500), ..SLOTS };
    let in_slots = EspNowMessages { in_slots: true, slots, ..contention };
    let resting = EspNowMessages { radio_scheduled: true, ..in_slots };
    let [plain, slotted, rested] = [contention, in_slots, resting].map(carried_out);
    assert!(lost(&plain.0, Cause::Collision) > 10);
    for (probes, _) in [&slotted, &rested] {
        assert_eq!(lost(probes, Cause::Collision), 0);
        // Two frames may have the same id of 16 bits among the last 32: the component drops the second one.
        assert_eq!(delivered(probes) + lost(probes, Cause::ReceiveQueue), 1000);
        assert!(delivered(probes) >= 997);
    }
    let current = |record: &KeptRecord| {
        record.counters[CHARGE_NC] as f64 / record.counters[TIME_NS] as f64 * 1e3
    };
    let [on, rests] = [current(&slotted.1), current(&rested.1)];
    assert!(rests < 0.5 * on, "{rests} mA beside {on} mA");
}

/// While Bluetooth has a radio its node hears nothing, and what it sends waits.
#[test]
fn bluetooth_costs_broadcasts_what_comes_while_it_has_the_radio() {
    let one = EspNowMessages {
        pattern: MessagePattern::ManyToOne,
        devices: 20,
        count: 20,
        interval: Duration::from_secs(1),
        ttl: 0,
        lab: quiet(),
        ..LINE
    };
    let share = |state: BluetoothState| {
        let (probes, _) = carried_out(EspNowMessages { bluetooth: Some(state), ..one });
        let lost = lost(&probes, Cause::Asleep);
        assert!(
            delivered(&probes) + lost >= 390,
            "a few collide, now that they wait for each other"
        );
        lost as f64 / 400.0
    };
    assert!(share(BluetoothState::Off) < 0.001);
    // What comes while the receiver is away is lost: half of the time, and 30 of 50 ms; each sender's turns begin
    // at some time of the receiver's.
    assert!((0.25..0.75).contains(&share(BluetoothState::Sliced)));
    assert!((0.35..0.85).contains(&share(BluetoothState::Scanning)));
    // A frame of 1.2 ms must fit between.
    assert!((0.03..0.2).contains(&share(BluetoothState::Advertising)));
    assert!((0.01..0.15).contains(&share(BluetoothState::Connected)));
}

#[test]
fn a_chip_without_bluetooth_refuses_it() {
    let library = Library::built_in();
    let lab = LabOverrides { profile: Name::new("esp32s2"), ..LabOverrides::NONE };
    let state = Some(BluetoothState::Scanning);
    let work = Workload::EspNowMessages(EspNowMessages { bluetooth: state, lab, ..LINE });
    let Err(SuiteError::Unable(_, why)) = check(&work, &library, None) else { panic!("it has") };
    assert!(why.starts_with("`bluetooth`: an esp32s2 has no Bluetooth: leave it out, or take"));
}

/// Who never hears a beacon again sends by its own clock for so many intervals, and then not at all.
#[test]
fn a_clock_without_beacons_goes_on_for_some_intervals() {
    let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
    let mut clock = SlotClock::new(100e-6);
    assert!(!clock.is_synchronized() && clock.slot(3, &SLOTS).is_none());
    clock.heard(at(1000));
    assert_eq!(clock.slot(3, &SLOTS).unwrap().since(at(1025)), Duration::ZERO);
    for missed in 1..=3 {
        assert!(clock.missed(&SLOTS));
        // A fast clock is early: 100 us in each interval.
        let early = at(1025 + 1000 * missed).since(clock.slot(3, &SLOTS).unwrap());
        let wanted = Duration::from_micros(100 * missed);
        assert!(early.abs_diff(wanted) < Duration::from_micros(5), "{early:?}");
    }
    assert!(!clock.missed(&SLOTS) && clock.slot(3, &SLOTS).is_none());
    clock.heard(at(9000));
    assert!(clock.is_synchronized());
}

/// The longer no beacon came, the longer a node listens for one.
#[test]
fn listening_widens_with_the_drift_since_the_last_beacon() {
    let mut clock = SlotClock::new(0.0);
    clock.heard(Instant::ZERO);
    let width = |clock: &SlotClock| {
        let (from, until) = clock.listening(&SLOTS, Duration::from_millis(1)).unwrap();
        until.since(from)
    };
    let first = width(&clock);
    clock.missed(&SLOTS);
    assert_eq!(width(&clock) - first, Duration::from_micros(80));
}

#[test]
fn what_a_room_cannot_do_is_told() {
    let library = Library::built_in();
    let said = |work: EspNowMessages, lab: Option<&str>| match check(
        &Workload::EspNowMessages(work),
        &library,
        lab,
    ) {
        Err(SuiteError::Unable(_, why)) => why.to_string(),
        other => panic!("{other:?}"),
    };
    let one = EspNowMessages { pattern: MessagePattern::ManyToOne, in_slots: true, ..LINE };
    let wide = EspNowMessages { devices: 200, ..one };
    assert!(said(wide, None).starts_with("201 slots take 1608 ms, and beacons come every 1000 ms"));
    let long = EspNowMessages { size: 1000, ..LINE };
    assert!(said(long, None).contains("sends at most"));
    let many = EspNowMessages { pattern: MessagePattern::ManyToMany, count: 10_000, ..wide };
    assert!(said(EspNowMessages { in_slots: false, ..many }, None).contains("lower `count`"));
    let fixed = EspNowMessages { devices: 1, ..LINE };
    assert!(said(fixed, Some("raw-esp-now")).contains("takes no data"));
}
