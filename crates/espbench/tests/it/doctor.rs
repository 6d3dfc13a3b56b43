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
    let other = bench.run(&["doctor", "diary.txt"]);
    assert_eq!(other.status, Some(2), "{}", other.err);
    assert!(other.out.starts_with("diary.txt: this file cannot tell"), "{}", other.out);
    // One file that tells is an answer.
    bench.run(&["doctor", "diary.txt", "fine.log"]).ok();
}

/// Returns a text as UTF-16 of one order of bytes, with or without its mark.
fn utf16(text: &str, little: bool, mark: bool) -> Vec<u8> {
    let mark = mark.then_some(0xfeff);
    let units = mark.into_iter().chain(text.encode_utf16());
    units.flat_map(|it| if little { it.to_le_bytes() } else { it.to_be_bytes() }).collect()
}

#[test]
fn logs_in_utf16_tell_what_they_do_in_ascii() {
    let bench = TestDir::new();
    let log = LOST.replace('\n', "\r\n");
    for (little, mark) in [(true, true), (false, true), (true, false), (false, false)] {
        std::fs::write(bench.path("boot.log"), utf16(&log, little, mark)).unwrap();
        let out = bench.run(&["doctor", "--no-proof", "boot.log"]).ok();
        let first = "boot.log: the beacons of the access point were not heard (reason 200, BEACON_TIMEOUT)\n";
        assert!(out.starts_with(first), "{little} {mark}: {out}");
        assert!(out.contains("  line 7: state: run -> init (0xc800)\n"), "{out}");
    }
    std::fs::write(bench.path("sdkconfig"), utf16(SMALL, true, true)).unwrap();
    let out = bench.run(&["doctor", "--no-proof", "sdkconfig"]).ok();
    assert!(out.contains("sdkconfig line 2: CONFIG_LWIP_TCP_WND_DEFAULT=2880"), "{out}");
}

#[test]
fn lines_that_a_terminal_wrapped_are_read_as_one() {
    let bench = TestDir::new();
    let log = "[21:04:11.123][I][wifi:617]: Connected to the network of the barn, which answers at once\n\
               [21:09:11.123][W][wifi_esp32:482]: Event: Disconnected ssid='barn of the neighbours' reason='Association Leave'\n\
               [21:09:12.001][E][mqtt.idf:166]: could not reach the broker of the barn, its socket has errno: 113\n"
        .repeat(2);
    let wrapped: String = log
        .lines()
        .flat_map(|it| {
            it.as_bytes().chunks(80).map(|it| format!("{}\n", str::from_utf8(it).unwrap()))
        })
        .collect();
    assert!(wrapped.lines().count() > log.lines().count());
    bench.write("whole.log", &log);
    bench.write("wrapped.log", &wrapped);
    let [whole, wrapped] = ["whole.log", "wrapped.log"].map(|it| {
        let out = bench.run(&["doctor", "--no-proof", "--format", "json", it]).ok();
        valid(&out)["diagnoses"][0]["findings"].as_array().unwrap().clone()
    });
    let causes = |of: &[serde_json::Value]| -> Vec<(String, u64)> {
        let of = of.iter();
        of.map(|it| (it["cause"].as_str().unwrap().into(), it["incidents"].as_u64().unwrap()))
            .collect()
    };
    assert_eq!(causes(&whole)[0], ("link-local".into(), 2), "{whole:?}");
    assert_eq!(causes(&wrapped), causes(&whole), "{wrapped:?}");
}

