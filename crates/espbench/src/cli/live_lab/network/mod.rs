//! A lab of devices that speak IP, in real time, in a network of its own where a command runs.
//!
//! | module | contents |
//! |---|---|
//! | `bench` | the loop: virtual time in step with the clock, packets in and out, the command |
//! | `changes` | changes of `--what-if` in the order of their times, with their devices |
//! | `session` | namespaces, interface, names of hosts, the command |
//! | `told` | what is printed, as text and as lines of JSON |
//! | `typed` | programs that devices start when they are told to |

mod bench;
mod changes;
mod session;
mod told;
pub(super) mod typed;

use super::consoles::ConsolePorts;
use super::control::ControlSocket;
use super::flushed::FlushedFile;
use super::links::LinkDir;
use super::port::Port;
use super::shown::Shown;
use super::{Args, LiveFormat, invalid, wants_load};
use crate::capture::LabCapture;
use crate::cli::flow::on_interrupt;
use crate::cli::output::cannot_write;
use crate::labs;
use crate::live_mark;
use crate::say::say;
use crate::sys;
use crate::user_error::UserError;
use anyhow::Context as _;
use bench::{BenchParts, NetworkBench};
use espbench_measure::units;
use espbench_model::text::counted;
use espbench_model::time::Instant;
use espbench_sim::lab::file::{FileError, FileKind, Overrides};
use espbench_sim::lab::live::{LiveNetwork, LiveRole, add_load};
use espbench_sim::lab::scene::Scene;
use espbench_sim::lab::wifi::watch::Watcher;
use session::{NetworkSession, SessionSetup};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use told::NetworkOutput;
use typed::TypedProgram;

/// Lateness that makes what is measured invalid where nothing is said: of a round trip of some
/// milliseconds that is much, and no busy machine should reach it.
const LATE_MOST: &str = "50 ms";

/// Runs a command in the lab's network.
///
/// # Errors
/// The lab cannot be read, the system allows no network of one's own, a file cannot be written, the
/// command cannot be started.
pub(super) fn run(args: &Args, lab: &str) -> anyhow::Result<ExitCode> {
    let mut scene = scene(args, lab)?;
    if let Some(flag) = args.of_boards() {
        let error = UserError::new(format!("{flag} is of boards of ESP-NOW"));
        let why = format!("the devices of {lab} speak IP, and run what its file says");
        return Err(error.because(why).remedy("leave it out, or choose two-boards").into());
    }
    let late_most = match args.late_most {
        Some(given) => given,
        None => units::duration(LATE_MOST).map_err(UserError::new)?,
    };
    if wants_load(args) {
        add_load(&mut scene);
    }
    let gone = Arc::new(AtomicBool::new(false));
    let air = args.pcap.as_ref().map(|path| capture(&scene, args, path, &gone));
    let mut air = air.transpose()?;
    let watcher = air.as_mut().map(|it| it as &mut dyn Watcher);
    let mut planned;
    let mut lab = LiveNetwork::new(&scene, args.seed, watcher).map_err(|why| unable(&why))?;
    if args.no_reassembly {
        lab.set_reassembly(0);
    }
    planned = typed::plan(&args.typed, lab.hosts())?;
    for it in &mut planned {
        let at = Instant::ZERO + it.at;
        match &mut it.program {
            TypedProgram::Iperf(command) => lab.type_iperf(it.device, at, command),
            TypedProgram::Mqtt(command) => lab.type_mqtt(it.device, at, command),
        }
    }
    let changes = changes::plan(&args.what_if, lab.hosts())?;
    let pc = lab.hosts().iter().find(|it| it.role == LiveRole::Pc);
    let mark = super::mark(&scene, pc.map(|it| it.address.into()));
    let mut consoles = consoles(&mut lab, args)?;
    consoles.ports.iter_mut().for_each(|port| port.mark(&mark));
    // Threads come after the namespaces.
    let mut session = match args.pty {
        true => None,
        false => {
            let setup = SessionSetup { without_address: args.dhcp };
            Some(NetworkSession::open(lab.hosts(), setup)?)
        }
    };
    let cancel = on_interrupt()?;
    let control = args.control.as_deref().map(ControlSocket::open).transpose()?;
    let told = NetworkOutput::new(args.format, args.quiet);
    told.hosts(lab.hosts())?;
    told.consoles(&lab.ports(), &consoles.ports)?;
    told.ready(&scene)?;
    if let Some(session) = &mut session {
        let told = serde_json::to_string(&mark).context("the mark of the lab")?;
        session.environment.push((live_mark::VARIABLE, told.into()));
        session.start(&args.command)?;
    }
    let parts = BenchParts {
        session: session.as_mut(),
        consoles,
        told,
        shown: Shown::new(args.format, args.quiet),
        planned: changes,
        control,
        gone,
        late_most,
    };
    let mut bench = NetworkBench::new(lab, parts);
    let ended = bench.run(args.lifetime, &cancel);
    let lag = bench.close()?;
    drop(bench);
    written(air, args)?;
    let status = ended?;
    if lag.is_valid() { Ok(status) } else { Err(invalid(lag, late_most).into()) }
}

