mod gate;
mod images;

use super::*;
use crate::cell::{Identity, Origin};
use crate::published::shipped;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use espbench_stats::Estimate;
use espbench_stats::interval::wilson;
use proptest::prelude::*;

fn identity(metric: &str) -> Identity {
    Identity {
        table: "udp-echo".into(),
        chip: "esp32".into(),
        transport: "udp".into(),
        mode: "station-echo".into(),
        metric: metric.into(),
        payload_bytes: Some(100),
        devices: Some(1),
        distance_m: None,
        security: None,
        environment: Some("home".into()),
    }
}

fn cell(metric: &str, unit: &str, value: f64, half: f64) -> Cell {
    Cell::of(
        Estimate { value: Some(value), n: 1000, low: Some(value - half), high: Some(value + half) },
        identity(metric),
        unit,
        Origin::Measured,
    )
}

fn loss(lost: u64, of: u64) -> Cell {
    Cell::of(wilson(lost, of).scaled(100.0), identity("loss"), "percent", Origin::Measured)
}

fn one(ours: &Cell, other: &Cell) -> Comparison {
    let mut all = compare(core::slice::from_ref(ours), core::slice::from_ref(other));
    assert_eq!(all.len(), 1, "one pair");
    all.remove(0)
}

fn reasons(c: &Comparison) -> &[Reason] {
    match &c.verdict {
        Verdict::NotComparable(reasons) => reasons,
        _ => &[],
    }
}

fn why(c: &Comparison) -> Vec<String> {
    reasons(c).iter().map(|it| it.text.clone()).collect()
}

fn is_another(c: &Comparison, kind: ReasonKind) -> bool {
    reasons(c).iter().any(|it| it.kind == kind)
}

#[test]
fn direction_follows_the_metric() {
    for (metric, unit, wanted) in [
        ("rtt_avg", "ms", Verdict::Worse),
        ("effective_rate", "bit/s", Verdict::Better),
        ("probes_late", "probes", Verdict::Differs),
        ("offered_rate", "messages/s", Verdict::Differs),
    ] {
        let (high, low) = (cell(metric, unit, 20.0, 1.0), cell(metric, unit, 10.0, 1.0));
        assert_eq!(one(&high, &low).verdict, wanted, "{metric}");
    }
    let (a, b) = (cell("rtt_avg", "ms", 10.5, 1.0), cell("rtt_avg", "ms", 10.0, 1.0));
    assert_eq!(one(&a, &b).verdict, Verdict::NoDifferenceShown);
}

#[test]
fn units_are_converted() {
    let ours = cell("rtt_avg", "ms", 20.0, 1.0);
    let other = cell("rtt_avg", "us", 10_000.0, 1000.0);
    let got = one(&ours, &other);
    assert_eq!((got.ratio, got.difference), (Some(2.0), Some(10.0)));
    assert_eq!(got.verdict, Verdict::Worse);
    let wrong = Cell { unit: "bit/s".into(), ..other };
    let got = one(&ours, &wrong);
    assert_eq!(got.ratio, None);
    assert!(why(&got).contains(&"another unit: ms against bit/s".to_string()), "{got:?}");
}

#[test]
fn every_difference_of_place_is_a_reason() {
    let ours = Cell {
        id: Identity {
            distance_m: Some(1.0),
            security: Some("wpa2".into()),
            ..identity("rtt_avg")
        },
        ..cell("rtt_avg", "ms", 20.0, 1.0)
    };
    let mut other = ours.clone();
    other.id.chip = "esp32c3".into();
    other.id.mode = "softap".into();
    other.id.distance_m = Some(2.0);
    other.id.security = Some("open".into());
    other.id.environment = Some("office".into());
    other.id.devices = Some(4);
    let got = one(&ours, &other);
    let words = ["chip", "mode", "environment", "security", "distance", "number of devices"];
    for (reason, word) in why(&got).iter().zip(words) {
        assert!(reason.starts_with(&format!("another {word}: ")), "{reason}");
    }
    assert_eq!(why(&got).len(), words.len());
    assert_eq!(got.ratio, Some(1.0), "the ratio is given nevertheless");
    let document = Cell { origin: Origin::Published, ..other };
    let got = compare(core::slice::from_ref(&ours), &[document]);
    let got = got.first().unwrap();
    assert_eq!(got.verdict.kind(), VerdictKind::NotComparable);
    assert_eq!((got.ratio, got.ratio_low, got.difference), (None, None, None), "no counterpart");
}

