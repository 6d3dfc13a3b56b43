//! Parses `sdkconfig` and `sdkconfig.defaults`.
//!
//! The form is that of kconfiglib: each line is `CONFIG_NAME=value`, or `# CONFIG_NAME is not set`
//! for a flag that is off; other lines that begin with `#` are comments. A generated file ends in a
//! block that repeats values under their old names; neither ESP-IDF's tools nor this parser read
//! the block.

use super::chip::{Chip, ChipWithoutWifi, IdfRelease, SdkContext, UnknownChip};
use super::hosted::HostedOptions;
use super::key::{ConfigOption, ValueType};
use super::settings::OptionValues;
use crate::text::place;
use core::fmt;

/// Greatest number of warnings that are kept; further ones are counted.
pub const WARNINGS: usize = 32;

/// Comments that begin and end the block of old names.
const OLD_NAMES: [&str; 2] =
    ["Deprecated options for backward compatibility", "End of deprecated options"];

/// Begin of the comment that names the release, since v4.3: "… (ESP-IDF) 5.1.2 Project
/// Configuration".
const HEAD: &str = "Espressif IoT Development Framework (ESP-IDF) ";

/// End of the comment that stands for a flag that is off.
const NOT_SET: &str = " is not set";

/// Largest transmit power of Wi-Fi, and how it was called before v5.0 (components/esp_phy/Kconfig).
pub const TX_POWER: &str = "CONFIG_ESP_PHY_MAX_WIFI_TX_POWER";
const TX_POWER_OLD: &str = "CONFIG_ESP32_PHY_MAX_WIFI_TX_POWER";

/// Range of [`TX_POWER`].
const TX_POWER_DBM: core::ops::RangeInclusive<u8> = 10..=20;

/// Flag by which a chip that wakes from deep sleep starts its image unchecked
/// (components/bootloader/Kconfig.projbuild).
pub const SKIPS_CHECK: &str = "CONFIG_BOOTLOADER_SKIP_VALIDATE_IN_DEEP_SLEEP";

/// Flag by which the processor's clock falls while nothing runs, from start-up on (components/esp_pm/Kconfig).
pub const SCALES_CLOCK: &str = "CONFIG_PM_DFS_INIT_AUTO";

/// Options that every configuration of Zephyr with Wi-Fi has, and no sdkconfig of ESP-IDF (Zephyr, soc/Kconfig, subsys/net/Kconfig and
/// drivers/wifi/esp32/Kconfig.esp32). Its driver has names that ESP-IDF's had, too, under another network stack.
const OF_ZEPHYR: [&str; 4] =
    ["CONFIG_NETWORKING", "CONFIG_NET_L2_WIFI_MGMT", "CONFIG_SOC_SERIES", "CONFIG_WIFI_ESP32"];

/// Returns whether a comment has a meaning for the parser.
pub(super) fn is_more(comment: &str) -> bool {
    OLD_NAMES.contains(&comment) || comment.starts_with(HEAD) || comment.ends_with(NOT_SET)
}

/// Contents of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedSdkConfig {
    /// Values of the options that espbench knows.
    pub settings: OptionValues,
    /// Chip with the radio: that of `CONFIG_IDF_TARGET`, or that beside it (ESP-Hosted).
    pub chip: Option<Chip>,
    /// Options of ESP-Hosted.
    pub hosted: HostedOptions,
    /// Clock of the processor in MHz, where the file chooses it.
    pub clock_mhz: Option<u32>,
    /// Largest transmit power of Wi-Fi in dBm, where the file says it.
    pub tx_power_dbm: Option<u8>,
    /// Whether the bootloader leaves the check of the image out when the chip wakes from deep sleep, where
    /// the file says it.
    pub skips_check: Option<bool>,
    /// Whether the processor's clock falls while nothing runs, from start-up on, where the file says it.
    pub scales_clock: Option<bool>,
    /// Release in the first lines of a generated file, or in `CONFIG_IDF_INIT_VERSION`.
    pub release: Option<IdfRelease>,
    /// Number of options that espbench does not know: they do not shape links.
    pub others: u32,
    /// Oddities that do not prevent the file from being read.
    pub warnings: heapless::Vec<SdkConfigWarning, WARNINGS>,
    /// Number of warnings beyond [`WARNINGS`].
    pub warnings_dropped: u32,
}

