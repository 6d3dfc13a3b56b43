//! `--beside`: whole commands that set the same plan in a lab beside what was measured.

use crate::util::TestDir;
use serde_json::Value;

const ECHO: &str = "name = \"echoes\"\n[[measure]]\nkind = \"udp-echo\"\nsize = [20, 200, 1000]\n\
                    count = 30\ninterval = \"2 ms\"\n";
const RUN: [&str; 8] =
    ["run", "echoes.toml", "--on", "loopback", "--beside", "wifi-home", "--variant", "arduino"];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn bench() -> TestDir {
    let bench = TestDir::new();
    bench.write("echoes.toml", ECHO);
    bench
}

#[test]
fn sockets_stand_beside_a_lab_on_the_screen_in_files_and_in_the_store() {
    let bench = bench();
    let files = ["-o", "page.html", "-o", "rows.csv", "-o", "all.json"];
    let screen = bench.run(&[&RUN[..], &files].concat()).ok();
    // Loopback is a thousand times faster than a sketch over Wi-Fi.
    for words in
        ["lab (simulated)", "Not as the lab predicts", "Largest gap: round trip", "Look at "]
    {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    assert!(screen.lines().count() <= 15, "{screen}");
    let read = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap();
    let all = json(&read("all.json"));
    let beside = &all["beside"];
    assert_eq!((&beside["run"], &beside["lab"]), (&"echoes-1-lab".into(), &"sim:wifi-home".into()));
    assert_eq!((&beside["verdict"], &beside["cause"]), (&"off".into(), &"lab".into()));
    let pairs = beside["pairs"].as_array().unwrap();
    let means: Vec<&Value> = pairs.iter().filter(|it| it["metric"] == "rtt_avg").collect();
    assert_eq!(means.len(), 3, "{pairs:#?}");
    for pair in &means {
        let ratio = &pair["ratio"];
        let (low, value) = (ratio["ci_low"].as_f64().unwrap(), ratio["value"].as_f64().unwrap());
        let (ours, lab) = (&pair["measured"]["value"], &pair["simulated"]["value"]);
        assert!((value - ours.as_f64().unwrap() / lab.as_f64().unwrap()).abs() < 1e-9);
        assert!(low < value && value < 1.0, "{pair}");
    }
    // The rows of results are all measured, and have the lab's value beside theirs.
    let rows = read("rows.csv");
    let mut lines = rows.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|it| *it == name).unwrap();
    let row: Vec<&str> = lines.find(|it| it.contains(",rtt_avg,")).unwrap().split(',').collect();
    assert_eq!(row[column("origin")], "measured");
    assert_eq!(means[0]["verdict"], row[column("lab_verdict")], "{row:?}");
    assert_eq!(row[column("lab")].parse::<f64>().ok(), means[0]["simulated"]["value"].as_f64());
    let page = read("page.html");
    for part in ["id=\"beside\"", "<b>simulated</b> lab sim:wifi-home", "Largest gap: "] {
        assert!(page.contains(part), "{part}");
    }
    // Without the flag it stays there; `last` is what was measured, and the lab has a report of its own.
    assert!(bench.run(&["report"]).ok().contains("Not as the lab predicts"));
    let lab = json(&bench.run(&["report", "echoes-1-lab", "--format", "json"]).ok());
    assert_eq!(
        (&lab["run"]["beside"], &lab["run"]["origin"]),
        (&"echoes-1".into(), &"simulated".into())
    );
    assert!(lab["cells"].as_array().unwrap().iter().all(|it| it["origin"] == "simulated"));
    bench.run(&["runs", "--remove", "echoes-1"]).ok();
    assert_eq!(bench.run(&["report", "echoes-1-lab"]).status, Some(2), "it went with its run");
}

/// Drops what is not of the simulation: the name of the run and its neighbours.
fn figures(report: &Value) -> Vec<(Value, Value, Value)> {
    let cells = report["cells"].as_array().unwrap().iter();
    cells.map(|it| (it["metric"].clone(), it["value"].clone(), it["ci_low"].clone())).collect()
}

