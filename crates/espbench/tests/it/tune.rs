//! `espbench tune`.

use crate::terminal::on_columns;
use crate::util::TestDir;
use serde_json::Value;

/// As ESP-IDF's tools write it, shortened.
pub(crate) const SDKCONFIG: &str = r#"#
# Automatically generated file. DO NOT EDIT.
# Espressif IoT Development Framework (ESP-IDF) 5.3.1 Project Configuration
#
CONFIG_SOC_WIFI_SUPPORTED=y
CONFIG_IDF_TARGET="esp32c3"
CONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM=10
CONFIG_ESP_WIFI_DYNAMIC_RX_BUFFER_NUM=16
CONFIG_ESP_WIFI_DYNAMIC_TX_BUFFER_NUM=32
CONFIG_ESP_WIFI_RX_BA_WIN=6
CONFIG_LWIP_TCP_SND_BUF_DEFAULT=5760
CONFIG_LWIP_TCP_WND_DEFAULT=32768
CONFIG_LWIP_UDP_RECVMBOX_SIZE=6
# CONFIG_LWIP_IRAM_OPTIMIZATION is not set
"#;

#[test]
fn a_file_is_checked() {
    let bench = TestDir::new();
    bench.write("sdkconfig", SDKCONFIG);
    let args = ["tune", "-q", "--check", "sdkconfig", "--burst", "9", "--rtt", "5ms"];
    let text = bench.run(&[&args[..], &["--full"]].concat()).ok();
    for wanted in [
        "esp32c3, ESP-IDF v5.3, 1 TCP stream, round trip 5 ms (as said).",
        "WRONG: 1 stream may have 23 segments on the way, but there are 16 dynamic RX buffers",
        "-> CONFIG_LWIP_TCP_WND_DEFAULT=16384   (now 32768",
        "WRONG: A burst of 9 datagrams loses up to 3: 6 can wait",
        "Beside Espressif's ranks",
        "What it takes of the heap",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    let markdown = bench.run(&[&args[..], &["--format", "markdown"]].concat()).ok();
    assert!(markdown.contains("- **wrong**: ") && markdown.contains("| setting |"), "{markdown}");
    let files = ["-o", "check.json", "-o", "check.html", "--fragment", "advice"];
    let strict = bench.run(&[&args[..], &["--strict"], &files].concat());
    assert_eq!(strict.status, Some(1), "{}", strict.err);
    let page = std::fs::read_to_string(bench.path("check.html")).unwrap();
    assert!(page.contains("What limits it") && page.contains("CONFIG_LWIP_UDP_RECVMBOX_SIZE=9"));
    assert!(page.contains("<details open><summary><h2 id=\"tune-h\">"), "the chapter is open");
    let advice = std::fs::read_to_string(bench.path("advice")).unwrap();
    assert!(advice.lines().any(|it| it.starts_with("CONFIG_LWIP_TCP_")), "{advice}");
    let json: Value =
        serde_json::from_slice(&std::fs::read(bench.path("check.json")).unwrap()).unwrap();
    assert_eq!(json["schema"], "espbench-check/1");
    assert_eq!(json["findings"][0]["severity"], "wrong");
    assert_eq!(json["bound_mbit_s"][1], 9.216);
    assert_eq!(json["nearest"]["name"], "default");
    assert!(json["heap_left"]["peak"].as_i64().unwrap() > 0);
}

/// Without an option nothing follows from a file; without a chip all figures are those of a guess.
#[test]
fn what_a_file_does_not_say_is_said() {
    let bench = TestDir::new();
    bench.write("plan.toml", "name = \"a\"\n[[measure]]\nkind = \"udp-echo\"\ncount = 1\n");
    for (text, why) in [
        ("", "it has no option"),
        ("# a comment\n\n", "it has no option"),
        ("CONFIG_X=y\n", "espbench knows none of its 1 option"),
        ("CONFIG_X=y\n# CONFIG_Y is not set\n", "espbench knows none of its 2 options"),
    ] {
        bench.write("none", text);
        let check = ["tune", "-q", "--check", "none"];
        for args in [check.to_vec(), vec!["run", "plan.toml", "-q", "--sdkconfig", "none"]] {
            let ran = bench.run(&args);
            assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{args:?}: {}", ran.err);
            assert!(ran.err.contains(why), "{args:?}: {}", ran.err);
            assert!(ran.err.contains("name the sdkconfig that idf.py"), "{}", ran.err);
        }
        assert_eq!(bench.run(&["doctor", "none"]).status, Some(2), "{text}");
    }
    // All defaults of a chip that is named: a fragment without a change.
    bench.write("none", "# a comment\n");
    bench.run(&["tune", "-q", "--time", "500ms", "--check", "none", "--chip", "esp32"]).ok();
    bench.write("some", "CONFIG_LWIP_TCP_WND_DEFAULT=2440\n");
    let guess =
        "the file names no chip (CONFIG_IDF_TARGET): taken as esp32c3; --chip names another";
    let some = ["tune", "-q", "--time", "500ms", "--check", "some"];
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for form in [&[][..], &["--full"], &["--format", "markdown"], &["--format", "html"]] {
        let out = flat(&bench.run(&[&some[..], form].concat()).ok()).replace('\\', "");
        assert!(out.contains(guess), "{form:?}: {out}");
        let said = bench.run(&[&some[..], form, &["--chip", "esp32"]].concat()).ok();
        assert!(!flat(&said).contains("names no chip"), "{form:?}: {said}");
    }
    let screen = bench.run(&some).ok();
    let first: Vec<&str> = screen.lines().take(4).collect();
    assert!(flat(&first.join(" ")).contains(guess), "{screen}");
    let json: Value =
        serde_json::from_str(&bench.run(&[&some[..], &["--format", "json"]].concat()).ok())
            .unwrap();
    assert_eq!(json["chip_assumed"], true);
    let words = match json["advice"]["set"].as_array().unwrap().len() {
        1 => "one change makes",
        2 => "two changes make",
        _ => "changes make",
    };
    assert!(flat(&screen).contains(words), "{screen}");
}

/// Returns the first screen of a command, which has 25 lines at most.
fn screen(bench: &TestDir, args: &[&str]) -> String {
    let ran = bench.run(&[&["tune", "-q", "--time", "500ms"], args].concat());
    assert!(ran.err.is_empty(), "{}", ran.err);
    assert!(ran.out.lines().count() <= 25, "{}", ran.out);
    assert!(ran.out.lines().all(|it| it.chars().count() <= 98), "{}", ran.out);
    ran.out
}

/// Returns the text without the sequences that set colours.
fn plain(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default();
    let rest = parts.filter_map(|it| it.split_once('m')).map(|(_, text)| text);
    core::iter::once(first).chain(rest).collect()
}

/// On a terminal of 80 columns no line is longer, and names of options are whole.
#[test]
fn a_narrow_terminal_has_the_answer_in_its_lines() {
    let bench = TestDir::new();
    bench.write("sdkconfig", SDKCONFIG);
    let check = ["tune", "-q", "--time", "500ms", "--check", "sdkconfig"];
    let wants = ["--want", "tcp-tx>=30Mbit/s", "--want", "tcp-rx>=25Mbit/s", "--budget", "24"];
    for args in [check.to_vec(), [&check[..], &wants].concat()] {
        let command = &mut bench.command(&args);
        let written = on_columns(command.env("TERM", "xterm").env_remove("NO_COLOR"), 80);
        assert!(written.contains("\x1b[1m"), "the title is bold: {written:?}");
        let text = plain(&written).replace('\r', "");
        assert!(text.lines().count() <= 25, "{text}");
        assert!(text.lines().all(|it| it.chars().count() <= 80), "{text}");
        assert!(text.contains("SIMULATED") && text.contains("\nChange CONFIG_"), "{text}");
        assert!(text.contains("(now 6)"), "{text}");
    }
}

#[test]
fn the_first_screen_of_a_check() {
    let bench = TestDir::new();
    bench.write("sdkconfig", SDKCONFIG);
    insta::assert_snapshot!(screen(&bench, &["--check", "sdkconfig", "--burst", "9"]));
}

#[test]
fn the_first_screen_of_a_search_from_a_file() {
    let bench = TestDir::new();
    bench.write("sdkconfig", SDKCONFIG);
    let wants = ["--want", "tcp-tx>=30Mbit/s", "--want", "tcp-rx>=25Mbit/s"];
    let args = [&["--check", "sdkconfig", "--budget", "40"], &wants[..]].concat();
    insta::assert_snapshot!(screen(&bench, &args));
}

#[test]
fn the_first_screen_of_a_want_that_cannot_be_met() {
    let args = ["--want", "battery>=300d", "--budget", "16"];
    insta::assert_snapshot!(screen(&TestDir::new(), &args));
}

/// The round trip of a stored run is the one that check and search assume.
#[test]
fn a_stored_ping_is_the_round_trip() {
    let bench = TestDir::new();
    bench.write("sdkconfig", SDKCONFIG);
    let plan = "name = \"probe\"\n[[measure]]\nkind = \"udp-echo\"\nvariant = \"rank-iperf\"\n\
                size = 64\ncount = 20\n";
    bench.write("probe.toml", plan);
    // A router and a PC that take no time are faster than those of the lab that answers, slow ones are not.
    let shield_box = include_str!("../../../../labs/shield-box.toml");
    let forward = |us: &str| {
        let lab = shield_box.replace("\nforward_us = 200", &format!("\nforward_us = {us}"));
        bench.write("own.toml", &lab.replace("\nturn_us = 100", "\nturn_us = 1"));
        bench.run(&["run", "probe.toml", "--on", "sim:own.toml", "-q"]).ok();
    };
    forward("1");
    let args = ["tune", "-q", "--check", "sdkconfig", "--rtt", "last"];
    let ran = bench.run(&args);
    assert_eq!(ran.status, Some(2), "{}", ran.out);
    assert!(ran.err.contains("is shorter than that of lab shield-box"), "{}", ran.err);
    forward("2000");
    let text = bench.run(&args).ok();
    assert!(text.contains("ms (median of run probe-2)"), "{text}");
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_place() {
    let bench = TestDir::new();
    bench.write("bad", "CONFIG_X=y\nCONFIG_LWIP_TCP_MSS=1.4K\n");
    bench.write("header", "\n#define CONFIG_LWIP_TCP_MSS 1440\n");
    bench.write("mark", "\u{feff}CONFIG_LWIP_TCP_MSS=1440\n");
    std::fs::write(bench.path("bytes"), [0xFF, 0xFE, 0x00]).unwrap();
    bench.write("c6", "CONFIG_IDF_TARGET=\"esp32c6\"\n");
    for (args, wanted) in [
        (&["--check", "bad"][..], "line 2, column 21: `1.4K` is no number: CONFIG_LWIP_TCP_MSS"),
        (&["--check", "none"], "do:  name the sdkconfig in the project's folder"),
        (&["--check", "."], "name the sdkconfig in it"),
        (&["--check", "c6", "--chip", "esp32"], "it says that it is for the esp32c6"),
        (
            &["--check", "c6", "--chip", "esp8266"],
            "no chip of ESP-IDF with Wi-Fi; there are esp32,",
        ),
        (&["--check", "c6", "--format", "csv"], "text, json, markdown, html or sarif"),
        (&["--check", "c6", "-o", "x.csv"], "text, json, markdown, html or sarif"),
        (&["--check", "c6", "--rtt", "10us"], "is shorter than that of lab shield-box"),
        (&["--check", "c6", "--rtt", "ping-7"], "there is no store"),
        (&["--check", "c6", "--budget", "9"], "--want <WANT>"),
        (&["--check", "c6", "--battery-mah", "9"], "--want <WANT>"),
        (&["--want", "heap>=1KB", "--burst", "9"], "cannot be used with"),
        (&["--check", "c6", "--want", "heap>=1KB", "--strict"], "cannot be used with"),
        (&["--want", "heap>=1KB", "--psram"], "no esp32c3 has PSRAM; there are esp32, esp32s2,"),
        (&["--check", "c6", "--psram"], "leave it out, or name a chip that can have it"),
        (&["--check", "c6", "--idf", "five"], "write it as v5.2"),
        (&["--check", "c6", "--heap", "much"], "use B, KB or MB"),
        (&["--check", "c6", "--rtt", "0s"], "from 10 us to 10 s"),
        (&[], "--check"),
        (&["--want", "tcp-tx>20Mbit/s"], "of tcp-tx more is better: write tcp-tx>="),
        (&["--want", "latency<=1ms"], "no goal that --want knows"),
        (&["--want", "heap>=1KB", "--want", "heap>=2KB"], "heap is wanted twice"),
        (&["--want", "heap>=1KB", "--lab", "two-boards"], "name a lab with variants"),
        (&["--want", "heap>=1KB", "--variant", "rank-nothing"], "rank-nothing"),
        (&["--want", "heap>=1KB", "--time", "1ms"], "from 500 ms to 1 h"),
        (&["--want", "heap>=999KB"], "before Wi-Fi starts 235 KB are free in a firmware as small"),
        (&["--want", "heap>=99KB", "--heap", "90KB"], "before Wi-Fi starts 90 KB are free"),
        (&["--want", "heap>=1KB", "--chip", "esp32h2"], "the esp32c6 has IEEE 802.15.4"),
        (&["--check", "header"], "line 2, column 1: this is sdkconfig.h"),
        (&["--check", "mark"], "save the file as UTF-8 without one"),
        (&["--check", "bytes"], "bytes is no text"),
    ] {
        let ran = bench.run(&[&["tune"], args].concat());
        assert_eq!(ran.status, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(wanted), "{args:?}: {}", ran.err);
        assert!(ran.err.lines().count() <= 3, "{args:?}: {}", ran.err);
    }
}

/// The lab begins with the flash, caches and PSRAM of a file, and they are written as the build reads them.
#[test]
fn flash_caches_and_psram_are_read_and_written() {
    let bench = TestDir::new();
    // Windows and mailboxes are large enough, so that they are no advice.
    let own = |chip: &str| {
        format!(
            "CONFIG_IDF_TARGET=\"{chip}\"\nCONFIG_ESPTOOLPY_FLASHFREQ_20M=y\n\
             CONFIG_LWIP_TCP_WND_DEFAULT=32768\nCONFIG_LWIP_TCP_SND_BUF_DEFAULT=32768\n\
             CONFIG_LWIP_TCP_RECVMBOX_SIZE=32\n"
        )
    };
    let check = |file: &str, text: &str| {
        bench.write(file, text);
        bench.run(&["tune", "-q", "--check", file, "--time", "500ms", "--fragment", "tuned"]).ok()
    };
    let lines = || std::fs::read_to_string(bench.path("tuned")).unwrap();
    // The S2's largest cache holds little of the code, the S3's holds most of it.
    let text = check("s2", &own("esp32s2"));
    assert!(text.contains("Change CONFIG_ESPTOOLPY_FLASHFREQ_80M=y (now 20M): TCP "), "{text}");
    assert!(lines().contains("\nCONFIG_ESPTOOLPY_FLASHFREQ_80M=y\n"), "{}", lines());
    let text = check("s2-fast", &own("esp32s2").replace("FREQ_20M", "FREQ_80M"));
    assert!(!text.contains("CONFIG_ESPTOOLPY_FLASHFREQ"), "{text}");
    let text = check("s3", &own("esp32s3"));
    let cache = "CONFIG_ESP32S3_INSTRUCTION_CACHE_32KB=y";
    assert!(text.contains(&format!("Change {cache} (now 16KB): TCP ")), "{text}");
    assert!(lines().contains(&format!("\n{cache}\n")), "{}", lines());
    let psram =
        "CONFIG_SPIRAM=y\nCONFIG_SPIRAM_TRY_ALLOCATE_WIFI_LWIP=y\nCONFIG_SPIRAM_MODE_QUAD=y\n";
    let text = check("psram", &(own("esp32").replace("FREQ_20M", "FREQ_80M") + psram));
    assert!(text.contains("CONFIG_SPIRAM_TRY_ALLOCATE_WIFI_LWIP=n (now y): TCP "), "{text}");
    bench.write("none", "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_SPIRAM=y\n");
    let text = bench.run(&["tune", "-q", "--check", "none", "--full", "--time", "500ms"]).ok();
    assert!(text.contains("WRONG: PSRAM is to be used, which no esp32c3 has"), "{text}");
}

/// Any number of threads gives the same answer, and a check has nothing against the fragment.
#[test]
fn a_search_finds_settings_in_the_lab() {
    let bench = TestDir::new();
    let args = ["tune", "-q", "--want", "tcp-tx>=25Mbit/s", "--budget", "12", "--time", "500ms"];
    let with = |threads: &'static str| {
        let more = ["--threads", threads, "--format", "json", "--fragment", "tuned"];
        bench.run(&[&args[..], &more].concat())
    };
    let one = with("1");
    let lines = std::fs::read_to_string(bench.path("tuned")).unwrap();
    assert_eq!(one.out, with("4").out, "{}", one.err);
    let json: Value = serde_json::from_str(&one.out).unwrap();
    let cells = json["cells"].as_array().unwrap();
    let best = cells.iter().find(|it| it["metric"] == "throughput_tx").unwrap();
    assert_eq!(one.status, Some(0), "{best}");
    assert!(best["value"].as_f64().unwrap() >= 25.0 && best["origin"] == "simulated", "{best}");
    assert!(cells.iter().any(|it| it["metric"] == "free_heap_min"));
    assert!(lines.starts_with("# For the esp32c3, ESP-IDF v5.2: tcp-tx>=25Mbit/s.\n"), "{lines}");
    let pairs = lines.lines().zip(lines.lines().skip(1));
    let bare = pairs.filter(|it| it.1.starts_with("CONFIG_") && !it.0.starts_with("# "));
    assert_eq!(bare.count(), 0, "{lines}");
    bench.run(&["tune", "--check", "tuned", "--strict"]).ok();
}

/// Each chip of the guide with its profile, and streams that share buffers: what is recommended loads
/// back, and nothing in it is wrong.
#[test]
fn what_is_recommended_for_each_chip_passes_a_check() {
    let bench = TestDir::new();
    for (chip, streams) in
        [("esp32", "1"), ("esp32s2", "2"), ("esp32s3", "4"), ("esp32c2", "1"), ("esp32c6", "3")]
    {
        let wants = ["--want", "tcp-tx>=15Mbit/s", "--want", "tcp-rx>=15Mbit/s"];
        let args = ["tune", "-q", "--chip", chip, "--streams", streams, "--budget", "10"];
        let rest = ["--time", "500ms", "--fragment", "tuned", "--format", "json"];
        let ran = bench.run(&[&args[..], &wants, &rest].concat());
        assert_eq!(ran.status, Some(0), "15 Mbit/s can be had with each chip: {chip}: {}", ran.err);
        let json: Value = serde_json::from_str(&ran.out).unwrap();
        let least =
            json["cells"].as_array().unwrap().iter().find(|it| it["metric"] == "free_heap_min");
        let free = least.unwrap()["value"].as_f64().unwrap();
        assert!(free > 0.0 && free < 370.0, "{chip}: {free} KB");
        let check = ["tune", "--check", "tuned", "--strict", "--chip", chip, "--streams", streams];
        bench.run(&check).ok();
    }
}

#[test]
fn what_cannot_be_had_is_said() {
    let bench = TestDir::new();
    let args = ["tune", "-q", "--want", "tcp-tx>=500Mbit/s", "--budget", "4", "--time", "500ms"];
    let ran = bench.run(&args);
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    assert!(ran.out.starts_with("tcp-tx>=500Mbit/s: cannot be met"), "{}", ran.out);
    assert!(ran.out.contains("so TCP sending is at most"), "{}", ran.out);
    let full = bench.run(&[&args[..], &["--full"]].concat());
    assert!(full.out.contains("For sdkconfig.defaults"), "{}", full.out);
}

#[test]
fn a_host_and_its_co_processor_are_checked_as_one_link() {
    let bench = TestDir::new();
    bench.write(
        "host",
        "CONFIG_IDF_TARGET=\"esp32p4\"\nCONFIG_SLAVE_IDF_TARGET_ESP32C6=y\nCONFIG_ESP_HOSTED_SDIO_HOST_INTERFACE=y\n\
         CONFIG_ESP_HOSTED_SDIO_CLOCK_FREQ_KHZ=40000\nCONFIG_WIFI_RMT_RX_BA_WIN=16\n",
    );
    let slave = "CONFIG_IDF_TARGET=\"esp32c6\"\nCONFIG_ESP_HOSTED_COPROCESSOR=y\nCONFIG_ESP_SDIO_HOST_INTERFACE=y\n\
                 CONFIG_ESP_SDIO_DEFAULT_SPEED=y\nCONFIG_ESP_WIFI_RX_BA_WIN=6\n";
    bench.write("slave", slave);
    let alone = bench.run(&["tune", "--check", "host", "-q"]).ok();
    assert!(alone.starts_with("host: nothing is wrong"), "{alone}");
    assert!(alone.contains("esp32c6, ESP-IDF v5.2") && !alone.contains("SIMULATED"), "{alone}");
    let full = bench.run(&["tune", "--check", "host", "slave", "-q", "--full"]).ok();
    for told in [
        "The host clocks SDIO at 40 MHz, and the co-processor is built for 20",
        "The esp32c6 beside the host is reached over SDIO, 4 lines at 40 MHz",
        "Values of slave that do not count: CONFIG_ESP_WIFI_RX_BA_WIN=6 (the host's 16)",
    ] {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&full).contains(told), "{told}: {full}");
    }
    assert_eq!(bench.run(&["tune", "--check", "host", "slave", "-q", "--strict"]).status, Some(1));
    bench.write("bare", "CONFIG_IDF_TARGET=\"esp32p4\"\n");
    let bare = bench.run(&["tune", "--check", "bare", "-q"]);
    assert!(bare.status == Some(2) && bare.err.contains("name the chip beside it"), "{}", bare.err);
    let named = bench.run(&["tune", "--check", "bare", "-q", "--chip", "esp32c5"]).ok();
    assert!(named.contains("esp32c5"), "{named}");
    for words in [
        &["tune", "--check", "slave", "host"][..],
        &["tune", "--check", "host", "host"],
        &["tune", "--check", "host", "--want", "tcp-tx>=1Mbit/s"],
        &["tune", "--check", "host", "slave", "--want", "tcp-tx>=1Mbit/s"],
        &["tune", "--check", "host", "slave", "bare"],
    ] {
        let ran = bench.run(words);
        assert_eq!((ran.status, ran.err.lines().count()), (Some(2), 3), "{words:?}: {}", ran.err);
    }
    let third = bench.run(&["tune", "--check", "host", "slave", "bare"]);
    assert!(third.err.starts_with("espbench: bare is a third sdkconfig\n"), "{}", third.err);
}
