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
    let args = [
        "fleet",
        "--devices",
        "2,20",
        "--every",
        "200ms",
        "--cast",
        "broadcast",
        "--room",
        "bench",
    ];
    let with = |threads| predict(&[&args[..], &["--threads", threads]].concat(), "json");
    let one = with("1");
    crate::report::assert_is_of_schema(&serde_json::from_str(&one).expect("a report"));
    assert_eq!(one, with("4"));
    let other = predict(&[&args[..], &["--seed", "2"]].concat(), "json");
    assert_ne!(one, other);
    let text = predict(&[&args[..], &["--full"]].concat(), "text");
    assert!(text.contains("All results are simulated") && text.contains("seed 1"), "{text}");
    assert!(text.contains("What limits it (simulated)"), "{text}");
}

/// Each option of an sdkconfig that is taken changes a figure, and one that would not is refused.
#[test]
fn options_of_sdkconfig_act_or_are_refused() {
    // Options, each as a line of a file.
    const CLOCK: &str = "CONFIG_ESP_DEFAULT_CPU_FREQ_MHZ_240=y";
    const POWER: &str = "CONFIG_ESP_PHY_MAX_WIFI_TX_POWER=10";
    const FLASH: &str = "CONFIG_ESPTOOLPY_FLASHFREQ_80M=y";
    const TICK: &str = "CONFIG_FREERTOS_HZ=500";
    const SCALES: &str = "CONFIG_PM_DFS_INIT_AUTO=y";
    const BOOT: &str = "CONFIG_BOOTLOADER_SKIP_VALIDATE_IN_DEEP_SLEEP=y";
    let bench = TestDir::new();
    bench.write("sdkconfig", "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_LWIP_TCP_MSS=1440\n");
    bench.write("idle", "CONFIG_LWIP_TCP_MSS=1440\n");
    let fleet = ["fleet", "--devices", "4", "--every", "200ms", "--room", "hall"];
    let acked = ["--cast", "broadcast", "--ack", "--copies", "3", "--payload", "200"];
    let acked = [&fleet[..], &acked].concat();
    let range = ["range", "--room", "open", "--phy-rates", "1M,24M"];
    let sensors = ["fleet", "--devices", "2", "--every", "10s", "--battery", "2xAA"];
    let awake = [&sensors[..], &["--sleep", "none"]].concat();
    let run = |args: &[&str]| {
        let small: &[&str] = if args[0] == "range" { &["--format"] } else { &SMALL };
        bench.run(&[&["predict"], args, small, &["json"]].concat())
    };
    let figures = |args: &[&str]| -> Vec<Value> {
        let text = run(args).ok();
        crate::report::assert_is_of_schema(&serde_json::from_str(&text).unwrap());
        let report: Value = serde_json::from_str(&text).unwrap();
        // The settings of a cell hold the option itself.
        let cells = report["cells"].as_array().unwrap().iter().map(|it| it["value"].clone());
        cells.chain([report["prediction"]["rows"].clone()]).collect()
    };
    for (args, act, idle) in [
        (&fleet[..], &[CLOCK, FLASH, SCALES][..], &[TICK, BOOT][..]),
        (&acked, &[TICK], &[BOOT]),
        (&range, &[POWER], &[CLOCK, FLASH, TICK, BOOT, SCALES]),
        (&sensors, &[CLOCK, BOOT], &[FLASH, TICK, SCALES]),
        (&awake, &[SCALES], &[TICK]),
    ] {
        let before = figures(args);
        for option in act {
            assert_ne!(figures(&[args, &["--set", option]].concat()), before, "{args:?} {option}");
        }
        for option in idle {
            let ran = run(&[args, &["--set", option]].concat());
            assert_eq!(ran.status, Some(2), "{args:?} {option}: {}", ran.out);
            let told = format!("--set {option} does nothing here\n  why: here act ");
            assert!(ran.err.contains(&told), "{}", ran.err);
            assert!(ran.err.lines().count() <= 3, "{}", ran.err);
        }
    }
    // A file gives its chip, and what of it does nothing is no mistake where something acts.
    assert_ne!(
        figures(&[&fleet[..], &["--sdkconfig", "sdkconfig"]].concat()),
        figures(&fleet),
        "another chip"
    );
    for (flags, wanted) in [
        (&["--sdkconfig", "idle"][..], "--sdkconfig idle does nothing here"),
        (&["--sdkconfig", "none"], "cannot read none"),
        (&["--sdkconfig", "sdkconfig", "--profile", "esp32"], "it says that it is for the esp32c3"),
        (&["--set", "CONFIG_IDF_TARGET=\"esp32c3\""], "say --profile esp32c3"),
        (&["--set", "fast"], "write it as a line of sdkconfig"),
        (&["--set", "CONFIG_ESP_PHY_MAX_WIFI_TX_POWER=30"], "takes 10 to 20 dBm"),
        (&["--bare", "--set", CLOCK], "does nothing here"),
        (&["--profile", "esp32", "--set", CLOCK, "--set", SCALES], "keeps its clock"),
        (&["--cast", "broadcast", "--ack", "--set", "CONFIG_FREERTOS_HZ=9999"], "1 to 1000 Hz"),
        (&["--battery", "2xAA", "--boot", "fast", "--set", BOOT], "does nothing beside --boot"),
    ] {
        let ran = run(&[&fleet[..], flags].concat());
        assert_eq!(ran.status, Some(2), "{flags:?}: {}", ran.out);
        assert!(ran.err.contains(wanted), "{flags:?}: {}", ran.err);
        assert!(ran.err.lines().count() <= 3, "{flags:?}: {}", ran.err);
    }
}

