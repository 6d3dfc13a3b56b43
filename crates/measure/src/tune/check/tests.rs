use super::*;
use espbench_model::sdkconfig::{Chip, IdfRelease, read};

fn ask(text: &str) -> CheckInput {
    let reading = read(text).expect("a file");
    CheckInput {
        file: "sdkconfig".into(),
        context: SdkContext {
            chip: reading.chip.unwrap_or_default(),
            release: reading.release.unwrap_or_default(),
            ..SdkContext::default()
        },
        reading,
        chip_is_said: false,
        traffic: Traffic::default(),
        rtt: Duration::from_millis(5).into(),
        burst: None,
        heap: None,
    }
}

fn rules(checked: &Checked, severity: Severity) -> Vec<&'static str> {
    checked.findings.iter().filter(|it| it.severity == severity).map(|it| it.rule).collect()
}

fn of<'c>(checked: &'c Checked, rule: &str) -> &'c Finding {
    checked.findings.iter().find(|it| it.rule == rule).unwrap_or_else(|| panic!("{rule}"))
}

/// Returns all findings as text, one after the other.
fn told(checked: &Checked) -> String {
    let mut out = String::new();
    for it in &checked.findings {
        out.push_str(&format!("{} {}: {}\n  {}\n", it.severity.name(), it.rule, it.what, it.why));
        for set in &it.set {
            out.push_str(&format!(
                "  {}={} (was {}), heap {}\n",
                set.name, set.to, set.from, set.heap_bytes
            ));
        }
    }
    out
}

#[test]
fn the_defaults_of_the_build_hold_tcp_back() {
    insta::assert_snapshot!(told(&check(&ask(""))));
}

/// The settings of the document's own ranks fit each other, but for what the guide and Kconfig see
/// differently, and for what it leaves at its default.
#[test]
fn the_ranks_are_not_wrong() {
    for rank in espbench_model::sdkconfig::RANKS {
        let mut question = ask("");
        question.context.chip = rank.chip;
        question.reading.settings = rank.settings();
        let checked = check(&question);
        let wrong = rules(&checked, Severity::Wrong);
        assert!(wrong.is_empty(), "{rank:?}: {}", told(&checked));
        assert_eq!(
            checked.nearest.as_ref().map(|it| (&*it.name, it.doublings)),
            Some((rank.name, 0.0))
        );
    }
}

#[test]
fn a_window_that_outruns_the_buffers_loses_frames() {
    let checked = check(&ask(
        "CONFIG_LWIP_TCP_WND_DEFAULT=65535\nCONFIG_ESP_WIFI_DYNAMIC_RX_BUFFER_NUM=16\n\
         CONFIG_LWIP_TCP_RECVMBOX_SIZE=64\nCONFIG_LWIP_TCPIP_RECVMBOX_SIZE=32\n",
    ));
    assert_eq!(rules(&checked, Severity::Wrong), ["window", "tcpip-mailbox"]);
    let window = of(&checked, "window");
    assert_eq!(
        window.what,
        "1 stream may have 46 segments on the way, but there are 16 dynamic RX buffers"
    );
    let set: Vec<_> = window.set.iter().map(|it| (&*it.name, &*it.to)).collect();
    assert_eq!(
        set,
        [("CONFIG_LWIP_TCP_WND_DEFAULT", "16384"), ("CONFIG_ESP_WIFI_DYNAMIC_RX_BUFFER_NUM", "46")]
    );
    assert!(window.set[0].heap_bytes <= 0 && window.set[1].heap_bytes > 20_000);
}

#[test]
fn several_streams_share_the_buffers() {
    let mut question =
        ask("CONFIG_LWIP_TCP_SND_BUF_DEFAULT=32768\nCONFIG_LWIP_TCP_WND_DEFAULT=32768\n\
         CONFIG_LWIP_TCP_RECVMBOX_SIZE=32\n");
    assert!(rules(&check(&question), Severity::Wrong).is_empty());
    question.traffic.streams = 4;
    let checked = check(&question);
    assert_eq!(rules(&checked, Severity::Wrong), ["window"]);
    assert_eq!(
        of(&checked, "send-buffer").what,
        "TCP's send buffers (4 streams: 128 KB) are larger than 32 TX buffers"
    );
    assert_eq!(of(&checked, "send-buffer").set[0].to, "8192");
}

