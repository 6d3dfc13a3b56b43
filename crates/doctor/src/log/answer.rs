//! Answers that are none: a name whose address is no address, a broker's CONNACK, a server without a place for one more client.

use super::event::{LogEvent, number};
use super::network::NO_SOCKET;
use super::search::SearchText;

/// Addresses that no host has, and with which Arduino's classes answer for a name that cannot be resolved.
const NONE: [&str; 2] = ["255.255.255.255", "0.0.0.0"];

/// Words beside which such an address is one that is set up, and no answer.
const SET_UP: [&str; 8] =
    ["mask", "broadcast", "listen", "bind", "static", "gateway", "config", "server"];

/// Words of a name that is asked for.
const ASKS: [&str; 5] = ["resolv", "lookup", "look up", "hostbyname", "dns "];

/// Words of an address that a program uses as another's: nobody sets that one up as 255.255.255.255.
const USED: [&str; 5] = ["connecting to", "connect to", "broker ip", "server ip", "remote ip"];

/// Words that may stand between a name and its address.
const BETWEEN: [&str; 9] = ["=", ">", "-", ":", " is", " to", " as", " ip", " address"];

/// Last parts of names of the network at large, and of one's own.
const TOP: [&str; 14] = [
    "com", "org", "net", "io", "edu", "gov", "info", "cloud", "dev", "app", "local", "lan", "home",
    "example",
];

/// Words of a server that has no place for another client: of whom it speaks, and that it has none.
const FULL: [(&str, &str); 10] = [
    ("connections in use", "all "),
    ("sockets in use", "all "),
    ("out of sockets", ""),
    ("no free socket", ""),
    ("accept", "too many open files"),
    ("max connections", "reject"),
    ("max clients", "reject"),
    ("too many clients", ""),
    ("no more room", "client"),
    ("no free space new client", ""),
];

/// Words of a broker's answer that did not come.
const UNANSWERED: [&str; 6] = [
    "timed out",
    "connack timeout",
    "timeout waiting",
    "no connack",
    "connack not rec",
    "failed to receive",
];

/// Returns what a text tells of an answer that is none.
pub(super) fn answer(lower: &SearchText<'_>) -> Option<LogEvent> {
    if NONE.iter().any(|it| resolves_to(lower, it)) {
        return Some(LogEvent::NameFailed);
    }
    if lower.contains("connack") {
        return connack(lower);
    }
    let full = FULL.iter().any(|(subject, sign)| lower.contains(subject) && lower.contains(sign));
    full.then_some(LogEvent::SocketError(NO_SOCKET))
}

/// Returns whether a text says that a name has an address that no host has: "time.example.com: 0.0.0.0".
fn resolves_to(lower: &SearchText<'_>, none: &str) -> bool {
    let Some((before, behind)) = lower.split_once(none) else { return false };
    let label = before.trim_end_matches([' ', ':', '=']);
    // "DNS 2: 0.0.0.0": there is no second server of names.
    if label.trim_end_matches([' ', '1', '2']).ends_with("dns") {
        return false;
    }
    // A broker may be set up as 0.0.0.0; a client that connects to it has asked for a name.
    let used =
        (none == NONE[0] && USED.iter().any(|it| before.contains(it))) || label.ends_with(USED[0]);
    // A longer number, a port to listen at, or a mask.
    if behind.starts_with(|it: char| it.is_ascii_digit() || it == '/' || it == ':' && !used)
        || before.ends_with(|it: char| it.is_ascii_alphanumeric() || it == '.')
    {
        return false;
    }
    let asks =
        ASKS.iter().any(|it| before.contains(it)) && !SET_UP.iter().any(|it| before.contains(it));
    used || asks || ends_with_host(before)
}

