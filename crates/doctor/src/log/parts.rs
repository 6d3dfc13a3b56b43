//! Parts of the device beside its radio: the storage of keys and values, external memory, updates over the air.

use super::event::{EspNowError, LogEvent};
use super::record::{LogRecord, RecordLevel};
use super::search::{SearchRecord, SearchText};
use super::signs;
use super::wordlist::PhraseList;
use super::words::WordCause;

/// Words of which a text or a tag has one where it speaks of these parts.
static SUBJECTS: PhraseList = PhraseList::new(&[
    "nvs",
    "esp_err",
    "preferences",
    "psram",
    "spiram",
    "spi ram",
    "external ram",
    "esp_image",
    "boot_comm",
    "secure_boot",
    "image valid",
    "ota",
    "fota",
    "update",
    "upgrade",
    "firmware",
    "error[",
]);

/// Errors of NVS (`nvs.h`, from `ESP_ERR_NVS_BASE` 0x1100 on) by the end of their name and by number. 0x1102, a key that is not
/// there, is none: each program meets it at its first start.
const STORAGE: [(&str, &str, &str); 24] = [
    ("not_initialized", "0x1101", "4353"),
    ("type_mismatch", "0x1103", "4355"),
    ("read_only", "0x1104", "4356"),
    ("not_enough_space", "0x1105", "4357"),
    ("invalid_name", "0x1106", "4358"),
    ("invalid_handle", "0x1107", "4359"),
    ("remove_failed", "0x1108", "4360"),
    ("key_too_long", "0x1109", "4361"),
    ("page_full", "0x110a", "4362"),
    ("invalid_state", "0x110b", "4363"),
    ("invalid_length", "0x110c", "4364"),
    ("no_free_pages", "0x110d", "4365"),
    ("value_too_long", "0x110e", "4366"),
    ("part_not_found", "0x110f", "4367"),
    ("new_version_found", "0x1110", "4368"),
    ("xts_encr_failed", "0x1111", "4369"),
    ("xts_decr_failed", "0x1112", "4370"),
    ("xts_cfg_failed", "0x1113", "4371"),
    ("xts_cfg_not_found", "0x1114", "4372"),
    ("encr_not_supported", "0x1115", "4373"),
    ("keys_not_initialized", "0x1116", "4374"),
    ("corrupt_key_part", "0x1117", "4375"),
    ("content_differs", "0x1118", "4376"),
    ("wrong_encryption", "0x1119", "4377"),
];

/// Errors of updates and images by number (`esp_ota_ops.h`, from 0x1500; `esp_image_format.h`, from 0x2000).
const UPDATES: [(&str, &str); 8] = [
    ("0x1501", "5377"),
    ("0x1502", "5378"),
    ("0x1503", "5379"),
    ("0x1504", "5380"),
    ("0x1505", "5381"),
    ("0x1506", "5382"),
    ("0x2001", "8193"),
    ("0x2002", "8194"),
];

/// Words of an update that is refused, in lower case.
const REFUSED: &[&str] = &[
    "esp_err_ota_",
    "esp_err_image_",
    "ota image has invalid magic",
    "ota image invalid magic",
    "not found ota data",
    "image validation failed",
    "wrong magic byte",
    "magic byte is wrong",
    "not enough space",
    "md5 check failed",
    "md5 failed",
    "md5 mismatch",
    "could not activate the firmware",
    "bad size given",
    "partition could not be found",
    "new flash config wrong",
    "flash config wrong",
    "mismatched chip id",
    "error binary size",
    "project name mismatch",
    "sketch too big",
    "no ota partition",
    "passive ota partition not found",
    "could not find update partition",
    "rollback detected",
    "rolled back from partition",
];

/// Words of an update that fails, in lower case.
const FAILED: &[&str] = &[
    "ota failed",
    "ota fail",
    "ota error",
    "ota update failed",
    "ota upgrade failed",
    "esp_ota_begin failed",
    "esp_ota_write failed",
    "esp_ota_end failed",
    "esp_ota_set_boot_partition failed",
    "esp_https_ota failed",
    "esp_https_ota_begin failed",
    "esp_https_ota_finish failed",
    "esp https ota begin failed",
    "firmware upgrade failed",
    "firmware update failed",
    "firmware download failed",
    "downloading firmware failed",
    "failed to download firmware",
    "error downloading firmware",
    "http_update_failed",
    // The ESP8266's example has it so.
    "http_update_faild",
    "update failed",
    "upgrade failed",
    // Tasmota's state in JSON.
    "upgrade\":\"failed",
    "receive failed",
    "begin failed",
    "upload failed. error",
];

