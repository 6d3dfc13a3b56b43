//! The trials of one setting as estimates.

use super::doubt;
use super::energy::EnergyEstimates;
use super::trial::{MessageStage, RoomTrial};
use crate::cell::{Cell, Identity, Origin, TestFacts};
use crate::settings::{self, Settings};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sample::Cause;
use espbench_model::workload::Name;
use espbench_stats::Estimate;
use espbench_stats::cluster;
use serde::{Deserialize, Serialize};

/// A quantity over the places at a distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlaceSpread {
    /// In the worst tenth of the places.
    pub worst: Option<f64>,
    /// In the middle.
    pub median: Option<f64>,
    /// In the best tenth.
    pub best: Option<f64>,
}

/// Delivery of messages at a distance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DistanceRow {
    /// The distance in metres.
    pub metres: f64,
    /// Messages that arrive, in percent.
    pub delivery_percent: PlaceSpread,
    /// Payload that arrives where a sender never rests, in Mbit/s.
    pub throughput_mbit_s: PlaceSpread,
    /// Time of a message and an answer that arrive, in milliseconds.
    pub round_trip_ms: PlaceSpread,
}

/// One setting of the quantities that were varied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperatingPoint {
    /// Profile of the devices where several are compared; empty elsewhere.
    pub profile: String,
    /// Chip of that profile; empty elsewhere.
    pub chip: String,
    /// Largest current of that chip while it sends, in milliamperes, where it is known.
    pub peak_ma: Option<f64>,
    /// Devices that send.
    pub devices: u32,
    /// The mode's name (`1M`, `HT20-MCS7`).
    pub rate: String,
    /// Family of the mode, whose points a figure joins (`11g`, `HT20, short guard`).
    pub family: String,
    /// Data rate of the mode in kbit/s.
    pub kbit_s: u32,
    /// The listener acknowledges in the component's own way.
    pub acknowledged: bool,
    /// Time of one frame on the air, in microseconds.
    pub air_us: f64,
    /// Range in metres, where that was asked: see [`RANGE_LOSS`](super::RANGE_LOSS).
    pub range_m: Option<f64>,
    /// Lower end of its interval, at 95 %, by what is not known of the place and the boards.
    pub range_low_m: Option<f64>,
    /// Upper end of it; none where it is beyond the model of the place.
    pub range_high_m: Option<f64>,
    /// The model of the place ends at that distance: the range is at least so long.
    pub range_is_bounded: bool,
    /// Distance in the middle of all places, without shadowing and fading, where that was asked.
    pub range_median_m: Option<f64>,
    /// The model of the place ends at that distance.
    pub range_median_is_bounded: bool,
    /// The sensitivity of the rate is inferred, and in no datasheet.
    pub is_inferred: bool,
    /// Delivery of messages by distance, where that was asked.
    pub distances: Vec<DistanceRow>,
    /// Payload bits a second of one device that always sends, in Mbit/s, where that was asked.
    pub throughput: Option<Estimate>,
    /// Current of the chip while it sends in this mode, in milliamperes, where that was asked.
    pub send_ma: Option<f64>,
}

/// The trials of one setting as estimates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointEstimates {
    /// The setting.
    pub setting: OperatingPoint,
    /// Rooms behind it.
    pub rooms: u32,
    /// Messages behind it.
    pub messages: u64,
    /// Share of messages lost, 0 to 1.
    pub loss: Estimate,
    /// Mean time from due to the other application, in milliseconds.
    pub mean: Estimate,
    /// Median.
    pub p50: Estimate,
    /// 99th percentile.
    pub p99: Estimate,
    /// Share of the time in which somebody sent, 0 to 1.
    pub busy: Estimate,
    /// Share of the time in which one of the devices, or the listener that acknowledges, sent, 0 to 1: a part of
    /// `busy`.
    pub own_busy: f64,
    /// Share of the time for which the devices' frames were on the air, repetitions too.
    pub sent_share: Estimate,
    /// Messages delivered a second, by all devices together.
    pub delivered: Estimate,
    /// Messages due a second.
    pub offered: f64,
    /// Lost messages by cause.
    pub causes: BTreeMap<Cause, u64>,
    /// Mean time in each stage, in milliseconds, in the order of [`MessageStage::ALL`].
    pub stages_ms: [f64; 7],
    /// Share of messages of which the sender was told that they arrived, 0 to 1.
    pub told: Estimate,
    /// Median time until it was, in milliseconds.
    pub told_p50: Estimate,
    /// 99th percentile of it.
    pub told_p99: Estimate,
    /// Time for which a message held its sender up after its last frame, in milliseconds: the mean
    /// of all.
    pub held_ms: f64,
    /// Airtime over watched time: frames, repetitions, acknowledgements, others.
    pub airtime: [f64; 4],
    /// Charge of the devices, where they sleep between their messages.
    pub energy: Option<EnergyEstimates>,
    /// In most rooms messages took longer and longer.
    pub grows: bool,
}

