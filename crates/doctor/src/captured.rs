//! Captures: what the air and TCP show, as findings with the numbers of their frames.
//!
//! The frames of a link that the capturing radio hardly hears tell of that radio. So a finding needs several frames,
//! and one that leans on acknowledgements needs some to be heard at all.
//!
//! | module | what |
//! |---|---|
//! | [`scene`] | what a lab must have so that it is like the place of a capture |

pub mod scene;

use crate::finding::{CauseFinding, Certainty, Diagnosis, TroubleCause};
use crate::log::{EvidenceSource, LogPlace};
use crate::reason::{self, ReasonGroup};
use crate::rules::ranked;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_capture::air::StationRecord;
use espbench_capture::air::link::{LinkKey, LinkRecord, SeenFrames};
use espbench_capture::air::network::LeaveKind;
use espbench_capture::analysis::CaptureSummary;
use espbench_capture::limits::CaptureLimits;
use espbench_capture::tcp::TcpFlow;
use espbench_capture::tcp::limit::TcpLimit;

/// Messages of a link without which it tells nothing.
const LEAST: u64 = 5;

/// Links whose losses are noted.
const NOTED: usize = 3;

/// Frames of a link without which retries tell nothing.
const LEAST_FRAMES: u64 = 40;

/// Share of frames that are retries from which on they are a finding.
const RETRIES: f64 = 0.25;

/// Share of the time in which the medium is busy from which on stations wait for each other most of the time.
const BUSY: f64 = 0.7;

/// From here on a signal is weak, and from there on strong, dBm: as in the rules for logs.
const WEAK_DBM: f64 = -80.0;
const STRONG_DBM: f64 = -65.0;

/// Mean wait of packets for a sleeping station from which on it is a finding, in nanoseconds: two beacons.
const WAIT_NS: u64 = 200_000_000;

/// At this rate and below frames are slow, kbit/s, and they take this share of the time.
const SLOW_KBIT_S: u32 = 2000;
const SLOW_SHARE: f64 = 0.15;

/// Share of segments that are sent again from which on it is a finding, and how many.
const RESENT: f64 = 0.02;
const LEAST_RESENT: u64 = 5;

/// Octets of data without which a connection tells no limit.
const LEAST_OCTETS: u64 = 50_000;

/// Segments without a window from which on they are a finding.
const ZERO_WINDOWS: u64 = 3;

/// Returns the diagnosis of a capture.
#[must_use]
pub fn diagnose(seen: &CaptureSummary) -> Diagnosis {
    let mut findings = Vec::new();
    leaving(seen, &mut findings);
    handshakes(seen, &mut findings);
    links(seen, &mut findings);
    medium(seen, &mut findings);
    sleepers(seen, &mut findings);
    for flow in &seen.flows {
        tcp(flow, &mut findings);
    }
    unanswered(seen, &mut findings);
    ranked(findings, seen.tells(), notes(seen))
}

fn notes(seen: &CaptureSummary) -> Vec<String> {
    let mut out = Vec::new();
    for (bssid, it) in &seen.air.networks.beacons {
        if it.heard >= 20 && it.missing * 5 > it.heard {
            out.push(format!(
                "{} of {} beacons of {bssid} are missing, {} in a row: the capturing radio does not hear all there is.",
                it.missing,
                it.heard + it.missing,
                it.longest
            ));
        }
    }
    out.extend(losses(seen));
    let limits = CaptureLimits::of(seen);
    match limits.cut_packets {
        0 => {}
        1 => out.push("1 packet is cut: capture without a snap length.".into()),
        n => out.push(format!("{n} packets are cut: capture without a snap length.")),
    }
    if limits.silent_links > 0 {
        out.push(format!(
            "The acknowledgements of {} are not heard, and the sender repeats nothing: place the capturing radio nearer.",
            if limits.silent_links == 1 { "a link".into() } else { format!("{} links", limits.silent_links) }
        ));
    }
    if limits.channel_changes > 0 {
        out.push(
            "The capturing radio changed its channel: it heard each for a part of the time. Capture on one channel.".into(),
        );
    }
    if seen.cut || seen.fault.is_some() {
        out.push(
            "The file ends within a packet or is damaged; what was read before is judged.".into(),
        );
    }
    out
}

/// Says of links of ESP-NOW how many messages were not acknowledged, of those that lost most.
fn losses(seen: &CaptureSummary) -> Vec<String> {
    let lost = |(key, it): (&LinkKey, &LinkRecord)| {
        let asked = it.messages - it.unasked;
        let share = it.delivered().filter(|it| key.esp_now && *it > 0.0 && *it < 1.0)?;
        let text = format!(
            "{} of {asked} messages {} -> {} were not acknowledged.",
            asked - it.acked,
            key.from,
            key.to
        );
        Some((share, text))
    };
    let mut all: Vec<(f64, String)> = seen.air.links.iter().filter_map(lost).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.into_iter().take(NOTED).map(|it| it.1).collect()
}

