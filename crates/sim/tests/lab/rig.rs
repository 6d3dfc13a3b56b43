//! Rooms made by hand.

use esp_now::node::task::NodeSettings;
use esp_now::node::tick::Tick;
use espbench_dot11::radio::RadioChip;
use espbench_model::time::{Duration, Instant};
use espbench_sim::lab::nodes::note::{Note, Watch};
use espbench_sim::lab::nodes::{Conversation as _, NodeId};
use espbench_sim::lab::profile::{Cost, Profile};
use espbench_sim::lab::run::{Content, Lab, Tap};
use espbench_sim::lab::scene::{Device, Environment, Point, Scene};
use espbench_sim::lab::trace::Flight;
use std::sync::Arc;

/// Makes a chip that works in no time, with a console that prints in none.
pub fn instant() -> Profile {
    Profile {
        chip_name: "ESP32-C3".into(),
        uart_baud: 0,
        tick_hz: 1000,
        rx_buffers: 32,
        boot: Duration::from_millis(500),
        join: Duration::from_secs(1),
        scan_dwell: Duration::from_millis(120),
        ..Profile::free("instant", RadioChip::Esp32C3)
    }
}

/// Makes a cost that does not depend on the length.
pub fn micros(us: u64) -> Cost {
    Cost { fixed_ns: us * 1000, ..Cost::default() }
}

pub fn device(profile: &Arc<Profile>, x: f64) -> Device {
    Device {
        settings: NodeSettings { tick: Tick::from_hz(profile.tick_hz), ..NodeSettings::default() },
        ..Device::new("devices", profile.clone(), Point { x, ..Point::default() })
    }
}

/// Makes devices with that profile in a row, that many metres apart.
pub fn row(count: usize, metres: f64, profile: Profile) -> Scene {
    let profile = Arc::new(profile);
    let environment = Environment {
        name: "quiet".into(),
        exponent: 3.0,
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
        detect_db: 4.0,
        capture_db: None,
        sources: Vec::new(),
    };
    Scene {
        nodes: (0..count).map(|i| device(&profile, metres * i as f64)).collect(),
        ..Scene::new("row", environment)
    }
}

/// Types a command and waits until the node has printed a line with that text; gives the line.
#[track_caller]
pub fn says<W: Tap>(lab: &mut Lab<W>, node: u16, command: &str, text: &str) -> String {
    let node = NodeId(node);
    let from = lab.lines(node).len();
    lab.command(node, command);
    let line = |lab: &Lab<W>| {
        let lines = lab.lines(node).get(from..).unwrap_or_default();
        lines.iter().find(|line| line.text.contains(text)).map(|line| line.text.clone())
    };
    let most = Duration::from_secs(120);
    let found = lab.run_till(most, |lab| line(lab).is_some()).unwrap();
    assert!(found, "{command}: {:#?}", &lab.lines(node)[from..]);
    line(lab).unwrap()
}

/// Keeps all flights.
#[derive(Debug, Default)]
pub struct Flights(pub Vec<Flight>);

impl Watch for Flights {
    fn note(&mut self, _: Instant, _: &Note<'_>) {}
}

impl Tap for Flights {
    fn flight(&mut self, flight: &Flight, _: Option<Content<'_>>) {
        self.0.push(*flight);
    }
}
