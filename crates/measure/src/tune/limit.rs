//! Limits of a link's throughput, and the round trip that some of them depend on.

use super::want::Metric;
use super::words::{bytes, number};
use crate::limit::wifi::{DATAGRAM_OF_IPERF, DataFrames, IP, UDP};
use crate::table::{Column, Table, TableRow};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// Source of a round trip.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundTripSource {
    /// Somebody said it.
    #[default]
    Given,
    /// The median of a stored run.
    Run(String),
    /// A ping in a lab's place.
    Lab(String),
}

/// Round trip to the other side, of a packet as small as a ping's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// The time.
    pub time: Duration,
    /// Source of the round trip.
    pub source: RoundTripSource,
}

impl From<Duration> for RoundTrip {
    fn from(time: Duration) -> Self {
        Self { time, source: RoundTripSource::Given }
    }
}

impl RoundTrip {
    /// Returns the time in milliseconds.
    #[must_use]
    pub fn ms(&self) -> f64 {
        self.time.as_secs_f64() * 1e3
    }

    /// Describes it with its source: `round trip 1.4 ms (a ping in lab shield-box)`.
    #[must_use]
    pub fn words(&self) -> String {
        let source = match &self.source {
            RoundTripSource::Given => "as said".to_string(),
            RoundTripSource::Run(name) => format!("median of run {name}"),
            RoundTripSource::Lab(name) => format!("a ping in lab {name}"),
        };
        format!("round trip {} ms ({source})", number(self.ms()))
    }
}

/// Cause of a limit of throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitCause {
    /// TCP's send buffers over the round trip.
    SendBuffer,
    /// TCP's windows over the round trip.
    Window,
    /// The mailbox of a socket.
    Mailbox,
    /// Time of the processor for each packet.
    Processor,
    /// The driver's buffers.
    Buffers,
    /// Air time of frames, aggregated as far as the block-ack windows allow.
    Air,
}

impl LimitCause {
    /// Returns the cause in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::SendBuffer => "send buffer / round trip",
            Self::Window => "window / round trip",
            Self::Mailbox => "mailbox",
            Self::Processor => "processor",
            Self::Buffers => "driver's buffers",
            Self::Air => "air",
        }
    }
}

/// A limit of a throughput.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThroughputLimit {
    /// Cause.
    pub cause: LimitCause,
    /// Most that it allows in Mbit/s; `None` where a model of it has no bound.
    pub at_most_mbit_s: Option<f64>,
    /// Throughput in the lab with this limit alone lifted, in Mbit/s.
    pub lifted_mbit_s: Option<f64>,
    /// Value behind it: `5760 B`, `6 frames an aggregate`.
    pub what: String,
}

/// Limits of one direction of one transport, the bottleneck first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DirectionLimits {
    /// Throughput that is limited.
    pub metric: Metric,
    /// Throughput in the lab, in Mbit/s, with the seed that limits were lifted with.
    pub simulated_mbit_s: Option<f64>,
    /// Limits: the one that gives most when it is lifted, and the others by their bounds, ascending.
    pub limits: Vec<ThroughputLimit>,
}

/// A limit that gives less than this share when it is lifted is not what holds the link back.
const GIVES: f64 = 1.02;

/// A bound of which less than this share is reached is not what holds the link back, whatever its
/// lifting gives: what else is in the way gives way, too.
const NEAR: f64 = 0.4;

impl DirectionLimits {
    /// Puts the limits in their order: the bottleneck is what gives most when it alone is lifted, of
    /// those whose bounds are near; if nothing does, it is the least bound.
    #[must_use]
    pub fn ranked(mut self) -> Self {
        let bound = |it: &ThroughputLimit| it.at_most_mbit_s.unwrap_or(f64::INFINITY);
        self.limits.sort_by(|a, b| bound(a).total_cmp(&bound(b)));
        let now = self.simulated_mbit_s.unwrap_or(f64::INFINITY);
        let gain = |it: &ThroughputLimit| it.lifted_mbit_s.unwrap_or(0.0);
        let best = (0..self.limits.len())
            .filter(|at| gain(&self.limits[*at]) > GIVES * now)
            .filter(|at| self.limits[*at].at_most_mbit_s.is_none_or(|it| now >= NEAR * it))
            .max_by(|a, b| gain(&self.limits[*a]).total_cmp(&gain(&self.limits[*b])));
        if let Some(at) = best {
            let first = self.limits.remove(at);
            self.limits.insert(0, first);
        }
        self
    }

