//! `espbench live`: simulated devices in real time. Those that speak IP are in a network of their own, where a
//! command runs; those of ESP-NOW have consoles, which are pseudo-terminals.
//!
//! | module | contents |
//! |---|---|
//! | `network` | devices that speak IP, and a command in their network |
//! | `bench` | the loop of consoles: virtual time in step with the clock, bytes in and out, who comes and goes |
//! | `consoles` | bytes in and out of pseudo-terminals, who comes and goes |
//! | `what_if` | what is changed while a lab runs, as people write it |
//! | `cursor` | who answers the cursor queries of a console's line editor |
//! | `control` | a socket on which lines of JSON change the lab while it runs |
//! | `request` | such a line |
//! | `port` | a device's pseudo-terminal, with what waits for its reader |
//! | `firmware` | what the devices run, and the image that they find for others |
//! | `flushed` | the file of a capture, which is read while it is written |
//! | `links` | links to pseudo-terminals, by the devices' names |
//! | `event` | what happens at a time of one's choice: a cable pulled out, a reset |
//! | `shown` | what is printed, as text and as lines of JSON |

mod bench;
mod consoles;
mod control;
mod cursor;
mod event;
mod firmware;
mod flushed;
mod links;
mod network;
mod port;
mod request;
mod shown;
mod what_if;

use self::cursor::CursorAnswers;
use super::flow::on_interrupt;
use super::output::cannot_write;
use crate::capture::{AirCapture, CaptureOrigin};
use crate::labs;
use crate::live_mark::LiveMark;
use crate::say::say;
use crate::sys;
use crate::user_error::UserError;
use anyhow::Context as _;
use bench::{Bench, BenchPlan, BenchSetup};
use control::ControlSocket;
use espbench_measure::plan::DEFAULT_SEED;
use espbench_measure::units;
use espbench_model::text::counted;
use espbench_sim::lab::file::{FileKind, Overrides};
use espbench_sim::lab::live::{GIVEN_UP, Lag, LiveLab, LiveSetup, add_load};
use espbench_sim::lab::scene::Scene;
use event::{ResetAt, UnplugAt};
use firmware::{ImageSource, LiveApp};
use flushed::FlushedFile;
use links::LinkDir;
use network::typed::{TypedAt, typed};
use port::Port;
use shown::Shown;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use what_if::{WhatIfAt, what_if};

const DEVICES_MAX: u16 = 1000;

