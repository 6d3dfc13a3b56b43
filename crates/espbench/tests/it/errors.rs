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
        let ran = bench.run(&["run", "plan.toml", "-q"]);
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
    assert!(bench.run(&["run", "plan.toml", "-q"]).err.starts_with("run my-device-3,"));
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

/// A plan of ESP-NOW without a distance has that of the report, and moves the devices of a lab.
#[test]
fn a_distance_that_the_plan_does_not_say_is_said_first() {
    let bench = TestDir::new();
    bench.write("room.toml", ROOM);
    let plan =
        "name = \"a\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\nsize = 10\ncount = 5\n";
    bench.write("plan.toml", plan);
    let ran = bench.run(&["run", "plan.toml", "--on", "sim:room.toml"]);
    let first = ran.err.lines().next().unwrap_or_default().to_owned();
    assert_eq!(first, "lab: room.toml; the plan sets distance 3 m (lab: 12)");
    ran.ok();
    let quiet = bench.run(&["run", "plan.toml", "--on", "sim:room.toml", "-q"]);
    let wanted = "warning: lab: room.toml; the plan sets distance 3 m (lab: 12)\n";
    assert!(quiet.err.starts_with(wanted), "{}", quiet.err);
    quiet.ok();
    bench.write("plan.toml", &format!("{plan}distance = \"12 m\"\n"));
    let same = bench.run(&["run", "plan.toml", "--on", "sim:room.toml"]);
    assert!(!same.err.contains("the plan sets"), "{}", same.err);
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
        ("ping 127.0.0.1 --count 0", "`espbench ping --help` says what it takes"),
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
        ("espnow ping --size 0", "`espbench espnow --help` says what it takes"),
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
