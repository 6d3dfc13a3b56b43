//! `espbench predict phy`.

use super::bench::{RoomCase, RoomFactory};
use super::nodes::DEVICES_MAX;
use super::options::{Common, rate};
use super::write;
use crate::cli::output;
use espbench_dot11::radio::WifiMode;
use espbench_measure::cell::Estimate;
use espbench_measure::interval::mean_t;
use espbench_measure::predict::point::OperatingPoint;
use espbench_measure::predict::{
    PointEstimates, PredictAnswer, PredictQuestion, RoomTrial, devices,
};
use espbench_sim::lab::predict::range::range_m;
use espbench_sim::lab::predict::{Arrival, Load};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  espbench predict phy --payload 250 --every 100ms --devices 20
  espbench predict phy --rates 1M,2M,5.5M,11M,6M,54M,HT20-MCS7 -o rates.html

Rates of which the chip's datasheet has no sensitivity, nor one to infer it from, are left out.";

/// A chance with which a frame at the edge of a mode's range still arrives.
const EDGE: f64 = 0.9;

/// Rooms for its throughput: with two, an interval of means would say nothing.
const FLOODS: u32 = 5;

/// How long one device sends without rest, for its throughput.
const FLOOD: Duration = Duration::from_secs(2);

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
    let bench = RoomFactory::new(common)?;
    let cases: Vec<RoomCase> = args
        .rates
        .0
        .iter()
        .filter(|mode| has(&bench, **mode))
        .map(|mode| bench.case(args.devices, *mode))
        .collect();
    let floods: Vec<RoomCase> = cases.iter().map(flood).collect();
    let all: Vec<RoomCase> = cases.iter().chain(&floods).copied().collect();
    let mut progress = bench.progress(&all);
    let label = |case: &RoomCase| match case.load.arrival {
        Arrival::Always => format!("{}, one that always sends", case.mode),
        _ => format!("{}, {}", case.mode, devices(case.devices)),
    };
    let trials = bench.trials(&cases, 0..common.rooms, &mut progress, label)?;
    let alone = bench.trials(&floods, 0..FLOODS, &mut progress, label)?;
    drop(progress);
    let points = cases.iter().zip(trials.iter().zip(&alone)).filter(|it| !it.1.0.is_empty());
    let answer = PredictAnswer {
        question: PredictQuestion::Phy,
        shared: format!("{}, {}", devices(args.devices), common.shared()),
        settings: common.settings(),
        payload_bytes: common.payload,
        points: points.map(|(case, (trials, alone))| point(&bench, case, trials, alone)).collect(),
        notes: bench.notes(),
        stopped: bench.cancelled(),
    };
    write("phy", common, &bench, &answer)
}

/// Returns whether the chip reads that mode at any distance.
fn has(bench: &RoomFactory, mode: WifiMode) -> bool {
    let range = range(bench, mode, 50);
    range.is_some_and(|metres| metres > 0.0)
}

fn range(bench: &RoomFactory, mode: WifiMode, octets: u32) -> Option<f64> {
    let scene = &bench.sample.scene;
    let profile = &scene.nodes.first()?.profile;
    let metres = range_m(profile, &scene.environment, mode, octets, EDGE);
    metres.is_finite().then_some(metres)
}

/// Returns the case of one device that always sends.
fn flood(case: &RoomCase) -> RoomCase {
    let load = Load {
        arrival: Arrival::Always,
        warm_up: Duration::from_millis(500),
        time: FLOOD,
        ..case.load
    };
    RoomCase { devices: 1, load, ..*case }
}

fn point(
    bench: &RoomFactory,
    case: &RoomCase,
    trials: &[RoomTrial],
    alone: &[RoomTrial],
) -> PointEstimates {
    let rates: Vec<f64> = alone
        .iter()
        .map(|it| {
            let bits = 8.0 * f64::from(case.load.payload) * it.latency_ms.len() as f64;
            bits / (it.air.window_ns as f64 / 1e9) / 1e6
        })
        .collect();
    let throughput: Estimate = mean_t(&rates);
    let setting = OperatingPoint {
        range_m: range(bench, case.mode, case.load.octets(&bench.sample.scene)),
        throughput: (!rates.is_empty()).then_some(throughput),
        ..bench.setting(case)
    };
    PointEstimates::of(setting, trials)
}
