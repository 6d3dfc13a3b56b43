//! Calls of `esp_now_send` without the component: how fast one frame follows the other.

mod limit;
mod results;

use crate::cell::Cell;
use crate::figure::Figure;
use crate::kind::TestKind;
use crate::kind::headline::Headline;
use crate::limit::TheoreticalLimit;
use crate::live::figures::{LiveFigures, LiveRate};
use crate::plan::{Goal, NodePlaces, PlacedTest, PlacesAsked, PlanKey, PlanValue, Scalar, quoted};
use crate::report::digest::Material;
use crate::run::Recorded;
use crate::series;
use crate::settings::{Setting, Settings, metres};
use crate::summary::SummaryContext;
use crate::table::Table;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::overrides::{LabOverrides, OpenPlaces};
use espbench_model::workload::{EspNowCast, RawEspNow};

const KIND: &str = "raw-esp-now";

/// The longest body of ESP-NOW v2.0 (`ESP_NOW_MAX_DATA_LEN_V2`).
const LONGEST: u64 = 1470;

/// A thousand frames of v1.0's longest body, each after the callback of the one before.
pub(super) const DEFAULT: RawEspNow = RawEspNow {
    is_broadcast: false,
    size: 250,
    count: 1000,
    awaits_callback: true,
    distance_m: 1.0,
    lab: LabOverrides::NONE,
};

/// The metrics that lead, the most telling first.
const HEADLINES: &[Headline] = &[
    Headline::new(Goal::Throughput, "throughput", "throughput", ""),
    Headline::new(Goal::Latency, "interarrival_p50", "one frame to the next", "median"),
    Headline::new(Goal::Loss, "loss", "lost", ""),
];

/// Addressing of frames, with its word.
const CASTS: [(&str, bool); 2] = [("unicast", false), ("broadcast", true)];

/// Keys of a plan.
const KEYS: [PlanKey; 5] = [
    PlanKey::new(
        "cast",
        PlanValue::Word(&["unicast", "broadcast"]),
        "\"broadcast\"",
        "to the other board, with the MAC's acknowledgement, or to all",
    ),
    PlanKey::new(
        "size",
        PlanValue::Bytes(1, LONGEST),
        "250",
        "bytes of a frame's body; more than 250 take ESP-NOW v2.0, from ESP-IDF 5.4 on",
    ),
    PlanKey::new("count", PlanValue::Whole(2, 1_000_000), "1000", "frames"),
    PlanKey::new(
        "await_callback",
        PlanValue::Switch,
        "false",
        "whether the next call waits for the send callback; else only for a free buffer",
    ),
    PlanKey::new(
        "distance",
        PlanValue::Form("0.01 m to 100 km"),
        "\"1 m\"",
        "distance of the two boards",
    )
    .or("what the file of a lab behind `--on sim:LAB` says; else \"1 m\""),
];

impl PlacedTest for RawEspNow {
    fn put(&mut self, asked: PlacesAsked) {
        if let Some(metres) = asked.distance_m {
            (self.distance_m, self.lab.open.distance) = (metres, false);
        }
    }

    fn places(&self) -> NodePlaces {
        NodePlaces { devices: None, distance_m: Some((self.distance_m, self.distance_m)) }
    }

    fn leave(&mut self, open: OpenPlaces) {
        self.lab.open.distance |= open.distance;
    }

    fn take(&mut self, lab: NodePlaces) {
        self.distance_m = lab.distance_m.map_or(self.distance_m, |it| it.1);
    }
}

impl TestKind for RawEspNow {
    fn name(&self) -> &'static str {
        KIND
    }

    fn keys(&self) -> &'static [PlanKey] {
        &KEYS
    }

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        match key {
            "cast" => self.is_broadcast = value.word(&CASTS)?,
            "size" => self.size = value.bytes()? as u32,
            "count" => self.count = value.int()? as u32,
            "await_callback" => self.awaits_callback = value.bool()?,
            _ => self.distance_m = crate::plan::metres(value.text()?)?,
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "cast" => quoted(CASTS[usize::from(self.is_broadcast)].0),
            "size" => self.size.to_string(),
            "count" => self.count.to_string(),
            "await_callback" => self.awaits_callback.to_string(),
            _ if self.lab.open.distance => return None,
            _ => quoted(&format!("{} m", metres(self.distance_m))),
        })
    }

    fn placed_test(&mut self) -> Option<&mut dyn PlacedTest> {
        Some(self)
    }

    fn complete(&mut self, named: &[&str]) {
        self.lab.open = OpenPlaces { devices: false, distance: !named.contains(&"distance") };
    }

    /// Guesses by the default rate of 1 Mbit/s.
    fn expected(&self) -> Duration {
        Duration::from_micros(650 + 8 * u64::from(self.size)) * self.count
    }

    fn probes(&self) -> Option<u64> {
        Some(self.count.into())
    }

    fn length(&self) -> Option<Setting> {
        Some(Setting::Packets(self.count))
    }

    fn settings(&self) -> Settings {
        let cast = if self.is_broadcast {
            EspNowCast::Broadcast { copies: 0, ack: false }
        } else {
            EspNowCast::Unicast
        };
        let distance = metres(self.distance_m);
        let mut settings: Settings = [
            Setting::Cast(cast),
            Setting::Size(self.size),
            Setting::Nearest(distance),
            Setting::Farthest(distance),
        ]
        .into_iter()
        .collect();
        settings.extend((!self.awaits_callback).then_some(Setting::AwaitsCallback(false)));
        settings
    }

    fn summarize(&self, recorded: &Recorded, context: &SummaryContext<'_>) -> Vec<Cell> {
        results::summarize(self, recorded, context)
    }

    fn times(&self, recorded: &Recorded) -> Vec<f64> {
        series::responses_ms(recorded)
    }

    fn limits(&self, recorded: &Recorded) -> Vec<TheoreticalLimit> {
        limit::limits(self, &recorded.facts)
    }

    fn chapters(&self, _documented: bool) -> Vec<(&'static str, &'static str)> {
        alloc::vec![(KIND, "esp_now_send without the component")]
    }

    fn live(&self) -> LiveFigures {
        LiveFigures {
            rate: LiveRate::Frames(self.size),
            tells_loss: true,
            ..LiveFigures::default()
        }
    }

    fn headlines(&self) -> &'static [Headline] {
        HEADLINES
    }

    fn tables(&self, material: &Material<'_>) -> Vec<Table> {
        results::tables(material)
    }

    fn figures(&self, material: &Material<'_>) -> Vec<Figure> {
        results::figure(material).into_iter().collect()
    }
}
