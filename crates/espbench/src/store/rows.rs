//! Samples to rows and back.

use super::checksum::{CellSums, RowSum};
use espbench_measure::columns::SampleTable;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample, Spread};
use espbench_model::time::Instant;
use rusqlite::types::Type;
use rusqlite::{Connection, Row, ToSql, params};
use std::ops::ControlFlow;

pub(super) fn json<T: serde::Serialize>(value: &T) -> String {
    // Our own plain structs with string keys: there is nothing in them that JSON cannot hold.
    serde_json::to_string(value).unwrap_or_else(|_| "null".into())
}

pub(super) fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(text)
}

const INSERT_PROBE: &str = "INSERT INTO probe VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)";
const INSERT_INTERVAL: &str =
    "INSERT INTO interval VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,
     ?20,?21,?22,?23,?24)";

/// Writes a row, of which the first value is the cell, and adds it to the checksum.
fn put(
    query: &mut rusqlite::CachedStatement<'_>,
    sum: &mut RowSum,
    row: &[&dyn ToSql],
) -> rusqlite::Result<()> {
    sum.row(row.get(1..).unwrap_or_default())?;
    query.execute(row).map(|_| ())
}

/// Writes samples of one cell within the caller's transaction, and adds them to its checksums.
pub(super) fn insert(
    db: &Connection,
    cell: i64,
    samples: &[Sample],
    sums: &mut CellSums,
) -> rusqlite::Result<()> {
    let mut probe = db.prepare_cached(INSERT_PROBE)?;
    let mut interval = db.prepare_cached(INSERT_INTERVAL)?;
    for sample in samples {
        match sample {
            Sample::Probe(p) => {
                let cause = if let Fate::Lost(cause) = p.fate { Some(cause.name()) } else { None };
                let row = params![
                    cell,
                    p.link.0,
                    int(p.seq),
                    p.bytes,
                    nanos(p.due),
                    p.queued.map(nanos),
                    p.sent.map(nanos),
                    p.acked.map(nanos),
                    p.received.map(nanos),
                    p.stamped.map(nanos),
                    p.fate.name(),
                    cause,
                ];
                put(&mut probe, &mut sums.probes, row)?;
            }
            Sample::Interval(i) => {
                let row = params![
                    cell,
                    i.link.0,
                    int(i.seq),
                    i.total,
                    i.observer.name(),
                    nanos(i.start),
                    nanos(i.end),
                    int(i.bytes),
                    i.datagrams.map(int),
                    i.lost.map(int),
                    i.out_of_order.map(int),
                    i.duplicates.map(int),
                    i.jitter_ns.map(int),
                    i.retransmits.map(int),
                    i.tcp_rtt_ns.map(int),
                    i.tcp_rtt_var_us,
                    i.tcp_cwnd,
                    i.errors,
                    i.read_sizes.map(|sizes| sizes.map(u32::to_le_bytes).as_flattened().to_vec()),
                    i.transit.map(|t| int(t.count)),
                    i.transit.map(|t| t.min_ns),
                    i.transit.map(|t| t.max_ns),
                    i.transit.map(|t| t.mean_ns),
                    i.transit.map(|t| t.m2),
                ];
                put(&mut interval, &mut sums.intervals, row)?;
            }
        }
    }
    Ok(())
}

/// Converts to SQLite's signed integers; 292 years of nanoseconds are enough.
fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn nanos(at: Instant) -> i64 {
    int(at.as_nanos())
}

const SELECT_PROBES: &str =
    "SELECT link, seq, bytes, due_ns, queued_ns, sent_ns, acked_ns, received_ns, stamped_ns, fate, cause
     FROM probe WHERE cell_id = ?1 ORDER BY rowid";
const SELECT_INTERVALS: &str =
    "SELECT link, seq, total, observer, start_ns, end_ns, bytes, datagrams, lost, out_of_order,
            duplicates, jitter_ns, retransmits, tcp_rtt_ns, tcp_rtt_var_us, tcp_cwnd, errors,
            read_sizes, transit_count, transit_min_ns, transit_max_ns, transit_mean_ns, transit_m2
     FROM interval WHERE cell_id = ?1 ORDER BY rowid";

