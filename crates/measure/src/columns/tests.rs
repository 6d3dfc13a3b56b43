use super::*;
use crate::cell::{Estimate, Identity};
use crate::settings::Setting;
use alloc::collections::BTreeSet;
use espbench_dot11::radio::WifiMode;
use espbench_model::workload::Name;
use proptest::prelude::*;
use std::string::ToString;

fn all() -> impl Iterator<Item = ResultColumn> {
    ResultColumn::usual().chain(ResultColumn::further())
}

fn cell() -> Cell {
    Estimate { value: Some(1.5), n: 7, low: Some(0.5), high: None }.into_cell(
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
    let usual: Vec<&str> = ResultColumn::usual().map(ResultColumn::name).collect();
    assert_eq!(names(&[cell()]), usual);
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

proptest! {
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
