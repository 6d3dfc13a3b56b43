//! Figures in sentences, each with its source: `<!-- figure: SOURCE -->VALUE<!-- -->`.
//!
//! | source | is |
//! |---|---|
//! | `truth DOCUMENTS GROUP [STANDING] median\|within\|spread\|share` | of `reference/truth.csv`: the mean over its seeds, with `spread` and `share` also the least and the most |
//! | `seeds PLAN MODE METRIC [COLUMN=VALUE]` | a cell of a plan over the seeds of `reference/seeds.csv`: the least and the most |
//! | `measured OUT TABLE CHIP median\|p90\|worst\|rows` | of `reference/measured-errors.csv`, with what was left out of the fit: `nothing`, `chip`, `table` or `row` |
//! | `constants ORIGIN` | how many constants of the lab have that origin |
//! | `counts PAGE PHRASE` | the share of the first "N of M" behind a phrase of another page |

use super::AGAIN;
use super::page::{Page, pages, root};
use crate::util::TestDir;
use espbench::cli::builtin;
use espbench_engine::measured::{LeftOut, StoredErrors, built_in_errors};
use espbench_engine::{Simulation, truth};
use espbench_measure::cell::Cell;
use espbench_measure::columns::{ColumnValue, ResultColumn};
use espbench_measure::plan::{Plan, PlanSet};
use espbench_measure::truth::{CellStanding, Documents, SeedGroup, SeedRange};
use espbench_model::sdkconfig::Chip;
use espbench_sim::lab::file::Library;
use espbench_stats::interval::wilson;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// Plans that are of no use but for a figure of a page.
const PLANS: [(&str, &str); 4] = [
    (
        "many",
        r#"
name = "many"
[[measure]]
kind = "esp-now"
test = "multi-ping"
cast = ["broadcast", "unicast"]
devices = 100
size = 230
distance = "3 m"
[[measure]]
kind = "esp-now"
test = "multi-ping"
cast = "broadcast"
devices = [30, 50, 100]
size = 230
distance = "0.5 m"
"#,
    ),
    (
        "one-way-10",
        r#"
name = "one-way-10"
repetitions = 3
[[measure]]
kind = "esp-now"
test = "one-way"
cast = "broadcast"
size = 10
count = 10
distance = "0.5 m"
"#,
    ),
    (
        "raw",
        r#"
name = "raw"
[[measure]]
kind = "raw-esp-now"
cast = ["unicast", "broadcast"]
size = 250
phy_rate = "1M"
count = 1000
"#,
    ),
    (
        "ota-far",
        r#"
name = "ota-far"
[[measure]]
kind = "esp-now"
test = "ota"
devices = 100
distance = ["5 m", "10 m"]
"#,
    ),
];

/// Cells of plans over these seeds; a test simulates the first one again.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=6;
const STORED: &str = "reference/seeds.csv";
const HEAD: &str = "figure,seed,value,unit";

/// Value and unit of a figure by each seed.
type Stored = BTreeMap<(String, u64), (f64, String)>;

/// Returns the stored figures; with `BLESS=1` all are simulated again and stored first.
fn stored() -> &'static Stored {
    static STORE: OnceLock<Stored> = OnceLock::new();
    STORE.get_or_init(|| {
        if super::is_blessed() {
            let rows = simulated(SEEDS).into_iter();
            let rows = rows
                .map(|((figure, seed), (value, unit))| format!("{figure},{seed},{value},{unit}\n"));
            std::fs::write(root(STORED), format!("{HEAD}\n{}", rows.collect::<String>())).unwrap();
        }
        let text = std::fs::read_to_string(root(STORED)).unwrap();
        let rows = text.lines().skip(1).map(|line| {
            let mut fields = line.split(',');
            let mut next = || fields.next().expect("four fields");
            let (figure, seed) = (next().to_string(), next().parse().unwrap());
            ((figure, seed), (next().parse().unwrap(), next().to_string()))
        });
        rows.collect()
    })
}

/// Returns whether a cell is the one that the words name.
fn is_named(cell: &Cell, words: &[&str]) -> bool {
    let (Some((mode, rest)), true) = (words.split_first(), words.len() > 1) else {
        panic!("a mode and a metric: {words:?}")
    };
    let is_setting = |word: &&str| {
        let (name, value) = word.split_once('=').expect("COLUMN=VALUE");
        let column = ResultColumn::find(name).unwrap_or_else(|| panic!("no column {name}"));
        column.value(cell).is_some_and(|it| match it {
            ColumnValue::Text(text) => text == value,
            ColumnValue::Number(number) => value.parse() == Ok(number),
            ColumnValue::Count(count) => value.parse() == Ok(count),
            _ => false,
        })
    };
    // A cell may have no mode.
    let is_of_mode = cell.id.mode == *mode || (cell.id.mode.is_empty() && *mode == "-");
    is_of_mode && cell.id.metric == rest[0] && rest[1..].iter().all(is_setting)
}

