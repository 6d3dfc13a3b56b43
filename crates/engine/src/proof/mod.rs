//! A cause shown in the lab: the device as files describe it, and with the remedy, over seeds of their own.
//!
//! | module | contents |
//! |---|---|
//! | `scene` | scenes of a link as a log tells it: strength, sleep, channels, PHYs |

mod scene;

pub use scene::{
    NEAR_DBM, ProofScene, SceneError, SceneLoad, SceneProof, SceneQuestion, SceneValue, prove_scene,
};

use crate::tune::{TuneError, TuneFile, TuneLab, TuneSetup};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_measure::plan::DEFAULT_SEED;
use espbench_measure::predict::battery::Battery;
use espbench_measure::tune::{Candidate, Metric, Power, RoundTrip, RoundTripSource, Want};
use espbench_model::sdkconfig::{Chip, ConfigOption, IdfRelease, ParsedSdkConfig};
use espbench_sim::lab::file::Library;
use espbench_stats::interval::mean_t;

/// Lab of all proofs: the one that `espbench tune` has by default.
pub const PROOF_LAB: &str = "shield-box";

/// Seeds of a proof.
const SEEDS: core::ops::Range<u32> = 2000..2005;

/// Time for which a throughput is measured.
const TIME: Duration = Duration::from_secs(2);

/// Load that UDP offers, in Mbit/s.
const OFFERED: f64 = 20.0;

/// Round trip of a ping in the lab of proofs, as it is built in: its programs simulate it, and a test holds it to
/// that. A page has no room for these programs.
const BUILT_IN_PING: Duration = Duration::from_nanos(1_287_480);

/// A remedy that the lab can try.
#[derive(Clone, Debug, PartialEq)]
pub enum LabRemedy {
    /// Options with other values.
    Settings(Vec<(ConfigOption, u32)>),
    /// The radio stays awake.
    Awake,
}

/// A cause that is to be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct ProofRequest {
    /// Settings, chip and release, as far as files tell them.
    pub reading: ParsedSdkConfig,
    /// Remedy that is tried.
    pub remedy: LabRemedy,
}

/// Values of the device as it is and with the remedy.
#[derive(Clone, Debug, PartialEq)]
pub struct LabProof {
    /// Lab, variant and firmware, in words.
    pub place: String,
    /// Chip of the device.
    pub chip: Chip,
    /// Metric.
    pub metric: Metric,
    /// Mean and interval at 95 % without the remedy.
    pub before: [f64; 3],
    /// Mean and interval with it.
    pub after: [f64; 3],
    /// Seeds behind each.
    pub seeds: u32,
    /// Whether the remedy makes it better, and the intervals lie apart.
    pub shown: bool,
}

fn setup(reading: Option<ParsedSdkConfig>) -> TuneSetup {
    TuneSetup {
        lab: PROOF_LAB.into(),
        variant: None,
        file: reading.map(|reading| TuneFile { name: "the files".into(), reading }),
        chip: None,
        release: None::<IdfRelease>,
        heap: None,
        psram: false,
        rtt: None,
        streams: 1,
        time: TIME,
        message_every: Duration::from_secs(10),
        battery: Battery::usual(),
        wants: alloc::vec![Want { metric: Metric::UdpRx, value: OFFERED }],
        budget: 0,
        seed: DEFAULT_SEED,
    }
}

/// Returns the round trip of a ping in the lab of proofs, with its own device.
///
/// # Errors
/// As [`TuneLab::new`].
pub fn proof_round_trip(library: &Library) -> Result<RoundTrip, TuneError> {
    Ok(TuneLab::new(setup(None), library)?.rtt().clone())
}

/// Returns what [`proof_round_trip`] returns for the library that is built in, without simulating it.
#[must_use]
pub fn built_in_round_trip() -> RoundTrip {
    RoundTrip { time: BUILT_IN_PING, source: RoundTripSource::Lab(PROOF_LAB.into()) }
}

