//! The answer of a report in a few lines, for a terminal: at most 15 for one suite, 30 for several.

use super::figures::{heads, short};
use super::rows::{FigureTable, SuiteTable};
use super::{as_page, whole};
use super::{beside, parts, tame, width, wrap};
use anstyle::{AnsiColor, Style};
use espbench_measure::beside::{LabAgreement, LabPair};
use espbench_measure::cell::Origin;
use espbench_measure::digits;
use espbench_measure::report::{Agreement, GlanceGroup, GlanceRow, GlanceValue, Report};
use espbench_measure::table::unit_sign;
use espbench_measure::warning::Warning;
use espbench_model::speech::{self, Asker};
use espbench_model::text::count;
use std::fmt::Write as _;

/// Lines after one suite at most.
const LINES: usize = 15;

/// Rows of one suite at least, where a narrow screen leaves fewer lines.
const ROWS: usize = 4;

/// Lines after one plan of several kinds of test at most.
const PARTS_LINES: usize = 25;

/// Characters of a line at most, where the screen is no narrower.
pub(super) const WIDTH: usize = 96;

/// Characters of a line at least: a narrower terminal breaks lines itself.
const NARROWEST: usize = 60;

/// The screen that an answer is for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Screen {
    /// Whether it shows colours.
    pub coloured: bool,
    /// Characters of a line; `None` where nobody has told them.
    pub columns: Option<usize>,
    /// Whether what is wider is cut: a file, or a program behind a pipe, gets whole names and all columns.
    pub cuts: bool,
}

impl Screen {
    /// Returns the characters of a line.
    pub(super) fn width(self) -> usize {
        self.columns.map_or(WIDTH, |it| it.clamp(NARROWEST, WIDTH))
    }

    /// Returns the characters that a line may have.
    pub(super) fn most(self) -> usize {
        if self.cuts { self.width() } else { usize::MAX }
    }
}

/// Causes of failure that are told.
const CAUSES: usize = 2;

/// Pieces of advice that are told: after one suite, and after several.
const ADVICE: [usize; 2] = [1, 3];

/// Returns the answer of a run that has no leading figure, and does not know why.
fn no_result() -> String {
    format!("No result: the samples give no figure. All that was recorded is in {}.", whole())
}

/// Thresholds that failed, which are told.
const CHECKS: usize = 2;

/// Settings of a lab's file that a plan overrides, which are told.
const SET_OF_LAB: usize = 2;

/// Colours: one meaning each, in every line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Colours {
    pub(super) title: Style,
    /// Heads, and what stands behind the figures.
    pub(super) faint: Style,
    /// Something to look at.
    pub(super) warning: Style,
    /// Something that failed.
    failure: Style,
}

impl Colours {
    pub(super) fn new(coloured: bool) -> Self {
        if !coloured {
            return Self::default();
        }
        let of = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        Self {
            title: Style::new().bold(),
            faint: Style::new().dimmed(),
            warning: of(AnsiColor::Yellow),
            failure: of(AnsiColor::Red).bold(),
        }
    }
}

/// Renders the report's answer for a screen.
#[must_use]
pub fn render(report: &Report, screen: Screen) -> String {
    let (colours, width, most) = (Colours::new(screen.coloured), screen.width(), screen.most());
    let is_simulated = report.run.origin == Origin::Simulated;
    let mut page = Page { out: String::new(), colours, width, most, is_simulated };
    page.title(report);
    page.overridden(report);
    page.failures(report);
    page.unknowns(report);
    if report.has_only_causes() || report.glance.is_empty() {
        page.end(report);
        return page.out;
    }
    let mut tail = Page { out: String::new(), colours, width, most, is_simulated };
    tail.beside(report);
    tail.truth(report);
    tail.advice(report);
    tail.end(report);
    match report.glance.as_slice() {
        [] => {}
        several if parts::together(several).is_some() => {
            let end = LINES.saturating_sub(tail.lines());
            if let Some(one) = parts::together(several) {
                page.suite(&one, end);
            }
        }
        [only] => {
            let end = LINES.saturating_sub(tail.lines());
            let pairs = report.beside.as_ref().map(|it| beside::leading(it, only));
            match pairs.filter(|it| !it.is_empty()) {
                Some(pairs) => page.pairs(&pairs, end),
                None => page.suite(only, end),
            }
        }
        several if parts::are_few(several) => {
            page.parts(several, PARTS_LINES.saturating_sub(tail.lines()));
        }
        several if several.iter().any(parts::is_compared) => page.suites(several),
        several => page.out += &parts::plain(several, most),
    }
    page.out + &tail.out
}

