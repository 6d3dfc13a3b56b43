//! Tables of predictions.

use super::change::ChangeTried;
use super::point::PointEstimates;
use super::range::{RANGE_LOSS, distances, meaning, range_interval, range_words, ranges};
use super::report::{PredictAnswer, PredictQuestion};
use super::trial::MessageStage;
use super::{SECTION, limit};
use crate::cell::Origin;
use crate::digits;
use crate::table::{Column, Table, TableRow};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_stats::Estimate;

pub(super) fn of(answer: &PredictAnswer) -> Vec<Table> {
    let mut tables: Vec<Table> = in_short(answer).into_iter().collect();
    if let PredictQuestion::Range(wanted) = &answer.question {
        tables.push(ranges(answer, wanted));
        tables.extend(distances(answer));
        return tables;
    }
    tables.push(match answer.question {
        PredictQuestion::Rate | PredictQuestion::OnAir(_) | PredictQuestion::Range(_) => {
            rates(answer)
        }
        PredictQuestion::Fleet | PredictQuestion::LargestFleet(_) | PredictQuestion::Profiles => {
            curve(answer)
        }
    });
    tables.extend(in_force(answer));
    tables.extend(acknowledgements(answer));
    tables.push(limits(answer));
    tables.extend(energy(answer));
    tables.extend(tried(answer));
    tables
}

/// Returns the column that says which setting a row is.
fn varied(answer: &PredictAnswer) -> Column {
    match answer.question {
        PredictQuestion::Rate | PredictQuestion::OnAir(_) | PredictQuestion::Range(_) => {
            Column::words("PHY rate")
        }
        PredictQuestion::Fleet | PredictQuestion::LargestFleet(_) => Column::setting("devices", ""),
        PredictQuestion::Profiles => Column::words("profile"),
    }
}

/// Returns a point's text in that column.
fn name(answer: &PredictAnswer, point: &PointEstimates) -> String {
    match answer.question {
        PredictQuestion::Rate | PredictQuestion::OnAir(_) | PredictQuestion::Range(_) => {
            point.setting.rate.clone()
        }
        PredictQuestion::Fleet | PredictQuestion::LargestFleet(_) => {
            point.setting.devices.to_string()
        }
        PredictQuestion::Profiles => point.setting.profile.clone(),
    }
}

pub(super) fn table(
    id: &str,
    section: &str,
    title: &str,
    columns: Vec<Column>,
    rows: Vec<TableRow>,
) -> Table {
    let (id, section, title) = (id.into(), section.into(), title.into());
    let origin = Some(Origin::Simulated);
    Table { id, section, title, columns, rows, origin, ..Table::default() }
}

pub(super) fn result(name: &str, unit: &str) -> Column {
    Column::result(name, unit, Origin::Simulated)
}

/// Returns the table of the answer in sentences.
fn in_short(answer: &PredictAnswer) -> Option<Table> {
    let rows: Vec<TableRow> =
        answer.sentences().into_iter().map(|it| alloc::vec![Some(it)]).collect();
    let columns = alloc::vec![Column::words("answer")];
    (!rows.is_empty()).then(|| table("predict-answer", "overview", "The answer", columns, rows))
}

/// Prints a setting, or a number that was rounded already.
pub(super) fn exactly(value: f64) -> String {
    digits::six(value).to_string()
}

fn percent(estimate: &Estimate) -> Estimate {
    estimate.scaled(100.0)
}

pub(super) fn interval(estimate: &Estimate) -> Option<String> {
    estimate.value.and_then(|_| digits::interval(estimate.low, estimate.high))
}

/// Returns the results that a point has in every table: loss, mean, p50, p99. Where rates are compared, all have as many
/// decimal places of the last.
fn results(answer: &PredictAnswer, point: &PointEstimates) -> TableRow {
    let loss = percent(&point.loss);
    let [value, ends] = match answer.p99_in_places(point) {
        Some((value, ends)) => [Some(value), ends],
        None => p99(point),
    };
    alloc::vec![
        digits::estimate(&loss),
        interval(&loss),
        digits::estimate(&point.mean),
        digits::estimate(&point.p50),
        value,
        ends,
    ]
}

