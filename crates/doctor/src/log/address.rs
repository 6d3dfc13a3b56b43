//! The device's own IP address: that there is one, that it is none, or that DHCP does not answer.

use super::event::{LogEvent, number};
use super::search::SearchText;

/// Returns whether a text tells of an IP address.
pub(super) fn names_address(text: &str) -> bool {
    let lower = &SearchText::lower(text);
    address(lower) == Some(LogEvent::GotIp)
}

/// Seconds that a client of DHCP waits when it asks for the third time: 4 at first, and twice as long each time (RFC 2131, 4.1).
const THIRD_WAIT_S: u32 = 15;

/// Returns whether Zephyr asks for an address for the third time or later.
fn asks_in_vain(lower: &SearchText<'_>) -> bool {
    let waits = lower.split_once("send discover xid=").and_then(|it| it.1.split_once("timeout="));
    waits.is_some_and(|it| number(it.1).is_some_and(|it| it >= THIRD_WAIT_S))
}

/// Reads that there is an IP address, or none.
pub(super) fn address(lower: &SearchText<'_>) -> Option<LogEvent> {
    let none = [
        "no dhcpoffers received",
        "dhcp timeout",
        "dhcp_timeout(): restarting",
        "dhcp timed out",
        "dhcp failed",
        "dhcp client failed",
        "dhcp: no lease",
        "failed to obtain ip",
        "failed to get ip",
        "no ip address received",
        "waiting for ip timed out",
        "dhcp get ip error",
    ];
    if none.iter().any(|it| lower.contains(it)) || asks_in_vain(lower) {
        return Some(LogEvent::NoAddress);
    }
    // A program that could not join prints the address that it has not.
    if lower.contains("connecting") && ["time out", "timed out"].iter().any(|it| lower.contains(it))
    {
        return None;
    }
    // A SoftAP's address is its own; a static one of zeros stands for DHCP.
    if OTHER_ADDRESSES.iter().any(|it| lower.contains(it)) {
        return None;
    }
    let told = ["got ip", "got_ip", "sta ip:", "sta_ip:"].iter().any(|it| lower.contains(it));
    let mut found = [false; 4];
    for rest in LABELS.iter().filter_map(|it| Some(lower.split_once(it)?.1)) {
        // "IP address of Device: 255.255.255.255": what is no address is no server's, either.
        let own = OwnAddress::of(rest).or_else(|| {
            let (words, rest) = rest.split_once(": ")?;
            let name = words.len() < NAME
                && words.bytes().all(|it| it == b' ' || it.is_ascii_alphabetic());
            OwnAddress::of(rest).filter(|it| name && *it != OwnAddress::Any)
        });
        if let Some(own) = own {
            found[own as usize] = true;
        }
    }
    let has = |which: OwnAddress| found[which as usize];
    if has(OwnAddress::LinkLocal) {
        return Some(LogEvent::NoAddress);
    }
    match (told, has(OwnAddress::Any), has(OwnAddress::Ones), has(OwnAddress::Unset)) {
        // Arduino's event of an address that is none.
        (true, false, true, _) => Some(LogEvent::NoAddress),
        (_, false, true, _) | (_, false, _, true) => Some(LogEvent::AddressUnset),
        (false, false, false, false) => None,
        _ => Some(LogEvent::GotIp),
    }
}

/// Words in front of a device's own address, in lower case.
const LABELS: [&str; 8] = [
    "ip address",
    "ip:",
    "local ip",
    "ip is",
    "dhcp ip:",
    "static_ip=",
    // MicroPython's tutorial, and Zephyr.
    "network config",
    "ipv4 address",
];

/// Words of addresses that are not the station's own.
const OTHER_ADDRESSES: [&str; 11] = [
    "ap ip",
    "softap",
    "ap_ip",
    "192.168.4.1,",
    "manual",
    "configuring",
    "broadcast",
    "netmask:",
    "broker ip",
    "server ip",
    "remote ip",
];

/// Bytes of the words that may stand between "IP address" and a colon.
const NAME: usize = 24;

/// An address that a program prints as its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OwnAddress {
    /// One that may be its own.
    Any,
    /// Zeros, or Arduino's words for them.
    Unset,
    /// 255.255.255.255, `INADDR_NONE`.
    Ones,
    /// 169.254.0.0/16, which a device gives itself where DHCP does not answer (RFC 3927).
    LinkLocal,
}

impl OwnAddress {
    /// Reads the address that a text begins with; the one that a SoftAP has by default is none of a station.
    fn of(text: &str) -> Option<Self> {
        let text = text.trim_start_matches([' ', '\t', ':', '=', '(', '\'', '"']);
        if text.starts_with("ip unset)") {
            return Some(Self::Unset);
        }
        let numbers = text.split('.').take(4).filter(|it| number(it).is_some()).count();
        if numbers < 4 || text.split_whitespace().next() == Some("192.168.4.1") {
            return None;
        }
        let begins = |it: &str| text.starts_with(it);
        Some(match () {
            () if begins("0.0.0.0") => Self::Unset,
            () if begins("255.255.255.255") => Self::Ones,
            () if begins("169.254.") => Self::LinkLocal,
            () => Self::Any,
        })
    }
}

/// Returns whether a text prints 255.255.255.255 as an address.
pub(super) fn names_ones(text: &str) -> bool {
    text.contains("255.255.255.255")
}

/// Returns whether a text ends where an address has to follow: Arduino's examples print it in the next line.
pub(super) fn asks_address(text: &str) -> bool {
    let Some(label) = text.trim_end().strip_suffix(':') else { return false };
    let lower = label.trim_end().to_ascii_lowercase();
    let words = || lower.split_whitespace();
    let others = ["ap", "softap", "server", "broker", "gateway", "host", "dns", "remote", "target"];
    ["ip address", "local ip", " ip"].iter().any(|it| lower.ends_with(it))
        && words().count() <= 4
        && !words().any(|it| others.contains(&it))
}

/// Reads an address that is all of a line.
pub(super) fn bare_address(text: &str) -> Option<LogEvent> {
    let lone = text.bytes().all(|it| it.is_ascii_digit() || it == b'.') || text == "(IP unset)";
    Some(match OwnAddress::of(&text.to_ascii_lowercase()).filter(|_| lone)? {
        OwnAddress::Any => LogEvent::GotIp,
        OwnAddress::LinkLocal => LogEvent::NoAddress,
        OwnAddress::Unset | OwnAddress::Ones => LogEvent::AddressUnset,
    })
}