/// The first screen takes these pairs for the document's own, and so does the comparison: a lab's variant is no
/// setting that the document lacks.
#[test]
fn a_document_s_own_procedure_in_the_lab_is_its_procedure() {
    let published = shipped();
    let document =
        published.iter().find(|it| it.id.table == "udp-echo" && it.id.metric == "rtt_avg").unwrap();
    let mut ours = Cell {
        origin: Origin::Simulated,
        ci_low: document.value.map(|it| 0.99 * it),
        ci_high: document.value.map(|it| 1.01 * it),
        ..document.clone()
    };
    ours.settings.extend([crate::settings::Setting::LabVariant(
        espbench_model::workload::Name::new("arduino").unwrap(),
    )]);
    let got = compare(core::slice::from_ref(&ours), &published);
    assert_eq!(got.len(), 1);
    assert_eq!((&got[0].verdict, got[0].ratio), (&Verdict::NoDifferenceShown, Some(1.0)));
    // Another procedure in the same lab is none of the document's.
    ours.settings.extend(crate::label::read("binary, 8 in flight").unwrap().iter().cloned());
    let got = compare(&[ours], &published);
    assert!(got.iter().all(|it| it.verdict.kind() == VerdictKind::NotComparable), "{got:?}");
}

#[test]
fn losses_go_by_their_difference() {
    assert_eq!(one(&loss(0, 1000), &loss(0, 1000)).verdict, Verdict::NoDifferenceShown);
    let appeared = one(&loss(30, 1000), &loss(0, 1000));
    assert_eq!((appeared.verdict.clone(), appeared.ratio), (Verdict::Worse, None));
    // Newcombe's interval for 30/1000 against 0/1000, in percentage points.
    assert!(appeared.difference_low.unwrap() > 1.9 && appeared.difference_high.unwrap() < 4.3);
    assert_eq!(one(&loss(0, 1000), &loss(30, 1000)).verdict, Verdict::Better);
    assert_eq!(one(&loss(1, 1000), &loss(0, 1000)).verdict, Verdict::NoDifferenceShown);
    // All lost against all lost.
    assert_eq!(one(&loss(50, 50), &loss(50, 50)).verdict, Verdict::NoDifferenceShown);
}

#[test]
fn a_published_value_is_a_known_number_and_said_so() {
    let ours = cell("rtt_avg", "ms", 7.374, 0.2);
    let published = shipped();
    let got = compare(core::slice::from_ref(&ours), &published);
    assert_eq!(got.len(), 1);
    assert_eq!(got[0].other.value, Some(7.374), "the row of 100 bytes");
    assert_eq!(got[0].verdict, Verdict::NoDifferenceShown);
    assert!(got[0].notes.iter().any(|n| n.contains("taken as exact")));
    let slow = cell("rtt_avg", "ms", 9.0, 0.2);
    assert_eq!(compare(&[slow], &published)[0].verdict, Verdict::Worse);
}

#[test]
fn the_nearest_published_statistic_is_shown_as_another() {
    let median = compare(&[cell("rtt_p50", "ms", 7.0, 0.2)], &shipped());
    assert_eq!(median.len(), 1);
    assert_eq!(median[0].other.id.metric, "rtt_avg");
    assert_eq!(why(&median[0]), ["another statistic: ours is the median, published is the mean"]);
    // Spreads have no neighbours.
    assert!(compare(&[cell("rtt_stddev", "ms", 1.0, 0.2)], &shipped()).is_empty());
    let extreme = cell("rtt_max", "ms", 30.0, 0.0);
    let extreme = Cell { ci_low: None, ci_high: None, ..extreme };
    let got = &compare(&[extreme], &shipped())[0];
    assert_eq!(got.verdict, Verdict::NoDifferenceShown);
    assert!(got.ratio.is_some() && got.ratio_low.is_none());
    assert!(got.notes.iter().any(|n| n.starts_with("neither has an interval")));
}