#[test]
fn a_burst_beyond_the_mailbox_is_lost() {
    let mut question = ask("");
    question.burst = Some(6);
    assert!(check(&question).findings.iter().all(|it| it.rule != "udp-burst"));
    question.burst = Some(9);
    let checked = check(&question);
    let cliff = of(&checked, "udp-burst");
    assert_eq!(cliff.what, "A burst of 9 datagrams loses up to 3: 6 can wait");
    assert_eq!((&*cliff.set[0].name, &*cliff.set[0].to), ("CONFIG_LWIP_UDP_RECVMBOX_SIZE", "9"));
    question.burst = Some(100);
    let checked = check(&question);
    let cliff = of(&checked, "udp-burst");
    assert!(cliff.why.contains("No mailbox holds more than 64"), "{}", cliff.why);
    assert_eq!(cliff.set.len(), 3, "mailbox, buffers and lwIP's own mailbox: {:?}", cliff.set);
}

#[test]
fn the_bound_is_window_over_round_trip() {
    for (ms, rx) in [(5, 9.216), (10, 4.608), (100, 0.4608)] {
        let mut question = ask("");
        question.rtt = Duration::from_millis(ms).into();
        assert_eq!(check(&question).bound_mbit_s, [rx; 2]);
    }
    // With a window of 40 KB a round trip of 5 ms is no limit to this chip.
    let checked =
        check(&ask("CONFIG_LWIP_TCP_SND_BUF_DEFAULT=40960\nCONFIG_LWIP_TCP_WND_DEFAULT=40960\n"));
    assert!(checked.findings.iter().all(|it| it.rule != "window-rtt"), "{}", told(&checked));
}

#[test]
fn what_is_out_of_range_is_not_used() {
    let text = "CONFIG_IDF_TARGET=\"esp32\"\nCONFIG_ESP_WIFI_RX_BA_WIN=64\n";
    let checked = check(&ask(text));
    let range = of(&checked, "range");
    assert_eq!(range.what, "CONFIG_ESP_WIFI_RX_BA_WIN=64 is outside of 2 to 32");
    assert_eq!((&*range.set[0].from, &*range.set[0].to), ("64", "32"));
    let value = checked.settings.iter().find(|it| it.name.ends_with("RX_BA_WIN")).unwrap();
    assert_eq!(value.value, "6");
    let wide = check(&ask(&text.replace("esp32", "esp32c6")));
    assert!(rules(&wide, Severity::Wrong).iter().all(|it| *it != "range"));
}

#[test]
fn names_are_those_of_the_files_release() {
    let mut question = ask("");
    question.context.release = IdfRelease::new(4, 4);
    let checked = check(&question);
    let set = &of(&checked, "window").set[0];
    assert_eq!(set.name, "CONFIG_LWIP_TCP_WND_DEFAULT");
    assert!(checked.settings.iter().any(|it| it.name == "CONFIG_ESP32_WIFI_RX_BA_WIN"));
    assert_eq!(set.from, "5744");
}

#[test]
fn a_heap_that_runs_out_is_wrong() {
    let mut question = ask("CONFIG_ESP_WIFI_DYNAMIC_RX_BUFFER_NUM=128\n");
    question.heap = Some(120 * 1024);
    let checked = check(&question);
    assert_eq!(of(&checked, "heap").severity, Severity::Wrong);
    assert!(!of(&checked, "heap").set.is_empty());
    question.heap = Some(1024 * 1024);
    assert_eq!(of(&check(&question), "heap").severity, Severity::Note);
    question.heap = None;
    question.context.chip = Chip::Esp32c61;
    let checked = check(&question);
    assert!(of(&checked, "heap").why.contains("--heap"), "no document has ranks of that chip");
    assert!(checked.nearest.is_none() && checked.heap_left.is_none());
}

