//! Which candidates there are: values of the settings that shape links, of caches, flash and PSRAM, the
//! processor's clock, and how the radio sleeps.
//!
//! | module | what |
//! |---|---|
//! | `change` | how candidates differ: [`TunedSetting`] |

mod change;
#[cfg(test)]
mod tests;

pub use change::TunedSetting;

use super::want::Metric;
use crate::label;
use crate::settings::{self, Setting};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use espbench_model::random::Xoshiro256PlusPlus;
use espbench_model::sdkconfig::{
    Chip, ConfigOption, MemoryOptions, OptionValues, Rank, SdkConfig, SdkContext,
};

/// Power save mode of an associated station's radio: `esp_wifi_set_ps`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Power {
    /// `WIFI_PS_NONE`.
    #[default]
    Awake,
    /// `WIFI_PS_MIN_MODEM`: it wakes for every DTIM.
    MinModem,
    /// `WIFI_PS_MAX_MODEM`: it wakes every so many beacons.
    MaxModem(u16),
}

impl Power {
    /// Returns the call that sets it in code.
    #[must_use]
    pub const fn call(self) -> &'static str {
        match self {
            Self::Awake => "esp_wifi_set_ps(WIFI_PS_NONE)",
            Self::MinModem => "esp_wifi_set_ps(WIFI_PS_MIN_MODEM)",
            Self::MaxModem(3) => "esp_wifi_set_ps(WIFI_PS_MAX_MODEM), listen_interval 3",
            Self::MaxModem(_) => "esp_wifi_set_ps(WIFI_PS_MAX_MODEM), listen_interval 10",
        }
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Awake => f.write_str("awake"),
            Self::MinModem => f.write_str("min modem"),
            Self::MaxModem(interval) => write!(f, "max modem, {interval}"),
        }
    }
}

/// A firmware that can be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Limits of the firmware.
    pub config: SdkConfig,
    /// Clock of its processor in MHz.
    pub clock_mhz: u32,
    /// Power save mode of its radio.
    pub power: Power,
}

impl Candidate {
    /// Returns the value that a knob has in this firmware; of the power save mode its position in
    /// `powers`.
    fn value(&self, knob: Knob, chip: Chip, powers: &[Power]) -> u32 {
        let Self { config, clock_mhz, power } = self;
        match knob {
            Knob::StaticRx => config.static_rx.into(),
            Knob::DynamicRx => config.dynamic_rx.into(),
            Knob::Tx => config.tx.into(),
            Knob::RxBaWindow => config.rx_ba_window.into(),
            Knob::TxBaWindow => config.tx_ba_window.into(),
            Knob::Window => config.tcp_window,
            Knob::SendBuffer => config.tcp_send_buffer,
            Knob::UdpMailbox => config.udp_mailbox.into(),
            Knob::LwipIram => config.lwip_iram.into(),
            Knob::WifiIram => (config.wifi_iram && config.wifi_rx_iram).into(),
            Knob::Clock => *clock_mhz,
            Knob::Power => powers.iter().position(|it| it == power).unwrap_or(0) as u32,
            _ => knob.memory().map_or(0, |option| config.memory.value(option, chip)),
        }
    }
}

/// A setting that can be turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Knob {
    /// Static RX buffers.
    StaticRx,
    /// Dynamic RX buffers.
    DynamicRx,
    /// TX buffers.
    Tx,
    /// Block-ack window of reception.
    RxBaWindow,
    /// Block-ack window of sending.
    TxBaWindow,
    /// TCP's window of each stream, with the mailbox that Kconfig recommends for it.
    Window,
    /// TCP's send buffer of each stream.
    SendBuffer,
    /// UDP's mailbox.
    UdpMailbox,
    /// lwIP's code in RAM.
    LwipIram,
    /// The driver's code in RAM, both paths.
    WifiIram,
    /// TCP's code in RAM.
    TcpIram,
    /// Lines of the flash.
    FlashMode,
    /// Clock of the flash.
    FlashClock,
    /// Size of the cache of code.
    InstructionCache,
    /// Optimization level of the compiler.
    Optimization,
    /// Buffers in PSRAM.
    Psram,
    /// Clock of the PSRAM.
    PsramClock,
    /// Size of the cache of data.
    DataCache,
    /// Clock of the processor.
    Clock,
    /// Power save mode of the radio.
    Power,
}

