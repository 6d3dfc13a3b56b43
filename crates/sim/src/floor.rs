//! Lower bounds for the ESP-NOW test report of Espressif: the time that the work of a cell takes at
//! its PHY rate with no waste. A figure exceeds its bound by the cost of the implementation:
//! processors, copies, waits, collisions.
//!
//! # Rules
//!
//! - Each frame that the work needs counts once: no further copies of a broadcast, no retries.
//! - SIFS and the ACK after a unicast frame count: they belong to its exchange (IEEE 802.11-2020,
//!   10.3.2.11).
//! - DIFS and back-off do not count. A medium that has been idle for DIFS may be used at once
//!   (10.3.4.2), and any further wait is for the sake of others.
//! - Time of a processor, of flash or of a console does not count.
//!
//! | test | frames |
//! |---|---|
//! | one way | the packet |
//! | round trip | ping (with its ACK if unicast; with the component's own if asked for) and answer |
//! | at once | as a round trip; by unicast n times: see [below](self#many-devices-at-once) |
//! | throughput | a message (with its ACK) after the other |
//! | encryption | none: all of its time is the processor's |
//! | OTA | GROUP, STATUS, the image once, a STATUS of each device |
//! | handshake | REQUEST, INFO of each device, GROUP, Cmd0; for each device Resp0, Cmd1, Resp1, KEY and its answer |
//! | provisioning | BEACON; for each device DEVICE and WIFI. Joining the network afterwards is not counted |
//!
//! The frames have the length that the firmware's release gives them, and the mode of the cell's
//! devices ([`EspNowParams`]); if devices differ in that, the fastest of their modes, which gives
//! the lower bound.
//!
//! # Many devices at once
//!
//! Each of n devices always has one ping outstanding. By Little's law (1961, "A proof for the
//! queuing formula L = λW") the mean round trip is then n over the rate of round trips, and that
//! rate is at most one in the time of an exchange: so the bound of mean and maximum is n exchanges.
//! For this every device must have a ping outstanding all the time, as with unicast, where the MAC
//! repeats collided frames. With broadcast, a device waits 3 s for a lost ping and asks for nothing
//! meanwhile, so that only one exchange can be counted.

pub mod wifi;

use crate::lab::record::Record;
use crate::lab::scene::Scene;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use esp_now::component::group::MEMBERS_MAX;
use esp_now::component::ota::{CHUNK_HEAD, STATUS_LEN};
use esp_now::component::{Compat, ComponentRelease, HEADER_LEN, Idf, prov};
use esp_now::frame::mpdu_len;
use espbench_dot11::radio::airtime::{ACK_OCTETS, airtime};
use espbench_dot11::radio::timing::SIFS_NS;
use espbench_dot11::radio::{BasicRates, WifiMode};
use espbench_model::workload::{EspNow, EspNowCast, EspNowTest, PHY_MODE};

/// The bytes of the handshake's messages with type and length (protocomm's security 1 in protobuf):
/// REQUEST, INFO, Cmd0, Resp0, Cmd1, Resp1, and KEY and its answer.
const REQUEST: usize = 1;
const INFO: usize = 8;
const CMD0: usize = 2 + 41;
const RESP0: usize = 2 + 61;
const CMD1: usize = 2 + 43;
const RESP1: usize = 2 + 43;
const KEY: usize = 2 + 32;
/// The bytes of GROUP without its members, and of a member.
const GROUP: usize = 8;
const MEMBER: usize = 6;

/// A metric of `reference/published.csv`, or one that stands beside it, and its bound in the
/// metric's unit.
pub type PhyBound = (&'static str, f64);

/// The names of the facts of a cell that hold the releases of its firmware.
const RELEASE: &str = "esp-now-release";
const IDF: &str = "esp-idf-release";

/// The settings of a cell on which its bound depends, beside the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EspNowParams {
    /// The mode of frames.
    pub mode: WifiMode,
    /// The release of the component.
    pub release: ComponentRelease,
    /// The release of ESP-IDF.
    pub idf: Idf,
}

impl EspNowParams {
    /// The settings of the report: ESP-NOW's default rate, and a release of the component before
    /// 2.3 on ESP-IDF 4.4.1.
    pub const REPORT: Self =
        Self { mode: WifiMode::ESP_NOW, release: ComponentRelease::V2_0, idf: Idf::V4_4 };