/// Prints the 99th percentile of the latency and its interval: where wake times are in doubt, to two digits.
fn p99(point: &PointEstimates) -> [Option<String>; 2] {
    let p99 = point.with_doubts().p99;
    match point.has_doubted_latency() {
        true => in_two_digits(Some(&p99)),
        false => [digits::estimate(&p99), interval(&p99)],
    }
}

fn result_columns() -> Vec<Column> {
    alloc::vec![
        result("loss", "percent"),
        result("loss 95 %", "percent"),
        result("mean", "ms"),
        result("p50", "ms"),
        result("p99", "ms"),
        result("p99 95 %", "ms"),
    ]
}

fn notes(answer: &PredictAnswer, table: &mut Table) {
    let rooms = answer.points.iter().map(|it| it.rooms).max().unwrap_or(0);
    let least = answer.points.iter().map(|it| it.messages).min().unwrap_or(0);
    table.notes.push(format!("{}.", capitalized(&answer.shared)));
    table.notes.push(format!(
        "Latency: from when the sending application's message was due until the listening \
         application had it; delivered messages only. Intervals at 95 % from up to {rooms} rooms \
         with seeds of their own (places, shadowing, phases), at least {least} messages a row{}.",
        if answer.points.iter().any(PointEstimates::has_doubted_latency) {
            "; those of latencies hold what is not known of the wake times, too, and have two digits"
        } else {
            ""
        }
    ));
    // A mark is explained where it is shown.
    if answer.points.iter().any(|it| it.p99.low.is_some() != it.p99.high.is_some()) {
        table.notes.push(digits::ONE_END.into());
    }
    table.notes.extend(answer.notes.iter().cloned());
}

pub(crate) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

/// Heads of how busy the channel is, and of the devices' own part in it.
const BUSY: [&str; 2] = ["channel busy", "of it yours"];

/// Returns how busy the channel is, and the devices' own part in it.
fn busy(point: &PointEstimates) -> [Option<String>; 2] {
    let busy = percent(&point.busy);
    let own = busy.value.map(|_| digits::part_of(100.0 * point.own_busy, &busy));
    [digits::estimate(&busy), own]
}

fn curve(answer: &PredictAnswer) -> Table {
    let row = |point: &PointEstimates| {
        let mut row = alloc::vec![
            Some(name(answer, point)),
            Some(exactly(libm::round(point.offered * 10.0) / 10.0)),
        ];
        row.extend(results(answer, point));
        row.extend(busy(point));
        row.push(digits::estimate(&point.delivered));
        row
    };
    let mut columns = alloc::vec![varied(answer), Column::setting("due", "messages/s")];
    columns.extend(result_columns());
    columns.extend(BUSY.map(|it| result(it, "percent")));
    columns.push(result("delivered", "messages/s"));
    let rows = answer.points.iter().map(row).collect();
    let title = match answer.question {
        PredictQuestion::Profiles => "Loss and latency by the profile",
        _ => "Loss and latency by the number of devices",
    };
    let mut table = table("predict-curve", SECTION, title, columns, rows);
    notes(answer, &mut table);
    table
}

fn rates(answer: &PredictAnswer) -> Table {
    let row = |point: &PointEstimates| {
        let it = &point.setting;
        let mut row = alloc::vec![
            Some(name(answer, point)),
            Some(exactly(f64::from(it.kbit_s) / 1000.0)),
            Some(exactly(it.air_us)),
        ];
        row.extend(results(answer, point));
        row.extend(busy(point));
        row.push(it.throughput.as_ref().and_then(digits::estimate));
        row.push(it.range_m.map(|metres| range_words(metres, it.range_is_bounded)));
        row.push(range_interval(it));
        row
    };
    let mut columns = alloc::vec![
        varied(answer),
        Column::setting("rate", "Mbit/s"),
        Column::setting("frame on the air", "us"),
    ];
    columns.extend(result_columns());
    columns.extend(BUSY.map(|it| result(it, "percent")));
    columns.push(result("throughput of one", "Mbit/s"));
    columns.push(result("range", "m"));
    columns.push(result("range 95 %", "m"));
    let rows = answer.points.iter().map(row).collect();
    let mut table = table("predict-rates", SECTION, "The effect of the PHY rate", columns, rows);
    notes(answer, &mut table);
    table.notes.push(meaning(answer.limits.loss.unwrap_or(RANGE_LOSS)));
    if answer.rate_in_force().is_none() {
        table.notes.push(
            "Throughput of one: payload that one device alone gets through when it always sends."
                .into(),
        );
    }
    table
}

