//! Flags that all questions share.

use super::super::common::{OutputArgs, distance, idle, with_wifi};
use super::firmware::{ActingParts, FirmwareArgs};
use crate::sys;
use crate::user_error::UserError;
use clap::ValueEnum;
use espbench_dot11::radio::{Channel, WifiMode};
use espbench_engine::predict::{PredictSetup, Predictor, QUEUE};
use espbench_measure::plan::DEFAULT_SEED;
use espbench_measure::predict::FleetLimits;
use espbench_measure::predict::battery::{Battery, BatteryDoubts};
use espbench_measure::predict::effort::Effort;
use espbench_measure::units::{self, Dimension};
use espbench_model::sdkconfig::{Chip, SKIPS_CHECK};
use espbench_model::speech::{CommandWith, FlagName, FlagValue};
use espbench_model::workload::EspNowCast;
use espbench_sim::lab::file::{material_db, materials};
use espbench_sim::lab::predict::Arrival;
use espbench_sim::lab::predict::load::{PAYLOAD_MAX, PAYLOAD_MIN};
use espbench_sim::lab::predict::sleep::{SleepMode, SleepPlan};
use std::str::FromStr;
use std::time::Duration;

/// Devices of a room that is compared by rates or profiles, if nothing else is said.
pub(super) const DEVICES: u32 = 20;

/// To whom the devices send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum To {
    /// To one device, whose radio acknowledges; lost frames are repeated
    #[default]
    Unicast,
    /// To all; nobody acknowledges
    Broadcast,
}

/// When messages come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Arrivals {
    /// Each device has a timer, and they began at different times
    #[default]
    Periodic,
    /// By chance (a Poisson process)
    Poisson,
}

/// Sleep between two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Sleep {
    /// None: the radio listens
    None,
    /// The radio is off, the processor idles
    Modem,
    /// Radio off and clocks stopped, memory kept
    Light,
    /// Only the RTC runs; the chip boots for each message
    Deep,
}

/// Boot from deep sleep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum BootCheck {
    /// The bootloader checks the image, as it does by default
    #[default]
    Checked,
    /// No check: CONFIG_BOOTLOADER_SKIP_VALIDATE_IN_DEEP_SLEEP=y
    Fast,
}

/// Attempts of an application, if nothing else is said.
const ATTEMPTS: u8 = 3;

/// The place of a prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum PredictRoom {
    /// A floor with desks and partitions: devices 1 to 15 m away, two networks beside them
    #[default]
    Office,
    /// A flat of masonry: 1 to 9 m, a neighbour's network
    Home,
    /// A factory hall or warehouse: 2 to 40 m
    Hall,
    /// Open ground: 2 to 100 m, nobody else on the air
    Open,
    /// Boards on USB hubs on one table, 0.5 m away, as in Espressif's ESP-NOW report
    Bench,
}

impl PredictRoom {
    /// Returns the room's lab, and its name for people.
    const fn lab(self) -> (&'static str, &'static str) {
        match self {
            Self::Office => ("room-office", "office"),
            Self::Home => ("room-home", "home"),
            Self::Hall => ("room-hall", "hall"),
            Self::Open => ("room-open", "open ground"),
            Self::Bench => ("many-boards", "bench"),
        }
    }
}

/// The place of a prediction, and its devices.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "The place")]
pub(super) struct Place {
    /// The place, with devices strewn about the listener
    #[arg(long, value_enum, default_value_t, conflicts_with = "lab")]
    pub room: PredictRoom,
    /// A lab in place of a room: a built-in one or a TOML file
    #[arg(long)]
    pub lab: Option<String>,
    /// Profile of all devices: esp32, esp32c3, … [default: the lab's, esp32 in rooms]; several with commas, or
    /// `all`, are for `predict compare`
    #[arg(long)]
    pub profile: Option<ProfileChoice>,
    /// Channel of the devices: 1 to 14; in 5 GHz, of an esp32c5 without the component (frames, range), 36 to 64
    /// and 149 to 165 in steps of 4 [default: the place's]
    #[arg(long, value_name = "NUMBER", value_parser = channel)]
    pub channel: Option<u8>,
    /// Walls between the listener and the devices
    #[arg(long, value_name = "NUMBER", default_value_t = 0,
        value_parser = clap::value_parser!(u8).range(0..=20))]
    pub walls: u8,
    /// Material or loss of each wall: brick, concrete, 12 [default: the place's]
    #[arg(long, value_name = "MATERIAL|DB", value_parser = wall)]
    pub wall: Option<WallLoss>,
}

