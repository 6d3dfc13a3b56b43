//! Rows of figures for a terminal: what there is no room for is folded into further lines, or left out and named.

use super::figures::{RATIO, bar, histogram, leading, values};
use super::glance::Colours;
use super::{parts, tame, width, wrap, wrap_list};
use anstyle::Style;
use espbench_measure::digits;
use espbench_measure::report::{GlanceGroup, GlanceRow};
use std::fmt::Write as _;

/// Characters of a row's name at least, in tenths of the line, and most of them that a name asks for.
const NAME: (usize, usize) = (3, 30);

/// Characters of a range of leading figures at least.
const FIGURE: usize = 28;

/// Lines of a head at most, where it is folded for want of room.
const HEAD: usize = 3;

/// Characters of a line at least that a text is wrapped in.
const LEAST: usize = 12;

/// Characters that a row's name keeps beside figures.
fn least_name(most: usize) -> usize {
    most.saturating_mul(NAME.0) / 10
}

/// A table of a group's rows: their names, and as many columns and intervals as fit a line.
pub(super) struct FigureTable {
    /// Lines of each head.
    heads: Vec<Vec<String>>,
    /// Characters of the names' column.
    name: usize,
    /// Characters of the columns that are shown.
    sizes: Vec<usize>,
    texts: Vec<Vec<String>>,
    /// Head of the column of distributions.
    bars: Option<String>,
    /// Words for the parts that are not shown.
    left_out: Vec<String>,
    /// Lines of each name.
    names: Vec<Vec<String>>,
}

impl FigureTable {
    /// Lays out the rows with these names for lines of at most that many characters. `bars` heads their distributions.
    pub(super) fn new(
        heads: &[String],
        rows: &[&GlanceRow],
        names: &[String],
        bars: Option<&str>,
        most: usize,
    ) -> Self {
        let widest = names.iter().map(|it| width(it)).max().unwrap_or(0);
        let least = widest.min(least_name(most).min(NAME.1));
        let texts = |intervals| -> Vec<Vec<String>> {
            rows.iter().map(|row| values(row, intervals)).collect()
        };
        let whole: Vec<usize> = heads.iter().map(|it| width(it)).collect();
        let folded_heads: Vec<usize> = heads.iter().map(|it| narrowest(it)).collect();
        let sizes = |texts: &[Vec<String>], heads: &[usize]| -> Vec<usize> {
            let size = |(at, head): (usize, &usize)| {
                texts.iter().map(|row| width(&row[at])).chain([*head]).max().unwrap_or(0)
            };
            heads.iter().enumerate().map(size).collect()
        };
        let beside = |bars: Option<&str>| bars.map_or(0, |it| width(it).max(10) + 2);
        let ends = |sizes: &[usize]| sizes.iter().map(|it| it + 2).sum::<usize>() + 2;
        let columns = heads.len();
        let mut tries = Vec::new();
        for with in [bars, None] {
            let shown = (1..=columns).rev();
            tries.extend(shown.flat_map(|it| [(with, it, &whole), (with, it, &folded_heads)]));
            if bars.is_none() {
                break;
            }
        }
        let fits = |&(with, intervals, heads): &(Option<&str>, usize, &Vec<usize>)| {
            ends(&sizes(&texts(intervals), heads)).saturating_add(least + beside(with)) <= most
        };
        let (with, intervals, head) =
            tries.into_iter().find(fits).unwrap_or((None, 1, &folded_heads));
        let first = |intervals| sizes(&texts(intervals), head).first().copied();
        let fits_first = |intervals| first(intervals).is_none_or(|it| it + 4 + least <= most);
        let intervals = if fits_first(intervals) { intervals } else { 0 };
        let texts_shown = texts(intervals);
        let mut shown = sizes(&texts_shown, head);
        while shown.len() > 1 && ends(&shown).saturating_add(least + beside(with)) > most {
            shown.pop();
        }
        let name = widest.min(most.saturating_sub(ends(&shown) + beside(with)).max(LEAST));
        let all = texts(columns);
        let has_interval = |at: usize| all.iter().zip(&texts_shown).any(|(a, b)| a[at] != b[at]);
        let mut left_out: Vec<String> = heads[shown.len()..].to_vec();
        let without: Vec<&str> = (intervals..shown.len())
            .filter(|at| has_interval(*at))
            .map(|at| heads[at].as_str())
            .collect();
        if !without.is_empty() {
            left_out.push(format!("the intervals of {}", without.join(", ")));
        }
        if bars.is_some() && with.is_none() {
            left_out.push("the distributions".into());
        }
        let names = names.iter().map(|it| folded(it, name)).collect();
        let bars = with.map(String::from);
        let heads = heads.iter().zip(&shown).map(|(it, size)| wrap(it, *size)).collect();
        Self { heads, name, sizes: shown, texts: texts_shown, bars, left_out, names }
    }

