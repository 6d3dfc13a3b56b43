//! The options: their names, old and new, their meaning, and their cost in memory.
//!
//! Names and releases are those of ESP-IDF's files `components/esp_wifi/Kconfig` (before v4.2
//! `components/esp32/Kconfig`), `components/lwip/Kconfig`, `components/freertos/Kconfig` and of
//! their `sdkconfig.rename`, read at the tags v3.0 to v6.0.1.

use super::chip::{Chip, IdfRelease};
use super::hosted::REMOTE_WIFI;
use core::fmt;

/// Type of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// `y` or `n`; stored as 1 or 0.
    Flag,
    /// A whole number.
    Number,
    /// One of several flags: the number that stands for each, and the end of its name.
    Choice(&'static [(u32, &'static str)]),
}

/// Cost of an option in heap memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Price {
    /// No memory, or hardly any.
    Nothing,
    /// Bytes for each unit, from the start of Wi-Fi on.
    Always(u32),
    /// Bytes for each unit at the peak of traffic.
    AtPeak(u32),
    /// Bytes for each unit and each socket in use.
    EachSocket(u32),
    /// Bytes of code that a set flag moves from flash to RAM. On chips with one RAM for code and
    /// data these are lost to the heap.
    Code(u32),
}

/// Description of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Option that is described.
    pub key: ConfigOption,
    /// Name in current releases.
    pub name: &'static str,
    /// Names in older releases.
    pub old: &'static [&'static str],
    /// First release with the current name.
    pub since: IdfRelease,
    /// Type of the value.
    pub kind: ValueType,
    /// Unit of the number; empty for flags.
    pub unit: &'static str,
    /// Meaning in a few words.
    pub meaning: &'static str,
    /// Cost in memory.
    pub price: Price,
}

/// Size of a buffer of the driver, in bytes: "fixed as 1.6 KB" (ESP-IDF, Wi-Fi performance and
/// power save, note below the parameters). A KB is 1024 bytes there, as in the ranks' TCP windows.
pub const BUFFER_BYTES: u32 = 1638;

macro_rules! keys {
    ($($key:ident, $name:literal, [$($old:literal),*], ($major:literal, $minor:literal), $kind:expr,
        $unit:literal, $price:expr, $meaning:literal;)*) => {
        /// An option that shapes links.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ConfigOption {
            $(#[doc = concat!("`", $name, "`: ", $meaning, ".")] $key,)*
        }

        /// Descriptions of all options, in the order of [`ConfigOption`].
        pub const FACTS: &[Fact] = &[$(Fact {
            key: ConfigOption::$key,
            name: $name,
            old: &[$($old),*],
            since: IdfRelease::new($major, $minor),
            kind: $kind,
            unit: $unit,
            meaning: $meaning,
            price: $price,
        },)*];
    };
}

use Price::{Always, AtPeak, Code, EachSocket, Nothing};
use ValueType::{Choice, Flag, Number};

