//! From the events of a log to findings, ranked.
//!
//! | module | contents |
//! |---|---|
//! | `air` | power save, PHYs and rates, channels of ESP-NOW |

mod air;

use crate::finding::{CauseFinding, Certainty, Diagnosis, DiagnosisVerdict, TroubleCause};
use crate::log::{EspNowError, LogEvent, LogSummary, ResetReason};
use crate::reason::{self, ReasonGroup};
use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// From here on a signal is weak, dBm: an ESP32 reads MCS 0 down to some -92 dBm, and walls and people move it by
/// 10 dB (ESP32 Series Datasheet, Wi-Fi Radio; docs/lab.md, fading).
const WEAK_DBM: i8 = -80;

/// From here on a signal is strong, dBm.
const STRONG_DBM: i8 = -65;

/// Below this a heap is nearly used up: a TLS handshake takes some 40 KB, a buffer of Wi-Fi 1.6 KB, bytes.
const LEAST_HEAP: u32 = 10_000;

/// Time-outs of beacons without a disconnection from which on they are a finding.
const BEACONS: u64 = 3;

/// Errors of a socket from which on they are a finding: one is a server that restarts.
const SOCKETS: u64 = 3;

/// Returns what a log tells, without a check of the settings that it prints.
#[must_use]
pub fn diagnose(log: &LogSummary) -> Diagnosis {
    let findings = findings(log);
    let link = log.count(|it| {
        matches!(
            it,
            LogEvent::Associated | LogEvent::GotIp | LogEvent::PowerSave(_) | LogEvent::Rssi(_)
        )
    });
    let notes = notes(log, &findings);
    ranked(findings, link > 0, notes)
}

/// Returns the findings of a log's events.
fn findings(log: &LogSummary) -> Vec<CauseFinding> {
    let mut findings: Vec<CauseFinding> = Vec::new();
    crashes(log, &mut findings);
    disconnections(log, &mut findings);
    heap(log, &mut findings);
    sending(log, &mut findings);
    air::findings(log, &mut findings);
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
    findings.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
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
        TroubleCause::Brownout => 12.0,
        TroubleCause::Panic | TroubleCause::StackOverflow | TroubleCause::Watchdog => 10.0,
        TroubleCause::Heap => 6.0,
        TroubleCause::Disconnections(_) => 3.0,
        TroubleCause::SendBuffers | TroubleCause::EspNow(_) => 2.0,
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
        TroubleCause::Connections | TroubleCause::PowerSave => 1.0,
        TroubleCause::OtherBuild | TroubleCause::Settings(_) | TroubleCause::SlowPhy => 0.9,
    };
    let sure = match finding.certainty {
        Certainty::Low => 0.4,
        Certainty::Medium => 0.7,
        Certainty::High => 1.0,
    };
    of_cause * sure * finding.incidents as f64
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

fn crashes(log: &LogSummary, findings: &mut Vec<CauseFinding>) {
    let brownout =
        |it: &LogEvent| matches!(it, LogEvent::Brownout | LogEvent::Reset(ResetReason::Brownout));
    findings.extend(finding(
        log,
        TroubleCause::Brownout,
        Certainty::High,
        (
            "the supply falls too low, and the device restarts",
            "use a supply and a cable for 500 mA and more, put 100 uF and more beside the module, or send with less \
             power (esp_wifi_set_max_tx_power)",
            "measure 3.3 V at the module with an oscilloscope while it sends",
        ),
        brownout,
    ));
    for (cause, event, words) in [
        (
            TroubleCause::StackOverflow,
            LogEvent::StackOverflow,
            (
                "a task's stack is too small, and the device restarts",
                "give the task that is named a larger stack, or keep large arrays off it",
                "uxTaskGetStackHighWaterMark() of that task",
            ),
        ),
        (
            TroubleCause::Panic,
            LogEvent::Panic,
            (
                "the program is stopped by an exception or an assertion, and the device restarts",
                "decode the backtrace (espbench board monitor --elf FILE, or idf.py monitor), and mend what it names",
                "the restart comes again at the same place of the program",
            ),
        ),
        (
            TroubleCause::Watchdog,
            LogEvent::Watchdog,
            (
                "a task does not let others run: a watchdog fires",
                "let the task that is named wait (vTaskDelay), or give it a lower priority",
                "the same task is named each time",
            ),
        ),
    ] {
        findings.extend(finding(log, cause, Certainty::High, words, |it| *it == event));
    }
}

