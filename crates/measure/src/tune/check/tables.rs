//! The tables of a check.

use super::super::words::{bytes, kb};
use super::*;
use crate::table::{Align, Column, TableRow};

/// Round trips that are worth knowing, in milliseconds: a quiet link, a busy one, modem sleep, the
/// other end of the country, the other end of the world.
const ROUND_TRIPS_MS: [u64; 6] = [2, 5, 10, 20, 100, 250];

pub(super) fn all(m: &Material<'_>) -> Vec<Table> {
    let mut all = alloc::vec![bounds(m)];
    all.extend(ranks(m));
    all.push(memory(m));
    all
}

fn table(
    id: &str,
    title: &str,
    columns: Vec<Column>,
    rows: Vec<TableRow>,
    notes: &[&str],
) -> Table {
    Table {
        id: id.into(),
        section: "tune".into(),
        title: title.into(),
        columns,
        rows,
        notes: notes.iter().map(ToString::to_string).collect(),
        ..Table::default()
    }
}

/// Returns the table of the throughput that window and send buffer allow.
fn bounds(m: &Material<'_>) -> Table {
    let mut trips: Vec<Duration> = ROUND_TRIPS_MS.map(Duration::from_millis).into();
    trips.push(m.question.rtt.time);
    trips.sort();
    trips.dedup();
    let row = |rtt: &Duration| {
        let bound = |bytes| Some(number(m.bound(bytes, *rtt)));
        alloc::vec![
            Some(number(rtt.as_secs_f64() * 1e3)),
            bound(m.config.tcp_window),
            bound(m.config.tcp_send_buffer),
        ]
    };
    let columns = alloc::vec![
        Column::setting("round trip", "ms"),
        Column::setting("receives at most", "Mbit/s"),
        Column::setting("sends at most", "Mbit/s"),
    ];
    let rows = trips.iter().map(row).collect();
    let note = "Window / round trip and send buffer / round trip, all streams together. The radio and \
                the processor may allow less.";
    table("check-bounds", "What TCP's windows allow", columns, rows, &[note])
}

/// Form in which a setting is shown.
type Show = fn(&SdkConfig) -> String;

fn onoff(on: bool) -> String {
    (if on { "on" } else { "off" }).into()
}

/// Returns the ranks' table, with these settings beside it.
fn ranks(m: &Material<'_>) -> Option<Table> {
    let ranks: Vec<&Rank> = Rank::of(m.context.chip).collect();
    if ranks.is_empty() || m.is_host() {
        return None;
    }
    let context = SdkContext { psram: false, window_scale: false, ..m.context };
    let configs: Vec<SdkConfig> = ranks.iter().map(|it| it.settings().config(&context)).collect();
    let mut columns = alloc::vec![Column::words("setting"), Column::setting("this file", "")];
    columns.extend(ranks.iter().map(|it| Column::setting(it.name, "")));
    let show: [(&str, Show); 9] = [
        ("static RX buffers", |it| it.static_rx.to_string()),
        ("dynamic RX buffers", |it| it.dynamic_rx.to_string()),
        ("TX buffers", |it| it.tx.to_string()),
        ("RX BA window", |it| match it.rx_ba_window {
            0 => "off".into(),
            n => n.to_string(),
        }),
        ("TCP send buffer", |it| bytes(it.tcp_send_buffer)),
        ("TCP window", |it| bytes(it.tcp_window)),
        ("Wi-Fi send path in RAM", |it| onoff(it.wifi_iram)),
        ("Wi-Fi receive path in RAM", |it| onoff(it.wifi_rx_iram)),
        ("lwIP in RAM", |it| onoff(it.lwip_iram)),
    ];
    let mut rows: Vec<TableRow> = Vec::new();
    for (name, show) in show {
        let all = core::iter::once(&m.config).chain(&configs).map(|it| Some(show(it)));
        rows.push(core::iter::once(Some(name.to_string())).chain(all).collect());
    }
    let distance = |it: &&Rank| Some(number(it.distance(&m.config)));
    let mut last: TableRow = alloc::vec![Some("distance in doublings".into()), None];
    last.extend(ranks.iter().map(distance));
    rows.push(last);
    let published = [
        ("published TCP send, Mbit/s", 0),
        ("published TCP receive, Mbit/s", 1),
        ("published UDP send, Mbit/s", 2),
        ("published UDP receive, Mbit/s", 3),
    ];
    for (name, at) in published {
        let mut row: TableRow = alloc::vec![Some(name.into()), None];
        row.extend(ranks.iter().map(|it| Some(number(it.mbit_s[at]))));
        rows.push(row);
    }
    let mut row: TableRow = alloc::vec![
        Some("free heap, published; of the file by the model".into()),
        m.left().map(|it| kb(it.busy as f64)),
    ];
    row.extend(ranks.iter().map(|it| Some(format!("{} KB", number(it.free_kb)))));
    rows.push(row);
    let note = "Ranks and published figures: ESP-IDF Programming Guide, \"Wi-Fi Performance and Power \
                Save\"; one stream in a shielded box. They are the best of a laboratory, not what a \
                mean over minutes in a home has.";
    Some(table("check-ranks", "Beside Espressif's ranks", columns, rows, &[note]))
}

