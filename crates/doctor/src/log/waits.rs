//! Programs that wait, or try again: dots that do not end, and tries without an outcome.

use super::clause::clauses;
use super::topic::{Family, family};
use super::words::WordCause;
use super::{signs, subjects};

/// Dots in a row that stand for a program which waits in vain: two a second for 15 s.
pub(super) const DOTS: usize = 30;

/// As many dots.
const DOTTED: &str = "..............................";

/// Returns a try to join: "connecting to WiFi", or dots that do not end.
pub(super) fn waits(
    lower: &str,
    context: Option<Family>,
    of_tag: Option<Family>,
) -> Option<WordCause> {
    // Arduino's examples of updates over the air print this where the network cannot be joined.
    if lower.contains("connection failed! rebooting") {
        return Some(WordCause::LinkFailed);
    }
    let wifi = (subjects::WIFI.is_in(lower) || of_tag == Some(Family::Wifi))
        && !subjects::BROKER.is_in(lower);
    // "Connecting.....time out": it does not say to what.
    let behind = lower.rsplit_once(DOTTED).map(|it| it.1.trim_start_matches(['.', ' ']));
    let gives_up = behind.is_some_and(|it| {
        ["time out", "timed out", "timeout", "fail", "tried"]
            .iter()
            .any(|word| it.starts_with(word))
    });
    if gives_up && !matches!(family(lower), Some(Family::Broker | Family::Server)) {
        return Some(WordCause::LinkFailed);
    }
    if dots(lower) >= DOTS {
        let server = matches!(family(lower), Some(Family::Broker | Family::Server));
        if server && lower.contains("connecting") {
            return Some(WordCause::Connections);
        }
        if wifi || context == Some(Family::Wifi) {
            return Some(WordCause::LinkFailed);
        }
    }
    // "Trying to connect to attic": a name, and no server.
    let bare = lower.starts_with("trying to connect to ")
        && clauses(lower).next().is_some_and(|it| family(it.text).is_none())
        && context != Some(Family::Broker);
    if (wifi && signs::TRIES.is_in(lower)) || bare {
        return Some(WordCause::LinkTry);
    }
    // A client that is started again and again has not reached its broker.
    let broker = subjects::BROKER.is_in(lower)
        && (subjects::CONNECTS.is_in(lower) || lower.contains("starting mqtt"));
    // "Retrying (60000ms)...", behind a line of a broker.
    let again = context == Some(Family::Broker) && lower.starts_with("retrying");
    (again || broker && signs::TRIES.is_in(lower)).then_some(WordCause::ServerTry)
}

/// Returns the number of dots that a text ends with.
pub(super) fn dots(text: &str) -> usize {
    text.trim_end().bytes().rev().take_while(|it| matches!(it, b'.' | b' ')).count()
}