keys! {
    StaticRx, "CONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM", ["CONFIG_ESP32_WIFI_STATIC_RX_BUFFER_NUM"],
        (5, 1), Number, "frames", Always(BUFFER_BYTES),
        "frames that the radio can write to before the driver looks at them";
    DynamicRx, "CONFIG_ESP_WIFI_DYNAMIC_RX_BUFFER_NUM", ["CONFIG_ESP32_WIFI_DYNAMIC_RX_BUFFER_NUM"],
        (5, 1), Number, "frames", AtPeak(BUFFER_BYTES),
        "received frames between driver and lwIP's reader; 0: no limit";
    StaticTxBuffer, "CONFIG_ESP_WIFI_STATIC_TX_BUFFER", ["CONFIG_ESP32_WIFI_STATIC_TX_BUFFER"],
        (5, 1), Flag, "", Nothing,
        "send buffers are allocated at the start, not as needed";
    DynamicTxBuffer, "CONFIG_ESP_WIFI_DYNAMIC_TX_BUFFER", ["CONFIG_ESP32_WIFI_DYNAMIC_TX_BUFFER"],
        (5, 1), Flag, "", Nothing,
        "send buffers are allocated as needed";
    StaticTx, "CONFIG_ESP_WIFI_STATIC_TX_BUFFER_NUM", ["CONFIG_ESP32_WIFI_STATIC_TX_BUFFER_NUM"],
        (5, 1), Number, "frames", Always(BUFFER_BYTES),
        "frames that wait in the driver, with static send buffers";
    DynamicTx, "CONFIG_ESP_WIFI_DYNAMIC_TX_BUFFER_NUM", ["CONFIG_ESP32_WIFI_DYNAMIC_TX_BUFFER_NUM"],
        (5, 1), Number, "frames", AtPeak(BUFFER_BYTES),
        "frames that wait in the driver, with dynamic send buffers";
    CacheTx, "CONFIG_ESP_WIFI_CACHE_TX_BUFFER_NUM", ["CONFIG_ESP32_WIFI_CACHE_TX_BUFFER_NUM"],
        (5, 1), Number, "frames", Nothing,
        "frames that wait in PSRAM for a static send buffer";
    AmpduTx, "CONFIG_ESP_WIFI_AMPDU_TX_ENABLED", ["CONFIG_ESP32_WIFI_AMPDU_TX_ENABLED"],
        (5, 1), Flag, "", Nothing,
        "frames are sent in aggregates with one block acknowledgement";
    TxBaWindow, "CONFIG_ESP_WIFI_TX_BA_WIN", ["CONFIG_ESP32_WIFI_TX_BA_WIN"],
        (5, 1), Number, "frames", Nothing,
        "frames of an aggregate that is sent, at most";
    AmpduRx, "CONFIG_ESP_WIFI_AMPDU_RX_ENABLED", ["CONFIG_ESP32_WIFI_AMPDU_RX_ENABLED"],
        (5, 1), Flag, "", Nothing,
        "aggregates are received";
    RxBaWindow, "CONFIG_ESP_WIFI_RX_BA_WIN", ["CONFIG_ESP32_WIFI_RX_BA_WIN"],
        (5, 1), Number, "frames", Nothing,
        "frames of an aggregate that is received, at most, and of the buffer that puts them in order";
    WifiIram, "CONFIG_ESP_WIFI_IRAM_OPT", ["CONFIG_ESP32_WIFI_IRAM_OPT"],
        (5, 1), Flag, "", Code(15 * 1024),
        "the driver's common and send code is in RAM";
    WifiExtraIram, "CONFIG_ESP_WIFI_EXTRA_IRAM_OPT", [],
        (5, 2), Flag, "", Code(5 * 1024),
        "further code of the driver is in RAM";
    WifiRxIram, "CONFIG_ESP_WIFI_RX_IRAM_OPT", ["CONFIG_ESP32_WIFI_RX_IRAM_OPT"],
        (5, 1), Flag, "", Code(16 * 1024),
        "the driver's receive code is in RAM";
    SleepIram, "CONFIG_ESP_WIFI_SLP_IRAM_OPT", [],
        (4, 3), Flag, "", Code(7475),
        "the code that wakes for beacons is in RAM";
    MinActive, "CONFIG_ESP_WIFI_SLP_DEFAULT_MIN_ACTIVE_TIME", [],
        (4, 3), Number, "ms", Nothing,
        "a station in modem sleep stays awake so long after traffic";
    LwipIram, "CONFIG_LWIP_IRAM_OPTIMIZATION", [],
        (3, 3), Flag, "", Code(13 * 1024),
        "lwIP's paths of packets are in RAM";
    LwipExtraIram, "CONFIG_LWIP_EXTRA_IRAM_OPTIMIZATION", [],
        (5, 2), Flag, "", Code(17 * 1024),
        "TCP's paths, too, are in RAM";
    TcpMss, "CONFIG_LWIP_TCP_MSS", ["CONFIG_TCP_MSS"],
        (4, 0), Number, "bytes", Nothing,
        "payload of a TCP segment";
    SendBuffer, "CONFIG_LWIP_TCP_SND_BUF_DEFAULT", ["CONFIG_TCP_SND_BUF_DEFAULT"],
        (4, 0), Number, "bytes", EachSocket(1),
        "bytes that a TCP socket holds until they are acknowledged";
    Window, "CONFIG_LWIP_TCP_WND_DEFAULT", ["CONFIG_TCP_WND_DEFAULT"],
        (4, 0), Number, "bytes", Nothing,
        "bytes that the other side may have on the way to a TCP socket";
    TcpMailbox, "CONFIG_LWIP_TCP_RECVMBOX_SIZE", ["CONFIG_TCP_RECVMBOX_SIZE"],
        (4, 0), Number, "segments", EachSocket(4),
        "segments that wait for the reader of a TCP socket";
    UdpMailbox, "CONFIG_LWIP_UDP_RECVMBOX_SIZE", ["CONFIG_UDP_RECVMBOX_SIZE"],
        (4, 0), Number, "datagrams", EachSocket(4),
        "datagrams that wait for the reader of a UDP socket";
    TcpipMailbox, "CONFIG_LWIP_TCPIP_RECVMBOX_SIZE", ["CONFIG_TCPIP_RECVMBOX_SIZE"],
        (4, 0), Number, "packets", Always(4),
        "packets and calls that wait for lwIP's task";
    OoseqMax, "CONFIG_LWIP_TCP_OOSEQ_MAX_PBUFS", [],
        (5, 2), Number, "segments", Nothing,
        "segments out of order that a TCP socket keeps; 0: no limit";
    Sack, "CONFIG_LWIP_TCP_SACK_OUT", [],
        (4, 1), Flag, "", Nothing,
        "selective acknowledgements are sent";
    WindowScale, "CONFIG_LWIP_WND_SCALE", [],
        (3, 3), Flag, "", Nothing,
        "windows beyond 64 KB; needs PSRAM";
    WindowShift, "CONFIG_LWIP_TCP_RCV_SCALE", [],
        (3, 3), Number, "bits", Nothing,
        "the power of two by which windows are multiplied";
    CoreLocking, "CONFIG_LWIP_TCPIP_CORE_LOCKING", [],
        (4, 4), Flag, "", Nothing,
        "sockets take a lock instead of asking lwIP's task";
    Sockets, "CONFIG_LWIP_MAX_SOCKETS", [],
        (3, 0), Number, "sockets", Nothing,
        "sockets that may be open at a time";
    TickHz, "CONFIG_FREERTOS_HZ", [],
        (3, 0), Number, "Hz", Nothing,
        "ticks a second: no wait of a task is finer";
    Unicore, "CONFIG_FREERTOS_UNICORE", [],
        (3, 0), Flag, "", Nothing,
        "one core is used";
    PsramWifi, "CONFIG_SPIRAM_TRY_ALLOCATE_WIFI_LWIP", ["CONFIG_WIFI_LWIP_ALLOCATION_FROM_SPIRAM_FIRST"],
        (4, 0), Flag, "", Nothing,
        "buffers of Wi-Fi and lwIP are in PSRAM where it is there";
    DisconnectedSleep, "CONFIG_ESP_WIFI_STA_DISCONNECTED_PM_ENABLE", [],
        (4, 3), Flag, "", Nothing,
        "a station sleeps while it is not connected";
    FlashMode, "CONFIG_ESPTOOLPY_FLASHMODE", [],
        (3, 0), Choice(&[(0, "QIO"), (1, "QOUT"), (2, "DIO"), (3, "DOUT")]), "", Nothing,
        "lines of the flash: four or two, for data alone (OUT) or for addresses, too (IO)";
    FlashClock, "CONFIG_ESPTOOLPY_FLASHFREQ", [],
        (3, 0), Choice(&[(15, "15M"), (20, "20M"), (26, "26M"), (30, "30M"), (40, "40M"),
        (60, "60M"), (80, "80M"), (120, "120M")]), "", Nothing,
        "clock of the flash";
    InstructionCache, "CONFIG_ESP32S3_INSTRUCTION_CACHE", ["CONFIG_ESP32S2_INSTRUCTION_CACHE"],
        (3, 0), Choice(&[(8, "8KB"), (16, "16KB"), (32, "32KB")]), "", Nothing,
        "cache of the code that is in flash";
    InstructionLine, "CONFIG_ESP32S3_INSTRUCTION_CACHE_LINE",
        ["CONFIG_ESP32S2_INSTRUCTION_CACHE_LINE"],
        (3, 0), Choice(&[(16, "16B"), (32, "32B")]), "", Nothing,
        "what a miss of that cache fetches";
    DataCache, "CONFIG_ESP32S3_DATA_CACHE", ["CONFIG_ESP32S2_DATA_CACHE"],
        (3, 0), Choice(&[(0, "0KB"), (8, "8KB"), (16, "16KB"), (32, "32KB"), (64, "64KB")]), "",
        Nothing,
        "cache of data in PSRAM and flash";
    DataLine, "CONFIG_ESP32S3_DATA_CACHE_LINE", ["CONFIG_ESP32S2_DATA_CACHE_LINE"],
        (3, 0), Choice(&[(16, "16B"), (32, "32B"), (64, "64B")]), "", Nothing,
        "what a miss of that cache fetches";
    Psram, "CONFIG_SPIRAM", ["CONFIG_ESP32_SPIRAM_SUPPORT", "CONFIG_ESP32S2_SPIRAM_SUPPORT",
        "CONFIG_ESP32S3_SPIRAM_SUPPORT"],
        (5, 0), Flag, "", Nothing,
        "PSRAM is used";
    PsramMode, "CONFIG_SPIRAM_MODE", [],
        (3, 0), Choice(&[(4, "QUAD"), (8, "OCT")]), "", Nothing,
        "lines of the PSRAM: four or eight";
    PsramClock, "CONFIG_SPIRAM_SPEED", [],
        (3, 0), Choice(&[(20, "20M"), (26, "26M"), (40, "40M"), (80, "80M"), (120, "120M")]), "",
        Nothing,
        "clock of the PSRAM";
    Optimization, "CONFIG_COMPILER_OPTIMIZATION", [],
        (3, 0), Choice(&[(0, "DEBUG"), (1, "SIZE"), (2, "PERF"), (3, "NONE")]), "", Nothing,
        "what the compiler makes of lwIP's code and the program's";
}

