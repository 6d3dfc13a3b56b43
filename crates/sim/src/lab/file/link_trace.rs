//! Traces of links as CSV: a row for each measurement.

use super::block::TomlTable;
use super::key::{KeySpec, KeyType, key};
use super::wrong::FileError;
use crate::lab::scene::{LinkTrace, TraceFrame, TracePoint};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use csv_core::{ReadRecordResult, Reader};

/// Keys of a lab's `[link]`.
pub(super) static KEYS: [KeySpec; 3] = [
    key(
        "trace",
        KeyType::Text,
        "",
        "a CSV file beside the lab, whose measurements drive the links that it names: columns `time_s`, `from`, `to` (names of stations as `espbench lab show` has them) and `rssi_dbm`, `delivery` (0 to 1) or both; a link that was measured in one direction is as good in the other, and the trace begins again at its end",
    ),
    key(
        "phy_rate",
        KeyType::Mode,
        "\"1M\"",
        "PHY rate of the frames by which `delivery` was measured",
    ),
    key(
        "octets",
        KeyType::Whole(14, 4095),
        "143",
        "octets of such a frame, with header and FCS: 143 carry 100 bytes over ESP-NOW",
    ),
];

/// The `[link]` of a lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkTraceTable {
    /// Name of the file, and where the lab says it.
    pub(super) trace: (String, usize),
    pub(super) frame: TraceFrame,
}

/// Reads the `[link]` of a lab.
pub(super) fn table(lab: &TomlTable<'_>) -> Result<Option<LinkTraceTable>, FileError> {
    let Some(link) = lab.table("link", &KEYS)? else { return Ok(None) };
    let trace = link.must("trace", link.text("trace")?)?;
    let at = link.place_of("trace");
    if !trace.ends_with(ENDING) {
        return Err(
            link.wrong_value("trace", format!("a trace is a file whose name ends in {ENDING}"))
        );
    }
    let usual = TraceFrame::default();
    let frame = TraceFrame {
        mode: link.mode("phy_rate")?.unwrap_or(usual.mode),
        octets: link.whole("octets")?.unwrap_or(usual.octets),
    };
    Ok(Some(LinkTraceTable { trace: (trace, at), frame }))
}

/// The ending of a trace's name.
const ENDING: &str = ".csv";

/// The most measurements of a trace, and the longest line of its file.
const MOST_POINTS: usize = 2_000_000;
const MOST_LINE: usize = 4096;

/// The columns of a trace.
const COLUMNS: [&str; 5] = ["time_s", "from", "to", "rssi_dbm", "delivery"];
/// The longest time of a trace: a year.
const MOST_S: f64 = 366.0 * 86_400.0;

/// Reads a trace.
pub(super) fn read(name: &str, text: &str) -> Result<LinkTrace, FileError> {
    let mut rows = CsvRows::new(name, text);
    let wrong =
        |line, message: String| FileError { file: name.to_string(), line, column: 1, message };
    let Some((line, head)) = rows.next_row()? else {
        return Err(wrong(
            1,
            format!("the file is empty: its first line names the columns {}", COLUMNS.join(",")),
        ));
    };
    let place = |column: &str| head.iter().position(|it| it.trim() == column);
    let [time, from, to, rssi, delivery] = COLUMNS.map(place);
    let (Some(time), Some(from), Some(to)) = (time, from, to) else {
        let missing = COLUMNS.iter().zip([time, from, to]).find(|(_, at)| at.is_none());
        let missing = missing.map_or("", |(column, _)| column);
        return Err(wrong(
            line,
            format!("no column `{missing}`: the first line names {}", COLUMNS.join(",")),
        ));
    };
    if rssi.is_none() && delivery.is_none() {
        return Err(wrong(
            line,
            "no column `rssi_dbm` and no column `delivery`: one is needed".into(),
        ));
    }
    let mut trace = LinkTrace { name: name.to_string(), ..LinkTrace::default() };
    let mut count = 0;
    while let Some((line, row)) = rows.next_row()? {
        let field = |at: usize| row.get(at).map_or("", |it| it.trim());
        let number = |at: Option<usize>, least: f64, most: f64| -> Result<Option<f64>, FileError> {
            let Some(at) = at else { return Ok(None) };
            let text = field(at);
            if text.is_empty() {
                return Ok(None);
            }
            let column = head.get(at).map_or("", |it| it.trim());
            let parsed = text.parse::<f64>().ok().filter(|it| (least..=most).contains(it));
            let message =
                || format!("`{column}` is `{text}`, and must be a number from {least} to {most}");
            parsed.map(Some).ok_or_else(|| wrong(line, message()))
        };
        let Some(time_s) = number(Some(time), 0.0, MOST_S)? else {
            return Err(wrong(line, "`time_s` is empty".into()));
        };
        let point = TracePoint {
            at_ns: libm::rint(time_s * 1e9) as u64,
            rssi_dbm: number(rssi, -127.0, 20.0)?,
            delivery: number(delivery, 0.0, 1.0)?,
        };
        if point.rssi_dbm.is_none() && point.delivery.is_none() {
            return Err(wrong(
                line,
                "neither `rssi_dbm` nor `delivery`: leave such a row out".into(),
            ));
        }
        let ends = (field(from).to_string(), field(to).to_string());
        if ends.0.is_empty() || ends.1.is_empty() || ends.0 == ends.1 {
            return Err(wrong(line, "`from` and `to` name two stations".into()));
        }
        let points = trace.links.entry(ends).or_default();
        if points.last().is_some_and(|it| it.at_ns > point.at_ns) {
            return Err(wrong(
                line,
                "the times of a link go back here: sort the rows by `time_s`".into(),
            ));
        }
        points.push(point);
        count += 1;
        if count > MOST_POINTS {
            return Err(wrong(line, format!("more than {MOST_POINTS} measurements")));
        }
    }
    if trace.links.is_empty() {
        return Err(wrong(line, "no measurements after the first line".into()));
    }
    Ok(trace)
}

