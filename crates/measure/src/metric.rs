//! Meaning of a metric's name: the quantity, its statistic, and which direction is better.
//!
//! A name is a quantity, such as `rtt`, and an ending that names the statistic, such as `_p99`.
//! Without an ending it is the figure over the whole test, which for a rate is its mean.

mod known;
mod registry;

pub use known::{check, known};
pub use registry::{MetricFacts, registry};

use crate::cell::{Cell, Origin};
use crate::units::Dimension;

/// Which of two values is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Times, losses, spread.
    Lower,
    /// Rates, free memory.
    Higher,
    /// A count or a setting: neither.
    Neither,
}

impl Better {
    /// Returns the word for programs: `lower`, `higher` or `neither`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Higher => "higher",
            Self::Neither => "neither",
        }
    }
}

/// Statistic of the observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The smallest.
    Min,
    /// The 5th percentile.
    P05,
    /// The median.
    P50,
    /// The mean, or the total over the whole time.
    Mean,
    /// The 90th percentile.
    P90,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
    /// The 99.9th percentile.
    P999,
    /// The largest.
    Max,
    /// The best second (or other interval) of a test.
    Best,
    /// One standard deviation.
    Deviation,
    /// Three standard deviations.
    Deviation3,
    /// Six standard deviations.
    Deviation6,
}

/// The endings of metric names. The first of equal statistics is the usual one.
const ENDINGS: [(&str, Statistic); 15] = [
    ("_min", Statistic::Min),
    ("_p05", Statistic::P05),
    ("_p50", Statistic::P50),
    ("_avg", Statistic::Mean),
    ("_p90", Statistic::P90),
    ("_p95", Statistic::P95),
    ("_p99", Statistic::P99),
    ("_p999", Statistic::P999),
    ("_max", Statistic::Max),
    ("_best_second", Statistic::Best),
    ("_best", Statistic::Best),
    ("_stddev", Statistic::Deviation),
    ("_3sigma", Statistic::Deviation3),
    ("_6sigma", Statistic::Deviation6),
    ("_mean", Statistic::Mean),
];

impl Statistic {
    /// Returns the statistic in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Min => "the smallest",
            Self::P05 => "the 5th percentile",
            Self::P50 => "the median",
            Self::Mean => "the mean",
            Self::P90 => "the 90th percentile",
            Self::P95 => "the 95th percentile",
            Self::P99 => "the 99th percentile",
            Self::P999 => "the 99.9th percentile",
            Self::Max => "the largest",
            Self::Best => "the best second",
            Self::Deviation => "one standard deviation",
            Self::Deviation3 => "three standard deviations",
            Self::Deviation6 => "six standard deviations",
        }
    }

    /// Returns where the statistic lies on the way from the smallest to the largest; `None` for a
    /// spread, which is no place on it. The statistic nearest to another is the one with the
    /// nearest place.
    #[must_use]
    pub const fn place(self) -> Option<u8> {
        match self {
            Self::Min => Some(0),
            Self::P05 => Some(1),
            Self::P50 => Some(3),
            Self::Mean => Some(4),
            Self::P90 => Some(5),
            Self::P95 => Some(6),
            Self::P99 => Some(7),
            Self::P999 => Some(8),
            Self::Max | Self::Best => Some(9),
            Self::Deviation | Self::Deviation3 | Self::Deviation6 => None,
        }
    }
}

/// Returns the quantity and the statistic that a metric's name stands for.
#[must_use]
pub fn parse(metric: &str) -> (&str, Statistic) {
    ENDINGS
        .iter()
        .find_map(|(ending, statistic)| Some((metric.strip_suffix(ending)?, *statistic)))
        .unwrap_or((metric, Statistic::Mean))
}

/// Returns the quantity and the statistic of a cell. One document names another statistic than its
/// metric does: ESP-IDF's ESP32-C3 guide gives "the best throughput results", and its own test
/// harness keeps the best one-second interval, so that is what the table `esp32c3-best` holds.
#[must_use]
pub fn of(cell: &Cell) -> (&str, Statistic) {
    let (quantity, statistic) = parse(&cell.id.metric);
    if cell.origin == Origin::Published && cell.id.table == "esp32c3-best" {
        return (quantity, Statistic::Best);
    }
    (quantity, statistic)
}

/// Quantities whose direction their unit does not tell; also with a further word, as in `loss_rx`.
const DIRECTIONS: [(&str, Better); 22] = [
    // In percent.
    ("loss", Better::Lower),
    // A count of something unwanted.
    ("packets_refused", Better::Lower),
    // A rate of something unwanted.
    ("queue_drop_rate", Better::Lower),
    // In kilobytes.
    ("available_heap", Better::Higher),
    ("connect_rate", Better::Higher),
    ("client_fairness", Better::Higher),
    ("fairness", Better::Higher),
    ("devices_served", Better::Higher),
    ("hops_reached", Better::Higher),
    ("free_heap", Better::Higher),
    // Of a prediction: in percent, in devices, in metres.
    ("acknowledged", Better::Higher),
    ("largest_fleet", Better::Higher),
    ("range", Better::Higher),
    // A time that is to be long.
    ("battery_life", Better::Higher),
    // What was asked for, or handed to the network: not what came out of it.
    ("offered_rate", Better::Neither),
    ("message_rate_offered", Better::Neither),
    ("message_rate_sent", Better::Neither),
    ("throughput_sent", Better::Neither),
    ("interarrival", Better::Neither),
    ("offered", Better::Neither),
    ("interval", Better::Neither),
    ("duration", Better::Neither),
];

