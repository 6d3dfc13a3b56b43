//! Cells of Espressif's ESP-NOW test report.
//!
//! | module | contents |
//! |---|---|
//! | `document` | cells of Espressif's ESP-NOW test report, as published |
//! | `figure` | each table's leading figure, with the published points and the limit |
//! | `findings` | what was typed at the consoles, and what they printed |
//! | `plan` | values of a plan's keys: how packets are sent, how far the devices are, and the report's usual ones |
//! | `summary` | result cells of the `esp-now` workload |
//! | `table` | the report's tables, with the published figures and the limits beside ours |
//! | `limit` | the theoretical limits of a cell's figures |

pub(crate) mod document;
mod figure;
mod findings;
mod limit;
mod plan;
pub(crate) mod summary;
mod table;

pub(in crate::kind) use plan::DEFAULT;
pub use summary::mode;

use crate::cell::{Cell, Identity};
use crate::figure::Figure;
use crate::kind::TestKind;
use crate::kind::headline::Headline;
use crate::limit::TheoreticalLimit;
use crate::live::LateProbes;
use crate::live::figures::{LiveFigures, LiveRate, LiveTimes, QUANTILES, TimeStatistic, response};
use crate::plan::{
    DAY, Goal, NodePlaces, PlacedTest, PlacesAsked, PlanKey, PlanValue, Scalar, cast, print_cast,
    quoted, word_of, words,
};
use crate::report::digest::Material;
use crate::run::Recorded;
use crate::series;
use crate::settings::{Setting, Settings, metres};
use crate::summary::SummaryContext;
use crate::table::Table;
use crate::truth::CellGroup;
use crate::units::print_duration;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::overrides::OpenPlaces;
use espbench_model::workload::{EspNow, EspNowTest};
use plan::{
    IMAGE, LARGEST_IMAGE, LEAST, PAYLOAD, SEALED, TESTS, check_cast, distance, print_distance,
    usual_count,
};
pub(crate) use plan::{serves_many, test_name};

pub(super) const KIND: &str = "esp-now";

/// `-t` of `espnow_iperf` where it is not given.
const USUAL_TIME: Duration = Duration::from_secs(60);

/// Statistics of one-way times.
const EXTREMES: &[TimeStatistic] = &[TimeStatistic::Mean, TimeStatistic::Max];

/// The metrics that lead, the most telling first.
const HEADLINES: &[Headline] = &[
    Headline::new(Goal::Latency, "latency_avg", "one way", "mean"),
    Headline::new(Goal::Latency, "latency_max", "one way", "max"),
    Headline::new(Goal::Latency, "rtt_exact_avg", "round trip", "mean"),
    Headline::new(Goal::Latency, "rtt_exact_p99", "round trip", "p99"),
    Headline::new(Goal::Latency, "rtt_exact_p90", "round trip", "p90"),
    Headline::new(Goal::Latency, "rtt_exact_max", "round trip", "max"),
    Headline::new(Goal::Throughput, "throughput_sent", "sent", ""),
    Headline::new(Goal::Throughput, "throughput_received", "received", ""),
    Headline::new(Goal::Latency, "encrypt_time_exact", "encrypt", ""),
    Headline::new(Goal::Latency, "decrypt_time_exact", "decrypt", ""),
    Headline::new(Goal::Latency, "ota_time_exact", "update", ""),
    Headline::new(Goal::Latency, "handshake_time", "handshake", ""),
    Headline::new(Goal::Latency, "provisioning_time", "provisioning", ""),
    Headline::new(Goal::Loss, "devices_served", "served", ""),
    Headline::new(Goal::Loss, "loss", "lost", ""),
];

/// Keys of a plan.
const KEYS: [PlanKey; 8] = [
    PlanKey::new(
        "test",
        PlanValue::Word(&words(&TESTS)),
        "\"throughput\"",
        "test of Espressif's report",
    ),
    PlanKey::new(
        "cast",
        PlanValue::Form(
            "`\"unicast\"`, `\"broadcast\"`, `\"broadcast 3\"` or `\"broadcast 3 + ack\"`; up to 31 copies",
        ),
        "\"broadcast 3 + ack\"",
        "how packets are sent; jobs for many devices send as their protocol has it",
    ),
    PlanKey::new(
        "size",
        PlanValue::Bytes(1, LARGEST_IMAGE),
        "230",
        "bytes of payload, 8 to 230 (226 encrypted); of `ota`, of the image",
    )
    .or("230, 226 encrypted; of `ota` 1029248"),
    PlanKey::new(
        "count",
        PlanValue::Whole(1, 100_000_000),
        "1000",
        "packets, pings or encryptions",
    )
    .or("10 of `one-way`, 100 of `multi-ping`, else 10000"),
    PlanKey::new(
        "time",
        PlanValue::Time(Duration::from_millis(10), DAY),
        "\"60 s\"",
        "length of `throughput`",
    ),
    PlanKey::new("devices", PlanValue::Whole(1, 65_535), "10", "devices beside the initiator")
        .or("those in the file of a lab behind `--on sim:LAB`, of tests with many; else 1"),
    PlanKey::new(
        "distance",
        PlanValue::Form("0.01 m to 100 km, or a range"),
        "\"0.5 m to 1 m\"",
        "distance of the devices from the initiator",
    )
    .or("what the file of a lab behind `--on sim:LAB` says; else \"3 m\""),
    PlanKey::new("encrypted", PlanValue::Switch, "true", "whether payloads are encrypted")
        .or("false; of `crypto` true"),
];

