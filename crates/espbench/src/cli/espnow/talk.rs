//! `espbench espnow talk`.

use super::console::{self, Consoles};
use crate::capture::Capture;
use crate::cli::output::cannot_write;
use anyhow::{Context as _, anyhow};
use espbench_measure::plan::DEFAULT_SEED;
use espbench_measure::units::{self, Dimension};
use espbench_proto::node::esp_now::security::Policy;
use espbench_proto::node::esp_now::task::{Encrypt, Settings};
use espbench_proto::node::esp_now::tick::Tick;
use espbench_proto::time::Instant;
use espbench_proto::wire::component::{Compat, Idf, Release};
use espbench_sim::random::Chance;
use espbench_sim::talk::note::{Note, Watch};
use espbench_sim::talk::script::{self, Failed};
use espbench_sim::talk::transcript::{Entry, Show};
use espbench_sim::talk::{Conversation as _, Device, Fleet, Medium, Script, Setup, node};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const DEMO: &str = include_str!("demo.talk");
const NODES_MAX: u16 = 1000;

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// How many devices: node0, node1, … with the addresses 24:0a:c4:00:00:01, …
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=i64::from(NODES_MAX)))]
    nodes: u16,
    /// What is typed at their consoles, see below; `-` reads stdin [default: a ping and a command]
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Seed of all chance: the same seed gives the same conversation
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Write a capture of all that was on the air, for Wireshark and tshark
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Write what a node's console puts out to a file, for `espbench espnow read` (repeatable)
    #[arg(long, value_name = "NODE=FILE", value_parser = console::parse)]
    console: Vec<console::Wanted>,
    /// Print frames and channels, too
    #[arg(short, long)]
    frames: bool,
    /// Print samples, too: the fate of each probe of `espnow_iperf` and `sec_test`
    #[arg(long)]
    samples: bool,
    /// Let the conversation go on for that long after the script's end
    #[arg(long, default_value = "1s", value_parser = units::duration, value_name = "TIME")]
    linger: Duration,
    /// No summary on stderr
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    medium: MediumArgs,
    #[command(flatten)]
    build: BuildArgs,
}

/// The medium.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "The medium")]
struct MediumArgs {
    /// Frames lost on their way to a receiver, such as 5%
    #[arg(long, default_value = "0%", value_parser = chance, value_name = "PERCENT")]
    loss: Chance,
    /// From the end of a frame until its receiver has it
    #[arg(long, default_value = "0s", value_parser = units::duration, value_name = "TIME")]
    delay: Duration,
    /// Further delay, uniform from zero to this
    #[arg(long, default_value = "0s", value_parser = units::duration, value_name = "TIME")]
    jitter: Duration,
    /// Frames that a receiver has twice
    #[arg(long, default_value = "0%", value_parser = chance, value_name = "PERCENT")]
    duplicate: Chance,
    /// Frames that are held back for up to 5 ms, so that later ones come first
    #[arg(long, default_value = "0%", value_parser = chance, value_name = "PERCENT")]
    reorder: Chance,
    /// How often the MAC tries a unicast frame again
    #[arg(long, default_value_t = espbench_sim::talk::medium::MAC_RETRIES, value_name = "RETRIES")]
    mac_retries: u8,
}

/// How the devices' firmware is built.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "The devices")]
struct BuildArgs {
    /// FreeRTOS tick rate: 1000 in Espressif's `solution` example, 100 where nothing is set
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1000),
        value_name = "HERTZ")]
    tick: u32,
    /// Release of the esp-now component: 1.0, 2.0, 2.3, 2.4, 2.5.2, 2.5.3 or head
    #[arg(long, default_value = "2.5.3", value_parser = release)]
    release: Release,
    /// Release of ESP-IDF under it: 4.4, 5.0, 5.0.8, 5.1, 5.4 or 5.4.2
    #[arg(long, default_value = "5.1", value_parser = idf)]
    idf: Idf,
    /// All services encrypt what they send, as with CONFIG_ESPNOW_ALL_SECURITY; see `key` below
    #[arg(long)]
    encrypt: bool,
    /// Refuse what the component takes though it is not safe: plain frames of services, recorded
    /// messages, resets by anybody
    #[arg(long)]
    strict: bool,
}

