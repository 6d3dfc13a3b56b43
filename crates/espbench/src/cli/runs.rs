//! `espbench runs`.

use super::common::StoreArgs;
use crate::say::say;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Remove this run and its samples from the store
    #[arg(long, value_name = "RUN")]
    remove: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// The store's.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(name) = &args.remove {
        let name = args.store.existing()?.remove(name)?;
        say!("removed {name}");
        return Ok(ExitCode::SUCCESS);
    }
    let path = args.store.path()?;
    let runs = if path.exists() { args.store.to_read()?.list()? } else { Vec::new() };
    if runs.is_empty() {
        say!("no runs yet in {}; `espbench run` makes one", path.display());
        return Ok(ExitCode::SUCCESS);
    }
    let width = runs.iter().map(|r| r.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for run in runs {
        let state = match (run.done, run.failed) {
            (done, 0) if done == run.planned => "complete".to_owned(),
            (done, 0) => format!("{done} of {}", run.planned),
            (done, failed) => format!("{done} of {}, {failed} failed", run.planned),
        };
        let _ = writeln!(
            text,
            "{:width$}  {}  {:20}  {state}",
            run.name, run.facts.started, run.facts.target
        );
    }
    super::output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
