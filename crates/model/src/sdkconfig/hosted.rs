//! Options of ESP-Hosted, where the radio is on a chip beside the one that runs the program.
//!
//! Names are those of `Kconfig`, `slave/main/Kconfig.projbuild` and `sdkconfig.rename` of esp-hosted-mcu, releases 1 and 2, and of
//! esp_wifi_remote.

use super::chip::Chip;

/// Bus between a host and its co-processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostedBus {
    /// SDIO.
    Sdio,
    /// SPI, in both directions at a time.
    Spi,
    /// SPI, in one direction at a time.
    SpiHalf,
    /// A serial port.
    Uart,
}

impl HostedBus {
    /// All of them.
    const ALL: [Self; 4] = [Self::Sdio, Self::Spi, Self::SpiHalf, Self::Uart];

    /// Returns the name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Sdio => "SDIO",
            Self::Spi => "SPI",
            Self::SpiHalf => "half-duplex SPI",
            Self::Uart => "UART",
        }
    }

    /// Returns the part of the options' names that stands for it.
    const fn word(self) -> &'static str {
        match self {
            Self::Sdio => "SDIO_",
            Self::Spi => "SPI_",
            Self::SpiHalf => "SPI_HD_",
            Self::Uart => "UART_",
        }
    }
}

/// Options of one bus, as far as a file gives them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostedBusOptions {
    /// Clock in kHz, of a serial port its rate in kbit/s rounded down.
    pub khz: Option<u32>,
    /// Lines of data.
    pub lines: Option<u32>,
    /// Packets that wait to be sent to the other side.
    pub tx_queue: Option<u32>,
    /// Packets that came from the other side and wait.
    pub rx_queue: Option<u32>,
    /// Whether each packet has a checksum.
    pub checksum: Option<bool>,
    /// Whether several packets go as one stream from the co-processor.
    pub streaming: Option<bool>,
    /// Mode of SPI.
    pub mode: Option<u32>,
}

/// Options of ESP-Hosted in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostedOptions {
    /// Whether the file is of a host: it has options that only that has.
    pub is_host: bool,
    /// Whether the file is of the co-processor's firmware.
    pub is_co_processor: bool,
    /// Chip that a host names as its co-processor.
    pub beside: Option<Chip>,
    /// Bus that the file chooses.
    pub bus: Option<HostedBus>,
    buses: [HostedBusOptions; 4],
}

/// Begin of names that a host's options of the co-processor's Wi-Fi have: those of `CONFIG_ESP_WIFI_`, sent to it.
pub(super) const REMOTE_WIFI: &str = "WIFI_RMT_";

/// Begins of names of flags that choose the chip beside a host.
const BESIDE: [&str; 4] =
    ["SLAVE_IDF_TARGET_", "ESP_HOSTED_CP_TARGET_", "ESP_HOSTED_SLAVE_", "SLAVE_CHIPSET_"];

impl HostedOptions {
    /// Returns the options of a bus.
    #[must_use]
    pub const fn of(&self, bus: HostedBus) -> HostedBusOptions {
        self.buses[bus as usize]
    }

    /// Takes an option in; returns whether it is one of ESP-Hosted. `value` is `y`, `n` or a number.
    pub(super) fn take(&mut self, name: &str, value: &str) -> bool {
        let Some(name) = name.strip_prefix("CONFIG_") else { return false };
        let yes = matches!(value, "y" | "Y" | "1");
        if name.starts_with(REMOTE_WIFI) || name.starts_with("ESP_WIFI_REMOTE_") {
            self.is_host |= name.starts_with(REMOTE_WIFI) || yes;
            return true;
        }
        if let Some(chip) = BESIDE.iter().find_map(|it| name.strip_prefix(it)?.parse().ok()) {
            if yes {
                (self.is_host, self.beside) = (true, Some(chip));
            }
            return true;
        }
        match name {
            "ESP_HOSTED_COPROCESSOR" => {
                self.is_co_processor = yes;
                return true;
            }
            "ESP_HOSTED_ENABLED" => {
                self.is_host |= yes;
                return true;
            }
            _ => {}
        }
        let (name, of_host) = match name.strip_prefix("ESP_HOSTED_") {
            Some(rest) => (rest, true),
            None => match name.strip_prefix("ESP_") {
                Some(rest) => (rest, false),
                None => return false,
            },
        };
        // The longer name first: half-duplex SPI begins as SPI does.
        let of = |bus: HostedBus| Some((bus, name.strip_prefix(bus.word())?));
        let Some((bus, option)) = HostedBus::ALL.into_iter().rev().find_map(of) else {
            return false;
        };
        let known = self.take_of_bus(bus, option, value);
        self.is_host |= known && of_host && !self.is_co_processor;
        known
    }