const AFTER_HELP: &str = "\
The medium is ideal but for the faults that you ask for: no collisions, no noise, no distance, and
processors take no time. Its times are plausible; they are no measurement.

A script has one statement a line, `#` for comments:
  node0> espnow_iperf -s                      type a command at a console; `help` lists them
  node1,node3..node5> log -l INFO             at several; `all` is everybody
  node0> command {node1} \"version\"            braces: the address of a node, or of {others}
  wait 3s                                     let time pass
  wait until node1 prints \"Report\" max 60s    fails if it does not
  reset node3
  loss 30%
  link node0 node2 off                        or a signal strength, such as -70
  key node0                                   a random key, to be handed out with `security`
  image node0 spare 1029248 \"2.0.0\"           an image to hand about (or `running`)
  offer node0 \"http://a/b\" 1029248 \"2.0\"    what `ota -d http://a/b` fetches there

Lines of the conversation: virtual time in seconds, node, and
  $ typed   | printed   > frame on the air   < frame came late or again   * what else happened

Examples:
  espbench espnow talk --nodes 2 --frames --pcap ping.pcap
  espbench espnow talk --nodes 11 --loss 5% --script examples/talk/ota.talk

Exit status: 0 the script came to its end, 1 something waited for was not printed, 2 it could not \
run.";

fn chance(text: &str) -> Result<Chance, String> {
    let share = units::parse(text, Dimension::Proportion)?;
    if share <= 1.0 {
        Ok(Chance::of(share))
    } else {
        Err(format!("`{text}` is more than 100 %: use 0% to 100%"))
    }
}

fn release(text: &str) -> Result<Release, String> {
    Ok(match text {
        "1.0" => Release::V1_0,
        "2.0" | "2.1" | "2.2" => Release::V2_0,
        "2.3" => Release::V2_3,
        "2.4" | "2.5.0" | "2.5.1" => Release::V2_4,
        "2.5.2" => Release::V2_5_2,
        "2.5.3" => Release::V2_5_3,
        "head" => Release::Head,
        _ => return Err("use 1.0, 2.0, 2.3, 2.4, 2.5.2, 2.5.3 or head".into()),
    })
}

fn idf(text: &str) -> Result<Idf, String> {
    Ok(match text {
        "4.4" => Idf::V4_4,
        "5.0" => Idf::V5_0,
        "5.0.8" => Idf::V5_0_8,
        "5.1" | "5.2" | "5.3" => Idf::V5_1,
        "5.4" | "5.4.1" => Idf::V5_4,
        "5.4.2" | "5.5" | "6.0" => Idf::V5_4_2,
        _ => return Err("use 4.4, 5.0, 5.0.8, 5.1, 5.4 or 5.4.2".into()),
    })
}

/// Runs the subcommand.
///
/// # Errors
/// The script cannot be read, a file cannot be written, a device does not come to rest.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let text = read(args.script.as_deref())?;
    let name = name(args.script.as_deref());
    let script = parse(&text, args.nodes).with_context(|| name.to_string())?;
    let capture = match &args.pcap {
        None => None,
        Some(path) => Some(capture(path).with_context(|| cannot_write(path))?),
    };
    let consoles = Consoles::create(&args.console, usize::from(args.nodes))?;
    let printer = Printer::new(args, io::stdout().lock());
    let settings = Settings {
        compat: Compat { release: args.build.release, idf: args.build.idf, ..Compat::default() },
        tick: Tick::from_hz(args.build.tick),
        encrypt: encrypt(args.build.encrypt),
        policy: if args.build.strict { Policy::STRICT } else { Policy::COMPATIBLE },
        ..Settings::default()
    };
    let mut fleet = node::fleet(setup(args), ((printer, capture), consoles), settings);
    fleet.add_many(usize::from(args.nodes));
    let result = script.run(&mut fleet).and_then(|()| Ok(fleet.run_for(args.linger)?));
    if !args.quiet {
        eprintln!("{}", summary(&fleet));
    }
    let ((printer, capture), consoles) = fleet.watch;
    printer.finish().context("cannot write to stdout")?;
    consoles.finish()?;
    if let (Some(capture), Some(path)) = (capture, &args.pcap) {
        let packets = capture.finish().with_context(|| cannot_write(path))?;
        if !args.quiet {
            eprintln!("{packets} packets in {}", path.display());
        }
    }
    match result {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(failed @ Failed::NotPrinted { .. }) => {
            eprintln!("espbench: {name}: {failed}");
            Ok(ExitCode::from(1))
        }
        Err(failed) => Err(failed).with_context(|| name.to_string()),
    }
}

