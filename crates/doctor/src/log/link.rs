//! The link: how it begins and ends, its strength, power save, channels.

use super::address;
use super::event::{LogEvent, PowerSaveType, number};
use super::search::{SearchRecord, SearchText};
use super::words::WordCause;
use crate::reason;
use alloc::string::String;
use alloc::vec::Vec;

/// Weaker than this no receiver hears: -127 and -128 stand for "unknown", dBm.
const FAINTEST: i8 = -110;

/// Words of ESPHome (its `get_disconnect_reason_str`), Tasmota, Arduino and the ESP8266's SDK for reasons, in lower case.
const WORDS: &[(&str, u8)] = &[
    ("unspecified", 1),
    ("auth expired", 2),
    ("auth leave", 3),
    ("association expired", 4),
    ("disassociated due to inactivity", 4),
    ("too many associations", 5),
    ("association not authenticated", 9),
    ("class 2 frame", 6),
    ("class 3 frame", 7),
    ("not authenticated", 6),
    ("not associated", 7),
    ("association leave", 8),
    ("power cap bad", 10),
    ("channel bad", 11),
    ("mic failure", 14),
    ("4-way handshake timeout", 15),
    ("group-key handshake timeout", 16),
    ("group key update timeout", 16),
    ("group cipher invalid", 18),
    ("pairwise cipher invalid", 19),
    ("akmp invalid", 20),
    ("802.1x auth failed", 23),
    ("802.1x authentication failed", 23),
    ("cipher suite rejected", 24),
    ("beacon timeout", 200),
    ("ap not found", 201),
    ("probe request unsuccessful", 201),
    ("authentication failed", 202),
    ("association failed", 203),
    ("handshake failed", 204),
    ("connection failed", 205),
    ("ap tsf reset", 206),
    ("station roaming", 207),
    ("comeback time too long", 208),
    ("sa query timeout", 209),
    ("no ap found with compatible security", 210),
    ("no ap found in auth mode threshold", 211),
    ("no ap found in rssi threshold", 212),
];

/// Lines that tell of a reason without the word, in lower case.
const LINES: &[(&str, u8)] = &[
    ("connect failed with ap incorrect password", 202),
    // Tasmota's "timeout" is an attempt that says nothing more.
    ("connect failed with ap timeout", 2),
    ("connect failed as ap cannot be reached", 201),
    ("association refused temporarily", 208),
    ("no_ap_found_in_authmode_threshold", 211),
    ("no_ap_found_in_rssi_threshold", 212),
    ("no_ap_found_w_compatible_security", 210),
    ("wl_no_ssid_avail", 201),
    ("wl_wrong_password", 202),
    ("station_wrong_password", 202),
    ("station_no_ap_found", 201),
    ("no matching network found", 201),
    ("no matching wifi found", 201),
    // The driver, of a mesh that looks for a parent.
    ("scan number is 0", 201),
    ("no network with that ssid", 201),
    // ESPHome's scan.
    ("no network found!", 201),
    ("no_ap_found", 201),
    ("wl_connect_failed", 202),
    ("wrong_password", 202),
    ("authentication failure", 202),
    ("sae authentication failed", 202),
    ("reason=wrong_key", 15),
    ("pre-shared key may be incorrect", 15),
    ("possible-psk-mismatch", 15),
    ("disassociated due to inactivity", 4),
    ("deauthenticated due to inactivity", 4),
    // The driver and the SDK of the ESP8266, after probes that nobody answered.
    ("ap_probe_send over", 200),
];

/// Answers of ESP-AT to a command that should join: a number, and the reason that is alike.
const AT_JOINS: [(&str, u8); 3] = [("+cwjap:1", 2), ("+cwjap:2", 202), ("+cwjap:3", 201)];

/// Others that disconnect and give reasons, in lower case: their numbers are not those of Wi-Fi.
const OTHERS: [&str; 14] = [
    "mqtt",
    "websocket",
    "ws client",
    "ble",
    "bluetooth",
    "gatt",
    "gap",
    "nimble",
    "btdm",
    "http",
    "socket",
    "tcp",
    "reset reason",
    "a2dp",
];

/// Words in front of the number of a reason, in lower case.
const NUMBERED: [&str; 4] = [
    "sta disconnect: ",
    "wifi disconnected: ",
    "sta_disconnected: ",
    // ESP-IDF's examples.
    "wi-fi disconnected ",
];

/// Words in front of "reason" that are none of a link, in lower case.
const STARTS: [&str; 9] =
    ["boot", "reset", "restart", "wake", "wakeup", "wake up", "exit", "reboot", "delba,"];