#[test]
fn psram_and_scaling_belong_together() {
    let text = "CONFIG_IDF_TARGET=\"esp32s3\"\nCONFIG_SPIRAM_TRY_ALLOCATE_WIFI_LWIP=y\n\
                CONFIG_LWIP_WND_SCALE=y\nCONFIG_LWIP_TCP_WND_DEFAULT=100000\n\
                CONFIG_ESP_WIFI_DYNAMIC_RX_BUFFER_NUM=128\n";
    let checked = check(&ask(text));
    assert!(rules(&checked, Severity::Wrong).is_empty(), "{}", told(&checked));
    let without = check(&ask(&text.replace("LWIP=y", "LWIP=n")));
    assert!(rules(&without, Severity::Wrong).contains(&"window-scale"));
    let none = check(&ask(&text.replace("esp32s3", "esp32c3")));
    assert!(rules(&none, Severity::Wrong).contains(&"psram"));
}

#[test]
fn doing_what_is_said_removes_what_was_said() {
    let mut question =
        ask("CONFIG_LWIP_TCP_WND_DEFAULT=65535\nCONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM=4\n");
    question.burst = Some(20);
    for _ in 0..6 {
        let checked = check(&question);
        let first = checked.findings.iter().find(|it| it.severity == Severity::Wrong);
        let Some(change) = first.and_then(|it| it.set.first()) else { break };
        let key = ConfigOption::find(&change.name).expect("a setting");
        question.reading.settings.set(key, change.to.parse().expect("a number"));
    }
    let checked = check(&question);
    assert!(rules(&checked, Severity::Wrong).is_empty(), "{}", told(&checked));
}

/// Returns the sdkconfig of the ESP32-C3's ranks, as the guide's table has it.
fn rank_file(name: &str) -> String {
    let (fixed, dynamic, window, kb, iram) = match name {
        "iperf" => (20, 40, 32, 40, 'y'),
        "default" => (8, 16, 16, 16, 'y'),
        _ => (3, 6, 6, 6, 'n'),
    };
    format!(
        "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_ESP32_WIFI_STATIC_RX_BUFFER_NUM={fixed}\n\
         CONFIG_ESP32_WIFI_DYNAMIC_RX_BUFFER_NUM={dynamic}\n\
         CONFIG_ESP32_WIFI_DYNAMIC_TX_BUFFER_NUM={dynamic}\nCONFIG_ESP32_WIFI_RX_BA_WIN={window}\n\
         CONFIG_LWIP_TCP_SND_BUF_DEFAULT={}\nCONFIG_LWIP_TCP_WND_DEFAULT={}\n\
         CONFIG_LWIP_IRAM_OPTIMIZATION={iram}\n",
        kb * 1024,
        kb * 1024,
    )
}

#[test]
fn the_guides_ranks_are_their_own_nearest_and_leave_what_the_model_has() {
    // Published: 59, 160 and 180 KB.
    for (name, busy_kb) in [("iperf", 57..=87), ("default", 142..=162), ("minimum", 180..=195)] {
        let mut question = ask(&rank_file(name));
        question.context.release = IdfRelease::new(4, 4);
        let checked = check(&question);
        let nearest = checked.nearest.clone().unwrap();
        assert_eq!((&*nearest.name, nearest.doublings), (name, 0.0));
        let left = checked.heap_left.unwrap();
        assert!(busy_kb.contains(&(left.busy / 1024)), "{name}: {} KB", left.busy / 1024);
        assert!(left.idle > left.busy && left.busy > left.peak, "{name}: {left:?}");
        assert!(left.idle == (left.heap as i64) - i64::try_from(taken(&question)).unwrap());
        // The table leaves mailboxes at their default, and that holds the larger windows back.
        let mailbox = checked.findings.iter().any(|it| it.rule == "tcp-mailbox");
        assert_eq!(mailbox, name != "minimum", "{name}");
        // 40 KB a round trip of 5 ms carry more than the chip does, 16 and 6 KB do not.
        let bound = checked.findings.iter().any(|it| it.rule == "window-rtt");
        assert_eq!(bound, name != "iperf", "{name}: {:?}", checked.bound_mbit_s);
    }
}

/// Returns the bytes that a file takes without traffic.
fn taken(question: &CheckInput) -> u64 {
    HeapDemand::of(&question.reading.settings, &question.context, question.traffic).idle()
}

