//! `espbench board info`: what the chip says of itself.

use super::list::ListFormat;
use super::ports::PortArgs;
use crate::cli::output;
use crate::flash::loader::{BoardFacts, BoardLoader, LoaderAccess};
use crate::serial::open::LOADER_BAUD;
use crate::serial::ports::BoardPort;
use crate::user_error::UserError;
use serde::Serialize;
use std::process::ExitCode;

/// Flags.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    port: PortArgs,
    /// Format of the answer
    #[arg(long, value_enum, default_value_t)]
    format: ListFormat,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (mut all, mut failed) = (Vec::new(), 0);
    for port in args.port.ports(true)? {
        match facts(&port) {
            Ok(facts) => all.push(facts),
            Err(error) => {
                error.say();
                failed += 1;
            }
        }
    }
    if !all.is_empty() || !matches!(args.format, ListFormat::Text) {
        output::print(&draw(&all, args.format)?)?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// Asks the loader in ROM, and starts the program again.
fn facts(port: &BoardPort) -> Result<BoardFacts, UserError> {
    let access = LoaderAccess { port, chip: None, baud: LOADER_BAUD };
    let mut board = BoardLoader::connect(access, false)?;
    let facts = board.facts()?;
    board.start_program()?;
    Ok(facts)
}

/// Row of the answer as CSV has it.
#[derive(Serialize)]
struct FactsRow<'a> {
    port: &'a str,
    chip: &'a str,
    revision: Option<&'a str>,
    mac: Option<&'a str>,
    flash_bytes: u32,
    crystal: &'a str,
    features: String,
}

fn draw(all: &[BoardFacts], format: ListFormat) -> anyhow::Result<String> {
    Ok(match format {
        ListFormat::Json => crate::render::json::pretty(all)?,
        ListFormat::Csv => {
            let mut writer = csv::Writer::from_writer(Vec::new());
            for it in all {
                writer.serialize(FactsRow {
                    port: &it.port,
                    chip: &it.chip,
                    revision: it.revision.as_deref(),
                    mac: it.mac.as_deref(),
                    flash_bytes: it.flash_bytes,
                    crystal: &it.crystal,
                    features: it.features.join(" "),
                })?;
            }
            String::from_utf8(writer.into_inner()?)?
        }
        ListFormat::Text => {
            let columns = ["port", "chip", "revision", "MAC", "flash", "crystal", "features"];
            let cells = |it: &BoardFacts| {
                vec![
                    Some(it.port.clone()),
                    Some(it.chip.clone()),
                    it.revision.clone(),
                    it.mac.clone(),
                    Some(format!("{} MiB", it.flash_bytes >> 20)),
                    Some(it.crystal.clone()),
                    Some(it.features.join(" ")),
                ]
            };
            super::drawn("boards", columns, all.iter().map(cells).collect())
        }
    })
}
