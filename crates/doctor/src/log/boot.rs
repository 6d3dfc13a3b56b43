//! Start-up: the chip, the release of ESP-IDF, the clock.

use super::event::{LogEvent, number};
use super::search::{SearchRecord, SearchText};
use alloc::string::String;
use espbench_model::sdkconfig::{Chip, IdfRelease};

/// Words in front of a chip's name, in lower case: the ROM's, esptool's, ESP-IDF's tag, ESPHome's and others'.
const CHIP: [&str; 5] = ["esp-rom:", "chip is ", "chip type: ", "model=", "chip: "];

/// Returns what a record tells of the firmware.
pub(super) fn boot(record: &SearchRecord<'_>) -> impl Iterator<Item = LogEvent> {
    let chip = chip(record).map(LogEvent::Chip);
    let release = release(&record.text).map(LogEvent::Release);
    let clock = clock(&record.text).map(LogEvent::Clock);
    [chip, release, clock].into_iter().flatten()
}

fn chip(record: &SearchRecord<'_>) -> Option<Chip> {
    if let Some(name) = record.tag.strip_prefix("boot.") {
        return named(name);
    }
    // The ROM of the ESP32 tells its date alone; that of the ESP8266 is of January 2013.
    if ["ets Jun", "ets Jul"].iter().any(|it| record.text.starts_with(it)) {
        return Some(Chip::Esp32);
    }
    let lower = &record.lower;
    CHIP.iter().find_map(|words| named(lower.split_once(words)?.1))
}

/// Reads a chip's name at the start of a text: `esp32c3-api1`, `ESP32-S3 (revision v0.1)`, `ESP32-D0WDQ6`.
fn named(text: &str) -> Option<Chip> {
    let word = text.split(|it: char| !(it.is_ascii_alphanumeric() || it == '-')).next()?;
    let plain: String =
        word.chars().filter(|it| *it != '-').collect::<String>().to_ascii_lowercase();
    let rest = plain.strip_prefix("esp32")?;
    // Packages of the ESP32 have names of their own.
    if rest.is_empty() || ["d", "u", "pico", "wro"].iter().any(|it| rest.starts_with(it)) {
        return Some(Chip::Esp32);
    }
    let is = |it: &Chip| rest.starts_with(&it.name()["esp32".len()..]);
    // A longer name first: the ESP32-C61 begins as the ESP32-C6 does.
    Chip::ALL.into_iter().filter(|it| *it != Chip::Esp32 && is(it)).max_by_key(|it| it.name().len())
}

/// Reads `ESP-IDF v5.1.2 2nd stage bootloader` and `ESP-IDF:          v5.1.2`.
fn release(text: &SearchText<'_>) -> Option<IdfRelease> {
    let rest = text.split_once("ESP-IDF")?.1.trim_start_matches([' ', ':']).strip_prefix('v')?;
    let (major, rest) = rest.split_once('.')?;
    let minor = number(rest)?;
    Some(IdfRelease::new(major.parse().ok()?, u8::try_from(minor).ok()?))
}

/// Reads `cpu freq: 160000000 Hz`.
fn clock(text: &SearchText<'_>) -> Option<u16> {
    let hz = number(text.split_once("cpu freq: ")?.1)?;
    u16::try_from(hz / 1_000_000).ok().filter(|it| *it > 0)
}

#[cfg(test)]
mod tests {
    use super::super::record::records;
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn start_up_names_the_firmware() {
        let told = |line: &str| -> Vec<LogEvent> {
            records(line)
                .iter()
                .map(SearchRecord::of)
                .flat_map(|it| boot(&it).collect::<Vec<_>>())
                .collect()
        };
        for (line, chip) in [
            ("ESP-ROM:esp32c3-api1-20210207", Chip::Esp32c3),
            ("ESP-ROM:esp32c61-20240227", Chip::Esp32c61),
            ("ets Jul 29 2019 12:21:46", Chip::Esp32),
            ("I (33) boot.esp32s2: SPI Speed      : 80MHz", Chip::Esp32s2),
            ("Chip is ESP32-D0WDQ6 (revision 1)", Chip::Esp32),
            ("Chip is ESP32-S3 (revision v0.1)", Chip::Esp32s3),
        ] {
            assert_eq!(told(line), [LogEvent::Chip(chip)], "{line}");
        }
        for line in [
            "I (29) boot: ESP-IDF v5.1.2 2nd stage bootloader",
            "I (330) app_init: ESP-IDF:          v5.1.2-dirty",
        ] {
            assert_eq!(told(line), [LogEvent::Release(IdfRelease::new(5, 1))], "{line}");
        }
        assert_eq!(told("I (300) cpu_start: cpu freq: 160000000 Hz"), [LogEvent::Clock(160)]);
        assert!(told("I (5) app: ESP-IDF is what it was made with").is_empty());
    }
}
