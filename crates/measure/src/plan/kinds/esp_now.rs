//! Keys of `esp-now`: one cell of Espressif's ESP-NOW test report.

use super::{DAY, Kind, name, seconds};
use crate::plan::print::quoted;
use crate::plan::read::Scalar;
use crate::units::{self, Dimension};
use alloc::format;
use alloc::string::{String, ToString};
use core::time::Duration;
use espbench_model::workload::{EspNow, EspNowCast, EspNowTest};

/// Largest payload of an application message (`ESPNOW_DATA_LEN` less the component's head), and
/// of an encrypted one, which loses four bytes to the tag: docs/esp-now.md.
const PAYLOAD: u32 = 230;
const SEALED: u32 = 226;
/// A message of `espnow_iperf` begins with its type and its number.
const LEAST: u32 = 8;
/// Copies that the component's header has room to say: five bits.
const COPIES: u8 = 31;
/// Bytes of the report's image.
const IMAGE: u32 = 1_029_248;
/// The partition of the largest flash that ESP-IDF's table tool makes is smaller.
const LARGEST_IMAGE: u64 = 16 << 20;

/// The report's round trips: unicast at 3 m.
pub(super) const DEFAULT: EspNow = EspNow {
    test: EspNowTest::Ping,
    cast: EspNowCast::Unicast,
    size: PAYLOAD,
    count: 10_000,
    time: Duration::from_secs(60),
    devices: 1,
    distance_m: (3.0, 3.0),
    encrypted: false,
};

/// How often the report does a test's packet, ping or encryption.
#[must_use]
pub const fn usual_count(test: EspNowTest) -> u32 {
    match test {
        EspNowTest::OneWay => 10,
        EspNowTest::MultiPing => 100,
        _ => DEFAULT.count,
    }
}

/// Bytes of the report's image.
#[must_use]
pub const fn usual_image() -> u32 {
    IMAGE
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

impl Kind for EspNow {
    const KEYS: &'static [&'static str] =
        &["test", "cast", "size", "count", "time", "devices", "distance", "encrypted"];

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        match key {
            "test" => self.test = value.word(&TESTS)?,
            "cast" => self.cast = cast(value.text()?)?,
            "size" => self.size = value.bytes(1..=LARGEST_IMAGE)? as u32,
            "count" => self.count = value.int(1..=100_000_000)? as u32,
            "time" => self.time = seconds(value, Duration::from_millis(10)..=DAY)?,
            "devices" => self.devices = value.int(1..=65_535)? as u16,
            "distance" => self.distance_m = distance(value.text()?)?,
            _ => self.encrypted = value.bool()?,
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "test" => quoted(name(&TESTS, self.test)),
            "cast" => quoted(&print_cast(self.cast)),
            "size" => self.size.to_string(),
            "count" => self.count.to_string(),
            "time" => quoted(&units::print_duration(self.time)),
            "devices" => self.devices.to_string(),
            "distance" => quoted(&print_distance(self.distance_m)),
            _ => self.encrypted.to_string(),
        })
    }

    /// The report's counts and sizes, where a plan leaves them to the test.
    fn complete(&mut self, named: &[&str]) {
        if !named.contains(&"count") {
            self.count = usual_count(self.test);
        }
        if !named.contains(&"size") {
            self.size = match self.test {
                EspNowTest::Ota => IMAGE,
                EspNowTest::Crypto => SEALED,
                _ if self.encrypted => SEALED,
                _ => PAYLOAD,
            };
        }
        // What is timed there is the encryption.
        if self.test == EspNowTest::Crypto && !named.contains(&"encrypted") {
            self.encrypted = true;
        }
    }

    fn check(&self) -> Result<(), String> {
        let test = name(&TESTS, self.test);
        match self.test {
            EspNowTest::Ota | EspNowTest::Handshake | EspNowTest::Provisioning => {
                return check_cast(self.cast, test);
            }
            EspNowTest::Crypto if !self.encrypted => {
                return Err("a `crypto` test encrypts: leave out `encrypted`".into());
            }
            EspNowTest::OneWay | EspNowTest::Ping | EspNowTest::Throughput if self.devices > 1 => {
                return Err(format!(
                    "`{test}` is between two devices: leave out `devices`, or set \
                     test = \"multi-ping\""
                ));
            }
            _ => {}
        }
        let largest = if self.encrypted { SEALED } else { PAYLOAD };
        if !(LEAST..=largest).contains(&self.size) {
            let sealed = if self.encrypted { " of an encrypted message" } else { "" };
            return Err(format!("the payload{sealed} is {LEAST} to {largest} bytes: set `size`"));
        }
        Ok(())
    }
}

/// The tests that serve many devices send as their protocols have it.
fn check_cast(cast: EspNowCast, test: &str) -> Result<(), String> {
    if cast == DEFAULT.cast {
        return Ok(());
    }
    Err(format!("`{test}` sends as its protocol has it: leave out `cast`"))
}

/// Reads `unicast`, `broadcast`, `broadcast 3` or `broadcast 3 + ack`.
///
/// # Errors
/// A sentence that names these forms.
pub fn cast(text: &str) -> Result<EspNowCast, String> {
    const FORMS: &str = "use \"unicast\", \"broadcast\", \"broadcast 3\" or \"broadcast 3 + ack\"";
    if text == "unicast" {
        return Ok(EspNowCast::Unicast);
    }
    let wrong = || format!("`{text}` is no way to send: {FORMS}");
    let rest = text.strip_prefix("broadcast").ok_or_else(wrong)?;
    let (copies, ack) = match rest.split_once('+') {
        Some((copies, word)) if word.trim() == "ack" => (copies.trim(), true),
        Some(_) => return Err(wrong()),
        None => (rest.trim(), false),
    };
    let copies = match copies {
        "" => 0,
        digits if rest.starts_with(' ') => digits
            .parse()
            .ok()
            .filter(|n| (1..=COPIES).contains(n))
            .ok_or_else(|| format!("`{digits}` copies: {FORMS}; up to {COPIES} copies"))?,
        _ => return Err(wrong()),
    };
    Ok(EspNowCast::Broadcast { copies, ack })
}

/// How packets are sent, as a plan says it.
#[must_use]
pub fn print_cast(cast: EspNowCast) -> String {
    match cast {
        EspNowCast::Unicast => "unicast".into(),
        EspNowCast::Broadcast { copies, ack } => {
            let copies = if copies > 0 { format!(" {copies}") } else { String::new() };
            format!("broadcast{copies}{}", if ack { " + ack" } else { "" })
        }
    }
}

/// `3 m`, or `0.5 m to 1 m`.
fn distance(text: &str) -> Result<(f32, f32), String> {
    let one = |text: &str| {
        let metres = units::parse(text, Dimension::Length)? as f32;
        if (0.01..=100_000.0).contains(&metres) {
            Ok(metres)
        } else {
            Err(format!("`{text}` is out of range: use 0.01 m to 100 km"))
        }
    };
    let Some((near, far)) = text.split_once(" to ") else {
        return one(text)
            .map(|metres| (metres, metres))
            .map_err(|e| format!("{e}; or a range such as \"0.5 m to 1 m\""));
    };
    let (near, far) = (one(near)?, one(far)?);
    if near > far {
        return Err(format!("the nearer end {near} m is farther than the other, {far} m"));
    }
    Ok((near, far))
}

/// The distance as a plan says it.
#[must_use]
pub fn print_distance((near, far): (f32, f32)) -> String {
    if near == far { format!("{near} m") } else { format!("{near} m to {far} m") }
}
