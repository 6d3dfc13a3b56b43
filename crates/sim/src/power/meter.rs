//! Time by state, from changes of state.

use super::times::{CpuState, ModemState, PowerState, StateTimes};
use espbench_model::time::Instant;

/// Automatic light sleep (ESP-IDF: `esp_pm_configure` with `light_sleep_enable`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoLightSleep {
    /// The shortest idle stretch with the radio off that is spent in it: FreeRTOS sleeps where it
    /// expects `CONFIG_FREERTOS_IDLE_TIME_BEFORE_SLEEP` ticks without work.
    pub least_ns: u64,
    /// The time for which the processor works at each wake-up, with falling asleep.
    pub wake_ns: u64,
    /// The period of timers that wake it and find little to do; 0: there are none.
    pub timer_ns: u64,
}

impl AutoLightSleep {
    /// Returns the time for which the processor is awake in an idle stretch: at its end, and at each
    /// timer in it. `None` where the stretch is too short for light sleep.
    fn awake_ns(self, begin_ns: u64, ns: u64) -> Option<u64> {
        if ns < self.least_ns {
            return None;
        }
        let before = |at: u64| at.checked_div(self.timer_ns).unwrap_or(0);
        let timers = before(begin_ns + ns) - before(begin_ns);
        Some(self.wake_ns.saturating_mul(1 + timers).min(ns))
    }
}

/// A meter of the time that a device spends in each state. A change of state costs a few additions.
#[derive(Clone, Copy, Debug)]
pub struct StateMeter {
    modem: ModemState,
    cpu: CpuState,
    deep: bool,
    light: Option<AutoLightSleep>,
    since_ns: u64,
    times: StateTimes,
}

impl StateMeter {
    /// Returns the meter of a device that begins with its radio off and its processor idle, with or
    /// without automatic light sleep.
    #[must_use]
    pub const fn new(now: Instant, light: Option<AutoLightSleep>) -> Self {
        Self {
            modem: ModemState::Off,
            cpu: CpuState::Idle,
            deep: false,
            light,
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

    /// Notes that the radio has been off since a time in the current stretch, and that the processor
    /// did then what it does now: it sleeps meanwhile, if it may.
    pub fn stopped(&mut self, now: Instant, off: Instant) {
        self.close(off);
        self.modem = ModemState::Off;
        let ns = now.as_nanos().saturating_sub(self.since_ns);
        let state = match (self.cpu, self.light) {
            (CpuState::Idle, Some(_)) => PowerState::LightSleep,
            (cpu, _) => PowerState::Awake(ModemState::Off, cpu),
        };
        self.times.add(state, ns);
        self.since_ns += ns;
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
            let asleep = self.state(ns);
            if let (PowerState::LightSleep, Some(awake)) = (asleep, self.awake_ns(ns)) {
                let busy = PowerState::Awake(ModemState::Off, CpuState::Busy);
                self.times.add(busy, awake);
                self.times.add(asleep, ns - awake);
            } else {
                self.times.add(asleep, ns);
            }
            self.since_ns = now;
        }
    }

    /// Returns the time for which the processor works in the current stretch of light sleep, if it
    /// is one once it is so long.
    fn awake_ns(&self, ns: u64) -> Option<u64> {
        self.light?.awake_ns(self.since_ns, ns)
    }

    /// Returns the state of a stretch of that length.
    fn state(&self, ns: u64) -> PowerState {
        match (self.deep, self.modem, self.cpu) {
            (true, ..) => PowerState::DeepSleep,
            (false, ModemState::Off, CpuState::Idle) if self.awake_ns(ns).is_some() => {
                PowerState::LightSleep
            }
            (false, modem, cpu) => PowerState::Awake(modem, cpu),
        }
    }
}
