//! Contents of files: each key of each kind of file, and each reader of files.

use super::{HOSTILE, QUOTED, must_be_shown, shown, sources};
use crate::util::{Ran, TestDir};
use espbench_measure::plan;
use espbench_sim::lab::file::{FileKind, document};
use std::collections::BTreeSet;

/// Returns the keys of tables in Markdown, each with the line above its table.
fn keys(document: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut heading = String::new();
    for line in document.lines() {
        let first = line.strip_prefix("| `").and_then(|it| it.split_once('`'));
        match first {
            Some((key, _)) => found.push((heading.clone(), key.to_owned())),
            None if line.is_empty() || line.starts_with('|') => {}
            None => heading = line.to_owned(),
        }
    }
    found
}

#[test]
fn no_key_of_a_plan_reaches_the_terminal_raw() {
    let bench = TestDir::new();
    let keys = keys(&plan::document());
    assert!(keys.len() > 100, "{}", keys.len());
    for (heading, key) in keys {
        let key = if key == "CONFIG_NAME" { format!("CONFIG_{QUOTED}") } else { key };
        let key = key.replace(&format!("CONFIG_{QUOTED}"), "CONFIG_X");
        let kind = heading.split('"').nth(1).unwrap_or("udp-echo");
        let block = format!("[[measure]]\nkind = \"{kind}\"\n");
        let name = if key == "name" { "" } else { "name = \"a\"\n" };
        let text = if heading == "### The plan" {
            format!("{name}{key} = {QUOTED}\n{block}")
        } else if heading.contains("every kind") {
            format!("name = \"a\"\n[[measure]]\n{key} = {QUOTED}\n")
        } else if heading.contains("threshold") {
            format!("name = \"a\"\n{block}[[threshold]]\n{key} = {QUOTED}\n")
        } else {
            format!("name = \"a\"\n{block}{key} = {QUOTED}\n")
        };
        bench.write("plan.toml", &text);
        // The plan is read first, and the target is none.
        let ran = shown(&bench, &["run", "plan.toml", "--on", "udp:", "-q"]);
        assert_eq!(ran.status, Some(2), "{text}: {}", ran.err);
    }
    for text in [
        format!("name = \"a\"\n{QUOTED} = 1\n"),
        format!("name = \"a\"\n[[measure]]\nkind = \"ping\"\n{QUOTED} = 1\n"),
        format!("name = \"a\"\n{HOSTILE} = 1\n"),
    ] {
        bench.write("plan.toml", &text);
        assert_eq!(shown(&bench, &["run", "plan.toml", "-q"]).status, Some(2), "{text}");
    }
}

/// Returns the header of the table that a line of the documentation is about, with those that it is within.
fn header(heading: &str) -> String {
    let table = heading.split('`').find(|it| it.starts_with('['));
    let within = |it: &str| match it.trim_matches(['[', ']']).split_once('.') {
        Some((outer, _)) => format!("[[{outer}]]\n"),
        None => String::new(),
    };
    table.map_or_else(String::new, |it| format!("{}{it}\n", within(it)))
}

const LAB: &str = "title = \"t\"\nenvironment = \"environment.toml\"\n[[group]]\nname = \"a\"\nprofile = \"profile.toml\"\n";
const PROFILE: &str = "title = \"t\"\nlike = \"esp32c6\"\n";
const ENVIRONMENT: &str = "title = \"t\"\n[path_loss]\nexponent = 2\nsource = \"s\"\n[carrier_sense]\n\
                           energy_dbm = -73\nsource = \"s\"\n[receiver]\ndetect_db = 4\nsource = \"s\"\n";