fn memory(m: &Material<'_>) -> Table {
    let memory = &m.memory;
    let frame = espbench_model::sdkconfig::BUFFER_BYTES;
    let parts = [
        ("static buffers", memory.buffers, "from the start of Wi-Fi on"),
        ("code in RAM", memory.code, "always; none on the ESP32, whose code has RAM of its own"),
        ("mailboxes", memory.mailboxes, "for each socket that is open"),
        ("TCP sending", memory.tcp_send, "send buffers, and the driver's copies"),
        ("TCP receiving", memory.tcp_receive, "a window of frames that nobody reads"),
        ("UDP", memory.udp, "all dynamic buffers of one direction"),
        ("driver's peak p", memory.driver_peak, "all dynamic buffers of both directions"),
    ];
    let caches = u64::try_from(memory.caches).ok().filter(|it| *it > 0);
    let caches = caches.map(|it| ("larger caches", it, "always: a cache is RAM of the chip"));
    let row = |(name, taken, when): (&str, u64, &str)| {
        alloc::vec![Some(name.into()), Some(kb(taken as f64)), Some(when.into())]
    };
    let columns = alloc::vec![
        Column::words("what"),
        Column { align: Align::Right, ..Column::words("heap") },
        Column::words("when"),
    ];
    let note = format!("A buffer of the driver takes {frame} B at most (guide: 1.6 KB).");
    table(
        "check-memory",
        "What it takes of the heap",
        columns,
        parts.into_iter().chain(caches).map(row).collect(),
        &[&note],
    )
}

/// Returns the findings as a table, the worst first.
pub(super) fn findings(checked: &Checked) -> Table {
    let row = |it: &Finding| {
        let set = it.set.iter().map(|it| format!("{}={} (now {})", it.name, it.to, it.from));
        alloc::vec![
            Some(it.severity.name().into()),
            Some(format!("{}. {}", it.what, it.why)),
            Some(set.collect::<Vec<_>>().join("; ")).filter(|it| !it.is_empty()),
        ]
    };
    let columns =
        alloc::vec![Column::words("severity"), Column::words("finding"), Column::words("write")];
    let rows = checked.findings.iter().map(row).collect();
    table("check-findings", "What was found", columns, rows, &[])
}

/// Returns the answer as a table of sentences.
pub(super) fn answer(checked: &Checked) -> Table {
    let mut lines = alloc::vec![checked.head(), checked.verdict()];
    lines.extend(checked.advised());
    let rows = lines.into_iter().map(|it| alloc::vec![Some(it)]).collect();
    let table =
        table("check-answer", "The answer", alloc::vec![Column::words("answer")], rows, &[]);
    Table { section: "overview".into(), ..table }
}
