//! The table of how true the lab is: the lab still gives the figures that stand in it.

use espbench::cli::builtin;
use espbench_engine::{Simulation, truth};
use espbench_measure::plan::PlanSet;
use espbench_measure::run::Recorded;
use espbench_measure::truth::{CellStanding, Documents, SeedErrors};
use espbench_sim::lab::file::Library;

/// The suites over Wi-Fi take a part of the time of all; `espbench lab truth` computes the whole table.
#[test]
fn the_stored_errors_are_those_of_the_lab() {
    let plans = builtin::SUITES.iter().map(|(name, _)| builtin::plan(name).unwrap()).collect();
    let set = PlanSet { plans };
    let run = Simulation::new(set, Library::built_in(), None, Some(1)).unwrap();
    let over_wifi = run.cells().into_iter().filter(|it| it.step.workload.ip().is_some());
    let recorded: Vec<Recorded> = over_wifi.map(|it| run.carry_out(&it, &()).unwrap()).collect();
    let mut found = SeedErrors::of(&run.report(&recorded));
    // The last row has all cells of the run, those that constants were fitted on among them.
    let all = found.pop().unwrap();
    assert_eq!(all.documents, None);
    let is_part = |it: &&SeedErrors| {
        it.group == all.group && it.standing.is_none_or(|it| it == CellStanding::Fitted)
    };
    assert_eq!(all.cells, found.iter().filter(is_part).map(|it| it.cells).sum::<u32>());
    assert_eq!(found.len(), 7, "{found:?}");
    let text = include_str!("../../../../reference/truth.csv");
    let stored = truth::parse(text).unwrap();
    let is_like = |it: &&SeedErrors| it.seed == 1 && it.documents == Some(Documents::Wifi);
    assert_eq!(stored.iter().filter(is_like).collect::<Vec<_>>(), found.iter().collect::<Vec<_>>());
}