#[test]
fn iperf_meets_the_documents_that_measured_it() {
    let ours = |metric: &str, mode: &str| {
        let mut cell = cell(metric, "bit/s", 30e6, 1e6);
        cell.id.table = "iperf".into();
        cell.id.transport = "udp".into();
        cell.id.mode = mode.into();
        cell.id.chip = "esp32c3".into();
        cell.id.environment = Some("shield-box".into());
        cell
    };
    let got = compare(&[ours("throughput_rx_best_second", "station")], &shipped());
    let best: Vec<_> = got.iter().filter(|c| c.other.id.table == "esp32c3-best").collect();
    assert_eq!(best.len(), 2, "in the air and in the box");
    let boxed = best.iter().find(|c| why(c).is_empty()).unwrap();
    assert_eq!(boxed.other.id.environment.as_deref(), Some("shield-box"));
    assert_eq!(boxed.ratio, Some(30.0 / boxed.other.value.unwrap()), "{boxed:?}");
    assert!(got.iter().any(|c| c.other.id.table == "esp8266-iperf"));
    // The mean is not the best second.
    let mean = compare(&[ours("throughput_rx", "station")], &shipped());
    let best = mean.iter().find(|c| c.other.id.table == "esp32c3-best").unwrap();
    let wanted = [
        "another environment: shield-box against lab-air",
        "another statistic: ours is the mean, published is the best second",
    ];
    assert_eq!(why(best), wanted);
    // Without an equal mode all modes are shown, each with its reason.
    let elsewhere = compare(&[ours("throughput_rx", "loopback")], &shipped());
    assert!(elsewhere.len() > mean.len());
    assert!(elsewhere.iter().all(|c| is_another(c, ReasonKind::Mode)));
}

#[test]
fn a_mean_of_runs_meets_the_mean_and_not_each_run() {
    let mut ours = cell("message_rate_avg", "messages/s", 4000.0, 100.0);
    ours.id.table = "tcp-rate".into();
    ours.settings = crate::label::read("Nagle on").unwrap();
    ours.id.transport = "tcp".into();
    let got = compare(&[ours], &shipped());
    assert_eq!(got.len(), 1);
    assert_eq!(got[0].other.id.metric, "message_rate_avg");
    // The document says nothing of Nagle's algorithm: a note, not a reason.
    assert!(!is_another(&got[0], ReasonKind::Procedure));
    assert!(got[0].notes.iter().any(|n| n.starts_with("ours with Nagle on")));
}

#[test]
fn a_variant_is_another_procedure() {
    let ours = Cell {
        settings: crate::label::read("binary, 8 in flight").unwrap(),
        ..cell("rtt_avg", "ms", 7.0, 0.1)
    };
    let got = compare(core::slice::from_ref(&ours), &shipped());
    let reason =
        "another procedure: ours with binary, 8 in flight; without that it is the document's";
    assert_eq!(why(&got[0]), [reason]);
    // Between runs, variants only meet themselves.
    assert!(compare(core::slice::from_ref(&ours), &[cell("rtt_avg", "ms", 7.0, 0.1)]).is_empty());
    assert_eq!(one(&ours, &ours).verdict, Verdict::NoDifferenceShown);
}

#[test]
fn runs_meet_by_identity_and_repetitions_by_their_means() {
    let run = |values: &[f64]| -> Vec<Cell> {
        values.iter().map(|v| cell("rtt_avg", "ms", *v, 0.01)).collect()
    };
    // Within a repetition all is narrow; from one to the next it scatters by as much as the runs do.
    let (a, b) = (run(&[7.0, 8.0, 7.4, 7.7, 7.2]), run(&[7.9, 7.1, 7.6, 7.3, 7.5]));
    let got = compare(&a, &b);
    assert_eq!(got.len(), 1, "one pair of means");
    assert_eq!((got[0].verdict.clone(), got[0].ours.n), (Verdict::NoDifferenceShown, Some(5)));
    assert!(libm::fabs(got[0].ours.value.unwrap() - 7.46) < 1e-9);
    let far = compare(&run(&[9.0, 9.5, 9.2, 9.4, 9.3]), &b);
    assert_eq!(far[0].verdict, Verdict::Worse);
    assert!(far[0].notes.is_empty(), "{:?}", far[0].notes);
    // One against several: the first of each, and a note on what that leaves out.
    let single = compare(&a[..1], &b);
    assert_eq!((single.len(), single[0].other.value), (1, Some(7.9)));
    assert!(single[0].notes.iter().any(|n| n.starts_with("one repetition each")));
    // No loss in any repetition is as sure as each of them is, and not certain.
    let none = [loss(0, 1000), loss(0, 1000), loss(0, 1000)];
    let got = compare(&none, &none);
    assert_eq!(got[0].verdict, Verdict::NoDifferenceShown);
    assert_eq!(got[0].ours.ci_high, loss(0, 3000).ci_high, "as sure as all of them");
    assert!(got[0].difference_high.unwrap() > 0.1);
}

