//! Predictions of a fleet: which rooms an answer needs, and the answer of those that were simulated. Rooms
//! are simulated by several workers; whoever has the question in hand asks the engine anew with all that has
//! come so far, and gets an answer that says whether it is whole.

use crate::answer::PageError;
use crate::json;
use crate::room::add_lab;
use crate::trial::{self, SimulatedRoom};
use espbench_dot11::radio::WifiMode;
use espbench_engine::predict::{self, PredictError, PredictSetup, Predictor, RoomCase, RoomRunner};
use espbench_measure::plan::DEFAULT_SEED;
use espbench_measure::predict::battery::Battery;
use espbench_measure::predict::effort::Effort;
use espbench_measure::predict::{FleetLimits, RoomTrial, report};
use espbench_measure::units;
use espbench_model::workload::EspNowCast;
use espbench_sim::lab::file::Library;
use espbench_sim::lab::predict::Arrival;
use espbench_sim::lab::predict::load::{PAYLOAD_MAX, PAYLOAD_MIN};
use espbench_sim::lab::predict::sleep::{SleepMode, SleepPlan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// Most devices of a room on the page.
const DEVICES: u32 = 2000;

/// Attempts of an application that sleeps, if nothing else is said: as the command has it.
const ATTEMPTS: u8 = 3;

/// The question as the page has it: words as those of the command's flags.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FleetQuestion {
    /// Name of the lab: a built-in one, or a file's with the text.
    lab: String,
    text: Option<String>,
    /// The place for people.
    place: String,
    /// Numbers of devices, ascending: of a single one changes are tried, too.
    devices: Vec<u32>,
    every: String,
    payload: u32,
    phy_rate: Option<String>,
    #[serde(default)]
    broadcast: bool,
    copies: Option<u8>,
    #[serde(default)]
    ack: bool,
    #[serde(default)]
    encrypt: bool,
    battery: Option<String>,
    sleep: Option<String>,
    profile: Option<String>,
    #[serde(default)]
    walls: u8,
    distance: Option<(f64, f64)>,
    loss: Option<f64>,
    p99: Option<String>,
    seed: Option<u64>,
    rooms: Option<u32>,
    messages: Option<u32>,
}

impl FleetQuestion {
    fn sleep(&self) -> Result<Option<SleepPlan>, PageError> {
        let mode = match (self.sleep.as_deref(), &self.battery) {
            (Some("none"), _) => SleepMode::None,
            (Some("modem"), _) => SleepMode::Modem,
            (Some("light"), _) => SleepMode::Light,
            (Some("deep"), _) | (None, Some(_)) => SleepMode::Deep,
            (None, None) => return Ok(None),
            (Some(other), _) => {
                let why = format!("`{other}` is none of none, modem, light and deep");
                return Err(PageError::new("this sleep is not known", why, "choose one of them"));
            }
        };
        Ok(Some(SleepPlan { mode, attempts: ATTEMPTS, validates: true }))
    }

