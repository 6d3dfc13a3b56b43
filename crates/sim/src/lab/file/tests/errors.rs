//! Errors about bad files: the place, the mistake, and a value that would be right.

use super::*;
use core::fmt::Write as _;

const GROUP: &str = "[[group]]\nname = \"a\"\nprofile = \"esp32\"\n";
const HEAD: &str = "title = \"t\"\nenvironment = \"office\"\n";

/// Returns the text of a lab with one board, and with `rest` after it.
fn lab(rest: &str) -> String {
    format!("{HEAD}{GROUP}{rest}")
}

fn environment(receiver: &str) -> String {
    format!(
        "title = \"t\"\n[path_loss]\nexponent = 2\nsource = \"s\"\n[carrier_sense]\n\
         energy_dbm = -73\nsource = \"s\"\n[receiver]\n{receiver}"
    )
}

fn station(name: &str, rest: &str) -> String {
    format!(
        "[[background]]\nname = \"{name}\"\nat = [1, 2, 3]\nchannel = 1\npower_dbm = 10\n\
         rate_hz = 5\noctets = 100\nmode = \"1M\"\nsource = \"s\"\n{rest}"
    )
}

#[test]
fn labs() {
    let router = |ssid: &str, password: &str| {
        lab(&format!(
            "[[router]]\nname = \"r\"\nssid = \"{ssid}\"\npassword = \"{password}\"\n\
             at = [0, 0, 2]\nchannel = 1\n"
        ))
    };
    let cases = [
        String::new(),
        "title = \"no quote\nenvironment = 3".into(),
        "titel = \"t\"".into(),
        "title = \"t\"\nenvironment = 7".into(),
        HEAD.into(),
        format!("{HEAD}group = 4"),
        format!("{HEAD}[[group]]\nname = \"a\""),
        format!("title = \"t\"\nenvironment = \"ofice\"\n{GROUP}"),
        format!("{HEAD}[[group]]\nname = \"a\"\nprofile = \"esp23\""),
        format!("{HEAD}initiator = \"b\"\n{GROUP}"),
        lab(GROUP),
        lab("name = \"b\""),
        lab(&["b", "c"]
            .map(|name| {
                format!(
                    "[[group]]\nname = \"{name}\"\nprofile = \"esp32\"\ncount = 15_000\n\
                 [group.ring]\nradius_m = 5\n"
                )
            })
            .concat()),
        lab("channel = 15"),
        lab("channel = 1.5"),
        lab("mode = \"7M\""),
        lab("fallback = [\"6M\", \"7M\"]"),
        format!("{HEAD}[[group]]\nname = \"a\"\nprofile = \"esp32c2\"\nfallback = [\"HT40-MCS0\"]"),
        lab("at = [0, 0]"),
        lab("at = [0, 0, \"up\"]"),
        lab("at = [0, 0, 1e9]"),
        lab("at = [0, 0, 1]\ndistance_m = 2"),
        lab("count = 3"),
        lab("count = 3\n[group.ring]\nradius_m = 1"),
        lab("[group.ring]\nradius_m = 1\n[group.line]\nstep_m = 1"),
        lab("[group.ring]\nradius = 1"),
        lab("[group.cluster]\nleast_m = 2\nmost_m = 1"),
        lab("[group.firmware]\nlog = \"loud\""),
        lab("[group.firmware]\nservices = [\"ota\", \"coffee\"]"),
        lab("[group.firmware]\nencrypted = 1"),
        router("", "12345678"),
        router("a name that is longer than thirty-two bytes", "12345678"),
        router("ä", "short"),
        lab(&station("x", "to = \"y\"")),
        lab(&(station("x", "") + &station("x", ""))),
    ];
    let mut text = String::new();
    for case in &cases {
        let _ = writeln!(text, "{}", complaint(FileKind::Lab, case));
    }
    insta::assert_snapshot!(brief(&text));
}