/// `udp-echo`'s device: the core of Arduino-ESP32 has the build's mailboxes. Eight in flight are two
/// more than a mailbox holds.
#[test]
fn the_echo_sketch_loses_what_its_mailbox_does_not_hold() {
    let mut question =
        ask("CONFIG_IDF_TARGET=\"esp32\"\nCONFIG_ESP32_WIFI_STATIC_RX_BUFFER_NUM=8\n\
         CONFIG_ESP32_WIFI_DYNAMIC_RX_BUFFER_NUM=32\nCONFIG_ESP32_WIFI_DYNAMIC_TX_BUFFER_NUM=32\n\
         CONFIG_ESP32_WIFI_RX_BA_WIN=16\nCONFIG_LWIP_TCP_WND_DEFAULT=5744\n\
         CONFIG_LWIP_TCP_SND_BUF_DEFAULT=5744\nCONFIG_FREERTOS_HZ=1000\n");
    question.context.release = IdfRelease::new(4, 4);
    let limits = check(&question);
    assert_eq!(of(&limits, "udp-burst").severity, Severity::Limits);
    question.burst = Some(8);
    let lost = check(&question);
    assert_eq!(of(&lost, "udp-burst").what, "A burst of 8 datagrams loses up to 2: 6 can wait");
    assert_eq!(of(&lost, "udp-burst").severity, Severity::Wrong);
    // Ticks of a millisecond are there already.
    assert!(of(&lost, "udp-send").set.is_empty());
    assert_eq!(of(&lost, "window-rtt").set[0].name, "CONFIG_LWIP_TCP_WND_DEFAULT");
}

#[test]
fn a_window_beyond_the_queue_of_segments_out_of_order_limits() {
    let text = "CONFIG_IDF_TARGET=\"esp32\"\nCONFIG_LWIP_TCP_WND_DEFAULT=65534\nCONFIG_LWIP_TCP_OOSEQ_MAX_PBUFS=4\n";
    let checked = check(&ask(text));
    let found = of(&checked, "out-of-order");
    assert_eq!(
        found.what,
        "Where a frame is lost, a TCP socket keeps 4 of 45 segments that come behind it"
    );
    assert_eq!((&*found.set[0].name, &*found.set[0].to), ("CONFIG_LWIP_TCP_OOSEQ_MAX_PBUFS", "0"));
    let brings = "a round trip in which a frame is lost brings at most 5 segments";
    assert!(found.why.contains(brings) && found.why.contains("RX buffers"), "{}", found.why);
    for fits in [
        "CONFIG_LWIP_TCP_WND_DEFAULT=5760\n",
        "CONFIG_LWIP_TCP_WND_DEFAULT=65534\nCONFIG_LWIP_TCP_OOSEQ_MAX_PBUFS=0\n",
    ] {
        assert!(check(&ask(fits)).findings.iter().all(|it| it.rule != "out-of-order"), "{fits}");
    }
}

const HOST: &str = "# Espressif IoT Development Framework (ESP-IDF) 5.5.1 Project Configuration\n\
    CONFIG_IDF_TARGET=\"esp32p4\"\nCONFIG_SLAVE_IDF_TARGET_ESP32C6=y\nCONFIG_ESP_HOSTED_SDIO_HOST_INTERFACE=y\n\
    CONFIG_ESP_HOSTED_SDIO_CLOCK_FREQ_KHZ=40000\nCONFIG_ESP_HOSTED_SDIO_BUS_WIDTH=4\n\
    CONFIG_ESP_HOSTED_SDIO_RX_Q_SIZE=20\nCONFIG_ESP_HOSTED_SDIO_OPTIMIZATION_RX_STREAMING_MODE=y\n\
    CONFIG_WIFI_RMT_STATIC_RX_BUFFER_NUM=16\nCONFIG_WIFI_RMT_RX_BA_WIN=99\nCONFIG_SPIRAM=y\n\
    CONFIG_ESPTOOLPY_FLASHFREQ_120M=y\nCONFIG_ESP_DEFAULT_CPU_FREQ_MHZ_360=y\n";