/// Loss in a wall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WallLoss {
    /// The loss in dB.
    pub db: f64,
    /// Somebody has said it, and not a material.
    pub is_said: bool,
}

/// Profiles that a flag names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum ProfileChoice {
    /// Those of all chips with Wi-Fi.
    All,
    /// Names, each once.
    Named(Vec<String>),
}

impl ProfileChoice {
    /// Returns whether several profiles are to be compared.
    pub(in crate::cli) fn is_several(&self) -> bool {
        !matches!(self, Self::Named(names) if names.len() == 1)
    }

    /// Returns the names: of all chips, or as they stand.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::All => Chip::ALL.iter().map(|it| it.name().to_owned()).collect(),
            Self::Named(names) => names.clone(),
        }
    }
}

impl FromStr for ProfileChoice {
    type Err = UserError;

    fn from_str(text: &str) -> Result<Self, UserError> {
        let mut names: Vec<String> = Vec::new();
        for name in text.split(',').map(str::trim) {
            let name = with_wifi(name)?;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        match names.as_slice() {
            [only] if only == ALL => Ok(Self::All),
            names if names.iter().any(|it| it == ALL) => {
                let asked = FlagValue("--profile", text);
                Err(UserError::new(format!("{asked}: `all` has all of them"))
                    .remedy(format!("{}, or names without it", FlagValue("--profile", ALL))))
            }
            _ => Ok(Self::Named(names)),
        }
    }
}

/// Word for the profiles of all chips.
const ALL: &str = "all";

/// Parses a wall by its material, or its loss in dB.
fn wall(text: &str) -> Result<WallLoss, String> {
    let db = text.trim_end_matches("dB").trim_end().parse::<f64>().ok();
    let said = db.filter(|it| (0.0..=60.0).contains(it));
    let said = said.map(|db| WallLoss { db, is_said: true });
    let wall = said.or_else(|| Some(WallLoss { db: material_db(text)?, is_said: false }));
    wall.ok_or_else(|| {
        let known = materials().join(", ");
        format!(
            "`{text}` is no wall: use a material ({known}), or a loss from 0 to 60 dB, such as 12"
        )
    })
}

impl Place {
    /// Returns the profile of all devices.
    ///
    /// # Errors
    /// Several are named.
    pub(super) fn profile(&self) -> Result<Option<&str>, UserError> {
        match &self.profile {
            None => Ok(None),
            Some(ProfileChoice::Named(names)) if names.len() == 1 => Ok(Some(&names[0])),
            Some(several) => {
                let names = match several {
                    ProfileChoice::All => ALL.to_owned(),
                    ProfileChoice::Named(names) => names.join(","),
                };
                let asked = FlagValue("--profile", names);
                Err(UserError::new(format!("{asked}: one is asked for here"))
                    .because("all devices have the same")
                    .remedy(CommandWith("predict compare", asked).to_string()))
            }
        }
    }

    /// Returns the number of walls: one where only its material is named.
    pub(super) fn walls(&self) -> u8 {
        if self.wall.is_some() { self.walls.max(1) } else { self.walls }
    }

    /// Returns the lab of the place.
    pub(super) fn lab_name(&self) -> &str {
        self.lab.as_deref().unwrap_or_else(|| self.room.lab().0)
    }

