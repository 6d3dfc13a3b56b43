//! `espbench predict phy`.

use super::bench::bench;
use super::nodes::DEVICES_MAX;
use super::options::{Common, rate};
use super::write;
use crate::cli::output;
use espbench_dot11::radio::WifiMode;
use espbench_engine::predict;
use std::process::ExitCode;
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples:
  espbench predict phy --payload 250 --every 100ms --devices 20
  espbench predict phy --rates 1M,2M,5.5M,11M,6M,54M,HT20-MCS7 -o rates.html

Rates of which the chip's datasheet has no sensitivity, nor one to infer it from, are left out.";

/// Flags.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Devices that send
    #[arg(long, default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(DEVICES_MAX)))]
    devices: u32,
    /// PHY rates: all, or a list
    #[arg(long, default_value = "all")]
    rates: Rates,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Debug)]
struct Rates(Vec<WifiMode>);

impl FromStr for Rates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self(WifiMode::ALL.to_vec()));
        }
        text.split(',').map(|name| rate(name.trim())).collect::<Result<_, _>>().map(Self)
    }
}

/// Runs the subcommand.
///
/// # Errors
/// A flag or a file of the lab is wrong, or the output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let common = &args.common;
    output::check(&common.output)?;
    let (predictor, mut rooms) = bench(common)?;
    let answer = predict::phy(&predictor, args.devices, &args.rates.0, &mut rooms)?;
    drop(rooms);
    write("phy", common, &predictor, &answer)
}