/// Knobs.
pub const KNOBS: usize = 20;

impl Knob {
    /// All knobs.
    pub const ALL: [Self; KNOBS] = [
        Self::StaticRx,
        Self::DynamicRx,
        Self::Tx,
        Self::RxBaWindow,
        Self::TxBaWindow,
        Self::Window,
        Self::SendBuffer,
        Self::UdpMailbox,
        Self::LwipIram,
        Self::WifiIram,
        Self::TcpIram,
        Self::FlashMode,
        Self::FlashClock,
        Self::InstructionCache,
        Self::Optimization,
        Self::Psram,
        Self::PsramClock,
        Self::DataCache,
        Self::Clock,
        Self::Power,
    ];

    /// Returns the option of memories or compiler that the knob turns.
    pub(super) const fn memory(self) -> Option<ConfigOption> {
        Some(match self {
            Self::TcpIram => ConfigOption::LwipExtraIram,
            Self::FlashMode => ConfigOption::FlashMode,
            Self::FlashClock => ConfigOption::FlashClock,
            Self::InstructionCache => ConfigOption::InstructionCache,
            Self::Optimization => ConfigOption::Optimization,
            Self::Psram => ConfigOption::PsramWifi,
            Self::PsramClock => ConfigOption::PsramClock,
            Self::DataCache => ConfigOption::DataCache,
            _ => return None,
        })
    }

    /// Returns the values that are tried of the option of memories or compiler that the knob turns.
    ///
    /// Flash and PSRAM have four lines at all clocks that need no look into their datasheets; a board whose
    /// flash has two cannot have QIO. `psram`: the board has PSRAM.
    fn memory_levels(self, context: &SdkContext, psram: bool) -> Vec<u32> {
        let of = |key: ConfigOption| key.choices(context.chip);
        match self {
            Self::TcpIram if context.release.from(5, 2) => alloc::vec![0, 1],
            Self::FlashMode => alloc::vec![0, 2],
            Self::FlashClock => of(ConfigOption::FlashClock).filter(|it| *it <= 80).collect(),
            Self::InstructionCache => of(ConfigOption::InstructionCache).collect(),
            Self::Optimization => alloc::vec![0, 1, 2],
            Self::Psram if psram => alloc::vec![0, 1],
            Self::PsramClock if psram => {
                of(ConfigOption::PsramClock).filter(|it| *it <= 80).collect()
            }
            Self::DataCache if psram => of(ConfigOption::DataCache).filter(|it| *it > 0).collect(),
            _ => Vec::new(),
        }
    }
}

/// A place of the space: which level each knob is at.
pub type KnobLevels = [u8; KNOBS];

/// The candidates of a chip: a firmware, and what may be changed in it.
#[derive(Clone, Debug)]
pub struct SearchSpace {
    context: SdkContext,
    streams: u32,
    base: Candidate,
    /// Place of the firmware itself.
    origin: KnobLevels,
    levels: [Vec<u32>; KNOBS],
    powers: Vec<Power>,
}

/// Values that are tried, beside the ranks' own.
const BUFFERS: &[u32] = &[6, 8, 12, 16, 24, 32, 40, 64];
const STATIC: &[u32] = &[3, 4, 6, 8, 10, 14, 20, 25];
const WINDOWS: &[u32] = &[6, 8, 12, 16, 24, 32];
const BYTES: &[u32] = &[5760, 8192, 12_288, 16_384, 24_576, 32_768, 40_960, 65_535];
const MAILBOXES: &[u32] = &[6, 12, 24, 32, 64];

