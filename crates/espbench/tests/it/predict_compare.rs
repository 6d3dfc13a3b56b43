//! `espbench predict compare`.

use crate::util::TestDir;

/// Runs it with little effort.
fn compare(args: &str) -> crate::util::Ran {
    let all = format!("predict compare {args} --devices 5 --rooms 4 --messages 400");
    TestDir::new().run(&all.split(' ').collect::<Vec<_>>())
}

/// The figure that ranks the chips stands first, then what limits each and what is little known of it.
#[test]
fn chips_are_ranked_by_the_life_of_a_battery() {
    let text = compare("--every 5min --battery 2xAA -q").ok();
    assert!(text.lines().count() <= 25, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn chips_are_ranked_by_latency_without_a_battery() {
    insta::assert_snapshot!(compare("--profile esp32,esp32c3,esp32c6 -q").ok());
}

/// Of all chips those are compared that send a rate; of a list each must.
#[test]
fn chips_that_do_not_send_a_rate_are_left_out_by_name() {
    let ran = compare("--phy-rate HE20-MCS5");
    let wanted = "left out: esp32, esp32s2, esp32s3, esp32c2, esp32c3 (--phy-rate HE20-MCS5 is not for these devices";
    let text = ran.ok().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(wanted) && text.contains("3 profiles"), "{text}");
    let ran = compare("--phy-rate HE20-MCS5 --profile esp32,esp32c6");
    assert!(ran.err.contains("an esp32 does not send it"), "{}", ran.err);
    assert_eq!(ran.status, Some(2));
    let ran = compare("--profile esp32");
    assert!(ran.err.contains("one profile is compared with nothing"), "{}", ran.err);
    let ran = TestDir::new().run(&["predict", "fleet", "--devices", "2", "--profile", "all"]);
    assert!(ran.err.contains("espbench predict compare --profile all"), "{}", ran.err);
}

/// A chip whose pulses the battery cannot give is no best choice, whichever profile comes first.
#[test]
fn a_profile_whose_pulses_the_battery_cannot_give_has_no_place() {
    let ran = compare("--battery AAA --every 5min --profile esp32c3,esp32c2,esp32 -q");
    let text = ran.ok();
    let first = "AAA cannot give the pulses of esp32c2, esp32 while they send";
    assert!(text.lines().nth(1).is_some_and(|it| it.contains(first)), "{text}");
    let row = |name: &str| text.lines().find(|it| it.trim().starts_with(name)).unwrap().to_owned();
    assert!(!text.contains("Nothing arrives"), "{text}");
    let none = compare("--battery CR2032 --every 5min -q").ok();
    assert!(
        none.contains("CR2032 cannot give the pulses of ") && !none.contains("keeps ."),
        "{none}"
    );
    assert!(row("esp32c3 ").contains("best") && row("esp32c2 ").contains("left out"), "{text}");
}

#[test]
fn what_is_of_one_chip_is_refused() {
    let ran = compare("--sdkconfig no-such-file");
    assert!(ran.err.contains("--sdkconfig is of one chip"), "{}", ran.err);
    let ran = compare("--profile esp32,all");
    assert!(ran.err.contains("`all` has all of them"), "{}", ran.err);
}

/// Of all chips those are compared that can do what is asked, whatever it is.
#[test]
fn chips_that_cannot_do_what_is_asked_are_left_out() {
    let text = compare("--set CONFIG_ESP_DEFAULT_CPU_FREQ_MHZ_160=y -q").ok();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("left out: esp32c2 (") && text.contains("7 profiles"), "{text}");
}

/// Each row is a result of its own: settings tell the profiles apart.
#[test]
fn results_tell_the_profiles_apart() {
    let json = compare("--profile esp32,esp32c3 -q --format json --battery 2xAA").ok();
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    crate::report::assert_is_of_schema(&serde_json::from_str(&json).expect("a report"));
    let chips: Vec<&str> =
        report["cells"].as_array().unwrap().iter().map(|it| it["chip"].as_str().unwrap()).collect();
    assert!(chips.contains(&"esp32") && chips.contains(&"esp32c3"), "{chips:?}");
    let rows = compare("--profile esp32,esp32c3 -q --format csv").ok();
    let mut lines = rows.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| heads.iter().position(|it| *it == name).unwrap();
    let (metric, profile) = (at("metric"), at("lab_profile"));
    let of: Vec<String> = lines
        .map(|it| it.split(',').collect::<Vec<_>>())
        .filter(|it| it[metric] == "latency_p99")
        .map(|it| it[profile].to_owned())
        .collect();
    assert_eq!(of, ["esp32", "esp32c3"], "{rows}");
}
