//! Theoretical limits of the ESP-NOW test report of Espressif; [`limit`](crate::limit) gives the rules.
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
//! devices ([`EspNowParams`]); if devices differ in that, the fastest of their modes, with which all
//! takes the least time.
//!
//! # Many devices at once
//!
//! Each of n devices always has one ping outstanding. By Little's law (1961, "A proof for the
//! queuing formula L = λW") the mean round trip is then n over the rate of round trips, and that
//! rate is at most one in the time of an exchange: so the limit of mean and maximum is n exchanges.
//! For this every device must have a ping outstanding all the time, as with unicast, where the MAC
//! repeats collided frames. With broadcast, a device waits 3 s for a lost ping and asks for nothing
//! meanwhile, so that only one exchange can be counted; by unicast this time is taken off for each ping that was lost.

use crate::limit::TheoreticalLimit;
use crate::live::FateCounts;
use crate::run::{self, Recorded};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use esp_now::component::group::MEMBERS_MAX;
use esp_now::component::ota::{CHUNK_HEAD, STATUS_LEN};
use esp_now::component::{Compat, ComponentRelease, HEADER_LEN, Idf, prov};
use esp_now::frame::mpdu_len;
use espbench_dot11::radio::airtime::{ACK_OCTETS, airtime};
use espbench_dot11::radio::name::ESP_NOW_PHY_MODES;
use espbench_dot11::radio::timing::SIFS_NS;
use espbench_dot11::radio::{BasicRates, WifiMode};
use espbench_model::fact;
use espbench_model::workload::{EspNow, EspNowCast, EspNowTest};

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

/// The name of a metric, and its limit in the metric's unit.
type MetricLimit = (&'static str, f64);

/// The settings of a cell on which its limits depend, beside the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EspNowParams {
    /// The mode of frames.
    mode: WifiMode,
    /// The release of the component.
    release: ComponentRelease,
    /// The release of ESP-IDF.
    idf: Idf,
}

impl EspNowParams {
    /// The settings of the report: ESP-NOW's default rate, and a release of the component before
    /// 2.3 on ESP-IDF 4.4.1.
    const REPORT: Self =
        Self { mode: WifiMode::ESP_NOW, release: ComponentRelease::V2_0, idf: Idf::V4_4 };

