//! How fast whole nodes go in the lab, in the two scenarios of ns-3:
//! `cargo run --release -p espbench-sim --example lab_speed [NAME]`; beside ns-3 itself:
//! `bench/ns3/speed.sh`.
//!
//! Every device is a complete node that listens to data: each frame goes through the driver, the
//! engine, its queue and the main task to the application.

#[path = "../../dot11/examples/common/mod.rs"]
mod common;
#[path = "../tests/lab/rig.rs"]
#[allow(dead_code, unreachable_pub)]
mod rig;

use common::spent;
use esp_now::component::{DataType, FrameConfig};
use esp_now::node::task::{EspNowEvent, SendRequest};
use espbench_dot11::random::{Purpose, RngStream};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use espbench_sim::lab::nodes::note::{Note, Watch};
use espbench_sim::lab::nodes::{Conversation as _, NodeId};
use espbench_sim::lab::profile::Profile;
use espbench_sim::lab::run::{Lab, Tap};
use espbench_sim::lab::scene::Scene;

/// Applications that wait to send again.
#[derive(Default)]
struct Applications {
    free: Vec<NodeId>,
    data: u64,
}

impl Watch for Applications {
    fn note(&mut self, _: Instant, note: &Note<'_>) {
        match note {
            Note::Event { node, event: EspNowEvent::Sent(_) } => self.free.push(*node),
            Note::Data { .. } => self.data += 1,
            _ => {}
        }
    }
}

impl Tap for Applications {
    fn wants_frames(&self) -> bool {
        false
    }
}

/// 250 bytes of ESP-NOW data: 293 octets on the air.
const PAYLOAD: [u8; 230] = [7; 230];

fn frame() -> SendRequest {
    SendRequest {
        data_type: DataType::Data,
        dest: Mac::BROADCAST,
        config: FrameConfig { copies: 1, ..FrameConfig::default() },
        magic: 0,
        len: 0,
        wait: Duration::MAX,
    }
}

fn scene(nodes: usize, profile: Profile) -> Scene {
    let mut scene = rig::row(nodes, 0.01, profile);
    // As in ns-3's room: who begins together is lost, with the gain of spread preambles as well.
    scene.environment.detect_db = 15.0;
    for device in &mut scene.nodes {
        device.services.data = true;
        device.settings.compat.app_security = false;
    }
    scene
}

fn lab(nodes: usize, profile: Profile) -> Lab<'static, Applications> {
    let mut lab = Lab::new(&scene(nodes, profile), 1, Applications::default());
    lab.keep_data(false);
    lab.run_for(Duration::from_secs(1)).unwrap();
    lab
}

/// Runs applications that always have a frame.
fn saturated(lab: &mut Lab<Applications>, seconds: u64) {
    let until = lab.now() + Duration::from_secs(seconds);
    let nodes: Vec<NodeId> = lab.nodes().collect();
    for node in nodes {
        lab.send(node, &frame(), &PAYLOAD).unwrap();
    }
    while lab.now() < until {
        while let Some(node) = lab.watch.free.pop() {
            lab.send(node, &frame(), &PAYLOAD).unwrap();
        }
        let left = until.since(lab.now());
        lab.run_till_told(left, |lab| !lab.watch.free.is_empty()).unwrap();
    }
}

/// Runs applications that send so many frames a second in all.
fn poisson(lab: &mut Lab<Applications>, rate: f64, seconds: u64) {
    let until = lab.now() + Duration::from_secs(seconds);
    let mut random = RngStream::stream(1, 0, Purpose::Arrival);
    let nodes = lab.count() as u64;
    loop {
        lab.run_for(Duration::from_nanos((random.exponential() / rate * 1e9) as u64)).unwrap();
        if lab.now() >= until {
            break;
        }
        let node = NodeId((random.bits() % nodes) as u16);
        // Who is still sending loses one.
        let _ = lab.send(node, &frame(), &PAYLOAD);
    }
}

fn line(name: &str, nodes: usize, profile: Profile, seconds: u64, rate: Option<f64>) {
    if !name.contains(&std::env::args().nth(1).unwrap_or_default()) {
        return;
    }
    let mut lab = lab(nodes, profile);
    let before = lab.nodes().map(|it| lab.mac_counters(u32::from(it.0)).sent).sum::<u64>();
    let start = std::time::Instant::now();
    let from = spent(start);
    match rate {
        None => saturated(&mut lab, seconds),
        Some(rate) => poisson(&mut lab, rate, seconds),
    }
    let took = spent(start) - from;
    let sent = lab.nodes().map(|it| lab.mac_counters(u32::from(it.0)).sent).sum::<u64>() - before;
    let hearers = sent * (nodes as u64 - 1);
    println!(
        "{name:32} {:8.1} x real time, {sent} frames, {} payloads, {:.0} ns a hearer",
        seconds as f64 / took,
        lab.watch.data,
        took * 1e9 / hearers as f64,
    );
}

/// Runs ten thousand devices in one room, on channels 1, 6 and 11. `/usr/bin/time -v` shows the
/// memory that they take.
fn crowd(profile: Profile, seconds: u64) {
    let name = "10000 nodes, three channels";
    if !name.contains(&std::env::args().nth(1).unwrap_or_default()) {
        return;
    }
    let mut scene = scene(10_000, profile);
    for (i, device) in scene.nodes.iter_mut().enumerate() {
        device.at.x = i as f64 * 0.001;
        device.channel = [1, 6, 11][i % 3];
    }
    let mut lab = Lab::new(&scene, 1, Applications::default());
    lab.keep_data(false);
    lab.run_for(Duration::from_secs(1)).unwrap();
    let start = std::time::Instant::now();
    let from = spent(start);
    poisson(&mut lab, 100.0, seconds);
    let took = spent(start) - from;
    println!(
        "{name:32} {:8.1} x real time, {} payloads, {:.0} ns a payload",
        seconds as f64 / took,
        lab.watch.data,
        took * 1e9 / lab.watch.data as f64,
    );
}

fn main() {
    let chip = || Profile {
        receive: rig::micros(40),
        dispatch: rig::micros(60),
        transmit: rig::micros(50),
        ..rig::instant()
    };
    line("a: saturated, instant", 100, rig::instant(), 60, None);
    line("a: saturated, a chip", 100, chip(), 60, None);
    line("e: 100 a second, instant", 100, rig::instant(), 300, Some(100.0));
    line("e: 100 a second, a chip", 100, chip(), 300, Some(100.0));
    line("e: 1000 nodes, a chip", 1000, chip(), 30, Some(100.0));
    crowd(chip(), 10);
}
