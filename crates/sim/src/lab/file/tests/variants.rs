//! Labs with variants.

use super::*;
use crate::lab::scene::{NetRole, PcLink, Scene};
use crate::power::{CurrentDraw, Currents, Modulation, PowerSettings};
use core::fmt::Write as _;
use espbench_dot11::radio::ChannelWidth;
use espbench_dot11::wifi::DataRates;

fn rates(rates: &DataRates) -> String {
    match rates {
        DataRates::Fixed(mode) => mode.to_string(),
        DataRates::Adaptive(modes) => {
            format!("{} to {}", modes[0], modes[modes.len() - 1])
        }
    }
}

fn sketch(scene: &Scene) -> String {
    let mut text = String::new();
    let columns = &scene.columns;
    let _ = writeln!(
        text,
        "{} ({}, {}, {}), {:?}: {}",
        scene.variant,
        columns.mode,
        columns.security,
        columns.environment,
        scene.security,
        scene.title
    );
    for it in &scene.access_points {
        let _ = writeln!(
            text,
            "  router on {}, {:?}, {}, A-MPDU {}, DTIM {}, forwards in {:?} + {:?}",
            it.channel,
            it.width,
            rates(&it.rates),
            it.ampdu,
            it.dtim,
            it.forward.fixed,
            it.forward.random
        );
    }
    for nodes in scene.nodes.chunk_by(|a, b| a.group == b.group) {
        let it = &nodes[0];
        let _ = writeln!(
            text,
            "  {} nodes {}: {}, channel {}, {}, {:?}, release {:?}",
            nodes.len(),
            it.group,
            it.profile.name,
            it.channel,
            it.mode,
            it.application,
            it.settings.compat.release
        );
    }
    for devices in scene.devices.chunk_by(|a, b| a.group == b.group) {
        let it = &devices[0];
        if devices.len() > 1 {
            let places = |at: usize| (devices[at].at.x.round(), devices[at].at.y.round());
            let last = devices.len() - 1;
            let _ = writeln!(
                text,
                "  {} devices from {:?} to {:?}, {:?}:",
                devices.len(),
                places(0),
                places(last),
                it.application
            );
        }
        let _ = writeln!(
            text,
            "  {}: {} at {} MHz, {} cores, {:?}, {:?}, {}, {:?}, {:?}, light sleep {:?}, window {:?}",
            it.name,
            it.profile.name,
            it.profile.processor.clock_mhz,
            it.cores,
            it.role,
            it.width,
            rates(&it.rates),
            it.program,
            it.sleep,
            it.light_sleep,
            it.connectionless.map(|it| (it.window, it.interval)),
        );
        let _ = writeln!(text, "    {:?}", it.sdk);
    }
    let pc = scene.pc.as_ref().expect("a variant has a PC");
    let link = match &pc.link {
        PcLink::Wire { delay, bits } => format!("a wire of {bits} bit/s, {:?}", delay.fixed),
        PcLink::Air(it) => format!("Wi-Fi, {}, at {:?}", rates(&it.rates), it.at),
    };
    let _ = writeln!(text, "  pc on {link}; turns in {:?} + {:?}", pc.turn.fixed, pc.turn.random);
    text
}

#[test]
fn variants_of_the_repository_are_the_rooms_of_the_documents() {
    let library = Library::built_in();
    let mut text = String::new();
    let labs: Vec<&str> =
        library.names(FileKind::Lab).filter(|it| !library.variants(it).is_empty()).collect();
    for lab in labs {
        let _ = writeln!(text, "# {lab}");
        for variant in library.variants(lab) {
            let scene =
                library.variant_scene(lab, variant).unwrap_or_else(|wrong| panic!("{wrong}"));
            assert_eq!((scene.name.as_str(), scene.variant.as_str()), (lab, variant));
            assert_eq!(library.lab_of(variant), Some(lab), "{variant} is in two labs");
            assert!(scene.sources.iter().all(|it| it.text.len() > 10), "{:?}", scene.sources);
            let soft_ap = scene.devices[0].role == NetRole::SoftAp;
            assert_eq!(soft_ap, scene.access_points.is_empty());
            text += &sketch(&scene);
        }
    }
    insta::assert_snapshot!(text);
}

/// Returns the text of a lab with one variant.
fn lab(device: &str, rest: &str) -> String {
    format!(
        "title = \"t\"\nenvironment = \"home\"\n[device]\nprofile = \"esp32c3\"\n{device}\n\
         [[variant]]\nname = \"v\"\n{rest}"
    )
}

