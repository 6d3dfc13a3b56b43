//! Axes of a lab that a plan may vary: whole commands.

use crate::util::{Ran, TestDir};
use serde_json::Value;

/// Two boards of ESP-NOW.
const ROOM: &str = r#"
title = "Two boards in an office"
environment = "office"
[[group]]
name = "initiator"
profile = "esp32"
[[group]]
name = "device"
profile = "esp32"
distance_m = 4
"#;

/// Returns a plan of pings with these lines.
fn pings(lines: &str) -> String {
    format!("name = \"axes\"\n[[measure]]\nkind = \"esp-now\"\ncount = 5\nsize = 100\n{lines}\n")
}

/// Returns a plan of echoes over Wi-Fi with these lines.
fn echoes(lines: &str) -> String {
    format!(
        "name = \"axes\"\n[[measure]]\nkind = \"udp-echo\"\nvariant = \"ps-none\"\ncount = 5\nsize = 100\n\
         format = \"binary\"\n{lines}\n"
    )
}

fn run(bench: &TestDir, plan: &str, more: &[&str]) -> Ran {
    bench.write("axes.toml", plan);
    bench.run(&[&["run", "axes.toml", "--format", "json"], more].concat())
}

#[test]
fn a_run_says_no_chip_and_no_place_that_the_plan_replaces() {
    let site = |lines: &str| {
        let bench = TestDir::new();
        bench.write("room.toml", ROOM);
        let report = run(&bench, &pings(lines), &["--on", "sim:room.toml"]).ok();
        let report: Value = serde_json::from_str(&report).unwrap();
        let site = &report["run"]["site"];
        (site["chip"].clone(), site["environment"].clone())
    };
    assert_eq!(site(""), ("esp32".into(), "office".into()));
    assert_eq!(site("profile = \"esp32c3\""), ("".into(), "office".into()));
    assert_eq!(site("environment = \"free-space\""), ("esp32".into(), Value::Null));
}

/// Returns the cells of a report with that metric.
fn cells(report: &str, metric: &str) -> Vec<Value> {
    let report: Value = serde_json::from_str(report).unwrap();
    let all = report["cells"].as_array().unwrap().iter();
    all.filter(|cell| cell["metric"] == metric && cell["origin"] == "simulated").cloned().collect()
}

/// Checks that each value is a cell of its own, which bears it, and that they are not alike.
fn varies(plan: &str, metric: &str, setting: &str, wanted: &[Value]) -> Vec<Value> {
    let bench = TestDir::new();
    let report = run(&bench, plan, &[]).ok();
    let cells = cells(&report, metric);
    let values: Vec<&Value> = cells.iter().map(|cell| &cell[setting]).collect();
    assert_eq!(values, wanted.iter().collect::<Vec<_>>(), "{setting}");
    cells
}

#[test]
fn each_axis_of_esp_now_is_a_cell_and_a_field() {
    let far = |it: &[Value]| assert_ne!(it[0]["value"], it[1]["value"]);
    let words = |it: &[&str]| it.iter().map(|it| Value::from(*it)).collect::<Vec<_>>();
    let profiles = varies(
        &pings("profile = [\"esp32\", \"esp32c3\"]"),
        "rtt_avg",
        "lab_profile",
        &words(&["esp32", "esp32c3"]),
    );
    assert_eq!(profiles[1]["chip"], "esp32c3");
    let places = varies(
        &pings("environment = [\"office\", \"free-space\"]"),
        "rtt_avg",
        "lab_environment",
        &words(&["office", "free-space"]),
    );
    assert_eq!(places[1]["environment"], "free-space");
    far(&varies(
        &pings("phy_rate = [\"1M\", \"HT20-MCS7\"]"),
        "rtt_exact_min",
        "lab_phy_rate",
        &words(&["1M", "HT20-MCS7"]),
    ));
    varies(&pings("power_dbm = [2, 8.5]"), "rtt_avg", "power_dbm", &[2.0.into(), 8.5.into()]);
    far(&varies(
        &pings("clock_mhz = [80, 240]"),
        "rtt_exact_min",
        "clock_mhz",
        &[80.into(), 240.into()],
    ));
    varies(
        &pings("profile = \"esp32s3\"\nclock_mhz = 240\nidle_clock_mhz = [80, 160]"),
        "rtt_avg",
        "idle_clock_mhz",
        &[80.into(), 160.into()],
    );
    varies(
        &pings("CONFIG_FREERTOS_HZ = [100, 1000]"),
        "rtt_avg",
        "CONFIG_FREERTOS_HZ",
        &[100.into(), 1000.into()],
    );
    varies(
        &pings("CONFIG_ESPTOOLPY_FLASHMODE = [\"DIO\", \"QIO\"]"),
        "rtt_avg",
        "CONFIG_ESPTOOLPY_FLASHMODE",
        &words(&["DIO", "QIO"]),
    );
}

