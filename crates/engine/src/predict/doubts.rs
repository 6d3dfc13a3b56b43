//! Doubt about the constants behind a charge and a range, by the confidence that their sources state.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_measure::predict::doubt::{ChargeDoubts, DoubtRemark};
use espbench_model::energy::EnergyPart;
use espbench_sim::lab::predict::sleep::SleepMode;
use espbench_sim::lab::profile::{Confidence, ConstantOrigin, Profile, Source};
use espbench_sim::lab::scene::Environment;

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
        // Of a constant without a source nobody says how sure it is.
        let confidence = least.map_or(Confidence::Low, confidence);
        let factor = within(confidence);
        if confidence == Confidence::Low {
            let chip = &profile.chip_name;
            let source = least.map_or("no source is stated", |it| it.text.as_str());
            remarks.push(DoubtRemark {
                parts: parts.into(),
                text: format!(
                    "{what} of the {chip}: low confidence, taken within a factor of {factor} ({source})"
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

/// Factor within which a wall's loss lies that nobody has measured: an assumption. Walls of one material differ in
/// thickness, moisture and what is behind them.
const WALL: f64 = 1.4;

/// Decibels within which lies what the power, the sensitivity and the antennas of two boards make together: an
/// assumption, half of it for each board.
const BOARDS_DB: f64 = 3.0;

/// Decibels of the boards where the sensitivity is inferred.
const INFERRED_DB: f64 = 5.0;

/// Doubts about a range: factors, and decibels on the way, at 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RangeDoubts {
    /// Factor of the path loss exponents.
    pub(super) exponent: f64,
    /// Factor of the shadowing's deviation.
    pub(super) shadowing: f64,
    /// Factor of the loss in walls.
    pub(super) walls: f64,
    /// Decibels of the boards.
    pub(super) boards_db: f64,
}

impl RangeDoubts {
    /// Returns what is not known of ranges in a place, behind walls or not. A wall's loss that somebody has said in
    /// decibels is known.
    pub(super) fn of(
        place: &Environment,
        walls: u8,
        wall_is_said: bool,
        is_inferred: bool,
    ) -> Self {
        let in_table = |table: &str, end: &str| {
            let is_of = |it: &&Source| it.key.starts_with(table) && it.key.ends_with(end);
            place.sources.iter().filter(is_of).map(confidence).min()
        };
        let of = |end: &str| {
            let behind = in_table("behind_walls.", end).filter(|_| walls > 0);
            within(behind.or_else(|| in_table("path_loss.", end)).unwrap_or(Confidence::Low))
        };
        Self {
            // An exponent is what many measurements make together: the root of what a single constant has.
            exponent: libm::sqrt(of("exponent")),
            shadowing: of("shadow_db"),
            walls: if walls == 0 || wall_is_said { 1.0 } else { WALL },
            boards_db: if is_inferred { INFERRED_DB } else { BOARDS_DB },
        }
    }

    /// Says what an interval of ranges holds.
    pub(super) fn words(&self) -> String {
        let Self { exponent, shadowing, walls, boards_db } = self;
        let walls = if *walls > 1.0 { format!(", walls of {walls}") } else { String::new() };
        format!(
            "The interval of a range, at 95 %, is what is not known: the path loss exponent within a factor of \
             {exponent:.2}, the shadowing of {shadowing}{walls}, and power, sensitivity and antennas of both boards \
             within {boards_db} dB together ({INFERRED_DB} dB for Long Range). These are assumptions, by what the \
             sources are worth."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_sim::lab::file::Library;

    #[test]
    fn a_wall_of_which_the_loss_is_said_is_not_in_doubt_and_a_borrowed_sensitivity_is_more() {
        let library = Library::built_in();
        let place = |name: &str| library.environment(name).unwrap().environment;
        let hall = place("hall");
        let of = |walls, said, inferred| RangeDoubts::of(&hall, walls, said, inferred);
        assert_eq!(of(0, false, false).walls, 1.0);
        assert_eq!((of(2, false, false).walls, of(2, true, false).walls), (WALL, 1.0));
        assert!(of(0, false, true).boards_db > of(0, false, false).boards_db);
        assert!(of(2, false, false).words().contains("walls of 1.4"));
        // A Recommendation is worth more than an assumption.
        assert!((of(0, false, false).exponent - libm::sqrt(1.2)).abs() < 1e-12);
        let mut assumed = hall.clone();
        for it in &mut assumed.sources {
            it.origin = Some(ConstantOrigin::Assumed);
        }
        assert!(
            (RangeDoubts::of(&assumed, 0, false, false).exponent - libm::sqrt(1.4)).abs() < 1e-12
        );
    }

    #[test]
    fn constants_without_a_source_are_known_least() {
        let profile = Library::built_in().profile("esp32").unwrap();
        let profile = Profile { sources: Vec::new(), ..Profile::clone(&profile) };
        let doubts = super::of(&profile, SleepMode::Deep, false);
        assert_eq!((doubts.wake_times, doubts.sleep_current), (1.4, 1.4));
        assert!(doubts.remarks.iter().all(|it| it.text.ends_with("(no source is stated)")));
        assert_eq!(doubts.remarks.len(), 4);
    }

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
