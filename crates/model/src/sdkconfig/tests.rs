use super::*;
use proptest::prelude::*;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

const GENERATED: &str = r#"#
# Automatically generated file. DO NOT EDIT.
# Espressif IoT Development Framework (ESP-IDF) 5.1.2 Project Configuration
#
CONFIG_SOC_WIFI_SUPPORTED=y
CONFIG_IDF_TARGET="esp32c3"

CONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM=10
# CONFIG_ESP_WIFI_STATIC_TX_BUFFER is not set
CONFIG_ESP_WIFI_DYNAMIC_TX_BUFFER=y
# CONFIG_LWIP_IRAM_OPTIMIZATION is not set
CONFIG_LWIP_LOCAL_HOSTNAME="espressif"
CONFIG_LWIP_TCP_WND_DEFAULT=5744
CONFIG_FREERTOS_HZ=1000

# Deprecated options for backward compatibility
CONFIG_ESP32_WIFI_STATIC_RX_BUFFER_NUM=99
CONFIG_TCP_WND_DEFAULT=none
# End of deprecated options
"#;

#[test]
fn a_generated_file_is_read() {
    let reading = read(GENERATED).unwrap();
    assert_eq!(reading.chip, Some(Chip::Esp32c3));
    assert_eq!(reading.release, Some(IdfRelease::new(5, 1)));
    assert_eq!(reading.others, 2);
    assert!(reading.warnings.is_empty(), "{:?}", reading.warnings);
    let given: Vec<_> = reading.settings.given().collect();
    assert_eq!(
        given,
        [
            (ConfigOption::StaticRx, 10),
            (ConfigOption::StaticTxBuffer, 0),
            (ConfigOption::DynamicTxBuffer, 1),
            (ConfigOption::LwipIram, 0),
            (ConfigOption::Window, 5744),
            (ConfigOption::TickHz, 1000),
        ]
    );
}

#[test]
fn older_names_are_known_and_the_last_value_counts() {
    let text = "CONFIG_TCP_WND_DEFAULT=11488\r\n\tCONFIG_LWIP_TCP_WND_DEFAULT = 20480\n\
                CONFIG_LWIP_TCP_WND_DEFAULT=20480\nCONFIG_ESP32_WIFI_AMPDU_RX_ENABLED=\n";
    let reading = read(text).unwrap();
    assert_eq!(reading.settings.get(ConfigOption::Window), Some(20_480));
    let told: Vec<String> = reading.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "line 1: CONFIG_TCP_WND_DEFAULT is called CONFIG_LWIP_TCP_WND_DEFAULT today",
            "line 2: CONFIG_LWIP_TCP_WND_DEFAULT stands in line 1, too, with another value; the last \
             one counts: delete line 1",
            "line 4: CONFIG_ESP_WIFI_AMPDU_RX_ENABLED has no value, which means n",
            "line 4: CONFIG_ESP32_WIFI_AMPDU_RX_ENABLED is called CONFIG_ESP_WIFI_AMPDU_RX_ENABLED \
             today",
        ]
    );
}

