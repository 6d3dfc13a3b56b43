//! Flags that all questions share.

use super::super::common::OutputArgs;
use crate::sys;
use clap::ValueEnum;
use espbench_measure::plan::DEFAULT_SEED;
use espbench_measure::predict::effort::Effort;
use espbench_measure::units::{self, Dimension, print_duration};
use espbench_sim::lab::predict::load::{PAYLOAD_MAX, PAYLOAD_MIN};
use espbench_sim::lab::predict::{Arrival, Cast, Load};
use espbench_sim::radio::Mode;
use std::time::Duration;

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

/// What is sent, how, where, and how much of it is simulated.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Common {
    /// Bytes of a message
    #[arg(long, value_name = "BYTES", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(i64::from(PAYLOAD_MIN)..=i64::from(PAYLOAD_MAX)))]
    pub payload: u32,
    /// Time between two messages of a device: 1s, 100ms, …
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = every)]
    pub every: Duration,
    /// How they are sent
    #[arg(long, value_enum, default_value_t)]
    pub mode: To,
    /// Copies of each broadcast
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=31))]
    pub copies: u8,
    /// When they come
    #[arg(long, value_enum, default_value_t)]
    pub arrivals: Arrivals,
    /// Messages that wait in the application while one is being sent; further ones are lost
    #[arg(long, value_name = "MESSAGES", default_value_t = 16)]
    pub queue: u16,
    /// The lab: a built-in one or a TOML file
    #[arg(long, default_value = "many-boards", help_heading = "The lab")]
    pub lab: String,
    /// Another profile for all its devices
    #[arg(long, help_heading = "The lab")]
    pub profile: Option<String>,
    /// Metres from the listener to the farthest device, where the lab's places are not wanted
    #[arg(long, value_name = "METRES", help_heading = "The lab")]
    pub distance: Option<f64>,
    /// Radios alone: processors take no time and nobody else is on the air, so what remains is physics
    #[arg(long, help_heading = "The lab")]
    pub bare: bool,
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

/// A time that is neither nothing nor forever.
fn every(text: &str) -> Result<Duration, String> {
    let every = units::duration(text)?;
    if every < Duration::from_micros(100) || every > Duration::from_secs(86_400) {
        return Err(format!("`{text}` must be from 100 us to 24 h"));
    }
    Ok(every)
}

/// A mode by its name.
pub(super) fn rate(text: &str) -> Result<Mode, String> {
    text.parse().map_err(|e| format!("`{text}` is {e}"))
}

/// A share such as `1%`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = units::parse(text, Dimension::Proportion)?;
    if share <= 1.0 { Ok(share) } else { Err(format!("`{text}` is more than 100 %")) }
}

impl Common {
    /// How much is simulated.
    pub(super) const fn effort(&self) -> Effort {
        Effort { rooms: self.rooms, messages: self.messages }
    }

    /// What so many devices do.
    pub(super) fn load(&self, devices: u32) -> Load {
        let span = self.effort().span(devices, self.every);
        Load {
            cast: self.cast(),
            arrival: match self.arrivals {
                Arrivals::Periodic => Arrival::Periodic,
                Arrivals::Poisson => Arrival::Poisson,
            },
            every: self.every,
            payload: self.payload,
            queue: self.queue,
            warm_up: span.warm_up,
            time: span.time,
            drain: span.drain,
        }
    }

    fn cast(&self) -> Cast {
        match self.mode {
            To::Unicast => Cast::Unicast,
            To::Broadcast => Cast::Broadcast { copies: self.copies },
        }
    }

    /// As `reference/published.csv` names it.
    pub(super) fn cast_name(&self) -> String {
        match self.cast() {
            Cast::Unicast => "unicast".into(),
            Cast::Broadcast { copies: 1 } => "broadcast".into(),
            Cast::Broadcast { copies } => format!("broadcast-{copies}"),
        }
    }

    /// Worker threads.
    pub(super) fn threads(&self) -> usize {
        sys::threads(self.threads).get()
    }

    /// What all settings share, in words.
    pub(super) fn shared(&self) -> String {
        let arrivals = match self.arrivals {
            Arrivals::Periodic => "periodic",
            Arrivals::Poisson => "Poisson",
        };
        let bare = if self.bare { ", radios alone" } else { "" };
        format!(
            "{} B every {}, {arrivals}, {}{bare}",
            self.payload,
            print_duration(self.every),
            self.cast_name()
        )
    }
}