/// Returns the end of a link, or a failed attempt, with its reason.
pub(super) fn disconnection(record: &SearchRecord<'_>) -> Option<LogEvent> {
    let text = &record.text;
    if let Some(states) = state(text) {
        return left(states).map(LogEvent::Disconnected);
    }
    let lower = &record.lower;
    // "wifi station: 201": a program that prints nothing but the number.
    if record.tag.contains("wifi")
        && let Ok(code @ 200..) = text.parse::<u32>()
    {
        return known(code);
    }
    if let Some((_, code)) = LINES.iter().find(|it| lower.contains(it.0)) {
        return Some(LogEvent::Disconnected(*code));
    }
    // "no NAME found, reconnect after 1s" of the ESP8266's SDK.
    if lower.starts_with("no ") && lower.contains(" found, reconnect after") {
        return Some(LogEvent::Disconnected(201));
    }
    if let Some((_, code)) = AT_JOINS.iter().find(|it| lower.as_str() == it.0) {
        return Some(LogEvent::Disconnected(*code));
    }
    // CircuitPython: "ConnectionError: Unknown failure 205".
    if let Some(code) = lower.split_once("unknown failure ").and_then(|it| number(it.1)) {
        return known(code);
    }
    let speaks =
        ["disconnect", "reason:", "reason=", "reason ", "connect fail", "reason(", "reason["];
    if !speaks.iter().any(|it| lower.contains(it)) || is_of_others(record, lower) {
        return None;
    }
    // The ESP8266's exceptions have reasons of their own.
    if lower.contains("epc1=") {
        return None;
    }
    if let Some(code) = NUMBERED.iter().find_map(|it| number(lower.split_once(it)?.1)) {
        return known(code);
    }
    if let Some(at) = lower.find("reason") {
        // Why a device started, woke, left a menu or ended a block ack is no end of a link.
        let before = lower[..at].trim_end_matches([' ', '_', '-']);
        if STARTS.iter().any(|it| before.ends_with(it)) {
            return None;
        }
        let rest =
            text[at + "reason".len()..].trim_start_matches([' ', ':', '=', '(', '\'', '"', '[']);
        let rest =
            rest.strip_prefix("code").map_or(rest, |it| it.trim_start_matches([' ', ':', '=']));
        // "4WAY_HANDSHAKE_TIMEOUT" and "4-Way Handshake Timeout" are names.
        let behind = rest.trim_start_matches(|it: char| it.is_ascii_digit());
        let behind = behind.strip_prefix('-').unwrap_or(behind);
        if let Some(code) =
            number(rest).filter(|_| !behind.starts_with(|it: char| it.is_ascii_alphabetic()))
        {
            return known(code);
        }
    }
    // Names: "NO_AP_FOUND", "WIFI_REASON_AUTH_FAIL", "NoApFound"; words.
    let named = text
        .split(|it: char| !(it.is_ascii_alphanumeric() || it == '_'))
        .filter(|word| word.len() > 6)
        .find_map(reason::by_name);
    let words = WORDS.iter().find(|(words, _)| lower.contains(words)).map(|it| it.1);
    named.map(|it| it.code).or(words).map(LogEvent::Disconnected)
}

/// Names and numbers of the driver's states.
const STATES: [&str; 8] = ["init", "auth", "assoc", "run", "0", "2", "3", "5"];

/// Returns what stands behind "state: ", with which the driver's line begins, also behind the names of programs that pass it on
/// and behind a line that was not ended.
pub(super) fn state(text: &str) -> Option<&str> {
    text.strip_prefix("state: ").or_else(|| {
        let (front, rest) = text.rsplit_once("state: ")?;
        let from = rest.split_once(" -> ")?.0;
        let begins =
            front.ends_with("wifi ") || front.ends_with(|it: char| it.is_ascii_punctuation());
        (begins && STATES.contains(&from)).then_some(rest)
    })
}

/// Reads why the driver leaves a state: "run -> init (0xc800)". The reason is above the lowest byte, which has the kind of the
/// frame; older releases leave 0x out, and the ESP8266 has numbers for the states.
fn left(states: &str) -> Option<u8> {
    let (states, code) = states.split_once(" (")?;
    let (from, to) = states.split_once(" -> ")?;
    let code = u32::from_str_radix(code.split_once(')')?.0.trim_start_matches("0x"), 16).ok()?;
    let reason = u8::try_from(code >> 8).ok().filter(|it| *it > 0);
    match (from, to) {
        // Old releases print a time-out bare.
        ("auth" | "2", "init" | "0") if code == 2 => Some(2),
        ("assoc" | "3", "init" | "0") if code == 2 => Some(4),
        ("assoc" | "3", "init" | "0") => refused(code).or(reason),
        (_, "init" | "0") => reason,
        // It begins anew right after a frame of a deauthentication or a disassociation.
        _ => reason.filter(|_| matches!(code & 0xff, 0xa0 | 0xc0)),
    }
}

