//! A device that sleeps between its messages: the steps of its firmware, and the time of its parts.

use super::sleep::{SleepMode, SleepPlan};
use crate::lab::profile::{Profile, WakeTimes};
use crate::power::{CpuState, CurrentDraw, ModemState, PowerState, StateTimes};
use alloc::sync::Arc;
use core::time::Duration;
use espbench_dot11::radio::WifiMode;
use espbench_model::energy::EnergyPart;
use espbench_model::time::Instant;

pub(super) const PARTS: usize = EnergyPart::ALL.len();

/// Time of a device by part and state.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartMeter {
    pub(super) part: EnergyPart,
    pub(super) state: PowerState,
    pub(super) since: Instant,
    pub(super) times: [StateTimes; PARTS],
}

impl PartMeter {
    pub(super) fn set(&mut self, now: Instant, part: EnergyPart, state: PowerState) {
        self.times = self.read(now);
        (self.part, self.state, self.since) = (part, state, now.max(self.since));
    }

    pub(super) fn read(&self, now: Instant) -> [StateTimes; PARTS] {
        let mut times = self.times;
        let ns = now.as_nanos().saturating_sub(self.since.as_nanos());
        times[self.part as usize].add(self.state, ns);
        times
    }
}

/// Step of a device's firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Asleep,
    Wake,
    Boot,
    /// `esp_wifi_init`: the radio is off.
    Init,
    /// `esp_wifi_start`: calibration, the radio is on.
    Start,
    /// `esp_now_send` composes the frame.
    Compose,
    /// The driver takes it from its queue.
    Queue,
    /// On the air.
    Air,
    /// The callback is on its way.
    Told(bool),
    /// The component waits for the listener's acknowledgement.
    Await,
    /// The last wait for an answer.
    LastWait,
    /// Wi-Fi stops.
    Stop,
}

impl Step {
    /// Returns whether the radio is on, or will be right away.
    pub(super) const fn listens(self) -> bool {
        !matches!(self, Self::Asleep | Self::Wake | Self::Boot | Self::Stop)
    }
}

/// Returns the time that sealing a message takes.
pub(super) fn sealing(profile: &Profile, bytes: u32) -> Duration {
    profile.seal.of(bytes) + Duration::from_nanos(profile.cold_ns)
}

/// Returns the time from a wake until Wi-Fi starts.
pub(super) fn lead(plan: &SleepPlan, wake: &WakeTimes) -> Duration {
    let validation = if plan.validates { wake.validate } else { Duration::ZERO };
    match plan.mode {
        SleepMode::Deep => wake.rom + validation + wake.application,
        _ => Duration::ZERO,
    }
}

pub(super) struct Sensor {
    pub(super) profile: Arc<Profile>,
    pub(super) mode: WifiMode,
    pub(super) draw: CurrentDraw,
    pub(super) meter: PartMeter,
    pub(super) step: Step,
    pub(super) number: Option<u32>,
    pub(super) attempt: u8,
    pub(super) copies: u16,
    /// The listener's acknowledgement of the message has come.
    pub(super) is_acked: bool,
    /// Time at which its radio will be on, while it boots.
    pub(super) radio_at: Instant,
    /// End of the step, where it has one: a wait may end before.
    pub(super) step_ends: Instant,
}

impl Sensor {
    pub(super) fn new(device: &crate::lab::scene::Device, mode: SleepMode) -> Self {
        let profile = device.profile.clone();
        let draw = device.draw();
        let meter = PartMeter {
            part: EnergyPart::Sleep,
            state: between(mode),
            since: Instant::ZERO,
            times: [StateTimes::NONE; PARTS],
        };
        let (mode, step) = (device.mode, Step::Asleep);
        Self {
            profile,
            mode,
            draw,
            meter,
            step,
            number: None,
            attempt: 0,
            copies: 0,
            is_acked: false,
            radio_at: Instant::ZERO,
            step_ends: Instant::ZERO,
        }
    }

    /// Returns the part that sending belongs to now.
    pub(super) const fn sending(&self) -> EnergyPart {
        if self.attempt > 1 { EnergyPart::Retries } else { EnergyPart::Send }
    }
}

/// Returns the state between two messages.
pub(super) const fn between(mode: SleepMode) -> PowerState {
    match mode {
        SleepMode::None => PowerState::Awake(ModemState::Listen, CpuState::Idle),
        SleepMode::Modem => PowerState::Awake(ModemState::Off, CpuState::Idle),
        SleepMode::Light => PowerState::LightSleep,
        SleepMode::Deep => PowerState::DeepSleep,
    }
}