fn places(seen: &SeenFrames, text: &str) -> Vec<LogPlace> {
    let place = |line: &u64| LogPlace {
        source: EvidenceSource::Capture,
        line: *line,
        uptime_ms: None,
        text: text.into(),
    };
    seen.first.iter().map(place).collect()
}

/// A finding without its words.
struct Evidence {
    cause: TroubleCause,
    certainty: Certainty,
    incidents: u64,
    places: Vec<LogPlace>,
}

impl Evidence {
    /// Returns the finding with the remedy of its cause's record.
    fn of_record(self, title: String) -> CauseFinding {
        let record = self.cause.record();
        let words = record.map_or(("", ""), |it| (&*it.remedy, &*it.confirm));
        self.finding(title, words.0, words.1)
    }

    fn finding(self, title: String, remedy: &str, confirm: &str) -> CauseFinding {
        CauseFinding {
            cause: self.cause,
            record: None,
            title,
            certainty: self.certainty,
            incidents: self.incidents,
            share: 0.0,
            link: None,
            follows_from: None,
            evidence: self.places,
            remedy: remedy.into(),
            confirm: confirm.into(),
            set: Vec::new(),
        }
    }
}

/// Deauthentications, disassociations and refusals.
fn leaving(seen: &CaptureSummary, out: &mut Vec<CauseFinding>) {
    let mut groups: BTreeMap<ReasonGroup, (u64, Vec<LogPlace>, u16)> = BTreeMap::new();
    for (key, frames) in &seen.air.networks.leaves {
        let group = match key.kind {
            LeaveKind::RefusedAssociation | LeaveKind::RefusedAuthentication => match key.code {
                17 => ReasonGroup::Capacity,
                15 => ReasonGroup::Password,
                13 | 40..=46 => ReasonGroup::Security,
                _ => ReasonGroup::Refused,
            },
            _ => {
                let known = u8::try_from(key.code).ok().and_then(reason::by_code);
                known.map_or(ReasonGroup::Other, |it| it.group)
            }
        };
        let text = format!("{} {}, {} -> {}", key.kind.words(), key.code, key.from, key.to);
        let entry = groups.entry(group).or_insert((0, Vec::new(), key.code));
        entry.0 += frames.count;
        entry.1.extend(places(frames, &text));
    }
    for (group, (incidents, mut places, code)) in groups {
        // A device that leaves by itself once is in order.
        if group == ReasonGroup::Local && incidents < 3 {
            continue;
        }
        places.sort_by_key(|it| it.line);
        places.truncate(8);
        let known = u8::try_from(code).ok().and_then(reason::by_code);
        let remedy =
            known.map_or("look up the status in IEEE Std 802.11-2020, table 9-50", |it| &it.remedy);
        let cause = TroubleCause::Disconnections(group);
        let evidence = Evidence { cause, certainty: Certainty::High, incidents, places };
        out.push(evidence.finding(
            format!(
                "stations are sent away or leave: {}",
                cause.record().map_or("", |it| &*it.title)
            ),
            remedy,
            "the device's log tells the same reason (espbench doctor on it)",
        ));
    }
}

/// Handshakes that end after message 2: the access point does not accept the key.
fn handshakes(seen: &CaptureSummary, out: &mut Vec<CauseFinding>) {
    for (station, it) in &seen.air.networks.handshakes {
        let [first, second, third, _] = &it.messages;
        if first.count < 2 || second.count < 2 || third.count > 0 {
            continue;
        }
        let text = format!("message 2 of the handshake from {station}");
        let evidence = Evidence {
            cause: TroubleCause::Disconnections(ReasonGroup::Password),
            certainty: Certainty::High,
            incidents: second.count,
            places: places(second, &text),
        };
        out.push(evidence.finding(
            format!("the password of {station} differs from the network's: message 3 of the handshake never comes"),
            "write the password of the network into the device, with upper and lower case and without a space at its end",
            "with the right password messages 3 and 4 follow",
        ));
    }
}

