//! Plans that measure several kinds of test: their names, and one table where the same figures lead in all.

use super::figures::{leading, print, range};
use super::{tame, width, wrap};
use espbench_measure::metric;
use espbench_measure::plan::Goal;
use espbench_measure::report::{GlanceGroup, GlanceRow, GlanceValue};
use espbench_measure::table::unit_sign;
use espbench_model::speech::FlagName;
use espbench_model::text::count;
use std::collections::BTreeSet;

/// Kinds of test of one plan that each have rows of their own, at most.
const FEW: usize = 3;

/// Says how the leading figures stand to their theoretical limits, in the words between: a time is so many times its
/// limit, a rate so many percent of it.
pub(super) fn to_limit(group: &GlanceGroup) -> Option<String> {
    of_limit(group, ["% of", "times"])
}

/// Returns how the leading figures stand to their theoretical limits, for a column.
pub(super) fn limit_column(group: &GlanceGroup) -> String {
    of_limit(group, ["%", "x"]).unwrap_or_default()
}

/// Returns the range of these shares and factors, with the word for a share or the one for a factor.
fn of_limit(group: &GlanceGroup, [share, factor]: [&str; 2]) -> Option<String> {
    let ([low, high], metric) = group.times_limit.zip(group.metrics.first())?;
    Some(if metric::is_rate(&metric.unit) {
        format!("{} {share}", range(100.0 / high, 100.0 / low))
    } else {
        format!("{} {factor}", range(low, high))
    })
}

/// Returns the parts of one plan as one group, where its goal is a battery: the same figures lead in each.
pub(super) fn together(groups: &[GlanceGroup]) -> Option<GlanceGroup> {
    let (first, others) = groups.split_first().filter(|it| !it.1.is_empty())?;
    let is_part = |it: &GlanceGroup| it.name == first.name && it.goal == first.goal;
    if first.goal != Some(Goal::Battery) || !others.iter().all(is_part) {
        return None;
    }
    let at =
        |group: &GlanceGroup, metric: &str| group.metrics.iter().position(|it| it.metric == metric);
    let is_common = |metric: &&str| groups.iter().all(|it| at(it, metric).is_some());
    let common: Vec<&str> =
        first.metrics.iter().map(|it| it.metric.as_str()).filter(is_common).collect();
    let row = &|group: &GlanceGroup, row: &GlanceRow| GlanceRow {
        place: format!("{} {}", group.kind, row.place),
        words: Vec::new(),
        values: common.iter().map(|it| row.values[at(group, it)?]).collect(),
        published: None,
        printed: None,
        limit: None,
        histogram: Vec::new(),
        usual_line: None,
        leads: row.leads,
        failed: row.failed,
    };
    (!common.is_empty()).then(|| GlanceGroup {
        kind: kinds(groups),
        metrics: common
            .iter()
            .filter_map(|it| Some(first.metrics[at(first, it)?].clone()))
            .collect(),
        rows: groups.iter().flat_map(|of| of.rows.iter().map(move |it| row(of, it))).collect(),
        shared: String::new(),
        axis_ms: None,
        published: None,
        times_limit: None,
        ..first.clone()
    })
}

/// Returns the kinds of the groups, in words: `udp-echo and mqtt-rate`.
fn kinds(groups: &[GlanceGroup]) -> String {
    let mut all: Vec<&str> = groups.iter().map(|it| it.kind.as_str()).collect();
    all.dedup();
    listed(&all)
}

