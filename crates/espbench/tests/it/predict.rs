//! `espbench predict`.

use crate::util::TestDir;
use serde_json::Value;

const SMALL: [&str; 6] = ["-q", "--rooms", "3", "--messages", "600", "--format"];

fn predict(args: &[&str], format: &str) -> String {
    TestDir::new().run(&[&["predict"], args, &SMALL, &[format]].concat()).ok()
}

fn value(report: &str, metric: &str, devices: Option<u64>) -> (f64, Value, Value) {
    let report: Value = serde_json::from_str(report).expect("JSON");
    let cells = report["cells"].as_array().expect("cells");
    let is = |cell: &&Value| cell["metric"] == metric && cell["devices"].as_u64() == devices;
    let cell = cells.iter().find(is).unwrap_or_else(|| panic!("{metric} of {devices:?}"));
    (cell["value"].as_f64().expect("a value"), cell["ci_low"].clone(), cell["ci_high"].clone())
}

#[test]
fn the_number_of_threads_does_not_change_the_answer() {
    let args = ["nodes", "--nodes", "2,20", "--every", "200ms", "--mode", "broadcast"];
    let with = |threads| predict(&[&args[..], &["--threads", threads]].concat(), "json");
    let one = with("1");
    assert_eq!(one, with("4"));
    let other = predict(&[&args[..], &["--seed", "2"]].concat(), "json");
    assert_ne!(one, other);
    let text = predict(&args, "text");
    assert!(text.contains("All results are simulated") && text.contains("seed 1"), "{text}");
    assert!(text.contains("What limits it (simulated)"), "{text}");
}

/// The cost of a mode is in the answer: AES and a longer frame, the component's answer and the wait
/// for it.
#[test]
fn encryption_and_acknowledgement_are_in_the_answer() {
    let base = ["nodes", "--nodes", "3", "--every", "500ms", "--mode", "broadcast"];
    let plain = predict(&base, "json");
    let sealed = predict(&[&base[..], &["--encrypt"]].concat(), "json");
    let acked = predict(&[&base[..], &["--ack", "--copies", "3"]].concat(), "json");
    let p50 = |report: &str| value(report, "latency_p50", Some(3)).0;
    // 96 us of airtime, and two runs of AES on an ESP32.
    assert!(p50(&sealed) > p50(&plain) + 0.1, "{} {}", p50(&sealed), p50(&plain));
    assert!(sealed.contains(r#""security": "app-data""#), "{sealed}");
    assert!(acked.contains(r#""mode": "broadcast-3-ack""#), "{acked}");
    let (told, _, _) = value(&acked, "acknowledged", Some(3));
    let known = value(&acked, "acknowledgement_p50", Some(3)).0;
    assert!(told > 95.0 && known > p50(&plain), "{told} {known}");
    assert!(value(&acked, "loss", Some(3)).0 <= value(&plain, "loss", Some(3)).0);
    let bare = predict(&[&base[..], &["--ack", "--bare"]].concat(), "json");
    assert!(p50(&bare) < p50(&acked), "no processors");
}

/// The answer lies in its interval, and the curve crosses the limit there.
#[test]
fn the_fleet_is_where_the_curve_crosses_the_limit() {
    let args = [
        "fleet",
        "--every",
        "100ms",
        "--most",
        "100",
        "--mode",
        "broadcast",
        "--bare",
        "--max-loss",
    ];
    let report = predict(&[&args[..], &["5%"]].concat(), "json");
    let (best, low, high) = value(&report, "largest_fleet", None);
    let (low, high) = (low.as_f64().unwrap(), high.as_f64().unwrap());
    assert!(low <= best && best <= high && best > 2.0 && best < 100.0, "{low} {best} {high}");
    let loss = |devices: f64| value(&report, "loss", Some(devices as u64)).0;
    assert!(loss(best) <= 5.0 && loss(best + 1.0) > 5.0);
}

#[test]
fn faster_rates_reach_less_far_and_carry_more() {
    let args = ["phy", "--rates", "1M,11M,54M", "--devices", "5", "--every", "500ms"];
    let report = predict(&args, "json");
    let report: Value = serde_json::from_str(&report).unwrap();
    let all = |metric: &str| -> Vec<f64> {
        let cells = report["cells"].as_array().unwrap().iter();
        cells.filter(|c| c["metric"] == metric).map(|c| c["value"].as_f64().unwrap()).collect()
    };
    assert!(all("range").is_sorted_by(|slow, fast| slow > fast), "{:?}", all("range"));
    assert!(all("throughput").is_sorted_by(|slow, fast| slow < fast), "{:?}", all("throughput"));
    assert!(all("latency_p50").is_sorted_by(|slow, fast| slow > fast));
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let bench = TestDir::new();
    for (args, wanted) in [
        (&["fleet"][..], "say --max-loss 1%, --max-p99 50ms, or both"),
        (&["nodes", "--payload", "1400"], "sends at most"),
        (&["nodes", "--nodes", "9..3"], "the first number must not be above the last"),
        (&["nodes", "--rate", "7M"], "not a Wi-Fi mode"),
        (&["nodes", "--lab", "nowhere"], "nowhere"),
        (&["nodes", "--ack"], "add --mode broadcast"),
        (&["phy", "--copies", "3"], "--copies is for broadcasts: add --mode broadcast"),
        (&["nodes", "--payload", "227", "--encrypt"], "sends at most 226 bytes, encrypted"),
        (&["nodes", "--payload", "3"], "not in 4..="),
        (&["nodes", "--mode", "broadcast", "--copies", "32"], "not in 1..=31"),
        (&["nodes", "--every", "soon"], "soon"),
        (&["nodes", "--distance", "nan"], "--distance"),
        (&["nodes", "--distance=-3"], "--distance"),
        (&["nodes", "--distance", "1e300"], "--distance"),
        (&["nodes", "--queue", "0"], "--queue"),
        (&["fleet", "--max-loss", "120%"], "more than 100 %"),
        (&["fleet", "--max-p99", "0s"], "--max-p99"),
        (&["phy", "--rates", "1M,,2M"], "``"),
        (&["phy", "--rates", ""], "``"),
        (&["nodes", "-o", "curve.xyz"], "xyz"),
        (&["nodes", "--lab", "two-boards", "--nodes", "50"], "need [group.line]"),
    ] {
        let ran = bench.run(&[&["predict"], args].concat());
        assert_eq!(ran.status, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(wanted), "{args:?}: {}", ran.err);
    }
}