impl SearchSpace {
    /// Returns what may be changed in a firmware for these metrics and so many TCP streams. Knobs that
    /// do not bear on the metrics are not turned. `psram`: the board has PSRAM.
    #[must_use]
    pub fn new(
        context: SdkContext,
        base: Candidate,
        metrics: &[Metric],
        streams: u16,
        psram: bool,
    ) -> Self {
        let asks = |any: &[Metric]| metrics.iter().any(|it| any.contains(it));
        let tcp_tx = asks(&[Metric::TcpTx]);
        let tcp = tcp_tx || asks(&[Metric::TcpRx]);
        let udp = asks(&[Metric::UdpTx, Metric::UdpRx]);
        let sleeps = asks(&[Metric::Current, Metric::Battery]);
        let latency = asks(&[Metric::UdpLatency, Metric::UdpLatencyP99]);
        let heap = asks(&[Metric::Heap]);
        // The firmware's own value stands among those that are tried.
        let among = |turned: bool, own: u32, levels: &[u32], fits: &dyn Fn(&u32) -> bool| {
            let mut tried = alloc::vec![own];
            tried.extend(levels.iter().filter(|it| turned && fits(it)));
            tried.sort_unstable();
            tried.dedup();
            tried
        };
        let only = |turned: bool, own: u32, key: ConfigOption, levels: &[u32]| {
            let range = key.range(&context);
            among(turned, own, levels, &|it| range.contains(it))
        };
        let all = tcp || udp || latency || heap;
        let levels = Knob::ALL.map(|knob| {
            let own = base.value(knob, context.chip, &[]);
            match knob {
                Knob::StaticRx => only(true, own, ConfigOption::StaticRx, STATIC),
                Knob::DynamicRx => only(true, own, ConfigOption::DynamicRx, BUFFERS),
                Knob::Tx => only(true, own, ConfigOption::DynamicTx, BUFFERS),
                Knob::RxBaWindow => only(tcp || udp, own, ConfigOption::RxBaWindow, WINDOWS),
                Knob::TxBaWindow => only(tcp || udp, own, ConfigOption::TxBaWindow, WINDOWS),
                Knob::Window => only(tcp, own, ConfigOption::Window, BYTES),
                Knob::SendBuffer => only(tcp_tx, own, ConfigOption::SendBuffer, BYTES),
                Knob::UdpMailbox => only(udp, own, ConfigOption::UdpMailbox, MAILBOXES),
                Knob::LwipIram | Knob::WifiIram => among(all, own, &[0, 1], &|_| true),
                Knob::Clock => among(true, own, context.chip.clocks_mhz(), &|_| true),
                Knob::Power => (0..if sleeps { 4 } else { 1 }).collect(),
                // Those of memories and compiler.
                _ => {
                    let turned = match knob {
                        Knob::TcpIram => tcp,
                        Knob::InstructionCache | Knob::Psram => all,
                        _ => tcp || udp || latency,
                    };
                    among(turned, own, &knob.memory_levels(&context, psram), &|_| true)
                }
            }
        });
        let mut powers =
            alloc::vec![Power::Awake, Power::MinModem, Power::MaxModem(3), Power::MaxModem(10)];
        powers.truncate(levels[Knob::Power as usize].len());
        if !powers.contains(&base.power) {
            powers[0] = base.power;
        }
        let streams = u32::from(streams).max(1);
        let mut space = Self { context, streams, base, origin: [0; KNOBS], levels, powers };
        space.origin = space.nearest(&base);
        space
    }

    /// Returns the firmware itself.
    #[must_use]
    pub const fn base(&self) -> &Candidate {
        &self.base
    }

    /// Returns how many levels a knob has.
    #[must_use]
    pub fn levels(&self, knob: Knob) -> usize {
        self.levels[knob as usize].len()
    }

    /// Returns the value of a knob.
    fn value(&self, place: &KnobLevels, knob: Knob) -> u32 {
        let levels = &self.levels[knob as usize];
        let at = usize::from(place[knob as usize]).min(levels.len().saturating_sub(1));
        levels.get(at).copied().unwrap_or(0)
    }

