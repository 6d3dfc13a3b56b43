//! Dead ends that users met: each ends with an error of three lines at most, which says what to do.

use crate::util::{Ran, TestDir};

/// Returns the lines of an error; panics where there are more than three, or where a cause or an advice
/// has no head.
#[track_caller]
fn told(ran: &Ran) -> Vec<&str> {
    assert_eq!(ran.status, Some(2), "{}", ran.err);
    let lines: Vec<&str> = ran.err.lines().collect();
    assert!((1..=3).contains(&lines.len()), "{}", ran.err);
    assert!(lines[0].starts_with("espbench: "), "{}", ran.err);
    for line in &lines[1..] {
        assert!(line.starts_with("  why: ") || line.starts_with("  do:  "), "{}", ran.err);
    }
    lines
}

const ECHO: &str = "name = \"NAME\"\n[[measure]]\nkind = \"udp-echo\"\nsize = 20\ncount = 20\n";

#[test]
fn runs_are_numbered_by_plan_and_found_by_age() {
    let bench = TestDir::new();
    for name in ["my-device", "other", "my-device"] {
        bench.write("plan.toml", &ECHO.replace("NAME", name));
        let ran = bench.run(&["run", "plan.toml"]);
        let place = format!(", stored in {}\n", bench.store().display());
        assert!(ran.err.starts_with("run ") && ran.err.contains(&place), "{}", ran.err);
        ran.ok();
    }
    let runs = bench.run(&["runs"]).ok();
    let names: Vec<&str> = runs.lines().filter_map(|it| it.split_whitespace().next()).collect();
    assert_eq!(names, ["my-device-1", "other-1", "my-device-2"]);
    let full = |run: &str| bench.run(&["report", run, "--full"]).ok();
    for (name, run) in [("last", "my-device-2"), ("last~1", "other-1"), ("last~2", "my-device-1")] {
        assert!(full(name).starts_with(&format!("espbench report: {run}")), "{name}");
    }
    // As the README has it.
    let compared = bench.run(&["compare", "my-device-1", "my-device-2"]);
    assert_eq!(compared.status, Some(0), "{}", compared.err);
    for name in ["last~3", "3", "my-device", "last~", "last~x"] {
        let ran = bench.run(&["report", name]);
        let lines = told(&ran);
        assert!(lines[0].ends_with(&format!("has no run `{name}`")), "{}", ran.err);
        assert!(lines[1].contains("`espbench runs` lists their names"), "{}", ran.err);
    }
    // A number that is free again is taken again; others never.
    bench.run(&["runs", "--remove", "my-device-1"]).ok();
    bench.write("plan.toml", &ECHO.replace("NAME", "my-device"));
    assert!(bench.run(&["run", "plan.toml"]).err.starts_with("run my-device-3,"));
}

#[test]
fn quiet_is_nothing_but_the_answer() {
    let bench = TestDir::new();
    bench.write("plan.toml", &ECHO.replace("NAME", "a"));
    let ran = bench.run(&["run", "plan.toml", "-q", "-o", "page.html"]);
    assert!(ran.err.is_empty() && bench.path("page.html").is_file(), "{}", ran.err);
    // The files that are written are no remarks of progress: without the flag each is named.
    let told = bench.run(&["run", "plan.toml", "-o", "page.html"]).err;
    assert!(told.contains("stored in") && told.contains("wrote page.html"), "{told}");
}

