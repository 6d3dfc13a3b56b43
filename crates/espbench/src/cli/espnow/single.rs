//! `espbench espnow ping` and the other tests of Espressif's report, one at a time. Flags have the
//! letters of the report's commands.

use crate::cli::common::{MeasureArgs, SimArgs, count_cells};
use crate::cli::flow::{self, Measurement};
use crate::target::spec::{self, Access};
use anyhow::bail;
use espbench_measure::plan::{DEFAULT_SEED, Plan, defaults, print};
use espbench_measure::units;
use espbench_model::workload::{EspNow, EspNowCast, EspNowTest, Workload};
use std::process::ExitCode;
use std::time::Duration;

/// Image of the report, in bytes.
const IMAGE: u32 = 1_029_248;

/// Where, and what is kept of it.
#[derive(Debug, clap::Args)]
struct Common {
    /// The lab: a built-in one or a TOML file [default: that of the test in Espressif's report]
    #[arg(long, value_name = "LAB")]
    lab: Option<String>,
    /// Metres between the devices [default: those of the report]
    #[arg(long, value_name = "METRES")]
    distance: Option<f64>,
    #[command(flatten)]
    sim: SimArgs,
    #[command(flatten)]
    measure: MeasureArgs,
}

/// How packets are sent.
#[derive(Debug, clap::Args)]
struct Sending {
    /// Broadcast in so many copies [default: unicast]
    #[arg(short, long, value_name = "COPIES", value_parser = clap::value_parser!(u8).range(0..=31))]
    broadcast: Option<u8>,
    /// The receiver acknowledges in the component's own way; with -b
    #[arg(short = 'A', long, requires = "broadcast")]
    ack: bool,
    /// Bytes of payload, one or several [default: the longest]
    #[arg(short = 'l', long, value_delimiter = ',', value_name = "BYTES")]
    size: Vec<u32>,
    /// Application data is encrypted, with a key that is handed over first
    #[arg(long)]
    encrypt: bool,
}

impl Sending {
    /// Returns a cell for each length.
    fn cells(&self, work: EspNow) -> Vec<EspNow> {
        let work = EspNow { cast: cast(self.broadcast, self.ack), encrypted: self.encrypt, ..work };
        sizes(&self.size, work)
    }
}

fn cast(broadcast: Option<u8>, ack: bool) -> EspNowCast {
    broadcast.map_or(EspNowCast::Unicast, |copies| EspNowCast::Broadcast { copies, ack })
}

/// Returns the longest payload, in bytes.
const fn longest(encrypted: bool) -> u32 {
    if encrypted { 226 } else { 230 }
}

fn sizes(lens: &[u32], work: EspNow) -> Vec<EspNow> {
    let longest = [longest(work.encrypted)];
    let lens = if lens.is_empty() { &longest } else { lens };
    lens.iter().map(|&size| EspNow { size, ..work }).collect()
}

/// How the packets of a capture were sent.
#[derive(Debug, clap::Args)]
pub(super) struct PacketArgs {
    /// Broadcast in so many copies [default: unicast]
    #[arg(short, long, value_name = "COPIES", value_parser = clap::value_parser!(u8).range(0..=31))]
    broadcast: Option<u8>,
    /// The receiver acknowledges in the component's own way; with -b
    #[arg(short = 'A', long, requires = "broadcast")]
    ack: bool,
    /// Bytes of payload [default: the longest]
    #[arg(short = 'l', long, value_name = "BYTES")]
    size: Option<u32>,
    /// Application data was encrypted
    #[arg(long)]
    encrypt: bool,
}

impl PacketArgs {
    /// Returns the bytes of payload.
    pub(super) fn bytes(&self) -> u32 {
        self.size.unwrap_or(longest(self.encrypt))
    }

    /// Returns the cell with these packets.
    pub(super) fn of(&self, work: EspNow) -> EspNow {
        let cast = cast(self.broadcast, self.ack);
        EspNow { cast, encrypted: self.encrypt, size: self.bytes(), ..work }
    }
}

/// Devices of a job.
#[derive(Debug, clap::Args)]
struct Fleet {
    /// Devices beside the initiator, one or several numbers
    #[arg(long, value_delimiter = ',', default_value = "10",
        value_parser = clap::value_parser!(u16).range(1..))]
    devices: Vec<u16>,
}

impl Fleet {
    fn cells(&self, work: EspNow) -> Vec<EspNow> {
        self.devices.iter().map(|&devices| EspNow { devices, ..work }).collect()
    }
}

/// Flags of `ping`.
#[derive(Debug, clap::Args)]
pub struct PingArgs {
    /// Pings (of each device) [default: 10000; 100 with several devices]
    #[arg(short = 'C', visible_short_alias = 'n', long)]
    count: Option<u32>,
    /// Devices that ping at once, one or several numbers
    #[arg(long, value_delimiter = ',', default_value = "1",
        value_parser = clap::value_parser!(u16).range(1..))]
    devices: Vec<u16>,
    #[command(flatten)]
    sending: Sending,
    #[command(flatten)]
    common: Common,
}

/// Flags of `throughput`.
#[derive(Debug, clap::Args)]
pub struct ThroughputArgs {
    /// Length of the test: 60, 60s, 5min
    #[arg(short, long, default_value = "60 s", value_parser = units::seconds)]
    time: Duration,
    #[command(flatten)]
    sending: Sending,
    #[command(flatten)]
    common: Common,
}