impl PlacedTest for EspNow {
    fn put(&mut self, asked: PlacesAsked) {
        if let Some(metres) = asked.distance_m {
            (self.distance_m, self.lab.open.distance) = ((metres, metres), false);
        }
        if let Some(devices) = asked.devices.filter(|_| serves_many(self.test)) {
            (self.devices, self.lab.open.devices) = (devices, false);
        }
    }

    fn places(&self) -> NodePlaces {
        NodePlaces { devices: Some(self.devices), distance_m: Some(self.distance_m) }
    }

    fn leave(&mut self, open: OpenPlaces) {
        self.lab.open.distance |= open.distance;
        self.lab.open.devices |= open.devices && serves_many(self.test);
    }

    fn take(&mut self, lab: NodePlaces) {
        self.devices = lab.devices.unwrap_or(self.devices);
        self.distance_m = lab.distance_m.unwrap_or(self.distance_m);
    }
}

impl TestKind for EspNow {
    fn name(&self) -> &'static str {
        KIND
    }

    fn keys(&self) -> &'static [PlanKey] {
        &KEYS
    }

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        match key {
            "test" => self.test = value.word(&TESTS)?,
            "cast" => self.cast = cast(value.text()?)?,
            "size" => self.size = value.bytes()? as u32,
            "count" => self.count = value.int()? as u32,
            "time" => self.time = value.duration()?,
            "devices" => self.devices = value.int()? as u16,
            "distance" => self.distance_m = distance(value.text()?)?,
            _ => self.encrypted = value.bool()?,
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "test" => quoted(word_of(&TESTS, self.test)),
            "cast" => quoted(&print_cast(self.cast)),
            "size" => self.size.to_string(),
            "count" => self.count.to_string(),
            "time" => quoted(&print_duration(self.time)),
            "devices" if self.lab.open.devices => return None,
            "devices" => self.devices.to_string(),
            "distance" if self.lab.open.distance => return None,
            "distance" => quoted(&print_distance(self.distance_m)),
            _ => self.encrypted.to_string(),
        })
    }

    fn placed_test(&mut self) -> Option<&mut dyn PlacedTest> {
        Some(self)
    }

    /// Sets the report's counts and sizes, where a plan leaves them to the test.
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
        self.lab.open = OpenPlaces {
            devices: serves_many(self.test) && !named.contains(&"devices"),
            distance: !named.contains(&"distance"),
        };
        // What is timed there is the encryption.
        if self.test == EspNowTest::Crypto && !named.contains(&"encrypted") {
            self.encrypted = true;
        }
    }

    fn check(&self) -> Result<(), String> {
        let test = word_of(&TESTS, self.test);
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

    /// Guesses by the figures of Espressif's report; a lab takes less, but in the same proportions.
    fn expected(&self) -> Duration {
        let devices = u32::from(self.devices);
        let (secs, millis) = (Duration::from_secs, Duration::from_millis);
        match self.test {
            EspNowTest::OneWay | EspNowTest::Ping => millis(10) * self.count,
            EspNowTest::Throughput => self.time,
            EspNowTest::Crypto => millis(1) * self.count,
            EspNowTest::MultiPing => millis(10) * devices * self.count,
            EspNowTest::Ota => secs(25) + millis(200) * devices,
            EspNowTest::Handshake => secs(3) + millis(350) * devices,
            EspNowTest::Provisioning => secs(5) + millis(130) * devices,
        }
    }

    fn settings(&self) -> Settings {
        let mut settings: Settings = [Setting::Test(self.test)].into_iter().collect();
        let grouped =
            matches!(self.test, EspNowTest::Ota | EspNowTest::Handshake | EspNowTest::Provisioning);
        let alone = self.test == EspNowTest::Crypto;
        if !grouped && !alone {
            settings.set(Setting::Cast(self.cast));
        }
        if !matches!(self.test, EspNowTest::Handshake | EspNowTest::Provisioning) {
            settings.set(Setting::Size(self.size));
        }
        if grouped || self.test == EspNowTest::MultiPing {
            settings.set(Setting::Devices(self.devices.into()));
        }
        if !alone {
            let (near, far) = self.distance_m;
            settings.extend([Setting::Nearest(metres(near)), Setting::Farthest(metres(far))]);
        }
        if self.encrypted && !alone {
            settings.set(Setting::Encrypted(true));
        }
        settings.extend(unusual(self));
        settings
    }

    fn on_air(&self) -> Option<String> {
        // What is encrypted there is not sent.
        (self.test != EspNowTest::Crypto).then(|| format!("{:?}", self.test))
    }

    fn summarize(&self, recorded: &Recorded, context: &SummaryContext<'_>) -> Vec<Cell> {
        summary::summarize(self, recorded, context)
    }

    fn times(&self, recorded: &Recorded) -> Vec<f64> {
        match self.test {
            // From when a ping or a packet was due.
            EspNowTest::OneWay | EspNowTest::Ping | EspNowTest::MultiPing => {
                series::responses_ms(recorded)
            }
            // What serves many devices has no distribution.
            _ => Vec::new(),
        }
    }

    /// Returns true: the document's figures come from one test each, and the simulated ones are the means of
    /// several, with the interval of their scatter.
    fn is_pooled(&self) -> bool {
        true
    }

    fn limits(&self, recorded: &Recorded) -> Vec<TheoreticalLimit> {
        limit::limits(self, recorded)
    }

    fn chapters(&self, documented: bool) -> Vec<(&'static str, &'static str)> {
        let all =
            if documented { "ESP-NOW: figures that the report does not have" } else { "ESP-NOW" };
        table::CHAPTERS.into_iter().chain([(KIND, all)]).collect()
    }

    fn late(&self) -> LateProbes {
        LateProbes::Lost
    }

    fn live(&self) -> LiveFigures {
        let times = |base, statistics| Some(LiveTimes { base, statistics, of: response });
        let (times, rate) = match self.test {
            EspNowTest::OneWay => (times("latency", EXTREMES), LiveRate::None),
            EspNowTest::Ping | EspNowTest::MultiPing => {
                (times("rtt_exact", QUANTILES), LiveRate::None)
            }
            EspNowTest::Throughput => (None, LiveRate::Received),
            EspNowTest::Crypto
            | EspNowTest::Ota
            | EspNowTest::Handshake
            | EspNowTest::Provisioning => (None, LiveRate::None),
        };
        LiveFigures { times, rate, tells_loss: times.is_some() }
    }

    fn headlines(&self) -> &'static [Headline] {
        HEADLINES
    }

    fn first_table(&self, material: &Material<'_>) -> Option<Table> {
        table::limits(material)
    }

    fn tables(&self, material: &Material<'_>) -> Vec<Table> {
        table::tables(material)
    }

    fn findings(&self, material: &Material<'_>) -> Vec<Table> {
        [findings::commands(material), findings::consoles(material)].into_iter().flatten().collect()
    }

    fn is_of_all(&self, metric: &str) -> bool {
        summary::served::TIMES_FOR_ALL.contains(&metric)
    }

    fn tells_fact(&self, fact: &str) -> bool {
        findings::tells(fact)
    }

    fn figures(&self, material: &Material<'_>) -> Vec<Figure> {
        figure::figures(material)
    }

    fn publishes(&self, cell: &Cell) -> bool {
        document::publishes(cell)
    }

    fn group(&self, published: &Cell) -> CellGroup {
        document::group(&published.id)
    }

    fn exact(&self, metric: &str) -> Option<&'static str> {
        document::exact(metric)
    }

    fn unrounded(&self, metric: &str) -> Option<&'static str> {
        document::unrounded(metric)
    }

    fn printed(&self, id: &Identity, value: f64) -> (f64, f64) {
        document::printed(&id.metric, value)
    }

    fn losses_chapter(&self) -> Option<&'static str> {
        Some(summary::table(self))
    }
}

/// Returns what sets a test apart from the document's procedure; `None` for exactly that.
fn unusual(w: &EspNow) -> Option<Setting> {
    match w.test {
        EspNowTest::Throughput => (w.time != USUAL_TIME).then_some(Setting::Time(w.time)),
        EspNowTest::Ota => (w.size != IMAGE).then_some(Setting::Image(w.size)),
        EspNowTest::Handshake | EspNowTest::Provisioning => None,
        test => (w.count != usual_count(test)).then_some(match test {
            EspNowTest::OneWay => Setting::Packets(w.count),
            EspNowTest::Crypto => Setting::Encryptions(w.count),
            _ => Setting::Pings(w.count),
        }),
    }
}