#[test]
fn a_file_of_another_kind_is_told_with_what_would_do() {
    let bench = TestDir::new();
    bench.write("plan.toml", &ECHO.replace("NAME", "a"));
    bench.run(&["run", "plan.toml", "-q"]).ok();
    bench.write("page.html", "<!DOCTYPE html>");
    bench.write("room.toml", ROOM);
    bench.write("notes.json", "{}");
    for (line, what, remedy) in [
        ("report page.html", "page.html is a file, and no run of ", "`espbench runs` lists"),
        ("compare page.html", "page.html is a file, and no run of ", "reads .json and .csv"),
        ("compare last page.html", "page.html is a file, and no run of ", "reads .json and .csv"),
        ("run page.html", "page.html: line 1, column ", "docs/plans.md"),
        (
            "run room.toml",
            "room.toml: line 2, column 1: unknown key `environment`",
            "--on sim:FILE",
        ),
        ("run --resume page.html", "has no run `page.html`", "`espbench runs` lists"),
        ("compare notes.json", "notes.json is no report that espbench wrote", ""),
        ("report --store page.html", "page.html", "--store FILE"),
    ] {
        let ran = bench.run(&line.split(' ').collect::<Vec<_>>());
        let lines = told(&ran);
        assert!(lines[0].contains(what), "{line}: {}", ran.err);
        assert!(lines[lines.len() - 1].contains(remedy), "{line}: {}", ran.err);
    }
}

const ROOM: &str = "title = \"t\"\nenvironment = \"office\"\n[[group]]\nname = \"a\"\n\
                    profile = \"esp32c6\"\n[[group]]\nname = \"b\"\nprofile = \"esp32c6\"\n\
                    distance_m = 12\n";

/// A lab's file holds where a plan is silent; what a plan says against it is on the first lines of the
/// answer.
#[test]
fn a_labs_file_wins_where_the_plan_is_silent() {
    let bench = TestDir::new();
    bench.write("room.toml", ROOM);
    let plan =
        "name = \"a\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\nsize = 10\ncount = 5\n";
    bench.write("plan.toml", plan);
    let ran = bench.run(&["run", "plan.toml", "--on", "sim:room.toml"]);
    assert!(!ran.err.contains("this run sets"), "{}", ran.err);
    let head = ran.ok();
    assert!(head.lines().next().unwrap().contains("12 m"), "{head}");
    bench.write("plan.toml", &format!("{plan}distance = \"3 m\"\n"));
    let said = bench.run(&["run", "plan.toml", "--on", "sim:room.toml", "-q"]);
    assert!(!said.err.contains("distance"), "{}", said.err);
    let answer = said.ok();
    assert!(
        answer.lines().nth(1).unwrap().contains("this run sets distance 3 m (lab: 12)"),
        "{answer}"
    );
    // A built-in plan is for another lab: here it fills what the file leaves open.
    let fast = |args: &[&str]| {
        let args = [&["run", "one-way-latency", "--on", "sim:room.toml", "-q"], args].concat();
        bench.run(&args).ok()
    };
    let ours = fast(&[]);
    assert!(ours.lines().next().unwrap().contains("12 m"), "{ours}");
    assert!(!ours.contains("this run sets distance"), "{ours}");
    let moved = fast(&["--distance", "25"]);
    assert!(moved.contains("this run sets distance 25 m (lab: 12)"), "{moved}");
}

/// Rubbish in place of what a command takes: three lines at most, of which the last says what to do.
#[test]
fn every_dead_end_says_what_to_do() {
    let bench = TestDir::new();
    bench.write("x.txt", "hello\n");
    bench.write("x.json", "{");
    bench.write("x.csv", "a,b\n");
    bench.write("x.toml", "x");
    bench.write("lab.toml", "title = \"t\"\n");
    bench.write("empty", "");
    bench.write("plan.toml", &ECHO.replace("NAME", "a"));
    bench.run(&["run", "plan.toml", "-q"]).ok();
    for (line, remedy) in [
        ("run x.toml", "docs/plans.md"),
        ("run round-trip udp-echo", "one after the other"),
        ("run udp-echo --on sim:lab.toml", "docs/labs.md has every key of a lab"),
        ("run plan.toml -o /nonexistent/x.html", "make the folder /nonexistent first"),
        ("lab show x.toml", "docs/labs.md has every key of a lab"),
        ("lab show many-boards -o x.foo", "use .svg, .html or .txt"),
        ("ping 127.0.0.1 --count 0", "`espbench ping --help` has its flags"),
        ("tune --check x.png", "name the sdkconfig"),
        ("compare x.json", "`espbench report RUN -o x.json`"),
        ("compare x.csv", "docs/data.md has its columns"),
        ("compare last last --metric nonsense", "it has effective_rate, loss,"),
        ("report last --truth", "`espbench run --on sim round-trip` makes some"),
        ("espnow read empty", "give what a board's console shows"),
        ("espnow read x.txt", "give what a board's console shows"),
        ("espnow edges x.txt", "name a capture"),
        ("espnow edges none.sr", "name a capture"),
        ("espnow talk --script none", "name a file; `-` is stdin"),
        ("espnow talk --script x.txt", "has every word of a script"),
        ("espnow ping --size 0", "`espbench espnow --help` has its flags"),
    ] {
        let ran = bench.run(&line.split(' ').collect::<Vec<_>>());
        let lines = told(&ran);
        let last = lines[lines.len() - 1];
        assert!(last.starts_with("  do:  "), "{line}: {}", ran.err);
        assert!(last.contains(remedy), "{line}: {}", ran.err);
    }
}

