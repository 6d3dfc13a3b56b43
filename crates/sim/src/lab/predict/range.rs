//! Range of a mode.

use crate::lab::profile::Profile;
use crate::lab::scene::{Environment, esp_now_timing};
use espbench_dot11::radio::airtime::{ACK_OCTETS, airtime};
use espbench_dot11::radio::error::Curve;
use espbench_dot11::radio::power::{factor, milliwatts};
use espbench_dot11::radio::propagation::PathLossModel;
use espbench_dot11::radio::receiver::Receiver;
use espbench_dot11::radio::{BasicRates, Channel, WifiMode};

/// Farther than this nobody looks, in metres.
const FARTHEST_M: f64 = 100_000.0;

/// A message whose range is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangedMessage {
    /// PHY rate.
    pub mode: WifiMode,
    /// Channel.
    pub channel: u8,
    /// Octets of its frame.
    pub octets: u32,
    /// Bytes of its payload.
    pub payload: u32,
    /// Frames that carry it at most: attempts of unicast, copies of a broadcast.
    pub frames: u16,
    /// Whether these are copies, which nobody acknowledges.
    pub is_broadcast: bool,
    /// Loss in the walls between less the gains of both antennas, in dB.
    pub path_db: f64,
}

/// Returns the distance in metres up to which a frame of so many octets still arrives with at least
/// this chance, by distance and walls alone: without shadowing and without interference.
#[must_use]
pub fn range_m(
    profile: &Profile,
    environment: &Environment,
    (mode, octets, channel): (WifiMode, u32, u8),
    path_db: f64,
    chance: f64,
) -> f64 {
    let loss = frame_loss(profile, environment, channel, mode, octets);
    farthest(|metres| 1.0 - loss(metres, path_db) >= chance)
}

/// Returns the distance in metres up to which no more than this share of messages is lost, over all places
/// at that distance and over all times: with shadowing and fading, and without interference.
#[must_use]
pub fn reach_m(
    profile: &Profile,
    environment: &Environment,
    message: &RangedMessage,
    share: f64,
) -> f64 {
    let loss = frame_loss(profile, environment, message.channel, message.mode, message.octets);
    let fades = PlaceFades::of(environment, 1.0);
    farthest(|metres| {
        let lost = |fade_db: f64| loss(metres, message.path_db + fade_db);
        fades.lost(message, lost) <= share
    })
}

/// Fades by which places at one distance differ, and times in a place.
struct PlaceFades {
    /// Deviation of the places, in dB.
    deviation_db: f64,
    /// Gains at times that count as much, in dB.
    gains_db: alloc::vec::Vec<f64>,
}

impl PlaceFades {
    /// Takes them of a place, with its shadowing so many times as strong.
    fn of(environment: &Environment, shadowing: f64) -> Self {
        let slow_db = environment.slow_fading().map_or(0.0, |it| it.deviation_db);
        let fast = environment.fast_fading();
        Self {
            deviation_db: libm::hypot(shadowing * environment.shadow_db, slow_db),
            gains_db: fast.map_or_else(|| [0.0].into(), |it| it.quantiles_db(FADES)),
        }
    }

    /// Returns the share of messages lost, from the loss of a frame by the fade in dB.
    fn lost(&self, message: &RangedMessage, frame: impl Fn(f64) -> f64) -> f64 {
        let lost = |fade_db: f64| {
            // In one place all frames of a message come through as weak, and a fade outlasts them.
            libm::pow(frame(fade_db), f64::from(message.frames.max(1)))
        };
        over_places(self.deviation_db, |place_db| {
            let all = self.gains_db.iter().map(|gain_db| lost(place_db - gain_db));
            all.sum::<f64>() / self.gains_db.len() as f64
        })
    }
}

/// Deviation of what a range depends on from what is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathDeviation {
    /// Factor of the path loss exponents.
    pub exponent: f64,
    /// Shadowing, in units of the factor that the law was made for: -1 divides by it, 1 multiplies.
    pub shadowing: f64,
    /// Further loss on the way, in dB.
    pub further_db: f64,
}

impl PathDeviation {
    /// Nothing deviates.
    pub const NONE: Self = Self { exponent: 1.0, shadowing: 0.0, further_db: 0.0 };
}

/// Range of a message by what its way depends on. The loss that is allowed leaves a budget for the way in the
/// mean, which depends on neither the exponent nor walls: so another range is the distance that uses it up.
#[derive(Clone, Debug)]
pub struct RangeLaw {
    model: PathLossModel,
    mhz: u32,
    path_db: f64,
    /// Budget with the shadowing divided by the factor, as it is, and multiplied.
    budgets_db: [f64; 3],
}

