//! Rooms that labs describe.

use super::*;
use crate::lab::scene::Point;
use esp_now::node::air::Country;
use esp_now::node::print::LogLevel;

fn places(group: &str) -> Vec<Point> {
    let text = format!(
        "title = \"t\"\nenvironment = \"free-space\"\n\
         [[group]]\nname = \"i\"\nprofile = \"esp32\"\nat = [1, 2, 3]\n\
         [[group]]\nname = \"g\"\nprofile = \"esp32c3\"\n{group}"
    );
    let library = with(FileKind::Lab, "mine", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let scene = library.scene("mine", &Overrides::default(), 7).unwrap();
    assert_eq!((scene.nodes[0].group.as_str(), scene.nodes[1].group.as_str()), ("i", "g"));
    scene.nodes[1..].iter().map(|it| it.at).collect()
}

fn near(point: Point, x: f64, y: f64, z: f64) -> bool {
    point.to(Point { x, y, z }) < 1e-9
}

#[test]
fn groups_stand_as_their_pattern_says() {
    assert!(near(places("distance_m = 5")[0], 6.0, 2.0, 3.0));
    assert!(near(places("at = [9, 9, 9]")[0], 9.0, 9.0, 9.0));
    let line = places("count = 3\ndistance_m = 5\n[group.line]\nstep_m = 2");
    assert!(near(line[0], 6.0, 0.0, 3.0) && near(line[1], 6.0, 2.0, 3.0));
    let ring = places("count = 4\n[group.ring]\nradius_m = 2");
    assert!(near(ring[0], 3.0, 2.0, 3.0) && near(ring[1], 1.0, 4.0, 3.0));
    let grid = places("count = 6\ndistance_m = 4\n[group.grid]\nstep_m = 1\ncolumns = 3");
    assert!(near(grid[0], 4.5, 1.0, 3.0) && near(grid[5], 5.5, 3.0, 3.0), "{grid:?}");
    let middle: f64 = grid.iter().map(|it| it.x).sum::<f64>() / 6.0;
    assert!((middle - 5.0).abs() < 1e-9);
}

#[test]
fn a_cluster_is_strewn_evenly_between_its_distances() {
    let origin = Point { x: 1.0, y: 2.0, z: 3.0 };
    let text = "count = 2000\n[group.cluster]\nleast_m = 1\nmost_m = 2\narc_deg = 180";
    let all = places(text);
    let away = |it: &Point| it.to(origin);
    assert!(all.iter().all(|it| (1.0..=2.0).contains(&away(it)) && it.x >= origin.x));
    // Half of the area lies within the radius whose square is 2.5; 2000 draws are off by 3.3 %
    // once in a thousand cases.
    let inner = all.iter().filter(|it| away(it) < 2.5_f64.sqrt()).count();
    assert!((900..1100).contains(&inner), "{inner}");
}

#[test]
fn another_group_does_not_move_the_others() {
    let cluster = "count = 3\n[group.cluster]\nmost_m = 2\n";
    let more = format!("{cluster}[[group]]\nname = \"h\"\nprofile = \"esp32\"\n");
    assert_eq!(places(cluster), places(&more)[..3]);
}

#[test]
fn firmware_is_set_up_as_the_file_says() {
    let text = "title = \"t\"\nenvironment = \"office\"\n\
        [[group]]\nname = \"i\"\nprofile = \"esp32c6\"\nmode = \"HT20-MCS0\"\npower_dbm = 5\n\
        [group.firmware]\ntick_hz = 100\nencrypted = true\nlog = \"error\"\n\
        services = [\"ota\"]\nforward = false\nrelease = \"2.3\"";
    let library = with(FileKind::Lab, "mine", text).unwrap();
    let device = library.scene("mine", &Overrides::default(), 1).unwrap().nodes.remove(0);
    assert_eq!(device.settings.tick.period().as_millis(), 10);
    assert_eq!((device.settings.target, device.log), ("esp32c6", LogLevel::Error));
    let settings = &device.settings;
    assert!(settings.encrypt.debug && settings.compat.app_security && !settings.forward);
    assert!(device.services.ota.is_some() && !device.services.commands);
    assert_eq!(device.mode.to_string(), "HT20-MCS0");
    assert_eq!(device.power_dbm(), 5.0);
    let plain = Overrides { encrypted: Some(false), ..Overrides::default() };
    let device = library.scene("mine", &plain, 1).unwrap().nodes.remove(0);
    assert!(!device.settings.encrypt.enabled && !device.settings.compat.app_security);
}

#[test]
fn attempts_after_the_first_are_sent_as_the_file_says() {
    let text = "title = \"t\"\nenvironment = \"free-space\"\n\
        [[group]]\nname = \"i\"\nprofile = \"esp32c6\"\nmode = \"24M\"\nfallback = [\"6M\", \"1M\"]\n\
        [[background]]\nname = \"x\"\nat = [1, 2, 3]\nchannel = 1\npower_dbm = 10\nrate_hz = 5\n\
        octets = 100\nmode = \"54M\"\nfallback = [\"1M\"]\nsource = \"s\"\n";
    let library = with(FileKind::Lab, "mine", text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let scene = library.scene("mine", &Overrides::default(), 1).unwrap();
    let settings = scene.radio(1).settings;
    let modes = |at: usize| settings[at].fallback.iter().map(|mode| format!("{mode} ")).collect();
    let modes: [String; 2] = [modes(0), modes(1)];
    assert_eq!(modes, ["6M 1M ", "1M "]);
    // Who says nothing repeats frames as they were, as ESP-NOW does.
    let plain = library.scene("two-boards", &Overrides::default(), 1).unwrap().radio(1);
    assert!(plain.settings.iter().all(|it| it.fallback.is_empty()));
}

#[test]
fn a_country_is_that_of_the_firmware_unless_it_is_named() {
    let country = |firmware: &str| {
        let text = format!(
            "title = \"t\"\nenvironment = \"office\"\n\
             [[group]]\nname = \"i\"\nprofile = \"esp32\"\n[group.firmware]\n{firmware}"
        );
        let library = with(FileKind::Lab, "mine", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let scene = library.scene("mine", &Overrides::default(), 1).unwrap();
        scene.nodes[0].settings.country
    };
    assert_eq!(country(""), Country::WORLD);
    assert_eq!(country("idf = \"4.4\""), Country::CN);
    let german = country("idf = \"4.4\"\ncountry = \"DE\"\ncountry_policy = \"manual\"");
    assert_eq!((german.code, german.channels(), german.manual), (*b"DE", 1..14, true));
}

#[test]
fn a_profile_takes_what_it_does_not_say_from_another() {
    let text = "title = \"t\"\nlike = \"esp32c3\"\n[boot]\nms = 1.5\nsource = \"measured here\"";
    let library = with(FileKind::Profile, "mine", text).unwrap();
    let (mine, base) = (library.profile("mine").unwrap(), library.profile("esp32c3").unwrap());
    assert_eq!((mine.chip, mine.chip_name.as_str()), (base.chip, "esp32c3"));
    assert_eq!(mine.seal, base.seal);
    assert_eq!(mine.boot.as_micros(), 1500);
    let boot: Vec<_> = mine.sources.iter().filter(|it| it.key == "boot.ms").collect();
    assert_eq!(boot.len(), 1);
    assert_eq!(boot[0].text, "measured here");
    let seal = mine.sources.iter().find(|it| it.key == "seal.fixed_us").unwrap();
    assert!(seal.text.starts_with("as work: "), "{}", seal.text);
    let name = "esp32c3".into();
    let need = Need { kind: FileKind::Profile, name, line: 2, column: 8 };
    assert_eq!(library.needs(FileKind::Profile, "mine"), [need]);
}

#[test]
fn stations_of_place_and_lab_keep_their_partners() {
    let text = "title = \"t\"\nenvironment = \"office\"\n\
        [[group]]\nname = \"i\"\nprofile = \"esp32\"\n";
    let pair = ["x", "y"].map(|name| {
        let other = if name == "x" { "y" } else { "x" };
        format!(
            "[[background]]\nname = \"{name}\"\nat = [1, 2, 3]\nchannel = 1\npower_dbm = 10\n\
             rate_hz = 5\noctets = 100\nmode = \"1M\"\nsource = \"s\"\nto = \"{other}\"\n"
        )
    });
    let library = with(FileKind::Lab, "mine", &format!("{text}{}{}", pair[0], pair[1])).unwrap();
    let scene = library.scene("mine", &Overrides::default(), 1).unwrap();
    let partner = |name: &str| {
        let it = scene.background.iter().find(|it| it.name == name)?;
        Some(scene.background[usize::from(it.to?)].name.as_str())
    };
    assert_eq!([partner("x"), partner("y")], [Some("y"), Some("x")]);
    assert_eq!(partner("laptop"), Some("access-point"));
    assert_eq!(scene.stations(), 1 + scene.background.len());
}

const TRACED: &str = "title = \"t\"\nenvironment = \"free-space\"\n\
    [[group]]\nname = \"a\"\nprofile = \"esp32\"\n[[group]]\nname = \"b\"\nprofile = \"esp32\"\nat = [3, 0, 0]\n\
    [link]\ntrace = \"hall.csv\"\n";

#[test]
fn a_trace_drives_the_links_that_it_names() {
    let mut library = Library::built_in();
    library.add(FileKind::Lab, "mine.toml", TRACED).unwrap();
    assert_eq!(library.link_trace_of("mine.toml"), Some(("hall.csv", 11, 9)));
    assert_eq!(library.link_trace_of("office"), None);
    let scene = |library: &Library| library.scene("mine.toml", &Overrides::default(), 1);
    let said = |library: &Library| scene(library).unwrap_err().to_string();
    assert_eq!(
        said(&library),
        "mine.toml: line 11, column 9: `trace`: there is no file `hall.csv` here"
    );
    library.add_link_trace("hall.csv", "time_s,from,to,rssi_dbm\n0,node0,node9,-70\n").unwrap();
    assert_eq!(
        said(&library),
        "hall.csv: no station of this lab is called `node9`. Did you mean `node0`? Known here: node0, node1"
    );
    library.add_link_trace("hall.csv", "time_s,from,to,rssi_dbm\n0,node0,node1,-70\n").unwrap();
    assert_eq!(scene(&library).unwrap().link_trace.unwrap().name, "hall.csv");
}