    /// Returns the settings in a cell's facts; missing ones are those of the report.
    fn from_facts(facts: &BTreeMap<String, String>) -> Self {
        fn named<T: Copy>(all: &[(&str, T)], name: Option<&str>) -> Option<T> {
            all.iter().find(|it| Some(it.0) == name).map(|it| it.1)
        }
        let told = |name: &str| facts.get(name).map(String::as_str);
        let modes = run::told(facts, ESP_NOW_PHY_MODES).unwrap_or_default().0.into_iter();
        let fastest = modes.min_by_key(|mode| airtime(*mode, mpdu_len(HEADER_LEN) as u32));
        Self {
            mode: fastest.unwrap_or(Self::REPORT.mode),
            release: named(&ComponentRelease::NAMED, told(fact::ESP_NOW_RELEASE))
                .unwrap_or(Self::REPORT.release),
            idf: named(&Idf::NAMED, told(fact::IDF_RELEASE)).unwrap_or(Self::REPORT.idf),
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

/// Returns the limits of a cell's figures: ours with the settings that its facts name, the published
/// with those of the report.
///
/// A device whose ping is lost is idle for [`PATIENCE_MS`], in which the others have the channel: what that is for each ping that
/// came is taken off the limit of several devices' mean, which is at least one exchange.
pub(super) fn limits(work: &EspNow, recorded: &Recorded) -> Vec<TheoreticalLimit> {
    let ours = of(work, EspNowParams::from_facts(&recorded.facts));
    let once = ours.iter().find(|it| it.0 == "rtt_min").map_or(0.0, |it| it.1);
    let idle = idle_ms(work, recorded);
    let pairs = ours.into_iter().zip(of(work, EspNowParams::REPORT));
    pairs
        .map(|((metric, ours), (_, published))| {
            let ours = if idle > 0.0 { (ours - idle).max(once.min(ours)) } else { ours };
            TheoreticalLimit { metric, ours, published }
        })
        .collect()
}

/// Time for which a device waits for a ping that is lost, in milliseconds.
const PATIENCE_MS: f64 = 3000.0;

/// Returns the time in milliseconds for which devices were idle, for each ping that came; 0 of other tests.
fn idle_ms(work: &EspNow, recorded: &Recorded) -> f64 {
    if work.test != EspNowTest::MultiPing {
        return 0.0;
    }
    let fates = FateCounts::of(&recorded.samples);
    let lost = (fates.lost + fates.late) as f64;
    if lost > 0.0 { PATIENCE_MS * lost / fates.delivered.max(1) as f64 } else { 0.0 }
}

fn of(work: &EspNow, params: EspNowParams) -> Vec<MetricLimit> {
    let (air, compat) = (FrameTimes { mode: params.mode }, params.compat(work));
    let sealed = if work.encrypted { compat.seal_overhead() } else { 0 };
    let message = work.size as usize + sealed;
    let (ms, seconds) = (|ns: u64| ns as f64 / 1e6, |ns: u64| ns as f64 / 1e9);
    match work.test {
        EspNowTest::OneWay => {
            let limit = ms(air.broadcast(message));
            ["latency_min", "latency_avg", "latency_max"].map(|metric| (metric, limit)).into()
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
            let limit = seconds(ota(&air, work, compat));
            ["ota_time", "ota_time_exact"].map(|metric| (metric, limit)).into()
        }
        EspNowTest::Handshake => [("handshake_time", seconds(handshake(&air, work)))].into(),
        EspNowTest::Provisioning => {
            [("provisioning_time", seconds(provisioning(&air, work, compat)))].into()
        }
    }
}

/// Returns the limits of round trips: the smallest is one; mean and largest are `many` times that.
fn times(once: f64, many: f64) -> Vec<MetricLimit> {
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
    use core::time::Duration;
    use espbench_dot11::radio::mode::{ChannelWidth, GuardInterval, Hr, Mcs};
    use espbench_model::overrides::LabOverrides;

    const TWO: EspNow = EspNow {
        test: EspNowTest::OneWay,
        cast: EspNowCast::Broadcast { copies: 0, ack: false },
        size: 230,
        count: 10,
        time: Duration::from_secs(60),
        devices: 1,
        distance_m: (3.0, 3.0),
        encrypted: false,
        lab: LabOverrides::NONE,
    };

    fn limit(work: &EspNow, metric: &str) -> f64 {
        let limits = of(work, EspNowParams::REPORT);
        let found = limits.iter().find(|(name, _)| *name == metric);
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
        near(limit(&TWO, "latency_min"), 2.536);
        near(limit(&EspNow { size: 10, ..TWO }, "latency_avg"), 0.776);
        // The tag makes 226 bytes as long as 230.
        near(limit(&EspNow { size: 226, encrypted: true, ..TWO }, "latency_max"), 2.536);
        let ping = EspNow { test: EspNowTest::Ping, ..TWO };
        near(limit(&ping, "rtt_avg"), 5.072);
        near(limit(&EspNow { cast: EspNowCast::Unicast, ..ping }, "rtt_exact_min"), 5.386);
        let acked = EspNowCast::Broadcast { copies: 3, ack: true };
        near(limit(&EspNow { cast: acked, ..ping }, "rtt_max"), 5.072 + 0.696);
        let stream = EspNow { test: EspNowTest::Throughput, ..TWO };
        near(limit(&stream, "throughput"), 1840.0 / 2536.0);
        near(limit(&EspNow { cast: EspNowCast::Unicast, ..stream }, "throughput"), 1840.0 / 2850.0);
        near(limit(&EspNow { cast: acked, ..stream }, "throughput"), 1840.0 / 3232.0);
        let crypto = EspNow { test: EspNowTest::Crypto, encrypted: true, ..TWO };
        assert_eq!(limit(&crypto, "encrypt_time"), 0.0);
    }

    #[test]
    fn many_devices() {
        let pings = EspNow { test: EspNowTest::MultiPing, devices: 100, ..TWO };
        near(limit(&pings, "rtt_avg"), 5.072);
        let unicast = EspNow { cast: EspNowCast::Unicast, ..pings };
        near(limit(&unicast, "rtt_min"), 5.386);
        near(limit(&unicast, "rtt_avg"), 570.0);
        // 1,029,248 bytes in 4555 chunks of 226: 192 + 8 x (63 + 230) us each.
        let ota = EspNow { test: EspNowTest::Ota, size: 1_029_248, devices: 100, ..unicast };
        let status = 0.192 + 0.008 * 93.0;
        let group = 0.192 + 0.008 * 77.0;
        let whole = group + status + 4555.0 * 2.536 + 100.0 * (status + 0.314);
        near(limit(&ota, "ota_time"), whole / 1e3);
        // 100 devices are 32 + 32 + 32 + 4 members.
        let frame = |payload: f64| 0.192 + 0.008 * (63.0 + payload);
        let lens = [8.0, 63.0, 45.0, 45.0, 34.0, 34.0];
        let each: f64 = lens.iter().map(|len| frame(*len) + 0.314).sum();
        let groups = 3.0 * frame(200.0) + frame(32.0);
        let handshake = EspNow { test: EspNowTest::Handshake, ..ota };
        near(
            limit(&handshake, "handshake_time"),
            (frame(1.0) + groups + frame(43.0) + 100.0 * each) / 1e3,
        );
        let provisioning = EspNow { test: EspNowTest::Provisioning, devices: 2, ..ota };
        let pair = 2.0 * frame(170.0) + 0.314;
        near(limit(&provisioning, "provisioning_time"), (frame(33.0) + 2.0 * pair) / 1e3);
    }

    #[test]
    fn a_faster_rate_has_a_lower_limit() {
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
    fn facts_tell_what_a_cell_was_done_with() {
        let of = |facts: &[(&str, &str)]| {
            let facts =
                facts.iter().map(|(name, value)| (String::from(*name), String::from(*value)));
            EspNowParams::from_facts(&facts.collect())
        };
        let release = (fact::ESP_NOW_RELEASE, "2022-07");
        let usual = EspNowParams { release: ComponentRelease::Mid2022, ..EspNowParams::REPORT };
        assert_eq!(
            of(&[(ESP_NOW_PHY_MODES.name(), "1M"), release, (fact::IDF_RELEASE, "4.4")]),
            usual
        );
        // The fastest mode gives the limit.
        let fast = WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Long);
        let both = of(&[(ESP_NOW_PHY_MODES.name(), "1M, HT20-MCS7"), release]);
        assert_eq!(both, EspNowParams { mode: fast, ..usual });
        assert_eq!(of(&[]), EspNowParams::REPORT);
        let unknown = [ESP_NOW_PHY_MODES.name(), fact::ESP_NOW_RELEASE, fact::IDF_RELEASE]
            .map(|it| (it, "no such"));
        assert_eq!(of(&unknown), EspNowParams::REPORT);
    }
}
