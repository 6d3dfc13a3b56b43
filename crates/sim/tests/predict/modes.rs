//! Encrypted messages, and messages that the component acknowledges.

use crate::rig::{AIR, delivered, load, probes, scene};
use esp_now::component::HEADER_LEN;
use esp_now::frame::mpdu_len;
use esp_now::node::tick::Tick;
use espbench_dot11::radio::WifiMode;
use espbench_model::sample::{Fate, Probe};
use espbench_model::workload::EspNowCast;
use espbench_sim::lab::predict::{Arrival, Fidelity, Load, Outcome, run};
use espbench_sim::lab::profile::Cost;
use espbench_sim::lab::scene::Scene;
use std::sync::Arc;
use std::time::Duration;

const ONE: EspNowCast = EspNowCast::Broadcast { copies: 1, ack: false };
const CASTS: [EspNowCast; 3] =
    [EspNowCast::Unicast, ONE, EspNowCast::Broadcast { copies: 3, ack: true }];

/// An acknowledgement of the component's: DIFS, then a frame of a header alone.
const ANSWER: Duration = Duration::from_micros(50 + 192 + 8 * mpdu_len(HEADER_LEN) as u64);

/// So weak that the listener reads a part of the frames.
const WEAK_DBM: f64 = -59.0;

const fn acked(copies: u8) -> EspNowCast {
    EspNowCast::Broadcast { copies, ack: true }
}

/// Makes a load of messages that come by chance, one in 50 ms from each sender.
fn poisson(cast: EspNowCast, seconds: u64) -> Load {
    load(cast, Arrival::Poisson, Duration::from_millis(50), Duration::from_secs(seconds))
}

/// Makes the room with devices that encrypt, which takes them time.
fn encrypting(senders: u16) -> Scene {
    let mut scene = scene(senders, WifiMode::ESP_NOW);
    for device in &mut scene.nodes {
        device.settings.encrypt.enabled = true;
        let profile = Arc::make_mut(&mut device.profile);
        profile.seal = Cost { fixed_ns: 300_000, ..Cost::default() };
        profile.open = Cost { fixed_ns: 500_000, ..Cost::default() };
    }
    scene
}

fn latency(probe: &Probe) -> Option<Duration> {
    Some(probe.received?.since(probe.due))
}

/// A sealed message has 12 bytes more, is sealed once and opened once.
#[test]
fn encryption_takes_its_time_and_its_bytes() {
    let longer = Duration::from_micros(8 * 12);
    for cast in CASTS {
        let load = Load { encrypted: true, ..poisson(cast, 20) };
        let scene = encrypting(1);
        assert_eq!(load.octets(&scene), 263 + 12);
        let outcome = run(&scene, &load, Fidelity::FullStack, 1).unwrap();
        let messages = outcome.stages.messages as u32;
        assert!(messages > 300 && outcome.samples.len() as u32 - messages <= 3, "{cast:?}");
        let least = probes(&outcome).filter_map(latency).min().unwrap();
        // What acknowledges does that before it decrypts.
        let answer = if load.ack() { ANSWER } else { Duration::ZERO };
        assert_eq!(least, AIR + longer + Duration::from_micros(300 + 500) + answer, "{cast:?}");
        assert_eq!(outcome.stages.sender, Duration::from_micros(300) * messages);
        assert_eq!(outcome.stages.air, (AIR + longer) * messages);
        assert!(outcome.stages.receiver >= Duration::from_micros(500) * messages);
    }
}

/// Radios alone have the longer frame.
#[test]
fn radios_alone_send_the_longer_frame() {
    let load = Load { encrypted: true, ..poisson(ONE, 20) };
    let outcome = run(&encrypting(1), &load, Fidelity::MacOnly, 1).unwrap();
    let least = probes(&outcome).filter_map(latency).min();
    assert_eq!(least, Some(AIR + Duration::from_micros(8 * 12)));
}

