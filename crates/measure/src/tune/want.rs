//! Goals for a firmware.

use super::outcome::Evaluation;
use crate::units::{self, Dimension};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use espbench_model::speech::{self, Asker, FlagName, FlagValue};
use espbench_model::text::meant;
use serde::{Deserialize, Serialize};

/// Metric that a candidate is judged by. Directions are the device's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// TCP that it sends, Mbit/s.
    TcpTx,
    /// TCP that it receives, Mbit/s.
    TcpRx,
    /// UDP that it sends and that arrives, Mbit/s.
    UdpTx,
    /// UDP that it receives, Mbit/s.
    UdpRx,
    /// Mean UDP round trip, ms.
    UdpLatency,
    /// 99th percentile of UDP round trips, ms.
    UdpLatencyP99,
    /// The least free heap that there was, KB.
    Heap,
    /// Mean current while it sends a message now and then, mA.
    Current,
    /// Life of a battery with that current, in days.
    Battery,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 9] = [
        Self::TcpTx,
        Self::TcpRx,
        Self::UdpTx,
        Self::UdpRx,
        Self::UdpLatency,
        Self::UdpLatencyP99,
        Self::Heap,
        Self::Current,
        Self::Battery,
    ];

    /// Returns the metric's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TcpTx => "tcp-tx",
            Self::TcpRx => "tcp-rx",
            Self::UdpTx => "udp-tx",
            Self::UdpRx => "udp-rx",
            Self::UdpLatency => "udp-latency",
            Self::UdpLatencyP99 => "udp-latency-p99",
            Self::Heap => "heap",
            Self::Current => "current",
            Self::Battery => "battery",
        }
    }

    /// Returns the unit of the metric's values.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::TcpTx | Self::TcpRx | Self::UdpTx | Self::UdpRx => "Mbit/s",
            Self::UdpLatency | Self::UdpLatencyP99 => "ms",
            Self::Heap => "KB",
            Self::Current => "mA",
            Self::Battery => "days",
        }
    }

    /// Returns whether more is better.
    #[must_use]
    pub const fn more(self) -> bool {
        !matches!(self, Self::UdpLatency | Self::UdpLatencyP99 | Self::Current)
    }

    /// Returns whether it is another one where the station sleeps: throughput and heap are those of a busy one.
    #[must_use]
    pub const fn depends_on_sleep(self) -> bool {
        matches!(self, Self::UdpLatency | Self::UdpLatencyP99 | Self::Current | Self::Battery)
    }

    /// Returns the most that makes sense to want, and an example of a goal.
    const fn most(self) -> (f64, &'static str) {
        match self {
            Self::TcpTx => (10_000.0, "tcp-tx>=20Mbit/s"),
            Self::TcpRx => (10_000.0, "tcp-rx>=20Mbit/s"),
            Self::UdpTx => (10_000.0, "udp-tx>=20Mbit/s"),
            Self::UdpRx => (10_000.0, "udp-rx>=20Mbit/s"),
            Self::UdpLatency => (3_600_000.0, "udp-latency<=10ms"),
            Self::UdpLatencyP99 => (3_600_000.0, "udp-latency-p99<=20ms"),
            Self::Heap => (1_000_000.0, "heap>=100KB"),
            Self::Current => (10_000.0, "current<=5mA"),
            Self::Battery => (36_500.0, "battery>=30d"),
        }
    }

    /// Returns the metric in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::TcpTx => "TCP sending",
            Self::TcpRx => "TCP receiving",
            Self::UdpTx => "UDP sending",
            Self::UdpRx => "UDP receiving",
            Self::UdpLatency => "mean UDP round trip",
            Self::UdpLatencyP99 => "p99 of UDP round trips",
            Self::Heap => "free heap",
            Self::Current => "mean current",
            Self::Battery => "battery life",
        }
    }
}

/// A limit that a metric shall keep: at least, where more is better, at most otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Want {
    /// Metric that is limited.
    pub metric: Metric,
    /// Limit, in the metric's unit.
    pub value: f64,
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.metric.more() { ">=" } else { "<=" };
        write!(f, "{}{sign}{}{}", self.metric.name(), self.value, self.metric.unit())
    }
}

