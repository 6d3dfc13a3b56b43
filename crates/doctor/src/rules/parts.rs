//! Storage, external memory, updates over the air.

use super::{finding, network};
use crate::finding::{CauseFinding, Certainty};
use crate::log::{LogEvent, LogSummary, SignName};
use alloc::vec::Vec;

/// Sign of a program that erases its storage, or has it ready.
const NVS_ERASED: SignName = SignName("nvs-erased");

pub(super) fn findings(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let is = |it: &LogEvent| *it == LogEvent::StorageFailed;
    // A program that erases it as ESP-IDF's examples do starts it anew.
    let is_erased = log.last_line(|it| *it == LogEvent::Sign(NVS_ERASED)) > log.last_line(is);
    // A program that joins all the same has it started after that, or does without.
    let sure = if network::linked(log) { Certainty::Low } else { Certainty::High };
    if !is_erased || !network::linked(log) {
        out.extend(finding(log, "nvs", is).map(|it| it.sure(sure)));
    }
    // Many a program goes on without its files, so that another cause comes first.
    if out.is_empty() && !network::linked(log) {
        let is = |it: &LogEvent| *it == LogEvent::FileSystemFailed;
        out.extend(file_system(log, Certainty::Medium, is));
    }
    let is = |it: &LogEvent| *it == LogEvent::ExternalMemory;
    // A device that joins does without, unless it lacks the memory.
    if !network::linked(log) || log.count(|it| *it == LogEvent::NoMemory) > 0 {
        out.extend(finding(log, "psram", is));
    }
    let refused = |it: &LogEvent| *it == LogEvent::UpdateRefused;
    let any = |it: &LogEvent| matches!(it, LogEvent::UpdateRefused | LogEvent::UpdateFailed);
    if log.count(refused) > 0 {
        out.extend(finding(log, "ota", any));
    } else if !out.iter().any(|it| !it.cause.is("connections")) {
        // Without a reason it may follow from what else fails.
        out.extend(finding(log, "ota", any).map(|it| it.sure(Certainty::Low)));
    }
}

/// Finds a file system that cannot be mounted, where no later line says that it is.
fn file_system(
    log: &LogSummary,
    sure: Certainty,
    is: impl Fn(&LogEvent) -> bool,
) -> Option<CauseFinding> {
    if log.last_line(&is) < log.last_line(|it| *it == LogEvent::FileSystemMounted) {
        return None;
    }
    finding(log, "file-system", is).map(|it| it.sure(sure))
}

/// Finds a file system that cannot be mounted in a log where nothing else is found. What the component alone says may be made
/// good without a word, and is where the program joins.
pub(super) fn faint_file_system(log: &LogSummary) -> Option<CauseFinding> {
    let works = network::linked(log) || log.count(|it| *it == LogEvent::ConnectionMade) > 0;
    let is = |it: &LogEvent| match it {
        LogEvent::FileSystemFailed => true,
        LogEvent::MountFailed => !works,
        _ => false,
    };
    file_system(log, Certainty::Low, is)
}

/// Finds external memory that does not answer where a log of a device that joined ends with it: it is the complaint.
pub(super) fn faint_memory(log: &LogSummary) -> Option<CauseFinding> {
    let is = |it: &LogEvent| *it == LogEvent::ExternalMemory;
    let ends = log.last.as_ref().is_some_and(is);
    if ends { finding(log, "psram", is).map(|it| it.sure(Certainty::Low)) } else { None }
}
