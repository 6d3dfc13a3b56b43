//! The lines for `sdkconfig.defaults`.

use super::super::outcome::Evaluation;
use super::super::space::TunedSetting;
use super::super::want::{Metric, said};
use super::super::words::{kb, number};
use super::{Recommendation, RecommendedChange, TuneAnswer};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sdkconfig::{ValueType, comment};

/// A difference below this share of a value is none.
const SAME: f64 = 0.01;

/// Returns the recommended settings that differ from the firmware's, each as a line with its reason.
/// What is set in code has no line.
pub(super) fn lines(answer: &TuneAnswer) -> Vec<(String, String)> {
    let Some(best) = &answer.recommended else { return Vec::new() };
    let settings = best.changes.iter().filter(|it| it.setting != TunedSetting::Sleep);
    let line = |it: &RecommendedChange| {
        (it.setting.line(&best.candidate, &answer.context, answer.static_tx), why(answer, best, it))
    };
    settings.map(line).collect()
}

/// Returns what a setting means, what it brings, and what it costs.
fn why(answer: &TuneAnswer, best: &Recommendation, change: &RecommendedChange) -> String {
    let setting = change.setting;
    let (fact, unit, meaning) = match setting {
        TunedSetting::Option(key) => (Some(key.fact()), key.fact().unit, key.fact().meaning),
        _ => (None, "", "clock of the processor"),
    };
    let own = answer.file.as_ref().map_or("default", |_| "before");
    let before = setting.shown(&answer.base);
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    // What a flag means holds where it is set.
    let off = fact.is_some_and(|it| it.kind == ValueType::Flag)
        && setting.number(&best.candidate) == Some(0);
    let meaning = if off { format!("Not: {meaning}") } else { capitalized(meaning) };
    let mut text = format!("{meaning}; {own} {before}{unit}.");
    if let Some((with, alone)) = best.with.as_ref().zip(change.without.as_ref()) {
        let parts = differences(&answer.objectives, with, alone);
        text.push_str(&match parts.is_empty() {
            true => " By itself it changes nothing that was asked for; it fits the others.".into(),
            false => format!(" Simulated, against that: {}.", parts.join(", ")),
        });
    }
    if let Some(missed) = &change.missed {
        text.push_str(&format!(
            " With {}{unit} something wanted is missed.",
            setting.shown(missed)
        ));
    }
    text
}

/// Describes how a firmware differs from the same without a setting.
pub(super) fn differences(
    objectives: &[Metric],
    with: &Evaluation,
    alone: &Evaluation,
) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let current = Some(&Metric::Current).filter(|it| !objectives.contains(it));
    for metric in objectives.iter().chain(current).filter(|it| **it != Metric::Heap) {
        let (Some(now), Some(then)) = (with.value(*metric), alone.value(*metric)) else { continue };
        if differ(now, then) {
            let (name, unit) = (metric.words(), metric.unit());
            parts.push(format!("{name} {} {unit} instead of {}", number(now), number(then)));
        }
    }
    if let (Some(now), Some(then)) = (with.free_heap, alone.free_heap) {
        match now - then {
            more @ 1024.. => parts.push(format!("{} more free heap", kb(more as f64))),
            less @ ..=-1024 => parts.push(format!("{} less free heap", kb(-less as f64))),
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
    let Some(best) = &answer.recommended else { return out };
    let missed = if best.is_reached() { "" } else { " Not reached, but the nearest." };
    let head = format!(
        "For the {}, ESP-IDF {}: {}.{missed}\n{} in the virtual lab (simulated, mean of {} seeds), {}.{}",
        answer.context.chip,
        answer.context.release,
        said(&answer.wants),
        capitalized(&answer.does(&best.outcomes)),
        best.outcomes.len(),
        answer.rtt.words(),
        answer.sleep().map(|it| format!("\n{it}")).unwrap_or_default(),
    );
    // A string takes all that is written to it.
    let _ = comment(&mut out, &head);
    for (line, why) in lines(answer) {
        out.push('\n');
        let _ = comment(&mut out, &why);
        out.push_str(&line);
        out.push('\n');
    }
    out
}
