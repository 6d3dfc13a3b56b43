//! Lines of the driver's states: why it leaves one, and what it is in.

use super::event::LogEvent;
use super::record::LogRecord;
use crate::reason;

/// Returns the end of a link, or a failed attempt, that the driver's line of a state tells, or a number that is all of a line.
pub(super) fn disconnection(record: &LogRecord<'_>) -> Option<LogEvent> {
    if let Some(states) = state(record.text) {
        return left(states).map(LogEvent::Disconnected);
    }
    // "wifi station: 201": a program that prints nothing but the number.
    let number = record.text.parse::<u32>().ok().filter(|it| *it >= 200)?;
    let of_wifi = record.tag.to_ascii_lowercase().contains("wifi");
    let known = reason::alike(number).filter(|_| of_wifi);
    known.map(|it| LogEvent::Disconnected(it.code))
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

/// Returns whether a text tells that an attempt to join failed, by the state that it failed in.
pub(crate) fn is_attempt(text: &str) -> bool {
    let from = state(text).and_then(|it| it.split_once(" -> ")).map(|it| it.0);
    matches!(from, Some("auth" | "assoc" | "2" | "3"))
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

/// Returns whether the handshake of keys is open behind a line: the driver is in its state "run", and has not said "connected".
pub(super) fn has_keys_open(text: &str, open: bool) -> bool {
    match state(text) {
        Some(rest) => rest.starts_with("assoc -> run") || (open && rest.starts_with("run -> ")),
        None => open && !begins_association(text) && !text.contains("ip: "),
    }
}

/// Returns whether a record may be of the driver's states, or end the handshake of keys.
pub(super) fn concerns(record: &LogRecord<'_>) -> bool {
    let text = record.text;
    state(text).is_some() || begins_association(text) || text.contains("ip: ")
}

/// Returns whether a text is the driver's, for an association that begins.
pub(super) fn begins_association(text: &str) -> bool {
    text.starts_with("connected with ")
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
