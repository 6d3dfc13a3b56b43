//! `[[threshold]]` blocks.

use super::key::{PlanKey, PlanValue, words};
use super::matrix::kind_named;
use super::read::{PlanError, PlanTable, Scalar};
use crate::digits;
use crate::threshold::{By, Quantity, Threshold, Variant};
use crate::units::conversion;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};

const BY: [(&str, By); 2] = [("value", By::Value), ("interval", By::Interval)];

const QUANTITY: PlanValue = PlanValue::Form("a text with the metric's unit; a number of a count");
const METRIC: PlanKey = PlanKey::new(
    "metric",
    PlanValue::Form("name of a metric"),
    "\"rtt_p99\"",
    "the figure that is limited; `espbench report --full` and JSON show their names",
)
.or("must be given");
const KIND: PlanKey = PlanKey::new(
    "kind",
    PlanValue::Form("name of a kind"),
    "\"udp-echo\"",
    "only results of this kind",
)
.or("all kinds");
const PAYLOAD: PlanKey = PlanKey::new(
    "payload_bytes",
    PlanValue::Bytes(0, u32::MAX as u64),
    "200",
    "only results of this size",
)
.or("all sizes");
const VARIANT: PlanKey = PlanKey::new(
    "variant",
    PlanValue::Form("settings in the words of a report"),
    "\"binary, 4 in flight\"",
    "only results with these settings",
)
.or("all settings");
const MIN: PlanKey =
    PlanKey::new("min", QUANTITY, "\"20 Mbit/s\"", "the least that passes").or("none");
const MAX: PlanKey = PlanKey::new("max", QUANTITY, "\"30 ms\"", "the most that passes").or("none");
const JUDGED: PlanKey = PlanKey::new(
    "by",
    PlanValue::Word(&words(&BY)),
    "\"interval\"",
    "whether the value must pass, or the whole of its confidence interval",
)
.or("\"value\"");
/// Keys of a `[[threshold]]` block.
pub(super) const KEYS: [&PlanKey; 7] = [&METRIC, &KIND, &PAYLOAD, &VARIANT, &MIN, &MAX, &JUDGED];

/// Reads one block, the plan's first with number 1.
pub(super) fn threshold(mut block: PlanTable<'_>, number: u32) -> Result<Threshold, PlanError> {
    let text = |v: &Scalar| v.text().map(ToOwned::to_owned);
    let metric = block.one(&METRIC, text)?;
    let table = block.one(&KIND, |v| kind_named(v).map(|it| it.kind().to_owned()))?;
    let payload_bytes = block.one(&PAYLOAD, Scalar::bytes)?;
    let variant = block.one(&VARIANT, |v| Variant::parse(v.text()?))?;
    let min = block.one(&MIN, quantity)?;
    let max = block.one(&MAX, quantity)?;
    let by = block.one(&JUDGED, |v| v.word(&BY))?;
    let missing = if metric.is_none() {
        Some("a [[threshold]] block needs a `metric`, such as metric = \"rtt_p99\"")
    } else if min.is_none() && max.is_none() {
        Some("a [[threshold]] block needs a `max` or a `min`, or both")
    } else {
        None
    };
    let crossed = min.as_ref().zip(max.as_ref()).filter(|(min, max)| is_above(min, max));
    let crossed = crossed.map(|(min, max)| {
        format!("`min` of {min} is above `max` of {max}, so that nothing can pass: exchange them, or leave one out")
    });
    let missing =
        (missing.map(String::from).or(crossed)).map(|message| block.error(block.place(), message));
    // A misspelt key is the likely cause of a missing one, so it is told first.
    block.finish(&KEYS.map(|key| key.name))?;
    if let Some(error) = missing {
        return Err(error);
    }
    // It was read as at most that.
    let payload_bytes = payload_bytes.map(|bytes| bytes as u32);
    let metric = metric.unwrap_or_default();
    let by = by.unwrap_or_default();
    Ok(Threshold { number, metric, table, payload_bytes, variant, min, max, by })
}

/// Returns whether the one quantity is larger than the other; not where they measure different things.
fn is_above(one: &Quantity, other: &Quantity) -> bool {
    conversion(&one.unit, &other.unit)
        .is_some_and(|factor| digits::six(one.value * factor) > digits::six(other.value))
}

/// Reads a text with a unit, or a bare number for counts.
fn quantity(value: &Scalar) -> Result<Quantity, String> {
    let count = |value: f64| {
        if value.is_finite() && value >= 0.0 {
            Ok(Quantity { value, unit: String::new() })
        } else {
            Err(format!("{value} must not be negative or infinite"))
        }
    };
    match value {
        Scalar::Int(n) => count(*n as f64),
        Scalar::Float(x) => count(*x),
        other => Quantity::parse(other.text().map_err(|e| e.to_string())?),
    }
}
