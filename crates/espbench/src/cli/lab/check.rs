//! `espbench lab check`: is the medium true, and are these files in order?

use super::super::output;
use crate::labs;
use crate::user_error::UserError;
use espbench_dot11::check::table::table;
use espbench_measure::plan::DEFAULT_SEED;
use espbench_sim::lab::file::{FileKind, Overrides};
use std::process::ExitCode;

/// Flags.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Labs, profiles or environments to check instead, as TOML files or built-in names; files that
    /// they name are read, too
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1, conflicts_with = "files")]
    seed: u64,
}

/// Prints the table, or a line for each file.
///
/// # Errors
/// The output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.files.is_empty() {
        output::print(&table(args.seed))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut status = ExitCode::SUCCESS;
    for name in &args.files {
        match file(name) {
            Ok(line) => output::print(&format!("{name}: {line}\n"))?,
            Err(error) => {
                UserError::from(error).say();
                status = ExitCode::from(2);
            }
        }
    }
    Ok(status)
}

/// Describes the contents of a file that is in order.
fn file(name: &str) -> anyhow::Result<String> {
    let kind = labs::kind(name, FileKind::Lab)?;
    let library = labs::library(kind, name)?;
    Ok(match kind {
        FileKind::Lab if !library.variants(name).is_empty() => {
            let variants = library.variants(name);
            for variant in &variants {
                library.variant_scene(name, variant)?;
            }
            format!("a lab with variants: {}", variants.join(", "))
        }
        FileKind::Lab => {
            let scene = library.scene(name, &Overrides::default(), DEFAULT_SEED)?;
            format!(
                "a lab; devices: {}, routers: {}, other stations: {}",
                scene.nodes.len(),
                scene.routers.len(),
                scene.background.len()
            )
        }
        FileKind::Profile => format!("a profile of an {}", library.profile(name)?.chip.name()),
        FileKind::Environment => {
            let stations = library.environment(name)?.background.len();
            format!("an environment; other stations: {stations}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_known_by_its_name_or_its_keys() {
        let said = |name: &str| file(name).unwrap_or_else(|error| format!("{error:#}"));
        assert_eq!(said("two-boards"), "a lab; devices: 2, routers: 0, other stations: 3");
        assert_eq!(said("wifi-home"), "a lab with variants: arduino, idf-echo");
        assert_eq!(said("esp32c2"), "a profile of an esp32c2");
        assert_eq!(said("home"), "an environment; other stations: 1");
        assert!(said("hom").starts_with("no lab is called `hom`"));
        let path = std::env::temp_dir().join(format!("espbench-check-{}.toml", std::process::id()));
        let name = path.to_str().unwrap();
        std::fs::write(
            &path,
            "title = \"t\"\nlike = \"esp32c2\"\n[boot]\nsource = \"s\"\nms = \"x\"\n",
        )
        .unwrap();
        let found = "line 5, column 6: `ms`: found the text \"x\", use a number from 0 to 60000";
        let remedy = "; docs/labs.md has every key of a profile";
        assert!(said(name).ends_with(&format!("{found}{remedy}")), "{}", said(name));
        std::fs::write(&path, "title = \"t\"\nlike = \"esp32c2\"\n").unwrap();
        assert_eq!(said(name), "a profile of an esp32c2");
        std::fs::remove_file(&path).unwrap();
    }
}
