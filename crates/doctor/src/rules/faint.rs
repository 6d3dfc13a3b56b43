//! Single signs: one lost connection, or a log that ends without an address. They are findings of low certainty, and
//! only where nothing else is found, because each may be usual.

use super::{WEAK_DBM, edge, finding, network, parts, weakest, words, words_of};
use crate::finding::{CauseFinding, Certainty, TroubleCause};
use crate::log::{LogEvent, LogSummary, WordCause};
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

/// Title, remedy and confirmation of a log that ends before an address came.
const UNADDRESSED: (&str, &str, &str) = (
    "the log ends after the device joined, and before it had an IP address",
    "let it run for 10 s more: where no address comes, see the router's list of leases and its range of addresses, and try \
     a fixed address",
    "the next lines of the log say \"sta ip\", or never do",
);

/// Title, remedy and confirmation of a program that prints an address of zeros.
const ZEROS: (&str, &str, &str) = (
    "the device has the address 0.0.0.0: DHCP did not answer, or the program asked before it did",
    "wait for the event of the IP address (IP_EVENT_STA_GOT_IP) before the address is read; then see the router's list of \
     leases",
    "the event comes some 2 s after the association, or never",
);

pub(super) fn findings(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    // A weak signal makes one lost beacon the sign of a loss, and so does a log of nothing else that ends before the driver
    // gives up.
    let timeout = |it: &LogEvent| *it == LogEvent::BeaconTimeout;
    if weakest(log).is_some_and(|it| it <= WEAK_DBM) || ends_unheard(log) {
        let words = words_of(ReasonGroup::Beacons, 200);
        let words = (&*words.0, &*words.1, &*words.2);
        let cause = TroubleCause::Disconnections(ReasonGroup::Beacons);
        out.extend(finding(log, cause, Certainty::Low, words, timeout));
    }
    out.extend(signal(log));
    out.extend(parts::faint_file_system(log));
    out.extend(parts::faint_memory(log));
    out.extend(soft_ap(log));
    out.extend(unserved(log));
    // One lost connection is usual in a log of a link that works; where it is all that a log shows, or its end, it is the
    // complaint.
    let failed = log.count(network::is_connection);
    let ends = log.last.as_ref().is_some_and(network::is_connection);
    // A client that asks who is there, and comes back to stay.
    let left = |it: &LogEvent| *it == LogEvent::ClientLeft;
    let made = log.last_line(|it| *it == LogEvent::ConnectionMade);
    let back = log.count(left) == failed && made > log.last_line(left);
    if failed > 1 || ends || !(network::linked(log) || back) {
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
    let unset = finding(log, TroubleCause::NoAddress, Certainty::Low, ZEROS, unset);
    out.extend(unset.or_else(|| unaddressed(log)));
}

/// Title, remedy and confirmation of the device's own access point, which follows the network that the device joins.
const FOLLOWED: (&str, &str, &str) = (
    "joining a network moved the device's own access point to another channel, and a station that was on it has to follow: \
     phones often leave then",
    "let the phone come back to the access point by itself, or tell it the outcome before the device joins; where both are \
     kept up, give the access point the network's channel from the start",
    "with the network's channel set for the access point, stations stay on it while the device joins",
);

/// Finds an access point of the device's own whose stations lose it while the device joins a network. What has joined in the
/// end has nothing more to tell who set it up.
fn soft_ap(log: &LogSummary) -> Option<CauseFinding> {
    let is = |it: &LogEvent| matches!(it, LogEvent::SoftApMoved | LogEvent::StationLost);
    let joined = log.last_line(|it| *it == LogEvent::GotIp) > log.last_line(is);
    let lost = log.count(|it| *it == LogEvent::StationLost);
    if joined && lost < 2 {
        return None;
    }
    finding(log, TroubleCause::ChannelMoved, Certainty::Low, FOLLOWED, is)
}

/// Title, remedy and confirmation of an access point whose server of addresses does not answer.
const UNSERVED: (&str, &str, &str) = (
    "stations join the device's own access point, get no IP address, and leave",
    "see that its server of addresses runs (esp_netif_dhcps_start), and that its range has room for them",
    "the log then says \"assigned IP to a client\"",
);

/// Finds an access point of the device's own whose stations leave without an address, again and again.
fn unserved(log: &LogSummary) -> Option<CauseFinding> {
    let is = |it: &LogEvent| *it == LogEvent::StationUnserved;
    (log.count(is) >= 2)
        .then(|| finding(log, TroubleCause::NoAddress, Certainty::Low, UNSERVED, is))?
}

/// Finds an access point that is heard at the edge each time, or in a short log.
fn signal(log: &LogSummary) -> Option<CauseFinding> {
    let best = edge(log)?;
    let is = |it: &LogEvent| matches!(it, LogEvent::Rssi(_));
    if log.count(is) < 2 && log.lines > SHORT {
        return None;
    }
    let title = format!("the signal is weak ({best} dBm at best): frames are lost, and links end");
    let words = words_of(ReasonGroup::Signal, 205);
    let cause = TroubleCause::Disconnections(ReasonGroup::Signal);
    finding(log, cause, Certainty::Low, (&title, &words.1, &words.2), is)
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
    let it = finding(log, TroubleCause::NoAddress, Certainty::Low, UNADDRESSED, is)?;
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