/// Writes a title in as many lines as it takes, with a badge at the end of the first; behind a pipe in one.
pub(super) fn titled(
    text: &str,
    badge: &str,
    colours: Colours,
    columns: usize,
    most: usize,
) -> String {
    let room = if badge.is_empty() { columns } else { columns - badge.len() - 2 };
    let lines = if most < usize::MAX { wrap(text, room) } else { vec![text.to_owned()] };
    let Colours { title, warning, .. } = colours;
    let mut out = String::new();
    for (number, line) in lines.iter().enumerate() {
        let _ = write!(out, "{title}{line}{title:#}");
        if number == 0 && !badge.is_empty() {
            let pad = " ".repeat(columns.saturating_sub(width(line) + badge.len()).max(2));
            let _ = write!(out, "{pad}{warning}{badge}{warning:#}");
        }
        out.push('\n');
    }
    out
}

struct Page {
    out: String,
    colours: Colours,
    /// Characters of a line of words.
    width: usize,
    /// Characters that a line of figures may have.
    most: usize,
    /// Whether the figures are the lab's.
    is_simulated: bool,
}

impl Page {
    fn line(&mut self, style: Style, text: &str) {
        let _ = writeln!(self.out, "{style}{}{style:#}", text.trim_end());
    }

    fn lines(&self) -> usize {
        self.out.lines().count()
    }

    /// Says what the plan sets of the lab that was named: its file holds in all else.
    fn overridden(&mut self, report: &Report) {
        let (shown, more) = report.overridden.split_at(report.overridden.len().min(SET_OF_LAB));
        let and = match more.len() {
            0 if shown.is_empty() => return,
            0 => String::new(),
            n => format!("; {} in {}", count(n, "more setting"), whole()),
        };
        let text = format!("this run sets {}{and}", shown.join(", "));
        self.marked(self.colours.warning, "!", &text);
    }

    /// Writes a paragraph behind a mark, in as many lines as it takes.
    fn marked(&mut self, style: Style, mark: &str, text: &str) {
        let room = self.width - width(mark) - 3;
        for (number, line) in wrap(text, room).iter().enumerate() {
            let mark = if number == 0 { mark } else { " " };
            let _ = writeln!(self.out, "  {style}{mark}{style:#} {line}");
        }
    }

    /// Writes a line of words, in as many lines as it takes.
    fn words(&mut self, style: Style, text: &str) {
        for line in wrap(text, self.width - 2) {
            self.line(style, &format!("  {line}"));
        }
    }

    /// Writes what was measured, and whether it was simulated.
    fn title(&mut self, report: &Report) {
        let run = &report.run;
        let title = match report.glance.as_slice() {
            [only] => {
                let mut parts = vec![only.name.as_str()];
                parts.extend([only.kind.as_str(), only.shared.as_str()]);
                parts.retain(|it| !it.is_empty());
                parts.dedup();
                parts.join(", ")
            }
            [] if run.plan_name.is_empty() => "no test".into(),
            [] => run.plan_name.clone(),
            several => parts::title(several, &run.plan_name),
        };
        let device = match run.origin {
            Origin::Measured | Origin::Live if run.site.chip == "unstated" => run.target.clone(),
            Origin::Measured | Origin::Live => format!("{} {}", run.site.chip, run.target),
            Origin::Simulated | Origin::Published => format!("{}, seed {}", run.target, run.seed),
        };
        let badge = match run.origin {
            Origin::Simulated => "SIMULATED",
            Origin::Live => "LIVE, SIMULATED DEVICES",
            Origin::Measured | Origin::Published => "",
        };
        let text = tame(&format!("{title}, on {device}"));
        self.out += &titled(&text, badge, self.colours, self.width, self.most);
    }

