//! Rooms of a lab, made and simulated for one setting after the other.

use super::doubts;
use super::error::PredictError;
use super::firmware::NodeFirmware;
use super::frames::FramesCase;
use super::reach::{put_walls, walls_db};
use super::setup::PredictSetup;
use crate::TOOL;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use core::time::Duration;
use espbench_dot11::radio::airtime::airtime_on;
use espbench_dot11::radio::response::BasicRates;
use espbench_dot11::radio::timing::SIFS_NS;
use espbench_dot11::radio::{Channel, WifiMode, airtime};
use espbench_measure::cell::Origin;
use espbench_measure::kind::esp_now::mode;
use espbench_measure::predict::doubt::ChargeDoubts;
use espbench_measure::predict::frames::MessageTrial;
use espbench_measure::predict::point::OperatingPoint;
use espbench_measure::predict::{
    PointEstimates, PredictAnswer, PredictQuestion, RoomTrial, SettingsDue,
};
use espbench_measure::run::{RunFacts, Site};
use espbench_measure::search::fleet::FleetBound;
use espbench_model::sdkconfig::Chip;
use espbench_model::workload::EspNowCast;
use espbench_sim::lab::file::{LEAST_WITH_WIFI_MHZ, Library, Overrides, scales_to};
use espbench_sim::lab::predict::sleep::SleepMode;
use espbench_sim::lab::predict::{self, Arrival, Load};
use espbench_sim::lab::profile::Profile;
use espbench_sim::lab::scene::Scene;
use espbench_sim::power::Modulation;

/// Part of the channel's time that a fleet may use before more or less of it tells apart.
const LITTLE_USE: f64 = 0.002;

/// Time between the messages of one device after which it has ended with the first: an exchange takes
/// milliseconds.
const SELDOM: Duration = Duration::from_secs(1);

/// Interval of such messages with the component's acknowledgement, for which it waits for up to 3 s.
const SELDOM_ACK: Duration = Duration::from_secs(8);

/// Seconds from the start of the devices until they are at rest, about.
const START_S: f64 = 9.0;

/// Octets of an acknowledgement of the MAC.
const ACK_OCTETS: u32 = 14;

/// One setting: so many devices, sending so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoomCase {
    /// Devices that send.
    pub devices: u32,
    /// PHY rate.
    pub mode: WifiMode,
    /// Messages of each.
    pub load: Load,
    /// Settings of their sdkconfig.
    pub firmware: NodeFirmware,
}

/// Simulates the rooms that an answer takes.
pub trait RoomRunner {
    /// Takes note of the cases that will be asked for, in so many rooms each.
    fn begin(&mut self, predictor: &Predictor, cases: &[RoomCase], rooms: u32) {
        let _ = (predictor, cases, rooms);
    }

    /// Takes note that a search begins that takes about so much, in the unit of
    /// [`Predictor::weight`]; `sample` is a case of which rooms may be simulated to tell the pace.
    ///
    /// # Errors
    /// Those of a room.
    fn begin_search(
        &mut self,
        predictor: &Predictor,
        sample: &RoomCase,
        search: &SearchPlan,
    ) -> Result<(), PredictError> {
        let _ = (predictor, sample, search);
        Ok(())
    }

    /// Takes note that so much is left, in the unit of [`Predictor::weight`].
    fn expect(&mut self, left: Duration) {
        let _ = left;
    }

    /// Simulates rooms of these cases ([`Predictor::trial`]), and returns the trials of each case in
    /// the order of the rooms: fewer where it was stopped. `label` names a case for people.
    ///
    /// # Errors
    /// That of the first room that has one.
    fn trials(
        &mut self,
        predictor: &Predictor,
        cases: &[RoomCase],
        rooms: Range<u32>,
        label: &dyn Fn(&RoomCase) -> String,
    ) -> Result<Vec<Vec<RoomTrial>>, PredictError>;

