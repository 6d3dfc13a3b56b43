//! The Bencher Metric Format: JSON of Bencher's adapter `json`, by benchmark and measure, with intervals.

use espbench_measure::cell::Cell;
use espbench_measure::label;
use espbench_measure::report::Report;
use serde_json::{Map, Value, json};

/// Renders the figures: repetitions of a test are one figure, their mean. What has no value is left out, as the
/// format has none for the unknown.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut benchmarks = Map::new();
    for cell in report.figures_of_tests() {
        let Some(figure) = figure(&cell) else { continue };
        let measures = benchmarks.entry(label::test(&cell)).or_insert_with(|| json!({}));
        if let Some(measures) = measures.as_object_mut() {
            measures.insert(measure(&cell), figure);
        }
    }
    super::json::escaped(format!("{:#}\n", Value::Object(benchmarks)))
}

fn figure(cell: &Cell) -> Option<Value> {
    let finite = |it: Option<f64>| it.filter(|it| it.is_finite());
    let mut figure = Map::from_iter([("value".to_owned(), json!(finite(cell.value)?))]);
    for (name, end) in [("lower_value", cell.ci_low), ("upper_value", cell.ci_high)] {
        if let Some(end) = finite(end) {
            figure.insert(name.into(), json!(end));
        }
    }
    Some(Value::Object(figure))
}

/// Returns the slug of a measure: Bencher keeps a unit with each measure and not with a value, so the unit is part of
/// the name.
fn measure(cell: &Cell) -> String {
    let mut slug = String::new();
    for c in format!("{} {}", cell.id.metric, cell.unit).chars() {
        match c {
            c if c.is_ascii_alphanumeric() => slug.push(c.to_ascii_lowercase()),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_end_matches('-').to_owned()
}
