//! Says what round trips tell, and what they do not: `cargo run -p espbench-stats --example round_trips`.

use espbench_stats::interval::wilson;
use espbench_stats::quantile::{Sorted, needed};

fn main() {
    let round_trips = (0..200_u32).map(|it| 3.0 + f64::from(it * 7 % 50) / 25.0);
    let sorted = Sorted::new(round_trips.collect());
    let (median, tail) = (sorted.quantile(0.5), sorted.quantile(0.99));
    println!(
        "p50 {:.2?} ms, 95 % between {:.2?} and {:.2?}",
        median.value, median.low, median.high
    );
    assert_eq!(tail.high, None, "200 observations do not enclose p99");
    assert_eq!(needed(0.99), 368);

    let lost = wilson(5, 200).scaled(100.0);
    println!("lost {:.1?} %, 95 % between {:.1?} and {:.1?}", lost.value, lost.low, lost.high);
}