fn links(seen: &CaptureSummary, out: &mut Vec<CauseFinding>) {
    let hears = seen.air.hears_acknowledgements();
    for (key, it) in &seen.air.links {
        if key.to.0[0] & 1 != 0 {
            continue;
        }
        // A sender that does not repeat is content: then the radio does not hear the receiver.
        let never = hears && it.messages >= LEAST && it.delivered() == Some(0.0);
        let answered = seen.air.stations.contains_key(&key.to);
        if key.esp_now && never {
            let text = format!("{} -> {}, not acknowledged", key.from, key.to);
            let evidence = Evidence {
                cause: TroubleCause::of("esp-now-unheard"),
                certainty: if answered { Certainty::Medium } else { Certainty::High },
                incidents: it.messages,
                places: places(&it.unacked, &text),
            };
            out.push(evidence.finding(
                format!("{} acknowledges no ESP-NOW frame of {}", key.to, key.from),
                "see that the peer runs, that its address is that of its interface (STA or SoftAP), and that both are on \
                 the same channel",
                "esp_wifi_get_channel() and esp_wifi_get_mac() on the peer",
            ));
            continue;
        }
        retries(key, it, out);
        slow(seen, key, it, out);
    }
}

fn retries(key: &LinkKey, it: &LinkRecord, out: &mut Vec<CauseFinding>) {
    let share = it.retries as f64 / it.frames.max(1) as f64;
    if it.frames < LEAST_FRAMES || share < RETRIES {
        return;
    }
    let Some(dbm) = it.rssi.mean() else { return };
    let weak = dbm <= WEAK_DBM;
    if !weak && dbm < STRONG_DBM {
        return;
    }
    let text = format!("{} -> {}, slower than the attempt before", key.from, key.to);
    let (cause, certainty) = if weak {
        (TroubleCause::of("weak-signal"), Certainty::Medium)
    } else {
        (TroubleCause::of("interference"), Certainty::Low)
    };
    let shown = if it.slower.count > 0 {
        places(&it.slower, &text)
    } else {
        places(&it.unacked, &format!("{} -> {}, not acknowledged", key.from, key.to))
    };
    let evidence = Evidence { cause, certainty, incidents: it.retries, places: shown };
    let title = format!(
        "{:.0} % of the frames from {} to {} are retries, and the signal is {} ({dbm:.0} dBm where it was captured)",
        100.0 * share,
        key.from,
        key.to,
        if weak { "weak" } else { "strong" }
    );
    out.push(evidence.of_record(title));
}

fn slow(seen: &CaptureSummary, key: &LinkKey, it: &LinkRecord, out: &mut Vec<CauseFinding>) {
    let share = seen.seconds().map_or(0.0, |s| it.air_ns as f64 / 1e9 / s);
    let is_slow = it.usual_rate().is_some_and(|it| it <= SLOW_KBIT_S);
    // ESP-NOW sends at 1 Mbit/s by default.
    if key.esp_now || !is_slow || share < SLOW_SHARE || it.frames < LEAST_FRAMES {
        return;
    }
    let evidence = Evidence {
        cause: TroubleCause::of("slow-phy"),
        certainty: Certainty::Medium,
        incidents: it.frames,
        places: places(&it.slower, "slower than the attempt before"),
    };
    out.push(evidence.finding(
        format!(
            "frames from {} to {} go at {} kbit/s and take {:.0} % of the time",
            key.from,
            key.to,
            it.usual_rate().unwrap_or_default(),
            100.0 * share
        ),
        "allow 802.11n on both sides, and better the signal",
        "at 24 Mbit/s and more the same data takes a twentieth of the time",
    ));
}

fn medium(seen: &CaptureSummary, out: &mut Vec<CauseFinding>) {
    if let Some((_, unheard)) = seen.air.overlaps.counts() {
        let worst = seen.air.overlaps.pairs.iter().max_by_key(|it| it.1.unheard.count);
        if let Some(((one, other), it)) = worst
            && it.unheard.count >= LEAST
            && unheard * 200 >= seen.air.overlaps.timed
        {
            let text = format!("{one} and {other} at the same time");
            let evidence = Evidence {
                cause: TroubleCause::of("hidden-nodes"),
                certainty: Certainty::High,
                incidents: unheard,
                places: places(&it.unheard, &text),
            };
            out.push(evidence.of_record(format!(
                "stations do not hear each other and send at the same time: {one} and {other}"
            )));
        }
    }
    let busy = seen.busy_share().unwrap_or_default();
    if busy >= BUSY && seen.air.frames > 200 {
        let retries: u64 = seen.air.classes.values().map(|it| it.retries).sum();
        let evidence = Evidence {
            cause: TroubleCause::of("busy-channel"),
            certainty: Certainty::Medium,
            incidents: retries + 1,
            places: Vec::new(),
        };
        out.push(evidence.of_record(format!(
            "the channel is busy for {:.0} % of the time{}",
            100.0 * busy,
            busiest(seen)
        )));
    }
}

