//! From the events of a log to findings, ranked.
//!
//! | module | contents |
//! |---|---|
//! | `data` | causes that rules name by signs |
//! | `air` | power save, PHYs and rates, channels of ESP-NOW |
//! | `faint` | single signs, in logs where nothing else is found |
//! | `groups` | groups of reasons, by what else a log tells |
//! | `parts` | storage, external memory, updates over the air |
//! | `network` | addresses, names, TLS, brokers, connections, calls of the driver |
//! | `restarts` | brown-outs, panics, watchdogs, memory, flash |
//! | `roots` | findings that follow from others |
//! | `words` | what programs say in words of their own |

mod air;
mod data;
mod faint;
mod groups;
mod network;
mod parts;
mod restarts;
mod roots;
mod words;

use crate::finding::{CauseFinding, Certainty, Diagnosis, DiagnosisVerdict, TroubleCause};
use crate::log::{
    ACCEPTED, CourseOf, LogEvent, LogPlace, LogSummary, ResetReason, SignName, is_attempt,
};
use crate::matcher::cause::{CauseRecord, NamedCause};
use crate::reason::{self, ReasonGroup};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use espbench_model::sdkconfig::Chip;
use groups::Groups;

/// From here on a signal is weak, dBm: an ESP32 reads MCS 0 down to some -92 dBm, and walls and people move it by
/// 10 dB (ESP32 Series Datasheet, Wi-Fi Radio; docs/lab.md, fading).
pub const WEAK_DBM: i8 = -80;

/// From here on each frame may be the last, dBm: some 2 dB above what MCS 0 and 11b need.
const FAINT_DBM: i8 = -90;

/// From here on a signal is strong, dBm.
const STRONG_DBM: i8 = -65;

/// Different strengths from which on they may be those of a scan.
const SCANNED: usize = 4;

/// `WIFI_REASON_AUTH_LEAVE`: once before a link that holds, the access point went and came back.
const AUTH_LEAVE: u8 = 3;

/// Time-outs of beacons without a disconnection from which on they are a finding.
const BEACONS: u64 = 3;

/// Returns what a log tells, without a check of the settings that it prints.
#[must_use]
pub fn diagnose(log: &LogSummary) -> Diagnosis {
    let mut findings = findings(log);
    let link = log.count(|it| {
        matches!(
            it,
            LogEvent::Associated
                | LogEvent::GotIp
                | LogEvent::PowerSave(_)
                | LogEvent::Rssi(_)
                | LogEvent::FastReply
                | LogEvent::EspNowHeard
                | LogEvent::StationUnserved
                | LogEvent::StationLost
                | LogEvent::ClientServed
        )
    });
    // A client that is back may have been on a cable all the time.
    let left = log.count(|it| *it == LogEvent::ClientLeft);
    let is_made = |it: &LogEvent| matches!(it, LogEvent::ConnectionMade | LogEvent::Sign(ACCEPTED));
    let made = if left == 0 { log.count(is_made) } else { 0 };
    roots::lower(&mut findings);
    let notes = notes(log, &findings);
    ranked(findings, link + made > 0, notes)
}

/// Returns the findings of a log's events.
fn findings(log: &LogSummary) -> Vec<CauseFinding> {
    let mut findings: Vec<CauseFinding> = Vec::new();
    data::of_events(log, &mut findings);
    restarts::findings(log, &mut findings);
    disconnections(log, &mut findings);
    network::findings(log, &mut findings);
    air::findings(log, &mut findings);
    parts::findings(log, &mut findings);
    data::findings(log, &mut findings);
    if findings.is_empty() {
        findings.extend(faint::clients_lost(log));
    }
    words::findings(log, &mut findings);
    if findings.is_empty() {
        restarts::python(log, &mut findings);
    }
    if findings.is_empty() {
        faint::findings(log, &mut findings);
    }
    data::lone_findings(log, &mut findings);
    findings
}