#[test]
fn each_axis_over_wifi_is_a_cell_and_a_field() {
    let words = |it: &[&str]| it.iter().map(|it| Value::from(*it)).collect::<Vec<_>>();
    let far = |it: &[Value]| assert_ne!(it[0]["value"], it[1]["value"]);
    let profiles = varies(
        &echoes("profile = [\"esp32c3\", \"esp32s3\"]"),
        "rtt_avg",
        "lab_profile",
        &words(&["esp32c3", "esp32s3"]),
    );
    assert_eq!(profiles[1]["chip"], "esp32s3");
    let places = varies(
        &echoes("environment = [\"home\", \"free-space\"]"),
        "rtt_avg",
        "lab_environment",
        &words(&["home", "free-space"]),
    );
    assert_eq!(places[1]["environment"], "free-space");
    far(&varies(
        &echoes("phy_rate = [\"6M\", \"HT20-MCS7\"]"),
        "rtt_min",
        "lab_phy_rate",
        &words(&["6M", "HT20-MCS7"]),
    ));
    varies(&echoes("power_dbm = [2, 8.5]"), "rtt_avg", "power_dbm", &[2.0.into(), 8.5.into()]);
    far(&varies(
        &echoes("clock_mhz = [80, 160]"),
        "rtt_min",
        "clock_mhz",
        &[80.into(), 160.into()],
    ));
    let distances = varies(
        &echoes("distance = [\"1 m\", \"9 m\"]"),
        "rtt_avg",
        "nearest_m",
        &[1.0.into(), 9.0.into()],
    );
    assert_eq!(distances[1]["distance_m"], 9.0);
    varies(
        &echoes("CONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM = [4, 10]"),
        "rtt_avg",
        "CONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM",
        &[4.into(), 10.into()],
    );
    varies(
        &echoes("CONFIG_ESP_WIFI_AMPDU_RX_ENABLED = [true, false]"),
        "rtt_avg",
        "CONFIG_ESP_WIFI_AMPDU_RX_ENABLED",
        &[true.into(), false.into()],
    );
    far(&varies(
        &echoes("CONFIG_ESPTOOLPY_FLASHFREQ = [\"20M\", \"80M\"]"),
        "rtt_min",
        "CONFIG_ESPTOOLPY_FLASHFREQ",
        &words(&["20M", "80M"]),
    ));
    far(&varies(
        &echoes("profile = \"esp32s2\"\nCONFIG_ESP32S2_INSTRUCTION_CACHE = [\"8KB\", \"16KB\"]"),
        "rtt_min",
        "CONFIG_ESP32S3_INSTRUCTION_CACHE",
        &words(&["8KB", "16KB"]),
    ));
    far(&varies(
        &echoes("profile = \"esp32s3\"\nCONFIG_SPIRAM_TRY_ALLOCATE_WIFI_LWIP = [false, true]"),
        "rtt_min",
        "CONFIG_SPIRAM_TRY_ALLOCATE_WIFI_LWIP",
        &[false.into(), true.into()],
    ));
}

