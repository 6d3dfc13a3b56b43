//! `espbench predict rate`.

use super::bench::bench;
use super::fleet::DEVICES_MAX;
use super::options::{Common, rate};
use super::write;
use crate::cli::output;
use espbench_dot11::radio::WifiMode;
use espbench_engine::predict;
use std::process::ExitCode;
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples:
  espbench predict rate --payload 250 --every 100ms --devices 20
  espbench predict rate --phy-rates 1M,11M,54M --room home --walls 2 --loss 0.5%
  espbench predict rate --phy-rates all -o rates.html

Rates are ranked by the 99th percentile of the latency. Those whose intervals overlap that of the best
tie with it, and those that break a limit (--loss, 1% by default) have no rank. Rates of which the chip's datasheet has no sensitivity, nor one to infer it from, are left out.";

/// Rates that `esp_now_set_peer_rate_config` takes on every chip, by their shortest names.
const USUAL: [&str; 20] = [
    "1M",
    "2M",
    "5.5M",
    "11M",
    "6M",
    "9M",
    "12M",
    "18M",
    "24M",
    "36M",
    "48M",
    "54M",
    "HT20-MCS0",
    "HT20-MCS1",
    "HT20-MCS2",
    "HT20-MCS3",
    "HT20-MCS4",
    "HT20-MCS5",
    "HT20-MCS6",
    "HT20-MCS7",
];

/// Loss above which a rate has no rank, if nothing else is said.
const LOSS_MAX: f64 = 0.01;

/// Flags.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Devices that send
    #[arg(long, default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(DEVICES_MAX)))]
    devices: u32,
    /// PHY rates: a list, `usual` (without short preambles, short guard intervals and 40 MHz) or `all`
    #[arg(long, default_value = "usual")]
    phy_rates: Rates,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Debug)]
pub(super) struct Rates(pub(super) Vec<WifiMode>);

impl FromStr for Rates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_usual = |mode: &WifiMode| {
            let name = mode.to_string();
            USUAL.iter().any(|it| name == *it)
        };
        match text {
            "all" => return Ok(Self(WifiMode::ALL.to_vec())),
            "usual" => return Ok(Self(WifiMode::ALL.iter().copied().filter(is_usual).collect())),
            _ => {}
        }
        text.split(',').map(|name| rate(name.trim())).collect::<Result<_, _>>().map(Self)
    }
}

/// Runs the subcommand.
///
/// # Errors
/// A flag or a file of the lab is wrong, or the output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let common = &Common { loss: args.common.loss.or(Some(LOSS_MAX)), ..args.common.clone() };
    output::without_published(&common.output, "in predict")?;
    output::check(&common.output)?;
    let (predictor, mut rooms) = bench(common)?;
    let answer = predict::rate(&predictor, args.devices, &args.phy_rates.0, &mut rooms)?;
    drop(rooms);
    write("rate", common, &predictor, &answer)
}
