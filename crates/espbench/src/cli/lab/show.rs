//! A lab drawn.

use super::super::common::{distance, idle, with_wifi};
use super::super::output;
use crate::cli::file;
use crate::labs;
use crate::render::lab::{self, Room};
use crate::say::say;
use crate::user_error::UserError;
use anyhow::{Context as _, bail};
use espbench_measure::plan::DEFAULT_SEED;
use espbench_sim::lab::file::{FileKind, Overrides};
use std::path::{Path, PathBuf};

/// Flags.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A built-in lab, or a TOML file
    lab: String,
    /// Devices beside the initiator
    #[arg(long, value_name = "DEVICES", value_parser = clap::value_parser!(u16).range(1..))]
    devices: Option<u16>,
    /// Metres from the initiator to the others: `3`, or from the nearest to the farthest, `0.5-1`
    #[arg(long, value_name = "METRES", value_parser = distance)]
    distance: Option<(f64, f64)>,
    /// Another profile for all devices
    #[arg(long, value_parser = with_wifi)]
    profile: Option<String>,
    /// Seed of places and shadowing [default: 1]
    #[arg(long)]
    seed: Option<u64>,
    /// Also draw it into this file: .svg, .html or .txt; may be given several times
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let draws: Vec<_> = args.output.iter().map(|path| drawing(path)).collect::<Result<_, _>>()?;
    let library = labs::library(FileKind::Lab, &args.lab)?;
    if !library.variants(&args.lab).is_empty() {
        let flags = [
            ("--output", !args.output.is_empty()),
            ("--devices", args.devices.is_some()),
            ("--distance", args.distance.is_some()),
            ("--profile", args.profile.is_some()),
            ("--seed", args.seed.is_some() && !super::variants::has_places(&library, &args.lab)?),
        ];
        if let Some((flag, _)) = flags.into_iter().find(|(_, given)| *given) {
            let place =
                format!("with {}: a lab with variants is printed as its file has it", args.lab);
            return Err(idle(flag, &place, "leave it out").into());
        }
        let seed = args.seed.unwrap_or(DEFAULT_SEED);
        return output::print_text(&super::variants::text(&library, &args.lab, seed)?);
    }
    let change = Overrides {
        devices: args.devices,
        distance_m: args.distance,
        profile: args.profile.clone(),
        ..Overrides::default()
    };
    let seed = args.seed.unwrap_or(DEFAULT_SEED);
    let scene = library.scene(&args.lab, &change, seed)?;
    let survey = scene.survey(seed);
    let room = Room { scene: &scene, survey: &survey, seed };
    for (path, draw) in args.output.iter().zip(draws) {
        file::replace(path, draw(&room).as_bytes()).with_context(|| output::cannot_write(path))?;
        say!("wrote {}", path.display());
    }
    output::print_text(&lab::text_on(&room, output::screen()))
}

/// Returns the drawing that a file's ending asks for.
fn drawing(path: &Path) -> anyhow::Result<fn(&Room<'_>) -> String> {
    let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    Ok(match ending.to_ascii_lowercase().as_str() {
        "svg" => lab::svg,
        "html" | "htm" => lab::html,
        "txt" => lab::text,
        _ => bail!(
            UserError::new(format!("cannot draw a room as {}", path.display()))
                .because("no drawing has that ending")
                .remedy("use .svg, .html or .txt")
        ),
    })
}