#[test]
fn no_key_of_a_lab_reaches_the_terminal_raw() {
    let bench = TestDir::new();
    for kind in FileKind::ALL {
        let keys = keys(&document(kind));
        assert!(keys.len() > 10, "{kind:?}: {}", keys.len());
        let unknown = (String::new(), QUOTED.to_owned());
        for (heading, key) in keys.into_iter().chain([unknown]) {
            // A table of times is named by what takes them, and not by a key of its own.
            let header =
                if key.starts_with('[') { format!("{key}\nx = 1\n") } else { header(&heading) };
            let key = if key.starts_with('[') { "y".to_owned() } else { key };
            let hostile = format!("{key} = {QUOTED}\n");
            let files = [
                (FileKind::Lab, "lab.toml", LAB),
                (FileKind::Profile, "profile.toml", PROFILE),
                (FileKind::Environment, "environment.toml", ENVIRONMENT),
            ];
            for (of, name, text) in files {
                let text = match of == kind {
                    false => text.to_owned(),
                    true if header.is_empty() => {
                        let rest = text.lines().filter(|it| !it.starts_with(&format!("{key} ")));
                        let rest: Vec<&str> = rest.collect();
                        format!("{hostile}{}\n", rest.join("\n"))
                    }
                    true if text.contains(&header) => {
                        text.replace(&header, &format!("{header}{hostile}"))
                    }
                    true => format!("{text}{header}{hostile}"),
                };
                bench.write(name, &text);
            }
            let ran = shown(&bench, &["lab", "check", "lab.toml"]);
            assert!(ran.status.is_some(), "{kind:?}: {header}{hostile}");
        }
    }
}

/// Commands that read a file, for each source of the command that opens one: `FILE` is its name without an ending.
/// What stands beside is read, too.
pub(super) const READERS: &[(&str, &[&str])] = &[
    (
        "cli/board/flash.rs",
        &[
            "board flash FILE.bin --on serial:/nope",
            "board flash FILE.bin --on serial:/nope --chip esp32c3 --at 0",
        ],
    ),
    ("cli/board/monitor.rs", &["board monitor --elf FILE.elf --on serial:/dev/null"]),
    ("cli/builtin.rs", &["run FILE.toml --on loopback -q"]),
    ("cli/capture.rs", &["capture FILE.pcap", "capture other.pcap --keys FILE.keys"]),
    ("cli/compare.rs", &["compare FILE.json published"]),
    ("cli/doctor/diag.rs", &["doctor FILE.zip"]),
    ("cli/doctor/input.rs", &["doctor FILE.log"]),
    ("cli/doctor/program.rs", &["doctor other.log --elf FILE.elf"]),
    ("cli/doctor/rules.rs", &["doctor --explain x --rules FILE.toml"]),
    ("cli/espnow/edges/stamps.rs", &["espnow edges FILE.log FILE.log"]),
    ("cli/espnow/read/mod.rs", &["espnow read FILE.log"]),
    ("cli/espnow/talk/mod.rs", &["espnow talk --script FILE.talk"]),
    ("cli/fit/files.rs", &["fit last --lab FILE.toml"]),
    ("cli/lab/trace.rs", &["lab trace FILE.csv"]),
    ("cli/live_lab/firmware.rs", &["live --lab two-boards --pty --image FILE.bin"]),
    (
        "cli/mqtt_access.rs",
        &["rate mqtt mqtt://127.0.0.1:1 --username a --password-file FILE.password"],
    ),
    ("cli/sdkconfig.rs", &["tune --check FILE.sdkconfig -q"]),
    (
        "labs.rs",
        &[
            "lab check FILE.toml",
            "predict fleet --profile FILE.toml --devices 1 --messages 100",
            "lab check traced.toml",
        ],
    ),
    ("logic/mod.rs", &["espnow edges FILE.vcd"]),
    ("published.rs", &["compare FILE.csv published"]),
    (
        "transport/tls.rs",
        &[
            "rate mqtt mqtts://127.0.0.1:1 --ca FILE.pem",
            "rate mqtt mqtts://127.0.0.1:1 --cert FILE.pem --key FILE.pem",
        ],
    ),
];

/// A lab beside whose file a trace stands.
pub(super) const TRACED: &str = "title = \"t\"\nenvironment = \"office\"\n[[group]]\nname = \"a\"\nprofile = \"esp32c6\"\n[link]\ntrace = \"FILE.csv\"\n";

#[test]
fn every_source_that_opens_a_file_has_a_case() {
    let opens = ["named_file::", "texts::read(", "File::open("];
    let reads = ["fs::read(", "read_to_string(", "read_to_end(", "::read_to_string", "pem_file"];
    // Readers of what is no file of the user's: the system's facts, locks, the page, output of a process of our own.
    let others = [
        "cli/mcp/child.rs",
        "cli/serve/files.rs",
        "live_mark.rs",
        "logic/session.rs",
        "named_file.rs",
        "store/lock.rs",
        "sys/host.rs",
        "sys/options.rs",
        "texts.rs",
    ];
    let all = |words: &[&str], without: &[&str]| -> BTreeSet<String> {
        let is = |text: &str| {
            text.lines().any(|line| {
                !line.trim_start().starts_with("//")
                    && !line.starts_with("use ")
                    && words.iter().any(|it| line.contains(it))
            })
        };
        let found = sources()
            .into_iter()
            .filter(|(name, text)| is(text) && !without.contains(&name.as_str()));
        found.map(|it| it.0).collect()
    };
    let known: BTreeSet<String> = READERS.iter().map(|it| it.0.to_owned()).collect();
    assert_eq!(all(&opens, &["named_file.rs", "texts.rs"]), known, "a case for each reader");
    assert_eq!(all(&reads, &others), BTreeSet::new(), "read with a bound: named_file");
}

