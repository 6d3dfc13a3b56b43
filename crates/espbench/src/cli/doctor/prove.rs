//! The first cause, shown in the lab.

use crate::labs;
use espbench_doctor::finding::{CauseFinding, Diagnosis, TroubleCause};
use espbench_doctor::incident::IncidentDiagnosis;
use espbench_doctor::report::{ProofOutcome, ShownProof};
use espbench_engine::proof::{
    LabProof, LabRemedy, PROOF_LAB, ProofRequest, proof_round_trip, prove,
};
use espbench_measure::tune::RoundTrip;
use espbench_model::sdkconfig::ConfigOption;
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
    found: &IncidentDiagnosis,
) -> anyhow::Result<Option<ProofOutcome>> {
    let reading = found.settings.clone().unwrap_or_default();
    for it in &found.diagnosis.findings {
        let (Some(remedy), Some((library, _))) = (remedy(it), &bench.made) else { continue };
        let request = ProofRequest { reading: reading.clone(), remedy: remedy.0 };
        let Some(shown) = prove(&request, library)? else { continue };
        return Ok(Some(ProofOutcome::Lab(proof(it.cause, shown, remedy.1))));
    }
    Ok(cannot(&found.diagnosis))
}

fn proof(cause: TroubleCause, it: LabProof, remedy: String) -> ShownProof {
    let LabProof { place, metric, before, after, seeds, shown } = it;
    ShownProof { cause, place, reproduced: shown, remedy, metric, before, after, seeds }
}

/// Returns the remedy that the lab can try, with its words.
fn remedy(it: &CauseFinding) -> Option<(LabRemedy, String)> {
    match it.cause {
        TroubleCause::PowerSave => Some((LabRemedy::Awake, "WIFI_PS_NONE".into())),
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
        TroubleCause::Brownout => "it has no supply that falls",
        TroubleCause::Panic | TroubleCause::StackOverflow | TroubleCause::Watchdog => {
            "it does not run the program that crashes"
        }
        TroubleCause::Heap => "it does not know what else the program keeps on the heap",
        TroubleCause::SendBuffers => "how fast the program sends is not in the files",
        TroubleCause::ChannelMoved | TroubleCause::EspNowUnheard | TroubleCause::EspNow(_) => {
            "channels and places of the peers are not in the files"
        }
        TroubleCause::Disconnections(_) => {
            "what the access point and the air did is not in the files"
        }
        TroubleCause::Connections => "what the server does is not in the files",
        TroubleCause::OtherBuild => "a build is not the lab's",
        TroubleCause::Losses(_) | TroubleCause::CellsFailed => {
            "the run has its own record: espbench run --on sim carries its plan out in the lab"
        }
        _ => "what the files tell is not enough to set the lab up for it",
    };
    Some(ProofOutcome::CannotShow(why.into()))
}