/// Joins words: `a`, `a and b`, `a, b and c`.
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).into(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// Says what several groups are: the parts of one plan, the tests of a log, or several plans.
pub(super) fn title(groups: &[GlanceGroup], plan: &str) -> String {
    let names = names(groups);
    match groups {
        [first, ..] if plans(groups) == 1 => match kinds(groups) {
            kind if kind == first.name => kind,
            kinds => format!("{}: {kinds}", first.name),
        },
        // A log has no plan: it holds tests.
        _ if plan.is_empty() => listed(&names.iter().map(String::as_str).collect::<Vec<_>>()),
        _ => count(plans(groups), "suite").to_string(),
    }
}

/// Returns what tells the groups apart: the plan's name where there are several plans, the kind of test where a plan has several
/// groups, and the figure that leads where it has several of one kind.
pub(super) fn names(groups: &[GlanceGroup]) -> Vec<String> {
    let is_one_plan = plans(groups) == 1;
    let name = |it: &GlanceGroup| {
        let of_plan = || groups.iter().filter(|other| other.name == it.name);
        if of_plan().count() == 1 {
            return it.name.clone();
        }
        let plan = if is_one_plan { "" } else { it.name.as_str() };
        let is_lone = of_plan().filter(|other| other.kind == it.kind).count() == 1;
        let lead = it.metrics.first().filter(|_| !is_lone).map_or("", |it| it.quantity.as_str());
        let words = [plan, it.kind.as_str(), lead];
        words.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
    };
    groups.iter().map(name).collect()
}

/// Counts the plans that groups are of.
fn plans(groups: &[GlanceGroup]) -> usize {
    groups.iter().map(|it| it.name.as_str()).collect::<BTreeSet<_>>().len()
}

/// Returns whether the groups are a few kinds of test of one plan, without published figures beside them:
/// there is room for rows of each.
pub(super) fn are_few(groups: &[GlanceGroup]) -> bool {
    let is_part = |it: &GlanceGroup| it.name == groups[0].name && !it.name.is_empty();
    (2..=FEW).contains(&groups.len())
        && groups.iter().all(is_part)
        && groups.iter().all(|it| it.published.as_ref().is_none_or(|it| it.ratio.is_none()))
}

/// Returns whether a published figure or a limit stands beside the group's.
pub(super) fn is_compared(group: &GlanceGroup) -> bool {
    group.times_limit.is_some() || group.published.as_ref().is_some_and(|it| it.ratio.is_some())
}

/// Writes a line for each suite, or test of a log, of which nothing stands beside others.
pub(super) fn plain(groups: &[GlanceGroup], most: usize) -> String {
    let names: Vec<String> = names(groups).iter().map(|it| tame(it)).collect();
    let most_of_name = if most < usize::MAX { most / 2 } else { usize::MAX };
    let name = names.iter().map(|it| width(it)).max().unwrap_or(0).min(most_of_name);
    let mut out = format!("  {:name$}  cells  leading figure\n", "test");
    for (group, test) in groups.iter().zip(names) {
        let (names, cells) = (wrap(&test, name), group.rows.len().to_string());
        let figures = wrap(&leading(group), most.saturating_sub(name + 11));
        for at in 0..names.len().max(figures.len()) {
            let part = |lines: &[String]| lines.get(at).cloned().unwrap_or_default();
            let cells = if at == 0 { cells.as_str() } else { "" };
            let line = format!("  {:name$}  {cells:>5}  {}", part(&names), part(&figures));
            out += &format!("{}\n", line.trim_end());
        }
    }
    out
}

/// Says what a battery life is of, and with which cell it is longest; nothing where there is none.
pub(super) fn battery(group: &GlanceGroup) -> Vec<String> {
    let Some(battery) = &group.battery else { return Vec::new() };
    let mut lines = vec![format!("battery: {battery}; another with {}", FlagName("--battery"))];
    lines.extend(longest(group));
    lines
}

/// Names the cell whose battery lasts longest of those in which least is lost.
fn longest(group: &GlanceGroup) -> Option<String> {
    let at = |metric: &str| group.metrics.iter().position(|it| it.metric == metric);
    let (life, lost) = (at("battery_life")?, at("loss"));
    let of = |row: &GlanceRow, at: usize| -> Option<GlanceValue> {
        row.values.get(at).copied().flatten()
    };
    let loss = |row: &GlanceRow| lost.and_then(|at| of(row, at)).map_or(0.0, |it| it.value);
    let lasting: Vec<&GlanceRow> = group.rows.iter().filter(|it| of(it, life).is_some()).collect();
    if lasting.len() < 2 {
        return None;
    }
    let least = lasting.iter().map(|it| loss(it)).reduce(f64::min)?;
    let hours = |row: &GlanceRow| of(row, life).map_or(0.0, |it| it.value);
    let best = lasting.into_iter().filter(|it| loss(it) <= least);
    let best = best.max_by(|a, b| hours(a).total_cmp(&hours(b)))?;
    let lost =
        if least > 0.0 { format!("with least lost ({least:.2} %)") } else { "without loss".into() };
    let unit = unit_sign(&group.metrics[life].unit);
    Some(format!("longest {lost}: {}, {} {unit}", best.place, print(&of(best, life)?)))
}