    /// Returns the place for people.
    pub(super) fn name(&self) -> String {
        self.lab.clone().unwrap_or_else(|| self.room.lab().1.into())
    }
}

/// Options of the load, the place and the effort of the simulation.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Common {
    /// Bytes of a message
    #[arg(long, visible_alias = "size", value_name = "BYTES", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(i64::from(PAYLOAD_MIN)..=i64::from(PAYLOAD_MAX)))]
    pub payload: u32,
    /// Time between two messages of a device: 1s, 100ms, …
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = every)]
    pub every: Duration,
    /// How messages are sent
    #[arg(long, value_enum, default_value_t)]
    pub cast: To,
    /// Copies of each broadcast, or attempts at most with --ack [default: 1]
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=31))]
    pub copies: Option<u8>,
    /// The listener acknowledges in the component's own way, with a frame; for broadcasts. A sender
    /// waits for that, and for up to 3 s where it does not come
    #[arg(long)]
    pub ack: bool,
    /// Messages are encrypted (AES-128-CCM), with a key that all have from the start
    #[arg(long)]
    pub encrypt: bool,
    /// When messages come due
    #[arg(long, value_enum, default_value_t)]
    pub arrivals: Arrivals,
    /// Messages that wait in the application while one is being sent; further ones are lost
    #[arg(long, value_name = "MESSAGES", default_value_t = QUEUE,
        value_parser = clap::value_parser!(u16).range(1..))]
    pub queue: u16,
    /// Battery of the devices: 2xAA, AAA, CR123A, 18650, LiPo-500, CR2032, or a charge such as 2500mAh
    #[arg(long, value_name = "BATTERY", help_heading = "Battery and sleep")]
    pub battery: Option<Battery>,
    /// Sleep between two messages, of devices that send with esp_now_send alone, but for --ack and --encrypt
    /// [default: deep with --battery, else the component, which is always awake]
    #[arg(long, value_enum, help_heading = "Battery and sleep")]
    pub sleep: Option<Sleep>,
    /// Attempts of the application for a message that nobody acknowledges, at most [default: 3]
    #[arg(long, value_name = "NUMBER", help_heading = "Battery and sleep",
        value_parser = clap::value_parser!(u8).range(1..=100))]
    pub attempts: Option<u8>,
    /// Boot from deep sleep [default: checked]
    #[arg(long, value_enum, help_heading = "Battery and sleep")]
    pub boot: Option<BootCheck>,
    /// Part of what is left that the battery loses in a year by itself
    #[arg(long, value_name = "PERCENT", value_parser = share, requires = "battery",
        help_heading = "Battery and sleep")]
    pub self_discharge: Option<f64>,
    /// Part of the energy that a boost converter hands on, where the battery's voltage is below the
    /// chip's [default: 85%]
    #[arg(long, value_name = "PERCENT", value_parser = share, requires = "battery",
        help_heading = "Battery and sleep")]
    pub efficiency: Option<f64>,
    /// Current that the regulator takes itself, in microamperes [default: 19 of a boost converter, 5 of a
    /// linear one]
    #[arg(long, value_name = "MICROAMPERES", requires = "battery", help_heading = "Battery and sleep",
        value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub quiescent: Option<u32>,
    #[command(flatten)]
    pub firmware: FirmwareArgs,
    #[command(flatten)]
    pub place: Place,
    /// Metres from the listener to the middle of the devices, 3, or to the nearest and the farthest,
    /// 0.5-1 [default: the place's]
    #[arg(long, value_name = "METRES", value_parser = distance)]
    pub distance: Option<(f64, f64)>,
    /// Simulate the radios alone: processors take no time and nobody else is on the air
    #[arg(long, help_heading = "The place")]
    pub bare: bool,
    /// Most of the messages that may be lost: 1%
    #[arg(long, value_name = "PERCENT", value_parser = share, help_heading = "Limits")]
    pub loss: Option<f64>,
    /// Longest 99th percentile of the latency: 50ms
    #[arg(long, value_name = "TIME", value_parser = limit, help_heading = "Limits")]
    pub p99: Option<Duration>,
    /// Rooms for each figure, each with places, shadowing and phases of its own
    #[arg(long, default_value_t = Effort::default().rooms, help_heading = "Effort",
        value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub rooms: u32,
    /// Messages for each figure, in all its rooms
    #[arg(long, default_value_t = Effort::default().messages, help_heading = "Effort",
        value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub messages: u32,
    /// Worker threads [default: one for each core]; they do not change the result
    #[arg(long, help_heading = "Effort", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Seed of everything random
    #[arg(long, default_value_t = DEFAULT_SEED)]
    pub seed: u64,
    /// No progress on stderr
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Parses a period from 100 us to 24 h.
fn every(text: &str) -> Result<Duration, String> {
    let every = units::seconds(text)?;
    if every < Duration::from_micros(100) || every > Duration::from_secs(86_400) {
        return Err(format!("`{text}` must be from 100 us to 24 h"));
    }
    Ok(every)
}

/// Parses the limit of a latency, which is not zero.
pub(super) fn limit(text: &str) -> Result<Duration, String> {
    let time = units::seconds(text)?;
    if time.is_zero() { Err(format!("`{text}` is no time at all")) } else { Ok(time) }
}

