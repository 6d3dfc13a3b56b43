//! In which states a device spent its time.

use super::currents::Modulation;

/// What the radio does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modem {
    /// It is off: the station dozes, or Wi-Fi is stopped.
    Off,
    /// It waits for a frame.
    Listen,
    /// It reads a frame.
    Receive,
    /// It sends one.
    Send(Modulation),
}

impl Modem {
    /// All of them.
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

/// What the processor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cpu {
    /// It waits for an interrupt.
    Idle,
    /// It computes.
    Busy,
}

/// What a device does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Its clocks run.
    Awake(Modem, Cpu),
    /// The radio is off, and the clocks are stopped.
    LightSleep,
    /// Only the RTC runs.
    DeepSleep,
}

impl State {
    /// How many there are.
    pub const COUNT: usize = 2 * Modem::ALL.len() + 2;

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        let awake = Modem::ALL
            .into_iter()
            .flat_map(|modem| [Self::Awake(modem, Cpu::Idle), Self::Awake(modem, Cpu::Busy)]);
        awake.chain([Self::LightSleep, Self::DeepSleep])
    }

    /// Its number, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Awake(modem, Cpu::Idle) => 2 * modem.index(),
            Self::Awake(modem, Cpu::Busy) => 2 * modem.index() + 1,
            Self::LightSleep => Self::COUNT - 2,
            Self::DeepSleep => Self::COUNT - 1,
        }
    }

    /// Its name in facts and tables: `send-11n-busy`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        const NAMES: [&str; State::COUNT] = [
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

/// Nanoseconds in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    ns: [u64; State::COUNT],
}

impl Times {
    /// None at all.
    pub const NONE: Self = Self { ns: [0; State::COUNT] };

    /// Those in one state.
    #[must_use]
    pub const fn ns(&self, state: State) -> u64 {
        self.ns[state.index()]
    }

    /// Those in all states.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        self.ns.iter().sum()
    }

    /// So many more in one.
    pub const fn add(&mut self, state: State, ns: u64) {
        self.ns[state.index()] += ns;
    }

    /// Those of another stretch on top.
    pub fn add_all(&mut self, more: &Self) {
        for (ns, more) in self.ns.iter_mut().zip(more.ns) {
            *ns += more;
        }
    }

    /// What was added since an earlier reading of the same meter.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut part = *self;
        for (ns, before) in part.ns.iter_mut().zip(earlier.ns) {
            *ns = ns.saturating_sub(before);
        }
        part
    }
}
