//! From the check's findings to causes, and what the files say against each other.

use super::{ConfigFile, PrintedSettings, place_words};
use crate::finding::{CauseFinding, Certainty, TroubleCause};
use crate::log::LogPlace;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_measure::tune::RoundTrip;
use espbench_measure::tune::check::{CheckInput, Checked, Finding, Severity, check};
use espbench_model::sdkconfig::memory::Traffic;
use espbench_model::sdkconfig::{ConfigOption, ParsedSdkConfig, SdkContext};

/// Places of a setting finding, at most.
const PLACES: usize = 8;

/// Contradictions that are told one by one.
const TOLD: usize = 6;

/// Settings of one incident.
pub(crate) struct Checkable<'a> {
    pub(crate) name: &'a str,
    pub(crate) printed: PrintedSettings,
    pub(crate) file: Option<&'a ConfigFile>,
    pub(crate) rtt: RoundTrip,
}

/// Findings about settings, with what is behind them.
pub(crate) struct SettingsChecked {
    pub(crate) findings: Vec<CauseFinding>,
    pub(crate) contradictions: Vec<String>,
    pub(crate) notes: Vec<String>,
    /// The check, and the settings that it was made of; none where no setting is known.
    pub(crate) check: Option<(Checked, ParsedSdkConfig)>,
}

/// Checks settings.
pub(crate) fn checked(it: &Checkable<'_>) -> SettingsChecked {
    let reading = in_effect(it);
    let mut out = SettingsChecked {
        findings: Vec::new(),
        contradictions: Vec::new(),
        notes: Vec::new(),
        check: None,
    };
    let context = context(&reading);
    other_build(it, &context, &mut out);
    if reading.settings.given().next().is_none() {
        return out;
    }
    let input = CheckInput {
        file: it.name.into(),
        reading: reading.clone(),
        context,
        chip_is_said: false,
        traffic: Traffic { streams: 1, udp_sockets: 1 },
        rtt: it.rtt.clone(),
        burst: None,
        heap: None,
    };
    let checked = check(&input);
    if checked.chip_assumed && it.file.is_some() {
        let who = match it.printed == PrintedSettings::default() {
            true => "The sdkconfig names no chip (CONFIG_IDF_TARGET)",
            false => "Neither log nor sdkconfig names the chip",
        };
        out.notes.push(format!("{who}: taken as {}.", checked.chip));
    }
    let is_alone = it.file.is_some() && it.printed == PrintedSettings::default();
    for found in &checked.findings {
        match cause(it, found, &reading, &context) {
            Some(cause) => out.findings.push(cause),
            None if found.rule == "window-rtt" => out.notes.push(format!("{}.", found.what)),
            // Beside a log it is no cause; of a file alone the check says the same.
            None if is_alone && found.severity != Severity::Note => {
                out.notes.push(format!("{}.", found.what));
            }
            None => {}
        }
    }
    out.check = Some((checked, reading));
    out
}

/// Returns the settings in effect: the log's, which the firmware printed, over those of the file.
fn in_effect(it: &Checkable<'_>) -> ParsedSdkConfig {
    let printed = &it.printed.reading;
    let mut reading = it.file.map_or_else(ParsedSdkConfig::default, |it| it.reading.clone());
    for (option, value) in printed.settings.given() {
        reading.settings.set(option, value);
    }
    reading.chip = printed.chip.or(reading.chip);
    reading.release = printed.release.or(reading.release);
    reading.clock_mhz = printed.clock_mhz.or(reading.clock_mhz);
    reading
}

fn context(reading: &ParsedSdkConfig) -> SdkContext {
    let usual = SdkContext::default();
    let context = SdkContext {
        chip: reading.chip.unwrap_or(usual.chip),
        release: reading.release.unwrap_or(usual.release),
        ..usual
    };
    reading.settings.context(context)
}

/// Returns the place that gives an option its value in effect.
fn place<'a>(it: &'a Checkable<'_>, option: ConfigOption) -> Option<&'a LogPlace> {
    it.printed.lines.get(&option).or_else(|| it.file?.lines.get(&option))
}