/// Returns whether a text ends with a host's name, and at most a few words behind it.
fn ends_with_host(text: &str) -> bool {
    let mut text = text;
    loop {
        let rest = text.trim_end_matches([' ', '\t', '(', '[', '\'', '"']);
        let rest = BETWEEN.iter().find_map(|it| rest.strip_suffix(it)).unwrap_or(rest);
        if rest.len() == text.len() {
            break;
        }
        text = rest;
    }
    let host = text.rsplit([' ', '\t', '(', '[', '\'', '"', '/', '=', ':']).next().unwrap_or("");
    let dots = host.bytes().filter(|it| *it == b'.').count();
    let top = host.rsplit('.').next().unwrap_or("");
    dots > 0
        && host.bytes().all(|it| it.is_ascii_alphanumeric() || b"-.".contains(&it))
        && (TOP.contains(&top)
            || (dots > 1 && top.len() == 2 && top.bytes().all(|it| it.is_ascii_alphabetic())))
}

/// Reads a broker's answer to who wants to join: its code in any program's words, or that none came.
fn connack(lower: &SearchText<'_>) -> Option<LogEvent> {
    if UNANSWERED.iter().any(|it| lower.contains(it)) {
        return Some(LogEvent::ConnectionFailed);
    }
    let behind = lower.split_once("connack")?.1;
    // "CONNACK received, session present: 0, return code: 5"
    let code = ["return code", "reason code", "rc=", "rc ", "code"]
        .iter()
        .find_map(|it| behind.split_once(it));
    let rest = code.map_or(behind, |it| it.1);
    let rest = rest.trim_start_matches([' ', ':', '=', '(', '[', '#', ',', '-', '>']);
    let hex = rest.strip_prefix("0x").and_then(|it| u32::from_str_radix(it.get(..2)?, 16).ok());
    // MQTT 3.1.1 has 1 to 5, MQTT 5 from 0x80 on (3.2.2.3, 3.2.2.2).
    matches!(hex.or_else(|| number(rest)), Some(1..=5 | 0x80..=0x9f))
        .then_some(LogEvent::BrokerRefused)
}

#[cfg(test)]
mod tests {
    use super::super::LogEvent;
    use super::super::event::told;

    #[test]
    fn a_name_without_an_address_is_told() {
        for line in [
            "time.example.com: 255.255.255.255",
            "the IP address of hub.lan is 0.0.0.0",
            "pool.ntp.example = 0.0.0.0",
            "lookup of barn -> 255.255.255.255",
            "Socket created, connecting to 0.0.0.0:3333",
        ] {
            assert_eq!(told(line), [LogEvent::NameFailed], "{line}");
        }
        for line in [
            "DNS server: 0.0.0.0",
            "WiFi Got DNS 2: 0.0.0.0",
            "webserver of hub.local: 0.0.0.0:80",
            "net.mask: 255.255.255.255",
            "hub.local: 10.0.0.0",
            "I (5) app: resolver.c:12 static 0.0.0.0",
        ] {
            assert!(!told(line).contains(&LogEvent::NameFailed), "{line}");
        }
    }

    #[test]
    fn a_broker_and_a_server_refuse() {
        use LogEvent::{BrokerRefused, ConnectionFailed, SocketError};
        for (line, event) in [
            ("MQTT0 CONNACK 5", BrokerRefused),
            ("CONNACK received, session present: 0, return code: 4", BrokerRefused),
            ("mqtt: CONNACK rc=0x87", BrokerRefused),
            ("client timed out waiting for CONNACK", ConnectionFailed),
            ("all 7 connections in use", SocketError(23)),
            ("accept: Too many open files in system", SocketError(23)),
            ("[W][api:093]: Max connections (5), rejecting 192.0.2.7", SocketError(23)),
        ] {
            assert_eq!(told(line), [event], "{line}");
        }
        for line in ["MQTT0 CONNACK 0", "waits for CONNACK, timeout: 10 s"] {
            assert!(
                told(line).iter().all(|it| !matches!(it, BrokerRefused | ConnectionFailed)),
                "{line}"
            );
        }
    }
}
