//! `espbench lab`: the rooms of the simulator.
//!
//! | module | contents |
//! |---|---|
//! | `accuracy` | `espbench lab truth`: errors against published figures, over several seeds |
//! | `check` | `espbench lab check`: whether the medium is true, and files are in order |
//! | `constants` | `espbench lab constants`: all constants by their origin, and what was fitted to what |
//! | `list` | list of the built-in labs, profiles and environments |
//! | `measured` | `espbench lab truth --measured`: errors against what others measured on chips, and of what a fit has not seen |
//! | `profile` | constants with their sources |
//! | `ranks` | the ranks of settings of Espressif's guide, beside the guide's figures |
//! | `show` | a lab drawn |
//! | `trace` | `espbench lab trace`: a trace of links from what was captured |
//! | `variants` | a lab with variants, as tables: what each variant is, and what its firmware is set to |

mod accuracy;
mod check;
mod constants;
mod list;
mod measured;
mod profile;
mod ranks;
mod show;
mod trace;
mod variants;

use clap::{Args as Flags, Subcommand};
use std::process::ExitCode;

/// Flags.
#[derive(Debug, Flags)]
pub struct Args {
    #[command(subcommand)]
    what: LabCommand,
}

#[derive(Debug, Subcommand)]
enum LabCommand {
    /// Compare the simulated medium with equations and ns-3; or check the files that are named
    Check(check::Args),
    /// Run all suites with several seeds, and compare with the published figures: takes minutes
    Truth(accuracy::Args),
    /// List the built-in labs, profiles and environments
    List,
    /// Draw a lab: plan, groups, links, who cannot hear whom
    Show(show::Args),
    /// List the simulator's constants by origin, and the cells that the fitted ones were fitted to
    Constants(constants::Args),
    /// Simulate the ranks of settings of Espressif's guide, and compare with the guide's throughput
    Ranks(ranks::Args),
    /// Convert a capture, a console's log or a table to a trace that drives links of a lab
    Trace(trace::Args),
    /// Print each constant of a profile or an environment, with its source
    Profile(profile::Args),
}

/// Runs the subcommand.
///
/// # Errors
/// A file is wrong or cannot be read, or the output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.what {
        LabCommand::Check(args) => return check::run(args),
        LabCommand::Truth(args) => return accuracy::run(args),
        LabCommand::List => list::run()?,
        LabCommand::Show(args) => show::run(args)?,
        LabCommand::Constants(args) => return constants::run(args),
        LabCommand::Ranks(args) => ranks::run(args)?,
        LabCommand::Trace(args) => return trace::run(args),
        LabCommand::Profile(args) => profile::run(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes a table whose columns are words.
fn table(
    id: &str,
    title: &str,
    columns: Vec<espbench_measure::table::Column>,
    rows: Vec<Vec<String>>,
) -> espbench_measure::table::Table {
    let rows = rows
        .into_iter()
        .map(|row| row.into_iter().map(|text| (!text.is_empty()).then_some(text)).collect());
    espbench_measure::table::Table {
        id: id.into(),
        section: "lab".into(),
        title: title.into(),
        columns,
        rows: rows.collect(),
        notes: Vec::new(),
        ..espbench_measure::table::Table::default()
    }
}
