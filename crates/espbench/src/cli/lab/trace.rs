//! `espbench lab trace`: a trace of links from a capture, a console's log or a table.

use super::super::{file, output};
use crate::say::say;
use crate::user_error::UserError;
use anyhow::Context as _;
use espbench_doctor::file::{DoctorFileFault, is_binary};
use espbench_engine::traces::{TraceError, TraceReader, TraceSettings, TraceWindows};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Flags.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A capture in monitor mode (pcap or pcapng), a console's log, or CSV with the columns time, from, to, rssi,
    /// delivered
    file: PathBuf,
    /// Write the trace to this CSV file, which `[link] trace` of a lab names [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Station at which the frames were captured, or whose console it is: what it hears is of links to it
    #[arg(long, value_name = "STATION")]
    heard_at: Option<String>,
    /// Name of a station in the lab, for an address or name of the file; may be given several times
    #[arg(long, value_name = "ADDRESS=STATION", value_parser = pair)]
    station: Vec<(String, String)>,
    /// Time that one measurement is of
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=3_600_000))]
    window_ms: u32,
}

/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((address, station)) if !address.is_empty() && !station.is_empty() => {
            Ok((address.into(), station.into()))
        }
        _ => Err("use ADDRESS=STATION, such as 24:0a:c4:00:00:01=node0".into()),
    }
}

/// Converts the file.
///
/// # Errors
/// It cannot be read, tells of no link, or the trace cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let settings = TraceSettings {
        window: Duration::from_millis(args.window_ms.into()),
        at: args.heard_at.clone(),
        names: args.station.clone(),
    };
    let mut windows = TraceWindows::new(settings);
    let format = convert(&args.file, &mut windows)?;
    tell(format, &windows);
    let csv = windows.csv();
    if csv.lines().count() < 2 {
        let what = format!("{}: no link was measured in this {format}", args.file.display());
        let why = "frames to all and lines of a console are of links to where they were heard";
        let remedy = "name that station: --heard-at node1";
        return Err(UserError::new(what).because(why).remedy(remedy).into());
    }
    match &args.output {
        Some(path) => {
            file::replace(path, csv.as_bytes()).with_context(|| output::cannot_write(path))?;
        }
        None => output::print(&csv)?,
    }
    Ok(ExitCode::SUCCESS)
}

const REMEDY: &str = "`espbench lab trace --help` says what each must have";

/// Returns whether bytes begin no file that can be read: no capture, and no text either.
fn is_no_trace(bytes: &[u8]) -> bool {
    matches!(TraceReader::of(bytes), TraceReader::Console(_)) && is_binary(bytes)
}

/// Reads the file in chunks, and returns the name of its format.
fn convert(path: &Path, windows: &mut TraceWindows) -> anyhow::Result<&'static str> {
    let cannot = || format!("cannot read {}", path.display());
    let mut file = File::open(path).with_context(cannot)?;
    let mut chunk = vec![0; CHUNK];
    let mut reader: Option<TraceReader> = None;
    let wrong = |error: TraceError| {
        UserError::new(format!("{}: {error}", path.display()))
            .because("captures are read as pcap and pcapng with radiotap, other text as CSV or as a console's log")
            .remedy(REMEDY)
    };
    loop {
        let read = file.read(&mut chunk).with_context(cannot)?;
        let Some(bytes) = chunk.get(..read).filter(|it| !it.is_empty()) else { break };
        if reader.is_none() && is_no_trace(bytes) {
            let why = DoctorFileFault::Binary;
            anyhow::bail!(
                UserError::new(format!("{} is no trace", path.display()))
                    .because(why)
                    .remedy(REMEDY)
            );
        }
        let reader = reader.get_or_insert_with(|| TraceReader::of(bytes));
        reader.push(bytes, windows).map_err(wrong)?;
    }
    let mut reader = reader.unwrap_or_else(|| TraceReader::of(&[]));
    reader.finish(windows).map_err(wrong)?;
    Ok(reader.format())
}

/// Tells what was used, and for how long links were not measured.
fn tell(format: &str, windows: &TraceWindows) {
    let counts = windows.counts();
    let gaps = windows.gaps();
    say!("{format}: {} frames of {} links", counts.used, gaps.len());
    if counts.useless > 0 {
        say!("  {} frames tell nothing of a link, and were left out", counts.useless);
    }
    if counts.dropped > 0 {
        say!(
            "  {} frames were dropped: too many links or windows, or times that go back",
            counts.dropped
        );
    }
    let window_s = windows.settings().window.as_secs_f64();
    for gap in gaps.iter().filter(|it| it.missing > 0) {
        let (from, to) = &gap.link;
        say!(
            "  {from} to {to}: not measured in {} of {} windows, at most {:.1} s in a row; the last measurement \
             holds meanwhile",
            gap.missing,
            gap.missing + gap.windows as u64,
            gap.longest as f64 * window_s
        );
    }
    let has = |a: &str, b: &str| gaps.iter().any(|it| it.link.0 == a && it.link.1 == b);
    for (from, to) in gaps.iter().map(|it| &it.link).filter(|(a, b)| !has(b, a)) {
        say!("  {to} to {from}: not measured; a lab takes it to be as good as the other direction");
    }
}