/// Ranks findings by how much they explain. `works` says whether a link is seen at work.
pub(crate) fn ranked(
    mut findings: Vec<CauseFinding>,
    works: bool,
    notes: Vec<String>,
) -> Diagnosis {
    // A setting is no incident.
    let is_incident = |it: &CauseFinding| !matches!(it.cause, TroubleCause::Settings(_));
    let all: u64 = findings.iter().filter(|it| is_incident(it)).map(|it| it.incidents).sum();
    for it in findings.iter_mut().filter(|it| is_incident(it)) {
        it.share = if all == 0 { 0.0 } else { it.incidents as f64 / all as f64 };
    }
    // Of two that explain as much, the one that came first.
    let first = |it: &CauseFinding| it.evidence.iter().map(|it| it.line).min();
    findings.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(first(a).cmp(&first(b))));
    roots::order(&mut findings);
    roots::name(&mut findings);
    let verdict = match (findings.is_empty(), works) {
        (false, _) => DiagnosisVerdict::Causes,
        (true, true) => DiagnosisVerdict::NothingWrong,
        (true, false) => DiagnosisVerdict::CannotTell,
    };
    Diagnosis { verdict, notes, findings, contradictions: Vec::new() }
}

/// Returns how much a finding explains: a restart ends all else, so it weighs more than a link that ends,
/// and that more than a call that fails.
fn weight(finding: &CauseFinding) -> f64 {
    let of_cause = match finding.cause {
        // A cell has many probes.
        TroubleCause::CellsFailed => 100.0,
        TroubleCause::Losses(_) => 1.0,
        TroubleCause::OtherBuild => 0.9,
        // A setting is a cause where nothing failed.
        TroubleCause::Settings(_) => 0.5,
        _ => finding.record().map_or(1.0, |it| match it.weight_if_low {
            Some(weight) if finding.certainty == Certainty::Low => weight,
            _ => it.weight,
        }),
    };
    let sure = match finding.certainty {
        Certainty::Low => 0.4,
        Certainty::Medium => 0.7,
        Certainty::High => 1.0,
    };
    of_cause * sure * repeated(finding)
}

/// Returns what a cause's incidents weigh together. An attempt that fails is made again and again, so that in a log each
/// doubling weighs as much as the first; lost probes, frames and segments are counted one by one.
fn repeated(finding: &CauseFinding) -> f64 {
    let incidents = finding.incidents.max(1);
    let is_run = matches!(finding.cause, TroubleCause::Losses(_) | TroubleCause::CellsFailed);
    if is_run || finding.record().is_some_and(|it| it.each) {
        return incidents as f64;
    }
    // Between two powers of 2 in a straight line.
    f64::from(incidents.ilog2()) + incidents as f64 / (1_u64 << incidents.ilog2()) as f64
}

/// Returns a finding of a cause, where events show it.
fn finding(log: &LogSummary, name: &str, is: impl Fn(&LogEvent) -> bool) -> Option<CauseFinding> {
    let record = log.rules.0.cause(name);
    debug_assert!(record.is_some(), "no cause {name}");
    shown(log, record?, is)
}

/// Returns a finding by the record of its cause, where events show it.
fn shown(
    log: &LogSummary,
    record: &'static CauseRecord,
    is: impl Fn(&LogEvent) -> bool,
) -> Option<CauseFinding> {
    let incidents = if record.together { log.moments(&is) } else { log.count(&is) };
    (incidents > 0 && !data::is_made_good(log, record, &is)).then(|| CauseFinding {
        cause: record.trouble(),
        record: Some(NamedCause(record)),
        title: record.title.clone(),
        certainty: record.certainty,
        incidents,
        share: 0.0,
        link: record.link.clone(),
        follows_from: None,
        evidence: log.places(&is).into_iter().cloned().collect(),
        remedy: record.reason.map_or_else(|| record.remedy.clone(), remedy_of_reason),
        confirm: record.confirm.clone(),
        set: Vec::new(),
    })
}

