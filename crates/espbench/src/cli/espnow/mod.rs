//! `espbench espnow`.
//!
//! | module | contents |
//! |---|---|
//! | [`console`] | console output of nodes, as bytes in files: what a terminal would log |
//! | [`edges`] | `espbench espnow edges` |
//! | [`read`] | `espbench espnow read` |
//! | [`single`] | `espbench espnow ping` and the other tests of Espressif's report, one at a time |
//! | [`talk`] | `espbench espnow talk` |

pub mod console;
pub mod edges;
pub mod read;
pub mod single;
pub mod talk;

use clap::{Args as Flags, Subcommand};
use std::process::ExitCode;

/// Flags.
#[derive(Debug, Flags)]
pub struct Args {
    #[command(subcommand)]
    what: EspNowCommand,
}

#[derive(Debug, Subcommand)]
enum EspNowCommand {
    /// Run console commands on a simulated fleet and print the conversation
    Talk(Box<talk::Args>),
    /// Measure round trips, with one device or with many at once: `espnow_iperf -p`
    Ping(Box<single::PingArgs>),
    /// Measure throughput: `espnow_iperf`
    Throughput(Box<single::ThroughputArgs>),
    /// Measure the delay from the sender's pin to the receiver's, as an oscilloscope shows it
    Latency(Box<single::LatencyArgs>),
    /// Send a firmware image to many devices: `ota -s`
    Ota(Box<single::OtaArgs>),
    /// Hand the key to many devices
    Handshake(Box<single::HandshakeArgs>),
    /// Hand Wi-Fi credentials to many devices: `provisioning -i`
    Provision(Box<single::ProvisionArgs>),
    /// Measure the time to encrypt and decrypt: `sec_test`
    Crypto(Box<single::CryptoArgs>),
    /// Read one-way delays from the capture of a logic analyser: two pins, sender and receiver
    Edges(Box<edges::Args>),
    /// Read figures from console logs of boards: pings, throughput, handshakes, updates
    Read(Box<read::Args>),
}

/// Runs the subcommand.
///
/// # Errors
/// Whatever kept it from its end; exit status 2.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.what {
        EspNowCommand::Ping(args) => args.run(),
        EspNowCommand::Throughput(args) => args.run(),
        EspNowCommand::Latency(args) => args.run(),
        EspNowCommand::Ota(args) => args.run(),
        EspNowCommand::Handshake(args) => args.run(),
        EspNowCommand::Provision(args) => args.run(),
        EspNowCommand::Crypto(args) => args.run(),
        EspNowCommand::Talk(args) => talk::run(args),
        EspNowCommand::Edges(args) => edges::run(args),
        EspNowCommand::Read(args) => read::run(args),
    }
}