/// Returns the table of what each rate costs, where it was asked which is on the air.
fn in_force(answer: &PredictAnswer) -> Option<Table> {
    let force = answer.rate_in_force()?;
    let row = |point: &PointEstimates| {
        let trip = point.with_doubts().round_trip_ms();
        let charge = point.charge_uc();
        alloc::vec![
            Some(name(answer, point)),
            Some(force.role(&point.setting.rate).name().into()),
            digits::estimate(&trip),
            interval(&trip),
            it_throughput(point, digits::estimate),
            it_throughput(point, interval),
            digits::estimate(&charge),
            interval(&charge),
        ]
    };
    let columns = alloc::vec![
        varied(answer),
        Column::words("it is"),
        result("round trip", "ms"),
        result("round trip 95 %", "ms"),
        result("throughput of one", "Mbit/s"),
        result("throughput 95 %", "Mbit/s"),
        result("charge of a message", "uC"),
        result("charge 95 %", "uC"),
    ];
    let rows = answer.points.iter().map(row).collect();
    let mut table =
        table("predict-in-force", SECTION, "The rate on the air and its cost", columns, rows);
    table.notes.push(
        "Round trip: twice the mean latency, as of a message and an answer as long. Charge: the time of the \
         message's frames on the air, repetitions too, at the chip's current while it sends; listening and \
         processor, which any rate costs, are not in it."
            .into(),
    );
    Some(table)
}

fn it_throughput(
    point: &PointEstimates,
    print: impl Fn(&Estimate) -> Option<String>,
) -> Option<String> {
    point.setting.throughput.as_ref().and_then(print)
}

/// Returns the table of acknowledgements, where messages are acknowledged.
fn acknowledgements(answer: &PredictAnswer) -> Option<Table> {
    let row = |point: &PointEstimates| {
        let told = percent(&point.told);
        alloc::vec![
            Some(name(answer, point)),
            digits::estimate(&told),
            interval(&told),
            digits::estimate(&point.told_p50),
            digits::estimate(&point.told_p99),
            interval(&point.with_doubts().told_p99),
            Some(exactly(libm::round(point.held_ms * 1000.0) / 1000.0)),
        ]
    };
    let columns = alloc::vec![
        varied(answer),
        result("acknowledged", "percent"),
        result("acknowledged 95 %", "percent"),
        result("told p50", "ms"),
        result("told p99", "ms"),
        result("told p99 95 %", "ms"),
        result("waits after its last frame", "ms"),
    ];
    let asked = answer.points.iter().any(|it| it.setting.acknowledged);
    let rows = answer.points.iter().map(row).collect();
    let title = "What senders know";
    asked.then(|| {
        let mut table = table("predict-acknowledgements", SECTION, title, columns, rows);
        table.notes.push(
            "Acknowledged: messages of which the sender was told that they arrived; told: from when \
             such a message was due. The listener's component answers each with a frame of its own. \
             A sender waits for that before it takes the next message, longer after each attempt, \
             and up to 3 s after the last one: the mean of all is in the last column."
                .into(),
        );
        table
    })
}