    /// Writes what was not measured, and which thresholds failed.
    fn failures(&mut self, report: &Report) {
        let style = self.colours.failure;
        for cause in report.causes().iter().take(CAUSES) {
            self.marked(style, "✗", cause);
        }
        if let Some(text) = report.cut_short() {
            self.marked(style, "✗", &text);
        }
        let mut failed = report.worst_checks();
        failed.truncate(CHECKS);
        for check in &failed {
            let unit = unit_sign(&check.unit);
            let value = check.value.map(|it| format!("{} {unit}", digits::plain(it)));
            let value = value.unwrap_or_else(|| "unknown".into());
            let text = format!("{}: {}: {value}", check.place, check.threshold);
            self.marked(style, "✗", &text);
        }
        let tally = report.thresholds();
        if tally.results_failed > failed.len() {
            tally.failed_words().iter().for_each(|it| self.marked(style, "✗", it));
        }
        if tally.failed == 0 && tally.all > 0 {
            let all = count(tally.all, "threshold");
            self.marked(Style::new(), "✓", &format!("{all} held."));
        }
        for doubt in report.doubts() {
            self.marked(self.colours.warning, "!", &doubt);
        }
    }

    /// Writes why leading figures are not known, and that there is no result where nothing else says so.
    fn unknowns(&mut self, report: &Report) {
        let lines = report.unknowns();
        for line in lines.iter().take(CAUSES) {
            self.marked(self.colours.warning, "!", line);
        }
        let is_told = !lines.is_empty() || report.incomplete || !report.failures.is_empty();
        if report.glance.is_empty() && !is_told {
            self.marked(self.colours.failure, "✗", &no_result());
        }
    }

    /// Writes as many rows of one suite as end at that line, with what follows from them.
    fn suite(&mut self, group: &GlanceGroup, end: usize) {
        // That a simulated test has no published counterpart is said once, below.
        let says = |it: &&Agreement| it.ratio.is_some() || it.fitted > 0 || !self.is_simulated;
        let published = group.published.as_ref().filter(says).map(|it| agreement(it, group));
        let published = published.map(|it| format!("against published: {it}"));
        let words: Vec<String> = parts::battery(group)
            .iter()
            .chain(&published)
            .flat_map(|it| wrap(it, self.width - 2))
            .collect();
        let alone = group.rows.len() == 1;
        let usual = group.rows.first().filter(|_| alone).and_then(|it| it.usual_line.as_deref());
        let after =
            words.len() + usize::from(group.times_limit.is_some()) + usize::from(usual.is_some());
        // A value that is itself a bound is the end of a search, and said so.
        let is_open = |it: &GlanceValue| {
            it.ci_low.is_some() != it.ci_high.is_some() && it.ci_low != Some(it.value)
        };
        let legend = group.rows.iter().flat_map(|it| it.values.iter().flatten()).any(is_open);
        // Beside the rows: their head, and how many there are more.
        let room = end.saturating_sub(self.lines() + after + usize::from(legend) + 2);
        let least = ROWS.min(group.rows.len());
        let most = room.max(least);
        let heads = heads(&group.metrics);
        let lay_out = |most: usize| {
            let rows = chosen(group, most);
            let names: Vec<String> = rows
                .iter()
                .map(|row| if alone { String::new() } else { tame(&row.place) })
                .collect();
            let has_bars = rows.iter().any(|row| !row.histogram.is_empty());
            let axis = group.axis_ms.filter(|_| has_bars);
            let bars = axis.map(|[low, high]| format!("{}–{} ms", short(low), short(high)));
            let table = FigureTable::new(&heads, &rows, &names, bars.as_deref(), self.most);
            (rows, table)
        };
        // One row more takes the line that says so.
        let all = most + usize::from(group.rows.len() == most + 1);
        let (mut rows, mut table) = lay_out(all);
        while table.lines() > all + 1 && rows.len() > least {
            (rows, table) = lay_out(rows.len() - 1);
        }
        self.out += &table.draw(&rows, self.colours);
        let more = group.rows.len() - rows.len();
        let more = (more > 0).then(|| format!("… and {}", count(more, "more cell")));
        // Columns without room are named.
        let left: Vec<String> = more.into_iter().chain(table.hidden()).collect();
        if !left.is_empty() {
            self.words(self.colours.faint, &left.join("; "));
        }
        if legend {
            self.words(self.colours.faint, digits::ONE_END);
        }
        for line in usual.into_iter().chain(words.iter().map(String::as_str)) {
            self.words(Style::new(), line);
        }
        if let (Some(factor), Some(metric)) = (parts::to_limit(group), group.metrics.first()) {
            let text = format!("{}: {factor} the theoretical limit", metric.quantity);
            self.words(Style::new(), &text);
        }
    }

