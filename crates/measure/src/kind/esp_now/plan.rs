//! Values of a plan's keys: how packets are sent, how far the devices are, and the report's usual ones.

use crate::plan::{metres, word_of};
use alloc::format;
use alloc::string::String;
use core::time::Duration;
use espbench_model::overrides::LabOverrides;
use espbench_model::workload::{EspNow, EspNowCast, EspNowTest};

/// Largest payload of an application message (`ESPNOW_DATA_LEN` less the component's head), and
/// of an encrypted one, which loses four bytes to the tag: docs/esp-now.md.
pub(super) const PAYLOAD: u32 = 230;
pub(super) const SEALED: u32 = 226;
/// A message of `espnow_iperf` begins with its type and its number.
pub(super) const LEAST: u32 = 8;
/// Bytes of the report's image.
pub(super) const IMAGE: u32 = 1_029_248;
/// The partition of the largest flash that ESP-IDF's table tool makes is smaller.
pub(super) const LARGEST_IMAGE: u64 = 16 << 20;

/// The report's round trips: unicast at 3 m.
pub(in crate::kind) const DEFAULT: EspNow = EspNow {
    test: EspNowTest::Ping,
    cast: EspNowCast::Unicast,
    size: PAYLOAD,
    count: 10_000,
    time: Duration::from_secs(60),
    devices: 1,
    distance_m: (3.0, 3.0),
    encrypted: false,
    lab: LabOverrides::NONE,
};

/// Returns how often the report does a test's packet, ping or encryption.
pub(super) const fn usual_count(test: EspNowTest) -> u32 {
    match test {
        EspNowTest::OneWay => 10,
        EspNowTest::MultiPing => 100,
        _ => DEFAULT.count,
    }
}

/// Returns whether a test is with many devices at once.
pub(crate) const fn serves_many(test: EspNowTest) -> bool {
    !matches!(
        test,
        EspNowTest::OneWay | EspNowTest::Ping | EspNowTest::Throughput | EspNowTest::Crypto
    )
}

/// Returns the word of a plan for a test.
pub(crate) fn test_name(test: EspNowTest) -> &'static str {
    word_of(&TESTS, test)
}

/// The names of the tests.
pub(super) const TESTS: [(&str, EspNowTest); 8] = [
    ("one-way", EspNowTest::OneWay),
    ("ping", EspNowTest::Ping),
    ("throughput", EspNowTest::Throughput),
    ("crypto", EspNowTest::Crypto),
    ("multi-ping", EspNowTest::MultiPing),
    ("ota", EspNowTest::Ota),
    ("handshake", EspNowTest::Handshake),
    ("provisioning", EspNowTest::Provisioning),
];

/// Checks that the cast is the default: tests that serve many devices send as their protocols
/// demand.
pub(super) fn check_cast(cast: EspNowCast, test: &str) -> Result<(), String> {
    if cast == DEFAULT.cast {
        return Ok(());
    }
    Err(format!("`{test}` sends as its protocol has it: leave out `cast`"))
}

/// Parses `3 m`, or `0.5 m to 1 m`.
pub(super) fn distance(text: &str) -> Result<(f32, f32), String> {
    let Some((near, far)) = text.split_once(" to ") else {
        return metres(text)
            .map(|metres| (metres, metres))
            .map_err(|e| format!("{e}; or a range such as \"0.5 m to 1 m\""));
    };
    let (near, far) = (metres(near)?, metres(far)?);
    if near > far {
        return Err(format!("the nearer end {near} m is farther than the other, {far} m"));
    }
    Ok((near, far))
}

/// Prints the distance as a plan says it.
pub(super) fn print_distance((near, far): (f32, f32)) -> String {
    if near == far { format!("{near} m") } else { format!("{near} m to {far} m") }
}
