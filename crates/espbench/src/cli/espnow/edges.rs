//! `espbench espnow edges`: one-way delays from the capture of a logic analyser, or from the time stamps
//! in two consoles of our firmware.
//!
//! | module | contents |
//! |---|---|
//! | `stamps` | time stamps of consoles, on one clock |

mod stamps;

use super::single;
use crate::cli::common::{OutputArgs, SiteArgs, TOOL};
use crate::cli::output;
use crate::logic::{self, LogicCapture, LogicChange};
use crate::say::say;
use crate::user_error::{ForUser as _, UserError};
use anyhow::{Context as _, bail};
use espbench_engine::ReportBuilder;
use espbench_measure::cell::Origin;
use espbench_measure::edges::{EdgeCounts, EdgePairing, EdgePin};
use espbench_measure::plan::{DEFAULT_SEED, Plan, print};
use espbench_measure::run::{Recorded, RunFacts};
use espbench_measure::units;
use espbench_model::sample::{Fate, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{EspNow, EspNowTest, Workload};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Packets of a test where the flags do not say: a longer capture is cut into several, so that its
/// samples fit in memory.
const PACKETS: u32 = 100_000;

/// Most tests that a capture is cut into.
const TESTS_MAX: u32 = 10_000;

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Capture: VCD, sigrok session (.sr), or CSV of sigrok or Saleae; `-` is stdin. With two files: the
    /// sender's console log
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Console log of the receiver: both boards run our firmware, with `log -m uart -l DEBUG`
    #[arg(value_name = "RECEIVER", conflicts_with_all = ["from", "to", "edge", "debounce", "samplerate"])]
    receiver: Option<PathBuf>,
    /// Channel of the sender's pin, by its name [default: the first]
    #[arg(long, value_name = "CHANNEL")]
    from: Option<String>,
    /// Channel of the receiver's pin, by its name [default: the second]
    #[arg(long, value_name = "CHANNEL")]
    to: Option<String>,
    /// Edge that counts
    #[arg(long, value_enum, default_value_t)]
    edge: EdgeKind,
    /// Longest delay: a later edge of the receiver does not belong to the packet
    #[arg(long, default_value = "1 s", value_parser = units::seconds, value_name = "TIME")]
    window: Duration,
    /// Edges so soon after the last one of the same pin are bounces, and are left out
    #[arg(long, default_value = "0 s", value_parser = units::seconds, value_name = "TIME")]
    debounce: Duration,
    /// Sample rate of a file that does not say it, such as 24MHz
    #[arg(long, value_parser = sample_rate, value_name = "RATE")]
    samplerate: Option<u64>,
    /// Packets of one test: published figures are of 10 each [default: all, at most 100000]
    #[arg(short = 'C', long, value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
    #[command(flatten)]
    packet: single::PacketArgs,
    /// Name of the report
    #[arg(long, default_value = "one-way-latency")]
    name: String,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Seed of the statistics
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
}

const AFTER_HELP: &str = "\
Both pins fall: the sender's when it begins to send (espnow_iperf -G PIN), the receiver's when it \
has the packet. A packet without an edge of the receiver within the window is lost; a second edge \
within it is doubled. The analyser's clock is the only one: nothing has to be synchronized.

Two console logs of our firmware need no analyser: each ping's line `edges:` has the times at which the pin fell \
and rose, on the board's own clock. Offset and drift of the two clocks come from the round trips, which \
bound them; all delays may be off together by the uncertainty that is told. Logs that nothing aligns \
are refused.

Espressif's report sent ten packets by broadcast for each size: -b 1 -C 10 -l SIZE compares with it.

Exit status: 0 read, 2 the file is no such capture, or has no packet.";

/// Edge of a pin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum EdgeKind {
    /// From high to low
    #[default]
    Falling,
    /// From low to high
    Rising,
}

fn sample_rate(text: &str) -> Result<u64, String> {
    logic::sample_rate(text).ok_or_else(|| "a rate such as 24MHz, 500kHz or 1000000".into())
}