    /// Writes the kinds of test of one plan one after the other, in rows that end at that line.
    fn parts(&mut self, groups: &[GlanceGroup], end: usize) {
        for (at, group) in groups.iter().enumerate() {
            let head = [group.kind.as_str(), group.shared.as_str()];
            let head: Vec<&str> = head.into_iter().filter(|it| !it.is_empty()).collect();
            self.words(self.colours.title, &head.join(", "));
            let each = end.saturating_sub(self.lines()) / (groups.len() - at);
            let rows = GlanceGroup { published: None, times_limit: None, ..group.clone() };
            self.suite(&rows, self.lines() + each);
        }
    }

    /// Writes a line for each suite.
    fn suites(&mut self, groups: &[GlanceGroup]) {
        let table = SuiteTable::new(groups, self.most);
        self.line(self.colours.faint, &table.head());
        for (lines, is_off) in table.rows() {
            let style = if is_off { self.colours.warning } else { Style::new() };
            lines.iter().for_each(|line| self.line(style, line));
        }
        if let Some(hidden) = table.hidden() {
            self.words(self.colours.faint, &hidden);
        }
    }

    /// Writes measured and simulated figures, in as many rows as end at that line.
    fn pairs(&mut self, pairs: &[&LabPair], end: usize) {
        let (lines, more, hidden) =
            beside::rows(pairs, end.saturating_sub(self.lines() + 3), self.most);
        for (number, line) in lines.iter().enumerate() {
            self.line(if number == 0 { self.colours.faint } else { Style::new() }, line);
        }
        let more = (more > 0).then(|| format!("… and {}", count(more, "more test")));
        let left: Vec<String> = more.into_iter().chain(hidden).collect();
        if !left.is_empty() {
            self.words(self.colours.faint, &format!("  {}", left.join("; ")));
        }
    }

    /// Writes whether what was measured is as the lab predicts; if not, where the largest gap is and where
    /// to look.
    fn beside(&mut self, report: &Report) {
        let Some(it) = &report.beside else { return };
        let style = match it.verdict {
            LabAgreement::Off => self.colours.failure,
            LabAgreement::Unsure => self.colours.warning,
            LabAgreement::AsPredicted | LabAgreement::NotCompared => Style::new(),
        };
        self.marked(style, beside::sign(Some(it.verdict)), &it.sentence());
        for text in [it.gap(), it.advice(), it.missing()].into_iter().flatten() {
            self.marked(Style::new(), " ", &text);
        }
    }

    /// Writes how true the lab is, and where it is worst.
    fn truth(&mut self, report: &Report) {
        for text in report.truths() {
            self.marked(Style::new(), "≈", &text);
        }
        if let Some(text) = report.fitted() {
            self.marked(self.colours.warning, digits::FITTED, &text);
        }
    }

    /// Writes the advice that matters most.
    fn advice(&mut self, report: &Report) {
        // Whoever stops a run knows that there are few samples.
        if !report.stopped.is_empty() {
            return;
        }
        let is_one = report.glance.len() == 1 || parts::together(&report.glance).is_some();
        let most = ADVICE[usize::from(!is_one)];
        // Of several suites one figure each is shown, and others have no advice here.
        let is_table = is_one || parts::are_few(&report.glance);
        let is_shown = |it: &&Warning| is_table || !it.advice.is_of_figure();
        let shown: Vec<Warning> = report.warnings.iter().filter(is_shown).cloned().collect();
        let kinds = Warning::by_kind(&shown);
        for kind in kinds.iter().take(most) {
            let worst = Warning::worst(kind);
            let [seen, _, what] = worst.advice.parts();
            let of = match Warning::cells(kind) {
                1 => worst.place.clone(),
                n if Warning::are_alike(kind) => {
                    format!("{} and {}", worst.place, count(n - 1, "more cell"))
                }
                n => format!("{} (worst of {n} cells)", worst.place),
            };
            // The only cell is named in the title.
            let one = report.glance.iter().map(|it| it.rows.len()).sum::<usize>() == 1;
            let seen = if one { seen } else { format!("{of}: {seen}") };
            self.marked(self.colours.warning, "!", &seen);
            self.marked(Style::new(), " ", &what);
        }
        if kinds.len() > most {
            let more = count(kinds.len() - most, "more piece");
            self.words(self.colours.faint, &format!("… and {more} of advice: {}", whole()));
        }
    }

