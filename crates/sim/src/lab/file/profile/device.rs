//! Constants of a device and of ESP-NOW on it.

use super::super::constant::{
    ASSUMED, BY_HAND, CONFIDENCE, ConstantGroup, ConstantKey, FITTED, LOOKED_AT, ORIGIN, SOURCE,
    constant, group, rounded,
};
use super::super::key::{KeySpec, KeyType, key};
use crate::lab::profile::Profile;
use core::time::Duration;

/// Ten seconds at the most, in microseconds.
const LONGEST_US: f64 = 10_000_000.0;

/// The keys of a cost that grows with a length.
pub(in super::super) const COST: [KeySpec; 3] = [
    key("fixed_us", KeyType::Number(0.0, LONGEST_US), "", "microseconds, whatever the length"),
    key("per_byte_ns", KeyType::Number(0.0, 1_000_000.0), "0", "nanoseconds for each byte"),
    key(
        "block_bytes",
        KeyType::Whole(1, 65_536),
        "1",
        "lengths count in whole blocks of so many bytes",
    ),
];

macro_rules! cost {
    ($field:ident, $about:literal) => {
        cost!($field, $field, $about)
    };
    ($table:ident, $($field:ident).+, $about:literal) => {
        ConstantGroup {
            table: stringify!($table),
            about: $about,
            keys: &[
                COST[0], COST[1], COST[2], SOURCE, CONFIDENCE, FITTED, ORIGIN, ASSUMED, BY_HAND,
                LOOKED_AT,
            ],
            constants: &[
                ConstantKey {
                    key: COST[0],
                    get: |it: &Profile| Some(it.$($field).+.fixed_ns as f64 / 1e3),
                    set: |it: &mut Profile, number| it.$($field).+.fixed_ns = rounded(number * 1e3),
                },
                ConstantKey {
                    key: COST[1],
                    get: |it: &Profile| {
                        Some(it.$($field).+.per_byte_ps as f64 / 1e3).filter(|&it| it > 0.0)
                    },
                    set: |it: &mut Profile, number| it.$($field).+.per_byte_ps = rounded(number * 1e3),
                },
                ConstantKey {
                    key: COST[2],
                    get: |it: &Profile| Some(f64::from(it.$($field).+.block)).filter(|&it| it > 1.0),
                    set: |it: &mut Profile, number| it.$($field).+.block = number as u32,
                },
            ],
        }
    };
}

pub(super) use cost;

/// Returns the key of a time in milliseconds.
const fn millis(name: &'static str, about: &'static str) -> KeySpec {
    key(name, KeyType::Number(0.0, 60_000.0), "", about)
}

