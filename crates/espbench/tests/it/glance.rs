//! The answer that the command prints: few lines, whatever was measured.

use crate::util::TestDir;
use espbench::cli::builtin;

/// Asserts that an answer has at most that many lines, and that nothing in it is cut: a program reads it.
fn assert_short(text: &str, most: usize) {
    assert!(text.lines().count() <= most, "{} lines:\n{text}", text.lines().count());
    for line in text.lines().filter(|it| !it.contains("… and ")) {
        assert!(!line.contains('…') && line.chars().count() <= 180, "{line}");
    }
}

#[test]
fn one_suite_has_fifteen_lines_and_all_tables_when_asked() {
    let bench = TestDir::new();
    let answer = bench.run(&["run", "esp32c3-rank", "-q"]).ok();
    assert_short(&answer, 15);
    assert!(
        answer.contains("SIMULATED") && answer.contains(" % of the theoretical limit"),
        "{answer}"
    );
    let words = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("How true (Wi-Fi, 10 seeds): median error "), "{answer}");
    assert!(words.contains("worst: standard deviations"), "{answer}");
    assert!(!answer.contains('\u{1b}'), "no colour in a pipe");
    let full = bench.run(&["report", "--full"]).ok();
    assert!(full.lines().count() > 60, "{full}");
    assert!(full.starts_with("espbench report: esp32c3-rank-1"), "{full}");
}

/// A test of connections of which none came about has no figure: it is not measured, and no result of nothing.
#[test]
fn tcp_to_which_no_device_comes_is_not_measured() {
    let bench = TestDir::new();
    bench.write(
        "far.toml",
        "name = \"far\"\n[[measure]]\nkind = \"tcp-rate\"\nvariant = \"idf\"\nruns = 1\ndistance = \"900 m\"\n",
    );
    let far = bench.run(&["run", "far.toml", "--on", "sim:smooth", "-q"]);
    assert_eq!(far.status, Some(2), "{}", far.err);
    assert!(far.err.contains("no device came to its peer over TCP"), "{}", far.err);
}

/// Their time is none of their settings, by which runs are compared: a short run and a long one are of one procedure.
#[test]
fn cells_that_only_their_time_tells_apart_are_named_by_it() {
    let bench = TestDir::new();
    let plan = "name = \"times\"\n[[measure]]\nkind = \"mqtt-rate\"\nvariant = \"idf\"\noffered = \"20 /s\"\n\
                time = [\"2 s\", \"3 s\"]\n";
    bench.write("times.toml", plan);
    let answer = bench.run(&["run", "times.toml", "--on", "sim:smooth", "-q"]).ok();
    let row = |name: &str| answer.lines().any(|line| line.trim_start().starts_with(name));
    assert!(row("2 s  ") && row("3 s  "), "{answer}");
}

#[test]
fn several_suites_have_a_line_each() {
    let bench = TestDir::new();
    let answer = bench.run(&["run", "one-way-latency", "crypto-time", "esp32c3-rank", "-q"]).ok();
    assert_short(&answer, 30);
    for suite in ["one-way-latency", "crypto-time", "esp32c3-rank"] {
        let rows = answer.lines().filter(|line| line.trim_start().starts_with(suite)).count();
        assert_eq!(rows, 1, "{suite}: {answer}");
    }
    assert!(answer.contains("½   1   2"), "{answer}");
}

/// There is no column of each for all, and none of them vanishes; a suite keeps its name.
#[test]
fn several_tests_of_one_kind_each_show_their_figure() {
    let bench = TestDir::new();
    let tests =
        ["\"ping\"\ncount = 20", "\"ota\"", "\"handshake\"", "\"throughput\"\ntime = \"1 s\""];
    let block = |test: &str| format!("[[measure]]\nkind = \"esp-now\"\ntest = {test}\n");
    bench.write("mix.toml", &format!("name = \"mix\"\n{}", tests.map(block).concat()));
    let answer = bench.run(&["run", "mix.toml", "-q"]).ok();
    for name in ["round trip", "update", "handshake", "sent"] {
        let rows = answer.lines().filter(|it| it.contains(&format!("esp-now {name}"))).count();
        assert_eq!(rows, 1, "{name}: {answer}");
    }
    let answer = bench.run(&["run", "mix.toml", "wifi-mqtt-rate", "-q"]).ok();
    assert!(answer.starts_with("2 suites, on sim"), "{answer}");
    assert!(answer.contains("  wifi-mqtt-rate  ") && answer.contains("  mix esp-now "), "{answer}");
}

