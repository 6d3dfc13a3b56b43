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
    // The end of a scenario's name as an argument: only that.
    let only = std::env::args().nth(1).unwrap_or_default();
    println!(
        "                        good frames a second        collided              simulated s a"
    );
    println!(
        "                        here  refined    ns-3   here   refined  ns-3     cpu s  x ns-3    wall s"
    );
    for (n, seconds, good, collide, speed) in [
        (1, 20_000, 345.3, 0.0, 302.0),
        (10, 6_000, 284.5, 0.427, 21.3),
        (50, 2_000, 82.2, 0.930, 3.63),
        (100, 2_000, 57.6, 0.973, 0.86),
    ] {
        let name = format!("broadcast {n}");
        if name.ends_with(&only) {
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
        if name.ends_with(&only) {
            let model = Some(bianchi::refined(n as usize, rig::OCTETS, true));
            let ns3 = Ns3 { good, collide, speed };
            line(&name, seconds, || rig::unicast(1, n, seconds), model, &ns3);
        }
    }
    for (stations, channels, rate, seconds, speed) in [
        (100, 1, 100.0, 6_000, 5.8),
        (1_000, 1, 100.0, 600, f64::NAN),
        (10_000, 3, 300.0, 10, f64::NAN),
    ] {
        let name = format!("{rate} a second by {stations}");
        if name.ends_with(&only) {
            let ns3 = Ns3 { good: f64::NAN, collide: f64::NAN, speed };
            let run = || rig::crowd(1, stations, channels, rate, seconds);
            line(&name, seconds, run, None, &ns3);
        }
    }
}

/// Seconds of a processor that this thread has had, where the system says so (Linux), else of the
/// clock: on a machine with other work only the former can be compared.
fn spent(start: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|it| it.parse::<u64>().ok());
    nanos.map_or_else(|| start.elapsed().as_secs_f64(), |nanos| nanos as f64 * 1e-9)
}

fn line(
    name: &str,
    seconds: u32,
    run: impl FnOnce() -> rig::Rates,
    model: Option<bianchi::Answer>,
    ns3: &Ns3,
) {
    let began = Instant::now();
    let before = spent(began);
    let rates = run();
    let wall = f64::from(seconds) / began.elapsed().as_secs_f64();
    let speed = f64::from(seconds) / (spent(began) - before);
    let none = bianchi::Answer { good: f64::NAN, sent: f64::NAN, collide: f64::NAN };
    let bianchi::Answer { good, sent, collide } = model.unwrap_or(none);
    println!(
        "{name:24}{:8.2}{good:9.2}{:8.1}{:9.4}{collide:8.4}{:8.3}{speed:10.0}{:8.0}{wall:10.0}   sent {:.1} ({sent:.1}) a second, {:.2} % given up",
        rates.good,
        ns3.good,
        rates.collide,
        ns3.collide,
        speed / ns3.speed,
        rates.sent,
        rates.dropped * 100.0,
    );
}