    /// Counts the lines of the head.
    fn head(&self) -> usize {
        self.heads.iter().map(Vec::len).max().unwrap_or(0).max(1)
    }

    /// Counts the lines, with those of the head.
    pub(super) fn lines(&self) -> usize {
        self.head() + self.names.iter().map(|it| it.len().max(1)).sum::<usize>()
    }

    /// Names what there is no room for.
    pub(super) fn hidden(&self) -> Option<String> {
        no_room(&self.left_out)
    }

    /// Draws head and rows.
    pub(super) fn draw(&self, rows: &[&GlanceRow], colours: Colours) -> String {
        let Self { name, sizes, .. } = self;
        let mut out = String::new();
        let mut line = |style: Style, text: &str| {
            let _ = writeln!(out, "{style}{}{style:#}", text.trim_end());
        };
        let joined = |first: &str, cells: &[String], last: &str| {
            let mut text = format!("  {first:name$}");
            for (cell, size) in cells.iter().zip(sizes) {
                let _ = write!(text, "  {cell:size$}");
            }
            format!("{text}  {last}")
        };
        // A short head stands directly above its figures.
        for at in 0..self.head() {
            let above = self.head() - 1 - at;
            let part = |lines: &Vec<String>| {
                lines.len().checked_sub(above + 1).map_or_else(String::new, |it| lines[it].clone())
            };
            let bars = self.bars.as_deref().filter(|_| above == 0).unwrap_or_default();
            line(
                colours.faint,
                &joined("", &self.heads.iter().map(part).collect::<Vec<_>>(), bars),
            );
        }
        for ((row, texts), names) in rows.iter().zip(&self.texts).zip(&self.names) {
            let mut names = names.iter().map(String::as_str);
            let shares = self.bars.as_ref().map(|_| histogram(&row.histogram));
            let first = names.next().unwrap_or_default();
            line(Style::new(), &joined(first, texts, &shares.unwrap_or_default()));
            names.for_each(|rest| line(Style::new(), &format!("    {rest}")));
        }
        out
    }
}

/// Returns the characters that a head needs in [`HEAD`] lines.
fn narrowest(head: &str) -> usize {
    let longest = head.split(' ').map(width).max().unwrap_or(0);
    (longest..width(head)).find(|it| wrap(head, *it).len() <= HEAD).unwrap_or(width(head))
}

/// Folds a name into lines; the further ones are indented by two.
pub(super) fn folded(name: &str, most: usize) -> Vec<String> {
    if width(name) <= most { vec![name.to_owned()] } else { wrap_list(name, most.max(LEAST) - 2) }
}

/// Says what there is no room for.
pub(super) fn no_room(left_out: &[String]) -> Option<String> {
    (!left_out.is_empty())
        .then(|| format!("no room for {}: {}", left_out.join(", "), super::whole()))
}

/// Columns of suites that are left out where there is no room, the first of them first: the word for it, and its width with
/// the gap. The bar says nothing that the ratio beside it does not.
const OPTIONAL: [(&str, usize); 5] =
    [("", RATIO + 2), ("the limit", 14), ("cells", 7), ("error", 7), ("published", 11)];