impl ConfigOption {
    /// Number of options.
    pub const COUNT: usize = FACTS.len();

    /// Returns all options.
    pub fn all() -> impl Iterator<Item = Self> {
        FACTS.iter().map(|it| it.key)
    }

    /// Returns the description of the option.
    #[must_use]
    pub const fn fact(self) -> &'static Fact {
        &FACTS[self as usize]
    }

    /// Returns the name in current releases.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.fact().name
    }

    /// Returns the name in a release.
    #[must_use]
    pub fn name_in(self, release: IdfRelease) -> &'static str {
        let fact = self.fact();
        match fact.old.first() {
            Some(old) if release < fact.since => old,
            _ => fact.name,
        }
    }

    /// Returns the name in a release for a chip: caches are named after theirs.
    #[must_use]
    pub fn name_for(self, chip: Chip, release: IdfRelease) -> &'static str {
        let fact = self.fact();
        match fact.old.first() {
            Some(old) if chip == Chip::Esp32s2 && old.starts_with("CONFIG_ESP32S2_") => old,
            _ => self.name_in(release),
        }
    }

    /// Returns the words of a choice with their numbers; of other options none.
    #[must_use]
    pub const fn words(self) -> &'static [(u32, &'static str)] {
        match self.fact().kind {
            ValueType::Choice(words) => words,
            ValueType::Flag | ValueType::Number => &[],
        }
    }

    /// Returns a value as files and results have it: `y`, `n`, a number, or the word of a choice.
    #[must_use]
    pub const fn text(self, value: u32) -> OptionText {
        OptionText { key: self, value }
    }

    /// Returns the number of a choice's word, in capitals or not.
    #[must_use]
    pub fn of_word(self, word: &str) -> Option<u32> {
        let same = |it: &&(u32, &str)| it.1.eq_ignore_ascii_case(word);
        self.words().iter().find(same).map(|it| it.0)
    }

    /// Returns the value of a text as [`Self::text`] prints it.
    #[must_use]
    pub fn of_text(self, text: &str) -> Option<u32> {
        match (self.fact().kind, text) {
            (ValueType::Flag, "y") => Some(1),
            (ValueType::Flag, "n") => Some(0),
            (ValueType::Flag, _) => None,
            (ValueType::Number, number) => number.parse().ok(),
            (ValueType::Choice(_), word) => self.of_word(word),
        }
    }

    /// Finds the choice and the number of one of its flags: `CONFIG_ESPTOOLPY_FLASHMODE_QIO`.
    #[must_use]
    pub fn find_member(name: &str) -> Option<(Self, u32)> {
        let member = |fact: &'static Fact| {
            let word = |base: &str| name.strip_prefix(base)?.strip_prefix('_');
            let mut bases = core::iter::once(&fact.name).chain(fact.old);
            bases.find_map(|base| Some((fact.key, fact.key.of_word(word(base)?)?)))
        };
        FACTS.iter().filter(|it| !it.key.words().is_empty()).find_map(member)
    }

    /// Returns the name that a host has for an option of its co-processor's Wi-Fi: `CONFIG_WIFI_RMT_` and the rest of that of
    /// `CONFIG_ESP_WIFI_`; none for an option that is not sent to it.
    #[must_use]
    pub const fn remote_name(self) -> Option<&'static str> {
        Some(match self {
            Self::StaticRx => "CONFIG_WIFI_RMT_STATIC_RX_BUFFER_NUM",
            Self::DynamicRx => "CONFIG_WIFI_RMT_DYNAMIC_RX_BUFFER_NUM",
            Self::StaticTxBuffer => "CONFIG_WIFI_RMT_STATIC_TX_BUFFER",
            Self::DynamicTxBuffer => "CONFIG_WIFI_RMT_DYNAMIC_TX_BUFFER",
            Self::StaticTx => "CONFIG_WIFI_RMT_STATIC_TX_BUFFER_NUM",
            Self::DynamicTx => "CONFIG_WIFI_RMT_DYNAMIC_TX_BUFFER_NUM",
            Self::CacheTx => "CONFIG_WIFI_RMT_CACHE_TX_BUFFER_NUM",
            Self::AmpduTx => "CONFIG_WIFI_RMT_AMPDU_TX_ENABLED",
            Self::TxBaWindow => "CONFIG_WIFI_RMT_TX_BA_WIN",
            Self::AmpduRx => "CONFIG_WIFI_RMT_AMPDU_RX_ENABLED",
            Self::RxBaWindow => "CONFIG_WIFI_RMT_RX_BA_WIN",
            Self::WifiIram => "CONFIG_WIFI_RMT_IRAM_OPT",
            Self::WifiExtraIram => "CONFIG_WIFI_RMT_EXTRA_IRAM_OPT",
            Self::WifiRxIram => "CONFIG_WIFI_RMT_RX_IRAM_OPT",
            Self::SleepIram => "CONFIG_WIFI_RMT_SLP_IRAM_OPT",
            Self::MinActive => "CONFIG_WIFI_RMT_SLP_DEFAULT_MIN_ACTIVE_TIME",
            Self::DisconnectedSleep => "CONFIG_WIFI_RMT_STA_DISCONNECTED_PM_ENABLE",
            _ => return None,
        })
    }

    /// Finds the option of a name, old or new, with or without `CONFIG_`, or that of a host for its co-processor.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        let bare = name.strip_prefix("CONFIG_").unwrap_or(name);
        if bare.starts_with(REMOTE_WIFI) {
            let is = |it: &Self| it.remote_name().is_some_and(|it| it["CONFIG_".len()..] == *bare);
            return Self::all().find(is);
        }
        let same = |it: &&str| it["CONFIG_".len()..] == *bare;
        let named = |it: &&Fact| same(&it.name) || it.old.iter().any(same);
        FACTS.iter().find(named).map(|it| it.key)
    }
}

