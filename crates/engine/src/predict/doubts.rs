//! What is not known of the constants behind a charge, by the confidence that a profile states.

use alloc::format;
use alloc::vec::Vec;
use espbench_measure::predict::doubt::{ChargeDoubts, DoubtRemark};
use espbench_model::energy::EnergyPart;
use espbench_sim::lab::predict::sleep::SleepMode;
use espbench_sim::lab::profile::{Confidence, ConstantOrigin, Profile, Source};

/// Factor within which other people's load lies, of which repetitions come: an assumption.
const FOREIGN_LOAD: f64 = 2.0;

/// Returns the factor within which a constant of that confidence lies, at 95 %: assumptions, the narrowest of
/// which is what datasheets leave between typical and worst.
const fn within(confidence: Confidence) -> f64 {
    match confidence {
        Confidence::High => 1.1,
        Confidence::Medium => 1.2,
        Confidence::Low => 1.4,
    }
}

/// Returns the confidence in a constant: what is stated, or by its origin.
fn confidence(source: &Source) -> Confidence {
    source.confidence.unwrap_or(match source.origin {
        Some(ConstantOrigin::Assumed | ConstantOrigin::ByHand) | None => Confidence::Low,
        Some(_) => Confidence::Medium,
    })
}

/// Returns what is not known of a profile's charge in devices that sleep so, with other people on the air or
/// not.
pub(super) fn of(profile: &Profile, mode: SleepMode, has_others: bool) -> ChargeDoubts {
    use EnergyPart::{Boot, RadioOn, Retries, Send, Sleep, Wake};
    let mut remarks = Vec::new();
    let mut of = |what: &str, parts: &[EnergyPart], keys: &[&str]| {
        let is_of = |it: &&Source| keys.iter().any(|key| it.key.starts_with(key));
        let least = profile.sources.iter().filter(is_of).min_by_key(|it| confidence(it));
        let Some(source) = least else { return 1.0 };
        let factor = within(confidence(source));
        if confidence(source) == Confidence::Low {
            remarks.push(DoubtRemark {
                parts: parts.into(),
                text: format!(
                    "{what} of the {}: low confidence, taken within a factor of {factor} ({})",
                    profile.chip_name, source.text
                ),
            });
        }
        factor
    };
    let wake: &[&str] = if mode == SleepMode::Deep { &["wake."] } else { &["light_sleep."] };
    let sleep: &[&str] = match mode {
        SleepMode::Deep => &["sleep_current.deep_sleep", "sleep_current.flash"],
        SleepMode::Light => &["sleep_current.light_sleep"],
        SleepMode::Modem => &["sleep_current.idle"],
        SleepMode::None => &["current.receive"],
    };
    let wake_times = of("Wake times", &[Wake, Boot, RadioOn], wake);
    let awake_current = of("Currents of the processor", &[Wake, Boot], &["sleep_current.active"]);
    let radio_current = of(
        "Currents of the radio",
        &[RadioOn, Send, Retries],
        &["current.send", "current.receive"],
    );
    let sleep_current = of("Currents between two messages", &[Sleep], sleep);
    let foreign_load = if has_others { FOREIGN_LOAD } else { 1.0 };
    ChargeDoubts { wake_times, awake_current, radio_current, sleep_current, foreign_load, remarks }
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_sim::lab::file::Library;

    /// The ESP32 has a published trace of its wake, and its relatives have that of another chip.
    #[test]
    fn borrowed_wake_times_are_in_doubt_and_said_to_be_borrowed() {
        let library = Library::built_in();
        let of = |name: &str| super::of(&library.profile(name).unwrap(), SleepMode::Deep, true);
        let (esp32, c3) = (of("esp32"), of("esp32c3"));
        assert!(c3.wake_times > esp32.wake_times, "{c3:?}, {esp32:?}");
        assert_eq!(c3.wake_times, 1.4);
        let text = &c3.remarks.iter().find(|it| it.parts.contains(&EnergyPart::Wake)).unwrap().text;
        assert!(text.starts_with("Wake times of the esp32c3: low confidence"), "{text}");
        assert!(text.contains("those of the ESP32-S3"), "{text}");
        assert!(esp32.remarks.iter().all(|it| !it.text.starts_with("Wake")), "{esp32:?}");
        assert_eq!(
            (
                of("esp32c3").foreign_load,
                super::of(&library.profile("esp32c3").unwrap(), SleepMode::Deep, false)
                    .foreign_load
            ),
            (2.0, 1.0)
        );
    }
}