#[test]
fn the_number_of_devices_is_an_axis_over_wifi() {
    let plan = "name = \"axes\"\n[[measure]]\nkind = \"udp-echo\"\nvariant = \"40-on-3-channels\"\n\
                count = 2\nformat = \"binary\"\ninterval = \"100 ms\"\ndevices = [2, 5]\n";
    let cells = varies(plan, "rtt_avg", "lab_devices", &[2.into(), 5.into()]);
    let devices: Vec<&Value> = cells.iter().map(|cell| &cell["devices"]).collect();
    assert_eq!(devices, [2, 5]);
}

#[test]
fn lists_multiply_and_tables_tell_the_cells_apart() {
    let bench = TestDir::new();
    let plan = pings("profile = [\"esp32\", \"esp32c3\"]\npower_dbm = [2, 8]");
    bench.write("axes.toml", &plan);
    let text = bench.run(&["run", "axes.toml"]).ok();
    for word in [
        "profile esp32, 2 dBm",
        "profile esp32, 8 dBm",
        "profile esp32c3, 2 dBm",
        "profile esp32c3, 8 dBm",
    ] {
        assert!(text.contains(word), "{word}:\n{text}");
    }
}

#[test]
fn what_a_plan_sets_against_the_labs_file_is_said_first_and_stands_among_the_facts() {
    let bench = TestDir::new();
    bench.write("room.toml", ROOM);
    let plan = pings("distance = \"4 m\"\nprofile = \"esp32c3\"\npower_dbm = 8");
    let ran = run(&bench, &plan, &["--on", "sim:room.toml"]);
    let first = ran.err.lines().next().unwrap_or_default().to_owned();
    let wanted =
        "lab: room.toml; this run sets profile esp32c3 (lab: esp32), power 8 dBm (lab: 20)";
    assert_eq!(first, wanted);
    let report = ran.ok();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let set = ["power 8 dBm (lab: 20)", "profile esp32c3 (lab: esp32)"];
    assert_eq!(report["overridden"], serde_json::json!(set));
    // Of a matrix each property is told once, with the values of the cells that differ from the file.
    bench.write(
        "matrix.toml",
        &pings("distance = [\"3 m\", \"4 m\", \"9 m\"]\nphy_rate = [\"1M\", \"6M\"]"),
    );
    let text = bench.run(&["run", "matrix.toml", "--on", "sim:room.toml", "-q"]).ok();
    let first = text.lines().nth(1).unwrap();
    let set = "distance 3 m / 9 m in 4 of 6 cells (lab: 4), rate 6M in 3 of 6 cells (lab: 1M)";
    assert_eq!(first, format!("  ! this run sets {set}"), "{text}");
    // What a plan says holds, and is said first; what it leaves out is as the lab's file has it.
    let ran = run(&bench, &pings(""), &["--on", "sim:room.toml"]);
    assert!(!ran.err.contains("this run sets"), "{}", ran.err);
    assert!(!ran.ok().contains("this run sets"));
    // Nothing is overridden in the labs of the suites, which are made for it.
    let ran = run(&bench, &pings(""), &[]);
    assert!(!ran.err.contains("this run sets"), "{}", ran.err);
    let ran = run(&bench, &echoes("power_dbm = [2, 8]"), &[]);
    let first = ran.err.lines().next().unwrap_or_default();
    assert!(first.starts_with("lab: power-save; this run sets power 2 / 8 dBm (lab: "), "{first}");
}