    /// Simulates rooms of messages in frames, as [`RoomRunner::trials`] does.
    ///
    /// # Errors
    /// That of the first room that has one.
    fn message_trials(
        &mut self,
        predictor: &Predictor,
        cases: &[FramesCase],
        rooms: Range<u32>,
        _: &dyn Fn(&FramesCase) -> String,
    ) -> Result<Vec<Vec<MessageTrial>>, PredictError> {
        let of = |case| rooms.clone().map(|room| predictor.message_trial(case, room)).collect();
        cases.iter().map(of).collect()
    }

    /// Returns whether somebody wants to stop, or time is over.
    fn cancelled(&self) -> bool {
        false
    }

    /// Returns whether time is over.
    fn is_late(&self) -> bool {
        false
    }
}

/// Plan of a search for the largest fleet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchPlan {
    /// Bound above which nothing is tried.
    pub bound: FleetBound,
    /// Work of the whole search, about, in the unit of [`Predictor::weight`].
    pub expected: Duration,
    /// Longest time that it may take.
    pub time_limit: Duration,
}

/// Simulates one room after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneByOne;

impl RoomRunner for OneByOne {
    fn trials(
        &mut self,
        predictor: &Predictor,
        cases: &[RoomCase],
        rooms: Range<u32>,
        _: &dyn Fn(&RoomCase) -> String,
    ) -> Result<Vec<Vec<RoomTrial>>, PredictError> {
        let of = |case| rooms.clone().map(|room| predictor.trial(case, room)).collect();
        cases.iter().map(of).collect()
    }
}

/// A lab, and what is asked of it.
#[derive(Debug)]
pub struct Predictor {
    pub(super) setup: PredictSetup,
    pub(super) library: Library,
    /// One of its rooms, for what all have in common.
    pub(super) scene: Scene,
    chip: String,
    profile: String,
}

impl Predictor {
    /// Reads the lab of that library.
    ///
    /// # Errors
    /// The mistake in the lab; a message that is too long for its firmware.
    pub fn new(mut setup: PredictSetup, library: Library) -> Result<Self, PredictError> {
        // What the lab's file says holds where nobody says otherwise.
        let file = library.scene(&setup.lab, &Overrides::default(), setup.seed)?;
        let does_lab = file.nodes.iter().any(|it| it.settings.encrypt.enabled);
        setup.encrypted |= setup.encrypts_as_lab && does_lab;
        // As many devices as the lab has: what is asked may be fewer than stand in it for sure.
        let usual =
            Overrides { channel: None, devices: None, ..change(&setup, &setup.firmware, 1) };
        let mut scene = library.scene(&setup.lab, &usual, setup.seed)?;
        if let (Some(channel), Some(first)) = (setup.channel, scene.nodes.first()) {
            let chip = first.profile.chip;
            if channel > 14 && !chip.has_5_ghz() {
                return Err(PredictError::NoBand { chip, channel });
            }
            let there = Overrides { channel: setup.channel, ..usual };
            scene = library.scene(&setup.lab, &there, setup.seed)?;
        }
        limit_power(&mut scene, &setup.firmware);
        // The place's own is said, too.
        if setup.walls > 0 {
            setup.wall_db = setup.wall_db.or(Some(scene.environment.one_wall_db()));
        }
        put_walls(&mut scene, &setup);
        let first = scene.nodes.first().ok_or(PredictError::NoDevices)?;
        let most = predict::payload_max(&scene);
        if setup.payload > most {
            let PredictSetup { payload, lab, encrypted, .. } = setup;
            return Err(PredictError::TooLong { payload, most, lab, encrypted });
        }
        let (chip, profile) = (first.profile.chip_name.clone(), first.profile.name.clone());
        Ok(Self { setup, library, scene, chip, profile })
    }

    /// Returns the chip of its devices, where it has an sdkconfig.
    #[must_use]
    pub fn chip(&self) -> Option<Chip> {
        self.chip.parse().ok()
    }

