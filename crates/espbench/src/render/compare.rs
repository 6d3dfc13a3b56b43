//! Two runs held against each other, in a few lines for a terminal: the largest changes that are shown.

use super::glance::{Colours, Screen, titled};
use super::{tame, width, wrap, wrap_list};
use espbench_measure::compare::{Comparison, VerdictKind};
use espbench_measure::digits;
use espbench_measure::table::compared::{
    Apart, counted_unshown, differing, excluded, is_fitted, texts, undecided, unshown, words,
};
use espbench_model::text::count;
use std::fmt::Write as _;

/// Pairs that are shown.
const ROWS: usize = 14;

/// Reasons against a comparison that are told.
const REASONS: usize = 3;

/// Characters of a result's name in a line at least.
const NAME: usize = 24;

/// Renders the comparison: at most some 25 lines. `differences` says what differs between the two runs.
#[must_use]
pub fn render(
    comparisons: &[Comparison],
    title: &str,
    differences: &[String],
    screen: Screen,
) -> String {
    let colours = Colours::new(screen.coloured);
    let mut out = String::new();
    let line = |out: &mut String, style: anstyle::Style, text: &str| {
        let _ = writeln!(out, "{style}{}{style:#}", text.trim_end());
    };
    // Where none can be compared, the reasons below count them.
    let comparable = comparisons.iter().any(|it| it.verdict.kind() != VerdictKind::NotComparable);
    out += &titled(&tame(title), "", colours, screen.width(), screen.most());
    for text in differences.iter().flat_map(|it| wrap(it, screen.width() - 2)) {
        line(&mut out, anstyle::Style::new(), &format!("  {text}"));
    }
    if comparable {
        for text in wrap(&counts(comparisons), screen.width() - 2) {
            line(&mut out, anstyle::Style::new(), &format!("  {text}"));
        }
    }
    let all = differing(comparisons);
    let mut shown: Vec<&Comparison> = all.iter().copied().take(ROWS).collect();
    // A few results are shown as they are, also where none differs.
    let alike = |it: &&Comparison| it.verdict.kind() == VerdictKind::NoDifferenceShown;
    if shown.is_empty() && comparisons.iter().filter(alike).count() <= ROWS / 2 {
        shown = comparisons.iter().filter(alike).collect();
    }
    for (is_worse, row) in rows(&shown, Apart::of(comparisons), screen.most()) {
        let style = match is_worse {
            None => colours.faint,
            Some(true) => colours.warning,
            Some(false) => anstyle::Style::new(),
        };
        line(&mut out, style, &row);
    }
    if all.len() > shown.len() && !shown.is_empty() {
        let more = digits::count((all.len() - shown.len()) as u64);
        let text = format!("  … and {more} more that differ: --full");
        line(&mut out, colours.faint, &text);
    }
    for text in unshown(comparisons).into_iter().filter(|_| !all.is_empty()) {
        line(&mut out, colours.faint, &format!("  {text}"));
    }
    if let Some(text) = undecided(comparisons) {
        for text in wrap(&tame(&text), screen.width() - 2) {
            line(&mut out, colours.warning, &format!("  {text}"));
        }
    }
    let out_of = excluded(comparisons);
    for (pairs, why) in out_of.iter().take(REASONS) {
        let reason = format!("{} not comparable: {why}", digits::count(*pairs as u64));
        for text in wrap(&tame(&reason), screen.width() - 2) {
            line(&mut out, anstyle::Style::new(), &format!("  {text}"));
        }
    }
    if out_of.len() > REASONS {
        let more = out_of.len() - REASONS;
        let more = count(more, "more set");
        line(&mut out, colours.faint, &format!("  … and for {more} of reasons"));
    }
    if shown.iter().any(|it| is_fitted(it)) {
        let text = "a constant of the lab was fitted to it: no test of the lab";
        for text in wrap(&format!("{} {text}", digits::FITTED), screen.width() - 2) {
            line(&mut out, anstyle::Style::new(), &format!("  {text}"));
        }
    }
    let chance = "Ratios have their 95 % intervals; of twenty pairs without any difference, one is \
                  expected to show one by chance. All pairs with their remarks: --full";
    let chance = if comparable { chance } else { "All pairs with their remarks: --full" };
    for text in wrap(chance, screen.width() - 2) {
        line(&mut out, colours.faint, &format!("  {text}"));
    }
    out
}