/// The cost of a mode is in the answer: AES and a longer frame, the component's answer and the wait
/// for it.
#[test]
fn encryption_and_acknowledgement_are_in_the_answer() {
    let base =
        ["fleet", "--devices", "3", "--every", "500ms", "--cast", "broadcast", "--room", "bench"];
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
        "--cast",
        "broadcast",
        "--bare",
        "--room",
        "bench",
        "--loss",
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
    let args = [
        "rate",
        "--phy-rates",
        "1M,11M,54M",
        "--every",
        "500ms",
        "--room",
        "open",
        "--distance",
        "20",
    ];
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
        (&["fleet"][..], "say how many with --devices 60, or the limits"),
        (&["fleet", "--profile", "esp99"], "esp99"),
        (&["fleet", "--devices", "60", "--most", "9"], "cannot be used with"),
        (&["fleet", "--devices", "5", "--payload", "1400"], "sends at most"),
        (&["fleet", "--devices", "0"], "`0` is not a number of devices"),
        (&["fleet", "--devices", "9..3"], "the first number must not be above the last"),
        (&["fleet", "--devices", "5", "--phy-rate", "7M"], "not a Wi-Fi mode"),
        (&["fleet", "--devices", "5", "--lab", "nowhere"], "nowhere"),
        (&["fleet", "--devices", "5", "--room", "cellar"], "possible values: office"),
        (&["fleet", "--devices", "5", "--room", "hall", "--lab", "ota"], "cannot be used with"),
        (&["fleet", "--devices", "5", "--walls", "21"], "--walls"),
        (&["fleet", "--devices", "5", "--ack"], "add --cast broadcast"),
        (&["rate", "--copies", "3"], "--copies does nothing beside --cast unicast"),
        (
            &["fleet", "--devices", "5", "--size", "227", "--encrypt"],
            "sends at most 226 bytes, encrypted",
        ),
        (&["fleet", "--payload", "3"], "`3` is not from 4 to 1470"),
        (&["fleet", "--payload", "x"], "`x` is no whole number"),
        (&["fleet", "--devices", "5", "--battery", "-5mAh"], "`-5mAh` is no battery"),
        (&["fleet", "--cast", "broadcast", "--copies", "32"], "`32` is not from 1 to 31"),
        (&["fleet", "--every", "soon"], "soon"),
        (&["fleet", "--distance", "nan"], "--distance"),
        (&["fleet", "--distance=-3"], "--distance"),
        (&["fleet", "--distance", "1e300"], "--distance"),
        (&["fleet", "--queue", "0"], "--queue"),
        (&["fleet", "--loss", "120%"], "more than 100 %"),
        (&["fleet", "--p99", "0s"], "--p99"),
        (&["rate", "--phy-rates", "1M,,2M"], "``"),
        (&["rate", "--phy-rates", ""], "``"),
        (&["fleet", "--devices", "5", "-o", "curve.xyz"], "xyz"),
        (&["fleet", "--lab", "two-boards", "--devices", "50"], "add [group.line]"),
        (
            &["fleet", "--devices", "5", "--battery", "4xCARROT"],
            "is no battery: use cells (AA, AAA",
        ),
        (&["fleet", "--devices", "5", "--sleep", "nap"], "possible values: none"),
        (
            &["fleet", "--devices", "5", "--sleep", "light", "--boot", "fast"],
            "only a device in deep sleep boots",
        ),
        (&["fleet", "--devices", "5", "--attempts", "3"], "add --sleep deep"),
        (&["fleet", "--devices", "5", "--battery", "18650", "--efficiency", "90%"], "below 3.3 V"),
        (&["fleet", "--devices", "5", "--quiescent", "9"], "--battery"),
        (&["fleet", "--loss", "1%", "--time-limit", "1ms"], "too short for a search"),
        (&["fleet", "--devices", "5", "--time-limit", "9s"], "cannot be used with"),
        (&["range", "--loss", "0"], "lost at no distance"),
        (
            &["range", "--phy-rates", "LR-250K,1M", "--profile", "esp32c2"],
            "an esp32c2 does not send it\n  do:  leave it out; known here are 1M, 2M",
        ),
        (&["rate", "--phy-rates", "1M,HE20-MCS0"], "an esp32 does not send it"),
        (&["range", "--distance", "0"], "is no distance"),
        (&["range", "--room", "cellar"], "possible values: office"),
        (&["range", "--payload", "1400"], "sends at most"),
        (&["range", "--copies", "3"], "--copies does nothing"),
        (&["range", "--published"], "--published does nothing"),
        (&["nodes"], "unrecognized subcommand 'nodes'"),
    ] {
        let ran = bench.run(&[&["predict"], args].concat());
        assert_eq!(ran.status, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(wanted), "{args:?}: {}", ran.err);
        assert!(ran.err.lines().count() <= 3, "{args:?}: {}", ran.err);
    }
}