#[test]
fn the_lab_is_the_same_later_and_as_a_run_of_its_own() {
    let bench = bench();
    bench.run(&["run", "echoes.toml", "--on", "loopback", "-q"]).ok();
    let later = ["report", "last", "--beside", "--variant", "arduino"];
    assert!(bench.run(&later).ok().contains("against sim"));
    let stored = json(&bench.run(&["report", "echoes-1-lab", "--format", "json"]).ok());
    let own = ECHO
        .replace("kind", "variant = \"arduino\"\nkind")
        .replace("name = \"echoes\"", "name = \"own\"\nrepetitions = 5");
    bench.write("own.toml", &own);
    let own = json(&bench.run(&["run", "own.toml", "--on", "sim", "--format", "json", "-q"]).ok());
    assert_eq!(figures(&stored), figures(&own));
    // Another lab takes its place.
    bench.run(&["report", "echoes-1", "--beside", "wifi-home", "--variant", "idf-echo"]).ok();
    let again = json(&bench.run(&["report", "echoes-1-lab", "--format", "json"]).ok());
    assert_ne!(figures(&again), figures(&stored));
}

#[test]
fn what_the_lab_cannot_do_is_said_beside_what_it_can() {
    let bench = bench();
    let iperf = "[[measure]]\nkind = \"iperf\"\ntransport = \"udp\"\ntime = \"1 s\"\n\
                 bandwidth = \"1 Mbit/s\"\ntos = \"ef\"\n";
    bench.write("echoes.toml", &format!("{ECHO}{iperf}"));
    let report = json(&bench.run(&[&RUN[..], &["--format", "json", "-q"]].concat()).ok());
    let beside = &report["beside"];
    let unpaired = beside["unpaired"].as_array().unwrap();
    assert_eq!((unpaired.len(), &unpaired[0]["why"]), (1, &"not-simulated".into()));
    let place = unpaired[0]["place"].as_str().unwrap();
    assert!(unpaired[0]["cell"] == 4 && place.starts_with("iperf"), "{place}");
    assert!(beside["lab_causes"][0].as_str().unwrap().contains("iperf's tos"), "{beside}");
    assert!(beside["compared"].as_u64().unwrap() >= 3, "the echoes are there: {beside}");
    let screen = bench.run(&["report"]).ok();
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("has no counterpart: ") && words.contains("iperf's tos"), "{screen}");
}

#[test]
fn what_has_nothing_to_stand_beside_is_told_in_three_lines() {
    let bench = bench();
    let refused = |args: &[&str], what: &str, remedy: &str| {
        let ran = bench.run(args);
        assert_eq!(ran.status, Some(2), "{}", ran.out);
        assert!(ran.err.contains(what) && ran.err.contains(remedy), "{}", ran.err);
        assert!(ran.err.lines().count() <= 3, "{}", ran.err);
    };
    let on = ["run", "echoes.toml", "--on", "loopback", "--beside"];
    refused(&on, "no test of the plan can be simulated", "--variant VARIANT");
    refused(&[&on[..], &["nowhere"]].concat(), "no lab is called `nowhere`", "espbench lab list");
    let unknown = [&on[..], &["--variant", "no-such"]].concat();
    refused(&unknown, "no test of the plan can be simulated", "espbench lab list");
    let sim = ["run", "round-trip", "--on", "sim", "--beside", "two-boards"];
    refused(&sim, "--beside does nothing with the target sim", "espbench compare");
    refused(&["run", "echoes.toml", "--variant", "arduino"], "--beside", "");
    bench.write(
        "own.toml",
        "name = \"own\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\ncount = 5\n",
    );
    bench.run(&["run", "own.toml", "--on", "sim", "-q"]).ok();
    refused(&["report", "--beside", "two-boards"], "own-1 is simulated itself", "espbench compare");
}