/// Flags of `latency`.
#[derive(Debug, clap::Args)]
pub struct LatencyArgs {
    /// Packets
    #[arg(short = 'C', visible_short_alias = 'n', long, default_value_t = 10)]
    count: u32,
    #[command(flatten)]
    sending: Sending,
    #[command(flatten)]
    common: Common,
}

/// Flags of `ota`.
#[derive(Debug, clap::Args)]
pub struct OtaArgs {
    /// Bytes of the image
    #[arg(long, default_value_t = IMAGE, value_name = "BYTES")]
    image: u32,
    #[command(flatten)]
    fleet: Fleet,
    #[command(flatten)]
    common: Common,
}

/// Flags of `handshake`.
#[derive(Debug, clap::Args)]
pub struct HandshakeArgs {
    #[command(flatten)]
    fleet: Fleet,
    #[command(flatten)]
    common: Common,
}

/// Flags of `provision`.
#[derive(Debug, clap::Args)]
pub struct ProvisionArgs {
    #[command(flatten)]
    fleet: Fleet,
    #[command(flatten)]
    common: Common,
}

/// Flags of `crypto`.
#[derive(Debug, clap::Args)]
pub struct CryptoArgs {
    /// Encryptions, and decryptions
    #[arg(short, short_alias = 'C', long, default_value_t = 10_000)]
    count: u32,
    /// Bytes of payload, one or several [default: the longest]
    #[arg(short = 'l', long, value_delimiter = ',', value_name = "BYTES")]
    size: Vec<u32>,
    #[command(flatten)]
    common: Common,
}

impl PingArgs {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// Here and below: whatever kept it from measuring; exit status 2.
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let sizes = self.sending.size.len().max(1);
        count_cells("--devices and --size", &[self.devices.len(), sizes])?;
        let mut cells = Vec::new();
        for &devices in &self.devices {
            let (test, count) = match devices {
                1 => (EspNowTest::Ping, 10_000),
                _ => (EspNowTest::MultiPing, 100),
            };
            let count = self.count.unwrap_or(count);
            let work = usual(test, (3.0, 3.0), self.common.distance)?;
            cells.extend(self.sending.cells(EspNow { count, devices, ..work }));
        }
        measure("ping", &self.common, &cells)
    }
}

impl ThroughputArgs {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// As [`PingArgs::run`].
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let work = usual(EspNowTest::Throughput, (3.0, 3.0), self.common.distance)?;
        let cells = self.sending.cells(EspNow { time: self.time, ..work });
        measure("throughput", &self.common, &cells)
    }
}

impl LatencyArgs {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// As [`PingArgs::run`].
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let work = usual(EspNowTest::OneWay, (0.5, 0.5), self.common.distance)?;
        let cells = self.sending.cells(EspNow { count: self.count, ..work });
        measure("latency", &self.common, &cells)
    }
}

impl OtaArgs {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// As [`PingArgs::run`].
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let work = usual(EspNowTest::Ota, (0.5, 1.0), self.common.distance)?;
        let cells = self.fleet.cells(EspNow { size: self.image, ..work });
        measure("ota", &self.common, &cells)
    }
}

impl HandshakeArgs {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// As [`PingArgs::run`].
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let work = usual(EspNowTest::Handshake, (1.0, 1.0), self.common.distance)?;
        measure("handshake", &self.common, &self.fleet.cells(work))
    }
}

impl ProvisionArgs {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// As [`PingArgs::run`].
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let work = usual(EspNowTest::Provisioning, (1.0, 1.0), self.common.distance)?;
        measure("provision", &self.common, &self.fleet.cells(work))
    }
}

impl CryptoArgs {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// As [`PingArgs::run`].
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let work = usual(EspNowTest::Crypto, (3.0, 3.0), self.common.distance)?;
        let work = EspNow { count: self.count, encrypted: true, ..work };
        measure("crypto", &self.common, &sizes(&self.size, work))
    }
}

/// Returns a cell of a test, at its distance in the report if none is given.
pub(super) fn usual(
    test: EspNowTest,
    report: (f32, f32),
    distance: Option<f64>,
) -> anyhow::Result<EspNow> {
    let Some(Workload::EspNow(work)) = defaults("esp-now") else {
        bail!("the ESP-NOW workload has no defaults");
    };
    let given = distance.map(|metres| (metres as f32, metres as f32));
    Ok(EspNow { test, distance_m: given.unwrap_or(report), ..work })
}

fn measure(name: &str, common: &Common, cells: &[EspNow]) -> anyhow::Result<ExitCode> {
    let SimArgs { pcap, threads } = common.sim.clone();
    let access = Access { capture: pcap, threads, ..Access::default() };
    let target_text = common.lab.as_ref().map_or_else(|| "sim".into(), |lab| format!("sim:{lab}"));
    let target = spec::parse(&target_text, &access)?;
    let seed = common.measure.seed.unwrap_or(DEFAULT_SEED);
    let workloads: Vec<Workload> = cells.iter().copied().map(Workload::EspNow).collect();
    let text = print(name, seed, &workloads);
    // The text is what is stored; reading it checks the flags' values as a plan's.
    let plan = Plan::parse(&text).map_err(|e| anyhow::anyhow!("{}", e.message))?;
    let job = Measurement {
        set: flow::set_of(vec![plan])?,
        target_text,
        target,
        args: &common.measure,
        live: None,
        prints: flow::Prints::Nothing,
        beside: None,
        shard: None,
    };
    flow::measure(job)
}