#[test]
fn what_no_kernel_and_no_lab_can_have_is_refused_with_what_there_is() {
    let bench = TestDir::new();
    let plan =
        "name = \"a\"\n[[measure]]\nkind = \"iperf\"\ntransport = \"tcp\"\ncongestion = \"a b\"\n";
    bench.write("plan.toml", plan);
    let ran = bench.run(&["run", "plan.toml"]);
    let said = "`a b` is no name of a congestion control: Linux has reno, cubic, bbr,";
    assert!(told(&ran)[0].contains(said), "{}", ran.err);
    let flag = bench.run(&["iperf", "-c", "127.0.0.1", "-Z", "a b"]);
    assert!(told(&flag)[1].contains(said), "{}", flag.err);
    let head = "source,table,chip,transport,mode,metric,payload_bytes,devices,distance_m,security,environment,variant,value,unit,note\n";
    bench.write(
        "mine.csv",
        &format!("{head}me,udp-echo,esp32,udp,,rtt_p99,64,1,,,,device two words,3,ms,\n"),
    );
    let ran = bench.run(&["compare", "mine.csv"]);
    let lines = told(&ran);
    assert!(lines[1].contains("`device two words` is no setting that is known"), "{}", ran.err);
    assert!(lines[2].contains("docs/data.md"), "{}", ran.err);
}

#[test]
fn a_rate_or_a_channel_that_a_chip_does_not_have_is_told_with_those_that_do() {
    let bench = TestDir::new();
    for (args, what, why, remedy) in [
        (
            &["predict", "fleet", "--devices", "2", "--channel", "36"][..],
            "--channel 36 is not for an esp32",
            "an esp32 has 2.4 GHz alone",
            "--profile esp32c5",
        ),
        (
            &["predict", "range", "--profile", "esp32c61", "--channel", "165"],
            "--channel 165 is not for an esp32c61",
            "it is in 5 GHz",
            "--channel 1 to 14",
        ),
        (
            &["predict", "frames", "--payload", "500", "--phy-rate", "HE20-MCS9"],
            "--phy-rate HE20-MCS9 is not for these devices",
            "an esp32 does not send it",
            "--phy-rate 1M, or --profile esp32c6, esp32c5, esp32c61",
        ),
        (
            &[
                "predict",
                "fleet",
                "--devices",
                "2",
                "--profile",
                "esp32c2",
                "--phy-rate",
                "LR-250K",
            ],
            "--phy-rate LR-250K is not for these devices",
            "an esp32c2 does not send it",
            "--profile esp32, esp32s2",
        ),
        (
            &[
                "predict",
                "frames",
                "--payload",
                "500",
                "--profile",
                "esp32c5",
                "--channel",
                "36",
                "--phy-rate",
                "11M",
            ],
            "--phy-rate 11M is not for these devices",
            "5 GHz has no DSSS, CCK and Long Range",
            "--phy-rate 6M",
        ),
        (
            &["predict", "rate", "--phy-rate", "24M", "--profile", "esp32c5", "--channel", "36"],
            "--channel 36 cannot be used here",
            "the esp-now component has four bits for its channel",
            "espbench predict frames --channel 36",
        ),
    ] {
        let ran = bench.run(args);
        let lines = told(&ran);
        assert!(lines[0].contains(what), "{}", ran.err);
        assert!(lines[1].contains(why), "{}", ran.err);
        assert!(lines[2].contains(remedy), "{}", ran.err);
    }
    let ran = bench.run(&["predict", "fleet", "--devices", "2", "--channel", "37"]);
    assert!(told(&ran).join(" ").contains("use 1 to 14"), "{}", ran.err);
}