impl ParsedSdkConfig {
    /// Returns whether the file has no option that espbench knows: nothing follows from it, not even the chip.
    #[must_use]
    pub fn knows_nothing(&self) -> bool {
        let Self { release, others, .. } = self;
        let empty = Self { release: *release, others: *others, ..Self::default() };
        let warnings = heapless::Vec::new();
        Self { warnings, warnings_dropped: 0, ..self.clone() } == empty
    }
}

/// An oddity in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdkConfigWarning {
    /// An option is set twice, with different values: the last one counts.
    Twice {
        /// Option that is set.
        key: ConfigOption,
        /// Line that does not count, from 1.
        first: usize,
        /// Line that counts, from 1.
        last: usize,
    },
    /// An option is set by an older name.
    OldName {
        /// Option that is set.
        key: ConfigOption,
        /// Name in the file.
        name: &'static str,
        /// Line, from 1.
        line: usize,
    },
    /// A name differs by one letter from that of an option, in a file that no tool has written.
    Near {
        /// Option that is probably meant.
        key: ConfigOption,
        /// Line, from 1.
        line: usize,
    },
    /// A flag is written as `CONFIG_NAME=`, which means `n`.
    Empty {
        /// Option that is set.
        key: ConfigOption,
        /// Line, from 1.
        line: usize,
    },
}

impl fmt::Display for SdkConfigWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Twice { key, first, last } => write!(
                f,
                "line {last}: {} stands in line {first}, too, with another value; the last one \
                 counts: delete line {first}",
                key.name()
            ),
            Self::OldName { key, name, line } => {
                write!(f, "line {line}: {name} is called {} today", key.name())
            }
            Self::Near { key, line } => write!(
                f,
                "line {line}: there is no setting of that name, which is near to {}: did you mean it?",
                key.name()
            ),
            Self::Empty { key, line } => {
                write!(f, "line {line}: {} has no value, which means n", key.name())
            }
        }
    }
}

/// Position and kind of a mistake in a file, with advice on how to correct it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError<'t> {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Kind of mistake.
    pub fault: ParseErrorKind<'t>,
}

/// Kind of mistake in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseErrorKind<'t> {
    /// A line is neither a comment nor a setting.
    Line,
    /// A byte order mark stands before the first line.
    Mark,
    /// The file is the C header that the build makes from an sdkconfig.
    Header,
    /// The file is a configuration of Zephyr.
    Zephyr {
        /// Option that only Zephyr has.
        name: &'t str,
    },
    /// A number was expected.
    Number {
        /// Option whose value is wrong.
        key: ConfigOption,
        /// Text in place of the number.
        found: &'t str,
    },
    /// `y` or `n` was expected.
    Flag {
        /// Option whose value is wrong.
        key: ConfigOption,
        /// Text in place of `y` or `n`.
        found: &'t str,
    },
    /// A transmit power was expected.
    TxPower {
        /// Text in place of the power.
        found: &'t str,
    },
    /// A quoted text has no closing quote.
    Quote,
    /// The value of `CONFIG_IDF_TARGET` is no chip with Wi-Fi.
    Chip {
        /// Text in place of a chip's name.
        found: &'t str,
    },
}