/// Carries out a plan with a seed, and returns the cells of these figures of it.
fn simulate(plan: &str, seed: u64, figures: &[&String]) -> Stored {
    let own = PLANS.iter().find(|(name, _)| *name == plan);
    let parsed =
        own.map_or_else(|| builtin::plan(plan).unwrap(), |(_, it)| Plan::parse(it).unwrap());
    let set = PlanSet { plans: vec![parsed] };
    let run = Simulation::new(set, Library::built_in(), None, Some(seed)).unwrap();
    let report = run.run(&mut ());
    let found = figures.iter().map(|figure| {
        let words: Vec<&str> = figure.split(' ').skip(1).collect();
        let cells: Vec<&Cell> = report.cells.iter().filter(|it| is_named(it, &words)).collect();
        let [cell] = cells[..] else { panic!("{figure} names {} cells", cells.len()) };
        let value = cell.value.unwrap_or_else(|| panic!("{figure} has no value"));
        (((*figure).clone(), seed), (value, cell.unit.clone()))
    });
    found.collect()
}

/// Returns the figures over seeds that pages name, by their plan.
fn of_seeds() -> BTreeMap<String, Vec<String>> {
    let mut plans: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for figure in pages().iter().flat_map(Page::figures) {
        let Some(named) = figure.source.strip_prefix("seeds ") else { continue };
        let of = plans.entry(named.split(' ').next().unwrap().to_string()).or_default();
        if !of.iter().any(|it| it == named) {
            of.push(named.to_string());
        }
    }
    plans
}

/// Simulates the stored figures with these seeds, on two threads.
fn simulated(seeds: impl Iterator<Item = u64> + Clone) -> Stored {
    let plans = of_seeds();
    let jobs = plans.iter().flat_map(|(plan, figures)| {
        seeds.clone().map(move |seed| (plan, seed, figures.iter().collect::<Vec<_>>()))
    });
    let jobs: Vec<_> = jobs.collect();
    std::thread::scope(|scope| {
        let halves = [0, 1].map(|half| {
            let jobs = jobs.iter().skip(half).step_by(2);
            scope.spawn(move || {
                jobs.flat_map(|(plan, seed, figures)| simulate(plan, *seed, figures)).collect()
            })
        });
        halves.into_iter().flat_map(|it| -> Stored { it.join().unwrap() }).collect()
    })
}

#[test]
fn the_stored_figures_are_those_of_the_lab() {
    let stored = stored();
    let named: Vec<String> = of_seeds().into_values().flatten().collect();
    let wanted = named.iter().flat_map(|it| SEEDS.map(|seed| (it.clone(), seed)));
    let wanted: BTreeSet<_> = wanted.collect();
    assert!(stored.keys().eq(&wanted), "{STORED} is not of what pages name: {AGAIN}");
    for (key, value) in simulated(1..=1) {
        assert_eq!(stored[&key], value, "{STORED}, {key:?}: {AGAIN}");
    }
}