#[test]
fn what_a_lab_cannot_vary_is_refused_before_anything_is_simulated() {
    let said = |plan: &str, more: &[&str]| {
        let bench = TestDir::new();
        let ran = run(&bench, plan, more);
        assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
        assert!(!bench.store().exists() || !ran.err.contains("stored as"), "{}", ran.err);
        ran.err
    };
    let has = |text: String, wanted: &[&str]| {
        assert!(wanted.iter().all(|it| text.contains(it)), "{wanted:?} in\n{text}");
    };
    has(said(&pings("profile = \"esp33\""), &[]), &["no profile is called `esp33`", "esp32"]);
    has(said(&echoes("environment = \"offcie\""), &[]), &["no environment is called `offcie`"]);
    has(said(&pings("phy_rate = \"fast\""), &[]), &["`fast` is not a Wi-Fi mode", "HT20-MCS7"]);
    has(said(&pings("power_dbm = 40"), &[]), &["line 6", "use -20 to 30"]);
    has(
        said(&pings("profile = \"esp32c3\"\nclock_mhz = 240"), &[]),
        &["an esp32c3 does not run at 240 MHz", "80, 160"],
    );
    has(said(&echoes("clock_mhz = 100"), &[]), &["does not run at 100 MHz"]);
    has(
        said(&pings("clock_mhz = 240\nidle_clock_mhz = 80"), &[]),
        &["an esp32 at 240 MHz keeps that clock", "`clock_mhz` = 160"],
    );
    has(
        said(&echoes("profile = \"esp32c3\"\nidle_clock_mhz = 160"), &[]),
        &["the clock is 160 MHz", "use less"],
    );
    has(
        said(&echoes("profile = \"esp8266\"\nidle_clock_mhz = 80"), &[]),
        &["no dynamic frequency scaling"],
    );
    has(
        said(&echoes("CONFIG_LWIP_TCP_WND_DEFAUL = 5760"), &[]),
        &["no option of sdkconfig", "CONFIG_LWIP_TCP_WND_DEFAULT"],
    );
    has(said(&echoes("CONFIG_FREERTOS_HZ = 0"), &[]), &["CONFIG_FREERTOS_HZ", "use "]);
    has(
        said(&echoes("profile = \"esp32c3\"\nCONFIG_SPIRAM_TRY_ALLOCATE_WIFI_LWIP = true"), &[]),
        &["no esp32c3 has PSRAM", "esp32, esp32s2, esp32s3"],
    );
    has(
        said(&echoes("profile = \"esp32s3\"\nCONFIG_ESP32S3_INSTRUCTION_CACHE = \"8KB\""), &[]),
        &["an esp32s3 does not have \"8KB\": use one of \"16KB\", \"32KB\""],
    );
    has(
        said(&echoes("CONFIG_ESPTOOLPY_FLASHMODE = \"fast\""), &[]),
        &["`fast` is none of its values: use one of \"QIO\", \"QOUT\", \"DIO\", \"DOUT\""],
    );
    has(
        said(&pings("CONFIG_ESPTOOLPY_FLASHFREQ = \"60M\""), &[]),
        &["does not have \"60M\": use one of \"20M\""],
    );
    has(
        said(&pings("CONFIG_LWIP_TCP_WND_DEFAULT = 5760"), &[]),
        &["a node of ESP-NOW is simulated with", "in a lab over Wi-Fi"],
    );
    has(said(&echoes("devices = 4"), &[]), &["there is no place for 4"]);
    let plain = "name = \"x\"\n[[measure]]\nkind = \"udp-echo\"\npower_dbm = 8\n";
    has(said(plain, &[]), &["only devices of a lab", "variant"]);
    has(
        said(&echoes("power_dbm = 8"), &["--on", "loopback"]),
        &["the plan sets `power_dbm` of a lab", "--on sim"],
    );
}

#[test]
fn a_run_with_axes_is_replayed() {
    let bench = TestDir::new();
    let plan = echoes("power_dbm = [2, 8]\nprofile = \"esp32s3\"");
    let first = cells(&run(&bench, &plan, &[]).ok(), "rtt_avg");
    let runs = bench.run(&["runs"]).ok();
    let name = runs.split_whitespace().next().expect("a run");
    let again = run(&bench, &plan, &["--on", &format!("replay:{name}")]).ok();
    let again = cells(&again, "rtt_avg");
    let told = |cells: &[Value]| -> Vec<(Value, Value, Value)> {
        let of = |it: &Value| (it["power_dbm"].clone(), it["value"].clone(), it["chip"].clone());
        cells.iter().map(of).collect()
    };
    assert_eq!(told(&first), told(&again));
}
