//! Scenes of proofs: a device and its access point as a log tells them, once as they are and once with the remedy.

use super::interval;
use crate::run::{Refused, run};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_measure::cell::Cell;
use espbench_measure::plan::PlanSet;
use espbench_measure::report::Report;
use espbench_model::sdkconfig::{Chip, IdfRelease};
use espbench_sim::lab::file::{FileError, FileKind, Library};

/// Seeds of a scene.
const SEEDS: core::ops::Range<u64> = 3000..3005;

/// Name of the lab, and of its variants: as told, and with the remedy.
const LAB: &str = "doctor-scene";
const TRACE: &str = "doctor-scene.csv";

/// Strength at which a device beside its access point hears it, dBm.
pub const NEAR_DBM: i8 = -55;

/// Strength at which a radio neither reads a frame nor takes the medium as busy, dBm: far below the noise.
const UNHEARD_DBM: i8 = -120;

/// Facts that a log or a capture tells of a link, and the remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SceneQuestion {
    /// The access point is heard that weakly, in dBm; the remedy is [`NEAR_DBM`].
    Signal(i8),
    /// The station sleeps, wakes for one beacon in so many (DTIM period), and with `max` for every third alone; the remedy is to
    /// stay awake.
    Sleep {
        /// Maximum modem sleep.
        max: bool,
        /// DTIM period.
        dtim: u8,
    },
    /// Joining moved the radio to the network's channel, and an ESP-NOW peer has stayed on another; the remedy is one channel.
    Channels {
        /// Channel of the network.
        network: u8,
        /// Channel of the peer.
        peer: u8,
    },
    /// ESP-NOW frames go at 1 Mbit/s; the remedy is 24 Mbit/s.
    SlowEspNow,
    /// The association has 802.11g and no 802.11n; the remedy is 802.11n.
    OldPhy,
    /// Frames of others take the air; the remedy is a channel without them.
    Busy(SceneLoad),
    /// A station sends to the same access point, and neither hears the other; the remedy is a place where they do.
    Hidden(SceneLoad),
}

/// Stations of others, and their frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SceneLoad {
    /// Frames a second of all stations together.
    pub frames_hz: u16,
    /// Mean time of a frame on the air, with what answers it, in microseconds.
    pub air_us: u16,
    /// Stations.
    pub stations: u8,
}

/// A scene, with what files tell of the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProofScene {
    /// Chip; without one an ESP32-C3.
    pub chip: Option<Chip>,
    /// Release of ESP-IDF; without one 5.2.
    pub release: Option<IdfRelease>,
    /// Subject of the proof.
    pub question: SceneQuestion,
}

/// A value of a scene, as it is told and with the remedy.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneValue {
    /// Name of the metric.
    pub metric: &'static str,
    /// Metric in words.
    pub words: &'static str,
    /// Unit of the values.
    pub unit: &'static str,
    /// Whether more is better.
    pub more: bool,
    /// Mean and interval at 95 % as the log tells.
    pub before: [f64; 3],
    /// Mean and interval with the remedy.
    pub after: [f64; 3],
}

impl SceneValue {
    /// Returns whether the remedy makes it better, and the intervals lie apart.
    #[must_use]
    pub fn shown(&self) -> bool {
        if self.more { self.after[1] > self.before[2] } else { self.after[2] < self.before[1] }
    }
}

/// Outcome of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneProof {
    /// Place and device in words.
    pub place: String,
    /// Chip of the device.
    pub chip: Chip,
    /// Values, the one that changes most first.
    pub values: Vec<SceneValue>,
    /// Seeds behind each.
    pub seeds: u32,
}

/// Reason for which a scene cannot be simulated.
#[derive(Clone, Debug, PartialEq)]
pub enum SceneError {
    /// The lab's text is not accepted.
    Lab(FileError),
    /// The test is refused.
    Refused(Refused),
    /// A test gave no value.
    NoValue,
}