/// Reads the status with which an access point refuses an association, above a lowest byte of zero or, of old releases, bare:
/// `3 -> 0 (1200)`, which the event then calls reason 203. The driver's own reasons (to 9, from 200 on) stand in the same
/// place. Status 17 says that there are too many stations (IEEE 802.11-2020, table 9-50).
fn refused(code: u32) -> Option<u8> {
    let above = code > 0xff && code & 0xff == 0;
    match if above { code >> 8 } else { code } {
        17 => Some(5),
        1 | 10..=13 if above => Some(203),
        18..=127 => Some(203),
        _ => None,
    }
}

/// Returns whether a text names the state of a station whose password is wrong, and no reason of the driver.
pub(super) fn is_state_of_password(text: &str) -> bool {
    text.to_ascii_lowercase().contains("wrong_password")
}

/// Reasons of ESP-WIFI-MESH (`mesh_disconnect_reason_t`) that are alike one of Wi-Fi: a scan without a parent, another network's
/// identity, a parent that is idle, stops or is left, and one that asks for other security.
const MESH: [(u32, u8); 10] = [
    (101, 4),
    (102, 3),
    (103, 201),
    (104, 3),
    (105, 3),
    (106, 201),
    (107, 201),
    (109, 207),
    (110, 210),
    (111, 210),
];

fn known(code: u32) -> Option<LogEvent> {
    if let Some((_, alike)) = MESH.iter().find(|it| it.0 == code) {
        return Some(LogEvent::Disconnected(*alike));
    }
    let code = u8::try_from(code).ok()?;
    reason::by_code(code).is_some().then_some(LogEvent::Disconnected(code))
}

/// Returns whether a record is of Bluetooth, MQTT or another that has reasons of its own.
fn is_of_others(record: &SearchRecord<'_>, lower: &SearchText<'_>) -> bool {
    let tag = &record.tag;
    let wifi = lower.contains("wifi") || lower.contains("ssid") || tag.contains("wifi");
    let whole = |text: &str, word: &str| {
        text.match_indices(word).any(|(at, _)| {
            text[..at].chars().next_back().is_none_or(|it| !it.is_ascii_alphanumeric())
        })
    };
    !wifi && OTHERS.iter().any(|it| whole(lower, it) || whole(tag, it))
}

/// Returns what a record tells of a link that is made or works.
pub(super) fn link(record: &SearchRecord<'_>) -> Vec<LogEvent> {
    let text = &record.text;
    let mut found = Vec::new();
    // The driver had "bcn_timout" until ESP-IDF 5.0.
    if ["bcn_timout,", "bcn_timeout,"].iter().any(|it| text.contains(it)) {
        found.push(LogEvent::BeaconTimeout);
    }
    let lower = &record.lower;
    // The state "run" comes before the handshake of keys, and this after it.
    if begins_association(text)
        || ((lower.contains("wifi connected")
            || lower.contains("wifi: connected")
            || lower.contains("wifi : connected"))
            && !lower.contains("disconnected"))
    {
        found.push(LogEvent::Associated);
    }
    // ESP-AT's answer to AT+CIPSTATUS: it has tried to join, and is not connected.
    if text.as_str() == "STATUS:5" || text.contains("> STATUS:5 ") {
        found.push(LogEvent::Words(WordCause::LinkDown));
    }
    // ESP-AT, of a command that came while it carried out another.
    if ["busy now ...", "busy p..."].contains(&text.as_str()) {
        found.push(LogEvent::Words(WordCause::WifiCall));
    }
    // The ESP8266's driver is told to begin anew before it is associated, and has no reason for it.
    if matches!(state(text), Some("2 -> 0 (0)" | "3 -> 0 (0)")) {
        found.push(LogEvent::Words(WordCause::LinkDown));
    }
    // Its answer to AT+CWJAP where joining fails for another reason.
    if text.as_str() == "+CWJAP:4" {
        found.push(LogEvent::Words(WordCause::LinkFailed));
    }
    found.extend(numbered_event(lower));
    found.extend(address::address(lower));
    found.extend(strength(lower));
    found.extend(power_save(text, lower));
    found.extend(wifi_call(lower));
    if record.tag == "wifi"
        && let Some(channel) = text.strip_prefix("new:<").and_then(number)
        && let Ok(channel) = u8::try_from(channel)
    {
        found.push(LogEvent::Channel(channel));
    }
    found
}

