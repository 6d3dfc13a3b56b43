//! `espbench predict frames`.

use super::bench::{RoomPool, predictor, sent};
use super::firmware::{ActingParts, FirmwareArgs};
use super::options::{Place, To, rate};
use super::range::metres;
use super::rate::release;
use crate::cli::common::OutputArgs;
use crate::cli::output;
use crate::sys;
use crate::user_error::UserError;
use espbench_dot11::radio::WifiMode;
use espbench_engine::predict::{self, FramesQuestion, PredictSetup, QUEUE, longest_frame};
use espbench_measure::plan::DEFAULT_SEED;
use espbench_measure::predict::FleetLimits;
use espbench_measure::predict::effort::Effort;
use espbench_model::sdkconfig::IdfRelease;
use espbench_model::speech::{FlagName, FlagValue};
use espbench_model::workload::EspNowCast;
use espbench_sim::lab::predict::Arrival;
use espbench_sim::lab::predict::load::PAYLOAD_MIN;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  espbench predict frames --payload 1000
  espbench predict frames --payload 1000 --frame-sizes 200,1000 --distances 5,20,40 --room hall
  espbench predict frames --payload 4096 --idf v5.3 --phy-rate 24M --profile esp32c3

One frame of 1000 bytes or five of 200? Frames are sent by esp_now_send, each after the callback of the one
before, in parts as even as can be. Divisions are ranked by how many messages come whole, and then by how soon:
those whose intervals overlap tie.";

/// Frames of a message at most.
const FRAMES_MOST: u32 = 64;
/// Longest message.
const MESSAGE_MOST: u32 = 65_536;
/// Sizes of frames that are tried, where they are shorter than the message and the release sends them.
const USUAL: [u32; 4] = [100, 250, 500, 1000];
/// Release of ESP-IDF, if none is named: the first with ESP-NOW v2.0.
const V2: IdfRelease = IdfRelease::new(5, 4);

/// Flags.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Bytes of the whole message
    #[arg(long, visible_alias = "size", value_name = "BYTES", default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MESSAGE_MOST)))]
    payload: u32,
    /// Most bytes of a frame's body, for each division to try: a list [default: 100, 250, 500, 1000 and the
    /// longest that the release sends]
    #[arg(long, value_name = "BYTES")]
    frame_sizes: Option<FrameSizes>,
    /// Release of ESP-IDF on both boards: from v5.4 on a frame has up to 1470 bytes, before it 250
    #[arg(long, value_name = "RELEASE", default_value_t = V2, value_parser = release)]
    idf: IdfRelease,
    /// PHY rate: 1M, 5.5M-short, 54M, HT20-MCS7, HT40-MCS7-SGI, HE20-MCS9, LR-250K, … [default: the lab's, in
    /// rooms 1M, in 5 GHz 6M]
    #[arg(long, value_parser = rate)]
    phy_rate: Option<WifiMode>,
    /// How messages are sent
    #[arg(long, value_enum, default_value_t)]
    cast: To,
    /// Metres between the two boards: a list [default: three, up to where nine in ten short messages arrive]
    #[arg(long, value_name = "METRES")]
    distances: Option<Distances>,
    #[command(flatten)]
    firmware: FirmwareArgs,
    #[command(flatten)]
    place: Place,
    /// Rooms for each figure, each with places, shadowing and phases of its own
    #[arg(long, default_value_t = Effort::default().rooms, help_heading = "Effort",
        value_parser = clap::value_parser!(u32).range(2..=1000))]
    rooms: u32,
    /// Messages for each figure, in all its rooms
    #[arg(long, default_value_t = 1000, help_heading = "Effort",
        value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    messages: u32,
    /// Worker threads [default: one for each core]; they do not change the result
    #[arg(long, help_heading = "Effort", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Seed of everything random
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// No progress on stderr
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// Sizes of frames.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FrameSizes(Vec<u32>);

impl FromStr for FrameSizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = |word: &str| match word.trim().parse::<u32>() {
            Ok(bytes) if bytes > 0 => Ok(bytes),
            _ => Err(format!("`{word}` is no number of bytes, from 1 on")),
        };
        text.split(',').map(size).collect::<Result<_, _>>().map(Self)
    }
}

/// Distances, ascending.
#[derive(Clone, Debug, PartialEq)]
struct Distances(Vec<f64>);

