//! The advice in words.

use super::Advice;
use crate::digits::plain;
use crate::table::unit_sign;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use espbench_model::text::counted;
use espbench_stats::quantile;

impl Advice {
    /// Returns what was seen, why it matters, and what to try, in plain sentences.
    #[must_use]
    pub fn text(&self) -> String {
        let [seen, why, what] = self.parts();
        format!("{seen} {why} {what}")
    }

    /// Returns the three parts: what was seen, why it matters, what to try.
    #[must_use]
    pub fn parts(&self) -> [String; 3] {
        match self {
            Self::FewSamples { metric, value, unit, n, needed } => {
                few_samples(metric, [*value, *n as f64], unit, *needed)
            }
            Self::Bimodal { metric, low, high, unit } => bimodal(metric, *low, *high, unit),
            Self::Drifting { metric, first, last, unit } => drifting(metric, *first, *last, unit),
            Self::ClockTooCoarse { metric, step_ns, value_ns } => {
                clock(metric, *step_ns, *value_ns)
            }
            Self::SocketBufferOverflow { dropped } => overflow(*dropped),
            Self::SenderBehind { asked, kept, unit, response_ms, simulated } => {
                behind([*asked, *kept], unit, *response_ms, *simulated)
            }
            Self::CommandCut { characters } => command_cut(*characters),
            Self::SendsRefused { refused, offered } => refused_sends(*refused, *offered),
            Self::BeaconComb { median_ms, period_ms, .. } => comb(*median_ms, *period_ms),
            Self::CertificateNotVerified => not_verified(),
            Self::BeyondModel { farthest_m, valid_m } => beyond_model(*farthest_m, *valid_m),
        }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

fn few_samples(metric: &str, [value, n]: [f64; 2], unit: &str, needed: u64) -> [String; 3] {
    // No quantile takes fewer than a median.
    let (why, what) = if needed <= quantile::needed(0.5) {
        ("The true median may be far from it.", format!("Take {needed} samples or more."))
    } else {
        (
            "The tail may be much longer than the figure says.",
            format!("Take {needed} samples or more, or read a lower quantile."),
        )
    };
    [
        format!(
            "{metric}, {}: {n} {} too few to enclose it from both sides.",
            amount(value, unit),
            if n == 1.0 { "sample is" } else { "samples are" }
        ),
        why.to_string(),
        what,
    ]
}

/// Returns a value with its unit.
fn amount(value: f64, unit: &str) -> String {
    format!("{} {}", plain(value), unit_sign(unit))
}

fn bimodal(metric: &str, low: f64, high: f64, unit: &str) -> [String; 3] {
    let (low, high) = (amount(low, unit), amount(high, unit));
    [
        format!("{metric}: the values fall into two groups, around {low} and {high}."),
        "A mean or a median then describes neither of them.".to_string(),
        "Look at the distribution; power save, retries and a scan each make an upper group. \
         Switch one off and compare."
            .to_string(),
    ]
}

fn drifting(metric: &str, first: f64, last: f64, unit: &str) -> [String; 3] {
    let direction = if last > first { "grows" } else { "falls" };
    [
        format!(
            "{metric}: it {direction} during the cell, from {} at its start to {} at its end.",
            amount(first, unit),
            amount(last, unit)
        ),
        "No single figure describes it, and the intervals assume that it stays.".to_string(),
        "Look at it over time; a queue that fills, heat, and another station on the channel are \
         usual causes."
            .to_string(),
    ]
}

fn clock(metric: &str, step_ns: u64, value_ns: u64) -> [String; 3] {
    let us = |ns: u64| plain(ns as f64 / 1e3);
    [
        format!("{metric}, {} us: the clock moves in steps of {} us.", us(value_ns), us(step_ns)),
        "Differences below a step do not show, and quantiles fall onto the same step.".to_string(),
        "Measure from a host with a finer clock (the run's facts name the clock source)."
            .to_string(),
    ]
}

fn overflow(dropped: u64) -> [String; 3] {
    let datagrams = counted(dropped, "datagram", "datagrams");
    [
        format!("The kernel dropped {datagrams}, as the receive buffer of the socket was full."),
        "That is loss on this host, and it is counted as loss of the link.".to_string(),
        "Allow larger buffers (Linux: sysctl net.core.rmem_max), or lower the rate or the number \
         in flight."
            .to_string(),
    ]
}

fn behind(
    [asked, kept]: [f64; 2],
    unit: &str,
    response_ms: Option<f64>,
    is_simulated: bool,
) -> [String; 3] {
    let host = match is_simulated {
        true => "",
        false => " On a computer of your own, other load may be what holds the sender up.",
    };
    let waited = response_ms.map_or_else(String::new, |ms| {
        format!(" Counted from when each was due, a reply took {} ms in the mean.", plain(ms))
    });
    [
        format!(
            "The sender was to send {} {unit} and sent {} {unit}.{waited}",
            plain(asked),
            plain(kept)
        ),
        "The result is not that of the offered rate. Response times include the wait before \
         sending; round trips do not."
            .to_string(),
        format!("Offer less, or allow more in flight where the test has a limit.{host}"),
    ]
}

fn command_cut(characters: u64) -> [String; 3] {
    [
        format!("A console lost {characters} characters of what was typed at it."),
        "A command was cut: the test is not the one that was asked for.".to_string(),
        "Look at the commands in the report; a busy device takes 256 characters at once, and a line holds 511."
            .to_string(),
    ]
}

fn refused_sends(refused: u64, offered: u64) -> [String; 3] {
    let share = 100.0 * refused as f64 / offered.max(1) as f64;
    [
        format!("sendto refused {refused} of {offered} datagrams ({share:.1} %): no memory (ENOMEM)."),
        "They were never sent: the stations could not get the offered rate onto the channel. Loss is of \
         what was sent."
            .to_string(),
        "Offer less, use more channels, or give the driver more TX buffers \
         (CONFIG_ESP_WIFI_DYNAMIC_TX_BUFFER_NUM)."
            .to_string(),
    ]
}

fn comb(median_ms: Option<f64>, period_ms: f64) -> [String; 3] {
    let median = median_ms.map(|it| format!(" p50, {}", amount(it, "ms"))).unwrap_or_default();
    [
        format!(
            "round trip{median}: replies come right after the access point's beacons, which are {period_ms} ms apart."
        ),
        "The station sleeps between beacons (modem sleep, ESP-IDF's default \
         WIFI_PS_MIN_MODEM), so what is sent to it waits for the next one."
            .to_string(),
        "For latency, call esp_wifi_set_ps(WIFI_PS_NONE); it costs current.".to_string(),
    ]
}

fn not_verified() -> [String; 3] {
    [
        "The server's certificate was not checked (--insecure).".to_string(),
        "Any server is trusted: another machine may have answered, and may have read what \
         was sent to it."
            .to_string(),
        "Give the authority's certificate with --ca FILE, and leave --insecure out.".to_string(),
    ]
}

fn beyond_model(farthest_m: f64, valid_m: f64) -> [String; 3] {
    let metres = |it: f64| libm::round(10.0 * it) / 10.0;
    let (farthest, valid) = (metres(farthest_m), metres(valid_m));
    [
        format!("A device is {farthest} m away, and the model of this place ends at {valid} m."),
        "No measurement stands behind what the lab says of such distances: walls, ground and people \
         between are not in it."
            .to_string(),
        format!("Set a distance up to {valid} m, or another environment."),
    ]
}
