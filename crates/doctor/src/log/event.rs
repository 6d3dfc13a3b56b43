//! Events: the meaning of a record of a log.

use super::record::LogRecord;
use crate::reason;
use alloc::vec::Vec;
use espbench_model::sdkconfig::{Chip, ConfigOption, IdfRelease};

/// A setting that the boot log prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BootSetting {
    /// `Init static rx buffer num`
    StaticRx,
    /// `Init dynamic rx buffer num`
    DynamicRx,
    /// `Init dynamic tx buffer num`
    DynamicTx,
    /// `Init static tx buffer num`
    StaticTx,
    /// `rx ba win`
    RxBaWindow,
    /// `tcpip mbox`
    TcpipMailbox,
    /// `udp mbox`
    UdpMailbox,
    /// `tcp mbox`
    TcpMailbox,
    /// `tcp tx win`, in bytes
    TcpSendBuffer,
    /// `tcp rx win`, in bytes
    TcpWindow,
    /// `tcp mss`, in bytes
    TcpMss,
    /// `Init tx cache buffer num`
    CacheTx,
    /// `WiFi IRAM OP enabled`; 1
    WifiIram,
    /// `WiFi RX IRAM OP enabled`; 1
    WifiRxIram,
    /// `LWIP IRAM OP enabled`; 1
    LwipIram,
}

impl BootSetting {
    /// All settings, with the words in front of their value.
    const WORDS: [(&'static str, Self); 12] = [
        ("Init static rx buffer num: ", Self::StaticRx),
        ("Init dynamic rx buffer num: ", Self::DynamicRx),
        ("Init dynamic tx buffer num: ", Self::DynamicTx),
        ("Init static tx buffer num: ", Self::StaticTx),
        ("rx ba win: ", Self::RxBaWindow),
        ("tcpip mbox: ", Self::TcpipMailbox),
        ("udp mbox: ", Self::UdpMailbox),
        ("tcp mbox: ", Self::TcpMailbox),
        ("tcp tx win: ", Self::TcpSendBuffer),
        ("tcp rx win: ", Self::TcpWindow),
        ("tcp mss: ", Self::TcpMss),
        ("Init tx cache buffer num: ", Self::CacheTx),
    ];

    /// Flags, with the words that stand there where they are set.
    const FLAGS: [(&'static str, Self); 3] = [
        ("WiFi IRAM OP enabled", Self::WifiIram),
        ("WiFi RX IRAM OP enabled", Self::WifiRxIram),
        ("LWIP IRAM OP enabled", Self::LwipIram),
    ];

    /// Returns the option of sdkconfig that sets it.
    #[must_use]
    pub const fn option(self) -> ConfigOption {
        match self {
            Self::StaticRx => ConfigOption::StaticRx,
            Self::DynamicRx => ConfigOption::DynamicRx,
            Self::DynamicTx => ConfigOption::DynamicTx,
            Self::StaticTx => ConfigOption::StaticTx,
            Self::CacheTx => ConfigOption::CacheTx,
            Self::RxBaWindow => ConfigOption::RxBaWindow,
            Self::TcpipMailbox => ConfigOption::TcpipMailbox,
            Self::UdpMailbox => ConfigOption::UdpMailbox,
            Self::TcpMailbox => ConfigOption::TcpMailbox,
            Self::TcpSendBuffer => ConfigOption::SendBuffer,
            Self::TcpWindow => ConfigOption::Window,
            Self::TcpMss => ConfigOption::TcpMss,
            Self::WifiIram => ConfigOption::WifiIram,
            Self::WifiRxIram => ConfigOption::WifiRxIram,
            Self::LwipIram => ConfigOption::LwipIram,
        }
    }
}

/// A type of power save (`wifi_ps_type_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PowerSaveType {
    /// `WIFI_PS_NONE`
    None,
    /// `WIFI_PS_MIN_MODEM`
    MinModem,
    /// `WIFI_PS_MAX_MODEM`
    MaxModem,
}

/// An error of ESP-NOW (`esp_now.h`; `ESP_ERR_ESPNOW_BASE` is 0x3064).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EspNowError {
    /// `ESP_ERR_ESPNOW_NOT_INIT`, 0x3065
    NotInitialized,
    /// `ESP_ERR_ESPNOW_ARG`, 0x3066
    Argument,
    /// `ESP_ERR_ESPNOW_NO_MEM`, 0x3067
    NoMemory,
    /// `ESP_ERR_ESPNOW_FULL`, 0x3068
    PeersFull,
    /// `ESP_ERR_ESPNOW_NOT_FOUND`, 0x3069
    PeerNotFound,
    /// `ESP_ERR_ESPNOW_INTERNAL`, 0x306a
    Internal,
    /// `ESP_ERR_ESPNOW_EXIST`, 0x306b
    PeerExists,
    /// `ESP_ERR_ESPNOW_IF`, 0x306c
    Interface,
    /// `ESP_ERR_ESPNOW_CHAN`, 0x306d
    Channel,
}

