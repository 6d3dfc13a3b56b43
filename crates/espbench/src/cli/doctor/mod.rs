//! `espbench doctor`: the cause of trouble, from console logs, captures, sdkconfig files and stored runs.
//!
//! | module | contents |
//! |---|---|
//! | `diag` | the report of `idf.py diag` |
//! | `folder` | files of a folder of logs |
//! | `input` | what a file is, by its contents, and what it holds |
//! | `pipe` | a log from a pipe, as it comes |
//! | `program` | the program that a device ran |
//! | `prove` | the first cause, shown in the lab |
//! | `rules` | rules of a team's own, and which rules a line meets |

mod diag;
mod folder;
mod input;
mod pipe;
mod program;
mod prove;
mod rules;

use super::common::{Format, OutputArgs, StoreArgs, TOOL};
use super::{flow, output};
use crate::cli::file::replace;
use crate::render;
use crate::say::say;
use crate::user_error::UserError;
use anyhow::Context as _;
use espbench_doctor::crash::report::{add_dump, add_traces};
use espbench_doctor::crash::trace::CrashTraces;
use espbench_doctor::finding::{DiagnosisVerdict, TroubleCause};
use espbench_doctor::incident::{Incident, IncidentDiagnosis, diagnose};
use espbench_doctor::log::LogSummary;
use espbench_doctor::report::{
    DiagnosisEntry, DoctorDocument, ProofOutcome, SCHEMA, answer, causes, report,
};
use espbench_doctor::settings::ConfigFile;
use espbench_measure::run::RunFacts;
use espbench_measure::tune::RoundTrip;
use input::{Found, FoundFile, InputReader, NAMED_GROUP};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

const AFTER_HELP: &str = "\
A log is what idf.py monitor, the Arduino IDE, ESPHome, minicom or another terminal shows of a board; \
colours, time stamps and mixed lines do not matter, and a log of any length is read in little memory. \
A capture is one in monitor mode (radiotap, PPI or bare frames) or of IP on the PC's side, as pcap or pcapng; \
`espbench capture` tells its figures. A folder has logs of many devices. An sdkconfig beside logs is of their firmware: the settings are checked as tune --check does, and where \
the log prints others, that is said. A core dump and the report of idf.py diag are read, too; each file may be gzip. A name that is no file is that of a stored run, or last.

Examples:
  espbench doctor boot.log
  espbench doctor boot.log sdkconfig -o diagnosis.html
  idf.py monitor | espbench doctor -
  espbench doctor logs/
  espbench doctor boot.log --elf build/app.elf
  espbench doctor --strict node-*.log
  espbench doctor air.pcapng
  espbench doctor last
  espbench doctor --rules team.toml boot.log
  espbench doctor --explain 'E (6000) rpc_core: Response not received for [0x13f]'

