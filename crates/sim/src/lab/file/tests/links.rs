//! Links that labs and environments describe: antennas, fading and traces.

use super::*;
use crate::lab::scene::{Scene, TraceFrame};
use espbench_dot11::radio::{FastFading, SlowFading, WifiMode};

/// Two groups, with more lines of the second.
fn boards(second: &str) -> Scene {
    let text = format!(
        "title = \"t\"\nenvironment = \"free-space\"\n\
         [[group]]\nname = \"a\"\nprofile = \"esp32\"\n\
         [[group]]\nname = \"b\"\nprofile = \"mine\"\nat = [3, 0, 0]\n{second}"
    );
    let mut library = Library::built_in();
    let profile = "title = \"t\"\nlike = \"esp32c3\"\n[antenna]\ngain_dbi = -3\nsource = \"s\"\n";
    library.add(FileKind::Profile, "mine", profile).unwrap();
    library.add(FileKind::Lab, "two", &text).unwrap();
    library.scene("two", &Overrides::default(), 1).unwrap()
}

#[test]
fn an_antenna_is_that_of_the_group_or_of_the_profile() {
    let gains = |scene: &Scene| [0, 1].map(|node: usize| scene.nodes[node].antenna_dbi());
    assert_eq!(gains(&boards("")), [0.0, -3.0]);
    assert_eq!(gains(&boards("antenna_dbi = -6.5\n")), [0.0, -6.5]);
    // Both directions lose the gain of both ends.
    let arrives = |scene: &Scene| [(0, 1), (1, 0)].map(|(a, b)| scene.arriving_dbm(1, a, b));
    let (plain, weak) = (arrives(&boards("")), arrives(&boards("antenna_dbi = -6.5\n")));
    for (plain, weak) in plain.iter().zip(weak) {
        assert!((plain - weak - 3.5).abs() < 1e-9, "{plain} {weak}");
    }
}

#[test]
fn fading_is_that_of_the_environment() {
    let library = Library::built_in();
    let of = |name: &str| {
        let place = library.environment(name).unwrap().environment;
        (place.fast_fading(), place.slow_fading())
    };
    let fast = FastFading { nakagami_m: 2.8, coherence_ns: 122_000_000 };
    let slow = SlowFading { deviation_db: 3.0, coherence_ns: 120_000_000_000 };
    assert_eq!(of("office-floor"), (Some(fast), Some(slow)));
    // The places of the published reports were compared without.
    for name in ["office", "home", "lab-air", "shield-box", "free-space"] {
        assert_eq!(of(name), (None, None), "{name}");
    }
}

/// Returns the built-in lab of a UDP echo at home with a trace between its router and its device.
fn at_home(link: &str, rows: &str) -> Result<Scene, FileError> {
    let mut library = Library::built_in();
    let lab = format!(
        "{}\n[link]\ntrace = \"home.csv\"\n{link}",
        built_in_text(FileKind::Lab, "wifi-home").unwrap()
    );
    library.add(FileKind::Lab, "traced", &lab)?;
    library.add_link_trace("home.csv", &format!("time_s,from,to,rssi_dbm\n{rows}"))?;
    let variant = library.variants("traced")[0].to_string();
    library.variant_scene("traced", &variant)
}

#[test]
fn a_trace_drives_a_router_and_a_device_over_wi_fi() {
    let scene =
        at_home("phy_rate = \"24M\"\noctets = 1500\n", "0,access point,device,-70\n").unwrap();
    let trace = scene.link_trace.as_ref().expect("a trace");
    let mode: WifiMode = "24M".parse().unwrap();
    assert_eq!(trace.frame, TraceFrame { mode, octets: 1500 });
}

#[test]
fn frames_of_a_trace_are_frames_that_there_are() {
    let unknown = at_home("", "0,router,device,-70\n").unwrap_err().to_string();
    let known = "`router`. Known here: access point, device, neighbour, PC";
    assert!(unknown.ends_with(known), "{unknown}");
    for (link, words) in [
        ("phy_rate = \"7M\"\n", "`phy_rate`"),
        ("octets = 3\n", "`octets`: found 3, use a whole number from 14 to 4095"),
        ("speed = 3\n", "speed"),
    ] {
        let said = at_home(link, "0,access point,device,-70\n").unwrap_err().to_string();
        assert!(said.contains(words), "{words}: {said}");
    }
}
