//! Values of the options: the given ones, and the defaults of the others.

use super::SdkConfig;
use super::chip::SdkContext;
use super::key::ConfigOption;
use super::memory::{MEMORY_OPTIONS, MemoryOptions};

/// Values of some of the options, from a file or chosen by somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionValues {
    values: [Option<u32>; ConfigOption::COUNT],
}

impl Default for OptionValues {
    fn default() -> Self {
        Self::NONE
    }
}

impl OptionValues {
    /// Values of no option.
    pub const NONE: Self = Self { values: [None; ConfigOption::COUNT] };

    /// Returns the value that was given.
    #[must_use]
    pub const fn get(&self, key: ConfigOption) -> Option<u32> {
        self.values[key as usize]
    }

    /// Sets a value and returns the one that it replaces.
    pub const fn set(&mut self, key: ConfigOption, value: u32) -> Option<u32> {
        self.values[key as usize].replace(value)
    }

    /// Removes a value, so that the default holds again.
    pub const fn clear(&mut self, key: ConfigOption) {
        self.values[key as usize] = None;
    }

    /// Returns the given values, in the order of [`ConfigOption`].
    pub fn given(&self) -> impl Iterator<Item = (ConfigOption, u32)> {
        ConfigOption::all().filter_map(|key| Some((key, self.get(key)?)))
    }

    /// Returns the value that the build uses: the given one if it is within its range, else the
    /// default.
    #[must_use]
    pub fn value(&self, key: ConfigOption, context: &SdkContext) -> u32 {
        self.used(key, context).unwrap_or_else(|| key.default_in(context))
    }

    /// Returns the value that was given, if the build uses it.
    fn used(&self, key: ConfigOption, context: &SdkContext) -> Option<u32> {
        self.get(key).filter(|it| key.allows(*it, context))
    }

    /// Returns whether a flag is set.
    #[must_use]
    pub fn flag(&self, key: ConfigOption, context: &SdkContext) -> bool {
        self.value(key, context) != 0
    }

    /// Returns whether the driver's send buffers are static. PSRAM forces them to be: the dynamic
    /// ones depend on its absence (`components/esp_wifi/Kconfig`).
    #[must_use]
    pub fn static_tx(&self, context: &SdkContext) -> bool {
        let chosen = self.get(ConfigOption::StaticTxBuffer).is_some_and(|it| it != 0);
        let declined = self.get(ConfigOption::DynamicTxBuffer) == Some(0);
        context.psram || chosen || declined
    }

    /// Returns the option that sets the number of send buffers.
    #[must_use]
    pub fn tx_key(&self, context: &SdkContext) -> ConfigOption {
        if self.static_tx(context) { ConfigOption::StaticTx } else { ConfigOption::DynamicTx }
    }

    /// Returns the context as far as the file itself gives it, and the rest of `context`.
    #[must_use]
    pub fn context(&self, context: SdkContext) -> SdkContext {
        let flag = |key| self.get(key).map(|it| it != 0);
        // Without PSRAM nothing is allocated there.
        let psram = match flag(ConfigOption::Psram) {
            Some(false) => Some(false),
            _ => flag(ConfigOption::PsramWifi),
        };
        SdkContext {
            psram: psram.unwrap_or(context.psram),
            window_scale: flag(ConfigOption::WindowScale).unwrap_or(context.window_scale),
            ..context
        }
    }

    /// Returns the options that shape links, each with the value that the build uses.
    #[must_use]
    pub fn config(&self, context: &SdkContext) -> SdkConfig {
        let value = |key| self.value(key, context);
        let short = |key| u16::try_from(value(key)).unwrap_or(u16::MAX);
        let window = |enabled, key| match value(enabled) {
            0 => 0,
            _ => u8::try_from(value(key)).unwrap_or(u8::MAX),
        };
        SdkConfig {
            static_rx: short(ConfigOption::StaticRx),
            dynamic_rx: short(ConfigOption::DynamicRx),
            tx: short(self.tx_key(context)),
            tx_ba_window: window(ConfigOption::AmpduTx, ConfigOption::TxBaWindow),
            rx_ba_window: window(ConfigOption::AmpduRx, ConfigOption::RxBaWindow),
            wifi_iram: value(ConfigOption::WifiIram) != 0,
            wifi_rx_iram: value(ConfigOption::WifiRxIram) != 0,
            lwip_iram: value(ConfigOption::LwipIram) != 0,
            tcp_mss: short(ConfigOption::TcpMss),
            tcp_send_buffer: value(ConfigOption::SendBuffer),
            tcp_window: value(ConfigOption::Window),
            tcp_mailbox: short(ConfigOption::TcpMailbox),
            udp_mailbox: short(ConfigOption::UdpMailbox),
            tcpip_mailbox: short(ConfigOption::TcpipMailbox),
            sockets: short(ConfigOption::Sockets),
            tick_hz: value(ConfigOption::TickHz),
            memory: self.memory(context),
        }
    }