/// Parses the number of a channel.
fn channel(text: &str) -> Result<u8, String> {
    text.parse().ok().filter(|it| Channel::of(*it).is_some()).ok_or_else(|| {
        format!(
            "`{text}` is no channel: use 1 to 14, or in 5 GHz 36 to 64 and 149 to 165 in steps of 4"
        )
    })
}

/// Parses a mode by its name.
pub(super) fn rate(text: &str) -> Result<WifiMode, String> {
    text.parse().map_err(|e| format!("`{text}` is {e}"))
}

/// Parses a share such as `1%`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = units::parse(text, Dimension::Proportion)?;
    if share <= 1.0 { Ok(share) } else { Err(format!("`{text}` is more than 100 %")) }
}

impl Common {
    /// Returns what all settings of an answer share.
    ///
    /// # Errors
    /// The firmware's file or one of its options cannot be read, does nothing, or is for another chip.
    pub(super) fn setup(&self) -> anyhow::Result<PredictSetup> {
        let plan = self.plan();
        let firmware = self.firmware.firmware(&self.acting(plan))?;
        if self.boot.is_some() && firmware.skips_check.is_some() {
            let flag = format!("{SKIPS_CHECK} of the firmware");
            let boot = FlagName("--boot");
            return Err(idle(flag, format!("beside {boot}"), format!("leave {boot} out"))
                .because("both say whether the image is checked")
                .into());
        }
        let validates =
            |plan: SleepPlan| firmware.skips_check.map_or(plan.validates, |skips| !skips);
        let sleep = plan.map(|plan| SleepPlan { validates: validates(plan), ..plan });
        Ok(PredictSetup {
            lab: self.place.lab_name().into(),
            place: self.place.name(),
            walls: self.place.walls(),
            wall_db: self.place.wall.map(|it| it.db),
            wall_is_said: self.place.wall.is_some_and(|it| it.is_said),
            profile: firmware.profile(self.place.profile()?)?,
            firmware: firmware.node,
            distance_m: self.distance,
            channel: self.place.channel,
            bare: self.bare,
            cast: self.cast(),
            encrypted: self.encrypt,
            encrypts_as_lab: true,
            arrival: match self.arrivals {
                Arrivals::Periodic => Arrival::Periodic,
                Arrivals::Poisson => Arrival::Poisson,
            },
            every: self.every,
            payload: self.payload,
            queue: self.queue,
            sleep,
            battery: self.battery(),
            limits: self.limits(),
            effort: Effort { rooms: self.rooms, messages: self.messages },
            seed: self.seed,
        })
    }

    /// Returns the parts of a firmware that act: where radios are alone no processor takes time, and devices that
    /// sleep run code out of flash for encryption alone. Who acknowledges in the component's way waits for ticks.
    fn acting(&self, plan: Option<SleepPlan>) -> ActingParts {
        if self.bare {
            return ActingParts::default();
        }
        ActingParts {
            clock: true,
            rests: plan.is_none_or(|it| matches!(it.mode, SleepMode::None | SleepMode::Modem)),
            flash: plan.is_none() || self.encrypt,
            ticks: self.ack,
            boots: plan.is_some_and(|it| it.mode == SleepMode::Deep),
        }
    }

    /// Returns the firmware of devices that sleep.
    fn plan(&self) -> Option<SleepPlan> {
        let mode = match (self.sleep, &self.battery) {
            (Some(Sleep::None), _) => SleepMode::None,
            (Some(Sleep::Modem), _) => SleepMode::Modem,
            (Some(Sleep::Light), _) => SleepMode::Light,
            (Some(Sleep::Deep), _) | (None, Some(_)) => SleepMode::Deep,
            (None, None) => return None,
        };
        Some(SleepPlan {
            mode,
            attempts: self.attempts.unwrap_or(ATTEMPTS),
            validates: self.boot.unwrap_or_default() == BootCheck::Checked,
        })
    }

    /// Returns the limits that were given.
    pub(super) fn limits(&self) -> FleetLimits {
        let p99_ms = self.p99.map(|time| time.as_secs_f64() * 1e3);
        FleetLimits { loss: self.loss, p99_ms }
    }

