//! Sentences that a reader must know before the first number.

use super::{Caveat, CellFailure, Check, GlanceGroup, Losses, RepetitionAt, Report};
use crate::cell::{Cell, Origin};
use crate::kind;
use crate::plan::{Plan, PlanSet};
use crate::predict::capitalized;
use crate::table::truth;
use crate::units::Dimension;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::sample::Fate;
use espbench_model::text::{count, counted};

/// Different causes that are told; the table of failures has all.
const CAUSES: usize = 3;

/// Counts of a plan's thresholds, and of the results that they were held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThresholdTally {
    /// Thresholds of the plans.
    pub all: usize,
    /// Those that did not hold of at least one result.
    pub failed: usize,
    /// Results that thresholds were held against, each once for each.
    pub results: usize,
    /// Those that did not keep it.
    pub results_failed: usize,
}

impl ThresholdTally {
    /// Says how many failed; `None` where all held.
    #[must_use]
    pub fn failed_words(&self) -> Option<String> {
        let Self { all, failed, results, results_failed } = *self;
        if failed == 0 {
            return None;
        }
        let thresholds = format!("{failed} of {} failed", count(all, "threshold"));
        Some(match results == all {
            true => format!("{thresholds}."),
            false => format!("{thresholds}, at {results_failed} of {}.", count(results, "result")),
        })
    }
}

impl Report {
    /// Returns one sentence for each thing that a reader must know before the first number: first
    /// what was not measured, and why.
    #[must_use]
    pub fn headlines(&self) -> Vec<String> {
        let mut lines = self.causes();
        lines.extend(self.cut_short());
        if self.run.origin == Origin::Simulated {
            lines.push("All results are simulated: they come from the virtual lab.".into());
            lines.extend(self.truths());
            lines.extend(self.fitted().map(|it| format!("† {it}.")));
        }
        if self.run.origin == Origin::Live {
            lines.push(
                "All results are live: real programs have measured devices that `espbench live` simulates."
                    .into(),
            );
        }
        lines.extend(self.doubts());
        lines.extend(self.thresholds().failed_words());
        lines
    }

    /// Returns of each threshold that failed the result that is farthest from it.
    #[must_use]
    pub fn worst_checks(&self) -> Vec<&Check> {
        let mut worst: Vec<&Check> = Vec::new();
        for check in self.checks.iter().filter(|it| !it.passed) {
            match worst.iter_mut().find(|it| it.number == check.number && check.number != 0) {
                Some(it) if it.beyond < check.beyond => *it = check,
                Some(_) => {}
                None => worst.push(check),
            }
        }
        worst
    }

    /// Returns how many thresholds of the plans there are, and how many of them failed: each counts once, however
    /// many results it was held against.
    #[must_use]
    pub fn thresholds(&self) -> ThresholdTally {
        // Those of an older espbench have no number: each is one of its own.
        let several = |is_counted: fn(&&Check) -> bool| {
            let mut known = BTreeSet::new();
            let checks = self.checks.iter().filter(is_counted);
            checks.filter(|it| it.number == 0 || known.insert(it.number)).count()
        };
        ThresholdTally {
            all: several(|_| true),
            failed: several(|it| !it.passed),
            results: self.checks.len(),
            results_failed: self.checks.iter().filter(|it| !it.passed).count(),
        }
    }

    /// Returns why leading figures are not known, where no cell has them: a sentence for each reason.
    #[must_use]
    pub fn unknowns(&self) -> Vec<String> {
        let ours = || self.cells.iter().filter(|it| it.origin != Origin::Published);
        let is_told = |cell: &Cell| {
            let same =
                |it: &&Cell| (&it.id.table, &it.id.metric) == (&cell.id.table, &cell.id.metric);
            ours().filter(same).any(|it| it.value.is_some())
        };
        let mut told: Vec<&str> = Vec::new();
        let mut lines = Vec::new();
        for cell in ours().filter(|it| it.value.is_none()) {
            let Some(why) = cell.note.as_deref().filter(|why| !told.contains(why)) else {
                continue;
            };
            let headlines = kind::named(&cell.id.table).map_or(&[][..], kind::TestKind::headlines);
            let headline = headlines.iter().find(|it| it.metric == cell.id.metric);
            if let Some(headline) = headline.filter(|_| !is_told(cell)) {
                told.push(why);
                lines.push(capitalized(&format!("{}: {why}.", headline.name())));
            }
        }
        lines
    }

