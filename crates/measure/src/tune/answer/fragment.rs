//! The lines for `sdkconfig.defaults`.

use super::super::outcome::Evaluation;
use super::super::want::{Metric, said};
use super::super::words::{kb, number};
use super::{TuneAnswer, power};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::sdkconfig::{
    ConfigOption, Line, OptionValues, ValueType, comment, fragment as write,
};

/// A difference below this share of a value is none.
const SAME: f64 = 0.01;

/// Returns a value as a file has it.
pub(super) fn shown(key: ConfigOption, value: u32) -> String {
    match (key.fact().kind, value) {
        (ValueType::Flag, 0) => "n".into(),
        (ValueType::Flag, _) => "y".into(),
        (ValueType::Number, value) => value.to_string(),
    }
}

/// Returns the recommended settings that are not the build's defaults, each with its reason.
pub(super) fn lines(answer: &TuneAnswer) -> Vec<(ConfigOption, u32, String)> {
    let Some(best) = answer.best() else { return Vec::new() };
    let changes = best.candidate.changes(&answer.context);
    changes.into_iter().map(|(key, value)| (key, value, why(answer, key))).collect()
}

/// Returns what a setting means, what it brings, and what it costs.
fn why(answer: &TuneAnswer, key: ConfigOption) -> String {
    let fact = key.fact();
    let default = shown(key, key.default_in(&answer.context));
    let unit = if fact.unit.is_empty() { String::new() } else { format!(" {}", fact.unit) };
    // What a flag means holds where it is set.
    let own = answer
        .best()
        .map_or(1, |it| OptionValues::from(&it.candidate.config).get(key).unwrap_or(1));
    let meaning = match (fact.kind, own) {
        (ValueType::Flag, 0) => format!("Not: {}", fact.meaning),
        _ => capitalized(fact.meaning),
    };
    let mut text = format!("{meaning}; default {default}{unit}.");
    let with = answer.best().and_then(|it| it.outcomes.first());
    let alone = answer.without.iter().find(|it| it.key == key).and_then(|it| it.outcome);
    let (Some(with), Some(alone)) = (with, alone) else { return text };
    let parts = differences(&answer.objectives, with, &alone);
    text.push_str(&match parts.is_empty() {
        true => " By itself it changes nothing that was asked for; it fits the others.".into(),
        false => format!(" Simulated, against the default: {}.", parts.join(", ")),
    });
    text
}

/// Describes how a firmware differs from the same without a setting.
pub(super) fn differences(
    objectives: &[Metric],
    with: &Evaluation,
    alone: &Evaluation,
) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for metric in objectives.iter().filter(|it| **it != Metric::Heap) {
        let (Some(now), Some(then)) = (with.value(*metric), alone.value(*metric)) else { continue };
        if differ(now, then) {
            let (name, unit) = (metric.words(), metric.unit());
            parts.push(format!("{name} {} {unit} instead of {}", number(now), number(then)));
        }
    }
    if let (Some(now), Some(then)) = (with.free_heap, alone.free_heap) {
        match now - then {
            more @ 1024.. => parts.push(format!("{} of heap more", kb(more as f64))),
            less @ ..=-1024 => parts.push(format!("{} of heap less", kb(-less as f64))),
            _ => {}
        }
    }
    parts
}

fn differ(a: f64, b: f64) -> bool {
    let (difference, largest) = ((a - b).abs(), a.abs().max(b.abs()));
    difference > SAME * largest
}

/// Returns text with a capital letter, but for names that have theirs inside (lwIP).
fn capitalized(text: &str) -> String {
    let first = text.split([' ', '\'']).next().unwrap_or_default();
    if first.chars().skip(1).any(char::is_uppercase) {
        return text.into();
    }
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

/// Returns the lines for a file, each below its comment; empty where nothing was found.
#[must_use]
pub fn fragment(answer: &TuneAnswer) -> String {
    let mut out = String::new();
    let Some(best) = answer.best() else { return out };
    let head = format!(
        "For the {}, ESP-IDF {}: {}.\n{} in the virtual lab (simulated).\n{}",
        answer.context.chip,
        answer.context.release,
        said(&answer.wants),
        capitalized(&answer.does(&best.mean)),
        power(best.candidate.power),
    );
    // A string takes all that is written to it.
    let _ = comment(&mut out, &head);
    let lines = lines(answer);
    if !lines.is_empty() {
        out.push('\n');
    }
    let lines =
        lines.iter().map(|(key, value, text)| Line { key: *key, value: *value, comment: text });
    let _ = write(&mut out, answer.context.release, lines);
    out
}