impl core::fmt::Display for SceneError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Lab(it) => write!(f, "{it}"),
            Self::Refused(it) => write!(f, "{it}"),
            Self::NoValue => f.write_str("the test gave no value"),
        }
    }
}

impl core::error::Error for SceneError {}

/// Metric of a scene.
#[derive(Clone, Copy)]
struct SceneMetric {
    /// Name in reports.
    name: &'static str,
    /// Transport in reports, where the scene has the metric of two.
    transport: Option<&'static str>,
    words: &'static str,
    unit: &'static str,
    more: bool,
}

impl SceneMetric {
    /// Creates a metric of which less is better.
    const fn new(name: &'static str, words: &'static str, unit: &'static str) -> Self {
        Self { name, transport: None, words, unit, more: false }
    }

    /// Creates a rate in Mbit/s.
    const fn rate(
        name: &'static str,
        transport: Option<&'static str>,
        words: &'static str,
    ) -> Self {
        Self { name, transport, words, unit: "Mbit/s", more: true }
    }
}

/// One of the two sides of a scene.
struct Side {
    /// Keys of the device, of the other board and of the access point, for the lab.
    device: String,
    other: Option<String>,
    dtim: u8,
    channel: u8,
    /// A link whose strength the lab is told: its ends, and the strength in dBm.
    link: Option<(&'static str, &'static str, i8)>,
    others: Option<SceneLoad>,
    /// Keys of the measurement.
    measure: String,
}

/// Returns the measurement of so many echoes, one each so many milliseconds.
fn echoes(count: u32, interval_ms: u32) -> String {
    format!(
        "kind = \"udp-echo\"\nvariant = \"device\"\nsize = 64\nformat = \"binary\"\nin_flight = 8\ncount = {count}\n\
         interval = \"{interval_ms} ms\"\ntimeout = \"2 s\"\n"
    )
}

const FRAMES: &str = "kind = \"raw-esp-now\"\ncount = 500\nsize = 250\n";

const STREAM: &str = "kind = \"iperf\"\nvariant = \"device\"\ntransport = \"tcp\"\ndirection = \"forward\"\ntime = \"2 s\"\n";

const DATAGRAMS: &str = "kind = \"iperf\"\nvariant = \"device\"\ntransport = \"udp\"\ndirection = \"forward\"\nbandwidth = \"60 Mbit/s\"\ntime = \"2 s\"\n";

impl SceneQuestion {
    fn sides(self) -> [Side; 2] {
        let side = |measure: &str| Side {
            device: "sleep = \"none\"\n".into(),
            other: None,
            dtim: 1,
            channel: 6,
            link: None,
            others: None,
            measure: measure.into(),
        };
        let echo = || side(&echoes(200, 230));
        // So many that the first seconds, in which rates adapt, weigh little, and that rare collisions show.
        let many = || side(&echoes(2000, 23));
        match self {
            Self::Signal(dbm) => [dbm, NEAR_DBM]
                .map(|dbm| Side { link: Some(("access point", "device", dbm)), ..many() }),
            Self::Sleep { max, dtim } => {
                let sleep = if max {
                    "sleep = \"max\"\nlisten_interval = 3\n"
                } else {
                    "sleep = \"min\"\n"
                };
                [Side { device: sleep.into(), dtim, ..echo() }, Side { dtim, ..echo() }]
            }
            Self::Channels { network, peer } => [peer, network].map(|peer| Side {
                device: "sleep = \"none\"\nesp_now = true\n".into(),
                other: Some(format!("role = \"alone\"\nchannel = {peer}\n")),
                channel: network,
                ..echo()
            }),
            Self::SlowEspNow => {
                ["1M", "24M"].map(|rate| side(&format!("{FRAMES}phy_rate = \"{rate}\"\n")))
            }
            Self::Busy(load) => [Some(load), None].map(|others| Side { others, ..echo() }),
            Self::Hidden(load) => [UNHEARD_DBM, NEAR_DBM].map(|dbm| Side {
                others: Some(SceneLoad { stations: 1, ..load }),
                link: Some(("others0", "device", dbm)),
                ..many()
            }),
            Self::OldPhy => ["phy_rate = \"54M\"\n", ""]
                .map(|rate| side(&format!("{DATAGRAMS}{rate}[[measure]]\n{STREAM}{rate}"))),
        }
    }