/// Runs the subcommand.
///
/// # Errors
/// The file is no capture, or shows no packet.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    output::check(&args.output)?;
    if let Some(receiver) = &args.receiver {
        return stamps::run(args, receiver);
    }
    let name = args.file.display().to_string();
    let capture = LogicCapture::open(&args.file, args.samplerate).for_user(
        || format!("cannot read {name}"),
        "name a capture: .sr or VCD of PulseView, CSV of PulseView or Saleae Logic",
    )?;
    let pins = Pins::of(&capture, args)?;
    let base = base_name(&args.file);
    let target = format!("capture {base} ({}, {} to {})", capture.format(), pins.from, pins.to);
    let facts = facts(args, target)?;
    let mut tests = Tests::new(args, ReportBuilder::new(&facts.run), facts.work);
    let mut pairing = PinWatch::new(args, &pins);
    let mut fault = None;
    capture
        .read(&mut |change| {
            if fault.is_none() {
                fault = pairing.change(change).and_then(|probes| tests.take(probes)).err();
            }
        })
        .with_context(|| format!("cannot read {name} to its end"))?;
    if let Some(fault) = fault {
        return Err(fault);
    }
    let counts = pairing.counts;
    if counts.sent == 0 {
        bail!(
            "{name} has no {} edge of the sender's pin with a known end: channel {} of {}",
            args.edge.word(),
            pins.from,
            pins.channels.join(", ")
        );
    }
    let report = tests.finish(&counts)?;
    output::write(&report, &args.output, false)?;
    tell(&counts);
    Ok(ExitCode::SUCCESS)
}

impl EdgeKind {
    const fn word(self) -> &'static str {
        match self {
            Self::Falling => "falling",
            Self::Rising => "rising",
        }
    }
}

/// Says what the capture shows beside delays and losses.
fn tell(counts: &EdgeCounts) {
    let note = |count: u64, text: &str| {
        if count > 0 {
            say!("{text}: {count}");
        }
    };
    note(counts.doubled, "edges of the receiver after another one of the same packet (doubled)");
    note(counts.stray, "edges of the receiver without a packet within --window");
    note(counts.cut, "packets left out, since the capture ends or has a gap within --window");
    if counts.is_ambiguous() {
        say!(
            "some delays are longer than half the time between two packets: an edge may belong to the \
             packet before; send less often, or give a shorter --window"
        );
    }
}

/// The two channels.
struct Pins {
    channels: Vec<String>,
    from: String,
    to: String,
    from_index: usize,
    to_index: usize,
}

impl Pins {
    fn of(capture: &LogicCapture, args: &Args) -> anyhow::Result<Self> {
        let channels = capture.channels().to_vec();
        let find = |name: &Option<String>, default: usize, flag: &str, whose: &str| {
            let Some(name) = name else {
                return (default < channels.len()).then_some(default).with_context(|| {
                    UserError::new(format!("a capture with one channel, {}", channels.join(", ")))
                        .because("a delay is from one pin to another")
                        .remedy("record the pins of sender and receiver in one capture")
                });
            };
            channels.iter().position(|it| it == name).with_context(|| {
                UserError::new(format!("no channel `{name}` for {whose} pin ({flag})"))
                    .because(format!("the capture has {}", channels.join(", ")))
                    .remedy("name one of these")
            })
        };
        let from_index = find(&args.from, 0, "--from", "the sender's")?;
        // Where only the sender's is given, the receiver's is the first other one.
        let other = usize::from(from_index == 0);
        let to_index = find(&args.to, other, "--to", "the receiver's")?;
        if from_index == to_index {
            bail!(
                UserError::new(format!(
                    "--from and --to are one channel, {}",
                    channels[from_index]
                ))
                .because("a delay is from one pin to another")
                .remedy(format!("name two of {}", channels.join(", ")))
            );
        }
        let (from, to) = (channels[from_index].clone(), channels[to_index].clone());
        Ok(Self { channels, from, to, from_index, to_index })
    }
}

/// The facts of the run, and its work.
struct CaptureFacts {
    run: RunFacts,
    work: EspNow,
}

/// Returns the name of a file without its folders.
fn base_name(file: &Path) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str());
    name.to_string_lossy().into_owned()
}

fn facts(args: &Args, target: String) -> anyhow::Result<CaptureFacts> {
    let work = single::usual(EspNowTest::OneWay, (0.5, 0.5), args.site.distance)?;
    let count = args.count.unwrap_or(PACKETS);
    let work = EspNow { count, ..args.packet.of(work) };
    let plan_text = print(&args.name, args.seed, &[Workload::EspNow(work)]);
    // Reading it checks the flags' values as a plan's.
    Plan::parse(&plan_text).map_err(|error| anyhow::anyhow!("{}", error.message))?;
    let mut site = args.site.clone();
    // The distance is the cell's.
    site.distance = None;
    let run = RunFacts {
        name: args.name.clone(),
        tool: TOOL.into(),
        target,
        origin: Origin::Measured,
        seed: args.seed,
        plan_name: String::new(),
        plan_text,
        site: site.site(),
        ..RunFacts::default()
    };
    Ok(CaptureFacts { run, work })
}

/// Watches the two pins, and pairs their edges.
struct PinWatch {
    from: usize,
    to: usize,
    /// Level before the edge that counts.
    before: bool,
    debounce_ps: i64,
    /// Last edge of each pin, in ps.
    last: [Option<i64>; 2],
    level: [Option<bool>; 2],
    /// Time of the first change, in ps: the zero of the probes' clock.
    zero: Option<i64>,
    pairing: Option<EdgePairing>,
    counts: EdgeCounts,
    probes: Vec<Probe>,
}