    /// Returns the candidate at a place. The others of its values are the firmware's own, but for
    /// those that have to follow.
    #[must_use]
    pub fn candidate(&self, place: &KnobLevels) -> Candidate {
        let base = self.base.config;
        if *place == self.origin {
            return self.base;
        }
        let value = |knob| self.value(place, knob);
        let moved = |knob: Knob| place[knob as usize] != self.origin[knob as usize];
        let short = |knob| u16::try_from(value(knob)).unwrap_or(u16::MAX);
        let window = |knob| u8::try_from(value(knob)).unwrap_or(u8::MAX);
        let most = *ConfigOption::TcpMailbox.range(&self.context).end();
        // Values that fit each other: no more segments on the way than there are dynamic RX buffers
        // (rule `window` of a check), and of these no fewer than static ones (Kconfig).
        let (static_rx, mss) = (short(Knob::StaticRx), u32::from(base.tcp_mss).max(1));
        let two = (2 * self.streams).min(*ConfigOption::DynamicRx.range(&self.context).end());
        let dynamic_rx = match short(Knob::DynamicRx) {
            0 => 0,
            some => some.max(static_rx).max(two as u16),
        };
        let sockets = *ConfigOption::Sockets.range(&self.context).end();
        let sockets = sockets.min(self.streams + 2).max(base.sockets.into()) as u16;
        let fits = match dynamic_rx {
            0 => u32::MAX,
            some => u32::from(some) / self.streams * mss,
        };
        let least = *ConfigOption::Window.range(&self.context).start();
        let receive = value(Knob::Window).min(fits.max(2 * mss).max(least));
        let tcp_mailbox = match moved(Knob::Window) {
            true => u16::try_from((receive / mss + 2).min(most)).unwrap_or(u16::MAX),
            false => 0,
        }
        .max(base.tcp_mailbox);
        let udp_mailbox = short(Knob::UdpMailbox);
        let (wifi, wifi_rx) = match moved(Knob::WifiIram) {
            true => (value(Knob::WifiIram) != 0, value(Knob::WifiIram) != 0),
            false => (base.wifi_iram, base.wifi_rx_iram),
        };
        let mut memory = base.memory;
        for knob in Knob::ALL.into_iter().filter(|it| moved(*it)) {
            if let Some(key) = knob.memory() {
                set_memory(&mut memory, key, value(knob));
            }
        }
        // An ESP32's PSRAM is no faster than its flash (components/esp_psram/esp32/Kconfig.spiram).
        let clocks = [ConfigOption::PsramClock, ConfigOption::FlashClock]
            .map(|key| memory.value(key, self.context.chip));
        if self.context.chip == Chip::Esp32 && clocks[0] > clocks[1] {
            memory.set(ConfigOption::PsramClock, Some(40));
        }
        let config = SdkConfig {
            memory,
            static_rx,
            dynamic_rx,
            sockets,
            tx: short(Knob::Tx),
            rx_ba_window: window(Knob::RxBaWindow),
            tx_ba_window: window(Knob::TxBaWindow),
            wifi_iram: wifi,
            wifi_rx_iram: wifi_rx,
            lwip_iram: value(Knob::LwipIram) != 0,
            tcp_window: receive,
            tcp_send_buffer: value(Knob::SendBuffer),
            tcp_mailbox,
            udp_mailbox,
            tcpip_mailbox: base.tcpip_mailbox.max(tcp_mailbox).max(udp_mailbox),
            ..base
        };
        let power = self.powers.get(value(Knob::Power) as usize).copied().unwrap_or_default();
        Candidate { config, clock_mhz: value(Knob::Clock), power }
    }

    /// Returns the place nearest to a firmware.
    #[must_use]
    pub fn nearest(&self, candidate: &Candidate) -> KnobLevels {
        Knob::ALL.map(|knob| {
            let wanted = candidate.value(knob, self.context.chip, &self.powers);
            let off = |it: &u32| it.abs_diff(wanted);
            let levels = self.levels[knob as usize].iter().enumerate();
            levels.min_by_key(|it| off(it.1)).map_or(0, |it| it.0 as u8)
        })
    }

    /// Returns the candidates that differ from the firmware in one knob, with what follows from it.
    #[must_use]
    pub fn single_changes(&self) -> Vec<Candidate> {
        let mut all = Vec::new();
        for knob in Knob::ALL {
            for level in 0..self.levels(knob) as u8 {
                let mut place = self.origin;
                place[knob as usize] = level;
                if place != self.origin {
                    all.push(self.candidate(&place));
                }
            }
        }
        all
    }

    /// Returns the values of a setting's knob strictly between those of two candidates, as
    /// candidates: the second with that value, nearest to the second first.
    #[must_use]
    pub fn between(
        &self,
        setting: TunedSetting,
        from: &Candidate,
        to: &Candidate,
    ) -> Vec<Candidate> {
        let Some(knob) = setting.knob() else { return Vec::new() };
        let Some((low, high)) = setting.number(from).zip(setting.number(to)) else {
            return Vec::new();
        };
        let mut values: Vec<u32> = self.levels[knob as usize]
            .iter()
            .copied()
            .filter(|it| (low.min(high) + 1..low.max(high)).contains(it))
            .collect();
        if high > low {
            values.reverse();
        }
        values.into_iter().map(|value| setting.set(to, value)).collect()
    }

