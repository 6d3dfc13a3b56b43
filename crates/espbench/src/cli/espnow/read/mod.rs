//! `espbench espnow read`.
//!
//! | module | contents |
//! |---|---|
//! | `command` | how a test is sent, by the command that was typed |
//! | `log` | one console's log: from its bytes to tests and remarks |
//! | `talk` | what `espnow talk` prints: the consoles of several devices in one file |
//! | `words` | what is told of lines and results |

mod command;
mod log;
mod talk;
mod words;

use crate::cli::common::{Format, OutputArgs, SiteArgs, TOOL};
use crate::cli::output;
use crate::named_file::LogStream;
use crate::user_error::{ForUser as _, UserError};
use anyhow::Context as _;
use espbench_engine::published;
use espbench_measure::cell::Origin;
use espbench_measure::console::{self, LogContents};
use espbench_measure::plan::DEFAULT_SEED;
use espbench_measure::run::RunFacts;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use talk::Logs;

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Logs of consoles, one device each (with what it heard of others); `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The logs are of simulated devices, such as `espnow talk --console` writes: results say so
    #[arg(long)]
    simulated: bool,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Seed of the statistics
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
}

const AFTER_HELP: &str = "\
What `espnow talk` prints is read, too: all its consoles. A log is what idf.py monitor, minicom, screen or another terminal shows of a board whose firmware \
prints with Espressif's esp-now component (espnow_iperf, sec_test, ota, security, provisioning). \
Counts that the component prints wrongly are put right and shown beside what was printed. Wi-Fi \
passwords and tokens in a log are not shown.

--mode is unicast, broadcast-3, broadcast-3-ack, … as in reference/published.csv; where the log \
shows the command that was typed, it is read from there.

Exit status: 0 read, 2 a file is no such log, has no result of a test, or cannot be read.";

/// Runs the subcommand.
///
/// # Errors
/// A file cannot be read, or is no log of a console.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    output::check(&args.output)?;
    let mut read = LogContents::default();
    let mut simulated = args.simulated;
    for path in &args.files {
        let name = name(path);
        let console = if args.files.len() > 1 { name.clone() } else { String::new() };
        let mut logs = Logs::new(&console);
        let remedy = "name a log that a terminal has written of a board's console; `-` is stdin";
        feed(&mut logs, path).for_user(|| format!("cannot read {name}"), remedy)?;
        logs.end();
        simulated |= logs.are_simulated();
        logs.finish(&mut read).with_context(|| name.clone())?;
    }
    if let Some(mode) = &args.site.mode {
        // What the user knows goes before what a command says.
        read.tests.iter_mut().for_each(|test| test.mode = Some(mode.clone()));
    }
    let report = console::report(&facts(args, simulated), &read, &published::built_in());
    let brief = args.output.format == Format::Text && !args.output.full;
    if !report.glance.is_empty() || !brief {
        output::write(&report, &args.output, false)?;
        return Ok(if report.glance.is_empty() { ExitCode::from(2) } else { ExitCode::SUCCESS });
    }
    output::files(&report, &args.output, false)?;
    nothing(&names(args), &read).say();
    Ok(ExitCode::from(2))
}

/// Returns the error of logs without a figure, with what is most of them.
fn nothing(names: &str, read: &LogContents) -> UserError {
    let most = read.problems.iter().max_by_key(|it| it.count);
    let why = most.map_or_else(
        || "no test of the esp-now component came to its end in it".into(),
        |it| format!("{}, {}", it.text, times(it.count)),
    );
    UserError::new(format!("{names} has no result of a test"))
        .because(why)
        .remedy(format!("espbench doctor {names} looks for causes; --full shows what was read"))
}

/// Says how many times.
fn times(count: u64) -> String {
    if count == 1 { "once".into() } else { format!("{count} times") }
}

/// Returns the names of the logs.
fn names(args: &Args) -> String {
    args.files.iter().map(|path| name(path)).collect::<Vec<_>>().join(" ")
}

fn name(path: &Path) -> String {
    if path == Path::new("-") { "stdin".into() } else { path.display().to_string() }
}

/// Feeds a file to the end, however long it is.
fn feed(logs: &mut Logs, path: &Path) -> io::Result<()> {
    let source: Box<dyn io::Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path)?)
    };
    let mut source = LogStream::new(source);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => logs.take(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn facts(args: &Args, simulated: bool) -> RunFacts {
    let names: Vec<String> = args.files.iter().map(|path| name(path)).collect();
    RunFacts {
        name: names.join(", "),
        tool: TOOL.into(),
        target: format!("console log {}", names.join(", ")),
        origin: if simulated { Origin::Simulated } else { Origin::Measured },
        seed: args.seed,
        site: args.site.site(),
        ..RunFacts::default()
    }
}
