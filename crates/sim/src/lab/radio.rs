//! The radio of a scene: who hears whom, receivers, and the MAC of each station.

use super::scene::{Barriers, Environment, Point, TracedLinks};
use alloc::sync::Arc;
use alloc::vec::Vec;
use espbench_dot11::air::{RadioLinks, ReceiverConfig};
use espbench_dot11::mac::{MacConfig, MediumConfig};
use espbench_dot11::radio::{
    Channel, ErrorModelDecoder, ErrorTable, FastFading, FrameCapture, LinkFading, PathLossModel,
    RadioChip, SlowFading, TxPower, propagation::breakpoint_m, receiver,
};

/// Power below which there is no link: 12 dB below thermal noise, where only a thousand senders at
/// once would be noticed.
pub(super) const FLOOR_DBM: f64 = -113.0;

/// Parts of [`mac::WirelessMedium`](espbench_dot11::mac::WirelessMedium), by the numbers of its
/// stations ([`StationNumbers`](super::scene::StationNumbers)).
pub struct Radio {
    /// Links between stations: who hears whom.
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
pub(super) struct StationRadio {
    pub(super) at: Point,
    pub(super) output: Arc<TxPower>,
    pub(super) channel: u8,
    pub(super) chip: RadioChip,
    /// Mean effective gain of its antenna, dBi.
    pub(super) antenna_dbi: f64,
    /// Loss in the walls between its side of the place and that of node 0.
    pub(super) walls_db: f64,
}

/// Returns which kind of receiver each station has, and these: one for each chip in this place.
pub(super) fn receivers(
    environment: &Environment,
    radios: &[StationRadio],
    errors: &Arc<ErrorTable>,
) -> (Vec<u8>, Vec<ReceiverConfig>) {
    let mut chips: Vec<RadioChip> = Vec::new();
    let mut kind = |radio: &StationRadio| {
        let known = chips.iter().position(|&chip| chip == radio.chip);
        known.unwrap_or_else(|| {
            chips.push(radio.chip);
            chips.len() - 1
        }) as u8
    };
    let kinds = radios.iter().map(&mut kind).collect();
    (kinds, chips.iter().map(|&it| environment.receiver(it, errors)).collect())
}

/// Loss that a room adds to the way of a wave from one of its places to another.
#[derive(Clone, Debug)]
pub(super) struct RoomLoss {
    model: PathLossModel,
    antenna_height_m: Option<f64>,
    barriers: Arc<Barriers>,
}

impl RoomLoss {
    /// Returns the loss between two stations at their places, in dB.
    fn db(&self, (from, one): (u32, Point), (to, other): (u32, Point), mhz: u32) -> f64 {
        let mut model = self.model;
        if let Some(usual) = self.antenna_height_m {
            let height = |it: Point| if it.z > 0.0 { it.z.max(LOWEST_M) } else { usual };
            model.beyond = Some((breakpoint_m([height(one), height(other)], mhz), GROUND));
        }
        model.loss_db(from, to, one.to(other), mhz) + self.barriers.loss_db(one, other)
    }
}

/// The exponent of the distance far from two antennas over ground.
pub(super) const GROUND: f64 = 4.0;
/// The least height of an antenna over ground, in metres: nearer, the wave at the ground counts, which two
/// rays leave out.
pub(super) const LOWEST_M: f64 = 0.1;

pub(super) fn arriving(
    room: &RoomLoss,
    (from, sender): (u32, &StationRadio),
    (to, hearer): (u32, &StationRadio),
) -> f64 {
    let mhz = Channel::of(sender.channel).map_or(2437, Channel::centre_mhz);
    let walls_db = (sender.walls_db - hearer.walls_db).abs();
    let antennas_db = sender.antenna_dbi + hearer.antenna_dbi;
    let loss_db = room.db((from, sender.at), (to, hearer.at), mhz);
    sender.output.most_dbm() + antennas_db - loss_db - walls_db
}

/// Loss in a light wall, such as one of plasterboard: COST 231, "Digital Mobile Radio Towards Future
/// Generation Systems", 1999, chapter 4.7, multi-wall model; 3GPP TR 25.952, 5.1.1, has the same value.
pub(super) const LIGHT_WALL_DB: f64 = 3.4;

impl Environment {
    /// Returns the loss in one wall of this place, in dB.
    #[must_use]
    pub fn one_wall_db(&self) -> f64 {
        self.wall_db.unwrap_or(LIGHT_WALL_DB)
    }

