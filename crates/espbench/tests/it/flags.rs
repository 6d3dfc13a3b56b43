//! One vocabulary of flags: each name means one thing in all commands, and a flag that does nothing where
//! it stands is an error. `docs/flags.md` is the table of all; `BLESS=1` writes it again.

use crate::util::TestDir;
use clap::{Arg, Command};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A flag in one command.
struct FlagUse {
    /// `rate mqtt`
    command: String,
    short: Option<char>,
    /// Names of the values, `BYTES`; empty of a switch.
    value: String,
    about: String,
}

/// Returns every flag of every command that help shows, by its long name.
fn flags() -> BTreeMap<String, Vec<FlagUse>> {
    let mut all = BTreeMap::new();
    collect(&espbench::cli::command(), "", &mut all);
    all
}

fn collect(command: &Command, path: &str, all: &mut BTreeMap<String, Vec<FlagUse>>) {
    for arg in command.get_arguments().filter(|it| !it.is_hide_set()) {
        let Some(long) = arg.get_long() else { continue };
        all.entry(long.to_string()).or_default().push(FlagUse {
            command: path.to_string(),
            short: arg.get_short(),
            value: value(arg),
            about: arg.get_help().map(ToString::to_string).unwrap_or_default().replace('\n', " "),
        });
    }
    for sub in command.get_subcommands().filter(|it| it.get_name() != "help") {
        collect(sub, format!("{path} {}", sub.get_name()).trim(), all);
    }
}

fn value(arg: &Arg) -> String {
    if !arg.get_action().takes_values() {
        return String::new();
    }
    let words: Vec<_> =
        arg.get_possible_values().iter().map(|it| it.get_name().to_owned()).collect();
    if !words.is_empty() {
        return words.join("|");
    }
    let names = arg.get_value_names().unwrap_or_default();
    names.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(" ")
}

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// Writes the table of all flags in Markdown.
fn table() -> String {
    let mut text = String::from(
        "# Flags\n\nAll flags of all commands. A test writes this table from the commands (`BLESS=1 cargo test -p \
         espbench --features full --test it flags`).\nFlags of `iperf` have iperf 2's names, those of `ping` ping's.\n\n\
         | flag | value | meaning | commands |\n|---|---|---|---|\n",
    );
    for (long, uses) in flags() {
        // One row for each meaning, in the order of the commands.
        let mut rows: Vec<(&FlagUse, Vec<String>)> = Vec::new();
        for of in &uses {
            let same = |row: &&mut (&FlagUse, Vec<String>)| {
                (row.0.short, &row.0.value, &row.0.about) == (of.short, &of.value, &of.about)
            };
            let command = if of.command.is_empty() { "all" } else { &of.command };
            match rows.iter_mut().find(same) {
                Some(row) => row.1.push(command.to_string()),
                None => rows.push((of, vec![command.to_string()])),
            }
        }
        for (of, commands) in rows {
            let short = of.short.map_or_else(String::new, |it| format!("`-{it}`, "));
            let value = of.value.replace('|', "\\|");
            let about = of.about.replace('|', "\\|");
            text +=
                &format!("| {short}`--{long}` | {value} | {about} | {} |\n", commands.join(", "));
        }
    }
    text
}

#[test]
#[cfg_attr(not(feature = "full"), ignore = "a build without some commands lacks their flags")]
fn the_table_of_flags_is_that_of_the_commands() {
    let (path, expected) = (docs("flags.md"), table());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "docs/flags.md is old: BLESS=1 cargo test -p espbench --features full --test it flags"
    );
}

/// Commands whose flags another program has named.
const NAMED_BY_OTHERS: [&str; 2] = ["iperf", "ping"];

