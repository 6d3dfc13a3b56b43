//! Two ESP-NOW devices ping each other from their consoles: `cargo run -p espbench-sim --example fleet`.

use esp_now::node::task::NodeSettings;
use espbench_dot11::random::Chance;
use espbench_model::sample::{Fate, Sample};
use espbench_sim::lab::ideal::{FleetSetup, IdealMediumConfig};
use espbench_sim::lab::nodes::{Conversation as _, NodeId, node};
use espbench_sim::talk::transcript::TalkFilter;
use espbench_sim::talk::{Transcript, play};

fn main() {
    // The medium loses three frames of ten; the MAC sends them again.
    let medium = IdealMediumConfig::lossy(Chance::percent(30));
    let setup = FleetSetup { medium, ..FleetSetup::default() };
    let mut fleet = node::fleet(setup, Transcript::new(TalkFilter::TALK), NodeSettings::default());
    fleet.add_many(2);
    let script = "node1> espnow_iperf -s
        wait 100ms
        node0> espnow_iperf -c {node1} -p -C 8
        wait until node0 prints \"packets transmitted\" max 1min";
    play(&mut fleet, script).expect("the script comes to its end");
    // What a person at the consoles would have seen, with the virtual time.
    println!("{}", fleet.watch);

    // Every ping is a sample, lost ones included.
    let mut delivered = 0;
    for sample in fleet.samples(NodeId(0)) {
        if let Sample::Probe(probe) = sample {
            let time = probe.received.map(|at| at.since(probe.due));
            println!("ping {}: {:?}, {time:?}", probe.seq, probe.fate);
            delivered += u32::from(probe.fate == Fate::Delivered);
        }
    }
    assert_eq!(delivered, 8);
}
