//! Pairs of which nothing is shown, and what a gate makes of them.

use super::*;
use crate::table::compared::{folded, undecided, unshown};

#[test]
fn results_without_an_interval_have_their_own_count() {
    let exact = |value| Cell { ci_low: None, ci_high: None, ..cell("rtt_max", "ms", value, 0.0) };
    let all = [
        one(&exact(20.0), &exact(10.0)),
        one(&exact(20.0), &exact(19.9)),
        one(&exact(20.0), &exact(20.0)),
        one(&cell("rtt_avg", "ms", 7.0, 0.1), &cell("rtt_avg", "ms", 7.0, 0.1)),
    ];
    let counts = ["2 results without a difference shown", "2 results without an interval"];
    let table = folded(&all, "a", Origin::Simulated, &[]);
    assert_eq!(unshown(&all), counts);
    assert!(table.rows.iter().map(|it| it[0].as_deref()).eq(counts.map(Some)), "{table:?}");
}

#[test]
fn gate_needs_both_certainty_and_size() {
    let base = cell("rtt_avg", "ms", 100.0, 0.1);
    let slightly = one(&cell("rtt_avg", "ms", 105.0, 0.1), &base);
    let much = one(&cell("rtt_avg", "ms", 120.0, 0.1), &base);
    let perhaps = one(&cell("rtt_avg", "ms", 120.0, 50.0), &base);
    let rate = |v| cell("effective_rate", "bit/s", v, 0.1);
    let slower = one(&rate(80.0), &rate(100.0));
    let faster = one(&rate(120.0), &rate(100.0));
    let lossy = one(&loss(30, 1000), &loss(0, 1000));
    let all = vec![slightly, much.clone(), perhaps, slower.clone(), faster, lossy.clone()];
    let gated = gate(&all, &Tolerance::of_part(0.1));
    assert_eq!(gated.failed, [&much, &slower, &lossy]);
    assert_eq!(gated.judged, 6);
    assert!(!gated.passed());
    assert!(gate(&all[..1], &Tolerance::of_part(0.1)).passed());
    assert!(
        !gate(&[], &Tolerance::of_part(0.1)).passed(),
        "a gate that judged nothing has shown nothing"
    );
}

/// A pair of which one end of an interval is missing, or both, may differ by any amount: it is told of, and no gate
/// passes by it. What is equal is known to be no worse.
#[test]
fn a_gate_says_what_its_intervals_leave_open() {
    let base = cell("rtt_p99", "ms", 10.0, 0.1);
    let far = Cell { value: Some(20.0), ..base.clone() };
    let bare = Cell { ci_low: None, ci_high: None, ..far.clone() };
    let one_end = Cell { ci_low: None, ci_high: Some(21.0), ..far };
    for (ours, lacks) in [(&bare, true), (&one_end, false)] {
        let pair = one(ours, &base);
        assert_eq!(pair.verdict, Verdict::NoDifferenceShown);
        assert_eq!((pair.is_open(), pair.lacks_interval), (true, lacks), "{pair:?}");
        let told = undecided(core::slice::from_ref(&pair)).unwrap();
        assert!(
            told.starts_with(
                "1 result differs by more than a tenth, with no interval that could show it"
            ),
            "{told}"
        );
        let both = [pair.clone(), one(&base, &base)];
        let gated = gate(&both, &Tolerance::of_part(0.1));
        assert_eq!((gated.judged, gated.passed()), (1, true));
        assert!(!gate(&[pair], &Tolerance::of_part(0.1)).passed(), "it could never fail");
    }
    // One end is enough to show that it is worse.
    let other_end = Cell { ci_low: Some(9.5), ci_high: None, value: Some(10.5), ..base.clone() };
    let pair = one(&other_end, &base);
    assert!(!pair.is_open());
    let gated = gate(core::slice::from_ref(&pair), &Tolerance::of_part(0.01));
    assert_eq!((gated.judged, gated.open, gated.passed()), (1, 0, true));
    let of_nothing = one(&bare, &Cell { value: Some(0.0), ci_low: None, ci_high: None, ..base });
    assert!(of_nothing.is_open() && undecided(core::slice::from_ref(&of_nothing)).is_some());
    assert_eq!(gate(&[of_nothing], &Tolerance::of_part(0.1)).open, 1);
    // Of what is neither better nor worse nothing can fail.
    let size = |value| cell("bytes_sent", "B", value, 0.1);
    assert!(!gate(&[one(&size(50.0), &size(100.0))], &Tolerance::of_part(0.1)).passed());
    let equal = one(&bare, &bare);
    assert_eq!((equal.is_open(), equal.lacks_interval), (false, false));
    assert!(gate(&[equal], &Tolerance::of_part(0.1)).passed());
}