    fn take_of_bus(&mut self, bus: HostedBus, option: &str, value: &str) -> bool {
        let number = || value.parse::<u32>().ok();
        let flag = Some(matches!(value, "y" | "Y" | "1"));
        let yes = flag == Some(true);
        let it = &mut self.buses[bus as usize];
        match option {
            "HOST_INTERFACE" if yes => self.bus = Some(bus),
            "HOST_INTERFACE" => {}
            "CLOCK_FREQ_KHZ" => it.khz = number(),
            // In MHz.
            "CLK_FREQ" => it.khz = number().and_then(|it| it.checked_mul(1000)),
            "BAUDRATE" => it.khz = number().map(|it| it / 1000),
            "DEFAULT_SPEED" if yes => it.khz = Some(20_000),
            "HIGH_SPEED" if yes => it.khz = Some(40_000),
            "DEFAULT_SPEED" | "HIGH_SPEED" => {}
            "BUS_WIDTH" | "INTERFACE_NUM_DATA_LINES" => it.lines = number(),
            "4_BIT_BUS" if yes => it.lines = Some(4),
            "1_BIT_BUS" if yes => it.lines = Some(1),
            "4_BIT_BUS" | "1_BIT_BUS" => {}
            "TX_Q_SIZE" => it.tx_queue = number(),
            "RX_Q_SIZE" => it.rx_queue = number(),
            "CHECKSUM" => it.checksum = flag,
            "STREAMING_MODE" | "OPTIMIZATION_RX_STREAMING_MODE" => it.streaming = flag,
            "MODE" => it.mode = number(),
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> HostedOptions {
        let mut options = HostedOptions::default();
        for line in text.lines() {
            let (name, value) = line.split_once('=').unwrap();
            assert!(options.take(name, value), "{line}");
        }
        options
    }

    #[test]
    fn a_host_names_its_co_processor_and_its_bus() {
        let host = read(
            "CONFIG_SLAVE_IDF_TARGET_ESP32C6=y\nCONFIG_ESP_HOSTED_SDIO_HOST_INTERFACE=y\n\
             CONFIG_ESP_HOSTED_SPI_HOST_INTERFACE=n\nCONFIG_ESP_HOSTED_SDIO_CLOCK_FREQ_KHZ=40000\n\
             CONFIG_ESP_HOSTED_SDIO_BUS_WIDTH=4\nCONFIG_ESP_HOSTED_SDIO_RX_Q_SIZE=20\n\
             CONFIG_ESP_HOSTED_SDIO_OPTIMIZATION_RX_STREAMING_MODE=y",
        );
        assert!(host.is_host && !host.is_co_processor);
        assert_eq!((host.beside, host.bus), (Some(Chip::Esp32c6), Some(HostedBus::Sdio)));
        let bus = host.of(HostedBus::Sdio);
        assert_eq!((bus.khz, bus.lines, bus.rx_queue), (Some(40_000), Some(4), Some(20)));
        assert_eq!((bus.streaming, bus.checksum), (Some(true), None));
    }

    #[test]
    fn a_co_processor_has_names_of_its_own() {
        let it = read(
            "CONFIG_ESP_HOSTED_COPROCESSOR=y\nCONFIG_ESP_SPI_HD_HOST_INTERFACE=y\n\
             CONFIG_ESP_SPI_HD_MODE=3\nCONFIG_ESP_SDIO_DEFAULT_SPEED=y\nCONFIG_ESP_UART_BAUDRATE=921600",
        );
        assert!(it.is_co_processor && !it.is_host);
        assert_eq!(it.bus, Some(HostedBus::SpiHalf));
        assert_eq!(it.of(HostedBus::SpiHalf).mode, Some(3));
        assert_eq!(it.of(HostedBus::Sdio).khz, Some(20_000));
        assert_eq!(it.of(HostedBus::Uart).khz, Some(921));
    }

    #[test]
    fn other_options_are_none_of_these() {
        let mut options = HostedOptions::default();
        for name in
            ["CONFIG_ESP_WIFI_RX_BA_WIN", "CONFIG_ESP_SPI_SLAVE", "CONFIG_LWIP_TCP_MSS", "X", ""]
        {
            assert!(!options.take(name, "6"), "{name}");
        }
        assert_eq!(options, HostedOptions::default());
    }
}
