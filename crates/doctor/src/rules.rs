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
use crate::log::{CLIENT_SERVED, EspNowError, LogEvent, LogPlace, LogSummary};
use crate::reason::{self, ReasonGroup};
use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
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
        ) || is_served(it)
    });
    // A client that is back may have been on a cable all the time.
    let left = log.count(|it| *it == LogEvent::ClientLeft);
    let made = if left == 0 { log.count(|it| *it == LogEvent::ConnectionMade) } else { 0 };
    roots::lower(&mut findings);
    let notes = notes(log, &findings);
    ranked(findings, link + made > 0, notes)
}

/// Returns whether a client of the device's own access point has an address.
fn is_served(it: &LogEvent) -> bool {
    *it == LogEvent::Sign(CLIENT_SERVED)
}

/// Returns the findings of a log's events.
fn findings(log: &LogSummary) -> Vec<CauseFinding> {
    let mut findings: Vec<CauseFinding> = Vec::new();
    restarts::findings(log, &mut findings);
    disconnections(log, &mut findings);
    network::findings(log, &mut findings);
    sending(log, &mut findings);
    air::findings(log, &mut findings);
    parts::findings(log, &mut findings);
    data::findings(log, &mut findings);
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
    let all: u64 = findings.iter().map(|it| it.incidents).sum();
    for it in &mut findings {
        it.share = if all == 0 { 0.0 } else { it.incidents as f64 / all as f64 };
    }
    // Of two that explain as much, the one that came first.
    let first = |it: &CauseFinding| it.evidence.iter().map(|it| it.line).min();
    findings.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(first(a).cmp(&first(b))));
    roots::order(&mut findings);
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
        // Without firmware there is nothing else.
        TroubleCause::Flash if finding.certainty > Certainty::Low => 20.0,
        TroubleCause::Flash => 3.0,
        TroubleCause::Brownout => 12.0,
        // What damages memory makes the program stop elsewhere, too.
        TroubleCause::StackOverflow => 11.0,
        TroubleCause::MemoryCorrupted => 10.5,
        TroubleCause::Panic | TroubleCause::Watchdog => 10.0,
        TroubleCause::Heap => 6.0,
        TroubleCause::Storage | TroubleCause::ExternalMemory => 4.0,
        TroubleCause::Disconnections(_) | TroubleCause::NoAddress => 3.0,
        TroubleCause::Named(it) => it.0.weight,
        TroubleCause::SendBuffers
        | TroubleCause::EspNow(_)
        | TroubleCause::BrokerRefused
        | TroubleCause::Update
        | TroubleCause::WifiCalls => 2.0,
        // A cell has many probes.
        TroubleCause::CellsFailed => 100.0,
        TroubleCause::Losses(_) => 1.0,
        // A receiver that stops reading holds all up; losses are what others cause.
        TroubleCause::TcpZeroWindow => 8.0,
        TroubleCause::HiddenNodes => 3.0,
        TroubleCause::TcpLosses | TroubleCause::WeakSignal | TroubleCause::Interference => 1.0,
        TroubleCause::BusyChannel => 1.5,
        TroubleCause::TcpWindow => 0.9,
        TroubleCause::ChannelMoved | TroubleCause::EspNowUnheard => 2.0,
        TroubleCause::Names | TroubleCause::Tls => 1.5,
        TroubleCause::Connections | TroubleCause::PowerSave => 1.0,
        TroubleCause::OtherBuild => 0.9,
        // A setting is a cause where nothing failed.
        TroubleCause::Settings(_) | TroubleCause::SlowPhy => 0.5,
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
    match finding.cause {
        TroubleCause::Losses(_)
        | TroubleCause::CellsFailed
        | TroubleCause::HiddenNodes
        | TroubleCause::BusyChannel
        | TroubleCause::WeakSignal
        | TroubleCause::Interference
        | TroubleCause::TcpZeroWindow
        | TroubleCause::TcpWindow
        | TroubleCause::TcpLosses => incidents as f64,
        // Between two powers of 2 in a straight line.
        _ => f64::from(incidents.ilog2()) + incidents as f64 / (1_u64 << incidents.ilog2()) as f64,
    }
}

