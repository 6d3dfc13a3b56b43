//! Outputs that CI systems read, gates, and the GitHub action, whose script runs here as it does there.

use crate::util::{Ran, TestDir, missing};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// Returns the Python of `ci/python.txt`, which has the readers of these formats.
fn python() -> Option<PathBuf> {
    let python = place("target/python/bin/python");
    let has = "import check_jsonschema, junitparser, xmlschema";
    let found =
        Command::new(&python).args(["-c", has]).output().is_ok_and(|it| it.status.success());
    (found || missing("Python with what ci/python.txt lists (ci.sh peers)")).then_some(python)
}

/// A plan with a threshold that holds. Its name has what markup must escape.
const PLAN: &str = r#"
name = "gate & <desk>"
repetitions = 3
[[measure]]
kind = "esp-now"
test = "ping"
size = [10, 230]
count = 20
[[threshold]]
metric = "loss"
max = "100 %"
"#;

/// Threshold that no frame's air time meets.
const FAST: &str = "[[threshold]]\nmetric = \"rtt_exact_p50\"\nmax = \"1 us\"\n";

fn run(bench: &TestDir, more: &[&str]) -> Ran {
    bench.run(&[&["run", "gate.toml", "--on", "sim", "-q"], more].concat())
}

fn gate() -> TestDir {
    let bench = TestDir::new();
    bench.write("gate.toml", &format!("{PLAN}{FAST}"));
    bench
}

fn json(bench: &TestDir, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(bench.path(name)).unwrap()).unwrap()
}

#[test]
fn thresholds_are_tests_of_junit() {
    let bench = gate();
    let ran = run(&bench, &["-o", "junit.xml", "--format", "junit"]);
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    let text = std::fs::read_to_string(bench.path("junit.xml")).unwrap();
    assert_eq!(text, ran.out);
    assert!(text.contains("classname=\"gate &amp; &lt;desk&gt;\""), "{text}");
    let Some(python) = python() else { return };
    bench.write(
        "read.py",
        "import sys, xmlschema, junitparser\n\
         xmlschema.XMLSchema(sys.argv[1]).validate('junit.xml')\n\
         suite, = junitparser.JUnitXml.fromfile('junit.xml')\n\
         failed = [it for it in suite if any(isinstance(r, junitparser.Failure) for r in it.result)]\n\
         print(suite.tests, suite.failures, suite.errors, suite.skipped, len(failed), failed[0].result[0].message)\n",
    );
    let mut read = Command::new(python);
    read.arg("read.py").arg(place("docs/junit.xsd")).current_dir(bench.dir.path());
    let read = Ran::of(&mut read).ok();
    let (counts, told) =
        read.split_at(read.find(|c: char| !c.is_ascii_digit() && c != ' ').unwrap_or(0));
    let counts: Vec<u32> = counts.split_whitespace().map(|it| it.parse().unwrap()).collect();
    // The message begins with the figure.
    assert!(counts.len() >= 5 && counts[1] == counts[4] && counts[1] > 0, "{read}");
    assert_eq!(counts[2..4], [0, 0], "{read}");
    assert!(told.contains("and not ") && told.contains("rtt_exact_p50"), "{read}");
}

#[test]
fn a_run_that_was_cut_short_does_not_pass() {
    let bench = gate();
    bench.run(&["run", "gate.toml", "--on", "sim", "-q", "--shard", "1/2"]).ok();
    let text = bench.run(&["report", "last", "--format", "junit"]).out;
    assert!(
        text.contains("skipped=\"1\"")
            && text.contains("cut short: 3 repetitions of cells of its plan are missing"),
        "{text}"
    );
    assert!(!text.contains("measured: all cells"), "{text}");
}