/// Half of the span in which a budget is looked for, in dB.
const BUDGET_SPAN: f64 = 24.0;

/// Halvings of that span: to a tenth of a decibel.
const BUDGET_STEPS: u32 = 9;

impl RangeLaw {
    /// Makes the law of a message that reaches so far with this share lost ([`reach_m`]); `shadowing` is the factor
    /// of its deviations. `None` where it reaches nowhere, or beyond all places.
    #[must_use]
    pub fn of(
        profile: &Profile,
        environment: &Environment,
        message: &RangedMessage,
        (share, metres): (f64, f64),
        shadowing: f64,
    ) -> Option<Self> {
        if metres <= 0.0 || metres >= 0.99 * FARTHEST_M {
            return None;
        }
        let (model, mhz) = path_loss(environment, message.channel);
        let reads = frame_loss_at(profile, message.mode, message.octets);
        let power_dbm = power_dbm(profile, message.channel, message.mode);
        let budget_db = model.distance_db(metres, mhz) + message.path_db;
        let with = |factor: f64| {
            let fades = PlaceFades::of(environment, factor);
            let holds = |loss_db: f64| {
                fades.lost(message, |fade_db| reads(power_dbm - loss_db - fade_db)) <= share
            };
            let (mut low, mut high) = (budget_db - BUDGET_SPAN, budget_db + BUDGET_SPAN);
            for _ in 0..BUDGET_STEPS {
                let middle = f64::midpoint(low, high);
                *if holds(middle) { &mut low } else { &mut high } = middle;
            }
            f64::midpoint(low, high)
        };
        let budgets_db = [with(1.0 / shadowing), budget_db, with(shadowing)];
        Some(Self { model, mhz, path_db: message.path_db, budgets_db })
    }

    /// Returns the range where its way deviates so, in metres.
    #[must_use]
    pub fn metres(&self, deviation: &PathDeviation) -> f64 {
        let [less, as_it_is, more] = self.budgets_db;
        let slope = if deviation.shadowing < 0.0 { as_it_is - less } else { more - as_it_is };
        let left_db = as_it_is + slope * deviation.shadowing - self.path_db - deviation.further_db;
        let model = PathLossModel {
            exponent: self.model.exponent * deviation.exponent,
            beyond: self.model.beyond.map(|(from, it)| (from, it * deviation.exponent)),
            ..self.model
        };
        model.distance_m(left_db, self.mhz)
    }
}

/// Prospects of a message's exchange at a distance, in the worst tenth, the middle and the best tenth of the
/// places there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DistanceProspects {
    /// Messages that arrive, 0 to 1, over all times.
    pub delivery: [f64; 3],
    /// Payload bits that arrive in a second, where a sender never rests, in Mbit/s.
    pub mbit_s: [f64; 3],
    /// Time of a message and an answer as long that arrive, in milliseconds, in the mean; `None` where hardly
    /// any does.
    pub round_trip_ms: [Option<f64>; 3],
}

/// Deviations of the normal distribution from its mean between which eight in ten values lie.
const TENTH: f64 = 1.281_552;
/// The delivery below which nobody waits for an answer.
const HARDLY: f64 = 0.01;

/// Returns the prospects of messages at a distance, with shadowing and fading, without interference.
#[must_use]
pub fn prospects(
    profile: &Profile,
    environment: &Environment,
    message: &RangedMessage,
    metres: f64,
) -> DistanceProspects {
    let loss = frame_loss(profile, environment, message.channel, message.mode, message.octets);
    let slow_db = environment.slow_fading().map_or(0.0, |it| it.deviation_db);
    let deviation_db = libm::hypot(environment.shadow_db, slow_db);
    let gains_db =
        environment.fast_fading().map_or_else(|| [0.0].into(), |it| it.quantiles_db(FADES));
    let times = ExchangeTimes::of(profile, message);
    let mut all = DistanceProspects::default();
    for (at, place_db) in [TENTH, 0.0, -TENTH].into_iter().enumerate() {
        let (mut arrive, mut spent_s, mut trip_s) = (0.0, 0.0, 0.0);
        for gain_db in &gains_db {
            let lost = loss(metres, message.path_db + place_db * deviation_db - gain_db);
            let (arrives, all_s, good_s) = times.after(lost);
            arrive += arrives;
            spent_s += all_s;
            trip_s += arrives * good_s;
        }
        let fades = gains_db.len() as f64;
        let payload_bits = 8.0 * f64::from(message.payload);
        all.delivery[at] = arrive / fades;
        all.mbit_s[at] = payload_bits * arrive / spent_s / 1e6;
        all.round_trip_ms[at] = (arrive / fades > HARDLY).then(|| 2e3 * trip_s / arrive);
    }
    all
}

