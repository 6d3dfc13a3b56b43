//! `espbench tune`: what holds an sdkconfig back.

mod check;
mod units;

use super::common::OutputArgs;
use clap::Args as Flags;
use espbench_proto::sdkconfig::{Chip, Release};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Flags.
#[derive(Debug, Flags)]
pub struct Args {
    /// Hold an existing sdkconfig, or sdkconfig.defaults, against Espressif's documents, without a
    /// run: what is wrong in it, and what limits it
    #[arg(long, value_name = "FILE", required = true)]
    check: Option<PathBuf>,
    /// The chip [default: the file's CONFIG_IDF_TARGET, or esp32c3]
    #[arg(long, value_parser = chip)]
    chip: Option<Chip>,
    /// The release of ESP-IDF, whose names, ranges and defaults hold [default: the file's, or v5.2]
    #[arg(long, value_name = "RELEASE", value_parser = release)]
    idf: Option<Release>,
    /// TCP streams at a time
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=253))]
    streams: u16,
    /// UDP sockets at a time
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(0..=253))]
    udp_sockets: u16,
    /// Round trip to the other side: 5ms, 40ms, …
    #[arg(long, value_name = "TIME", default_value = "5ms", value_parser = units::round_trip)]
    rtt: Duration,
    /// UDP datagrams that come back to back
    #[arg(long, value_name = "DATAGRAMS", value_parser = clap::value_parser!(u32).range(1..))]
    burst: Option<u32>,
    /// Heap before Wi-Fi starts, as esp_get_free_heap_size() tells it: 200KB [default: that of a
    /// firmware as small as the iperf example]
    #[arg(long, value_name = "SIZE", value_parser = units::memory)]
    heap: Option<u64>,
    /// Buffers of Wi-Fi and lwIP are in PSRAM [default: what the file says]
    #[arg(long)]
    psram: bool,
    /// Exit with status 1 where something is wrong
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    output: OutputArgs,
}

fn chip(text: &str) -> Result<Chip, String> {
    text.parse().map_err(|e| format!("`{text}` is {e}"))
}

fn release(text: &str) -> Result<Release, String> {
    text.parse().map_err(|e| format!("`{text}` is {e}"))
}

/// Runs the subcommand. Exit status: 0 fine, 1 something is wrong and --strict was said, 2 could not
/// be done.
///
/// # Errors
/// A flag or a file is wrong, or the output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.check {
        Some(path) => check::run(args, path),
        None => anyhow::bail!("say --check FILE"),
    }
}