/// Reads the samples of a cell, in the order in which they were recorded, with their checksums.
pub(super) fn samples(db: &Connection, cell: i64) -> rusqlite::Result<(Vec<Sample>, CellSums)> {
    let (mut samples, mut sums) = (Vec::new(), CellSums::default());
    let mut of = |table, sum: &mut RowSum| {
        let took = each(db, cell, table, |sample| {
            samples.push(*sample);
            ControlFlow::Continue(())
        });
        took.map(|took| *sum = took.unwrap_or_default())
    };
    of(SampleTable::Probes, &mut sums.probes)?;
    of(SampleTable::Intervals, &mut sums.intervals)?;
    Ok((samples, sums))
}

/// Hands over the samples of a cell that are of one kind, one at a time; returns their checksum unless the taker broke off.
pub(super) fn each(
    db: &Connection,
    cell: i64,
    table: SampleTable,
    mut take: impl FnMut(&Sample) -> ControlFlow<()>,
) -> rusqlite::Result<Option<RowSum>> {
    let query = match table {
        SampleTable::Probes => SELECT_PROBES,
        SampleTable::Intervals => SELECT_INTERVALS,
    };
    let mut query = db.prepare_cached(query)?;
    let columns = query.column_count();
    let mut rows = query.query([cell])?;
    let mut sum = RowSum::default();
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            sum.value(row.get_ref(column)?);
        }
        let sample = match table {
            SampleTable::Probes => Sample::Probe(probe(row)?),
            SampleTable::Intervals => Sample::Interval(interval(row)?),
        };
        if take(&sample).is_break() {
            return Ok(None);
        }
    }
    Ok(Some(sum))
}

fn probe(row: &Row<'_>) -> rusqlite::Result<Probe> {
    let cause: Option<String> = row.get(10)?;
    let cause = cause.as_deref().map(|name| Cause::from_name(name).ok_or_else(|| odd(10, name)));
    let fate: String = row.get(9)?;
    Ok(Probe {
        link: Link(row.get(0)?),
        seq: row.get(1)?,
        bytes: row.get(2)?,
        due: instant(row, 3)?.unwrap_or_default(),
        queued: instant(row, 4)?,
        sent: instant(row, 5)?,
        acked: instant(row, 6)?,
        received: instant(row, 7)?,
        stamped: instant(row, 8)?,
        fate: Fate::from_name(&fate, cause.transpose()?).ok_or_else(|| odd(9, &fate))?,
    })
}

fn interval(row: &Row<'_>) -> rusqlite::Result<Interval> {
    let observer: String = row.get(3)?;
    Ok(Interval {
        link: Link(row.get(0)?),
        seq: row.get(1)?,
        total: row.get(2)?,
        observer: Observer::from_name(&observer).ok_or_else(|| odd(3, &observer))?,
        start: instant(row, 4)?.unwrap_or_default(),
        end: instant(row, 5)?.unwrap_or_default(),
        bytes: row.get(6)?,
        datagrams: row.get(7)?,
        lost: row.get(8)?,
        out_of_order: row.get(9)?,
        duplicates: row.get(10)?,
        jitter_ns: row.get(11)?,
        retransmits: row.get(12)?,
        tcp_rtt_ns: row.get(13)?,
        tcp_rtt_var_us: row.get(14)?,
        tcp_cwnd: row.get(15)?,
        errors: row.get(16)?,
        read_sizes: row.get::<_, Option<Vec<u8>>>(17)?.and_then(|bytes| sizes(&bytes)),
        transit: transit(row)?,
    })
}

/// Reads eight counts, where the bytes are that many.
fn sizes(bytes: &[u8]) -> Option<[u32; 8]> {
    let (counts, []) = bytes.as_chunks::<4>() else { return None };
    <[[u8; 4]; 8]>::try_from(counts).ok().map(|counts| counts.map(u32::from_le_bytes))
}

fn transit(row: &Row<'_>) -> rusqlite::Result<Option<Spread>> {
    let Some(count) = row.get(18)? else { return Ok(None) };
    Ok(Some(Spread {
        count,
        min_ns: row.get(19)?,
        max_ns: row.get(20)?,
        mean_ns: row.get(21)?,
        m2: row.get(22)?,
    }))
}

fn instant(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Instant>> {
    Ok(row.get::<_, Option<u64>>(column)?.map(Instant::from_nanos))
}

fn odd(column: usize, name: &str) -> rusqlite::Error {
    unreadable(column, format!("`{name}` is not a word of this version"))
}

/// Returns the error of a text that cannot be read.
pub(super) fn unreadable(column: usize, why: impl std::fmt::Display) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, why.to_string().into())
}