proptest! {
    /// Shares that differ by no more than chance are of all repetitions together: whatever was lost in which of them, one
    /// loss more is no better, and none is below one.
    #[test]
    fn losses_over_repetitions_are_pooled_and_monotone(
        mut lost in proptest::collection::vec(0_u64..2, 2..9),
        at in 0_usize..9,
        of in 100_u64..5000,
    ) {
        let pooled = |lost: &[u64]| {
            let cells: Vec<Cell> = lost.iter().map(|lost| loss(*lost, of)).collect();
            pool(&cells.iter().collect::<Vec<_>>()).unwrap()
        };
        let whole = loss(lost.iter().sum(), of * lost.len() as u64);
        let ends = |it: &Cell| [it.value, it.ci_low, it.ci_high].map(Option::unwrap);
        prop_assert_eq!(ends(&pooled(&lost)), ends(&whole));
        let at = at % lost.len();
        lost[at] = 0;
        let mut more = lost.clone();
        more[at] = 1;
        for (before, after) in ends(&pooled(&lost)).into_iter().zip(ends(&pooled(&more))) {
            prop_assert!(before < after || before == 0.0, "{before} {after}");
        }
    }
}

#[test]
fn extremes_over_repetitions_are_named_as_means() {
    let named = |it: &Cell| crate::table::over_repetitions("A", [it].into_iter()).into_owned();
    for (metric, name, of) in [
        ("a_max", "mean of A", "largest of"),
        ("a_min", "mean of A", "smallest of"),
        ("a", "A", ""),
    ] {
        let all = [2.0, 4.0].map(|it| cell(metric, "ms", it, 0.1));
        let mean = pool_all(&all).remove(0);
        assert_eq!((named(&all[0]), named(&mean)), ("A".into(), name.into()));
        assert!(mean.note.as_ref().is_some_and(|it| it.contains(of)), "{:?}", mean.note);
    }
}

/// Repetitions of which one alone lost a fifth tell less than as many losses in each.
#[test]
fn losses_that_scatter_from_one_repetition_to_the_next_are_less_sure() {
    let run = |lost: &[u64]| -> Cell {
        pool_all(&lost.iter().map(|it| loss(*it, 1000)).collect::<Vec<_>>()).remove(0)
    };
    let width = |it: &Cell| it.ci_high.unwrap() - it.ci_low.unwrap();
    let (even, one) = (run(&[40; 5]), run(&[0, 0, 0, 0, 200]));
    assert_eq!((even.value, one.value), (Some(4.0), Some(4.0)));
    assert_eq!(even.ci_high, loss(200, 5000).ci_high);
    assert!(width(&one) > 10.0 * width(&even), "{} and {}", width(&one), width(&even));
    assert_eq!(run(&[3, 8]).ci_high, loss(11, 2000).ci_high, "by chance");
    // Pings of a device are alike: each repetition's interval is wider than that of as many independent ones.
    let grouped = Cell { ci_low: Some(3.4), ci_high: Some(10.5), ..loss(12, 200) };
    let pooled = pool(&[&grouped, &grouped, &grouped, &grouped]).unwrap();
    let plain = loss(48, 800);
    let ratio = width(&pooled) / width(&plain);
    let own = width(&grouped) / width(&loss(12, 200));
    assert!((ratio / own - 1.0).abs() < 0.1, "{ratio} and {own}");
}

#[test]
fn none_of_a_thousand_lost_is_below_one_of_a_thousand() {
    let run = |lost: [u64; 5]| -> Vec<Cell> { lost.iter().map(|it| loss(*it, 200)).collect() };
    let (none, one) = (pool_all(&run([0; 5])), pool_all(&run([0, 0, 1, 0, 0])));
    assert!(none[0].value < one[0].value && none[0].ci_high < one[0].ci_high);
    assert!((none[0].ci_high.unwrap() - 0.382_7).abs() < 1e-3, "{none:?}");
    assert_eq!(none[0].note.as_deref(), Some("of 5 repetitions together"));
}