/// Returns a finding of the check as a cause. What limits is one where somebody chose a small value: half of the
/// default or less, or a flag that is off; defaults limit, too, and are no mistake.
fn cause(
    it: &Checkable<'_>,
    found: &Finding,
    reading: &ParsedSdkConfig,
    context: &SdkContext,
) -> Option<CauseFinding> {
    // MicroPython and others leave these buffers without a limit on purpose: where a log shows that the heap is used up for it, that
    // is the finding.
    if found.rule == "dynamic-rx" && found.severity == Severity::Wrong && it.file.is_none() {
        return None;
    }
    let options: Vec<ConfigOption> =
        found.set.iter().filter_map(|it| ConfigOption::find(&it.name)).collect();
    let small = |option: &ConfigOption| {
        let given = reading.settings.get(*option);
        given.is_some_and(|it| 2 * u64::from(it) <= u64::from(option.default_in(context)))
    };
    let certainty = match found.severity {
        Severity::Wrong => Certainty::Medium,
        Severity::Limits if options.iter().any(small) => Certainty::Medium,
        Severity::Limits | Severity::Note => return None,
    };
    // Of what limits, only the small values are to blame.
    let blamed = |option: &&ConfigOption| found.severity == Severity::Wrong || small(option);
    let places = options.iter().filter(blamed).filter_map(|option| place(it, *option));
    let mut evidence: Vec<LogPlace> = places.cloned().collect();
    // A default that is too small beside a value that the file has.
    if evidence.is_empty() && found.severity == Severity::Wrong {
        evidence
            .extend(against(found.rule).iter().filter_map(|option| place(it, *option)).cloned());
    }
    evidence.sort_by_key(|it| it.line);
    evidence.dedup();
    evidence.truncate(PLACES);
    if evidence.is_empty() {
        return None;
    }
    let alternatives = is_choice(found);
    let joint = if alternatives { " or " } else { " and " };
    let lines = found.set.iter().map(|it| format!("{}={} (now {})", it.name, it.to, it.from));
    let lines = lines.collect::<Vec<_>>().join(joint);
    let why = first_sentence(&found.why);
    let remedy = if lines.is_empty() { why.into() } else { format!("set {lines}: {why}") };
    let mut set = found.set.clone();
    if alternatives {
        set.truncate(1);
    }
    Some(CauseFinding {
        cause: TroubleCause::Settings(found.rule),
        record: None,
        title: found.what.clone(),
        certainty,
        incidents: 1,
        share: 0.0,
        link: None,
        follows_from: None,
        evidence,
        remedy,
        confirm: "the same test is faster, or loses less, with the change".into(),
        set,
    })
}

/// Returns the options beside which those of a rule are wrong.
fn against(rule: &str) -> &'static [ConfigOption] {
    match rule {
        "tcpip-mailbox" => &[ConfigOption::TcpMailbox, ConfigOption::UdpMailbox],
        _ => &[],
    }
}

/// Returns whether one of a finding's changes is enough: larger buffers, or smaller windows.
fn is_choice(found: &Finding) -> bool {
    match found.rule {
        "window" => found.severity == Severity::Wrong,
        "send-buffer" | "rx-ba-window" => found.set.len() == 2,
        _ => false,
    }
}

/// Returns the first sentence of a text without its full stop.
fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |it| it.0).trim_end_matches('.')
}

/// Finds values that the log prints and the file does not have.
fn other_build(it: &Checkable<'_>, context: &SdkContext, out: &mut SettingsChecked) {
    let Some(file) = it.file else { return };
    let mut evidence = Vec::new();
    if let (Some(printed), Some(own)) = (it.printed.reading.chip, file.reading.chip)
        && printed != own
    {
        let line = it.printed.chip.as_ref().map(place_words).unwrap_or_default();
        out.contradictions
            .push(format!("The sdkconfig is for the {own}, but {line} names the {printed}."));
        evidence.extend(it.printed.chip.clone());
    }
    let mut differ = 0;
    for (option, value) in it.printed.reading.settings.given() {
        if file.reading.settings.get(option).is_none() {
            continue;
        }
        let own = file.reading.settings.value(option, context);
        if own == value {
            continue;
        }
        differ += 1;
        let [log, file] = [it.printed.lines.get(&option), file.lines.get(&option)];
        let (Some(log), Some(file)) = (log, file) else { continue };
        if differ <= TOLD {
            out.contradictions.push(format!(
                "{}: {} prints {}, {} has {}.",
                option.name_for(context.chip, context.release),
                place_words(log),
                option.text(value),
                place_words(file),
                option.text(own)
            ));
        }
        evidence.extend([log.clone(), file.clone()]);
    }
    if differ > TOLD {
        out.contradictions.push(format!("{} further settings differ.", differ - TOLD));
    }
    if evidence.is_empty() {
        return;
    }
    evidence.truncate(PLACES);
    out.findings.push(CauseFinding {
        cause: TroubleCause::OtherBuild,
        record: None,
        title: "the firmware on the board was not built with this sdkconfig".into(),
        certainty: Certainty::High,
        incidents: 1,
        share: 0.0,
        link: None,
        follows_from: None,
        evidence,
        remedy: "build and flash it again; a change of sdkconfig.defaults counts only once the sdkconfig is deleted \
                 (or idf.py reconfigure after it), and Arduino's libraries come built"
            .into(),
        confirm: "the boot log then prints the values of the file".into(),
        set: Vec::new(),
    });
}