/// Returns the lab where none is named: the smallest one that has so many devices.
fn default_lab(devices: Option<u16>) -> &'static str {
    if devices.is_some_and(|it| it > 2) { "many-boards" } else { "two-boards" }
}

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The lab: a built-in one or a TOML file; its devices speak IP, unless --pty is given
    #[arg(value_name = "LAB", conflicts_with = "lab")]
    place: Option<String>,
    /// Give each device's console a pseudo-terminal, and run no command: needs no rights
    #[arg(long, conflicts_with = "command")]
    pty: bool,
    /// The lab, in place of LAB [default with --pty: two-boards, or many-boards for more devices]
    #[arg(long)]
    lab: Option<String>,
    /// Variant of a lab whose devices speak IP [default: the first]
    #[arg(long)]
    variant: Option<String>,
    /// Number of devices in all [default: the lab's]
    #[arg(long, requires = "pty", value_parser = clap::value_parser!(u16).range(1..=i64::from(DEVICES_MAX)))]
    devices: Option<u16>,
    /// Metres between the first device and the others, such as 3 or 0.5-1 [default: the lab's]
    #[arg(long, value_name = "METRES", value_parser = super::common::distance)]
    distance: Option<(f64, f64)>,
    /// Firmware of the devices: an example of the esp-now component [default: what the lab's file says]
    #[arg(long, value_enum, requires = "pty")]
    app: Option<LiveApp>,
    /// All services of the firmware encrypt what they send
    #[arg(long, requires = "pty")]
    encrypt: bool,
    /// Image that `ota -d http://192.168.0.6:8070/Resp.bin` fetches: a file, or the number of bytes of builds made
    /// up here [default: 1029248 with --app solution and ota, otherwise none]
    #[arg(long, requires = "pty", value_name = "FILE|BYTES", value_parser = firmware::image)]
    image: Option<ImageSource>,
    /// Seed of all chance
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Rate of the consoles in bits a second [default: that of each device's profile]
    #[arg(long, requires = "pty", value_name = "BAUD", value_parser = clap::value_parser!(u32).range(300..=5_000_000))]
    baud: Option<u32>,
    /// Who answers the consoles' cursor queries (ESC [ 6 n) [default: auto; without WHO: always]
    #[arg(long, value_name = "WHO", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "always")]
    answer_cursor: Option<CursorAnswers>,
    /// Make a link to each console's pseudo-terminal in this folder, named after the device: DIR/node0
    #[arg(long, value_name = "DIR")]
    link: Option<PathBuf>,
    /// Pull a device's cable out, for good or until a second time (repeatable)
    #[arg(long, requires = "pty", value_name = "DEVICE@TIME[-TIME]", value_parser = event::unplug)]
    unplug: Vec<UnplugAt>,
    /// Press a device's reset button (repeatable)
    #[arg(long, requires = "pty", value_name = "DEVICE@TIME", value_parser = event::reset)]
    restart: Vec<ResetAt>,
    /// Let a device start a program: `iperf -c HOST [-u] [-p PORT] [-t SECONDS] [-l BYTES] [-b RATE]` or
    /// `mqtt -h HOST [-p PORT] [-t TOPIC] [-q QOS] [-s BYTES] [-r RATE] [-n NUMBER]` (repeatable)
    #[arg(long = "type", value_name = "DEVICE@TIME=COMMAND", conflicts_with = "pty", value_parser = typed)]
    typed: Vec<TypedAt>,
    /// Change a property while the lab runs: loss=10%, load=30% (of others), distance=20m; of devices that speak IP
    /// sleep=none, min or max; of one device with its name and a colon before it (repeatable)
    #[arg(long, value_name = "[DEVICE:]KEY=VALUE@TIME", value_parser = what_if)]
    what_if: Vec<WhatIfAt>,
    /// Take lines of JSON on this socket that change the lab while it runs (docs/live.md)
    #[arg(long, value_name = "SOCKET")]
    control: Option<PathBuf>,
    /// Devices drop fragments of IPv4, as ESP-IDF does without CONFIG_LWIP_IP4_REASSEMBLY, which is its default
    #[arg(long, conflicts_with = "pty")]
    no_reassembly: bool,
    /// The interface has no address: COMMAND asks the router for one by DHCP
    #[arg(long, conflicts_with = "pty")]
    dhcp: bool,
    /// Stop after this time: 60, 60s, 5min [default: on Ctrl-C, or when COMMAND has ended]
    #[arg(long = "for", value_name = "TIME", value_parser = units::seconds)]
    lifetime: Option<Duration>,
    /// Lateness of an event that makes all that is measured meanwhile invalid: it is said at the
    /// consoles, and the status is 2 [default: 50 ms; 1 s with --pty]
    #[arg(long, value_name = "TIME", value_parser = units::seconds)]
    late_most: Option<Duration>,
    /// Write all that was on the air to this file or pipe, as pcapng with radiotap, for Wireshark and tshark
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// How devices and events are shown
    #[arg(long, value_enum, default_value_t = LiveFormat::Text)]
    format: LiveFormat,
    /// Nothing on stderr about who opens a console, nor a summary
    #[arg(short, long)]
    quiet: bool,
    /// Program that runs in the network of the lab's devices, with its arguments [default: a shell]
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Format of what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LiveFormat {
    /// A line for each device; events on stderr
    Text,
    /// Lines of JSON on stdout: devices, `ready`, events, and counts at the `end`
    Json,
}

impl Args {
    /// Returns the first flag that is of boards of ESP-NOW alone.
    fn of_boards(&self) -> Option<&'static str> {
        let given = [
            ("--devices", self.devices.is_some()),
            ("--app", self.app.is_some()),
            ("--encrypt", self.encrypt),
            ("--image", self.image.is_some()),
            ("--baud", self.baud.is_some()),
            ("--unplug", !self.unplug.is_empty()),
            ("--restart", !self.restart.is_empty()),
        ];
        given.into_iter().find(|it| it.1).map(|it| it.0)
    }
}

