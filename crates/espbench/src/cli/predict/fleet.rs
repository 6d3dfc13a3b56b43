//! `espbench predict fleet`.

use super::bench::bench;
use super::nodes::DEVICES_MAX;
use super::options::{Common, limit, rate, share};
use super::write;
use crate::cli::output;
use anyhow::bail;
use espbench_dot11::radio::WifiMode;
use espbench_engine::predict;
use espbench_measure::predict::FleetLimits;
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  espbench predict fleet --max-loss 1% --max-p99 50ms --payload 100 --every 100ms
  espbench predict fleet --max-p99 20ms --rate 11M --most 500 -o fleet.html
  espbench predict fleet --max-loss 0.1% --mode broadcast --copies 3 --format json

The largest number of devices is looked for by bisection. Numbers that the intervals leave in doubt
are simulated up to four times as long; the answer tells what stays in doubt.";

/// Flags.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Most of the messages that may be lost: 1%
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    max_loss: Option<f64>,
    /// Longest 99th percentile of the latency: 50ms
    #[arg(long, value_name = "TIME", value_parser = limit)]
    max_p99: Option<Duration>,
    /// Largest fleet to try
    #[arg(long, value_name = "DEVICES", default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(DEVICES_MAX)))]
    most: u32,
    /// PHY rate: 1M, 5.5M-short, 54M, HT20-MCS7, HT40-MCS7-SGI, …
    #[arg(long, default_value = "1M", value_parser = rate)]
    rate: WifiMode,
    #[command(flatten)]
    common: Common,
}

/// Runs the subcommand.
///
/// # Errors
/// No limit, a flag or a file of the lab is wrong, or the output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let limits = FleetLimits {
        loss: args.max_loss,
        p99_ms: args.max_p99.map(|time| time.as_secs_f64() * 1e3),
    };
    if limits == FleetLimits::default() {
        bail!("no limit: say --max-loss 1%, --max-p99 50ms, or both");
    }
    output::check(&args.common.output)?;
    let (predictor, mut rooms) = bench(&args.common)?;
    let answer = predict::fleet(&predictor, limits, args.most, args.rate, &mut rooms)?;
    drop(rooms);
    write("fleet", &args.common, &predictor, &answer)
}
