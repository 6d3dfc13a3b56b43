//! The answer of a capture in a few sentences.

use crate::document::{CaptureDocument, LinkRow, TcpRow};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_measure::cell::Origin;

/// Rows of each table that the answer tells of.
const FEW: usize = 4;

/// Kinds of frames that the answer names.
const KINDS: usize = 4;

fn percent(share: f64) -> String {
    match 100.0 * share {
        it if it == 0.0 || it >= 10.0 => format!("{it:.0} %"),
        it if it < 0.1 => "below 0.1 %".into(),
        it => format!("{it:.1} %"),
    }
}

fn plural(count: u64, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// Returns the answer, one sentence a line; the first is the title.
#[must_use]
pub fn answer(it: &CaptureDocument) -> Vec<String> {
    let time = it.seconds.map_or(String::new(), |s| format!(" in {s:.1} s"));
    let simulated = if it.origin == Origin::Simulated { "simulated, " } else { "" };
    let packets = plural(it.packets, "packet");
    let mut out = alloc::vec![format!("{}: {simulated}{packets}{time}", it.file)];
    if let Some(fault) = &it.fault {
        out.push(format!("The file is damaged: {fault}. What was read before is told."));
    } else if it.cut {
        out.push("The file ends within a packet, which is left out.".into());
    }
    if !it.tells {
        out.push(
            "This file cannot tell: it has no frame of IEEE 802.11 and no packet of IP that can be read. Capture in \
             monitor mode with radiotap, or on the PC's interface."
                .into(),
        );
        return out;
    }
    if it.frames > 0 {
        medium(it, &mut out);
        let (esp_now, others): (Vec<&LinkRow>, Vec<&LinkRow>) =
            it.links.iter().partition(|it| it.esp_now.is_some());
        few(&mut out, "ESP-NOW", &esp_now, |it| link(it));
        let shown: Vec<&LinkRow> = others.into_iter().filter(|it| it.to != "all").collect();
        few(&mut out, "link", &shown, |it| link(it));
        networks(it, &mut out);
    }
    let with_data: Vec<&TcpRow> = it.tcp.iter().filter(|it| it.octets > 0).collect();
    few(&mut out, "TCP", &with_data, |it| tcp(it));
    if it.frames == 0 && with_data.is_empty() {
        out.push(format!("IP: {}, no TCP with data.", plural(it.ip_packets, "packet")));
    }
    let limits = it.limits.words();
    if !limits.is_empty() {
        out.push(format!("limits: {}.", limits.join("; ")));
    }
    if it.dropped > 0 {
        out.push(format!("{} more stations, links or connections than are kept.", it.dropped));
    }
    out
}

fn few<T>(out: &mut Vec<String>, word: &str, rows: &[T], told: impl Fn(&T) -> String) {
    out.extend(rows.iter().take(FEW).map(|it| format!("{word} {}", told(it))));
    if rows.len() > FEW {
        out.push(format!("{word}: {} more with --full", rows.len() - FEW));
    }
}

fn medium(it: &CaptureDocument, out: &mut Vec<String>) {
    let mut channels: Vec<_> = it.channels.iter().collect();
    channels.sort_by_key(|it| core::cmp::Reverse(it.frames));
    let told = channels.iter().take(FEW).map(|it| {
        let busy = it.busy.map_or("time on the air is not told".into(), |it| percent(it) + " busy");
        it.channel.map_or(busy.clone(), |channel| format!("channel {channel} {busy}"))
    });
    let told: Vec<String> = told.collect();
    let mut text = format!("medium: {}", told.join(", "));
    let mut kinds: Vec<_> =
        it.kinds.iter().filter_map(|it| Some((it.air_share?, it.kind.words()))).collect();
    kinds.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (at, (share, word)) in kinds.iter().take(KINDS).enumerate() {
        text += &format!("{} {word} {}", if at == 0 { ":" } else { "," }, percent(*share));
    }
    out.push(text + ".");
    let bad = it.bad_frames as f64 / it.frames.max(1) as f64;
    let mut text = format!("frames: {}, {} with a wrong checksum", it.frames, percent(bad));
    match it.overlapping {
        Some((same, unheard)) => {
            text += &format!(
                "; at the same time: {same} that began in one slot, {unheard} of stations that do not hear each other"
            );
        }
        None => text += "; their times do not tell collisions",
    }
    out.push(text + ".");
}

fn rate(kbit_s: u32) -> String {
    if kbit_s.is_multiple_of(1000) {
        format!("{} Mbit/s", kbit_s / 1000)
    } else {
        format!("{:.1} Mbit/s", f64::from(kbit_s) / 1000.0)
    }
}

fn link(it: &LinkRow) -> String {
    let mut text = format!("{} -> {}: {}", it.from, it.to, plural(it.messages, "message"));
    if let Some(delivered) = it.delivered {
        text += &format!(", {} acknowledged", percent(delivered));
    }
    text += &format!(", {} retries", percent(it.retries as f64 / it.frames.max(1) as f64));
    if it.missing > 0 {
        text += &format!(", {} not heard", it.missing);
    }
    if let Some(dbm) = it.rssi_dbm {
        text += &format!(", {dbm:.0} dBm");
    }
    if let Some(most) = it.rates.iter().max_by_key(|it| it.frames) {
        text += &format!(", {}", rate(most.kbit_s));
    }
    if let Some((mean, most)) = it.ampdu {
        text += &format!(", A-MPDUs of {mean:.1} (most {most})");
    }
    if let Some(share) = it.air_share {
        text += &format!(", {} of the time", percent(share));
    }
    if let Some(now) = it.esp_now.as_ref().filter(|it| !it.types.is_empty()) {
        let types: Vec<String> =
            now.types.iter().map(|(name, count)| format!("{name} {count}")).collect();
        text += &format!("; component: {}", types.join(" "));
        if now.sealed > 0 {
            text += &format!(", {} of {} encrypted ones opened", now.opened, now.sealed);
        }
    }
    text
}

fn networks(it: &CaptureDocument, out: &mut Vec<String>) {
    for network in it.networks.iter().take(FEW) {
        out.push(format!(
            "beacons of {}: {}, {} missing (at most {} in a row)",
            network.bssid, network.heard, network.missing, network.longest_gap
        ));
    }
    for sleeper in it.sleepers.iter().take(FEW) {
        let wait = sleeper.wait_ms.map_or(String::new(), |ms| {
            format!(
                "; {} waited {ms:.0} ms from the beacon on (at most {:.0} ms)",
                plural(sleeper.waits, "packet"),
                sleeper.longest_wait_ms
            )
        });
        let share = sleeper.asleep_share.map_or(String::new(), |it| format!(", {}", percent(it)));
        out.push(format!(
            "asleep {}: {}{share}{wait}",
            sleeper.station,
            plural(sleeper.dozes, "time")
        ));
    }
    for leave in it.leaves.iter().take(FEW) {
        out.push(format!(
            "{} {}, {} -> {}: {}, first frame {}",
            leave.what,
            leave.code,
            leave.from,
            leave.to,
            plural(leave.times, "time"),
            leave.frames.first().copied().unwrap_or_default()
        ));
    }
}

fn tcp(it: &TcpRow) -> String {
    let mut text = format!("{} -> {}: {:.1} KB", it.from, it.to, it.octets as f64 / 1000.0);
    if let Some(mbit_s) = it.mbit_s {
        text += &format!(", {mbit_s:.2} Mbit/s");
    }
    text += &format!(", {}", plural(it.retransmissions, "retransmission"));
    if it.window_full > 0 {
        text += &format!(", window full {}", plural(it.window_full, "time"));
    }
    if let Some(ms) = it.rtt_ms {
        text += &format!(", round trip {ms:.1} ms");
    }
    if let Some((limit, share)) = it.limit.zip(it.limit_share) {
        text += &format!("; {} limits {} of the time", limit.word(), percent(share));
    }
    text
}
