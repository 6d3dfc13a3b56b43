//! Rooms whose senders never rest, against models and against ns-3.
//!
//! How long each is watched is chosen so that the standard error is under 0.4 %.

use core::fmt::Write as _;
use espbench_dot11::check::bianchi::refined;
use espbench_dot11::check::pair::pair;
use espbench_dot11::check::run::crowd;
use espbench_dot11::check::walk::{WalkRules, walk, with};
use espbench_dot11::check::{ModelPrediction, OCTETS, RunCounts, Scenario, run};

#[track_caller]
fn close(what: &str, is: f64, should: f64, within: f64) {
    let off = if should == 0.0 { is } else { is / should - 1.0 };
    println!("{what}: {is:.4}, should be {should:.4}: {:+.2} %", off * 100.0);
    assert!(off.abs() <= within, "{what}: {is} for {should}");
}

fn as_the_model(name: &str, is: RunCounts, model: ModelPrediction) {
    close(&format!("{name}, good"), is.good(), model.good, 0.01);
    close(&format!("{name}, sent"), is.sent(), model.sent, 0.01);
}

/// Checks that broadcast is within 1 % of the refined model in all.
fn broadcast_as_the_model(stations: u32, is: RunCounts) {
    let name = format!("broadcast by {stations}");
    let model = refined(stations as usize, OCTETS, false);
    as_the_model(&name, is, model);
    close(&format!("{name}, collided"), is.collide(), model.collide, 0.01);
}

/// Checks that unicast throughput is within 1 % of the refined model. The model's probability of a
/// collision takes stations for independent and in step with each other: with the walk, which does
/// not, rooms agree to 1 %.
fn unicast_as_the_model(senders: u32, is: RunCounts) {
    let name = format!("unicast by {senders}");
    as_the_model(&name, is, refined(senders as usize, OCTETS, true));
    let walk = walk(senders as usize, OCTETS, true, 1_000_000);
    as_the_model(&format!("{name}, walk"), is, walk);
    close(&format!("{name}, walk, collided"), is.collide(), walk.collide, 0.01);
}

#[test]
fn few_that_broadcast_are_as_the_model() {
    for (stations, seconds) in [(1, 200), (5, 2000), (10, 1500), (20, 1500)] {
        let is = run(&Scenario::broadcast(stations), 1, seconds);
        broadcast_as_the_model(stations, is);
    }
}

#[test]
fn fifty_that_broadcast_are_as_the_model() {
    broadcast_as_the_model(50, run(&Scenario::broadcast(50), 1, 1000));
}

#[test]
fn a_hundred_that_broadcast_are_as_the_model() {
    broadcast_as_the_model(100, run(&Scenario::broadcast(100), 1, 600));
}

#[test]
fn few_unicast_senders_are_as_the_models() {
    for (senders, seconds) in [(1, 200), (5, 2000), (10, 2000), (20, 1200)] {
        let is = run(&Scenario::unicast(senders), 1, seconds);
        unicast_as_the_model(senders, is);
    }
}

#[test]
fn many_unicast_senders_are_as_the_models() {
    for (senders, seconds) in [(50, 1000), (100, 500)] {
        let is = run(&Scenario::unicast(senders), 1, seconds);
        unicast_as_the_model(senders, is);
    }
}

/// Two senders are also as the Markov chain has them, in which nothing is taken for granted: half a
/// per cent of the collisions is one standard error.
#[test]
fn two_senders_are_as_their_chain() {
    for (room, unicast) in [(Scenario::broadcast(2), false), (Scenario::unicast(2), true)] {
        let is = run(&room, 2, 8000);
        if unicast {
            unicast_as_the_model(2, is);
        } else {
            broadcast_as_the_model(2, is);
        }
        let exact = pair(OCTETS, unicast);
        close(&room.name, is.good(), exact.good, 0.001);
        close(&room.name, is.collide(), exact.collide, 0.01);
    }
}

/// Sources of the equations' error: the same senders with nothing but counters, all in step; with
/// the ACK timeout; and with ns-3's rule after that.
#[test]
fn why_collisions_are_not_those_of_the_equations() {
    let mut table = String::from("senders  equations  + memory  + time-out  as ns-3\n");
    for senders in [2, 5, 10, 20, 50] {
        let model = refined(senders, OCTETS, true).collide;
        let [together, exact, ns3] = [WalkRules::TOGETHER, WalkRules::DSSS, WalkRules::NS3_DSSS]
            .map(|rules| with(rules, senders, OCTETS, true, 2_000_000).collide);
        writeln!(table, "{senders:>7}{model:>11.4}{together:>10.4}{exact:>12.4}{ns3:>9.4}")
            .unwrap();
    }
    let [exact, ns3] = [WalkRules::OFDM, WalkRules::NS3_OFDM]
        .map(|rules| with(rules, 5, OCTETS, true, 2_000_000).collide);
    writeln!(table, "5, OFDM {exact:>32.4}{ns3:>9.4}").unwrap();
    insta::assert_snapshot!(table);
}

/// Where there is room for all, next to nothing is lost: two that get their frames during one
/// transmission of a third still draw different slots, mostly.
#[test]
fn a_room_with_time_to_spare_loses_little() {
    let is = crowd(1, 100, 1, 100.0, 200);
    close("sent", is.sent(), 100.0, 0.03);
    assert!(is.collide() > 0.0005 && is.collide() < 0.01, "{is:?}");
    // Three such rooms on channels of their own do not notice each other.
    let three = crowd(1, 300, 3, 300.0, 100);
    close("three rooms", three.sent(), 300.0, 0.03);
    assert!(three.collide() > 0.0005 && three.collide() < 0.01, "{three:?}");
}

#[test]
fn the_same_seed_gives_the_same_counts() {
    for room in Scenario::all() {
        let counts = |seed| run(&room, seed, 2);
        assert_eq!(counts(7), counts(7));
        assert!(room.stations < 3 || counts(7) != counts(8), "{}", room.name);
    }
}
