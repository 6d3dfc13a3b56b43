//! Costs of a packet's way by caches, flash, PSRAM and the compiler.

use super::{Cost, IpCosts, Profile};
use crate::lab::file::Library;
use alloc::sync::Arc;
use alloc::vec::Vec;
use espbench_model::sdkconfig::{ConfigOption, MEMORY_OPTIONS, MemoryOptions, SdkConfig};

fn profile(name: &str) -> Arc<Profile> {
    Library::built_in().profile(name).unwrap()
}

fn with(given: &[(ConfigOption, u32)]) -> SdkConfig {
    let mut memory = MemoryOptions::default();
    for (key, value) in given {
        memory.set(*key, Some(*value));
    }
    SdkConfig { memory, ..SdkConfig::default() }
}

/// Returns the time of lwIP for a full segment, in nanoseconds.
fn lwip(profile: &Profile, sdk: &SdkConfig) -> u64 {
    profile.costs(sdk).tcp_receive.ns(1480)
}

#[test]
fn the_default_settings_cost_what_the_profile_says_with_code_in_flash_or_in_ram() {
    for name in ["esp32", "esp32s2", "esp32s3", "esp32c2", "esp32c3", "esp32c6", "esp8266"] {
        let profile = profile(name);
        let said = profile.ip;
        for all in [false, true] {
            let sdk = SdkConfig {
                wifi_iram: all,
                wifi_rx_iram: all,
                lwip_iram: all,
                ..SdkConfig::default()
            };
            let percent = |it: u16| if all { 100 } else { u64::from(it) };
            let times = |cost: Cost, it: u16| cost.times(percent(it), 100);
            let got = profile.costs(&sdk);
            let wanted = IpCosts {
                wifi_receive: times(said.wifi_receive, said.wifi_rx_flash_percent),
                wifi_send: times(said.wifi_send, said.wifi_flash_percent),
                wifi_start: times(said.wifi_start, said.wifi_flash_percent),
                wifi_sent: times(said.wifi_sent, said.wifi_flash_percent),
                udp_receive: times(said.udp_receive, said.lwip_flash_percent),
                udp_send: times(said.udp_send, said.lwip_flash_percent),
                tcp_receive: times(said.tcp_receive, said.lwip_flash_percent),
                tcp_send: times(said.tcp_send, said.lwip_flash_percent),
                ack_receive: times(said.ack_receive, said.lwip_flash_percent),
                ack_send: times(said.ack_send, said.lwip_flash_percent),
                socket_send: times(said.socket_send, said.lwip_flash_percent),
                socket_receive: times(said.socket_receive, said.lwip_flash_percent),
                ..said
            };
            assert_eq!(got, wanted, "{name} {all}");
        }
    }
}

#[test]
fn a_default_that_is_written_down_changes_nothing() {
    for name in ["esp32", "esp32s2", "esp32s3", "esp32c2", "esp32c3", "esp32c6"] {
        let profile = profile(name);
        let chip = profile.sdk_chip().unwrap();
        let usual = MemoryOptions::default();
        for key in MEMORY_OPTIONS {
            let sdk = with(&[(key, usual.value(key, chip))]);
            assert_eq!(profile.costs(&sdk), profile.costs(&SdkConfig::default()), "{name} {key:?}");
            assert_eq!(profile.memory_with(&sdk), profile.memory, "{name} {key:?}");
        }
    }
}

/// Computes the time of a line of 32 bytes by hand: QIO at 80 MHz takes 20 + 64 clocks, DIO 24 + 128.
#[test]
fn flash_costs_clocks_of_instruction_address_and_data() {
    let c3 = profile("esp32c3");
    let chip = c3.sdk_chip().unwrap();
    let time = |mode, mhz| {
        let sdk = with(&[(ConfigOption::FlashMode, mode), (ConfigOption::FlashClock, mhz)]);
        super::cache::flash_time(chip, sdk.memory)
    };
    for (mode, mhz, clocks) in
        [(0, 80, 84.0), (1, 80, 104.0), (2, 80, 152.0), (3, 80, 168.0), (2, 40, 304.0)]
    {
        assert!((time(mode, mhz) - clocks / 152.0).abs() < 1e-12, "{mode} {mhz}");
    }
    let cold = c3.node_with_flash(with(&[(ConfigOption::FlashClock, 40)]).memory).cold_ns;
    assert_eq!(cold, 2 * c3.cold_ns);
}

