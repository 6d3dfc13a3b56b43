//! Numbers and names of errors that programs print in place of words.
//!
//! `esp_err_t`: ESP-IDF, `esp_wifi.h` (from 0x3000), `nvs.h` (0x1100), `esp_http_client.h` (0x7000), `esp_tls_errors.h` (0x8000).
//! `wl_status_t`: arduino-esp32, `WiFiType.h`; 6 stands for a wrong password on an ESP8266 and for "not yet" on an ESP32, and tells
//! nothing. `network.STAT_…`: MicroPython, `network_common.c`. States of PubSubClient: its `PubSubClient.h`.

use super::event::{LogEvent, TlsFailure, number};
use super::search::{SearchRecord, SearchText};
use super::words::WordCause;
use crate::reason;

/// Names of errors, in lower case, with what they tell.
const NAMES: &[(&str, LogEvent)] = &[
    ("esp_err_esp_tls_cannot_resolve_hostname", LogEvent::NameFailed),
    ("esp_err_esp_tls_failed_connect_to_host", LogEvent::ConnectionFailed),
    ("esp_err_esp_tls_connection_timeout", LogEvent::ConnectionFailed),
    ("esp_err_esp_tls_tcp_closed_fin", LogEvent::ConnectionFailed),
    ("esp_err_mbedtls_ssl_handshake_failed", LogEvent::TlsFailed(TlsFailure::Other)),
    ("esp_err_mbedtls_x509_crt_parse_failed", LogEvent::TlsFailed(TlsFailure::Certificate)),
    ("esp_err_http_connect", LogEvent::ConnectionFailed),
    ("esp_err_http_fetch_header", LogEvent::ConnectionFailed),
    ("esp_err_http_write_data", LogEvent::ConnectionFailed),
    ("esp_err_http_connection_closed", LogEvent::ConnectionFailed),
    ("esp_err_http_eagain", LogEvent::ConnectionFailed),
    ("stat_assoc_fail", LogEvent::Disconnected(203)),
    ("stat_handshake_timeout", LogEvent::Disconnected(204)),
    ("stat_beacon_timeout", LogEvent::Disconnected(200)),
    ("stat_connect_fail", LogEvent::Disconnected(205)),
];

/// Errors of `esp_tls` and `esp_http_client` by number, hexadecimal and decimal.
const NUMBERS: &[(&str, &str, LogEvent)] = &[
    ("0x8001", "32769", LogEvent::NameFailed),
    ("0x8004", "32772", LogEvent::ConnectionFailed),
    ("0x8006", "32774", LogEvent::ConnectionFailed),
    ("0x8008", "32776", LogEvent::ConnectionFailed),
    ("0x801a", "32794", LogEvent::TlsFailed(TlsFailure::Other)),
    ("0x7002", "28674", LogEvent::ConnectionFailed),
    ("0x7003", "28675", LogEvent::ConnectionFailed),
    ("0x7004", "28676", LogEvent::ConnectionFailed),
    ("0x7007", "28679", LogEvent::ConnectionFailed),
    ("0x7008", "28680", LogEvent::ConnectionFailed),
];

