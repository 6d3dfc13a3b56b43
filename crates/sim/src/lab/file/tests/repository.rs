//! The files of the repository.

use super::super::profile;
use super::*;
use crate::lab::profile::{ConstantOrigin, Cost};
use core::fmt::Write as _;
use esp_now::component::ComponentRelease;
use esp_now::node::air::Country;
use espbench_model::sdkconfig::memory::{HeapDemand as Takes, Traffic, heap};
use espbench_model::sdkconfig::{Chip, RANKS, Rank, SdkConfig, SdkContext};

/// Labs whose devices speak ESP-NOW.
fn esp_now(library: &Library) -> impl Iterator<Item = &str> {
    library.names(FileKind::Lab).filter(|lab| library.variants(lab).is_empty())
}

#[test]
fn all_are_read_and_make_rooms() {
    // Labs with variants are in `variants.rs`.
    let mut library = Library::new();
    for (kind, name, text) in built_in::FILES {
        library.add(kind, name, text).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    for lab in esp_now(&library) {
        let scene = library.scene(lab, &Overrides::default(), 1);
        let scene = scene.unwrap_or_else(|wrong| panic!("{wrong}"));
        assert!(scene.nodes.len() >= 2 && scene.name == lab && !scene.title.is_empty());
    }
}

#[test]
fn the_folders_hold_what_is_built_in() {
    for kind in FileKind::ALL {
        let folder = std::format!("{}/../../{}", env!("CARGO_MANIFEST_DIR"), kind.folder());
        let entries = std::fs::read_dir(&folder).unwrap();
        let mut files: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .map(|name| name.trim_end_matches(".toml").into())
            .collect();
        files.sort();
        let library = Library::built_in();
        let built_in: Vec<&str> = library.names(kind).collect();
        assert_eq!(files, built_in, "{folder} and file/built_in.rs");
    }
}

/// Names the constants that the built-in files state themselves, as `FILE.KEY`.
fn stated(library: &Library) -> Vec<(String, Constant)> {
    let mut all = Vec::new();
    for name in library.names(FileKind::Profile) {
        let profile = library.profile(name).unwrap();
        all.extend(constants(Constants::Profile(&profile)).into_iter().map(|it| (name, it)));
    }
    // What another profile has is told with its name.
    all.retain(|(_, it)| it.value.is_some() && !it.source.starts_with("as "));
    for name in library.names(FileKind::Environment) {
        let place = library.environment(name).unwrap();
        all.extend(constants(Constants::Environment(&place)).into_iter().map(|it| (name, it)));
    }
    all.retain(|(_, it)| it.value.is_some());
    for name in library.names(FileKind::Lab) {
        all.extend(library.lab_constants(name).into_iter().map(|it| (name, it)));
    }
    all.into_iter().map(|(name, it)| (std::format!("{name}.{}", it.key), it)).collect()
}

#[test]
fn every_constant_has_a_source_and_an_origin_and_few_are_fitted() {
    let library = Library::built_in();
    let all = stated(&library);
    assert!(all.len() > 800, "{}", all.len());
    for (name, it) in &all {
        // What work does not state, a chip does; and there are defaults: a burst of one.
        let is_default =
            it.source.is_empty() && (name.starts_with("work.") || it.key.ends_with(".burst"));
        assert!(is_default || it.source.len() >= 10, "{name}: no source");
        assert!(is_default || it.origin.is_some(), "{name}: no origin");
        let by_hand = it.origin == Some(ConstantOrigin::ByHand);
        assert_eq!(by_hand, !it.looked_at.is_empty(), "{name}");
    }
    let fitted: Vec<&str> =
        all.iter().filter(|(_, it)| it.fitted()).map(|(name, _)| name.as_str()).collect();
    // docs/fit.md lists them, and reference/measured-fit.csv those of chips; each chip has a heap, which no result of a suite
    // depends on.
    assert!(fitted.len() <= 60, "{} constants are fitted: {fitted:#?}", fitted.len());
    let heaps = fitted.iter().filter(|it| it.ends_with(".memory.heap")).count();
    assert_eq!(heaps, 6, "{fitted:#?}");
}

/// Values that a mechanism gives are not fitted on their own.
#[test]
fn what_is_derived_is_as_what_it_is_derived_from() {
    let work = Library::built_in().profile("work").unwrap();
    assert_eq!(work.open, work.seal, "RFC 3610");
    assert_eq!(work.key_pair, work.shared_secret, "RFC 7748: one function");
    assert_eq!(work.ip.tcp_receive, work.ip.udp_receive, "lwIP takes a segment as a datagram");
}

/// Devices of the lab have the heap that `espbench tune --check` reckons with.
#[test]
fn a_profiles_heap_is_that_of_a_check() {
    let library = Library::built_in();
    let chips = Chip::ALL.into_iter().filter(|it| heap(*it).is_some());
    let mut seen = 0;
    for chip in chips {
        let memory = library.profile(chip.name()).unwrap().memory;
        for rank in Rank::of(chip) {
            let (settings, context) =
                (rank.settings(), SdkContext { chip, ..SdkContext::default() });
            let taken = Takes::of(&settings, &context, Traffic::default());
            let sdk = settings.config(&context);
            let left = heap(chip).map(|it| it - taken.buffers - taken.code);
            assert_eq!(memory.started(&sdk).map(u64::from), left, "{rank:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, RANKS.len());
    let mut c2 = library.profile("esp32c2").unwrap().memory;
    c2.heap_bytes = c2.fixed(&SdkConfig::default());
    assert_eq!(c2.started(&SdkConfig::default()), None, "Wi-Fi does not start with nothing left");
}

#[test]
fn encryption_costs_what_was_published() {
    let profile = Library::built_in().profile("esp32").unwrap();
    // espressif-esp-now-report, crypto-time: only the first and the last were fitted.
    let published = [
        (10, 47, 47),
        (50, 109, 109),
        (100, 171, 173),
        (150, 235, 236),
        (200, 297, 299),
        (226, 339, 341),
    ];
    for (bytes, encrypt_us, decrypt_us) in published {
        let close = |cost: Cost, us: i64| (cost.of(bytes).as_micros() as i64 - us).abs() <= 1;
        assert!(close(profile.seal, encrypt_us), "{bytes}: {:?}", profile.seal.of(bytes));
        assert!(close(profile.open, decrypt_us), "{bytes}: {:?}", profile.open.of(bytes));
    }
}

/// Sketches a lab in a few lines.
fn sketch(scene: &Scene) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}: {}", scene.name, scene.title);
    let first = scene.nodes[0].at;
    let mut groups: Vec<&str> = scene.nodes.iter().map(|it| it.group.as_str()).collect();
    groups.dedup();
    for group in groups {
        let of: Vec<_> = scene.nodes.iter().filter(|it| it.group == group).collect();
        let away: Vec<f64> = of.iter().map(|it| it.at.to(first)).collect();
        let least = away.iter().copied().fold(f64::INFINITY, f64::min);
        let most = away.iter().copied().fold(0.0, f64::max);
        let _ = writeln!(
            text,
            "  {group}: {} x {}, {least:.2} to {most:.2} m, channel {}, {}, encrypted {}",
            of.len(),
            of[0].profile.chip_name,
            of[0].channel,
            of[0].mode,
            of[0].settings.encrypt.enabled,
        );
    }
    for it in &scene.routers {
        let _ = writeln!(text, "  {} \"{}\" on {} at {:?}", it.name, it.ssid, it.channel, it.at);
    }
    for it in &scene.background {
        let to = it.to.map(|to| scene.background[usize::from(to)].name.as_str());
        let _ = writeln!(
            text,
            "  {} on {}: {} frames/s of {} octets at {} to {}",
            it.name,
            it.channel,
            it.rate,
            it.octets,
            it.mode,
            to.unwrap_or("all"),
        );
    }
    text
}

#[test]
fn labs_are_the_scenes_of_the_report() {
    let library = Library::built_in();
    let mut text = String::new();
    // Of these labs no published report tells.
    let others =
        ["raw-esp-now", "raw-esp-now-5ghz", "raw-esp-now-beacons", "relay-line", "many-to-many"];
    for lab in esp_now(&library).filter(|it| !others.contains(it)) {
        let scene = library.scene(lab, &Overrides::default(), 1).unwrap();
        // Its figures tell which component two boards had, and which more of them (docs/fit.md).
        let release =
            if lab == "two-boards" { ComponentRelease::Mid2022 } else { ComponentRelease::V2_0 };
        assert!(scene.nodes.iter().all(|it| it.settings.compat.release == release));
        // ESP-IDF v4.4.1 starts in China: 13 channels, and the report has a router on the last one.
        assert!(scene.nodes.iter().all(|it| it.settings.country == Country::CN));
        assert_eq!(scene.survey(1).unscanned, []);
        text += &sketch(&scene);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn each_cell_of_the_report_finds_its_room() {
    let library = Library::built_in();
    let cases = [
        ("two-boards", 1, (0.5, 0.5), false),
        ("two-boards", 1, (3.0, 3.0), true),
        ("many-boards", 30, (0.5, 0.5), false),
        ("many-boards", 100, (3.0, 3.0), false),
        ("ota", 1, (0.5, 1.0), false),
        ("ota", 100, (0.5, 1.0), false),
        ("ota", 100, (10.0, 10.0), false),
        ("handshake", 1, (1.0, 1.0), true),
        ("provisioning", 60, (1.0, 1.0), false),
    ];
    let mut text = String::new();
    for (lab, devices, distance, encrypted) in cases {
        let change = Overrides {
            devices: Some(devices),
            distance_m: Some(distance),
            encrypted: Some(encrypted),
            ..Overrides::default()
        };
        let mut scene = library.scene(lab, &change, 1).unwrap();
        assert_eq!(scene.nodes.len(), usize::from(devices) + 1);
        scene.routers.clear();
        scene.background.clear();
        text += &sketch(&scene);
    }
    insta::assert_snapshot!(text);
}

/// Chips with a profile of their own.
const CHIPS: [&str; 9] = [
    "esp32", "esp32s2", "esp32s3", "esp32c2", "esp32c3", "esp32c5", "esp32c6", "esp32c61",
    "esp8266",
];

#[test]
fn a_chip_has_hardware_and_no_work_of_its_own() {
    let library = Library::built_in();
    // Without an accelerator these are other work.
    let accelerated = ["seal", "open", "key_pair", "shared_secret"];
    for name in CHIPS {
        let file = &library.profiles[name];
        assert_eq!(file.like.as_ref().map(|it| it.name.as_str()), Some("work"), "{name}");
        for (table, _, _) in &file.values.numbers {
            let without = ["esp32c2", "esp8266"].contains(&name) && accelerated.contains(table);
            assert!(without || !profile::WORK.contains(table), "{name}: {table}");
        }
        let core = file.values.sources.iter().find(|it| it.key == "processor.coremark_per_mhz");
        let source = core.map_or("", |it| it.text.as_str());
        assert!(source.contains("CoreMark: "), "{name} says whose cycles its core's are: {source}");
    }
}

#[test]
fn all_chips_do_the_same_work_in_their_own_time() {
    let library = Library::built_in();
    let cycles = |name: &str, ns: u64| {
        let core = library.profile(name).unwrap().processor;
        let work = if core.work_permille > 0 { core.work_permille } else { 1000 };
        ns as f64 * f64::from(core.clock_mhz) * f64::from(core.coremark_milli) / f64::from(work)
    };
    for name in CHIPS {
        let (work, chip) = (library.profile("work").unwrap(), library.profile(name).unwrap());
        for of in [
            |it: &Profile| it.dispatch.ns(250),
            |it: &Profile| it.esp_now_send.ns(250),
            |it: &Profile| it.jitter_ns,
            |it: &Profile| it.ip.wifi_receive.ns(1500),
            |it: &Profile| it.ip.tcp_send.ns(1480),
            |it: &Profile| it.ip.socket_send.ns(0),
        ] {
            let ratio = cycles(name, of(&chip)) / cycles("work", of(&work));
            assert!((ratio - 1.0).abs() < 1e-3, "{name}: {ratio}");
        }
        // Flash is no core's work.
        assert_eq!((chip.erase, chip.cold_ns), (work.erase, work.cold_ns), "{name}");
    }
    // Another SDK's work is so many percent of ESP-IDF's.
    let of = |name| library.profile(name).unwrap().ip.udp_send.fixed_ns as f64;
    assert!((of("esp8266-sdk22") / of("esp8266-sdk14") - 1.68).abs() < 1e-3);
}

#[test]
fn work_is_no_device() {
    let lab = "title = \"t\"\nenvironment = \"free-space\"\n[[group]]\nname = \"i\"\nprofile = \"work\"\n";
    let said = super::complaint(FileKind::Lab, lab);
    assert!(said.contains("name a profile with a `chip`"), "{said}");
}