    /// Returns the battery with what was said of its regulator.
    fn battery(&self) -> Option<Battery> {
        let battery = self.battery.clone()?;
        // What somebody has said is not in doubt.
        let known = |given: bool, doubt: f64| if given { 1.0 } else { doubt };
        let doubts = BatteryDoubts {
            self_discharge: known(self.self_discharge.is_some(), battery.doubts.self_discharge),
            efficiency: known(self.efficiency.is_some(), battery.doubts.efficiency),
            quiescent: known(self.quiescent.is_some(), battery.doubts.quiescent),
            ..battery.doubts
        };
        Some(Battery {
            doubts,
            self_discharge: self.self_discharge.unwrap_or(battery.self_discharge),
            efficiency: self.efficiency.unwrap_or(battery.efficiency),
            quiescent_ma: self.quiescent.map_or(battery.quiescent_ma, |ua| f64::from(ua) / 1e3),
            ..battery
        })
    }

    /// Checks what belongs to sleeping devices.
    fn check_sleep(&self) -> Result<(), UserError> {
        let Some(plan) = self.plan() else {
            for (given, flag) in
                [(self.attempts.is_some(), "--attempts"), (self.boot.is_some(), "--boot")]
            {
                if given {
                    let place =
                        format!("without {} or {}", FlagName("--sleep"), FlagName("--battery"));
                    let remedy = format!("add {}", FlagValue("--sleep", "deep"));
                    return Err(idle(FlagName(flag), place, remedy)
                        .because("it is for devices that sleep between their messages"));
                }
            }
            return Ok(());
        };
        if self.attempts.is_some() && self.cast == To::Broadcast {
            let place = format!("beside {}", FlagValue("--cast", "broadcast"));
            let remedy = format!("use {}", FlagName("--copies"));
            return Err(idle(FlagName("--attempts"), place, remedy)
                .because("nobody tells the application that a broadcast has not arrived"));
        }
        if self.boot.is_some() && plan.mode != SleepMode::Deep {
            let (boot, deep) = (FlagName("--boot"), FlagValue("--sleep", "deep"));
            let place = format!("beside {}", FlagValue("--sleep", plan.mode.name()));
            return Err(idle(boot, place, format!("use {deep}, or leave {boot} out"))
                .because("only a device in deep sleep boots when it wakes"));
        }
        if self.efficiency == Some(0.0) {
            let asked = FlagValue("--efficiency", "0%");
            return Err(UserError::new(format!("{asked}: no device runs from that"))
                .because("such a converter hands nothing on")
                .remedy("say what its datasheet has at 50 to 100 mA, such as 85%"));
        }
        if self.efficiency.is_some() && !self.battery.as_ref().is_some_and(Battery::is_boosted) {
            return Err(idle(FlagName("--efficiency"), "with this battery", "leave it out")
                .because("only a battery below 3.3 V needs a boost converter"));
        }
        Ok(())
    }

    /// Returns how messages are sent.
    fn cast(&self) -> EspNowCast {
        match self.cast {
            To::Unicast => EspNowCast::Unicast,
            To::Broadcast => {
                EspNowCast::Broadcast { copies: self.copies.unwrap_or(1), ack: self.ack }
            }
        }
    }

    /// Checks what belongs together.
    ///
    /// # Errors
    /// A flag that its cast or its sleep does not have.
    pub(super) fn check(&self) -> Result<(), UserError> {
        if self.cast == To::Unicast {
            let place = format!("beside {}", FlagValue("--cast", "unicast"));
            let remedy = format!("add {}", FlagValue("--cast", "broadcast"));
            if self.ack {
                return Err(idle(FlagName("--ack"), place, remedy)
                    .because("the MAC acknowledges unicast anyway"));
            }
            if self.copies.is_some() {
                return Err(idle(FlagName("--copies"), place, remedy)
                    .because("the radio repeats unicast until it is acknowledged"));
            }
        }
        self.check_sleep()
    }

    /// Returns the number of devices: what was asked, else that of a named lab; `None` of a room.
    pub(super) fn devices(&self, asked: Option<u32>, predictor: &Predictor) -> Option<u32> {
        asked.or_else(|| self.place.lab.as_ref().map(|_| predictor.own_devices()))
    }

    /// Returns the number of worker threads.
    pub(super) fn threads(&self) -> usize {
        sys::threads(self.threads).get()
    }
}
