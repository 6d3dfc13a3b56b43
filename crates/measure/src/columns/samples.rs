//! The tables of raw samples: probes, and intervals of streams.

use super::value::{ColumnType, ColumnValue};
use espbench_model::sample::{Fate, Interval, Link, Probe, Sample};
use espbench_model::time::Instant;

/// A table of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleTable {
    /// Probes, messages and connections.
    Probes,
    /// Intervals of streams.
    Intervals,
}

/// A column of a table of samples; columns of the run and of its test stand before these.
#[derive(Debug)]
pub struct SampleColumn {
    /// Name in the head.
    pub name: &'static str,
    /// Unit; empty where there is none.
    pub unit: &'static str,
    /// Type of the values.
    pub field_type: ColumnType,
    /// Meaning in a sentence.
    pub doc: &'static str,
    value: fn(&Sample) -> Option<ColumnValue>,
}

impl SampleTable {
    /// Returns the columns, in their order.
    #[must_use]
    pub const fn columns(self) -> &'static [SampleColumn] {
        match self {
            Self::Probes => PROBES,
            Self::Intervals => INTERVALS,
        }
    }

    /// Returns what its rows are.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Probes => "probes",
            Self::Intervals => "intervals",
        }
    }
}

impl SampleColumn {
    /// Returns the value of the column in the row of a sample; `None` is an empty field.
    #[must_use]
    pub fn value(&self, sample: &Sample) -> Option<ColumnValue> {
        (self.value)(sample)
    }
}

/// Makes the columns of one kind of sample: name, unit, type, value, meaning.
macro_rules! samples {
    ($table:ident $kind:ident $($name:literal $unit:literal $type:ident |$it:ident| $value:expr, $doc:literal)*) => {
        static $table: &[SampleColumn] = &[$(SampleColumn {
            name: $name,
            unit: $unit,
            field_type: ColumnType::$type,
            doc: $doc,
            value: |sample| match sample {
                Sample::$kind($it) => $value,
                _ => None,
            },
        },)*];
    };
}

samples! { PROBES Probe
    "purpose" "" Text |it| text(purpose(it.link)),
        "`test`: a probe or message that the test is of; `connection`; `echo-idle` or `echo-loaded`: beside streams."
    "link" "" Count |it| link(it.link), "Link or device of the test, from 0."
    "seq" "" Count |it| count(it.seq), "Number on the link, from 0."
    "payload_bytes" "B" Count |it| count(it.bytes), "Payload."
    "due_s" "s" Number |it| at(it.due), "When the plan wanted it sent."
    "queued_s" "s" Number |it| it.queued.and_then(at), "When it entered the client's queue."
    "sent_s" "s" Number |it| it.sent.and_then(at),
        "When it was handed to the operating system or to the radio driver."
    "acked_s" "s" Number |it| it.acked.and_then(at), "When an acknowledgement came."
    "received_s" "s" Number |it| it.received.and_then(at),
        "When its reply, or the message itself, reached the receiving application."
    "stamped_s" "s" Number |it| it.stamped.and_then(at),
        "That arrival as the kernel or the radio stamped it."
    "fate" "" Text |it| text(it.fate.name()),
        "`delivered`, `lost`, `late` (after its time-out), `duplicate` (a further copy), `corrupt`."
    "cause" "" Text |it| cause(it), "Cause of a loss: `collision`, `no-buffers`, `unknown`."
    "round_trip_s" "s" Number |it| span(it.sent, it.received), "received_s - sent_s."
    "response_s" "s" Number |it| span(Some(it.due), it.received),
        "received_s - due_s, which holds the wait of a sender that fell behind. `rtt_exact_*` of ESP-NOW is of this one: its component \
         counts from the call, and what it waits before sending is a part."
}

