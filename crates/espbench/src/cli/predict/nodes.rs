//! `espbench predict nodes`.

use super::bench::bench;
use super::options::{Common, rate};
use super::write;
use crate::cli::output;
use espbench_dot11::radio::WifiMode;
use espbench_engine::predict;
use std::process::ExitCode;
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples:
  espbench predict nodes --payload 100 --every 1s
  espbench predict nodes --payload 20 --every 100ms --mode broadcast --nodes 1..100 -o curve.html
  espbench predict nodes --nodes 10,30,60 --rate 6M --lab my-lab.toml --format csv

All devices of the lab but the first send to the first, which listens. Only a lab whose last group
has [group.line], .grid, .ring or .cluster has places for any number. Every figure is simulated.";

/// Flags.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Devices that send: 1..200 (about 16 numbers in between), 10,30,60 or 60
    #[arg(long, value_name = "NUMBERS", default_value = "1..200")]
    nodes: Numbers,
    /// PHY rate: 1M, 5.5M-short, 54M, HT20-MCS7, HT40-MCS7-SGI, …
    #[arg(long, default_value = "1M", value_parser = rate)]
    rate: WifiMode,
    #[command(flatten)]
    common: Common,
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
/// A flag or a file of the lab is wrong, or the output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let common = &args.common;
    output::check(&common.output)?;
    let (predictor, mut rooms) = bench(common)?;
    let answer = predict::nodes(&predictor, &args.nodes.0, args.rate, &mut rooms)?;
    drop(rooms);
    write("nodes", common, &predictor, &answer)
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