#[test]
fn figures_are_those_of_the_report_by_names_that_stay() {
    let bench = gate();
    let files =
        ["-o", "all.bencher.json", "-o", "a.smaller.json", "-o", "b.bigger.json", "-o", "c.json"];
    assert_eq!(run(&bench, &files).status, Some(1));
    let bencher = json(&bench, "all.bencher.json");
    let tests = bencher.as_object().unwrap();
    assert_eq!(tests.len(), 2, "repetitions are one figure: {bencher:#}");
    let (name, measures) = tests.iter().next().unwrap();
    assert!(name.contains("10 B") && !name.contains("gate"), "{name}");
    let rtt = &measures["rtt-exact-p50-ms"];
    let value = |name: &str| rtt[name].as_f64().unwrap();
    assert!(
        value("lower_value") <= value("value") && value("value") <= value("upper_value"),
        "{rtt}"
    );
    // The mean of the repetitions is what the report has.
    let report = json(&bench, "c.json");
    let is = |it: &&Value| it["metric"] == "rtt_exact_p50" && it["payload_bytes"] == 10;
    let own = report["cells"].as_array().unwrap().iter().find(is).unwrap();
    assert_eq!(own["value"].as_f64(), Some(value("value")), "{own}");

    let (smaller, bigger) = (json(&bench, "a.smaller.json"), json(&bench, "b.bigger.json"));
    let names = |list: &Value| -> Vec<String> {
        let list = list.as_array().unwrap();
        list.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    let (smaller_names, bigger_names) = (names(&smaller), names(&bigger));
    assert!(smaller_names.iter().any(|it| it.contains("10 B") && it.ends_with(": rtt_exact_p50")));
    assert!(smaller_names.iter().all(|it| !bigger_names.contains(it)));
    for figure in smaller.as_array().unwrap() {
        assert!(figure["value"].is_number() && figure["unit"].is_string(), "{figure}");
        assert!(figure["extra"].as_str().unwrap().contains("simulated"), "{figure}");
    }
    // Another run has the same names.
    assert_eq!(run(&bench, &["--seed", "2", "-o", "d.smaller.json"]).status, Some(1));
    assert_eq!(smaller_names, names(&json(&bench, "d.smaller.json")));
}

#[test]
fn what_a_check_finds_is_sarif_at_its_lines() {
    let bench = TestDir::new();
    let text = "CONFIG_IDF_TARGET=\"esp32\"\nCONFIG_ESP32_WIFI_STATIC_RX_BUFFER_NUM=10\nCONFIG_LWIP_TCP_WND_DEFAULT=5744\n\
                CONFIG_LWIP_TCP_WND_DEFAULT=4000\nCONFIG_LWIP_TCP_RECVMBOX_SIZE=1\n";
    bench.write("my sdkconfig", text);
    let check = ["tune", "--check", "my sdkconfig", "-q", "--time", "500ms"];
    let ran = bench.run(&[&check[..], &["--format", "sarif", "-o", "found.sarif"]].concat()).ok();
    assert_eq!(ran, std::fs::read_to_string(bench.path("found.sarif")).unwrap());
    let log: Value = serde_json::from_str(&ran).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let twice =
        results.iter().find(|it| it["ruleId"] == "twice").expect("a setting that stands twice");
    let place = &twice["locations"][0]["physicalLocation"];
    assert_eq!(twice["level"], "error");
    assert_eq!(place["artifactLocation"]["uri"], "my%20sdkconfig");
    assert_eq!(place["region"]["startLine"], 3);
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for it in results {
        assert_eq!(rules[it["ruleIndex"].as_u64().unwrap() as usize]["id"], it["ruleId"]);
    }
    // The same findings as in JSON.
    let json = bench.run(&[&check[..], &["--format", "json"]].concat()).ok();
    let checked: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(checked["findings"].as_array().unwrap().len(), results.len());
    let Ok(schema) = std::fs::read_to_string(place_of_schema()) else {
        missing("the schema of SARIF (ci/schemas.sh)");
        return;
    };
    // The pattern of a language has a bracket too many, so that it is no regular expression.
    let schema = schema.replace("-[a-zA-Z]{2}]?$", "-[a-zA-Z]{2}$");
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator.iter_errors(&log).map(|it| it.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn place_of_schema() -> PathBuf {
    place("target/schemas/sarif-2.1.0.json")
}

#[test]
fn formats_stand_only_where_they_have_something_to_say() {
    let bench = gate();
    bench.write("sdkconfig", "CONFIG_IDF_TARGET=\"esp32\"\n");
    for (args, wanted) in [
        (
            &["run", "gate.toml", "--on", "sim", "--format", "sarif"][..],
            "SARIF is for `espbench tune --check`",
        ),
        (
            &["run", "gate.toml", "--on", "sim", "-o", "a.sarif"],
            "SARIF is for `espbench tune --check`",
        ),
        (&["tune", "--check", "sdkconfig", "--format", "junit"], "html or sarif"),
        (&["tune", "--check", "sdkconfig", "-o", "a.bencher.json"], "html or sarif"),
        (&["doctor", "sdkconfig", "--format", "junit"], "cannot be drawn for CI"),
    ] {
        let ran = bench.run(args);
        assert_eq!(ran.status, Some(2), "{args:?}");
        assert!(ran.err.contains(wanted), "{args:?}: {}", ran.err);
    }
}

#[test]
fn a_gate_on_the_lab_is_exact() {
    let bench = gate();
    for (seed, file) in [("1", "a.json"), ("1", "b.json"), ("1", "table.csv"), ("2", "other.json")]
    {
        assert_eq!(run(&bench, &["--seed", seed, "-o", file]).status, Some(1));
    }
    let compare = |other: &str, more: &[&str]| {
        bench.run(&[&["compare", "a.json", other, "--exact"], more].concat())
    };
    for other in ["b.json", "table.csv", "last~2"] {
        let ran = compare(other, &[]);
        assert_eq!(ran.status, Some(0), "{other}: {}", ran.err);
        assert!(
            ran.err.starts_with("all ") && ran.err.contains("figures are equal"),
            "{}",
            ran.err
        );
    }
    let ran = compare("other.json", &[]);
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.err.contains("figures differ; the first: ") && ran.err.contains(" here, "),
        "{}",
        ran.err
    );
    // One bit, or one figure that is not there any more.
    let mut report = json(&bench, "a.json");
    let cell = report["cells"]
        .as_array()
        .unwrap()
        .iter()
        .position(|it| it["metric"] == "rtt_exact_p50")
        .unwrap();
    let value = report["cells"][cell]["value"].as_f64().unwrap();
    report["cells"][cell]["value"] = f64::from_bits(value.to_bits() + 1).into();
    bench.write("bit.json", &report.to_string());
    let ran = compare("bit.json", &[]);
    assert!(ran.status == Some(1) && ran.err.contains("espbench: 1 of "), "{}", ran.err);
    assert_eq!(compare("bit.json", &["--metric", "loss"]).status, Some(0));
    report["cells"].as_array_mut().unwrap().remove(cell);
    bench.write("less.json", &report.to_string());
    let ran = compare("less.json", &[]);
    assert_eq!(ran.status, Some(1));
}

#[test]
fn a_gate_on_boards_says_what_it_can_show() {
    let bench = gate();
    assert_eq!(run(&bench, &[]).status, Some(1));
    let power = |more: &[&str]| bench.run(&[&["compare", "last", "--power", "5 %"], more].concat());
    let text = power(&[]).ok();
    assert!(
        text.contains("scatter") && text.contains("repetitions") && text.contains("rtt_exact_p50"),
        "{text}"
    );
    let rows: Value = serde_json::from_str(&power(&["--format", "json"]).ok()).unwrap();
    let row = |metric: &str| {
        rows.as_array().unwrap().iter().find(|it| it["cell"]["metric"] == metric).unwrap().clone()
    };
    let rtt = row("rtt_exact_p50");
    assert_eq!(rtt["repetitions"], 3);
    let (spread, shown) = (rtt["spread"].as_f64().unwrap(), rtt["shown"].as_f64().unwrap());
    // Three repetitions show little: (4.30 + 0.94) sqrt(2/3) of their scatter.
    assert!(spread > 0.0 && (4.2..4.4).contains(&(shown / spread)), "{rtt}");
    // No loss in any repetition has no part to change.
    if row("loss")["cell"]["value"] == 0.0 {
        assert!(row("loss")["needed"].is_null(), "{}", row("loss"));
    }
    assert!(
        power(&["--format", "csv"]).ok().lines().next().unwrap().ends_with("repetitions_needed")
    );
    bench.write("once.toml", &PLAN.replace("repetitions = 3", "repetitions = 1"));
    bench.run(&["run", "once.toml", "--on", "sim", "-q"]).ok();
    let ran = power(&[]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("no test has two repetitions"), "{}", ran.err);
}

#[test]
fn the_exact_gate_refuses_what_is_measured() {
    let bench = TestDir::new();
    bench.run(&["echo", "--on", "loopback", "-n", "5", "-l", "10", "-q"]);
    let plan = "name = \"p\"\n[[measure]]\nkind = \"udp-echo\"\nsize = 10\ncount = 5\n";
    bench.write("p.toml", plan);
    bench.run(&["run", "p.toml", "--on", "loopback", "-q", "-o", "p.json"]).ok();
    let ran = bench.run(&["compare", "p.json", "p.json", "--exact"]);
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.err.contains("--exact is for simulated runs") && ran.err.contains("--power"),
        "{}",
        ran.err
    );
}

/// Runs the action's script as the runner does: inputs in the environment, files for its outputs.
fn action(bench: &TestDir, inputs: &[(&str, &str)]) -> (Ran, String) {
    let bin = Path::new(env!("CARGO_BIN_EXE_espbench")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(place("ci/action.sh"));
    command
        .current_dir(bench.dir.path())
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .env("GITHUB_OUTPUT", bench.path("outputs"))
        .env("GITHUB_STEP_SUMMARY", bench.path("summary"))
        .envs(inputs.iter().copied());
    let _ = std::fs::remove_file(bench.path("outputs"));
    let ran = Ran::of(&mut command);
    (ran, std::fs::read_to_string(bench.path("outputs")).unwrap_or_default())
}

#[test]
fn the_action_measures_gates_and_checks() {
    let bench = TestDir::new();
    bench.write("plan.toml", PLAN);
    bench.write("sdkconfig", "CONFIG_IDF_TARGET=\"esp32\"\n");
    let plan = [("PLAN", "plan.toml"), ("FOLDER", "out dir")];
    let (ran, outputs) = action(&bench, &plan);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert_eq!(outputs, "folder=out dir\nsarif=\nstatus=0\n");
    for file in
        ["report.html", "junit.xml", "figures.bencher.json", "figures.smaller.json", "runs.sqlite"]
    {
        assert!(bench.path("out dir").join(file).is_file(), "{file}");
    }
    let summary = std::fs::read_to_string(bench.path("summary")).unwrap();
    assert!(summary.lines().nth(1).unwrap().starts_with("# espbench report"), "{summary}");
    std::fs::copy(bench.path("out dir/report.json"), bench.path("baseline.json")).unwrap();
    let (ran, _) = action(&bench, &[&plan[..], &[("BASELINE", "baseline.json")]].concat());
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.out.contains("figures are equal"), "{}", ran.out);
    // Whoever changes the plan changes figures.
    bench.write("plan.toml", &PLAN.replace("count = 20", "count = 21"));
    let (ran, outputs) = action(&bench, &[&plan[..], &[("BASELINE", "baseline.json")]].concat());
    assert!(ran.status == Some(1) && outputs.ends_with("status=1\n"), "{} {outputs}", ran.out);
    assert!(ran.out.contains("the first: "), "{}", ran.out);
    // Text of an input is no script.
    let (ran, _) =
        action(&bench, &[("PLAN", "plan.toml; touch $(echo hit) `touch hit`"), ("FOLDER", "x")]);
    assert_eq!(ran.status, Some(2));
    assert!(!bench.path("hit").exists());
    let (ran, _) = action(&bench, &[]);
    assert!(ran.status == Some(2) && ran.err.contains("nothing to do"), "{}", ran.err);
}

#[test]
fn the_action_is_one_of_githubs_form() {
    let Some(python) = python() else { return };
    let mut command = Command::new(python.with_file_name("check-jsonschema"));
    command.args(["--builtin-schema", "vendor.github-actions"]).arg(place("action.yml"));
    Ran::of(&mut command).ok();
    // Each input reaches the script, by the name that it reads there.
    let (action, script) = (
        std::fs::read_to_string(place("action.yml")).unwrap(),
        std::fs::read_to_string(place("ci/action.sh")).unwrap(),
    );
    for input in ["plan", "on", "baseline", "threshold", "metric", "sdkconfig", "folder"] {
        let upper = input.to_uppercase();
        assert!(action.contains(&format!("        {upper}: ${{{{ inputs.{input} }}}}")), "{input}");
        assert!(script.contains(&format!("\n{upper}=${{{upper}:-")), "{input}");
    }
}

#[test]
fn the_workflows_are_of_githubs_form_and_name_scripts_that_are_there() {
    let folder = place(".github/workflows");
    let workflows: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(workflows.len(), 2);
    for path in &workflows {
        let text = std::fs::read_to_string(path).unwrap();
        let words = text.split_whitespace();
        for script in words.filter(|it| it.starts_with("ci/") || it.starts_with("packaging/")) {
            let script = script.trim_end_matches([':', ')', '.']);
            assert!(place(script).is_file(), "{}: {script}", path.display());
        }
    }
    let Some(python) = python() else { return };
    let mut command = Command::new(python.with_file_name("check-jsonschema"));
    command.args(["--builtin-schema", "vendor.github-workflows"]).args(&workflows);
    Ran::of(&mut command).ok();
}
