//! `espbench predict fleet`.

use super::bench::{RoomCase, RoomFactory, weight};
use super::nodes::DEVICES_MAX;
use super::options::{Common, limit, rate, share};
use super::write;
use crate::cli::output;
use crate::cli::progress::ProgressLine;
use anyhow::bail;
use espbench_dot11::radio::WifiMode;
use espbench_measure::predict::{
    FleetLimits, PointEstimates, PredictAnswer, PredictQuestion, RoomTrial, devices as count,
};
use espbench_measure::search::fleet::{FleetSearch, Standing};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  espbench predict fleet --max-loss 1% --max-p99 50ms --payload 100 --every 100ms
  espbench predict fleet --max-p99 20ms --rate 11M --most 500 -o fleet.html
  espbench predict fleet --max-loss 0.1% --mode broadcast --copies 3 --format json

The largest number of devices is looked for by bisection. Numbers that the intervals leave in doubt
are simulated up to four times as long; the answer tells what stays in doubt.";

/// How often a number in doubt is simulated again, with as many new rooms as it has.
const DOUBLINGS: u32 = 2;

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
    let bench = RoomFactory::new(&args.common)?;
    let mut tries = Tries { args, bench: &bench, limits, trials: BTreeMap::new() };
    let mut search = FleetSearch::new(1, args.most);
    let mut progress = bench.progress(&[]);
    while let Some(devices) = search.next() {
        // One in two stays in doubt, and is simulated twice as long, or four times.
        let rooms = 2 * args.common.rooms * search.left();
        progress.expect(weight(&bench.case(devices, args.rate)).saturating_mul(rooms));
        let Some(standing) = tries.settle(devices, &mut progress)? else { break };
        search.record(devices, standing);
    }
    drop(progress);
    let largest = search.largest();
    let answer = PredictAnswer {
        question: PredictQuestion::Fleet(limits, largest),
        shared: format!("{}, at {}", args.common.shared(), args.rate),
        settings: args.common.settings(),
        payload_bytes: args.common.payload,
        points: tries.points(),
        notes: bench.notes(),
        stopped: bench.cancelled(),
    };
    write("fleet", &args.common, &bench, &answer)
}

/// The rooms of each number that was tried.
struct Tries<'a> {
    args: &'a Args,
    bench: &'a RoomFactory,
    limits: FleetLimits,
    trials: BTreeMap<u32, Vec<RoomTrial>>,
}

impl Tries<'_> {
    /// Simulates a number until it stands clearly, or long enough; `None` where the user stopped.
    fn settle(
        &mut self,
        devices: u32,
        progress: &mut ProgressLine,
    ) -> anyhow::Result<Option<Standing>> {
        let case = self.bench.case(devices, self.args.rate);
        for _ in 0..=DOUBLINGS {
            let had = self.trials.get(&devices).map_or(0, Vec::len) as u32;
            let rooms = had..(2 * had).max(self.args.common.rooms);
            let label = |case: &RoomCase| format!("{}, {} rooms", count(case.devices), rooms.end);
            let new = self.bench.trials(&[case], rooms.clone(), progress, label)?;
            let new = new.into_iter().flatten().collect::<Vec<_>>();
            if new.len() < rooms.len() {
                return Ok(None);
            }
            let trials = self.trials.entry(devices).or_default();
            trials.extend(new);
            let standing = self.limits.standing(&self.bench.point(&case, trials));
            if matches!(standing, Standing::Holds | Standing::Fails) {
                return Ok(Some(standing));
            }
        }
        let trials = self.trials.get(&devices).map_or(&[][..], Vec::as_slice);
        Ok(Some(self.limits.standing(&self.bench.point(&case, trials))))
    }

    fn points(&self) -> Vec<PointEstimates> {
        let of = |(devices, trials): (&u32, &Vec<RoomTrial>)| {
            self.bench.point(&self.bench.case(*devices, self.args.rate), trials)
        };
        self.trials.iter().map(of).collect()
    }
}
