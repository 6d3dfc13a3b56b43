//! Values that a plan sets of a lab, in place of what its file says.

use super::super::{FileKind, Library, Overrides};
use crate::lab::scene::{Device, NetDevice, Scene};
use crate::power::{CpuState, ModemState, PowerState};
use alloc::string::ToString as _;
use espbench_dot11::radio::WifiMode;
use espbench_dot11::wifi::DataRates;
use espbench_model::sdkconfig::{ConfigOption, OptionValues};

fn option(option: ConfigOption, value: u32) -> OptionValues {
    let mut values = OptionValues::NONE;
    values.set(option, value);
    values
}

fn mode(name: &str) -> WifiMode {
    name.parse().unwrap()
}

/// Returns everything that a plan may set of both kinds of lab.
fn set() -> Overrides {
    Overrides {
        profile: Some("esp32s3".into()),
        environment: Some("free-space".into()),
        phy_rate: Some("HT20-MCS3".into()),
        power_dbm: Some(4.5),
        clock_mhz: Some(80),
        sdkconfig: option(ConfigOption::TickHz, 500),
        ..Overrides::default()
    }
}

#[test]
fn nodes_are_as_a_plan_sets_them_and_stand_where_they_stood() {
    let library = Library::built_in();
    let file = library.scene("ota", &Overrides::default(), 1).unwrap();
    let scene = library.scene("ota", &set(), 1).unwrap();
    assert_eq!(scene.environment.name, "free-space");
    let is_set = |it: &Device| {
        it.profile.name == "esp32s3"
            && (it.profile.processor.clock_mhz, it.profile.tick_hz) == (80, 500)
            && (it.mode, it.power_dbm) == (mode("HT20-MCS3"), Some(4.5))
            && it.fallback.is_empty()
            && it.settings.tick.period().as_millis() == 2
    };
    assert!(scene.nodes.iter().all(is_set));
    let places = |it: &Scene| it.nodes.iter().map(|it| it.at).collect::<alloc::vec::Vec<_>>();
    assert_eq!(places(&scene), places(&file));
}

#[test]
fn only_measured_devices_and_what_they_send_to_are_as_a_plan_sets_them() {
    let library = Library::built_in();
    let set = Overrides { devices: Some(3), distance_m: Some((4.0, 4.0)), ..set() };
    let scene = library.variant_scene_with("forty-stations", "40-on-3-channels", &set).unwrap();
    let file = library.variant_scene("forty-stations", "40-on-3-channels").unwrap();
    assert_eq!((scene.measured, file.measured), (3, 40));
    assert_eq!(scene.columns.environment, "free-space");
    let fixed = DataRates::Fixed(mode("HT20-MCS3"));
    assert!(scene.access_points.iter().all(|it| it.rates == fixed));
    let is_set = |it: &NetDevice| {
        it.profile.name == "esp32s3"
            && it.profile.processor.clock_mhz == 80
            && (it.power_dbm, it.sdk.tick_hz) == (4.5, 500)
            && it.rates == fixed
    };
    assert!(scene.devices[..3].iter().all(is_set));
    // The lab's own file stays as it is.
    assert!(!file.devices.iter().any(is_set));
    let again = library.variant_scene("forty-stations", "40-on-3-channels").unwrap();
    assert_eq!(again.measured, 40);
}

#[test]
fn a_device_without_a_place_for_more_says_which_labs_have_one() {
    let set = Overrides { devices: Some(5), ..Overrides::default() };
    let refused = Library::built_in().variant_scene_with("wifi-home", "arduino", &set).unwrap_err();
    assert_eq!(refused.line, 0, "no line of ours is at fault");
    assert!(
        refused
            .message
            .starts_with("arduino is one device, and there is no place for 5: take a lab"),
        "{refused}"
    );
    // One that there is not has no device, either.
    let unknown = Library::built_in().variant_scene_with("wifi-home", "ardino", &set).unwrap_err();
    assert!(unknown.message.starts_with("no variant is called `ardino`"), "{unknown}");
}

#[test]
fn another_clock_makes_what_the_processor_computes_longer_and_flash_no_slower() {
    let profile = Library::built_in().profile("esp32").unwrap();
    let slow = profile.node_at_clock(80);
    assert_eq!(slow.receive.ns(0), 2 * profile.receive.ns(0));
    assert_eq!(slow.ip.udp_send.ns(0), 2 * profile.ip.udp_send.ns(0));
    assert_eq!(slow.send_latency.ns(0), 2 * profile.send_latency.ns(0));
    assert_eq!(slow.erase, profile.erase);
}

