//! `espbench capture`: what captures tell of ESP-NOW, the medium and TCP; a dissector for Wireshark.

use super::common::{Format, OutputArgs, TOOL};
use super::output;
use crate::cli::file::replace;
use crate::say::say;
use crate::user_error::{ForUser as _, UserError};
use crate::{named_file, render};
use anyhow::{Context as _, bail};
use espbench_capture::air::esp_now::{CaptureKeys, KeyFileFault};
use espbench_capture::analysis::{CaptureAnalysis, CaptureSummary};
use espbench_capture::document::CaptureDocument;
use espbench_capture::file::CaptureError;
use espbench_capture::{lua, report};
use espbench_measure::report::Report;
use espbench_measure::run::RunFacts;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const AFTER_HELP: &str = "\
A capture is pcap or pcapng of any order of bytes: of the air in monitor mode (bare 802.11, radiotap, PPI), or of \
IP (Ethernet, raw IP, Linux cooked). A file of any length is read in little memory.

Examples:
  espbench capture air.pcapng
  espbench capture air.pcapng --full
  espbench capture air.pcapng --keys keys.txt -o air.html
  tcpdump -i eth0 -w - host 192.0.2.7 | espbench capture -
  espbench capture --lua > espnow.lua; tshark -X lua_script:espnow.lua -r air.pcapng -Y espnow

Exit status: 0 read, 2 a file is no capture or cannot be read.";

/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Captures, each by itself; `-` is stdin
    #[arg(required_unless_present = "lua", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Keys of the esp-now component, one a line: 32 hexadecimal digits, and up to release 2.2 the 16 of its nonce
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Print a dissector of the component's frames for Wireshark and tshark
    #[arg(long, conflicts_with_all = ["files", "keys", "format", "full", "published", "output"])]
    lua: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// A capture that was read.
struct Captured {
    document: CaptureDocument,
    seen: CaptureSummary,
}

/// Runs the subcommand.
///
/// # Errors
/// A file cannot be read or is no capture; the output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.lua {
        output::print(&lua::dissector())?;
        return Ok(ExitCode::SUCCESS);
    }
    check(args)?;
    let captured = args.files.iter().map(|path| {
        let name = if path == Path::new("-") { "stdin".into() } else { path.display().to_string() };
        let keys = keys(args.keys.as_deref())?;
        let seen = if path == Path::new("-") {
            analyse(&name, keys, io::stdin().lock())?
        } else {
            let remedy = "name a file of pcap or pcapng, or - for stdin";
            let file = File::open(path).for_user(|| format!("cannot read {name}"), remedy)?;
            analyse(&name, keys, file)?
        };
        Ok(Captured { document: CaptureDocument::of(&name, &seen), seen })
    });
    let captured: Vec<Captured> = captured.collect::<anyhow::Result<_>>()?;
    for path in &args.output.output {
        let text = draw(&captured, Format::of_file(path)?, true)?;
        replace(path, text.as_bytes()).with_context(|| output::cannot_write(path))?;
        say!("wrote {}", path.display());
    }
    output::print_drawing(&draw(&captured, args.output.format, args.output.full)?)?;
    Ok(ExitCode::SUCCESS)
}

fn check(args: &Args) -> anyhow::Result<()> {
    if args.output.format == Format::Jsonl {
        bail!(
            UserError::new("a capture cannot be drawn as lines of JSON")
                .because("its figures are those of the whole file")
                .remedy("draw it as text, json, csv, markdown or html")
        );
    }
    output::without_published(&args.output, "in capture")?;
    output::without_results(&args.output, "a capture")?;
    output::check(&args.output)?;
    let formats = args.output.output.iter().map(|it| Format::of_file(it));
    let formats: Vec<Format> = formats.collect::<anyhow::Result<_>>()?;
    let is_page = formats.contains(&Format::Html) || args.output.format == Format::Html;
    if args.files.len() > 1 && is_page {
        bail!(
            UserError::new("a page is of one capture")
                .because(format!("{} files were named", args.files.len()))
                .remedy("name one, or merge them with mergecap")
        );
    }
    Ok(())
}

fn keys(path: Option<&Path>) -> anyhow::Result<CaptureKeys> {
    let Some(path) = path else { return Ok(CaptureKeys::default()) };
    let remedy = "a line has the 32 hexadecimal digits of the AES key, and up to component 2.2 the 16 of its nonce";
    let what = || format!("cannot read the keys of {}", path.display());
    let text = named_file::text(path, named_file::WRITTEN).for_user(what, remedy)?;
    CaptureKeys::read(&text).map_err(|fault| {
        let because = match fault {
            KeyFileFault::Line(number) => format!("line {number} is no key"),
            KeyFileFault::Empty => "there is no key in it".into(),
            KeyFileFault::Many => "it has more than 64 keys".into(),
        };
        UserError::new(what()).because(because).remedy(remedy).into()
    })
}

/// Reads a capture to its end, or to where it is damaged.
///
/// # Errors
/// It is no capture, or cannot be read.
fn analyse(name: &str, keys: CaptureKeys, mut from: impl Read) -> anyhow::Result<CaptureSummary> {
    let mut analysis = CaptureAnalysis::new(keys);
    let mut buffer = vec![0; CHUNK];
    let mut fault: Option<CaptureError> = None;
    while fault.is_none() {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => fault = analysis.push(&buffer[..length]).err(),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => bail!(UserError::new(format!("cannot read {name}")).because(why)),
        }
    }
    let remedy = "name a file that Wireshark, tshark, tcpdump or espbench --pcap has written";
    let seen = analysis.finish(fault).for_user(|| format!("{name} is no capture"), remedy)?;
    Ok(seen)
}

fn report_of(it: &Captured) -> Report {
    let target = it.document.file.clone();
    let name = format!("capture {target}");
    let origin = it.document.origin;
    let facts = RunFacts { name, target, origin, tool: TOOL.into(), ..RunFacts::default() };
    report::report(facts, &it.document, &it.seen)
}

fn draw(captured: &[Captured], format: Format, full: bool) -> anyhow::Result<String> {
    let all = || captured.iter().map(|it| &it.document);
    Ok(match format {
        Format::Json | Format::Jsonl => {
            let documents: Vec<_> = all().collect();
            render::json::pretty(&documents)?
        }
        Format::Csv => {
            let documents: Vec<_> = all().cloned().collect();
            render::csv::of_table(&report::figures(&documents))
        }
        Format::Html => captured.iter().map(|it| render::html::render(&report_of(it))).collect(),
        Format::Markdown => {
            let draw = |it: &Captured| render::markdown::render(&report_of(it));
            captured.iter().map(draw).collect::<Vec<_>>().join("\n")
        }
        // Formats for CI were refused.
        _ => {
            let screen = output::screen();
            let draw = |it: &Captured| {
                let tables = if full { report::shown(&it.document) } else { Vec::new() };
                render::capture::text(&it.document, &tables, captured.len(), screen)
            };
            captured.iter().map(draw).collect::<Vec<_>>().join("\n")
        }
    })
}
