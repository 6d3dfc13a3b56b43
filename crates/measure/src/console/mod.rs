//! Logs of ESP-NOW devices' consoles: tests read from them, as result cells and tables.
//!
//! The lines are read by [`transcript`](esp_now::transcript); here is what
//! their samples come to. A log has no plan: which tests there are, and how many, it says itself.
//! So the report is made without one, from the same cells and tables as any other.
//!
//! # What the figures are worth
//!
//! Round trips are printed in whole milliseconds, cut: each true one is up to 1 ms longer, and so
//! are their mean, extremes and quantiles. No interval holds that, so a note on each cell says it.
//! Bytes of a throughput test are printed in steps of 10,000.

mod cells;
mod glance;
mod tables;

use crate::cell::{Cell, Origin};
use crate::compare::compare;

use crate::label;
use crate::report::{Losses, Report, add_published, add_run, known};
use crate::run::RunFacts;
use crate::settings::Setting;
use crate::summary::SummaryContext;
use crate::table::{Table, compared};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use esp_now::transcript::TestResult;
use esp_now::transcript::session::{IperfRun, LinkEnds};
use espbench_model::sample::Sample;

/// The name of the chapter in a report.
pub const SECTION: &str = "esp-now";

/// A test that a console told of.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// Name of the console, in words; empty where there is only one.
    pub console: String,
    /// Result of the test, as the console prints it.
    pub finding: TestResult,
    /// Between which devices, if the lines tell.
    pub ends: Option<LinkEnds>,
    /// Mode of sending (`unicast`, `broadcast-3-ack`, …), where the command that began it tells.
    pub mode: Option<String>,
    /// Samples of the test, in their order.
    pub samples: Vec<Sample>,
}

/// Something to know about a log that is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Name of the console, in words; empty where there is only one.
    pub console: String,
    /// Number of times that the line was printed.
    pub count: u64,
    /// Description of the remark, with its meaning.
    pub text: String,
}

/// Contents of the logs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogContents {
    /// The tests, in their order.
    pub tests: Vec<Test>,
    /// Events, in words.
    pub story: Vec<Remark>,
    /// Faults of the devices or the log.
    pub problems: Vec<Remark>,
}

/// A test with its cells.
struct Digest<'a> {
    test: &'a Test,
    cells: Vec<Cell>,
}

impl Digest<'_> {
    fn cell(&self, metric: &str) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.id.metric == metric)
    }
}

impl Test {
    /// Returns the kind of test, in words.
    fn what(&self) -> &'static str {
        match &self.finding {
            TestResult::Ping(_) => "ping",
            TestResult::Throughput(_) => "throughput",
            TestResult::Unfinished(unfinished) => match unfinished.run {
                Some(IperfRun::Ping) => "unfinished ping",
                Some(IperfRun::Sending | IperfRun::Receiving) => "unfinished throughput",
                None => "unfinished test",
            },
            TestResult::Crypto(_) => "sec_test",
            TestResult::Update(_) => "update",
            TestResult::Handshake(_) => "handshake",
        }
    }

    /// Returns between which devices it was, and whose console told of it; empty where that is not known.
    fn between(&self) -> String {
        let ends = self.ends.map(label::ends);
        let console = Some(self.console.clone()).filter(|it| !it.is_empty());
        [ends, console].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Returns which test it is, in words.
    fn place(&self) -> String {
        match self.between() {
            nobody if nobody.is_empty() => self.what().into(),
            between => format!("{}, {between}", self.what()),
        }
    }
}

/// Returns the ends of a link as settings.
fn settings(ends: &LinkEnds) -> impl Iterator<Item = Setting> + use<> {
    ends.from.map(Setting::From).into_iter().chain(ends.to.map(Setting::To))
}

/// Returns the report of what was read: a pure function of that, the facts and the published cells.
#[must_use]
pub fn report(facts: &RunFacts, read: &LogContents, published: &[Cell]) -> Report {
    let context = SummaryContext { site: &facts.site, origin: facts.origin, seed: facts.seed };
    // A log with one pair of devices needs no name for it.
    let mut pairs: Vec<LinkEnds> = Vec::new();
    for ends in read.tests.iter().filter_map(|test| test.ends) {
        if !pairs.contains(&ends) {
            pairs.push(ends);
        }
    }
    let digest = |(i, test)| {
        let mut cells = cells::of(test, i as u64, &context);
        for cell in &mut cells {
            known(cell);
            if pairs.len() > 1 {
                cell.settings.extend(test.ends.iter().flat_map(settings));
            }
        }
        Digest { test, cells }
    };
    let digests: Vec<Digest<'_>> = read.tests.iter().enumerate().map(digest).collect();
    let mut cells: Vec<Cell> = digests.iter().flat_map(|d| d.cells.clone()).collect();
    add_run(&mut cells, facts);
    let comparisons = compare(&cells, published);
    add_published(&mut cells, &comparisons);
    Report {
        glance: glance::groups(&digests, &comparisons, read.problems.len()),
        tables: made(&digests, read, facts.origin)
            .into_iter()
            .chain((!comparisons.is_empty()).then(|| {
                let mut table = compared::pairs(&comparisons, "Comparison", facts.origin);
                table.section = "comparison".into();
                table
            }))
            .collect(),
        cells,
        comparisons,
        losses: read.tests.iter().filter_map(losses).collect(),
        ..Report::empty(facts.clone())
    }
}

fn made(digests: &[Digest<'_>], read: &LogContents, origin: Origin) -> Vec<Table> {
    [
        tables::problems(&read.problems),
        tables::pings(digests, origin),
        tables::throughput(digests, origin),
        tables::crypto(digests, origin),
        tables::groups(digests, origin),
        tables::story(&read.story),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the fates of a ping's probes. Totals of a throughput test stand in its own table: the
/// two ends count the same messages.
fn losses(test: &Test) -> Option<Losses> {
    let losses = Losses::of_probes(test.place(), &test.samples);
    (losses.probes > 0).then_some(losses)
}

#[cfg(test)]
mod tests;
