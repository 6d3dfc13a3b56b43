//! `espbench predict compare`.

use super::bench::{RoomPool, checked, sent};
use super::fleet::DEVICES_MAX;
use super::options::{Common, DEVICES, ProfileChoice, rate};
use super::write;
use crate::cli::output;
use crate::user_error::UserError;
use espbench_dot11::radio::WifiMode;
use espbench_engine::predict::{self, Predictor};
use espbench_model::speech::{CommandWith, FlagName, FlagValue};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  espbench predict compare --every 5min --battery 2xAA
  espbench predict compare --devices 20 --every 100ms --profile esp32,esp32c3,esp32c6

All devices and the listener have the same profile, and all profiles stand in the same rooms. With a battery the
current that each draws ranks them, else the latency; those whose intervals overlap tie. What is not known of
the battery is the same for all: it is in the days and not in the rank. Parts of a chip's charge that are little
known are named in its row. Every figure is simulated.

Exit status: 1 where no profile keeps the limits that you gave (--loss, --p99).";

/// Flags.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Devices that send [default: those of --lab, in rooms 20]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(DEVICES_MAX)))]
    devices: Option<u32>,
    /// PHY rate, which all profiles must send [default: the lab's, in rooms 1M, in 5 GHz 6M]
    #[arg(long, value_parser = rate)]
    phy_rate: Option<WifiMode>,
    #[command(flatten)]
    common: Common,
}

/// Runs the subcommand.
///
/// # Errors
/// A flag or a file of the lab is wrong, a profile cannot do what is asked, or the output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.common.firmware.has_file() {
        let sdkconfig = FlagName("--sdkconfig");
        return Err(UserError::new(format!(
            "{sdkconfig} is of one chip, and several are compared"
        ))
        .remedy(format!(
            "use {}, or {}",
            FlagValue("--set", "CONFIG_NAME=VALUE"),
            CommandWith("predict fleet", FlagValue("--sdkconfig", "FILE"))
        ))
        .into());
    }
    output::without_published(&args.common.output, "in predict")?;
    output::check(&args.common.output)?;
    let asked = args.common.place.profile.as_ref().unwrap_or(&ProfileChoice::All);
    if !asked.is_several() {
        return Err(UserError::new("one profile is compared with nothing")
            .remedy(format!(
                "name several with commas ({}), or leave {} out for all chips",
                FlagValue("--profile", "esp32,esp32c3"),
                FlagName("--profile")
            ))
            .into());
    }
    let with = |name: &str| {
        let mut common = args.common.clone();
        common.place.profile = Some(ProfileChoice::Named(vec![name.to_owned()]));
        common
    };
    let mut profiles: Vec<(Predictor, WifiMode)> = Vec::new();
    let (mut left_out, mut refusal) = (Vec::new(), None);
    for name in asked.names() {
        let one = || {
            let predictor = checked(&with(&name))?;
            let mode = sent(&predictor, args.phy_rate)?;
            anyhow::Ok((predictor, mode))
        };
        match one() {
            Ok(profile) => profiles.push(profile),
            // Of all chips those are compared that can do what is asked.
            Err(why) if *asked == ProfileChoice::All => {
                left_out.push(name);
                refusal.get_or_insert(why);
            }
            Err(why) => return Err(why),
        }
    }
    let why = match refusal {
        Some(why) if profiles.len() < 2 => return Err(why),
        other => other,
    };
    let first = &profiles[0].0;
    let devices = args.common.devices(args.devices, first).unwrap_or(DEVICES);
    let mut rooms = RoomPool::new(args.common.threads(), args.common.quiet)?;
    let mut answer = predict::compare(&profiles, devices, &mut rooms)?;
    if let Some(why) = why {
        answer.remarks.push(format!("left out: {} ({why:#})", left_out.join(", ")));
    }
    rooms.end();
    write("compare", &args.common, first, &answer, &rooms)
}