/// Returns which direction is better for a metric in that unit. A spread is better low, whatever it
/// is a spread of. Otherwise times are better low and rates high; counts, sizes and settings are
/// neither.
#[must_use]
pub fn better(metric: &str, unit: &str) -> Better {
    let (quantity, statistic) = parse(metric);
    let named = |name: &str| {
        quantity.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    if let Some((_, better)) = DIRECTIONS.iter().find(|(name, _)| named(name)) {
        return *better;
    }
    let dimension = Dimension::of(unit).map(|(dimension, _)| dimension);
    match dimension {
        Some(Dimension::Time | Dimension::Current | Dimension::Charge) => Better::Lower,
        Some(Dimension::BitRate | Dimension::Rate) if statistic.place().is_none() => Better::Lower,
        Some(Dimension::BitRate | Dimension::Rate) => Better::Higher,
        Some(Dimension::Size | Dimension::Length | Dimension::Proportion) | None => Better::Neither,
    }
}

/// Counts of what was lost or refused: no more than was sent or tried.
const LOST: [&str; 5] =
    ["packets_lost", "packets_lost_rx", "packets_lost_tx", "packets_refused", "messages_lost"];

/// Returns whether a metric counts what was lost or refused of what was to be sent.
pub(crate) fn is_count_of_lost(metric: &str) -> bool {
    LOST.contains(&metric)
}

/// Returns whether values in that unit are rates: their theoretical limit is the greatest value, and that of
/// others the least.
#[must_use]
pub fn is_rate(unit: &str) -> bool {
    matches!(Dimension::of(unit), Some((Dimension::BitRate | Dimension::Rate, _)))
}

/// Returns whether values in that unit are parts of a whole. Such values are compared by their
/// difference: the ratio of two losses says nothing where one of them is zero.
#[must_use]
pub fn is_proportion(unit: &str) -> bool {
    matches!(Dimension::of(unit), Some((Dimension::Proportion, _)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_quantity_and_statistic() {
        assert_eq!(parse("rtt_p999"), ("rtt", Statistic::P999));
        assert_eq!(parse("rtt_kernel_p50"), ("rtt_kernel", Statistic::P50));
        assert_eq!(parse("rtt_3sigma"), ("rtt", Statistic::Deviation3));
        assert_eq!(parse("throughput_rx_best_second"), ("throughput_rx", Statistic::Best));
        assert_eq!(parse("throughput_rx_best"), ("throughput_rx", Statistic::Best));
        assert_eq!(parse("throughput_rx"), ("throughput_rx", Statistic::Mean));
    }

    #[test]
    fn every_direction_by_example() {
        for (metric, unit, wanted) in [
            ("rtt_p99", "ms", Better::Lower),
            ("rtt_3sigma", "ms", Better::Lower),
            ("jitter", "us", Better::Lower),
            ("loss", "percent", Better::Lower),
            ("queue_drop_rate", "messages/s", Better::Lower),
            ("ota_time", "s", Better::Lower),
            ("throughput_tx", "Mbit/s", Better::Higher),
            ("effective_rate", "bit/s", Better::Higher),
            ("message_rate_min", "messages/s", Better::Higher),
            ("message_rate_stddev", "messages/s", Better::Lower),
            ("available_heap", "KB", Better::Higher),
            ("free_heap_min", "KB", Better::Higher),
            ("heap_peak", "KB", Better::Neither),
            ("acknowledged", "percent", Better::Higher),
            ("acknowledgement_p99", "ms", Better::Lower),
            ("largest_fleet", "devices", Better::Higher),
            ("range", "m", Better::Higher),
            ("battery_life", "h", Better::Higher),
            ("current_mean", "mA", Better::Lower),
            ("charge_per_message", "uC", Better::Lower),
            ("probes_late", "probes", Better::Neither),
            ("packets_total", "packets", Better::Neither),
            ("fairness", "index", Better::Higher),
            ("packets_refused", "packets", Better::Lower),
            ("loss_of_offered", "percent", Better::Lower),
            ("TCP_WND_DEFAULT", "KB", Better::Neither),
            ("message_rate_offered", "messages/s", Better::Neither),
            ("message_rate_sent_avg", "messages/s", Better::Neither),
            ("in_flight_end", "B", Better::Neither),
        ] {
            assert_eq!(better(metric, unit), wanted, "{metric}");
        }
    }
}