#[test]
fn unstated_places_count_against_documents_only() {
    let mut ours = cell("rtt_avg", "ms", 7.0, 0.1);
    ours.id.environment = None;
    assert_eq!(one(&ours, &ours).verdict, Verdict::NoDifferenceShown);
    let got = compare(&[ours], &shipped());
    assert_eq!(why(&got[0]), ["the environment of ours is not stated"]);
    // The first screen and a comparison ask for the same flags, in the same words.
    let flags = "say which device and place yours are, such as --environment home";
    assert_eq!(super::why(&got[0]), [flags]);
    assert_eq!((briefly(&got[0]), remedy(&got)), (flags.into(), Some(flags.into())));
    assert_eq!(crate::table::compared::excluded(&got[..1]), [(1, flags.to_string())]);
}

/// A seed draws the shadowing: of one repetition each, the intervals are of two places, and a difference is theirs.
#[test]
fn single_simulated_runs_of_different_seeds_are_not_judged() {
    let run = |seed: u64, repetitions: Option<u32>, value: f64| {
        let mut cell = Cell { origin: Origin::Simulated, ..cell("rtt_avg", "ms", value, 0.1) };
        (cell.test.seed, cell.test.repetitions) = (Some(seed), repetitions);
        cell
    };
    let verdict = |a: &Cell, b: &Cell| one(a, b).verdict.kind();
    for (ours, other) in [(Some(1), Some(1)), (Some(1), Some(5)), (Some(5), Some(1))] {
        let got = one(&run(1, ours, 9.0), &run(2, other, 7.0));
        assert_eq!(got.verdict.kind(), VerdictKind::NotComparable, "{got:?}");
        assert!(is_another(&got, ReasonKind::Places), "{got:?}");
        let told = briefly(&got);
        assert!(told.contains("`--seed N`") && told.contains("`repetitions = N`"), "{told}");
        assert!(told.ends_with(&remedy(&[got]).unwrap()), "{told}");
    }
    let single = run(1, Some(1), 9.0);
    assert_eq!(verdict(&single, &run(1, Some(1), 7.0)), VerdictKind::Worse, "one seed");
    assert_eq!(verdict(&run(1, Some(5), 9.0), &run(2, Some(5), 7.0)), VerdictKind::Worse);
    // A prediction holds the difference of rooms, and says no repetitions.
    assert_eq!(verdict(&run(1, None, 9.0), &run(2, None, 7.0)), VerdictKind::Worse);
    let measured = Cell { origin: Origin::Measured, ..run(2, Some(1), 7.0) };
    assert_eq!(
        verdict(&Cell { origin: Origin::Measured, ..single.clone() }, &measured),
        VerdictKind::Worse
    );
    // Repetitions that stand one by one are pooled first.
    let several = |seed, value: f64| [0.0, 0.1, 0.2].map(|it| run(seed, Some(1), value + it));
    let got = compare(&several(1, 9.0), &several(2, 7.0));
    assert_eq!((got.len(), got[0].verdict.kind()), (1, VerdictKind::Worse));
    // A gate lets no regression pass for another seed: what was kept of a run is held by its interval.
    let kept = to_keep(&[run(2, Some(1), 7.0)], &[]);
    let rows = baseline(&[single], &kept, &[], &Tolerance::of_part(0.1));
    assert_eq!(rows[0].verdict, BaselineVerdict::Worse);
}

/// A console's whole milliseconds are compared with published ones, which were printed so, and not between two runs of
/// the lab, which have the exact figures.
#[test]
fn cut_figures_of_two_simulated_runs_are_left_to_the_exact_ones() {
    let run = |metrics: &[&str], origin| -> Vec<Cell> {
        let of = |metric: &&str| {
            let mut cell = Cell { origin, ..cell(metric, "ms", 7.0, 0.1) };
            (cell.id.table, cell.id.transport) = ("round-trip".into(), "esp-now".into());
            cell.test.kind = Some("esp-now".into());
            cell
        };
        metrics.iter().map(of).collect()
    };
    let metrics = |ours: &[Cell], other: &[Cell]| -> Vec<String> {
        compare(ours, other).into_iter().map(|it| it.ours.id.metric).collect()
    };
    let both = run(&["rtt_avg", "rtt_exact_avg"], Origin::Simulated);
    assert_eq!(metrics(&both, &both), ["rtt_exact_avg"]);
    assert_eq!(metrics(&both, &run(&["rtt_avg"], Origin::Published)), ["rtt_avg"]);
    // A board prints no other, and the lab's are held against it.
    let board = run(&["rtt_avg", "rtt_exact_avg"], Origin::Measured);
    assert_eq!(metrics(&both, &board), ["rtt_avg", "rtt_exact_avg"]);
    // What was asked for alone is compared.
    assert_eq!(metrics(&both[..1], &both), ["rtt_avg"]);
}

