//! The context on which ranges and defaults of options depend: the chip, the release of ESP-IDF,
//! and whether Wi-Fi's buffers may be in PSRAM.

use core::fmt;
use core::str::FromStr;

/// A chip whose firmware has an sdkconfig: the chips of ESP-IDF with Wi-Fi.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Chip {
    /// ESP32.
    Esp32,
    /// ESP32-S2.
    Esp32s2,
    /// ESP32-S3.
    Esp32s3,
    /// ESP32-C2, also sold as ESP8684.
    Esp32c2,
    /// ESP32-C3.
    #[default]
    Esp32c3,
    /// ESP32-C5.
    Esp32c5,
    /// ESP32-C6.
    Esp32c6,
    /// ESP32-C61.
    Esp32c61,
}

impl Chip {
    /// All chips.
    pub const ALL: [Self; 8] = [
        Self::Esp32,
        Self::Esp32s2,
        Self::Esp32s3,
        Self::Esp32c2,
        Self::Esp32c3,
        Self::Esp32c5,
        Self::Esp32c6,
        Self::Esp32c61,
    ];

    /// Returns the chip's name as in `CONFIG_IDF_TARGET`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Esp32 => "esp32",
            Self::Esp32s2 => "esp32s2",
            Self::Esp32s3 => "esp32s3",
            Self::Esp32c2 => "esp32c2",
            Self::Esp32c3 => "esp32c3",
            Self::Esp32c5 => "esp32c5",
            Self::Esp32c6 => "esp32c6",
            Self::Esp32c61 => "esp32c61",
        }
    }

    /// Returns whether the radio supports 802.11ax: `SOC_WIFI_HE_SUPPORT` of ESP-IDF's capability
    /// headers.
    #[must_use]
    pub const fn he(self) -> bool {
        matches!(self, Self::Esp32c5 | Self::Esp32c6 | Self::Esp32c61)
    }

    /// Returns whether PSRAM can be attached: `SOC_SPIRAM_SUPPORTED`.
    #[must_use]
    pub const fn psram(self) -> bool {
        !matches!(self, Self::Esp32c2 | Self::Esp32c3 | Self::Esp32c6)
    }

    /// Returns the clocks that the firmware can choose for the processor, in MHz: the choice
    /// `ESP_DEFAULT_CPU_FREQ_MHZ` of ESP-IDF's `components/esp_system/port/soc/CHIP/Kconfig.cpu`,
    /// without that of the crystal.
    #[must_use]
    pub const fn clocks_mhz(self) -> &'static [u32] {
        match self {
            Self::Esp32 | Self::Esp32s2 | Self::Esp32s3 | Self::Esp32c5 => &[80, 160, 240],
            Self::Esp32c2 => &[80, 120],
            Self::Esp32c3 => &[80, 160],
            Self::Esp32c6 | Self::Esp32c61 => &[80, 120, 160],
        }
    }

    /// Returns the number of processor cores.
    #[must_use]
    pub const fn cores(self) -> u8 {
        match self {
            Self::Esp32 | Self::Esp32s3 => 2,
            _ => 1,
        }
    }
}

impl fmt::Display for Chip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A chip of ESP-IDF that has no Wi-Fi, and so neither ESP-NOW: no `SOC_WIFI_SUPPORTED` in its capability
/// headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChipWithoutWifi {
    /// ESP32-H2.
    Esp32h2,
    /// ESP32-H21.
    Esp32h21,
    /// ESP32-H4.
    Esp32h4,
    /// ESP32-P4.
    Esp32p4,
}

impl ChipWithoutWifi {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Esp32h2, Self::Esp32h21, Self::Esp32h4, Self::Esp32p4];

    /// Returns the chip that a word names, as `esp32h2` or `ESP32-H2`; `None` if it names none of these.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| is_named(text, it.title()))
    }

    /// Returns the chip's name as Espressif writes it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Esp32h2 => "ESP32-H2",
            Self::Esp32h21 => "ESP32-H21",
            Self::Esp32h4 => "ESP32-H4",
            Self::Esp32p4 => "ESP32-P4",
        }
    }

    /// Returns why there is nothing to measure or to simulate.
    #[must_use]
    pub const fn why(self) -> &'static str {
        match self {
            Self::Esp32h2 | Self::Esp32h21 | Self::Esp32h4 => {
                "its radio speaks Bluetooth LE and IEEE 802.15.4 (Thread, Zigbee) only; ESP-NOW and IP over Wi-Fi need Wi-Fi"
            }
            Self::Esp32p4 => {
                "it has no radio of its own; its Wi-Fi is that of a second chip beside it (ESP-Hosted)"
            }
        }
    }

    /// Returns what to do.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::Esp32h2 | Self::Esp32h21 | Self::Esp32h4 => {
                "name a chip with Wi-Fi: the esp32c6 has IEEE 802.15.4 and Bluetooth LE beside it"
            }
            Self::Esp32p4 => "name the chip beside it: esp32c6 on Espressif's own boards",
        }
    }
}

