//! `espbench fit`: whole commands over a run of a lab whose constants are known.

use crate::util::TestDir;
use serde_json::Value;

const PLAN: &str = "name = \"pings\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\n\
                    size = [10, 60, 120, 180, 230]\ncount = 40\n";

/// Returns a folder with a run in a lab whose boards take 1100 us for a service, instead of 163 us.
fn bench() -> TestDir {
    let bench = TestDir::new();
    bench.write(
        "slow.toml",
        "title = \"Slow boards\"\nlike = \"esp32\"\n[dispatch]\nfixed_us = 1100\nsource = \"a test\"\n",
    );
    let lab = include_str!("../../../../labs/two-boards.toml");
    bench.write("truth.toml", &lab.replace("profile = \"esp32\"", "profile = \"slow.toml\""));
    bench.write("plan.toml", PLAN);
    bench.run(&["run", "plan.toml", "--on", "sim:truth.toml", "-q"]).ok();
    bench
}

fn fitted(text: &str) -> (String, f64, f64, f64) {
    let answer: Value = serde_json::from_str(text).expect("JSON");
    let constant = &answer["constants"][0];
    let number = |key: &str| constant[key].as_f64().expect(key);
    let key = constant["key"].as_str().expect("a key").to_owned();
    (key, number("value"), number("ci_low"), number("ci_high"))
}

const ONE: [&str; 6] = ["fit", "last", "--seeds", "1", "--metric", "rtt_exact_min"];

#[test]
fn a_constant_is_found_again_and_the_fitted_lab_has_it() {
    let bench = bench();
    let named = [&ONE[..], &["--constant", "dispatch.fixed_us", "-o", "fitted.toml"]].concat();
    let ran = bench.run(&[&named[..], &["--format", "json"]].concat());
    let (key, value, low, high) = fitted(&ran.ok());
    assert_eq!(key, "dispatch.fixed_us");
    assert!((value - 1100.0).abs() < 60.0 && low < 1100.0 && 1100.0 < high, "{value} {low} {high}");
    bench.run(&["lab", "check", "fitted.toml"]).ok();
    let profile = std::fs::read_to_string(bench.path("fitted-esp32.toml")).expect("a profile");
    assert!(profile.contains("fitted by espbench fit to the run pings-1, 5 cells"), "{profile}");
    // Figures that it was fitted to are marked wherever the lab is used; others are not.
    let files = ["-o", "page.html", "-o", "rows.csv", "-o", "all.json"];
    let on = ["run", "plan.toml", "--on", "sim:fitted.toml", "-q", "--full"];
    let tables = bench.run(&[&on[..], &files].concat()).ok();
    let said = "† 5 of ";
    assert!(
        tables.contains(said) && tables.contains("fitted-esp32.toml/dispatch.fixed_us"),
        "{tables}"
    );
    let screen = bench.run(&["report"]).ok();
    assert!(screen.contains("5 of ") && screen.contains("they are no test of it"), "{screen}");
    let read = |name: &str| std::fs::read_to_string(bench.path(name)).expect(name);
    assert!(read("page.html").contains(said));
    let all: Value = serde_json::from_str(&read("all.json")).expect("JSON");
    let cells = all["cells"].as_array().expect("cells");
    let is_marked = |it: &&Value| it["fitted_run"] == "pings-1";
    let marked: Vec<&Value> = cells.iter().filter(is_marked).collect();
    assert!(
        marked.len() == 5 && marked.iter().all(|it| it["metric"] == "rtt_exact_min"),
        "{marked:#?}"
    );
    assert_eq!(read("rows.csv").lines().filter(|it| it.contains(",pings-1,")).count(), 5);
    // Of the same thing measured longer, too; not of another size.
    bench.write("other.toml", &PLAN.replace("10, 60", "10, 70").replace("40", "50"));
    let ran = bench.run(&["run", "other.toml", "--on", "sim:fitted.toml", "-q", "--format", "csv"]);
    assert_eq!(ran.ok().lines().filter(|it| it.contains(",pings-1,")).count(), 4);
    // The lab with the constant answers as the boards did.
    let minimum = |lab: &str| {
        let ran = bench.run(&["run", "plan.toml", "--on", lab, "-q", "--format", "json"]).ok();
        let report: Value = serde_json::from_str(&ran).expect("JSON");
        let mut cells = report["cells"].as_array().expect("cells").iter();
        let first = cells.find(|it| it["metric"] == "rtt_exact_min").expect("a minimum");
        first["value"].as_f64().expect("a number")
    };
    let wanted = minimum("sim:truth.toml");
    assert!((minimum("sim:fitted.toml") / wanted - 1.0).abs() < 0.05);
    assert!((minimum("sim:two-boards") / wanted - 1.0).abs() > 0.3);
}

#[test]
fn without_names_what_explains_something_is_chosen_and_said() {
    let said = bench().run(&ONE).ok();
    // Each of them does the same to the least round trips.
    let same = ["dispatch.fixed_us", "transmit.fixed_us", "esp_now_send.fixed_us"];
    assert_eq!(same.iter().filter(|it| said.contains(**it)).count(), 1, "{said}");
    assert!(said.contains("mean error of the cells: "), "{said}");
    assert!(said.contains("hold it against another run") && said.lines().count() <= 25, "{said}");
}

#[test]
fn nothing_is_chosen_where_the_lab_agrees() {
    let bench = TestDir::new();
    bench.write("plan.toml", PLAN);
    bench.run(&["run", "plan.toml", "--on", "sim:two-boards", "-q"]).ok();
    let ran = bench.run(&[&ONE[..], &["-o", "none.toml"]].concat());
    let said = ran.ok();
    assert!(said.contains("No constant explains what is left"), "{said}");
    assert!(!bench.path("none.toml").exists());
}

#[test]
fn what_cannot_be_fitted_says_what_to_do() {
    let bench = bench();
    let refused = |more: &[&str]| {
        let ran = bench.run(&[&ONE[..], more].concat());
        assert_eq!(ran.status, Some(2), "{}", ran.err);
        ran.err
    };
    let said = refused(&["--constant", "dispatch.fixd_us"]);
    assert!(said.contains("did you mean `dispatch.fixed_us`?"), "{said}");
    let said = refused(&["--constant", "transmit.per_byte_ns,esp_now_send.per_byte_ns"]);
    assert!(said.contains("do not tell these constants apart") && said.contains("do:"), "{said}");
    let said = refused(&["--constant", "key_pair.fixed_us"]);
    assert!(said.contains("do not depend on `key_pair.fixed_us`"), "{said}");
    let said = refused(&["-o", "fitted.txt"]);
    assert!(said.contains("labs are TOML"), "{said}");
    let said = refused(&["--lab", "truth.toml", "-o", "truth.toml"]);
    assert!(said.contains("the lab's own file would be lost"), "{said}");
    let said = bench.run(&["fit", "last", "--metric", "speed"]).err;
    assert!(said.contains("espbench report last"), "{said}");
}