impl PinWatch {
    fn new(args: &Args, pins: &Pins) -> Self {
        let debounce = args.debounce.as_nanos().saturating_mul(1000);
        Self {
            from: pins.from_index,
            to: pins.to_index,
            before: args.edge == EdgeKind::Falling,
            debounce_ps: i64::try_from(debounce).unwrap_or(i64::MAX),
            last: [None; 2],
            level: [None; 2],
            zero: None,
            pairing: Some(EdgePairing::new(args.window, args.packet.bytes())),
            counts: EdgeCounts::default(),
            probes: Vec::new(),
        }
    }

    /// Takes a change, and returns the probes that are complete.
    fn change(&mut self, change: LogicChange) -> anyhow::Result<std::vec::Drain<'_, Probe>> {
        let (LogicChange::Level { at, .. } | LogicChange::Gap { at, .. } | LogicChange::End { at }) =
            change;
        let zero = *self.zero.get_or_insert(at);
        let now = Instant::from_nanos((at.saturating_sub(zero).max(0) / 1000) as u64);
        match change {
            LogicChange::Level { channel, high, .. } => {
                if let Some(pin) = self.pin(channel) {
                    let before = self.level[pin].replace(high);
                    if before == Some(self.before) && high != self.before {
                        self.edge(at, now, pin);
                    }
                }
            }
            LogicChange::Gap { channel, .. } => {
                if let Some(pin) = self.pin(channel) {
                    self.level[pin] = None;
                    if let Some(pairing) = &mut self.pairing {
                        pairing.gap(now, &mut self.probes);
                    }
                }
            }
            LogicChange::End { .. } => {
                if let Some(pairing) = self.pairing.take() {
                    self.counts = pairing.finish(now, &mut self.probes);
                }
            }
        }
        Ok(self.probes.drain(..))
    }

    fn edge(&mut self, at: i64, now: Instant, pin: usize) {
        let last = self.last[pin].replace(at);
        if last.is_some_and(|last| at - last < self.debounce_ps) {
            return;
        }
        let pin = if pin == 0 { EdgePin::Sender } else { EdgePin::Receiver };
        if let Some(pairing) = &mut self.pairing {
            pairing.edge(now, pin, &mut self.probes);
        }
    }

    /// Returns 0 for the sender's channel, 1 for the receiver's.
    const fn pin(&self, channel: usize) -> Option<usize> {
        if channel == self.from {
            Some(0)
        } else if channel == self.to {
            Some(1)
        } else {
            None
        }
    }
}

/// The tests that a capture is cut into: repetitions of one cell.
struct Tests {
    builder: ReportBuilder,
    work: EspNow,
    per_test: usize,
    packets: usize,
    samples: Vec<Sample>,
    done: u32,
}

impl Tests {
    fn new(args: &Args, builder: ReportBuilder, work: EspNow) -> Self {
        let per_test = args.count.unwrap_or(PACKETS) as usize;
        Self { builder, work, per_test, packets: 0, samples: Vec::new(), done: 0 }
    }

    fn take(&mut self, probes: impl Iterator<Item = Probe>) -> anyhow::Result<()> {
        for probe in probes {
            self.samples.push(Sample::Probe(probe));
            if probe.fate == Fate::Duplicate {
                continue;
            }
            self.packets += 1;
            if self.packets == self.per_test {
                self.close(BTreeMap::new())?;
            }
        }
        Ok(())
    }

    fn close(&mut self, counters: BTreeMap<String, u64>) -> anyhow::Result<()> {
        if self.done == TESTS_MAX {
            bail!(
                UserError::new(format!("more than {TESTS_MAX} tests of {} packets", self.per_test))
                    .because("so many results cannot be told apart")
                    .remedy("give a larger --count, or none")
            );
        }
        let recorded = Recorded {
            ordinal: 0,
            repetition: self.done,
            workload: Workload::EspNow(self.work),
            samples: std::mem::take(&mut self.samples),
            counters,
            facts: BTreeMap::new(),
            error: None,
        };
        self.builder.add(recorded);
        self.packets = 0;
        self.done += 1;
        Ok(())
    }

    fn finish(mut self, counts: &EdgeCounts) -> anyhow::Result<espbench_measure::report::Report> {
        let counters = [
            ("edges_doubled", counts.doubled),
            ("edges_stray", counts.stray),
            ("packets_cut", counts.cut),
        ];
        if self.packets > 0 || self.done == 0 {
            let counters = counters.map(|(name, count)| (name.to_string(), count));
            self.close(BTreeMap::from(counters))?;
        }
        let planned = self.done as usize;
        Ok(self.builder.finish(None, planned))
    }
}
