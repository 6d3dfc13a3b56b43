//! How much memory a node takes: `cargo test -p espbench-proto --test ram -- --nocapture`.

use espbench_proto::node::esp_now::Node;
use espbench_proto::node::esp_now::device::{Parts, SmallNode};
use espbench_proto::node::esp_now::engine::Engine;
use espbench_proto::node::esp_now::task::Shared;

/// What a node may take with all services on, beside the image that it hands about.
const BOUND: usize = 24 * 1024;

#[test]
fn a_small_node_with_all_services_fits_its_bound() {
    println!("{:>6} bytes  SmallNode; at most {BOUND}", size_of::<SmallNode>());
    println!("{:>6} bytes    its services", size_of::<Parts<100, 48, 250>>());
    println!("{:>6} bytes    its engine", size_of::<Engine<4096, 250>>());
    println!("{:>6} bytes    what they share", size_of::<Shared>());
    println!("{:>6} bytes  Node with the component's own bounds", size_of::<Node>());
    println!("{:>6} bytes  Node that updates nobody", size_of::<Node<1, 1, 4096, 250>>());
    assert!(size_of::<SmallNode>() <= BOUND);
}