    /// Returns the bottleneck.
    #[must_use]
    pub fn bottleneck(&self) -> Option<&ThroughputLimit> {
        self.limits.first()
    }

    /// Returns the throughput without the bottleneck over that with it; 1 where it gives nothing, or
    /// nobody has tried.
    #[must_use]
    pub fn gain(&self) -> f64 {
        let lifted = self.bottleneck().and_then(|it| it.lifted_mbit_s);
        let now = self.simulated_mbit_s.filter(|it| *it > 0.0);
        let gain = lifted.zip(now).map_or(1.0, |(then, now)| then / now);
        if gain > GIVES { gain } else { 1.0 }
    }

    /// Says what holds the direction back, and what it does without that; none where nothing is known to.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        let first = self.bottleneck()?;
        let now = self.simulated_mbit_s.map(|it| format!(" {} Mbit/s", number(it)));
        let most = first.at_most_mbit_s.map(|it| format!(", at most {} Mbit/s", number(it)));
        // The bottleneck's own bound need not be the least one.
        let bound = |it: &&ThroughputLimit| it.at_most_mbit_s == self.at_most_mbit_s();
        let least = self.limits.iter().find(bound).filter(|it| it.cause != first.cause);
        let least = least.zip(first.at_most_mbit_s).and_then(|(it, _)| {
            Some(format!(" for it, {} for the {}", number(it.at_most_mbit_s?), it.cause.words()))
        });
        let lifted = first.lifted_mbit_s.filter(|_| self.gain() > 1.0);
        let lifted = lifted.map(|it| format!("; {} without it", number(it)));
        Some(format!(
            "{}{}: {} ({}){}{}{}",
            self.metric.words(),
            now.unwrap_or_default(),
            first.cause.words(),
            first.what,
            most.unwrap_or_default(),
            least.unwrap_or_default(),
            lifted.unwrap_or_default()
        ))
    }

    /// Returns the least bound, in Mbit/s: the link is no faster.
    #[must_use]
    pub fn at_most_mbit_s(&self) -> Option<f64> {
        self.limits.iter().filter_map(|it| it.at_most_mbit_s).reduce(f64::min)
    }
}

/// Returns the most that so many bytes on the way carry, for all streams, in Mbit/s.
#[must_use]
pub fn over_round_trip(streams: u16, bytes: u32, rtt: Duration) -> f64 {
    8.0 * f64::from(streams) * f64::from(bytes) / rtt.as_secs_f64() / 1e6
}

/// Returns the limits of TCP in one direction that follow from a window or a send buffer.
#[must_use]
pub fn in_flight(metric: Metric, streams: u16, size: u32, rtt: &RoundTrip) -> ThroughputLimit {
    let cause = if metric == Metric::TcpRx { LimitCause::Window } else { LimitCause::SendBuffer };
    let all = if streams > 1 { format!("{streams} x ") } else { String::new() };
    ThroughputLimit {
        cause,
        at_most_mbit_s: Some(over_round_trip(streams, size, rtt.time)),
        lifted_mbit_s: None,
        what: format!("{all}{} in {} ms", bytes(size), number(rtt.ms())),
    }
}

/// Returns the most that the air carries of a test whose facts these are, in Mbit/s: full segments
/// with an acknowledgement for every second one, or datagrams of 1470 bytes.
#[must_use]
pub fn air(metric: Metric, facts: &BTreeMap<String, String>) -> Option<ThroughputLimit> {
    let frames = DataFrames::from_facts(facts)?;
    let mbit_s = match metric {
        Metric::TcpTx | Metric::TcpRx => frames.stream() * 8e3,
        Metric::UdpTx | Metric::UdpRx => {
            f64::from(DATAGRAM_OF_IPERF) * 8e3 / frames.each(IP + UDP + DATAGRAM_OF_IPERF)
        }
        _ => return None,
    };
    let what = match frames.frames {
        0 | 1 => format!("{}, no aggregates", frames.mode),
        n => format!("{}, {n} frames an aggregate", frames.mode),
    };
    let cause = LimitCause::Air;
    Some(ThroughputLimit { cause, at_most_mbit_s: Some(mbit_s), lifted_mbit_s: None, what })
}

/// A want that no setting can reach, with the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct BeyondReach {
    /// The want.
    pub want: super::Want,
    /// Best that can be, in the metric's unit.
    pub best: f64,
    /// Cause, in words.
    pub why: String,
}

