//! `[[threshold]]` blocks.

use super::matrix::kind_named;
use super::read::{PlanError, PlanTable, Scalar};
use crate::threshold::{By, Quantity, Threshold, Variant};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};

const KEYS: [&str; 7] = ["metric", "kind", "payload_bytes", "variant", "min", "max", "by"];

/// Reads one block.
pub(super) fn threshold(mut block: PlanTable<'_>) -> Result<Threshold, PlanError> {
    let text = |v: &Scalar| v.text().map(ToOwned::to_owned);
    let metric = block.one("metric", text)?;
    let table = block.one("kind", |v| kind_named(v).map(|it| it.kind().to_owned()))?;
    let payload_bytes = block.one("payload_bytes", |v| v.bytes(0..=u64::from(u32::MAX)))?;
    let variant = block.one("variant", |v| Variant::parse(v.text()?))?;
    let min = block.one("min", quantity)?;
    let max = block.one("max", quantity)?;
    let by = block.one("by", |v| v.word(&[("value", By::Value), ("interval", By::Interval)]))?;
    let missing = if metric.is_none() {
        Some("a [[threshold]] block needs a `metric`, such as metric = \"rtt_p99\"")
    } else if min.is_none() && max.is_none() {
        Some("a [[threshold]] block needs a `max` or a `min`, or both")
    } else {
        None
    };
    let missing = missing.map(|message| block.error(block.place(), message));
    // A misspelt key is the likely cause of a missing one, so it is told first.
    block.finish(&KEYS)?;
    if let Some(error) = missing {
        return Err(error);
    }
    // It was read as at most that.
    let payload_bytes = payload_bytes.map(|bytes| bytes as u32);
    let metric = metric.unwrap_or_default();
    Ok(Threshold { metric, table, payload_bytes, variant, min, max, by: by.unwrap_or_default() })
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
