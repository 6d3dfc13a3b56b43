//! `espbench board`: the boards that are attached.
//!
//! | module | contents |
//! |---|---|
//! | `list` | serial ports with their USB ids, and which bridge each is |

mod list;

use clap::{Args as Flags, Subcommand};
use std::process::ExitCode;

/// Flags.
#[derive(Debug, Flags)]
pub struct Args {
    #[command(subcommand)]
    what: BoardCommand,
}

#[derive(Debug, Subcommand)]
enum BoardCommand {
    /// List the serial ports: USB id, bridge, how a chip behind it is reset
    List(list::Args),
}

/// Runs the subcommand.
///
/// # Errors
/// A port cannot be opened, or the chip behind it does not answer as it should.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.what {
        BoardCommand::List(args) => list::run(args)?,
    }
    Ok(ExitCode::SUCCESS)
}