/// The rows of a CSV file (RFC 4180), with their lines.
struct CsvRows<'t> {
    name: &'t str,
    rest: &'t [u8],
    reader: Reader,
}

impl<'t> CsvRows<'t> {
    fn new(name: &'t str, text: &'t str) -> Self {
        Self { name, rest: text.as_bytes(), reader: Reader::new() }
    }

    /// Returns the next row and its line, from 1; `None` at the end.
    fn next_row(&mut self) -> Result<Option<(usize, Vec<String>)>, FileError> {
        let line = self.reader.line() as usize;
        let (mut bytes, mut ends) = (vec![0; MOST_LINE], [0; 64]);
        let (result, read, written, fields) =
            self.reader.read_record(self.rest, &mut bytes, &mut ends);
        let mut end = self.end_of(result, line)?;
        self.rest = self.rest.get(read..).unwrap_or_default();
        let (mut written, mut fields) = (written, fields);
        if end == RowEnd::More {
            // The text is over: the reader hands out its last record.
            let (result, _, more, more_fields) = self.reader.read_record(
                &[],
                bytes.get_mut(written..).unwrap_or_default(),
                ends.get_mut(fields..).unwrap_or_default(),
            );
            end = self.end_of(result, line)?;
            (written, fields) = (written + more, fields + more_fields);
        }
        if end != RowEnd::Row {
            return Ok(None);
        }
        let text = core::str::from_utf8(bytes.get(..written).unwrap_or_default());
        let text = text.map_err(|_| self.wrong(line, "the line is not UTF-8"))?;
        let mut begin = 0;
        let mut row = Vec::with_capacity(fields);
        for &end in ends.get(..fields).unwrap_or_default() {
            row.push(text.get(begin..end).unwrap_or_default().to_string());
            begin = end;
        }
        Ok(Some((line, row)))
    }

    fn end_of(&self, result: ReadRecordResult, line: usize) -> Result<RowEnd, FileError> {
        match result {
            ReadRecordResult::InputEmpty => Ok(RowEnd::More),
            ReadRecordResult::Record => Ok(RowEnd::Row),
            ReadRecordResult::End => Ok(RowEnd::Nothing),
            ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                Err(self.wrong(line, "the line is too long, or a quote is not closed"))
            }
        }
    }

    fn wrong(&self, line: usize, message: &str) -> FileError {
        FileError { file: self.name.to_string(), line, column: 1, message: message.to_string() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowEnd {
    More,
    Row,
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(text: &str) -> String {
        read("office.csv", text).unwrap_err().to_string()
    }

    #[test]
    fn rows_become_links() {
        let trace = read(
            "office.csv",
            "from,to,time_s,rssi_dbm,note,delivery\nnode0,node1,0,-60,,\n\"node0\",node1,1.5,-71.5,x,0.25\nnode1,node0,0,,,1",
        )
        .unwrap();
        let point = |at_ns, rssi_dbm, delivery| TracePoint { at_ns, rssi_dbm, delivery };
        let rows: Vec<_> = trace.links.values().cloned().collect();
        let there =
            vec![point(0, Some(-60.0), None), point(1_500_000_000, Some(-71.5), Some(0.25))];
        assert_eq!(rows, [there, vec![point(0, None, Some(1.0))]]);
    }

    #[test]
    fn mistakes_say_their_line_and_what_would_be_right() {
        let head = "time_s,from,to,rssi_dbm\n";
        let all = [
            String::new(),
            "time,from,to,rssi_dbm\n0,a,b,-60".into(),
            "time_s,from,to\n0,a,b".into(),
            head.into(),
            format!("{head}0,a,b,loud"),
            format!("{head}0,a,b,-60\n-1,a,b,-60"),
            format!("{head}0,a,b,"),
            format!("{head},a,b,-60"),
            format!("{head}0,a,a,-60"),
            format!("{head}5,a,b,-60\n4,a,b,-60"),
            format!("{head}0,\"a,b,-60"),
            format!("{head}0,a,b,{}", "9".repeat(5000)),
        ];
        insta::assert_snapshot!(all.map(|it| said(&it)).join("\n"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "([a-z0-9,.\"\\-]|\n|\r|time_s,from,to,rssi_dbm\n|0,a,b,-60\n|\u{e9}){0,40}") {
            if let Ok(trace) = read("t.csv", &text) {
                for points in trace.links.values() {
                    prop_assert!(points.is_sorted_by_key(|it| it.at_ns) && !points.is_empty());
                }
            }
        }
    }
}
