//! The command: one file per subcommand.
//!
//! | module | contents |
//! |---|---|
//! | [`beside`] | the same plan in a lab, beside a run that was measured |
//! | [`board`] | `espbench board`: the boards that are attached |
//! | `broker` | limits of the MQTT broker, as options |
//! | [`builtin`] | the plans that the tool carries |
//! | [`capture`] | `espbench capture`: what a capture tells of ESP-NOW, the medium and TCP |
//! | [`common`] | flags that every measuring subcommand takes, and what they mean |
//! | [`compare`] | `espbench compare` |
//! | [`doctor`] | `espbench doctor`: the cause of trouble, from logs, captures, sdkconfig files and stored runs |
//! | [`echo`] | `espbench echo` |
//! | [`espnow`] | `espbench espnow` |
//! | [`fit`] | `espbench fit`: constants of the lab from one's own measurements |
//! | [`help`] | help of the commands, and pages of the flags that they share |
//! | [`mod@file`] | files that the command writes: whole, or not at all |
//! | [`flow`] | the one flow: plan and target to samples, to the store, to a report |
//! | `http` | answers over HTTP, in bounded time and memory |
//! | [`iperf`] | `espbench iperf`: the options that iperf 2 users know |
//! | [`lab`] | `espbench lab`: the rooms of the simulator |
//! | [`extcap`] | the air of a simulated lab, as an interface of Wireshark |
//! | `left_out` | what a build may lack, and the feature that brings it |
//! | [`live`] | output while a run goes: `--format jsonl` on stdout, `--openmetrics` in a file or over HTTP |
//! | [`live_lab`] | `espbench live`: simulated devices in real time, on pseudo-terminals |
//! | [`mcp`] | `espbench mcp`: a server of the Model Context Protocol |
//! | [`mqtt_access`] | flags of every subcommand that reaches an MQTT broker |
//! | [`output`] | from the store to a report, and from a report to files and stdout |
//! | [`ping`] | `espbench ping` |
//! | `plan_sdkconfig` | an sdkconfig in a plan: its options become keys |
//! | [`pool`] | work on all cores, with results in order |
//! | [`predict`] | `espbench predict`: what if, in the virtual lab |
//! | [`progress`] | progress on stderr: counts, how far the work has come, how long the rest takes |
//! | [`rate`] | `espbench rate`: messages a second over TCP or MQTT |
//! | [`report`] | `espbench report` |
//! | [`respond`] | `espbench respond` |
//! | [`run`] | `espbench run` |
//! | [`runs`] | `espbench runs` |
//! | [`sdkconfig`] | files of sdkconfig that flags name |
//! | [`samples`] | `espbench samples`: the raw samples of a stored run |
//! | [`serial_args`] | flags for boards on serial ports |
//! | [`shard`] | parts of a run that several machines carry out |
//! | [`serve`] | `espbench serve`: the page for a browser |
//! | [`shell`] | `espbench completions` and `espbench man` |
//! | [`site_names`] | names of devices and places that published figures know |
//! | `thread` | threads that are an error where they cannot be had |
//! | [`told`] | errors of all modules as the user is told of them, and those of the command line |
//! | [`tune`] | `espbench tune`: which settings a firmware should have, and what holds an sdkconfig back |

pub mod beside;
#[cfg(feature = "serial")]
pub mod board;
mod broker;
pub mod builtin;
pub mod capture;
pub mod common;
pub mod compare;
pub mod doctor;
pub mod echo;
pub mod espnow;
pub mod extcap;
pub mod file;
pub mod fit;
pub mod flow;
pub mod help;
mod http;
pub mod iperf;
pub mod lab;
mod left_out;
pub mod live;
pub mod live_lab;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod mqtt_access;
pub mod output;
pub mod ping;
mod plan_sdkconfig;
pub mod pool;
pub mod predict;
pub mod progress;
pub mod rate;
pub mod report;
pub mod respond;
pub mod run;
pub mod runs;
pub mod samples;
pub mod sdkconfig;
pub mod serial_args;
pub mod serve;
pub mod shard;
pub mod shell;
pub mod site_names;
mod thread;
pub mod told;
pub mod tune;