/// Tags of what checks an image, for the bootloader and for updates.
const CHECKS: [&str; 3] = ["esp_image", "boot_comm", "secure_boot"];

/// From here on a program runs, and no bootloader, in milliseconds.
const RUNS_MS: u64 = 5000;

/// Tags of ESP-IDF's parts whose errors tell what fails, in lower case, each with what an error of it tells.
const TAGS: [(&str, LogEvent); 25] = [
    ("secure_boot", LogEvent::FlashUnreadable),
    ("esp_netif", LogEvent::Words(WordCause::WifiCall)),
    // ESP-Hosted, whose radio is on another chip.
    ("sdio_wrapper", LogEvent::Words(WordCause::WifiCall)),
    ("h_sdio_drv", LogEvent::Words(WordCause::WifiCall)),
    ("rpc_", LogEvent::Words(WordCause::WifiCall)),
    ("transport", LogEvent::Words(WordCause::Connections)),
    ("trans_", LogEvent::Words(WordCause::Connections)),
    ("websocket", LogEvent::Words(WordCause::Connections)),
    ("mqtt", LogEvent::Words(WordCause::Connections)),
    ("http_client", LogEvent::Words(WordCause::Connections)),
    ("esp_http_client", LogEvent::Words(WordCause::Connections)),
    ("http_stream", LogEvent::Words(WordCause::Connections)),
    ("esp-tls-mbedtls", LogEvent::Words(WordCause::Tls)),
    // It opens what is not encrypted, too.
    ("esp-tls", LogEvent::Words(WordCause::Connections)),
    ("mbedtls", LogEvent::Words(WordCause::Tls)),
    ("esp-x509-crt-bundle", LogEvent::Words(WordCause::Tls)),
    ("esp_ota_ops", LogEvent::UpdateFailed),
    ("esp_https_ota", LogEvent::UpdateFailed),
    ("ota", LogEvent::UpdateFailed),
    ("esphome.ota", LogEvent::UpdateFailed),
    ("http_request.ota", LogEvent::UpdateFailed),
    ("espnow", LogEvent::EspNow(EspNowError::Internal)),
    ("esp_image", LogEvent::FlashUnreadable),
    ("flash_parts", LogEvent::FlashUnreadable),
    ("spi_flash", LogEvent::FlashUnreadable),
];

/// Subjects that begin the tags of programs, too: "espnow_example", "ota_task".
const SUBJECT_TAGS: [&str; 4] = ["espnow", "mqtt", "ota", "websocket"];

/// Returns whether a tag is a program's own, whose level E alone tells no failure: some print in red what they wait for.
fn is_own(tag: &str) -> bool {
    let client = tag.ends_with("_client");
    SUBJECT_TAGS.iter().any(|it| tag.strip_prefix(it).is_some_and(|rest| !rest.is_empty()))
        && !client
}

/// Tags of what takes an update in, of any program and of ESPHome.
pub(super) const UPDATERS: [&str; 2] = ["ota", "esphome.ota"];

/// Returns what an error of a part of ESP-IDF tells that no other reader understands.
pub(super) fn error_of_part(record: &LogRecord<'_>) -> Option<LogEvent> {
    let tag = record.tag.to_ascii_lowercase();
    let lower = record.text.to_ascii_lowercase();
    // ESPHome warns where an update breaks off, and counts starts that fail under the same tag.
    let warns = record.level == Some(RecordLevel::Warning)
        && UPDATERS.contains(&&*tag)
        && (signs::FAILS.is_in(&lower)
            || lower.contains("abort")
            || lower.starts_with("no data received"));
    if !(record.level == Some(RecordLevel::Error) || warns) || lower.contains("boot loop") {
        return None;
    }
    if is_without_slots(&tag, &lower, record.uptime_ms) {
        return None;
    }
    if tag == "esp-tls" && ["ssl", "cert", "verify", " ca"].iter().any(|it| lower.contains(it)) {
        return Some(LogEvent::Words(WordCause::Tls));
    }
    if is_own(&tag) && !signs::SIGNS.iter().any(|it| it.is_in(&lower)) {
        return None;
    }
    TAGS.iter().find(|it| tag.starts_with(it.0)).map(|it| it.1)
}