/// Returns the screen of a command, which must fit a terminal without scrolling.
fn screen(args: &[&str]) -> String {
    screen_of(args, 0)
}

/// Returns the screen of a command with that exit status.
fn screen_of(args: &[&str], status: i32) -> String {
    let ran = TestDir::new().run(&[&["predict"], args, &["-q"]].concat());
    assert_eq!(ran.status, Some(status), "{}{}", ran.out, ran.err);
    let text = ran.out;
    assert!(text.lines().count() <= 25, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 96), "{text}");
    text
}

#[test]
fn one_fleet_is_answered_on_one_screen() {
    let args = ["fleet", "--devices", "60", "--every", "5s", "--payload", "50"];
    insta::assert_snapshot!(screen(&args));
}

#[test]
fn several_fleets_have_a_line_each() {
    let args = ["fleet", "--devices", "10,30,60", "--every", "200ms", "--room", "hall"];
    insta::assert_snapshot!(screen(&[&args[..], &["--rooms", "5", "--messages", "2000"]].concat()));
}

#[test]
fn a_fleet_that_breaks_its_limits_is_told_so() {
    let limits = ["--loss", "1%", "--p99", "20ms"];
    let args =
        ["fleet", "--devices", "60", "--every", "100ms", "--rooms", "5", "--messages", "2000"];
    insta::assert_snapshot!(screen_of(&[&args[..], &limits].concat(), 1));
}