Exit status: 0 read, 1 a cause was found and --strict was said, 2 a file is none of these, cannot be read, or cannot tell, \
130 stopped by Ctrl-C: the answer is of what was read.";

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Console logs and captures, one device each; a folder of logs; an sdkconfig of their firmware; a core dump; a stored run; `-` is stdin
    #[arg(required_unless_present = "explain", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Read logs with the rules and causes of this file, too (repeatable): docs/doctor-rules.md has their form
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
    /// Tell which rules a line of a log meets, and why those near to it do not
    #[arg(
        long,
        value_name = "LINE",
        conflicts_with_all = ["files", "strict", "no_proof", "format", "full", "output"]
    )]
    explain: Option<String>,
    /// Show the addresses of backtraces and core dumps as functions and lines of this ELF
    #[cfg(feature = "flash")]
    #[arg(long, value_name = "FILE", conflicts_with = "explain")]
    elf: Option<PathBuf>,
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
    let book = rules::book(&args.rules)?;
    if let Some(line) = &args.explain {
        output::print_text(&rules::explained(book, line))?;
        return Ok(ExitCode::SUCCESS);
    }
    let cancel = flow::on_interrupt()?;
    let mut reader = InputReader::new(&args.store, book, Arc::clone(&cancel));
    let mut found: Vec<FoundFile> = Vec::new();
    for path in &args.files {
        found.extend(reader.read(path)?);
    }
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
    let status = match () {
        () if ill && args.strict => ExitCode::from(1),
        () if !document.diagnoses.iter().any(tells) => ExitCode::from(2),
        () => ExitCode::SUCCESS,
    };
    Ok(flow::status(&cancel, status))
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
fn diagnoses(args: &Args, found: &[FoundFile]) -> anyhow::Result<Vec<DiagnosisEntry>> {
    let mut logs: Vec<(usize, usize, (&str, &LogSummary, &CrashTraces))> = Vec::new();
    let mut configs: Vec<(usize, usize, (&str, &ConfigFile))> = Vec::new();
    let elf = program::read(args)?;
    // Each diagnosis has the place of its file.
    let mut all: Vec<(usize, DiagnosisEntry)> = Vec::new();
    for (at, FoundFile { group, found }) in found.iter().enumerate() {
        match found {
            Found::Log(name, log, crashes) => logs.push((at, *group, (name, log, crashes))),
            Found::Config(name, config) => configs.push((at, *group, (name, config))),
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
            Found::CoreDump(entry, dump) => {
                let mut entry = (**entry).clone();
                add_dump(elf.as_ref(), dump, None, &mut entry);
                if !args.no_proof {
                    entry.proof = prove::cannot(&entry.diagnosis);
                }
                all.push((at, entry));
            }
        }
    }
    let beside = logs.iter().map(|it| config_of(it.1, &configs));
    let beside: Vec<Option<(&str, &ConfigFile)>> = beside.collect::<Result<_, _>>()?;
    let is_beside_none = |it: &&(usize, usize, (&str, &ConfigFile))| {
        it.1 == NAMED_GROUP && beside.iter().flatten().all(|of_log| !std::ptr::eq(of_log.1, it.2.1))
    };
    if let (Some(config), false) = (configs.iter().find(is_beside_none), logs.is_empty()) {
        return Err(UserError::new(format!("{} is the sdkconfig of no log", config.2.0))
            .because("each log has an sdkconfig of its own beside it, in its folder")
            .remedy("leave it out, or name the logs in place of their folders")
            .into());
    }
    let bench = prove::ProofBench::new(!logs.is_empty() || !configs.is_empty())?;
    let rtt = bench.rtt();
    let mut proofs = Proofs { args, bench: &bench, is_once: found.len() > 2, shown: Vec::new() };
    for ((at, _, (name, log, crashes)), config) in logs.iter().zip(beside) {
        let mut entry = entry(&mut proofs, Some((name, log)), config, &rtt)?;
        add_traces(elf.as_ref(), crashes, &mut entry);
        all.push((*at, entry));
    }
    for (at, group, config) in &configs {
        let has_logs = logs.iter().any(|it| it.1 == *group);
        if logs.is_empty() || (*group != NAMED_GROUP && !has_logs) {
            all.push((*at, entry(&mut proofs, None, Some(*config), &rtt)?));
        }
    }
    all.sort_by_key(|it| it.0);
    Ok(all.into_iter().map(|it| it.1).collect())
}

/// Returns the sdkconfig that the firmware of a group's logs was built with.
///
/// # Errors
/// There are two.
fn config_of<'a>(
    group: usize,
    configs: &[(usize, usize, (&'a str, &'a ConfigFile))],
) -> Result<Option<(&'a str, &'a ConfigFile)>, UserError> {
    let of = |group: usize| configs.iter().filter(move |it| it.1 == group).map(|it| it.2);
    for group in [group, NAMED_GROUP] {
        match (of(group).next(), of(group).nth(1)) {
            (Some(_), Some(second)) => {
                return Err(UserError::new(format!(
                    "{} is a second sdkconfig beside logs",
                    second.0
                ))
                .because("logs and sdkconfig are of one firmware")
                .remedy("name the sdkconfig that the firmware was built with, alone"));
            }
            (Some(one), None) => return Ok(Some(one)),
            (None, _) => {}
        }
    }
    Ok(None)
}

/// Proofs of first causes.
struct Proofs<'a> {
    args: &'a Args,
    bench: &'a prove::ProofBench,
    /// Whether a cause is shown once: of many devices.
    is_once: bool,
    shown: Vec<TroubleCause>,
}

impl Proofs<'_> {
    /// Shows the first cause in the lab, where that was asked for.
    ///
    /// # Errors
    /// The lab's.
    fn first(
        &mut self,
        log: Option<&LogSummary>,
        config: Option<&ConfigFile>,
        found: &IncidentDiagnosis,
    ) -> anyhow::Result<Option<ProofOutcome>> {
        let Some(first) = found.diagnosis.findings.first() else { return Ok(None) };
        if self.args.no_proof || (self.is_once && self.shown.contains(&first.cause)) {
            return Ok(None);
        }
        self.shown.push(first.cause);
        prove::first(self.bench, log, config, found)
    }
}

fn entry(
    proofs: &mut Proofs<'_>,
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
    let proof = proofs.first(log.map(|it| it.1), config.map(|it| it.1), &found)?;
    Ok(DiagnosisEntry {
        files,
        lines: log.map(|it| it.1.lines),
        recorded: log.map(|it| it.1.recorded),
        answer: answer(&found.diagnosis),
        diagnosis: found.diagnosis,
        crashes: Vec::new(),
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
