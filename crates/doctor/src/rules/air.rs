//! Power save, PHYs and rates, channels of ESP-NOW.

use super::{filled, finding};
use crate::finding::{CauseFinding, Certainty};
use crate::log::{CourseOf, LogEvent, LogSummary, PhyGeneration, PowerSaveType};
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
    let is = |it: &LogEvent| *it == LogEvent::SlowReply;
    finding(log, "power-save", is).map(|it| it.sure(sure))
}

fn phy(log: &LogSummary) -> Option<CauseFinding> {
    let count = |is: &dyn Fn(&LogEvent) -> bool| log.count(is);
    let newer = count(&|it| matches!(it, LogEvent::Phy(PhyGeneration::N | PhyGeneration::Ax)));
    let old = |it: &LogEvent| matches!(it, LogEvent::Phy(PhyGeneration::B | PhyGeneration::G));
    if newer == 0 && count(&old) > 0 {
        return finding(log, "slow-phy", old);
    }
    let slow = |it: &LogEvent| matches!(it, LogEvent::PhyRate(kbit_s) if *kbit_s < SLOW_KBIT_S);
    let failed = count(&|it| *it == LogEvent::SendBuffersFull || *it == LogEvent::EspNowUnheard);
    if failed == 0 {
        return None;
    }
    finding(log, "slow-rate", slow)
}

fn unheard(log: &LogSummary) -> Option<CauseFinding> {
    let is = |it: &LogEvent| *it == LogEvent::EspNowUnheard;
    let (lost, heard) = (log.count(is), log.count(|it| *it == LogEvent::EspNowHeard));
    // One lost frame among others is usual; where none is heard it is all that there is.
    if lost == 0
        || log.is_well(CourseOf::EspNow)
        || (lost < LEAST && heard >= lost)
        || lost * LOSSY < heard
    {
        return None;
    }
    let moved = log.events.keys().find_map(|it| match it {
        LogEvent::Channel(channel) => Some(*channel),
        _ => None,
    });
    let joined = log.count(|it| matches!(it, LogEvent::Associated | LogEvent::GotIp)) > 0;
    if let (Some(channel), true) = (moved, joined) {
        let it = finding(log, "channel-moved", is)?;
        let title = filled(&it.title, "{channel}", channel.into());
        return Some(it.titled(title));
    }
    let sure = if lost < LEAST { Certainty::Low } else { Certainty::Medium };
    finding(log, "esp-now-unheard", is).map(|it| it.sure(sure))
}
