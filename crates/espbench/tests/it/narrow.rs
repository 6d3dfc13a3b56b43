//! Answers on narrow terminals: no line is wider than the screen, and nothing that people need is cut.

use crate::terminal::ended_on_columns;
use crate::util::TestDir;

/// Columns of the terminals.
const COLUMNS: [u16; 3] = [60, 80, 100];

/// Built-in suites, each with a shape of its own: a goal, kinds of test, long names, intervals, devices.
const SUITES: [&str; 7] = [
    "one-way-latency",
    "ota",
    "handshake",
    "wifi-mqtt-rate",
    "power-save",
    "relay-line",
    "many-to-many",
];

/// Tells whether a line is cut: one that counts what is more begins with the sign, and is whole.
fn is_cut(line: &str) -> bool {
    let line = line.trim_start();
    line.contains('…') && !line.starts_with("… and ")
}

/// Asserts that an answer fits terminals of all widths, and returns it as the widest has it.
fn fits(bench: &TestDir, args: &[&str]) -> String {
    let mut last = String::new();
    for columns in COLUMNS {
        let mut command = bench.command(args);
        let (text, status) = ended_on_columns(command.env("TERM", "dumb"), columns);
        // A check that finds something ends with 1.
        assert!(matches!(status.code(), Some(0 | 1)), "{args:?}: {text}");
        last = text.replace("\r\n", "\n");
        for line in last.lines() {
            let width = line.chars().count();
            assert!(width <= columns.into(), "{args:?} at {columns}: {width}: {line}\n{last}");
            let is_whole = args.contains(&"--full") || !is_cut(line);
            assert!(is_whole, "{args:?} at {columns}: {line}\n{last}");
        }
        assert!(!last.trim().is_empty(), "{args:?}");
    }
    last
}

#[test]
fn no_suite_is_cut_on_a_narrow_terminal() {
    let bench = TestDir::new();
    for suite in SUITES {
        bench.run(&["run", suite, "--quiet", "--seed", "3"]).ok();
        let name =
            bench.run(&["runs"]).ok().lines().next().unwrap().split(' ').next().unwrap().to_owned();
        for more in [&[][..], &["--full"]] {
            let text = fits(&bench, &[&["report", &name], more].concat());
            assert!(text.contains(&name), "{suite}: {text}");
        }
        // A head is folded before its column goes.
        let text = fits(&bench, &["report", &name]).replace("\n  ", " ");
        for hidden in text.split("no room for ").skip(1) {
            assert!(
                hidden.starts_with("the intervals of") || hidden.starts_with("the dist"),
                "{text}"
            );
        }
    }
    // Titles keep the lab and the seed.
    let text = fits(&bench, &["report", "one-way-latency-1"]);
    assert!(text.contains("seed 3"), "{text}");
    // Of 20 repetitions the largest is a mean.
    assert!(text.contains("mean of max"), "{text}");
    fits(&bench, &["runs"]);
}

#[test]
fn several_suites_are_not_cut_on_a_narrow_terminal() {
    let bench = TestDir::new();
    let suites = ["one-way-latency", "crypto-time", "wifi-tcp-rate", "esp32c3-rank"];
    bench.run(&[&["run", "--quiet"], &suites[..]].concat()).ok();
    let text = fits(&bench, &["report"]);
    assert!(text.contains("device receives") && text.contains("% lost"), "{text}");
}

#[test]
fn no_other_table_is_cut_on_a_narrow_terminal() {
    let bench = TestDir::new();
    for seed in ["1", "2"] {
        bench.run(&["run", "crypto-time", "wifi-tcp-rate", "--quiet", "--seed", seed]).ok();
    }
    bench.write("sdkconfig", crate::tune::SDKCONFIG);
    let names = ["crypto-time-wifi-tcp-rate-1", "crypto-time-wifi-tcp-rate-2"];
    let few = ["--messages", "200", "--rooms", "2", "--quiet"];
    for args in [
        &["compare", names[0], names[1]][..],
        &["compare", names[0], names[1], "--full"],
        &[&["predict", "fleet", "--devices", "10"], &few[..]].concat(),
        &[&["predict", "fleet", "--devices", "10,20,30"], &few[..]].concat(),
        &[&["predict", "rate", "--devices", "5"], &few[..]].concat(),
        &["predict", "range"],
        &["predict", "frames", "--payload", "500", "--quiet"],
        &["tune", "--check", "sdkconfig"],
        &["tune", "--check", "sdkconfig", "--full"],
        &["lab", "list"],
        &["lab", "profile", "esp32"],
        &["lab", "constants"],
        &["lab", "show", "two-boards"],
    ] {
        fits(&bench, args);
    }
}

#[test]
fn errors_are_broken_between_words() {
    let bench = TestDir::new();
    let args = ["lab", "show", "nolab"];
    let whole = bench.run(&args).err;
    assert!(
        whole.lines().any(|it| it.chars().count() > 100),
        "in a pipe nothing is broken: {whole}"
    );
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    // A terminal that tells its width, and one that does not: COLUMNS, else 80.
    let mut last = String::new();
    for (told, named, width) in
        [(60, None, 60), (60, Some("40"), 60), (0, Some("70"), 70), (0, None, 80)]
    {
        let mut command = bench.command(&args);
        command.env("TERM", "dumb").env_remove("COLUMNS").envs(named.map(|it| ("COLUMNS", it)));
        let text = ended_on_columns(&mut command, told).0.replace("\r\n", "\n");
        assert_eq!(words(&text), words(&whole), "{text}");
        let widest = text.lines().map(|it| it.chars().count()).max().unwrap_or_default();
        assert!(widest <= width && widest > width - 20, "{told} {named:?}: {text}");
        last = text;
    }
    // What follows a head stands below its text.
    let mut lines = last.lines().skip_while(|it| !it.starts_with("  do:  "));
    assert!(lines.nth(1).is_some_and(|it| it.starts_with("       ")), "{last}");
    let mut command = bench.command(&args);
    let piped = command.env("COLUMNS", "50").output().unwrap();
    let text = String::from_utf8(piped.stderr).unwrap();
    assert!(text.lines().all(|it| it.chars().count() <= 50), "{text}");
    assert_eq!(words(&text), words(&whole));
}