#[test]
fn a_plan_of_two_kinds_of_test_has_rows_of_each() {
    let bench = TestDir::new();
    let answer = bench.run(&["run", "shared-channel", "-q"]).ok();
    assert_short(&answer, 25);
    let row = |name: &str| answer.lines().filter(|it| it.trim_start().starts_with(name)).count();
    // Round trips of five variants, throughput of three.
    assert_eq!(["wifi-alone", "wifi-beside-all", "esp-now-alone"].map(row), [2, 2, 1], "{answer}");
    assert!(
        answer.contains("  iperf, TCP from the device")
            && answer.contains("device delivers (Mbit/s)"),
        "{answer}"
    );
    assert!(!answer.contains("more cells"), "{answer}");
}

#[test]
fn a_plan_for_a_battery_leads_with_current_and_life() {
    let bench = TestDir::new();
    bench.write(
        "sleep.toml",
        "name = \"sleep\"\ngoal = \"battery\"\n[[measure]]\nkind = \"udp-echo\"\n\
         variant = [\"ps-none\", \"ps-min-modem\"]\nsize = 100\ncount = 20\ninterval = \"1 s\"\n",
    );
    let answer = bench.run(&["run", "sleep.toml", "--on", "sim:power-save", "-q"]).ok();
    assert_short(&answer, 15);
    let head = answer.lines().nth(1).unwrap();
    let (current, life) = (head.find("current mean"), head.find("battery life"));
    assert!(current.is_some() && current < life && life < head.find("delay p99"), "{answer}");
    assert!(answer.contains("  ps-none") && answer.contains("  ps-min-modem"), "{answer}");
}

