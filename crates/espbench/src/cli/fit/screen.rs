//! The answer as text and as JSON.

use crate::cli::output;
use espbench_engine::fit::{FitAnswer, FittedCell, FittedConstant};
use espbench_measure::cell::Origin;
use espbench_measure::digits;
use espbench_measure::table::{Column, Table};
use serde::Serialize;
use std::path::PathBuf;

/// Returns the answer in a few lines; with each cell where `full`.
pub(super) fn text(
    answer: &FitAnswer,
    run: &str,
    seeds: u32,
    written: &[PathBuf],
    full: bool,
) -> String {
    let (before, after) = answer.errors();
    let cells = answer.cells.len();
    let mut out =
        format!("{run} in the lab {}: {cells} cells; {seeds} seeds a trial\n\n", answer.lab);
    if answer.constants.is_empty() {
        out += &format!(
            "No constant explains what is left: the cells are {} off in the mean, by chance as far as can be \
             told. {} constants were looked at; --constant names one to be fitted all the same.\n",
            percent(before),
            answer.candidates.len()
        );
    } else {
        out += &output::table(&constants(answer));
        out += &format!(
            "\nmean error of the cells: {} before, {} after ({} trials)\n",
            percent(before),
            percent(after),
            answer.evaluations
        );
        let off =
            |it: &&FittedCell| it.measured.value.map_or(0.0, |ours| (it.after / ours).ln().abs());
        if let Some(worst) = answer.cells.iter().max_by(|a, b| off(a).total_cmp(&off(b))) {
            out += &format!("worst after it: {} {}\n", cell(worst), percent(off(&worst)));
        }
        out += "The lab now agrees with this run by fitting: hold it against another run.\n";
    }
    if full {
        out += &format!("\n{}", output::table(&all(answer)));
    }
    if let [lab, ..] = written {
        let names: Vec<String> = written.iter().map(|it| it.display().to_string()).collect();
        out += &format!("\nwrote {}\n", names.join(", "));
        out += &format!("use it: espbench run PLAN --on sim:{}\n", lab.display());
    }
    out
}

fn percent(ln: f64) -> String {
    format!("{:.1} %", (ln.exp() - 1.0) * 100.0)
}

fn cell(it: &FittedCell) -> String {
    let id = &it.measured.id;
    let size = id.payload_bytes.map(|bytes| format!(" of {bytes} bytes")).unwrap_or_default();
    format!("{}{size}", id.metric)
}

fn number(value: f64) -> String {
    digits::three(value)
}

fn constants(answer: &FitAnswer) -> Table {
    let row = |it: &FittedConstant| {
        let (low, high) = (it.value.low, it.value.high);
        vec![
            Some(format!("{}/{}", it.constant.file, it.constant.key)),
            Some(number(it.constant.value)),
            it.value.value.map(|value| digits::worth(value, low, high)),
            digits::interval(low, high),
            Some(it.constant.about.clone()),
        ]
    };
    Table {
        columns: vec![
            Column::words("constant"),
            Column::setting("was", ""),
            Column::result("fits", "", Origin::Simulated),
            Column::words("95 % interval"),
            Column::words("meaning"),
        ],
        rows: answer.constants.iter().map(row).collect(),
        ..Table::default()
    }
}

fn all(answer: &FitAnswer) -> Table {
    let row = |it: &FittedCell| {
        vec![
            Some(cell(it)),
            it.measured.value.map(number),
            Some(number(it.before)),
            Some(number(it.after)),
            Some(it.measured.unit.clone()),
        ]
    };
    Table {
        columns: vec![
            Column::words("cell"),
            Column::setting("measured", ""),
            Column::result("lab before", "", Origin::Simulated),
            Column::result("lab after", "", Origin::Simulated),
            Column::words("unit"),
        ],
        rows: answer.cells.iter().map(row).collect(),
        ..Table::default()
    }
}

/// The answer as data.
#[derive(Serialize)]
struct AnswerData<'a> {
    run: &'a str,
    lab: &'a str,
    seeds: u32,
    trials: usize,
    constants: Vec<ConstantData<'a>>,
    looked_at: Vec<&'a str>,
    cells: Vec<CellData<'a>>,
}

/// A constant that was fitted.
#[derive(Serialize)]
struct ConstantData<'a> {
    kind: &'static str,
    file: &'a str,
    key: &'a str,
    was: f64,
    value: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
}

/// A measured cell beside the lab's.
#[derive(Serialize)]
struct CellData<'a> {
    test: Option<u32>,
    metric: &'a str,
    payload_bytes: Option<u32>,
    unit: &'a str,
    measured: Option<f64>,
    before: f64,
    after: f64,
}

/// Returns the answer as JSON.
///
/// # Errors
/// An answer that cannot be written as JSON, which does not happen.
pub(super) fn json(answer: &FitAnswer, run: &str, seeds: u32) -> anyhow::Result<String> {
    let constants = answer.constants.iter().map(|it| ConstantData {
        kind: it.constant.kind.word(),
        file: &it.constant.file,
        key: &it.constant.key,
        was: it.constant.value,
        value: it.value.value,
        ci_low: it.value.low,
        ci_high: it.value.high,
    });
    let cells = answer.cells.iter().map(|it| CellData {
        test: it.measured.test.number,
        metric: &it.measured.id.metric,
        payload_bytes: it.measured.id.payload_bytes,
        unit: &it.measured.unit,
        measured: it.measured.value,
        before: it.before,
        after: it.after,
    });
    let data = AnswerData {
        run,
        lab: &answer.lab,
        seeds,
        trials: answer.evaluations,
        constants: constants.collect(),
        looked_at: answer.candidates.iter().map(|it| it.key.as_str()).collect(),
        cells: cells.collect(),
    };
    Ok(crate::render::json::pretty(&data)?)
}