impl BeyondReach {
    /// Says that the want cannot be met, and why.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { want, best, why } = self;
        let least = if want.metric.more() { "at most" } else { "at least" };
        format!(
            "{want} cannot be met: {why}, so {} is {least} {} {}.",
            want.metric.words(),
            number(*best),
            want.metric.unit()
        )
    }
}

/// Puts directions in order: the one whose bottleneck gives most when it is lifted first, the others by
/// their least bounds, ascending.
pub fn rank(limits: &mut [DirectionLimits]) {
    limits.sort_by(|a, b| {
        let bound = |it: &DirectionLimits| it.at_most_mbit_s().unwrap_or(f64::INFINITY);
        b.gain().total_cmp(&a.gain()).then_with(|| bound(a).total_cmp(&bound(b)))
    });
}

/// Returns the limits as a table with a row for each direction, in their order; none where there are
/// no limits.
#[must_use]
pub fn table(limits: &[DirectionLimits], title: &str) -> Option<Table> {
    let row = |it: &DirectionLimits| {
        let first = it.bottleneck()?;
        let bound = |it: &ThroughputLimit| match it.at_most_mbit_s {
            Some(most) => format!("{} {}", it.cause.words(), number(most)),
            None => it.cause.words().into(),
        };
        let others: Vec<String> =
            it.limits[1..].iter().filter(|it| it.at_most_mbit_s.is_some()).map(bound).collect();
        let lifted = first.lifted_mbit_s.zip(it.simulated_mbit_s);
        let lifted = lifted.filter(|(then, now)| *then > GIVES * now).map(|it| number(it.0));
        Some(alloc::vec![
            Some(it.metric.words().into()),
            it.simulated_mbit_s.map(number),
            Some(format!("{} ({})", bound(first), first.what)),
            lifted,
            Some(others.join(", ")),
        ])
    };
    let rows: Vec<TableRow> = limits.iter().filter_map(row).collect();
    let columns = alloc::vec![
        Column::words("Mbit/s"),
        Column::setting("simulated", ""),
        Column::words("bottleneck: at most"),
        Column::setting("if lifted", ""),
        Column::words("other bounds"),
    ];
    (!rows.is_empty()).then(|| Table {
        id: "tune-limits".into(),
        section: super::SECTION.into(),
        title: title.into(),
        columns,
        rows,
        notes: alloc::vec![LIMITS.into()],
        ..Table::default()
    })
}

/// Explanation of the table of limits.
const LIMITS: &str = "A window or send buffer over the round trip, the processor's time for a packet \
    and the air time of a frame are bounds: no link is faster. The bottleneck is what gives most in the \
    lab when it alone is lifted, if 40 % of its bound are reached; where nothing gives 2 %, it is the \
    least bound.";

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn limit(cause: LimitCause, bound: Option<f64>, lifted: f64) -> ThroughputLimit {
        ThroughputLimit {
            cause,
            at_most_mbit_s: bound,
            lifted_mbit_s: Some(lifted),
            what: String::new(),
        }
    }

    #[test]
    fn the_bottleneck_is_what_gives_most_when_it_is_lifted() {
        let of = |lifted: [f64; 3]| {
            let limits = vec![
                limit(LimitCause::Air, Some(80.0), lifted[0]),
                limit(LimitCause::Processor, Some(35.0), lifted[1]),
                limit(LimitCause::SendBuffer, Some(50.0), lifted[2]),
            ];
            let it =
                DirectionLimits { metric: Metric::TcpTx, simulated_mbit_s: Some(25.0), limits };
            it.ranked().limits.into_iter().map(|it| it.cause).collect::<vec::Vec<_>>()
        };
        use LimitCause::{Air, Processor, SendBuffer};
        assert_eq!(of([25.0, 27.0, 34.0]), [SendBuffer, Processor, Air]);
        assert_eq!(of([25.1, 25.2, 25.0]), [Processor, SendBuffer, Air], "nothing gives anything");
        assert_eq!(of([40.0, 27.0, 34.0]), [SendBuffer, Processor, Air], "the air is not near");
    }

    #[test]
    fn a_round_trip_says_where_it_is_from() {
        let rtt = |source| RoundTrip { time: Duration::from_micros(1420), source };
        assert_eq!(rtt(RoundTripSource::Given).words(), "round trip 1.42 ms (as said)");
        assert_eq!(
            rtt(RoundTripSource::Lab("x".into())).words(),
            "round trip 1.42 ms (a ping in lab x)"
        );
        assert!((over_round_trip(1, 5760, Duration::from_millis(5)) - 9.216).abs() < 1e-9);
    }
}