    /// Returns the name of the profile of its devices.
    #[must_use]
    pub fn profile_name(&self) -> &str {
        &self.profile
    }

    /// Returns the profile of its devices, as their firmware has it.
    pub(super) fn profile(&self) -> Option<&Profile> {
        self.scene.nodes.first().map(|it| &*it.profile)
    }

    /// Returns whether the chips of all its devices can have that clock.
    pub(super) fn all_run_at(&self, clock_mhz: u32) -> bool {
        let runs = |chip: Chip| chip.clocks_mhz().contains(&clock_mhz);
        self.scene.nodes.iter().all(|it| it.profile.chip_name.parse().is_ok_and(runs))
    }

    /// Returns whether the clocks of all its devices fall while nothing runs, if their firmware asks for that.
    pub(super) fn all_scale(&self, firmware: &NodeFirmware) -> bool {
        let scales = |it: &Profile| {
            let clock = firmware.clock_mhz.unwrap_or(it.processor.clock_mhz);
            scales_to(it.chip, clock, LEAST_WITH_WIFI_MHZ).is_ok()
        };
        self.scene.nodes.iter().all(|it| scales(&it.profile))
    }

    /// Returns what all settings share.
    #[must_use]
    pub const fn setup(&self) -> &PredictSetup {
        &self.setup
    }

    /// Returns a case with the common load.
    #[must_use]
    pub fn case(&self, devices: u32, mode: WifiMode) -> RoomCase {
        let (load, firmware) = (self.setup.load(devices), self.setup.firmware);
        RoomCase { devices, mode, load, firmware }
    }

    /// Returns a case of a search, of which many rooms are simulated. Devices that are always awake
    /// and use less of the channel than [`LITTLE_USE`] send as often as makes it that, and no more often
    /// than once in [`SELDOM`]: what holds then holds where they send less.
    #[must_use]
    pub(super) fn search_case(&self, devices: u32, mode: WifiMode) -> RoomCase {
        let setup = &self.setup;
        let case = self.case(devices, mode);
        if setup.sleep.is_some() {
            return case;
        }
        let seldom = if case.load.ack() { SELDOM_ACK } else { SELDOM };
        let little = self.exchange(mode).mul_f64(f64::from(devices) / LITTLE_USE).max(seldom);
        let every = setup.every.min(little);
        let span = setup.effort.glimpse(devices, every);
        RoomCase {
            load: Load { every, warm_up: span.warm_up, time: span.time, ..case.load },
            ..case
        }
    }

    /// Returns the air time that a message takes at least, with the acknowledgement of the MAC.
    #[must_use]
    pub(super) fn exchange(&self, mode: WifiMode) -> Duration {
        let load = self.setup.load(1);
        let frame = airtime(mode, load.octets(&self.scene));
        let response = BasicRates::NONE.response_to(mode);
        let ack = match load.cast {
            EspNowCast::Unicast => SIFS_NS + airtime(response, ACK_OCTETS),
            EspNowCast::Broadcast { .. } => 0,
        };
        Duration::from_nanos(frame + ack)
    }

    /// Returns how long a room of a case takes on one core of a machine of 2024, about, in a release
    /// build: messages times hearers, and other people's frames times hearers.
    #[must_use]
    pub fn weight(&self, case: &RoomCase) -> Duration {
        let load = &case.load;
        let devices = f64::from(case.devices);
        let hearers = 4.0 + devices;
        let watched = (load.warm_up + load.time).as_secs_f64();
        // One that always sends has sent a frame in some 2 ms.
        let every = if load.arrival == Arrival::Always { 2e-3 } else { load.every.as_secs_f64() };
        let messages = devices * (watched / every.max(1e-4)).max(1.0);
        let is_alone = self.scene.background.is_empty() && self.scene.routers.is_empty();
        // Others are left out where all sleep: until a second before each message at the most.
        let heard = if load.sleep.is_some() { watched.min(messages) } else { watched + START_S };
        let others = if is_alone || self.setup.bare { 0.0 } else { heard };
        let ns = messages * (3000.0 + 50.0 * hearers)
            + devices * 100.0 * hearers
            + others * (550_000.0 + 3800.0 * hearers);
        Duration::from_nanos(ns as u64)
    }

