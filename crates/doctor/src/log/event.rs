//! Events: the meaning of a record of a log.

use super::driver;
use super::record::{LogRecord, records};
use crate::matcher::{COMPONENTS, RecordReading, RuleBook, RuleHit, Subject};
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sdkconfig::{Chip, ConfigOption, FACTS, IdfRelease};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// A type of power save (`wifi_ps_type_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PowerSaveType {
    /// `WIFI_PS_NONE`
    None,
    /// `WIFI_PS_MIN_MODEM`
    MinModem,
    /// `WIFI_PS_MAX_MODEM`
    MaxModem,
}

/// The newest PHY of an association (`phy:` of the line "security", and `phy` of others).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResetReason {
    /// Power came on.
    PowerOn,
    /// The supply fell too low.
    Brownout,
    /// A watchdog of the hardware that a program feeds.
    Watchdog,
    /// The watchdog of the bootloader and of a restart that does not end.
    RtcWatchdog,
    /// The program, a panic among it.
    Software,
    /// Without a word, and most likely by the supply: the ESP32's digital core by software (`esp_restart()` resets
    /// processors, the handler of brown-outs all), or power that came on while the radio started.
    Silent,
    /// Out of deep sleep.
    DeepSleep,
    /// Another reason: a pin, a debugger, USB.
    Other,
}

/// Why TLS could not be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TlsFailure {
    /// The certificate was not accepted.
    Certificate,
    /// The other side sent an alert.
    Refused,
    /// The connection ended during the handshake.
    Ended,
    /// Another reason.
    Other,
}

/// A cause that the words of a record name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WordCause {
    /// A program waits for the network, or says that it tries to join it.
    LinkTry,
    /// A program says that it tries to reach its broker.
    ServerTry,
    /// There is no link.
    LinkDown,
    /// There is no connection.
    ServerDown,
    /// A connection ended or could not be made.
    Connections,
    /// The link ended.
    LinkEnded,
    /// The network could not be joined.
    LinkFailed,
    /// The driver could not be started or set up.
    WifiCall,
    /// The signal is weak.
    Signal,
    /// The network is not there.
    Absent,
    /// The password is wrong.
    Password,
    /// No IP address could be had.
    NoAddress,
    /// A name could not be resolved.
    Names,
    /// TLS could not be set up.
    Tls,
    /// A server does not accept who the client says that it is.
    Refused,
    /// An ESP-NOW frame was not delivered.
    Unheard,
    /// An ESP-NOW peer is not known.
    PeerNotFound,
    /// ESP-NOW could not be started.
    EspNowInit,
    /// Memory could not be had.
    Heap,
    /// An update of the firmware failed.
    Update,
    /// A watchdog restarted the device.
    Watchdog,
    /// A stack overflowed.
    Stack,
    /// The supply is too low.
    Power,
    /// The storage of keys and values refuses a call.
    Storage,
}

/// Name of a sign, as rules and causes have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignName(pub &'static str);

