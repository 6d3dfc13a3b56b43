//! `espbench doctor` over logs of a board.

use crate::util::TestDir;

const LOST: &str = include_str!("../../../../fuzz/corpus/doctor_log/lost-beacons");

#[test]
fn the_first_cause_of_a_log_is_told_with_its_line_and_what_to_do() {
    let bench = TestDir::new();
    bench.write("boot.log", LOST);
    let ran = bench.run(&["doctor", "boot.log"]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines.len() <= 25, "{}", ran.out);
    assert_eq!(
        lines[0],
        "boot.log: the beacons of the access point were not heard (reason 200, BEACON_TIMEOUT)"
    );
    assert!(ran.out.contains("  line 7: state: run -> init (0xc800)\n"), "{}", ran.out);
    assert!(ran.out.contains("  do:      move nearer"), "{}", ran.out);
    assert_eq!(bench.run(&["doctor", "--strict", "boot.log"]).status, Some(1));
    bench.write("fine.log", LOST.split("I (95683)").next().unwrap());
    let fine = bench.run(&["doctor", "--strict", "fine.log"]).ok();
    assert!(fine.starts_with("fine.log: nothing wrong is seen\n"), "{fine}");
    // A board that is reset in the middle leaves bytes that are no text.
    bench.write("reset.log", &LOST.replace("I (95683)", "\0\0\u{1}I (95683)"));
    assert_eq!(bench.run(&["doctor", "--strict", "reset.log"]).status, Some(1));
    bench.write("diary.txt", "Today it rained.\n");
    let other = bench.run(&["doctor", "diary.txt"]).ok();
    assert!(other.starts_with("diary.txt: this file cannot tell"), "{other}");
}

#[test]
fn files_that_are_no_logs_are_refused_with_what_would_do() {
    let bench = TestDir::new();
    bench.write("sdkconfig", "# Automatically generated file\nCONFIG_LWIP_TCP_MSS=x\nCONFIG_B=6\n");
    bench.write("empty.log", "");
    std::fs::write(bench.path("image.bin"), [0xe9, 0, 0, 0]).unwrap();
    for (file, remedy) in [
        ("sdkconfig", "idf.py has written"),
        ("empty.log", "name a log"),
        ("image.bin", "as text"),
        ("missing.log", "name a log"),
    ] {
        let ran = bench.run(&["doctor", file]);
        assert_eq!(ran.status, Some(2), "{file}: {}", ran.err);
        let lines: Vec<&str> = ran.err.lines().collect();
        assert!(lines.len() == 3 && lines[2].contains(remedy), "{file}: {}", ran.err);
    }
}

const SMALL: &str =
    "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_LWIP_TCP_WND_DEFAULT=2880\nCONFIG_LWIP_TCP_MSS=1440\n";

const BOOT: &str = include_str!("../../../doctor/tests/cases/other-build.log");

#[test]
fn an_sdkconfig_is_checked_and_the_lab_shows_the_first_cause() {
    let bench = TestDir::new();
    bench.write("sdkconfig", SMALL);
    let out = bench.run(&["doctor", "sdkconfig", "-o", "page.html", "-o", "rows.csv"]).ok();
    assert!(out.lines().count() <= 25, "{out}");
    assert!(out.contains("sdkconfig line 2: CONFIG_LWIP_TCP_WND_DEFAULT=2880"), "{out}");
    assert!(out.contains("lab: The lab shows it. lab shield-box"), "{out}");
    let page = std::fs::read_to_string(bench.path("page.html")).unwrap();
    for part in
        ["<h1>sdkconfig: TCP", "The lab shows it", "sdkconfig line 2", "Do: set CONFIG_LWIP"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    let rows = std::fs::read_to_string(bench.path("rows.csv")).unwrap();
    assert!(rows.lines().nth(1).unwrap().starts_with("sdkconfig,1,settings-"), "{rows}");
    let without = bench.run(&["doctor", "sdkconfig", "--no-proof"]).ok();
    assert!(!without.contains("lab:"), "{without}");
}

#[test]
fn a_log_and_an_sdkconfig_are_one_diagnosis_and_contradict_each_other() {
    let bench = TestDir::new();
    bench.write("boot.log", BOOT);
    bench.write("sdkconfig", SMALL);
    let out = bench.run(&["doctor", "boot.log", "sdkconfig", "--full"]).ok();
    let told = "CONFIG_LWIP_TCP_WND_DEFAULT: line 36 of the log prints 5760, line 2 of the";
    assert!(out.contains(told), "{out}");
    assert!(out.starts_with("boot.log and sdkconfig: the firmware on the board"), "{out}");
    bench.write("other", SMALL);
    let two = bench.run(&["doctor", "boot.log", "sdkconfig", "other"]);
    assert_eq!((two.status, two.err.lines().count()), (Some(2), 3), "{}", two.err);
}

/// Holds a document against the schema.
#[track_caller]
fn valid(out: &str) -> serde_json::Value {
    let schema = include_str!("../../../../docs/doctor.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    jsonschema::meta::validate(&schema).expect("the schema is itself valid");
    let value: serde_json::Value = serde_json::from_str(out).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&value), "{out}");
    value
}

#[test]
fn json_is_of_its_schema() {
    let bench = TestDir::new();
    bench.write("boot.log", BOOT);
    bench.write("lost.log", LOST);
    bench.write("sdkconfig", SMALL);
    for files in [&["sdkconfig"][..], &["boot.log", "lost.log"], &["boot.log", "sdkconfig"]] {
        let out = bench.run(&[&["doctor", "--format", "json"], files].concat()).ok();
        let value = valid(&out);
        let of_last = &value["diagnoses"].as_array().unwrap().last().unwrap()["findings"];
        assert!(!of_last[0]["evidence"].as_array().unwrap().is_empty(), "{out}");
    }
}

#[test]
fn the_losses_of_a_stored_run_are_findings_with_their_samples() {
    let bench = TestDir::new();
    let plan = "name = \"edge\"\n[[measure]]\nkind = \"udp-echo\"\nvariant = \"arduino\"\nsize = 100\ncount = 100\n\
                distance = \"45 m\"\n";
    bench.write("plan.toml", plan);
    bench.run(&["run", "plan.toml", "--on", "sim:wifi-home"]).ok();
    let out = bench.run(&["doctor", "last"]).ok();
    assert!(out.contains("sample "), "{out}");
    let value = valid(&bench.run(&["doctor", "last", "--format", "json"]).ok());
    assert_eq!(value["diagnoses"][0]["findings"][0]["evidence"][0]["source"], "run");
    assert_eq!(bench.run(&["doctor", "--strict", "last"]).status, Some(1));
}
