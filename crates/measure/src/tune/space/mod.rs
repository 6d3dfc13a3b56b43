//! Which candidates there are: values of the settings that shape links, and how the radio sleeps.

#[cfg(test)]
mod tests;

use super::want::Metric;
use crate::label;
use crate::random::Random;
use crate::settings::{self, Setting};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use espbench_model::sdkconfig::{ConfigOption, OptionValues, Rank, SdkConfig, SdkContext};

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
    /// Power save mode of its radio.
    pub power: Power,
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
    /// Power save mode of the radio.
    Power,
}

/// Knobs.
pub const KNOBS: usize = 11;

impl Knob {
    /// All modes.
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
        Self::Power,
    ];
}

/// A place of the space: which level each knob is at.
pub type KnobLevels = [u8; KNOBS];

/// The candidates of a chip.
#[derive(Clone, Debug)]
pub struct SearchSpace {
    context: SdkContext,
    streams: u32,
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
    /// Returns the candidates of a chip for these metrics and so many TCP streams. Knobs that do
    /// not bear on the metrics are not turned.
    #[must_use]
    pub fn new(context: SdkContext, metrics: &[Metric], streams: u16) -> Self {
        let asks = |any: &[Metric]| metrics.iter().any(|it| any.contains(it));
        let tcp_tx = asks(&[Metric::TcpTx]);
        let tcp = tcp_tx || asks(&[Metric::TcpRx]);
        let udp = asks(&[Metric::UdpTx, Metric::UdpRx]);
        let sleeps = asks(&[Metric::Current, Metric::Battery]);
        let latency = asks(&[Metric::UdpLatency, Metric::UdpLatencyP99]);
        let heap = asks(&[Metric::Heap]);
        let only = |turned: bool, key: ConfigOption, levels: &[u32]| {
            let range = key.range(&context);
            let fixed = [key.default_in(&context)];
            let all = if turned { levels } else { &fixed };
            all.iter().copied().filter(|it| range.contains(it)).collect::<Vec<u32>>()
        };
        let flags = |turned: bool, key: ConfigOption| only(turned, key, &[0, 1]);
        let levels = Knob::ALL.map(|knob| match knob {
            Knob::StaticRx => only(true, ConfigOption::StaticRx, STATIC),
            Knob::DynamicRx => only(true, ConfigOption::DynamicRx, BUFFERS),
            Knob::Tx => only(true, ConfigOption::DynamicTx, BUFFERS),
            Knob::RxBaWindow => only(tcp || udp, ConfigOption::RxBaWindow, WINDOWS),
            Knob::TxBaWindow => only(tcp || udp, ConfigOption::TxBaWindow, WINDOWS),
            Knob::Window => only(tcp, ConfigOption::Window, BYTES),
            Knob::SendBuffer => only(tcp_tx, ConfigOption::SendBuffer, BYTES),
            Knob::UdpMailbox => only(udp, ConfigOption::UdpMailbox, MAILBOXES),
            Knob::LwipIram => flags(tcp || udp || latency, ConfigOption::LwipIram),
            Knob::WifiIram => flags(tcp || udp || latency || heap, ConfigOption::WifiIram),
            Knob::Power => (0..if sleeps { 4 } else { 1 }).collect(),
        });
        let all = [Power::Awake, Power::MinModem, Power::MaxModem(3), Power::MaxModem(10)];
        let powers = all[..levels[Knob::Power as usize].len()].to_vec();
        Self { context, streams: u32::from(streams).max(1), levels, powers }
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

    /// Returns the candidate at a place.
    #[must_use]
    pub fn candidate(&self, place: &KnobLevels) -> Candidate {
        let value = |knob| self.value(place, knob);
        let short = |knob| u16::try_from(value(knob)).unwrap_or(u16::MAX);
        let window = |knob| u8::try_from(value(knob)).unwrap_or(u8::MAX);
        let base = OptionValues::default().config(&self.context);
        let most = *ConfigOption::TcpMailbox.range(&self.context).end();
        // Values that fit each other: no more segments on the way than there are dynamic RX buffers
        // (rule `window` of a check), and of these no fewer than static ones (Kconfig).
        let (static_rx, mss) = (short(Knob::StaticRx), u32::from(base.tcp_mss).max(1));
        let two = (2 * self.streams).min(*ConfigOption::DynamicRx.range(&self.context).end());
        let dynamic_rx = short(Knob::DynamicRx).max(static_rx).max(two as u16);
        let sockets = *ConfigOption::Sockets.range(&self.context).end();
        let sockets = sockets.min(self.streams + 2).max(base.sockets.into()) as u16;
        let fits = u32::from(dynamic_rx) / self.streams * mss;
        let least = *ConfigOption::Window.range(&self.context).start();
        let receive = value(Knob::Window).min(fits.max(2 * mss).max(least));
        let mailbox = (receive / mss + 2).clamp(base.tcp_mailbox.into(), most);
        let tcp_mailbox = u16::try_from(mailbox).unwrap_or(u16::MAX);
        let udp_mailbox = short(Knob::UdpMailbox);
        let wifi = value(Knob::WifiIram) != 0;
        let config = SdkConfig {
            static_rx,
            dynamic_rx,
            sockets,
            tx: short(Knob::Tx),
            rx_ba_window: window(Knob::RxBaWindow),
            tx_ba_window: window(Knob::TxBaWindow),
            wifi_iram: wifi,
            wifi_rx_iram: wifi,
            lwip_iram: value(Knob::LwipIram) != 0,
            tcp_window: receive,
            tcp_send_buffer: value(Knob::SendBuffer),
            tcp_mailbox,
            udp_mailbox,
            tcpip_mailbox: base.tcpip_mailbox.max(tcp_mailbox).max(udp_mailbox),
            ..base
        };
        let power = self.powers.get(value(Knob::Power) as usize).copied().unwrap_or_default();
        Candidate { config, power }
    }

    /// Returns the place nearest to a firmware.
    #[must_use]
    pub fn nearest(&self, config: &SdkConfig, power: Power) -> KnobLevels {
        Knob::ALL.map(|knob| {
            let wanted = match knob {
                Knob::StaticRx => config.static_rx.into(),
                Knob::DynamicRx => config.dynamic_rx.into(),
                Knob::Tx => config.tx.into(),
                Knob::RxBaWindow => config.rx_ba_window.into(),
                Knob::TxBaWindow => config.tx_ba_window.into(),
                Knob::Window => config.tcp_window,
                Knob::SendBuffer => config.tcp_send_buffer,
                Knob::UdpMailbox => config.udp_mailbox.into(),
                Knob::LwipIram => config.lwip_iram.into(),
                Knob::WifiIram => config.wifi_iram.into(),
                Knob::Power => self.powers.iter().position(|it| *it == power).unwrap_or(0) as u32,
            };
            let off = |it: &u32| it.abs_diff(wanted);
            let levels = self.levels[knob as usize].iter().enumerate();
            levels.min_by_key(|it| off(it.1)).map_or(0, |it| it.0 as u8)
        })
    }

    /// Returns where a search begins: the build's defaults and the ranks of the chip's document,
    /// with each way to sleep.
    #[must_use]
    pub fn starts(&self) -> Vec<KnobLevels> {
        let defaults = OptionValues::default().config(&self.context);
        let ranks = Rank::of(self.context.chip).map(|it| it.settings().config(&self.context));
        let configs: Vec<SdkConfig> = core::iter::once(defaults).chain(ranks).collect();
        let mut places: Vec<KnobLevels> = Vec::new();
        for power in &self.powers {
            for place in configs.iter().map(|it| self.nearest(it, *power)) {
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        places
    }

    /// Returns a place by chance.
    pub fn any(&self, random: &mut Random) -> KnobLevels {
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

impl Candidate {
    /// Returns whether so many TCP streams have no more segments on the way than there are dynamic
    /// RX buffers, and these are no fewer than static ones.
    #[must_use]
    pub fn fits(&self, streams: u16) -> bool {
        let it = &self.config;
        let segments = it.tcp_window.div_ceil(u32::from(it.tcp_mss).max(1)) * u32::from(streams);
        it.dynamic_rx == 0 || (segments <= it.dynamic_rx.into() && it.static_rx <= it.dynamic_rx)
    }

    /// Returns the settings that are not the build's defaults, with their values.
    #[must_use]
    pub fn changes(&self, context: &SdkContext) -> Vec<(ConfigOption, u32)> {
        let own = OptionValues::from(&self.config);
        own.given().filter(|(key, value)| *value != key.default_in(context)).collect()
    }

    /// Returns the candidate with one setting as the build has it.
    #[must_use]
    pub fn without(&self, key: ConfigOption, context: &SdkContext) -> Self {
        let mut settings = OptionValues::from(&self.config);
        settings.set(key, key.default_in(context));
        Self { config: settings.config(context), ..*self }
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
        buffers.into_iter().chain(sleeps.then_some(Setting::PowerSave(self.power))).collect()
    }
}
