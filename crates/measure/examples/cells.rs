//! From a plan and its samples to result cells: `cargo run -p espbench-measure --example cells`.

use espbench_measure::plan::Plan;
use espbench_measure::report::report;
use espbench_measure::run::{Recorded, RunFacts};
use espbench_model::sample::{Cause, Fate, Probe, Sample};
use espbench_model::time::{Duration, Instant};
use std::collections::BTreeMap;

fn main() {
    let text = "name = \"office\"\n[[measure]]\nkind = \"udp-echo\"\nsize = 100\ncount = 200\n";
    let plan = Plan::parse(text).expect("a plan");
    // What a target would have recorded: round trips of 3 to 5 ms, and each fortieth probe lost.
    let probe = |seq: u64| {
        let due = Instant::ZERO + Duration::from_millis(10 * seq);
        let lost = seq % 40 == 39;
        let received = (!lost).then(|| due + Duration::from_micros(3_000 + seq * 7 % 2_000));
        let fate = if lost { Fate::Lost(Cause::Unknown) } else { Fate::Delivered };
        Sample::Probe(Probe {
            seq,
            bytes: 100,
            due,
            sent: Some(due),
            received,
            fate,
            ..Probe::default()
        })
    };
    let recorded = Recorded {
        ordinal: 0,
        repetition: 0,
        workload: plan.workloads[0],
        samples: (0..200).map(probe).collect(),
        counters: BTreeMap::new(),
        facts: BTreeMap::new(),
        error: None,
    };
    let facts = RunFacts { seed: plan.seed, plan_text: plan.text, ..RunFacts::default() };
    let report = report(&facts, None, &[recorded], 1, &[]);
    for cell in &report.cells {
        let (value, low, high) = (cell.value, cell.ci_low, cell.ci_high);
        println!(
            "{}: {value:.3?} {}, 95 % between {low:.3?} and {high:.3?}",
            cell.id.metric, cell.unit
        );
    }
    let loss = report.cells.iter().find(|cell| cell.id.metric == "loss").expect("a cell");
    assert_eq!((loss.value, loss.n), (Some(2.5), Some(200)));
}
