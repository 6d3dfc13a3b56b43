//! One long frame or several short ones.

use super::error::PredictError;
use super::questions::lacks;
use super::reach::put_walls;
use super::rooms::{Predictor, RoomRunner, change, limit_power};
use super::setup::PredictSetup;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString as _;
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::component::Idf;
use esp_now::frame::{EspNowVersion, mpdu_len};
use espbench_dot11::radio::{WifiMode, airtime};
use espbench_dot11::random::{Purpose, RngStream};
use espbench_measure::predict::SettingsDue;
use espbench_measure::predict::frames::{FramesAnswer, FramesPoint, MessageTrial};
use espbench_measure::settings::{Setting, Settings};
use espbench_model::sdkconfig::IdfRelease;
use espbench_model::workload::EspNowCast;
use espbench_sim::lab::predict::burst::{BurstOutcome, FrameBurst, burst};
use espbench_sim::lab::scene::Scene;

/// First release of ESP-IDF with ESP-NOW v2.0.
const V2_FROM: (u8, u8) = (5, 4);
/// Longest body of a frame with ESP-NOW v2.0, of all its releases.
const V2_MOST: u32 = 1470;

/// Returns the longest body of a frame that a release of ESP-IDF sends.
#[must_use]
pub fn longest_frame(release: IdfRelease) -> u32 {
    match release.from(V2_FROM.0, V2_FROM.1) {
        true => V2_MOST,
        false => EspNowVersion::V1.data_max() as u32,
    }
}

/// A message in so many frames, at a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FramesCase {
    /// Frames of a message.
    pub frames: u32,
    /// Bytes of each.
    pub bytes: u32,
    /// Distance, in metres.
    pub metres: f64,
    /// PHY rate.
    pub mode: WifiMode,
    /// Messages of a room.
    pub messages: u32,
}

/// A message, and in which frames it may be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct FramesQuestion {
    /// Bytes of the whole message.
    pub message: u32,
    /// Bytes of a frame at most, for each division.
    pub frame_bytes: Vec<u32>,
    /// Distances, in metres; by the place where there is none.
    pub distances: Vec<f64>,
    /// PHY rate.
    pub mode: WifiMode,
}

