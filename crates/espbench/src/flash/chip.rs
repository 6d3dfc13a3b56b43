//! Chips by name.

use espflash::target::Chip as FlashChip;
use std::str::FromStr as _;

/// Chips that can be flashed, in the order of their names.
pub const CHIPS: [FlashChip; 12] = [
    FlashChip::Esp32,
    FlashChip::Esp32c2,
    FlashChip::Esp32c3,
    FlashChip::Esp32c5,
    FlashChip::Esp32c6,
    FlashChip::Esp32c61,
    FlashChip::Esp32h2,
    FlashChip::Esp32h4,
    FlashChip::Esp32p4,
    FlashChip::Esp32s2,
    FlashChip::Esp32s3,
    FlashChip::Esp32s31,
];

/// Parses `esp32c3`, `ESP32-C3`.
///
/// # Errors
/// A sentence with the names that there are.
pub fn parse(text: &str) -> Result<FlashChip, String> {
    let name = text.to_ascii_lowercase().replace('-', "");
    FlashChip::from_str(&name).map_err(|_| {
        let names: Vec<String> = CHIPS.iter().map(ToString::to_string).collect();
        format!("`{text}` is no chip that can be flashed: use {}", names.join(", "))
    })
}

/// Returns the name as Espressif writes it: `ESP32-C3`.
#[must_use]
pub fn title(chip: FlashChip) -> String {
    let name = chip.to_string().to_ascii_uppercase();
    match name.split_at_checked(5) {
        Some((stem, rest)) if !rest.is_empty() => format!("{stem}-{rest}"),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_people_write_them() {
        assert_eq!(parse("esp32c3"), Ok(FlashChip::Esp32c3));
        assert_eq!(parse("ESP32-C61"), Ok(FlashChip::Esp32c61));
        assert_eq!(parse("ESP32"), Ok(FlashChip::Esp32));
        assert!(parse("esp8266").unwrap_err().contains("esp32c2, esp32c3"));
        assert_eq!(title(FlashChip::Esp32c3), "ESP32-C3");
        assert_eq!(title(FlashChip::Esp32), "ESP32");
        assert!(CHIPS.iter().all(|it| parse(&title(*it)) == Ok(*it)));
    }
}
