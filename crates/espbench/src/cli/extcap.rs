//! `espbench extcap`: the air of a simulated lab as an interface of Wireshark and tshark, by the protocol of
//! their external captures (extcap): they ask for interfaces, link types and options, and then for a capture
//! into a pipe, which is `espbench live` with `--pcap`.

use super::live_lab;
use crate::cli::output;
use crate::user_error::UserError;
use clap::{Args as _, FromArgMatches as _};
use espbench_measure::plan::DEFAULT_SEED;
use espbench_sim::lab::file::{FileKind, Library};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Name of the interface.
const INTERFACE: &str = "espbench";

/// Lab where none is named.
const LAB: &str = "wifi-home";

/// `LINKTYPE_IEEE802_11_RADIOTAP`.
const RADIOTAP: u32 = 127;

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Print the interfaces
    #[arg(long)]
    extcap_interfaces: bool,
    /// Print the link types of the interface
    #[arg(long, requires = "extcap_interface")]
    extcap_dlts: bool,
    /// Print the options of the interface
    #[arg(long, requires = "extcap_interface")]
    extcap_config: bool,
    /// Capture into the pipe
    #[arg(long, requires_all = ["extcap_interface", "fifo"])]
    capture: bool,
    /// Version of the program that asks
    #[arg(long, value_name = "VERSION", num_args = 0..=1)]
    extcap_version: Option<Option<String>>,
    /// The interface
    #[arg(long, value_name = "NAME")]
    extcap_interface: Option<String>,
    /// The pipe, or a file
    #[arg(long, value_name = "FILE")]
    fifo: Option<PathBuf>,
    /// A capture filter, which is left to Wireshark's display filters
    #[arg(long, value_name = "FILTER")]
    extcap_capture_filter: Option<String>,
    /// The lab: a built-in one or a TOML file
    #[arg(long, default_value = LAB)]
    lab: String,
    /// Variant of a lab whose devices speak IP [default: the first]
    #[arg(long)]
    variant: Option<String>,
    /// Seed of all chance
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Command line that a shell runs in the network of the lab [default: none, which needs no rights]
    #[arg(long, value_name = "COMMAND")]
    run: Option<String>,
    /// Change a property while the lab runs, as `espbench live` has it
    #[arg(long, value_name = "[DEVICE:]KEY=VALUE@TIME")]
    what_if: Option<String>,
}

const AFTER_HELP: &str = "\
Wireshark and tshark find it as an executable in their folder for external captures (`tshark -G folders` tells which),
or in that of WIRESHARK_EXTCAP_DIR: a script of two lines,

  #!/bin/sh
  exec espbench extcap \"$@\"

Then `espbench` is among the interfaces: `tshark -i espbench`. All that is on the lab's air is captured, with radiotap.

Examples:
  espbench extcap --extcap-interfaces
  espbench extcap --capture --extcap-interface espbench --fifo air.pcapng --run 'ping -c 5 device'";

/// Runs the subcommand.
///
/// # Errors
/// Another interface is named, or what `espbench live` says.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(interface) = &args.extcap_interface
        && interface != INTERFACE
    {
        let error = UserError::new(format!("there is no interface `{interface}`"));
        return Err(error.remedy(format!("use {INTERFACE}")).into());
    }
    if args.capture {
        return capture(args);
    }
    if args.extcap_config {
        output::print(&config())?;
    } else if args.extcap_dlts {
        output::print(&format!(
            "dlt {{number={RADIOTAP}}}{{name=IEEE802_11_RADIO}}{{display=802.11 plus radiotap header}}\n"
        ))?;
    } else if args.extcap_interfaces {
        let version = env!("CARGO_PKG_VERSION");
        output::print(&format!(
            "extcap {{version={version}}}{{display=espbench}}\n\
             interface {{value={INTERFACE}}}{{display=Air of a simulated lab (espbench)}}\n"
        ))?;
    } else {
        let error = UserError::new("nothing is asked for");
        let remedy = "Wireshark and tshark run this command; see espbench extcap --help";
        return Err(error.remedy(remedy).into());
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the options of the interface, as dialogues show them.
fn config() -> String {
    let mut text = String::from(
        "arg {number=0}{call=--lab}{display=Lab}{type=selector}{tooltip=The simulated room}\n",
    );
    let library = Library::built_in();
    for name in library.names(FileKind::Lab) {
        let title = library.title(FileKind::Lab, name).unwrap_or_default();
        let title = title.replace(['{', '}', '\n'], " ");
        let default = if name == LAB { "true" } else { "false" };
        let _ = writeln!(
            text,
            "value {{arg=0}}{{value={name}}}{{display={name}: {title}}}{{default={default}}}"
        );
    }
    let _ = write!(
        text,
        "arg {{number=1}}{{call=--variant}}{{display=Variant}}{{type=string}}{{tooltip=Of the lab; the first if empty}}\n\
         arg {{number=2}}{{call=--run}}{{display=Command}}{{type=string}}{{tooltip=A shell runs it in the network of the lab, such as: ping device}}\n\
         arg {{number=3}}{{call=--what-if}}{{display=What if}}{{type=string}}{{tooltip=A change, such as: loss=10%@5s}}\n\
         arg {{number=4}}{{call=--seed}}{{display=Seed}}{{type=unsigned}}{{default={DEFAULT_SEED}}}{{tooltip=Of all chance}}\n"
    );
    text
}

/// Runs the lab, with its air in the pipe.
fn capture(args: &Args) -> anyhow::Result<ExitCode> {
    let given = |text: &Option<String>| text.clone().filter(|it| !it.trim().is_empty());
    let fifo = args.fifo.clone().unwrap_or_default();
    let mut words: Vec<OsString> = vec![args.lab.clone().into()];
    let mut add = |name: &str, value: OsString| {
        words.push(name.into());
        words.push(value);
    };
    add("--pcap", fifo.into());
    add("--seed", args.seed.to_string().into());
    // Who looks at the air measures nothing.
    add("--late-most", "1 h".into());
    if let Some(variant) = given(&args.variant) {
        add("--variant", variant.into());
    }
    if let Some(change) = given(&args.what_if) {
        add("--what-if", change.into());
    }
    words.push("--quiet".into());
    match given(&args.run) {
        Some(line) => words.extend(["--", "sh", "-c", line.as_str()].map(OsString::from)),
        None => words.push("--pty".into()),
    }
    let live = live_lab::Args::augment_args(clap::Command::new("live").no_binary_name(true));
    let matches = live.try_get_matches_from(words).map_err(|wrong| {
        UserError::new("the options of the interface are wrong").because(wrong.to_string().trim())
    })?;
    live_lab::run(&live_lab::Args::from_arg_matches(&matches)?)
}
