//! The first cause, shown in the lab.

use crate::labs;
use espbench_doctor::captured::scene::{CapturedLoad, CapturedScene};
use espbench_doctor::finding::{CauseFinding, Diagnosis, TroubleCause};
use espbench_doctor::incident::IncidentDiagnosis;
use espbench_doctor::log::{LogEvent, LogSummary, PhyGeneration, PowerSaveType};
use espbench_doctor::report::{ProofOutcome, ProofValue, ShownProof};
use espbench_doctor::rules::{WEAK_DBM, weakest};
use espbench_doctor::settings::{ConfigFile, PrintedSettings};
use espbench_engine::proof::{
    LabProof, LabRemedy, NEAR_DBM, PROOF_LAB, ProofRequest, ProofScene, SceneLoad, SceneProof,
    SceneQuestion, proof_round_trip, prove, prove_scene,
};
use espbench_measure::tune::RoundTrip;
use espbench_model::sdkconfig::{Chip, ConfigOption, ParsedSdkConfig};
use espbench_sim::lab::file::{FileKind, Library};

/// The lab of proofs, with its round trip.
pub(super) struct ProofBench {
    made: Option<(Library, RoundTrip)>,
}

impl ProofBench {
    /// Makes the lab, where there is something to hold against it.
    ///
    /// # Errors
    /// The lab's.
    pub(super) fn new(wanted: bool) -> anyhow::Result<Self> {
        if !wanted {
            return Ok(Self { made: None });
        }
        let library = labs::library(FileKind::Lab, PROOF_LAB)?;
        let rtt = proof_round_trip(&library)?;
        Ok(Self { made: Some((library, rtt)) })
    }

    /// Returns the round trip in the lab.
    pub(super) fn rtt(&self) -> RoundTrip {
        let none = || RoundTrip::from(core::time::Duration::ZERO);
        self.made.as_ref().map_or_else(none, |it| it.1.clone())
    }
}

/// Shows the first cause that the lab can show; without one, says why not of the first.
///
/// # Errors
/// The lab's.
pub(super) fn first(
    bench: &ProofBench,
    log: Option<&LogSummary>,
    config: Option<&ConfigFile>,
    found: &IncidentDiagnosis,
) -> anyhow::Result<Option<ProofOutcome>> {
    let mut reading = found.settings.clone().unwrap_or_default();
    let printed = log.map(PrintedSettings::of).unwrap_or_default().reading;
    let own = config.map(|it| &it.reading);
    reading.chip = reading.chip.or(printed.chip).or_else(|| own?.chip);
    reading.release = reading.release.or(printed.release).or_else(|| own?.release);
    if reading.hosted.is_host && !found.diagnosis.findings.is_empty() {
        return Ok(Some(ProofOutcome::CannotShow(labs::NO_HOST.into())));
    }
    let Some((library, _)) = &bench.made else { return Ok(cannot(&found.diagnosis)) };
    let who = match log {
        Some(_) if config.is_some() => "neither log nor sdkconfig names the chip",
        None => "the sdkconfig names no chip",
        Some(_) => "the log names no chip",
    };
    for it in &found.diagnosis.findings {
        if let Some((question, words)) = log.and_then(|log| question(it, log)) {
            let ParsedSdkConfig { chip, release, .. } = reading;
            let mut shown = prove_scene(&ProofScene { chip, release, question }, library)?;
            say_chip(&mut shown.place, chip.is_some(), who, shown.chip);
            return Ok(Some(ProofOutcome::Lab(of_scene(it.cause, shown, words))));
        }
        let Some(remedy) = remedy(it) else { continue };
        let request = ProofRequest { reading: reading.clone(), remedy: remedy.0 };
        let Some(mut shown) = prove(&request, library)? else { continue };
        say_chip(&mut shown.place, reading.chip.is_some(), who, shown.chip);
        return Ok(Some(ProofOutcome::Lab(proof(it.cause, shown, remedy.1))));
    }
    Ok(cannot(&found.diagnosis))
}

/// Shows the first cause of a capture that the lab can show; without one, says why not of the first.
///
/// # Errors
/// The lab's.
pub(super) fn capture(
    diagnosis: &Diagnosis,
    scene: CapturedScene,
) -> anyhow::Result<Option<ProofOutcome>> {
    let shown = |it: &CauseFinding| Some((it.cause, captured(it.cause, scene)?));
    let Some((cause, (question, remedy))) = diagnosis.findings.iter().find_map(shown) else {
        return Ok(cannot(diagnosis));
    };
    let library = labs::library(FileKind::Lab, PROOF_LAB)?;
    let scene = ProofScene { chip: None, release: None, question };
    let mut shown = prove_scene(&scene, &library)?;
    say_chip(&mut shown.place, false, "the capture names no chip", shown.chip);
    Ok(Some(ProofOutcome::Lab(of_scene(cause, shown, remedy.into()))))
}

/// Says in a proof's place that its chip is a guess, where no file names one.
fn say_chip(place: &mut String, is_named: bool, who: &str, chip: Chip) {
    if !is_named {
        place.push_str(&format!(" ({who}: taken as {chip})"));
    }
}