fn finding(
    log: &LogSummary,
    cause: TroubleCause,
    certainty: Certainty,
    (title, remedy, confirm): (&str, &str, &str),
    is: impl Fn(&LogEvent) -> bool,
) -> Option<CauseFinding> {
    let incidents = log.count(&is);
    (incidents > 0).then(|| CauseFinding {
        cause,
        title: title.to_owned(),
        certainty,
        incidents,
        share: 0.0,
        evidence: log.places(&is).into_iter().cloned().collect(),
        remedy: remedy.to_owned(),
        confirm: confirm.to_owned(),
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
    if attempts_before(log) {
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
        if once && (usual || group == ReasonGroup::Steered || code == AUTH_LEAVE) {
            continue;
        }
        findings.extend(disconnection(log, &groups, group, code));
    }
    let timeouts = log.count(|it| *it == LogEvent::BeaconTimeout);
    let ended = log.count(|it| *it == LogEvent::Disconnected(200));
    if ended == 0 && (timeouts >= BEACONS || is_lost_for_good(log)) {
        let is = |it: &LogEvent| *it == LogEvent::BeaconTimeout;
        let words = words_of(ReasonGroup::Beacons, 200);
        let cause = TroubleCause::Disconnections(ReasonGroup::Beacons);
        let words = (&*words.0, &*words.1, &*words.2);
        findings.extend(finding(log, cause, Certainty::Medium, words, is));
    }
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
        && log.count(lost) == 0
        && log.linked == Some(true)
        && first > last
        && !restarted(log)
}

/// Titles of reasons that stand for a wrong password and for lost frames alike.
const EITHER: [(ReasonGroup, &[u8], &str); 2] = [
    (
        ReasonGroup::Password,
        &[15, 202],
        "the password is wrong, or frames of the handshake are lost",
    ),
    (
        ReasonGroup::Handshake,
        &[204],
        "the handshake of keys fails: frames are lost, or the password is wrong",
    ),
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
    let certainty = match group {
        // With the right password it would not have worked before.
        ReasonGroup::Password if joined => Certainty::Low,
        ReasonGroup::Password if either.is_some() => Certainty::Medium,
        // A network that answered before is there.
        ReasonGroup::Absent if groups.answered() => Certainty::Medium,
        ReasonGroup::Password
        | ReasonGroup::Absent
        | ReasonGroup::Security
        | ReasonGroup::Inactive => Certainty::High,
        _ if signal && weak => Certainty::High,
        ReasonGroup::Other => Certainty::Low,
        _ => Certainty::Medium,
    };
    let (mut title, mut remedy, mut confirm) = words_of(group, code);
    if group == ReasonGroup::Password && joined {
        title = "the handshake of keys fails although the password worked: frames are lost".into();
        remedy =
            "move nearer or turn the antenna; see whether the router restarted or changed its keys"
                .into();
    }
    if let Some((_, _, words)) = either {
        title = format!("{words} (reason {code})");
    }
    if code == AUTH_EXPIRE && is_loud(log) {
        remedy = format!("{LOUD}; {remedy}");
    }
    if let (true, Some(dbm)) = (signal && weak, rssi) {
        title = format!("the signal is weak ({dbm} dBm): {}", group.words());
        remedy = "move nearer, turn or replace the antenna, or add an access point; 11b rates reach farther".into();
        confirm = "the same board beside the router keeps its link".into();
    }
    let cause = TroubleCause::Disconnections(group);
    let mut found = finding(log, cause, certainty, (&title, &remedy, &confirm), of_group)?;
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

/// Returns title, remedy and confirmation of a kind of reasons; `code` is the one that came most.
fn words_of(group: ReasonGroup, code: u8) -> (String, String, String) {
    let known = reason::by_code(code);
    let own = known.filter(|it| it.group == group);
    // A reason that is counted with another kind has that kind's remedy.
    let alike = known.and_then(|_| reason::reasons().iter().find(|it| it.group == group));
    let remedy = own.or(alike).map_or("look the reason up in esp_wifi_types.h", |it| &it.remedy);
    let title = match known {
        Some(it) => format!("{} (reason {code}, {})", group.words(), it.name),
        None => format!("{} (reason {code})", group.words()),
    };
    let confirm = match group {
        ReasonGroup::Password => "join an open network, or a phone's, with the same firmware",
        ReasonGroup::Absent => {
            "list what a scan finds (esp_wifi_scan_start), with channel and strength"
        }
        ReasonGroup::Beacons => {
            "a capture in monitor mode beside the device shows whether beacons are sent"
        }
        ReasonGroup::Signal => "the same board beside the router keeps its link",
        ReasonGroup::Security => "a scan tells the network's security (authmode)",
        ReasonGroup::Capacity => "it joins while another device is switched off",
        ReasonGroup::Inactive => "it stays with a ping each 10 s from a PC",
        ReasonGroup::GroupKey => {
            "the time between two is a multiple of the router's group key interval"
        }
        ReasonGroup::Local => {
            "the program logs its calls of esp_wifi_disconnect and esp_wifi_connect"
        }
        _ => "the router's own log tells the same at that time",
    };
    (title, remedy.into(), confirm.into())
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

fn sending(log: &LogSummary, findings: &mut Vec<CauseFinding>) {
    let words = (
        "the program sends faster than the driver takes packets (ENOMEM)",
        "wait a tick after errno 12 and send again, send less often, or raise CONFIG_ESP_WIFI_DYNAMIC_TX_BUFFER_NUM",
        "with half the rate no send fails",
    );
    let full = |it: &LogEvent| *it == LogEvent::SendBuffersFull;
    findings.extend(finding(log, TroubleCause::SendBuffers, Certainty::High, words, full));
    let errors = [
        EspNowError::NotInitialized,
        EspNowError::Argument,
        EspNowError::NoMemory,
        EspNowError::PeersFull,
        EspNowError::PeerNotFound,
        EspNowError::Internal,
        EspNowError::Interface,
        EspNowError::Channel,
    ];
    for error in errors {
        let is = |it: &LogEvent| *it == LogEvent::EspNow(error);
        findings.extend(finding(
            log,
            TroubleCause::EspNow(error),
            Certainty::High,
            esp_now(error),
            is,
        ));
    }
}

const fn esp_now(error: EspNowError) -> (&'static str, &'static str, &'static str) {
    match error {
        EspNowError::NotInitialized => (
            "ESP-NOW is used before esp_now_init(), or after Wi-Fi was stopped",
            "call esp_now_init() after esp_wifi_start(), and again after each esp_wifi_stop()",
            "the first call after the start fails, too",
        ),
        EspNowError::NoMemory => (
            "ESP-NOW frames are sent faster than the radio takes them",
            "send the next frame from the send callback, not before",
            "with a pause of 20 ms between frames no call fails",
        ),
        EspNowError::PeersFull => (
            "the list of ESP-NOW peers is full (20; 7 with encryption by default)",
            "remove peers that are not needed, or send by broadcast",
            "esp_now_get_peer_num() tells 20",
        ),
        EspNowError::PeerNotFound => (
            "ESP-NOW sends to a peer that was not added",
            "call esp_now_add_peer() first, also for the broadcast address",
            "esp_now_is_peer_exist() tells false",
        ),
        EspNowError::Channel => (
            "an ESP-NOW peer has another channel than the radio",
            "set the peer's channel to 0 (the current one), and both devices to the router's channel",
            "esp_wifi_get_channel() on both sides",
        ),
        EspNowError::Interface => (
            "an ESP-NOW peer names an interface that is not up",
            "set ifidx to the interface that was started (WIFI_IF_STA or WIFI_IF_AP)",
            "esp_wifi_get_mode()",
        ),
        EspNowError::Argument => (
            "ESP-NOW refuses an argument: mostly a payload that is too long",
            "send at most 250 bytes (1470 from ESP-IDF 5.4 on, to peers that have it)",
            "the same call with 10 bytes succeeds",
        ),
        EspNowError::Internal | EspNowError::PeerExists => (
            "ESP-NOW fails inside",
            "see whether Wi-Fi is started and not scanning at that time; update ESP-IDF",
            "it fails without any other use of Wi-Fi, too",
        ),
    }
}

fn notes(log: &LogSummary, findings: &[CauseFinding]) -> Vec<String> {
    let mut notes = Vec::new();
    if air::sleeps(log) && !findings.iter().any(|it| it.cause == TroubleCause::PowerSave) {
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
    if log.cut > 0 || log.dropped > 0 {
        notes
            .push(format!("{} lines were cut, and {} events found no room.", log.cut, log.dropped));
    }
    notes
}

#[cfg(test)]
mod tests;