impl EspNowError {
    /// Returns the stable name, for JSON and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotInitialized => "not-initialized",
            Self::Argument => "argument",
            Self::NoMemory => "no-memory",
            Self::PeersFull => "peers-full",
            Self::PeerNotFound => "peer-not-found",
            Self::Internal => "internal",
            Self::PeerExists => "peer-exists",
            Self::Interface => "interface",
            Self::Channel => "channel",
        }
    }

    /// All errors with the end of their name and their code.
    const NAMES: [(&'static str, &'static str, Self); 9] = [
        ("NOT_INIT", "0x3065", Self::NotInitialized),
        ("ARG", "0x3066", Self::Argument),
        ("NO_MEM", "0x3067", Self::NoMemory),
        ("FULL", "0x3068", Self::PeersFull),
        ("NOT_FOUND", "0x3069", Self::PeerNotFound),
        ("INTERNAL", "0x306a", Self::Internal),
        ("EXIST", "0x306b", Self::PeerExists),
        ("IF", "0x306c", Self::Interface),
        ("CHAN", "0x306d", Self::Channel),
    ];
}

/// The newest PHY of an association (`phy:` of the line "security", and `phy` of others).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PhyGeneration {
    /// 802.11b: 11 Mbit/s at most.
    B,
    /// 802.11g: 54 Mbit/s at most, no aggregates.
    G,
    /// 802.11n.
    N,
    /// 802.11ax.
    Ax,
    /// Espressif's long range mode: 0.25 or 0.5 Mbit/s.
    LongRange,
}

/// Why a device started (`rst:` of the boot ROM).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResetReason {
    /// Power came on.
    PowerOn,
    /// The supply fell too low.
    Brownout,
    /// A watchdog of the hardware.
    Watchdog,
    /// The program, a panic among it.
    Software,
    /// Out of deep sleep.
    DeepSleep,
    /// Another reason: a pin, a debugger, USB.
    Other,
}

/// An event that a log tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogEvent {
    /// The device started.
    Reset(ResetReason),
    /// A setting was printed, with its value.
    Setting(BootSetting, u32),
    /// Start-up named the chip.
    Chip(Chip),
    /// Start-up named the release of ESP-IDF.
    Release(IdfRelease),
    /// Start-up named the clock of the processor, in MHz.
    Clock(u16),
    /// The access point's beacons with waiting packets: one in so many (DTIM period).
    Dtim(u8),
    /// The association's PHYs.
    Phy(PhyGeneration),
    /// The block ack window that both sides agreed on for receiving, in frames.
    BlockAck(u8),
    /// Frames are sent at this PHY rate, in kbit/s.
    PhyRate(u32),
    /// A reply took [`SLOW_MS`](super::SLOW_MS) or more.
    SlowReply,
    /// A reply took less.
    FastReply,
    /// No peer acknowledged an ESP-NOW frame.
    EspNowUnheard,
    /// The station is associated.
    Associated,
    /// The device has an IP address.
    GotIp,
    /// The link ended, or an attempt failed, with the number of the reason.
    Disconnected(u8),
    /// No beacon came for a while, and the station asks the access point.
    BeaconTimeout,
    /// The access point told how strong it is heard, dBm.
    Rssi(i8),
    /// Power save began.
    PowerSave(PowerSaveType),
    /// The station or ESP-NOW follows the access point to this channel.
    Channel(u8),
    /// The supply fell too low.
    Brownout,
    /// The program was stopped by an exception, an assertion or `abort()`.
    Panic,
    /// A task's stack overflowed.
    StackOverflow,
    /// A task did not let others run, or an interrupt took too long.
    Watchdog,
    /// Memory could not be had.
    NoMemory,
    /// The free heap was printed, in bytes.
    FreeHeap(u32),
    /// ESP-NOW refused a call.
    EspNow(EspNowError),
    /// `sendto` or `send` failed for want of buffers (`ENOMEM`).
    SendBuffersFull,
    /// A connection ended or could not be made (`errno` 103, 104, 110, 111, 113, 118 and others).
    SocketError(u16),
}

