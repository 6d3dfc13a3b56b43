//! Storage, external memory, updates over the air.

use super::{finding, network};
use crate::finding::{CauseFinding, Certainty, TroubleCause};
use crate::log::{LogEvent, LogSummary};
use alloc::vec::Vec;

/// Title, remedy and confirmation of storage.
const STORAGE: (&str, &str, &str) = (
    "the storage of keys and values (NVS) is not started, full, or of another version",
    "call nvs_flash_init() before Wi-Fi, Bluetooth and what keeps settings; where it answers NO_FREE_PAGES or \
     NEW_VERSION_FOUND, nvs_flash_erase() and once more; see that the partition table has a partition nvs of 0x4000 and more",
    "espbench board info and idf.py partition-table tell the partition; erase-flash makes it empty",
);

/// Title, remedy and confirmation of a file system.
const FILES: (&str, &str, &str) = (
    "the file system of the flash (SPIFFS, LittleFS, FAT) cannot be mounted: what is kept there cannot be read or written",
    "see that the partition table has its partition, and that the image was built for the same file system, size and offset; \
     let the program format it once (LittleFS.begin(true), format_if_mount_failed), which empties it; where it comes again, \
     look for a supply that fails while the program writes",
    "idf.py partition-table tells the partition; after a format it is mounted, also after a restart",
);

/// Title, remedy and confirmation of external memory.
const EXTERNAL: (&str, &str, &str) = (
    "external memory (PSRAM) does not answer",
    "set the mode that the module has (quad or octal: R2 is quad, R8 octal) and its speed, leave its pins free (35 to 37 on \
     an ESP32-S3 with octal), or turn CONFIG_SPIRAM off where the module has none",
    "the module's name and esptool flash_id tell which PSRAM there is",
);

/// Title, remedy and confirmation of an update.
const UPDATE: (&str, &str, &str) = (
    "an update over the air is refused or breaks off",
    "see that two partitions for programs exist and the image fits into one, that the image is of this chip and whole, and \
     that the server sends the image itself and no page of an error",
    "esptool image_info FILE and the partition table tell size, chip and whether it is whole",
);

pub(super) fn findings(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let is = |it: &LogEvent| *it == LogEvent::StorageFailed;
    // A program that joins all the same has it started after that, or does without.
    let sure = if network::linked(log) { Certainty::Low } else { Certainty::High };
    out.extend(finding(log, TroubleCause::Storage, sure, STORAGE, is));
    // Many a program goes on without its files, so that another cause comes first.
    if out.is_empty() && !network::linked(log) {
        let is = |it: &LogEvent| *it == LogEvent::FileSystemFailed;
        out.extend(file_system(log, Certainty::Medium, is));
    }
    let is = |it: &LogEvent| *it == LogEvent::ExternalMemory;
    if !network::linked(log) {
        out.extend(finding(log, TroubleCause::ExternalMemory, Certainty::High, EXTERNAL, is));
    }
    let refused = |it: &LogEvent| *it == LogEvent::UpdateRefused;
    let any = |it: &LogEvent| matches!(it, LogEvent::UpdateRefused | LogEvent::UpdateFailed);
    if log.count(refused) > 0 {
        out.extend(finding(log, TroubleCause::Update, Certainty::High, UPDATE, any));
    } else if !out.iter().any(|it| it.cause != TroubleCause::Connections) {
        // Without a reason it may follow from what else fails.
        out.extend(finding(log, TroubleCause::Update, Certainty::Low, UPDATE, any));
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
    finding(log, TroubleCause::Storage, sure, FILES, is)
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
    if ends {
        finding(log, TroubleCause::ExternalMemory, Certainty::Low, EXTERNAL, is)
    } else {
        None
    }
}
