//! `espbench report`.

use super::common::{OutputArgs, StoreArgs};
use super::output;
use std::process::ExitCode;

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name or number of the run, or `last`
    #[arg(default_value = "last")]
    run: String,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// The store's.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    output::check(&args.output)?;
    let store = args.store.open()?;
    let report = output::report(&store, &args.run)?;
    output::write(&report, &args.output)?;
    Ok(if report.checks.iter().all(|check| check.passed) {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}
