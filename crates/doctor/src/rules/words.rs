//! Findings in programs' own words. They are of low certainty, and come only where nothing else is found:
//! a line in a known form tells more.

use super::{ReasonGroup, TroubleCause, finding, network, shown};
use crate::finding::CauseFinding;
use crate::log::{CourseOf, LogEvent, LogSummary, WordCause};
use crate::matcher::cause::CauseRecord;
use alloc::vec::Vec;

/// Failures that were made good and still are a finding: they come again and again.
const RECURRING: u64 = 3;

/// States, such as "not connected", from which on they are a finding.
const STATES: u64 = 3;

/// Tries to join, with which a log ends, from which on they are a finding.
const TRIES: u64 = 5;

pub(super) fn findings(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    if out.is_empty() {
        of_words(log, out);
        return;
    }
    // Where a link ends, connections end with it: their finding does not hide it.
    if out.iter().all(|it| it.cause.is("connections")) {
        out.extend(ended(log));
    }
    // A program that does not reach its server may leave the network, to join it anew.
    if out.iter().all(|it| it.cause == TroubleCause::Disconnections(ReasonGroup::Local)) {
        let mut words = Vec::new();
        of_words(log, &mut words);
        let first =
            |it: &[CauseFinding]| it.iter().flat_map(|it| &it.evidence).map(|it| it.line).min();
        words.retain(|it| of_server(it) || it.cause.is("connections"));
        if !words.is_empty() && first(&words) < first(out) {
            *out = words;
        }
    }
}

/// Causes at a server, or on the way to it, that have a name.
const SERVERS: [&str; 4] = ["mqtt-refused", "tls", "dns", "ota"];

/// Returns whether a finding is of one of them.
fn of_server(it: &CauseFinding) -> bool {
    SERVERS.iter().any(|name| it.cause.is(name))
}

/// Finds what programs tell in words of their own.
fn of_words(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let records = log.rules.0.causes().filter_map(|it| Some((it.words?, it)));
    records.for_each(|(cause, record)| out.extend(found(log, cause, record)));
    // A cause with a name hides those that only say that it does not work.
    let link = |it: &CauseFinding| {
        matches!(it.cause, TroubleCause::Disconnections(_)) || it.cause.is("no-address")
    };
    let other = TroubleCause::Disconnections(ReasonGroup::Other);
    if out.iter().any(|it| link(it) && it.cause != other) {
        out.retain(|it| it.cause != other);
    }
    if !out.iter().any(link) {
        out.extend(ended(log));
    }
    if out.iter().any(of_server) {
        out.retain(|it| !it.cause.is("connections"));
    }
}

/// Returns whether an event makes good what failed in the link.
const fn links(it: &LogEvent) -> bool {
    matches!(it, LogEvent::GotIp | LogEvent::Associated)
}

/// Returns whether a link was made between what a test picks: it failed, held, and failed again.
fn again(log: &LogSummary, is: impl Fn(&LogEvent) -> bool) -> bool {
    let first = log.places(&is).first().map(|it| it.line);
    let last = log.last_line(is);
    log.places(links).iter().any(|it| Some(it.line) > first && it.line < last)
}

/// Finds links that a program says to have ended, without a reason.
fn ended(log: &LogSummary) -> Option<CauseFinding> {
    if log.count(|it| matches!(it, LogEvent::Disconnected(_))) > 0 {
        return None;
    }
    let is = |it: &LogEvent| *it == LogEvent::Words(WordCause::LinkEnded);
    let open = log.last_line(is) > log.last_line(links);
    // What was made good once is in order: it may be the first attempt of a program that joins, which may say so twice.
    if !open && !again(log, is) {
        return None;
    }
    finding(log, "link-ended", is)
}

fn found(log: &LogSummary, cause: WordCause, record: &'static CauseRecord) -> Option<CauseFinding> {
    let of = |it: &LogEvent, which: WordCause| *it == LogEvent::Words(which);
    let is = |it: &LogEvent| match cause {
        WordCause::LinkFailed => [WordCause::LinkFailed, WordCause::LinkDown, WordCause::LinkTry]
            .iter()
            .any(|which| of(it, *which)),
        WordCause::Connections => {
            of(it, WordCause::Connections)
                || of(it, WordCause::ServerDown)
                || of(it, WordCause::ServerTry)
                || network::is_connection(it)
        }
        cause => of(it, cause),
    };
    let count = |which: WordCause| log.count(|it| of(it, which));
    let since = |made: fn(&LogEvent) -> bool| log.last_line(is) > log.last_line(made);
    let made = |it: &LogEvent| *it == LogEvent::ConnectionMade;
    let is_end = log.last_line(is) == log.last_line(|_| true);
    let tells = match cause {
        WordCause::LinkFailed => {
            if log.is_well(CourseOf::Link) {
                return None;
            }
            let failed = count(WordCause::LinkFailed);
            let open = since(links);
            (failed > 0 && open)
                || (failed >= RECURRING && again(log, is))
                || (count(WordCause::LinkDown) >= STATES && open)
                || (count(WordCause::LinkTry) >= TRIES && open && is_end)
        }
        WordCause::Connections => {
            if network::is_made_good(log) {
                return None;
            }
            let open = since(made) || !log.courses.is_up(CourseOf::Connections);
            // One lost connection is usual where a link works, and is the complaint where it is the log's end.
            let is_failed =
                |it: &LogEvent| of(it, WordCause::Connections) || network::is_connection(it);
            let ends = log.last.as_ref().is_some_and(is_failed)
                && log.courses.fails_at_the_end(CourseOf::Connections);
            let moments = log.moments(is_failed);
            (moments > 0 && open && (moments > 1 || ends || !network::linked(log)))
                || moments >= RECURRING
                || (count(WordCause::ServerDown) >= STATES && open)
                || (count(WordCause::ServerTry) >= TRIES && open && is_end)
        }
        WordCause::Password | WordCause::Absent | WordCause::NoAddress | WordCause::Signal => {
            count(cause) > 0 && (since(links) || count(cause) >= RECURRING)
        }
        WordCause::Refused | WordCause::Tls | WordCause::Names => {
            // What one task of a program reaches makes nothing good for another.
            let is_down = match cause {
                WordCause::Tls => !log.courses.is_up(CourseOf::Tls),
                WordCause::Names => !log.courses.is_up(CourseOf::Names),
                _ => false,
            };
            let open = since(made) || is_down;
            count(cause) > 0 && (open || count(cause) >= RECURRING)
        }
        // A namespace that nobody has written to cannot be opened at a program's first start.
        WordCause::Storage => count(cause) > 1 || (count(cause) > 0 && !network::linked(log)),
        cause => count(cause) > 0,
    };
    if tells { shown(log, record, is) } else { None }
}

/// Finds a device that says that it is not joined, and no more.
pub(super) fn unjoined(log: &LogSummary, is: impl Fn(&LogEvent) -> bool) -> Option<CauseFinding> {
    finding(log, "words-link-failed", is)
}