    /// Returns the options of memories and compiler that were given, as far as the build uses them.
    fn memory(&self, context: &SdkContext) -> MemoryOptions {
        let mut memory = MemoryOptions::default();
        for key in MEMORY_OPTIONS {
            memory.set(key, self.used(key, context));
        }
        let buffers = context.psram && context.chip.psram();
        memory.set(ConfigOption::PsramWifi, buffers.then_some(1));
        memory
    }
}

impl SdkConfig {
    /// Returns the same firmware with each default of its memories and compiler written down.
    #[must_use]
    pub fn resolved(mut self, context: &SdkContext) -> Self {
        for key in MEMORY_OPTIONS {
            let value = self.memory.get(key).unwrap_or_else(|| key.default_in(context));
            self.memory.set(key, Some(value));
        }
        self
    }
}

impl From<&SdkConfig> for OptionValues {
    /// Takes over all values; send buffers are dynamic.
    fn from(config: &SdkConfig) -> Self {
        let mut settings = Self::default();
        let aggregates = |window: u8| u32::from(window > 0);
        for (key, value) in [
            (ConfigOption::StaticRx, config.static_rx.into()),
            (ConfigOption::DynamicRx, config.dynamic_rx.into()),
            (ConfigOption::DynamicTx, config.tx.into()),
            (ConfigOption::AmpduTx, aggregates(config.tx_ba_window)),
            (ConfigOption::AmpduRx, aggregates(config.rx_ba_window)),
            (ConfigOption::WifiIram, config.wifi_iram.into()),
            (ConfigOption::WifiRxIram, config.wifi_rx_iram.into()),
            (ConfigOption::LwipIram, config.lwip_iram.into()),
            (ConfigOption::TcpMss, config.tcp_mss.into()),
            (ConfigOption::SendBuffer, config.tcp_send_buffer),
            (ConfigOption::Window, config.tcp_window),
            (ConfigOption::TcpMailbox, config.tcp_mailbox.into()),
            (ConfigOption::UdpMailbox, config.udp_mailbox.into()),
            (ConfigOption::TcpipMailbox, config.tcpip_mailbox.into()),
            (ConfigOption::Sockets, config.sockets.into()),
            (ConfigOption::TickHz, config.tick_hz),
        ] {
            settings.set(key, value);
        }
        for (key, value) in config.memory.given() {
            settings.set(key, value);
        }
        let windows = [
            (ConfigOption::TxBaWindow, config.tx_ba_window),
            (ConfigOption::RxBaWindow, config.rx_ba_window),
        ];
        for (key, window) in windows.into_iter().filter(|it| it.1 > 0) {
            settings.set(key, window.into());
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_given_is_the_default_of_version_5() {
        assert_eq!(OptionValues::default().config(&SdkContext::default()), SdkConfig::default());
    }

    #[test]
    fn limits_become_settings_and_limits_again() {
        let config = SdkConfig { rx_ba_window: 0, static_rx: 20, ..SdkConfig::default() };
        assert_eq!(OptionValues::from(&config).config(&SdkContext::default()), config);
    }

    #[test]
    fn the_build_does_not_use_what_is_out_of_range() {
        let mut settings = OptionValues::default();
        settings.set(ConfigOption::StaticRx, 99);
        assert_eq!(settings.value(ConfigOption::StaticRx, &SdkContext::default()), 10);
        let wide = SdkContext { chip: super::super::Chip::Esp32c6, ..SdkContext::default() };
        assert_eq!(settings.value(ConfigOption::StaticRx, &wide), 99);
    }

    #[test]
    fn psram_makes_send_buffers_static() {
        let settings = OptionValues::default();
        let context = SdkContext { psram: true, ..SdkContext::default() };
        assert_eq!(settings.tx_key(&context), ConfigOption::StaticTx);
        assert_eq!(settings.config(&context).tx, 16);
        assert_eq!(settings.tx_key(&SdkContext::default()), ConfigOption::DynamicTx);
    }
}