/// An error of the Wi-Fi driver: its name in lower case, its number, hexadecimal and decimal, and what it tells.
type DriverError = (&'static str, &'static str, &'static str, LogEvent);

/// Errors of the Wi-Fi driver, from `ESP_ERR_WIFI_BASE` on. That of a time-out (0x300c) and of a full queue (0x3012) tell
/// nothing of a cause.
const DRIVER: &[DriverError] = &[
    ("esp_err_wifi_not_init", "0x3001", "12289", LogEvent::WifiCall),
    ("esp_err_wifi_not_started", "0x3002", "12290", LogEvent::WifiCall),
    ("esp_err_wifi_not_stopped", "0x3003", "12291", LogEvent::WifiCall),
    ("esp_err_wifi_if", "0x3004", "12292", LogEvent::WifiCall),
    ("esp_err_wifi_mode", "0x3005", "12293", LogEvent::WifiCall),
    ("esp_err_wifi_state", "0x3006", "12294", LogEvent::WifiCall),
    ("esp_err_wifi_conn", "0x3007", "12295", LogEvent::WifiCall),
    ("esp_err_wifi_nvs", "0x3008", "12296", LogEvent::StorageFailed),
    ("esp_err_wifi_mac", "0x3009", "12297", LogEvent::WifiCall),
    ("esp_err_wifi_ssid", "0x300a", "12298", LogEvent::Words(WordCause::Absent)),
    ("esp_err_wifi_password", "0x300b", "12299", LogEvent::Words(WordCause::Password)),
    ("esp_err_wifi_wake_fail", "0x300d", "12301", LogEvent::WifiCall),
    ("esp_err_wifi_would_block", "0x300e", "12302", LogEvent::WifiCall),
    ("esp_err_wifi_not_connect", "0x300f", "12303", LogEvent::Words(WordCause::LinkDown)),
    ("esp_err_wifi_init_state", "0x3013", "12307", LogEvent::WifiCall),
    ("esp_err_wifi_stop_state", "0x3014", "12308", LogEvent::WifiCall),
    ("esp_err_wifi_not_assoc", "0x3015", "12309", LogEvent::Words(WordCause::LinkDown)),
    ("esp_err_wifi_tx_disallow", "0x3016", "12310", LogEvent::Words(WordCause::LinkDown)),
];

/// Returns whether a text has the name, or the hexadecimal number, of an error of the driver that was called at a wrong time
/// or in a wrong way.
pub(super) fn has_driver_call(lower: &SearchText<'_>) -> bool {
    let mut calls = DRIVER.iter().filter(|it| it.3 == LogEvent::WifiCall);
    calls.any(|it| lower.contains(it.0) || lower.has_number(it.1))
}

/// Returns what the numbers of a record tell.
pub(super) fn told(record: &SearchRecord<'_>) -> Option<LogEvent> {
    let lower = &record.lower;
    let tag = &record.tag;
    if let Some((_, event)) = NAMES.iter().find(|it| lower.contains(it.0)) {
        return Some(*event);
    }
    if let Some((.., event)) = DRIVER.iter().find(|it| lower.contains(it.0)) {
        return Some(*event);
    }
    let has = |words: &[&str]| words.iter().any(|it| lower.contains(it));
    if let Some(event) = matter_error(tag, lower) {
        return Some(event);
    }
    let errs = has(&["fail", "err", "ret", "code", "unable", "open"]);
    let wifi = has(&["wifi", "wi-fi", "wlan"]) || tag.contains("wifi") || tag.contains("wlan");
    let of_tag = ["transport", "tls", "http", "ota", "mqtt"].iter().any(|it| tag.contains(it));
    if errs && (has(&["tls", "http", "connect", "transport", "mqtt"]) || of_tag) {
        let found = NUMBERS.iter().find(|it| lower.has_number(it.0) || lower.has_number(it.1));
        if let Some((.., event)) = found {
            return Some(*event);
        }
    }
    if wifi && errs {
        // The driver keeps its settings in NVS, which is started before it.
        if has(&["nvs_open fail"]) || super::parts::has_storage_number(lower) {
            return Some(LogEvent::StorageFailed);
        }
        let mut found = DRIVER.iter().filter(|it| lower.has_number(it.1) || lower.has_number(it.2));
        if let Some((.., event)) = found.next() {
            return Some(*event);
        }
    }
    if is_bare_state(record.text.as_bytes()) {
        return Some(LogEvent::ConnectionFailed);
    }
    client_state(lower).or_else(|| station_status(lower, wifi))
}

/// Reads the `esp_err_t` within an error of Matter's, whose range for platforms is 5: "5001105" is 0x1105 (`CHIPError.h`,
/// `ESP32Utils.cpp`).
fn matter_error(tag: &str, lower: &SearchText<'_>) -> Option<LogEvent> {
    if !tag.starts_with("chip[") {
        return None;
    }
    let words = lower.as_str().split(|it: char| !it.is_ascii_alphanumeric());
    let code = words
        .map(|it| it.strip_prefix("0x").unwrap_or(it).trim_start_matches('0'))
        .filter(|it| it.len() == "5001105".len())
        .find_map(|it| it.strip_prefix("500"))?;
    let hex = alloc::format!("0x{code}");
    if super::parts::has_storage_number(&SearchText::of(&hex)) {
        return Some(LogEvent::StorageFailed);
    }
    DRIVER.iter().find(|it| it.1 == hex).map(|it| it.3)
}

/// Returns whether a text is ".-2": a state of PubSubClient between the dots of a loop that waits.
pub(super) const fn is_bare_state(text: &[u8]) -> bool {
    matches!(text, [b'.', b'-', b'1'..=b'4'])
}

/// Reads "failed with state -2" of sketches with PubSubClient: 1 to 5 are the broker's, below 0 the client's own.
pub(super) fn client_state(lower: &SearchText<'_>) -> Option<LogEvent> {
    let of_client =
        ["failed with state", "mqtt", "broker", "pubsub"].iter().any(|it| lower.contains(it));
    let failed = ["fail", "falha", "fallo", "error", "erro"].iter().any(|it| lower.contains(it));
    if !of_client || !failed {
        return None;
    }
    let rest =
        ["lasterror", "state", "estado", "rc", "status code", "error code", "code", "(error"]
            .iter()
            .find_map(|word| {
                let at = lower.match_indices(word).map(|it| it.0 + it.1.len());
                at.map(|it| lower[it..].trim_start_matches([' ', ':', '=', '(']))
                    .find(|it| it.starts_with(|it: char| it.is_ascii_digit() || it == '-'))
            })?;
    match rest.strip_prefix('-') {
        Some(rest) => matches!(number(rest), Some(1..=13)).then_some(LogEvent::ConnectionFailed),
        None => matches!(number(rest), Some(1..=5)).then_some(LogEvent::BrokerRefused),
    }
}

/// Reads "WiFi status: 1" of Arduino and "status 201" of MicroPython.
fn station_status(lower: &SearchText<'_>, wifi: bool) -> Option<LogEvent> {
    let joins = lower.starts_with("connecting") || lower.starts_with("connection result");
    let others = ["http", "mqtt", "server", "socket", "tls", "client"];
    if !(wifi || joins) || others.iter().any(|it| lower.contains(it)) {
        return None;
    }
    let rest = ["status", "connection result", "wifi state"]
        .iter()
        .find_map(|it| Some(lower.split_once(it)?.1))?;
    let rest = rest.trim_start_matches([' ', ':', '=', '(', ')', '>']);
    let rest = rest.strip_prefix("code").unwrap_or(rest).trim_start_matches([' ', ':', '=']);
    let code = number(rest)?;
    // esp-open-rtos prints the SDK's own states, in which 1 is an attempt and 5 an address.
    if lower.starts_with("wifi_task: status") {
        return match code {
            2 => Some(LogEvent::Words(WordCause::Password)),
            3 => Some(LogEvent::Words(WordCause::Absent)),
            4 => Some(LogEvent::Words(WordCause::LinkFailed)),
            _ => None,
        };
    }
    // "0x1" and "1.5" are other numbers.
    let behind = rest.trim_start_matches(|it: char| it.is_ascii_digit());
    if behind.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '.' && behind.len() > 1) {
        return None;
    }
    match code {
        1 => Some(LogEvent::Words(WordCause::Absent)),
        4 => Some(LogEvent::Words(WordCause::LinkFailed)),
        5 => Some(LogEvent::Words(WordCause::LinkEnded)),
        // `WL_DISCONNECTED` of the ESP32's core; the ESP8266's has it as 7, and 6 for a wrong password.
        6 | 7 => Some(LogEvent::Words(WordCause::LinkDown)),
        // MicroPython's 200 is lost beacons, and in a web of things "fine".
        201..=212 => u8::try_from(code)
            .ok()
            .filter(|it| reason::by_code(*it).is_some())
            .map(LogEvent::Disconnected),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::told;
    use super::super::{LogEvent, TlsFailure, WordCause};

    #[test]
    fn numbers_stand_for_words() {
        use LogEvent::{
            BrokerRefused, ConnectionFailed, Disconnected, NameFailed, StorageFailed, TlsFailed,
            WifiCall, Words,
        };
        for (line, event) in [
            ("E (5) T_BASE: Failed to open a new connection: 32769", NameFailed),
            ("E (5) HTTP_CLIENT: error 0x7002 at connect", ConnectionFailed),
            ("E (5) ota: esp_https_ota_begin: ESP_ERR_HTTP_CONNECT", ConnectionFailed),
            ("E (5) esp-tls: last error 0x801a", TlsFailed(TlsFailure::Other)),
            ("W (84) wifi: wifi nvs_open fail ret=4353", StorageFailed),
            ("esp_wifi_connect failed: 12295", WifiCall),
            ("E (9) app: esp_wifi_set_mode: ESP_ERR_WIFI_IF", WifiCall),
            ("E (9) app: esp_wifi_stop failed, 0x3014", WifiCall),
            ("E (9) wifi_app: esp_wifi_sta_get_ap_info failed 0x300f", Words(WordCause::LinkDown)),
            (
                "E (9) app: esp_wifi_sta_get_rssi: ESP_ERR_WIFI_NOT_ASSOC",
                Words(WordCause::LinkDown),
            ),
            ("wifi set config failed, ret=12299", Words(WordCause::Password)),
            ("failed with state -2", ConnectionFailed),
            (".-2", ConnectionFailed),
            ("MQTT connect failed with state 5", BrokerRefused),
            ("WiFi.status(): 1", Words(WordCause::Absent)),
            ("Connecting.. status: 1", Words(WordCause::Absent)),
            ("WiFi.status() = 6", Words(WordCause::LinkDown)),
            ("wlan status = 203", Disconnected(203)),
            ("wifi_task: status = 2", Words(WordCause::Password)),
            ("network.STAT_BEACON_TIMEOUT", Disconnected(200)),
            ("E (5) chip[FP]: Failed to commit pending operational keypair 5001105", StorageFailed),
            ("E (5) chip[DL]: esp_wifi_connect() failed: Error CHIP:0x05003007", WifiCall),
        ] {
            assert_eq!(told(line), [event], "{line}");
        }
        for line in [
            "wifi_task: status = 1",
            "wifi_task: status = 5",
            "WiFi status: 3",
            "http wifi status: 201",
            "wifi status: 1.5 s",
            "task 32769",
        ] {
            assert!(told(line).is_empty(), "{line}: {:?}", told(line));
        }
    }
}
