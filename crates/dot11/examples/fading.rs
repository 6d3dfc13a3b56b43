//! How deep links of a place fade: the share of time in which a link has lost more than so many
//! decibels, with no path that prevails (m of 1, Rayleigh), in an office and in a hall.
//!
//! ```console
//! $ cargo run --release -p espbench-dot11 --example fading
//! ```

use espbench_dot11::radio::{FastFading, LinkFading, SlowFading};

/// Milliseconds of virtual time.
const TIME_MS: u64 = 60_000;
const LINKS: u32 = 50;

/// Returns the share of time in per cent in which a link has lost more than `loss_db`.
fn share(fading: &LinkFading, loss_db: f64) -> f64 {
    let times = (0..TIME_MS).step_by(20).map(|ms| ms * 1_000_000);
    let all = times.flat_map(|now| (1..=LINKS).map(move |link| (link, now)));
    let (mut below, mut count) = (0_u32, 0_u32);
    for (link, now) in all {
        below += u32::from(fading.gain_db(0, link, now) < -loss_db);
        count += 1;
    }
    100.0 * f64::from(below) / f64::from(count)
}

fn main() {
    println!("place               more than 3 dB   10 dB   20 dB");
    let people = SlowFading { deviation_db: 3.0, coherence_ns: 120_000_000_000 };
    let places = [
        ("Rayleigh", 1.0, None),
        ("office", 2.8, None),
        ("office, people", 2.8, Some(people)),
        ("hall", 19.0, None),
    ];
    for (name, nakagami_m, slow) in places {
        let fast = FastFading { nakagami_m, coherence_ns: 122_000_000 };
        let Some(fading) = LinkFading::new(1, Some(fast), slow) else { continue };
        let [three, ten, twenty] = [3.0, 10.0, 20.0].map(|loss_db| share(&fading, loss_db));
        println!("{name:<20}{three:>12.1} %{ten:>6.2} %{twenty:>6.2} %");
    }
}
