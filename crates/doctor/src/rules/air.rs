//! Power save, PHYs and rates, channels of ESP-NOW.

use super::finding;
use crate::finding::{CauseFinding, Certainty, TroubleCause};
use crate::log::{LogEvent, LogSummary, PhyGeneration, PowerSaveType};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Events without which a finding of this module is none: one slow reply or one lost frame is usual.
const LEAST: u64 = 3;

/// Frames that may be heard for each one that is not: fewer lost ones are usual on a busy channel.
const LOSSY: u64 = 20;

/// Below this a PHY rate is slow, in kbit/s: the lowest of 802.11g and n.
const SLOW_KBIT_S: u32 = 6000;

pub(super) fn findings(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    out.extend(power_save(log));
    out.extend(phy(log));
    out.extend(unheard(log));
}

/// Returns whether power save is on, as the last line about it says.
pub(super) fn sleeps(log: &LogSummary) -> bool {
    let kinds = log.events.iter().filter_map(|(event, counts)| match event {
        LogEvent::PowerSave(kind) => Some((counts.places.last()?.line, *kind)),
        _ => None,
    });
    kinds.max().is_some_and(|it| it.1 != PowerSaveType::None)
}

/// Returns whether the log says that power save is off. Without a word about it a station sleeps: it is the default.
fn is_awake(log: &LogSummary) -> bool {
    !sleeps(log) && log.count(|it| matches!(it, LogEvent::PowerSave(_))) > 0
}

/// Returns the longest DTIM period that the log tells.
fn dtim(log: &LogSummary) -> Option<u8> {
    let of = |it: &LogEvent| if let LogEvent::Dtim(period) = it { Some(*period) } else { None };
    log.events.keys().filter_map(of).max()
}

/// Returns the remark that power save is on, with the longest wait.
pub(super) fn sleep_note(log: &LogSummary) -> String {
    let most = match dtim(log) {
        Some(period) => {
            format!("{:.0} ms at most (DTIM period {period})", 102.4 * f64::from(period))
        }
        None => "102 ms times the DTIM period at most".into(),
    };
    format!(
        "Power save is on: a packet to the device waits for a beacon, {most}; esp_wifi_set_ps(WIFI_PS_NONE) answers \
         sooner and takes more current."
    )
}

fn power_save(log: &LogSummary) -> Option<CauseFinding> {
    let [slow, fast] =
        [LogEvent::SlowReply, LogEvent::FastReply].map(|event| log.count(|it| *it == event));
    if slow < LEAST || slow <= fast || is_awake(log) {
        return None;
    }
    let sure = if sleeps(log) { Certainty::High } else { Certainty::Medium };
    let words = (
        "power save delays replies: what comes for the device waits for a beacon",
        "call esp_wifi_set_ps(WIFI_PS_NONE) after esp_wifi_start() where current allows it, or set the router's DTIM \
         period to 1",
        "with WIFI_PS_NONE the same ping answers in a few milliseconds",
    );
    let is = |it: &LogEvent| *it == LogEvent::SlowReply;
    finding(log, TroubleCause::PowerSave, sure, words, is)
}

fn phy(log: &LogSummary) -> Option<CauseFinding> {
    let count = |is: &dyn Fn(&LogEvent) -> bool| log.count(is);
    let newer = count(&|it| matches!(it, LogEvent::Phy(PhyGeneration::N | PhyGeneration::Ax)));
    let old = |it: &LogEvent| matches!(it, LogEvent::Phy(PhyGeneration::B | PhyGeneration::G));
    if newer == 0 && count(&old) > 0 {
        let words = (
            "the association has no 802.11n: no aggregates, and at most 11 (b) or 54 Mbit/s (g)",
            "allow 802.11n at the router (WMM on, WPA2 with AES instead of TKIP or WEP), and at the device \
             (esp_wifi_set_protocol with WIFI_PROTOCOL_11N)",
            "the line \"security\" of the log then says phy: bgn",
        );
        return finding(log, TroubleCause::SlowPhy, Certainty::Medium, words, old);
    }
    let slow = |it: &LogEvent| matches!(it, LogEvent::PhyRate(kbit_s) if *kbit_s < SLOW_KBIT_S);
    let words = (
        "frames are sent at a low PHY rate, which takes long on the air",
        "name a faster rate (esp_now_set_peer_rate_config, esp_wifi_config_espnow_rate) where the signal allows it",
        "with MCS 0 or 6 Mbit/s the same frames take a fifth of the time",
    );
    let failed = count(&|it| *it == LogEvent::SendBuffersFull || *it == LogEvent::EspNowUnheard);
    if failed == 0 {
        return None;
    }
    finding(log, TroubleCause::SlowPhy, Certainty::Low, words, slow)
}

fn unheard(log: &LogSummary) -> Option<CauseFinding> {
    let is = |it: &LogEvent| *it == LogEvent::EspNowUnheard;
    let (lost, heard) = (log.count(is), log.count(|it| *it == LogEvent::EspNowHeard));
    // One lost frame among others is usual; where none is heard it is all that there is.
    if lost == 0 || (lost < LEAST && heard >= lost) || lost * LOSSY < heard {
        return None;
    }
    let moved = log.events.keys().find_map(|it| match it {
        LogEvent::Channel(channel) => Some(*channel),
        _ => None,
    });
    let joined = log.count(|it| matches!(it, LogEvent::Associated | LogEvent::GotIp)) > 0;
    if let (Some(channel), true) = (moved, joined) {
        let title = format!(
            "joining the network moved the radio to channel {channel}, where ESP-NOW peers of another one do not hear it"
        );
        let words = (
            &*title,
            "set all ESP-NOW devices to the access point's channel (scan for it, then esp_wifi_set_channel), or fix the \
             router's channel",
            "without joining, ESP-NOW frames are acknowledged",
        );
        return finding(log, TroubleCause::ChannelMoved, Certainty::Medium, words, is);
    }
    let words = (
        "no ESP-NOW peer acknowledges: it is off, asleep, out of reach or on another channel",
        "see that the peer runs, that its address is that of its interface (STA or SoftAP), and that both are on the \
         same channel",
        "esp_wifi_get_channel() and esp_wifi_get_mac() on the peer",
    );
    let sure = if lost < LEAST { Certainty::Low } else { Certainty::Medium };
    finding(log, TroubleCause::EspNowUnheard, sure, words, is)
}