    /// Writes where the rest is.
    fn end(&mut self, report: &Report) {
        let name = tame(&report.run.name);
        // What was read from a log is in no store.
        let text = if report.run.plan_name.is_empty() || speech::asker() == Asker::Caller {
            format!("  all tables: {}   as a page: {}", whole(), as_page())
        } else {
            let (command, more) =
                (format!("  espbench report {name} --full"), "all tables; a page: -o FILE.html");
            let whole = format!("{command}   ({more})");
            if width(&whole) > self.width { command } else { whole }
        };
        self.words(self.colours.faint, text.trim_start());
    }
}

/// Chooses at most that many rows, and at least one: those of which a threshold failed, and evenly from those that
/// stand for others.
pub(super) fn chosen(group: &GlanceGroup, most: usize) -> Vec<&GlanceRow> {
    let most = most.max(1);
    let at = |is: fn(&GlanceRow) -> bool| -> Vec<usize> {
        (0..group.rows.len()).filter(|at| is(&group.rows[*at])).collect()
    };
    let mut chosen = at(|row| row.failed);
    chosen.truncate(most);
    let others = at(|row| row.leads && !row.failed);
    let room = (most - chosen.len()).min(others.len());
    let leading = |row: &usize| group.rows[*row].values.first().is_some_and(Option::is_some);
    let step = |row: usize| match room {
        0 | 1 => others.iter().position(leading).unwrap_or(0),
        _ => (row as f64 * (others.len() - 1) as f64 / (room - 1) as f64).round() as usize,
    };
    chosen.extend((0..room).map(|row| others[step(row)]));
    chosen.sort_unstable();
    chosen.into_iter().map(|at| &group.rows[at]).collect()
}

/// Says how a group's leading figures stand to published ones.
pub(super) fn agreement(it: &Agreement, group: &GlanceGroup) -> String {
    let what = group.metrics.first().map_or("", |metric| metric.quantity.as_str());
    if let (Some(ratio), Some(error)) = (it.ratio, it.error) {
        let ratio = digits::ratio(ratio);
        if it.pairs == 1 && it.unjudged == 1 {
            return format!(
                "{what} {ratio} x (one figure, without an interval: whether they differ is not known)"
            );
        }
        if it.pairs == 1 {
            let verdict = match (it.better, it.worse) {
                (1, _) => "better",
                (_, 1) => "worse",
                _ => "not shown to differ",
            };
            return format!("{what} {ratio} x, {verdict}");
        }
        return format!(
            "{what} {ratio} x (median of {}), {} within 30 %, median error {:.0} %",
            count(it.pairs, "figure"),
            it.near,
            100.0 * error
        );
    }
    if it.fitted > 0 {
        let these = match it.fitted {
            1 => "the published figure of this test".to_owned(),
            n => format!("the {n} published figures of these tests"),
        };
        return format!("a constant of the lab was fitted to {these}");
    }
    format!("not comparable: {}", it.why.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_of_one_figure_claims_no_more_than_is_known() {
        let group =
            GlanceGroup { name: "iperf".into(), kind: "iperf".into(), ..GlanceGroup::default() };
        let of = |ratio: f64, unjudged: usize| {
            let error = Some((ratio - 1.0).abs());
            let one =
                Agreement { pairs: 1, unjudged, ratio: Some(ratio), error, ..Agreement::default() };
            agreement(&one, &group)
        };
        let unknown = "(one figure, without an interval: whether they differ is not known)";
        assert_eq!(of(612.75, 1).trim(), format!("613 x {unknown}"));
        assert_eq!(of(0.0015, 1).trim(), format!("0.0015 x {unknown}"));
        assert_eq!(of(1.02, 0).trim(), "1.02 x, not shown to differ");
    }
}
