//! Settings of a firmware.

use espbench_measure::tune::check::{CheckInput, check};
use espbench_model::sdkconfig::memory::Traffic;
use espbench_model::sdkconfig::{Chip, IdfRelease, Line, SdkContext, fragment, read};
use std::time::Duration;

/// Reads a file, and checks it against the settings that the first bytes choose. An error has a
/// place in the text; a file without errors can be written and read again.
pub fn sdkconfig(data: &[u8]) {
    let [kind, streams, rest @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let reading = match read(text) {
        Ok(reading) => reading,
        Err(wrong) => {
            let line = text.split('\n').nth(wrong.line.wrapping_sub(1)).expect("a line");
            assert!((1..=line.chars().count() + 1).contains(&wrong.column), "{wrong}");
            return;
        }
    };
    let release = reading.release.unwrap_or(IdfRelease::new(4 + kind % 3, kind / 64));
    let mut out = String::new();
    let comment = text.lines().next().unwrap_or_default();
    let lines = reading.settings.given().map(|(key, value)| Line { key, value, comment });
    fragment(&mut out, release, lines).expect("a string takes all");
    assert_eq!(read(&out).expect("it was written").settings, reading.settings);
    let question = CheckInput {
        chip_is_said: true,
        file: "any".into(),
        context: SdkContext {
            chip: reading.chip.unwrap_or(Chip::ALL[usize::from(*kind) % Chip::ALL.len()]),
            release,
            psram: kind & 1 != 0,
            window_scale: kind & 2 != 0,
        },
        reading,
        traffic: Traffic { streams: u16::from(*streams), udp_sockets: u16::from(kind & 7) },
        rtt: Duration::from_millis(u64::from(*streams) + 1).into(),
        burst: (kind & 4 != 0).then_some(u32::from(*streams) + 1),
        heap: (kind & 8 != 0).then_some(u64::from(*streams) << 12),
    };
    let checked = check(&question);
    assert!(checked.findings.is_sorted_by_key(|it| it.severity));
    assert!(checked.bound_mbit_s.iter().all(|it| it.is_finite()));
}