fn disconnections(log: &LogSummary, findings: &mut Vec<CauseFinding>) {
    let groups = Groups::of(log);
    let mut counted: BTreeMap<ReasonGroup, (u64, u64, u8)> = BTreeMap::new();
    for (event, counts) in &log.events {
        let LogEvent::Disconnected(code) = event else { continue };
        let (all, most, named) = counted.entry(groups.group(*code)).or_insert((0, 0, *code));
        *all += counts.count;
        // Of reasons that are counted together, one of its own names the cause.
        let own = reason::by_code(*code).is_some_and(|it| it.group == groups.group(*code));
        if counts.count > *most && own {
            (*most, *named) = (counts.count, *code);
        }
    }
    if attempts_before(log) || log.is_well(CourseOf::Link) {
        counted.clear();
    }
    for (group, (all, _, code)) in counted {
        let held = groups.joined && log.linked != Some(false);
        let once = all == 1 && held && (group == ReasonGroup::Local || !restarted(log));
        // A device that leaves by itself once, or whose first attempt fails, is in order; a link that an access point ends is
        // not, although the signal was its cause.
        let is_usual = |it: ReasonGroup| {
            matches!(it, ReasonGroup::Local | ReasonGroup::Handshake | ReasonGroup::Signal)
        };
        let usual = is_usual(group) && reason::by_code(code).is_none_or(|it| is_usual(it.group));
        let roams = group == ReasonGroup::Steered && log.is_well(CourseOf::Roams);
        if roams || group == ReasonGroup::Local && sleeps_behind(log, all) {
            continue;
        }
        // An end that does not come again is one of the access point's.
        let of_group = |it: &LogEvent| matches!(it, LogEvent::Disconnected(code) if groups.group(*code) == group);
        if all <= 2 && log.is_long_past(of_group) {
            continue;
        }
        if once && (usual || group == ReasonGroup::Steered || code == AUTH_LEAVE) {
            continue;
        }
        findings.extend(disconnection(log, &groups, group, code));
    }
    let timeouts = log.count(|it| *it == LogEvent::BeaconTimeout);
    let ended = log.count(|it| *it == LogEvent::Disconnected(200));
    let often = timeouts >= BEACONS && !log.is_well(CourseOf::Beacons);
    if ended == 0 && (often || is_lost_for_good(log)) {
        let is = |it: &LogEvent| *it == LogEvent::BeaconTimeout;
        findings.extend(of_reason(log, ReasonGroup::Beacons, 200, is));
    }
}

/// Returns whether a device leaves its network because it goes to sleep: it wakes as often, but for the last time.
fn sleeps_behind(log: &LogSummary, left: u64) -> bool {
    let deep = log.count(|it| *it == LogEvent::Reset(ResetReason::DeepSleep));
    // A light sleep has no restart, but the program may tell of it.
    let light = log.count(|it| *it == LogEvent::Sign(SignName("radio-off")));
    deep.max(light) > 0 && deep.max(light) + 1 >= left
}

/// Within this time of a lost beacon connections fail for it, milliseconds: a client asks its broker each 15 to 60 s.
const FOLLOW_MS: u64 = 60_000;

/// Lines within which they do where a record has no time.
const FOLLOW_LINES: u64 = 20;

/// Returns whether connections fail right after a beacon was lost, again and again, and no line shows a link any more: the
/// access point is gone, although the driver does not give up.
fn is_lost_for_good(log: &LogSummary) -> bool {
    let lost = log.last_line(|it| *it == LogEvent::BeaconTimeout);
    let works = |it: &LogEvent| {
        matches!(it, LogEvent::GotIp | LogEvent::Associated | LogEvent::ConnectionMade)
    };
    let failed = log.places(network::is_connection);
    let (Some(first), true) = (failed.first(), lost > log.last_line(works)) else { return false };
    let since = log.places(|it| *it == LogEvent::BeaconTimeout).last().and_then(|it| it.uptime_ms);
    let soon = match first.uptime_ms.zip(since) {
        Some((failed, lost)) => failed.saturating_sub(lost) <= FOLLOW_MS,
        None => first.line.saturating_sub(lost) <= FOLLOW_LINES,
    };
    lost > 0 && first.line > lost && soon && log.count(network::is_connection) >= network::SOCKETS
}