const AFTER_HELP: &str = "\
With LAB, COMMAND runs in a network of its own, as the PC behind the lab's access point (Linux:
namespaces, a TUN interface; nothing of the system's changes). Devices are hosts by their names:
UDP echo on port 10000, a TCP sink on 3333, HTTP on 80, sockperf on 11111, iperf 2 on 5001.

With --pty, boards of ESP-NOW run the lab's firmware, in step with the clock. Any program that opens
serial ports may open their consoles: picocom, minicom, pyserial, esp-idf-monitor. They have no DTR
and RTS: type `restart`, or use --restart. A program that is no terminal may write a command and its
return at once; --answer-cursor=never takes them as a board does (docs/live.md).

Examples:
  espbench live wifi-home -- ping -c 5 device        a round trip over simulated Wi-Fi
  espbench live wifi-home --variant idf-echo --pcap air.pcapng -- iperf -c device -t 5
  espbench live shield-box --type 'device@1s=iperf -c pc -u -t 5' -- timeout 8 iperf -s -u -i 1
  espbench live --pty                                two boards, until Ctrl-C
  espbench live --pty --lab many-boards --devices 10 --link /tmp/boards --format json
  espbench live --pty --lab handshake --devices 11 --app security
  espbench live --pty --unplug node1@10s-15s --for 30s

Exit status: COMMAND's, 0 without one; 2 it could not run, or was too late to be valid.";

/// Runs the subcommand.
///
/// # Errors
/// The lab cannot be read, the system has no pseudo-terminals left, a link or file cannot be made.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let lab = args.place.as_deref().or(args.lab.as_deref());
    match lab {
        Some(lab) if !args.pty => network::run(args, lab),
        None if !args.pty => {
            let error = UserError::new("neither a lab nor --pty is given");
            let remedy = "`espbench live wifi-home -- ping -c 3 device` runs a command among devices \
                          that speak IP, `espbench live --pty` serves the consoles of ESP-NOW boards";
            Err(error.remedy(remedy).into())
        }
        Some(lab) if network::speaks_ip(lab)? => network::run(args, lab),
        Some(lab) => consoles(args, lab),
        None => consoles(args, default_lab(args.devices)),
    }
}

/// Serves the consoles of a lab's ESP-NOW devices.
fn consoles(args: &Args, lab: &str) -> anyhow::Result<ExitCode> {
    let mut scene = scene(args, lab)?;
    if args.variant.is_some() {
        let error = UserError::new(format!("{lab} has no variants"));
        let why = "its devices are boards of ESP-NOW";
        return Err(error.because(why).remedy("leave --variant out, or choose wifi-home").into());
    }
    let late_most = args.late_most.unwrap_or(GIVEN_UP);
    let count = scene.nodes.len();
    if count == 0 {
        let error = UserError::new(format!("{lab} has no device with a console"));
        return Err(error.remedy("choose a lab with devices of ESP-NOW: two-boards").into());
    }
    let events = event::all(&args.unplug, &args.restart, count)?;
    let changes = event::changes(&args.what_if, count)?;
    if wants_load(args) {
        add_load(&mut scene);
    }
    let _ = sys::files::allow(count as u64 + 64);
    let setup = LiveSetup { seed: args.seed, baud: args.baud };
    let gone = Arc::new(AtomicBool::new(false));
    let air = args.pcap.as_ref().map(|path| capture(&scene, args, path, &gone)).transpose()?;
    let mut lab = LiveLab::new(&scene, setup, air);
    firmware::offer(&mut lab, args.image.as_ref(), args.app)?;
    // All files are read: before this, Ctrl-C ends the process.
    let cancel = on_interrupt()?;
    let mut links = args.link.as_deref().map(LinkDir::open).transpose()?;
    let mut ports = Vec::new();
    for node in 0..count {
        ports.push(Port::open(node, links.as_mut())?);
    }
    let mark = mark(&scene, None);
    ports.iter_mut().for_each(|port| port.mark(&mark));
    let control = args.control.as_deref().map(ControlSocket::open).transpose()?;
    let shown = Shown::new(args.format, args.quiet);
    shown.devices(&scene, args.baud, &ports)?;
    let setup =
        BenchSetup { answers: args.answer_cursor.unwrap_or_default(), late_most, control, gone };
    let planned = BenchPlan { events, changes };
    let mut bench = Bench::new(lab, ports, links, planned, shown, setup);
    bench.run(args.lifetime, &cancel)?;
    let lag = bench.close()?;
    written(bench.into_watch(), args)?;
    if lag.is_valid() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(invalid(lag, late_most).into())
}

