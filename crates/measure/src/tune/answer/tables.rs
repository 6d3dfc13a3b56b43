//! The tables of an answer.

use super::super::SECTION;
use super::super::words::{bytes, number};
use super::fragment::{lines, shown};
use super::{TestedCandidate, TuneAnswer};
use crate::cell::Origin;
use crate::table::{Column, Table, TableRow};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

pub(super) fn of(answer: &TuneAnswer) -> Vec<Table> {
    let mut tables = alloc::vec![in_short(answer)];
    tables.push(front(answer));
    tables.extend(why(answer));
    tables
}

fn table(id: &str, section: &str, title: &str, columns: Vec<Column>, rows: Vec<TableRow>) -> Table {
    let title = Origin::Simulated.titled(title);
    Table { id: id.into(), section: section.into(), title, columns, rows, ..Table::default() }
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
        Some(tested.candidate.power.to_string()),
        Some(tested.outcomes.len().to_string()),
    ]);
    row
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
        Column::words("sleep"),
        Column::setting("seeds", ""),
    ]);
    let rows = answer.front().into_iter().map(|it| row(answer, it)).collect();
    let mut table = table("tune-front", SECTION, "The Pareto front", columns, rows);
    table.notes.push(
        "No other settings that were tried beat these on every goal. The first are recommended: \
         they reach all goals, or miss them by least, and leave most heap. Free heap is the \
         least during the tests."
            .into(),
    );
    table.notes.extend(answer.notes.iter().cloned());
    table
}

/// Returns the table of the lines for the file, each with its effect.
fn why(answer: &TuneAnswer) -> Option<Table> {
    let rows: Vec<TableRow> = lines(answer)
        .into_iter()
        .map(|(key, value, comment)| {
            let name = key.name_in(answer.context.release);
            alloc::vec![Some(format!("{name}={}", shown(key, value))), Some(comment)]
        })
        .collect();
    let columns = alloc::vec![Column::words("sdkconfig.defaults"), Column::words("why")];
    (!rows.is_empty())
        .then(|| table("tune-settings", SECTION, "What to set, and why", columns, rows))
}
