//! Links that labs and environments describe: antennas, fading and traces.

use super::*;
use crate::lab::scene::{Scene, TraceFrame};
use espbench_dot11::radio::{FastFading, SlowFading, WifiMode};

/// Returns two groups, with more lines of the second.
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

/// Returns what arrives at the second of two boards with these lines of the room, over free space.
fn behind(walls: &str) -> f64 {
    let less = |a, b| boards(walls).arriving_dbm(1, a, b) - boards("").arriving_dbm(1, a, b);
    let there = [less(0, 1), less(1, 0)];
    assert!((there[0] - there[1]).abs() < 1e-9, "{there:?}");
    there[0]
}

#[test]
fn walls_and_floors_weaken_the_links_that_cross_them() {
    // The boards stand at 0 and 3 m.
    let wall =
        |x: f64, more: &str| format!("[[wall]]\nfrom = [{x}, -2, 0]\nto = [{x}, 2, 0]\n{more}\n");
    let is = |lines: &str, db: f64| assert!((behind(lines) + db).abs() < 1e-9, "{lines}");
    is(&wall(1.0, ""), 3.4);
    is(&(wall(1.0, "material = \"heavy\"") + &wall(2.0, "loss_db = 10.5")), 17.4);
    is(&wall(4.0, ""), 0.0);
    is("[[wall]]\nfrom = [1, -2, 0.5]\nto = [1, 2, 1.5]\n", 0.0);
    is("[[floor]]\nheight_m = 2.5\n", 0.0);
}

#[test]
fn a_bad_wall_is_refused() {
    let said = |lines: &str| {
        let text = format!(
            "title = \"t\"\nenvironment = \"free-space\"\n\
             [[group]]\nname = \"a\"\nprofile = \"esp32\"\n{lines}"
        );
        complaint(FileKind::Lab, &text)
    };
    for (lines, words) in [
        ("[[wall]]\nfrom = [1, 2, 0]\nto = [1, 2, 3]\n", "both ends are in one place of the plan"),
        ("[[wall]]\nfrom = [1, 2, 0]\n", "`to` is missing"),
        (
            "[[wall]]\nfrom = [1, 2, 0]\nto = [1, 3, 0]\nmaterial = \"air\"\n",
            "use one of \"light\"",
        ),
        (
            "[[wall]]\nfrom = [1, 2, 0]\nto = [1, 3, 0]\nmaterial = \"brick\"\nloss_db = 3\n",
            "give either `material` or `loss_db`",
        ),
        ("[[floor]]\nloss_db = 3\n", "`height_m` is missing"),
        (
            "[[interferer]]\nname = \"oven\"\nat = [0, 0, 1]\nchannel = 9\nlast_channel = 3\n",
            "it is below `channel`, 9",
        ),
    ] {
        let said = said(lines);
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn over_ground_heights_make_the_breakpoint() {
    let place = "title = \"t\"\n[path_loss]\nexponent = 2\nantenna_height_m = 1.2\nsource = \"s\"\n\
                 [carrier_sense]\nenergy_dbm = -73\nsource = \"s\"\n\
                 [receiver]\ndetect_db = 4\nsource = \"s\"\n";
    let mut library = Library::built_in();
    library.add(FileKind::Environment, "ground", place).unwrap();
    let mut arrives = |height: f64| {
        let at = |name: &str, x: f64| {
            format!("[[group]]\nname = \"{name}\"\nprofile = \"esp32\"\nat = [{x}, 0, {height}]\n")
        };
        let text =
            format!("title = \"t\"\nenvironment = \"ground\"\n{}{}", at("a", 0.0), at("b", 470.0));
        library.add(FileKind::Lab, "two", &text).unwrap();
        library.scene("two", &Overrides::default(), 1).unwrap().arriving_dbm(1, 0, 1)
    };
    let (usual, high) = (arrives(0.0), arrives(2.4));
    // Twice the height of both: four times the breakpoint, 12 dB.
    assert!((high - usual - 12.04).abs() < 0.05, "{usual} {high}");
    let both = place.replace("antenna", "breakpoint_m = 9\nfar_exponent = 4\nantenna");
    assert!(complaint(FileKind::Environment, &both).contains("leave `breakpoint_m`"));
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