#[test]
fn frames_in_5_ghz_and_with_802_11ax_are_predicted() {
    let bench = TestDir::new();
    let few = ["--rooms", "2", "--messages", "100", "-q", "--format", "json"];
    let answer = |args: &[&str]| {
        let all = [args, &few[..]].concat();
        bench.run(&all).ok()
    };
    let high =
        ["predict", "frames", "--payload", "1000", "--frame-sizes", "1000", "--distances", "5"];
    let high = answer(&[&high[..], &["--profile", "esp32c5", "--channel", "36"]].concat());
    let report: serde_json::Value = serde_json::from_str(&high).unwrap();
    let tables = report["tables"].as_array().unwrap();
    let frames = tables.iter().find(|it| it["id"] == "predict-frames").expect("its table");
    let whole = frames["rows"][0][3].as_str().unwrap();
    assert!(whole.starts_with("100.0"), "all arrive whole: {frames}");
    assert!(high.contains("at 6M") && high.contains("channel 36"), "{high}");
    let on_air = ["predict", "rate", "--profile", "esp32c61", "--phy-rate"];
    let he = answer(&[&on_air[..], &["HE20-MCS7-SGI"]].concat());
    assert!(he.contains("HE20-MCS7-SGI is on the air"), "{he}");
    let nameless = answer(&[&on_air[..], &["HE20-MCS7-GI3.2"]].concat());
    assert!(nameless.contains("wifi_phy_rate_t of ESP-IDF has no name for it"), "{nameless}");
}

#[test]
fn a_chip_without_ranks_is_told_with_those_that_have_them() {
    let bench = TestDir::new();
    let ran = bench.run(&["lab", "ranks", "esp32c61"]);
    let lines = told(&ran);
    assert_eq!(lines[0], "espbench: Espressif's guide has no ranks of the esp32c61");
    assert!(lines[1].contains("esp32, esp32s2, esp32s3, esp32c2, esp32c3, esp32c6"), "{}", ran.err);
    assert!(lines[2].contains("espbench tune --want"), "{}", ran.err);
    told(&bench.run(&["lab", "ranks", "esp33"]));
    told(&bench.run(&["lab", "ranks", "esp32", "--phy-rate", "HT40-MCS9"]));
    let one = bench.run(&["lab", "ranks", "esp32c3", "--seeds", "1"]).ok();
    assert!(one.contains("12 figures: median error "), "{one}");
    assert!(one.lines().all(|line| line.len() <= 100), "{one}");
}

#[test]
fn a_chip_without_wifi_is_refused_wherever_a_chip_is_given() {
    let bench = TestDir::new();
    bench.write("sdkconfig", "CONFIG_IDF_TARGET=\"esp32h2\"\n");
    bench.write("mine.toml", "title = \"t\"\nlike = \"esp32c6\"\nchip = \"esp32h2\"\n");
    bench.write("room.toml", &ROOM.replace("esp32c6", "esp32h2"));
    let plan = "name = \"a\"\n[[measure]]\nkind = \"raw-esp-now\"\nsize = 20\ncount = 20\nprofile = \"esp32h2\"\n";
    bench.write("plan.toml", plan);
    for args in [
        &["predict", "range", "--profile", "esp32h2"][..],
        &["predict", "fleet", "--devices", "2", "--profile", "ESP32-H2"],
        &["predict", "rate", "--profile", "esp32-h2"],
        &["predict", "range", "--sdkconfig", "sdkconfig"],
        &["tune", "--check", "sdkconfig"],
        &["tune", "--want", "heap>=1KB", "--chip", "esp32h2"],
        &["lab", "ranks", "esp32h2"],
        &["lab", "profile", "esp32h2"],
        &["lab", "profile", "mine.toml"],
        &["lab", "show", "two-boards", "--profile", "esp32h2"],
        &["lab", "show", "room.toml"],
        &["run", "plan.toml", "--on", "sim:two-boards", "-q"],
        &["echo", "127.0.0.1:9", "--chip", "ESP32-H2"],
    ] {
        let ran = bench.run(args);
        let all = told(&ran).join(" ");
        for part in
            ["ESP32-H2 has no Wi-Fi", "its radio speaks Bluetooth LE", "name a chip with Wi-Fi"]
        {
            assert!(all.contains(part), "{args:?}: {}", ran.err);
        }
    }
    let ran = bench.run(&["predict", "range", "--profile", "esp32p4"]);
    assert_eq!(told(&ran)[2], "  do:  name the chip beside it: esp32c6 on Espressif's own boards");
}