impl OperatingPoint {
    /// Returns the settings that tell its results from those of other points.
    pub(super) fn of_point(&self) -> impl Iterator<Item = settings::Setting> {
        let profile = Some(&self.profile).filter(|it| !it.is_empty());
        let profile = profile.and_then(|it| Name::new(it)).map(settings::Setting::Profile);
        Name::new(&self.rate).map(settings::Setting::PhyRate).into_iter().chain(profile)
    }

    /// Returns its own chip where profiles are compared, else the one of all.
    pub(super) fn chip_or(&self, of_all: &str) -> String {
        if self.chip.is_empty() { of_all.into() } else { self.chip.clone() }
    }

    /// Returns the range with the interval of what is not known.
    #[must_use]
    pub const fn range(&self) -> Estimate {
        let Self { range_m: value, range_low_m: low, range_high_m: high, .. } = *self;
        Estimate { value, n: 0, low, high }
    }
}

impl PointEstimates {
    /// Returns it with intervals of its latencies that hold what is not known of the wake times, too; without, the
    /// intervals are those of the rooms alone, by which settings are compared that share their constants.
    #[must_use]
    pub fn with_doubts(&self) -> Self {
        let of = |it: &Estimate| self.latency(it);
        Self {
            mean: of(&self.mean),
            p50: of(&self.p50),
            p99: of(&self.p99),
            told_p50: of(&self.told_p50),
            told_p99: of(&self.told_p99),
            ..self.clone()
        }
    }

    /// Returns whether the wake times, which are in doubt, are a part of its latencies.
    #[must_use]
    pub fn has_doubted_latency(&self) -> bool {
        let within = self.energy.as_ref().map_or(1.0, |it| it.doubts.wake_times);
        within > 1.0 && self.stages_ms[MessageStage::Start as usize] > 0.0
    }

    /// Returns one of its latencies with an interval that holds what is not known of the wake times, too: each message
    /// waits for one wake, which takes as long for all.
    fn latency(&self, of: &Estimate) -> Estimate {
        let Some(energy) = self.energy.as_ref().filter(|_| self.has_doubted_latency()) else {
            return *of;
        };
        let start_ms = self.stages_ms[MessageStage::Start as usize];
        doubt::widened(of, |ms, normal| {
            ms + start_ms * (doubt::factor(energy.doubts.wake_times, normal.next()) - 1.0)
        })
    }

    /// Estimates a setting from its trials.
    #[must_use]
    pub fn of(setting: OperatingPoint, trials: &[RoomTrial]) -> Self {
        let pairs = |of: fn(&RoomTrial) -> (u64, u64)| trials.iter().map(of).collect::<Vec<_>>();
        let latencies: Vec<Vec<f64>> = trials.iter().map(|t| t.latency_ms.clone()).collect();
        let told_ms: Vec<Vec<f64>> = trials.iter().map(|t| t.told_ms.clone()).collect();
        let held_ns: u64 = trials.iter().map(|t| t.held_ns).sum();
        let sums: Vec<(f64, u64)> =
            latencies.iter().map(|l| (l.iter().sum(), l.len() as u64)).collect();
        let delivered: u64 = sums.iter().map(|it| it.1).sum();
        let window_ns: u64 = trials.iter().map(|t| t.air.window_ns).sum();
        let seconds = (window_ns as f64 / 1e9).max(f64::MIN_POSITIVE);
        let share =
            |of: fn(&RoomTrial) -> u64| trials.iter().map(of).sum::<u64>() as f64 / 1e9 / seconds;
        let messages: u64 = trials.iter().map(|t| t.messages).sum();
        let per_second: Vec<(f64, u64)> =
            trials.iter().map(|t| (t.latency_ms.len() as f64 * 1e9, t.air.window_ns)).collect();
        let busy: Vec<(f64, u64)> =
            trials.iter().map(|t| (t.air.busy_ns as f64, t.air.window_ns)).collect();
        let sent: Vec<(f64, u64)> = trials
            .iter()
            .map(|t| ((t.air.data_ns + t.air.retries_ns) as f64, t.air.window_ns))
            .collect();
        let rooms = trials.len();
        let throughput = setting.throughput.map(Estimate::not_negative);
        Self {
            setting: OperatingPoint { throughput, ..setting },
            rooms: rooms as u32,
            messages,
            loss: cluster::proportion(&pairs(|t| (t.lost(), t.messages))),
            mean: cluster::mean(&sums).not_negative(),
            p50: cluster::quantile(&latencies, 0.5),
            p99: cluster::quantile(&latencies, 0.99),
            busy: share_of_time(Estimate { n: rooms as u64, ..cluster::mean(&busy) }),
            own_busy: share(|t| t.air.own_ns),
            sent_share: Estimate { n: rooms as u64, ..cluster::mean(&sent) }.not_negative(),
            delivered: Estimate { n: delivered, ..cluster::mean(&per_second) }.not_negative(),
            offered: messages as f64 / seconds,
            causes: causes(trials),
            stages_ms: stages(trials, delivered),
            told: cluster::proportion(&pairs(|t| (t.told_ms.len() as u64, t.messages))),
            told_p50: cluster::quantile(&told_ms, 0.5),
            told_p99: cluster::quantile(&told_ms, 0.99),
            held_ms: held_ns as f64 / messages.max(1) as f64 / 1e6,
            airtime: [
                share(|t| t.air.data_ns),
                share(|t| t.air.retries_ns),
                share(|t| t.air.acks_ns),
                share(|t| t.air.others_ns),
            ],
            energy: EnergyEstimates::of(trials),
            grows: trials.iter().filter(|t| t.grows()).count() * 2 > rooms,
        }
    }

