//! What a device draws while nothing is asked of it, beside what ESP-IDF's guide has.

use super::super::MachineId;
use crate::lab::file::Library;
use crate::lab::net_scene::NetScene;
use crate::power::{State, Times};
use core::fmt::Write as _;
use core::time::Duration;
use std::string::String;

/// A variant of the power-save lab without the second board, in a shield box, as the guide has it.
fn alone(variant: &str) -> NetScene {
    let library = Library::built_in();
    let mut scene = library.net_scene("power-save", variant).unwrap();
    scene.environment = library.environment("shield-box").unwrap().environment;
    scene.background.clear();
    scene.devices.truncate(1);
    scene
}

/// Time by state, and the mean current in nanoamperes, of some seconds.
fn idle(scene: &NetScene, seconds: u64) -> (Times, u64) {
    let mut world = scene.world(1);
    world.run_for(Duration::from_secs(1));
    let before = world.times(MachineId(0)).unwrap();
    world.run_for(Duration::from_secs(seconds));
    let times = world.times(MachineId(0)).unwrap().since(&before);
    assert_eq!(times.total_ns(), seconds * 1_000_000_000);
    (times, scene.devices[0].draw().charge(&times).mean_na(times.total_ns()).unwrap())
}

#[test]
fn idle_currents_are_near_those_of_the_guide() {
    // ESP-IDF Programming Guide, Low Power Mode in Wi-Fi Scenarios, ESP32-C3: means of Light-sleep,
    // and of Modem-sleep without DFS.
    let guide = [
        ("ps-min-modem", 21.47),
        ("ps-min-dtim1", 1.4),
        ("ps-min-dtim3", 0.62),
        ("ps-min-dtim10", 0.31),
    ];
    let mut text = String::new();
    let mut last = f64::INFINITY;
    for (variant, published) in guide {
        let (times, na) = idle(&alone(variant), 21);
        let ma = na as f64 / 1e6;
        let _ = writeln!(text, "{variant}: {ma:.2} mA, the guide has {published} mA");
        for state in State::all().filter(|it| times.ns(*it) > 0) {
            let share = times.ns(state) as f64 / times.total_ns() as f64 * 100.0;
            let _ = writeln!(text, "  {}: {share:.3} %", state.name());
        }
        assert!((0.5..2.0).contains(&(ma / published)), "{variant}: {ma} for {published}");
        assert!(ma < last, "{variant}: {ma} mA, before {last}");
        last = ma;
    }
    let (_, awake) = idle(&alone("ps-none"), 5);
    let device = alone("ps-none").devices.remove(0);
    let listens = f64::from(device.profile.currents.receive_na) / 1e6;
    let awake = awake as f64 / 1e6;
    let _ = writeln!(text, "ps-none: {awake:.2} mA, listening draws {listens:.2} mA");
    assert!((0.99..1.05).contains(&(awake / listens)), "{awake} mA, {listens} mA");
    insta::assert_snapshot!(text);
}

#[test]
fn a_longer_listen_interval_draws_less() {
    let of = |variant| idle(&alone(variant), 10).1;
    assert!(of("ps-max-li10") < of("ps-max-li3") && of("ps-max-li3") < of("ps-min-dtim1"));
}
