use super::*;
use crate::cell::Identity;
use crate::compare::VerdictKind;
use crate::plan::PlanSet;
use crate::report::report;
use crate::run::{Recorded, RunFacts};
use crate::settings::Setting;
use alloc::collections::{BTreeMap, BTreeSet};
use espbench_dot11::radio::WifiMode;
use espbench_model::sample::{Cause, Fate, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::Name;
use espbench_stats::Estimate;
use proptest::prelude::*;
use std::string::ToString;

fn all() -> impl Iterator<Item = ResultColumn> {
    ResultColumn::usual().chain(ResultColumn::further())
}

fn cell() -> Cell {
    Cell::of(
        Estimate { value: Some(1.5), n: 7, low: Some(0.5), high: None },
        Identity { metric: "rtt_avg".into(), ..Identity::default() },
        "ms",
        Origin::Simulated,
    )
}

#[test]
fn a_column_has_one_name_and_one_sentence() {
    let names: BTreeSet<&str> = all().map(ResultColumn::name).collect();
    assert_eq!(names.len(), all().count(), "names");
    for column in all() {
        let (name, doc) = (column.name(), column.doc());
        assert!(!doc.is_empty() && !doc.contains(['|', '\n']), "{name}: {doc:?}");
        assert!(ResultColumn::find(name).is_some_and(|it| it.name() == name));
    }
    for name in REQUIRED {
        assert!(ResultColumn::usual().any(|it| it.name() == name), "{name}");
    }
    assert!(ResultColumn::find("note").is_none());
}

#[test]
fn columns_of_settings_are_those_that_a_row_has() {
    let mut tuned = cell();
    tuned.settings.set(Setting::Nagle(false));
    tuned.settings.set(Setting::Interval(core::time::Duration::from_millis(100)));
    let names = |cells: &[Cell]| -> Vec<&str> {
        ResultColumn::of(cells).into_iter().map(ResultColumn::name).collect()
    };
    let usual = ResultColumn::usual().filter(|it| !it.is_occasional());
    let usual: Vec<&str> = usual.map(ResultColumn::name).collect();
    assert_eq!(names(&[cell()]), usual);
    let mut beside = cell();
    beside.test.lab = Some(LabFigure { value: Some(2.0), ..LabFigure::default() });
    let has = |name: &str| names(&[cell(), beside.clone()]).contains(&name);
    assert!(has("lab") && !has("lab_ratio") && !has("fitted_run"));
    assert_eq!(names(&[cell(), tuned.clone()]), [&usual[..], &["nagle"]].concat());
    let interval = ResultColumn::find("interval_s").unwrap();
    assert_eq!(interval.value(&tuned), Some(ColumnValue::Number(0.1)));
}

#[test]
fn facts_that_follow_from_others_are_told() {
    let value = |cell: &Cell, name: &str| ResultColumn::find(name).unwrap().value(cell);
    let mut cell = cell();
    cell.limit = Some(0.5);
    cell.test.phy_rate = Some(WifiMode::ESP_NOW);
    cell.source = Some("echo-1".into());
    assert_eq!(value(&cell, "times_limit"), Some(ColumnValue::Number(3.0)));
    // A limit of a rate is the most that it can be, also where neither direction is better.
    let mut sent = cell.clone();
    (sent.id.metric, sent.unit) = ("throughput_sent".into(), "Mbit/s".into());
    (sent.value, sent.limit) = (Some(20.0), Some(80.0));
    assert_eq!(value(&sent, "times_limit"), Some(ColumnValue::Number(4.0)));
    assert_eq!(value(&cell, "phy_rate"), Some(ColumnValue::Text("1M".into())));
    assert_eq!(value(&cell, "phy_rate_bit_per_s"), Some(ColumnValue::Count(1_000_000)));
    assert_eq!(value(&cell, "ci_level"), Some(ColumnValue::Number(0.95)));
    assert_eq!(value(&cell, "run"), Some(ColumnValue::Text("echo-1".into())));
    assert_eq!(value(&cell, "source"), None);
    cell.origin = Origin::Published;
    assert_eq!((value(&cell, "run"), value(&cell, "verdict")), (None, None));
    (cell.ci_low, cell.ci_high) = (None, None);
    assert_eq!(value(&cell, "ci_level"), None);
}

#[test]
fn fields_of_json_that_are_not_known_or_of_another_type_are_refused() {
    let error = |json: &str| serde_json::from_str::<Cell>(json).unwrap_err().to_string();
    assert!(error("{\"metrik\": \"x\"}").starts_with("no field `metrik` of a cell"));
    assert!(error("{\"n\": 1.5}").starts_with("the field `n` cannot be 1.5"));
    assert!(
        error("{\"origin\": \"guessed\"}").starts_with("the field `origin` cannot be `guessed`")
    );
    assert!(error("{\"phy_rate\": \"fast\"}").starts_with("the field `phy_rate` cannot be `fast`"));
    assert!(error("{\"nagle\": 1}").starts_with("the field `nagle` cannot be 1"));
}

/// Makes a test of UDP echo in which each probe had that fate and took so many nanoseconds.
fn echoed(probes: &[(Fate, u64)]) -> Recorded {
    let sample = |(&(fate, took), seq): (&(Fate, u64), u64)| {
        let sent = Instant::from_nanos(seq * 100_000_000);
        let received = Instant::from_nanos(sent.as_nanos() + took);
        let received = (!matches!(fate, Fate::Lost(_))).then_some(received);
        let probe = Probe { seq, bytes: 20, due: sent, sent: Some(sent), ..Probe::default() };
        Sample::Probe(Probe { received, fate, ..probe })
    };
    let plan = "name = \"x\"\n[[measure]]\nkind = \"udp-echo\"\nsize = 20\n";
    let plan = PlanSet::parse(plan).unwrap();
    Recorded {
        ordinal: 0,
        repetition: 0,
        workload: plan.steps()[0].workload,
        samples: probes.iter().zip(0..).map(sample).collect(),
        counters: BTreeMap::new(),
        facts: BTreeMap::new(),
        error: None,
    }
}

/// Returns a number in the row of a sample.
fn number(sample: &Sample, name: &str) -> Option<f64> {
    let column = SampleTable::Probes.columns().iter().find(|it| it.name == name).expect(name);
    column.value(sample).and_then(|it| f64::from_value(&it))
}

proptest! {
    #[test]
    fn figures_follow_from_the_samples(
        probes in proptest::collection::vec((0..6_u8, 1_000..900_000_000_u64), 1..120),
    ) {
        let fate = |number: u8| match number {
            0 => Fate::Lost(Cause::Unknown),
            1 => Fate::Late,
            2 => Fate::Corrupt,
            _ => Fate::Delivered,
        };
        let probes: Vec<(Fate, u64)> = probes.into_iter().map(|(n, t)| (fate(n), t)).collect();
        let recorded = echoed(&probes);
        let made = report(&RunFacts::default(), None, core::slice::from_ref(&recorded), 1, &[]);
        // Only what the rows of the table say.
        let told = |it: &Sample, word: &str| {
            let fate = SampleTable::Probes.columns().iter().find(|it| it.name == "fate").unwrap();
            fate.value(it) == Some(ColumnValue::Text(word.into()))
        };
        let count = |word| recorded.samples.iter().filter(|it| told(it, word)).count() as f64;
        let delivered = recorded.samples.iter().filter(|it| told(it, "delivered"));
        let mut times: Vec<f64> =
            delivered.map(|it| 1e3 * number(it, "round_trip_s").unwrap()).collect();
        times.sort_by(f64::total_cmp);
        let cell = |metric: &str| made.cells.iter().find(|it| it.id.metric == metric).unwrap();
        let near = |a: Option<f64>, b: f64| a.is_some_and(|a| (a - b).abs() < 1e-9 * (1.0 + b));
        let n = times.len();
        for (metric, q) in [("rtt_p50", 0.5), ("rtt_p90", 0.9), ("rtt_p99", 0.99)] {
            let rank = libm::ceil(q * n as f64 * (1.0 - 1e-15)) as usize;
            let value = cell(metric).value;
            prop_assert!(n == 0 && value.is_none() || near(value, times[rank.max(1) - 1]));
            prop_assert_eq!(cell(metric).n, Some(n as u64));
        }
        if n > 0 {
            prop_assert!(near(cell("rtt_avg").value, times.iter().sum::<f64>() / n as f64));
        }
        // What comes back changed is lost (RFC 7680, section 2.5).
        let lost = count("lost") + count("corrupt");
        let all = recorded.samples.len() as f64;
        prop_assert!(near(cell("loss").value, 100.0 * lost / all));
        let facts = &cell("loss").test;
        prop_assert_eq!((facts.probes, facts.lost), (Some(all as u64), Some(lost as u64)));
    }

    #[test]
    fn a_cell_reads_back_from_json(
        value in proptest::option::of(-1e9..1e9_f64),
        seed in any::<u64>(),
        words in "\\PC{0,12}",
        verdict in proptest::option::of(proptest::sample::select(&VerdictKind::ALL[..])),
        mode in proptest::option::of(proptest::sample::select(&WifiMode::ALL[..])),
        variant in proptest::option::of("[!-+--~]{1,20}"),
    ) {
        let mut ours = cell();
        (ours.value, ours.limit) = (value, value);
        ours.id.chip = words.clone();
        ours.source = Some(words).filter(|it| !it.is_empty());
        ours.note = ours.source.clone();
        ours.test.seed = Some(seed);
        ours.test.phy_rate = mode;
        let figure = PublishedFigure { value, ratio: value, verdict };
        ours.test.published = Some(figure).filter(|it| *it != PublishedFigure::default());
        let variant = variant.and_then(|it| Name::new(&it));
        ours.settings.extend(variant.map(Setting::LabVariant));
        let json = serde_json::to_string(&ours).unwrap();
        let back: Cell = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(back, ours);
    }
}