/// Counts the pairs by their verdicts.
fn counts(comparisons: &[Comparison]) -> String {
    let of =
        |kind, words| (comparisons.iter().filter(|it| it.verdict.kind() == kind).count(), words);
    let differing = [
        of(VerdictKind::Worse, "worse"),
        of(VerdictKind::Better, "better"),
        of(VerdictKind::Differs, "different, neither better"),
    ];
    let all = differing
        .into_iter()
        .chain(counted_unshown(comparisons))
        .chain([of(VerdictKind::NotComparable, "not comparable")])
        .filter(|it| it.0 > 0);
    all.map(|(n, words)| format!("{} {words}", digits::count(n as u64)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the lines of the head and of each pair, with whether it is worse. A name that is longer than its column
/// goes on in the next line; nothing where there is no pair.
fn rows(pairs: &[&Comparison], apart: Apart, most: usize) -> Vec<(Option<bool>, String)> {
    let row = |it: &&Comparison| -> [String; 5] {
        let [name, this, other, ratio] =
            texts(it, apart).map(|it| tame(&it.unwrap_or_else(|| "-".into())));
        let mark = if is_fitted(it) { digits::FITTED } else { "" };
        let verdict = words(&it.verdict);
        [name, this, other, ratio, format!("{verdict}{mark}")]
    };
    if pairs.is_empty() {
        return Vec::new();
    }
    let head = ["result", "this", "other", "this / other", "verdict"].map(String::from);
    let table: Vec<[String; 5]> = std::iter::once(head).chain(pairs.iter().map(row)).collect();
    let size = |at: usize| table.iter().map(|row| width(&row[at])).max().unwrap_or_default();
    let [all, this, other, ratio, verdict] = std::array::from_fn(size);
    let figures = this + other + ratio + verdict + 10;
    let is_narrow = figures.saturating_add(NAME.min(all)) > most;
    let name = if is_narrow { most } else { all.min(most.saturating_sub(figures).max(NAME)) };
    let pad = |text: &str, size: usize| " ".repeat(size.saturating_sub(width(text))) + text;
    let mut lines = Vec::new();
    for (number, [a, b, c, d, e]) in table.iter().enumerate() {
        let is_worse =
            number.checked_sub(1).map(|at| pairs[at].verdict.kind() == VerdictKind::Worse);
        // Where a line has no room for all, the figures stand below the name.
        if is_narrow {
            let parts = [b.clone(), pad(c, other), pad(d, ratio), e.clone()];
            let names = wrap_list(a, most - 2).into_iter().map(|it| format!("  {it}"));
            lines.extend(names.chain(flowed(&parts, most)).map(|it| (is_worse, it)));
            continue;
        }
        let mut names = wrap_list(a, name).into_iter();
        let first = names.next().unwrap_or_default();
        let gap = " ".repeat(name.saturating_sub(width(&first)));
        let figures = format!("{}  {}  {}  {e}", pad(b, this), pad(c, other), pad(d, ratio));
        lines.push((is_worse, format!("  {first}{gap}  {figures}")));
        lines.extend(names.map(|rest| (is_worse, format!("    {rest}"))));
    }
    lines
}

/// Writes texts beside each other, in as many indented lines as they take.
fn flowed(texts: &[String], most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        match lines.last_mut() {
            Some(line) if width(line) + 2 + width(text) <= most => {
                let _ = write!(line, "  {text}");
            }
            _ => {
                lines.extend(wrap(text.trim_start(), most - 4).iter().map(|it| format!("    {it}")))
            }
        }
    }
    lines
}
