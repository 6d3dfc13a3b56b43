//! `espbench tune --check`.

use super::super::common::{Format, TOOL};
use super::super::output::{self, cannot_write, print_drawing};
use super::lab::{TrialPool, advised, file, lab, lab_of_place};
use super::{Args, rtt};
use crate::cli::file::replace;
use crate::cli::sdkconfig;
use crate::render;
use crate::say::say;
use crate::user_error::UserError;
use anyhow::Context as _;
use espbench_engine::tune::{TuneError, TuneFile, TuneLab, simulate};
use espbench_measure::cell::Origin;
use espbench_measure::run::RunFacts;
use espbench_measure::tune::RoundTrip;
use espbench_measure::tune::check::{
    CheckInput, Checked, CoProcessorConfig, Severity, check, check_pair, report,
};
use espbench_model::sdkconfig::memory::Traffic;
use espbench_model::sdkconfig::{ParsedSdkConfig, SdkContext};
use espbench_model::speech::FlagValue;
use espbench_model::text::count;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(
    args: &Args,
    path: &Path,
    co_processor: Option<&Path>,
) -> anyhow::Result<ExitCode> {
    let formats = args.output.output.iter().map(|path| Format::of_file(path));
    let formats: Vec<Format> = formats.collect::<anyhow::Result<_>>()?;
    for format in formats.iter().chain([&args.output.format]) {
        let results = format.is_for_ci() && *format != Format::Sarif;
        if results || matches!(format, Format::Csv | Format::Jsonl) {
            return Err(UserError::new("a check cannot be drawn as results or as lines of JSON")
                .because("it has findings, and no rows of results")
                .remedy("draw it as text, json, markdown, html or sarif")
                .into());
        }
    }
    output::without_published(&args.output, "in tune")?;
    output::can_be_written(&args.output)?;
    let (file, text) = (file(args, path)?, sdkconfig::text(path)?);
    let beside = co_processor.map(|it| beside(&file, it)).transpose()?;
    // The lab has no host with a co-processor beside it.
    let made = match file.reading.hosted.is_host {
        true => None,
        false => Some(lab(args, Some(file.clone()))?),
    };
    let (lab, rtt) = match made {
        None => (None, place(args)?),
        Some(Ok(lab)) => {
            let rtt = lab.rtt().clone();
            (Some(lab), rtt)
        }
        // What the lab cannot simulate is checked all the same, with the round trip of its place.
        Some(Err(TuneError::NoProfile { .. })) => (None, place(args)?),
        Some(Err(wrong)) => return Err(advised(wrong)),
    };
    let question = question(args, file, rtt, lab.as_ref());
    let mut checked = match &beside {
        Some((name, reading)) => check_pair(&question, &CoProcessorConfig { name, reading }),
        None => check(&question),
    };
    if let Some(lab) = &lab {
        let mut runner = TrialPool::new(args)?;
        simulate(&mut checked, &question, lab, &mut runner)?;
    }
    let facts = facts(&checked, lab.as_ref());
    for (path, format) in args.output.output.iter().zip(formats) {
        let drawn = draw(&checked, (&facts, &text), format, true)?;
        replace(path, drawn.as_bytes()).with_context(|| cannot_write(path))?;
        if !args.lab.quiet {
            say!("wrote {}", path.display());
        }
    }
    if let Some(path) = &args.fragment {
        let text = render::tune::advice_fragment(&checked);
        replace(path, text.as_bytes()).with_context(|| cannot_write(path))?;
        if !args.lab.quiet {
            say!("wrote {}", path.display());
        }
    }
    print_drawing(&draw(&checked, (&facts, &text), args.output.format, args.output.full)?)?;
    let wrong = args.file.strict && checked.count(Severity::Wrong) > 0;
    Ok(if wrong { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Reads the sdkconfig of the chip beside a host.
///
/// # Errors
/// It cannot be read, or the two are none of a host and its co-processor.
fn beside(host: &TuneFile, path: &Path) -> anyhow::Result<(String, ParsedSdkConfig)> {
    let name = path.display().to_string();
    let remedy = format!(
        "name the sdkconfig of the host first, and that of the co-processor's firmware behind it: {}",
        FlagValue("--check", "HOST SLAVE")
    );
    let wrong = |what: String, why: &str| UserError::new(what).because(why).remedy(remedy.as_str());
    if !host.reading.hosted.is_host {
        let what = format!("{} is no host with a co-processor beside it", host.name);
        return Err(wrong(what, "it has no option of esp_wifi_remote or ESP-Hosted's host").into());
    }
    let reading = sdkconfig::file(path)?;
    if reading.hosted.is_host {
        let what = format!("{name} is no co-processor");
        return Err(wrong(what, "it has options of a host, too").into());
    }
    Ok((name, reading))
}

/// Returns the round trip that was asked for, or that of the lab with its own device.
fn place(args: &Args) -> anyhow::Result<RoundTrip> {
    match &args.rtt {
        Some(asked) => rtt::round_trip(asked, &args.store),
        None => Ok(lab_of_place(args)?.map_err(advised)?.rtt().clone()),
    }
}

fn question(args: &Args, file: TuneFile, rtt: RoundTrip, lab: Option<&TuneLab>) -> CheckInput {
    let (known, reading) = (SdkContext::default(), file.reading);
    let chip = args.chip.or(reading.chip).or_else(|| Some(lab?.context().chip));
    let context = SdkContext {
        chip: chip.unwrap_or(known.chip),
        release: args.idf.or(reading.release).unwrap_or(known.release),
        ..known
    };
    let udp_sockets = args.file.udp_sockets.unwrap_or(1);
    CheckInput {
        file: file.name,
        reading,
        context,
        chip_is_said: args.chip.is_some(),
        traffic: Traffic { streams: args.streams, udp_sockets },
        rtt,
        burst: args.file.burst,
        heap: args.heap,
    }
}

/// Returns the facts of the page.
fn facts(checked: &Checked, lab: Option<&TuneLab>) -> RunFacts {
    let (target, tool) = (checked.file.clone(), TOOL.into());
    let host = std::collections::BTreeMap::from([("checked".to_string(), checked.head())]);
    let facts =
        lab.map_or_else(|| RunFacts { target, tool, ..RunFacts::default() }, |it| it.facts(0));
    RunFacts { name: format!("tune --check {}", checked.file), host, ..facts }
}

/// Draws a check, with the facts of its page and the text of its file.
fn draw(
    checked: &Checked,
    (facts, text): (&RunFacts, &str),
    format: Format,
    full: bool,
) -> anyhow::Result<String> {
    Ok(match format {
        Format::Sarif => render::sarif::render(checked, text),
        Format::Json => render::json::pretty(checked)?,
        Format::Markdown => render::tune::check_markdown(checked),
        Format::Html => render::html::render(&report(facts.clone(), checked)),
        _ if full => render::tune::check_text(checked, output::screen()),
        _ => {
            let more = checked.findings.len() - checked.count(Severity::Wrong);
            let more = format!(
                "{}, ranks and memory: --full, or -o FILE.html",
                count(more, "more finding")
            );
            let origin = checked.place.as_ref().map(|_| Origin::Simulated);
            render::tune::first_screen(&checked.card(), origin, &more, output::screen())
        }
    })
}