impl Want {
    /// Returns how far an outcome is from the goal: the logarithm of the factor that it misses, so that
    /// 1 % of a value counts alike far and near; 0 where it is reached, [`FARTHEST`] at most.
    #[must_use]
    pub fn shortfall(&self, outcome: &Evaluation) -> f64 {
        let Some(value) = outcome.value(self.metric) else { return FARTHEST };
        let (least, most) =
            if self.metric.more() { (value, self.value) } else { (self.value, value) };
        match least > 0.0 {
            true => libm::log(most / least).clamp(0.0, FARTHEST),
            false => FARTHEST,
        }
    }
}

/// Distance of an outcome that has nothing of a goal.
pub const FARTHEST: f64 = 10.0;

impl FromStr for Want {
    type Err = String;

    /// Parses `tcp-tx>=20Mbit/s`, `udp-latency <= 10 ms`, `heap>=100KB`, `battery>=30d`.
    fn from_str(text: &str) -> Result<Self, String> {
        let example = "write it as tcp-tx>=20Mbit/s";
        if let Some((first, rest)) = text.split_once(',') {
            let (first, rest) = (first.trim(), rest.trim());
            return Err(match speech::asker() {
                Asker::Terminal => format!("say each by itself: --want '{first}' --want '{rest}'"),
                Asker::Caller => format!("say each by itself: want=[\"{first}\", \"{rest}\"]"),
            });
        }
        let Some(at) = text.find(['<', '>', '=']) else {
            return Err(format!("`{text}` has no limit: {example}"));
        };
        let (name, rest) = (text[..at].trim(), &text[at..]);
        let Some(metric) = Metric::ALL.into_iter().find(|it| it.name() == name) else {
            return Err(unknown(name));
        };
        let wanted = if metric.more() { ">=" } else { "<=" };
        let Some(value) = rest.strip_prefix(wanted) else {
            let better = if metric.more() { "more" } else { "less" };
            return Err(format!("of {name} {better} is better: write {name}{wanted}…"));
        };
        let value = quantity(metric, value.trim())?;
        let (most, example) = metric.most();
        if !(value > 0.0 && value.is_finite()) {
            return Err(format!("`{text}` asks for nothing: write it as {example}"));
        }
        if value > most {
            return Err(format!(
                "`{text}` is beyond anything: at most {most}{}, as {example}",
                metric.unit()
            ));
        }
        Ok(Self { metric, value })
    }
}

fn unknown(name: &str) -> String {
    // What is a flag of its own.
    let flag = match name {
        "streams" => Some(FlagValue("--streams", "2")),
        "rtt" => Some(FlagValue("--rtt", "20ms")),
        "burst" => Some(FlagValue("--burst", "16")),
        _ => None,
    };
    if let Some(flag) = flag {
        // A burst is of the check of a file, which in a program is a function of its own.
        let is_of_check = name == "burst" && speech::asker() == Asker::Terminal;
        let check = if is_of_check { "--check FILE " } else { "" };
        return format!("`{name}` is no want, but a flag: {check}{flag}");
    }
    let names = Metric::ALL.map(Metric::name);
    let hint = match meant(name, &names) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("there are {}", names.join(", ")),
    };
    format!("`{name}` is no goal that {} knows; {hint}", FlagName("--want"))
}

/// Parses a value in the metric's unit.
fn quantity(metric: Metric, text: &str) -> Result<f64, String> {
    let own = |factors: &[(&str, f64)], example: &str| {
        let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic()).trim_end();
        let unit = text[digits.len()..].trim_start();
        let factor = factors.iter().find(|it| it.0 == unit).map(|it| it.1);
        let number = digits.parse::<f64>().ok().filter(|it| it.is_finite());
        match (number, factor) {
            (Some(number), Some(factor)) => Ok(number * factor),
            _ => Err(format!(
                "`{text}` is no value of {}: write a number and a unit, as {example}",
                metric.name()
            )),
        }
    };
    match metric.unit() {
        "Mbit/s" => units::parse(text, Dimension::BitRate).map(|it| it / 1e6),
        "ms" => units::parse(text, Dimension::Time).map(|it| it * 1e3),
        "KB" => own(&[("B", 1.0 / 1024.0), ("KB", 1.0), ("KiB", 1.0), ("MB", 1024.0)], "100KB"),
        "mA" => own(&[("mA", 1.0), ("uA", 1e-3), ("A", 1e3)], "5mA"),
        _ => own(
            &[("h", 1.0 / 24.0), ("d", 1.0), ("days", 1.0), ("months", 30.0), ("years", 365.0)],
            "30d",
        ),
    }
}