    fn setup(&self) -> Result<PredictSetup, PageError> {
        let time = |what: &str, text: &str| {
            let remedy = "write a number and a unit: 500 ms, 5 s, 10 min";
            units::duration(text)
                .map_err(|why| PageError::new(format!("{what} cannot be read"), why, remedy))
        };
        let every = time("the time between two messages", &self.every)?;
        within("time between messages, in ms", every.as_secs_f64() * 1e3, 0.1, 86.4e6)?;
        within("numbers of devices", self.devices.len() as f64, 1.0, 20.0)?;
        for devices in &self.devices {
            within("number of devices", (*devices).into(), 1.0, DEVICES.into())?;
        }
        within("bytes of a message", self.payload.into(), PAYLOAD_MIN.into(), PAYLOAD_MAX.into())?;
        let effort = Effort::default();
        let effort = Effort {
            rooms: self.rooms.unwrap_or(effort.rooms),
            messages: self.messages.unwrap_or(effort.messages),
        };
        within("rooms", effort.rooms.into(), 2.0, 1000.0)?;
        within("messages", effort.messages.into(), 100.0, 1e6)?;
        within("walls", self.walls.into(), 0.0, 20.0)?;
        if let Some((near, far)) = self.distance {
            within("nearest device, in m", near, 0.01, 1e5)?;
            within("farthest device, in m", far, near, 1e5)?;
        }
        let battery = self.battery.as_deref().map(str::parse::<Battery>).transpose();
        let battery = battery.map_err(|why: String| {
            PageError::new(
                "this battery is not known",
                why,
                "write 2xAA, CR2032, LiPo-500 or 2500mAh",
            )
        })?;
        let copies = self.copies.unwrap_or(1);
        within("copies", copies.into(), 1.0, 31.0)?;
        let cast = match self.broadcast {
            true => EspNowCast::Broadcast { copies, ack: self.ack },
            false => EspNowCast::Unicast,
        };
        let p99 = self.p99.as_deref().map(|it| time("the limit of the latency", it)).transpose()?;
        Ok(PredictSetup {
            lab: self.lab.clone(),
            place: self.place.clone(),
            walls: self.walls,
            wall_db: None,
            wall_is_said: false,
            profile: self.profile.clone(),
            firmware: predict::NodeFirmware::default(),
            distance_m: self.distance,
            channel: None,
            bare: false,
            cast,
            encrypted: self.encrypt,
            encrypts_as_lab: true,
            arrival: Arrival::Periodic,
            every,
            payload: self.payload,
            queue: predict::QUEUE,
            sleep: self.sleep()?,
            battery,
            limits: FleetLimits {
                loss: self.loss,
                p99_ms: p99.map(|time: Duration| time.as_secs_f64() * 1e3),
            },
            effort,
            seed: self.seed.unwrap_or(DEFAULT_SEED),
        })
    }
}

/// Refuses a number out of its range.
fn within(what: &str, value: f64, least: f64, most: f64) -> Result<(), PageError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    let (what, why) = (
        format!("the {what}: {value} cannot be simulated"),
        format!("it is from {least} to {most}"),
    );
    Err(PageError::new(what, why, "choose a value in that range"))
}

/// What an answer takes.
#[derive(Serialize)]
pub(crate) struct NeededRooms {
    /// Rooms of each case.
    rooms: u32,
    /// What a room of each case takes, about, in milliseconds: the first case is the fleet's, the others
    /// are changes that are tried.
    cases: Vec<f64>,
}

/// An answer, whole or as far as rooms have come.
#[derive(Serialize)]
pub(crate) struct Predicted {
    /// All rooms have come.
    whole: bool,
    /// The report, as the command writes it.
    report: String,
}

/// A question, and what is known of its rooms.
pub(crate) struct FleetDesk {
    pub(crate) question: FleetQuestion,
    pub(crate) predictor: Predictor,
    mode: WifiMode,
    pub(crate) cases: Vec<RoomCase>,
    known: BTreeMap<(usize, u32), RoomTrial>,
}

impl FleetDesk {
    /// Reads a question: the lab, and what its devices send.
    pub(crate) fn new(question: FleetQuestion) -> Result<Self, PageError> {
        let mut library = Library::built_in();
        if let Some(text) = &question.text {
            add_lab(&mut library, &question.lab, text)?;
        }
        let remedy = "change the message, the devices or the room";
        let predictor =
            Predictor::new(question.setup()?, library).map_err(|why| refused(&why, remedy))?;
        let mode = match &question.phy_rate {
            None => predictor.usual_mode(),
            Some(name) => name.parse::<WifiMode>().map_err(|why| {
                PageError::new(
                    format!("`{name}` is {why}"),
                    "that is no PHY rate",
                    "write 1M, 11M, 24M or HT20-MCS7",
                )
            })?,
        };
        if !predictor.sends(mode) {
            let why = format!("an {} does not send it there", predictor.chip_name());
            let remedy = format!("choose {}", predictor.usual_mode());
            return Err(PageError::new(
                format!("the PHY rate {mode} is not for these devices"),
                why,
                remedy,
            ));
        }
        let mut asked = Asked::default();
        // Nothing is simulated: what would be needed is told before.
        let _ = predict::fleet(&predictor, &question.devices, mode, &mut asked);
        let cases = asked.cases;
        Ok(Self { question, predictor, mode, cases, known: BTreeMap::new() })
    }

