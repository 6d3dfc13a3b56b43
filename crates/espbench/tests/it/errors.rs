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
