//! Devices that sleep between their messages: their charge by hand, and its parts.

use crate::rig::{load, probes};
use core::time::Duration;
use espbench_model::energy::EnergyPart;
use espbench_model::workload::EspNowCast;
use espbench_sim::lab::file::{Library, Overrides};
use espbench_sim::lab::predict::sleep::{EnergyUse, SleepMode, SleepPlan};
use espbench_sim::lab::predict::{self, Arrival, Fidelity, Load, Outcome};
use espbench_sim::lab::scene::Scene;
use espbench_sim::power::ElectricCharge;

const DEEP: SleepPlan = SleepPlan { mode: SleepMode::Deep, attempts: 3, validates: false };

fn scene(profile: &str, devices: u16) -> Scene {
    let change = Overrides {
        devices: Some(devices),
        distance_m: Some((5.0, 5.0)),
        profile: Some(profile.into()),
        ..Overrides::default()
    };
    let scene = Library::built_in().scene("room-office", &change, 1).unwrap();
    // Nobody else on the air, and no shadowing.
    let mut environment = scene.environment.clone();
    environment.shadow_db = 0.0;
    Scene { background: Vec::new(), environment, ..scene }
}

fn run(scene: &Scene, plan: SleepPlan, every: Duration, rounds: u32) -> Outcome {
    let load = Load {
        payload: 7,
        sleep: Some(plan),
        warm_up: every,
        ..load(EspNowCast::Unicast, Arrival::Periodic, every, every * rounds)
    };
    predict::run(scene, &load, Fidelity::FullStack, 1).unwrap()
}

fn millicoulomb(charge: ElectricCharge) -> f64 {
    charge.picocoulombs() as f64 / 1e9
}

/// Parts of time and of charge add up to the whole, to the nanosecond and to the last digit.
#[test]
fn parts_are_the_whole() {
    for mode in SleepMode::ALL {
        let every = Duration::from_secs(5);
        let outcome = run(&scene("esp32", 20), SleepPlan { mode, ..DEEP }, every, 4);
        assert_eq!(outcome.energy.len(), 20);
        for it in &outcome.energy {
            let ns: u64 = EnergyPart::ALL.iter().map(|part| it.ns(*part)).sum();
            assert_eq!(ns, 20_000_000_000, "{mode:?}");
            let mut whole = it.times[0];
            it.times[1..].iter().for_each(|part| whole.add_all(part));
            assert_eq!(it.draw.charge(&whole), it.total());
        }
    }
}

/// A device that has nothing to send draws what its datasheet says of deep sleep.
#[test]
fn asleep_it_draws_its_sleep_current() {
    let day = Duration::from_secs(86_400);
    let outcome = run(&scene("esp32c3", 1), DEEP, day, 2);
    let it = &outcome.energy[0];
    let asleep = it.ns(EnergyPart::Sleep);
    assert_eq!(it.charge(EnergyPart::Sleep), ElectricCharge::of(5_000, asleep));
    // 5 uA for two days, but for a quarter of a second.
    assert!(asleep > 2 * 86_400 * 1_000_000_000 - 300_000_000);
    assert!(millicoulomb(it.charge(EnergyPart::Sleep)) > 863.9);
}

/// A wake with one message, by hand: times of the profile with currents of the datasheet.
#[test]
fn a_message_costs_what_its_steps_cost() {
    let scene = scene("esp32", 1);
    let outcome = run(&scene, DEEP, Duration::from_secs(10), 10);
    let it = &outcome.energy[0];
    let part = |part: EnergyPart| millicoulomb(it.charge(part)) / 10.0;
    // 34.8 mA busy at 160 MHz; 112 mA listening, and 7.03 mA of the processor's with it.
    let close = |got: f64, wanted: f64| (got / wanted - 1.0).abs() < 1e-6;
    assert!(close(part(EnergyPart::Wake), 40.0 * 34.8e-3), "{}", part(EnergyPart::Wake));
    assert!(close(part(EnergyPart::Boot), 30.0 * 34.8e-3));
    assert!(close(part(EnergyPart::RadioOn), (26.0 + 2.0) * 34.8e-3 + 20.0 * 119.03e-3));
    assert_eq!(it.ns(EnergyPart::Retries), 0);
    // 50 octets at 1 Mbit/s are 592 us with the preamble, at 20 dBm of 19.5.
    let sent = part(EnergyPart::Send);
    assert!(sent > 0.592 * 0.379 && sent < 0.592 * 0.40 + 3.0 * 0.119, "{sent}");
    let latencies: Vec<f64> = latencies(&outcome);
    assert!(latencies.iter().all(|ms| (116.0..122.0).contains(ms)), "{latencies:?}");
}

