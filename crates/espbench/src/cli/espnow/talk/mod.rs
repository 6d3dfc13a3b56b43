//! `espbench espnow talk`.
//!
//! | module | what |
//! |---|---|
//! | `ideal` | devices on an ideal medium |
//! | `room` | devices in a lab |
//! | `shown` | what is printed while they talk |

mod ideal;
mod room;
mod shown;

use super::console;
use crate::capture::{AirCapture, Capture};
use crate::cli::output::cannot_write;
use crate::named_file;
use crate::say::say;
use crate::user_error::{ForUser as _, UserError};
use anyhow::{Context as _, anyhow};
use espbench_measure::plan::DEFAULT_SEED;
use espbench_measure::units;
use espbench_model::text::counted;
use espbench_sim::lab::nodes::Conversation;
use espbench_sim::talk::Script;
use espbench_sim::talk::script::{self, PlayError};
use shown::TalkOutput;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const DEMO: &str = include_str!("demo.talk");
const NODES: u16 = 10;
const NODES_MAX: u16 = 1000;

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Lab to run in, a built-in one or a TOML file, in place of the ideal medium
    #[arg(long, value_name = "LAB")]
    lab: Option<String>,
    /// How many devices: node0, node1, … with the addresses 24:0a:c4:00:00:01, … [default: 10, or the
    /// lab's]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=i64::from(NODES_MAX)))]
    devices: Option<u16>,
    /// File with what is typed at their consoles, see below; `-` reads stdin [default: a ping and a
    /// command]
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
    #[arg(long, default_value = "1s", value_parser = units::seconds, value_name = "TIME")]
    linger: Duration,
    /// No summary on stderr
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    medium: ideal::MediumArgs,
    #[command(flatten)]
    build: ideal::BuildArgs,
}

const AFTER_HELP: &str = "\
The medium is ideal but for the faults that you ask for: no collisions, no noise, no distance, and
processors take no time. Its times are plausible; they are no measurement. With --lab the devices,
their firmware, the room and what else is on the air there are the lab's (docs/lab.md).

A script has one statement a line, `#` for comments:
  node0> espnow_iperf -s                      type a command at a console; `help` lists them
  node1,node3..node5> log -l INFO             at several; `all` is everybody
  node0> command {node1} \"version\"            braces: the address of a node, or of {others}
  wait 3s                                     let time pass
  wait until node1 prints \"Report\" max 60s    fails if it does not
  reset node3
  loss 30%                                    not in a lab
  link node0 node2 off                        or a signal strength, such as -70; not in a lab
  key node0                                   a random key, to be handed out with `security`
  image node0 spare 1029248 \"2.0.0\"           an image to hand about (or `running`)
  offer node0 \"http://a/b\" 1029248 \"2.0\"    what `ota -d http://a/b` fetches there

Lines of the conversation: virtual time in seconds, node, and
  $ typed   | printed   > frame on the air   < frame came late or again   * what else happened

Examples:
  espbench espnow talk --devices 2 --frames --pcap ping.pcap
  espbench espnow talk --devices 11 --loss 5% --script examples/talk/ota.talk
  espbench espnow talk --lab two-boards --frames --pcap air.pcapng

Exit status: 0 the script came to its end, 1 something waited for was not printed, 2 it could not \
run.";

/// Runs the subcommand.
///
/// # Errors
/// The script or the lab cannot be read, a file cannot be written, a device does not come to rest.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let text = read(args.script.as_deref())?;
    let name = name(args.script.as_deref());
    let result = match &args.lab {
        None => on_ideal_medium(args, &text, &name)?,
        Some(lab) => in_lab(args, lab, &text, &name)?,
    };
    match result {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(failed @ PlayError::NotPrinted { .. }) => {
            say!("espbench: {name}: {failed}");
            Ok(ExitCode::from(1))
        }
        Err(failed) => Err(anyhow!("{name}: {failed}")),
    }
}