    /// Returns where a search begins: the firmware itself, the build's defaults and the ranks of the
    /// chip's document, with each way to sleep.
    #[must_use]
    pub fn starts(&self) -> Vec<KnobLevels> {
        let defaults = OptionValues::default().config(&self.context);
        let ranks = Rank::of(self.context.chip).map(|it| it.settings().config(&self.context));
        let configs = core::iter::once(defaults).chain(ranks);
        let own = core::iter::once(self.base.config).chain(configs);
        // Ranks say nothing of flash, caches and PSRAM.
        let memory = self.base.config.memory;
        let firmwares: Vec<Candidate> = own
            .map(|config| Candidate { config: SdkConfig { memory, ..config }, ..self.base })
            .collect();
        let mut places: Vec<KnobLevels> = alloc::vec![self.origin];
        for power in &self.powers {
            for place in
                firmwares.iter().map(|it| self.nearest(&Candidate { power: *power, ..*it }))
            {
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        places
    }

    /// Returns a place by chance.
    pub fn any(&self, random: &mut Xoshiro256PlusPlus) -> KnobLevels {
        Knob::ALL.map(|knob| {
            let levels = u32::try_from(self.levels(knob)).unwrap_or(1).max(1);
            random.two_below(levels)[0] as u8
        })
    }

    /// Returns the places one step away, each knob up and down.
    #[must_use]
    pub fn neighbours(&self, place: &KnobLevels) -> Vec<KnobLevels> {
        let mut all = Vec::new();
        for knob in Knob::ALL {
            let at = place[knob as usize];
            for next in [at.checked_add(1), at.checked_sub(1)].into_iter().flatten() {
                if usize::from(next) < self.levels(knob) {
                    let mut moved = *place;
                    moved[knob as usize] = next;
                    all.push(moved);
                }
            }
        }
        all
    }

    /// Returns the place that lies from the second as the second does from the first, if it is one.
    #[must_use]
    pub fn onwards(&self, from: &KnobLevels, to: &KnobLevels) -> Option<KnobLevels> {
        let mut next = *to;
        for knob in Knob::ALL {
            let at = knob as usize;
            let moved = (2 * i16::from(to[at])) - i16::from(from[at]);
            let within = usize::try_from(moved).is_ok_and(|it| it < self.levels(knob));
            next[at] = u8::try_from(moved).ok().filter(|_| within)?;
        }
        Some(next)
    }

    /// Returns the chip and the release.
    #[must_use]
    pub const fn context(&self) -> &SdkContext {
        &self.context
    }
}

/// Sets an option of memories; buffers in PSRAM need it to be used.
pub(super) fn set_memory(memory: &mut MemoryOptions, key: ConfigOption, value: u32) {
    memory.set(key, Some(value));
    if key == ConfigOption::PsramWifi && value != 0 {
        memory.set(ConfigOption::Psram, Some(1));
    }
}

impl Candidate {
    /// Returns whether so many TCP streams have no more segments on the way than there are dynamic
    /// RX buffers, and these are no fewer than static ones.
    #[must_use]
    pub fn fits(&self, streams: u16) -> bool {
        let it = &self.config;
        let segments = it.tcp_window.div_ceil(u32::from(it.tcp_mss).max(1)) * u32::from(streams);
        it.dynamic_rx == 0 || (segments <= it.dynamic_rx.into() && it.static_rx <= it.dynamic_rx)
    }

    /// Returns a short label: `8/16/16 BA 16/6 16K/16K`.
    #[must_use]
    pub fn label(&self) -> String {
        label::result(&self.settings()).unwrap_or_default()
    }

    /// Returns what it sets, as the settings of its results.
    #[must_use]
    pub fn settings(&self) -> settings::Settings {
        let it = &self.config;
        let sleeps = self.power != Power::Awake;
        let buffers = [
            Setting::StaticRx(it.static_rx),
            Setting::DynamicRx(it.dynamic_rx),
            Setting::Tx(it.tx),
            Setting::RxBaWindow(it.rx_ba_window),
            Setting::TxBaWindow(it.tx_ba_window),
            Setting::TcpWindow(it.tcp_window),
            Setting::TcpSendBuffer(it.tcp_send_buffer),
        ];
        let clock = Setting::Clock(self.clock_mhz);
        buffers
            .into_iter()
            .chain([clock])
            .chain(sleeps.then_some(Setting::PowerSave(self.power)))
            .collect()
    }
}