/// Times of an exchange without others on the air, in seconds.
struct ExchangeTimes {
    /// Work of both ends for a message.
    work_s: f64,
    /// Each attempt, with its mean back-off, which doubles.
    attempts_s: alloc::vec::Vec<f64>,
    /// An attempt ends with the first that arrives.
    is_answered: bool,
}

impl ExchangeTimes {
    fn of(profile: &Profile, message: &RangedMessage) -> Self {
        let bytes = message.octets;
        let work_s =
            (profile.sending().of(bytes) + profile.send_mean(bytes) + profile.sent_mean(bytes))
                .as_secs_f64()
                + (profile.receive.of(bytes) + profile.dispatch.of(bytes)).as_secs_f64();
        let timing = esp_now_timing(profile.window, message.channel);
        let response = BasicRates::NONE.response_to(message.mode);
        let answer = match message.is_broadcast {
            true => 0,
            false => timing.sifs_ns + airtime(response, ACK_OCTETS),
        };
        let frame = timing.difs_ns() + airtime(message.mode, bytes) + answer;
        let mut window = timing.cw_min;
        let attempts = (0..message.frames.max(1)).map(|_| {
            let ns = frame + u64::from(window) * timing.slot_ns / 2;
            if !message.is_broadcast {
                window = timing.wider(window);
            }
            ns as f64 / 1e9
        });
        Self { work_s, attempts_s: attempts.collect(), is_answered: !message.is_broadcast }
    }

    /// Returns the share of messages that arrive, the mean time of one, and the mean time until one that
    /// arrives has, where each frame is lost with this chance.
    fn after(&self, lost: f64) -> (f64, f64, f64) {
        let (mut reaches, mut passed, mut spent, mut arrives, mut until) =
            (1.0, 0.0, 0.0, 0.0, 0.0);
        for attempt in &self.attempts_s {
            passed += attempt;
            let now = reaches * (1.0 - lost);
            spent += if self.is_answered { reaches * attempt } else { *attempt };
            arrives += now;
            until += now * passed;
            reaches *= lost;
        }
        let until = if arrives > 0.0 { until / arrives } else { 0.0 };
        (arrives, self.work_s + spent, self.work_s + until)
    }
}

/// Fades of a mean over times.
const FADES: usize = 64;

/// Returns the mean of a quantity over the shadowing of places: normal, with this deviation.
fn over_places(deviation_db: f64, of: impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for step in -STEPS..=STEPS {
        let z = 4.0 * f64::from(step) / f64::from(STEPS);
        let weight = libm::exp(-z * z / 2.0);
        sum += weight * of(z * deviation_db);
        weights += weight;
    }
    sum / weights
}

/// Half of the points of a mean over places.
const STEPS: i32 = 60;

/// Returns the loss of a frame by distance and further loss in dB.
fn frame_loss(
    profile: &Profile,
    environment: &Environment,
    channel: u8,
    mode: WifiMode,
    octets: u32,
) -> impl Fn(f64, f64) -> f64 {
    let (room, mhz) = path_loss(environment, channel);
    let power_dbm = power_dbm(profile, channel, mode);
    let loss = frame_loss_at(profile, mode, octets);
    move |metres, further_db| loss(power_dbm - room.distance_db(metres, mhz) - further_db)
}

/// Returns the path loss of a place by distance, and the frequency in MHz for which it is taken.
fn path_loss(environment: &Environment, channel: u8) -> (PathLossModel, u32) {
    // In 2.4 GHz the middle of the band stands for all channels.
    let middle = Channel::of(channel).filter(|it| it.is_5_ghz()).or(Channel::of(6));
    let mhz = middle.map_or(2437, Channel::centre_mhz);
    (environment.room_at(0, mhz), mhz)
}

/// Returns the power with which a mode is sent, in dBm.
fn power_dbm(profile: &Profile, channel: u8, mode: WifiMode) -> f64 {
    profile.tx_power_dbm.min(profile.chip.power_on_dbm(mode, channel))
}

