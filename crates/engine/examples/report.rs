//! Carries a plan out in the virtual lab, and prints the report as JSON:
//! `cargo run -p espbench-engine --example report [PLAN.toml [LAB [SEED]]]`. `LAB` is a built-in lab;
//! without one, each test is in the lab that its document describes.

use espbench_engine::run;
use espbench_measure::plan::PlanSet;
use espbench_sim::lab::file::Library;
use std::error::Error;

/// Round trips between two boards, and what an iperf of the component gets through.
const PLAN: &str = r#"
name = "two-boards"
[[measure]]
kind = "esp-now"
test = "ping"
size = [10, 230]
count = 100
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let plan = args.next().map_or_else(|| Ok(PLAN.into()), std::fs::read_to_string)?;
    let lab = args.next().filter(|lab| !lab.is_empty());
    let seed = args.next().map(|seed| seed.parse()).transpose()?;
    let report = run(PlanSet::parse(&plan)?, Library::built_in(), lab.as_deref(), seed, &mut ())?;
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}