#[test]
fn profiles_and_environments() {
    let like = |rest: &str| format!("title = \"t\"\nlike = \"esp32\"\n{rest}");
    let profiles = [
        "title = \"t\"".into(),
        "title = \"t\"\nchip = \"esp23\"".into(),
        "title = \"t\"\nchip = \"esp32\"\n[receive]\nfixed_us = 1\nsource = \"s\"".into(),
        "title = \"t\"\nlike = \"mine\"".into(),
        "title = \"t\"\nlike = \"nobody\"".into(),
        like("[recieve]\nfixed_us = 1"),
        like("[receive]\nfixed_us = 1"),
        like("[receive]\nfixed_us = -1\nsource = \"s\""),
        like("[receive]\nfixed_ms = 1\nsource = \"s\""),
        like("[receive]\nfixed_us = nan\nsource = \"s\""),
        like("[receive]\nfixed_us = 1\nsource = \"s\"\nfitted = [\"per_byte_ns\"]"),
        like("[receive]\nfixed_us = 1\nsource = \"s\"\nfitted = true"),
        like("[freertos]\ntick_hz = 99.5\nsource = \"s\""),
        like("receive = 3"),
    ];
    let environments = [
        environment("detect_db = 99\nsource = \"s\""),
        environment("source = \"s\""),
        environment("detect_db = 4\nsource = \"s\"\n[fast_fading]\nnakagami_m = 2\nsource = \"s\""),
        environment(
            "detect_db = 4\nsource = \"s\"\n[slow_fading]\ncoherence_s = 0\nsource = \"s\"",
        ),
        environment("detect_db = 4\nsource = \" \""),
        environment("detect_db = 4\nsource = \"s\"\ncapture_db = inf"),
        environment(&format!("detect_db = 4\nsource = \"s\"\n{}", station("x", "to = \"x\""))),
        environment(&format!("detect_db = 4\nsource = \"s\"\n{}", station("x", "burst = 0"))),
    ];
    let mut text = String::new();
    for case in &profiles {
        let _ = writeln!(text, "{}", complaint(FileKind::Profile, case));
    }
    for case in &environments {
        let _ = writeln!(text, "{}", complaint(FileKind::Environment, case));
    }
    insta::assert_snapshot!(brief(&text));
}

#[test]
fn a_place_is_counted_in_characters() {
    let text = "title = \"Büro\"\nenvironment = \"office\" # ü\nx = [\"ä\", 1]";
    let wrong = with(FileKind::Lab, "mine", text).unwrap_err();
    assert_eq!((wrong.line, wrong.column), (3, 1), "{wrong}");
    let wrong = with(FileKind::Lab, "mine", &lab("at = [\"ä\", 1, ö]")).unwrap_err();
    assert_eq!((wrong.line, wrong.column), (6, 15), "{wrong}");
}

#[test]
fn what_a_test_cannot_change_is_said() {
    let fixed =
        format!("{HEAD}{GROUP}[[group]]\nname = \"b\"\nprofile = \"esp32\"\nat = [1, 0, 0]");
    let library = with(FileKind::Lab, "mine", &fixed).unwrap();
    let said = |change: Overrides| library.scene("mine", &change, 1).unwrap_err().to_string();
    let changes = [
        Overrides { devices: Some(0), ..Overrides::default() },
        Overrides { devices: Some(2), ..Overrides::default() },
        Overrides { distance_m: Some((1.0, 1.0)), ..Overrides::default() },
        Overrides { distance_m: Some((2.0, 1.0)), ..Overrides::default() },
        Overrides { profile: Some("esp33".into()), ..Overrides::default() },
    ];
    let text: Vec<String> = changes.into_iter().map(said).collect();
    insta::assert_snapshot!(brief(&text.join("\n")));
    let alone = with(FileKind::Lab, "mine", &lab("")).unwrap();
    let change = Overrides { devices: Some(1), ..Overrides::default() };
    let wrong = alone.scene("mine", &change, 1).unwrap_err();
    assert!(wrong.message.contains("one device"), "{wrong}");
}

#[test]
fn constants_are_tuned_within_their_range() {
    let mut library = Library::built_in();
    let profile = FileKind::Profile;
    library.tune(profile, "esp32", "receive.fixed_us", 12.5).unwrap();
    library.tune(profile, "work", "mac.attempts", 3.0).unwrap();
    library.tune(FileKind::Environment, "office", "path_loss.exponent", 2.5).unwrap();
    library.tune(FileKind::Environment, "office", "background.laptop.rate_hz", 7.0).unwrap();
    let scene = library.scene("two-boards", &Overrides::default(), 1).unwrap();
    let tuned = &scene.nodes[0].profile;
    assert_eq!((tuned.receive.fixed_ns, tuned.attempts), (12_500, 3));
    assert_eq!(scene.environment.exponent, 2.5);
    let laptop = scene.background.iter().find(|it| it.name == "laptop");
    assert_eq!(laptop.map(|it| it.rate), Some(7.0));
    // Who leans on it is tuned, too.
    assert_eq!(library.profile("esp32c3").unwrap().attempts, 3);
    let mut said = |kind, name: &str, key: &str, value| {
        library.tune(kind, name, key, value).unwrap_err().to_string()
    };
    let text = [
        said(profile, "esp32", "receive.fixed_us", -1.0),
        said(profile, "esp32", "receive.fixed", 1.0),
        said(profile, "esp32", "mac.attempts", 2.5),
        said(profile, "esp", "mac.attempts", 2.0),
        said(FileKind::Environment, "office", "background.nobody.rate_hz", 2.0),
        said(FileKind::Environment, "office", "receiver.capture_db", f64::NAN),
        said(FileKind::Lab, "ota", "x", 2.0),
    ];
    insta::assert_snapshot!(brief(&text.join("\n")));
}
