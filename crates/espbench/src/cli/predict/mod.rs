//! `espbench predict`: what if, in the virtual lab.
//!
//! | module | contents |
//! |---|---|
//! | `bench` | rooms of a lab, made and run for one setting after the other |
//! | `fleet` | `espbench predict fleet` |
//! | `nodes` | `espbench predict nodes` |
//! | `options` | flags that all questions share |
//! | `phy` | `espbench predict phy` |

mod bench;
mod fleet;
mod nodes;
mod options;
mod phy;

use super::common::TOOL;
use super::output;
use bench::RoomFactory;
use clap::{Args as Flags, Subcommand};
use espbench_measure::cell::Origin;
use espbench_measure::kind::esp_now::mode;
use espbench_measure::predict::{PredictAnswer, report};
use espbench_measure::run::{RunFacts, Site};
use options::Common;
use std::process::ExitCode;

/// Flags.
#[derive(Debug, Flags)]
pub struct Args {
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, Subcommand)]
enum Question {
    /// Predict loss, latency and channel occupancy by the number of devices
    Nodes(Box<nodes::Args>),
    /// Find the largest fleet that keeps loss and latency under limits
    Fleet(Box<fleet::Args>),
    /// Compare PHY rates by latency, loss, throughput and range
    Phy(Box<phy::Args>),
}

/// Runs the subcommand. Exit status: 0 answered, 2 not.
///
/// # Errors
/// A flag or a file of the lab is wrong, or the output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.question {
        Question::Nodes(args) => nodes::run(args),
        Question::Fleet(args) => fleet::run(args),
        Question::Phy(args) => phy::run(args),
    }
}

/// Draws an answer.
fn write(
    name: &str,
    common: &Common,
    bench: &RoomFactory,
    answer: &PredictAnswer,
) -> anyhow::Result<ExitCode> {
    let facts = RunFacts {
        name: format!("predict {name}"),
        tool: TOOL.into(),
        target: format!("sim:{}", common.lab),
        origin: Origin::Simulated,
        seed: common.seed,
        site: Site {
            chip: bench.sample.chip.clone(),
            mode: mode(common.cast()),
            distance_m: common.distance.filter(|it| it.0 == it.1).map(|it| it.0),
            security: Some(if common.encrypt { "app-data" } else { "off" }.into()),
            environment: Some(bench.sample.environment.clone()),
        },
        host: bench.facts(common),
        ..RunFacts::default()
    };
    output::write(&report(&facts, answer), &common.output)?;
    Ok(if answer.points.is_empty() { ExitCode::from(2) } else { ExitCode::SUCCESS })
}
