//! What the stations of a scene hear of each other.

use super::scene::{Environment, Point, Scene};
use crate::air::{Decoder, Links, Power, Ratio, Receiver};
use crate::mac::{Medium, Settings};
use crate::radio::mode::{Hr, Mode};
use crate::radio::{
    BasicRates, Channel, Chip, ErrorTable, Overlap, Reader, Room, Spectrum, Timing, power, receiver,
};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What is weaker than this is no link: 12 dB below thermal noise, a thousand of them would be
/// noticed.
const FLOOR_DBM: f64 = -113.0;

/// What [`mac::Room`](crate::mac::Room) is made of. Stations: devices, then routers, then
/// background.
pub struct Radio {
    /// Who hears whom.
    pub links: Links,
    /// Kinds of receivers.
    pub receivers: Vec<Receiver>,
    /// The error model.
    pub decoder: Box<dyn Decoder>,
    /// Adjacent channels.
    pub medium: Medium,
    /// The MAC of each station.
    pub settings: Vec<Settings>,
}

impl core::fmt::Debug for Radio {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Radio").field("links", &self.links).finish_non_exhaustive()
    }
}

/// A station as radio sees it.
struct Stand {
    at: Point,
    power_dbm: f64,
    channel: u8,
    chip: Chip,
}

impl Scene {
    /// How many stations there are: devices, then routers, then background.
    #[must_use]
    pub fn stations(&self) -> usize {
        self.devices.len() + self.routers.len() + self.background.len()
    }

    /// The power that reaches one station from another, before any receiver.
    #[must_use]
    pub fn arriving_dbm(&self, seed: u64, from: u32, to: u32) -> f64 {
        let stands = self.stands();
        match (stands.get(from as usize), stands.get(to as usize)) {
            (Some(sender), Some(hearer)) => {
                arriving(&self.environment.room(seed), (from, sender), (to, hearer))
            }
            _ => f64::NEG_INFINITY,
        }
    }

    /// The medium of this scene; the seed draws the shadowing.
    #[must_use]
    pub fn radio(&self, seed: u64) -> Radio {
        let stands = self.stands();
        let room = self.environment.room(seed);
        let links = Links::new(stands.len() as u32, FLOOR_DBM, |from, to| {
            arriving(&room, (from, &stands[from as usize]), (to, &stands[to as usize]))
        });
        let mut chips: Vec<Chip> = Vec::new();
        let mut settings = Vec::new();
        for (number, stand) in stands.iter().enumerate() {
            let kind = chips.iter().position(|&chip| chip == stand.chip).unwrap_or_else(|| {
                chips.push(stand.chip);
                chips.len() - 1
            });
            settings.push(self.settings(number, stand.channel, kind as u8));
        }
        let first = chips.first().copied().unwrap_or(Chip::Esp32);
        let errors = Arc::new(ErrorTable::new());
        Radio {
            links,
            receivers: chips.iter().map(|&chip| self.environment.receiver(chip)).collect(),
            decoder: Box::new(Reader::new(errors, receiver::Receiver::of(first))),
            medium: medium(),
            settings,
        }
    }

    fn stands(&self) -> Vec<Stand> {
        let devices = self.devices.iter().map(|it| Stand {
            at: it.at,
            power_dbm: it.power_dbm(),
            channel: it.channel,
            chip: it.profile.chip,
        });
        let routers = self.routers.iter().map(|it| (it.at, it.power_dbm, it.channel));
        let others = self.background.iter().map(|it| (it.at, it.power_dbm, it.channel));
        // Receivers of routers and of other people's stations are taken for those of an ESP32.
        let rest = routers.chain(others).map(|(at, power_dbm, channel)| Stand {
            at,
            power_dbm,
            channel,
            chip: Chip::Esp32,
        });
        devices.chain(rest).collect()
    }

    /// The MAC of a station.
    fn settings(&self, number: usize, channel: u8, receiver: u8) -> Settings {
        let usual = Settings { channel, receiver, ..Settings::default() };
        let Some(device) = self.devices.get(number) else {
            return Settings {
                timing: Timing::ERP_LONG_SLOT,
                basic: BasicRates::BG,
                buffers: 64,
                ..usual
            };
        };
        let profile = &device.profile;
        Settings {
            timing: Timing { cw_min: profile.window.0, cw_max: profile.window.1, ..Timing::HR },
            short_retry_limit: profile.attempts,
            long_retry_limit: profile.attempts,
            buffers: usize::from(profile.tx_buffers),
            ..usual
        }
    }
}

fn arriving(room: &Room, (from, sender): (u32, &Stand), (to, hearer): (u32, &Stand)) -> f64 {
    let mhz = Channel::of(sender.channel).map_or(2437, Channel::centre_mhz);
    sender.power_dbm - room.loss_db(from, to, sender.at.to(hearer.at), mhz)
}

impl Environment {
    /// What it does to the way of a wave.
    #[must_use]
    pub const fn room(&self, seed: u64) -> Room {
        Room { exponent: self.exponent, shadow_db: self.shadow_db, seed }
    }

    /// The receiver of a chip in this place.
    fn receiver(&self, chip: Chip) -> Receiver {
        let slowest = Mode::Hr(Hr::M1);
        let radio = receiver::Receiver::of(chip);
        let usual = Receiver::default();
        Receiver {
            sensitivity: chip
                .sensitivity_dbm(slowest)
                .map_or(usual.sensitivity, |dbm| Power::from_dbm(dbm - 3.0)),
            energy: Power::from_dbm(self.energy_dbm),
            noise: Power::from_dbm(power::dbm(radio.noise_mw(slowest))),
            detect: Ratio::from_db(self.detect_db),
            capture: self.capture_db.map(Ratio::from_db),
            ..usual
        }
    }
}

/// Neighbouring channels: what passes of DSSS, which nearly all is here.
fn medium() -> Medium {
    let overlap = Overlap::new();
    let adjacent = (1..=13)
        .map(|away| Ratio::from_db(-overlap.db(Spectrum::Chips, Spectrum::Chips, 5 * away)))
        .collect();
    Medium { adjacent, ..Medium::default() }
}