/// Returns what a record tells; most tell nothing.
#[must_use]
pub fn events(record: &LogRecord<'_>) -> Vec<LogEvent> {
    let text = record.text;
    let mut found = Vec::new();
    found.extend(reset(text));
    found.extend(crash(text));
    found.extend(settings(text));
    found.extend(super::boot::boot(record));
    found.extend(super::air::air(record));
    found.extend(disconnection(record));
    found.extend(link(record));
    found.extend(memory(text));
    found.extend(esp_now(text));
    found.extend(socket(text));
    found
}

fn reset(text: &str) -> Option<LogEvent> {
    let name = text.split_once("rst:0x")?.1.split_once('(')?.1.split_once(')')?.0;
    let has = |word: &str| name.contains(word);
    Some(LogEvent::Reset(if has("BROWN_OUT") || has("BROWNOUT") {
        ResetReason::Brownout
    } else if has("WDT") {
        ResetReason::Watchdog
    } else if has("DEEPSLEEP") || has("DSLEEP") {
        ResetReason::DeepSleep
    } else if has("POWERON") || has("POWER_ON") {
        ResetReason::PowerOn
    } else if has("SW_") || has("_SW") {
        ResetReason::Software
    } else {
        ResetReason::Other
    }))
}

fn crash(text: &str) -> Option<LogEvent> {
    let has = |word: &str| text.contains(word);
    if has("Brownout detector was triggered") {
        Some(LogEvent::Brownout)
    } else if has("stack overflow in task") || has("Stack canary watchpoint triggered") {
        Some(LogEvent::StackOverflow)
    } else if has("Task watchdog got triggered") || has("Interrupt wdt timeout") {
        Some(LogEvent::Watchdog)
    } else if has("Guru Meditation Error") || has("abort() was called") || has("assert failed:") {
        Some(LogEvent::Panic)
    } else {
        None
    }
}

fn settings(text: &str) -> impl Iterator<Item = LogEvent> {
    let flags = BootSetting::FLAGS.iter().filter(|it| text.contains(it.0));
    let numbers = BootSetting::WORDS.iter().filter_map(move |(words, setting)| {
        let at = text.find(words)?;
        // "tcp mbox" is the end of no other word, but "udp mbox" and "rx ba win" follow others.
        let whole = text[..at].chars().next_back().is_none_or(|it| !it.is_alphanumeric());
        let value = number(&text[at + words.len()..])?;
        whole.then_some(LogEvent::Setting(*setting, value))
    });
    flags.map(|it| LogEvent::Setting(it.1, 1)).chain(numbers)
}

fn disconnection(record: &LogRecord<'_>) -> Option<LogEvent> {
    let text = record.text;
    // "state: run -> init (0xc800)": the reason is above the lowest byte; older releases leave 0x out.
    if let Some(rest) = text.strip_prefix("state: ") {
        let code = rest.split_once("-> init (")?.1.split_once(')')?.0;
        let code = u32::from_str_radix(code.trim_start_matches("0x"), 16).ok()? >> 8;
        return u8::try_from(code).ok().filter(|it| *it > 0).map(LogEvent::Disconnected);
    }
    let lower = text.to_ascii_lowercase();
    let speaks = ["disconnect", "reason:", "reason=", "reason ", "connect fail"];
    if !speaks.iter().any(|it| lower.contains(it)) {
        return None;
    }
    if let Some(at) = lower.find("reason") {
        let rest = text[at + "reason".len()..].trim_start_matches([' ', ':', '=', '(', '\'', '"']);
        if let Some(code) = number(rest).and_then(|it| u8::try_from(it).ok()) {
            return (reason::by_code(code).is_some()).then_some(LogEvent::Disconnected(code));
        }
    }
    // Names: "NO_AP_FOUND", "WIFI_REASON_AUTH_FAIL"; ESPHome's words.
    let named = text
        .split(|it: char| !(it.is_ascii_alphanumeric() || it == '_'))
        .filter(|word| word.len() > 6)
        .find_map(reason::by_name);
    let esphome = ESPHOME.iter().find(|(words, _)| lower.contains(words)).map(|it| it.1);
    named.map(|it| it.code).or(esphome).map(LogEvent::Disconnected)
}

/// ESPHome's words for reasons (its `get_disconnect_reason_str`), in lower case.
const ESPHOME: &[(&str, u8)] = &[
    ("auth expired", 2),
    ("auth leave", 3),
    ("association expired", 4),
    ("too many associations", 5),
    ("not authenticated", 6),
    ("not associated", 7),
    ("association leave", 8),
    ("4-way handshake timeout", 15),
    ("beacon timeout", 200),
    ("ap not found", 201),
    ("authentication failed", 202),
    ("association failed", 203),
    ("handshake failed", 204),
    ("connection failed", 205),
];