samples! { INTERVALS Interval
    "link" "" Count |it| link(it.link), "Stream, from 0."
    "seq" "" Count |it| count(it.seq), "Number of the interval on the stream, from 0."
    "total" "" Flag |it| Some(ColumnValue::Flag(it.total)),
        "Whether it is the sum over the whole stream."
    "observer" "" Text |it| text(it.observer.name()),
        "Who counted: the local `sender` or `receiver`, or the `peer`."
    "start_s" "s" Number |it| at(it.start), "Start, on the observer's clock."
    "end_s" "s" Number |it| at(it.end), "End, on the observer's clock."
    "bytes" "B" Count |it| count(it.bytes), "Payload that was moved."
    "bit_per_s" "bit/s" Number |it| rate(it), "8 bytes / (end_s - start_s)."
    "datagrams" "" Count |it| it.datagrams.and_then(count), "Datagrams or messages; writes or reads for TCP."
    "lost" "" Count |it| it.lost.and_then(count), "Datagrams missing by sequence number."
    "out_of_order" "" Count |it| it.out_of_order.and_then(count),
        "Datagrams that came after one with a higher number."
    "duplicates" "" Count |it| it.duplicates.and_then(count), "Datagrams that came more than once."
    "jitter_s" "s" Number |it| it.jitter_ns.and_then(|it| seconds(it as f64)),
        "Interarrival jitter at the end (RFC 3550, section 6.4.1)."
    "retransmits" "" Count |it| it.retransmits.and_then(count), "TCP segments sent again."
    "tcp_rtt_s" "s" Number |it| it.tcp_rtt_ns.and_then(|it| seconds(it as f64)),
        "Smoothed TCP round-trip time at the end."
    "tcp_rtt_var_s" "s" Number |it| it.tcp_rtt_var_us.and_then(|it| seconds(f64::from(it) * 1e3)),
        "Mean deviation of that time (RFC 6298)."
    "tcp_cwnd_bytes" "B" Count |it| it.tcp_cwnd.and_then(count), "TCP congestion window at the end."
    "errors" "" Count |it| it.errors.and_then(count), "Writes that the system refused."
    "reads_1" "" Count |it| reads(it, 0), "Reads of up to an eighth of the longest read."
    "reads_2" "" Count |it| reads(it, 1), "Reads of up to two eighths."
    "reads_3" "" Count |it| reads(it, 2), "Reads of up to three eighths."
    "reads_4" "" Count |it| reads(it, 3), "Reads of up to four eighths."
    "reads_5" "" Count |it| reads(it, 4), "Reads of up to five eighths."
    "reads_6" "" Count |it| reads(it, 5), "Reads of up to six eighths."
    "reads_7" "" Count |it| reads(it, 6), "Reads of up to seven eighths."
    "reads_8" "" Count |it| reads(it, 7), "Longer reads."
    "transit_n" "" Count |it| it.transit.and_then(|it| count(it.count)),
        "One-way times of datagrams or bursts, where the clocks are said to agree."
    "transit_min_s" "s" Number |it| it.transit.and_then(|it| seconds(it.min_ns as f64)), "Shortest of them."
    "transit_max_s" "s" Number |it| it.transit.and_then(|it| seconds(it.max_ns as f64)), "Longest of them."
    "transit_mean_s" "s" Number |it| it.transit.and_then(|it| seconds(it.mean_ns)), "Mean of them."
    "transit_deviation_s" "s" Number |it| it.transit.and_then(|it| seconds(it.deviation_ns()?)),
        "Their standard deviation."
}

fn text(word: &str) -> Option<ColumnValue> {
    Some(ColumnValue::Text(word.into()))
}

fn count<T: Into<u64>>(count: T) -> Option<ColumnValue> {
    Some(ColumnValue::Count(count.into()))
}

fn seconds(nanos: f64) -> Option<ColumnValue> {
    Some(ColumnValue::Number(nanos / 1e9))
}

fn at(instant: Instant) -> Option<ColumnValue> {
    seconds(instant.as_nanos() as f64)
}

/// Returns the time from one instant to a later one, in seconds; below zero where it is earlier.
fn span(from: Option<Instant>, to: Option<Instant>) -> Option<ColumnValue> {
    let (from, to) = (from?.as_nanos(), to?.as_nanos());
    let nanos = if to >= from { (to - from) as f64 } else { -((from - to) as f64) };
    seconds(nanos)
}

fn purpose(link: Link) -> &'static str {
    match link {
        Link::CONNECTIONS => "connection",
        Link::IDLE => "echo-idle",
        Link::LOADED => "echo-loaded",
        _ => "test",
    }
}

fn link(link: Link) -> Option<ColumnValue> {
    if link.is_beside() { None } else { count(link.0) }
}

fn cause(probe: &Probe) -> Option<ColumnValue> {
    if let Fate::Lost(cause) = probe.fate { text(cause.name()) } else { None }
}

fn rate(interval: &Interval) -> Option<ColumnValue> {
    let nanos = interval.end.as_nanos().checked_sub(interval.start.as_nanos())?;
    (nanos > 0).then(|| ColumnValue::Number(interval.bytes as f64 * 8e9 / nanos as f64))
}

fn reads(interval: &Interval, class: usize) -> Option<ColumnValue> {
    interval.read_sizes.and_then(|it| count(it[class]))
}