    /// Records the settings of a cell as facts.
    pub fn note(scene: &Scene, record: &mut dyn Record) {
        let mut modes: Vec<WifiMode> = scene.nodes.iter().map(|device| device.mode).collect();
        modes.sort_unstable();
        modes.dedup();
        let modes: Vec<String> = modes.iter().map(ToString::to_string).collect();
        record.fact(PHY_MODE, modes.join(", "));
        if let Some(first) = scene.nodes.first() {
            let compat = first.settings.compat;
            record.fact(RELEASE, compat.release.name().into());
            record.fact(IDF, compat.idf.name().into());
        }
    }

    /// Returns the settings in a cell's facts; missing ones are those of the report.
    #[must_use]
    pub fn from_facts<'a>(fact: impl Fn(&str) -> Option<&'a str>) -> Self {
        fn named<T: Copy>(all: &[(&str, T)], name: Option<&str>) -> Option<T> {
            all.iter().find(|it| Some(it.0) == name).map(|it| it.1)
        }
        let modes = fact(PHY_MODE).into_iter().flat_map(|all| all.split(", "));
        let modes = modes.filter_map(|mode| mode.parse().ok());
        let fastest = modes.min_by_key(|mode| airtime(*mode, mpdu_len(HEADER_LEN) as u32));
        Self {
            mode: fastest.unwrap_or(Self::REPORT.mode),
            release: named(&ComponentRelease::NAMED, fact(RELEASE)).unwrap_or(Self::REPORT.release),
            idf: named(&Idf::NAMED, fact(IDF)).unwrap_or(Self::REPORT.idf),
        }
    }

    const fn compat(self, work: &EspNow) -> Compat {
        Compat {
            release: self.release,
            idf: self.idf,
            app_security: work.encrypted,
            auto_channel: false,
        }
    }
}

/// Returns the bounds of a cell's figures: lower bounds of times, upper bounds of throughputs.
#[must_use]
pub fn of(work: &EspNow, means: EspNowParams) -> Vec<PhyBound> {
    let (air, compat) = (FrameTimes { mode: means.mode }, means.compat(work));
    let sealed = if work.encrypted { compat.seal_overhead() } else { 0 };
    let message = work.size as usize + sealed;
    let (ms, seconds) = (|ns: u64| ns as f64 / 1e6, |ns: u64| ns as f64 / 1e9);
    match work.test {
        EspNowTest::OneWay => {
            let floor = ms(air.broadcast(message));
            ["latency_min", "latency_avg", "latency_max"].map(|metric| (metric, floor)).into()
        }
        EspNowTest::Ping => times(ms(air.round_trip(work.cast, message)), 1.0),
        EspNowTest::MultiPing => {
            let once = ms(air.round_trip(work.cast, message));
            // The answer is acknowledged, too, before the device can go on.
            let exchange = 2.0 * ms(air.unicast(message));
            match work.cast {
                EspNowCast::Unicast => times(once, f64::from(work.devices) * exchange / once),
                EspNowCast::Broadcast { .. } => times(once, 1.0),
            }
        }
        EspNowTest::Throughput => {
            let bits = f64::from(work.size) * 8.0;
            let rate = bits * 1e3 / air.sent(work.cast, message) as f64;
            ["throughput", "throughput_sent", "throughput_received"]
                .map(|metric| (metric, rate))
                .into()
        }
        EspNowTest::Crypto => {
            ["encrypt_time", "decrypt_time", "encrypt_time_exact", "decrypt_time_exact"]
                .map(|metric| (metric, 0.0))
                .into()
        }
        EspNowTest::Ota => {
            let floor = seconds(ota(&air, work, compat));
            ["ota_time", "ota_time_exact"].map(|metric| (metric, floor)).into()
        }
        EspNowTest::Handshake => [("handshake_time", seconds(handshake(&air, work)))].into(),
        EspNowTest::Provisioning => {
            [("provisioning_time", seconds(provisioning(&air, work, compat)))].into()
        }
    }
}

/// Returns the bounds of round trips: the smallest is one; mean and largest are `many` times that.
fn times(once: f64, many: f64) -> Vec<PhyBound> {
    let loaded = once * many.max(1.0);
    [
        ("rtt_min", once),
        ("rtt_avg", loaded),
        ("rtt_max", loaded),
        ("rtt_exact_min", once),
        ("rtt_exact_avg", loaded),
        ("rtt_exact_max", loaded),
    ]
    .into()
}

fn ota(air: &FrameTimes, work: &EspNow, compat: Compat) -> u64 {
    let packets = u64::from(work.size).div_ceil(compat.ota_chunk() as u64);
    air.broadcast(GROUP + MEMBER)
        + air.broadcast(STATUS_LEN)
        + packets * air.broadcast(CHUNK_HEAD + compat.ota_chunk())
        + u64::from(work.devices) * air.unicast(STATUS_LEN)
}