/// Words that users of other programs type first: the error says what to type here.
#[test]
fn what_people_type_first_is_answered_with_what_to_type() {
    let bench = TestDir::new();
    for (line, what, remedy) in [
        (
            "ping 127.0.0.1 -c -3",
            "invalid value '-3' for '--count <COUNT>'",
            "--count <COUNT>: Requests of each size",
        ),
        (
            "predict fleet --devices 2 --distance -5",
            "invalid value '-5' for '--distance <METRES>'",
            "--distance <METRES>: ",
        ),
        (
            "predict range --walls -1",
            "invalid value '-1' for '--walls <NUMBER>'",
            "--walls <NUMBER>: ",
        ),
        (
            "predict fleet --devices -1",
            "invalid value '-1' for '--devices <DEVICES>'",
            "--devices <DEVICES>: ",
        ),
        ("run round-trip --target sim", "unexpected argument '--target' found", "--on sim:LAB"),
        ("run round-trip sim:room-office", "no plan `sim:room-office`", "--on sim:room-office"),
        ("run round-trip sim:own.toml", "no plan `sim:own.toml`", "--on sim:own.toml"),
        (
            "run round-trip --dry-run",
            "unexpected argument '--dry-run' found",
            "--on sim` tries a plan",
        ),
        (
            "tune --want tcp-tx>=20Mbit/s sdkconfig",
            "unexpected argument 'sdkconfig' found",
            "--check sdkconfig",
        ),
        (
            "board monitor /dev/ttyUSB9",
            "unexpected argument '/dev/ttyUSB9' found",
            "--on serial:/dev/ttyUSB9",
        ),
        ("echo 127.0.0.1 --port 7", "unexpected argument '--port' found", "HOST:PORT"),
        #[cfg(feature = "serial")]
        ("board monitor -p /dev/ttyUSB9", "unexpected argument '-p' found", "--on serial:PORT"),
        #[cfg(feature = "flash")]
        (
            "board flash --port /dev/ttyUSB9 x.elf",
            "unexpected argument '--port' found",
            "--on serial:PORT",
        ),
        ("iperf -c 127.0.0.1 -b 10Mbps", "`10Mbps` is no rate", "-b 10m"),
        ("echo 127.0.0.1 --json", "unexpected argument '--json' found", "--format json"),
        ("ping", "were not provided: <HOST>", "write espbench ping [OPTIONS] <HOST>"),
        (
            "ping 127.0.0.1 --nonsense",
            "unexpected argument '--nonsense' found",
            "`espbench ping -h` lists its flags",
        ),
        ("run roundtrip", "no plan `roundtrip`", "Did you mean `round-trip`?"),
        (
            "lab show nolab",
            "no lab is called `nolab`. Known here: ",
            "`espbench lab list` shows all",
        ),
        ("doctor nofile.log", "cannot read nofile.log", "name a log"),
    ] {
        let ran = bench.run(&line.split(' ').collect::<Vec<_>>());
        let lines = told(&ran);
        let last = lines[lines.len() - 1];
        assert!(lines[0].contains(what), "{line}: {}", ran.err);
        assert!(last.starts_with("  do:  ") && last.contains(remedy), "{line}: {}", ran.err);
        assert!(
            !ran.err.contains("--help says more") && !ran.err.contains("-- -"),
            "{line}: {}",
            ran.err
        );
    }
}

