//! `espbench runs`.

use super::common::StoreArgs;
use crate::say::say;
use crate::user_error::UserError;
use espbench_measure::plan;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Remove this run and its samples from the store
    #[arg(long, value_name = "RUN")]
    remove: Option<String>,
    /// Print what the consoles of a run's boards printed, by cell and port
    #[arg(long, value_name = "RUN", conflicts_with = "remove")]
    consoles: Option<String>,
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
    if let Some(name) = &args.consoles {
        return consoles(args, name);
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

/// Prints the consoles of a run's boards, with a head above each.
fn consoles(args: &Args, name: &str) -> anyhow::Result<ExitCode> {
    let store = args.store.to_read()?;
    let run = store.run(name)?;
    let consoles = store.consoles(&run)?;
    if consoles.is_empty() {
        let what = format!("{} has no consoles", run.facts.name);
        let why = "only runs on boards have them (--on serial:…)";
        return Err(UserError::new(what).because(why).into());
    }
    let mut text = String::new();
    for it in consoles {
        let label = run.cells.get(it.position).map(|cell| plan::label(&cell.step.workload));
        let label = label.unwrap_or_default();
        let _ = writeln!(text, "=== {}, cell {}: {label}", it.port, it.position + 1);
        text.push_str(&String::from_utf8_lossy(&it.bytes));
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    super::output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