/// Returns whether somebody may ask for a load of other people's.
fn wants_load(args: &Args) -> bool {
    args.control.is_some() || args.what_if.iter().any(WhatIfAt::is_load)
}

/// Returns what tells programs of the lab.
fn mark(scene: &Scene, pc: Option<std::net::Ipv4Addr>) -> LiveMark {
    let (lab, variant) = (scene.name.clone(), scene.variant.clone());
    LiveMark { lab, variant, pc, process: std::process::id() }
}

/// Returns the error of a lab that was too late for what was measured to be valid.
fn invalid(lag: Lag, late_most: Duration) -> UserError {
    let why = format!(
        "the simulation was {:.0} ms behind the clock, and {:.0} ms are allowed (--late-most)",
        lag.longest.as_secs_f64() * 1e3,
        late_most.as_secs_f64() * 1e3
    );
    let remedy = "use fewer devices, a release build or an idle machine, and measure again";
    UserError::new("what was measured is invalid").because(why).remedy(remedy)
}

/// Returns the number of packets of a capture; `None` where its reader went before its end.
fn finished(ended: std::io::Result<u64>, path: &std::path::Path) -> anyhow::Result<Option<u64>> {
    match ended {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(None),
        ended => ended.map(Some).with_context(|| cannot_write(path)),
    }
}

/// Ends the capture, where there is one.
fn written(air: Option<AirCapture<FlushedFile>>, args: &Args) -> anyhow::Result<()> {
    let Some(air) = air else { return Ok(()) };
    let path = args.pcap.as_deref().unwrap_or_else(|| std::path::Path::new(""));
    let Some(packets) = finished(air.finish(), path)? else { return Ok(()) };
    if !args.quiet {
        say!("{} in {}", counted(packets, "packet", "packets"), path.display());
    }
    Ok(())
}

fn scene(args: &Args, lab: &str) -> anyhow::Result<Scene> {
    let library = labs::library(FileKind::Lab, lab)?;
    let change = Overrides {
        // Of devices beside the first.
        devices: args.devices.map(|devices| devices - 1),
        distance_m: args.distance,
        encrypted: args.encrypt.then_some(true),
        ..Overrides::default()
    };
    let mut scene = library.scene(lab, &change, args.seed)?;
    if let Some(app) = args.app {
        app.firmware().build(&mut scene, args.encrypt);
    }
    Ok(scene)
}

fn capture(
    scene: &Scene,
    args: &Args,
    path: &std::path::Path,
    gone: &Arc<AtomicBool>,
) -> anyhow::Result<AirCapture<FlushedFile>> {
    let origin = CaptureOrigin { scene, seed: args.seed, observer: 0, what: "live" };
    let file = FlushedFile::create(path, gone.clone());
    let begun = file.and_then(|file| AirCapture::new(file, &origin));
    begun.with_context(|| cannot_write(path))
}