impl FramesQuestion {
    /// Returns the divisions: numbers of frames and the bytes of each, as even as can be.
    fn divisions(&self) -> Vec<(u32, u32)> {
        let divide = |most: &u32| {
            let frames = self.message.div_ceil((*most).max(1)).max(1);
            (frames, self.message.div_ceil(frames))
        };
        let mut all: Vec<(u32, u32)> = self.frame_bytes.iter().map(divide).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Tells in how many frames a message is best sent, by distance.
///
/// # Errors
/// The runner's.
pub fn frames(
    predictor: &Predictor,
    question: &FramesQuestion,
    runner: &mut dyn RoomRunner,
) -> Result<FramesAnswer, PredictError> {
    let effort = predictor.setup().effort;
    let messages = (effort.messages / effort.rooms.max(1)).max(1);
    let asked = match question.distances.as_slice() {
        [] => predictor.distances(question.mode),
        some => some.to_vec(),
    };
    let valid_m = predictor.valid_m();
    let (distances, unknown_m): (Vec<f64>, Vec<f64>) =
        asked.into_iter().partition(|metres| *metres <= valid_m);
    let divisions = question.divisions();
    let at = |metres: f64| {
        let case = move |&(frames, bytes): &(u32, u32)| FramesCase {
            frames,
            bytes,
            metres,
            mode: question.mode,
            messages,
        };
        divisions.iter().map(case)
    };
    let cases: Vec<FramesCase> = distances.into_iter().flat_map(at).collect();
    let label = |it: &FramesCase| format!("{} × {} B at {} m", it.frames, it.bytes, it.metres);
    let trials = runner.message_trials(predictor, &cases, 0..effort.rooms, &label)?;
    let done = cases.iter().zip(&trials).filter(|it| !it.1.is_empty());
    let point = |(case, trials): (&FramesCase, &Vec<MessageTrial>)| {
        FramesPoint::of((case.frames, case.bytes), case.metres, question.message, trials)
    };
    let setup = predictor.setup();
    let cast = match setup.cast {
        EspNowCast::Unicast => "unicast",
        EspNowCast::Broadcast { .. } => "broadcast",
    };
    let on_channel = setup.channel.map(|it| format!(", channel {it}")).unwrap_or_default();
    Ok(FramesAnswer {
        title: format!(
            "{} B in one frame or several, esp_now_send {cast} at {}{on_channel}, {}{}",
            question.message,
            question.mode,
            setup.place,
            setup.walls_text()
        ),
        message: question.message,
        rate: question.mode.to_string(),
        settings: settings(setup),
        points: done.map(point).collect(),
        unknown_m,
        valid_m,
        notes: predictor.notes(),
        due: SettingsDue {
            settings: cases.len() as u32,
            rooms: effort.rooms,
            ..SettingsDue::default()
        },
        stopped: runner.cancelled() && lacks(&trials, effort.rooms),
    })
}

/// Returns what all divisions share, as values.
fn settings(setup: &PredictSetup) -> Settings {
    let mut settings: Settings = [Setting::Cast(setup.cast)].into_iter().collect();
    settings.extend((setup.walls > 0).then_some(Setting::Walls(setup.walls)));
    settings.extend(setup.wall_db.filter(|_| setup.walls > 0).map(Setting::WallLoss));
    settings.extend(setup.firmware.settings());
    settings
}

/// Time that a frame takes beside its air time, about.
const BESIDE: Duration = Duration::from_millis(2);
/// Time until boards are at rest after their start, about.
const AT_REST: Duration = Duration::from_secs(7);

/// Parts of the farthest distance that are told, where none is named.
const PARTS: [f64; 3] = [0.25, 0.6, 1.0];
/// Share of short messages lost at the farthest of them.
const FARTHEST_LOSS: f64 = 0.1;

impl Predictor {
    /// Returns distances up to where nine in ten short messages arrive, or the model of the place ends.
    fn distances(&self, mode: WifiMode) -> Vec<f64> {
        let reach = self.reach_of(&self.case(1, mode), FARTHEST_LOSS);
        let far = reach.map_or(1.0, |it| it.metres).max(1.0);
        let whole =
            |it: f64| if it < 10.0 { libm::round(10.0 * it) / 10.0 } else { libm::round(it) };
        PARTS.iter().map(|part| whole(part * far).min(far)).collect()
    }

    /// Returns how long a room of a case takes, about, in the unit of [`Predictor::weight`].
    #[must_use]
    pub fn message_weight(&self, case: &FramesCase) -> Duration {
        let air = airtime(case.mode, mpdu_len(case.bytes as usize) as u32);
        let sending = Duration::from_nanos(air) + BESIDE;
        let watched = AT_REST + sending * (case.frames * case.messages);
        let is_alone = self.scene.background.is_empty() && self.scene.routers.is_empty();
        let others = if is_alone { Duration::ZERO } else { watched / 1800 };
        others + Duration::from_micros(4) * (case.frames * case.messages)
    }

    /// Simulates a room of a case: the same for the same number.
    ///
    /// # Errors
    /// The mistake in the lab; [`PredictError::Livelock`].
    pub fn message_trial(
        &self,
        case: &FramesCase,
        room: u32,
    ) -> Result<MessageTrial, PredictError> {
        let seed = RngStream::stream(self.setup.seed, room, Purpose::Start).bits();
        let scene = self.scene_at(case, seed)?;
        let load = FrameBurst {
            bytes: case.bytes,
            frames: case.frames,
            messages: case.messages,
            is_broadcast: matches!(self.setup.cast, EspNowCast::Broadcast { .. }),
        };
        let outcome = burst(&scene, &load, seed);
        let livelock =
            |why| PredictError::Livelock { devices: 1, mode: case.mode, seed, why: Box::new(why) };
        let outcome = outcome.map_err(livelock)?;
        Ok(self.message_trial_of(case.mode, &outcome))
    }

    /// Returns the room of a case: two boards so far apart, whose ESP-IDF sends frames so long.
    fn scene_at(&self, case: &FramesCase, seed: u64) -> Result<Scene, PredictError> {
        let mut setup = self.setup.clone();
        setup.distance_m = Some((case.metres, case.metres));
        let change = change(&setup, &setup.firmware, 1);
        let mut scene = self.library.scene(&setup.lab, &change, seed)?;
        limit_power(&mut scene, &setup.firmware);
        put_walls(&mut scene, &setup);
        for device in &mut scene.nodes {
            device.mode = case.mode;
            if case.bytes > EspNowVersion::V1.data_max() as u32 {
                device.settings.compat.idf = Idf::V5_4_2;
            }
        }
        Ok(scene)
    }

    fn message_trial_of(&self, mode: WifiMode, outcome: &BurstOutcome) -> MessageTrial {
        let ms = |time: Duration| 1e3 * time.as_secs_f64();
        let (air_ms, span_ms) = (ms(outcome.air), ms(outcome.span));
        let listen_ma = self.profile().map_or(0.0, |it| f64::from(it.currents.receive_na) / 1e6);
        let send_ma = self.send_ma(mode).unwrap_or(0.0);
        MessageTrial {
            messages: outcome.messages,
            whole_ms: outcome.whole.iter().map(|it| ms(*it)).collect(),
            span_ms,
            air_ms,
            charge_uc: send_ma * air_ms + listen_ma * (span_ms - air_ms).max(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_divided_evenly() {
        let question = FramesQuestion {
            message: 1000,
            frame_bytes: alloc::vec![1470, 200, 240, 1000, 334, 500],
            distances: Vec::new(),
            mode: WifiMode::ESP_NOW,
        };
        assert_eq!(question.divisions(), [(1, 1000), (2, 500), (3, 334), (5, 200)]);
        assert_eq!(longest_frame(IdfRelease::new(5, 3)), 250);
        assert_eq!(longest_frame(IdfRelease::new(5, 4)), 1470);
    }
}
