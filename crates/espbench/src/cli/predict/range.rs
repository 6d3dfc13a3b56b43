//! `espbench predict range`.

use super::bench::predictor;
use super::firmware::{ActingParts, FirmwareArgs};
use super::options::{Place, To, share};
use super::rate::Rates;
use crate::cli::common::{OutputArgs, idle};
use crate::cli::{flow, output};
use espbench_engine::predict::{self, PredictSetup, QUEUE};
use espbench_measure::plan::DEFAULT_SEED;
use espbench_measure::predict::effort::Effort;
use espbench_measure::predict::{FleetLimits, RangeWanted, report};
use espbench_model::speech::{FlagName, FlagValue};
use espbench_model::workload::EspNowCast;
use espbench_sim::lab::predict::Arrival;
use espbench_sim::lab::predict::load::{PAYLOAD_MAX, PAYLOAD_MIN};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  espbench predict range
  espbench predict range --room home --walls 2 --wall concrete --loss 0.1%
  espbench predict range --room open --distance 150 --profile esp32c3
  espbench predict range --phy-rates 1M,6M,54M --room hall --payload 250 -o range.html

Range is the distance at which --loss of the messages are lost, over all places at that distance: by transmit
power and sensitivity, path loss, walls, shadowing and fading. What is beyond the model of the place is not
known. Nobody else is on the air: predict fleet simulates that.";

/// Flags.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Bytes of a message
    #[arg(long, visible_alias = "size", value_name = "BYTES", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(i64::from(PAYLOAD_MIN)..=i64::from(PAYLOAD_MAX)))]
    payload: u32,
    /// How messages are sent
    #[arg(long, value_enum, default_value_t)]
    cast: To,
    /// Copies of each broadcast [default: 1]
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=31))]
    copies: Option<u8>,
    /// PHY rates: a list, `usual` (Long Range, too; no short guard intervals, no 40 MHz) or `all`
    #[arg(long, default_value = "usual")]
    phy_rates: Rates,
    /// Metres from the listener that are to be reached: rates that do not are named
    #[arg(long, value_name = "METRES", value_parser = metres)]
    distance: Option<f64>,
    /// Most of the messages that may be lost: 1%
    #[arg(long, value_name = "PERCENT", value_parser = loss, default_value = "1%")]
    loss: f64,
    #[command(flatten)]
    firmware: FirmwareArgs,
    #[command(flatten)]
    place: Place,
    #[command(flatten, next_help_heading = "Output")]
    output: OutputArgs,
    // This answer comes at once; scripts give the flag to every prediction.
    /// No progress on stderr
    #[arg(short, long)]
    quiet: bool,
}

/// Parses a loss that some distance has.
fn loss(text: &str) -> Result<f64, String> {
    match share(text)? {
        it if it > 0.0 && it < 1.0 => Ok(it),
        _ => Err(format!(
            "`{text}` is lost at no distance, or at all: use more than 0 and less than 100 %"
        )),
    }
}

/// Parses a distance.
pub(super) fn metres(text: &str) -> Result<f64, String> {
    match text.trim().trim_end_matches('m').trim_end().parse::<f64>() {
        Ok(it) if it > 0.0 && it <= 100_000.0 => Ok(it),
        _ => Err(format!("`{text}` is no distance: metres, such as 30")),
    }
}

/// Runs the subcommand.
///
/// # Errors
/// A flag or a file of the lab is wrong, or the output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.cast == To::Unicast && args.copies.is_some() {
        let place = format!("beside {}", FlagValue("--cast", "unicast"));
        let remedy = format!("add {}", FlagValue("--cast", "broadcast"));
        return Err(idle(FlagName("--copies"), place, remedy)
            .because("the radio repeats unicast until it is acknowledged")
            .into());
    }
    output::without_published(&args.output, "in predict")?;
    output::check(&args.output)?;
    let cancel = flow::on_interrupt()?;
    let predictor = predictor(args.setup()?)?;
    let wanted = RangeWanted { loss: args.loss, distance_m: args.distance };
    args.phy_rates.check(&predictor)?;
    let is_stopped = || cancel.load(Ordering::Relaxed);
    let answer = predict::range(&predictor, wanted, &args.phy_rates.modes, &is_stopped);
    super::readable(&answer)?;
    output::write(&report(&predictor.facts("range"), &answer), &args.output, false)?;
    let whole = if answer.points.is_empty() { ExitCode::from(2) } else { ExitCode::SUCCESS };
    // A signal that came after the last rate has cut nothing.
    Ok(if answer.stopped { flow::status(&cancel, whole) } else { whole })
}

impl Args {
    fn setup(&self) -> anyhow::Result<PredictSetup> {
        // Of a firmware a range depends on the power alone.
        let firmware = self.firmware.firmware(&ActingParts::default())?;
        Ok(PredictSetup {
            lab: self.place.lab_name().into(),
            place: self.place.name(),
            walls: self.place.walls(),
            wall_db: self.place.wall.map(|it| it.db),
            wall_is_said: self.place.wall.is_some_and(|it| it.is_said),
            profile: firmware.profile(self.place.profile()?)?,
            firmware: firmware.node,
            distance_m: None,
            channel: self.place.channel,
            bare: true,
            cast: match self.cast {
                To::Unicast => EspNowCast::Unicast,
                To::Broadcast => {
                    EspNowCast::Broadcast { copies: self.copies.unwrap_or(1), ack: false }
                }
            },
            encrypted: false,
            encrypts_as_lab: false,
            arrival: Arrival::Periodic,
            every: Duration::from_secs(1),
            payload: self.payload,
            queue: QUEUE,
            sleep: None,
            battery: None,
            limits: FleetLimits { loss: Some(self.loss), p99_ms: None },
            effort: Effort::default(),
            seed: DEFAULT_SEED,
        })
    }
}