    const fn metrics(self) -> &'static [SceneMetric] {
        const ECHO: &[SceneMetric] = &[
            SceneMetric::new("loss", "UDP round trips lost", "percent"),
            SceneMetric::new("rtt_avg", "mean UDP round trip", "ms"),
            SceneMetric::new("rtt_p99", "p99 of UDP round trips", "ms"),
        ];
        // A window of a few segments bounds TCP whatever the PHY.
        const STREAMS: &[SceneMetric] = &[
            SceneMetric::rate("throughput_rx", Some("udp"), "UDP receiving"),
            SceneMetric::rate("throughput_rx", Some("tcp"), "TCP receiving"),
        ];
        match self {
            Self::Signal(_) | Self::Sleep { .. } | Self::Busy(_) | Self::Hidden(_) => ECHO,
            Self::Channels { .. } => {
                const { &[SceneMetric::new("loss", "ESP-NOW round trips lost", "percent")] }
            }
            Self::SlowEspNow => {
                const { &[SceneMetric::rate("throughput", None, "ESP-NOW throughput")] }
            }
            Self::OldPhy => STREAMS,
        }
    }

    /// Returns whether the two boards of the scene have no access point.
    const fn of_boards(self) -> bool {
        matches!(self, Self::SlowEspNow)
    }
}

/// Carries a scene out, once as it is told and once with the remedy.
///
/// # Errors
/// The lab's and the test's.
pub fn prove_scene(scene: &ProofScene, library: &Library) -> Result<SceneProof, SceneError> {
    let chip = scene.chip.filter(|it| library.profile(it.name()).is_ok()).unwrap_or(Chip::Esp32c3);
    let metrics = scene.question.metrics();
    let mut values: [Vec<Vec<f64>>; 2] = [Vec::new(), Vec::new()];
    for (side, values) in scene.question.sides().iter().zip(&mut values) {
        *values = metrics.iter().map(|_| Vec::new()).collect();
        let (library, lab) = room(scene, chip, side, library).map_err(SceneError::Lab)?;
        for seed in SEEDS {
            let plan = plan(scene, chip, side);
            let set = PlanSet::parse(&plan).map_err(|_| SceneError::NoValue)?;
            let report = run(set, library.clone(), Some(lab), Some(seed), &mut ());
            let report = report.map_err(SceneError::Refused)?;
            for (metric, values) in metrics.iter().zip(values.iter_mut()) {
                values.extend(value(&report, *metric));
            }
        }
    }
    let [before, after] = values;
    let both = metrics.iter().zip(before).zip(after);
    let mut values: Vec<SceneValue> = both
        .filter(|((_, before), after)| !before.is_empty() && !after.is_empty())
        .map(|((metric, before), after)| SceneValue {
            metric: metric.name,
            words: metric.words,
            unit: metric.unit,
            more: metric.more,
            before: interval(&before),
            after: interval(&after),
        })
        .collect();
    if values.is_empty() {
        return Err(SceneError::NoValue);
    }
    values.sort_by_key(|it| !it.shown());
    let seeds = (SEEDS.end - SEEDS.start) as u32;
    Ok(SceneProof { place: place(scene, chip), chip, values, seeds })
}