/// Constants of a device itself and of ESP-NOW.
pub(super) const GROUPS: &[ConstantGroup<Profile>] = &[
    cost!(receive, "the receive callback, in the Wi-Fi task, for each frame"),
    cost!(dispatch, "handing a received frame to a service, in the component's main task"),
    cost!(transmit, "composing a frame (`espnow_send`), in the sender's task"),
    cost!(esp_now_send, "the call of `esp_now_send`, in the sender's task"),
    cost!(send_latency, "from the driver's taking a frame to its contending for the medium"),
    cost!(
        sent_latency,
        sent_latency,
        "from the end of a transmission to the send callback; the driver turns to its next frame then"
    ),
    group!(
        "driver_task",
        "the driver's task, which other work holds up",
        (
            key(
                "jitter_us",
                KeyType::Number(0.0, 10_000.0),
                "0",
                "mean of the random time by which each of its two turns for a frame is longer, in microseconds"
            ),
            spare 1e3 jitter_ns
        ),
    ),
    group!(
        "frequency_scaling",
        "dynamic frequency scaling, where a device has `idle_clock_mhz`",
        (
            key(
                "switch_us",
                KeyType::Number(0.0, 1000.0),
                "0",
                "what an interrupt takes longer that finds the clock low, in microseconds"
            ),
            spare 1e3 clock_switch_ns
        ),
    ),
    cost!(resume, "from the send callback until the component's task goes on"),
    cost!(seal, "encrypting (AES-CCM)"),
    cost!(open, "decrypting (AES-CCM)"),
    group!(
        "cache",
        "the cache through which code in flash runs",
        (
            key(
                "cold_us",
                KeyType::Number(0.0, 10_000.0),
                "0",
                "what work takes longer whose code is fetched from flash: a cipher between other work, a frame after a pause of 0.1 s; in microseconds"
            ),
            spare 1e3 cold_ns
        ),
    ),
    cost!(key_pair, "X25519 with the base point"),
    cost!(shared_secret, "X25519 with another's point"),
    cost!(hash, "SHA-256"),
    cost!(erase, "erasing flash"),
    cost!(write, "writing flash"),
    cost!(read, "reading flash"),
    group!(
        "uart",
        "the console: each byte is ten bits, and printing blocks when the FIFO is full",
        (
            key("baud", KeyType::Whole(300, 5_000_000), "", "bits a second"),
            whole u32 uart_baud
        ),
        (
            key("fifo_bytes", KeyType::Whole(0, 4096), "", "bytes that wait for the line"),
            whole u16 uart_fifo
        ),
    ),
    group!(
        "freertos",
        "the operating system",
        (
            key("tick_hz", KeyType::Whole(1, 1000), "", "`CONFIG_FREERTOS_HZ`"),
            whole u32 tick_hz
        ),
    ),
    group!(
        "buffers",
        "buffers of the Wi-Fi driver",
        (
            key(
                "tx",
                KeyType::Whole(1, 255),
                "",
                "frames that wait to be sent, with the one on the air"
            ),
            whole u16 tx_buffers
        ),
        (
            key("rx", KeyType::Whole(1, 255), "", "frames that wait for the receive callback"),
            whole u16 rx_buffers
        ),
    ),
    group!(
        "radio",
        "transmitter and tuner",
        (
            key(
                "tx_power_dbm",
                KeyType::Number(-20.0, 30.0),
                "",
                "transmit power, where the chip can in the mode"
            ),
            float tx_power_dbm
        ),
        (
            key(
                "hop_us",
                KeyType::Number(0.0, 1_000_000.0),
                "",
                "how long tuning to another channel takes, in microseconds"
            ),
            time 1e3 hop
        ),
    ),
    group!(
        "antenna",
        "the antenna of the board",
        (
            key(
                "gain_dbi",
                KeyType::Number(-30.0, 20.0),
                "0",
                "mean effective gain over directions and polarizations, losses included: where waves come from everywhere it is the antenna's efficiency in decibels"
            ),
            float antenna_dbi
        ),
    ),
    group!(
        "mac",
        "access to the medium",
        (
            key("attempts", KeyType::Whole(1, 32), "", "how often a unicast frame is sent, in all"),
            whole u8 attempts
        ),
        (
            key("cw_min", KeyType::Whole(1, 1023), "", "the first contention window, in slots"),
            whole u16 window.0
        ),
        (
            key("cw_max", KeyType::Whole(1, 1023), "", "the largest contention window, in slots"),
            whole u16 window.1
        ),
    ),
    group!(
        "boot",
        "starting",
        (
            key(
                "ms",
                KeyType::Number(0.0, 60_000.0),
                "",
                "from a reset until the application runs, in milliseconds"
            ),
            time 1e6 boot
        ),
    ),
    group!(
        "wake",
        "waking from deep sleep, in milliseconds",
        (millis("rom_ms", "from the timer's alarm until the bootloader starts the application"), time 1e6 wake.rom),
        (millis("validate_ms", "checking the application's image, if the bootloader is to"), time 1e6 wake.validate),
        (millis("application_ms", "from there until app_main has read its settings"), time 1e6 wake.application),
        (millis("wifi_init_ms", "esp_wifi_init, with the radio off"), time 1e6 wake.wifi_init),
        (millis("wifi_start_ms", "esp_wifi_start and esp_now_init, with the radio on"), time 1e6 wake.wifi_start),
        (millis("wifi_stop_ms", "esp_wifi_stop, until deep sleep begins"), time 1e6 wake.wifi_stop),
    ),
    group!(
        "join",
        "joining a network",
        (
            key(
                "ms",
                KeyType::Number(0.0, 60_000.0),
                "",
                "from a beacon's being heard until there is an address: authentication, association, four-way handshake, DHCP; in milliseconds"
            ),
            time 1e6 join
        ),
        (
            key(
                "scan_dwell_ms",
                KeyType::Number(1.0, 10_000.0),
                "",
                "how long a scan listens on each channel, in milliseconds"
            ),
            time 1e6 scan_dwell
        ),
    ),
];