/// Every device can encrypt and be handed a key; whether services do is another matter.
const fn encrypt(services: bool) -> Encrypt {
    Encrypt {
        enabled: true,
        control: services,
        debug: services,
        ota: services,
        prov: services,
        time: services,
    }
}

/// What the script is called in messages.
fn name(script: Option<&Path>) -> Cow<'_, str> {
    match script {
        None => "the built-in script".into(),
        Some(path) if path == Path::new("-") => "stdin".into(),
        Some(path) => path.to_string_lossy(),
    }
}

fn parse(text: &str, nodes: u16) -> anyhow::Result<Script> {
    script::parse(text, usize::from(nodes)).map_err(|wrong| {
        // Nothing is wrong with it but the number of devices.
        let few = script::parse(text, usize::from(NODES_MAX)).is_ok();
        anyhow!("{wrong}{}", if few { "; raise --nodes for more devices" } else { "" })
    })
}

fn read(script: Option<&Path>) -> anyhow::Result<String> {
    match script {
        None => Ok(DEMO.into()),
        Some(path) if path == Path::new("-") => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).context("cannot read the script from stdin")?;
            Ok(text)
        }
        Some(path) => std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the script {}", path.display())),
    }
}

fn capture(path: &Path) -> io::Result<Capture<BufWriter<File>>> {
    Capture::new(BufWriter::new(File::create(path)?))
}

fn setup(args: &Args) -> Setup {
    let MediumArgs { loss, delay, jitter, duplicate, reorder, mac_retries } = args.medium;
    Setup {
        seed: args.seed,
        medium: Medium {
            loss,
            delay,
            jitter,
            duplicate,
            reorder,
            mac_retries,
            ..Medium::default()
        },
        // Within ten of the slowest ticks: no two devices have the same phase.
        stagger: Duration::from_millis(100),
        keep_samples: false,
        ..Setup::default()
    }
}

/// What was on the air, in one line.
fn summary<D: Device, W: Watch>(fleet: &Fleet<D, W>) -> String {
    let sum = |of: fn(&espbench_sim::talk::fleet::Counters) -> u64| -> u64 {
        fleet.nodes().map(|node| of(&fleet.counters(node))).sum()
    };
    format!(
        "{} nodes, {:.3} s: {} frames sent in {} attempts, {} received, {} lost, {} refused by \
         the driver, {} given up by the MAC",
        fleet.count(),
        fleet.now().since(Instant::ZERO).as_secs_f64(),
        sum(|c| c.sent),
        sum(|c| c.attempts),
        sum(|c| c.received),
        sum(|c| c.lost),
        sum(|c| c.refused),
        sum(|c| c.failed),
    )
}

/// Prints the conversation as it goes.
struct Printer<W: Write> {
    out: BufWriter<W>,
    show: Show,
    failed: Option<io::Error>,
}

impl<W: Write> Printer<W> {
    fn new(args: &Args, out: W) -> Self {
        let show = Show { frames: args.frames, samples: args.samples, ..Show::TALK };
        let show = Show { channels: args.frames, ..show };
        Self { out: BufWriter::new(out), show, failed: None }
    }

    fn finish(mut self) -> io::Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }
}

impl<W: Write> Watch for Printer<W> {
    fn note(&mut self, at: Instant, note: &Note<'_>) {
        if self.failed.is_some() {
            return;
        }
        if let Some(entry) = Entry::of(at, note, self.show) {
            self.failed = writeln!(self.out, "{entry}").err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_script_is_for_two_nodes_or_more() {
        assert!(script::parse(DEMO, 2).is_ok());
    }

    #[test]
    fn shares_are_percentages() {
        assert_eq!(chance("5%"), Ok(Chance::percent(5)));
        assert_eq!(chance("100 %"), Ok(Chance::ALWAYS));
        for wrong in ["5", "101%", "-1%", "x"] {
            assert!(chance(wrong).is_err(), "{wrong}");
        }
    }
}