/// Returns the scene that shows a cause, as a capture tells its place, with the words of its remedy.
fn captured(cause: TroubleCause, scene: CapturedScene) -> Option<(SceneQuestion, &'static str)> {
    let load = |it: CapturedLoad| {
        let CapturedLoad { frames_hz, air_us, stations } = it;
        SceneLoad { frames_hz, air_us, stations }
    };
    match cause {
        it if it.is("busy-channel") => {
            Some((SceneQuestion::Busy(load(scene.load?)), "a channel without these frames"))
        }
        it if it.is("hidden-nodes") => {
            let question = SceneQuestion::Hidden(load(scene.hidden?));
            Some((question, "a place where the two hear each other"))
        }
        it if it.is("power-save") => {
            let dtim = scene.dtim?.clamp(1, 10);
            Some((SceneQuestion::Sleep { max: false, dtim }, "WIFI_PS_NONE"))
        }
        _ => None,
    }
}

fn proof(cause: TroubleCause, it: LabProof, remedy: String) -> ShownProof {
    let LabProof { place, metric, before, after, seeds, shown, .. } = it;
    let value = ProofValue {
        metric: metric.name().into(),
        words: metric.words().into(),
        unit: metric.unit().into(),
        more: metric.more(),
        before,
        after,
    };
    ShownProof { cause, place, reproduced: shown, remedy, values: vec![value], seeds }
}

fn of_scene(cause: TroubleCause, it: SceneProof, remedy: String) -> ShownProof {
    let reproduced = it.values.iter().any(espbench_engine::proof::SceneValue::shown);
    let value = |it: espbench_engine::proof::SceneValue| ProofValue {
        metric: it.metric.into(),
        words: it.words.into(),
        unit: it.unit.into(),
        more: it.more,
        before: it.before,
        after: it.after,
    };
    let values = it.values.into_iter().map(value).collect();
    ShownProof { cause, place: it.place, reproduced, remedy, values, seeds: it.seeds }
}

/// Returns the scene that shows a cause, as the log tells the link, with the words of its remedy.
fn question(it: &CauseFinding, log: &LogSummary) -> Option<(SceneQuestion, String)> {
    let events = || log.events.keys();
    let unheard = events().any(|it| *it == LogEvent::EspNowUnheard);
    match it.cause {
        TroubleCause::Disconnections(_) => {
            let dbm = weakest(log).filter(|it| *it <= WEAK_DBM)?;
            Some((SceneQuestion::Signal(dbm), format!("a link of {NEAR_DBM} dBm")))
        }
        cause if cause.is("power-save") => {
            let dtim = events().filter_map(|it| match it {
                LogEvent::Dtim(period) => Some(*period),
                _ => None,
            });
            let max = events().any(|it| *it == LogEvent::PowerSave(PowerSaveType::MaxModem));
            let dtim = dtim.max()?.clamp(1, 10);
            Some((SceneQuestion::Sleep { max, dtim }, "WIFI_PS_NONE".into()))
        }
        // Without frames of ESP-NOW it is the device's own access point that moved.
        cause if cause.is("channel-moved") && unheard => {
            let network = events().find_map(|it| match it {
                LogEvent::Channel(channel) if (1..=13).contains(channel) => Some(*channel),
                _ => None,
            })?;
            // Where the peer stayed is not in the log; a radio that was not told has channel 1.
            let peer = if network == 1 { 6 } else { 1 };
            Some((SceneQuestion::Channels { network, peer }, format!("both on channel {network}")))
        }
        cause if cause.is("slow-phy") => {
            let old = events().any(|it| *it == LogEvent::Phy(PhyGeneration::G));
            let slow = events().any(|it| matches!(it, LogEvent::PhyRate(1000)));
            if slow {
                return Some((SceneQuestion::SlowEspNow, "24 Mbit/s".into()));
            }
            old.then(|| (SceneQuestion::OldPhy, "802.11n".into()))
        }
        _ => None,
    }
}

/// Returns the remedy that the lab can try, with its words.
fn remedy(it: &CauseFinding) -> Option<(LabRemedy, String)> {
    match it.cause {
        cause if cause.is("power-save") => Some((LabRemedy::Awake, "WIFI_PS_NONE".into())),
        TroubleCause::Settings(_) => {
            let option = |it: &espbench_measure::tune::check::SettingChange| {
                let option = ConfigOption::find(&it.name)?;
                Some((option, option.of_text(&it.to)?))
            };
            let changes: Vec<_> = it.set.iter().filter_map(option).collect();
            let words: Vec<String> =
                it.set.iter().map(|it| format!("{}={}", it.name, it.to)).collect();
            (!changes.is_empty()).then(|| (LabRemedy::Settings(changes), words.join(" and ")))
        }
        _ => None,
    }
}

/// Says why the lab cannot show the first cause.
pub(super) fn cannot(diagnosis: &Diagnosis) -> Option<ProofOutcome> {
    let why = match diagnosis.findings.first()?.cause {
        TroubleCause::Disconnections(_) => {
            "what the access point and the air did is not in the files, nor a weak signal"
        }
        TroubleCause::OtherBuild => "a build is not the lab's",
        TroubleCause::Losses(_) | TroubleCause::CellsFailed => {
            "the run has its own record: espbench run --on sim carries its plan out in the lab"
        }
        TroubleCause::Named(it) => {
            it.0.lab.as_deref().unwrap_or("its devices do not run that part of the program")
        }
        TroubleCause::Settings(_) => "what the files tell is not enough to set the lab up for it",
    };
    Some(ProofOutcome::CannotShow(why.into()))
}