/// Returns what a reader may find: with a beginning that its format has, and hostile behind it.
fn contents(name: &str) -> Vec<String> {
    let mut all = vec![HOSTILE.to_owned(), format!("{HOSTILE}\n{HOSTILE}\n")];
    all.extend(match name.rsplit_once('.').map_or("", |it| it.1) {
        "sdkconfig" => vec![
            format!("CONFIG_IDF_TARGET=\"esp32{HOSTILE}\"\n"),
            format!("CONFIG_IDF_TARGET=\"esp32\"\nCONFIG_LWIP_TCP_WND_DEFAULT={HOSTILE}\n"),
            format!("CONFIG_IDF_TARGET=\"esp32\"\nCONFIG_IDF_INIT_VERSION=\"5{HOSTILE}\"\n"),
            format!("# Espressif IoT Development Framework (ESP-IDF) {HOSTILE} Project Configuration\nCONFIG_IDF_TARGET=\"esp32\"\n"),
        ],
        "json" => vec![format!("{{\"schema\":{QUOTED},\"name\":{QUOTED}}}"), format!("{{{QUOTED}:1}}"), QUOTED.into()],
        "vcd" => vec![
            format!("$timescale {HOSTILE} $end\n"),
            format!("$timescale 1 ns $end\n$var wire 1 ! a{HOSTILE} $end\n$enddefinitions $end\n#0\n0!\n"),
            format!("Time [s],{HOSTILE}\n0,0\n1,1\n"),
            format!("Time [s],a,b\n0,{HOSTILE},1\n"),
        ],
        "csv" => vec![
            format!("{HOSTILE},value\n1,2\n"),
            format!("kind,metric,value\n{HOSTILE},{HOSTILE},{HOSTILE}\n"),
            format!("time_s,from,to,rssi_dbm\n0,{HOSTILE},b,-40\n1,{HOSTILE},b,{HOSTILE}\n"),
        ],
        "talk" => vec![format!("node0 {HOSTILE}\n"), format!("expect node0 {HOSTILE}\n"), format!("{HOSTILE} ping\n")],
        "log" => vec![
            format!("I (1) boot: x\nGuru Meditation Error: Core  0 panic'ed ({HOSTILE})\nE (22) wifi: {HOSTILE}\n"),
            format!("edges: seq={HOSTILE}, low={HOSTILE} us\n"),
            format!("I (5) espnow: {HOSTILE}\n[  1]  0.0- 1.0 sec  {HOSTILE} KBytes\n"),
        ],
        "pem" => vec![format!("-----BEGIN {HOSTILE}-----\nAAAA\n-----END {HOSTILE}-----\n")],
        "toml" => vec![format!("{QUOTED} = 1\n"), format!("title = {QUOTED}\nname = {QUOTED}\n")],
        _ => Vec::new(),
    });
    all
}

/// Returns the words of a case, whose file has that name, and the name with its ending.
pub(super) fn words(case: &str, file: &str) -> (Vec<String>, String) {
    let ending = case.split("FILE").nth(1).unwrap_or(".csv").split(' ').next().unwrap_or_default();
    (case.split(' ').map(|it| it.replace("FILE", file)).collect(), format!("{file}{ending}"))
}

#[test]
fn no_content_of_a_file_reaches_the_terminal_raw() {
    let bench = TestDir::new();
    bench.write("traced.toml", &TRACED.replace("FILE", "hostile"));
    for case in READERS.iter().flat_map(|it| it.1) {
        let (words, name) = words(case, "hostile");
        for text in contents(&name) {
            bench.write(&name, &text);
            let ran =
                Ran::of(&mut bench.command(&words.iter().map(String::as_str).collect::<Vec<_>>()));
            must_be_shown(&ran, &format!("{case} with {text:?}"));
        }
    }
}