fn place(scene: &ProofScene, chip: Chip) -> String {
    let room: Cow<'_, str> = match scene.question {
        SceneQuestion::SlowEspNow => "two boards a metre apart".into(),
        SceneQuestion::Signal(_) => {
            "a device whose link is as strong as the log says, nobody else on the air".into()
        }
        SceneQuestion::Busy(SceneLoad { stations: 1, .. }) => {
            "a device 5 m from its router, and a station that takes as much of the air as the capture says".into()
        }
        SceneQuestion::Busy(SceneLoad { stations, .. }) => format!(
            "a device 5 m from its router, and {stations} stations that take as much of the air as the capture says"
        )
        .into(),
        SceneQuestion::Hidden(_) => {
            "a device 5 m from its router, and a station that it does not hear, which sends as much as the capture says".into()
        }
        _ => "a device 5 m from its router, nobody else on the air".into(),
    };
    format!("{room}, {chip}")
}

/// Returns the library with the lab of one side, and the lab's name.
fn room(
    scene: &ProofScene,
    chip: Chip,
    side: &Side,
    library: &Library,
) -> Result<(Library, &'static str), FileError> {
    let mut library = library.clone();
    if scene.question.of_boards() {
        return Ok((library, "raw-esp-now"));
    }
    let release = scene.release.unwrap_or(IdfRelease::new(5, 2));
    let link = match side.link {
        Some((from, to, dbm)) => {
            library.add_link_trace(
                TRACE,
                &format!("time_s,from,to,rssi_dbm\n0,{from},{to},{dbm}\n"),
            )?;
            format!("[link]\ntrace = \"{TRACE}\"\n")
        }
        None => String::new(),
    };
    let other = side.other.as_ref().map_or_else(String::new, |it| {
        format!("[other]\nprofile = \"{chip}\"\nat = [2, 3, 1]\nidf = \"{release}\"\n{it}")
    });
    let Side { device, dtim, channel, .. } = side;
    let others = side.others.map_or_else(String::new, |it| background(it, *channel));
    let text = format!(
        "title = \"A device as a log tells it\"\nsource = \"the doctor's file\"\norigin = \"assumed\"\n\
         environment = \"free-space\"\nsecurity = \"wpa2\"\n{link}[device]\nprofile = \"{}\"\ndistance_m = 5\n\
         idf = \"{release}\"\n{device}{other}{others}[access_point]\nat = [0, 0, 1.5]\nchannel = {channel}\ndtim = {dtim}\n\
         forward_us = 100\nforward_random_us = 100\nsource = \"an assumption: a router for homes forwards in software\"\n\
         origin = \"assumed\"\nconfidence = \"low\"\n[pc]\nlink = \"wire\"\nwire_mbit = 1000\nturn_us = 50\n\
         source = \"an assumption: Linux\"\norigin = \"assumed\"\nconfidence = \"low\"\n[[variant]]\nname = \"device\"\n",
        chip.name()
    );
    library.add(FileKind::Lab, LAB, &text)?;
    Ok((library, LAB))
}

/// Returns stations of others for the lab, which share their frames. At 6 Mbit/s a frame of any usual time on the air has a
/// length: 20 us before its octets, and 4 us for each three of them (IEEE 802.11-2020, 17.4.3).
fn background(load: SceneLoad, channel: u8) -> String {
    let octets = (u32::from(load.air_us).saturating_sub(20) * 3 / 4).clamp(14, 4000);
    let stations = load.stations.max(1);
    let rate_hz = f64::from(load.frames_hz.min(10_000)) / f64::from(stations);
    let station = |at: u8| {
        // In a row beside device and access point, where all hear each other.
        let x = 3.0 + f64::from(at) * 0.25;
        format!(
            "[[background]]\nname = \"others{at}\"\nat = [{x:?}, 2, 1.5]\nchannel = {channel}\npower_dbm = 20\nrate_hz = {rate_hz:?}\n\
             octets = {octets}\nmode = \"6M\"\nsource = \"the doctor's file\"\norigin = \"assumed\"\n"
        )
    };
    (0..stations).map(station).collect()
}