/// Returns the loss of a frame by the power that arrives, in dBm.
fn frame_loss_at(profile: &Profile, mode: WifiMode, octets: u32) -> impl Fn(f64) -> f64 {
    let receiver = Receiver::of(profile.chip);
    let curve = Curve::of(mode);
    move |dbm| {
        let sinr_db = receiver.sinr_db(mode, milliwatts(dbm), 0.0);
        curve.frame_loss(factor(sinr_db), octets)
    }
}

/// Returns the farthest distance at which something still holds that holds nearer.
fn farthest(holds: impl Fn(f64) -> bool) -> f64 {
    // Bisection by factors: 60 halvings of five decades leave less than a micrometre.
    let (mut near, mut far) = (0.01, FARTHEST_M);
    if !holds(near) {
        return 0.0;
    }
    for _ in 0..60 {
        let middle = libm::sqrt(near * far);
        *if holds(middle) { &mut near } else { &mut far } = middle;
    }
    near
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::file::Library;

    const MESSAGE: RangedMessage = RangedMessage {
        mode: WifiMode::ESP_NOW,
        channel: 6,
        octets: 143,
        payload: 100,
        frames: 7,
        is_broadcast: false,
        path_db: 0.0,
    };

    #[test]
    fn farther_away_less_arrives_and_what_does_takes_longer() {
        let library = Library::built_in();
        let profile = library.profile("esp32").unwrap();
        let place = library.environment("open-field").unwrap().environment;
        let message = RangedMessage { path_db: 4.0, ..MESSAGE };
        let at = |metres: f64| prospects(&profile, &place, &message, metres);
        let all = [10.0, 100.0, 300.0, 500.0, 700.0, 3000.0].map(at);
        for pair in all.windows(2) {
            for part in 0..3 {
                assert!(pair[0].delivery[part] >= pair[1].delivery[part], "{pair:?}");
                assert!(pair[0].mbit_s[part] >= pair[1].mbit_s[part], "{pair:?}");
            }
        }
        for it in &all {
            assert!(it.delivery.is_sorted() && it.mbit_s.is_sorted(), "{it:?}");
        }
        // Two frames of 1336 us, their ACKs of 304 us, back-off and work.
        let trip = all[0].round_trip_ms[1].unwrap();
        assert!((3.3..7.0).contains(&trip), "{trip}");
        assert!(all[3].round_trip_ms[1] > Some(trip) && all[5].round_trip_ms == [None; 3]);
        // One copy that nobody acknowledges: the middle of the places is where half arrive.
        let copy = RangedMessage { frames: 1, is_broadcast: true, ..message };
        let even = Environment { shadow_db: 0.0, ..place.clone() };
        let half = reach_m(&profile, &even, &copy, 0.5);
        let there = prospects(&profile, &place, &copy, half).delivery;
        assert!((there[1] - 0.5).abs() < 0.01 && there[0] < 0.2 && there[2] > 0.8, "{there:?}");
    }

    /// Nothing deviates: the range that a full search finds. Each deviation does what a search with it finds, too.
    #[test]
    fn another_way_has_another_range_without_a_search() {
        let library = Library::built_in();
        let profile = library.profile("esp32").unwrap();
        let place = library.environment("hall").unwrap().environment.behind_walls();
        let message = RangedMessage { path_db: 13.8, ..MESSAGE };
        let reach = |place: &Environment, further_db: f64| {
            let message = RangedMessage { path_db: message.path_db + further_db, ..message };
            reach_m(&profile, place, &message, 0.01)
        };
        let metres = reach(&place, 0.0);
        let law = RangeLaw::of(&profile, &place, &message, (0.01, metres), 1.2).unwrap();
        let near = |is: f64, should: f64| {
            assert!((is / should - 1.0).abs() < 0.01, "{is}, should be {should}");
        };
        let with = PathDeviation::NONE;
        near(law.metres(&with), metres);
        near(law.metres(&PathDeviation { further_db: 5.0, ..with }), reach(&place, 5.0));
        let steep = Environment {
            exponent: 1.1 * place.exponent,
            far_exponent: place.far_exponent.map(|it| 1.1 * it),
            ..place.clone()
        };
        near(law.metres(&PathDeviation { exponent: 1.1, ..with }), reach(&steep, 0.0));
        for (steps, factor) in [(1.0, 1.2), (-1.0, 1.0 / 1.2)] {
            let shadowed = Environment { shadow_db: factor * place.shadow_db, ..place.clone() };
            near(law.metres(&PathDeviation { shadowing: steps, ..with }), reach(&shadowed, 0.0));
        }
        assert!(RangeLaw::of(&profile, &place, &message, (0.01, 0.0), 1.2).is_none());
    }
}