fn disconnections(log: &LogSummary, findings: &mut Vec<CauseFinding>) {
    let mut groups: BTreeMap<ReasonGroup, (u64, u64, u8)> = BTreeMap::new();
    for (event, counts) in &log.events {
        let LogEvent::Disconnected(code) = event else { continue };
        let group = reason::by_code(*code).map_or(ReasonGroup::Other, |it| it.group);
        let (all, most, named) = groups.entry(group).or_insert((0, 0, *code));
        *all += counts.count;
        if counts.count > *most {
            (*most, *named) = (counts.count, *code);
        }
    }
    let joined = log.count(|it| matches!(it, LogEvent::GotIp | LogEvent::Associated)) > 0;
    for (group, (all, _, code)) in groups {
        let once = all == 1 && joined;
        // A device that leaves by itself once, or whose first attempt fails, is in order.
        let usual =
            matches!(group, ReasonGroup::Local | ReasonGroup::Handshake | ReasonGroup::Signal);
        if once && (usual || group == ReasonGroup::Steered) {
            continue;
        }
        findings.extend(disconnection(log, group, code, joined));
    }
    let timeouts = log.count(|it| *it == LogEvent::BeaconTimeout);
    let ended = log.count(|it| *it == LogEvent::Disconnected(200));
    if ended == 0 && timeouts >= BEACONS {
        let is = |it: &LogEvent| *it == LogEvent::BeaconTimeout;
        let words = words_of(ReasonGroup::Beacons, 200);
        let cause = TroubleCause::Disconnections(ReasonGroup::Beacons);
        let words = (&*words.0, &*words.1, &*words.2);
        findings.extend(finding(log, cause, Certainty::Medium, words, is));
    }
}

fn disconnection(
    log: &LogSummary,
    group: ReasonGroup,
    code: u8,
    joined: bool,
) -> Option<CauseFinding> {
    let rssi = weakest(log);
    let weak = rssi.is_some_and(|it| it <= WEAK_DBM);
    let signal =
        matches!(group, ReasonGroup::Beacons | ReasonGroup::Signal | ReasonGroup::Handshake);
    let certainty = match group {
        // With the right password it would not have worked before.
        ReasonGroup::Password if joined => Certainty::Low,
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
    if let (true, Some(dbm)) = (signal && weak, rssi) {
        title = format!("the signal is weak ({dbm} dBm): {}", group.words());
        remedy = "move nearer, turn or replace the antenna, or add an access point; 11b rates reach farther".into();
        confirm = "the same board beside the router keeps its link".into();
    }
    let of_group = |it: &LogEvent| match it {
        LogEvent::Disconnected(code) => {
            reason::by_code(*code).map_or(ReasonGroup::Other, |it| it.group) == group
        }
        _ => false,
    };
    let cause = TroubleCause::Disconnections(group);
    finding(log, cause, certainty, (&title, &remedy, &confirm), of_group)
}

/// Returns title, remedy and confirmation of a kind of reasons; `code` is the one that came most.
fn words_of(group: ReasonGroup, code: u8) -> (String, String, String) {
    let known = reason::by_code(code);
    let remedy = known.map_or("look the reason up in esp_wifi_types.h", |it| it.remedy);
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

fn weakest(log: &LogSummary) -> Option<i8> {
    log.events
        .keys()
        .filter_map(|it| if let LogEvent::Rssi(dbm) = it { Some(*dbm) } else { None })
        .min()
}

fn heap(log: &LogSummary, findings: &mut Vec<CauseFinding>) {
    let words = (
        "the heap is used up",
        "free what is kept, use fewer or smaller buffers of Wi-Fi and TLS (espbench tune --want 'heap>=…'), or PSRAM",
        "esp_get_minimum_free_heap_size() falls with time or with load",
    );
    let none =
        finding(log, TroubleCause::Heap, Certainty::High, words, |it| *it == LogEvent::NoMemory);
    let low = |it: &LogEvent| matches!(it, LogEvent::FreeHeap(bytes) if *bytes < LEAST_HEAP);
    let words = ("the heap is nearly used up", words.1, words.2);
    findings
        .extend(none.or_else(|| finding(log, TroubleCause::Heap, Certainty::Medium, words, low)));
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
    let failed = |it: &LogEvent| matches!(it, LogEvent::SocketError(_));
    if log.count(failed) >= SOCKETS {
        let words = (
            "connections end or cannot be made although the device is in the network",
            "see whether the server runs and listens, and whether the router lets stations reach it (client isolation)",
            "a PC in the same network reaches the server",
        );
        findings.extend(finding(log, TroubleCause::Connections, Certainty::Low, words, failed));
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
    if log.cut > 0 || log.dropped > 0 {
        notes
            .push(format!("{} lines were cut, and {} events found no room.", log.cut, log.dropped));
    }
    notes
}

#[cfg(test)]
mod tests;