    /// Returns the stage's part of the mean, 0 to 1.
    #[must_use]
    pub fn part(&self, stage: MessageStage) -> f64 {
        let all: f64 = self.stages_ms.iter().sum();
        if all > 0.0 { self.stages_ms[stage as usize] / all } else { 0.0 }
    }

    /// Returns the time of a message and an answer as long: twice the mean latency, in milliseconds.
    #[must_use]
    pub fn round_trip_ms(&self) -> Estimate {
        self.mean.scaled(2.0)
    }

    /// Returns the charge that a message's frames take on the air, with all repetitions, in microcoulombs: the
    /// spread of rooms is that of the channel's use.
    #[must_use]
    pub fn charge_uc(&self) -> Estimate {
        let Some(send_ma) = self.setting.send_ma.filter(|_| self.offered > 0.0) else {
            return Estimate::default();
        };
        self.sent_share.scaled(1e3 * send_ma / self.offered)
    }

    /// Returns the result cells of the point.
    #[must_use]
    pub fn cells(&self, id: &Identity, shared: &Settings) -> Vec<Cell> {
        let all = self.all_cells(id, shared);
        let is_known = |it: &Cell| self.rooms > 0 || it.id.metric == "range";
        all.into_iter().filter(is_known).collect()
    }

    fn all_cells(&self, id: &Identity, shared: &Settings) -> Vec<Cell> {
        let cell = |metric: &str, unit: &str, estimate: Estimate| {
            let id = Identity {
                metric: metric.into(),
                devices: Some(self.setting.devices),
                chip: self.setting.chip_or(&id.chip),
                ..id.clone()
            };
            let mut all = shared.clone();
            all.extend(self.setting.of_point());
            let profile =
                Name::new(&self.setting.profile).filter(|_| !self.setting.profile.is_empty());
            all.extend(profile.map(settings::Setting::Profile));
            let test =
                TestFacts { phy_rate: self.setting.rate.parse().ok(), ..TestFacts::default() };
            Cell { settings: all, test, ..Cell::of(estimate, id, unit, Origin::Simulated) }
        };
        let mut cells = alloc::vec![
            cell("loss", "percent", self.loss.scaled(100.0)),
            cell("latency_avg", "ms", self.mean),
            cell("latency_p50", "ms", self.p50),
            cell("latency_p99", "ms", self.p99),
            cell("channel_busy", "percent", self.busy.scaled(100.0)),
            cell("message_rate", "messages/s", self.delivered),
        ];
        if self.setting.acknowledged {
            cells.push(cell("acknowledged", "percent", self.told.scaled(100.0)));
            cells.push(cell("acknowledgement_p50", "ms", self.told_p50));
            cells.push(cell("acknowledgement_p99", "ms", self.told_p99));
        }
        cells.extend(self.energy.as_ref().map(|it| cell("current_mean", "mA", it.current())));
        cells.extend(self.setting.throughput.map(|it| cell("throughput", "Mbit/s", it)));
        if self.setting.send_ma.is_some() {
            cells.push(cell("charge_per_message", "uC", self.charge_uc()));
        }
        cells.extend(self.setting.range_m.map(|_| cell("range", "m", self.setting.range())));
        cells
    }
}

