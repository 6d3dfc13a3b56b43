//! MQTT devices in a lab, many at once.

use crate::util::TestDir;
use serde_json::Value;

const PLAN: &str = "name = \"fleet\"\n[[measure]]\nkind = \"mqtt-rate\"\noffered = \"2 /s\"\ntime = \"10 s\"\n\
                    qos = 1\ndevices = 10\nvariant = \"40-on-1-router\"\n";

/// Each device offers the rate, and what arrives is that of all.
#[test]
fn ten_devices_publish_at_one_router() {
    let bench = TestDir::new();
    bench.write("fleet.toml", PLAN);
    let run = ["run", "fleet.toml", "--on", "sim:forty-stations", "-o", "fleet.json"];
    let ran = bench.run(&run);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let text = std::fs::read_to_string(bench.path("fleet.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let cell = |metric: &str| {
        let all = report["cells"].as_array().unwrap();
        all.iter().find(|it| it["metric"] == metric).unwrap_or_else(|| panic!("no {metric}"))
    };
    assert_eq!(cell("message_rate_offered")["value"], 20.0);
    assert_eq!(cell("message_rate")["value"], 20.0);
    assert_eq!(cell("message_rate")["devices"], 10);
    assert_eq!(cell("loss")["n"], 200);
    assert_eq!(cell("client_fairness")["value"], 1.0);
    assert_eq!(report["warnings"].as_array().map(Vec::len), Some(0), "{}", report["warnings"]);
}

#[test]
fn a_search_is_of_one_device() {
    let bench = TestDir::new();
    bench.write("fleet.toml", &PLAN.replace("2 /s", "search 1 /s to 100 /s"));
    let ran = bench.run(&["run", "fleet.toml", "--on", "sim:forty-stations"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("a search is of one device"), "{}", ran.err);
}

/// Devices that reach no router are named, and the others' figures stand.
#[test]
fn a_device_that_does_not_get_through_is_named() {
    let bench = TestDir::new();
    let near = include_str!("../../../sim/labs/forty-stations.toml");
    let far = near.replace("most_m = 18", "most_m = 600");
    assert_ne!(near, far);
    bench.write("far.toml", &far);
    bench.write("fleet.toml", PLAN);
    let ran = bench.run(&["run", "fleet.toml", "--on", "sim:far.toml", "--format", "json"]);
    let report: Value = serde_json::from_str(&ran.ok()).unwrap();
    let said = report["caveats"][0]["text"].as_str().unwrap();
    let told = "Nothing came through for 5 of 10 stations: device 2, device 4, device 5, device 6, device 10.";
    assert_eq!(said, told);
    let cell = |metric: &str| {
        let all = report["cells"].as_array().unwrap();
        &all.iter().find(|it| it["metric"] == metric).unwrap()["value"]
    };
    // Five publish at their rate, and half of the ten have nothing.
    assert_eq!(
        (cell("message_rate_offered"), cell("client_fairness")),
        (&10.0.into(), &0.5.into())
    );
}
