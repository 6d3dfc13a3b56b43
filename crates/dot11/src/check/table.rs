//! The table of truth: saturated networks beside the models and ns-3.

use super::bianchi::refined;
use super::link::link;
use super::pair::pair;
use super::walk::walk;
use super::{OCTETS, Scenario, run};
use alloc::string::String;
use core::fmt::Write as _;

/// Results of ns-3 3.37 of Debian, by `bench/ns3/run.sh`: senders, good frames a second, share that
/// collided.
const NS3: [&[(u32, f64, f64)]; 2] = [
    &[
        (1, 345.32, 0.0),
        (2, 352.74, 0.0609),
        (5, 331.54, 0.2191),
        (10, 284.08, 0.4267),
        (20, 203.30, 0.6850),
        (50, 82.01, 0.9299),
        (100, 57.49, 0.9726),
    ],
    &[
        (1, 311.70, 0.0),
        (2, 316.17, 0.0587),
        (5, 306.20, 0.1741),
        (10, 289.49, 0.2813),
        (20, 269.17, 0.3889),
        (50, 234.55, 0.5380),
        (100, 201.58, 0.6542),
    ],
];

/// Results of ns-3 for one sender of 1472-byte datagrams at HT20 MCS 7: frames a second, each on
/// its own, and in A-MPDUs.
const NS3_LINKS: [f64; 2] = [2614.6, 5072.0];

/// The number of senders, and the seconds of simulation, so that standard errors are below 0.4 %.
pub const ROOMS: [[(u32, u32); 7]; 2] = [
    [(1, 200), (2, 4000), (5, 2000), (10, 1500), (20, 1500), (50, 1500), (100, 2000)],
    [(1, 200), (2, 4000), (5, 2000), (10, 2000), (20, 1200), (50, 1200), (100, 1000)],
];

/// Returns a table with a line for every network of [`ROOMS`]: our simulation, the refined model,
/// the walk, and ns-3 as it was recorded, each with the deviation of our simulation in per cent.
/// Two senders have their exact chain instead of the walk.
#[must_use]
pub fn table(seed: u64) -> String {
    let mut text = String::from(
        "                 good frames a second                          collided\n\
         senders           here  refined      %     walk      %    ns-3      %     here  refined      %     walk      %    ns-3      %\n",
    );
    for (unicast, rooms) in [false, true].into_iter().zip(ROOMS) {
        for (senders, seconds) in rooms {
            let scenario = if unicast { Scenario::unicast } else { Scenario::broadcast }(senders);
            let is = run(&scenario, seed, seconds);
            let model = refined(senders as usize, OCTETS, unicast);
            let exact = match senders {
                2 => pair(OCTETS, unicast),
                _ => walk(senders as usize, OCTETS, unicast, 1_000_000),
            };
            let ns3 = NS3[usize::from(unicast)].iter().find(|it| it.0 == senders);
            // Writing to a string cannot fail.
            let _ = write!(text, "{:15}", scenario.name);
            let nan = f64::NAN;
            let (ns3_good, ns3_collide) = ns3.map_or((nan, nan), |it| (it.1, it.2));
            let _ = write!(text, "{:8.2}", is.good());
            for other in [model.good, exact.good, ns3_good] {
                let _ = write!(text, "{}", beside(is.good(), other, 9, 2));
            }
            let _ = write!(text, "{:9.4}", is.collide());
            for other in [model.collide, exact.collide, ns3_collide] {
                let _ = write!(text, "{}", beside(is.collide(), other, 9, 4));
            }
            while text.ends_with(' ') {
                text.pop();
            }
            text.push('\n');
        }
    }
    links(&mut text, seed);
    text
}

/// Writes the lines for one sender of large frames, alone and in A-MPDUs.
fn links(text: &mut String, seed: u64) {
    text.push_str(
        "\n                 good frames a second\nlink              here   sums up      %    ns-3      %\n",
    );
    for (scenario, ns3) in [Scenario::ht(), Scenario::ht_ampdu()].into_iter().zip(NS3_LINKS) {
        let is = run(&scenario, seed, 60).good();
        let [model, ns3] = [link(&scenario).1, ns3].map(|other| beside(is, other, 9, 2));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:15}{is:8.2}{model}{ns3}", scenario.name);
    }
}

/// Returns another value, and the deviation of ours.
fn beside(ours: f64, other: f64, width: usize, digits: usize) -> String {
    if other.is_nan() {
        return alloc::format!("{:width$}{:7}", "", "");
    }
    let off = if other == 0.0 { 0.0 } else { (ours / other - 1.0) * 100.0 };
    alloc::format!("{other:width$.digits$}{off:+7.2}")
}