/// Returns whether the handshake of keys is open behind a line: the driver is in its state "run", and has not said "connected".
pub(super) fn has_keys_open(text: &str, open: bool) -> bool {
    match state(text) {
        Some(rest) => rest.starts_with("assoc -> run") || (open && rest.starts_with("run -> ")),
        None => open && !begins_association(text) && !text.contains("ip: "),
    }
}

/// Reads the number of an event of Arduino's core as sketches print it, "[WiFi-event] event: 5": all releases have the same
/// for a link that is made and that ends.
fn numbered_event(lower: &SearchText<'_>) -> Option<LogEvent> {
    let behind =
        ["wifi-event", "wifi event"].iter().find_map(|it| Some(lower.split_once(it)?.1))?;
    let rest = behind.trim_start_matches([']', ' ', ':']);
    let rest = rest.strip_prefix("event").unwrap_or(rest).trim_start_matches([' ', ':']);
    let ends = rest.trim_start_matches(|it: char| it.is_ascii_digit());
    match number(rest).filter(|_| ends.is_empty() || ends.starts_with([' ', '|', ','])) {
        Some(4) => Some(LogEvent::Associated),
        Some(5) => Some(LogEvent::Words(WordCause::LinkEnded)),
        Some(7) => Some(LogEvent::GotIp),
        _ => None,
    }
}

/// Returns whether a text is the driver's, for an association that begins.
pub(super) fn begins_association(text: &str) -> bool {
    text.starts_with("connected with ")
}

/// Reads how strong the access point is heard. A scan's strengths are of others, too.
fn strength(lower: &SearchText<'_>) -> Option<LogEvent> {
    let words = ["rssi", "signal strength", "wifi signal"];
    let at = words.iter().find_map(|it| Some(lower.find(it)? + it.len()))?;
    let rest = lower[at..].trim_start_matches(|it: char| !it.is_ascii_digit() && it != '-');
    let dbm = rest.strip_prefix('-').and_then(number).and_then(|it| i8::try_from(it).ok())?;
    let dbm = -dbm;
    if dbm <= FAINTEST {
        return None;
    }
    let own = [
        "security:",
        "security type:",
        "signal strength",
        "ifidx:",
        "wifi signal",
        "disconnect",
        "reason",
    ];
    // Mongoose OS: "WiFi STA: Connected, BSSID … RSSI -94".
    let own = own.iter().any(|it| lower.contains(it)) || lower.contains("sta: connected");
    Some(if own { LogEvent::Rssi(dbm) } else { LogEvent::OtherRssi(dbm) })
}

fn power_save(text: &SearchText<'_>, lower: &SearchText<'_>) -> Option<LogEvent> {
    let number_of = |words: &str| text.strip_prefix(words).and_then(number);
    if let Some(kind) = number_of("pm start, type: ").or_else(|| number_of("Set ps type: ")) {
        return Some(LogEvent::PowerSave(match kind {
            0 => PowerSaveType::None,
            1 => PowerSaveType::MinModem,
            _ => PowerSaveType::MaxModem,
        }));
    }
    // The ESP8266: 1 is light sleep, 2 modem sleep.
    if let Some(kind) = number_of("pm open,type:") {
        let kind = if kind == 0 { PowerSaveType::None } else { PowerSaveType::MinModem };
        return Some(LogEvent::PowerSave(kind));
    }
    let word =
        lower.split_once("power save mode: ").or_else(|| lower.split_once("power_save_mode: "))?.1;
    let kind = [
        ("none", PowerSaveType::None),
        ("light", PowerSaveType::MinModem),
        ("high", PowerSaveType::MaxModem),
    ];
    kind.iter().find(|it| word.starts_with(it.0)).map(|it| LogEvent::PowerSave(it.1))
}

/// Finds calls of the driver that come at a wrong time.
fn wifi_call(lower: &SearchText<'_>) -> Option<LogEvent> {
    if super::codes::has_driver_call(lower) {
        return Some(LogEvent::WifiCall);
    }
    if lower.contains("sta is connecting, return error") {
        return Some(LogEvent::ConnectsTwice);
    }
    let names: [&str; 20] = [
        // Arduino's class says no more of a call that the driver refuses.
        "begin(): connect failed!",
        "sta is connecting, cannot set config",
        "wifi internal error",
        "wifi internal state error",
        "wifi not initialized",
        "wifi not started",
        "esperrwificonn",
        "wifi not start",
        "wifi is not init",
        "wifi is not start",
        "sta must be active",
        "wifi stop state",
        "ap must be active",
        "wifi invalid mode",
        "wifi would block",
        "wifi unknown error",
        "wifi invalid argument",
        "call wifi_init_config_default",
        // lwIP's assertion where its task was never started.
        "invalid mbox",
        "esp-hosted slave",
    ];
    names.iter().any(|it| lower.contains(it)).then_some(LogEvent::WifiCall)
}