/// A device that was not built to encrypt sends in clear with the bit set, and nobody takes that.
#[test]
fn who_cannot_decrypt_gets_nothing() {
    let load = Load { encrypted: true, ..poisson(ONE, 5) };
    let outcome = run(&scene(2, WifiMode::ESP_NOW), &load, Fidelity::FullStack, 1).unwrap();
    assert!(outcome.samples.len() > 100);
    assert_eq!((delivered(&outcome), outcome.air.frames > 100), (0, true));
}

/// Each message is answered by a frame of the component's, before the application gets it; the
/// sender looks for that every 2 ms.
#[test]
fn a_lone_sender_is_told_of_each_message() {
    let outcome =
        run(&scene(1, WifiMode::ESP_NOW), &poisson(acked(1), 20), Fidelity::FullStack, 1).unwrap();
    let least = probes(&outcome).filter_map(latency).min().unwrap();
    assert_eq!(least, AIR + ANSWER);
    let answers = outcome.air.acks.as_micros() / (ANSWER.as_micros() - 50);
    assert!(answers.abs_diff(outcome.samples.len() as u128) <= 1, "{answers}");
    for probe in probes(&outcome).filter(|it| it.fate == Fate::Delivered) {
        let told = probe.acked.unwrap().since(probe.stamped.unwrap());
        assert!(told >= ANSWER && told < Duration::from_millis(4), "{told:?}");
    }
}

/// Over a link that is too weak for some, a message is sent again until it is acknowledged.
#[test]
fn what_is_not_acknowledged_is_sent_again() {
    let mut scene = scene(1, WifiMode::ESP_NOW);
    scene.nodes[1].power_dbm = Some(WEAK_DBM);
    // With ticks of 10 ms a back-off of 2 ms is none, and all is sent twice.
    scene.nodes[1].settings.tick = Tick::from_hz(1000);
    let run = |cast| {
        let every = Duration::from_millis(300);
        run(
            &scene,
            &load(cast, Arrival::Poisson, every, Duration::from_secs(300)),
            Fidelity::FullStack,
            1,
        )
        .unwrap()
    };
    let share = |it: &Outcome| 1.0 - delivered(it) as f64 / it.samples.len() as f64;
    let (plain, repeated) = (run(ONE), run(acked(5)));
    let (once, often) = (share(&plain), share(&repeated));
    println!("lost {once:.4}, acknowledged {often:.4}");
    assert!((0.05..0.2).contains(&once), "{once}");
    // Not in five attempts, but as a repetition of another message with the same id.
    assert!(often < 0.003, "{once} and {often}");
    assert!(plain.air.retries.is_zero() && probes(&plain).all(|it| it.acked.is_none()));
    // The listener's frames are not weak.
    let frames = repeated.air.frames as f64 / repeated.samples.len() as f64;
    let expected = (1.0 - once.powi(5)) / (1.0 - once);
    assert!((frames / expected - 1.0).abs() < 0.1, "{frames} and {expected}");
    let known = probes(&repeated).filter(|it| it.acked.is_some()).count();
    assert_eq!(known, delivered(&repeated));
}

/// A sender with one attempt waits 3 s for an acknowledgement that does not come.
#[test]
fn a_lost_message_holds_its_sender_up() {
    let scene = scene(8, WifiMode::ESP_NOW);
    let load =
        load(acked(1), Arrival::Poisson, Duration::from_millis(400), Duration::from_secs(60));
    let outcome = run(&scene, &load, Fidelity::FullStack, 1).unwrap();
    let held = |probe: &Probe| probe.fate != Fate::Delivered && probe.sent.is_some();
    let lost = probes(&outcome).filter(|it| held(it)).count() as u32;
    assert!(lost > 3, "{lost}");
    assert!(outcome.stages.held > Duration::from_millis(2900) * (lost - 2), "{:?}", outcome.stages);
    assert!(outcome.stages.queue > outcome.stages.air, "messages wait behind it");
}

/// With acknowledgements, radios alone are nodes whose processors take no time.
#[test]
fn radios_alone_acknowledge_at_once() {
    let outcome = run(&encrypting(1), &poisson(acked(2), 20), Fidelity::MacOnly, 1).unwrap();
    assert_eq!(probes(&outcome).filter_map(latency).min(), Some(AIR + ANSWER));
    assert_eq!(outcome.stages.sender, Duration::ZERO);
}
