//! A profile as what a board asks: how long work takes.

use crate::lab::profile::Profile;
use crate::talk::MemoryBoard;
use crate::talk::board::{Costs, Line};
use alloc::sync::Arc;
use espbench_proto::node::esp_now::board::Work;

/// Gives a board the costs of a profile.
pub(super) fn install(board: &mut MemoryBoard, profile: &Arc<Profile>) {
    let it = profile.clone();
    board.costs = Costs::new(move |work| match work {
        Work::Receive { bytes } => it.receive.ns(bytes),
        Work::Dispatch { bytes } => it.dispatch.ns(bytes),
        Work::Transmit { bytes } => it.transmit.ns(bytes),
        Work::Seal { bytes } => it.seal.ns(bytes),
        Work::Open { bytes } => it.open.ns(bytes),
        Work::KeyPair => it.key_pair.ns(0),
        Work::SharedSecret => it.shared_secret.ns(0),
        Work::Hash { bytes } => it.hash.ns(bytes),
        Work::Erase { bytes } => it.erase.ns(bytes),
        Work::Write { bytes } => it.write.ns(bytes),
        Work::Read { bytes } => it.read.ns(bytes),
        // What the line takes; without a line printing is free.
        Work::Print { .. } => 0,
    });
    board.line =
        (profile.uart_baud > 0).then(|| Line::new(profile.uart_baud, u32::from(profile.uart_fifo)));
}