fn handshake(air: &FrameTimes, work: &EspNow) -> u64 {
    let devices = usize::from(work.devices);
    let full = devices / MEMBERS_MAX;
    let rest = devices % MEMBERS_MAX;
    let group = |members: usize| air.broadcast(GROUP + MEMBER * members);
    let groups = full as u64 * group(MEMBERS_MAX) + if rest > 0 { group(rest) } else { 0 };
    let each: u64 = [INFO, RESP0, CMD1, RESP1, KEY, KEY].iter().map(|&len| air.unicast(len)).sum();
    air.broadcast(REQUEST) + groups + air.broadcast(CMD0) + devices as u64 * each
}

fn provisioning(air: &FrameTimes, work: &EspNow, compat: Compat) -> u64 {
    let len = prov::wifi_len(compat);
    let each = air.unicast(len) + air.broadcast(len);
    air.broadcast(prov::BEACON_LEN) + u64::from(work.devices) * each
}

/// The air time of frames, in nanoseconds.
struct FrameTimes {
    mode: WifiMode,
}

impl FrameTimes {
    /// Returns the air time of a broadcast frame with a payload of that many bytes.
    fn broadcast(&self, payload: usize) -> u64 {
        airtime(self.mode, mpdu_len(HEADER_LEN + payload) as u32)
    }

    /// Returns the air time of a unicast frame, with its ACK.
    fn unicast(&self, payload: usize) -> u64 {
        self.broadcast(payload)
            + SIFS_NS
            + airtime(BasicRates::NONE.response_to(self.mode), ACK_OCTETS)
    }

    /// Returns the time of a message until the next may begin.
    fn sent(&self, cast: EspNowCast, payload: usize) -> u64 {
        match cast {
            EspNowCast::Unicast => self.unicast(payload),
            EspNowCast::Broadcast { ack: false, .. } => self.broadcast(payload),
            EspNowCast::Broadcast { ack: true, .. } => self.broadcast(payload) + self.broadcast(0),
        }
    }

