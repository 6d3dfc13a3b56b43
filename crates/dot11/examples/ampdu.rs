//! One saturated link with A-MPDUs: how much it carries, and how fast it goes:
//! `cargo run --release -p espbench-dot11 --example ampdu [SECONDS]`.

mod common;

use espbench_dot11::check::{Scenario, run};
use std::time::Instant;

/// Bytes of a datagram's payload.
const PAYLOAD: f64 = 1472.0;

fn main() {
    let seconds = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(200);
    println!("                     Mbit/s   MPDUs a cpu s   ns an MPDU   simulated s a cpu s");
    for room in [Scenario::ht(), Scenario::ht_ampdu()] {
        let began = Instant::now();
        let before = common::spent(began);
        let is = run(&room, 1, seconds);
        let cpu = common::spent(began) - before;
        let frames = is.received as f64;
        println!(
            "{:18}{:9.2}{:16.0}{:13.0}{:22.0}",
            room.name,
            is.good() * PAYLOAD * 8e-6,
            frames / cpu,
            cpu / frames * 1e9,
            f64::from(seconds) / cpu,
        );
    }
}
