//! Reasons that keep pairs from being compared, in the words of every answer, and what would change that.

use super::judge::stated;
use super::{Comparison, Reason, ReasonKind};
use crate::cell::Identity;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use espbench_model::speech::FlagValue;

/// Returns the remedy for simulated runs whose intervals are each of one place.
fn places_remedy() -> String {
    let seed = FlagValue("--seed", "N");
    format!("run both with the same `{seed}`, or with `repetitions = N` in the plan")
}

/// Says that the intervals of simulated runs are each of one place, since places are drawn by seed.
pub(super) fn places() -> String {
    format!(
        "different seeds, of one repetition: intervals do not hold the difference of places; {}",
        places_remedy()
    )
}

/// Returns the pair that is nearest to being comparable among those that are not.
pub(crate) fn nearest<'a>(pairs: impl Iterator<Item = &'a Comparison>) -> Option<&'a Comparison> {
    pairs
        .filter(|it| !it.verdict.reasons().is_empty())
        .min_by_key(|it| distance(it.verdict.reasons()))
}

/// Returns how far a figure is from being comparable: what a user can state is nearer than what a
/// document leaves open.
fn distance(reasons: &[Reason]) -> (usize, bool) {
    (reasons.len(), reasons.iter().any(|it| it.kind == ReasonKind::DocumentUnstated))
}

/// Says why a pair cannot be compared, what would change that first.
pub(crate) fn why(pair: &Comparison) -> Vec<String> {
    let to_state = to_state(pair);
    let others: Vec<String> =
        unstated_aside(pair, to_state.is_some()).map(|it| it.text.clone()).collect();
    to_state.into_iter().chain(others).collect()
}

/// Says the same in few words: of what is another one only what it is.
pub(crate) fn briefly(pair: &Comparison) -> String {
    let mut parts: Vec<String> = to_state(pair).into_iter().collect();
    let reasons = || unstated_aside(pair, !parts.is_empty());
    let another: Vec<&str> = reasons().filter_map(|it| it.kind.another()).collect();
    let others: Vec<String> =
        reasons().filter(|it| it.kind.another().is_none()).map(|it| it.text.clone()).collect();
    if !another.is_empty() {
        parts.push(format!("another {}", another.join(", ")));
    }
    parts.extend(others);
    parts.join("; ")
}

/// Says what would make a pair comparable of those of which none is; `None` where one is, or where there is none.
#[must_use]
pub fn remedy(comparisons: &[Comparison]) -> Option<String> {
    if comparisons.iter().any(|it| it.verdict.reasons().is_empty()) {
        return None;
    }
    let pair = nearest(comparisons.iter())?;
    let reasons = pair.verdict.reasons();
    let another: Vec<&str> = reasons.iter().filter_map(|it| it.kind.another()).collect();
    Some(match to_state(pair) {
        Some(text) => text,
        None if reasons.iter().any(|it| it.kind == ReasonKind::Places) => places_remedy(),
        None if another.is_empty() => {
            "compare two runs of one plan, on the same device and in the same place".to_string()
        }
        None => format!("compare with a run of the same {}", another.join(", ")),
    })
}

/// Returns the reasons, without that a place is not stated where the flags that state it are told.
fn unstated_aside(pair: &Comparison, is_told: bool) -> impl Iterator<Item = &Reason> {
    let reasons = pair.verdict.reasons().iter();
    reasons.filter(move |it| !is_told || it.kind != ReasonKind::OursUnstated)
}

/// Says which flags state of a measured figure what is not stated yet, with the values of the other one; `None` where
/// nothing is missing.
fn to_state(pair: &Comparison) -> Option<String> {
    let (ours, theirs) = (&pair.ours.id, &pair.other.id);
    if !pair.ours.origin.is_real_time() {
        return None;
    }
    let environment = |id: &Identity| stated(id.environment.as_deref().unwrap_or_default());
    let chip = |id: &Identity| stated(&id.chip);
    let mode = |id: &Identity| stated(&id.mode);
    let flag = |name: &str, of: &dyn Fn(&Identity) -> Option<String>| match (of(ours), of(theirs)) {
        (None, Some(theirs)) => Some(FlagValue(name, theirs).to_string()),
        _ => None,
    };
    let all = [flag("--chip", &chip), flag("--mode", &mode), flag("--environment", &environment)];
    let flags: Vec<String> = all.into_iter().flatten().collect();
    (!flags.is_empty())
        .then(|| format!("say which device and place yours are, such as {}", flags.join(" ")))
}