impl FromStr for Distances {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all =
            text.split(',').map(|word| metres(word.trim())).collect::<Result<Vec<_>, _>>()?;
        all.sort_by(f64::total_cmp);
        all.dedup();
        Ok(Self(all))
    }
}

/// Runs the subcommand.
///
/// # Errors
/// A flag or a file of the lab is wrong, or the output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let frame_bytes = args.frame_bytes()?;
    output::without_published(&args.output, "in predict")?;
    output::check(&args.output)?;
    let predictor = predictor(args.setup()?)?;
    let mut rooms = RoomPool::new(sys::threads(args.threads).get(), args.quiet)?;
    let question = FramesQuestion {
        message: args.payload,
        frame_bytes,
        distances: args.distances.as_ref().map_or_else(Vec::new, |it| it.0.clone()),
        mode: sent(&predictor, args.phy_rate)?,
    };
    let answer = predict::frames(&predictor, &question, &mut rooms)?;
    rooms.end();
    let mut facts = predictor.facts("frames");
    facts.host.insert("message".into(), answer.title.clone());
    output::write(&answer.report(&facts), &args.output, args.quiet)?;
    let whole = if answer.points.is_empty() { ExitCode::from(2) } else { ExitCode::SUCCESS };
    Ok(if answer.stopped { rooms.status(whole) } else { whole })
}

impl Args {
    /// Returns the sizes of frames that are tried.
    ///
    /// # Errors
    /// One is longer than the release sends, or makes too many frames.
    fn frame_bytes(&self) -> Result<Vec<u32>, UserError> {
        let most = longest_frame(self.idf);
        let few = |bytes: u32| self.payload.div_ceil(bytes) <= FRAMES_MOST;
        let Some(FrameSizes(sizes)) = &self.frame_sizes else {
            let usual = USUAL.into_iter().filter(|it| *it <= most && few(*it));
            let all: Vec<u32> = usual.chain([most]).filter(|it| few(*it)).collect();
            if all.is_empty() {
                return Err(self.too_many(most));
            }
            return Ok(all);
        };
        if let Some(long) = sizes.iter().find(|it| **it > most) {
            let remedy = match most < 1470 && *long <= 1470 {
                true => format!(
                    "say {} or later, and build both boards with it",
                    FlagValue("--idf", "v5.4")
                ),
                false => format!("{}, or shorter", FlagValue("--frame-sizes", most)),
            };
            return Err(UserError::new(format!(
                "{} is too long",
                FlagValue("--frame-sizes", long)
            ))
            .because(format!("ESP-IDF {} sends at most {most} bytes in a frame", self.idf))
            .remedy(remedy));
        }
        match sizes.iter().find(|it| !few(**it)) {
            Some(short) => Err(self.too_many(*short)),
            None => Ok(sizes.clone()),
        }
    }

    fn too_many(&self, bytes: u32) -> UserError {
        let frames = self.payload.div_ceil(bytes);
        let payload = FlagValue("--payload", self.payload);
        UserError::new(format!("{payload} takes {frames} frames of {bytes} bytes"))
            .because(format!("a message may have {FRAMES_MOST} frames at most"))
            .remedy(format!(
                "take a shorter {}, or longer {} ({}: up to 1470)",
                FlagName("--payload"),
                FlagName("--frame-sizes"),
                FlagValue("--idf", "v5.4")
            ))
    }

    fn setup(&self) -> anyhow::Result<PredictSetup> {
        // A processor's clock acts; nothing here waits for ticks, boots or runs the component.
        let parts = ActingParts { clock: true, ..ActingParts::default() };
        let firmware = self.firmware.firmware(&parts)?;
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
            bare: false,
            cast: match self.cast {
                To::Unicast => EspNowCast::Unicast,
                To::Broadcast => EspNowCast::Broadcast { copies: 1, ack: false },
            },
            encrypted: false,
            encrypts_as_lab: false,
            arrival: Arrival::Periodic,
            every: Duration::from_secs(1),
            payload: PAYLOAD_MIN,
            queue: QUEUE,
            sleep: None,
            battery: None,
            limits: FleetLimits::default(),
            effort: Effort { rooms: self.rooms, messages: self.messages },
            seed: self.seed,
        })
    }
}
