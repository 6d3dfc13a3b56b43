//! `espbench predict fleet`.

use super::bench::{bench, sent};
use super::options::{Common, limit, rate};
use super::write;
use crate::cli::common::idle;
use crate::cli::output;
use crate::user_error::UserError;
use espbench_dot11::radio::WifiMode;
use espbench_engine::predict::{self, SearchLimits};
use espbench_measure::predict::FleetLimits;
use espbench_model::speech::{FlagName, FlagValue};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  espbench predict fleet --devices 60 --every 5s
  espbench predict fleet --devices 60 --every 5min --battery 2xAA --profile esp32c3
  espbench predict fleet --devices 10,30,60 --room hall --phy-rate 6M --loss 1%
  espbench predict fleet --devices 1..100 --cast broadcast -o curve.html
  espbench predict fleet --loss 1% --p99 50ms --every 100ms        # the largest fleet

All devices but the first send to the first, which listens. Without --devices a lab has its own; with
limits, the largest number that keeps them is looked for. Of a lab, only one whose last group has
[group.line], .grid, .ring or .cluster has places for any number. Every figure is simulated.

Exit status: 1 where a fleet whose size you gave breaks a limit, or without --devices each does;
2 where the time was too short to know one that keeps them.";

/// Largest fleet and longest time of a search, if nothing else is said.
const MOST: u32 = 1000;
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Flags.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Devices that send: 60, 10,30,60 or 1..200 (about 16 numbers in between) [default: those of --lab, or
    /// with limits the largest fleet that keeps them]
    #[arg(long, value_name = "DEVICES")]
    devices: Option<Numbers>,
    /// Largest fleet to try [default: 1000]
    #[arg(long, value_name = "DEVICES", conflicts_with = "devices",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(DEVICES_MAX)))]
    most: Option<u32>,
    /// Longest time that the search for the largest fleet may take; a longer one is finer [default: 30s]
    #[arg(long, value_name = "TIME", conflicts_with = "devices", value_parser = time_limit)]
    time_limit: Option<Duration>,
    /// PHY rate: 1M, 5.5M-short, 54M, HT20-MCS7, HT40-MCS7-SGI, HE20-MCS9, LR-250K, … [default: the lab's, in
    /// rooms 1M, in 5 GHz 6M]
    #[arg(long, value_parser = rate)]
    phy_rate: Option<WifiMode>,
    #[command(flatten)]
    common: Common,
}

/// Parses the longest time of a search, a second or more.
fn time_limit(text: &str) -> Result<Duration, String> {
    let time = limit(text)?;
    if time < Duration::from_secs(1) {
        return Err(format!("`{text}` is too short for a search: 1s at least"));
    }
    Ok(time)
}

/// Numbers of devices, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbers(pub(super) Vec<u32>);

/// Most devices of a room.
pub(super) const DEVICES_MAX: u32 = 10_000;

/// About so many numbers of a range.
const STEPS: u32 = 16;

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| match text.trim().parse::<u32>() {
            Ok(n) if (1..=DEVICES_MAX).contains(&n) => Ok(n),
            _ => Err(format!("`{text}` is not a number of devices, 1 to {DEVICES_MAX}")),
        };
        let Some((first, last)) = text.split_once("..") else {
            let mut numbers = text.split(',').map(number).collect::<Result<Vec<_>, _>>()?;
            numbers.sort_unstable();
            numbers.dedup();
            return Ok(Self(numbers));
        };
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!("`{text}`: the first number must not be above the last"));
        }
        // Equal factors, and at least steps of one.
        let factor = (f64::from(last) / f64::from(first)).powf(1.0 / f64::from(STEPS - 1));
        let step = |i: u32| (f64::from(first) * factor.powi(i as i32)).round() as u32;
        let mut numbers: Vec<u32> = (0..STEPS).map(step).chain([last]).collect();
        numbers.retain(|n| *n <= last);
        numbers.dedup();
        Ok(Self(numbers))
    }
}

/// Runs the subcommand.
///
/// # Errors
/// Neither devices nor limits; a flag or a file of the lab is wrong, or the output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let common = &args.common;
    let setup = common.setup()?;
    output::without_published(&common.output, "in predict")?;
    output::check(&common.output)?;
    let (predictor, mut rooms) = bench(common)?;
    // What the lab refuses is told first: with it no number of devices helps.
    let has_limits = setup.limits != FleetLimits::default();
    let own = common.devices(None, &predictor).filter(|_| !has_limits);
    let of_search = [(args.most.is_some(), "--most"), (args.time_limit.is_some(), "--time-limit")];
    if let (Some((_, flag)), Some(_)) = (of_search.iter().find(|it| it.0), own) {
        let remedy =
            format!("add {} or {}, or leave it out", FlagName("--loss"), FlagName("--p99"));
        return Err(idle(FlagName(flag), "without limits", remedy)
            .because("a lab has its own number of devices where nothing is looked for")
            .into());
    }
    let numbers = args.devices.as_ref().map(|it| it.0.clone()).or_else(|| Some(vec![own?]));
    if numbers.is_none() && !has_limits {
        return Err(UserError::new("neither a number of devices nor limits of the largest fleet")
            .because(format!(
                "without {} the largest fleet that keeps limits is looked for",
                FlagName("--devices")
            ))
            .remedy(format!(
                "say how many with {}, or the limits: {}, {}, or both",
                FlagValue("--devices", 60),
                FlagValue("--loss", "1%"),
                FlagValue("--p99", "50ms")
            ))
            .into());
    }
    let mode = sent(&predictor, args.phy_rate)?;
    let answer = match &numbers {
        Some(numbers) => predict::fleet(&predictor, numbers, mode, &mut rooms)?,
        None => {
            let (most, time) = (args.most.unwrap_or(MOST), args.time_limit.unwrap_or(TIME_LIMIT));
            let limits = SearchLimits { most, time };
            predict::largest_fleet(&predictor, limits, mode, &mut rooms)?
        }
    };
    rooms.end();
    write("fleet", common, &predictor, &answer, &rooms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ranges_lists_and_single_ones() {
        let numbers = |text: &str| Numbers::from_str(text).map(|it| it.0);
        assert_eq!(
            numbers("1..200").unwrap(),
            [1, 2, 3, 4, 6, 8, 12, 17, 24, 34, 49, 69, 99, 140, 200]
        );
        assert_eq!(numbers("30,10,30").unwrap(), [10, 30]);
        assert_eq!(numbers("5..5").unwrap(), [5]);
        assert_eq!(numbers("7..9").unwrap(), [7, 8, 9]);
        for wrong in ["", "0", "9..3", "1..", "1-5", "99999", "1..x"] {
            assert!(numbers(wrong).is_err(), "{wrong}");
        }
    }
}