    /// Returns how true simulated figures are, where published ones are of the same tests: over several seeds,
    /// or else in this run.
    #[must_use]
    pub fn truths(&self) -> Vec<String> {
        if !self.lab_truth.is_empty() {
            return truth::sentences(&self.lab_truth);
        }
        let own = self.truth.as_ref().and_then(truth::headline);
        let over_wifi = self.truth_wifi.as_ref().and_then(truth::headline_wifi);
        let mut lines: Vec<String> = own.into_iter().chain(over_wifi).collect();
        // Figures of a document may stand beside these, of which none says how true they are.
        let has_document = |it: &GlanceGroup| {
            it.published.as_ref().is_some_and(|it| it.fitted > 0 || it.pairs > 0)
        };
        let is_alone = lines.is_empty() && !self.glance.iter().any(has_document);
        if is_alone && self.run.origin == Origin::Simulated && !self.glance.is_empty() {
            // Tables show what was published of other chips and places beside it.
            let has_other =
                |it: &GlanceGroup| it.published.as_ref().is_some_and(|it| it.not_comparable > 0);
            lines.push(match self.glance.iter().any(has_other) {
                true => "No published figure can be compared with these: how true they are is not known.".into(),
                false => "No published counterpart: how true these figures are is not known.".into(),
            });
        }
        lines
    }

    /// Returns why cells could not be measured: a sentence for each different cause, of at most
    /// three.
    #[must_use]
    pub fn causes(&self) -> Vec<String> {
        let mut groups: Vec<Vec<&CellFailure>> = Vec::new();
        for failure in &self.failures {
            match groups.iter_mut().find(|group| group[0].error == failure.error) {
                Some(group) => group.push(failure),
                None => groups.push(alloc::vec![failure]),
            }
        }
        let sentence = |group: &Vec<&CellFailure>| {
            let (first, last) = (&group[0].place, &group[group.len() - 1].place);
            let places = match self.of_repetitions(group.iter().map(|it| it.at)) {
                Some(part) => format!("{first}, {part}"),
                None => match (cells(group.iter().map(|it| it.at)), group.len()) {
                    (1, _) => first.clone(),
                    (n, all) if n == all => format!("{n} cells, {first} to {last}"),
                    (n, all) => format!("{all} repetitions of {n} cells, {first} to {last}"),
                },
            };
            format!("Failed: {places}: {}", group[0].error)
        };
        let mut lines: Vec<String> = groups.iter().take(CAUSES).map(sentence).collect();
        let rest = groups.iter().skip(CAUSES).flatten().map(|it| it.at);
        let (more, all) = (cells(rest.clone()), rest.count());
        if more > 0 {
            let more = match more == all {
                true => count(more, "further cell").to_string(),
                false => format!("{all} further repetitions of {}", count(more, "cell")),
            };
            lines.push(format!("Failed: {more}, for other causes."));
        }
        lines
    }

