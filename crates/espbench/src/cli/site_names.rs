//! Names of devices and places that published figures know: a figure under another name is held against none.

use crate::user_error::UserError;
use espbench_engine::published;
use espbench_measure::cell::Cell;
use espbench_model::sdkconfig::{Chip, ChipWithoutWifi};
use espbench_model::text::meant;
use espbench_sim::lab::file::{FileKind, Library};
use std::collections::BTreeSet;

/// How the name of a place begins that is the user's own.
const OWN: &str = "my-";

/// Parses the chip of a device under test: one of published figures, or any that ESP-IDF knows.
///
/// # Errors
/// It is none of them, or has no Wi-Fi.
pub fn chip(text: &str) -> Result<String, UserError> {
    if let Some(chip) = ChipWithoutWifi::of(text) {
        return Err(chip.into());
    }
    let known = of_published(|it| Some(it.id.chip.clone()));
    let small = text.to_ascii_lowercase();
    if known.contains(&small) || small == "host" {
        return Ok(small);
    }
    if let Ok(chip) = text.parse::<Chip>() {
        return Ok(chip.name().into());
    }
    let names: Vec<&str> = Chip::ALL.iter().map(|it| it.name()).chain(["esp8266"]).collect();
    Err(unknown("--chip", text, &known, &names, "another chip: as CONFIG_IDF_TARGET names it"))
}

/// Parses how a device is attached, or how its frames are sent.
///
/// # Errors
/// No published figure and no test of ours knows it.
pub fn mode(text: &str) -> Result<String, UserError> {
    let known = of_published(|it| Some(it.id.mode.clone()));
    let ours = ["station", "softap", "loopback"];
    let copies = text.strip_prefix("broadcast-").map(|it| it.strip_suffix("-ack").unwrap_or(it));
    let is_broadcast = copies.is_some_and(|it| it.parse::<u8>().is_ok());
    if known.contains(text) || ours.contains(&text) || is_broadcast {
        return Ok(text.into());
    }
    let names: Vec<&str> = known.iter().map(String::as_str).chain(ours).collect();
    Err(unknown("--mode", text, &known, &names, "a station of a network: --mode station"))
}

/// Parses the name of a place: one of published figures, of the labs, or `my-` and a word of the user's.
///
/// # Errors
/// It is none of them.
pub fn environment(text: &str) -> Result<String, UserError> {
    let known = of_published(|it| it.id.environment.clone());
    let library = Library::built_in();
    let labs: Vec<&str> = library.names(FileKind::Environment).collect();
    let is_known = known.contains(text) || labs.contains(&text) || text == "loopback";
    if is_known || text.strip_prefix(OWN).is_some_and(|it| !it.is_empty()) {
        return Ok(text.into());
    }
    let names: Vec<&str> = known.iter().map(String::as_str).chain(labs).collect();
    let own = format!("a place of your own: --environment {OWN}NAME");
    Err(unknown("--environment", text, &known, &names, &own))
}

/// Returns the names in a column of the published figures.
fn of_published(column: impl Fn(&Cell) -> Option<String>) -> BTreeSet<String> {
    let names = published::built_in().into_iter().filter_map(|it| column(&it));
    names.filter(|it| !it.is_empty() && it != "unstated").collect()
}

/// Says that nothing knows a name, and which ones published figures know.
fn unknown(
    flag: &str,
    text: &str,
    known: &BTreeSet<String>,
    names: &[&str],
    other: &str,
) -> UserError {
    let listed: Vec<&str> = known.iter().map(String::as_str).collect();
    // A short form is the begin of a name, or its end: `sta` is no misspelt `ota`.
    let begins = |it: &&&str| text.len() > 1 && it.starts_with(text);
    let ends = |it: &&&str| text.len() > 1 && it.ends_with(text);
    let short = || names.iter().filter(ends).min_by_key(|it| it.len());
    let short = names.iter().filter(begins).min_by_key(|it| it.len()).or_else(short);
    let meant = short.copied().or_else(|| meant(text, names));
    let meant = meant.map_or_else(String::new, |it| format!("did you mean {it}? "));
    UserError::new(format!("there is no {flag} {text}"))
        .because(format!("published figures are of {}", listed.join(", ")))
        .remedy(format!("{meant}{other}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_published_figures_know_and_ones_own_are_taken() {
        for (parse, names) in [
            (
                chip as fn(&str) -> Result<String, UserError>,
                &["esp32", "esp8266", "esp32s3", "host"][..],
            ),
            (mode, &["station", "station-echo", "unicast", "broadcast-3-ack", "softap"]),
            (environment, &["home", "shield-box", "office", "hall", "my-garage", "loopback"]),
        ] {
            for name in names {
                assert_eq!(parse(name).as_deref().ok(), Some(*name));
            }
        }
        for (written, name) in
            [("ESP32-C3", "esp32c3"), ("Esp8266", "esp8266"), ("ESP32", "esp32"), ("HOST", "host")]
        {
            assert_eq!(chip(written).as_deref().ok(), Some(name));
        }
    }

    #[test]
    fn what_was_meant_and_what_there_is_are_told() {
        let wrong = chip("esp33").unwrap_err().to_string();
        assert!(wrong.contains("esp32, esp32c3, esp8266"), "{wrong}");
        let wrong = mode("sta").unwrap_err().to_string();
        assert!(wrong.contains("station-echo") && wrong.contains("--mode station"), "{wrong}");
        assert!(wrong.contains("did you mean station?"), "{wrong}");
        let wrong = mode("ap").unwrap_err().to_string();
        assert!(wrong.contains("did you mean softap?"), "{wrong}");
        let wrong = environment("offcie").unwrap_err().to_string();
        assert!(wrong.contains("did you mean office?") && wrong.contains("my-NAME"), "{wrong}");
        assert!(mode("broadcast-3-ack-ack").is_err());
        assert!(mode("broadcast-x").is_err() && environment("my-").is_err());
    }
}
