//! Rooms whose senders never rest.
//!
//! How long each is watched is chosen so that the standard error is under 0.4 %.

use crate::bianchi::{Answer, refined};
use crate::rig::{OCTETS, Rates, broadcast, crowd, unicast};
use crate::walk::walk;

#[track_caller]
fn close(what: &str, is: f64, should: f64, within: f64) {
    let off = if should == 0.0 { is } else { is / should - 1.0 };
    println!("{what}: {is:.4}, should be {should:.4}: {:+.2} %", off * 100.0);
    assert!(off.abs() <= within, "{what}: {is} for {should}");
}

fn as_the_model(name: &str, is: Rates, model: Answer) {
    close(&format!("{name}, good"), is.good, model.good, 0.01);
    close(&format!("{name}, sent"), is.sent, model.sent, 0.01);
}

/// Within 1 % of the refined model, and within 2 % of what ns-3 3.37 had.
#[test]
fn broadcast_as_the_model_and_as_ns3() {
    for (stations, seconds, ns3) in [
        (1, 1000, Some((345.3, 0.0))),
        (2, 2000, None),
        (10, 1000, Some((284.5, 0.427))),
        (50, 1200, Some((82.2, 0.930))),
        (100, 1200, Some((57.6, 0.973))),
    ] {
        let name = format!("broadcast by {stations}");
        let is = broadcast(1, stations, seconds);
        let model = refined(stations as usize, OCTETS, false);
        as_the_model(&name, is, model);
        close(&format!("{name}, collided"), is.collide, model.collide, 0.01);
        if let Some((good, collide)) = ns3 {
            close(&format!("{name}, ns-3, good"), is.good, good, 0.02);
            close(&format!("{name}, ns-3, collided"), is.collide, collide, 0.02);
        }
    }
}

/// Throughput within 1 % of the refined model. Its probability of a collision leaves out what
/// `walk` has: with that it agrees to 1 %, with the model to half a percentage point.
#[test]
fn unicast_as_the_model_and_as_ns3() {
    for (senders, seconds, ns3) in [(2, 3000, 315.7), (10, 2000, 289.6), (50, 1200, 235.3)] {
        let name = format!("unicast by {senders}");
        let is = unicast(1, senders, seconds);
        let model = refined(senders as usize, OCTETS, true);
        as_the_model(&name, is, model);
        let off = is.collide - model.collide;
        println!("{name}, collided: {:.4}, model {:.4}", is.collide, model.collide);
        assert!(off.abs() < 0.005, "{name}: {off}");
        let walk = walk(senders as usize, OCTETS, true, 1_000_000);
        close(&format!("{name}, walk, good"), is.good, walk.good, 0.01);
        close(&format!("{name}, walk, sent"), is.sent, walk.sent, 0.01);
        close(&format!("{name}, walk, collided"), is.collide, walk.collide, 0.01);
        close(&format!("{name}, ns-3, good"), is.good, ns3, 0.02);
        if senders == 50 {
            // ns-3 gave up 1.2 % over 60 s; seven collisions in a row are 1.26 %.
            close("given up", is.dropped, model.collide.powi(7), 0.15);
        }
    }
}

/// Where there is room for all, next to nothing is lost: two that get their frames during one
/// transmission of a third still draw different slots, mostly.
#[test]
fn a_room_with_time_to_spare_loses_little() {
    let is = crowd(1, 100, 1, 100.0, 200);
    close("sent", is.sent, 100.0, 0.03);
    assert!(is.collide > 0.0005 && is.collide < 0.01, "{is:?}");
    // Three such rooms on channels of their own do not notice each other.
    let three = crowd(1, 300, 3, 300.0, 100);
    close("three rooms", three.sent, 300.0, 0.03);
    assert!(three.collide > 0.0005 && three.collide < 0.01, "{three:?}");
}

#[test]
fn the_same_seed_gives_the_same_counts() {
    let counts = |seed| {
        let is = unicast(seed, 10, 5);
        [is.good, is.sent, is.collide, is.dropped].map(f64::to_bits)
    };
    assert_eq!(counts(7), counts(7));
    assert_ne!(counts(7), counts(8));
}
