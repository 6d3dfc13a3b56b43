//! `espbench doctor`: the cause of trouble, from console logs, captures, sdkconfig files and stored runs.
//!
//! | module | contents |
//! |---|---|
//! | `input` | what a file is, by its contents, and what it holds |
//! | `prove` | the first cause, shown in the lab |

mod input;
mod prove;

use super::common::{Format, OutputArgs, StoreArgs, TOOL};
use super::output;
use crate::cli::file::replace;
use crate::render;
use crate::say::say;
use crate::user_error::UserError;
use anyhow::Context as _;
use espbench_doctor::finding::DiagnosisVerdict;
use espbench_doctor::incident::{Incident, IncidentDiagnosis, diagnose};
use espbench_doctor::log::LogSummary;
use espbench_doctor::report::{DiagnosisEntry, DoctorDocument, SCHEMA, answer, causes, report};
use espbench_doctor::settings::ConfigFile;
use espbench_measure::run::RunFacts;
use espbench_measure::tune::RoundTrip;
use input::Found;
use std::path::PathBuf;
use std::process::ExitCode;

const AFTER_HELP: &str = "\
A log is what idf.py monitor, the Arduino IDE, ESPHome, minicom or another terminal shows of a board; \
colours, time stamps and mixed lines do not matter, and a log of any length is read in little memory. \
A capture is one in monitor mode (radiotap, PPI or bare frames) or of IP on the PC's side, as pcap or pcapng; \
`espbench capture` tells its figures. An sdkconfig beside logs is of their firmware: the settings are checked as tune --check does, and where \
the log prints others, that is said. A name that is no file is that of a stored run, or last.

Examples:
  espbench doctor boot.log
  espbench doctor boot.log sdkconfig -o diagnosis.html
  idf.py monitor | tee board.log; espbench doctor board.log --full
  espbench doctor --strict node-*.log
  espbench doctor air.pcapng
  espbench doctor last

Exit status: 0 read, 1 a cause was found and --strict was said, 2 a file is none of these, cannot be read, or cannot tell.";

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Console logs and captures, one device each; an sdkconfig of their firmware; a stored run; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Exit with 1 when a cause was found
    #[arg(long)]
    strict: bool,
    /// Do not show the first cause in the lab, which is set up as the files describe the device
    #[arg(long)]
    no_proof: bool,
    #[command(flatten, next_help_heading = "Runs and output")]
    store: StoreArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// A file cannot be read, or is none that the doctor reads; the output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    check_output(args)?;
    let found = args.files.iter().map(|path| input::read(path, &args.store));
    let found: Vec<Found> = found.collect::<anyhow::Result<_>>()?;
    let diagnoses = diagnoses(args, &found)?;
    let document = DoctorDocument { schema: SCHEMA, diagnoses };
    for path in &args.output.output {
        let text = draw(args, &document, Format::of_file(path)?, true)?;
        replace(path, text.as_bytes()).with_context(|| output::cannot_write(path))?;
        say!("wrote {}", path.display());
    }
    output::print_drawing(&draw(args, &document, args.output.format, args.output.full)?)?;
    let is_ill = |it: &DiagnosisEntry| it.diagnosis.verdict == DiagnosisVerdict::Causes;
    let ill = document.diagnoses.iter().any(is_ill);
    let tells = |it: &DiagnosisEntry| it.diagnosis.verdict != DiagnosisVerdict::CannotTell;
    Ok(match () {
        () if ill && args.strict => ExitCode::from(1),
        () if !document.diagnoses.iter().any(tells) => ExitCode::from(2),
        () => ExitCode::SUCCESS,
    })
}

fn check_output(args: &Args) -> anyhow::Result<()> {
    if args.output.format == Format::Jsonl {
        return Err(UserError::new("a diagnosis cannot be drawn as lines of JSON")
            .because("nothing happens over time in it")
            .remedy("draw it as text, json, csv, markdown or html")
            .into());
    }
    output::without_results(&args.output, "a diagnosis")?;
    output::without_published(&args.output, "in doctor")?;
    output::check(&args.output)
}