#[test]
fn faster_flash_and_larger_caches_only_ever_help() {
    let order = |name, key, values: &[u32]| {
        let profile = profile(name);
        let times: Vec<u64> =
            values.iter().map(|value| lwip(&profile, &with(&[(key, *value)]))).collect();
        assert!(times.windows(2).all(|it| it[0] > it[1]), "{name} {key:?} {times:?}");
    };

    order("esp32", ConfigOption::FlashClock, &[20, 26, 40, 80]);
    order("esp32c3", ConfigOption::FlashMode, &[3, 2, 1, 0]);
    order("esp32s2", ConfigOption::InstructionCache, &[8, 16]);
    order("esp32s3", ConfigOption::InstructionCache, &[16, 32]);
    order("esp32", ConfigOption::Optimization, &[3, 0, 2]);
    order("esp32c3", ConfigOption::Optimization, &[3, 0, 1]);
    order("esp32c3", ConfigOption::LwipExtraIram, &[0, 1]);
}

/// Holds the gain of a quarter of the misses against the work that misses nothing.
#[test]
fn code_in_ram_asks_nothing_of_the_flash_but_what_stays_there() {
    let c3 = profile("esp32c3");
    let slow = |lwip_iram, extra| {
        let mut sdk = with(&[(ConfigOption::FlashClock, 20), (ConfigOption::LwipExtraIram, extra)]);
        sdk.lwip_iram = lwip_iram;
        let mut usual = with(&[(ConfigOption::LwipExtraIram, extra)]);
        usual.lwip_iram = lwip_iram;
        let (slow, usual) = (c3.costs(&sdk), c3.costs(&usual));
        [(slow.tcp_receive, usual.tcp_receive), (slow.udp_receive, usual.udp_receive)]
            .map(|(slow, usual)| slow.ns(1000) as f64 / usual.ns(1000) as f64)
    };
    let [tcp, udp] = slow(true, 1);
    assert!((tcp - 1.0).abs() < 1e-3 && (udp - 1.0).abs() < 1e-3, "{tcp} {udp}");
    let [tcp, udp] = slow(true, 0);
    assert!(tcp > 1.3 && (udp - 1.0).abs() < 1e-3, "TCP's own paths stay in flash: {tcp} {udp}");
    let [tcp, udp] = slow(false, 0);
    assert!(tcp > 1.4 && udp > 1.4, "{tcp} {udp}");
}

#[test]
fn packets_in_psram_cost_each_byte_and_leave_the_heap_alone() {
    let s3 = profile("esp32s3");
    let on = |mode, mhz| {
        with(&[
            (ConfigOption::Psram, 1),
            (ConfigOption::PsramWifi, 1),
            (ConfigOption::PsramMode, mode),
            (ConfigOption::PsramClock, mhz),
        ])
    };
    let time = |sdk: &SdkConfig| s3.costs(sdk).wifi_receive.ns(1500);
    let without = time(&SdkConfig::default());
    let times = [on(4, 40), on(4, 80), on(8, 80)].map(|it| time(&it));
    assert!(
        times[0] > times[1] && times[1] > times[2] && times[2] > without,
        "{times:?} {without}"
    );
    // A read and a write of 1500 bytes in lines of 32 over four lines at 80 MHz: 47 x (78 + 72) clocks.
    let all = 47.0 * 150.0 / 80.0 * 1e3;
    let added = (times[1] - without) as f64;
    assert!((added - all).abs() < 0.01 * all, "{added} of {all}");
    // Longer windows, and the driver reads what the cache has lost again.
    let reads = |rx_ba_window, kb| {
        let mut sdk = SdkConfig { rx_ba_window, ..on(4, 80) };
        sdk.memory.set(ConfigOption::DataCache, Some(kb));
        s3.costs(&sdk).copy.ns(1500) - s3.ip.copy.ns(1500)
    };
    assert!(reads(6, 32) < reads(16, 32) && reads(16, 32) < reads(32, 32));
    assert!(reads(16, 64) < reads(16, 32));

    let memory = s3.memory_with(&on(4, 80));
    let (with, without) = (memory.fixed(&on(4, 80)), memory.fixed(&SdkConfig::default()));
    assert_eq!(with - without, 32 * memory.static_rx_bytes, "TX buffers are in RAM, and static");
}

#[test]
fn a_larger_cache_is_taken_from_the_heap() {
    for (name, key, kb, more) in [
        ("esp32s2", ConfigOption::InstructionCache, 16, 8),
        ("esp32s3", ConfigOption::InstructionCache, 32, 16),
        ("esp32s3", ConfigOption::DataCache, 64, 32),
        ("esp32s2", ConfigOption::DataCache, 0, -8),
    ] {
        let profile = profile(name);
        let heap = profile.memory_with(&with(&[(key, kb)])).heap_bytes;
        assert_eq!(
            i64::from(heap),
            i64::from(profile.memory.heap_bytes) - 1024 * more,
            "{name} {key:?}"
        );
    }
}