use crate::embed::{self, HostProgram};
use crate::target::TargetError;
use crate::user_error::UserError;
use clap::{CommandFactory as _, Parser, Subcommand};
use espbench_model::speech::{self, Asker};
use std::ffi::OsString;
use std::process::ExitCode;

#[derive(Debug, Parser)]
#[command(
    name = "espbench",
    version,
    about,
    after_help = "Exit status: 0 fine, 1 a threshold failed, 2 could not measure, 130 stopped by Ctrl-C."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Carry out plans: in the virtual lab, on real devices, or over loopback
    Run(Box<run::Args>),
    /// Measure UDP round trips over a sweep of sizes
    Echo(echo::Args),
    /// Measure ICMP round trips, as ping does
    Ping(ping::Args),
    /// Measure throughput as iperf 2 does, as its client or server and with its options
    Iperf(Box<iperf::Args>),
    /// Measure messages a second over TCP or MQTT, and the highest rate without loss
    Rate(rate::Args),
    /// Measure ESP-NOW, as Espressif's esp-now component speaks it
    Espnow(espnow::Args),
    /// Predict loss and latency of a fleet, its largest size, or the effect of the PHY rate
    /// (simulated)
    Predict(predict::Args),
    /// Find firmware settings that reach your goals (simulated), or check an sdkconfig
    Tune(Box<tune::Args>),
    /// Find the cause of trouble in console logs and captures: disconnections, crashes, memory, refused sends
    Doctor(doctor::Args),
    /// Analyze a capture: ESP-NOW by pair, the medium, sleeping stations, TCP
    Capture(capture::Args),
    /// List, draw and check the rooms of the simulator and their constants
    Lab(lab::Args),
    /// List the boards that are attached, flash them and talk to them
    #[cfg(feature = "serial")]
    Board(board::Args),
    /// Run simulated devices in real time, each with its console on a pseudo-terminal
    Live(live_lab::Args),
    /// Show the air of a simulated lab in Wireshark or tshark, as one of its interfaces
    Extcap(extcap::Args),
    /// Serve the other side of a test: UDP echo, TCP sink and source, iperf 2 server, MQTT broker
    Respond(respond::Args),
    /// Serve the page: rooms, predictions and the doctor in a browser
    Serve(serve::Args),
    /// List the runs in the store
    Runs(runs::Args),
    /// Print the report of a stored run
    Report(report::Args),
    /// Write the raw samples of a stored run as a table: CSV, Parquet or Arrow
    Samples(samples::Args),
    /// Compare a run with another run, or with the published figures
    Compare(compare::Args),
    /// Fit constants of the lab to a measured run
    Fit(Box<fit::Args>),
    /// Serve check, predict, tune, doctor, run, read and compare as tools of the Model Context Protocol, over stdio
    #[cfg(feature = "mcp")]
    Mcp(mcp::Args),
    /// Print the completions of a shell: bash, zsh, fish, powershell or elvish
    Completions(shell::CompletionsArgs),
    /// Print the manual page, or write one for each subcommand
    Man(shell::ManArgs),
}

/// Says where there is more on the subcommand: the first word, since no flag stands before it.
fn more(words: &[OsString]) -> String {
    let name = words.get(1).map(|it| it.to_string_lossy()).unwrap_or_default();
    format!("`espbench {name} --help` has its flags")
}

/// A flag of a command, for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagFacts {
    /// Name without its dashes.
    pub name: String,
    /// Letter that stands for it behind one dash.
    pub short: Option<char>,
    /// Whether a value follows, or may.
    pub takes_value: bool,
    /// Whether a value must follow.
    pub needs_value: bool,
    /// Whether it may be given more than once.
    pub repeats: bool,
    /// Meaning, in its first sentence.
    pub meaning: String,
}