/// A value of an option, printed as files have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionText {
    key: ConfigOption,
    value: u32,
}

impl fmt::Display for OptionText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, value } = self;
        let word = key.words().iter().find(|it| it.0 == *value);
        match (key.fact().kind, word) {
            (ValueType::Flag, _) => f.write_str(if *value == 0 { "n" } else { "y" }),
            (_, Some((_, word))) => f.write_str(word),
            (_, None) => value.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_stand_at_their_keys() {
        for (at, fact) in FACTS.iter().enumerate() {
            assert_eq!(fact.key as usize, at);
            assert!(fact.name.starts_with("CONFIG_"));
            assert!(fact.old.iter().all(|it| it.starts_with("CONFIG_")));
            assert_eq!(fact.unit.is_empty(), fact.kind != ValueType::Number, "{}", fact.name);
        }
    }

    #[test]
    fn a_setting_is_found_by_any_of_its_names() {
        for name in [
            "CONFIG_LWIP_TCP_WND_DEFAULT",
            "CONFIG_TCP_WND_DEFAULT",
            "TCP_WND_DEFAULT",
            "LWIP_TCP_WND_DEFAULT",
        ] {
            assert_eq!(ConfigOption::find(name), Some(ConfigOption::Window), "{name}");
        }
        assert_eq!(
            ConfigOption::find("CONFIG_ESP32_WIFI_RX_BA_WIN"),
            Some(ConfigOption::RxBaWindow)
        );
        assert_eq!(ConfigOption::find("CONFIG_LOG_DEFAULT_LEVEL"), None);
        for option in ConfigOption::all() {
            if let Some(name) = option.remote_name() {
                assert_eq!(ConfigOption::find(name), Some(option), "{name}");
                let rest = name.strip_prefix("CONFIG_WIFI_RMT_").unwrap();
                assert_eq!(option.name().strip_prefix("CONFIG_ESP_WIFI_"), Some(rest));
            }
        }
        assert_eq!(ConfigOption::find(""), None);
    }

    #[test]
    fn members_of_choices_are_found_by_the_names_of_each_chip() {
        let of = ConfigOption::find_member;
        assert_eq!(of("CONFIG_ESPTOOLPY_FLASHMODE_QIO"), Some((ConfigOption::FlashMode, 0)));
        assert_eq!(of("CONFIG_ESPTOOLPY_FLASHFREQ_80M"), Some((ConfigOption::FlashClock, 80)));
        for chip in ["S2", "S3"] {
            let name = std::format!("CONFIG_ESP32{chip}_INSTRUCTION_CACHE_LINE_16B");
            assert_eq!(of(&name), Some((ConfigOption::InstructionLine, 16)));
        }
        assert_eq!(of("CONFIG_ESP32S3_DATA_CACHE_64KB"), Some((ConfigOption::DataCache, 64)));
        for none in
            ["CONFIG_ESPTOOLPY_FLASHMODE", "CONFIG_ESPTOOLPY_FLASHMODE_", "CONFIG_FREERTOS_HZ"]
        {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn what_is_printed_is_read_again() {
        for key in ConfigOption::all() {
            for value in core::iter::once(1).chain(key.words().iter().map(|it| it.0)) {
                let text = std::format!("{}", key.text(value));
                let known = key.words().is_empty() || key.words().iter().any(|it| it.0 == value);
                assert_eq!(key.of_text(&text), known.then_some(value), "{key:?} {text}");
            }
        }
    }

    #[test]
    fn no_name_stands_for_two_settings() {
        let names = || FACTS.iter().flat_map(|it| core::iter::once(&it.name).chain(it.old));
        for name in names() {
            assert_eq!(names().filter(|it| *it == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn names_follow_the_release() {
        let name = |major, minor| ConfigOption::StaticRx.name_in(IdfRelease::new(major, minor));
        assert_eq!(name(5, 0), "CONFIG_ESP32_WIFI_STATIC_RX_BUFFER_NUM");
        assert_eq!(name(5, 1), "CONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM");
        assert_eq!(ConfigOption::Window.name_in(IdfRelease::new(3, 3)), "CONFIG_TCP_WND_DEFAULT");
        assert_eq!(ConfigOption::TickHz.name_in(IdfRelease::new(3, 0)), "CONFIG_FREERTOS_HZ");
    }
}
