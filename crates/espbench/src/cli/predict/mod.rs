//! `espbench predict`: what if, in the virtual lab.
//!
//! | module | contents |
//! |---|---|
//! | `bench` | rooms simulated on all cores, with progress |
//! | `compare` | `espbench predict compare` |
//! | `firmware` | sdkconfig of the devices |
//! | `fleet` | `espbench predict fleet` |
//! | `frames` | `espbench predict frames` |
//! | `options` | flags that all questions share |
//! | `range` | `espbench predict range` |
//! | `rate` | `espbench predict rate` |

mod bench;
mod compare;
mod firmware;
mod fleet;
mod frames;
mod options;
mod range;
mod rate;

use super::output;
use crate::user_error::UserError;
use bench::RoomPool;
use clap::{Args as Flags, Subcommand};
use espbench_engine::predict::Predictor;
use espbench_measure::predict::{PredictAnswer, PredictQuestion, report};
use espbench_model::speech::FlagName;
use options::Common;
#[cfg(feature = "mcp")]
pub(super) use options::ProfileChoice;
use std::process::ExitCode;

/// Exit status of predictions, for help.
const STATUS: &str = "\
Exit status: 0 answered, 1 a limit that you gave (--loss, --p99) is broken: by a fleet whose size you gave, by \
each rate or chip, or by any fleet; 2 nothing could be found out, 130 stopped by Ctrl-C.";

/// Flags.
#[derive(Debug, Flags)]
#[command(after_help = STATUS)]
pub struct Args {
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, Subcommand)]
enum Question {
    /// Compare chips by the life of a battery or by latency: which one to take
    Compare(Box<compare::Args>),
    /// Predict loss and latency of a fleet, or find the largest one that keeps limits
    Fleet(Box<fleet::Args>),
    /// Tell whether one long frame or several short ones carry a message better
    Frames(Box<frames::Args>),
    /// Tell how far messages reach at each PHY rate, for a loss that you allow
    Range(Box<range::Args>),
    /// Compare PHY rates by latency, loss, throughput and range, or tell whether one takes effect
    Rate(Box<rate::Args>),
}

/// Runs the subcommand. Exit status: 0 answered, 1 a limit is broken, 2 not answered, 130 stopped.
///
/// # Errors
/// A flag or a file of the lab is wrong, or the output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.question {
        Question::Compare(args) => compare::run(args),
        Question::Fleet(args) => fleet::run(args),
        Question::Frames(args) => frames::run(args),
        Question::Range(args) => range::run(args),
        Question::Rate(args) => rate::run(args),
    }
}

/// Refuses an answer without a PHY rate.
///
/// # Errors
/// The chip reads none of the rates that were asked.
fn readable(answer: &PredictAnswer) -> anyhow::Result<()> {
    if answer.points.is_empty() && !answer.stopped {
        return Err(UserError::new("the chip reads none of these PHY rates")
            .remedy(format!(
                "leave {} out for the usual ones of the chip, or choose another {}",
                FlagName("--phy-rates"),
                FlagName("--profile")
            ))
            .into());
    }
    Ok(())
}

/// Draws an answer, of which `common` has the limits as they were given. Exit status: 0 answered, 1 a limit is broken,
/// 2 nothing was found out, 130 where Ctrl-C stopped it.
fn write(
    name: &str,
    common: &Common,
    predictor: &Predictor,
    answer: &PredictAnswer,
    rooms: &RoomPool,
) -> anyhow::Result<ExitCode> {
    let facts = match answer.question {
        PredictQuestion::Profiles => predictor.facts_of_profiles(name),
        _ => predictor.facts(name),
    };
    let mut report = report(&facts, answer);
    if common.place.lab.is_some() {
        report.overridden = predictor.set_of_lab(answer)?;
    }
    output::write(&report, &common.output, common.quiet)?;
    let whole = match answer.keeps_limits(&common.limits()) {
        Some(true) => ExitCode::SUCCESS,
        Some(false) => ExitCode::FAILURE,
        None => ExitCode::from(2),
    };
    // A signal that came after the last room has cut nothing.
    Ok(if answer.stopped { rooms.status(whole) } else { whole })
}