    /// Returns the room of a case.
    pub(super) fn scene(&self, case: &RoomCase, seed: u64) -> Result<Scene, PredictError> {
        let change = change(&self.setup, &case.firmware, case.devices);
        let mut scene = self.library.scene(&self.setup.lab, &change, seed)?;
        limit_power(&mut scene, &case.firmware);
        put_walls(&mut scene, &self.setup);
        scene.nodes.iter_mut().for_each(|device| device.mode = case.mode);
        Ok(scene)
    }

    /// Returns the point of a case.
    pub(super) fn point(&self, case: &RoomCase, trials: &[RoomTrial]) -> PointEstimates {
        self.estimates(self.setting(case), case, trials)
    }

    /// Returns the estimates of a setting, with what is not known of the constants behind its charge.
    pub(super) fn estimates(
        &self,
        setting: OperatingPoint,
        case: &RoomCase,
        trials: &[RoomTrial],
    ) -> PointEstimates {
        let mut point = PointEstimates::of(setting, trials);
        if let (Some(energy), Some(plan)) = (&mut point.energy, case.load.sleep) {
            let others = !self.setup.bare && !self.scene.background.is_empty();
            energy.doubts = self
                .profile()
                .map_or_else(ChargeDoubts::default, |it| doubts::of(it, plan.mode, others));
        }
        point
    }

    /// Describes a case for the report.
    pub(super) fn setting(&self, case: &RoomCase) -> OperatingPoint {
        let octets = case.load.octets(&self.scene);
        OperatingPoint {
            devices: case.devices,
            rate: case.mode.to_string(),
            family: case.mode.family().into(),
            kbit_s: case.mode.kbit_s(),
            acknowledged: case.load.ack(),
            air_us: airtime_on(case.mode, octets, self.channel()) as f64 / 1000.0,
            is_inferred: matches!(case.mode, WifiMode::Lr(_)),
            ..OperatingPoint::default()
        }
    }

    /// Returns whether the radio of the devices sends a mode.
    #[must_use]
    pub fn sends(&self, mode: WifiMode) -> bool {
        self.profile().is_some_and(|it| it.chip.sends(mode)) && self.band_has(mode)
    }

    /// Returns the name of their chip.
    #[must_use]
    pub fn chip_name(&self) -> &str {
        &self.chip
    }

    /// Returns the channel of the devices.
    pub(super) fn channel(&self) -> u8 {
        self.scene.nodes.first().map_or(1, |it| it.channel)
    }

    /// Returns whether the band of the devices' channel has a mode.
    #[must_use]
    pub fn band_has(&self, mode: WifiMode) -> bool {
        Channel::of(self.channel()).is_none_or(|it| it.has(mode))
    }

    /// Returns the mode in which the devices send by default.
    #[must_use]
    pub fn usual_mode(&self) -> WifiMode {
        WifiMode::esp_now_on(self.channel())
    }

    /// Returns the mode that the lab's file gives to the devices that send; that of [`usual_mode`](Self::usual_mode) where
    /// their channel does not have it.
    ///
    /// # Errors
    /// They have several modes, and a prediction is of one.
    pub fn own_mode(&self) -> Result<WifiMode, PredictError> {
        let mut modes: Vec<WifiMode> = Vec::new();
        for device in self.scene.nodes.iter().skip(1) {
            if !modes.contains(&device.mode) {
                modes.push(device.mode);
            }
        }
        match modes[..] {
            [mode] if self.band_has(mode) => Ok(mode),
            [] | [_] => Ok(self.usual_mode()),
            _ => Err(PredictError::SeveralModes { lab: self.setup.lab.clone(), modes }),
        }
    }