/// Returns the table of the time of each stage, which limits each setting.
fn limits(answer: &PredictAnswer) -> Table {
    let slept = answer.points.iter().any(|it| it.part(MessageStage::Start) > 0.0);
    let stages = || MessageStage::ALL.into_iter().filter(|it| slept || *it != MessageStage::Start);
    let row = |point: &PointEstimates| {
        let mut row: TableRow = alloc::vec![Some(name(answer, point))];
        row.extend(stages().map(|stage| {
            let mean = point.stages_ms[stage as usize];
            (point.delivered.n > 0).then(|| exactly(libm::round(mean * 1000.0) / 1000.0))
        }));
        row.push(limit::of_time(point));
        row.push(limit::of_loss(point));
        row
    };
    let mut columns = alloc::vec![varied(answer)];
    columns.extend(stages().map(|stage| result(stage.name(), "ms")));
    columns.push(Column::words("most of the time"));
    columns.push(Column::words("lost by"));
    let rows = answer.points.iter().map(row).collect();
    let mut table = table("predict-limits", SECTION, "What limits it", columns, rows);
    table.notes.push(
        "Mean time of a delivered message in each part of its way; together they are the mean \
         latency."
            .into(),
    );
    let growing = answer.points.iter().filter(|it| it.grows);
    let growing: Vec<String> = growing.map(|it| name(answer, it)).collect();
    if !growing.is_empty() {
        table.notes.push(format!(
            "With {} messages took longer and longer while the rooms were watched: a queue grows, \
             and no latency figure of these rows is a steady one.",
            growing.join(", ")
        ));
    }
    table
}

/// Returns the table of what the charge goes to, where devices sleep.
fn energy(answer: &PredictAnswer) -> Option<Table> {
    let mut names: Vec<String> = Vec::new();
    for point in &answer.points {
        let parts = point.energy.as_ref().map(|it| it.parts(answer.battery.as_ref()));
        for part in parts.into_iter().flatten() {
            if !names.iter().any(|it| it == part.name) {
                names.push(part.name.into());
            }
        }
    }
    let row = |point: &PointEstimates| {
        let it = point.energy.as_ref()?;
        let days = answer.battery.as_ref().map(|battery| it.days(battery));
        let mut row: TableRow = alloc::vec![Some(name(answer, point))];
        row.extend(in_two_digits(Some(&it.current())));
        let parts = it.parts(answer.battery.as_ref());
        let charge = |name: &String| {
            let part = parts.iter().find(|it| it.name == name);
            Some(digits::plain(part.map_or(0.0, |it| it.message_mc)))
        };
        row.extend(names.iter().map(charge));
        row.extend(in_two_digits(days.as_ref()));
        Some(row)
    };
    let rows: Vec<TableRow> = answer.points.iter().filter_map(row).collect();
    let mut columns =
        alloc::vec![varied(answer), result("current", "mA"), result("current 95 %", "mA")];
    columns.extend(names.iter().map(|name| result(name, "mC")));
    columns.push(result("battery life", "days"));
    columns.push(result("battery life 95 %", "days"));
    (!rows.is_empty()).then(|| {
        let mut table = table("predict-energy", SECTION, "The charge of a device", columns, rows);
        table.notes.push(
            "Current: the mean of all devices at the chip's supply. Parts: charge of one message, of the battery \
             where there is one; of sleep, converter, regulator and self-discharge until the next message. Retries \
             are the radio's repetitions and the application's. Intervals hold the rooms and what is not known of \
             the constants: two digits are all that datasheets are worth."
                .into(),
        );
        table.notes.extend(answer.doubts().iter().cloned());
        table.notes.extend(answer.battery.as_ref().map(|it| format!("{}.", it.words())));
        table
    })
}

/// Prints an estimate and its interval, to two digits each.
fn in_two_digits(estimate: Option<&Estimate>) -> [Option<String>; 2] {
    let Some(it) = estimate.filter(|it| it.value.is_some()) else { return [None, None] };
    [it.value.map(digits::two), digits::interval_in_two(it.low, it.high)]
}

/// Returns the table of the changes that were tried.
fn tried(answer: &PredictAnswer) -> Option<Table> {
    let row = |it: &ChangeTried| {
        let days = it.point.energy.as_ref().zip(answer.battery.as_ref());
        let mut row: TableRow = alloc::vec![Some(it.change.words())];
        row.extend(results(answer, &it.point));
        row.push(days.and_then(|(energy, battery)| energy.days(battery).value).map(digits::two));
        row.push(Some(if answer.helps(it) { "helps" } else { "" }.into()));
        row
    };
    let mut columns = alloc::vec![Column::words("change")];
    columns.extend(result_columns());
    columns.push(result("battery life", "days"));
    columns.push(Column::words("verdict"));
    let rows: Vec<TableRow> = answer.changes.iter().map(row).collect();
    (!rows.is_empty()).then(|| {
        table("predict-changes", SECTION, "Changes that were tried, each alone", columns, rows)
    })
}