/// Returns a diagnosis of each log, with the sdkconfig beside it, of each run, and of an sdkconfig alone.
fn diagnoses(args: &Args, found: &[Found]) -> anyhow::Result<Vec<DiagnosisEntry>> {
    let mut logs: Vec<(usize, (&str, &LogSummary))> = Vec::new();
    let mut configs: Vec<(usize, (&str, &ConfigFile))> = Vec::new();
    // Each diagnosis has the place of its file.
    let mut all: Vec<(usize, DiagnosisEntry)> = Vec::new();
    for (at, it) in found.iter().enumerate() {
        match it {
            Found::Log(name, log) => logs.push((at, (name, log))),
            Found::Config(name, config) => configs.push((at, (name, config))),
            Found::Run(entry) => {
                let mut entry = (**entry).clone();
                if !args.no_proof {
                    entry.proof = prove::cannot(&entry.diagnosis);
                }
                all.push((at, entry));
            }
            Found::Capture(entry, scene) => {
                let mut entry = (**entry).clone();
                if !args.no_proof {
                    entry.proof = prove::capture(&entry.diagnosis, *scene)?;
                }
                all.push((at, entry));
            }
        }
    }
    if let ([_, second, ..], false) = (configs.as_slice(), logs.is_empty()) {
        return Err(UserError::new(format!("{} is a second sdkconfig beside logs", second.1.0))
            .because("logs and sdkconfig are of one firmware")
            .remedy("name the sdkconfig that the firmware was built with, alone")
            .into());
    }
    let bench = prove::ProofBench::new(!logs.is_empty() || !configs.is_empty())?;
    let rtt = bench.rtt();
    let config = configs.first().map(|it| it.1);
    for (at, log) in &logs {
        all.push((*at, entry(args, &bench, Some(*log), config, &rtt)?));
    }
    if logs.is_empty() {
        for (at, config) in &configs {
            all.push((*at, entry(args, &bench, None, Some(*config), &rtt)?));
        }
    }
    all.sort_by_key(|it| it.0);
    Ok(all.into_iter().map(|it| it.1).collect())
}

fn entry(
    args: &Args,
    bench: &prove::ProofBench,
    log: Option<(&str, &LogSummary)>,
    config: Option<(&str, &ConfigFile)>,
    rtt: &RoundTrip,
) -> anyhow::Result<DiagnosisEntry> {
    let files: Vec<String> =
        log.map(|it| it.0).into_iter().chain(config.map(|it| it.0)).map(String::from).collect();
    let incident = Incident {
        name: &files.join(" and "),
        log: log.map(|it| it.1),
        config: config.map(|it| it.1),
        rtt: rtt.clone(),
    };
    let found: IncidentDiagnosis = diagnose(&incident);
    let proof = if args.no_proof { None } else { prove::first(bench, log.map(|it| it.1), &found)? };
    Ok(DiagnosisEntry {
        files,
        lines: log.map(|it| it.1.lines),
        recorded: log.map(|it| it.1.recorded),
        answer: answer(&found.diagnosis),
        diagnosis: found.diagnosis,
        proof,
    })
}

fn draw(
    args: &Args,
    document: &DoctorDocument,
    format: Format,
    full: bool,
) -> anyhow::Result<String> {
    let page = || {
        let files: Vec<String> = args.files.iter().map(|it| it.display().to_string()).collect();
        let target = files.join(" ");
        let name = format!("doctor {target}");
        report(RunFacts { name, target, tool: TOOL.into(), ..RunFacts::default() }, document)
    };
    Ok(match format {
        Format::Json | Format::Jsonl => render::json::pretty(document)?,
        Format::Csv => render::csv::of_table(&causes(document)),
        Format::Markdown => render::doctor::markdown(document),
        Format::Html => render::html::render(&page()),
        // Formats for CI were refused.
        _ => render::doctor::text(document, full, output::screen()),
    })
}
