//! What the stations of a scene hear of each other.

use super::scene::{Environment, Point, Scene};
use crate::air::{AdjacentChannels, RadioLinks, ReceiverConfig};
use crate::mac::{MacConfig, MediumConfig};
use crate::radio::{
    BasicRates, Channel, ErrorModelDecoder, ErrorTable, FrameCapture, Overlap, PathLossModel,
    RadioChip, Timing, TxPower, receiver,
};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What is weaker than this is no link: 12 dB below thermal noise, a thousand of them would be
/// noticed.
pub(super) const FLOOR_DBM: f64 = -113.0;

/// What [`mac::WirelessMedium`](crate::mac::WirelessMedium) is made of. Stations: devices, then routers, then
/// background.
pub struct Radio {
    /// Who hears whom.
    pub links: RadioLinks,
    /// Kinds of receivers: one for each chip in this place.
    pub receivers: Vec<ReceiverConfig>,
    /// Adjacent channels.
    pub medium: MediumConfig,
    /// The MAC of each station.
    pub settings: Vec<MacConfig>,
}

impl core::fmt::Debug for Radio {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Radio").field("links", &self.links).finish_non_exhaustive()
    }
}

/// A station as radio sees it.
pub(super) struct Stand {
    pub(super) at: Point,
    pub(super) output: Arc<TxPower>,
    pub(super) channel: u8,
    pub(super) chip: RadioChip,
}

impl Scene {
    /// How many stations there are: devices, then routers, then background.
    #[must_use]
    pub fn stations(&self) -> usize {
        self.devices.len() + self.routers.len() + self.background.len()
    }

    /// What they are called.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let devices = (0..self.devices.len()).map(|number| format!("node{number}"));
        let routers = self.routers.iter().map(|it| it.name.clone());
        let others = self.background.iter().map(|it| it.name.clone());
        devices.chain(routers).chain(others).collect()
    }

    /// The power that reaches one station from another, before any receiver.
    #[must_use]
    pub fn arriving_dbm(&self, seed: u64, from: u32, to: u32) -> f64 {
        self.environment.arriving_dbm(&self.stands(), seed, from, to)
    }

    /// The medium of this scene; the seed draws the shadowing.
    #[must_use]
    pub fn radio(&self, seed: u64) -> Radio {
        let stands: Arc<[Stand]> = self.stands().into();
        let links = self.environment.links(&stands, seed);
        let (kinds, receivers) = receivers(&self.environment, &stands, &ErrorTable::shared());
        let settings = stands.iter().zip(kinds).enumerate();
        let settings = settings.map(|(number, (stand, kind))| self.settings(number, stand, kind));
        let adjacent = AdjacentChannels::new(&Overlap::new());
        Radio {
            links,
            receivers,
            medium: MediumConfig { adjacent, ..MediumConfig::default() },
            settings: settings.collect(),
        }
    }

    pub(super) fn stands(&self) -> Vec<Stand> {
        let devices = self.devices.iter().map(|it| Stand {
            at: it.at,
            output: Arc::new(TxPower::of(it.profile.chip, it.power_dbm())),
            channel: it.channel,
            chip: it.profile.chip,
        });
        let routers = self.routers.iter().map(|it| (it.at, it.power_dbm, it.channel));
        let others = self.background.iter().map(|it| (it.at, it.power_dbm, it.channel));
        // Receivers of routers and of other people's stations are taken for those of an ESP32.
        let rest = routers.chain(others).map(|(at, power_dbm, channel)| Stand {
            at,
            output: Arc::new(TxPower::flat(power_dbm)),
            channel,
            chip: RadioChip::Esp32,
        });
        devices.chain(rest).collect()
    }

    /// The MAC of a station.
    fn settings(&self, number: usize, stand: &Stand, receiver: u8) -> MacConfig {
        let output = Some(stand.output.clone());
        let usual = MacConfig { channel: stand.channel, receiver, output, ..MacConfig::default() };
        let Some(device) = self.devices.get(number) else {
            let others = self.devices.len() + self.routers.len();
            let load = number.checked_sub(others).and_then(|it| self.background.get(it));
            // A network without 802.11b stations uses short slots (18.4.5), which a station of no
            // network is not told of: it gets its turn late (docs/fit.md).
            return MacConfig {
                timing: Timing::ERP_SHORT_SLOT,
                basic: BasicRates::BG,
                fallback: load.map(|it| it.fallback.clone()).unwrap_or_default(),
                buffers: 256,
                ..usual
            };
        };
        let profile = &device.profile;
        MacConfig {
            timing: Timing { cw_min: profile.window.0, cw_max: profile.window.1, ..Timing::HR },
            short_retry_limit: profile.attempts,
            long_retry_limit: profile.attempts,
            fallback: device.fallback.clone(),
            buffers: usize::from(profile.tx_buffers),
            ..usual
        }
    }
}