/// Returns whether a device started anew between its failed attempts and its link: it joined by none of them.
fn restarted(log: &LogSummary) -> bool {
    let line = |place: Option<&&LogPlace>| place.map(|it| it.line);
    let first = log.places(|it| matches!(it, LogEvent::Associated | LogEvent::GotIp));
    let failed = log.places(|it| matches!(it, LogEvent::Disconnected(_)));
    let between =
        |it: &&LogPlace| Some(it.line) > line(failed.last()) && Some(it.line) < line(first.first());
    log.places(|it| matches!(it, LogEvent::Reset(_))).iter().any(between)
}

/// Attempts that may fail before one succeeds.
const ATTEMPTS: u64 = 3;

/// Returns whether nothing but first attempts failed, and the link that came after them held.
fn attempts_before(log: &LogSummary) -> bool {
    let failed = |it: &LogEvent| matches!(it, LogEvent::Disconnected(_));
    // A link that was lost was there before the log began.
    let lost = |it: &LogEvent| {
        matches!(it, LogEvent::Disconnected(6 | 7 | 12 | 16 | 34 | 200 | 206 | 207 | 209))
    };
    let joined = |it: &LogEvent| matches!(it, LogEvent::Associated | LogEvent::GotIp);
    let first = log.places(joined).first().map(|it| it.line);
    let last = log.places(failed).last().map(|it| it.line);
    log.count(failed) <= ATTEMPTS
        && log.places(lost).iter().all(|it| is_attempt(&it.text))
        && log.linked == Some(true)
        && first > last
        && !restarted(log)
}

/// Reasons that stand for a wrong password and for lost frames alike, and the causes that say so.
const EITHER: [(ReasonGroup, &[u8], &str); 2] = [
    (ReasonGroup::Password, &[15, 202], "link-password-either"),
    (ReasonGroup::Handshake, &[204], "link-handshake-either"),
];

/// `WIFI_REASON_AUTH_EXPIRE`
const AUTH_EXPIRE: u8 = 2;

/// Remedy of small boards with an ESP32-C3, whose antenna is badly matched: at full power the access point cannot read
/// their frames, although it is heard well.
const LOUD: &str = "with a strong signal on a small board with an ESP32-C3 lower its transmit power \
                    (WiFi.setTxPower(WIFI_POWER_8_5dBm), esp_wifi_set_max_tx_power(34))";

/// Returns whether an ESP32-C3 hears a network strongly.
fn is_loud(log: &LogSummary) -> bool {
    let is_c3 = log.count(|it| *it == LogEvent::Chip(Chip::Esp32c3)) > 0;
    is_c3 && readings(log).into_iter().max().is_some_and(|it| it >= STRONG_DBM)
}

/// Places that are told beside those of the disconnections themselves.
const BESIDE: usize = 3;

