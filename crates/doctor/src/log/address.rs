//! An address that stands in the line behind its label.

use super::event::LogEvent;
use super::record::LogRecord;
use super::summary::LogPlace;
use core::net::Ipv4Addr;

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

/// Reads an address that is all of a line: one, none, or that which a device gives itself where DHCP does not answer (RFC
/// 3927). The one that a SoftAP has by default is none of a station.
pub(super) fn bare_address(text: &str) -> Option<LogEvent> {
    if text == "(IP unset)" {
        return Some(LogEvent::AddressUnset);
    }
    let address: Ipv4Addr = text.parse().ok()?;
    Some(match address {
        Ipv4Addr::UNSPECIFIED | Ipv4Addr::BROADCAST => LogEvent::AddressUnset,
        _ if address.is_link_local() => LogEvent::NoAddress,
        _ if address.octets() == [192, 168, 4, 1] => return None,
        _ => LogEvent::GotIp,
    })
}

/// Within this time of the association no address has come, milliseconds: DHCP asks twice, and then sees whether another device
/// has the address.
const SOON_MS: u64 = 200;

/// Returns whether a record comes right after an association.
pub(super) fn is_soon(joined: &LogPlace, record: &LogRecord<'_>) -> bool {
    let since = record.uptime_ms.zip(joined.uptime_ms).and_then(|it| it.0.checked_sub(it.1));
    since.is_some_and(|it| it < SOON_MS)
}
