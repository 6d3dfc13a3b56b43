//! Devices join routers whose beacons they hear.

use crate::rig::{Flights, instant, row};
use esp_now::component::Idf;
use esp_now::node::air::Country;
use espbench_dot11::mac::GROUP;
use espbench_model::time::Duration;
use espbench_sim::lab::nodes::{Conversation as _, NodeId};
use espbench_sim::lab::run::{Joining, Lab};
use espbench_sim::lab::scene::{Point, Router};
use espbench_sim::lab::trace::AirtimeKind;

fn router(name: &str, ssid: &str, x: f64, channel: u8) -> Router {
    Router {
        name: name.into(),
        ssid: ssid.into(),
        password: "a-password".into(),
        at: Point { x, ..Point::default() },
        channel,
        power_dbm: 20.0,
        beacon: Duration::from_micros(102_400),
        beacon_octets: 250,
    }
}

/// Hands these credentials from node 0 to node 1, in a room with these routers. Runs until node 1
/// has joined or given up.
fn handed(password: &str, routers: Vec<Router>, wifi: Option<(Idf, Country)>) -> Lab<'static> {
    let mut scene = row(2, 1.0, instant());
    scene.routers = routers;
    if let Some((idf, country)) = wifi {
        let settings = &mut scene.nodes[1].settings;
        (settings.compat.idf, settings.country) = (idf, country);
    }
    let mut lab = Lab::new(&scene, 1, ());
    lab.run_for(Duration::from_secs(1)).unwrap();
    lab.command(NodeId(0), &format!("provisioning -i 30000 home {password}"));
    lab.command(NodeId(1), "provisioning -r");
    let ended =
        |lab: &Lab| matches!(lab.joining(NodeId(1)), Joining::Joined(_) | Joining::GivenUp(_));
    assert!(lab.run_till(Duration::from_secs(60), ended).unwrap(), "{:?}", lab.lines(NodeId(1)));
    // Woken by the event itself, not by the end of the time.
    let (Joining::Joined(at) | Joining::GivenUp(at)) = lab.joining(NodeId(1)) else { panic!() };
    assert_eq!(at, lab.now());
    lab
}

/// Hands the password in a room with three routers; the loudest belongs to another network.
fn given(password: &str) -> Lab<'static> {
    let routers = vec![
        router("far", "home", 30.0, 3),
        router("other", "neighbour", 2.0, 6),
        router("near", "home", 8.0, 11),
    ];
    handed(password, routers, None)
}

/// Returns the channel of node 1 after joining, with a far router on channel 1 and a near one on
/// that channel.
fn chosen(channel: u8, idf: Idf, country: Country) -> u8 {
    let routers = vec![router("far", "home", 30.0, 1), router("near", "home", 8.0, channel)];
    handed("a-password", routers, Some((idf, country))).channel(NodeId(1))
}

#[test]
fn a_country_says_on_which_channels_routers_are_found() {
    let manual = |country| Country { manual: true, ..country };
    // Unless it is told otherwise: 13 channels up to ESP-IDF 4.4, all of them since 5.0.
    assert_eq!(chosen(13, Idf::V4_4, Country::default_of(Idf::V4_4)), 13);
    assert_eq!(chosen(14, Idf::V4_4, Country::default_of(Idf::V4_4)), 1);
    assert_eq!(chosen(14, Idf::V5_1, Country::default_of(Idf::V5_1)), 14);
    assert_eq!(chosen(12, Idf::V4_4, Country::US), 1);
    assert_eq!(chosen(12, Idf::V5_1, Country::US), 12);
    assert_eq!(chosen(12, Idf::V5_1, manual(Country::US)), 1);
    assert_eq!(chosen(12, Idf::V5_1, manual(Country::CN)), 12);
    assert_eq!(chosen(14, Idf::V5_1, manual(Country::JP)), 14);
}

#[test]
fn a_country_set_at_the_console_holds_for_the_next_scan() {
    let mut scene = row(2, 1.0, instant());
    scene.routers = vec![router("far", "home", 30.0, 1), router("near", "home", 8.0, 13)];
    let settings = &mut scene.nodes[1].settings;
    settings.compat.idf = Idf::V4_4;
    settings.country = Country::US;
    let mut lab = Lab::new(&scene, 1, ());
    lab.run_for(Duration::from_secs(1)).unwrap();
    for (command, channel) in [
        ("wifi_config -s home -p a-password", 1),
        ("wifi_config -d", 1),
        ("wifi_config -C CN -s home -p a-password", 13),
    ] {
        lab.command(NodeId(1), command);
        lab.run_for(Duration::from_secs(5)).unwrap();
        assert_eq!(lab.channel(NodeId(1)), channel, "{command}");
    }
}

#[test]
fn the_strongest_router_with_the_ssid_is_joined_and_its_channel_kept() {
    let mut lab = given("a-password");
    let (at, router) = lab.joined(NodeId(1)).unwrap();
    assert_eq!(router, 2, "the near one of the network, not the nearest of all");
    assert!(matches!(lab.joining(NodeId(1)), Joining::Joined(when) if when == at));
    assert_eq!(lab.channel(NodeId(1)), 11);
    // A locked channel stays whatever is sent or searched.
    lab.command(NodeId(1), "provisioning -r");
    lab.run_for(Duration::from_secs(5)).unwrap();
    assert_eq!(lab.channel(NodeId(1)), 11);
}

#[test]
fn a_device_with_credentials_that_nobody_has_gives_up_after_five_retries() {
    let mut lab = given("wrong-password");
    let Joining::GivenUp(at) = lab.joining(NodeId(1)) else { panic!() };
    assert_eq!(lab.joined(NodeId(1)), None);
    // Six scans of fourteen channels, 120 ms each.
    let told = lab.events(NodeId(1)).last().unwrap().0;
    assert_eq!(at.since(told), Duration::from_millis(6 * 14 * 120));
    lab.reset(NodeId(1));
    lab.run_for(Duration::from_secs(1)).unwrap();
    assert_eq!(lab.joining(NodeId(1)), Joining::Idle);
}

#[test]
fn an_ack_tells_whether_it_was_heard() {
    let mut scene = row(2, 1.0, instant());
    scene.routers.clear();
    let mut lab = Lab::new(&scene, 1, Flights::default());
    lab.run_for(Duration::from_secs(1)).unwrap();
    lab.command(NodeId(1), "espnow_iperf -s");
    lab.command(NodeId(0), &format!("espnow_iperf -c {} -p -C 5", NodeId(1).mac()));
    lab.run_for(Duration::from_secs(5)).unwrap();
    let acks: Vec<_> = lab.watch.0.iter().filter(|it| it.what == AirtimeKind::Ack).collect();
    assert!(acks.len() >= 10, "{}", acks.len());
    for ack in acks {
        assert!(ack.to.is_some_and(|to| to != GROUP));
        assert_eq!((ack.heard, ack.collided, ack.noise), (1, 0, 0));
    }
}