fn disconnection(
    log: &LogSummary,
    groups: &Groups<'_>,
    group: ReasonGroup,
    code: u8,
) -> Option<CauseFinding> {
    let joined = groups.joined;
    let rssi = weakest(log);
    let weak = rssi.is_some_and(|it| it <= WEAK_DBM);
    let signal =
        matches!(group, ReasonGroup::Beacons | ReasonGroup::Signal | ReasonGroup::Handshake);
    let of_group = |it: &LogEvent| match it {
        LogEvent::Disconnected(code) => groups.group(*code) == group,
        _ => false,
    };
    // Of labelled logs with nothing but a single one, three of ten had the right password; where it repeats, one of six.
    let once = log.count(of_group) == 1;
    let either = EITHER.iter().find(|it| it.0 == group && it.1.contains(&code));
    let either = either.filter(|_| !joined && (once || group == ReasonGroup::Handshake));
    let own = of_reason(log, group, code, of_group)?;
    let mut found = match (group, either) {
        // With the right password it would not have worked before.
        (ReasonGroup::Password, _) if joined => finding(log, "link-password-lost", of_group)?,
        (_, Some((.., name))) => {
            let it = finding(log, name, of_group)?;
            let title = format!("{} (reason {code})", it.title);
            CauseFinding { remedy: own.remedy, ..it.titled(title) }
        }
        // A network that answered before is there.
        (ReasonGroup::Absent, _) if groups.answered() => own.sure(Certainty::Medium),
        _ => own,
    };
    if code == AUTH_EXPIRE && is_loud(log) {
        found.remedy = format!("{LOUD}; {}", found.remedy);
    }
    if let (true, Some(dbm)) = (signal && weak, rssi) {
        let cause = found.cause;
        found = finding(log, "link-weak", of_group)?;
        let why = cause.record().map_or("", |it| &*it.title);
        found.title = format!("{}{why}", filled(&found.title, "{dbm}", dbm.into()));
        found.cause = cause;
    }
    // What made it known is evidence, too: the weakest reading, and the probes before the end.
    let of_signal = |it: &LogEvent| match it {
        LogEvent::Rssi(dbm) | LogEvent::OtherRssi(dbm) => signal && weak && Some(*dbm) == rssi,
        LogEvent::BeaconTimeout => group == ReasonGroup::Beacons,
        LogEvent::OldSecurity => group == ReasonGroup::Security,
        _ => false,
    };
    found.evidence.extend(log.places(of_signal).into_iter().take(BESIDE).cloned());
    Some(found)
}

/// Returns a finding of a kind of reasons; `code` is the one that came most.
fn of_reason(
    log: &LogSummary,
    group: ReasonGroup,
    code: u8,
    is: impl Fn(&LogEvent) -> bool,
) -> Option<CauseFinding> {
    let it = finding(log, &TroubleCause::Disconnections(group).name(), is)?;
    let title = match reason::by_code(code) {
        Some(known) => format!("{} (reason {code}, {})", it.title, known.name),
        None => format!("{} (reason {code})", it.title),
    };
    Some(CauseFinding { remedy: remedy_of(group, code), ..it.titled(title) })
}

/// Returns the remedy of a reason. One that is counted with another kind has that kind's.
fn remedy_of(group: ReasonGroup, code: u8) -> String {
    let known = reason::by_code(code);
    let own = known.filter(|it| it.group == group);
    let alike = known.and_then(|_| reason::reasons().iter().find(|it| it.group == group));
    own.or(alike).map_or("look the reason up in esp_wifi_types.h", |it| &it.remedy).into()
}

/// Returns the remedy of a reason that a record names.
fn remedy_of_reason(code: u8) -> String {
    reason::by_code(code).map_or_else(String::new, |it| it.remedy.clone())
}

/// Puts a number into a title.
fn filled(title: &str, name: &str, number: i64) -> String {
    title.replace(name, &number.to_string())
}

/// Returns how strong the access point is heard. Strengths that may be those of other networks in a scan count only where there
/// are no others, and where there are too few for a scan.
fn readings(log: &LogSummary) -> Vec<i8> {
    let own = |it: &LogEvent| if let LogEvent::Rssi(dbm) = it { Some(*dbm) } else { None };
    let other = |it: &LogEvent| if let LogEvent::OtherRssi(dbm) = it { Some(*dbm) } else { None };
    let own: Vec<i8> = log.events.keys().filter_map(own).collect();
    let others: Vec<i8> = log.events.keys().filter_map(other).collect();
    let scanned = others.len() > SCANNED;
    if own.is_empty() && !scanned { others } else { own }
}

