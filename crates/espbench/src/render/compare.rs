//! Two runs held against each other, in a few lines for a terminal: the largest changes that are shown.

use super::figures::cut;
use super::glance::{Colours, Screen};
use super::{tame, width, wrap};
use espbench_measure::compare::{Comparison, VerdictKind};
use espbench_measure::digits;
use espbench_measure::table::compared::{differing, excluded, is_fitted, texts, words};
use espbench_model::text::count;
use std::fmt::Write as _;

/// Pairs that are shown.
const ROWS: usize = 14;

/// Reasons against a comparison that are told.
const REASONS: usize = 3;

/// Characters of a result's name at most.
const NAME: usize = 40;

/// Renders the comparison: at most 25 lines.
#[must_use]
pub fn render(comparisons: &[Comparison], title: &str, screen: Screen) -> String {
    let colours = Colours::new(screen.coloured);
    let mut out = String::new();
    let line = |out: &mut String, style: anstyle::Style, text: &str| {
        let _ = writeln!(out, "{style}{}{style:#}", text.trim_end());
    };
    line(&mut out, colours.title, &cut(&tame(title), screen.width()));
    line(&mut out, anstyle::Style::new(), &format!("  {}", counts(comparisons)));
    let all = differing(comparisons);
    let same = comparisons.iter().filter(|it| it.verdict.kind() == VerdictKind::NoDifferenceShown);
    // What room is left is for pairs that do not differ.
    let shown: Vec<&Comparison> = all.iter().copied().chain(same).take(ROWS).collect();
    for (number, row) in rows(&shown, screen.width()).iter().enumerate() {
        let worse = number > 0 && shown[number - 1].verdict.kind() == VerdictKind::Worse;
        let style = match number {
            0 => colours.faint,
            _ if worse => colours.warning,
            _ => anstyle::Style::new(),
        };
        line(&mut out, style, row);
    }
    if all.len() > shown.len() {
        let more = digits::count((all.len() - shown.len()) as u64);
        line(&mut out, colours.faint, &format!("  … and {more} more that differ, each less"));
    } else {
        let judged =
            comparisons.iter().filter(|it| it.verdict.kind() != VerdictKind::NotComparable);
        let more = judged.count() - shown.len();
        if more > 0 {
            let more = digits::count(more as u64);
            line(
                &mut out,
                colours.faint,
                &format!("  … and {more} more without a difference shown"),
            );
        }
    }
    let out_of = excluded(comparisons);
    for reason in out_of.iter().take(REASONS) {
        line(&mut out, anstyle::Style::new(), &cut(&format!("  {}", tame(reason)), screen.width()));
    }
    if out_of.len() > REASONS {
        let more = out_of.len() - REASONS;
        line(
            &mut out,
            colours.faint,
            &format!("  … and for {} of reasons", count(more, "more set")),
        );
    }
    if shown.iter().any(|it| is_fitted(it)) {
        let text = format!(
            "  {} a constant of the lab was fitted to it: no test of the lab",
            digits::FITTED
        );
        line(&mut out, anstyle::Style::new(), &text);
    }
    let chance = "Ratios have their 95 % intervals; of twenty pairs without any difference, one is \
                  expected to show one by chance. All pairs with their remarks: --full";
    for text in wrap(chance, screen.width() - 2) {
        line(&mut out, colours.faint, &format!("  {text}"));
    }
    out
}

/// Counts the pairs by their verdicts.
fn counts(comparisons: &[Comparison]) -> String {
    let count = |kind: VerdictKind, words: &str| {
        let n = comparisons.iter().filter(|it| it.verdict.kind() == kind).count();
        (n > 0).then(|| format!("{} {words}", digits::count(n as u64)))
    };
    let all = [
        count(VerdictKind::Worse, "worse"),
        count(VerdictKind::Better, "better"),
        count(VerdictKind::NoDifferenceShown, "without a difference shown"),
        count(VerdictKind::NotComparable, "not comparable"),
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Cuts a text to that many characters: what tells results apart stands at the end of their names.
fn cut_middle(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.into();
    }
    let all: Vec<char> = text.chars().collect();
    let end = most / 2;
    let start = most.saturating_sub(end + 1);
    all[..start].iter().chain(&['…']).chain(&all[all.len() - end..]).collect()
}

/// Returns the head and a line for each pair; nothing where there is none.
fn rows(pairs: &[&Comparison], most: usize) -> Vec<String> {
    let row = |it: &&Comparison| -> [String; 5] {
        let [name, this, other, ratio] =
            texts(it).map(|it| tame(&it.unwrap_or_else(|| "-".into())));
        let mark = if is_fitted(it) { digits::FITTED } else { "" };
        let verdict = words(&it.verdict).0;
        [name, this, other, ratio, format!("{verdict}{mark}")]
    };
    if pairs.is_empty() {
        return Vec::new();
    }
    let head = ["result", "this", "other", "this / other", "verdict"].map(String::from);
    let table: Vec<[String; 5]> = std::iter::once(head).chain(pairs.iter().map(row)).collect();
    let size = |at: usize| table.iter().map(|row| width(&row[at])).max().unwrap_or_default();
    let [_, this, other, ratio, verdict] = std::array::from_fn(size);
    let room = most.saturating_sub(this + other + ratio + verdict + 10).clamp(16, NAME.max(16));
    let name = size(0).min(room);
    let pad = |text: &str, size: usize| " ".repeat(size.saturating_sub(width(text))) + text;
    let line = |[a, b, c, d, e]: &[String; 5]| {
        let a = cut_middle(a, name);
        let gap = " ".repeat(name.saturating_sub(width(&a)));
        format!("  {a}{gap}  {}  {}  {}  {e}", pad(b, this), pad(c, other), pad(d, ratio))
    };
    table.iter().map(line).collect()
}