/// Returns whether ESP-IDF says at a program's start that there are no slots for updates.
fn is_without_slots(tag: &str, lower: &str, uptime_ms: Option<u64>) -> bool {
    tag == "esp_ota_ops"
        && lower.starts_with("not found ota")
        && uptime_ms.is_some_and(|it| it < RUNS_MS)
}

/// Returns what a record tells of storage, external memory and updates.
pub(super) fn parts(record: &SearchRecord<'_>) -> Option<LogEvent> {
    let lower = &record.lower;
    let tag = &*record.tag;
    if !(SUBJECTS.is_in(lower) || SUBJECTS.is_in(tag)) {
        return None;
    }
    // A program may ask at its start which of its slots it runs from, where its table of partitions has one.
    if is_without_slots(tag, lower, record.uptime_ms) {
        return None;
    }
    // An image that a running program checks is that of an update.
    let late = record.uptime_ms.is_some_and(|it| it >= RUNS_MS);
    let checks = CHECKS.iter().any(|it| tag.starts_with(it));
    if checks && late && record.level == Some(RecordLevel::Error) {
        return Some(LogEvent::UpdateRefused);
    }
    if storage(lower, tag) {
        return Some(LogEvent::StorageFailed);
    }
    if external_memory(lower, tag, record.level) {
        return Some(LogEvent::ExternalMemory);
    }
    update(lower, tag)
}

/// Returns whether a text has the number of an error of NVS.
pub(super) fn has_storage_number(lower: &SearchText<'_>) -> bool {
    STORAGE.iter().any(|it| lower.has_number(it.1) || lower.has_number(it.2))
}

fn storage(lower: &SearchText<'_>, tag: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|it| lower.contains(it));
    if lower.contains("err_nvs_")
        || lower.contains("esp_err_nvs")
        || lower.contains("nvs_") && has(&["fail", "err"])
    {
        let of = SearchText::of(lower.find("nvs").map_or(lower, |at| &lower[at..]));
        if STORAGE.iter().any(|it| of.contains(it.0)) || has_storage_number(lower) {
            return true;
        }
    }
    if has(&["esp_error_check failed", "esp_err_t", "nvs"])
        && STORAGE.iter().any(|it| lower.has_number(it.1))
    {
        return true;
    }
    has(&[
        "nvs_flash_init failed",
        "nvs_flash_init() failed",
        "nvs init failed",
        "failed to initialize nvs",
        "failed to init nvs",
        "nvs has not been initialized",
        "nvs not initialized",
        "nvs is not initialized",
        "nvs partition \"nvs\" not found",
        "nvs partition not found",
        "nvs_page.hpp",
        "nvs_open failed: not_initialized",
        "not enough space in nvs",
        "nvs is full",
        "nvs partition full",
    ]) || (tag.contains("preferences")
        && has(&["not_enough_space", "no_free_pages", "not_initialized"]))
}

fn external_memory(lower: &SearchText<'_>, tag: &str, level: Option<RecordLevel>) -> bool {
    let speaks = ["psram", "spiram", "spi ram", "external ram"].iter().any(|it| lower.contains(it))
        || tag.contains("psram")
        || tag.contains("spiram");
    // "PSRAM not found, inputBufferSize: 6399 bytes": a program that does without tells what it takes instead.
    let without = ["using", "instead", "buffer", "fall", "internal", "heap", "without", "default"];
    let does_without =
        level != Some(RecordLevel::Error) && without.iter().any(|it| lower.contains(it));
    speaks
        && !does_without
        && [
            "id read error",
            "chip not found",
            "wrong psram line mode",
            "failed to init external ram",
            "but initialization failed",
            "init failed",
            "memory test error",
            "memory test fail",
            "could not init",
            "psram chip is not found",
            "no psram",
            "psram not found",
            "psram is not found",
            "not detected",
            "not initialized",
        ]
        .iter()
        .any(|it| lower.contains(it))
}

