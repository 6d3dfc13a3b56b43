//! `espbench board erase`: all of a board's flash, or a region of it.

use super::ports::{PortArgs, number};
use crate::cli::output;
use crate::flash::chip;
use crate::flash::loader::{BoardLoader, LoaderAccess, SECTOR};
use crate::say::say;
use crate::serial::ports::BoardPort;
use crate::user_error::UserError;
use espflash::target::Chip as FlashChip;
use std::io::{IsTerminal as _, stdin};
use std::process::ExitCode;

/// Flags.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    port: PortArgs,
    /// The chip that must be there, such as esp32c3
    #[arg(long, value_parser = chip::parse)]
    chip: Option<FlashChip>,
    /// Only this region, in whole sectors of 0x1000 bytes: 0x9000+0x6000 [default: all of the flash]
    #[arg(long, value_name = "ADDRESS+LENGTH", value_parser = region)]
    region: Option<(u32, u32)>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// Parses `0x9000+0x6000`.
fn region(text: &str) -> Result<(u32, u32), String> {
    let (at, length) = text.split_once('+').ok_or_else(|| {
        format!("`{text}` is no region: write ADDRESS+LENGTH, such as 0x9000+0x6000")
    })?;
    let (at, length) = (number(at)?, number(length)?);
    if at % SECTOR != 0 || length % SECTOR != 0 || length == 0 {
        return Err(format!(
            "flash is erased in sectors of {SECTOR:#x} bytes: both numbers must be multiples"
        ));
    }
    Ok((at, length))
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut failed = 0;
    let what = args.region.map_or_else(
        || "all of the flash".to_owned(),
        |(at, length)| format!("{length:#x} bytes of flash at {at:#x}"),
    );
    for port in args.port.ports(false)? {
        if !args.yes && !agreed(&format!("erase {what} of {}?", port.name))? {
            say!("{}: nothing was erased", port.name);
            failed += 1;
            continue;
        }
        match erase(&port, args) {
            Ok(()) => output::print(&format!("{}: erased {what}\n", port.name))?,
            Err(error) => {
                error.say();
                failed += 1;
            }
        }
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

fn erase(port: &BoardPort, args: &Args) -> Result<(), UserError> {
    let access = LoaderAccess { port, chip: args.chip, baud: crate::serial::open::LOADER_BAUD };
    let mut board = BoardLoader::connect(access, true)?;
    board.erase(args.region)?;
    board.start_program()
}

/// Asks on the terminal.
///
/// # Errors
/// There is no terminal to ask on.
fn agreed(question: &str) -> Result<bool, UserError> {
    if !stdin().is_terminal() {
        return Err(UserError::new("nothing was erased")
            .because("there is no terminal to ask on")
            .remedy("say --yes if it is meant"));
    }
    say!("{question} Type yes:");
    let mut answer = String::new();
    let read = stdin().read_line(&mut answer);
    read.map_err(|e| UserError::new("cannot read the answer").because(e))?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_whole_sectors() {
        assert_eq!(region("0x9000+0x6000"), Ok((0x9000, 0x6000)));
        assert_eq!(region("0+4096"), Ok((0, 4096)));
        for wrong in ["0x9000", "0x9001+0x1000", "0x9000+1", "0x9000+0", "a+b"] {
            assert!(region(wrong).is_err(), "{wrong}");
        }
    }
}