#[test]
fn a_name_has_one_meaning_and_a_meaning_one_name() {
    let all = flags();
    // What there was, and what it is called now.
    for old in ["rates", "sizes", "len", "nodes", "encrypted"] {
        let by_us: Vec<&str> = all.get(old).into_iter().flatten().map(|it| &*it.command).collect();
        let by_us: Vec<&str> =
            by_us.into_iter().filter(|it| !NAMED_BY_OTHERS.contains(it)).collect();
        assert_eq!(by_us, Vec::<&str>::new(), "--{old}");
    }
    // One name has values of one kind: a free one, or words of one list, of which a command may have some.
    for (long, uses) in &all {
        let ours = uses.iter().filter(|it| !NAMED_BY_OTHERS.contains(&&*it.command));
        let kinds: BTreeSet<&str> = ours.map(|it| &*it.value).collect();
        let mut others: Vec<BTreeSet<&str>> =
            kinds.iter().map(|it| it.split('|').collect()).collect();
        let mut list = others.pop().unwrap_or_default();
        while let Some(at) = others.iter().position(|it| !it.is_disjoint(&list)) {
            list.extend(others.swap_remove(at));
        }
        assert!(others.is_empty(), "--{long} takes {kinds:?} in different commands");
    }
}

#[test]
fn commands_for_real_devices_show_nothing_of_the_simulator() {
    let bench = TestDir::new();
    for command in
        [&["echo"][..], &["ping"], &["iperf"], &["rate", "tcp"], &["rate", "mqtt"], &["respond"]]
    {
        let help = bench.run(&[command, &["--help"]].concat()).ok();
        for word in ["--pcap", "--threads", "--lab", "virtual", "simulat"] {
            assert!(!help.contains(word), "{command:?} --help shows {word}:\n{help}");
        }
    }
    let run = bench.run(&["run", "--help"]).ok();
    for key in [
        "profile",
        "environment",
        "phy_rate",
        "power_dbm",
        "clock_mhz",
        "devices",
        "distance",
        "CONFIG_",
    ] {
        assert!(run.contains(key), "run --help names the key {key}");
    }
}