    /// Returns sentences on what the figures leave open, and on what a sound peer does not send: changed content,
    /// further copies. In the virtual lab both are results like any other.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = self.open();
        if !self.run.origin.is_real_time() {
            return doubts;
        }
        let corrupt = |l: &Losses| l.causes.get(Fate::Corrupt.name()).copied().unwrap_or_default();
        let copies = |l: &Losses| l.others.get(Fate::Duplicate.name()).copied().unwrap_or_default();
        let changed = summed(&self.losses, corrupt).map(|(n, probes, place)| {
            format!(
                "Corrupt: {n} of {probes} came with other content than was sent ({place}); they count \
                 as lost."
            )
        });
        let again = summed(&self.losses, copies).map(|(n, probes, place)| {
            let copies = counted(n, "further copy", "further copies");
            format!("Duplicates: {copies} of {probes} came ({place}); each counts once.")
        });
        let late = |l: &Losses| l.others.get(Fate::Late.name()).copied().unwrap_or_default();
        let late = summed(&self.losses, late).map(|(n, probes, place)| {
            format!("Late: {n} of {probes} came after they had been given up ({place}); no figure has their times.")
        });
        doubts.extend(changed.into_iter().chain(again).chain(late));
        doubts
    }

    /// Returns what the figures of cells leave open: each sentence once, with its cells where there are several.
    fn open(&self) -> Vec<String> {
        let mut groups: Vec<Vec<&Caveat>> = Vec::new();
        for caveat in &self.caveats {
            match groups.iter_mut().find(|group| group[0].text == caveat.text) {
                Some(group) => group.push(caveat),
                None => groups.push(alloc::vec![caveat]),
            }
        }
        let planned = self.plans().iter().map(|it| it.workloads.len()).sum::<usize>();
        let planned = if planned == 0 { self.losses.len() } else { planned };
        let sentence = |group: &Vec<&Caveat>| {
            let (first, last) = (&group[0].place, &group[group.len() - 1].place);
            let text = match cells(group.iter().map(|it| it.at)) {
                1 if planned == 1 => group[0].text.clone(),
                1 => format!("{first}: {}", group[0].text),
                n if n == planned => format!("{} ({n} cells)", group[0].text),
                n => format!("{} ({n} cells, {first} to {last})", group[0].text),
            };
            match self.of_repetitions(group.iter().map(|it| it.at)) {
                Some(part) => format!("{text} ({part})"),
                None => text,
            }
        };
        groups.iter().map(sentence).collect()
    }

    /// Returns the plans of the run; none of what cannot be read.
    pub(super) fn plans(&self) -> Vec<Plan> {
        PlanSet::parse(&self.run.plan_text).map(|set| set.plans).unwrap_or_default()
    }

    /// Says that something is so in several repetitions of one cell, and how many it has: `in 2 of 3 repetitions`.
    fn of_repetitions(
        &self,
        places: impl Iterator<Item = Option<RepetitionAt>> + Clone,
    ) -> Option<String> {
        let several = places.clone().count();
        if several < 2 || cells(places.clone()) != 1 {
            return None;
        }
        let mut cell = places.flatten().next()?.cell as usize;
        for plan in self.plans() {
            if cell < plan.workloads.len() {
                return Some(format!("in {several} of {} repetitions", plan.repetitions));
            }
            cell -= plan.workloads.len();
        }
        None
    }

    /// Returns whether every cell failed and left no time and no rate: then there is nothing to
    /// show but why.
    #[must_use]
    pub fn has_only_causes(&self) -> bool {
        let is_figure = |cell: &Cell| {
            let told = Dimension::of(&cell.unit).map(|it| it.0);
            let of_a_link =
                matches!(told, Some(Dimension::Time | Dimension::Rate | Dimension::BitRate));
            cell.origin != Origin::Published && cell.value.is_some() && of_a_link
        };
        !self.failures.is_empty()
            && self.failures.len() >= self.losses.len()
            && !self.cells.iter().any(is_figure)
    }
}

/// Returns how many cells these repetitions are of; what is of no known place is of a cell of its own.
fn cells(places: impl Iterator<Item = Option<RepetitionAt>>) -> usize {
    let mut known = BTreeSet::new();
    places.filter(|it| it.is_none_or(|at| known.insert(at.cell))).count()
}

