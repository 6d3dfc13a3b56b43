//! Time by state, from changes of state.

use super::times::{CpuState, ModemState, PowerState, StateTimes};
use espbench_model::time::Instant;

/// A meter of the time that a device spends in each state. A change of state costs a few additions.
#[derive(Clone, Copy, Debug)]
pub struct StateMeter {
    modem: ModemState,
    cpu: CpuState,
    deep: bool,
    /// The shortest idle stretch with the radio off that counts as light sleep.
    light_ns: Option<u64>,
    since_ns: u64,
    times: StateTimes,
}

impl StateMeter {
    /// Returns the meter of a device that begins with its radio off and its processor idle. With
    /// `light_ns`, automatic light sleep is on: an idle stretch of at least this length is spent in
    /// it. FreeRTOS sleeps when it expects `CONFIG_FREERTOS_IDLE_TIME_BEFORE_SLEEP` ticks without
    /// work.
    #[must_use]
    pub const fn new(now: Instant, light_ns: Option<u64>) -> Self {
        Self {
            modem: ModemState::Off,
            cpu: CpuState::Idle,
            deep: false,
            light_ns,
            since_ns: now.as_nanos(),
            times: StateTimes::NONE,
        }
    }

    /// Returns the meter with an initial state of the radio.
    #[must_use]
    pub const fn doing(mut self, modem: ModemState) -> Self {
        self.modem = modem;
        self
    }

    /// Sets the state of the radio from now on.
    pub fn modem(&mut self, now: Instant, modem: ModemState) {
        if self.modem != modem {
            self.close(now);
            self.modem = modem;
        }
    }

    /// Sets the state of the processor from now on.
    pub fn cpu(&mut self, now: Instant, cpu: CpuState) {
        if self.cpu != cpu {
            self.close(now);
            self.cpu = cpu;
        }
    }

    /// Begins or ends deep sleep. The states of radio and processor set meanwhile hold from its end
    /// on.
    pub fn deep_sleep(&mut self, now: Instant, deep: bool) {
        if self.deep != deep {
            self.close(now);
            self.deep = deep;
        }
    }

    /// Returns the time by state until now. The current stretch goes on, so that it may become
    /// light sleep.
    #[must_use]
    pub fn read(&self, now: Instant) -> StateTimes {
        let mut it = *self;
        it.close(now);
        it.times
    }

    fn close(&mut self, now: Instant) {
        let now = now.as_nanos();
        let ns = now.saturating_sub(self.since_ns);
        if ns > 0 {
            self.times.add(self.state(ns), ns);
            self.since_ns = now;
        }
    }

    /// Returns the state of a stretch of that length.
    fn state(&self, ns: u64) -> PowerState {
        match (self.deep, self.modem, self.cpu) {
            (true, ..) => PowerState::DeepSleep,
            (false, ModemState::Off, CpuState::Idle)
                if self.light_ns.is_some_and(|least| ns >= least) =>
            {
                PowerState::LightSleep
            }
            (false, modem, cpu) => PowerState::Awake(modem, cpu),
        }
    }
}