/// Results that differ by their columns alone have names that tell them apart.
#[test]
fn names_of_compared_results_tell_them_apart() {
    use crate::table::compared::{Apart, texts};
    let at = |devices, metres| {
        let mut cell = cell("rtt_avg", "ms", 7.0, 0.1);
        (cell.id.devices, cell.id.distance_m) = (Some(devices), Some(metres));
        cell
    };
    let all = [at(1, 5.0), at(1, 20.0), at(10, 5.0)];
    let pairs = compare(&all, &all);
    let names: Vec<String> =
        pairs.iter().filter_map(|it| texts(it, Apart::of(&pairs))[0].clone()).collect();
    assert_eq!(names[0], "udp-echo rtt_avg, 100 B, 1 device, 5 m");
    assert_eq!(names.iter().collect::<alloc::collections::BTreeSet<_>>().len(), 3, "{names:?}");
    let alone = texts(&pairs[0], Apart::of(&pairs[..1]));
    assert_eq!(alone[0].as_deref(), Some("udp-echo rtt_avg, 100 B"));
}

#[test]
fn simulated_is_compared_and_said() {
    let measured = cell("rtt_avg", "ms", 7.0, 0.1);
    let simulated = Cell { origin: Origin::Simulated, ..measured.clone() };
    let got = one(&simulated, &measured);
    assert_eq!(got.verdict, Verdict::NoDifferenceShown);
    assert_eq!(got.notes[0], "simulated against measured");
    let against_itself = one(&simulated, &simulated);
    assert!(!against_itself.notes.iter().any(|n| n.contains("simulated")));
}

#[test]
fn too_few_observations_show_nothing() {
    // A median of five has no interval: it must not count as known.
    let few = Cell { ci_low: None, ci_high: None, ..cell("rtt_p50", "ms", 20.0, 0.0) };
    let got = one(&few, &cell("rtt_p50", "ms", 10.0, 0.1));
    assert_eq!(got.verdict, Verdict::NoDifferenceShown);
    assert_eq!((got.ratio, got.ratio_low, got.ratio_high), (Some(2.0), None, None));
    let half = Cell { ci_high: None, ..cell("rtt_p99", "ms", 20.0, 1.0) };
    let got = one(&half, &cell("rtt_p99", "ms", 10.0, 0.1));
    assert_eq!((got.verdict, got.ratio_high), (Verdict::Worse, None), "one end is enough");
}

#[test]
fn json_reads_back() {
    let got = one(&loss(3, 1000), &loss(0, 1000));
    let text = serde_json::to_string(&got).unwrap();
    assert!(text.contains("\"verdict\":\"no-difference-shown\""), "{text}");
    assert_eq!(serde_json::from_str::<Comparison>(&text).unwrap(), got);
}

fn any_cell() -> impl Strategy<Value = Cell> {
    let metrics = ["rtt_avg", "rtt_p50", "loss", "effective_rate", "probes_late", "strange"];
    let units = ["ms", "us", "percent", "bit/s", "probes", ""];
    let number = || prop::option::of(prop_oneof![any::<f64>(), 0.0..100.0f64]);
    (
        prop::sample::select(metrics.to_vec()),
        prop::sample::select(units.to_vec()),
        (number(), number(), number()),
        prop::sample::select(vec![Origin::Measured, Origin::Simulated, Origin::Published]),
        any::<bool>(),
    )
        .prop_map(|(metric, unit, (value, ci_low, ci_high), origin, elsewhere)| {
            let mut cell = cell(metric, unit, 1.0, 0.0);
            if elsewhere {
                cell.id.environment = None;
            }
            Cell { value, ci_low, ci_high, origin, ..cell }
        })
}