    /// Returns what the answer takes.
    pub(crate) fn needed(&self) -> NeededRooms {
        let weight = |case| self.predictor.weight(case).as_secs_f64() * 1e3;
        let cases = self.cases.iter().map(weight).collect();
        NeededRooms { rooms: self.predictor.setup().effort.rooms, cases }
    }

    /// Simulates one room, and returns it as bytes.
    pub(crate) fn simulate(&self, case: usize, room: u32) -> Result<Vec<u8>, PageError> {
        let Some(it) = self.cases.get(case) else {
            return Err(PageError::new("no such room", "the question has fewer", "ask again"));
        };
        let trial = self.predictor.trial(it, room);
        let trial = trial.map_err(|why| refused(&why, "try another seed, or fewer devices"))?;
        Ok(trial::write(&SimulatedRoom { case, room, trial }))
    }

    /// Takes a simulated room.
    pub(crate) fn add(&mut self, room: SimulatedRoom) {
        if room.case < self.cases.len() && room.room < self.predictor.setup().effort.rooms {
            self.known.insert((room.case, room.room), room.trial);
        }
    }

    /// Returns the answer of the rooms that are known.
    pub(crate) fn answer(&self) -> Result<Predicted, PageError> {
        let mut runner = KnownRooms { desk: self, misses: false };
        let answer =
            predict::fleet(&self.predictor, &self.question.devices, self.mode, &mut runner);
        let answer = answer.map_err(|why| refused(&why, "change the room"))?;
        let report = json::render(&report(&self.predictor.facts("fleet"), &answer));
        Ok(Predicted { whole: !runner.misses, report })
    }
}

fn refused(why: &PredictError, remedy: &str) -> PageError {
    let line = match why {
        PredictError::File(wrong) => wrong.line,
        _ => 0,
    };
    PageError { line, ..PageError::new("this room cannot be simulated", why, remedy) }
}

/// Takes note of the cases that are needed, and simulates none.
#[derive(Default)]
struct Asked {
    cases: Vec<RoomCase>,
}

impl RoomRunner for Asked {
    fn begin(&mut self, _: &Predictor, cases: &[RoomCase], _: u32) {
        self.cases = cases.to_vec();
    }

    fn trials(
        &mut self,
        _: &Predictor,
        cases: &[RoomCase],
        _: Range<u32>,
        _: &dyn Fn(&RoomCase) -> String,
    ) -> Result<Vec<Vec<RoomTrial>>, PredictError> {
        Ok(cases.iter().map(|_| Vec::new()).collect())
    }

    fn cancelled(&self) -> bool {
        true
    }
}

/// Hands out the rooms that have come: of each case those before the first that is missing.
struct KnownRooms<'a> {
    desk: &'a FleetDesk,
    misses: bool,
}

impl RoomRunner for KnownRooms<'_> {
    fn trials(
        &mut self,
        _: &Predictor,
        cases: &[RoomCase],
        rooms: Range<u32>,
        _: &dyn Fn(&RoomCase) -> String,
    ) -> Result<Vec<Vec<RoomTrial>>, PredictError> {
        let of = |case: &RoomCase| {
            let number = self.desk.cases.iter().position(|it| it == case);
            let known = |room| self.desk.known.get(&(number?, room)).cloned();
            rooms.clone().map_while(known).collect::<Vec<_>>()
        };
        let trials: Vec<Vec<RoomTrial>> = cases.iter().map(of).collect();
        self.misses |= trials.iter().any(|it| it.len() < rooms.len());
        Ok(trials)
    }

    fn cancelled(&self) -> bool {
        self.misses
    }
}