/// Returns how weak the access point is heard at worst.
#[must_use]
pub fn weakest(log: &LogSummary) -> Option<i8> {
    readings(log).into_iter().min()
}

/// Returns the strongest reading, where each is at the edge of reach.
fn edge(log: &LogSummary) -> Option<i8> {
    readings(log).into_iter().max().filter(|it| *it <= FAINT_DBM)
}

/// Returns remarks on failures that are no findings, since the log goes on for long without them.
fn past_failures(log: &LogSummary, findings: &[CauseFinding]) -> Vec<String> {
    let is_told = |line| findings.iter().flat_map(|it| &it.evidence).any(|it| it.line == line);
    let note = |what: &str, part: Option<CourseOf>, is: &dyn Fn(&LogEvent) -> bool| {
        let places = log.places(is);
        let line = places.first()?.line;
        if is_told(line) {
            return None;
        }
        if log.is_long_past(is) {
            return Some(format!(
                "{what} in line {line}, and the log goes on for long without another such failure."
            ));
        }
        let is_well = part.is_some_and(|it| log.is_well(it));
        is_well.then(|| {
            let last = log.last_line(is);
            let times = log.moments(is);
            format!(
                "{what} in {times} moments (lines {line} to {last}), and was made good each time."
            )
        })
    };
    let groups = Groups::of(log);
    let ends = ReasonGroup::ALL.into_iter().filter_map(|group| {
        let is = |it: &LogEvent| matches!(it, LogEvent::Disconnected(code) if groups.group(*code) == group);
        note("The link ended", Some(CourseOf::Link), &is)
    });
    let others = [
        note("A name was not found", Some(CourseOf::Names), &|it| *it == LogEvent::NameFailed),
        note("A connection failed", Some(CourseOf::Connections), &network::is_connection),
        note("Memory ran out", None, &restarts::is_of_memory(log)),
    ];
    ends.chain(others.into_iter().flatten()).collect()
}

fn notes(log: &LogSummary, findings: &[CauseFinding]) -> Vec<String> {
    let mut notes = Vec::new();
    if air::sleeps(log) && !findings.iter().any(|it| it.cause.is("power-save")) {
        notes.push(air::sleep_note(log));
    }
    if let Some(dbm) = weakest(log) {
        let beacons = TroubleCause::Disconnections(ReasonGroup::Beacons);
        if dbm >= STRONG_DBM && findings.iter().any(|it| it.cause == beacons) {
            notes.push(format!(
                "The signal is strong ({dbm} dBm) where the log tells it, so lost beacons come from interference, from \
                 Bluetooth or sleep, or from the access point."
            ));
        }
    }
    notes.extend(past_failures(log, findings));
    notes.extend(data::tls_sums(log));
    notes.extend(faint::early_end(log));
    let unlinked = log.count(|it| *it == LogEvent::FailedUnlinked);
    if unlinked > 0 {
        notes.push(format!(
            "{} while there was no link or no address, and {} from that.",
            if unlinked == 1 {
                "One failure of a connection, a name or TLS came".into()
            } else {
                format!("{unlinked} failures of connections, names or TLS came")
            },
            if unlinked == 1 { "follows" } else { "follow" }
        ));
    }
    let lines = |n: u64| if n == 1 { "One line was".into() } else { format!("{n} lines were") };
    if log.cut > 0 {
        notes.push(format!(
            "{} longer than 4096 bytes, and nothing behind that was read: log with line ends.",
            lines(log.cut)
        ));
    }
    if log.dropped > 0 {
        let events = if log.dropped == 1 { "event is" } else { "events are" };
        notes.push(format!("{} {events} not counted: too many kinds came.", log.dropped));
    }
    notes
}

#[cfg(test)]
mod tests;