fn said(text: &str) -> String {
    match with(FileKind::Lab, "mine", text) {
        Err(wrong) => wrong.to_string(),
        Ok(library) => match library.variant_scene("mine", "v") {
            Err(wrong) => wrong.to_string(),
            Ok(scene) => sketch(&scene),
        },
    }
}

/// Returns the text of a lab with one variant, which has a group that runs the esp-now component.
fn node(keys: &str) -> String {
    let group = "[[variant.group]]\nname = \"s\"\nprogram = \"esp-now\"\nprofile = \"esp32\"";
    lab("", &std::format!("{group}\n{keys}"))
}

#[test]
fn what_does_not_fit_is_said_with_its_place() {
    let cases = [
        lab("rol = \"station\"", ""),
        lab("role = \"router\"", ""),
        lab("clock_mhz = \"fast\"", ""),
        lab("profile = \"esp32\"", ""),
        lab("", "[variant.device]\nprofile = \"esp23\""),
        lab("", "environment = \"hom\""),
        lab("", "[[variant]]\nname = \"v\""),
        lab("", "[[variant]]\nname = \"a b\""),
        lab("", "[[variant]]\nsecurity = \"wpa2\""),
        lab("", "[variant.sdkconfig]\nWIFI_STATIC_RX = 3"),
        lab("", "[variant.sdkconfig]\nESP_WIFI_STATIC_RX_BUFFER_NUM = 200"),
        lab("", "[variant.sdkconfig]\nESP_WIFI_STATIC_RX_BUFFER_NUM = true"),
        lab("", "[variant.sdkconfig]\nLWIP_IRAM_OPTIMIZATION = 1"),
        lab("", "[variant.sdkconfig]\nLWIP_TCP_MSS = 1440\nTCP_MSS = 1440"),
        lab("", "[variant.sdkconfig]\nLWIP_TCP_MSS = -1"),
        lab("", "[variant.device]\nrole = \"softap\""),
        lab(
            "",
            "[variant.device]\nrole = \"softap\"\nsleep = \"min\"\n[variant.pc]\nlink = \"air\"",
        ),
        lab("", "[variant.device]\nlisten_interval = 3"),
        lab("", "[variant.device]\nwindow_ms = 30\ninterval_ms = 20"),
        lab("", "[variant.device]\nwindow_ms = 30"),
        lab("", "[variant.device]\nrates = [\"HT40-MCS0\"]"),
        lab("", "[variant.device]\nrates = [\"54M\", \"6M\"]"),
        lab("profile = \"esp8266\"", "").replace("profile = \"esp32c3\"\n", "")
            + "[variant.device]\nrates = [\"HT20-MCS3\"]",
        lab("profile = \"esp8266\"\nwidth = \"HT40\"", "").replace("profile = \"esp32c3\"\n", ""),
        lab("idf = \"five\"", ""),
        lab("", "[variant.access_point]\nforward_us = 3"),
        lab("", "[variant.pc]\nturn_us = 3\nsource = \"s\"\nfitted = [\"delay_us\"]"),
        lab("", "[variant.other]\nrole = \"softap\"\nprofile = \"esp32\""),
        lab("count = 3", ""),
        lab("count = 0", ""),
        lab(
            "count = 2\nrole = \"softap\"",
            "[variant.device.ring]\nradius_m = 3\n[variant.pc]\nlink = \"air\"",
        ),
        lab("router = \"east\"", "[[variant.router]]\nname = \"west\""),
        lab("", "[[variant.router]]\nname = \"access point\""),
        lab("", "[[variant.router]]\nchannel = 6"),
        lab("", "[[variant.router]]\nname = \"a\"\n[[variant.router]]\nname = \"a\""),
        lab("", "[variant.other]\nprofile = \"esp32\"\ncount = 2"),
        lab("", "[[variant.group]]\nname = \"sensors\""),
        lab("", "[[variant.group]]\nname = \"s\"\nprofile = \"esp32\"\nrole = \"softap\""),
        lab(
            "",
            "[[variant.group]]\nname = \"s\"\nprofile = \"esp32\"\nrole = \"alone\"\napplication = \"upload\"",
        ),
        lab(
            "",
            "[[variant.group]]\nname = \"s\"\nprofile = \"esp32\"\ncount = 1000\n[variant.group.ring]\nradius_m = 3",
        ),
        node("role = \"alone\""),
        node("sdkconfig = { LWIP_TCP_MSS = 1000 }"),
        node("application = \"upload\""),
        node("application = \"reports\"\nreport_bytes = 300"),
        node("count = 3"),
        node("esp_now_mode = \"HT40-MCS0\"").replace("esp32\"", "esp32c2\""),
        node("firmware = { release = \"1.x\" }"),
        lab("program = \"esp-now\"", ""),
        lab("", "[[variant.group]]\nname = \"s\"\nprofile = \"esp32\"\nfirmware = {}"),
        "title = \"t\"\nvariant = 3".into(),
        "title = \"t\"\n[[variant]]\nname = \"v\"".into(),
        "title = \"t\"\nenvironment = \"home\"\n[[variant]]\nname = \"v\"".into(),
    ];
    let text: Vec<String> = cases.iter().map(|it| said(it)).collect();
    assert!(text.iter().all(|it| it.starts_with("labs/mine.toml: line ")), "{text:#?}");
    insta::assert_snapshot!(brief(&text.join("\n")));
    let library = with(FileKind::Lab, "mine", &lab("", "")).unwrap();
    let wrong = library.variant_scene("mine", "w").unwrap_err().to_string();
    assert_eq!(wrong, "labs/mine.toml: no variant is called `w`. Known here: v");
    let wrong = library.variant_scene("ota", "w").unwrap_err().to_string();
    assert_eq!(wrong, "labs/ota.toml: it has no variants: its devices speak ESP-NOW only");
    let wrong = library.scene("mine", &Overrides::default(), 1).unwrap_err().to_string();
    assert_eq!(wrong, "labs/mine.toml: it has no ESP-NOW devices, but variants: v");
}

