//! Whole nodes.

use crate::rig::{AIR, close, delivered, load, lost, probes, scene};
use espbench_dot11::check::bianchi::refined;
use espbench_dot11::radio::WifiMode;
use espbench_model::sample::Cause;
use espbench_model::workload::EspNowCast;
use espbench_sim::lab::predict::{Arrival, Fidelity, RoomWatch, run, watched};
use std::time::Duration;

const ONE: EspNowCast = EspNowCast::Broadcast { copies: 1, ack: false };

/// Nodes whose processors take no time keep a channel as busy as radios alone, and as the model
/// says: what a node adds is its processor, nothing else.
#[test]
fn saturated_nodes_are_those_of_the_model() {
    for (senders, cast, seconds) in [(10, ONE, 60), (10, EspNowCast::Unicast, 60)] {
        let load = load(cast, Arrival::Always, Duration::ZERO, Duration::from_secs(seconds));
        let scene = scene(senders, WifiMode::ESP_NOW);
        let outcome = run(&scene, &load, Fidelity::FullStack, 1).unwrap();
        let model = refined(usize::from(senders), load.octets(&scene), cast == EspNowCast::Unicast);
        let rate = |count: usize| count as f64 / seconds as f64;
        let name = format!("{senders} {cast:?}");
        close(&format!("{name}, good"), rate(delivered(&outcome)), model.good, 0.03);
        close(&format!("{name}, sent"), rate(outcome.air.frames as usize), model.sent, 0.03);
    }
}

/// A node without a processor's costs adds nothing to a lone frame's time.
#[test]
fn a_lone_node_has_the_latency_of_its_frames() {
    for cast in [ONE, EspNowCast::Unicast] {
        let every = Duration::from_millis(50);
        let load = load(cast, Arrival::Poisson, every, Duration::from_secs(20));
        let outcome = run(&scene(1, WifiMode::ESP_NOW), &load, Fidelity::FullStack, 1).unwrap();
        let latency = |it: &espbench_model::sample::Probe| Some(it.received?.since(it.due));
        // The component's filter takes one in some thousands for a repetition: ids have 16 bits.
        let filtered = lost(&outcome, Cause::Unknown);
        assert_eq!(delivered(&outcome) + filtered, outcome.samples.len());
        assert!(filtered <= 3, "{filtered}");
        let least = probes(&outcome).filter_map(latency).min().unwrap();
        assert_eq!(least, AIR, "{cast:?}");
        let (it, all) = (&outcome.stages, probes(&outcome).filter_map(latency).sum());
        let sum = it.queue + it.sender + it.medium + it.retries + it.air + it.receiver;
        assert_eq!((sum, it.messages as usize), (all, delivered(&outcome)));
    }
}

/// At a moderate load, nodes and radios alone lose and wait alike.
#[test]
fn nodes_without_costs_are_as_good_as_radios_alone() {
    for cast in [ONE, EspNowCast::Unicast] {
        let every = Duration::from_millis(200);
        let load = load(cast, Arrival::Poisson, every, Duration::from_secs(20));
        let scene = scene(50, WifiMode::ESP_NOW);
        let (nodes, radios) = (
            run(&scene, &load, Fidelity::FullStack, 1).unwrap(),
            run(&scene, &load, Fidelity::MacOnly, 1).unwrap(),
        );
        assert_eq!(nodes.samples.len(), radios.samples.len(), "the same messages");
        let share = |it: &espbench_sim::lab::predict::Outcome| {
            1.0 - delivered(it) as f64 / it.samples.len() as f64
        };
        let (loss, bare) = (share(&nodes), share(&radios));
        println!("{cast:?}: loss {loss:.4} and {bare:.4}");
        assert!((loss - bare).abs() < 0.01, "{cast:?}: {loss} and {bare}");
        let busy = nodes.air.busy.as_secs_f64() / radios.air.busy.as_secs_f64();
        assert!((busy - 1.0).abs() < 0.03, "{cast:?}: {busy}");
        if cast == ONE {
            let collided = lost(&nodes, Cause::Collision) as f64 / nodes.samples.len() as f64;
            assert!((loss - collided).abs() < 0.003, "{loss} {collided}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    let load = load(ONE, Arrival::Periodic, Duration::from_millis(100), Duration::from_secs(2));
    let run = |seed| run(&scene(10, WifiMode::ESP_NOW), &load, Fidelity::FullStack, seed).unwrap();
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
}

/// A room of rare messages lasts for days, and whoever stops it does not wait for its end.
#[test]
fn a_room_is_broken_off_in_its_midst() {
    let scene = scene(2, WifiMode::ESP_NOW);
    let day = Duration::from_secs(86_400);
    let load = load(EspNowCast::Unicast, Arrival::Periodic, day / 24, day);
    let asked = core::cell::Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let watch = RoomWatch { flights: 0, stop: &stop };
    let outcome = watched(&scene, &load, Fidelity::FullStack, 1, watch).unwrap();
    assert_eq!((outcome, asked.get()), (None, 4));
}