/// Plays the script on an ideal medium; the inner result tells how the script ended.
fn on_ideal_medium(args: &Args, text: &str, name: &str) -> anyhow::Result<Result<(), PlayError>> {
    let nodes = args.devices.unwrap_or(NODES);
    let script = parse(text, usize::from(nodes), name)?;
    let capture = create(args, Capture::new)?;
    let shown = TalkOutput::new(args, usize::from(nodes))?;
    let mut fleet = ideal::fleet(args, nodes, (shown, capture));
    let result = carry_out(&script, &mut fleet, args);
    tell(args, || ideal::summary(&fleet));
    let (shown, capture) = fleet.watch;
    shown.finish()?;
    end(args, capture.map(Capture::finish))?;
    Ok(result)
}

/// Plays the script in a room of the lab; the inner result tells how the script ended.
fn in_lab(args: &Args, lab: &str, text: &str, name: &str) -> anyhow::Result<Result<(), PlayError>> {
    let scene = room::scene(args, lab)?;
    let nodes = scene.nodes.len();
    let script = parse(text, nodes, name)?;
    let air = create(args, |out| room::capture(&scene, args, out))?;
    let mut lab = room::lab(&scene, args, (TalkOutput::new(args, nodes)?, air));
    let result = carry_out(&script, &mut lab, args);
    tell(args, || room::summary(&scene, &lab));
    let (shown, air) = lab.watch;
    shown.finish()?;
    end(args, air.map(AirCapture::finish))?;
    Ok(result)
}

fn carry_out<C: Conversation>(script: &Script, talk: &mut C, args: &Args) -> Result<(), PlayError> {
    script.run(talk)?;
    Ok(talk.run_for(args.linger)?)
}

fn tell(args: &Args, what: impl FnOnce() -> String) {
    if !args.quiet {
        say!("{}", what());
    }
}

/// Begins the capture, if one is wanted.
fn create<T>(
    args: &Args,
    begin: impl FnOnce(BufWriter<File>) -> io::Result<T>,
) -> anyhow::Result<Option<T>> {
    let Some(path) = &args.pcap else { return Ok(None) };
    let begun = File::create(path).and_then(|file| begin(BufWriter::new(file)));
    begun.map(Some).with_context(|| cannot_write(path))
}

/// Says how many packets are in the capture, once it has ended.
fn end(args: &Args, packets: Option<io::Result<u64>>) -> anyhow::Result<()> {
    let (Some(packets), Some(path)) = (packets, &args.pcap) else { return Ok(()) };
    let packets = packets.with_context(|| cannot_write(path))?;
    tell(args, || format!("{} in {}", counted(packets, "packet", "packets"), path.display()));
    Ok(())
}

/// Returns the script's name for messages.
fn name(script: Option<&Path>) -> Cow<'_, str> {
    match script {
        None => "the built-in script".into(),
        Some(path) if path == Path::new("-") => "stdin".into(),
        Some(path) => path.to_string_lossy(),
    }
}

fn parse(text: &str, nodes: usize, name: &str) -> anyhow::Result<Script> {
    script::parse(text, nodes).map_err(|wrong| {
        // Nothing is wrong with it but the number of devices.
        let few = script::parse(text, usize::from(NODES_MAX)).is_ok();
        let remedy = if few {
            "raise --devices for more devices"
        } else {
            "`espbench espnow talk --help` has every word of a script"
        };
        UserError::new(format!("{name}: {wrong}")).remedy(remedy).into()
    })
}

fn read(script: Option<&Path>) -> anyhow::Result<String> {
    match script {
        None => Ok(DEMO.into()),
        Some(path) if path == Path::new("-") => {
            named_file::text_from(io::stdin().lock(), named_file::WRITTEN)
                .context("cannot read the script from stdin")
        }
        Some(path) => named_file::text(path, named_file::WRITTEN)
            .for_user(
                || format!("cannot read the script {}", path.display()),
                "name a file; `-` is stdin",
            )
            .map_err(Into::into),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_script_is_for_two_nodes_or_more() {
        assert!(script::parse(DEMO, 2).is_ok());
    }
}
