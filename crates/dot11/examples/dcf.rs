//! Saturated rooms against Bianchi's model, and how fast they go:
//! `cargo run --release -p espbench-dot11 --example dcf [NAME]`.
//!
//! Frames of 293 octets at 1 Mbit/s with the long preamble; all hear each other. `bench/ns3/run.sh`
//! puts ns-3 beside them, run on the same machine.

mod common;

use espbench_dot11::check::bianchi::refined;
use espbench_dot11::check::run::crowd;
use espbench_dot11::check::{OCTETS, RunCounts, Scenario, run};
use std::time::Instant;

fn main() {
    // The end of a room's name as an argument: only that.
    let only = std::env::args().nth(1).unwrap_or_default();
    println!("                 good frames a second      collided        simulated s a");
    println!("                       here   refined     here   refined   cpu s   wall s");
    let rooms = [
        (Scenario::broadcast(1), 20_000, false),
        (Scenario::broadcast(10), 6_000, false),
        (Scenario::broadcast(50), 2_000, false),
        (Scenario::broadcast(100), 2_000, false),
        (Scenario::unicast(2), 10_000, true),
        (Scenario::unicast(10), 6_000, true),
        (Scenario::unicast(50), 3_000, true),
    ];
    for (room, seconds, unicast) in rooms.iter().filter(|(room, ..)| room.name.ends_with(&only)) {
        let senders = (room.stations - room.first) as usize;
        let model = refined(senders, OCTETS, *unicast);
        let model = [model.good, model.collide];
        line(&room.name, *seconds, || run(room, 1, *seconds), model);
    }
    for (stations, channels, rate, seconds) in
        [(100, 1, 100.0, 6_000), (1_000, 1, 100.0, 600), (10_000, 3, 300.0, 10)]
    {
        let name = format!("crowd-{stations}");
        if name.ends_with(&only) {
            let run = || crowd(1, stations, channels, rate, seconds);
            line(&name, seconds, run, [f64::NAN; 2]);
        }
    }
}

fn line(name: &str, seconds: u32, run: impl FnOnce() -> RunCounts, model: [f64; 2]) {
    let began = Instant::now();
    let before = common::spent(began);
    let is = run();
    let wall = f64::from(seconds) / began.elapsed().as_secs_f64();
    let speed = f64::from(seconds) / (common::spent(began) - before);
    println!(
        "{name:18}{:9.2}{:10.2}{:9.4}{:10.4}{speed:8.0}{wall:9.0}",
        is.good(),
        model[0],
        is.collide(),
        model[1],
    );
}