    /// Returns the place as it is between stations that do not see each other. The loss of the walls between
    /// them comes on top.
    #[must_use]
    pub fn behind_walls(&self) -> Self {
        let it = self.behind_walls;
        Self {
            exponent: it.exponent.unwrap_or(self.exponent),
            breakpoint_m: it.breakpoint_m.or(self.breakpoint_m),
            far_exponent: it.far_exponent.or(self.far_exponent),
            shadow_db: it.shadow_db.unwrap_or(self.shadow_db),
            valid_m: it.valid_m.or(self.valid_m),
            ..self.clone()
        }
    }

    /// Returns what it does to the way of a wave, between places of stations.
    pub(super) fn losses(&self, seed: u64) -> RoomLoss {
        RoomLoss {
            model: self.room(seed),
            antenna_height_m: self.antenna_height_m,
            barriers: self.barriers.clone(),
        }
    }

    /// Returns what it does to the way of a wave by distance, without walls.
    #[must_use]
    pub fn room(&self, seed: u64) -> PathLossModel {
        self.room_at(seed, 2437)
    }

    /// Returns what it does to a wave of so many megahertz by distance, without walls.
    #[must_use]
    pub fn room_at(&self, seed: u64, mhz: u32) -> PathLossModel {
        let seed = match self.place {
            Some(place) => place,
            None => seed,
        };
        let beyond = match (self.breakpoint_m, self.far_exponent, self.antenna_height_m) {
            (Some(metres), Some(exponent), _) => Some((metres, exponent)),
            (.., Some(height)) => Some((breakpoint_m([height; 2], mhz), GROUND)),
            _ => None,
        };
        PathLossModel { exponent: self.exponent, beyond, shadow_db: self.shadow_db, seed }
    }

    /// Returns how strongly one of these stations arrives at another, dBm, before any receiver: negative
    /// infinity for one that is not there.
    pub(super) fn arriving_dbm(
        &self,
        radios: &[StationRadio],
        seed: u64,
        from: u32,
        to: u32,
    ) -> f64 {
        match (radios.get(from as usize), radios.get(to as usize)) {
            (Some(sender), Some(hearer)) => {
                arriving(&self.losses(seed), (from, sender), (to, hearer))
            }
            _ => f64::NEG_INFINITY,
        }
    }

    /// Returns who of these stations hears whom.
    pub(super) fn links(
        &self,
        radios: &Arc<[StationRadio]>,
        seed: u64,
        trace: Option<TracedLinks>,
    ) -> RadioLinks {
        let (room, radios, trace) = (self.losses(seed), radios.clone(), trace.map(Arc::new));
        let steady = trace.clone();
        let links = RadioLinks::lazy(radios.len() as u32, FLOOR_DBM, move |from, to| {
            // A link that was measured is listed by its best power.
            let traced = steady.as_ref().and_then(|it| it.most_dbm(from, to));
            traced.unwrap_or_else(|| {
                arriving(&room, (from, &radios[from as usize]), (to, &radios[to as usize]))
            })
        });
        let fading = self.fading(seed);
        let periods =
            [fading.as_ref().map(LinkFading::period_ns), trace.as_ref().map(|it| it.period_ns)];
        let Some(period_ns) = periods.into_iter().flatten().min() else { return links };
        links.varying(period_ns, move |from, to, dbm, now_ns| {
            let traced = trace.as_ref().and_then(|it| it.at(from, to, now_ns));
            traced.unwrap_or_else(|| {
                let gain_db = fading.as_ref().map_or(0.0, |it| it.gain_db(from, to, now_ns));
                (dbm + gain_db).into()
            })
        })
    }

    /// Returns what fades within a second here.
    #[must_use]
    pub fn fast_fading(&self) -> Option<FastFading> {
        let coherence_ns = libm::rint(self.fast_coherence_ms? * 1e6) as u64;
        Some(FastFading { nakagami_m: self.nakagami_m?, coherence_ns })
    }

    /// Returns what fades over minutes here.
    #[must_use]
    pub fn slow_fading(&self) -> Option<SlowFading> {
        let coherence_ns = libm::rint(self.slow_coherence_s? * 1e9) as u64;
        Some(SlowFading { deviation_db: self.slow_fading_db?, coherence_ns })
    }

    /// Returns how the links of this place change in time, if they do.
    fn fading(&self, seed: u64) -> Option<LinkFading> {
        LinkFading::new(seed, self.fast_fading(), self.slow_fading())
    }

    /// Returns the receiver of a chip in this place.
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
