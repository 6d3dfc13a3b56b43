//! Causes that rules name by signs.

use super::network;
use crate::finding::CauseFinding;
use crate::log::{LogEvent, LogSummary};
use crate::matcher::cause::CauseRecord;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Finds causes that an event shows.
pub(super) fn of_events(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let records = log.rules.0.causes().filter(|it| !it.events.is_empty());
    records.for_each(|record| out.extend(found(log, record, out)));
}

/// Finds causes by the signs that rules name.
pub(super) fn findings(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let records = log.rules.0.causes().filter(|it| !it.alone && it.events.is_empty());
    records.for_each(|record| out.extend(found(log, record, out)));
}

/// Finds causes that are some only where nothing else is found.
pub(super) fn lone_findings(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    if out.is_empty() {
        let records = log.rules.0.causes().filter(|it| it.alone);
        records.for_each(|record| out.extend(found(log, record, out)));
    }
}

fn found(
    log: &LogSummary,
    record: &'static CauseRecord,
    others: &[CauseFinding],
) -> Option<CauseFinding> {
    if !record.is_shown() {
        return None;
    }
    let is = |it: &LogEvent| record.is_shown_by(it);
    let stands_beside = |it: &LogEvent| match it {
        LogEvent::Sign(sign) => record.beside.iter().any(|it| it == sign.0),
        _ => false,
    };
    if !record.beside.is_empty() && log.count(stands_beside) == 0 {
        return None;
    }
    let is_hidden = others.iter().any(|it| record.hidden_by.contains(&it.cause.name()));
    if log.count(is) < record.least || is_hidden {
        return None;
    }
    super::shown(log, record, is)
}

/// Returns whether what shows a cause was made good, as its record says what makes it so.
pub(super) fn is_made_good(
    log: &LogSummary,
    record: &CauseRecord,
    is: impl Fn(&LogEvent) -> bool,
) -> bool {
    let makes_good = |it: &LogEvent| match it {
        LogEvent::Sign(sign) => record.made_good_by.iter().any(|it| it == sign.0),
        event => record.made_good_by_events.contains(event),
    };
    log.last_line(makes_good) > log.last_line(&is)
        && record.recurring.is_none_or(|it| log.count(&is) < it)
        || record.passes && log.is_long_past(is)
        || record.by_connection && network::logs_in_again(log)
}

/// Returns remarks on errors of mbedTLS that are sums: each part by its name.
pub(super) fn tls_sums(log: &LogSummary) -> Vec<String> {
    let sums = log.events.keys().filter_map(|it| match it {
        LogEvent::TlsCode(code) => Some(*code),
        _ => None,
    });
    let named = sums.filter_map(|sum| {
        let parts = log.rules.0.tls().parts(sum);
        let names: Vec<String> =
            parts.iter().map(|it| format!("{} (0x{:04x})", it.name, it.code)).collect();
        (names.len() > 1)
            .then(|| format!("The error of TLS 0x{sum:04x} is {}.", names.join(" and ")))
    });
    named.collect()
}