#[test]
fn a_node_s_clock_falls_while_nothing_runs_where_that_does_something() {
    let library = Library::built_in();
    let node = |profile: &str, keys: &str| {
        let text = alloc::format!(
            "title = \"t\"\nenvironment = \"free-space\"\n[[group]]\nname = \"i\"\nprofile = \"{profile}\"\n{keys}"
        );
        let mut library = Library::built_in();
        library.add(FileKind::Lab, "mine", &text).map_err(|it| it.to_string())?;
        library.scene("mine", &Overrides::default(), 1).map_err(|it| it.to_string())
    };
    let scene = node("esp32", "clock_mhz = 160\nidle_clock_mhz = 80\n").unwrap();
    let (node_at, plain) = (&scene.nodes[0], library.profile("esp32").unwrap());
    assert_eq!(node_at.profile.idle_clock_mhz, Some(80));
    let later = |it: fn(&crate::lab::profile::Profile) -> u64| it(&node_at.profile) - it(&plain);
    assert_eq!(later(|it| it.receive.ns(9)), plain.clock_switch_ns);
    assert_eq!(later(|it| it.sent_latency.ns(9)), plain.clock_switch_ns);
    assert_eq!(later(|it| it.esp_now_send.ns(9)), 0);
    // What idle costs less is the difference of both clocks' idle currents.
    let usual = node("esp32", "").unwrap();
    let listens = PowerState::Awake(ModemState::Listen, CpuState::Idle);
    let saved = usual.nodes[0].draw().na(listens) - node_at.draw().na(listens);
    let idle = |mhz| plain.currents.modem_sleep(mhz).idle_na;
    assert!(saved > 0 && saved == idle(160) - idle(80), "{saved}");
    let slow = node("esp32c3", "clock_mhz = 80\n").unwrap();
    assert_eq!(slow.nodes[0].profile.processor.clock_mhz, 80);
    for (profile, keys, wanted) in [
        ("esp32", "clock_mhz = 100\n", "`clock_mhz`: an esp32 does not run at 100 MHz"),
        ("esp32", "clock_mhz = 240\nidle_clock_mhz = 80\n", "an esp32 at 240 MHz keeps that clock"),
        ("esp32s3", "idle_clock_mhz = 40\n", "does not fall below 80 MHz; use 80"),
        ("esp32c3", "idle_clock_mhz = 160\n", "the clock is 160 MHz; use less"),
        ("esp32c3", "idle_clock_mhz = 120\n", "does not run at 120 MHz: use one of 80, 160"),
        ("esp8266", "idle_clock_mhz = 80\n", "has no dynamic frequency scaling"),
    ] {
        let told = node(profile, keys).unwrap_err();
        assert!(told.contains(wanted), "{wanted}: {told}");
    }
}

#[test]
fn a_device_over_ip_rests_at_another_clock_where_that_does_something() {
    let library = Library::built_in();
    let with = |clock_mhz, mhz| {
        let profile = Some("esp32c3".into());
        let set = Overrides { profile, clock_mhz, idle_clock_mhz: mhz, ..Overrides::default() };
        library.variant_scene_with("power-save", "ps-none", &set).map_err(|it| it.to_string())
    };
    let (usual, scaled) = (with(None, None).unwrap(), with(None, Some(80)).unwrap());
    let (usual, scaled) = (&usual.devices[0], &scaled.devices[0]);
    assert_eq!(scaled.profile.idle_clock_mhz, Some(80));
    assert_eq!(scaled.profile.ip, usual.profile.ip, "work takes what it takes at the full clock");
    let listens = PowerState::Awake(ModemState::Listen, CpuState::Idle);
    let works = PowerState::Awake(ModemState::Listen, CpuState::Busy);
    let idle = |mhz| usual.profile.currents.modem_sleep(mhz).idle_na;
    assert_eq!(usual.draw().na(listens) - scaled.draw().na(listens), idle(160) - idle(80));
    assert_eq!(usual.draw().na(works), scaled.draw().na(works));
    let told = with(Some(80), Some(80)).unwrap_err();
    assert!(told.contains("the clock is 80 MHz; use less, or leave it out"), "{told}");
    let told = with(Some(240), None).unwrap_err();
    assert!(told.contains("does not run at 240 MHz: use one of 80, 160"), "{told}");
}

#[test]
fn what_cannot_be_set_says_what_can() {
    let library = Library::built_in();
    let nodes = |set: Overrides| library.scene("ota", &set, 1).unwrap_err().to_string();
    let wifi = |set: Overrides| {
        library.variant_scene_with("power-save", "ps-none", &set).unwrap_err().to_string()
    };
    let usual = Overrides::default;
    let rate = |name: &str| Overrides { phy_rate: Some(name.into()), ..usual() };
    let clock = |mhz| Overrides { clock_mhz: Some(mhz), ..usual() };
    let of = |key, value| Overrides { sdkconfig: option(key, value), ..usual() };
    for (told, wanted) in [
        (nodes(rate("fast")), "`fast` is no PHY mode"),
        (wifi(rate("fast")), "`fast` is no PHY mode"),
        (wifi(rate("HT40-MCS7")), "needs `width = \"HT40\"`"),
        (nodes(clock(100)), "an esp32 does not run at 100 MHz: use one of 80, 160, 240"),
        (wifi(clock(240)), "an esp32c3 does not run at 240 MHz: use one of 80, 160"),
        (nodes(of(ConfigOption::Window, 5744)), "a node of ESP-NOW is simulated with"),
        (nodes(of(ConfigOption::TickHz, 5000)), "found 5000, use 1 to 1000"),
        (wifi(of(ConfigOption::StaticRx, 99)), "found 99, use "),
        (wifi(Overrides { devices: Some(2), ..usual() }), "there is no place for 2"),
    ] {
        assert!(told.contains(wanted), "{wanted}: {told}");
    }
}
