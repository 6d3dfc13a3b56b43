//! `espbench board`: the boards that are attached.
//!
//! | module | contents |
//! |---|---|
//! | `erase` | `espbench board erase`: all of a board's flash, or a region of it |
//! | `flash` | `espbench board flash`: an image into a board's flash |
//! | `info` | `espbench board info`: what the chip says of itself |
//! | `lines` | a console's bytes as lines with times |
//! | `list` | serial ports with their USB ids, and which bridge each is |
//! | `monitor` | `espbench board monitor`: a board's console |
//! | `ports` | ports of boards as they are typed |

#[cfg(feature = "flash")]
mod erase;
#[cfg(feature = "flash")]
mod flash;
#[cfg(feature = "flash")]
mod info;
mod lines;
mod list;
mod monitor;
mod ports;

use super::output;
use clap::{Args as Flags, Subcommand};
use espbench_measure::table::{Column, Table};
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
    /// Write a firmware to boards, verified by digest: an ELF, or a merged image
    #[cfg(feature = "flash")]
    Flash(flash::Args),
    /// Show a board's console with times, and type to it; addresses become functions with --elf
    Monitor(monitor::Args),
    /// Ask chips what they are: revision, MAC address, size of flash
    #[cfg(feature = "flash")]
    Info(info::Args),
    /// Erase the flash of boards, or a region of it
    #[cfg(feature = "flash")]
    Erase(erase::Args),
}

/// Runs the subcommand.
///
/// # Errors
/// A port cannot be opened, or the chip behind it does not answer as it should.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.what {
        BoardCommand::List(args) => list::run(args)?,
        #[cfg(feature = "flash")]
        BoardCommand::Flash(args) => return flash::run(args),
        BoardCommand::Monitor(args) => return monitor::run(args),
        #[cfg(feature = "flash")]
        BoardCommand::Info(args) => return info::run(args),
        #[cfg(feature = "flash")]
        BoardCommand::Erase(args) => return erase::run(args),
    }
    Ok(ExitCode::SUCCESS)
}

/// Draws a table of boards or ports for the screen.
fn drawn<const N: usize>(id: &str, columns: [&str; N], rows: Vec<Vec<Option<String>>>) -> String {
    output::table(&Table {
        id: id.into(),
        section: "board".into(),
        columns: columns.map(Column::words).into(),
        rows,
        ..Table::default()
    })
}
