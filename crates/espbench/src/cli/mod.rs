//! The command: one file per subcommand.

mod broker;
pub mod builtin;
pub mod common;
pub mod compare;
pub mod echo;
pub mod espnow;
pub mod file;
pub mod flow;
pub mod iperf;
pub mod lab;
pub mod live;
pub mod mqtt_access;
pub mod output;
pub mod ping;
pub mod pool;
pub mod predict;
pub mod progress;
pub mod rate;
pub mod report;
pub mod respond;
pub mod run;
pub mod runs;
pub mod tune;

use crate::say::say;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Parser)]
#[command(
    name = "espbench",
    version,
    about,
    disable_help_subcommand = true,
    after_help = "Exit status: 0 fine, 1 a threshold failed, 2 could not measure."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Carry out plans: in the virtual lab, on real devices, or over loopback
    Run(run::Args),
    /// UDP round trips over a sweep of sizes
    Echo(echo::Args),
    /// ICMP round trips, as ping makes them
    Ping(ping::Args),
    /// iperf 2 on the wire, both roles, with the options that ESP users know
    Iperf(Box<iperf::Args>),
    /// Messages a second over TCP or MQTT; the highest rate without loss
    Rate(rate::Args),
    /// ESP-NOW, as Espressif's esp-now component speaks it
    Espnow(espnow::Args),
    /// Predict loss and latency of a fleet, its largest size, the effect of the PHY rate
    /// (simulated)
    Predict(predict::Args),
    /// Settings of a firmware: which do what is wanted (simulated), or what is wrong in an sdkconfig
    Tune(Box<tune::Args>),
    /// Rooms of the simulator: what is built in, drawings, constants with their sources
    Lab(lab::Args),
    /// Be the other side: UDP echo, TCP sink and source, iperf 2 server, MQTT broker
    Respond(respond::Args),
    /// List the runs in the store
    Runs(runs::Args),
    /// Draw the report of a stored run again
    Report(report::Args),
    /// Hold a run against another run, or against the published figures
    Compare(compare::Args),
}

/// Parses the command line and runs it. Exit status: 0 fine, 1 a threshold failed, 2 could not
/// measure.
#[must_use]
pub fn main() -> ExitCode {
    let result = match &Arguments::parse().command {
        Command::Run(args) => run::run(args),
        Command::Echo(args) => echo::run(args),
        Command::Ping(args) => ping::run(args),
        Command::Iperf(args) => iperf::run(args),
        Command::Rate(args) => rate::run(args),
        Command::Espnow(args) => espnow::run(args),
        Command::Predict(args) => predict::run(args),
        Command::Tune(args) => tune::run(args),
        Command::Lab(args) => lab::run(args),
        Command::Respond(args) => respond::run(args),
        Command::Runs(args) => runs::run(args),
        Command::Report(args) => report::run(args),
        Command::Compare(args) => compare::run(args),
    };
    result.unwrap_or_else(|error| {
        say!("espbench: {error:#}");
        ExitCode::from(2)
    })
}