/// Returns the sum of a count over the cells that have it, their probes, and which cells these are.
fn summed(losses: &[Losses], of: impl Fn(&Losses) -> u64) -> Option<(u64, u64, String)> {
    let cells: Vec<&Losses> = losses.iter().filter(|it| of(it) > 0).collect();
    let place = match cells.as_slice() {
        [] => return None,
        [one] => one.place.clone(),
        [first, ..] => format!("{} cells, the first {}", cells.len(), first.place),
    };
    let (n, probes) = cells.iter().fold((0, 0), |sum, it| (sum.0 + of(it), sum.1 + it.probes));
    Some((n, probes, place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Origin;
    use crate::report::Agreement;
    use crate::run::RunFacts;

    #[test]
    fn a_threshold_counts_once_however_many_results_it_is_held_against() {
        let check = |number, passed| Check {
            number,
            threshold: "loss <= 0 %".into(),
            place: "udp-echo, 20 B".into(),
            value: Some(1.0),
            unit: "percent".into(),
            passed,
            beyond: 0.0,
        };
        let mut report = Report::empty(RunFacts::default());
        // Two thresholds of the same words, and one that holds.
        for (number, passed) in
            [(1, true), (1, false), (1, false), (2, false), (2, false), (3, true)]
        {
            report.checks.push(check(number, passed));
        }
        let tally = report.thresholds();
        assert_eq!((tally.failed, tally.all), (2, 3));
        let words = tally.failed_words().unwrap();
        assert_eq!(words, "2 of 3 thresholds failed, at 4 of 6 results.");
        assert!(report.headlines().contains(&words));
        report.checks = [check(1, true), check(2, false)].into();
        assert_eq!(report.thresholds().failed_words().unwrap(), "1 of 2 thresholds failed.");
        // An older espbench wrote no numbers.
        report.checks = [check(0, true), check(0, false), check(0, false)].into();
        assert_eq!(report.thresholds().failed_words().unwrap(), "2 of 3 thresholds failed.");
        report.checks.clear();
        assert_eq!(report.thresholds().failed_words(), None);
        // Of each threshold the result that is farthest off.
        let off = |number, beyond| Check { beyond, ..check(number, beyond <= 0.0) };
        report.checks = [off(1, 2.0), off(2, 1.0), off(1, 7.0), off(2, 0.0), off(1, 3.0)].into();
        let worst: Vec<f64> = report.worst_checks().iter().map(|it| it.beyond).collect();
        assert_eq!(worst, [7.0, 1.0]);
    }

    #[test]
    fn causes_count_cells_and_repetitions_apart() {
        let failed = |cell, repetition, error: &str| CellFailure {
            place: format!("udp-echo, {} B", 20 + cell),
            error: error.into(),
            at: Some(RepetitionAt { cell, repetition }),
        };
        let mut report = Report::empty(RunFacts::default());
        report.failures =
            [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(c, r)| failed(c, r, "timeout")).into();
        let wanted = "Failed: 4 repetitions of 2 cells, udp-echo, 20 B to udp-echo, 21 B: timeout";
        assert_eq!(report.causes(), [wanted]);
        report.failures = [0, 1].map(|cell| failed(cell, 0, "timeout")).into();
        assert_eq!(report.causes(), ["Failed: 2 cells, udp-echo, 20 B to udp-echo, 21 B: timeout"]);
        for (cell, repetition, error) in [(2, 0, "b"), (3, 0, "c"), (4, 0, "d"), (4, 1, "e")] {
            report.failures.push(failed(cell, repetition, error));
        }
        let causes = report.causes();
        assert_eq!(causes[3], "Failed: 2 further repetitions of 1 cell, for other causes.");
    }

    #[test]
    fn what_is_missing_of_a_plan_with_repetitions_is_counted_in_them() {
        let plan = |times: u32| {
            format!(
                "name = \"a\"\nrepetitions = {times}\n[[measure]]\nkind = \"udp-echo\"\nsize = [20, 200]\n"
            )
        };
        let cut = |times, missing| {
            let facts = RunFacts { plan_text: plan(times), ..RunFacts::default() };
            let mut report = Report::empty(facts);
            (report.incomplete, report.missing) = (true, missing);
            report.cut_short().unwrap()
        };
        assert!(cut(1, 1).contains(": 1 cell of its plan is missing."), "{}", cut(1, 1));
        assert!(
            cut(3, 3).contains(": 3 repetitions of cells of its plan are missing."),
            "{}",
            cut(3, 3)
        );
        assert!(
            cut(3, 1).contains(": 1 repetition of a cell of its plan is missing."),
            "{}",
            cut(3, 1)
        );
    }

    /// The overview shows what was published of other chips.
    #[test]
    fn published_figures_that_cannot_be_compared_are_not_denied() {
        let mut report =
            Report::empty(RunFacts { origin: Origin::Simulated, ..RunFacts::default() });
        let other = Agreement { not_comparable: 3, ..Agreement::default() };
        let group =
            GlanceGroup { name: "udp".into(), kind: "iperf".into(), ..GlanceGroup::default() };
        report.glance = [group].into();
        let none = "No published counterpart: how true these figures are is not known.";
        assert_eq!(report.truths(), [none]);
        report.glance[0].published = Some(other);
        let wanted =
            "No published figure can be compared with these: how true they are is not known.";
        assert_eq!(report.truths(), [wanted]);
    }

    #[test]
    fn thresholds_are_numbered_through_all_plans() {
        let plan = "name = \"a\"\n[[measure]]\nkind = \"udp-echo\"\n[[threshold]]\nmetric = \"loss\"\nmax = \"1 %\"\n";
        let set = PlanSet::parse(&format!("#%% plan a\n{plan}#%% plan b\n{plan}")).unwrap();
        let numbers: Vec<u32> = set.thresholds().iter().map(|it| it.1.number).collect();
        assert_eq!(numbers, [1, 2]);
    }

    #[test]
    fn limits_that_nothing_can_keep_are_refused_at_their_place() {
        let plan = |limits: &str| {
            let text = format!(
                "name = \"a\"\n[[measure]]\nkind = \"udp-echo\"\n[[threshold]]\nmetric = \"rtt_p99\"\n{limits}\n"
            );
            PlanSet::parse(&text).map_err(|e| e.to_string())
        };
        let crossed = "line 4, column 1: `min` of 30 ms is above `max` of 0.003 s, so that nothing can pass: exchange \
                       them, or leave one out";
        assert_eq!(plan("min = \"30 ms\"\nmax = \"0.003 s\"").unwrap_err(), crossed);
        assert!(plan("min = \"3 ms\"\nmax = \"0.003 s\"").is_ok(), "one value passes");
        assert!(plan("min = 2\nmax = 1").is_err());
        assert!(plan("min = \"3 ms\"\nmax = \"3 s\"").is_ok());
    }
}
