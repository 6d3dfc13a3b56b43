//! `espbench lab check`: is the medium true?

use super::super::output;
use clap::Args as Flags;
use espbench_sim::check::table::table;

/// Flags.
#[derive(Debug, Flags)]
pub(super) struct Args {
    /// Where chance begins
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Prints the table.
///
/// # Errors
/// The output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    output::print(&table(args.seed))
}
