//! A room in which all hear each other well, and what is counted of its messages.

use esp_now::node::print::LogLevel;
use espbench_dot11::radio::{RadioChip, WifiMode};
use espbench_model::sample::{Cause, Fate, Probe, Sample};
use espbench_model::workload::EspNowCast;
use espbench_sim::lab::predict::{Arrival, Load, Outcome};
use espbench_sim::lab::profile::Profile;
use espbench_sim::lab::scene::{Device, Environment, Point, Scene};
use std::sync::Arc;
use std::time::Duration;

/// Makes a chip whose processor takes no time.
fn profile() -> Profile {
    Profile { tick_hz: 1000, rx_buffers: 32, ..Profile::free("free", RadioChip::Esp32C3) }
}

/// Makes a listener and so many senders on a circle around it. Power does not fall with distance
/// beyond 1 m, so that all hear each other equally well, as in the models.
pub(crate) fn scene(senders: u16, mode: WifiMode) -> Scene {
    let profile = Arc::new(profile());
    let device = |number: u16| {
        let angle = f64::from(number) * core::f64::consts::TAU / f64::from(senders.max(1));
        let at = match number {
            0 => Point::default(),
            _ => Point { x: 100.0 * angle.cos(), y: 100.0 * angle.sin(), z: 0.0 },
        };
        let group = if number == 0 { "listener" } else { "sender" };
        Device { mode, log: LogLevel::None, ..Device::new(group, Arc::clone(&profile), at) }
    };
    let environment = Environment {
        name: "test".into(),
        exponent: 0.0,
        breakpoint_m: None,
        far_exponent: None,
        wall_db: None,
        behind_walls: Default::default(),
        valid_m: None,
        shadow_db: 0.0,
        nakagami_m: None,
        fast_coherence_ms: None,
        slow_fading_db: None,
        slow_coherence_s: None,
        place: None,
        antenna_height_m: None,
        barriers: Arc::default(),
        energy_dbm: -73.0,
        // Who begins together is lost, as the models have it: Barker's gain is 10.4 dB.
        detect_db: 15.0,
        capture_db: None,
        sources: Vec::new(),
    };
    Scene { nodes: (0..=senders).map(device).collect(), ..Scene::new("circle", environment) }
}

/// All releases can send it; its frames have 263 octets.
const PAYLOAD: u32 = 200;

/// How long such a frame is on the air at 1 Mbit/s: preamble and header, octets.
pub(crate) const AIR: Duration = Duration::from_micros(192 + 8 * 263);

pub(crate) fn load(cast: EspNowCast, arrival: Arrival, every: Duration, time: Duration) -> Load {
    Load {
        cast,
        encrypted: false,
        arrival,
        every,
        payload: PAYLOAD,
        queue: 16,
        sleep: None,
        warm_up: Duration::from_secs(1),
        time,
        drain: Duration::from_secs(2),
    }
}

pub(crate) fn probes(outcome: &Outcome) -> impl Iterator<Item = &Probe> {
    outcome.samples.iter().map(|sample| match sample {
        Sample::Probe(probe) => probe,
        Sample::Interval(_) => panic!("messages only"),
    })
}

pub(crate) fn delivered(outcome: &Outcome) -> usize {
    probes(outcome).filter(|it| it.fate == Fate::Delivered).count()
}

pub(crate) fn lost(outcome: &Outcome, cause: Cause) -> usize {
    probes(outcome).filter(|it| it.fate == Fate::Lost(cause)).count()
}

#[track_caller]
pub(crate) fn close(what: &str, is: f64, should: f64, within: f64) {
    println!("{what}: {is:.4}, should be {should:.4}");
    assert!((is / should - 1.0).abs() <= within, "{what}: {is} for {should}");
}
