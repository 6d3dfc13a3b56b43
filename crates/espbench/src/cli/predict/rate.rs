//! `espbench predict rate`.

use super::bench::{bench, sent};
use super::fleet::DEVICES_MAX;
use super::options::{Common, DEVICES, To, rate};
use super::write;
use crate::cli::output;
use crate::user_error::UserError;
use clap::ValueEnum;
use espbench_dot11::radio::WifiMode;
use espbench_engine::predict::{self, Predictor};
use espbench_measure::predict::RANGE_LOSS;
use espbench_measure::predict::on_air::{ApChannel, RateCall, RateRequest};
use espbench_model::sdkconfig::IdfRelease;
use espbench_model::speech::{FlagName, FlagValue};
use std::process::ExitCode;
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples:
  espbench predict rate --phy-rate 24M --profile esp32c6 --set-by interface --idf v5.3
  espbench predict rate --payload 250 --every 100ms --devices 20
  espbench predict rate --phy-rates 1M,11M,54M --room home --walls 2 --loss 0.5%

With --phy-rate: whether that rate is on the air, and what it costs against 1 Mbit/s. Otherwise
rates are ranked by the p99 of the latency; those that break a limit (--loss, 1%) have no rank,
and those without a known sensitivity are left out (docs/range.md).

Exit status: 1 where no rate keeps the limits that you gave (--loss, --p99).";

/// Rates that `esp_now_set_peer_rate_config` takes, by their shortest names; those that a chip does not have are
/// left out.
const USUAL: [&str; 22] = [
    "LR-250K",
    "LR-500K",
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

/// Flags.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Devices that send [default: those of --lab, in rooms 20; 1 with --phy-rate]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(DEVICES_MAX)))]
    devices: Option<u32>,
    /// Tell of this PHY rate whether it takes effect, and what it costs against the default
    #[arg(long, value_parser = rate, conflicts_with = "phy_rates")]
    phy_rate: Option<WifiMode>,
    /// Call that sets it
    #[arg(long, value_enum, default_value_t, requires = "phy_rate")]
    set_by: SetBy,
    /// Release of ESP-IDF [default: the first with esp_now_set_peer_rate_config and current names, v5.2]
    #[arg(long, value_name = "RELEASE", value_parser = release, requires = "phy_rate")]
    idf: Option<IdfRelease>,
    /// Channel of the access point that the station is connected to
    #[arg(long, value_enum, default_value_t, requires = "phy_rate")]
    connected: Connected,
    /// PHY rates: a list, `usual` (Long Range, too; no short guard intervals, no 40 MHz) or `all`
    #[arg(long, default_value = "usual")]
    phy_rates: Rates,
    #[command(flatten)]
    common: Common,
}

/// Calls that set the PHY rate of ESP-NOW.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum SetBy {
    /// esp_now_set_peer_rate_config, for one peer
    #[default]
    Peer,
    /// esp_wifi_config_espnow_rate, for all frames of an interface
    Interface,
    /// No call
    Nothing,
}

/// Access points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Connected {
    /// Not connected
    #[default]
    No,
    /// A channel of 20 MHz
    Ht20,
    /// A channel of 40 MHz
    Ht40,
}

pub(super) fn release(text: &str) -> Result<IdfRelease, String> {
    text.parse().map_err(|e| format!("`{text}` is {e}"))
}

impl Args {
    /// Returns the request of the firmware for a rate.
    fn request(&self, mode: WifiMode, predictor: &Predictor) -> RateRequest {
        RateRequest {
            mode,
            call: match self.set_by {
                SetBy::Peer => RateCall::Peer,
                SetBy::Interface => RateCall::Interface,
                SetBy::Nothing => RateCall::Nothing,
            },
            chip: predictor.chip(),
            is_sent: predictor.sends(mode),
            is_in_band: predictor.band_has(mode),
            usual: predictor.usual_mode(),
            release: self.idf.unwrap_or_default(),
            ap: match self.connected {
                Connected::No => ApChannel::None,
                Connected::Ht20 => ApChannel::Mhz20,
                Connected::Ht40 => ApChannel::Mhz40,
            },
            is_broadcast: self.common.cast == To::Broadcast,
        }
    }

    /// Answers whether the rate is on the air, and what it costs.
    fn in_force(&self, mode: WifiMode) -> anyhow::Result<ExitCode> {
        let common = &self.common;
        let (predictor, mut rooms) = bench(common)?;
        let force = self.request(mode, &predictor).in_force();
        let devices = self.devices.unwrap_or(1);
        let answer = predict::rate_in_force(&predictor, devices, force, &mut rooms)?;
        rooms.end();
        write("rate", common, &predictor, &answer, &rooms)
    }
}

/// PHY rates to compare.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    pub(super) modes: Vec<WifiMode>,
    /// Each of them was named: none is left out without a word.
    is_list: bool,
}

impl Rates {
    /// Checks that the devices have all that were named.
    ///
    /// # Errors
    /// They do not send one, or their receiver does not read it.
    pub(super) fn check(&self, predictor: &Predictor) -> Result<(), UserError> {
        let missing = |it: &&WifiMode| !predictor.reads(**it);
        let Some(mode) = self.modes.iter().find(missing).filter(|_| self.is_list) else {
            return Ok(());
        };
        if !predictor.sends(*mode) {
            return sent(predictor, Some(*mode)).map(drop).map_err(|it| {
                let known = usual().filter(|it| predictor.reads(*it));
                let known: Vec<String> = known.map(|it| it.to_string()).collect();
                let remedy = format!("leave it out; known here are {}", known.join(", "));
                UserError {
                    what: format!("{} is not for these devices", FlagValue("--phy-rates", mode)),
                    remedy,
                    ..it
                }
            });
        }
        let asked = FlagValue("--phy-rates", mode);
        Err(UserError::new(format!("{asked} reaches nowhere in this place"))
            .because("not even a short frame arrives that somebody sends there")
            .remedy(format!("leave it out, or take fewer {}", FlagName("--walls"))))
    }
}

/// Returns the usual modes.
fn usual() -> impl Iterator<Item = WifiMode> {
    let is_usual = |mode: &WifiMode| {
        let name = mode.to_string();
        USUAL.iter().any(|it| name == *it)
    };
    WifiMode::ALL.iter().copied().filter(is_usual)
}

impl FromStr for Rates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = |modes| Ok(Self { modes, is_list: false });
        match text {
            "all" => return all(WifiMode::ALL.to_vec()),
            "usual" => return all(usual().collect()),
            _ => {}
        }
        let modes = text.split(',').map(|name| rate(name.trim())).collect::<Result<_, _>>()?;
        Ok(Self { modes, is_list: true })
    }
}

/// Runs the subcommand.
///
/// # Errors
/// A flag or a file of the lab is wrong, or the output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(mode) = args.phy_rate {
        output::without_published(&args.common.output, "in predict")?;
        output::check(&args.common.output)?;
        return args.in_force(mode);
    }
    let common = &Common { loss: args.common.loss.or(Some(RANGE_LOSS)), ..args.common.clone() };
    output::without_published(&common.output, "in predict")?;
    output::check(&common.output)?;
    let (predictor, mut rooms) = bench(common)?;
    args.phy_rates.check(&predictor)?;
    let devices = common.devices(args.devices, &predictor).unwrap_or(DEVICES);
    let answer = predict::rate(&predictor, devices, &args.phy_rates.modes, &mut rooms)?;
    rooms.end();
    super::readable(&answer)?;
    write("rate", &args.common, &predictor, &answer, &rooms)
}
