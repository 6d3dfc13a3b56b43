//! An incident: a console log, an sdkconfig, or both, and one diagnosis.

use crate::finding::{Diagnosis, DiagnosisVerdict};
use crate::log::LogSummary;
use crate::rules;
use crate::settings::{Checkable, ConfigFile, PrintedSettings, checked};
use espbench_measure::tune::RoundTrip;
use espbench_measure::tune::check::Checked;
use espbench_model::sdkconfig::ParsedSdkConfig;

/// Files of one incident.
#[derive(Clone, Debug)]
pub struct Incident<'a> {
    /// Name of the files, for people.
    pub name: &'a str,
    /// Console log of the device.
    pub log: Option<&'a LogSummary>,
    /// Settings that its firmware was to be built with.
    pub config: Option<&'a ConfigFile>,
    /// Round trip to the other side, over which windows limit.
    pub rtt: RoundTrip,
}

/// A diagnosis, and what it knows of the firmware.
#[derive(Clone, Debug, PartialEq)]
pub struct IncidentDiagnosis {
    /// The diagnosis.
    pub diagnosis: Diagnosis,
    /// Settings in effect: those that the log prints, over those of the file.
    pub settings: Option<ParsedSdkConfig>,
    /// The check of them.
    pub check: Option<Checked>,
}

/// Returns the diagnosis of an incident.
///
/// ```
/// use core::time::Duration;
/// use espbench_doctor::incident::{Incident, diagnose};
/// use espbench_doctor::settings::ConfigFile;
///
/// let file = ConfigFile::read("CONFIG_LWIP_TCP_WND_DEFAULT=2440\n").unwrap();
/// let rtt = Duration::from_millis(5).into();
/// let found = diagnose(&Incident { name: "sdkconfig", log: None, config: Some(&file), rtt });
/// assert!(!found.diagnosis.findings.is_empty());
/// ```
#[must_use]
pub fn diagnose(incident: &Incident<'_>) -> IncidentDiagnosis {
    let own = incident.log.map(rules::diagnose);
    let printed = incident.log.map(PrintedSettings::of).unwrap_or_default();
    let found = checked(&Checkable {
        name: incident.name,
        printed,
        file: incident.config,
        rtt: incident.rtt.clone(),
    });
    let knows = incident.config.is_some() && found.check.is_some();
    let works = own.as_ref().is_some_and(|it| it.verdict != DiagnosisVerdict::CannotTell) || knows;
    let (mut findings, mut notes) = own.map(|it| (it.findings, it.notes)).unwrap_or_default();
    findings.extend(found.findings);
    notes.extend(found.notes);
    let contradictions = found.contradictions;
    let diagnosis = Diagnosis { contradictions, ..rules::ranked(findings, works, notes) };
    let (check, settings) = found.check.unzip();
    IncidentDiagnosis { diagnosis, settings, check }
}