fn latencies(outcome: &Outcome) -> Vec<f64> {
    let times = probes(outcome).filter_map(|it| Some(it.received?.since(it.due)));
    times.map(|it| it.as_nanos() as f64 / 1e6).collect()
}

fn awake(it: &EnergyUse) -> (f64, f64) {
    let parts = EnergyPart::ALL.into_iter().filter(|part| *part != EnergyPart::Sleep);
    parts.fold((0.0, 0.0), |(ms, mc), part| {
        (ms + it.ns(part) as f64 / 1e6, mc + millicoulomb(it.charge(part)))
    })
}

/// A published trace (glenn20, upy-esp32-experiments): an ESP32 wakes, sends a message that arrives and
/// sleeps again in 118.8 ms for 7.68 mC, on a board that draws 15 mA beside it.
#[test]
fn a_published_trace_comes_out() {
    let outcome = run(&scene("esp32", 1), DEEP, Duration::from_secs(10), 10);
    let (ms, mc) = awake(&outcome.energy[0]);
    let wanted = 7.68 - 15e-3 * 118.8;
    assert!((ms / 10.0 - 118.8).abs() < 5.0, "{ms}");
    assert!((mc / 10.0 / wanted - 1.0).abs() < 0.1, "{mc} {wanted}");
}

/// Where nobody listens, the radio repeats and the application tries again: that costs charge, which
/// is told apart.
#[test]
fn retries_cost_charge() {
    let near = scene("esp32", 1);
    let mut far = near.clone();
    far.nodes[1].walls_db = 200.0;
    let every = Duration::from_secs(10);
    let (heard, lost) = (run(&near, DEEP, every, 5), run(&far, DEEP, every, 5));
    assert_eq!((latencies(&heard).len(), latencies(&lost).len()), (5, 0));
    let of = |it: &Outcome, part| millicoulomb(it.energy[0].charge(part)) / 5.0;
    // The same trace: one call that fails costs 7.3 mC more, the board's draw left out.
    let once = run(&far, SleepPlan { attempts: 1, ..DEEP }, every, 5);
    let more = of(&once, EnergyPart::Retries);
    assert!((5.0..12.0).contains(&more), "{more}");
    let thrice = of(&lost, EnergyPart::Retries);
    assert!(thrice > 2.9 * more && thrice < 3.3 * more, "{thrice} {more}");
    for part in [EnergyPart::Wake, EnergyPart::Boot] {
        assert!((of(&heard, part) - of(&lost, part)).abs() < 1e-9);
    }
}

/// Devices that wake in the same instant wait for each other and collide; all comes through.
#[test]
fn devices_that_wake_together_contend() {
    let scene = scene("esp32", 100);
    let every = Duration::from_millis(200);
    let outcome = run(&scene, DEEP, every, 10);
    let retries = outcome.energy.iter().filter(|it| it.ns(EnergyPart::Retries) > 0).count();
    assert!(retries > 5, "{retries}");
    let delivered = latencies(&outcome).len();
    assert!(delivered * 100 >= outcome.samples.len() * 99, "{delivered}");
}

/// The less sleeps, the more is drawn; the check of the image costs its time.
#[test]
fn deeper_sleep_draws_less() {
    let scene = scene("esp32c3", 1);
    let draws = |plan| run(&scene, plan, Duration::from_secs(300), 2).energy[0].total();
    let charges = SleepMode::ALL.map(|mode| draws(SleepPlan { mode, ..DEEP }));
    assert!(charges.is_sorted_by(|more, less| more > less), "{charges:?}");
    let checked =
        millicoulomb(draws(SleepPlan { validates: true, ..DEEP })) - millicoulomb(charges[3]);
    // 122 ms at 27.5 mA, twice.
    assert!((checked / (2.0 * 122.0 * 27.5e-3) - 1.0).abs() < 0.01, "{checked}");
}

