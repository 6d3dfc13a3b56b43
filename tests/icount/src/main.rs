//! Conversations of two nodes on a simulated RV32IMC processor. Each line of the output is a name and a
//! number: instructions retired, or bytes of the stack. The counts are exact, so that
//! `ci/icount.sh` can hold them against `budgets.txt`.
#![no_std]
#![no_main]

mod heap;
mod ip;
mod machine;
mod world;

use core::fmt::Write;
use esp_now::node::device::SmallNode;
use espbench_model::time::Duration;
use machine::{Uart, deepest, exit, paint};
use world::World;

/// Prints a figure.
fn tell(name: &str, value: u64) {
    let _ = writeln!(Uart, "{name} {value}");
}

/// Prints a figure of one of several conversations.
pub(crate) fn tell_of(group: &str, name: &str, value: u64) {
    let _ = writeln!(Uart, "{group}.{name} {value}");
}

/// Runs a start, a command, a ping and a throughput test.
#[inline(never)]
fn converse(group: &str, key: Option<[u8; 32]>, accelerated: bool) {
    paint();
    let mut world = World::new(key, accelerated);
    tell_of(group, "start", world.start);
    tell_of(group, "start-stack-bytes", deepest() as u64);
    paint();
    world.run_for(Duration::from_secs(1));
    world.reset();
    world.run_for(Duration::from_secs(10));
    tell_of(group, "ten-seconds-at-rest", world.counts.of_node[0]);

    world.reset();
    world.typed(1, "espnow_iperf -s");
    world.run_for(Duration::from_secs(1));
    tell_of(group, "console-command", world.counts.of_node[1]);

    world.reset();
    world.typed(0, "espnow_iperf -c 24:0a:c4:00:00:02 -p -C 20");
    world.run_for(Duration::from_secs(5));
    assert_eq!(world.counts.replies, 20, "each ping has its reply");
    per_frame(group, "ping", &world);

    world.typed(1, "espnow_iperf -a");
    world.run_for(Duration::from_secs(1));
    world.typed(1, "espnow_iperf -s");
    world.run_for(Duration::from_secs(1));
    world.reset();
    world.typed(0, "espnow_iperf -c 24:0a:c4:00:00:02 -t 3");
    world.run_for(Duration::from_secs(6));
    assert!(world.counts.results > 0 && world.counts.frames > 300, "the test has its result");
    per_frame(group, "throughput", &world);
    tell_of(group, "stack-bytes", deepest() as u64);
}

/// Prints what a frame of a test takes: in both nodes, and in the calls that send and receive it.
fn per_frame(group: &str, test: &str, world: &World) {
    let (counts, frames) = (world.counts, world.counts.frames.max(1));
    let _ = writeln!(Uart, "{group}.{test}.initiator-per-frame {}", counts.of_node[0] / frames);
    let _ = writeln!(Uart, "{group}.{test}.responder-per-frame {}", counts.of_node[1] / frames);
    let _ = writeln!(Uart, "{group}.{test}.transmit {}", counts.transmit.mean());
    let _ = writeln!(Uart, "{group}.{test}.receive {}", counts.receive.mean());
}

/// Runs the distribution of a key: scan, handshake with X25519, key.
#[inline(never)]
fn handshake() {
    let mut world = World::new(None, false);
    paint();
    world.run_for(Duration::from_secs(1));
    world.reset();
    assert!(world.hand_out_keys(), "no other job runs");
    world.run_for(Duration::from_secs(30));
    assert!(world.agree(), "both nodes have the key");
    tell("handshake.initiator", world.counts.of_node[0]);
    tell("handshake.responder", world.counts.of_node[1]);
    tell("handshake.stack-bytes", deepest() as u64);
}

/// Runs all conversations.
#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    tell("node-bytes", size_of::<SmallNode>() as u64);
    converse("plain", None, false);
    converse("sealed", Some([7; 32]), false);
    converse("accelerated", Some([7; 32]), true);
    handshake();
    ip::converse();
    exit(0)
}
