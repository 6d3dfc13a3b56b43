//! A capture as tables, figures and a timeline, for pages and other drawings.

use crate::analysis::CaptureSummary;
use crate::answer::answer;
use crate::document::CaptureDocument;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use espbench_measure::air;
use espbench_measure::air::timeline::{Timeline, TimelineWindow};
use espbench_measure::cell::Origin;
use espbench_measure::figure::{Axis, Figure, FigurePoint, Mark, Series, SeriesMeaning};
use espbench_measure::report::{CAPTURE, Report};
use espbench_measure::run::RunFacts;
use espbench_measure::table::{Column, Table, TableRow};
use espbench_measure::tune::TuneCard;

/// Rows of a table on a page; JSON and CSV have all.
const ROWS: usize = 200;

fn words(name: &str) -> Column {
    Column::words(name)
}

fn number(name: &str, unit: &str) -> Column {
    Column::result(name, unit, Origin::Measured)
}

fn count(it: u64) -> Option<String> {
    Some(it.to_string())
}

fn fixed(it: Option<f64>, digits: usize) -> Option<String> {
    it.map(|it| format!("{it:.digits$}"))
}

fn percent(it: Option<f64>) -> Option<String> {
    fixed(it.map(|it| it * 100.0), 2)
}

fn frames(all: &[u64]) -> Option<String> {
    let all: Vec<String> = all.iter().map(|it| format!("{it}")).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

fn table(id: &str, title: &str, columns: Vec<Column>, rows: Vec<TableRow>) -> Table {
    let (id, section, title) = (format!("capture-{id}"), CAPTURE.into(), title.into());
    Table { id, section, title, columns, rows, ..Table::default() }
}

/// Returns the tables that have rows, each with as many as a page has room for.
#[must_use]
pub fn shown(it: &CaptureDocument) -> Vec<Table> {
    let mut all = tables(it);
    for table in &mut all {
        if table.rows.len() > ROWS {
            table.notes.push(format!("{} rows more are in JSON and CSV.", table.rows.len() - ROWS));
            table.rows.truncate(ROWS);
        }
    }
    all
}

/// Returns all tables that have rows.
#[must_use]
pub fn tables(it: &CaptureDocument) -> Vec<Table> {
    let mut all = alloc::vec![
        esp_now(it),
        esp_now_frames(it),
        links(it),
        kinds(it),
        stations(it),
        rates(it),
        networks(it),
        sleepers(it),
        overlaps(it),
        leaves(it),
        tcp(it),
        windows(it),
    ];
    all.retain(|it| !it.rows.is_empty());
    for column in all.iter_mut().flat_map(|it| &mut it.columns) {
        column.origin = column.origin.map(|_| it.origin);
    }
    all
}

fn links(it: &CaptureDocument) -> Table {
    let columns = alloc::vec![
        words("from"),
        words("to"),
        words("what"),
        number("messages", ""),
        number("acknowledged", "percent"),
        number("frames", ""),
        number("retries", "percent"),
        number("repeated", ""),
        number("missing", ""),
        number("slower retries", ""),
        number("RSSI", "dBm"),
        number("air", "percent"),
        number("MPDUs", ""),
        words("unacknowledged frames"),
    ];
    let rows = it.links.iter().map(|it| {
        alloc::vec![
            Some(it.from.clone()),
            Some(it.to.clone()),
            Some(if it.esp_now.is_some() { "ESP-NOW" } else { "Wi-Fi" }.into()),
            count(it.messages),
            percent(it.delivered),
            count(it.frames),
            percent(Some(it.retries as f64 / it.frames.max(1) as f64)),
            count(it.repeated),
            count(it.missing),
            count(it.slower_retries),
            fixed(it.rssi_dbm, 1),
            percent(it.air_share),
            fixed(it.ampdu.map(|it| it.0), 1),
            frames(&it.unacknowledged),
        ]
    });
    let mut made = table("links", "Links", columns, rows.collect());
    made.notes.push(
        "Attempts of a message have one sequence number and payload; it is acknowledged where an acknowledgement of one \
         was captured. Missing: sequence numbers of the sender before frames of this link that were not captured."
            .into(),
    );
    made
}

fn esp_now(it: &CaptureDocument) -> Table {
    let columns = alloc::vec![
        words("from"),
        words("to"),
        number("messages", ""),
        number("bytes", ""),
        number("v2.0", ""),
        words("component"),
        number("copies", ""),
        number("forwarded", ""),
        number("encrypted", ""),
        number("opened", ""),
    ];
    let rows = it.links.iter().filter_map(|link| {
        let now = link.esp_now.as_ref()?;
        let types: Vec<String> = now.types.iter().map(|(name, n)| format!("{name} {n}")).collect();
        Some(alloc::vec![
            Some(link.from.clone()),
            Some(link.to.clone()),
            count(link.messages),
            count(now.bytes),
            count(now.version_2),
            (!types.is_empty()).then(|| types.join(" ")),
            count(now.copies),
            count(now.forwarded),
            count(now.sealed),
            count(now.opened),
        ])
    });
    table("esp-now", "ESP-NOW by pair", columns, rows.collect())
}

fn esp_now_frames(it: &CaptureDocument) -> Table {
    let columns = alloc::vec![
        number("frame", ""),
        number("time", "s"),
        words("transmitter"),
        words("source"),
        words("destination"),
        words("type"),
        number("packet id", ""),
        words("content"),
    ];
    let rows = it.esp_now_frames.iter().map(|it| {
        alloc::vec![
            count(it.frame),
            fixed(it.at_s, 6),
            Some(it.transmitter.clone()),
            Some(it.source.clone()),
            Some(it.destination.clone()),
            Some(it.data_type.into()),
            count(it.packet_id.into()),
            it.content.clone().or_else(|| Some("encrypted".into())),
        ]
    });
    table("esp-now-frames", "First frames of the component", columns, rows.collect())
}

fn kinds(it: &CaptureDocument) -> Table {
    let columns = alloc::vec![
        words("kind"),
        number("frames", ""),
        number("retries", ""),
        number("octets", ""),
        number("air", "percent"),
    ];
    let rows = it.kinds.iter().map(|it| {
        let name = Some(it.kind.words().into());
        alloc::vec![
            name,
            count(it.frames),
            count(it.retries),
            count(it.octets),
            percent(it.air_share)
        ]
    });
    table("kinds", "The medium by kind of frame", columns, rows.collect())
}

fn stations(it: &CaptureDocument) -> Table {
    let columns = alloc::vec![
        words("station"),
        number("frames", ""),
        number("retries", ""),
        number("air", "percent"),
        number("RSSI", "dBm"),
    ];
    let rows = it.stations.iter().map(|it| {
        let name = Some(it.station.clone());
        let rssi = fixed(it.rssi_dbm, 1);
        alloc::vec![name, count(it.frames), count(it.retries), percent(it.air_share), rssi]
    });
    table("stations", "The medium by station", columns, rows.collect())
}

fn rates(it: &CaptureDocument) -> Table {
    let columns = alloc::vec![
        words("from"),
        words("to"),
        number("rate", "Mbit/s"),
        number("frames", ""),
        number("retries", ""),
    ];
    let rows = it.links.iter().filter(|it| it.rates.len() > 1).flat_map(|link| {
        link.rates.iter().map(move |it| {
            let mbit_s = fixed(Some(f64::from(it.kbit_s) / 1000.0), 1);
            let ends = [Some(link.from.clone()), Some(link.to.clone())];
            let [from, to] = ends;
            alloc::vec![from, to, mbit_s, count(it.frames), count(it.retries)]
        })
    });
    table("rates", "Rates of links that use several", columns, rows.collect())
}

fn networks(it: &CaptureDocument) -> Table {
    let columns = alloc::vec![
        words("BSSID"),
        number("beacons", ""),
        number("missing", ""),
        number("longest gap", ""),
        number("interval", "TU"),
        number("DTIM", ""),
        words("frames behind gaps"),
    ];
    let rows = it.networks.iter().map(|it| {
        alloc::vec![
            Some(it.bssid.clone()),
            count(it.heard),
            count(it.missing),
            count(it.longest_gap),
            count(it.interval_tu.into()),
            it.dtim.map(|it| format!("{it}")),
            frames(&it.frames),
        ]
    });
    table("networks", "Beacons", columns, rows.collect())
}

fn sleepers(it: &CaptureDocument) -> Table {
    let columns = alloc::vec![
        words("station"),
        words("access point"),
        number("dozes", ""),
        number("asleep", "percent"),
        number("waits", ""),
        number("mean wait", "ms"),
        number("longest wait", "ms"),
        words("frames that waited"),
    ];
    let rows = it.sleepers.iter().map(|it| {
        alloc::vec![
            Some(it.station.clone()),
            Some(it.access_point.clone()),
            count(it.dozes),
            percent(it.asleep_share),
            count(it.waits),
            fixed(it.wait_ms, 1),
            fixed(Some(it.longest_wait_ms), 1),
            frames(&it.frames),
        ]
    });
    let mut made = table("sleepers", "Stations that doze", columns, rows.collect());
    made.notes.push(
        "A wait is from the first beacon that tells of a packet to the packet: up to a beacon interval less than the \
         access point kept it."
            .into(),
    );
    made
}

fn overlaps(it: &CaptureDocument) -> Table {
    let columns = alloc::vec![
        words("stations"),
        number("same slot", ""),
        number("unheard", ""),
        words("frames"),
    ];
    let rows = it.overlaps.iter().map(|it| {
        let stations = Some(it.stations.join(" and "));
        alloc::vec![stations, count(it.same_slot), count(it.unheard), frames(&it.frames)]
    });
    let mut made = table("overlaps", "Frames at the same time", columns, rows.collect());
    made.notes.push(
        "Same slot: both had begun within 25 us, a collision that medium access allows. Unheard: the second began \
         later, so its sender did not hear the first."
            .into(),
    );
    made
}

fn leaves(it: &CaptureDocument) -> Table {
    let columns = alloc::vec![
        words("what"),
        number("code", ""),
        words("from"),
        words("to"),
        number("times", ""),
        words("frames"),
    ];
    let rows = it.leaves.iter().map(|it| {
        alloc::vec![
            Some(it.what.into()),
            count(it.code.into()),
            Some(it.from.clone()),
            Some(it.to.clone()),
            count(it.times),
            frames(&it.frames),
        ]
    });
    table("leaves", "Leaving and refusals", columns, rows.collect())
}

fn tcp(it: &CaptureDocument) -> Table {
    let columns = alloc::vec![
        number("stream", ""),
        words("from"),
        words("to"),
        number("data", "B"),
        number("rate", "Mbit/s"),
        number("retransmissions", ""),
        number("fast", ""),
        number("spurious", ""),
        number("out of order", ""),
        number("duplicate ACKs", ""),
        number("not captured", ""),
        words("limited by"),
        number("of the time", "percent"),
        words("frames sent again"),
    ];
    let rows = it.tcp.iter().map(|it| {
        alloc::vec![
            count(it.stream),
            Some(it.from.clone()),
            Some(it.to.clone()),
            count(it.octets),
            fixed(it.mbit_s, 3),
            count(it.retransmissions),
            count(it.fast_retransmissions),
            count(it.spurious_retransmissions),
            count(it.out_of_order),
            count(it.duplicate_acks),
            count(it.after_gap),
            it.limit.map(|it| it.word().into()),
            percent(it.limit_share),
            frames(&it.frames),
        ]
    });
    table("tcp", "TCP by direction", columns, rows.collect())
}

fn windows(it: &CaptureDocument) -> Table {
    let columns = alloc::vec![
        number("stream", ""),
        words("from"),
        number("mean round trip", "ms"),
        number("shortest", "ms"),
        number("longest", "ms"),
        number("MSS", "B"),
        number("in flight", "B"),
        number("window offered", "B"),
        number("zero windows", ""),
        number("window full", ""),
    ];
    let rows = it.tcp.iter().map(|it| {
        alloc::vec![
            count(it.stream),
            Some(it.from.clone()),
            fixed(it.rtt_ms, 3),
            fixed(it.rtt_range_ms.map(|it| it.0), 3),
            fixed(it.rtt_range_ms.map(|it| it.1), 3),
            it.mss.map(|it| format!("{it}")),
            count(it.most_in_flight.into()),
            count(it.most_window.into()),
            count(it.zero_windows),
            count(it.window_full),
        ]
    });
    table("windows", "TCP: round trips and windows", columns, rows.collect())
}

/// Returns the course of the time on the air, by what took it.
fn course(seen: &CaptureSummary, origin: Origin) -> Option<Figure> {
    let course = &seen.air.course;
    let steps = course.steps();
    if steps.len() < 2 || seen.air.busy_ns() == 0 {
        return None;
    }
    let step = course.step_ns() as f64;
    let lanes = [
        ("data", Some(SeriesMeaning::Data)),
        ("control", Some(SeriesMeaning::Control)),
        ("management", Some(SeriesMeaning::Management)),
        ("wrong checksum", Some(SeriesMeaning::Collided)),
    ];
    let series = lanes.into_iter().enumerate().map(|(lane, (name, meaning))| Series {
        name: name.into(),
        origin,
        mark: Mark::Step,
        meaning,
        points: steps
            .iter()
            .enumerate()
            .map(|(at, it)| {
                FigurePoint::new(at as f64 * step / 1e9, 100.0 * it[lane] as f64 / step)
            })
            .map(FigurePoint::rounded)
            .collect(),
    });
    let series: Vec<Series> = series.filter(|it| it.points.iter().any(|it| it.y > 0.0)).collect();
    let axis = |label: &str, unit: &str| Axis {
        label: label.into(),
        unit: unit.into(),
        ..Axis::default()
    };
    Some(Figure {
        id: "capture-course".into(),
        section: CAPTURE.into(),
        title: "Time on the air".into(),
        alt: format!(
            "Share of each {:.0} ms in which frames were on the air, by kind.",
            step / 1e6
        ),
        x: axis("time", "s"),
        y: axis("of the time", "percent"),
        series,
    })
}

/// Returns the first frames as a timeline.
fn timeline(seen: &CaptureSummary) -> Option<Timeline> {
    let shown = &seen.air.shown;
    let begin = shown.first()?.begin_ns;
    let mut frames = shown.clone();
    for it in &mut frames {
        it.begin_ns = it.begin_ns.saturating_sub(begin);
    }
    let end_ns = frames.iter().map(|it| it.begin_ns + it.took_ns).max()?;
    let window = TimelineWindow {
        why: "the first frames".into(),
        end_ns,
        frames,
        ..TimelineWindow::default()
    };
    Some(Timeline {
        id: format!("{}-capture", air::SECTION),
        place: "the capture".into(),
        stations: seen.air.shown_stations.iter().map(|it| format!("{it}")).collect(),
        windows: alloc::vec![window],
        course: Vec::new(),
    })
}

/// Returns the report of a capture, for pages.
#[must_use]
pub fn report(facts: RunFacts, document: &CaptureDocument, seen: &CaptureSummary) -> Report {
    let mut said = answer(document).into_iter();
    let card = TuneCard {
        verdict: said.next().unwrap_or_default(),
        context: said.next().unwrap_or_default(),
        given: "as it is".into(),
        notes: said.collect(),
        ..TuneCard::default()
    };
    Report {
        tuning: Some(card),
        tables: shown(document),
        figures: course(seen, document.origin).into_iter().collect(),
        timelines: timeline(seen).into_iter().collect(),
        ..Report::empty(facts)
    }
}

/// Returns all figures of captures as one table: a row for each figure, for CSV.
#[must_use]
pub fn figures(documents: &[CaptureDocument]) -> Table {
    let columns = alloc::vec![
        words("file"),
        words("table"),
        number("row", ""),
        words("of"),
        words("figure"),
        words("unit"),
        words("value"),
    ];
    let mut rows = Vec::new();
    for document in documents {
        for it in tables(document) {
            for (at, row) in it.rows.iter().enumerate() {
                // The words of a row tell what it is of.
                let is_word = |column: &Column| column.origin.is_none();
                let named = it.columns.iter().zip(row).take_while(|it| is_word(it.0));
                let name: Vec<String> = named.filter_map(|it| it.1.clone()).collect();
                for (column, value) in it.columns.iter().zip(row).skip(name.len()) {
                    let Some(value) = value else { continue };
                    rows.push(alloc::vec![
                        Some(document.file.clone()),
                        Some(it.id.clone()),
                        Some(format!("{}", at + 1)),
                        Some(name.join(" ")),
                        Some(column.name.clone()),
                        Some(column.unit.clone()),
                        Some(value.clone()),
                    ]);
                }
            }
        }
    }
    let (id, section) = ("capture-figures".into(), CAPTURE.into());
    Table { id, section, title: "Figures of captures".into(), columns, rows, ..Table::default() }
}