fn plan(scene: &ProofScene, chip: Chip, side: &Side) -> String {
    let profile = if scene.question.of_boards() {
        format!("profile = \"{}\"\n", chip.name())
    } else {
        String::new()
    };
    format!("name = \"proof\"\n[[measure]]\n{}{profile}", side.measure)
}

/// Returns the value of a metric in a report, in the unit of the scene.
fn value(report: &Report, metric: SceneMetric) -> Option<f64> {
    let of_metric = |it: &&Cell| {
        it.id.metric == metric.name && metric.transport.is_none_or(|name| it.id.transport == name)
    };
    let cell = report.cells.iter().find(of_metric)?;
    let scale = match &*cell.unit {
        "us" => 1e-3,
        "s" => 1e3,
        "kbit/s" => 1e-3,
        _ => 1.0,
    };
    Some(cell.value? * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(question: SceneQuestion) -> SceneProof {
        let scene = ProofScene { chip: Some(Chip::Esp32), release: None, question };
        prove_scene(&scene, &Library::built_in()).unwrap_or_else(|it| panic!("{question:?}: {it}"))
    }

    #[test]
    fn a_weak_signal_loses_and_delays_round_trips() {
        let it = proof(SceneQuestion::Signal(-93));
        assert!(it.values[0].shown(), "{it:?}");
        let strong = proof(SceneQuestion::Signal(-60));
        assert!(!strong.values[0].shown(), "{strong:?}");
    }

    #[test]
    fn a_sleeper_answers_later_with_a_longer_dtim_period() {
        let [one, three] = [1, 3].map(|dtim| proof(SceneQuestion::Sleep { max: false, dtim }));
        let mean =
            |it: &SceneProof| it.values.iter().find(|it| it.metric == "rtt_avg").unwrap().clone();
        assert!(
            mean(&one).shown() && mean(&three).before[0] > 1.5 * mean(&one).before[0],
            "{one:?} {three:?}"
        );
    }

    #[test]
    fn a_peer_on_another_channel_hears_nothing() {
        let it = proof(SceneQuestion::Channels { network: 6, peer: 1 });
        assert!(it.values[0].shown() && it.values[0].before[0] > 99.0, "{it:?}");
    }

    #[test]
    fn a_full_channel_delays_round_trips_and_a_quiet_one_does_not() {
        let full = proof(SceneQuestion::Busy(load(900, 1000, 1)));
        assert!(full.values[0].shown(), "{full:?}");
        let quiet = proof(SceneQuestion::Busy(load(10, 100, 1)));
        let mean = |it: &SceneProof| {
            it.values.iter().find(|it| it.metric == "rtt_avg").map(|it| it.before[0])
        };
        assert!(mean(&full) > mean(&quiet).map(|it| 1.5 * it), "{full:?} {quiet:?}");
    }

    const fn load(frames_hz: u16, air_us: u16, stations: u8) -> SceneLoad {
        SceneLoad { frames_hz, air_us, stations }
    }

    #[test]
    fn the_same_load_from_more_stations_delays_more() {
        let mean = |stations| {
            let it = proof(SceneQuestion::Busy(load(1000, 900, stations)));
            assert!(it.place.contains(&format!("{stations} stations")), "{}", it.place);
            it.values.iter().find(|it| it.metric == "rtt_avg").map(|it| it.before[0])
        };
        let [two, twenty] = [2, 20].map(mean);
        assert!(twenty > two.map(|it| 1.2 * it), "{two:?} {twenty:?}");
    }

    #[test]
    fn a_station_that_is_not_heard_disturbs_more_than_one_that_is() {
        let it = proof(SceneQuestion::Hidden(load(300, 1500, 1)));
        assert!(it.values[0].shown(), "{it:?}");
    }

    #[test]
    fn faster_phys_carry_more() {
        for question in [SceneQuestion::SlowEspNow, SceneQuestion::OldPhy] {
            let it = proof(question);
            assert!(it.values[0].shown(), "{it:?}");
        }
    }
}