/// An event that a log tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogEvent {
    /// The device started.
    Reset(ResetReason),
    /// A setting was printed, with its value.
    Setting(#[serde(deserialize_with = "option")] ConfigOption, u32),
    /// Start-up named the chip.
    Chip(#[serde(deserialize_with = "chip")] Chip),
    /// Start-up named the release of ESP-IDF.
    #[serde(skip)]
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
    /// A reply took half a beacon interval or more.
    SlowReply,
    /// A reply took less.
    FastReply,
    /// No reply came.
    NoReply,
    /// No peer acknowledged an ESP-NOW frame.
    EspNowUnheard,
    /// A peer acknowledged an ESP-NOW frame.
    EspNowHeard,
    /// A program had a frame of ESP-NOW.
    EspNowReceived,
    /// The station is associated.
    Associated,
    /// The device has an IP address.
    GotIp,
    /// The device was associated for [`ADDRESS_MS`](super::ADDRESS_MS) and more without an IP address.
    NoAddress,
    /// The device printed an address of zeros as its own.
    AddressUnset,
    /// The link ended, or an attempt failed, with the number of the reason.
    Disconnected(u8),
    /// A network that is to be joined has WEP or WPA, and nothing newer.
    OldSecurity,
    /// A network that cannot be joined was heard in a scan.
    NetworkHeard,
    /// No beacon came for a while, and the station asks the access point.
    BeaconTimeout,
    /// How strong the access point is heard, dBm.
    Rssi(i8),
    /// How strong something is heard, dBm: the access point, or another one of a scan.
    OtherRssi(i8),
    /// Power save began.
    PowerSave(PowerSaveType),
    /// The station or ESP-NOW follows the access point to this channel.
    Channel(u8),
    /// The device's own access point moved to another channel while a station was on it.
    SoftApMoved,
    /// A station joined the device's own access point.
    ClientJoinedAp,
    /// A station left the device's own access point, with the number of the reason; 0 without one.
    ClientLeftAp(u8),
    /// A station has an IP address of the device's own access point.
    ClientServed,
    /// A station left the device's own access point, and had no IP address of it.
    StationUnserved,
    /// A station left the device's own access point while the device joined a network.
    StationLost,
    /// The device begins to join a network.
    JoinBegins,
    /// An attempt to join has ended, well or not.
    JoinEnds,
    /// An error of mbedTLS was printed, which may be the sum of two.
    #[serde(skip)]
    TlsCode(u32),
    /// A sign of a cause that rules name.
    #[serde(skip)]
    Sign(SignName),
    /// The supply fell too low.
    Brownout,
    /// The program was stopped by an exception, an assertion or `abort()`.
    Panic,
    /// A task's stack overflowed.
    StackOverflow,
    /// A task did not let others run, or an interrupt took too long.
    Watchdog,
    /// The watchdog of tasks ends the program, which its first line has told of where it is not cut off.
    WatchdogAborts,
    /// The task that did not let others run was named.
    WatchdogTask,
    /// The heap or a stack was overwritten.
    MemoryCorrupted,
    /// The backtrace of a crash goes through the allocator of the heap, which finds its own blocks damaged.
    CrashInAllocator,
    /// The program was stopped where memory could not be had.
    CrashOfMemory,
    /// A program in Python, Lua or Toit ended by an exception.
    Traceback,
    /// A person ended a Python program.
    Interrupted,
    /// The ROM or the bootloader finds no firmware that it can start.
    FlashUnreadable,
    /// The ROM begins the bootloader, or the program.
    Entered,
    /// The ROM waits for a program to be written.
    WaitsForDownload,
    /// Memory could not be had.
    NoMemory,
    /// The driver had no memory, or no buffer, for a frame.
    FrameDropped,
    /// The free heap was printed, in bytes.
    FreeHeap(u32),
    /// `sendto` or `send` failed for want of buffers (`ENOMEM`).
    SendBuffersFull,
    /// A connection ended or could not be made (`errno` 103, 104, 110, 111, 113, 118 and others).
    SocketError(u16),
    /// A connection could not be made, without a code.
    ConnectionFailed,
    /// A client of the device's own server ended its connection.
    ClientLeft,
    /// A host did not answer a ping.
    PingLost,
    /// A connection to a broker was made.
    ConnectionMade,
    /// The address of a name could not be had.
    NameFailed,
    /// TLS could not be set up.
    TlsFailed(TlsFailure),
    /// The MQTT broker refused the client.
    BrokerRefused,
    /// The program asked the driver to join while it still did.
    ConnectsTwice,
    /// A call of the Wi-Fi driver came at a wrong time.
    WifiCall,
    /// The storage of keys and values refused a call, or could not be started.
    StorageFailed,
    /// The file system of the flash could not be mounted, as a program says.
    FileSystemFailed,
    /// The component could not mount it: its caller may format it, and mount it then.
    MountFailed,
    /// The file system of the flash is mounted, or formatted.
    FileSystemMounted,
    /// External memory did not answer.
    ExternalMemory,
    /// An update over the air was refused, by its image or its partition.
    UpdateRefused,
    /// An update over the air failed, without a reason.
    UpdateFailed,
    /// A connection, a name or TLS failed while there was no link, or no address.
    FailedUnlinked,
    /// A cause was named in a program's own words.
    Words(WordCause),
}

/// Reads a chip by its name.
fn chip<'de, D: Deserializer<'de>>(from: D) -> Result<Chip, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

/// Reads an option of sdkconfig by its name.
pub(crate) fn option<'de, D: Deserializer<'de>>(from: D) -> Result<ConfigOption, D::Error> {
    let name = String::deserialize(from)?;
    let fact = FACTS.iter().find(|it| it.name == name);
    Ok(fact.ok_or_else(|| D::Error::custom("no such option is checked"))?.key)
}

/// Returns what a record tells; most tell nothing.
#[must_use]
pub fn events(record: &LogRecord<'_>) -> Vec<LogEvent> {
    let reading = RuleBook::built_in().read(record);
    all_events(&reading, record, None, &reading.told())
}

/// Tags of what takes an update in, of any program and of ESPHome.
const UPDATERS: [&str; 2] = ["ota", "esphome.ota"];

/// Returns what rules and the driver's states tell of a record, and reads words where they tell of no event. `before` is what
/// the lines before the record speak of, `hits` are the rules that tell of it.
pub(super) fn all_events(
    reading: &RecordReading<'_>,
    record: &LogRecord<'_>,
    before: Option<Subject>,
    hits: &[RuleHit],
) -> Vec<LogEvent> {
    if hits.iter().any(|it| it.is_harmless) {
        return Vec::new();
    }
    let known = hits.iter().filter(|it| it.topic != COMPONENTS);
    let mut found: Vec<LogEvent> = known.filter_map(|it| it.event).collect();
    found.extend(driver::disconnection(record));
    if found.contains(&LogEvent::UpdateRefused) {
        found.retain(|it| *it != LogEvent::FlashUnreadable);
    }
    if found.contains(&LogEvent::NoMemory) {
        found.retain(|it| *it != LogEvent::TlsFailed(TlsFailure::Other));
    }
    let measures = |it: &LogEvent| {
        matches!(it, LogEvent::Rssi(_) | LogEvent::OtherRssi(_) | LogEvent::FreeHeap(_))
    };
    // What failed has a line of its own.
    if is_table(record.text) {
        found.retain(measures);
        return found;
    }
    if found.iter().all(|it| measures(it) || is_mark(it)) {
        let words = || reading.words(before);
        let part = || hits.iter().find(|it| it.topic == COMPONENTS).and_then(|it| it.event);
        // What an updater says of its upload is of the update, and of no server.
        let updates = UPDATERS.iter().any(|it| record.tag.eq_ignore_ascii_case(it));
        found.extend(if updates { part().or_else(words) } else { words().or_else(part) });
    }
    found
}

/// Numbers of a line that is nothing but names and numbers.
const COLUMNS: usize = 3;

/// Names of numbers that say what happened, and not how often, or pieces of such names.
const HAPPENED: [&str; 5] = ["reason", "errno", "code", "status", "result"];

/// Short ones, which other names have in them: "retries", "source".
const HAPPENED_IN_SHORT: [&str; 3] = ["err", "ret", "rc"];

/// Returns whether a name says what happened.
fn happened(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let mut words = name.split(['_', '-', '.']);
    HAPPENED.iter().any(|it| name.contains(it)) || words.any(|it| HAPPENED_IN_SHORT.contains(&it))
}

/// Returns whether a text is nothing but names and numbers: `tx_ok=1204 tx_fail=0 auth_fail=0`, or the same in JSON.
fn is_table(text: &str) -> bool {
    let is_pair = |it: &str| {
        let Some((name, value)) = it.split_once(['=', ':']) else { return false };
        let name = name.trim_matches('"');
        let is_name = name.starts_with(|it: char| it.is_ascii_alphabetic());
        is_name && !happened(name) && value.parse::<f64>().is_ok()
    };
    let is_word = |it: &&str| !it.is_empty();
    let mut words = text.split([' ', ',', ';', '|', '{', '}']).filter(is_word);
    words.clone().count() >= COLUMNS && words.all(is_pair)
}

/// Returns whether an event is for those who follow the device's state, beside what the line tells.
const fn is_mark(it: &LogEvent) -> bool {
    matches!(
        it,
        LogEvent::JoinBegins | LogEvent::JoinEnds | LogEvent::TlsCode(_) | LogEvent::OtherRssi(_)
    )
}

/// Reads the decimal number that a text begins with.
pub(super) fn number(text: &str) -> Option<u32> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// Returns what all records of a line tell.
pub(super) fn line_events(line: &str) -> Vec<LogEvent> {
    records(line).iter().flat_map(events).collect()
}

/// Returns what a line tells, as a terminal shows it.
#[cfg(test)]
pub(super) fn told(line: &str) -> Vec<LogEvent> {
    let mut events = line_events(&super::record::plain(line));
    events.retain(|it| matches!(it, LogEvent::OtherRssi(_)) || !is_mark(it));
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
                201,
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
        use ConfigOption::{DynamicTx, StaticRx, TcpMailbox, UdpMailbox, Window};
        for (line, setting, value) in [
            ("I (625) wifi:Init static rx buffer num: 10", StaticRx, 10),
            ("I (625) wifi:Init dynamic tx buffer num: 32", DynamicTx, 32),
            ("I (630) wifi_init: udp mbox: 6", UdpMailbox, 6),
            ("I (630) wifi_init: tcp mbox: 6", TcpMailbox, 6),
            ("I (630) wifi_init: tcp rx win: 5744", Window, 5744),
        ] {
            assert_eq!(told(line), [LogEvent::Setting(setting, value)], "{line}");
        }
    }

    #[test]
    fn crashes_memory_and_errors_are_told() {
        use LogEvent::{BeaconTimeout, Brownout, FreeHeap, NoMemory, Panic, Reset, Sign, Watchdog};
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
            ("E (9) now: esp_now_send: ESP_ERR_ESPNOW_NO_MEM", Sign(SignName("esp-now-no-memory"))),
            ("E (9) now: error 0x3069", Sign(SignName("esp-now-peer-not-found"))),
            ("E (9) app: esp_wifi_init: ESP_ERR_NO_MEM", NoMemory),
            ("I (9) app: free heap: 18504", FreeHeap(18_504)),
            ("Heap:\t1832\tActuator Pin:\t8", FreeHeap(1832)),
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
