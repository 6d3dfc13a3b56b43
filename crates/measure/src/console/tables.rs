//! Tables of what was read.

use super::{Digest, Remark, SECTION, cells};
use crate::cell::Origin;
use crate::digits;
use crate::table::{Column, Table, TableRow};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use esp_now::transcript::TestResult;
use esp_now::transcript::session::{
    HandshakeResult, IperfRun, ThroughputResult, Unfinished, UnfinishedReason, UpdateResult,
};
use espbench_model::sample::Observer;

fn table(id: &str, title: &str, columns: Vec<Column>, rows: Vec<TableRow>) -> Table {
    let (id, title, section) = (id.into(), title.into(), SECTION.into());
    Table { id, section, title, columns, rows, ..Table::default() }
}

/// Returns the devices of a test, and the console.
fn who(digest: &Digest<'_>) -> Option<String> {
    let test = digest.test;
    let console = Some(test.console.clone()).filter(|console| !console.is_empty());
    let parts: Vec<String> = console.into_iter().chain(test.ends.map(crate::label::ends)).collect();
    (!parts.is_empty()).then(|| parts.join(": "))
}

fn value(digest: &Digest<'_>, metric: &str) -> Option<String> {
    digest.cell(metric).and_then(digits::value)
}

/// Returns a figure that the device printed itself, with no digits beyond its own.
fn own(digest: &Digest<'_>, metric: &str) -> Option<String> {
    digest.cell(metric)?.value.map(|value| format!("{value}"))
}

fn bytes(digest: &Digest<'_>) -> Option<String> {
    cells::payload(digest.test).map(|bytes| digits::count(bytes.into()))
}

/// Describes how a test ended that did not report.
fn unfinished(unfinished: &Unfinished) -> String {
    let why = match unfinished.why {
        UnfinishedReason::NoAnswer => "STOP was not answered",
        UnfinishedReason::Another => "another test began",
        UnfinishedReason::Restarted => "the device restarted",
        UnfinishedReason::End => "the log ends",
    };
    format!("no report: {why}")
}