fn link(record: &LogRecord<'_>) -> Vec<LogEvent> {
    let text = record.text;
    let mut found = Vec::new();
    if text.contains("bcn_timeout") && !text.contains("bcn_timeout:") {
        found.push(LogEvent::BeaconTimeout);
    }
    let lower = text.to_ascii_lowercase();
    let joined = ["connected with ", "state: assoc -> run"].iter().any(|it| text.starts_with(it));
    if joined || (lower.contains("wifi connected") && !lower.contains("disconnected")) {
        found.push(LogEvent::Associated);
    }
    let address = |words| {
        let rest = lower.split_once(words).map(|it| it.1.trim_start());
        rest.is_some_and(|it| {
            it.starts_with(|it: char| it.is_ascii_digit()) && !it.starts_with("0.0.0.0")
        })
    };
    if lower.contains("got ip") || lower.contains("sta ip:") || address("ip address:") {
        found.push(LogEvent::GotIp);
    }
    let strength =
        ["rssi", "signal strength"].iter().find_map(|it| Some(lower.find(it)? + it.len()));
    if let Some(at) = strength {
        let rest = text[at..].trim_start_matches([' ', ':', '=', '(', '\'']);
        let minus = rest.strip_prefix('-');
        if let Some(dbm) = minus.and_then(number).and_then(|it| i8::try_from(it).ok()) {
            found.push(LogEvent::Rssi(-dbm));
        }
    }
    let ps = text.strip_prefix("pm start, type: ").or_else(|| text.strip_prefix("Set ps type: "));
    if let Some(kind) = ps.and_then(number) {
        let kind = match kind {
            0 => PowerSaveType::None,
            1 => PowerSaveType::MinModem,
            _ => PowerSaveType::MaxModem,
        };
        found.push(LogEvent::PowerSave(kind));
    }
    if record.tag == "wifi"
        && let Some(channel) = text.strip_prefix("new:<").and_then(number)
        && let Ok(channel) = u8::try_from(channel)
    {
        found.push(LogEvent::Channel(channel));
    }
    found
}

fn memory(text: &str) -> Option<LogEvent> {
    let lower = text.to_ascii_lowercase();
    let none = [
        "esp_err_no_mem",
        "malloc failed",
        "out of memory",
        "failed to allocate",
        "bad_alloc",
        "memoryerror",
    ];
    if none.iter().any(|it| lower.contains(it)) {
        return Some(LogEvent::NoMemory);
    }
    let at = lower.find("free heap").map(|it| it + "free heap".len());
    let rest = lower.get(at?..)?.trim_start_matches(|it: char| !it.is_ascii_digit() && it != '\n');
    number(rest).map(LogEvent::FreeHeap)
}

fn esp_now(text: &str) -> Option<LogEvent> {
    let named = text.split_once("ESP_ERR_ESPNOW_").map(|it| it.1);
    let lower = text.to_ascii_lowercase();
    EspNowError::NAMES.iter().find_map(|(name, code, error)| {
        let rest = named.and_then(|it| it.strip_prefix(name));
        let whole = rest
            .is_some_and(|it| !it.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '_'));
        (whole || lower.contains(code)).then_some(LogEvent::EspNow(*error))
    })
}

fn socket(text: &str) -> Option<LogEvent> {
    let lower = text.to_ascii_lowercase();
    let at = lower.find("errno")? + "errno".len();
    let rest = lower[at..].trim_start_matches([' ', ':', '=', '(']);
    let code = number(rest).and_then(|it| u16::try_from(it).ok()).filter(|it| *it > 0)?;
    Some(if code == 12 { LogEvent::SendBuffersFull } else { LogEvent::SocketError(code) })
}

