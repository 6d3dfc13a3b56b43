//! Searches the highest rate that a link carries without loss:
//! `cargo run -p espbench-model --example search`.

use espbench_model::flow::Tracker;
use espbench_model::search::RateSearch;

fn main() {
    let mut search = RateSearch::new(10.0, 10_000.0);
    while let Some((rate, repetition)) = search.next() {
        // Where more than 430 datagrams a second are offered, this link loses each fifth.
        let mut tracker: Tracker = Tracker::default();
        for number in (0..100).filter(|number| rate < 430.0 || number % 5 != 4) {
            tracker.take(number);
        }
        tracker.take(100);
        println!("{rate:6} a second, try {repetition}: {} of 101 lost", tracker.lost());
        search.record(tracker.lost() == 0);
    }
    let (passed, failed) = (search.passed().unwrap(), search.failed().unwrap());
    println!("the link carries {passed} a second, and not {failed}");
    assert!(passed < 430.0 && failed >= 430.0 && failed / passed < 1.06);
}
