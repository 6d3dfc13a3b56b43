//! Measured, lab, published and limit of a suite's leading figure, in rows for a terminal.

use super::figures::print;
use super::rows::{folded, no_room};
use super::{tame, width};
use espbench_measure::beside::{LabAgreement, LabComparison, LabPair};
use espbench_measure::digits;
use espbench_measure::report::GlanceGroup;
use espbench_measure::table::unit_sign;

/// Characters of a row's name at most.
const NAME: usize = 24;

/// Returns the pairs of a group's leading figure: the first of its metrics that the lab has, too.
pub(super) fn leading<'a>(it: &'a LabComparison, group: &GlanceGroup) -> Vec<&'a LabPair> {
    let of_metric = |metric: &str| -> Vec<&LabPair> {
        let is_own = |pair: &&LabPair| {
            pair.kind == group.kind
                && pair.metric == metric
                && pair.suite.as_deref().is_none_or(|it| it == group.name)
        };
        it.pairs.iter().filter(is_own).collect()
    };
    let all = group.metrics.iter().map(|it| of_metric(&it.metric));
    all.into_iter().find(|it| !it.is_empty()).unwrap_or_default()
}

/// Returns the heads of the columns behind the name.
pub(super) fn heads(pair: &LabPair) -> [String; 5] {
    let unit = match unit_sign(&pair.unit) {
        "" => String::new(),
        unit => format!(" ({unit})"),
    };
    [
        format!("{}{unit}", pair.figure),
        "lab (simulated)".into(),
        pair.decisive_head().into(),
        "published".into(),
        "limit".into(),
    ]
}

/// Returns the texts of a row behind its name.
pub(super) fn texts(pair: &LabPair) -> [String; 5] {
    let mark = if pair.published_fitted { " †" } else { "" };
    [
        print(&pair.measured),
        print(&pair.simulated),
        pair.apart(),
        pair.published.map_or_else(|| "-".into(), |it| format!("{it}{mark}")),
        pair.limit.map_or_else(|| "-".into(), digits::plain),
    ]
}

/// Returns the sign of a verdict.
pub(super) const fn sign(verdict: Option<LabAgreement>) -> &'static str {
    match verdict {
        Some(LabAgreement::AsPredicted) => "✓",
        Some(LabAgreement::Off) => "✗",
        Some(LabAgreement::Unsure) => "?",
        Some(LabAgreement::NotCompared) | None => " ",
    }
}

/// Returns head and rows, at most so many of them, evenly chosen, how many there are more, and what there was no room for.
/// Of the columns it has those that fit the characters of a line; names are folded.
pub(super) fn rows(
    pairs: &[&LabPair],
    most: usize,
    screen: usize,
) -> (Vec<String>, usize, Option<String>) {
    let Some(first) = pairs.first() else { return (Vec::new(), 0, None) };
    let most = most.clamp(1, pairs.len());
    let at = |row: usize| row * (pairs.len() - 1) / (most - 1).max(1);
    let shown: Vec<&LabPair> = (0..most).map(|row| pairs[at(row)]).collect();
    let alone = pairs.len() == 1;
    // What has no screen is not cut.
    let longest = if screen < usize::MAX { NAME } else { usize::MAX };
    let name = |it: &LabPair| if alone { String::new() } else { tame(&it.place) };
    let widest = shown.iter().map(|it| width(&name(it))).max().unwrap_or(0).min(longest);
    let heads = heads(first);
    let all: Vec<[String; 5]> = shown.iter().map(|it| texts(it)).collect();
    let size = |at: usize| {
        all.iter().map(|it| width(&it[at])).chain([width(&heads[at])]).max().unwrap_or(0)
    };
    let sizes = [0, 1, 2, 3, 4].map(size);
    let end = |columns: usize| sizes[..columns].iter().map(|it| it + 2).sum::<usize>() + widest + 4;
    let columns = (2..=sizes.len()).rev().find(|it| end(*it) <= screen).unwrap_or(2);
    let line = |name: &str, sign: &str, texts: &[String; 5]| {
        let pad = |text: &str, size: usize| format!("{text}{}", " ".repeat(size - width(text)));
        let parts: Vec<String> =
            texts.iter().zip(sizes).take(columns).map(|(it, size)| pad(it, size)).collect();
        format!("  {sign} {}  {}", pad(name, widest), parts.join("  ")).trim_end().to_owned()
    };
    let mut lines = vec![line("", " ", &heads)];
    for (it, texts) in shown.iter().zip(&all) {
        let mut names = folded(&name(it), widest).into_iter();
        lines.push(line(&names.next().unwrap_or_default(), sign(it.verdict), texts));
        lines.extend(names.map(|rest| format!("      {rest}")));
    }
    if shown.iter().any(|it| it.verdict == Some(LabAgreement::Unsure)) {
        let unsure = LabAgreement::Unsure;
        lines.push(format!("  {}: {}", sign(Some(unsure)), unsure.words()));
    }
    (lines, pairs.len() - shown.len(), no_room(&heads[columns..]))
}
