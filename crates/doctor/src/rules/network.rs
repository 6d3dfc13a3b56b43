//! Addresses, names, TLS, brokers, connections, calls of the driver: most are not the link.

use super::{finding, words};
use crate::finding::{CauseFinding, Certainty};
use crate::log::{CourseOf, LogEvent, LogPlace, LogSummary, TlsFailure};
use alloc::vec::Vec;

/// Number of lwIP's error where no socket is left.
const NO_SOCKET: u16 = 23;

/// Errors of a socket from which on they are a finding: one is a server that restarts.
pub(super) const SOCKETS: u64 = 3;

/// Connections without a route from which on they are a finding.
const UNROUTED: u64 = 2;

pub(super) fn findings(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let hurries = |it: &LogEvent| *it == LogEvent::ConnectsTwice;
    let is = |it: &LogEvent| *it == LogEvent::WifiCall || hurries(it);
    // A device that does not join is told to join again, and again: that it is told so is no cause.
    let told = log.count(|it| {
        matches!(it, LogEvent::WifiCall | LogEvent::Traceback | LogEvent::Disconnected(_))
    });
    if told == 0 && log.count(hurries) > 0 && !linked(log) {
        out.extend(words::unjoined(log, hurries));
    } else if log.count(is) != 1 || !is_overcome(log, is) {
        // One call that failed before a link that holds did no harm.
        out.extend(finding(log, "wifi-calls", is));
    }
    names(log, out);
    tls(log, out);
    connections(log, out);
}

/// Returns whether the device gets an address behind the first of some events, and neither ends nor restarts behind it.
fn is_overcome(log: &LogSummary, is: impl Fn(&LogEvent) -> bool) -> bool {
    let Some(first) = log.places(is).first().map(|it| it.line) else { return false };
    let address = log.places(|it| *it == LogEvent::GotIp);
    let ended =
        log.places(|it| matches!(it, LogEvent::Traceback | LogEvent::Panic | LogEvent::Reset(_)));
    let behind = |places: &[&LogPlace]| places.iter().any(|it| it.line > first);
    behind(&address) && !behind(&ended)
}

/// Returns whether the log ever shows a link.
pub(super) fn linked(log: &LogSummary) -> bool {
    log.count(|it| matches!(it, LogEvent::GotIp | LogEvent::Associated)) > 0
}

fn names(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let name = if linked(log) { "dns" } else { "dns-unlinked" };
    let is = |it: &LogEvent| *it == LogEvent::NameFailed;
    // Without an address no name can be asked for.
    let unset = |it: &LogEvent| *it == LogEvent::AddressUnset;
    if log.count(|it| *it == LogEvent::GotIp) == 0 && log.count(is) > 0 {
        let it = finding(log, "no-address-zeros", unset);
        out.extend(it.map(|it| it.sure(Certainty::Medium)));
    }
    // A name that was asked for once or twice too early is in order.
    if !is_well_again(log, CourseOf::Names, is) {
        out.extend(finding(log, name, is));
    }
}

fn tls(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let is = |it: &LogEvent| matches!(it, LogEvent::TlsFailed(_));
    if log.is_well(CourseOf::Tls) {
        return;
    }
    let has = |failure| log.count(|it| *it == LogEvent::TlsFailed(failure)) > 0;
    let name = if has(TlsFailure::Certificate) {
        "tls-certificate"
    } else if has(TlsFailure::Refused) {
        "tls-refused"
    } else {
        "tls"
    };
    out.extend(finding(log, name, is));
}

pub(super) const fn is_connection(it: &LogEvent) -> bool {
    matches!(
        it,
        LogEvent::SocketError(_)
            | LogEvent::ConnectionFailed
            | LogEvent::ClientLeft
            | LogEvent::PingLost
    )
}

/// Returns whether connections that failed are well again.
pub(super) fn is_made_good(log: &LogSummary) -> bool {
    is_well_again(log, CourseOf::Connections, is_connection)
}

/// Returns whether a login that was refused was let in behind that, and is refused seldom: by itself none heals.
pub(super) fn logs_in_again(log: &LogSummary) -> bool {
    let few = log.courses.moments(CourseOf::Logins) < SOCKETS;
    log.courses.is_up(CourseOf::Logins) && (few || log.is_well(CourseOf::Logins))
}

/// Returns whether a part failed once or twice and worked behind that, or the log goes on for minutes without a failure of it.
fn is_well_again(log: &LogSummary, part: CourseOf, is: impl Fn(&LogEvent) -> bool) -> bool {
    let few = (1..SOCKETS).contains(&log.courses.moments(part));
    few && log.courses.is_up(part) || log.is_long_past(is) || log.is_well(part)
}

/// Finds connections that fail, however few.
pub(super) fn any_connection(log: &LogSummary) -> Option<CauseFinding> {
    let taken = log.count(|it| *it == LogEvent::SocketError(NO_SOCKET));
    let is_full = 2 * taken > log.count(is_connection);
    finding(log, if is_full { "connections-full" } else { "connections" }, is_connection)
}

/// Number of lwIP's error where no interface that is up has a route (`ERR_RTE`): a station with an address has one to all hosts.
const NO_ROUTE: u16 = 118;

/// Finds a device that has no address from its start on: each of its connections fails for want of a route.
fn unrouted(log: &LogSummary) -> Option<CauseFinding> {
    let is = |it: &LogEvent| *it == LogEvent::SocketError(NO_ROUTE);
    let other = |it: &LogEvent| matches!(it, LogEvent::SocketError(_)) && !is(it);
    let first = log.places(is).first()?.line;
    let starts =
        log.places(|it| matches!(it, LogEvent::Reset(_))).first().is_some_and(|it| it.line < first);
    (starts && !linked(log) && log.count(is) >= UNROUTED && log.count(other) == 0)
        .then(|| finding(log, "no-address-route", is))?
}

fn connections(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let socket = |it: &LogEvent| matches!(it, LogEvent::SocketError(_));
    // A connection that is refused follows from a name, from TLS or from the broker.
    let explained = log.count(|it| {
        matches!(
            it,
            LogEvent::NameFailed
                | LogEvent::TlsFailed(_)
                | LogEvent::BrokerRefused
                | LogEvent::NoMemory
        )
    }) > 0;
    // An error that nobody catches ends a Python program.
    let ended = log.count(socket) > 0 && log.count(|it| *it == LogEvent::Traceback) > 0;
    let failed = log.count(is_connection);
    if let Some(it) = unrouted(log).filter(|_| !explained) {
        out.push(it);
        return;
    }
    let few = failed < SOCKETS || is_made_good(log);
    if (few && !ended) || (explained && log.count(socket) < SOCKETS) {
        return;
    }
    out.extend(any_connection(log));
}