/// Returns the flags of a subcommand, such as `["predict", "fleet"]`; none where there is no such one.
#[must_use]
pub fn flags(words: &[&str]) -> Vec<FlagFacts> {
    let mut command = command();
    for word in words {
        let Some(found) = command.find_subcommand(word) else { return Vec::new() };
        command = found.clone();
    }
    let facts = |it: &clap::Arg| {
        let repeats = matches!(it.get_action(), clap::ArgAction::Append);
        let takes_value = it.get_action().takes_values();
        let least = it.get_num_args().map_or(1, |values| values.min_values());
        Some(FlagFacts {
            name: it.get_long()?.to_owned(),
            short: it.get_short(),
            takes_value,
            needs_value: takes_value && least > 0,
            repeats,
            meaning: it.get_help().map(ToString::to_string).unwrap_or_default(),
        })
    };
    command.get_arguments().filter_map(facts).collect()
}

/// Returns the command with all its subcommands and flags.
#[must_use]
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Parses the command line and runs it. Exit status: 0 fine, 1 a threshold failed, 2 could not
/// measure, 130 stopped by Ctrl-C.
#[must_use]
pub fn main() -> ExitCode {
    crate::embed::end_with_stdin();
    if embed::is_called() {
        speech::speak_to(Asker::Caller);
    }
    main_of(&std::env::args_os().collect::<Vec<_>>())
}

/// Parses the words of a command line, of which the first is the command's own name, and runs it. Exit status
/// as of [`main`].
#[must_use]
pub fn main_of(words: &[OsString]) -> ExitCode {
    if let Some(printed) = help::page(words) {
        return if printed.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(2) };
    }
    let arguments = match told::parse::<Arguments>(words.iter().cloned()) {
        Ok(arguments) => arguments,
        Err(status) => return status,
    };
    carry_out(&arguments.command).unwrap_or_else(|error| {
        let is_stopped =
            error.chain().any(|it| matches!(it.downcast_ref(), Some(TargetError::Cancelled)));
        if is_stopped {
            UserError::new("stopped before anything was measured").say();
            return ExitCode::from(flow::STOPPED);
        }
        let error = told::error(&error);
        let of_call = embed::is_called();
        if of_call { error } else { error.or_remedy(&more(words)) }.say();
        ExitCode::from(2)
    })
}

/// Runs a command for a program, as the words of a command line have it: returns the exit status and what
/// goes to stdout.
///
/// # Errors
/// The command line is wrong, or the command could not be carried out.
pub fn ask(host: &HostProgram, words: &[OsString]) -> Result<(u8, String), UserError> {
    let arguments = told::read::<Arguments>(words.iter().cloned())?;
    let (done, out) = embed::heard(host, || carry_out(&arguments.command));
    let status = done.map_err(|error| told::error(&error))?;
    let number = (0..=u8::MAX).find(|it| ExitCode::from(*it) == status);
    Ok((number.unwrap_or(2), out))
}

fn carry_out(command: &Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Run(args) => run::run(args),
        Command::Echo(args) => echo::run(args),
        Command::Ping(args) => ping::run(args),
        Command::Iperf(args) => iperf::run(args),
        Command::Rate(args) => rate::run(args),
        Command::Espnow(args) => espnow::run(args),
        Command::Predict(args) => predict::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Capture(args) => capture::run(args),
        Command::Tune(args) => tune::run(args),
        Command::Lab(args) => lab::run(args),
        #[cfg(feature = "serial")]
        Command::Board(args) => board::run(args),
        Command::Live(args) => live_lab::run(args),
        Command::Extcap(args) => extcap::run(args),
        Command::Respond(args) => respond::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Runs(args) => runs::run(args),
        Command::Report(args) => report::run(args),
        Command::Samples(args) => samples::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Fit(args) => fit::run(args),
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => mcp::run(args),
        Command::Completions(args) => shell::completions(args, Arguments::command()),
        Command::Man(args) => shell::man(args, Arguments::command()),
    }
}
