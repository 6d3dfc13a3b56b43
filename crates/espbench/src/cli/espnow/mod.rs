//! `espbench espnow`.

pub mod console;
pub mod read;
pub mod talk;

use clap::{Args as Flags, Subcommand};
use std::process::ExitCode;

/// Flags.
#[derive(Debug, Flags)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Run console commands on a simulated fleet and print the conversation
    Talk(Box<talk::Args>),
    /// Read figures from console logs of boards: pings, throughput, handshakes, updates
    Read(Box<read::Args>),
}

/// Runs the subcommand.
///
/// # Errors
/// Whatever kept it from its end; exit status 2.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.what {
        What::Talk(args) => talk::run(args),
        What::Read(args) => read::run(args),
    }
}
