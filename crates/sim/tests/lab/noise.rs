//! Microwave ovens and other noise.

use crate::rig::{Flights, instant, row};
use core::time::Duration;
use espbench_dot11::radio::WifiMode;
use espbench_sim::lab::nodes::Conversation as _;
use espbench_sim::lab::run::Lab;
use espbench_sim::lab::scene::{Background, NoiseBursts, Point, Scene};

/// Metres from the board to the sender.
const FAR_M: f64 = 240.0;
/// Octets of its frames.
const OCTETS: u32 = 250;

/// Makes noise at a place.
fn noise(x: f64, power_dbm: f64, noise: NoiseBursts) -> Background {
    Background {
        name: "oven".into(),
        at: Point { x, y: 0.0, z: 0.0 },
        channel: 1,
        power_dbm,
        rate: 0.0,
        burst: 1.0,
        octets: 0,
        mode: WifiMode::ESP_NOW,
        fallback: Vec::new(),
        to: None,
        noise: Some(noise),
    }
}

/// Returns the share of frames that a board misses, which come at random times from 240 m away.
fn lost(source: Option<Background>) -> f64 {
    let mut scene: Scene = row(1, 1.0, instant());
    scene.background.push(Background {
        name: "sender".into(),
        rate: 40.0,
        octets: OCTETS,
        noise: None,
        ..noise(FAR_M, 20.0, NoiseBursts { period: Duration::ZERO, duty: 0.0, last_channel: 1 })
    });
    scene.background.extend(source);
    let mut lab = Lab::new(&scene, 1, Flights::default());
    lab.run_for(Duration::from_secs(30)).expect("nothing fails here");
    let sent = lab.watch.0.iter().filter(|it| it.octets == OCTETS);
    let (mut all, mut missed) = (0.0, 0.0);
    for flight in sent {
        all += 1.0;
        // The oven is a station as well, and hears all.
        missed += f64::from((flight.collided + flight.noise).min(1));
    }
    assert!(all > 1000.0, "{all}");
    missed / all
}

#[test]
fn an_oven_costs_what_it_emits_where_it_is_near() {
    // No multiple of FreeRTOS's ticks, by which pings are paced.
    let burst = |duty| NoiseBursts { period: Duration::from_micros(19_700), duty, last_channel: 1 };
    assert!(lost(None) < 0.01);
    // 10 m behind the board that listens: 15 dB above the signal there, too weak to be waited for.
    let near = |duty| lost(Some(noise(-10.0, -6.0, burst(duty))));
    for duty in [0.1, 0.3, 0.6] {
        let lost = near(duty);
        // A frame of 2.2 ms is spoilt by a burst that begins in it, too. Deviation of the chance: 1.4 %.
        let expected = duty + 2.2 / 20.0;
        assert!((lost - expected).abs() < 0.05, "{duty}: {lost}, expected {expected}");
    }
    let far = lost(Some(noise(-3000.0, -6.0, burst(0.6))));
    assert!(far < 0.01, "far away: {far}");
    let swept = NoiseBursts { last_channel: 13, ..burst(0.6) };
    let apart = lost(Some(Background { channel: 9, ..noise(-10.0, -6.0, swept) }));
    assert!(apart < 0.02, "channels 9 to 13: {apart}");
}