/// Returns the text of a lab without variants and with one node.
fn alone(group: &str, rest: &str) -> String {
    format!(
        "title = \"t\"\nenvironment = \"home\"\n\
         [[group]]\nname = \"a\"\nprofile = \"esp32\"\n{group}\n{rest}"
    )
}

/// Labs with and without variants each have keys that the others must not have.
#[test]
fn keys_that_need_variants_or_none_are_told() {
    let cases = [
        alone("", "[pc]\nlink = \"air\""),
        alone("", "[device]\nprofile = \"esp32\""),
        alone("program = \"plain\"", ""),
        alone("sleep = \"min\"", ""),
        alone("application = \"reports\"", ""),
        alone("", "[[router]]\nname = \"r\""),
        alone("", "[[router]]\nname = \"r\"\nssid = \"home\"\nwidth = \"HT40\""),
        format!("initiator = \"v\"\n{}", lab("", "")),
        lab("", "[[variant.router]]\nname = \"r\"\nssid = \"home\""),
        lab("", "[[variant.router]]\nname = \"r\"\npassword = \"secret-enough\""),
        node("at = [1, 2, 3]\nmode = \"7M\""),
    ];
    let told = |text: &String| match said(text) {
        told if told.starts_with("labs/mine.toml: line ") => told,
        told => panic!("{text}: {told}"),
    };
    let one = |it: &String| match with(FileKind::Lab, "mine", it) {
        Ok(library) if library.variants("mine").is_empty() => complaint(FileKind::Lab, it),
        _ => told(it),
    };
    let text: Vec<String> = cases.iter().map(one).collect();
    insta::assert_snapshot!(text.join("\n"));
}

/// A group and a router mean the same with variants and without.
#[test]
fn nodes_of_a_variant_are_those_of_a_lab_without() {
    let group = "name = \"s\"\nprofile = \"esp32\"\nat = [1, 2, 3]\nchannel = 6\nmode = \"6M\"\n\
                 fallback = [\"1M\"]\nfirmware = { encrypted = true }";
    let router =
        "name = \"r\"\nssid = \"home\"\npassword = \"secret-enough\"\nat = [0, 0, 2]\nchannel = 6";
    let head = "title = \"t\"\nenvironment = \"home\"\n";
    let plain = format!("{head}[[group]]\n{group}\n[[router]]\n{router}");
    let variant = lab(
        "",
        &format!("[[variant.group]]\nprogram = \"esp-now\"\n{group}\n[[variant.router]]\n{router}"),
    );
    let plain = with(FileKind::Lab, "mine", &plain).unwrap();
    let plain = plain.scene("mine", &Overrides::default(), 1).unwrap();
    let variant =
        with(FileKind::Lab, "mine", &variant).unwrap().variant_scene("mine", "v").unwrap();
    assert_eq!(plain.routers, variant.routers);
    assert_eq!(variant.access_points.len(), 1, "the router with an SSID is not on the LAN");
    let of = |scene: &Scene| {
        let node = &scene.nodes[0];
        let (settings, mode) = (node.settings.clone(), node.mode);
        (node.at, settings, mode, node.fallback.clone(), node.channel)
    };
    assert_eq!(format!("{:?}", of(&plain)), format!("{:?}", of(&variant)));
}

