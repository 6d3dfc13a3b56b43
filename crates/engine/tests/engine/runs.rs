//! A plan to a report.

use espbench_engine::run::{FAILURES_IN_A_ROW, run_name, site_of};
use espbench_engine::{Refused, RunListener, SeededCell, Simulation, run};
use espbench_measure::plan::PlanSet;
use espbench_measure::report::Report;
use espbench_measure::run::{Recorded, Site};
use espbench_measure::warning::Advice;
use espbench_sim::lab::file::Library;
use std::cell::Cell;

const PLAN: &str = r#"
name = "Two boards"
repetitions = 2
[[measure]]
kind = "esp-now"
test = "ping"
size = [10, 230]
count = 20
"#;

/// Cells of several kinds, twice.
const SUITE: &str = r#"
name = "A suite, in short"
repetitions = 2
[[measure]]
kind = "esp-now"
test = "ping"
size = [10, 230]
count = 50
[[measure]]
kind = "esp-now"
test = "throughput"
time = "1 s"
[[measure]]
kind = "esp-now"
test = ["multi-ping", "handshake", "provisioning"]
devices = 3
count = 5
"#;

fn plan(text: &str) -> PlanSet {
    PlanSet::parse(text).unwrap()
}

fn simulation(text: &str, lab: Option<&str>, seed: u64) -> Simulation {
    Simulation::new(plan(text), Library::built_in(), lab, Some(seed)).unwrap()
}

fn json(report: &Report) -> String {
    serde_json::to_string(report).unwrap()
}

/// Counts cells, and stops when so many have begun.
#[derive(Default)]
struct Listener {
    begun: Vec<(usize, usize)>,
    recorded: Vec<Recorded>,
    stop_at: Option<usize>,
    asked: Cell<u64>,
}

impl RunListener for Listener {
    fn begin(&mut self, cell: &SeededCell, of: usize) {
        self.begun.push((cell.position, of));
    }

    fn end(&mut self, recorded: &Recorded) {
        self.recorded.push(recorded.clone());
    }

    fn cancelled(&self) -> bool {
        self.asked.set(self.asked.get() + 1);
        self.stop_at.is_some_and(|most| self.begun.len() >= most)
    }
}

/// Shards of a sweep take cells in any order, on any machine, and one of them writes the report.
#[test]
fn cells_in_any_order_give_the_report_of_the_whole_run() {
    let mut listener = Listener::default();
    let whole = simulation(SUITE, None, 7).run(&mut listener);
    let (one, other) = (simulation(SUITE, None, 7), simulation(SUITE, None, 7));
    let mut recorded = Vec::new();
    for (number, cell) in one.cells().iter().enumerate().rev() {
        let shard = if number % 2 == 0 { &one } else { &other };
        recorded.push(shard.carry_out(cell, &()).unwrap());
    }
    recorded.reverse();
    assert!(recorded == listener.recorded, "each cell by itself");
    recorded.reverse();
    let sections = |report: &Report| serde_json::to_value(report).unwrap();
    let (of_shards, of_whole) = (sections(&other.report(&recorded)), sections(&whole));
    for (name, section) in of_whole.as_object().unwrap() {
        assert!(of_shards[name] == *section, "the section {name} differs");
    }
    assert!(json(&other.report(&recorded)) == json(&whole));
    assert!(json(&simulation(SUITE, None, 8).run(&mut ())) != json(&whole), "another seed");
}

#[test]
fn a_cell_does_not_depend_on_those_behind_it() {
    let longer = format!(
        "{PLAN}\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\nsize = 100\ncount = 5\n"
    );
    let (short, long) = (simulation(PLAN, None, 3), simulation(&longer, None, 3));
    let first = short.carry_out(&short.cells()[0], &()).unwrap();
    let again = long.carry_out(&long.cells()[0], &()).unwrap();
    assert_eq!(first.samples.len(), 20);
    assert_eq!((first.samples, first.counters), (again.samples, again.counters));
}

#[test]
fn a_listener_is_told_of_each_cell_and_stops_a_run() {
    let mut all = Listener::default();
    let report = simulation(PLAN, None, 1).run(&mut all);
    assert_eq!(all.begun, [(0, 4), (1, 4), (2, 4), (3, 4)]);
    let ended = all.recorded.iter().map(|it| (it.ordinal, it.repetition, it.samples.len()));
    assert_eq!(ended.collect::<Vec<_>>(), [(0, 0, 20), (1, 0, 20), (0, 1, 20), (1, 1, 20)]);
    assert_eq!((report.incomplete, report.missing), (false, 0));

    let mut stopping = Listener { stop_at: Some(2), ..Listener::default() };
    let report = simulation(PLAN, None, 1).run(&mut stopping);
    assert_eq!((stopping.begun.len(), stopping.recorded.len()), (2, 1), "the second is not kept");
    assert_eq!((report.incomplete, report.missing), (true, 3));
    assert!(stopping.asked.get() > 1, "it was asked within a cell");
}