/// A table with a line for each suite.
pub(super) struct SuiteTable<'a> {
    groups: &'a [GlanceGroup],
    names: Vec<String>,
    figures: Vec<String>,
    name: usize,
    figure: usize,
    /// How many of [`OPTIONAL`] are left out.
    without: usize,
}

impl<'a> SuiteTable<'a> {
    /// Lays out the suites for lines of at most that many characters.
    pub(super) fn new(groups: &'a [GlanceGroup], most: usize) -> Self {
        let names: Vec<String> = parts::names(groups).iter().map(|it| tame(it)).collect();
        let figures: Vec<String> = groups.iter().map(leading).collect();
        let widest = |texts: &[String]| texts.iter().map(|it| width(it)).max().unwrap_or(0);
        let name = widest(&names).min(if most < usize::MAX { NAME.1 } else { usize::MAX });
        let longest = widest(&figures);
        let room = |without: usize| {
            let beside: usize = OPTIONAL[without..].iter().map(|it| it.1).sum();
            most.saturating_sub(name + beside + 4)
        };
        // Without published figures nothing is compared: of limits and counts it may be.
        let without = (0..OPTIONAL.len() - 1)
            .find(|it| room(*it) >= longest)
            .or_else(|| (0..=OPTIONAL.len()).find(|it| room(*it) >= FIGURE.min(longest)))
            .unwrap_or(OPTIONAL.len());
        let figure = longest.min(room(without).max(LEAST));
        Self { groups, names, figures, name, figure, without }
    }

    fn line(&self, [suite, cells, leading, bar, published, error, limit]: [&str; 7]) -> String {
        let Self { name, figure, without, .. } = self;
        let mut text = format!("  {suite:name$}");
        let mut add = |at: usize, cell: String| {
            if at >= *without {
                text += &cell;
            }
        };
        add(2, format!("  {cells:>5}"));
        add(OPTIONAL.len(), format!("  {leading:figure$}"));
        add(0, format!("  {bar:RATIO$}"));
        add(4, format!("  {published:>9}"));
        add(3, format!("  {error:>5}"));
        add(1, format!("  {limit:>12}"));
        text
    }

    /// Returns the heads of the columns.
    pub(super) fn head(&self) -> String {
        self.line([
            "suite",
            "cells",
            "leading figure",
            "½   1   2",
            "published",
            "error",
            "of limit",
        ])
    }

    /// Returns the lines of each suite, with whether its figures are far from published ones.
    pub(super) fn rows(&self) -> Vec<(Vec<String>, bool)> {
        let row = |((group, suite), text): ((&GlanceGroup, &String), &String)| {
            let limit = parts::limit_column(group);
            let of = group.published.as_ref().filter(|it| it.ratio.is_some());
            let ratio = of.and_then(|it| it.ratio);
            let error = of.and_then(|it| it.error).map(|it| format!("{:.0} %", 100.0 * it));
            let (names, figures) = (wrap(suite, self.name), wrap(text, self.figure));
            let part = |lines: &[String], at: usize| lines.get(at).cloned().unwrap_or_default();
            let line = |at: usize| match at {
                0 => self.line([
                    &part(&names, 0),
                    &group.rows.len().to_string(),
                    &part(&figures, 0),
                    &ratio.map_or_else(String::new, bar),
                    &ratio.map_or_else(String::new, |it| format!("{} x", digits::ratio(it))),
                    error.as_deref().unwrap_or_default(),
                    &limit,
                ]),
                _ => self.line([&part(&names, at), "", &part(&figures, at), "", "", "", ""]),
            };
            let lines = (0..names.len().max(figures.len())).map(line).collect();
            (lines, ratio.is_some_and(|it| !(0.7..=1.3).contains(&it)))
        };
        self.groups.iter().zip(&self.names).zip(&self.figures).map(row).collect()
    }

    /// Names the columns that there is no room for.
    pub(super) fn hidden(&self) -> Option<String> {
        let words = OPTIONAL[..self.without].iter().map(|it| it.0).filter(|it| !it.is_empty());
        no_room(&words.map(String::from).collect::<Vec<_>>())
    }
}