/// Says which chip it is, why it is refused and what to do, in one sentence.
impl fmt::Display for ChipWithoutWifi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no Wi-Fi: {}; {}", self.title(), self.why(), self.remedy())
    }
}

impl core::error::Error for ChipWithoutWifi {}

/// Returns whether a text is a chip's name, in upper or lower case, with the hyphen or without.
fn is_named(text: &str, name: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = char> + '_ {
        text.chars().filter(|it| *it != '-').map(|it| it.to_ascii_lowercase())
    }
    letters(text).eq(letters(name))
}

/// Error: a word names no chip with an sdkconfig.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownChip {
    /// A chip of ESP-IDF without Wi-Fi.
    NoWifi(ChipWithoutWifi),
    /// Anything else.
    NoChip,
}

impl fmt::Display for UnknownChip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::NoWifi(chip) = self {
            return write!(f, "a chip that is not here: {chip}");
        }
        f.write_str("no chip of ESP-IDF with Wi-Fi; there are")?;
        for (at, chip) in Chip::ALL.iter().enumerate() {
            write!(f, "{} {chip}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownChip {}

impl FromStr for Chip {
    type Err = UnknownChip;

    /// Parses `esp32c3` or `ESP32-C3`.
    fn from_str(text: &str) -> Result<Self, UnknownChip> {
        let found = Self::ALL.into_iter().find(|chip| is_named(text, chip.name()));
        let no_wifi = || ChipWithoutWifi::of(text).map_or(UnknownChip::NoChip, UnknownChip::NoWifi);
        found.ok_or_else(no_wifi)
    }
}

/// A release of ESP-IDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdfRelease {
    /// Major number: 5 of v5.2.
    pub major: u8,
    /// Minor number: 2 of v5.2.
    pub minor: u8,
}

impl IdfRelease {
    /// Returns the release with these numbers.
    #[must_use]
    pub const fn new(major: u8, minor: u8) -> Self {
        Self { major, minor }
    }

    /// Returns whether the release is at least `major.minor`.
    #[must_use]
    pub const fn from(self, major: u8, minor: u8) -> bool {
        self.major > major || (self.major == major && self.minor >= minor)
    }
}

impl Default for IdfRelease {
    /// Returns v5.2, the first release with the current names and defaults of all options.
    fn default() -> Self {
        Self::new(5, 2)
    }
}

impl fmt::Display for IdfRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}.{}", self.major, self.minor)
    }
}

/// Error: a text names no release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRelease;

impl fmt::Display for UnknownRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no release of ESP-IDF; write it as v5.2")
    }
}

impl core::error::Error for UnknownRelease {}

impl FromStr for IdfRelease {
    type Err = UnknownRelease;

    /// Parses `v5.2`, `5.2.1` or `5.3-dev-1234-gabcdef`.
    fn from_str(text: &str) -> Result<Self, UnknownRelease> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let (major, rest) = text.split_once('.').ok_or(UnknownRelease)?;
        let end = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
        let number = |digits: &str| match digits.bytes().all(|it| it.is_ascii_digit()) {
            true => digits.parse().map_err(|_| UnknownRelease),
            false => Err(UnknownRelease),
        };
        Ok(Self { major: number(major)?, minor: number(&rest[..end])? })
    }
}

/// Chip, release and options on which ranges and defaults depend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SdkContext {
    /// Chip of the device.
    pub chip: Chip,
    /// Release of ESP-IDF.
    pub release: IdfRelease,
    /// `CONFIG_SPIRAM_TRY_ALLOCATE_WIFI_LWIP`: buffers of Wi-Fi and lwIP may be in PSRAM.
    pub psram: bool,
    /// `CONFIG_LWIP_WND_SCALE`: windows beyond 64 KB.
    pub window_scale: bool,
}