fn update(lower: &SearchText<'_>, tag: &str) -> Option<LogEvent> {
    let has = |words: &[&str]| words.iter().any(|it| lower.contains(it));
    let of_tag = ["ota", "update", "fota"].iter().any(|it| {
        tag.match_indices(it)
            .any(|(at, _)| tag[..at].chars().next_back().is_none_or(|it| !it.is_ascii_alphabetic()))
    });
    let names = of_tag
        || has(&["ota", "update", "upgrade", "firmware", "esp_err_image", "image valid", "error["]);
    if !names {
        return None;
    }
    let number = has(&["ota", "esp_err_t", "image"])
        && has(&["fail", "err"])
        && UPDATES.iter().any(|it| lower.has_number(it.0) || lower.has_number(it.1));
    if number || has(REFUSED) {
        return Some(LogEvent::UpdateRefused);
    }
    // Calls of Arduino's class, in any program's words: "Error during Update.write".
    let calls = ["update.begin", "update.write", "update.end"].iter().any(|it| lower.contains(it));
    if calls && has(&["error", "fail", "could not", "cannot"]) && !has(&["error: 0", "error[0]"]) {
        return Some(LogEvent::UpdateFailed);
    }
    // ArduinoOTA's example numbers its errors; some sketches print the word in a line of its own.
    let numbered = [
        "auth failed",
        "begin failed",
        "connect failed",
        "receive failed",
        "end failed",
        // The updater below it numbers them, too.
        "stream read timeout",
        "flash write failed",
        "flash read failed",
        "flash erase failed",
    ];
    let of_example = lower.rsplit_once("error[").map(|it| it.1);
    let bare = matches!(of_example.map(str::trim_end), Some("0]:" | "1]:" | "2]:" | "3]:" | "4]:"));
    if bare || of_example.is_some_and(|it| numbered.iter().any(|words| it.ends_with(words))) {
        return Some(LogEvent::UpdateFailed);
    }
    let of_updater =
        ["fota ", "ota client", "[ota]", "[mqtt ota]"].iter().any(|it| lower.starts_with(it));
    let ends =
        || signs::FAILS.is_in(lower) || signs::TIMEOUT.is_in(lower) || lower.contains("rejected");
    if of_updater && ends() {
        return Some(LogEvent::UpdateFailed);
    }
    // "OTA failed: 0" and "if the update failed" tell of none.
    let told = FAILED.iter().filter_map(|it| lower.find(it).map(|at| (at, it.len()))).min()?;
    let whole = lower[..told.0].chars().next_back().is_none_or(|it| !it.is_ascii_alphanumeric());
    let expected = ["if ", "when ", "in case"].iter().any(|it| lower[..told.0].contains(it));
    (whole && !expected).then_some(LogEvent::UpdateFailed)
}

#[cfg(test)]
mod tests {
    use super::super::event::told;
    use super::super::{LogEvent, WordCause};

    #[test]
    fn storage_external_memory_and_updates_are_read() {
        use LogEvent::{ExternalMemory, StorageFailed, UpdateFailed, UpdateRefused};
        for (line, event) in [
            ("E (5) app: nvs_flash_init failed: ESP_ERR_NVS_NO_FREE_PAGES", StorageFailed),
            ("E (5) app: nvs_set_blob failed (0x1105)", StorageFailed),
            (
                "E (5) phy_init: NVS has not been initialized. Call nvs_flash_init first",
                StorageFailed,
            ),
            ("E (5) quad_psram: PSRAM ID read error: 0x00ffffff", ExternalMemory),
            ("E (5) spiram: SPI RAM enabled but initialization failed", ExternalMemory),
            ("E (5) fw: esp_ota_end failed (ESP_ERR_OTA_VALIDATE_FAILED)", UpdateRefused),
            ("E (5) esp_https_ota: Image validation failed, image is corrupted", UpdateRefused),
            ("E (5) fw: OTA update failed", UpdateFailed),
            ("could not go on in Update.end", UpdateFailed),
            ("no PSRAM", ExternalMemory),
            ("E (5) esp-tls: [sock=9] select() timeout", LogEvent::Words(WordCause::Connections)),
            ("E (5) esp-tls: Failed to set global CA", LogEvent::Words(WordCause::Tls)),
        ] {
            assert_eq!(told(line), [event], "{line}");
        }
        for line in [
            "E (5) app: nvs_open: ESP_ERR_NVS_NOT_FOUND",
            "I (5) esp_psram: Found 8MB PSRAM device",
            "I (5) ota: if the update failed, it starts the old one",
            "I (5) boot: ota data",
            // A program's own tag.
            "E (5) ota_task: 40 KB so far",
            "PSRAM not found, frames go to internal memory",
        ] {
            assert!(
                !told(line).iter().any(|it| matches!(
                    it,
                    StorageFailed | ExternalMemory | UpdateFailed | UpdateRefused
                )),
                "{line}: {:?}",
                told(line)
            );
        }
    }
}