/// Returns the estimate of a share with ends that a share may have: those of a mean of few rooms may lie
/// beyond.
fn share_of_time(of: Estimate) -> Estimate {
    let within = |end: Option<f64>| end.map(|it| it.clamp(0.0, 1.0));
    Estimate { low: within(of.low), high: within(of.high), ..of }
}

fn causes(trials: &[RoomTrial]) -> BTreeMap<Cause, u64> {
    let mut causes = BTreeMap::new();
    for (cause, count) in trials.iter().flat_map(|t| &t.lost) {
        *causes.entry(*cause).or_default() += count;
    }
    causes
}

fn stages(trials: &[RoomTrial], delivered: u64) -> [f64; 7] {
    MessageStage::ALL.map(|stage| {
        let sum: u64 = trials.iter().map(|t| t.stages_ns[stage as usize]).sum();
        if delivered == 0 { 0.0 } else { sum as f64 / delivered as f64 / 1e6 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::ChannelUse;

    /// A borrowed wake time of 230 ms, known within a factor of 1.4, widens the latency by as much, however exact the
    /// rooms are; who does not sleep has the rooms' interval, and the estimate stays.
    #[test]
    fn a_latency_holds_the_doubt_about_its_wake() {
        use crate::predict::doubt::ChargeDoubts;
        let p99 = Estimate { value: Some(240.0), n: 900, low: Some(239.0), high: Some(241.0) };
        let with = |wake_times: f64, start_ms: f64| {
            let doubts = ChargeDoubts { wake_times, ..ChargeDoubts::default() };
            PointEstimates {
                p99,
                stages_ms: [0.0, start_ms, 1.0, 1.0, 0.0, 2.0, 1.0],
                energy: Some(EnergyEstimates { doubts, ..EnergyEstimates::default() }),
                ..PointEstimates::default()
            }
        };
        let wide = with(1.4, 230.0);
        assert!(wide.has_doubted_latency());
        let told = wide.with_doubts();
        let (low, high) = (told.p99.low.unwrap(), told.p99.high.unwrap());
        // 10 ms are no wake: 230 / 1.4 + 10 and 230 x 1.4 + 10.
        assert!((170.0..180.0).contains(&low) && (325.0..339.0).contains(&high), "{low} {high}");
        assert_eq!((told.p99.value, told.p99.n, wide.p99), (Some(240.0), 900, p99));
        for known in [with(1.0, 230.0), with(1.4, 0.0)] {
            assert_eq!((known.has_doubted_latency(), known.with_doubts().p99), (false, p99));
        }
        let open = PointEstimates { p99: Estimate { high: None, ..p99 }, ..wide };
        let told = open.with_doubts().p99;
        assert!(told.high.is_none() && told.low.unwrap() < 180.0, "{told:?}");
    }

    proptest::proptest! {
        /// The devices' part is none of more than the busy time, and that of all: as in each room, so in all.
        #[test]
        fn own_is_a_part_of_busy_and_busy_of_all(
            rooms in proptest::collection::vec((1_u64..1_000_000, 0.0_f64..=1.0, 0.0_f64..=1.0), 1..9),
        ) {
            let room = |(window_ns, busy, own): &(u64, f64, f64)| {
                let busy_ns = (*window_ns as f64 * busy) as u64;
                let own_ns = (busy_ns as f64 * own) as u64;
                // Frames that overlap are more together than the channel has.
                let air = ChannelUse {
                    window_ns: *window_ns,
                    busy_ns,
                    own_ns,
                    data_ns: 3 * own_ns,
                    ..ChannelUse::default()
                };
                RoomTrial { air, ..RoomTrial::default() }
            };
            let trials: Vec<RoomTrial> = rooms.iter().map(room).collect();
            let point = PointEstimates::of(OperatingPoint::default(), &trials);
            let busy = point.busy.value.unwrap();
            proptest::prop_assert!(point.own_busy <= busy * (1.0 + 1e-12) && busy <= 1.0, "{:?}", point);
        }
    }

    #[test]
    fn a_share_of_the_time_is_from_none_to_all() {
        let of = |low, high| {
            let it = share_of_time(Estimate { value: Some(0.5), n: 2, low, high });
            (it.low, it.high)
        };
        assert_eq!(of(Some(-0.1), Some(1.2)), (Some(0.0), Some(1.0)));
        assert_eq!(of(Some(0.4), None), (Some(0.4), None));
    }
}