#[test]
fn a_flag_that_does_nothing_is_an_error() {
    let bench = TestDir::new();
    let echo = "name = \"e\"\n[[measure]]\nkind = \"udp-echo\"\nsize = 20\ncount = 5\n";
    bench.write("echo.toml", echo);
    bench.run(&["run", "echo.toml", "-q"]).ok();
    // The command and the flag that is ignored in it.
    let cases: &[(&str, &str)] = &[
        ("run echo.toml --pcap a.pcapng", "--pcap"),
        ("run echo.toml --on udp:127.0.0.1:9 --threads 2", "--threads"),
        ("run echo.toml --chip esp32", "--chip"),
        ("run echo.toml --on replay:e-1 --distance 3", "--distance"),
        ("run ota --environment home", "--environment"),
        ("run echo.toml --local-port 0", "--local-port"),
        ("run echo.toml --topic a", "--topic"),
        ("run ota --insecure", "--insecure"),
        ("run echo.toml --full --format json", "--full"),
        ("run --resume --chip esp32", "--chip"),
        ("run --resume e-1 --seed 3", "--seed"),
        ("run --list --seed 3", "--seed"),
        ("run --list echo.toml", "--list"),
        ("report --full --format csv", "--full"),
        ("report --truth -o a.html", "--truth"),
        ("report --truth --full", "--truth"),
        ("tune --want tcp-tx>=1Mbit/s --published", "--published"),
        ("tune --check echo.toml --published", "--published"),
        ("predict fleet --devices 2 --published", "--published"),
        ("predict rate --devices 2 --published", "--published"),
        ("predict fleet --devices 2 --ack", "--ack"),
        ("predict fleet --devices 2 --copies 2", "--copies"),
        ("predict fleet --devices 2 --attempts 2", "--attempts"),
        ("predict fleet --devices 2 --sleep deep --cast broadcast --attempts 2", "--attempts"),
        ("predict fleet --devices 2 --sleep light --boot fast", "--boot"),
        ("predict fleet --devices 2 --battery 18650 --efficiency 90%", "--efficiency"),
        ("echo 127.0.0.1 --pcap a.pcapng", "--pcap"),
        ("echo 127.0.0.1 --full --format json", "--full"),
        ("ping 127.0.0.1 --threads 2", "--threads"),
        ("ping 127.0.0.1 -4 -6", "--ipv4"),
        ("espnow ping --chip esp32", "--chip"),
        ("espnow talk --lab ota --loss 5%", "--loss"),
        ("espnow talk --lab ota --hardened", "--hardened"),
        ("lab show shield-box --devices 3", "--devices"),
        ("lab show shield-box --seed 3", "--seed"),
        ("lab show shield-box -o a.svg", "--output"),
        ("lab check esp32 --seed 3", "--seed"),
        ("rate mqtt 127.0.0.1 --in-flight 5", "--in-flight"),
        ("rate mqtt 127.0.0.1 --rate 0", "--rate"),
        ("rate mqtt 127.0.0.1 --listen --topic a --rate 5", "--rate"),
        ("rate mqtt 127.0.0.1 --listen --topic a --retain", "--retain"),
        ("rate mqtt 127.0.0.1 --cert a.pem", "--key"),
        ("iperf -s -b 5M", "--bandwidth"),
        ("iperf -s -R", "--reverse"),
        ("iperf -s -N", "--nodelay"),
        ("iperf -s -o a.html", "--output"),
        ("iperf -s --chip esp32", "--chip"),
        ("iperf -s --latency", "--latency"),
        ("iperf -s --openmetrics a.prom", "--openmetrics"),
        ("iperf -c 127.0.0.1 -u -N", "--nodelay"),
        ("iperf -c 127.0.0.1 --latency-idle 1s", "--latency"),
        ("iperf -c 127.0.0.1 -y C --format json", "--format"),
    ];
    let mut wrong = Vec::new();
    for (line, flag) in cases {
        let ran = bench.run(&line.split(' ').collect::<Vec<_>>());
        let lines = ran.err.lines().count();
        if ran.status != Some(2) || !ran.err.contains(flag) || lines > 3 {
            wrong.push(format!("{line}: status {:?}: {}", ran.status, ran.err));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(bench.run(&["runs"]).ok().lines().count(), 1, "nothing was measured");
}

/// Lines of two screens.
const TWO_SCREENS: usize = 100;

#[test]
fn help_of_each_command_fits_two_screens() {
    fn each(command: &Command, path: &[&str]) {
        let (whole, brief) =
            (espbench::cli::help::text(path, true), espbench::cli::help::text(path, false));
        let lines = |text: &str| text.lines().count();
        assert!(
            lines(&whole) <= TWO_SCREENS,
            "espbench {path:?} --help has {} lines:\n{whole}",
            lines(&whole)
        );
        assert!(lines(&brief) <= lines(&whole), "espbench {path:?} -h:\n{brief}");
        // Each flag is shown, or named with the page that shows it.
        for arg in command.get_arguments().filter(|it| !it.is_hide_set()) {
            if let Some(long) = arg.get_long() {
                assert!(
                    whole.contains(&format!("--{long}")),
                    "espbench {path:?} --help leaves out --{long}"
                );
            }
        }
        for sub in command.get_subcommands() {
            each(sub, &[path, &[sub.get_name()]].concat());
        }
    }
    each(&espbench::cli::command(), &[]);
}

#[test]
fn pages_of_shared_flags_are_printed() {
    let bench = TestDir::new();
    let output = bench.run(&["help", "output"]).ok();
    assert!(
        output.contains("--openmetrics <FILE|[HOST]:PORT>") && output.contains("bencher"),
        "{output}"
    );
    assert!(bench.run(&["help", "device"]).ok().contains("--environment"), "device");
    let help = bench.run(&["ping", "--help"]).ok();
    assert_eq!(help, espbench::cli::help::text(&["ping"], true));
    assert_eq!(bench.run(&["ping", "-h"]).ok(), espbench::cli::help::text(&["ping"], false));
    assert_eq!(bench.run(&["help", "ping"]).ok(), help);
}
