//! The states of a device, and the time spent in each.

use super::currents::Modulation;

/// The state of the radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModemState {
    /// Off: the station dozes, or Wi-Fi is stopped.
    Off,
    /// Waiting for a frame.
    Listen,
    /// Receiving a frame.
    Receive,
    /// Sending a frame.
    Send(Modulation),
}

impl ModemState {
    /// All states.
    pub const ALL: [Self; 6] = [
        Self::Off,
        Self::Listen,
        Self::Receive,
        Self::Send(Modulation::Dsss),
        Self::Send(Modulation::Ofdm),
        Self::Send(Modulation::Ht),
    ];

    const fn index(self) -> usize {
        match self {
            Self::Off => 0,
            Self::Listen => 1,
            Self::Receive => 2,
            Self::Send(it) => 3 + it as usize,
        }
    }
}

/// The state of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CpuState {
    /// Waiting for an interrupt.
    Idle,
    /// Computing.
    Busy,
}

/// The state of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PowerState {
    /// The clocks run.
    Awake(ModemState, CpuState),
    /// The radio is off, and the clocks are stopped.
    LightSleep,
    /// Only the RTC runs.
    DeepSleep,
}

impl PowerState {
    /// The number of states.
    pub const COUNT: usize = 2 * ModemState::ALL.len() + 2;

    /// Returns all states, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Self> {
        let awake = ModemState::ALL.into_iter().flat_map(|modem| {
            [Self::Awake(modem, CpuState::Idle), Self::Awake(modem, CpuState::Busy)]
        });
        awake.chain([Self::LightSleep, Self::DeepSleep])
    }

    /// Returns the number of the state, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Awake(modem, CpuState::Idle) => 2 * modem.index(),
            Self::Awake(modem, CpuState::Busy) => 2 * modem.index() + 1,
            Self::LightSleep => Self::COUNT - 2,
            Self::DeepSleep => Self::COUNT - 1,
        }
    }

    /// Returns the name of the state in facts and tables, such as `send-11n-busy`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        const NAMES: [&str; PowerState::COUNT] = [
            "modem-sleep",
            "modem-sleep-busy",
            "listen",
            "listen-busy",
            "receive",
            "receive-busy",
            "send-11b",
            "send-11b-busy",
            "send-11g",
            "send-11g-busy",
            "send-11n",
            "send-11n-busy",
            "light-sleep",
            "deep-sleep",
        ];
        NAMES[self.index()]
    }
}

/// The time in each state, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateTimes {
    ns: [u64; PowerState::COUNT],
}

impl StateTimes {
    /// No time in any state.
    pub const NONE: Self = Self { ns: [0; PowerState::COUNT] };

    /// Returns the time in a state, in nanoseconds.
    #[must_use]
    pub const fn ns(&self, state: PowerState) -> u64 {
        self.ns[state.index()]
    }

    /// Returns the time in all states, in nanoseconds.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        self.ns.iter().sum()
    }

    /// Adds time to a state.
    pub const fn add(&mut self, state: PowerState, ns: u64) {
        self.ns[state.index()] += ns;
    }

    /// Adds the times of another stretch.
    pub fn add_all(&mut self, more: &Self) {
        for (ns, more) in self.ns.iter_mut().zip(more.ns) {
            *ns += more;
        }
    }

    /// Returns the times since an earlier reading of the same meter.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut part = *self;
        for (ns, before) in part.ns.iter_mut().zip(earlier.ns) {
            *ns = ns.saturating_sub(before);
        }
        part
    }
}