impl fmt::Display for ParseError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: ", self.line, self.column)?;
        match self.fault {
            ParseErrorKind::Line => f.write_str(
                "no line of an sdkconfig: write CONFIG_NAME=value, or begin a comment with #",
            ),
            ParseErrorKind::Mark => f.write_str(
                "a byte order mark stands before the first line, which ESP-IDF's tools then do not \
                 read: save the file as UTF-8 without one",
            ),
            ParseErrorKind::Header => f.write_str(
                "this is sdkconfig.h, which the build makes: name the sdkconfig that it was made of",
            ),
            ParseErrorKind::Zephyr { name } => write!(
                f,
                "{name} is an option of Zephyr, whose TCP/IP is not lwIP: espbench reads the sdkconfig of ESP-IDF and of what \
                 is built on it"
            ),
            ParseErrorKind::Number { key, found } => {
                let range = key.range(&SdkContext::default());
                let (name, unit) = (key.name(), key.fact().unit);
                let digits = !found.is_empty() && found.chars().all(|it| it.is_ascii_digit());
                write!(
                    f,
                    "`{found}` is {}: {name} takes {} to {} {unit}",
                    if digits { "too much" } else { "no number" },
                    range.start(),
                    range.end()
                )
            }
            ParseErrorKind::Flag { key, found } => write!(
                f,
                "`{found}` is neither y nor n: write {name}=y or # {name} is not set",
                name = key.name()
            ),
            ParseErrorKind::TxPower { found } => {
                let (least, most) = (TX_POWER_DBM.start(), TX_POWER_DBM.end());
                write!(f, "`{found}` is no transmit power: {TX_POWER} takes {least} to {most} dBm")
            }
            ParseErrorKind::Quote => f.write_str("the quote has no end: add a \" at the end of the line"),
            ParseErrorKind::Chip { found } => match found.parse::<super::Chip>() {
                Err(UnknownChip::NoWifi(chip)) => chip.fmt(f),
                _ => write!(f, "`{found}` is {}", UnknownChip::NoChip),
            },
        }
    }
}

impl core::error::Error for ParseError<'_> {}

/// Parses a file.
///
/// # Errors
/// Returns the first mistake.
pub fn read(text: &str) -> Result<ParsedSdkConfig, ParseError<'_>> {
    read_beside(text, None)
}

/// Parses a file, which may be that of an ESP32-P4 that does not name the chip beside it: then that is `beside`.
///
/// # Errors
/// As [`read`].
pub fn read_beside(text: &str, beside: Option<Chip>) -> Result<ParsedSdkConfig, ParseError<'_>> {
    let mut reader = Parser {
        text,
        reading: ParsedSdkConfig::default(),
        lines: [0; ConfigOption::COUNT],
        without_wifi: None,
    };
    if text.starts_with('\u{feff}') {
        return Err(ParseError { line: 1, column: 1, fault: ParseErrorKind::Mark });
    }
    let (mut offset, mut old) = (0, false);
    for (number, whole) in (1..).zip(text.split('\n')) {
        let line = whole.trim();
        match line.strip_prefix('#').map(str::trim) {
            Some(comment) if comment == OLD_NAMES[0] => old = true,
            Some(comment) if comment == OLD_NAMES[1] => old = false,
            Some(comment) if comment.starts_with("define CONFIG_") => {
                let (line, column) = place(text, offset + (whole.len() - whole.trim_start().len()));
                return Err(ParseError { line, column, fault: ParseErrorKind::Header });
            }
            _ if old || line.is_empty() => {}
            Some(comment) => reader.comment(comment, number),
            None => {
                let start = offset + (whole.len() - whole.trim_start().len());
                reader.setting(line, start, number)?;
            }
        }
        offset += whole.len() + 1;
    }
    reader.finish(beside)
}

/// Chip beside an ESP32-P4 that names none: `SLAVE_IDF_TARGET` of esp_wifi_remote.
const USUAL_BESIDE: Chip = Chip::Esp32c6;

struct Parser<'t> {
    text: &'t str,
    reading: ParsedSdkConfig,
    /// Line in which each option was last set, from 1; 0 where it was not.
    lines: [usize; ConfigOption::COUNT],
    /// Name of a host without a radio, which only the options of ESP-Hosted make good, and its place.
    without_wifi: Option<(usize, &'t str)>,
}

