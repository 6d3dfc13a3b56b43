//! How fast large labs of whole devices go: a line of 1000 relays, and a room of 1000 devices that each send
//! a message a minute: `cargo run --release -p espbench-sim --example scale_speed [NAME]`; with the memory that they
//! take: `bench/scale.sh`.
//!
//! These are cells of plans, in the built-in labs, with all that a run records.

#[path = "../../dot11/examples/common/mod.rs"]
mod common;

use common::spent;
use espbench_model::messages::{EspNowMessages, MessagePattern};
use espbench_model::overrides::LabOverrides;
use espbench_model::sample::{Fate, Sample};
use espbench_model::time::Duration;
use espbench_model::workload::{EspNowCast, Workload};
use espbench_sim::lab::file::Library;
use espbench_sim::lab::record::Record;
use espbench_sim::lab::suite::{Seeds, run};

/// Messages of one sender, a minute apart.
const COUNT: u32 = 10;
const MINUTE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Arrived {
    probes: u64,
    delivered: u64,
    frames: u64,
}

impl Record for Arrived {
    fn sample(&mut self, sample: Sample) {
        if let Sample::Probe(probe) = sample {
            self.probes += 1;
            self.delivered += u64::from(probe.fate == Fate::Delivered);
        }
    }

    fn count(&mut self, name: &str, by: u64) {
        if name == "message-frames" {
            self.frames += by;
        }
    }

    fn fact(&mut self, _: &str, _: String) {}
}

/// Carries a cell out `times` times, and prints how fast the fastest went.
fn row(name: &str, lab: Option<&str>, work: EspNowMessages, times: u64) {
    if !name.contains(&std::env::args().nth(1).unwrap_or_default()) {
        return;
    }
    let library = Library::built_in();
    let count = work.count;
    let work = Workload::EspNowMessages(work);
    let mut least = f64::MAX;
    let mut arrived = Arrived::default();
    for _ in 0..times {
        arrived = Arrived::default();
        let start = std::time::Instant::now();
        let from = spent(start);
        run(&work, &library, lab, Seeds::both(1), &mut arrived).expect("the lab can do it");
        least = least.min(spent(start) - from);
    }
    let virtual_s = f64::from(count) * MINUTE.as_secs_f64();
    let Arrived { probes, delivered, frames } = arrived;
    println!(
        "{name:42} {:8.1} x real time, {delivered} of {probes} arrived, {frames} frames, {least:.2} s",
        virtual_s / least,
    );
}

fn main() {
    let line = EspNowMessages {
        pattern: MessagePattern::RelayLine,
        devices: 1001,
        size: 64,
        count: COUNT,
        interval: MINUTE,
        cast: EspNowCast::Broadcast { copies: 1, ack: false },
        ttl: EspNowMessages::TTL_ENDLESS,
        forward_rssi: i8::MIN,
        spacing_m: 14.0,
        in_slots: false,
        slots: espbench_model::messages::BeaconSlots {
            slot: Duration::from_millis(8),
            guard: Duration::from_millis(1),
            beacon_interval: Duration::from_secs(1),
            drift_ppm: 20.0,
            task_jitter: Duration::from_micros(500),
            missed_most: 3,
        },
        radio_scheduled: false,
        bluetooth: None,
        lab: LabOverrides::NONE,
    };
    let room = EspNowMessages { pattern: MessagePattern::ManyToMany, devices: 999, ttl: 0, ..line };
    row("line: 1000 relays, a message a minute", None, line, 3);
    let one = EspNowMessages { pattern: MessagePattern::ManyToOne, ..room };
    row("one: 1000 devices, a minute, to one", None, one, 3);
    // Each message floods the line: a thousand frames, and two hearers of each.
    let relayed = EspNowMessages { ttl: EspNowMessages::TTL_ENDLESS, count: 1, ..one };
    row("relayed: 1000 relays, a minute each", Some("relay-line"), relayed, 1);
    row(
        "all: 1000 devices, a minute, to all",
        None,
        EspNowMessages { count: COUNT / 2, ..room },
        1,
    );
}