#[test]
fn a_variant_goes_before_its_lab_key_by_key() {
    let text = lab(
        "at = [1, 2, 3]\nclock_mhz = 80\n[sdkconfig]\nLWIP_TCP_MSS = 1000\nFREERTOS_HZ = 500",
        "[variant.sdkconfig]\nCONFIG_FREERTOS_HZ = 1000\n[variant.device]\ndistance_m = 7\nlight_sleep = true",
    );
    let scene = with(FileKind::Lab, "mine", &text).unwrap().variant_scene("mine", "v").unwrap();
    let device = &scene.devices[0];
    assert_eq!((device.at.x, device.at.z), (7.0, 1.5));
    assert_eq!((device.sdk.tcp_mss, device.sdk.tick_hz), (1000, 1000));
    assert_eq!(device.light_sleep.unwrap().as_millis(), 3);
    // Half the clock, twice the time.
    let base = Library::built_in().profile("esp32c3").unwrap();
    let (slow, fast) = (&device.profile.ip, &base.ip);
    assert_eq!(slow.wifi_receive.ns(1000), 2 * fast.wifi_receive.ns(1000));
    assert_eq!(device.profile.receive, base.receive);
}

#[test]
fn constants_of_a_lab_are_tuned_within_their_range() {
    let mut library = Library::built_in();
    library.tune(FileKind::Lab, "wifi-home", "pc.turn_us", 77.0).unwrap();
    library.tune(FileKind::Lab, "wifi-home", "access_point.queue", 9.0).unwrap();
    let scene = library.variant_scene("wifi-home", "arduino").unwrap();
    assert_eq!(scene.pc.map(|it| it.turn.fixed.as_micros()), Some(77));
    assert_eq!(scene.access_points[0].queue, 9);
    let mut said =
        |key| library.tune(FileKind::Lab, "wifi-home", key, -2.0).unwrap_err().to_string();
    assert_eq!(said("pc.turn"), "labs/wifi-home.toml: it has no constant `pc.turn`");
    assert!(said("pc.turn_us").ends_with("`turn_us`: found -2, use a number from 0 to 10000000"));
}

#[test]
fn currents_of_all_chips_are_in_a_plausible_order() {
    let library = Library::built_in();
    for profile in library.names(FileKind::Profile).filter_map(|it| library.chip(it).ok()) {
        let name = &profile.name;
        let it: &Currents = &profile.currents;
        let clock = it.modem_sleep(profile.processor.clock_mhz);
        let asleep = [it.deep_sleep_na, it.light_sleep_na, clock.idle_na, clock.active_na];
        assert!(asleep.is_sorted_by(|a, b| a < b), "{name}: {asleep:?}");
        assert!(clock.active_na < it.receive_na && it.receive_na <= it.receive_40_na, "{name}");
        for modulation in Modulation::ALL {
            let sheet = it.transmit[modulation as usize];
            assert_eq!(it.transmit_na(modulation, sheet.at_dbm), sheet.na);
            let levels = [-20.0, 0.0, 10.0, 20.0].map(|dbm| it.transmit_na(modulation, dbm));
            assert!(levels.is_sorted_by(|a, b| a < b) && levels[0] > it.receive_na, "{name}");
        }
        let power = |modulation: Modulation| it.transmit[modulation as usize].at_dbm;
        let firmware = PowerSettings {
            clock_mhz: profile.processor.clock_mhz,
            idle_clock_mhz: None,
            width: ChannelWidth::Mhz20,
            power_dbm: Modulation::ALL.map(power),
        };
        let draw = CurrentDraw::new(it, &firmware);
        let most = crate::power::PowerState::all().map(|state| draw.na(state)).max();
        assert!(most.unwrap() < 600_000_000, "{name}: {most:?}");
    }
}

#[test]
fn one_row_of_a_datasheet_tells_the_others() {
    // The amplifier's current goes with the amplitude: 11g and 11n from the row of 11b.
    let library = Library::built_in();
    for profile in library.names(FileKind::Profile).filter_map(|it| library.chip(it).ok()) {
        let (name, it) = (&profile.name, profile.currents);
        for at in [Modulation::Ofdm, Modulation::Ht] {
            let sheet = it.transmit[at as usize];
            let told = it.transmit_na(Modulation::Dsss, sheet.at_dbm);
            let off = f64::from(told) / f64::from(sheet.na) - 1.0;
            assert!(off.abs() < 0.12, "{name}, {at:?}: {told} for {}", sheet.na);
        }
    }
}
