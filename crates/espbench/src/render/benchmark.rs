//! Custom JSON of github-action-benchmark: a list of figures for its tool `customSmallerIsBetter` or
//! `customBiggerIsBetter`. A file is for one of the two, so figures of each direction have a file of their own.

use espbench_measure::cell::Cell;
use espbench_measure::label;
use espbench_measure::metric::{self, Better};
use espbench_measure::report::Report;
use serde_json::{Map, Value, json};

/// Renders the figures of which lower, or higher, values are better; those of neither direction are in no list.
/// Repetitions of a test are one figure, their mean.
#[must_use]
pub fn render(report: &Report, better: Better) -> String {
    let cells = report.figures_of_tests();
    let own = cells.iter().filter(|it| metric::better(&it.id.metric, &it.unit) == better);
    let figures: Vec<Value> = own.filter_map(|it| figure(it, report)).collect();
    super::json::escaped(format!("{:#}\n", Value::Array(figures)))
}

fn figure(cell: &Cell, report: &Report) -> Option<Value> {
    let value = cell.value.filter(|it| it.is_finite())?;
    let mut figure = Map::from_iter([
        ("name".to_owned(), json!(format!("{}: {}", label::test(cell), cell.id.metric))),
        ("unit".to_owned(), json!(cell.unit)),
        ("value".to_owned(), json!(value)),
    ]);
    if let Some((low, high)) = cell.ci_low.zip(cell.ci_high) {
        figure.insert("range".into(), json!(format!("{low} to {high}")));
    }
    let n = cell.n.map(|n| format!(", n = {n}")).unwrap_or_default();
    let run = &report.run;
    let extra = format!("{}{n}, seed {}, {}", cell.origin.name(), run.seed, run.tool);
    figure.insert("extra".into(), json!(extra));
    Some(Value::Object(figure))
}