#[test]
fn a_weak_signal_is_named_with_its_strength_and_the_lab_shows_it() {
    let bench = TestDir::new();
    let weak = LOST.replace("rssi: -58", "rssi: -88");
    assert_ne!(weak, LOST);
    bench.write("weak.log", &weak);
    let out = bench.run(&["doctor", "weak.log"]).ok();
    assert!(out.starts_with("weak.log: the signal is weak (-88 dBm)"), "{out}");
    assert!(out.contains("  do:      move nearer") && out.contains("lab: "), "{out}");
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

/// Words of espbench on an error are no error of a device.
#[test]
fn what_espbench_has_written_is_known_as_such() {
    let bench = TestDir::new();
    bench.write("sdkconfig", "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_LWIP_TCP_WND_DEFAULT=5744\n");
    bench.write("board.log", LOST);
    for (format, ending) in [
        ("json", "json"),
        ("sarif", "sarif"),
        ("markdown", "md"),
        ("html", "html"),
        ("junit", "xml"),
    ] {
        for (name, args) in [
            ("check", &["tune", "--check", "sdkconfig", "--format", format][..]),
            ("found", &["doctor", "board.log", "--format", format]),
        ] {
            let ran = bench.run(args);
            // Not every answer has every form.
            if ran.status == Some(2) {
                continue;
            }
            let file = format!("{name}.{ending}");
            bench.write(&file, &ran.out);
            let ran = bench.run(&["doctor", &file]);
            assert_eq!(ran.status, Some(2), "{file}: {}{}", ran.out, ran.err);
            assert!(ran.err.contains("that espbench has written"), "{file}: {}", ran.err);
        }
    }
}

/// Returns a capture in which two stations send frames of 1 ms each 1.08 ms.
fn full_channel() -> Vec<u8> {
    let mut file = Vec::new();
    // libpcap's header: magic, version 2.4, no zone, longest packet, radiotap (draft-ietf-opsawg-pcap).
    file.extend([
        0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 127, 0, 0, 0,
    ]);
    for number in 0..600_u32 {
        // Radiotap with a rate of 6 Mbit/s; data from the access point's network.
        let mut frame = vec![0, 0, 9, 0, 4, 0, 0, 0, 12, 0x08, 0x02, 0, 0];
        let sender = 0xaa + (number % 3 / 2) as u8;
        for last in [1, sender, sender] {
            frame.extend([0, 0, 0x5e, 0, 0x53, last]);
        }
        frame.extend((number as u16 % 4096 * 16).to_le_bytes());
        frame.extend([0; 700]);
        let us = 1_790_000_000_000_000_u64 + u64::from(number) * 1080;
        for value in [us / 1_000_000, us % 1_000_000, frame.len() as u64, frame.len() as u64] {
            file.extend((value as u32).to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

#[test]
fn a_full_channel_of_a_capture_is_shown_in_the_lab() {
    let bench = TestDir::new();
    std::fs::write(bench.path("air.pcap"), full_channel()).unwrap();
    let out = bench.run(&["doctor", "air.pcap"]).ok();
    assert!(out.starts_with("air.pcap: the channel is busy for "), "{out}");
    assert!(out.contains("stations, of which") && out.contains("lab: The lab shows it."), "{out}");
}

const SMALL: &str =
    "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_LWIP_TCP_WND_DEFAULT=2880\nCONFIG_LWIP_TCP_MSS=1440\n";

const BOOT: &str = include_str!("../../../doctor/tests/cases/other-build.log");

/// Neither file names the chip: what the lab had is a guess, and said as one.
#[test]
fn a_chip_that_no_file_names_is_said_to_be_a_guess() {
    let bench = TestDir::new();
    bench.write("sdkconfig", "CONFIG_LWIP_TCP_WND_DEFAULT=2440\n");
    let log = "I (455) wifi_init: tcp rx win: 2440\nI (455) wifi_init: tcp mbox: 6\n\
               I (455) wifi_init: udp mbox: 6\nI (475) wifi_init: tcp mss: 1440\n";
    bench.write("boot.log", log);
    bench.write("named.log", &format!("ESP-ROM:esp32c3-api1-20210207\n{log}"));
    let flat = |args: &[&str]| {
        let out = bench.run(&[&["doctor"], args].concat()).ok();
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let alone = flat(&["sdkconfig"]);
    assert!(alone.contains("names no chip (CONFIG_IDF_TARGET): taken as esp32c3"), "{alone}");
    assert!(alone.contains("(the sdkconfig names no chip: taken as esp32c3)"), "{alone}");
    let log = flat(&["boot.log"]);
    assert!(log.contains("(the log names no chip: taken as esp32c3)"), "{log}");
    let both = flat(&["boot.log", "sdkconfig"]);
    assert!(both.contains("Neither log nor sdkconfig names the chip: taken as"), "{both}");
    for args in [&["named.log"][..], &["named.log", "sdkconfig"]] {
        let named = flat(args);
        assert!(named.contains("esp32c3") && !named.contains("taken as"), "{named}");
    }
}

#[test]
fn an_sdkconfig_is_checked_and_the_lab_shows_the_first_cause() {
    let bench = TestDir::new();
    bench.write("sdkconfig", SMALL);
    let out = bench.run(&["doctor", "sdkconfig", "-o", "page.html", "-o", "rows.csv"]).ok();
    assert!(out.lines().count() <= 25, "{out}");
    assert!(out.contains("sdkconfig line 2: CONFIG_LWIP_TCP_WND_DEFAULT=2880"), "{out}");
    assert!(out.contains("lab: The lab shows it. With lab shield-box"), "{out}");
    let page = std::fs::read_to_string(bench.path("page.html")).unwrap();
    for part in [
        "<h1>sdkconfig: TCP",
        "The lab shows it",
        "sdkconfig line 2",
        "Do: set CONFIG_LWIP",
        "espbench doctor",
    ] {
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
pub fn valid(out: &str) -> serde_json::Value {
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

/// A host with an ESP32-C6 beside it.
const HOST: &str = "# Espressif IoT Development Framework (ESP-IDF) 5.5.1 Project Configuration\n\
    CONFIG_IDF_TARGET=\"esp32p4\"\nCONFIG_SLAVE_IDF_TARGET_ESP32C6=y\nCONFIG_LWIP_TCP_SND_BUF_DEFAULT=5760\n\
    CONFIG_LWIP_TCP_WND_DEFAULT=5760\nCONFIG_LWIP_TCP_RECVMBOX_SIZE=6\nCONFIG_WIFI_RMT_TX_BA_WIN=6\nCONFIG_WIFI_RMT_RX_BA_WIN=6\n\
    CONFIG_WIFI_RMT_STATIC_RX_BUFFER_NUM=10\nCONFIG_WIFI_RMT_DYNAMIC_RX_BUFFER_NUM=32\n";

/// A receiver whose window is beyond what it keeps of segments out of order.
const OUT_OF_ORDER: &str = "CONFIG_IDF_TARGET=\"esp32\"\nCONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM=16\nCONFIG_ESP_WIFI_DYNAMIC_RX_BUFFER_NUM=64\n\
    CONFIG_ESP_WIFI_DYNAMIC_TX_BUFFER_NUM=64\nCONFIG_ESP_WIFI_RX_BA_WIN=32\nCONFIG_LWIP_TCP_SND_BUF_DEFAULT=65534\n\
    CONFIG_LWIP_TCP_WND_DEFAULT=65534\nCONFIG_LWIP_TCP_RECVMBOX_SIZE=64\nCONFIG_LWIP_TCP_OOSEQ_MAX_PBUFS=4\n";

#[test]
fn doctor_and_check_say_the_same_of_one_file() {
    let bench = TestDir::new();
    let cases = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../doctor/tests/cases");
    let files = std::fs::read_dir(cases).unwrap().map(|it| it.unwrap().path());
    let configs = files.filter(|it| it.extension().is_some_and(|it| it == "sdkconfig"));
    let mut texts: Vec<String> = configs.map(|it| std::fs::read_to_string(it).unwrap()).collect();
    assert!(texts.len() > 2, "{}", texts.len());
    texts.extend([HOST, OUT_OF_ORDER, SMALL].map(String::from));
    for text in texts {
        bench.write("sdkconfig", &text);
        let json = |words: &[&str]| -> serde_json::Value {
            let out = bench.run(&[words, &["--format", "json"]].concat()).ok();
            serde_json::from_str(&out).unwrap()
        };
        let check = json(&["tune", "--check", "sdkconfig", "-q", "--time", "500ms"]);
        let doctor = json(&["doctor", "--no-proof", "sdkconfig"]);
        let doctor = &doctor["diagnoses"][0];
        let texts = |of: &serde_json::Value, key: &str| -> Vec<String> {
            let of = of.as_array().unwrap().iter();
            of.map(|it| if key.is_empty() { it } else { &it[key] }.as_str().unwrap().to_owned())
                .collect()
        };
        let found = texts(&doctor["findings"], "title");
        let told = [found.clone(), texts(&doctor["notes"], "")].concat();
        let checked = check["findings"].as_array().unwrap().iter();
        let (notes, others): (Vec<_>, Vec<_>) = checked.partition(|it| it["severity"] == "note");
        let whats: Vec<&str> = others.iter().map(|it| it["what"].as_str().unwrap()).collect();
        for what in &whats {
            // The round trip is a ping of the file's chip, and of the lab's own device.
            let of_round_trip = |it: &str| it.starts_with("At a round trip of");
            let is = |it: &String| {
                it.trim_end_matches('.') == *what || of_round_trip(it) && of_round_trip(what)
            };
            let is_told = told.iter().any(is);
            assert!(is_told, "{text}\nthe check: {what}\nthe doctor: {told:#?}");
        }
        assert!(found.iter().all(|it| whats.contains(&&**it)), "{text}\n{found:#?}\n{notes:#?}");
    }
}