/// Returns the error message about a file.
fn wrong(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn what_is_wrong_has_a_place_and_a_way_out() {
    assert_eq!(
        wrong("\nCONFIG_LWIP_TCP_WND_DEFAULT= 20K\n"),
        "line 2, column 29: `20K` is no number: CONFIG_LWIP_TCP_WND_DEFAULT takes 2440 to 65535 bytes"
    );
    assert_eq!(
        wrong("  CONFIG_LWIP_IRAM_OPTIMIZATION=yes"),
        "line 1, column 33: `yes` is neither y nor n: write CONFIG_LWIP_IRAM_OPTIMIZATION=y or \
         # CONFIG_LWIP_IRAM_OPTIMIZATION is not set"
    );
    assert_eq!(
        wrong("# ü\n tcp_wnd 5"),
        "line 2, column 2: no line of an sdkconfig: write CONFIG_NAME=value, or begin a comment with #"
    );
    assert_eq!(
        wrong("CONFIG_X=\"a"),
        "line 1, column 10: the quote has no end: add a \" at the end of the line"
    );
    assert_eq!(
        wrong("CONFIG_IDF_TARGET=\"esp32h2\""),
        "line 1, column 19: ESP32-H2 has no Wi-Fi: its radio speaks Bluetooth LE and IEEE 802.15.4 (Thread, \
         Zigbee) only; ESP-NOW and IP over Wi-Fi need Wi-Fi; name a chip with Wi-Fi: the esp32c6 has IEEE \
         802.15.4 and Bluetooth LE beside it"
    );
    assert_eq!(
        wrong("CONFIG_IDF_TARGET=\"esp32x9\""),
        "line 1, column 19: `esp32x9` is no chip of ESP-IDF with Wi-Fi; there are esp32, esp32s2, \
         esp32s3, esp32c2, esp32c3, esp32c5, esp32c6, esp32c61"
    );
    for number in ["-1", "+1", "", "1.0", "0x", "99999999999", "１"] {
        assert!(read(&format!("CONFIG_FREERTOS_HZ={number}")).is_err(), "{number}");
    }
    assert_eq!(
        read("CONFIG_FREERTOS_HZ=\"0x3E8\"").unwrap().settings.get(ConfigOption::TickHz),
        Some(1000)
    );
}

#[test]
fn files_that_people_name_by_mistake_are_known() {
    assert_eq!(
        wrong("#define CONFIG_LWIP_TCP_MSS 1440\n"),
        "line 1, column 1: this is sdkconfig.h, which the build makes: name the sdkconfig that it was \
         made of"
    );
    assert!(wrong("\u{feff}CONFIG_LWIP_TCP_MSS=1440\n").contains("without one"));
    // Its driver's buffers have names that ESP-IDF's had: read as an sdkconfig, it got advice on lwIP.
    assert_eq!(
        wrong("CONFIG_ESP32_WIFI_STATIC_RX_BUFFER_NUM=4\nCONFIG_WIFI_ESP32=y\n"),
        "line 2, column 1: CONFIG_WIFI_ESP32 is an option of Zephyr, whose TCP/IP is not lwIP: espbench reads the sdkconfig of \
         ESP-IDF and of what is built on it"
    );
    assert_eq!(
        wrong("CONFIG_LWIP_TCP_WND_DEFAULT=99999999999"),
        "line 1, column 29: `99999999999` is too much: CONFIG_LWIP_TCP_WND_DEFAULT takes 2440 to \
         65535 bytes"
    );
}

#[test]
fn a_misspelt_name_is_told_where_no_tool_has_written_it() {
    let near = |text: &str| -> Vec<ConfigOption> {
        let warnings = read(text).unwrap().warnings;
        let near = |it: &SdkConfigWarning| match it {
            SdkConfigWarning::Near { key, .. } => Some(*key),
            _ => None,
        };
        warnings.iter().filter_map(near).collect()
    };
    for (name, key) in [
        ("CONFIG_LWIP_TCP_WND_DEFAUL", ConfigOption::Window),
        ("CONFIG_LWIP_TCP_WDN_DEFAULT", ConfigOption::Window),
        ("CONFIG_ESP_WIFI_STATIC_RX_BUFFERS_NUM", ConfigOption::StaticRx),
        ("CONFIG_FREERTOS_HX", ConfigOption::TickHz),
    ] {
        assert_eq!(near(&format!("{name}=1")), [key], "{name}");
        let generated = format!("# {HEADER}5.1.2 Project Configuration\n{name}=1");
        assert_eq!(near(&generated), [], "{name}");
    }
    for name in
        ["CONFIG_LWIP_TCP_MSL", "CONFIG_ESP_WIFI_AMSDU_TX_ENABLED", "CONFIG_LWIP", "CONFIG_X"]
    {
        assert_eq!(near(&format!("{name}=1")), [], "{name}");
    }
    let told = read("\nCONFIG_FREERTOS_HX=1").unwrap().warnings[0].to_string();
    assert_eq!(
        told,
        "line 2: there is no setting of that name, which is near to CONFIG_FREERTOS_HZ: did you mean \
         it?"
    );
}

const HEADER: &str = "Espressif IoT Development Framework (ESP-IDF) ";

#[test]
fn warnings_have_a_bound_and_are_counted() {
    let text: String = (0..50).map(|i| format!("CONFIG_FREERTOS_HZ={}\n", i + 1)).collect();
    let reading = read(&text).unwrap();
    assert_eq!(reading.warnings.len(), WARNINGS);
    assert_eq!(reading.warnings_dropped, 49 - WARNINGS as u32);
    assert_eq!(reading.settings.get(ConfigOption::TickHz), Some(50));
}

#[test]
fn a_fragment_has_a_comment_for_each_line() {
    let lines = [
        Line {
            key: ConfigOption::Window,
            value: 16_384,
            comment: "As many KB as buffers.\nCosts nothing.",
        },
        Line { key: ConfigOption::AmpduTx, value: 0, comment: "CONFIG_AMPDU is not set" },
    ];
    let mut text = String::new();
    fragment(&mut text, IdfRelease::new(5, 0), lines).unwrap();
    assert_eq!(
        text,
        "# As many KB as buffers.\n# Costs nothing.\nCONFIG_LWIP_TCP_WND_DEFAULT=16384\n\n\
         # CONFIG_AMPDU is not set.\nCONFIG_ESP32_WIFI_AMPDU_TX_ENABLED=n\n"
    );
}

#[test]
fn a_clock_is_chosen_by_a_flag_of_its_own() {
    for (chip, release) in [(Chip::Esp32c3, (5, 2)), (Chip::Esp32s2, (4, 4))] {
        let mut text = String::new();
        clock(&mut text, chip, IdfRelease::new(release.0, release.1), 80).unwrap();
        let reading = read(&text).unwrap();
        assert_eq!((reading.clock_mhz, reading.others), (Some(80), 0), "{text}");
    }
    let text = "# CONFIG_ESP_DEFAULT_CPU_FREQ_MHZ_80 is not set\n\
                CONFIG_ESP_DEFAULT_CPU_FREQ_MHZ_160=y\nCONFIG_ESP_DEFAULT_CPU_FREQ_MHZ=160\n\
                CONFIG_ESP32_DEFAULT_CPU_FREQ_240=n\n";
    assert_eq!(read(text).unwrap().clock_mhz, Some(160));
    for other in ["CONFIG_ESP_DEFAULT_CPU_FREQ_MHZ_=y", "CONFIG_X_DEFAULT_CPU_FREQ_80=y"] {
        assert_eq!(read(other).unwrap().clock_mhz, None, "{other}");
    }
}

/// Reads what a build writes of caches, flash and PSRAM: the flags of a choice, and what follows from them.
#[test]
fn choices_are_the_flags_that_are_set() {
    let text = "CONFIG_IDF_TARGET=\"esp32s3\"\n\
                # CONFIG_ESP32S3_INSTRUCTION_CACHE_16KB is not set\n\
                CONFIG_ESP32S3_INSTRUCTION_CACHE_32KB=y\nCONFIG_ESP32S3_INSTRUCTION_CACHE_SIZE=0x8000\n\
                CONFIG_ESPTOOLPY_FLASHMODE_QIO=y\nCONFIG_ESPTOOLPY_FLASHMODE=\"dio\"\n\
                CONFIG_ESPTOOLPY_FLASHFREQ_80M=y\nCONFIG_ESPTOOLPY_FLASHFREQ=\"80m\"\n\
                CONFIG_SPIRAM=y\nCONFIG_SPIRAM_MODE_OCT=y\nCONFIG_SPIRAM_SPEED_80M=y\n\
                CONFIG_SPIRAM_SPEED=80\nCONFIG_SPIRAM_TRY_ALLOCATE_WIFI_LWIP=y\n\
                CONFIG_COMPILER_OPTIMIZATION_PERF=y\n";
    let reading = read(text).unwrap();
    let given: Vec<(ConfigOption, u32)> = reading.settings.given().collect();
    let wanted = [
        (ConfigOption::PsramWifi, 1),
        (ConfigOption::FlashMode, 0),
        (ConfigOption::FlashClock, 80),
        (ConfigOption::InstructionCache, 32),
        (ConfigOption::Psram, 1),
        (ConfigOption::PsramMode, 8),
        (ConfigOption::PsramClock, 80),
        (ConfigOption::Optimization, 2),
    ];
    assert_eq!(given, wanted);
    let context =
        reading.settings.context(SdkContext { chip: Chip::Esp32s3, ..SdkContext::default() });
    let memory = reading.settings.config(&context).memory;
    assert!(memory.buffers_in_psram());
    assert_eq!(memory.cache_bytes(Chip::Esp32s3), 16 * 1024);
    // A chip without PSRAM, or with one size of cache, does not take them.
    let context = SdkContext { chip: Chip::Esp32c3, psram: true, ..SdkContext::default() };
    let memory = reading.settings.config(&context).memory;
    assert!(!memory.buffers_in_psram());
    assert_eq!(memory.get(ConfigOption::InstructionCache), None);
    assert_eq!(memory.get(ConfigOption::FlashMode), Some(0));
    // Without PSRAM nothing is allocated there.
    let off = read("# CONFIG_SPIRAM is not set\nCONFIG_SPIRAM_TRY_ALLOCATE_WIFI_LWIP=y\n").unwrap();
    assert!(!off.settings.context(SdkContext::default()).psram);
}

#[test]
fn chips_and_releases_are_known_by_their_names() {
    for chip in Chip::ALL {
        assert_eq!(chip.name().parse(), Ok(chip));
    }
    assert_eq!("ESP32-C3".parse(), Ok(Chip::Esp32c3));
    assert_eq!("esp8266".parse::<Chip>(), Err(UnknownChip::NoChip));
    for chip in ChipWithoutWifi::ALL {
        assert_eq!(chip.title().parse::<Chip>(), Err(UnknownChip::NoWifi(chip)));
        assert_eq!(
            ChipWithoutWifi::of(&chip.title().to_ascii_lowercase().replace('-', "")),
            Some(chip)
        );
    }
    assert_eq!(ChipWithoutWifi::of("esp32"), None);
    assert_eq!(ChipWithoutWifi::of(""), None);
    for (text, major, minor) in
        [("v5.2", 5, 2), ("5.3.1", 5, 3), ("v6.0-rc1", 6, 0), ("4.4-dev-9-gab", 4, 4)]
    {
        assert_eq!(text.parse(), Ok(IdfRelease::new(major, minor)));
    }
    for text in ["", "v", "5", "5.", ".5", "+5.1", "300.1", "five.two"] {
        assert!(text.parse::<IdfRelease>().is_err(), "{text}");
    }
}

/// Returns lines of a fragment: option, value, comment.
fn lines() -> impl Strategy<Value = Vec<(usize, u32, String)>> {
    proptest::collection::vec(
        (0..ConfigOption::COUNT, any::<u32>(), "\\PC{0,40}(\n\\PC{0,20})?"),
        0..40,
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read(lines in lines(), minor in 0..4u8, major in 4..6u8) {
        let mut settings = OptionValues::default();
        let lines: Vec<Line<'_>> = lines
            .iter()
            .map(|(at, value, comment)| {
                let fact = FACTS[*at];
                let value = match fact.kind {
                    ValueType::Flag => value & 1,
                    ValueType::Number => *value,
                    ValueType::Choice(words) => words[*value as usize % words.len()].0,
                };
                settings.set(fact.key, value);
                Line { key: fact.key, value, comment }
            })
            .collect();
        let mut text = String::new();
        fragment(&mut text, IdfRelease::new(major, minor), lines).unwrap();
        let reading = read(&text).unwrap();
        prop_assert_eq!(reading.settings, settings);
        prop_assert_eq!((reading.others, reading.chip, reading.release), (0, None, None));
    }

    #[test]
    fn what_is_wrong_is_within_the_text(text in "(CONFIG_[A-Z_]{0,30}=?|#|\\PC|\n|\"|=|CONFIG_FREERTOS_HZ=){0,20}") {
        if let Err(wrong) = read(&text) {
            let line = text.split('\n').nth(wrong.line - 1).unwrap();
            prop_assert!((1..=line.chars().count() + 1).contains(&wrong.column));
        }
    }
}