/// Shows a cause in the lab; nothing where the remedy changes no option. A chip that has no profile is shown with the lab's own.
///
/// # Errors
/// As [`TuneLab::new`] and [`TuneLab::evaluate`].
pub fn prove(request: &ProofRequest, library: &Library) -> Result<Option<LabProof>, TuneError> {
    let lab = |reading: ParsedSdkConfig| match TuneLab::new(setup(Some(reading.clone())), library) {
        Err(TuneError::NoProfile { .. }) => {
            let chip = None::<Chip>;
            TuneLab::new(setup(Some(ParsedSdkConfig { chip, ..reading })), library)
        }
        made => made,
    };
    let first = lab(request.reading.clone())?;
    let own = *first.base();
    let (metrics, second, candidates) = match &request.remedy {
        LabRemedy::Settings(changes) => {
            let mut reading = request.reading.clone();
            for (option, value) in changes {
                reading.settings.set(*option, *value);
            }
            let second = lab(reading)?;
            let changed = *second.base();
            (metrics(changes), Some(second), [own, changed])
        }
        LabRemedy::Awake => {
            let asleep = Candidate { power: Power::MinModem, ..own };
            (alloc::vec![Metric::UdpLatency], None, [asleep, own])
        }
    };
    let labs = [&first, second.as_ref().unwrap_or(&first)];
    let chip = first.context().chip;
    let place = alloc::format!("{}, {chip}, ESP-IDF {}", first.place(), first.context().release);
    let mut best: Option<LabProof> = None;
    for metric in metrics {
        let mut values: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
        for (at, (lab, candidate)) in labs.iter().zip(candidates).enumerate() {
            for seed in SEEDS {
                let outcome = lab.evaluate(&candidate, seed, &[metric], &|| false)?;
                values[at].extend(outcome.value(metric));
            }
        }
        let [before, after] = values.map(|it| interval(&it));
        let shown = if metric.more() { after[1] > before[2] } else { after[2] < before[1] };
        let proof = LabProof {
            place: place.clone(),
            chip,
            metric,
            before,
            after,
            seeds: SEEDS.len() as u32,
            shown,
        };
        // The metric that the remedy changes most is the complaint's.
        if best.as_ref().is_none_or(|it| gain(&proof) > gain(it)) {
            best = Some(proof);
        }
    }
    Ok(best)
}

/// Returns by which factor the remedy makes it better.
fn gain(proof: &LabProof) -> f64 {
    let [before, after] = [proof.before[0].max(1e-6), proof.after[0].max(1e-6)];
    if proof.metric.more() { after / before } else { before / after }
}

fn interval(values: &[f64]) -> [f64; 3] {
    let it = mean_t(values);
    let value = it.value.unwrap_or(0.0);
    [value, it.low.unwrap_or(value), it.high.unwrap_or(value)]
}

/// Returns the metrics that options act on.
fn metrics(changes: &[(ConfigOption, u32)]) -> Vec<Metric> {
    let of = |option: ConfigOption| match option {
        ConfigOption::SendBuffer
        | ConfigOption::DynamicTx
        | ConfigOption::StaticTx
        | ConfigOption::CacheTx
        | ConfigOption::AmpduTx
        | ConfigOption::TxBaWindow => &[Metric::TcpTx][..],
        ConfigOption::UdpMailbox => &[Metric::UdpRx],
        ConfigOption::Window
        | ConfigOption::TcpMailbox
        | ConfigOption::OoseqMax
        | ConfigOption::WindowScale => &[Metric::TcpRx],
        ConfigOption::StaticRx
        | ConfigOption::DynamicRx
        | ConfigOption::AmpduRx
        | ConfigOption::RxBaWindow
        | ConfigOption::TcpipMailbox => &[Metric::TcpRx, Metric::UdpRx],
        _ => &[Metric::TcpTx, Metric::TcpRx],
    };
    let mut all: Vec<Metric> = Vec::new();
    for metric in changes.iter().flat_map(|it| of(it.0)) {
        if !all.contains(metric) {
            all.push(*metric);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(remedy: LabRemedy) -> LabProof {
        let mut reading =
            ParsedSdkConfig { chip: Some(Chip::Esp32c3), ..ParsedSdkConfig::default() };
        reading.settings.set(ConfigOption::Window, 2880);
        prove(&ProofRequest { reading, remedy }, &Library::built_in()).unwrap().unwrap()
    }

    #[test]
    fn the_round_trip_that_is_written_down_is_that_of_the_lab() {
        let simulated = proof_round_trip(&Library::built_in()).unwrap();
        assert_eq!(built_in_round_trip(), simulated, "write it into BUILT_IN_PING");
    }

    #[test]
    fn a_larger_window_receives_faster() {
        // Kconfig's help asks for a mailbox of window / MSS + 2: with less lwIP refuses segments and drops those that follow.
        let it = proof(LabRemedy::Settings(alloc::vec![
            (ConfigOption::Window, 11_520),
            (ConfigOption::TcpMailbox, 10),
        ]));
        assert_eq!((it.metric, it.shown), (Metric::TcpRx, true), "{it:?}");
        assert!(it.after[0] > 1.5 * it.before[0], "{it:?}");
    }

    #[test]
    fn a_radio_that_stays_awake_answers_sooner() {
        let it = proof(LabRemedy::Awake);
        assert_eq!((it.metric, it.shown), (Metric::UdpLatency, true), "{it:?}");
        assert!(it.before[0] > 2.0 * it.after[0], "{it:?}");
    }
}
