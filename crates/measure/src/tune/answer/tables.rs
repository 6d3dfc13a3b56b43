//! The tables of an answer.

use super::super::SECTION;
use super::super::space::Candidate;
use super::super::words::{bytes, number};
use super::fragment::lines;
use super::{TestedCandidate, TuneAnswer, memories};
use crate::cell::Origin;
use crate::settings::Setting;
use crate::table::{Column, Table, TableRow};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::sdkconfig::ConfigOption;

pub(super) fn of(answer: &TuneAnswer) -> Vec<Table> {
    let mut tables = alloc::vec![in_short(answer)];
    tables.extend(answer.card().tables());
    tables.push(front(answer));
    tables.extend(why(answer));
    tables
}

fn table(id: &str, section: &str, title: &str, columns: Vec<Column>, rows: Vec<TableRow>) -> Table {
    let (id, section, title) = (id.into(), section.into(), title.into());
    let origin = Some(Origin::Simulated);
    Table { id, section, title, columns, rows, origin, ..Table::default() }
}

fn in_short(answer: &TuneAnswer) -> Table {
    let rows = answer.sentences().into_iter().map(|it| alloc::vec![Some(it)]).collect();
    table("tune-answer", "overview", "The answer", alloc::vec![Column::words("answer")], rows)
}

/// Returns the row of a candidate: its settings and its outcome.
fn row(answer: &TuneAnswer, tested: &TestedCandidate) -> TableRow {
    let it = &tested.candidate.config;
    let mut row =
        alloc::vec![Some((if tested.missing <= 0.0 { "all" } else { "not all" }).to_string()),];
    for metric in &answer.objectives {
        row.push(tested.mean.value(*metric).map(number));
    }
    let iram = match (it.wifi_iram, it.lwip_iram) {
        (true, true) => "Wi-Fi, lwIP",
        (true, false) => "Wi-Fi",
        (false, true) => "lwIP",
        (false, false) => "none",
    };
    row.extend([
        Some(format!("{}/{}", it.static_rx, it.dynamic_rx)),
        Some(it.tx.to_string()),
        Some(format!("{}/{}", it.rx_ba_window, it.tx_ba_window)),
        Some(bytes(it.tcp_window)),
        Some(bytes(it.tcp_send_buffer)),
        Some(it.udp_mailbox.to_string()),
        Some(iram.to_string()),
        Some(memory(&tested.candidate, &answer.base)),
        Some(tested.candidate.clock_mhz.to_string()),
        Some(tested.candidate.power.to_string()),
        Some(tested.outcomes.len().to_string()),
    ]);
    row
}

/// Says how a candidate's memories and compiler differ from the firmware's.
fn memory(candidate: &Candidate, base: &Candidate) -> String {
    let words = memories(candidate, base).into_iter().filter_map(|it| match it {
        Setting::Sdkconfig(ConfigOption::LwipExtraIram, on) => {
            Some(if on == 0 { "TCP in flash" } else { "TCP in RAM" }.to_string())
        }
        Setting::Sdkconfig(ConfigOption::PsramWifi, on) => {
            Some(if on == 0 { "no PSRAM" } else { "PSRAM" }.to_string())
        }
        Setting::Sdkconfig(ConfigOption::Psram, _) => None,
        Setting::Sdkconfig(key, value) => Some(key.text(value).to_string()),
        _ => None,
    });
    match words.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "as it is".into(),
        words => words,
    }
}

fn front(answer: &TuneAnswer) -> Table {
    let mut columns = alloc::vec![Column::words("keeps")];
    for metric in &answer.objectives {
        columns.push(Column::result(metric.words(), metric.unit(), Origin::Simulated));
    }
    columns.extend([
        Column::setting("RX buffers static/dynamic", ""),
        Column::setting("TX buffers", ""),
        Column::setting("BA window RX/TX", ""),
        Column::setting("window", ""),
        Column::setting("send buffer", ""),
        Column::setting("UDP mailbox", ""),
        Column::words("code in RAM"),
        Column::words("memory"),
        Column::setting("clock", "MHz"),
        Column::words("sleep"),
        Column::setting("seeds", ""),
    ]);
    let rows = answer.front().into_iter().map(|it| row(answer, it)).collect();
    let mut table = table("tune-front", SECTION, "The Pareto front", columns, rows);
    table.notes.push(
        "No setting that was tried beats these on every goal. Those that are nearest to what is wanted \
         come first. Free heap is the least during the tests."
            .into(),
    );
    table.notes.extend(answer.notes.iter().cloned());
    table.notes.push(super::OF_MEMORIES.into());
    table
}

/// Returns the table of the lines for the file, each with its effect.
fn why(answer: &TuneAnswer) -> Option<Table> {
    let rows: Vec<TableRow> =
        lines(answer).into_iter().map(|(line, why)| alloc::vec![Some(line), Some(why)]).collect();
    let columns = alloc::vec![Column::words("sdkconfig.defaults"), Column::words("why")];
    (!rows.is_empty())
        .then(|| table("tune-settings", SECTION, "What to set, and why", columns, rows))
}
