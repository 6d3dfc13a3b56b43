//! Names of chips, as start-up prints them.

use alloc::string::String;
use espbench_model::sdkconfig::Chip;

/// Reads a chip's name at the start of a text: `esp32c3-api1`, `ESP32-S3 (revision v0.1)`, `ESP32-D0WDQ6`.
pub(crate) fn named(text: &str) -> Option<Chip> {
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
