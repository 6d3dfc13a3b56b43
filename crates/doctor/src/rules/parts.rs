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
