//! Kind of subject that a record names: the network, a broker, a server, or what stands beside the link.

use super::record::LogRecord;
use super::wordlist as list;
use super::{signs, subjects};

/// Words of a program that ends the link itself.
const RESTARTS: &[&str] =
    &["restart wifi", "restarting wifi", "restart the wifi", "reset wifi", "resetting wifi"];

/// Kind of subject. A clause without one has that of what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Wifi,
    Broker,
    Server,
    EspNow,
    /// Parts beside the link: Bluetooth, displays, files.
    Other,
}

/// Subject of the lines before a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) family: Family,
    /// Whether a connection is being made.
    pub(super) pending: bool,
    /// Whether the program itself has just ended the link, to make it anew.
    pub(super) restarts: bool,
}

/// Returns what a record speaks of.
pub(super) fn subject(record: &LogRecord<'_>, before: Option<Subject>) -> Option<Subject> {
    let lower = record.text.to_ascii_lowercase();
    let tag = record.tag.to_ascii_lowercase();
    let bluetooth = || {
        let words = ["ble ", "bluetooth", "gatt", "nimble", "advertising"];
        tag == "ble" || list::has(&tag, &words) || list::has(&lower, &words)
    };
    // A server of Bluetooth is none of the network.
    let family = family(&lower)
        .filter(|it| *it != Family::Server || !bluetooth())
        .or_else(|| family(&tag))
        .or_else(|| names_network(&lower).then_some(Family::Wifi))
        .or_else(|| bluetooth().then_some(Family::Other))?;
    // "MQTT connection...": it is being made.
    let open = lower.ends_with("...") && subjects::CONNECTS.is_in(&lower);
    let pending = open
        || signs::TRIES.is_in(&lower)
        || list::has(&lower, &["connect to", "attempt", "cipstart"]);
    let restarts = list::has(&lower, RESTARTS)
        || (family == Family::Wifi && before.is_some_and(|it| it.restarts));
    Some(Subject { family, pending, restarts })
}

/// Returns whether a text is "connecting to" and one word, which is no host: Arduino's examples print a network's name so.
fn names_network(lower: &str) -> bool {
    let name = lower.strip_prefix("connecting to ").unwrap_or("").trim();
    let name = name.trim_end_matches(['.', ' ']);
    !name.is_empty() && !name.contains([' ', '.', ':', '/']) && !subjects::OTHERS.is_in(lower)
}

/// Returns whether a text has "connecting to" and a host: its name has a dot, or a port.
fn names_host(lower: &str) -> bool {
    ["connecting to ", "connect to "].iter().flat_map(|it| lower.match_indices(it)).any(
        |(at, it)| {
            let word = lower[at + it.len()..].split_whitespace().next().unwrap_or("");
            let word = word.trim_end_matches(['.', ',', ':']);
            // "Failed to connect to SSID:barn": what stands behind a colon is a port.
            let port = word.split_once(':').is_some_and(|(name, port)| {
                !name.is_empty() && port.starts_with(|it: char| it.is_ascii_digit())
            });
            let dotted = word.split(':').next().and_then(|it| it.split_once('.'));
            port || dotted.is_some_and(|(name, behind)| {
                !name.is_empty() && behind.starts_with(|it: char| it.is_ascii_alphanumeric())
            })
        },
    )
}

/// Returns whether a text tells of a state that one part of a program hands to another, and not to a broker.
fn hands_on(lower: &str) -> bool {
    list::has(lower, &["publish state", "publish_state", "publishing state", "publish the state"])
        && !list::has(lower, &["mqt", "broker"])
}

/// Returns what a text speaks of, the more telling first.
pub(super) fn family(lower: &str) -> Option<Family> {
    if hands_on(lower) {
        return Some(Family::Other);
    }
    // Arduino's classes of connections.
    if lower.starts_with("wificlient") || lower.starts_with("networkclient") {
        return Some(Family::Server);
    }
    if names_host(lower) && !subjects::BROKER.is_in(lower) {
        return Some(Family::Server);
    }
    [
        (&subjects::ESP_NOW, Family::EspNow),
        (&subjects::BROKER, Family::Broker),
        (&subjects::SERVER, Family::Server),
        (&subjects::WIFI, Family::Wifi),
        (&subjects::MESSAGES, Family::Server),
    ]
    .into_iter()
    .find(|it| it.0.is_in(lower))
    .map(|it| it.1)
}