pub(super) fn pings(digests: &[Digest<'_>], origin: Origin) -> Option<Table> {
    let rows: Vec<TableRow> = digests.iter().filter_map(ping).collect();
    (!rows.is_empty()).then(|| {
        let result = |name: &str, unit: &str| Column::result(name, unit, origin);
        let mut columns = alloc::vec![
            Column::words("devices"),
            Column::words("mode"),
            Column::setting("bytes", ""),
            Column::setting("n", ""),
        ];
        columns.extend([
            result("loss", "percent"),
            result("loss 95 % interval", "percent"),
            result("late", ""),
            result("MIN", "ms"),
            result("AVE", "ms"),
            result("AVE 95 % interval", "ms"),
            result("p50", "ms"),
            result("p99", "ms"),
            result("MAX", "ms"),
        ]);
        columns.push(Column::words("the device printed"));
        let mut table = table("esp-now-ping", "Ping: round-trip time", columns, rows);
        table.notes.push(
            "Resolution 1 ms: the device prints whole milliseconds, cut, so each true time is up \
             to 1 ms more, and so are all figures here. n: pings of which the log has a line. Late \
             answers came after 3 s; the device counts them as lost, here they are not."
                .into(),
        );
        table
    })
}

fn ping(digest: &Digest<'_>) -> Option<TableRow> {
    let printed = match &digest.test.finding {
        TestResult::Ping(result) => {
            let (sent, received) = (result.printed.transmitted, result.printed.received);
            let mut text = format!("{sent} sent, {received} received");
            if result.missing > 0 {
                text.push_str(&format!("; {} without a line", result.missing));
            }
            text
        }
        TestResult::Unfinished(test) if test.run == Some(IperfRun::Ping) => unfinished(test),
        _ => return None,
    };
    let loss = digest.cell("loss")?;
    let average = digest.cell("rtt_avg")?;
    Some(alloc::vec![
        who(digest),
        digest.test.mode.clone(),
        bytes(digest),
        loss.n.map(digits::count),
        digits::value(loss),
        digits::interval(loss.ci_low, loss.ci_high),
        value(digest, "probes_late"),
        own(digest, "rtt_min"),
        digits::value(average),
        digits::interval(average.ci_low, average.ci_high),
        own(digest, "rtt_p50"),
        own(digest, "rtt_p99"),
        own(digest, "rtt_max"),
        Some(printed),
    ])
}

pub(super) fn throughput(digests: &[Digest<'_>], origin: Origin) -> Option<Table> {
    let rows: Vec<TableRow> = digests.iter().filter_map(stream).collect();
    (!rows.is_empty()).then(|| {
        let result = |name: &str, unit: &str| Column::result(name, unit, origin);
        let columns = alloc::vec![
            Column::words("devices"),
            Column::words("told by"),
            Column::words("mode"),
            Column::setting("bytes", ""),
            result("time", "s"),
            result("payload", "bytes"),
            result("rate", "Mbit/s"),
            result("lost", ""),
            result("of", ""),
            result("loss", "percent"),
            result("loss 95 % interval", "percent"),
            Column::words("printed lost/total"),
            Column::words("why they differ"),
        ];
        let mut table = table("esp-now-throughput", "Throughput", columns, rows);
        table.notes.extend([
            "Payload and rate: what the sender handed to the network, what the receiver got. The \
             receiver's own final report shows what was sent. Bytes are printed in steps of 10,000."
                .to_string(),
            "Lost: put right. It does not contain message 0, whose loss no line shows. What is \
             printed as Jitter is the time divided by the messages, and no jitter: it is left out."
                .to_string(),
        ]);
        table
    })
}

fn stream(digest: &Digest<'_>) -> Option<TableRow> {
    let (printed, why) = match &digest.test.finding {
        TestResult::Throughput(result) => {
            let printed = format!("{}/{}", result.printed.lost, result.printed.total);
            (Some(printed), difference(result))
        }
        TestResult::Unfinished(test)
            if matches!(test.run, Some(IperfRun::Sending | IperfRun::Receiving)) =>
        {
            (None, unfinished(test))
        }
        _ => return None,
    };
    let receives = cells::observer(digest.test) == Observer::Receiver;
    let (role, rate) =
        if receives { ("receiver", "throughput") } else { ("sender", "throughput_sent") };
    let amount = cells::amount(digest.test);
    let loss = digest.cell("loss");
    Some(alloc::vec![
        who(digest),
        Some(role.into()),
        digest.test.mode.clone(),
        bytes(digest),
        amount.map(|(_, span, _)| digits::plain(span.as_secs_f64())),
        amount.map(|(bytes, ..)| digits::count(bytes)),
        value(digest, rate),
        value(digest, "packets_lost"),
        value(digest, "packets_total"),
        loss.and_then(digits::value),
        loss.and_then(|loss| digits::interval(loss.ci_low, loss.ci_high)),
        printed,
        Some(why),
    ])
}

/// Describes why the true loss is not the printed one.
fn difference(result: &ThroughputResult) -> String {
    if result.continued {
        return "message 0 was lost, so the counters went on from the run before: they cannot be \
                put right"
            .into();
    }
    match result.total {
        None => "the printed counts are impossible, so they cannot be put right".into(),
        Some(total) if i64::try_from(total) == Ok(result.printed.total) => {
            "it reports one loss too many".into()
        }
        Some(_) => "it counts STOP as a message, and one loss too many".into(),
    }
}

pub(super) fn crypto(digests: &[Digest<'_>], origin: Origin) -> Option<Table> {
    let row = |digest: &Digest<'_>| {
        let TestResult::Crypto(result) = &digest.test.finding else { return None };
        let (what, metric) = if result.encrypting {
            ("encrypt", "encrypt_time")
        } else {
            ("decrypt", "decrypt_time")
        };
        let console = result.device.map(|mac| format!("{mac}"));
        let console = console.or_else(|| who(digest));
        Some(alloc::vec![console, Some(what.into()), bytes(digest), own(digest, metric)])
    };
    let rows: Vec<TableRow> = digests.iter().filter_map(row).collect();
    (!rows.is_empty()).then(|| {
        let columns = alloc::vec![
            Column::words("device"),
            Column::words("what"),
            Column::setting("bytes", ""),
            Column::result("mean", "us", origin),
        ];
        let mut table = table("esp-now-crypto", "sec_test: time to encrypt", columns, rows);
        table.notes.push(
            "Time of the processor, not of the air: the device's own mean, cut to whole microseconds."
                .into(),
        );
        table
    })
}

/// Updates and handshakes: what one device did with several.
pub(super) fn groups(digests: &[Digest<'_>], origin: Origin) -> Option<Table> {
    let row = |digest: &Digest<'_>| match &digest.test.finding {
        TestResult::Update(result) => Some(update(digest, result)),
        TestResult::Handshake(result) => Some(handshake(digest, result)),
        _ => None,
    };
    let rows: Vec<TableRow> = digests.iter().filter_map(row).collect();
    (!rows.is_empty()).then(|| {
        let mut columns: Vec<Column> = ["device", "what"].map(Column::words).into();
        for name in ["found", "done", "not done", "rounds"] {
            columns.push(Column::result(name, "", origin));
        }
        columns.push(Column::result("time", "s", origin));
        columns.push(Column::words("besides"));
        let mut table = table("esp-now-groups", "Updates and handshakes", columns, rows);
        table.notes.push(
            "Times of updates are printed in whole seconds, cut. A device that had the image \
             before may be in neither number."
                .into(),
        );
        table
    })
}

fn number(n: Option<u32>) -> Option<String> {
    n.map(|n| digits::count(n.into()))
}

fn update(digest: &Digest<'_>, result: &UpdateResult) -> TableRow {
    let image = result.bytes.map(|bytes| format!("image {bytes} bytes"));
    let packets = result.packets.map(|packets| format!("{packets} packets"));
    let besides: Vec<String> = image.into_iter().chain(packets).collect();
    alloc::vec![
        result.device.map(|mac| format!("{mac}")).or_else(|| who(digest)),
        Some("update".into()),
        number(result.found),
        number(Some(result.successed)),
        number(Some(result.unfinished)),
        // Rounds are numbered from 0.
        number(result.rounds.map(|last| last.saturating_add(1))),
        own(digest, "ota_time"),
        (!besides.is_empty()).then(|| besides.join(", ")),
    ]
}

fn handshake(digest: &Digest<'_>, result: &HandshakeResult) -> TableRow {
    alloc::vec![
        result.device.map(|mac| format!("{mac}")).or_else(|| who(digest)),
        Some("handshake".into()),
        number(result.found),
        number(Some(result.successed)),
        number(Some(result.unfinished)),
        number(result.rounds.map(|last| last.saturating_add(1))),
        own(digest, "handshake_time"),
        result.scan_ms.map(|ms| format!("{ms} ms of it scanning")),
    ]
}

pub(super) fn story(remarks: &[Remark]) -> Option<Table> {
    let table = remarked("esp-now-story", "What happened", remarks)?;
    Some(Table { section: SECTION.into(), ..table })
}

pub(super) fn problems(remarks: &[Remark]) -> Option<Table> {
    remarked("esp-now-problems", "Problems in the log", remarks)
}

fn remarked(id: &str, title: &str, remarks: &[Remark]) -> Option<Table> {
    let named = remarks.iter().any(|remark| !remark.console.is_empty());
    let row = |remark: &Remark| -> TableRow {
        let console = named.then(|| Some(remark.console.clone()));
        let told = [Some(digits::count(remark.count)), Some(remark.text.clone())];
        console.into_iter().chain(told).collect()
    };
    (!remarks.is_empty()).then(|| {
        let mut columns: Vec<Column> = Vec::new();
        columns.extend(named.then(|| Column::words("console")));
        columns.extend([Column::setting("times", ""), Column::words("what")]);
        Table {
            id: id.into(),
            section: "warnings".into(),
            title: title.into(),
            columns,
            rows: remarks.iter().map(row).collect(),
            ..Table::default()
        }
    })
}