/// Time after which is looked whether a program has opened a console that nobody had open.
const OPENED: Duration = Duration::from_millis(50);

/// Opens the consoles, where they are wanted.
fn consoles(lab: &mut LiveNetwork<'_>, args: &Args) -> anyhow::Result<ConsolePorts> {
    let mut links = args.link.as_deref().map(LinkDir::open).transpose()?;
    let mut ports = Vec::new();
    if args.pty || args.link.is_some() {
        let names = lab.ports();
        let _ = sys::files::allow(names.len() as u64 + 64);
        lab.show_consoles();
        for it in names {
            ports.push(Port::named(it.name, links.as_mut())?);
        }
    }
    Ok(ConsolePorts::new(ports, links, args.answer_cursor.unwrap_or_default(), OPENED))
}

/// Returns whether a lab's devices speak IP.
pub(super) fn speaks_ip(lab: &str) -> anyhow::Result<bool> {
    Ok(!labs::library(FileKind::Lab, lab)?.variants(lab).is_empty())
}

fn unable(why: &dyn std::fmt::Display) -> UserError {
    UserError::new("the lab cannot run in real time")
        .because(why)
        .remedy("choose a lab whose devices speak IP (wifi-home, shield-box), or --pty for ESP-NOW")
}

fn scene(args: &Args, lab: &str) -> anyhow::Result<Scene> {
    let library = labs::library(FileKind::Lab, lab)?;
    let variants = library.variants(lab);
    let variant = match &args.variant {
        Some(variant) => variant.as_str(),
        None => variants.first().copied().unwrap_or_default(),
    };
    if !variants.is_empty() && !variants.contains(&variant) {
        let error = UserError::new(format!("{lab} has no variant `{variant}`"));
        return Err(error.remedy(format!("use one of {}", variants.join(", "))).into());
    }
    let change = Overrides { distance_m: args.distance, ..Overrides::default() };
    // What is wrong in the file of a lab over IP is no matter of real time.
    let told =
        |why: FileError| if variants.is_empty() { unable(&why) } else { UserError::from(&why) };
    Ok(library.variant_scene_with(lab, variant, &change).map_err(told)?)
}

/// A capture that is read while it is written: what is in it is handed on ten times a second.
type LiveCapture = LabCapture<FlushedFile>;

fn capture(
    scene: &Scene,
    args: &Args,
    path: &Path,
    gone: &Arc<AtomicBool>,
) -> anyhow::Result<LiveCapture> {
    let begun = FlushedFile::create(path, gone.clone())
        .and_then(|file| LabCapture::new(file, scene, args.seed, "live"));
    begun.with_context(|| cannot_write(path))
}

/// Ends the capture, where there is one.
fn written(air: Option<LiveCapture>, args: &Args) -> anyhow::Result<()> {
    let (Some(air), Some(path)) = (air, args.pcap.as_deref()) else { return Ok(()) };
    let Some(packets) = super::finished(air.finish(), path)? else { return Ok(()) };
    if !args.quiet && args.format == LiveFormat::Text {
        say!("{} in {}", counted(packets, "packet", "packets"), path.display());
    }
    Ok(())
}

/// Longest time between two looks at the command and at Ctrl-C.
const LOOK_MAX: Duration = Duration::from_millis(50);
