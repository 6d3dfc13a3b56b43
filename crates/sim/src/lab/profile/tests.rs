//! Costs of a packet's way by caches, flash, PSRAM and the compiler.

use super::{Cost, Profile};
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
fn code_in_flash_takes_the_profiles_percentage_longer_on_the_reference_chip() {
    let c3 = profile("esp32c3");
    let said = c3.ip;
    let costs = |lwip_iram, extra| {
        c3.costs(&SdkConfig { lwip_iram, ..with(&[(ConfigOption::LwipExtraIram, extra)]) })
    };
    let near = |got: Cost, by: f64, of: Cost| {
        let ratio = got.ns(1480) as f64 / of.ns(1480) as f64;
        assert!((ratio - by).abs() < 2e-3, "{ratio} for {by}");
    };
    let usual = c3.costs(&SdkConfig::default());
    near(usual.wifi_receive, 1.0, said.wifi_receive);
    near(usual.udp_send, 1.25, said.udp_send);
    // One packet after the other, six of an A-MPDU.
    near(usual.udp_receive, 1.0 + 0.25 / 6.0, said.udp_receive);
    near(usual.socket_send, 1.25, said.socket_send);
    // TCP's own 17 KB beside the 13 KB of lwIP's other paths.
    near(usual.tcp_send, 1.25 + 0.25 * 17.0 / 13.0, said.tcp_send);
    near(costs(true, 1).tcp_send, 1.0, said.tcp_send);
    near(costs(true, 1).udp_receive, 1.0, said.udp_receive);
}

#[test]
fn flash_is_as_slow_at_any_clock() {
    let c3 = profile("esp32c3");
    let fetched = |clock| {
        let chip = c3.at_clock(clock);
        let in_ram = SdkConfig { lwip_iram: true, ..SdkConfig::default() };
        let time = |sdk: &SdkConfig| chip.costs(sdk).udp_receive.ns(0);
        time(&SdkConfig::default()) - time(&in_ram)
    };
    assert!(fetched(160).abs_diff(fetched(80)) < 10, "{} {}", fetched(160), fetched(80));
}

/// Holds the part of a path's time that is waited for flash against the cache and the code that does
/// not fit into it.
#[test]
fn a_cache_that_the_code_does_not_fit_into_costs_many_times_as_much() {
    let flash = SdkConfig { wifi_iram: false, wifi_rx_iram: false, ..SdkConfig::default() };
    let waits = |name, sdk: &SdkConfig| {
        let chip = profile(name);
        let all = SdkConfig { wifi_iram: true, wifi_rx_iram: true, lwip_iram: true, ..*sdk };
        let time = |sdk: &SdkConfig| chip.costs(sdk).udp_send.ns(1480);
        time(sdk) as f64 / time(&all) as f64 - 1.0
    };
    let usual = waits("esp32c3", &SdkConfig::default());
    assert!((usual - 0.25).abs() < 0.01, "{usual}");
    // 16 KB of cache with 8 ways hold the stack beside a driver in RAM, and not beside one in flash.
    let both = waits("esp32c3", &flash);
    assert!(both > 2.0 * usual, "{both} {usual}");
    // 8 KB with four ways hold neither.
    let small = waits("esp32s2", &flash);
    assert!(small > 1.0, "{small}");
    let mut larger = flash;
    larger.memory.set(ConfigOption::InstructionCache, Some(16));
    assert!(waits("esp32s2", &larger) < 0.8 * small);
    let mut quad = flash;
    quad.memory.set(ConfigOption::FlashMode, Some(0));
    assert!(waits("esp32s2", &quad) < 0.6 * small);
}

#[test]
fn a_default_that_is_written_down_changes_nothing() {
    for name in
        ["esp32", "esp32s2", "esp32s3", "esp32c2", "esp32c3", "esp32c5", "esp32c6", "esp32c61"]
    {
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
        [(slow.tcp_receive, usual.tcp_receive), (slow.udp_send, usual.udp_send)]
            .map(|(slow, usual)| slow.ns(1000) as f64 / usual.ns(1000) as f64)
    };
    let [tcp, udp] = slow(true, 1);
    assert!((tcp - 1.0).abs() < 1e-3 && (udp - 1.0).abs() < 1e-3, "{tcp} {udp}");
    let [tcp, udp] = slow(true, 0);
    assert!(tcp > 1.15 && (udp - 1.0).abs() < 1e-3, "TCP's own paths stay in flash: {tcp} {udp}");
    let [tcp, udp] = slow(false, 0);
    assert!(tcp > 1.4 && udp > 1.4, "{tcp} {udp}");
}

#[test]
fn packets_in_psram_cost_each_byte_and_leave_the_heap_alone() {
    let mut s3 = Profile::clone(&profile("esp32s3"));
    (s3.ip.psram_received_percent, s3.ip.psram_sent_percent) = (100, 100);
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
