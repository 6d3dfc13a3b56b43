//! Messages among nodes of ESP-NOW: along relays, many to many, to a coordinator, in slots or not.

mod keys;
mod results;

use crate::cell::Cell;
use crate::figure::Figure;
use crate::kind::TestKind;
use crate::kind::headline::Headline;
use crate::live::figures::{LiveFigures, LiveTimes, QUANTILES, response};
use crate::plan::{Goal, NodePlaces, PlacedTest, PlacesAsked, PlanKey, Scalar};
use crate::report::digest::Material;
use crate::run::Recorded;
use crate::series;
use crate::settings::{Setting, Settings, metres};
use crate::summary::SummaryContext;
use crate::table::Table;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::messages::{BeaconSlots, EspNowMessages, MessagePattern};
use espbench_model::overrides::{LabOverrides, OpenPlaces};
use espbench_model::workload::{EspNowCast, Name};

const KIND: &str = "esp-now-messages";

/// Ten messages a second apart, each in one frame.
pub(super) const DEFAULT: EspNowMessages = EspNowMessages {
    pattern: MessagePattern::RelayLine,
    devices: 5,
    size: 64,
    count: 10,
    interval: Duration::from_secs(1),
    cast: EspNowCast::Broadcast { copies: 1, ack: false },
    ttl: 0,
    forward_rssi: i8::MIN,
    spacing_m: 14.0,
    in_slots: false,
    slots: SLOTS,
    radio_scheduled: false,
    bluetooth: None,
    lab: LabOverrides::NONE,
};

/// The slots that a plan gets where it sets none of their keys.
const SLOTS: BeaconSlots = BeaconSlots {
    slot: Duration::from_millis(8),
    guard: Duration::from_millis(1),
    beacon_interval: Duration::from_secs(1),
    drift_ppm: 20.0,
    task_jitter: Duration::from_micros(500),
    missed_most: 3,
};

/// Patterns, with their words.
const PATTERNS: [(&str, MessagePattern); 4] = [
    ("relay-line", MessagePattern::RelayLine),
    ("many-to-many", MessagePattern::ManyToMany),
    ("many-to-any", MessagePattern::ManyToAny),
    ("many-to-one", MessagePattern::ManyToOne),
];

/// Returns the word of a pattern.
fn word(pattern: MessagePattern) -> &'static str {
    PATTERNS.iter().find(|it| it.1 == pattern).map_or("", |it| it.0)
}

/// The metrics that lead, the most telling first.
const HEADLINES: &[Headline] = &[
    Headline::new(Goal::Latency, "response_p50", "delay", "p50"),
    Headline::new(Goal::Latency, "response_p99", "delay", "p99"),
    Headline::new(Goal::Latency, "response_p90", "delay", "p90"),
    Headline::new(Goal::Latency, "response_max", "delay", "max"),
    Headline::new(Goal::Loss, "loss", "lost", ""),
];

impl PlacedTest for EspNowMessages {
    fn put(&mut self, asked: PlacesAsked) {
        // A line has its hops, and the distance from one to the next; others stand where the lab has them.
        if self.pattern == MessagePattern::RelayLine {
            if let Some(metres) = asked.distance_m {
                (self.spacing_m, self.lab.open.distance) = (metres, false);
            }
        } else if let Some(devices) = asked.devices {
            (self.devices, self.lab.open.devices) = (devices, false);
        }
    }

    fn places(&self) -> NodePlaces {
        let is_line = self.pattern == MessagePattern::RelayLine;
        let distance_m = is_line.then_some((self.spacing_m, self.spacing_m));
        NodePlaces { devices: Some(self.devices), distance_m }
    }

    fn leave(&mut self, open: OpenPlaces) {
        self.lab.open.devices |= open.devices;
        self.lab.open.distance |= open.distance && self.pattern == MessagePattern::RelayLine;
    }

    fn take(&mut self, lab: NodePlaces) {
        self.devices = lab.devices.unwrap_or(self.devices);
        if let Some((first, last)) = lab.distance_m {
            // From the first node to its neighbour, and to the end of the line.
            let is_even = libm::fabsf(last - first * f32::from(self.devices)) <= 0.01 * last;
            self.spacing_m = if is_even { first } else { 0.0 };
        }
    }
}

impl TestKind for EspNowMessages {
    fn name(&self) -> &'static str {
        KIND
    }

    fn keys(&self) -> &'static [PlanKey] {
        &keys::KEYS
    }

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        keys::set(self, key, value)
    }

    fn get(&self, key: &str) -> Option<String> {
        keys::get(self, key)
    }

    fn complete(&mut self, named: &[&str]) {
        keys::complete(self, named);
    }

    fn check(&self) -> Result<(), String> {
        keys::check(self)
    }

    fn expected(&self) -> Duration {
        self.interval.saturating_mul(self.count.saturating_add(3))
    }

    fn ends_by_plan(&self) -> bool {
        true
    }

    fn probes(&self) -> Option<u64> {
        Some(EspNowMessages::probes(self))
    }

    fn placed_test(&mut self) -> Option<&mut dyn PlacedTest> {
        Some(self)
    }

    fn settings(&self) -> Settings {
        let is_line = self.pattern == MessagePattern::RelayLine;
        let devices = u32::from(self.devices);
        let mut settings: Settings = [
            Setting::Cast(self.cast),
            Setting::Size(self.size),
            Setting::Interval(self.interval),
            if is_line { Setting::Hops(devices) } else { Setting::Devices(devices) },
        ]
        .into_iter()
        .collect();
        settings.extend(Name::new(word(self.pattern)).map(Setting::Pattern));
        // A line of a lab's own may have hops of several lengths.
        if is_line && self.spacing_m > 0.0 {
            let apart = metres(self.spacing_m);
            settings.extend([Setting::Nearest(apart), Setting::Farthest(apart)]);
        }
        settings.extend((is_line || self.ttl > 0).then_some(Setting::Ttl(self.ttl)));
        if self.forward_rssi != DEFAULT.forward_rssi {
            settings.set(Setting::ForwardRssi(self.forward_rssi.into()));
        }
        settings.extend(self.radio_scheduled.then_some(Setting::RadioScheduled(true)));
        let bluetooth = self.bluetooth.and_then(|it| Name::new(it.name()));
        settings.extend(bluetooth.map(Setting::Bluetooth));
        let Some(slots) = self.schedule() else { return settings };
        settings.set(Setting::Slot(slots.slot));
        settings.set(Setting::BeaconInterval(slots.beacon_interval));
        settings.set(Setting::Guard(slots.guard));
        settings.set(Setting::Drift(metres(slots.drift_ppm)));
        settings.set(Setting::TaskJitter(slots.task_jitter));
        if slots.missed_most != SLOTS.missed_most {
            settings.set(Setting::MissedBeacons(slots.missed_most));
        }
        settings
    }

    fn summarize(&self, recorded: &Recorded, context: &SummaryContext<'_>) -> Vec<Cell> {
        results::summarize(self, recorded, context)
    }

    fn times(&self, recorded: &Recorded) -> Vec<f64> {
        series::responses_ms(recorded)
    }

    fn chapters(&self, _documented: bool) -> Vec<(&'static str, &'static str)> {
        alloc::vec![(KIND, "Messages among nodes of ESP-NOW")]
    }

    fn live(&self) -> LiveFigures {
        let times = LiveTimes { base: "response", statistics: QUANTILES, of: response };
        LiveFigures { times: Some(times), tells_loss: true, ..LiveFigures::default() }
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