/// Carries a load out on one device that sleeps deeply.
fn carried(scene: &Scene, change: impl FnOnce(Load) -> Load, fidelity: Fidelity) -> Outcome {
    let every = Duration::from_secs(10);
    let of = Load {
        payload: 50,
        sleep: Some(DEEP),
        warm_up: every,
        ..load(EspNowCast::Unicast, Arrival::Periodic, every, every * 5)
    };
    predict::run(scene, &change(of), fidelity, 1).unwrap()
}

/// The listener answers each broadcast with a frame of its own; the device stays awake for that, in vain
/// for 3 s where none comes.
#[test]
fn acknowledged_broadcasts_keep_a_device_awake() {
    let near = scene("esp32", 1);
    let mut far = near.clone();
    far.nodes[1].walls_db = 200.0;
    let cast = |ack| EspNowCast::Broadcast { copies: 3, ack };
    let run = |scene, ack| carried(scene, |it| Load { cast: cast(ack), ..it }, Fidelity::FullStack);
    let (once, blind, lost) = (run(&near, true), run(&near, false), run(&far, true));
    assert_eq!(probes(&once).filter(|it| it.acked.is_some()).count(), 5);
    assert_eq!(probes(&blind).filter(|it| it.acked.is_some()).count(), 0);
    assert_eq!(probes(&lost).filter(|it| it.acked.is_some()).count(), 0);
    // One attempt is enough where it is answered; without, all three copies are sent.
    let retried = |it: &Outcome| it.energy[0].ns(EnergyPart::Retries) as f64 / 5e9;
    assert_eq!(once.air.frames, 5);
    assert_eq!(blind.air.frames, 15);
    assert!(once.air.acks > Duration::ZERO && once.air.acks < once.air.data);
    // Two more attempts, waits of 4 and 8 ms by ticks of 1 ms, and the last wait.
    assert!((3.0..3.1).contains(&retried(&lost)), "{}", retried(&lost));
    assert_eq!(lost.air.frames, 15);
    let awake_ms = |it: &Outcome| awake(&it.energy[0]).0 / 5.0;
    assert!(awake_ms(&once) > awake_ms(&blind) - 20.0 && awake_ms(&once) < 200.0);
}

/// Many devices that are acknowledged share one listener, and are told.
#[test]
fn a_fleet_of_sleepers_is_acknowledged() {
    let scene = scene("esp32", 60);
    let cast = EspNowCast::Broadcast { copies: 5, ack: true };
    let outcome = carried(&scene, |it| Load { cast, ..it }, Fidelity::FullStack);
    let told = probes(&outcome).filter(|it| it.acked.is_some()).count();
    assert!(told * 100 >= outcome.samples.len() * 95, "{told} of {}", outcome.samples.len());
    let all: Vec<bool> = outcome
        .energy
        .iter()
        .map(|it| EnergyPart::ALL.iter().map(|part| it.ns(*part)).sum::<u64>() == 50_000_000_000)
        .collect();
    assert!(all.iter().all(|it| *it), "parts are the whole");
}

/// A sealed message is the component's: its header, the seal, and the time to make it.
#[test]
fn sealed_messages_are_longer_and_cost_more() {
    let scene = scene("esp32", 1);
    let plain = carried(&scene, |it| it, Fidelity::FullStack);
    let sealed = carried(&scene, |it| Load { encrypted: true, ..it }, Fidelity::FullStack);
    assert!(sealed.air.data > plain.air.data, "{:?} {:?}", sealed.air, plain.air);
    let sent = |it: &Outcome| it.energy[0].charge(EnergyPart::Send);
    assert!(sent(&sealed) > sent(&plain));
    assert!(sealed.stages.receiver > plain.stages.receiver, "it is opened, too");
    assert_eq!(latencies(&sealed).len(), 5);
}

/// Radios alone: what the processors do takes no time, but a boot is what it is.
#[test]
fn radios_alone_boot_all_the_same() {
    let scene = Library::built_in().scene("room-office", &Overrides::default(), 1).unwrap();
    let (full, bare) = (
        carried(&scene, |it| it, Fidelity::FullStack),
        carried(&scene, |it| it, Fidelity::MacOnly),
    );
    assert!(full.air.others > Duration::ZERO && bare.air.others == Duration::ZERO);
    assert_eq!(bare.stages.receiver, Duration::ZERO);
    let boot = |it: &Outcome| it.energy[0].ns(EnergyPart::Boot);
    assert_eq!(boot(&full), boot(&bare));
}