impl<'t> Parser<'t> {
    /// Takes the chip beside a host for the one with the radio.
    fn finish(mut self, beside: Option<Chip>) -> Result<ParsedSdkConfig, ParseError<'t>> {
        let hosted = &mut self.reading.hosted;
        // The co-processor's own firmware has the same names in some releases.
        hosted.is_host &= !hosted.is_co_processor;
        if let Some((at, found)) = self.without_wifi {
            if !hosted.is_host && beside.is_none() {
                let (line, column) = place(self.text, at);
                return Err(ParseError { line, column, fault: ParseErrorKind::Chip { found } });
            }
            hosted.is_host = true;
            self.reading.chip = hosted.beside.or(beside).or(Some(USUAL_BESIDE));
        } else if hosted.is_host && hosted.beside.is_some() {
            self.reading.chip = hosted.beside;
        }
        Ok(self.reading)
    }

    fn comment(&mut self, comment: &str, line: usize) {
        if let Some(name) = comment.strip_suffix(NOT_SET).map(str::trim) {
            if name == SKIPS_CHECK {
                self.reading.skips_check = Some(false);
                return;
            }
            if name == SCALES_CLOCK {
                self.reading.scales_clock = Some(false);
                return;
            }
            self.reading.hosted.take(name, "n");
            match ConfigOption::find(name).filter(|_| name.starts_with("CONFIG_")) {
                // One flag of a choice is set, and that one counts.
                None if ConfigOption::find_member(name).is_some() => {}
                Some(key) if key.fact().kind == ValueType::Flag => self.take(key, name, 0, line),
                // A number that is not set has its default.
                Some(_) => {}
                None => self.other(name, line),
            }
            return;
        }
        if let Some(rest) = comment.strip_prefix(HEAD) {
            let word = rest.split(' ').next().unwrap_or_default();
            self.reading.release = word.parse().ok().or(self.reading.release);
        }
    }

    fn setting(
        &mut self,
        line: &'t str,
        start: usize,
        number: usize,
    ) -> Result<(), ParseError<'t>> {
        let wrong = |at: usize, fault| {
            let (line, column) = place(self.text, at);
            Err(ParseError { line, column, fault })
        };
        let Some((name, value)) = line.split_once('=') else {
            return wrong(start, ParseErrorKind::Line);
        };
        let at = start + name.len() + 1;
        let (name, value) = (name.trim(), value.trim());
        if !name.starts_with("CONFIG_") {
            return wrong(start, ParseErrorKind::Line);
        }
        if let Some(name) = OF_ZEPHYR.into_iter().find(|it| *it == name) {
            return wrong(start, ParseErrorKind::Zephyr { name });
        }
        self.reading.hosted.take(name, value);
        let bare = match value.strip_prefix('"') {
            Some(rest) => match rest.strip_suffix('"') {
                Some(inner) => inner,
                None => return wrong(at, ParseErrorKind::Quote),
            },
            None => value,
        };
        match name {
            "CONFIG_IDF_TARGET" => match bare.parse() {
                Ok(chip) => self.reading.chip = Some(chip),
                Err(UnknownChip::NoWifi(ChipWithoutWifi::Esp32p4)) => {
                    self.without_wifi = Some((at, bare));
                }
                Err(_) => return wrong(at, ParseErrorKind::Chip { found: bare }),
            },
            "CONFIG_IDF_INIT_VERSION" if self.reading.release.is_none() => {
                self.reading.release = bare.parse().ok();
            }
            TX_POWER | TX_POWER_OLD => {
                let dbm = bare.parse().ok().filter(|it| TX_POWER_DBM.contains(it));
                match dbm {
                    Some(dbm) => self.reading.tx_power_dbm = Some(dbm),
                    None => return wrong(at, ParseErrorKind::TxPower { found: bare }),
                }
            }
            SCALES_CLOCK => self.reading.scales_clock = Some(matches!(bare, "y" | "Y" | "1")),
            SKIPS_CHECK => self.reading.skips_check = Some(matches!(bare, "y" | "Y" | "1")),
            _ if let Some(mhz) = clock(name) => {
                if matches!(bare, "y" | "Y" | "1") {
                    self.reading.clock_mhz = Some(mhz);
                }
            }
            _ if let Some((key, value)) = ConfigOption::find_member(name) => {
                if matches!(bare, "y" | "Y" | "1") {
                    self.take(key, name, value, number);
                }
            }
            _ => {
                // What has a choice's own name is made by the build from the flag that is set.
                let Some(key) = ConfigOption::find(name).filter(|it| it.words().is_empty()) else {
                    self.other(name, number);
                    return Ok(());
                };
                let value = match (key.fact().kind, bare) {
                    (ValueType::Flag, "y" | "Y" | "1") => 1,
                    (ValueType::Flag, "n" | "N" | "0") => 0,
                    (ValueType::Flag, "") => {
                        self.warn(SdkConfigWarning::Empty { key, line: number });
                        0
                    }
                    (ValueType::Flag, found) => {
                        return wrong(at, ParseErrorKind::Flag { key, found });
                    }
                    (ValueType::Number | ValueType::Choice(_), text) => match integer(text) {
                        Some(value) => value,
                        None => return wrong(at, ParseErrorKind::Number { key, found: text }),
                    },
                };
                self.take(key, name, value, number);
            }
        }
        Ok(())
    }

    fn take(&mut self, key: ConfigOption, name: &str, value: u32, line: usize) {
        if let Some(name) = key.fact().old.iter().find(|it| **it == name) {
            self.warn(SdkConfigWarning::OldName { key, name, line });
        }
        let before = self.reading.settings.set(key, value);
        let first = core::mem::replace(&mut self.lines[key as usize], line);
        if before.is_some_and(|it| it != value) {
            self.warn(SdkConfigWarning::Twice { key, first, last: line });
        }
    }

    fn other(&mut self, name: &str, line: usize) {
        if !name.starts_with("CONFIG_") {
            return;
        }
        self.reading.others += 1;
        // ESP-IDF's tools never write a wrong name, and many of their names differ by a letter.
        if self.reading.release.is_none() && !REAL.contains(&name) {
            let mut known = super::key::FACTS.iter().filter(|it| it.key.words().is_empty());
            let near = known.find(|it| near(name, it.key.name()));
            if let Some(fact) = near {
                self.warn(SdkConfigWarning::Near { key: fact.key, line });
            }
        }
    }

    fn warn(&mut self, warning: SdkConfigWarning) {
        if self.reading.warnings.push(warning).is_err() {
            self.reading.warnings_dropped += 1;
        }
    }
}

