//! Time by state, from changes of state.

use super::times::{Cpu, Modem, State, Times};
use espbench_proto::time::Instant;

/// Adds up in which states a device spends its time. It costs a few additions for each change.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    modem: Modem,
    cpu: Cpu,
    deep: bool,
    /// Idle stretches with the radio off that are at least so long are light sleep.
    light_ns: Option<u64>,
    since_ns: u64,
    times: Times,
}

impl Meter {
    /// Of a device that begins with its radio off and its processor idle. With `light_ns`, automatic
    /// light sleep is on: a stretch with nothing to do that is at least so long is spent in it.
    /// FreeRTOS sleeps where it expects `CONFIG_FREERTOS_IDLE_TIME_BEFORE_SLEEP` ticks without work.
    #[must_use]
    pub const fn new(now: Instant, light_ns: Option<u64>) -> Self {
        Self {
            modem: Modem::Off,
            cpu: Cpu::Idle,
            deep: false,
            light_ns,
            since_ns: now.as_nanos(),
            times: Times::NONE,
        }
    }

    /// The same with a radio that begins with this.
    #[must_use]
    pub const fn doing(mut self, modem: Modem) -> Self {
        self.modem = modem;
        self
    }

    /// The radio does this from now on.
    pub fn modem(&mut self, now: Instant, modem: Modem) {
        if self.modem != modem {
            self.close(now);
            self.modem = modem;
        }
    }

    /// The processor does this from now on.
    pub fn cpu(&mut self, now: Instant, cpu: Cpu) {
        if self.cpu != cpu {
            self.close(now);
            self.cpu = cpu;
        }
    }

    /// Deep sleep from now on, or no more. What radio and processor are said to do meanwhile holds
    /// from its end on.
    pub fn deep_sleep(&mut self, now: Instant, deep: bool) {
        if self.deep != deep {
            self.close(now);
            self.deep = deep;
        }
    }

    /// Time by state until now. It does not end a stretch: light sleep goes on.
    #[must_use]
    pub fn read(&self, now: Instant) -> Times {
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

    /// What a stretch of that length was.
    fn state(&self, ns: u64) -> State {
        match (self.deep, self.modem, self.cpu) {
            (true, ..) => State::DeepSleep,
            (false, Modem::Off, Cpu::Idle) if self.light_ns.is_some_and(|least| ns >= least) => {
                State::LightSleep
            }
            (false, modem, cpu) => State::Awake(modem, cpu),
        }
    }
}
