//! Files of ESP-IDF's settings, a line or two at a time: what is read of them, and what is said of a mistake.

use espbench_model::sdkconfig::{ParsedSdkConfig, read};

/// Returns all that was read: options, chip, clock, release, how many options are not known, warnings.
fn told(read: &ParsedSdkConfig) -> Vec<String> {
    let options = read.settings.given().map(|(key, value)| format!("{}={value}", key.name()));
    let chip = read.chip.map(|chip| chip.name().to_string());
    let clock = read.clock_mhz.map(|mhz| format!("{mhz} MHz"));
    let release = read.release.map(|release| format!("release {release}"));
    let others = (read.others > 0).then(|| format!("{} others", read.others));
    let warnings = read.warnings.iter().map(ToString::to_string);
    options.chain(chip).chain(clock).chain(release).chain(others).chain(warnings).collect()
}

/// Texts, and the lines that are told of them.
const READ: &[(&str, &[&str])] = &[
    ("CONFIG_FREERTOS_HZ=1000", &["CONFIG_FREERTOS_HZ=1000"]),
    ("CONFIG_FREERTOS_HZ=0x64", &["CONFIG_FREERTOS_HZ=100"]),
    ("CONFIG_FREERTOS_HZ=100\nCONFIG_FREERTOS_HZ=100", &["CONFIG_FREERTOS_HZ=100"]),
    (
        "CONFIG_FREERTOS_HZ=100\nCONFIG_FREERTOS_HZ=1000",
        &[
            "CONFIG_FREERTOS_HZ=1000",
            "line 2: CONFIG_FREERTOS_HZ stands in line 1, too, with another value; the last one counts: delete line 1",
        ],
    ),
    ("CONFIG_LWIP_TCP_WND_DEFAULT=5744", &["CONFIG_LWIP_TCP_WND_DEFAULT=5744"]),
    (
        "CONFIG_TCP_WND_DEFAULT=5744",
        &[
            "CONFIG_LWIP_TCP_WND_DEFAULT=5744",
            "line 1: CONFIG_TCP_WND_DEFAULT is called CONFIG_LWIP_TCP_WND_DEFAULT today",
        ],
    ),
    ("CONFIG_LWIP_IRAM_OPTIMIZATION=y", &["CONFIG_LWIP_IRAM_OPTIMIZATION=1"]),
    ("# CONFIG_LWIP_IRAM_OPTIMIZATION is not set", &["CONFIG_LWIP_IRAM_OPTIMIZATION=0"]),
    (
        "CONFIG_LWIP_IRAM_OPTIMIZATION=",
        &[
            "CONFIG_LWIP_IRAM_OPTIMIZATION=0",
            "line 1: CONFIG_LWIP_IRAM_OPTIMIZATION has no value, which means n",
        ],
    ),
    ("CONFIG_LWIP_IRAM_OPTIMIZATION=n", &["CONFIG_LWIP_IRAM_OPTIMIZATION=0"]),
    ("CONFIG_LWIP_IRAM_OPTIMIZATION=0", &["CONFIG_LWIP_IRAM_OPTIMIZATION=0"]),
    (r#"CONFIG_IDF_TARGET="esp32s3""#, &["esp32s3"]),
    ("CONFIG_IDF_TARGET=esp32c6", &["esp32c6"]),
    (r#"CONFIG_IDF_INIT_VERSION="5.2.1""#, &["release v5.2"]),
    ("CONFIG_ESP_DEFAULT_CPU_FREQ_MHZ_160=y", &["160 MHz"]),
    ("CONFIG_ESP32C3_DEFAULT_CPU_FREQ_80=y", &["80 MHz"]),
    ("CONFIG_ESP_DEFAULT_CPU_FREQ_MHZ_160=n", &[]),
    ("CONFIG_ESP_DEFAULT_CPU_FREQ_MHZ_9999=y", &["1 others"]),
    ("CONFIG_OTHER=7\nCONFIG_ANOTHER=\"x\"", &["2 others"]),
    (
        "CONFIG_FREERTOS_HX=1000",
        &[
            "1 others",
            "line 1: there is no setting of that name, which is near to CONFIG_FREERTOS_HZ: did you mean it?",
        ],
    ),
    (
        "CONFIG_FREERTOS_ZH=1000",
        &[
            "1 others",
            "line 1: there is no setting of that name, which is near to CONFIG_FREERTOS_HZ: did you mean it?",
        ],
    ),
    (
        "CONFIG_FREERTOS_HZZ=1000",
        &[
            "1 others",
            "line 1: there is no setting of that name, which is near to CONFIG_FREERTOS_HZ: did you mean it?",
        ],
    ),
    (
        "CONFIG_FREERTOS_H=1000",
        &[
            "1 others",
            "line 1: there is no setting of that name, which is near to CONFIG_FREERTOS_HZ: did you mean it?",
        ],
    ),
    ("# a comment\n\n\t# another", &[]),
    ("CONFIG_FREERTOS_HZ = 1000 ", &["CONFIG_FREERTOS_HZ=1000"]),
    ("  CONFIG_FREERTOS_HZ=1000", &["CONFIG_FREERTOS_HZ=1000"]),
    (r#"CONFIG_FREERTOS_HZ="1000""#, &["CONFIG_FREERTOS_HZ=1000"]),
    (
        "CONFIG_FREERTOS_HZ=1000\r\nCONFIG_LWIP_TCP_MSS=1440\r\n",
        &["CONFIG_LWIP_TCP_MSS=1440", "CONFIG_FREERTOS_HZ=1000"],
    ),
    (
        "CONFIG_LWIP_TCP_MSS=1440\n# Deprecated options for backward compatibility\nCONFIG_LWIP_TCP_MSS=1\n# End of deprecated options\nCONFIG_FREERTOS_HZ=100",
        &["CONFIG_LWIP_TCP_MSS=1440", "CONFIG_FREERTOS_HZ=100"],
    ),
];

#[test]
fn lines_that_are_read() {
    for (text, expected) in READ {
        let read = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(told(&read), *expected, "{text}");
    }
}

#[test]
fn lines_that_are_refused() {
    for (text, said) in [
        (
            "CONFIG_FREERTOS_HZ=1k",
            "line 1, column 20: `1k` is no number: CONFIG_FREERTOS_HZ takes 1 to 1000 Hz",
        ),
        (
            "CONFIG_FREERTOS_HZ=",
            "line 1, column 20: `` is no number: CONFIG_FREERTOS_HZ takes 1 to 1000 Hz",
        ),
        (
            "CONFIG_FREERTOS_HZ=4294967296",
            "line 1, column 20: `4294967296` is too much: CONFIG_FREERTOS_HZ takes 1 to 1000 Hz",
        ),
        (
            "CONFIG_FREERTOS_HZ=0xZZ",
            "line 1, column 20: `0xZZ` is no number: CONFIG_FREERTOS_HZ takes 1 to 1000 Hz",
        ),
        (
            r#"CONFIG_FREERTOS_HZ="1000"#,
            "line 1, column 20: the quote has no end: add a \" at the end of the line",
        ),
        (
            "CONFIG_LWIP_IRAM_OPTIMIZATION=true",
            "line 1, column 31: `true` is neither y nor n: write CONFIG_LWIP_IRAM_OPTIMIZATION=y or # CONFIG_LWIP_IRAM_OPTIMIZATION is not set",
        ),
        (
            "CONFIG_LWIP_IRAM_OPTIMIZATION=2",
            "line 1, column 31: `2` is neither y nor n: write CONFIG_LWIP_IRAM_OPTIMIZATION=y or # CONFIG_LWIP_IRAM_OPTIMIZATION is not set",
        ),
        (
            r#"CONFIG_IDF_TARGET="esp8266""#,
            "line 1, column 19: `esp8266` is no chip of ESP-IDF with Wi-Fi; there are esp32, esp32s2, esp32s3, esp32c2, esp32c3, esp32c5, esp32c6, esp32c61",
        ),
        (
            "CONFIG_IDF_TARGET=",
            "line 1, column 19: `` is no chip of ESP-IDF with Wi-Fi; there are esp32, esp32s2, esp32s3, esp32c2, esp32c3, esp32c5, esp32c6, esp32c61",
        ),
        (
            "FREERTOS_HZ=1000",
            "line 1, column 1: no line of an sdkconfig: write CONFIG_NAME=value, or begin a comment with #",
        ),
        (
            "CONFIG_FREERTOS_HZ",
            "line 1, column 1: no line of an sdkconfig: write CONFIG_NAME=value, or begin a comment with #",
        ),
        (
            "freertos",
            "line 1, column 1: no line of an sdkconfig: write CONFIG_NAME=value, or begin a comment with #",
        ),
        (
            "[section]",
            "line 1, column 1: no line of an sdkconfig: write CONFIG_NAME=value, or begin a comment with #",
        ),
        (
            r#"{"a": 1}"#,
            "line 1, column 1: no line of an sdkconfig: write CONFIG_NAME=value, or begin a comment with #",
        ),
        (
            "CONFIG_A=1\nCONFIG_B\n",
            "line 2, column 1: no line of an sdkconfig: write CONFIG_NAME=value, or begin a comment with #",
        ),
        (
            "#define CONFIG_FREERTOS_HZ 1000",
            "line 1, column 1: this is sdkconfig.h, which the build makes: name the sdkconfig that it was made of",
        ),
        (
            "\u{feff}CONFIG_FREERTOS_HZ=1000",
            "line 1, column 1: a byte order mark stands before the first line, which ESP-IDF's tools then do not read: save the file as UTF-8 without one",
        ),
    ] {
        assert_eq!(read(text).map_err(|error| error.to_string()).unwrap_err(), said, "{text}");
    }
}