    /// Returns the time of a ping until its answer is there; the answer's own acknowledgement comes
    /// later.
    fn round_trip(&self, cast: EspNowCast, payload: usize) -> u64 {
        self.sent(cast, payload) + self.broadcast(payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::file::{Library, Overrides};
    use core::time::Duration;
    use espbench_dot11::radio::mode::{ChannelWidth, GuardInterval, Hr, Mcs};

    const TWO: EspNow = EspNow {
        test: EspNowTest::OneWay,
        cast: EspNowCast::Broadcast { copies: 0, ack: false },
        size: 230,
        count: 10,
        time: Duration::from_secs(60),
        devices: 1,
        distance_m: (3.0, 3.0),
        encrypted: false,
    };

    fn floor(work: &EspNow, metric: &str) -> f64 {
        let floors = of(work, EspNowParams::REPORT);
        let found = floors.iter().find(|(name, _)| *name == metric);
        found.unwrap_or_else(|| panic!("no {metric}")).1
    }

    #[track_caller]
    fn near(got: f64, wanted: f64) {
        assert!((got - wanted).abs() < 1e-9 * wanted, "{got}, wanted {wanted}");
    }

    /// Checks one device: 192 us and 8 us for each of 43 + 20 + payload octets; 10 + 304 us for the
    /// ACK.
    #[test]
    fn one_device_at_1_mbit() {
        near(floor(&TWO, "latency_min"), 2.536);
        near(floor(&EspNow { size: 10, ..TWO }, "latency_avg"), 0.776);
        // The tag makes 226 bytes as long as 230.
        near(floor(&EspNow { size: 226, encrypted: true, ..TWO }, "latency_max"), 2.536);
        let ping = EspNow { test: EspNowTest::Ping, ..TWO };
        near(floor(&ping, "rtt_avg"), 5.072);
        near(floor(&EspNow { cast: EspNowCast::Unicast, ..ping }, "rtt_exact_min"), 5.386);
        let acked = EspNowCast::Broadcast { copies: 3, ack: true };
        near(floor(&EspNow { cast: acked, ..ping }, "rtt_max"), 5.072 + 0.696);
        let stream = EspNow { test: EspNowTest::Throughput, ..TWO };
        near(floor(&stream, "throughput"), 1840.0 / 2536.0);
        near(floor(&EspNow { cast: EspNowCast::Unicast, ..stream }, "throughput"), 1840.0 / 2850.0);
        near(floor(&EspNow { cast: acked, ..stream }, "throughput"), 1840.0 / 3232.0);
        let crypto = EspNow { test: EspNowTest::Crypto, encrypted: true, ..TWO };
        assert_eq!(floor(&crypto, "encrypt_time"), 0.0);
    }

    #[test]
    fn many_devices() {
        let pings = EspNow { test: EspNowTest::MultiPing, devices: 100, ..TWO };
        near(floor(&pings, "rtt_avg"), 5.072);
        let unicast = EspNow { cast: EspNowCast::Unicast, ..pings };
        near(floor(&unicast, "rtt_min"), 5.386);
        near(floor(&unicast, "rtt_avg"), 570.0);
        // 1,029,248 bytes in 4555 chunks of 226: 192 + 8 x (63 + 230) us each.
        let ota = EspNow { test: EspNowTest::Ota, size: 1_029_248, devices: 100, ..unicast };
        let status = 0.192 + 0.008 * 93.0;
        let group = 0.192 + 0.008 * 77.0;
        let whole = group + status + 4555.0 * 2.536 + 100.0 * (status + 0.314);
        near(floor(&ota, "ota_time"), whole / 1e3);
        // 100 devices are 32 + 32 + 32 + 4 members.
        let frame = |payload: f64| 0.192 + 0.008 * (63.0 + payload);
        let lens = [8.0, 63.0, 45.0, 45.0, 34.0, 34.0];
        let each: f64 = lens.iter().map(|len| frame(*len) + 0.314).sum();
        let groups = 3.0 * frame(200.0) + frame(32.0);
        let handshake = EspNow { test: EspNowTest::Handshake, ..ota };
        near(
            floor(&handshake, "handshake_time"),
            (frame(1.0) + groups + frame(43.0) + 100.0 * each) / 1e3,
        );
        let provisioning = EspNow { test: EspNowTest::Provisioning, devices: 2, ..ota };
        let pair = 2.0 * frame(170.0) + 0.314;
        near(floor(&provisioning, "provisioning_time"), (frame(33.0) + 2.0 * pair) / 1e3);
    }

    #[test]
    fn a_faster_rate_has_a_lower_floor() {
        let fast = EspNowParams { mode: WifiMode::Hr(Hr::M11), ..EspNowParams::REPORT };
        assert!(of(&TWO, fast)[0].1 < of(&TWO, EspNowParams::REPORT)[0].1 / 5.0);
    }

    #[test]
    fn a_later_release_sends_more_of_an_image_and_longer_tags() {
        let later = EspNowParams { release: ComponentRelease::V2_5_3, ..EspNowParams::REPORT };
        let image = EspNow { test: EspNowTest::Ota, size: 1_029_248, ..TWO };
        assert!(
            of(&image, later)[0].1 > of(&image, EspNowParams::REPORT)[0].1,
            "chunks of 224, not 226"
        );
        let sealed = EspNow { encrypted: true, size: 100, ..TWO };
        near(of(&sealed, later)[0].1 - of(&sealed, EspNowParams::REPORT)[0].1, 0.064);
    }

    #[test]
    fn a_cell_keeps_what_it_was_done_with() {
        struct FactList(Vec<(String, String)>);
        impl Record for FactList {
            fn sample(&mut self, _: espbench_model::sample::Sample) {}
            fn count(&mut self, _: &str, _: u64) {}
            fn fact(&mut self, name: &str, value: String) {
                self.0.push((name.into(), value));
            }
        }
        let mut scene = Library::built_in().scene("two-boards", &Overrides::from(&TWO), 1).unwrap();
        let mut told = |faster: Option<WifiMode>| {
            scene.nodes[1].mode = faster.unwrap_or(scene.nodes[1].mode);
            let mut facts = FactList(Vec::new());
            EspNowParams::note(&scene, &mut facts);
            let found =
                |name: &str| facts.0.iter().find(|fact| fact.0 == name).map(|fact| fact.1.as_str());
            (EspNowParams::from_facts(found), String::from(found(PHY_MODE).unwrap()))
        };
        // The component of the two boards is older than most of the report's.
        let usual = EspNowParams { release: ComponentRelease::Mid2022, ..EspNowParams::REPORT };
        assert_eq!(told(None), (usual, "1M".into()));
        // The fastest mode gives the bound.
        let fast = WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Long);
        assert_eq!(
            told(Some(fast)),
            (EspNowParams { mode: fast, ..usual }, "1M, HT20-MCS7".into())
        );
        assert_eq!(EspNowParams::from_facts(|_| None), EspNowParams::REPORT);
        assert_eq!(EspNowParams::from_facts(|_| Some("no such")), EspNowParams::REPORT);
    }
}
