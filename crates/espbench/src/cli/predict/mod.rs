//! `espbench predict`: what if, in the virtual lab.
//!
//! | module | contents |
//! |---|---|
//! | `bench` | rooms simulated on all cores, with progress |
//! | `fleet` | `espbench predict fleet` |
//! | `nodes` | `espbench predict nodes` |
//! | `options` | flags that all questions share |
//! | `phy` | `espbench predict phy` |

mod bench;
mod fleet;
mod nodes;
mod options;
mod phy;

use super::output;
use clap::{Args as Flags, Subcommand};
use espbench_engine::predict::Predictor;
use espbench_measure::predict::{PredictAnswer, report};
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
    predictor: &Predictor,
    answer: &PredictAnswer,
) -> anyhow::Result<ExitCode> {
    output::write(&report(&predictor.facts(name), answer), &common.output)?;
    Ok(if answer.points.is_empty() { ExitCode::from(2) } else { ExitCode::SUCCESS })
}