/// Returns the clock that a flag of the choice stands for: `CONFIG_ESP_DEFAULT_CPU_FREQ_MHZ_160`,
/// before v5.0 `CONFIG_ESP32C3_DEFAULT_CPU_FREQ_160`.
fn clock(name: &str) -> Option<u32> {
    let (chip, rest) = name.strip_prefix("CONFIG_")?.split_once("_DEFAULT_CPU_FREQ_")?;
    let known = chip == "ESP" || Chip::ALL.iter().any(|it| it.name().eq_ignore_ascii_case(chip));
    let mhz = rest.strip_prefix("MHZ_").unwrap_or(rest);
    integer(mhz).filter(|it| known && *it > 0 && mhz.len() <= 3)
}

/// Options of ESP-IDF whose names differ by one letter from one that espbench knows.
const REAL: [&str; 4] = [
    "CONFIG_LWIP_TCP_MSL",
    "CONFIG_ESP_WIFI_AMSDU_TX_ENABLED",
    "CONFIG_ESP32_WIFI_AMSDU_TX_ENABLED",
    "CONFIG_LWIP_TCP_TMR_INTERVAL",
];

/// Returns whether names differ by one edit: a letter changed, added, left out, or two letters
/// swapped.
fn near(name: &str, known: &str) -> bool {
    let same = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let (a, b) = (name.as_bytes(), known.as_bytes());
    let front = same(name, known);
    let (a, b) = (&a[front..], &b[front..]);
    match (a, b) {
        ([_, a @ ..], [_, b @ ..]) if a == b => true,
        ([x, y, a @ ..], [v, w, b @ ..]) if (x, y) == (w, v) && a == b => true,
        ([_, rest @ ..], b) if rest == b => true,
        (a, [_, rest @ ..]) if rest == a => true,
        _ => false,
    }
}

/// Parses a decimal number, as Kconfig's `int` is, or a hexadecimal one with 0x, which its tools
/// also accept.
fn integer(text: &str) -> Option<u32> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = hexadecimal.map_or((text, 10), |digits| (digits, 16));
    match digits.chars().all(|it| it.is_digit(radix)) {
        true => u32::from_str_radix(digits, radix).ok(),
        false => None,
    }
}