/// Returns the metrics that candidates are compared by: those of the goals, and the heap, which
/// pays for them.
#[must_use]
pub fn objectives(wants: &[Want]) -> Vec<Metric> {
    let mut all: Vec<Metric> = wants.iter().map(|it| it.metric).collect();
    all.push(Metric::Heap);
    all.sort_unstable();
    all.dedup();
    // A battery's life is a current in other words.
    if all.contains(&Metric::Battery) {
        all.retain(|it| *it != Metric::Current);
    }
    all
}

/// Wants as people say them.
#[must_use]
pub fn said(wants: &[Want]) -> String {
    wants.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<(Metric, f64), String> {
        text.parse::<Want>().map(|it| (it.metric, it.value))
    }

    #[test]
    fn wants_are_read() {
        assert_eq!(value("tcp-tx>=20Mbit/s"), Ok((Metric::TcpTx, 20.0)));
        assert_eq!(value(" udp-latency <= 10 ms "), Ok((Metric::UdpLatency, 10.0)));
        assert_eq!(value("heap>=100KB"), Ok((Metric::Heap, 100.0)));
        assert_eq!(value("battery>=48h"), Ok((Metric::Battery, 2.0)));
        assert_eq!(value("current<=500uA"), Ok((Metric::Current, 0.5)));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_to_do() {
        let wrong = |text| value(text).unwrap_err();
        assert_eq!(wrong("tcp-tx"), "`tcp-tx` has no limit: write it as tcp-tx>=20Mbit/s");
        assert_eq!(
            wrong("tpc-tx>=1Mbit/s"),
            "`tpc-tx` is no goal that --want knows; did you mean tcp-tx?"
        );
        assert!(wrong("goodness>=1").contains("there are tcp-tx, tcp-rx"));
        assert_eq!(wrong("tcp-tx<=20Mbit/s"), "of tcp-tx more is better: write tcp-tx>=…");
        assert!(wrong("tcp-tx>=20").contains("unit"));
        assert!(wrong("heap>=100").contains("as 100KB"));
        assert_eq!(
            wrong("udp-latency<=0ms"),
            "`udp-latency<=0ms` asks for nothing: write it as udp-latency<=10ms"
        );
        assert_eq!(
            wrong("tcp-tx>=1e30Mbit/s"),
            "`tcp-tx>=1e30Mbit/s` is beyond anything: at most 10000Mbit/s, as tcp-tx>=20Mbit/s"
        );
        assert_eq!(
            wrong("tcp-tx>=2Mbit/s, heap>=9KB"),
            "say each by itself: --want 'tcp-tx>=2Mbit/s' --want 'heap>=9KB'"
        );
        assert_eq!(wrong("streams>=2"), "`streams` is no want, but a flag: --streams 2");
        assert!(value("battery>=infd").is_err() && value("heap>=nanKB").is_err());
    }

    #[test]
    fn a_want_is_printed_as_it_is_read() {
        for text in ["tcp-rx>=20Mbit/s", "udp-latency-p99<=12.5ms", "heap>=64KB", "battery>=30days"]
        {
            let want: Want = text.parse().unwrap();
            assert_eq!(want.to_string(), text);
        }
    }

    proptest::proptest! {
        /// Whatever is said, it is a want that prints as itself, or it is told what to say.
        #[test]
        fn any_text_is_a_want_or_told_what_to_do(
            text in "((tcp|udp)-(tx|rx|latency|latency-p99)|heap|current|battery|\\PC{0,6})[ ]{0,2}(>=|<=|=|)[ ]?[-+0-9.einfa]{0,8}(Mbit/s|ms|KB|mA|d|\\PC{0,4})"
        ) {
            match text.parse::<Want>() {
                Ok(want) => {
                    proptest::prop_assert!(want.value > 0.0 && want.value.is_finite());
                    let again: Want = want.to_string().parse().unwrap();
                    proptest::prop_assert_eq!(again.metric, want.metric);
                    proptest::prop_assert!((again.value / want.value - 1.0).abs() < 1e-9);
                }
                Err(told) => proptest::prop_assert!(!told.is_empty()),
            }
        }
    }

    #[test]
    fn the_heap_is_always_compared() {
        let wants =
            ["battery>=30d", "current<=5mA", "tcp-tx>=1Mbit/s"].map(|it| it.parse().unwrap());
        assert_eq!(objectives(&wants), [Metric::TcpTx, Metric::Heap, Metric::Battery]);
    }
}