/// Returns a name of a reason as it is compared: without underscores, in lower case.
pub(crate) fn folded(name: &str) -> String {
    name.chars().filter(|it| *it != '_').map(|it| it.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::event::told;
    use super::super::{LogEvent, PowerSaveType};

    #[test]
    fn reasons_of_each_program_are_read_and_those_of_others_are_not() {
        use LogEvent::Disconnected;
        for (line, code) in [
            ("Reason: '(201) No AP found' Connected for 2860 ms", 201),
            ("ssid[x] bssid[00:00:5e:00:53:07] reason[203]", 203),
            ("I (5) example_connect: Wi-Fi disconnected 201, trying to reconnect...", 201),
            ("[W][wifi:1]: Disconnected ssid='x' reason='Unspecified'", 1),
            ("[W][wifi:1]: Disconnected ssid='x' reason='4-Way Handshake Timeout'", 15),
            ("I (5) wifi: state: auth -> init (2)", 2),
            ("state: 3 -> 0 (2)", 4),
            ("state: 5 -> 2 (7c0)", 7),
            ("state: 3 -> 0 (1200)", 203),
            ("state: 3 -> 0 (12)", 203),
            ("state: assoc -> init (1100)", 5),
            ("state: assoc -> init (400)", 4),
            ("I (5) net: SYSTEM_EVENT_STA_DISCONNECTED: 200", 200),
            ("no barn found, reconnect after 1s", 201),
            ("STA disconnect: 200", 200),
            ("00:00:10 WIF: Connect failed with AP incorrect password", 202),
            ("I (5) wifi station: 201", 201),
            ("[W][wifi:1]: Disconnected ssid='x' reason='Beacon Timeout'", 200),
            ("INFO - Disconnected { reason: FourWayHandshakeTimeout }", 15),
            ("[  166.98] Disconnect event for ssid test [reason:201]", 201),
            ("[W][WiFiGeneric.cpp:187] _eventCallback(): Reason: 201 - AUTH_FAIL", 201),
        ] {
            assert_eq!(told(line), [Disconnected(code)], "{line}");
        }
        for line in [
            "I (5) NimBLE: disconnect; reason=8",
            "[MQTT WARN] Connection refuse, reason code: 5",
            "I (5) ws: websocket disconnected, reason 7",
            "I (5) app: reset reason: 3",
            "state: 3 -> 5 (10)",
            "I (5) wifi:state: run -> init (0x0)",
            "I (5) net: SYSTEM_EVENT_STA_DISCONNECTED: reconnecting",
        ] {
            assert!(!told(line).iter().any(|it| matches!(it, Disconnected(_))), "{line}");
        }
    }

    #[test]
    fn strengths_addresses_and_sleep_are_read() {
        for (line, events) in [
            ("[C][wifi:291]:   Signal strength: -93 dB", &[LogEvent::Rssi(-93)][..]),
            ("[D][wifi:367]:     RSSI: -79 dB", &[LogEvent::OtherRssi(-79)]),
            ("I (5) a: Disconnect reason: 205, rssi=-128", &[LogEvent::Disconnected(205)]),
            ("AP IP address: 192.168.4.1", &[]),
            ("Local IP address: 169.254.7.9", &[LogEvent::NoAddress]),
            ("[I] IP address of the gate: 169.254.7.9", &[LogEvent::NoAddress]),
            ("IP address of the server: 192.0.2.7", &[]),
            ("broadcast IP address: 255.255.255.255", &[]),
            ("IP Address: (IP unset)", &[LogEvent::AddressUnset]),
            (
                "network config: ('0.0.0.0', '0.0.0.0', '0.0.0.0', '0.0.0.0')",
                &[LogEvent::AddressUnset],
            ),
            ("IP address: 192.0.2.7", &[LogEvent::GotIp]),
            ("ip:192.0.2.7,mask:255.255.255.0,gw:192.0.2.1", &[LogEvent::GotIp]),
            ("pm open,type:2 0", &[LogEvent::PowerSave(PowerSaveType::MinModem)]),
            ("bcn_timout,ap_probe_send_start", &[LogEvent::BeaconTimeout]),
        ] {
            assert_eq!(told(line), events, "{line}");
        }
    }
}
