//! How candidates differ.

use super::{Candidate, Knob, set_memory};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::sdkconfig::{
    ConfigOption, MEMORY_OPTIONS, OptionValues, SdkConfig, SdkContext, ValueType, clock,
};

/// A setting of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TunedSetting {
    /// An option of sdkconfig.
    Option(ConfigOption),
    /// Clock of the processor, which is a choice of sdkconfig.
    Clock,
    /// Power save mode of the radio, which is set in code.
    Sleep,
}

/// Returns an option of a firmware. TX buffers are those of the dynamic kind, whichever it has.
fn option(config: &SdkConfig, key: ConfigOption) -> Option<u32> {
    OptionValues::from(config).get(key)
}

/// Returns a firmware with another value of an option.
fn with_option(config: &SdkConfig, key: ConfigOption, value: u32) -> SdkConfig {
    let mut values = OptionValues::from(config);
    values.set(key, value);
    let flag = value != 0;
    let short = |key| values.get(key).and_then(|it| u16::try_from(it).ok()).unwrap_or(u16::MAX);
    let window = |on, key| match values.get(on) {
        Some(0) => 0,
        _ => values.get(key).and_then(|it| u8::try_from(it).ok()).unwrap_or(0),
    };
    let mut new = *config;
    match key {
        ConfigOption::StaticRx => new.static_rx = short(key),
        ConfigOption::DynamicRx => new.dynamic_rx = short(key),
        ConfigOption::DynamicTx => new.tx = short(key),
        ConfigOption::AmpduTx | ConfigOption::TxBaWindow => {
            new.tx_ba_window = window(ConfigOption::AmpduTx, ConfigOption::TxBaWindow);
        }
        ConfigOption::AmpduRx | ConfigOption::RxBaWindow => {
            new.rx_ba_window = window(ConfigOption::AmpduRx, ConfigOption::RxBaWindow);
        }
        ConfigOption::WifiIram => new.wifi_iram = flag,
        ConfigOption::WifiRxIram => new.wifi_rx_iram = flag,
        ConfigOption::LwipIram => new.lwip_iram = flag,
        ConfigOption::SendBuffer => new.tcp_send_buffer = value,
        ConfigOption::Window => new.tcp_window = value,
        ConfigOption::TcpMailbox => new.tcp_mailbox = short(key),
        ConfigOption::UdpMailbox => new.udp_mailbox = short(key),
        ConfigOption::TcpipMailbox => new.tcpip_mailbox = short(key),
        ConfigOption::Sockets => new.sockets = short(key),
        key if MEMORY_OPTIONS.contains(&key) => set_memory(&mut new.memory, key, value),
        _ => {}
    }
    new
}

impl TunedSetting {
    /// Returns the knob that turns the setting, where one has its values.
    pub(super) const fn knob(self) -> Option<Knob> {
        Some(match self {
            Self::Clock => Knob::Clock,
            Self::Option(key) => match key {
                ConfigOption::StaticRx => Knob::StaticRx,
                ConfigOption::DynamicRx => Knob::DynamicRx,
                ConfigOption::DynamicTx => Knob::Tx,
                ConfigOption::RxBaWindow => Knob::RxBaWindow,
                ConfigOption::TxBaWindow => Knob::TxBaWindow,
                ConfigOption::Window => Knob::Window,
                ConfigOption::SendBuffer => Knob::SendBuffer,
                ConfigOption::UdpMailbox => Knob::UdpMailbox,
                ConfigOption::FlashClock => Knob::FlashClock,
                ConfigOption::PsramClock => Knob::PsramClock,
                ConfigOption::DataCache => Knob::DataCache,
                _ => return None,
            },
            Self::Sleep => return None,
        })
    }

    /// Returns the setting's number in a candidate.
    #[must_use]
    pub fn number(self, of: &Candidate) -> Option<u32> {
        match self {
            Self::Option(key) => option(&of.config, key),
            Self::Clock => Some(of.clock_mhz),
            Self::Sleep => None,
        }
    }

    /// Returns a candidate with another number of the setting.
    #[must_use]
    pub fn set(self, of: &Candidate, value: u32) -> Candidate {
        match self {
            Self::Option(key) => Candidate { config: with_option(&of.config, key, value), ..*of },
            Self::Clock => Candidate { clock_mhz: value, ..*of },
            Self::Sleep => *of,
        }
    }

    /// Returns a candidate with the setting as another candidate has it.
    #[must_use]
    pub fn taken(self, of: &Candidate, from: &Candidate) -> Candidate {
        match (self, self.number(from)) {
            (Self::Sleep, _) => Candidate { power: from.power, ..*of },
            (_, Some(value)) => self.set(of, value),
            (_, None) => *of,
        }
    }

    /// Returns the name of the option in a release; of what is set in code, the call.
    #[must_use]
    pub fn name(self, context: &SdkContext, static_tx: bool) -> String {
        match self {
            Self::Option(ConfigOption::DynamicTx) if static_tx => {
                ConfigOption::StaticTx.name_in(context.release).into()
            }
            Self::Option(key) => key.name_for(context.chip, context.release).into(),
            Self::Clock => {
                let mut line = String::new();
                // A string takes all that is written to it.
                let _ = clock(&mut line, context.chip, context.release, 0);
                line.trim_end_matches("_0=y\n").into()
            }
            Self::Sleep => "esp_wifi_set_ps".into(),
        }
    }

    /// Returns the setting's value in a candidate, as a file has it.
    #[must_use]
    pub fn shown(self, of: &Candidate) -> String {
        match (self, self.number(of)) {
            (Self::Sleep, _) => of.power.to_string(),
            (Self::Clock, _) => format!("{} MHz", of.clock_mhz),
            (Self::Option(key), Some(value)) => key.text(value).to_string(),
            (Self::Option(_), None) => "off".into(),
        }
    }

    /// Returns the line for a file: `NAME=value`; of what is set in code, the call.
    #[must_use]
    pub fn line(self, of: &Candidate, context: &SdkContext, static_tx: bool) -> String {
        match self {
            Self::Option(key) => {
                // With buffers in PSRAM the build takes static ones to send.
                let fixed = static_tx || of.config.memory.buffers_in_psram();
                let (name, value) = (self.name(context, fixed), self.shown(of));
                match key.fact().kind {
                    ValueType::Choice(_) => format!("{name}_{value}=y"),
                    ValueType::Flag | ValueType::Number => format!("{name}={value}"),
                }
            }
            Self::Clock => format!("{}_{}=y", self.name(context, static_tx), of.clock_mhz),
            Self::Sleep => of.power.call().into(),
        }
    }
}

impl Candidate {
    /// Returns the settings in which it differs from another candidate.
    #[must_use]
    pub fn changes(&self, base: &Self) -> Vec<TunedSetting> {
        let (own, other) = (OptionValues::from(&self.config), OptionValues::from(&base.config));
        let differs =
            |key: &ConfigOption| own.get(*key).is_some() && own.get(*key) != other.get(*key);
        // Buffers in PSRAM have a number of their own to send.
        let buffers = differs(&ConfigOption::PsramWifi);
        let listed =
            |key: &ConfigOption| differs(key) || buffers && *key == ConfigOption::DynamicTx;
        let mut all: Vec<TunedSetting> =
            ConfigOption::all().filter(listed).map(TunedSetting::Option).collect();
        all.extend((self.clock_mhz != base.clock_mhz).then_some(TunedSetting::Clock));
        all.extend((self.power != base.power).then_some(TunedSetting::Sleep));
        all
    }
}
