//! Single signs: one lost connection, or a log that ends without an address. They are findings of low certainty, and
//! only where nothing else is found, because each may be usual.

use super::{WEAK_DBM, edge, filled, finding, network, of_reason, parts, weakest, words};
use crate::finding::{CauseFinding, Certainty};
use crate::log::{CourseOf, LogEvent, LogSummary, WordCause};
use crate::reason::ReasonGroup;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// From here on an address is late, in milliseconds: DHCP takes some 2 s.
const LATE_MS: u64 = 3000;

/// Within this time of lost beacons the link ends or is well again, in milliseconds: five probes take 0.5 to 2.5 s.
const ASKS_MS: u64 = 5000;

/// Lines of a log that is short: an excerpt whose only reading is the complaint.
const SHORT: u64 = 20;

pub(super) fn findings(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    // A weak signal makes one lost beacon the sign of a loss, and so does a log of nothing else that ends before the driver
    // gives up.
    let timeout = |it: &LogEvent| *it == LogEvent::BeaconTimeout;
    if weakest(log).is_some_and(|it| it <= WEAK_DBM) || ends_unheard(log) {
        let it = of_reason(log, ReasonGroup::Beacons, 200, timeout);
        out.extend(it.map(|it| it.sure(Certainty::Low)));
    }
    out.extend(signal(log));
    out.extend(parts::faint_file_system(log));
    out.extend(parts::faint_memory(log));
    out.extend(soft_ap(log));
    out.extend(unserved(log));
    // One lost connection is usual in a log of a link that works; where it is all that a log shows, or its end, it is the
    // complaint.
    let failed = log.moments(network::is_connection);
    let ends = log.last.as_ref().is_some_and(network::is_connection)
        && log.courses.fails_at_the_end(CourseOf::Connections);
    let tells = failed > 1 || ends || !network::linked(log);
    if tells && !network::is_made_good(log) {
        out.extend(network::any_connection(log));
    }
    if log.count(|it| *it == LogEvent::GotIp) > 0 {
        return;
    }
    let unset = |it: &LogEvent| *it == LogEvent::AddressUnset;
    // A device that says that it is not joined has no address for that.
    let down = |it: &LogEvent| *it == LogEvent::Words(WordCause::LinkDown);
    if log.count(unset) > 0 && log.count(down) > 0 && !network::linked(log) {
        out.extend(words::unjoined(log, down));
        return;
    }
    let unset = finding(log, "no-address-zeros", unset);
    out.extend(unset.or_else(|| unaddressed(log)));
}

/// Finds an access point of the device's own that several stations lose while the device joins a network.
pub(super) fn clients_lost(log: &LogSummary) -> Option<CauseFinding> {
    soft_ap(log).filter(|_| log.count(|it| *it == LogEvent::StationLost) >= 2)
}

/// Finds an access point of the device's own whose stations lose it while the device joins a network. What has joined in the
/// end has nothing more to tell who set it up.
fn soft_ap(log: &LogSummary) -> Option<CauseFinding> {
    let is = |it: &LogEvent| matches!(it, LogEvent::SoftApMoved | LogEvent::StationLost);
    let moved = log.last_line(|it| *it == LogEvent::SoftApMoved);
    let joined = log.last_line(|it| *it == LogEvent::GotIp) > moved;
    let lost = log.count(|it| *it == LogEvent::StationLost);
    if joined && lost < 2 {
        return None;
    }
    finding(log, "channel-followed", is)
}

/// Finds an access point of the device's own whose stations leave without an address, again and again.
fn unserved(log: &LogSummary) -> Option<CauseFinding> {
    let is = |it: &LogEvent| *it == LogEvent::StationUnserved;
    (log.count(is) >= 2).then(|| finding(log, "no-address-for-clients", is))?
}

/// Finds an access point that is heard at the edge each time, or in a short log.
fn signal(log: &LogSummary) -> Option<CauseFinding> {
    let best = edge(log)?;
    let is = |it: &LogEvent| matches!(it, LogEvent::Rssi(_));
    if log.count(is) < 2 && log.lines > SHORT {
        return None;
    }
    let it = finding(log, "link-signal-edge", is)?;
    let title = filled(&it.title, "{dbm}", best.into());
    Some(it.titled(title))
}

/// Returns whether a log ends while the driver asks the access point whose beacons it misses.
fn ends_unheard(log: &LogSummary) -> bool {
    let lost = log.places(|it| *it == LogEvent::BeaconTimeout);
    let since = lost.last().and_then(|it| log.last_ms?.checked_sub(it.uptime_ms?));
    log.count(|it| *it == LogEvent::GotIp) == 0
        && log.last == Some(LogEvent::BeaconTimeout)
        && since.is_some_and(|it| it < ASKS_MS)
}

/// Finds an association that has waited for an address at the log's end.
fn unaddressed(log: &LogSummary) -> Option<CauseFinding> {
    let place = log.waiting.as_ref().filter(|_| !ends_unheard(log))?;
    log.waiting_ms().filter(|it| *it >= LATE_MS)?;
    // Who hears frames of ESP-NOW behind it needs none.
    let received = log.last_line(|it| *it == LogEvent::EspNowReceived);
    if received > place.line {
        return None;
    }
    let is = |it: &LogEvent| *it == LogEvent::Associated;
    let it = finding(log, "no-address-yet", is)?;
    Some(CauseFinding { incidents: 1, evidence: vec![place.clone()], ..it })
}

/// Returns the remark that a log ends too early to tell whether an address comes.
pub(super) fn early_end(log: &LogSummary) -> Option<String> {
    let waited = log.waiting_ms().filter(|it| *it < LATE_MS)?;
    let got = log.count(|it| *it == LogEvent::GotIp) > 0;
    (!got).then(|| {
        format!(
            "The log ends {waited} ms after the device joined, before it had an IP address: DHCP takes some 2 s. Where none \
             comes, see the router's list of leases and its range of addresses."
        )
    })
}