/// Nobody is heard ten kilometres away.
#[test]
fn a_run_is_given_up_where_cell_after_cell_fails() {
    let text = "name = \"far\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ota\"\n\
                devices = [1, 2, 3, 4, 5]\ndistance = \"10 km\"\npower_dbm = 2\n";
    let mut listener = Listener::default();
    let report = simulation(text, None, 1).run(&mut listener);
    assert_eq!(listener.recorded.len(), FAILURES_IN_A_ROW);
    assert_eq!((report.missing, report.failures.len()), (5 - FAILURES_IN_A_ROW, FAILURES_IN_A_ROW));
    let why = &report.failures[0].error;
    assert!(why.contains("did not print"), "{why}");
}

#[test]
fn what_no_lab_can_do_is_refused_before_anything_is_simulated() {
    let refused = |text: &str, lab| {
        let mut listener = Listener::default();
        let refused = run(plan(text), Library::built_in(), lab, None, &mut listener).unwrap_err();
        assert!(listener.begun.is_empty());
        refused
    };
    let threshold = "name = \"t\"\n[[measure]]\nkind = \"udp-echo\"\n[[threshold]]\nmetric = \"speed\"\nmin = 1\n";
    let Refused::Threshold(said, why) = refused(threshold, None) else { panic!("a threshold") };
    assert!(said.starts_with("speed") && why.contains("speed"), "{said}: {why}");
    let Refused::Cell(error) = refused(PLAN, Some("no-such-lab")) else { panic!("a cell") };
    assert!(error.to_string().starts_with("sim:no-such-lab cannot run esp-now: "), "{error}");
    let real = "name = \"p\"\n[[measure]]\nkind = \"udp-echo\"\n";
    let said = refused(real, None).to_string();
    assert!(said.starts_with("sim cannot run udp-echo: the plan names no device"), "{said}");
    let provisioning = "name = \"p\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"provisioning\"\n";
    let error = refused(provisioning, Some("two-boards"));
    assert!(error.to_string().contains("there is no router to join"), "{error}");
}

/// Names of runs stand in shells and file names.
#[test]
fn a_run_is_named_after_its_plan_without_anything_to_quote() {
    let name = |name: &str| {
        run_name(&plan(&format!("name = {name:?}\n[[measure]]\nkind = \"udp-echo\"\n")))
    };
    let names = ["Two boards", "a_b--c", " é1 ", "!!!", &"x".repeat(60)].map(name);
    assert_eq!(names, ["two-boards", "a_b-c", "1", "run", &"x".repeat(60)]);
    // Of several plans names are whole, or left out and counted.
    let several = |names: &[&str]| {
        let one = |it: &&str| plan(&format!("name = {it:?}\n[[measure]]\nkind = \"udp-echo\"\n"));
        run_name(&PlanSet { plans: names.iter().flat_map(|it| one(it).plans).collect() })
    };
    assert_eq!(several(&["echo", "rate"]), "echo-rate");
    assert_eq!(
        several(&["one-way-latency", "round-trip", "throughput", "crypto-time"]),
        "one-way-latency-and-3-more"
    );
    let long = "x".repeat(50);
    assert_eq!(several(&[&long, "b"]), format!("{long}-and-1-more"));
}

/// A report says nothing of the whole run that is not so in every cell.
#[test]
fn a_plan_that_sets_profile_or_environment_takes_it_from_the_site() {
    let site = |keys: &str| {
        let text =
            format!("name = \"p\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\n{keys}");
        let lab =
            Site { chip: "esp32".into(), environment: Some("office".into()), ..Site::default() };
        site_of(&plan(&text), || lab)
    };
    let said = |site: Site| (site.chip, site.environment);
    assert_eq!(said(site("")), ("esp32".into(), Some("office".into())));
    assert_eq!(said(site("profile = \"esp32c3\"\n")), (String::new(), Some("office".into())));
    assert_eq!(said(site("environment = \"open\"\n")), ("esp32".into(), None));
}

/// Nobody has measured an office at a hundred metres; the figures must not look as if somebody had.
#[test]
fn a_distance_beyond_the_model_of_the_place_is_told_beside_the_figures() {
    let text = "name = \"far\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\ncount = 3\n\
                distance = [\"10 m\", \"100 m\"]\n";
    let report = simulation(text, None, 1).run(&mut ());
    let told: Vec<&Advice> = report.warnings.iter().map(|it| &it.advice).collect();
    let beyond: Vec<_> =
        told.iter().filter(|it| matches!(it, Advice::BeyondModel { .. })).collect();
    assert_eq!(beyond, [&&Advice::BeyondModel { farthest_m: 100.0, valid_m: 10.0 }]);
}
