//! `espbench predict compare`.

use super::bench::{RoomPool, checked, sent};
use super::fleet::DEVICES_MAX;
use super::options::{Common, rate};
use super::write;
use crate::cli::output;
use crate::user_error::UserError;
use espbench_dot11::radio::WifiMode;
use espbench_engine::predict::{self, Predictor};
use espbench_model::sdkconfig::Chip;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  espbench predict compare --every 5min --battery 2xAA
  espbench predict compare --devices 20 --every 100ms --profile esp32,esp32c3,esp32c6

All devices and the listener have the same profile, and all profiles stand in the same rooms. With a battery the
current that each draws ranks them, else the latency; those whose intervals overlap tie. What is not known of
the battery is the same for all: it is in the days and not in the rank. Parts of a chip's charge that are little
known are named in its row. Every figure is simulated.";

/// Devices, if nothing else is said.
const DEVICES: u32 = 20;

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

/// Returns the profiles that were asked for, each once: without any, those of all chips.
fn names(asked: Option<&str>) -> Result<Vec<String>, UserError> {
    let all = || Chip::ALL.iter().map(|it| it.name().to_owned()).collect();
    let mut names: Vec<String> = match asked {
        None | Some("all") => all(),
        Some(list) if list.split(',').any(|it| it.trim() == "all") => {
            return Err(UserError::new(format!("--profile {list}: `all` has all of them"))
                .remedy("--profile all, or names without it"));
        }
        Some(list) => list.split(',').map(|it| it.trim().to_owned()).collect(),
    };
    let mut seen: Vec<String> = Vec::new();
    names.retain(|it| {
        let is_new = !seen.contains(it);
        seen.push(it.clone());
        is_new
    });
    if names.len() < 2 {
        return Err(UserError::new("one profile is compared with nothing")
            .remedy("name several with commas (--profile esp32,esp32c3), or leave --profile out for all chips"));
    }
    Ok(names)
}

/// Runs the subcommand.
///
/// # Errors
/// A flag or a file of the lab is wrong, a profile cannot do what is asked, or the output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.common.firmware.has_file() {
        return Err(UserError::new("--sdkconfig is of one chip, and several are compared")
            .remedy("use --set CONFIG_NAME=VALUE, or espbench predict fleet --sdkconfig FILE")
            .into());
    }
    output::without_published(&args.common.output, "in predict")?;
    output::check(&args.common.output)?;
    let with = |name: String| {
        let mut common = args.common.clone();
        common.place.profile = Some(name);
        common
    };
    let asked = args.common.place.profile.as_deref();
    let mut profiles: Vec<(Predictor, WifiMode)> = Vec::new();
    let (mut left_out, mut refusal) = (Vec::new(), None);
    for name in names(asked)? {
        let predictor = checked(&with(name.clone()))?;
        match sent(&predictor, args.phy_rate) {
            Ok(mode) => profiles.push((predictor, mode)),
            // Of all chips those are compared that send the rate.
            Err(why) if asked.is_none_or(|it| it == "all") => {
                left_out.push(name);
                refusal.get_or_insert(why);
            }
            Err(why) => return Err(why.into()),
        }
    }
    if let (true, Some(why)) = (profiles.len() < 2, refusal) {
        return Err(why.into());
    }
    let first = &profiles[0].0;
    let own = args.common.place.lab.as_ref().map(|_| first.own_devices());
    let devices = args.devices.or(own).unwrap_or(DEVICES);
    let mut rooms = RoomPool::new(args.common.threads(), args.common.quiet)?;
    let mut answer = predict::compare(&profiles, devices, &mut rooms)?;
    if let (Some(mode), false) = (args.phy_rate, left_out.is_empty()) {
        let names = left_out.join(", ");
        answer.remarks.push(format!("left out, since they do not send {mode}: {names}"));
    }
    rooms.end();
    write("compare", &args.common, first, &answer, &rooms)
}