/// Returns the screen of a search with little effort, which ends by itself on any machine.
fn search(args: &[&str], status: i32) -> String {
    let effort = ["--rooms", "8", "--messages", "3200", "--time-limit", "1h"];
    screen_of(&[&["fleet"], args, &effort].concat(), status)
}

#[test]
fn the_largest_fleet_is_answered_on_one_screen() {
    let text = search(&["--loss", "1%", "--p99", "50ms", "--every", "200ms"], 0);
    assert!(text.contains("largest fleet that keeps loss at most 1 %"), "{text}");
    assert!(text.contains("the limit of p99 is broken"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_largest_fleet_on_batteries_is_answered_on_one_screen() {
    let text =
        search(&["--p99", "400ms", "--every", "500ms", "--loss", "1%", "--battery", "AA"], 0);
    assert!(text.contains("devices") && text.contains("battery"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn limits_that_no_device_keeps_are_told() {
    let text = search(&["--p99", "1ms", "--every", "5s", "--most", "60"], 1);
    assert!(text.contains("No fleet keeps p99 at most 1 ms, not even one device"), "{text}");
    insta::assert_snapshot!(text);
    let far = search(&["--loss", "1%", "--room", "open", "--distance", "900", "--most", "9"], 1);
    assert!(far.contains("Loss is by the retry limit") || far.contains("by distance"), "{far}");
}

#[test]
fn limits_that_no_fleet_reaches_are_told() {
    let text = search(&["--loss", "1%", "--every", "10s", "--most", "60"], 0);
    assert!(text.contains("60 devices keep") && text.contains("--most"), "{text}");
    insta::assert_snapshot!(text);
    // Broadcasts are lost, but not late.
    let args = ["--p99", "1s", "--every", "100ms", "--cast", "broadcast", "--room", "open"];
    let text = search(&args, 0);
    assert!(text.contains("the channel is full before the limit is reached"), "{text}");
    insta::assert_snapshot!(text);
}

/// Rates whose intervals overlap that of the best tie with it.
#[test]
fn rates_that_do_not_differ_tie() {
    let args = ["rate", "--devices", "5", "--phy-rates", "6M,12M,24M", "--rooms", "5"];
    let json = predict(&args[..5], "json");
    crate::report::assert_is_of_schema(&serde_json::from_str(&json).expect("a report"));
    let text = screen(&[&args[..], &["--messages", "1000"]].concat());
    assert!(text.contains("All 3 rates tie") && !text.contains("left out"), "{text}");
    insta::assert_snapshot!(text);
}

/// A rate that loses more than is allowed has no rank, however fast it is.
#[test]
fn a_rate_that_loses_too_much_is_left_out() {
    let args =
        ["rate", "--devices", "3", "--phy-rates", "1M,54M", "--room", "open", "--distance", "200"];
    let text = screen(&[&args[..], &["--rooms", "5", "--messages", "600"]].concat());
    assert!(text.contains("left out") && text.contains("1M has the lowest p99"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn no_rate_is_recommended_where_all_break_the_limit() {
    let args = ["rate", "--devices", "3", "--phy-rates", "54M,HT20-MCS7", "--room", "open"];
    let far = ["--distance", "900", "--rooms", "3", "--messages", "300"];
    let text = screen(&[&args[..], &far].concat());
    assert!(text.contains("Neither rate keeps loss at most 1 %"), "{text}");
}

/// How far messages reach, with what is lost there; nothing beyond the model is promised.
#[test]
fn ranges_end_where_the_model_does() {
    let ranges = |args: &[&str]| {
        let args = [&["predict", "range", "--format", "json"], args].concat();
        let json = TestDir::new().run(&args).ok();
        crate::report::assert_is_of_schema(&serde_json::from_str(&json).expect("a report"));
        let report: Value = serde_json::from_str(&json).unwrap();
        let of = |row: &Value| {
            let metres = row["range_m"].as_f64().expect("a distance");
            (row["rate"].as_str().unwrap().to_owned(), metres, row["range_is_bounded"] == true)
        };
        report["prediction"]["rows"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    let two = ["--phy-rates", "1M,54M"];
    let office = ranges(&two);
    assert!(office.iter().all(|it| it.1 <= 30.0 && it.2 == (it.1 == 30.0)), "{office:?}");
    let open = ranges(&[&two[..], &["--room", "open"]].concat());
    assert!(open[0].0 == "1M" && open[0].1 > 2.0 * open[1].1, "{open:?}");
    let walls = ranges(&[&two[..], &["--room", "open", "--walls", "3"]].concat());
    assert!(walls[1].1 < 0.5 * open[1].1, "{walls:?}");
    let sure = ranges(&[&two[..], &["--room", "open", "--loss", "0.01%"]].concat());
    assert!(sure[1].1 < 0.9 * open[1].1, "{sure:?}");
    let once = ranges(&[&two[..], &["--room", "open", "--cast", "broadcast"]].concat());
    assert!(once[1].1 < open[1].1, "nobody repeats a broadcast: {once:?}");
}

#[test]
fn ranges_are_answered_on_one_screen() {
    let rates = ["--phy-rates", "1M,11M,6M,24M,54M,HT20-MCS7", "--room", "open"];
    let text = TestDir::new()
        .run(&[&["predict", "range"], &rates[..], &["--distance", "150"]].concat())
        .ok();
    assert!(text.lines().count() <= 25 && text.contains("does not reach"), "{text}");
    insta::assert_snapshot!(text);
    let far = TestDir::new().run(&["predict", "range", "--distance", "500"]).ok();
    let words = far.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Whether any reaches 500 m is not known."), "{far}");
    assert!(far.contains("not known"), "{far}");
}

/// Walls weaken what comes through them.
#[test]
fn walls_cost_range() {
    let range = |walls: &str| {
        let args =
            ["rate", "--phy-rates", "54M", "--room", "open", "--devices", "2", "--walls", walls];
        value(&predict(&args, "json"), "range", Some(2)).0
    };
    let (none, two) = (range("0"), range("2"));
    // 13.8 dB where the exponent is 2 or 4.
    assert!(two < none / 2.0 && two > none / 5.0, "{none} {two}");
}

const SLEEPERS: [&str; 9] =
    ["fleet", "--devices", "60", "--every", "5s", "--payload", "50", "--battery", "2xAA"];

#[test]
fn a_fleet_on_batteries_is_answered_on_one_screen() {
    let text = screen(&[&SLEEPERS[..], &["--rooms", "5", "--messages", "1000"]].concat());
    assert!(text.contains("battery") && text.contains("Next: --boot fast"), "{text}");
    insta::assert_snapshot!(text);
}

/// Messages may be sealed or acknowledged, and radios may be alone, with every sleep.
#[test]
fn sleepers_seal_and_are_acknowledged() {
    let current = |more: &[&str]| {
        let args = ["fleet", "--devices", "4", "--every", "5s", "--sleep", "deep"];
        let report = predict(&[&args[..], more].concat(), "json");
        value(&report, "current_mean", Some(4)).0
    };
    let (plain, sealed) = (current(&[]), current(&["--encrypt"]));
    let acked = current(&["--cast", "broadcast", "--copies", "3", "--ack"]);
    let bare = current(&["--bare"]);
    assert!(sealed > plain && sealed < 1.2 * plain, "{plain} {sealed}");
    assert!(acked > plain && acked < 1.5 * plain, "{plain} {acked}");
    assert!(bare < plain && bare > 0.5 * plain, "{plain} {bare}");
}

/// Life is the charge over the current, and the parts of the charge are the whole of it.
#[test]
fn life_follows_from_the_charge() {
    let args = ["fleet", "--devices", "3", "--every", "1h", "--battery", "2500mAh"];
    let report = predict(&[&args[..], &["--profile", "esp32c3"]].concat(), "json");
    crate::report::assert_is_of_schema(&serde_json::from_str(&report).expect("a report"));
    let report: Value = serde_json::from_str(&report).unwrap();
    let energy = &report["prediction"]["energy"];
    let number = |value: &Value| value.as_f64().expect("a number");
    let cells = report["cells"].as_array().unwrap();
    let cell = |metric: &str| {
        let it = cells.iter().find(|it| it["metric"] == metric).expect("a cell");
        ["value", "ci_low", "ci_high"].map(|of| number(&it[of]))
    };
    let [mean, least, most] = cell("current_mean");
    let [hours, ..] = cell("battery_life");
    assert!((hours * mean / 2500.0 - 1.0).abs() < 1e-6, "{hours} {mean}");
    // The wake times are another chip's: they widen what the rooms leave.
    assert!(most > 1.1 * mean && least < 0.92 * mean, "{least} {mean} {most}");
    let two = |value: f64| format!("{value:.1e}").parse::<f64>().unwrap();
    assert_eq!(number(&energy["mean_ma"]["value"]), two(mean));
    assert_eq!(number(&energy["life_days"]["value"]), two(hours / 24.0));
    let warnings = report["prediction"]["warnings"].to_string();
    assert!(warnings.contains("Wake times of the esp32c3: low confidence"), "{warnings}");
    let parts = energy["parts"].as_array().unwrap();
    let shares: f64 = parts.iter().map(|it| number(&it["share"])).sum();
    let day: f64 = parts.iter().map(|it| number(&it["day_mah"])).sum();
    assert!((shares - 1.0).abs() < 1e-9 && (day / (24.0 * mean) - 1.0).abs() < 1e-9);
    // 5 uA asleep, and 11 mC each hour are 3 uA more.
    let sleep = number(&parts[5]["message_mc"]);
    assert!((sleep / (3600.0 * 5e-3) - 1.0).abs() < 0.01, "{sleep}");
    assert!((0.006..0.010).contains(&mean), "{mean}");
}

#[test]
fn a_coin_cell_is_warned_of() {
    let args = ["fleet", "--devices", "2", "--every", "10s", "--battery", "CR2032"];
    let text = screen(&[&args[..], &["--rooms", "2", "--messages", "100"]].concat());
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
    let cannot = place("CR2032 cannot give the pulses");
    assert!(cannot < place("battery "), "it leads: {text}");
}

#[test]
fn a_rate_is_told_whether_it_takes_effect_and_what_it_costs() {
    let rate = |args: &[&str], format: &str| {
        predict(&[&["rate", "--room", "open"], args].concat(), format)
    };
    let refused =
        ["--phy-rate", "24M", "--profile", "esp32c6", "--set-by", "interface", "--idf", "v5.3"];
    let text = rate(&refused, "text");
    assert!(
        text.contains("24M does not take effect, 1M stays on the air: the esp32c6 refuses"),
        "{text}"
    );
    assert!(text.contains("Next: call esp_now_set_peer_rate_config after"), "{text}");
    assert!(
        text.contains("1M, on the air (default)") && text.contains("24M, not in force"),
        "{text}"
    );
    assert!(
        text.lines().count() <= 25 && text.lines().all(|it| it.chars().count() <= 100),
        "{text}"
    );
    let told = rate(&["--phy-rate", "24M", "--profile", "esp32c3"], "json");
    let report: Value = serde_json::from_str(&told).expect("JSON");
    crate::report::assert_is_of_schema(&serde_json::from_str(&told).expect("a report"));
    let card = &report["prediction"];
    assert_eq!(card["question"], "rate-in-force");
    let [old, new] = [0, 1].map(|at| card["rows"][at].clone());
    assert_eq!((&old["cost"]["role"], &new["cost"]["role"]), (&"default".into(), &"on-air".into()));
    // The faster rate costs range, and saves time and charge.
    let less = |of: &dyn Fn(&Value) -> f64| assert!(of(&new) < of(&old), "{told}");
    less(&|it| it["range_m"].as_f64().unwrap());
    less(&|it| it["cost"]["air_us"].as_f64().unwrap());
    less(&|it| it["cost"]["round_trip_ms"]["ci_high"].as_f64().unwrap());
    less(&|it| it["cost"]["charge_uc"]["ci_high"].as_f64().unwrap());
    for format in ["csv", "markdown", "html"] {
        assert!(rate(&["--phy-rate", "HT20-MCS7"], format).contains("HT20-MCS7"), "{format}");
    }
}

#[test]
fn a_message_in_one_frame_or_several_is_ranked_by_distance() {
    let frames = |args: &[&str], format: &str| predict(&[&["frames"], args].concat(), format);
    let args = ["--payload", "1000", "--frame-sizes", "200,1000", "--distances", "2,12"];
    let text = frames(&args, "text");
    assert!(text.contains("1 × 1000 B is best"), "{text}");
    assert!(
        text.lines().count() <= 25 && text.lines().all(|it| it.chars().count() <= 100),
        "{text}"
    );
    let told = frames(&args, "json");
    let report: Value = serde_json::from_str(&told).expect("JSON");
    crate::report::assert_is_of_schema(&serde_json::from_str(&told).expect("a report"));
    let rows = report["prediction"]["frames"].as_array().expect("rows");
    assert_eq!(rows.len(), 4);
    let [one, five] = [&rows[0], &rows[1]];
    assert_eq!(
        (&one["frames"], &five["frames"], &five["bytes"]),
        (&1.into(), &5.into(), &200.into())
    );
    let value = |it: &Value, key: &str| it[key]["value"].as_f64().expect("a value");
    for key in ["whole_ms", "air_ms", "charge_uc"] {
        assert!(value(one, key) < value(five, key), "{key}: {told}");
    }
    assert_eq!(told, frames(&[&args[..], &["--threads", "1"]].concat(), "json"));
    for format in ["csv", "markdown", "html"] {
        assert!(frames(&args, format).contains("200"), "{format}");
    }
}

#[test]
fn frames_that_a_release_does_not_send_are_refused() {
    let bench = TestDir::new();
    for (args, what, remedy) in [
        (
            &["--frame-sizes", "1000", "--idf", "v5.3"][..],
            "--frame-sizes 1000 is too long",
            "say --idf v5.4",
        ),
        (
            &["--frame-sizes", "1471"],
            "--frame-sizes 1471 is too long",
            "--frame-sizes 1470, or shorter",
        ),
        (&["--frame-sizes", "10"], "takes 100 frames of 10 bytes", "longer --frame-sizes"),
        (
            &["--payload", "65000", "--idf", "v5.1"],
            "takes 260 frames of 250 bytes",
            "shorter --payload",
        ),
        (&["--frame-sizes", "0"], "--frame-sizes", "do:  --frame-sizes <BYTES>"),
        (&["--distances", "far"], "--distances", "do:  --distances"),
    ] {
        let ran = bench.run(&[&["predict", "frames"], args].concat());
        assert_eq!(ran.status, Some(2), "{}", ran.err);
        assert!(ran.err.contains(what) && ran.err.contains(remedy), "{args:?}: {}", ran.err);
        assert!(ran.err.lines().count() <= 3, "{}", ran.err);
    }
    for args in [&["--set-by", "interface"][..], &["--phy-rate", "1M", "--phy-rates", "all"]] {
        let ran = bench.run(&[&["predict", "rate"], args].concat());
        assert_eq!(ran.status, Some(2), "{}", ran.err);
    }
}