proptest! {
    #[test]
    fn nothing_is_better_or_worse_than_itself(cells in prop::collection::vec(any_cell(), 0..8)) {
        for comparison in compare(&cells, &cells) {
            if comparison.ours == comparison.other {
                let verdict = &comparison.verdict;
                prop_assert!(!matches!(verdict, Verdict::Better | Verdict::Worse), "{comparison:?}");
            }
            let _ = gate(&[comparison], &Tolerance::of_part(0.1));
        }
    }

    #[test]
    fn turning_a_comparison_over_turns_its_verdict(
        (a, ha) in (1.0..100.0f64, 0.0..1.0f64),
        (b, hb) in (1.0..100.0f64, 0.0..1.0f64),
    ) {
        let (a, b) = (cell("rtt_avg", "ms", a, ha * a), cell("rtt_avg", "ms", b, hb * b));
        let (there, back) = (one(&a, &b), one(&b, &a));
        prop_assert!((there.ratio.unwrap() * back.ratio.unwrap() - 1.0).abs() < 1e-9);
        let turned = match there.verdict {
            Verdict::Better => Verdict::Worse,
            Verdict::Worse => Verdict::Better,
            other => other,
        };
        prop_assert_eq!(turned, back.verdict);
    }
}

#[test]
fn a_cell_of_another_place_stands_beside_the_same_mode_number_of_devices_and_distance() {
    let cell = |environment: Option<&str>, mode: &str, devices, distance_m, value| {
        let mut cell = cell("rtt_avg", "ms", value, 0.1);
        (cell.id.mode, cell.id.environment) = (mode.into(), environment.map(Into::into));
        (cell.id.devices, cell.id.distance_m) = (Some(devices), Some(distance_m));
        cell
    };
    let office =
        |mode, devices, distance, value| cell(Some("office"), mode, devices, distance, value);
    let others = [
        office("unicast", 1, 3.0, 1.0),
        office("broadcast", 2, 3.0, 2.0),
        office("broadcast", 1, 10.0, 3.0),
        office("broadcast", 1, 3.0, 4.0),
    ];
    for (ours, wanted) in [
        (cell(None, "broadcast", 1, 3.0, 9.0), 4.0),
        (cell(None, "broadcast", 2, 50.0, 9.0), 2.0),
        (cell(None, "unicast", 1, 3.0, 9.0), 1.0),
        (cell(None, "broadcast 3", 7, 10.0, 9.0), 3.0),
    ] {
        let pairs = compare(&[ours], &others);
        let values: Vec<_> = pairs.iter().map(|it| it.other.value).collect();
        assert_eq!(values, [Some(wanted)]);
    }
}

/// A document gives many devices a range of distances: one outside of it is another distance.
#[test]
fn a_distance_is_held_against_a_range_of_distances() {
    let ours = |distance| {
        let mut ours = cell("rtt_avg", "ms", 1.0, 0.1);
        ours.id.distance_m = distance;
        ours
    };
    let mut other = ours(None);
    other.test.distances_m = Some((0.5, 1.0));
    for (metres, same) in [(45.0, false), (0.2, false), (0.5, true), (0.7, true), (1.0, true)] {
        let pairs = compare(&[ours(Some(metres))], core::slice::from_ref(&other));
        let another = reasons(&pairs[0]).iter().any(|it| it.kind == ReasonKind::Distance);
        assert_eq!(another, !same, "{metres} m");
    }
    let mut range = ours(None);
    range.test.distances_m = Some((0.5, 40.0));
    let text = why(&compare(&[range], &[other])[0]).remove(0);
    assert_eq!(text, "another distance: 0.5-40 m against 0.5-1 m");
}

/// Losses of repetitions are pooled: more of them lost never has a lower end, and repetitions that differ by more than chance
/// widen the interval, but say something even where there are two.
#[test]
fn losses_of_repetitions_are_pooled() {
    let of = |parts: &[(u64, u64)]| {
        let cells: Vec<Cell> = parts.iter().map(|it| loss(it.0, it.1)).collect();
        join::pool(&cells.iter().collect::<Vec<_>>()).unwrap()
    };
    let ends = |it: &Cell| (it.ci_low.unwrap(), it.ci_high.unwrap());
    let apart = of(&[(0, 12_288), (15, 12_288)]);
    assert!((apart.value.unwrap() - 100.0 * 15.0 / 24_576.0).abs() < 1e-9);
    let alike = of(&[(7, 12_288), (8, 12_288)]);
    let ((low, high), (near, far)) = (ends(&alike), ends(&apart));
    assert!(near < low && high < far && far < 0.5, "{low} {high}, {near} {far}");
    let mut before = (0.0, 0.0);
    for lost in 0..40 {
        let (low, high) = ends(&of(&[(lost, 1000), (0, 1000)]));
        assert!(low >= before.0 && high >= before.1, "{lost}: {low} {high}");
        before = (low, high);
    }
}