/// Returns who fills the air, as the end of a sentence: how many stations, and which of them most.
fn busiest(seen: &CaptureSummary) -> String {
    let air = |it: &StationRecord| it.sent.air_ns + it.responses_ns;
    let stations = &seen.air.stations;
    match stations.iter().max_by_key(|it| air(it.1)) {
        Some((most, it)) if stations.len() > 1 => format!(
            ", by {} stations, of which {most} takes {:.0} % of that",
            stations.len(),
            100.0 * air(it) as f64 / seen.air.busy_ns().max(1) as f64
        ),
        Some((most, _)) => format!(", by {most}"),
        None => String::new(),
    }
}

fn sleepers(seen: &CaptureSummary, out: &mut Vec<CauseFinding>) {
    for (station, it) in &seen.air.networks.dozes {
        let mean = it.wait_ns / it.waits.count.max(1);
        if it.waits.count < 3 || mean < WAIT_NS {
            continue;
        }
        let evidence = Evidence {
            cause: TroubleCause::of("power-save"),
            certainty: Certainty::High,
            incidents: it.waits.count,
            places: places(&it.waits, &format!("a packet that waited for {station}")),
        };
        out.push(evidence.finding(
            format!(
                "packets for {station} wait {} ms on average while it dozes (at most {} ms)",
                mean / 1_000_000,
                it.longest_ns / 1_000_000
            ),
            "call esp_wifi_set_ps(WIFI_PS_NONE) or shorten the listen interval where current allows it",
            "without power save packets come within a few milliseconds",
        ));
    }
}

fn tcp(flow: &TcpFlow, out: &mut Vec<CauseFinding>) {
    for (from, to) in [(0, 1), (1, 0)] {
        let (sender, receiver) = (&flow.directions[from], &flow.directions[to]);
        let ends =
            [from, to].map(|at| flow.ends[at]).map(|it| core::net::SocketAddr::new(it.0, it.1));
        let [source, sink] = ends;
        if sender.octets == 0 {
            continue;
        }
        let zero = &receiver.zero_windows;
        if zero.count >= ZERO_WINDOWS {
            let evidence = Evidence {
                cause: TroubleCause::of("tcp-zero-window"),
                certainty: Certainty::High,
                incidents: zero.count,
                places: places(zero, &format!("{sink} offers no window")),
            };
            out.push(evidence.of_record(format!(
                "the program at {sink} does not read what it gets: its TCP window is zero"
            )));
        }
        let limit = sender.limits.most().filter(|it| it.0 == TcpLimit::Window && it.1 > 0.5);
        if let Some((_, share)) = limit
            && zero.count < ZERO_WINDOWS
            && sender.octets >= LEAST_OCTETS
        {
            let evidence = Evidence {
                cause: TroubleCause::of("tcp-window"),
                certainty: Certainty::Medium,
                incidents: sender.window_full.count.max(1),
                places: places(&sender.window_full, "the window is full"),
            };
            out.push(evidence.of_record(format!(
                "the TCP window of {sink} ({} octets) limits {source} for {:.0} % of the time",
                receiver.most_window,
                100.0 * share
            )));
        }
        let resent = &sender.resent;
        if resent.count >= LEAST_RESENT && resent.count as f64 >= RESENT * sender.segments as f64 {
            let evidence = Evidence {
                cause: TroubleCause::of("tcp-losses"),
                certainty: Certainty::High,
                incidents: resent.count,
                places: places(resent, &format!("{source} sends again")),
            };
            out.push(evidence.of_record(format!(
                "TCP from {source} to {sink} loses segments: {} of {} are sent again",
                resent.count, sender.segments
            )));
        }
    }
}

/// Connections that nobody answers, or that are refused.
fn unanswered(seen: &CaptureSummary, out: &mut Vec<CauseFinding>) {
    let failed: Vec<&TcpFlow> = seen
        .flows
        .iter()
        .filter(|it| !it.opened && it.directions[0].octets == 0 && it.directions[0].segments > 0)
        .filter(|it| {
            it.reset || (it.directions[0].resent.count > 0 && !it.directions[1].has_sent())
        })
        .collect();
    let Some(first) =
        failed.first().filter(|_| failed.len() >= 2 || failed.iter().any(|it| !it.reset))
    else {
        return;
    };
    let frames = SeenFrames {
        count: failed.len() as u64,
        first: failed.iter().take(8).map(|it| it.first).collect(),
    };
    let server = core::net::SocketAddr::new(first.ends[1].0, first.ends[1].1);
    let evidence = Evidence {
        cause: TroubleCause::of("connections"),
        certainty: Certainty::Medium,
        incidents: frames.count,
        places: places(&frames, "a SYN"),
    };
    out.push(evidence.finding(
        format!(
            "connections to {server} are {}",
            if first.reset { "refused: nothing listens there" } else { "not answered" }
        ),
        "see that the server runs, listens on that port and address, and that no firewall is between",
        "nc -vz HOST PORT from another computer of the network",
    ));
}