/// Which kind of receiver each station has, and these: one for each chip in this place.
pub(super) fn receivers(
    environment: &Environment,
    stands: &[Stand],
    errors: &Arc<ErrorTable>,
) -> (Vec<u8>, Vec<ReceiverConfig>) {
    let mut chips: Vec<RadioChip> = Vec::new();
    let mut kind = |stand: &Stand| {
        let known = chips.iter().position(|&chip| chip == stand.chip);
        known.unwrap_or_else(|| {
            chips.push(stand.chip);
            chips.len() - 1
        }) as u8
    };
    let kinds = stands.iter().map(&mut kind).collect();
    (kinds, chips.iter().map(|&it| environment.receiver(it, errors)).collect())
}

pub(super) fn arriving(
    room: &PathLossModel,
    (from, sender): (u32, &Stand),
    (to, hearer): (u32, &Stand),
) -> f64 {
    let mhz = Channel::of(sender.channel).map_or(2437, Channel::centre_mhz);
    sender.output.most_dbm() - room.loss_db(from, to, sender.at.to(hearer.at), mhz)
}

impl Environment {
    /// What it does to the way of a wave.
    #[must_use]
    pub const fn room(&self, seed: u64) -> PathLossModel {
        let seed = match self.place {
            Some(place) => place,
            None => seed,
        };
        PathLossModel { exponent: self.exponent, shadow_db: self.shadow_db, seed }
    }

    /// How strongly one of these stations arrives at another, dBm, before any receiver: negative
    /// infinity for one that is not there.
    pub(super) fn arriving_dbm(&self, stands: &[Stand], seed: u64, from: u32, to: u32) -> f64 {
        match (stands.get(from as usize), stands.get(to as usize)) {
            (Some(sender), Some(hearer)) => {
                arriving(&self.room(seed), (from, sender), (to, hearer))
            }
            _ => f64::NEG_INFINITY,
        }
    }

    /// Who of these stations hears whom.
    pub(super) fn links(&self, stands: &Arc<[Stand]>, seed: u64) -> RadioLinks {
        let (room, stands) = (self.room(seed), stands.clone());
        RadioLinks::lazy(stands.len() as u32, FLOOR_DBM, move |from, to| {
            arriving(&room, (from, &stands[from as usize]), (to, &stands[to as usize]))
        })
    }

    /// The receiver of a chip in this place.
    fn receiver(&self, chip: RadioChip, errors: &Arc<ErrorTable>) -> ReceiverConfig {
        let capture = FrameCapture {
            detect_db: self.detect_db,
            spread_db: FrameCapture::BARKER_DB,
            ..self.capture_db.map_or_else(FrameCapture::default, FrameCapture::any_time)
        };
        let reader = ErrorModelDecoder::new(errors.clone(), receiver::Receiver::of(chip));
        ReceiverConfig::new(reader, self.energy_dbm, capture)
    }
}