/// Writes a figure with two digits, or one of the tens.
fn short(value: f64) -> String {
    if value.abs() >= 9.95 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn span(low: &str, high: &str) -> String {
    if low == high { low.to_string() } else { format!("{low}–{high}") }
}

fn of_truth(words: &[&str]) -> String {
    let [documents, group, standing @ .., kind] = words else { panic!("{words:?}") };
    let documents = (*documents != "all-documents")
        .then(|| Documents::from_name(documents).unwrap_or_else(|| panic!("no {documents}")));
    let standing = standing.first().map(|it| CellStanding::from_name(it).expect("a standing"));
    let is_wanted = |it: &&SeedGroup| {
        (it.documents, it.group.key(), it.standing) == (documents, *group, standing)
    };
    let built_in = truth::built_in();
    let found = built_in.iter().find(is_wanted).unwrap_or_else(|| panic!("no {words:?}"));
    let write = |range: Option<SeedRange>, digits: usize, has_spread: bool| {
        let range = range.expect("a figure");
        let [mean, low, high] =
            [range.mean, range.low, range.high].map(|it| format!("{it:.digits$}"));
        let spread = if has_spread { format!(" ({low}–{high})") } else { String::new() };
        format!("{mean} %{spread}")
    };
    match *kind {
        "median" => write(found.median_percent, 1, false),
        "spread" => write(found.median_percent, 1, true),
        "within" => write(found.within_percent, 0, false),
        "share" => write(found.within_percent, 0, true),
        "cells" => found.cells.to_string(),
        _ => panic!("a figure of {words:?}"),
    }
}

fn of_measured(words: &[&str]) -> String {
    let [out, table, chip, kind] = words else { panic!("{words:?}") };
    let is_wanted = |(left_out, it): &&StoredErrors| {
        left_out.map_or("nothing", LeftOut::name) == *out
            && it.table.name() == *table
            && it.chip.map_or("all", Chip::name) == *chip
    };
    let built_in = built_in_errors();
    let (_, it) = built_in.iter().find(is_wanted).unwrap_or_else(|| panic!("no {words:?}"));
    match *kind {
        "median" => format!("{:.0} %", it.median),
        "p90" => format!("{:.0} %", it.p90),
        "worst" => format!("{:.0} %", it.worst),
        "rows" => it.rows.to_string(),
        _ => panic!("a figure of {words:?}"),
    }
}

/// Parses a number with commas at the beginning or the end of a text.
fn number(text: &str, is_end: bool) -> Option<u64> {
    let is_other = |c: char| !c.is_ascii_digit() && c != ',';
    let part = if is_end { text.rsplit(is_other).next() } else { text.split(is_other).next() };
    part?.replace(',', "").parse().ok()
}

/// Returns each "N of M" of a text, with what stands behind it.
fn counts(text: &str) -> impl Iterator<Item = (u64, u64, &str)> {
    text.match_indices(" of ").filter_map(|(at, of)| {
        let behind = &text[at + of.len()..];
        let counted = (number(&text[..at], true)?, number(behind, false)?);
        Some((
            counted.0,
            counted.1,
            behind.trim_start_matches(|c: char| c.is_ascii_digit() || c == ','),
        ))
    })
}

/// Returns the value of a source.
pub fn value(source: &str) -> String {
    let words: Vec<&str> = source.split(' ').collect();
    match words[0] {
        "truth" => of_truth(&words[1..]),
        "measured" => of_measured(&words[1..]),
        "seeds" => {
            let named = source.strip_prefix("seeds ").unwrap();
            let of = stored().iter().filter(|((figure, _), _)| figure == named);
            let mut values: Vec<f64> = of.map(|(_, (value, _))| *value).collect();
            values.sort_by(f64::total_cmp);
            let (Some(low), Some(high)) = (values.first(), values.last()) else {
                panic!("{STORED} has no `{named}`: {AGAIN}")
            };
            span(&short(*low), &short(*high))
        }
        "constants" => {
            let out = TestDir::new().run(&["lab", "constants", "--format", "json"]).ok();
            let list: Vec<serde_json::Value> = serde_json::from_str(&out).unwrap();
            list.iter().filter(|it| it["origin"] == words[1]).count().to_string()
        }
        "counts" => {
            let (page, phrase) = source["counts ".len()..].split_once(' ').expect("a phrase");
            let text = Page::read(page).lines.join("\n");
            let (_, behind) = text.split_once(phrase).unwrap_or_else(|| panic!("{page}: {phrase}"));
            let (part, all, _) = counts(behind).next().expect("N of M");
            format!("{:.0} %", 100.0 * part as f64 / all as f64)
        }
        _ => panic!("no source `{source}`"),
    }
}

/// Parses `(86 %; by Wilson's interval 78 to 91 %)`.
fn share(text: &str) -> Option<(f64, Option<[f64; 2]>)> {
    let (share, rest) = text.strip_prefix(" (")?.split_once(" %")?;
    let interval = || {
        let (low, high) = rest.strip_prefix("; ")?.split(" %)").next()?.split_once(" to ")?;
        Some([low.rsplit(' ').next()?.parse().ok()?, high.parse().ok()?])
    };
    Some((share.parse().ok()?, interval()))
}

/// Finds shares, and Wilson's intervals, that are not of the counts beside them.
#[test]
fn shares_are_those_of_the_counts_beside_them() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for page in pages() {
        for (at, line) in page.sentences() {
            for (part, all, behind) in counts(line) {
                let Some((said, interval)) = share(behind) else { continue };
                seen += 1;
                let is = wilson(part, all);
                let bounds = [is.low, is.high].map(|it| 100.0 * it.unwrap_or_default());
                let is_near = |a: f64, b: f64| (a - b).abs() <= 0.51;
                let share = 100.0 * part as f64 / all as f64;
                let holds = interval
                    .is_none_or(|it| is_near(it[0], bounds[0]) && is_near(it[1], bounds[1]));
                if !is_near(said, share) || !holds {
                    wrong.push(format!(
                        "{}: {part} of {all}: {share:.1} %, {bounds:.1?}",
                        page.place(at)
                    ));
                }
            }
        }
    }
    assert!(seen > 15, "{seen}");
    assert_eq!(wrong, Vec::<String>::new());
}