/// Reads the decimal number that a text begins with.
pub(super) fn number(text: &str) -> Option<u32> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::record::{plain, records};
    use super::*;
    use proptest::prelude::*;

    fn told(line: &str) -> Vec<LogEvent> {
        records(&plain(line)).iter().flat_map(events).collect()
    }

    #[test]
    fn disconnections_of_each_program_have_their_reason() {
        for (line, code) in [
            ("I (71892596) wifi:state: run -> init (0xc800)", 200),
            ("I (5) wifi:state: auth -> init (0x200)", 2),
            ("I (5) wifi:state: assoc -> init (6c0)", 6),
            ("E (98207) [ESP_Mesh_Lite_Comm]: Disconnect reason : 201", 201),
            ("W (194979) wifi_sta: WIFI_DISCONNECTED reason=15", 15),
            ("[  2411][W][WiFiGeneric.cpp:1062] _eventCallback(): Reason: 202 - AUTH_FAIL", 202),
            (
                "[12:00:01][W][wifi_esp32:482]: Disconnected ssid='x' bssid=… reason='Association Leave'",
                8,
            ),
            (
                "[12:00:01][W][wifi_esp32:489]: Event: Disconnected ssid='x' reason='Probe Request Unsuccessful'",
                0,
            ),
            ("wifi: disconnected, WIFI_REASON_NO_AP_FOUND", 201),
        ] {
            let expected: Vec<_> =
                (code > 0).then_some(LogEvent::Disconnected(code)).into_iter().collect();
            let found: Vec<_> = told(line)
                .into_iter()
                .filter(|it| matches!(it, LogEvent::Disconnected(_)))
                .collect();
            assert_eq!(found, expected, "{line}");
        }
        assert!(told("I (5) app: the reason why it works").is_empty());
        assert!(told("I (5) wifi:state: init -> auth (0xb0)").is_empty());
    }

    #[test]
    fn boot_logs_tell_settings() {
        use BootSetting::{DynamicTx, StaticRx, TcpMailbox, TcpWindow, UdpMailbox};
        for (line, setting, value) in [
            ("I (625) wifi:Init static rx buffer num: 10", StaticRx, 10),
            ("I (625) wifi:Init dynamic tx buffer num: 32", DynamicTx, 32),
            ("I (630) wifi_init: udp mbox: 6", UdpMailbox, 6),
            ("I (630) wifi_init: tcp mbox: 6", TcpMailbox, 6),
            ("I (630) wifi_init: tcp rx win: 5744", TcpWindow, 5744),
        ] {
            assert_eq!(told(line), [LogEvent::Setting(setting, value)], "{line}");
        }
    }

    #[test]
    fn crashes_memory_and_errors_are_told() {
        use LogEvent::{
            BeaconTimeout, Brownout, EspNow, FreeHeap, NoMemory, Panic, Reset, Watchdog,
        };
        for (line, event) in [
            ("Brownout detector was triggered", Brownout),
            (
                "Guru Meditation Error: Core  0 panic'ed (LoadProhibited). Exception was unhandled.",
                Panic,
            ),
            (
                "E (5) task_wdt: Task watchdog got triggered. The following tasks did not reset",
                Watchdog,
            ),
            (
                "***ERROR*** A stack overflow in task main has been detected.",
                LogEvent::StackOverflow,
            ),
            (
                "rst:0xf (BROWNOUT_RST),boot:0x13 (SPI_FAST_FLASH_BOOT)",
                Reset(ResetReason::Brownout),
            ),
            ("rst:0x5 (DSLEEP),boot:0xd (SPI_FAST_FLASH_BOOT)", Reset(ResetReason::DeepSleep)),
            ("rst:0xc (SW_CPU_RESET),boot:0x13", Reset(ResetReason::Software)),
            ("rst:0x7 (TG0WDT_SYS_RST),boot:0x8", Reset(ResetReason::Watchdog)),
            ("rst:0x1 (POWERON_RESET),boot:0x13", Reset(ResetReason::PowerOn)),
            ("E (9) now: esp_now_send: ESP_ERR_ESPNOW_NO_MEM", EspNow(EspNowError::NoMemory)),
            ("E (9) now: error 0x3069", EspNow(EspNowError::PeerNotFound)),
            ("E (9) app: esp_wifi_init: ESP_ERR_NO_MEM", NoMemory),
            ("I (9) app: free heap: 18504", FreeHeap(18_504)),
            ("I (95683) wifi:bcn_timeout,ap_probe_send_start", BeaconTimeout),
            ("E (9) udp: sendto failed: errno 12", LogEvent::SendBuffersFull),
            ("E (9) tcp: connect: errno 113", LogEvent::SocketError(113)),
            ("I (9) wifi:pm start, type: 1", LogEvent::PowerSave(PowerSaveType::MinModem)),
            ("I (9) wifi:new:<6,0>, old:<1,0>, ap:<255,255>, sta:<6,0>", LogEvent::Channel(6)),
        ] {
            assert_eq!(told(line), [event], "{line}");
        }
        let rssi = told("I (9) wifi:security: WPA2-PSK, phy: bgn, rssi: -82");
        assert_eq!(rssi, [LogEvent::Phy(PhyGeneration::N), LogEvent::Rssi(-82)]);
        // The interval of beacons is printed with each association, and is no time-out.
        assert!(
            told("I (9) wifi:set rx beacon pti, rx_bcn_pti: 0, bcn_timeout: 25000, mt_pti: 0")
                .is_empty()
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(rssi|reason|errno|free heap|rst:0x|state: |new:<|[ -~é]){0,12}") {
            let _ = told(&text);
        }
    }
}