#[test]
fn a_host_is_checked_for_the_chip_beside_it() {
    let checked = check(&ask(HOST));
    assert_eq!(
        (&*checked.chip, checked.heap_left, checked.nearest.is_none()),
        ("esp32c6", None, true)
    );
    assert_eq!(rules(&checked, Severity::Wrong), ["range"], "{}", told(&checked));
    assert!(of(&checked, "range").what.starts_with("CONFIG_WIFI_RMT_RX_BA_WIN=99"));
    let bus = of(&checked, "hosted-bus");
    assert_eq!(bus.severity, Severity::Note);
    assert!(
        bus.what.contains("over SDIO, 4 lines at 40 MHz: the wires carry at most 160 Mbit/s"),
        "{}",
        bus.what
    );
    let slow = HOST.replace("BUS_WIDTH=4", "BUS_WIDTH=1").replace("KHZ=40000", "KHZ=20000");
    let slow = check(&ask(&slow));
    let bus = of(&slow, "hosted-bus");
    assert_eq!((bus.severity, bus.set.len()), (Severity::Limits, 2), "{}", told(&slow));
    // Not the rule of a co-processor that sends no streams.
    let single = check(&ask(&HOST.replace("RX_STREAMING_MODE=y", "RX_STREAMING_MODE=n")));
    assert_eq!(of(&single, "hosted-single-packets").severity, Severity::Limits);
    assert!(single.findings.iter().all(|it| it.rule != "hosted-streaming"), "{}", told(&single));
}

#[test]
fn a_host_and_its_co_processor_have_to_fit() {
    let slave = "CONFIG_IDF_TARGET=\"esp32c6\"\nCONFIG_ESP_HOSTED_COPROCESSOR=y\nCONFIG_ESP_SDIO_HOST_INTERFACE=y\n\
        CONFIG_ESP_SDIO_HIGH_SPEED=y\nCONFIG_ESP_SDIO_TX_Q_SIZE=20\nCONFIG_ESP_SDIO_STREAMING_MODE=y\n";
    let pair = |host: &str, slave: &str| {
        let reading = read(slave).unwrap();
        let checked =
            check_pair(&ask(host), &CoProcessorConfig { name: "slave", reading: &reading });
        assert!(checked.findings.is_sorted_by_key(|it| it.severity));
        checked
    };
    let fits = pair(HOST, slave);
    let told: Vec<&str> =
        fits.findings.iter().map(|it| it.rule).filter(|it| it.starts_with("hosted")).collect();
    assert_eq!(told, ["hosted-bus"]);
    for (from, to, rule, severity) in [
        ("esp32c6", "esp32c5", "hosted-chip", Severity::Wrong),
        ("ESP_SDIO_HOST", "ESP_SPI_HOST", "hosted-transport", Severity::Wrong),
        ("HIGH_SPEED", "DEFAULT_SPEED", "hosted-clock", Severity::Wrong),
        ("STREAMING_MODE=y", "STREAMING_MODE=n", "hosted-streaming", Severity::Wrong),
        ("TX_Q_SIZE=20", "TX_Q_SIZE=10", "hosted-queues", Severity::Note),
        (
            "CONFIG_ESP_SDIO_HIGH",
            "CONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM=10\nCONFIG_ESP_SDIO_HIGH",
            "hosted-buffers",
            Severity::Note,
        ),
        (
            "CONFIG_IDF_T",
            "CONFIG_IDF_INIT_VERSION=\"5.3.2\"\nCONFIG_IDF_T",
            "hosted-release",
            Severity::Note,
        ),
    ] {
        assert!(slave.contains(from), "{from}");
        let checked = pair(HOST, &slave.replace(from, to));
        assert_eq!(of(&checked, rule).severity, severity, "{rule}");
    }
    let alone = read("CONFIG_IDF_TARGET=\"esp32p4\"\n");
    assert!(alone.is_err(), "no chip beside it is named");
    let beside = espbench_model::sdkconfig::read_beside(
        "CONFIG_IDF_TARGET=\"esp32p4\"\n",
        Some(Chip::Esp32c5),
    );
    assert_eq!(beside.unwrap().chip, Some(Chip::Esp32c5));
}
