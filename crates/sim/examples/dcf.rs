//! Saturated rooms against Bianchi's model and against ns-3, and how fast they go:
//! `cargo run --release -p espbench-sim --example dcf`.
//!
//! Frames of 293 octets at 1 Mbit/s with the long preamble; all hear each other. The figures of
//! ns-3 are those of Debian's 3.37, measured once; its speed depends on the machine.

#[path = "../tests/dcf/bianchi.rs"]
mod bianchi;
#[path = "../tests/dcf/rig.rs"]
mod rig;

use std::time::Instant;

/// Frames a second for each receiver, collision probability, simulated seconds a wall second.
struct Ns3 {
    good: f64,
    collide: f64,
    speed: f64,
}

fn main() {
    // A part of a scenario's name as an argument: only that.
    let only = std::env::args().nth(1).unwrap_or_default();
    println!(
        "                        good frames a second        collided                simulated s"
    );
    println!(
        "                        here  refined    ns-3   here   refined  ns-3  a wall s   x ns-3"
    );
    for (n, seconds, good, collide, speed) in [
        (1, 20_000, 345.3, 0.0, 302.0),
        (10, 6_000, 284.5, 0.427, 21.3),
        (50, 2_000, 82.2, 0.930, 3.63),
        (100, 2_000, 57.6, 0.973, 0.86),
    ] {
        let name = format!("broadcast {n}");
        if name.contains(&only) {
            let model = Some(bianchi::refined(n as usize, rig::OCTETS, false));
            let ns3 = Ns3 { good, collide, speed };
            line(&name, seconds, || rig::broadcast(1, n, seconds), model, &ns3);
        }
    }
    for (n, seconds, good, collide, speed) in [
        (2, 10_000, 315.7, 0.061, 59.0),
        (10, 6_000, 289.6, 0.281, 13.3),
        (50, 3_000, 235.3, f64::NAN, 2.53),
    ] {
        let name = format!("unicast {n}");
        if name.contains(&only) {
            let model = Some(bianchi::refined(n as usize, rig::OCTETS, true));
            let ns3 = Ns3 { good, collide, speed };
            line(&name, seconds, || rig::unicast(1, n, seconds), model, &ns3);
        }
    }
    let name = "100 a second by 100";
    if name.contains(&only) {
        let ns3 = Ns3 { good: f64::NAN, collide: f64::NAN, speed: 5.8 };
        line(name, 6_000, || rig::by_chance(1, 100, 100.0, 6_000), None, &ns3);
    }
}

fn line(
    name: &str,
    seconds: u32,
    run: impl FnOnce() -> rig::Rates,
    model: Option<bianchi::Answer>,
    ns3: &Ns3,
) {
    let began = Instant::now();
    let rates = run();
    let speed = f64::from(seconds) / began.elapsed().as_secs_f64();
    let none = bianchi::Answer { good: f64::NAN, sent: f64::NAN, collide: f64::NAN };
    let bianchi::Answer { good, sent, collide } = model.unwrap_or(none);
    println!(
        "{name:20}{:8.2}{good:9.2}{:8.1}{:9.4}{collide:8.4}{:8.3}{speed:10.0}{:8.0}   sent {:.1} ({sent:.1}) a second, {:.2} % given up",
        rates.good,
        ns3.good,
        rates.collide,
        ns3.collide,
        speed / ns3.speed,
        rates.sent,
        rates.dropped * 100.0,
    );
}