    /// Returns whether the lab can be of one device beside the listener.
    pub(super) fn has_room_of_one(&self) -> bool {
        let alone = change(&self.setup, &self.setup.firmware, 1);
        self.library.scene(&self.setup.lab, &alone, self.setup.seed).is_ok()
    }

    /// Returns the number of devices that the lab's file has beside the listener; one at least.
    #[must_use]
    pub fn own_devices(&self) -> u32 {
        (self.scene.nodes.len() as u32).saturating_sub(1).max(1)
    }

    /// Returns the current of a device while it sends in a mode, in milliamperes.
    pub(super) fn send_ma(&self, mode: WifiMode) -> Option<f64> {
        let profile = self.profile()?;
        let power_dbm = profile.tx_power_dbm.min(profile.chip.power_on_dbm(mode, self.channel()));
        let na = profile.currents.transmit_na(Modulation::of(mode), power_dbm);
        (na > 0).then(|| f64::from(na) / 1e6)
    }

    /// Returns how far the farthest device is, and to where the model of the place holds, where that is nearer.
    fn beyond_m(&self) -> Option<[f64; 2]> {
        let farthest = self.setup.distance_m.map_or_else(|| self.scene.reach_m().1, |it| it.1);
        (farthest > self.valid_m()).then(|| [farthest, self.valid_m()])
    }

    /// Returns the largest current of a device while it sends, in milliamperes.
    pub(super) fn peak_ma(&self) -> Option<f64> {
        self.profile()?.peak_ma()
    }

    /// Returns an answer without points to a question about so many devices at these rates.
    pub(super) fn answer(
        &self,
        question: PredictQuestion,
        devices: &str,
        rates: &str,
    ) -> PredictAnswer {
        let mut shared = self.setup.shared();
        match question {
            PredictQuestion::Range(_) => shared = format!("{}, {rates}", self.setup.message()),
            PredictQuestion::Rate | PredictQuestion::OnAir(_) => {
                shared = format!("{devices}, {shared}");
            }
            _ => shared.push_str(&format!(", {rates}")),
        }
        PredictAnswer {
            question,
            title: match question {
                PredictQuestion::Range(_) => self.setup.range_title(rates),
                PredictQuestion::Profiles => self.setup.title(devices, rates),
                // A battery lasts as long as this chip lets it.
                _ => match self.profile().filter(|_| self.setup.sleep.is_some()) {
                    Some(it) => format!("{}, {}", self.setup.title(devices, rates), it.chip_name),
                    None => self.setup.title(devices, rates),
                },
            },
            limits: self.setup.limits,
            battery: self.setup.battery.clone(),
            peak_ma: self.setup.sleep.and_then(|_| self.peak_ma()),
            beyond_m: match question {
                // A range says it of each rate.
                PredictQuestion::Range(_) => None,
                _ => self.beyond_m(),
            },
            shared,
            settings: self.setup.settings(),
            payload_bytes: self.setup.payload,
            points: Vec::new(),
            changes: Vec::new(),
            notes: self.notes(),
            remarks: Vec::new(),
            due: SettingsDue::default(),
            stopped: false,
        }
    }

