//! Costs of a room: `cargo run --release -p espbench-dot11 --example scale [FILE.svg]`.
//!
//! Stations broadcast by chance, 100 frames a second in all on each of three channels. Cost grows
//! with frames times hearers: the time for one hearer of one frame stays about the same, until the
//! stations no longer fit the processor's nearest cache. With a file name the costs are drawn
//! there.

mod common;

use espbench_dot11::check::run::crowd;
use std::fmt::Write as _;
use std::time::Instant;

fn main() -> std::io::Result<()> {
    println!("stations  frames x hearers   cpu s   ns a hearer   simulated s a cpu s   peak MB");
    let mut points = Vec::new();
    for (stations, seconds) in
        [(30, 3000), (100, 2000), (300, 1000), (1000, 300), (3000, 100), (10_000, 30)]
    {
        let began = Instant::now();
        let before = common::spent(began);
        let is = crowd(1, stations, 3, 300.0, seconds);
        let cpu = common::spent(began) - before;
        let work = is.sent * u64::from(stations / 3 - 1);
        let ns = cpu * 1e9 / work as f64;
        let speed = f64::from(seconds) / cpu;
        println!("{stations:8}{work:18}{cpu:8.2}{ns:14.1}{speed:22.1}{:10.0}", common::peak_mb());
        points.push((work as f64 / f64::from(seconds), cpu / f64::from(seconds)));
    }
    match std::env::args().nth(1) {
        Some(file) => std::fs::write(file, plot(&points)),
        None => Ok(()),
    }
}

/// Draws processor time for one hearer over hearers of frames per simulated second; both axes are
/// logarithmic.
fn plot(points: &[(f64, f64)]) -> String {
    let x = |work: f64| 60.0 + 100.0 * (work.log10() - 3.0);
    let y = |cpu: f64| 340.0 - 60.0 * (cpu.log10() + 5.0);
    let mut svg = String::from(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 420 390' font-family='sans-serif' font-size='11'>\n\
         <rect width='420' height='390' fill='white'/>\n",
    );
    for decade in 3..=6 {
        let at = x(10f64.powi(decade));
        let _ = writeln!(
            svg,
            "<path d='M{at} 40V340' stroke='#ddd'/><text x='{at}' y='356' text-anchor='middle'>1e{decade}</text>"
        );
    }
    for decade in -5..=0 {
        let at = y(10f64.powi(decade));
        let _ = writeln!(
            svg,
            "<path d='M60 {at}H400' stroke='#ddd'/><text x='54' y='{at}' text-anchor='end'>1e{decade}</text>"
        );
    }
    let line: Vec<String> = points.iter().map(|p| format!("{:.1},{:.1}", x(p.0), y(p.1))).collect();
    let _ = writeln!(
        svg,
        "<polyline points='{}' fill='none' stroke='#1667b7' stroke-width='2'/>",
        line.join(" ")
    );
    for at in &line {
        let (x, y) = at.split_once(',').unwrap_or_default();
        let _ = writeln!(svg, "<circle cx='{x}' cy='{y}' r='3.5' fill='#1667b7'/>");
    }
    svg + "<text x='230' y='378' text-anchor='middle'>hearers of frames in a simulated second</text>\n\
           <text x='60' y='24'>processor seconds for a simulated second: it grows as the work does</text>\n</svg>\n"
}
