//! A stored run: its losses by cause, and its cells that failed, as findings.

use crate::finding::{CauseFinding, Certainty, Diagnosis, TroubleCause};
use crate::log::{EvidenceSource, LogPlace};
use crate::rules::ranked;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sample::{Cause, Fate, Sample};
use once_cell::race::OnceBox;
use serde::Deserialize;

/// Places kept of each cause.
const PLACES: usize = 8;

/// Share of probes from which on a loss is a finding: one in a thousand.
const LEAST: f64 = 1e-3;

/// Losses and failures of a run, cell by cell, in bounded memory.
#[derive(Clone, Debug, Default)]
pub struct RunLosses {
    probes: u64,
    delivered: u64,
    causes: BTreeMap<Cause, (u64, Vec<LogPlace>)>,
    corrupt: u64,
    late: u64,
    failures: (u64, Vec<LogPlace>),
    cell: String,
    at: u64,
}

impl RunLosses {
    /// Begins the next cell, of that name, with the error for which it was not measured.
    pub fn begin(&mut self, cell: &str, error: Option<&str>) {
        self.cell = cell.into();
        self.at = 0;
        if let Some(error) = error {
            self.failures.0 += 1;
            let text = format!("{cell}: {error}");
            push(&mut self.failures.1, self.failures.0, text);
        }
    }

    /// Takes the cell's next sample.
    pub fn add(&mut self, sample: &Sample) {
        self.at += 1;
        let Sample::Probe(probe) = sample else { return };
        match probe.fate {
            // A further copy is of a probe that counted already.
            Fate::Duplicate => return,
            Fate::Delivered => self.delivered += 1,
            Fate::Late => self.late += 1,
            Fate::Corrupt => self.corrupt += 1,
            Fate::Lost(cause) => {
                let (count, places) = self.causes.entry(cause).or_default();
                *count += 1;
                push(places, self.at, format!("{}, probe {}", self.cell, probe.seq));
            }
        }
        self.probes += 1;
    }

    /// Returns the diagnosis; `warnings` are those of the run's report.
    #[must_use]
    pub fn finish(self, warnings: Vec<String>) -> Diagnosis {
        let mut findings = Vec::new();
        for (cause, (count, places)) in self.causes {
            let is_few = (count as f64) < LEAST * self.probes as f64;
            if is_few || cause == Cause::Stopped {
                continue;
            }
            let certainty = if cause == Cause::Unknown { Certainty::Low } else { Certainty::High };
            let Some(LossWords { title, remedy, confirm, .. }) = words(cause) else { continue };
            let share = 100.0 * count as f64 / self.probes.max(1) as f64;
            findings.push(CauseFinding {
                cause: TroubleCause::Losses(cause),
                record: None,
                title: format!("{title} ({count} of {} probes, {share:.1} %)", self.probes),
                certainty,
                incidents: count,
                share: 0.0,
                link: None,
                follows_from: None,
                evidence: places,
                remedy: remedy.clone(),
                confirm: confirm.clone(),
                set: Vec::new(),
            });
        }
        if self.failures.0 > 0 {
            findings.push(CauseFinding {
                cause: TroubleCause::CellsFailed,
                record: None,
                title: format!("cells could not be measured ({})", self.failures.0),
                certainty: Certainty::High,
                incidents: self.failures.0,
                share: 0.0,
                link: None,
                follows_from: None,
                evidence: self.failures.1,
                remedy: "do what the cell's error says, then espbench run --resume measures what is missing".into(),
                confirm: "espbench report lists no failed cell".into(),
                set: Vec::new(),
            });
        }
        let mut notes = warnings;
        for (count, what) in
            [(self.late, "came after their time-out"), (self.corrupt, "came with other content")]
        {
            if count > 0 {
                notes.push(format!("{count} of {} probes {what}.", self.probes));
            }
        }
        ranked(findings, self.delivered > 0 || self.at > 0, notes)
    }
}

fn push(places: &mut Vec<LogPlace>, line: u64, text: String) {
    if places.len() < PLACES {
        places.push(LogPlace { source: EvidenceSource::Run, line, uptime_ms: None, text });
    }
}

/// Texts of a cause of losses.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LossWords {
    /// Names of the causes.
    causes: Vec<String>,
    title: String,
    remedy: String,
    confirm: String,
}

/// The file of causes of losses.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LossFile {
    loss: Vec<LossWords>,
}

static LOSSES: OnceBox<LossFile> = OnceBox::new();

/// Returns what a cause of losses is.
fn words(cause: Cause) -> Option<&'static LossWords> {
    let file = LOSSES.get_or_init(|| {
        let text = include_str!(concat!(env!("OUT_DIR"), "/losses.toml"));
        Box::new(toml::from_str(text).expect("the losses are tested"))
    });
    file.loss.iter().find(|it| it.causes.iter().any(|it| *it == cause.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::DiagnosisVerdict;
    use espbench_model::sample::Probe;

    #[test]
    fn each_cause_of_losses_has_its_words() {
        for cause in Cause::ALL {
            assert!(words(cause).is_some(), "{cause:?}");
        }
    }

    fn probe(seq: u64, fate: Fate) -> Sample {
        Sample::Probe(Probe { seq, fate, ..Probe::default() })
    }

    #[test]
    fn losses_are_findings_with_the_numbers_of_their_samples() {
        let mut run = RunLosses::default();
        run.begin("udp-echo, 100 B", None);
        for seq in 0..20 {
            let fate = if seq % 4 == 3 { Fate::Lost(Cause::Mailbox) } else { Fate::Delivered };
            run.add(&probe(seq, fate));
        }
        run.begin("udp-echo, 1400 B", Some("the peer did not answer"));
        let found = run.finish(Vec::new());
        // A cell that failed is worth more than a lost probe.
        assert_eq!(found.findings[0].cause, TroubleCause::CellsFailed);
        let lost = &found.findings[1];
        assert_eq!(lost.cause, TroubleCause::Losses(Cause::Mailbox));
        assert!(lost.title.ends_with("(5 of 20 probes, 25.0 %)"), "{found:#?}");
        let place = &lost.evidence[0];
        assert_eq!((place.line, place.text.as_str()), (4, "udp-echo, 100 B, probe 3"));
    }

    #[test]
    fn a_run_without_losses_has_nothing_wrong_and_an_empty_one_cannot_tell() {
        let mut run = RunLosses::default();
        run.begin("udp-echo, 100 B", None);
        run.add(&probe(0, Fate::Delivered));
        assert_eq!(run.finish(Vec::new()).verdict, DiagnosisVerdict::NothingWrong);
        assert_eq!(RunLosses::default().finish(Vec::new()).verdict, DiagnosisVerdict::CannotTell);
    }
}