/// One spelling of a time: a bare number is in seconds.
#[test]
fn a_bare_number_is_in_seconds_in_every_command() {
    let bench = TestDir::new();
    let plan = |args: &[&str]| {
        let ran = bench.run(&[args, &["-q", "--format", "json"]].concat());
        assert!(
            !ran.err.contains("has no unit") && !ran.err.contains("invalid value"),
            "{args:?}: {}",
            ran.err
        );
    };
    plan(&["rate", "tcp", "127.0.0.1:1", "-t", "3"]);
    plan(&["echo", "127.0.0.1:1", "-i", "5", "-t", "0.01", "-c", "1"]);
    plan(&["iperf", "-c", "127.0.0.1", "-p", "1", "-t", "1s", "--latency-idle", "2", "--latency"]);
    plan(&[
        "predict",
        "fleet",
        "--devices",
        "2",
        "--every",
        "5",
        "--rooms",
        "2",
        "--messages",
        "100",
    ]);
}

/// `1 cells` and the like, in all that tests keep of what is printed and in the documents.
#[test]
fn plurals_agree_in_all_that_is_printed() {
    const MANY: [&str; 24] = [
        "cells",
        "thresholds",
        "values",
        "times",
        "kinds",
        "devices",
        "probes",
        "samples",
        "findings",
        "intervals",
        "runs",
        "seeds",
        "rooms",
        "lines",
        "files",
        "packets",
        "frames",
        "messages",
        "rates",
        "figures",
        "causes",
        "tests",
        "rows",
        "copies",
    ];
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![
        root.join("docs"),
        root.join("crates/espbench"),
        root.join("crates/measure"),
        root.join("crates/sim/src"),
    ];
    let mut wrong = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
            if path.is_dir() {
                folders.push(path);
            } else if ["md", "snap"].contains(&ending) {
                let text = std::fs::read_to_string(&path).unwrap();
                let words: Vec<&str> = text.split_whitespace().collect();
                for at in (0..words.len().saturating_sub(1)).filter(|at| words[*at] == "1") {
                    let more = ["more", "further"].contains(&words[at + 1]);
                    let noun = words.get(at + 1 + usize::from(more)).copied().unwrap_or_default();
                    if MANY.contains(&noun.trim_end_matches(|it: char| !it.is_alphabetic())) {
                        wrong.push(format!(
                            "{}: 1 {}",
                            path.display(),
                            words[at + 1..].iter().take(3).copied().collect::<Vec<_>>().join(" ")
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_wrong_name_within_the_file_of_a_lab_is_told_with_where_names_are_listed() {
    let bench = TestDir::new();
    let lab = include_str!("../../../../labs/two-boards.toml");
    let wrong = [("profile = \"esp32\"", "profile = \"esp99\""), ("\"office\"", "\"offic\"")];
    for (name, other) in wrong {
        bench.write("lab.toml", &lab.replace(name, other));
        for args in [
            &["run", "round-trip", "--on", "sim:lab.toml"][..],
            &["lab", "check", "lab.toml"],
            &["lab", "show", "lab.toml"],
        ] {
            let ran = bench.run(args);
            let lines = told(&ran);
            assert!(lines[0].contains("lab.toml: line "), "{}", ran.err);
            assert!(lines.last().unwrap().contains("espbench lab list"), "{args:?}: {}", ran.err);
        }
    }
}

#[test]
fn a_remedy_of_listening_has_all_its_flags() {
    let bench = TestDir::new();
    for (args, remedy) in [
        (&["rate", "mqtt", "127.0.0.1", "--listen"][..], "add --topic"),
        (&["rate", "mqtt", "127.0.0.1", "--topic", "a/#"], "--listen --topic 'a/#'"),
    ] {
        let ran = bench.run(args);
        let lines = told(&ran);
        assert!(lines.last().unwrap().contains(remedy), "{}", ran.err);
    }
}