    /// Returns remarks on the lab that matter for reading the figures.
    pub(super) fn notes(&self) -> Vec<String> {
        let scene = &self.scene;
        let place = &scene.environment;
        let mut text = format!(
            "Lab {} ({}): profile {}, environment {} (path loss exponent {}, shadowing {} dB",
            scene.name, scene.title, self.profile, place.name, place.exponent, place.shadow_db,
        );
        if let Some(fast) = place.fast_fading() {
            text.push_str(&format!(", fast fading m = {}", fast.nakagami_m));
        }
        if let Some(slow) = place.slow_fading() {
            text.push_str(&format!(", slow fading {} dB", slow.deviation_db));
        }
        if self.setup.walls > 0 {
            let db = walls_db(scene, &self.setup);
            text.push_str(&format!("{}: {db:.1} dB together", self.setup.walls_text()));
        }
        let others = scene.background.len() + scene.routers.len();
        text.push_str(&if self.setup.bare {
            "); radios alone: processors take no time, nobody else is on the air.".to_string()
        } else {
            format!(", {others} stations of other people).")
        });
        let mut notes = alloc::vec![text];
        let boots = self.setup.sleep.is_some_and(|it| it.mode == SleepMode::Deep);
        if boots && self.setup.firmware.clock_mhz.is_some() {
            notes.push("Times of wake and boot are the profile's at any clock.".into());
        }
        notes
    }

    /// Returns the facts of a prediction's report: `name` is that of the question.
    #[must_use]
    pub fn facts(&self, name: &str) -> RunFacts {
        let setup = &self.setup;
        RunFacts {
            name: format!("predict {name}"),
            tool: TOOL.into(),
            target: format!("sim:{}", setup.lab),
            origin: Origin::Simulated,
            seed: setup.seed,
            site: Site {
                chip: self.chip.clone(),
                mode: mode(setup.cast),
                distance_m: setup.distance_m.filter(|it| it.0 == it.1).map(|it| it.0),
                security: Some(if setup.encrypted { "app-data" } else { "off" }.into()),
                environment: Some(self.scene.environment.name.clone()),
            },
            host: self.settings(),
            ..RunFacts::default()
        }
    }

    /// Returns the facts that several profiles share: each row has its own chip and profile.
    #[must_use]
    pub fn facts_of_profiles(&self, name: &str) -> RunFacts {
        let facts = self.facts(name);
        let site = Site { chip: String::new(), ..facts.site };
        RunFacts { site, host: self.shared_settings(), ..facts }
    }

    /// Returns the settings of the prediction, for the report.
    fn settings(&self) -> BTreeMap<String, String> {
        let own = [
            ("profile", self.profile.clone()),
            (
                "sdkconfig",
                self.chip().map_or_else(Vec::new, |it| self.setup.firmware.lines(it)).join(", "),
            ),
        ];
        let own = own.into_iter().filter(|(_, value)| !value.is_empty());
        let mut settings = self.shared_settings();
        settings.extend(own.map(|(name, value)| (name.to_string(), value)));
        settings
    }

    /// Returns the settings that do not depend on the profile.
    fn shared_settings(&self) -> BTreeMap<String, String> {
        let (rooms, messages) = (self.setup.effort.rooms, self.setup.effort.messages);
        [
            ("lab", self.setup.lab.clone()),
            ("message", self.setup.shared()),
            ("application's queue", format!("{} messages", self.setup.queue)),
            ("effort", format!("{rooms} rooms and {messages} messages a figure")),
        ]
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_string(), value))
        .collect()
    }
}

/// Lets no device send with more power than its firmware allows.
pub(super) fn limit_power(scene: &mut Scene, firmware: &NodeFirmware) {
    let Some(most) = firmware.tx_power_dbm.map(f64::from) else { return };
    for device in &mut scene.nodes {
        device.power_dbm = device.power_dbm.map(|it| it.min(most));
        let profile = Arc::make_mut(&mut device.profile);
        profile.tx_power_dbm = profile.tx_power_dbm.min(most);
    }
}

pub(super) fn change(setup: &PredictSetup, firmware: &NodeFirmware, devices: u32) -> Overrides {
    Overrides {
        clock_mhz: firmware.clock_mhz,
        idle_clock_mhz: firmware.idle_clock_mhz(),
        sdkconfig: firmware.options,
        devices: Some(u16::try_from(devices).unwrap_or(u16::MAX)),
        distance_m: setup.distance_m,
        encrypted: Some(setup.encrypted),
        profile: setup.profile.clone(),
        channel: setup.channel,
        ..Overrides::default()
    }
}
