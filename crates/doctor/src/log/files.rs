//! The file system of the flash: SPIFFS, LittleFS, FAT.

use super::event::LogEvent;
use super::search::SearchRecord;
use super::signs;
use super::wordlist::{self as list, PhraseList};

/// Words of a file system in the flash.
static SUBJECTS: PhraseList = PhraseList::new(&[
    "spiffs",
    "littlefs",
    "little fs",
    "esp_littlefs",
    "fatfs",
    "ffat",
    "file system",
    "filesystem",
    "flashfs",
    "vfs_fat_spiflash",
]);

/// Words of a card or a stick, which may be out.
const CARDS: [&str; 7] = ["sd", "sdcard", "sdmmc", "sdspi", "card", "usb", "msc"];

/// Tags of the components, whose callers may format what they cannot mount: Arduino's `begin(true)` says no more where that
/// succeeds.
const COMPONENTS: [&str; 3] = ["spiffs", "esp_littlefs", "vfs_fat_spiflash"];

/// Returns what a record tells of the file system of the flash.
pub(super) fn files(record: &SearchRecord<'_>) -> Option<LogEvent> {
    let lower = &record.lower;
    let mounts = ["mount", "montag", "montar", "format", "initialize", "corrupt", "not be found"];
    if !mounts.iter().any(|it| lower.contains(it)) {
        return None;
    }
    let tag = &*record.tag;
    let subject = SUBJECTS.is_in(lower) || SUBJECTS.is_in(tag) || list::has_whole(lower, &["fs"]);
    if !subject || list::has_whole(lower, &CARDS) || list::has(tag, &CARDS) {
        return None;
    }
    let has = |words: &[&str]| words.iter().any(|it| lower.contains(it));
    if has(&["no file system detected", "no filesystem detected"]) {
        return Some(LogEvent::MountFailed);
    }
    let fails = signs::FAILS.is_in(lower) || has(&["not mounted"]);
    if !fails && !has(&["corrupt"]) {
        let made = has(&["mounted", "formatted"])
            || has(&["format", "mount"]) && has(&["success", "complete", "done"]);
        let other = has(&["not ", "n't", "unmounted", "if "]);
        return (made && !other).then_some(LogEvent::FileSystemMounted);
    }
    // It is about to be formatted, and the next line tells how that ends.
    if has(&[
        "formatting",
        "will format",
        "will be format",
        "reformat",
        "if mount",
        "format_if",
        " yet",
    ]) {
        return None;
    }
    if !COMPONENTS.contains(&tag) {
        return Some(LogEvent::FileSystemFailed);
    }
    // No format makes a partition.
    if has(&["partition"]) && has(&["not be found", "not found"]) {
        return Some(LogEvent::FileSystemFailed);
    }
    has(&["mount failed"]).then_some(LogEvent::MountFailed)
}

#[cfg(test)]
mod tests {
    use super::super::LogEvent::{self, FileSystemFailed, FileSystemMounted, MountFailed};
    use super::super::event::told;

    #[test]
    fn file_systems_that_cannot_be_mounted_are_read() {
        for (line, event) in [
            ("E (310) SPIFFS: mount failed, -10025", MountFailed),
            ("W (310) [SPIFFS]: No file system detected, formating...", MountFailed),
            ("E (310) esp_littlefs: mount failed,  (-84)", MountFailed),
            ("E (310) SPIFFS: spiffs partition could not be found", FileSystemFailed),
            ("[E][SPIFFS.cpp:89] begin(): Mounting SPIFFS failed! Error: -1", FileSystemFailed),
            ("[   900][E][vfs_api.cpp:24] open(): File system is not mounted", FileSystemFailed),
            ("E (5) depot: Failed to mount or format filesystem", FileSystemFailed),
            ("could not mount the FS", FileSystemFailed),
            ("FAT filesystem appears to be corrupted. If you had data there", FileSystemFailed),
            ("<err> fs: fs mount error (-5)", FileSystemFailed),
            ("LittleFS mounted", FileSystemMounted),
            ("filesystem formatted", FileSystemMounted),
        ] {
            assert_eq!(told(line), [event], "{line}");
        }
        let of_files =
            |it: &LogEvent| matches!(it, FileSystemFailed | MountFailed | FileSystemMounted);
        for line in [
            "W (310) SPIFFS: mount failed, -10025. formatting...",
            "E (310) esp_littlefs: lfs.c:1:error: Corrupted dir pair at {0x0, 0x1}",
            "SD card mount failed, no file system",
            "E (310) vfs_fat_sdmmc: failed to mount card (1).",
            "mounting FS...",
            "LittleFS is not mounted yet",
        ] {
            assert!(!told(line).iter().any(of_files), "{line}: {:?}", told(line));
        }
    }
}
