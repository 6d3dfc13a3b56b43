//! `espbench tune --check`.

use super::super::common::Format;
use super::super::output::{cannot_write, print};
use super::Args;
use crate::cli::file;
use crate::render;
use crate::say::say;
use anyhow::{Context as _, anyhow, bail};
use espbench_measure::tune::check::{CheckInput, Checked, Severity, check};
use espbench_model::sdkconfig::memory::Traffic;
use espbench_model::sdkconfig::{ParsedSdkConfig, SdkContext, read};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Files beyond this are no sdkconfig: the largest have some 100 KB.
const LARGEST: u64 = 16 << 20;

/// A busy Wi-Fi, or the next town.
const ROUND_TRIP: Duration = Duration::from_millis(5);

pub(super) fn run(args: &Args, path: &Path) -> anyhow::Result<ExitCode> {
    let formats = args.output.output.iter().map(|path| Format::of_file(path));
    let formats: Vec<Format> = formats.collect::<anyhow::Result<_>>()?;
    for format in formats.iter().chain([&args.output.format]) {
        if matches!(format, Format::Csv | Format::Html | Format::Jsonl) {
            bail!("a check is drawn as text, json or markdown");
        }
    }
    let text = text(path)?;
    let reading = read(&text).map_err(|wrong| anyhow!("{}: {wrong}", path.display()))?;
    let question = question(args, path, reading)?;
    let checked = check(&question);
    for (path, format) in args.output.output.iter().zip(formats) {
        file::replace(path, draw(&checked, format)?.as_bytes())
            .with_context(|| cannot_write(path))?;
        say!("wrote {}", path.display());
    }
    print(&draw(&checked, args.output.format)?)?;
    let wrong = args.file.strict && checked.count(Severity::Wrong) > 0;
    Ok(if wrong { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn text(path: &Path) -> anyhow::Result<String> {
    let named = || format!("cannot read {}", path.display());
    let facts = std::fs::metadata(path).with_context(named)?;
    if facts.is_dir() {
        bail!("{} is a folder: name the sdkconfig in it", path.display());
    }
    if facts.len() > LARGEST {
        bail!("{} is no sdkconfig: it is larger than {} MB", path.display(), LARGEST >> 20);
    }
    String::from_utf8(std::fs::read(path).with_context(named)?)
        .with_context(|| format!("{} is no text", path.display()))
}

fn question(args: &Args, path: &Path, reading: ParsedSdkConfig) -> anyhow::Result<CheckInput> {
    if let (Some(said), Some(own)) = (args.chip, reading.chip)
        && said != own
    {
        bail!("{} is for the {own}: leave out --chip {said}", path.display());
    }
    let known = SdkContext::default();
    let context = SdkContext {
        chip: args.chip.or(reading.chip).unwrap_or(known.chip),
        release: args.idf.or(reading.release).unwrap_or(known.release),
        psram: args.file.psram,
        ..known
    };
    Ok(CheckInput {
        file: path.display().to_string(),
        reading,
        context,
        traffic: Traffic { streams: args.streams, udp_sockets: args.file.udp_sockets },
        rtt: args.rtt.unwrap_or(ROUND_TRIP),
        burst: args.file.burst,
        heap: args.heap,
    })
}

fn draw(checked: &Checked, format: Format) -> anyhow::Result<String> {
    Ok(match format {
        Format::Json => serde_json::to_string_pretty(checked)? + "\n",
        Format::Markdown => render::tune::check_markdown(checked),
        _ => render::tune::check_text(checked),
    })
}