/// A plan for a battery that measures two kinds of test is one answer: what it measures, current and life of all
/// cells in one table, and the battery that the life is of.
#[test]
fn power_save_leads_with_current_and_the_life_of_a_named_battery() {
    let bench = TestDir::new();
    let hours = |answer: &str| -> f64 {
        let row = answer.lines().find(|it| it.contains("udp-echo ps-none")).unwrap();
        row.split_whitespace().nth(3).unwrap().parse().unwrap()
    };
    let usual = bench.run(&["run", "power-save", "-q"]).ok();
    let two = bench.run(&["run", "power-save", "-q", "--battery", "2xAA"]).ok();
    for (answer, battery) in [
        (&usual, "battery: 18650: 3000 mAh at 3.60 V, linear regulator"),
        (&two, "battery: 2xAA: 2500 mAh at 2.50 V, boost converter with 85 %"),
    ] {
        assert_short(answer, 15);
        let head = answer.lines().next().unwrap();
        assert!(head.starts_with("power-save: udp-echo and mqtt-rate, on sim"), "{answer}");
        let columns = answer.lines().nth(1).unwrap();
        for column in ["current mean (mA)", "battery life (h)", "delay p99 (ms)", "lost (%)"] {
            assert!(columns.contains(column), "{column}: {answer}");
        }
        assert!(answer.contains("  mqtt-rate ps-max-li10"), "{answer}");
        assert!(answer.contains(battery), "{answer}");
        assert!(
            answer.contains("longest without loss: udp-echo esp-now-aligned-10-500, "),
            "{answer}"
        );
    }
    // As `predict` has it: 84.03 mA at 3.3 V are 130.5 mA of two cells through the converter.
    // An 18650 gives 84.03 mA and its regulator's 5 uA; a month's loss by itself is little in a day.
    assert!((hours(&usual) - 3000.0 / 84.035).abs() < 0.03, "{usual}");
    let given = 84.03 * 3.3 / (2.5 * 0.85) + 0.019;
    assert!((hours(&two) - 2500.0 / given).abs() < 0.02, "{two}");
    // The battery is in the plan that the run keeps: its report says the same later.
    assert_eq!(bench.run(&["report", "last"]).ok(), two);
    // A key of the plan says it, too, and a flag does not contradict it.
    bench.write(
        "own.toml",
        "name = \"own\"\nbattery = \"LiPo-500\"\n[[measure]]\nkind = \"udp-echo\"\n\
         variant = \"ps-none\"\nsize = 64\ncount = 5\ninterval = \"1 s\"\n",
    );
    let life = bench.run(&["run", "own.toml", "-q", "--format", "json"]).ok();
    assert!(life.contains("of LiPo-500: 500 mAh at 3.70 V"), "{life}");
    let refused = bench.run(&["run", "own.toml", "--battery", "2xAA"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("why: the plan own names LiPo-500"), "{}", refused.err);
    assert_eq!(refused.err.lines().count(), 3, "{}", refused.err);
}

/// However many pairs there are, the first screen has the largest changes, and says how many more there are.
#[test]
fn a_comparison_is_one_screen_and_full_has_every_pair() {
    let bench = TestDir::new();
    bench.run(&["run", "one-way-latency", "-q", "--seed", "1"]).ok();
    let published = bench.run(&["compare", "last"]).ok();
    assert_short(&published, 25);
    assert!(published.starts_with("last against published\n"), "{published}");
    let full = bench.run(&["compare", "last", "--full"]).ok();
    assert!(full.lines().count() > 60 && full.contains("simulated against"), "{full}");

    bench.write("loss.toml", LOSSES);
    bench.write("less.toml", &LOSSES.replace("esp-now-10-500", "esp-now-always"));
    for plan in ["loss.toml", "less.toml"] {
        bench.run(&["run", plan, "-q"]).ok();
    }
    bench.run(&["report", "loss-1", "-o", "loss.json"]).ok();
    let json = std::fs::read_to_string(bench.path("loss.json")).unwrap();
    bench.write("loss.json", &json.replace("esp-now-10-500", "esp-now-always"));
    let changed = bench.run(&["compare", "loss-2", "loss.json"]).ok();
    assert_short(&changed, 25);
    let rows: Vec<&str> = changed.lines().skip(4).take_while(|it| !it.contains("Ratios")).collect();
    assert!(rows[0].ends_with("better"), "{changed}");
    assert!(changed.lines().nth(2).unwrap().contains(" better"), "{changed}");
    // Changes fall from row to row; by how much is read from the pairs themselves.
    let idle = bench.run(&["compare", "last", "--full", "--format", "csv"]);
    assert!(idle.err.contains("--full does nothing beside --format"), "{}", idle.err);
}

/// Where nothing is comparable, that is the first line, and the status and the remedy say so, whatever was asked for.
#[test]
fn a_comparison_of_nothing_says_so_first_and_ends_with_2() {
    let bench = TestDir::new();
    let plan =
        "name = \"own\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\nsize = 50\ncount = 20\n";
    bench.write("own.toml", plan);
    for seed in ["1", "2"] {
        bench.run(&["run", "own.toml", "-q", "--seed", seed]).ok();
    }
    let forms = [&[][..], &["--full"], &["--format", "csv"], &["--threshold", "5 %"]];
    for more in forms {
        let ran = bench.run(&[&["compare", "own-1", "own-2"], more].concat());
        assert_eq!(ran.status, Some(2), "{}", ran.out);
        let is_first = ran.out.starts_with("Nothing is comparable: own-1 against own-2\n");
        assert_eq!(is_first, !more.contains(&"csv"), "{}", ran.out);
        assert!(ran.err.contains("\n  do:  run both with the same `--seed N`"), "{}", ran.err);
    }
    bench.run(&["compare", "own-1", "own-1"]).ok();
}

/// A gate whose pairs differ and have no interval could never fail: it does not pass either. Nor does one that has a part
/// of a prediction before it.
#[test]
fn a_gate_that_can_judge_nothing_ends_with_2() {
    let bench = TestDir::new();
    bench.write("loss.toml", LOSSES);
    bench.run(&["run", "loss.toml", "-q"]).ok();
    bench.run(&["report", "last", "-o", "a.json"]).ok();
    let text = std::fs::read_to_string(bench.path("a.json")).unwrap();
    let mut report: serde_json::Value = serde_json::from_str(&text).unwrap();
    for cell in report["cells"].as_array_mut().unwrap() {
        for end in ["ci_low", "ci_high"] {
            cell[end] = serde_json::Value::Null;
        }
        if let Some(value) = cell["value"].as_f64() {
            cell["value"] = (value * 1.5).into();
        }
    }
    bench.write("b.json", &report.to_string());
    let gate = ["compare", "b.json", "a.json", "--metric", "rtt_avg,rtt_p99", "--threshold", "5 %"];
    let ran = bench.run(&gate);
    assert_eq!(ran.status, Some(2), "{}", ran.err);
    assert!(ran.err.contains("nothing of b.json and a.json can be judged"), "{}", ran.err);
    assert!(ran.err.contains("no interval could show that one of them is worse"), "{}", ran.err);

    bench.run(&["predict", "fleet", "--devices", "3", "--rooms", "2", "-o", "fleet.json"]).ok();
    let text = std::fs::read_to_string(bench.path("fleet.json")).unwrap();
    let mut part: serde_json::Value = serde_json::from_str(&text).unwrap();
    part["incomplete"] = true.into();
    bench.write("part.json", &part.to_string());
    for (of, status) in [("fleet.json", 0), ("part.json", 2)] {
        let ran = bench.run(&["compare", of, "fleet.json", "--threshold", "5 %"]);
        assert_eq!(ran.status, Some(status), "{}", ran.err);
        let said = ran.err.contains("judged by a part: part.json: The prediction was stopped");
        assert_eq!(said, status == 2, "{}", ran.err);
    }
}

const LOSSES: &str = "name = \"loss\"\n[[measure]]\nkind = \"udp-echo\"\nvariant = \"esp-now-10-500\"\n\
     size = 64\nformat = \"binary\"\nin_flight = 8\ncount = 100\ninterval = \"1 s\"\ntimeout = \"4 s\"\n";

#[test]
fn a_goal_that_is_not_known_is_refused_with_those_that_are() {
    let bench = TestDir::new();
    bench.write("odd.toml", "name = \"odd\"\ngoal = \"fast\"\n[[measure]]\nkind = \"udp-echo\"\n");
    let ran = bench.run(&["run", "odd.toml"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("latency, loss, throughput, battery"), "{}", ran.err);
}

#[test]
fn a_refused_port_takes_few_lines() {
    let bench = TestDir::new();
    let port = crate::util::free_port();
    let ran = bench.run(&["echo", &format!("127.0.0.1:{port}"), "-q"]);
    assert_eq!(ran.status, Some(2));
    assert_short(&ran.out, 15);
    assert!(ran.err.lines().count() <= 5, "{}", ran.err);
    assert!(ran.err.contains("nothing listens on that port"), "{}", ran.err);
}

#[test]
fn sizes_that_no_document_has_are_rows_too() {
    let bench = TestDir::new();
    bench.write(
        "own.toml",
        "name = \"own\"\n[[measure]]\nkind = \"udp-echo\"\nsize = [20, 300]\ncount = 20\n\
         interval = \"1 ms\"\n",
    );
    let answer = bench.run(&["run", "own.toml", "-q"]).ok();
    for row in ["20 B", "300 B"] {
        assert!(answer.contains(row), "{row}: {answer}");
    }
    assert!(!answer.contains("more cells"), "{answer}");
}

/// Their counts and rates are ours, or a document's: a user can do nothing about them.
#[test]
fn built_in_plans_are_not_told_to_measure_otherwise() {
    const HOST: [&str; 5] = ["udp-echo", "udp-window", "iperf", "tcp-rate", "mqtt-rate"];
    let bench = TestDir::new();
    // Of the suites those that offer a rate.
    const OFFERED: [&str; 2] = ["esp8266-iperf", "wifi-mqtt-rate"];
    let in_a_lab = builtin::PLANS.iter().filter(|it| !HOST.contains(&it.0));
    let suites = builtin::SUITES.iter().filter(|it| OFFERED.contains(&it.0));
    for (name, _) in in_a_lab.chain(suites) {
        bench.run(&["run", name, "--quiet", "-o", "report.json"]).ok();
        let text = std::fs::read_to_string(bench.path("report.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        let of_plan = |it: &&serde_json::Value| {
            ["few-samples", "sender-behind"].contains(&it["kind"].as_str().unwrap())
        };
        let idle: Vec<_> = report["warnings"].as_array().unwrap().iter().filter(of_plan).collect();
        assert_eq!(idle, Vec::<&serde_json::Value>::new(), "{name}");
    }
}
