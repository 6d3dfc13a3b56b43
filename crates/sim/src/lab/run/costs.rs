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
        Work::Receive { bytes } => it.receive.of(bytes),
        Work::Dispatch { bytes } => it.dispatch.of(bytes),
        Work::Transmit { bytes } => it.transmit.of(bytes),
        Work::Seal { bytes } => it.seal.of(bytes),
        Work::Open { bytes } => it.open.of(bytes),
        Work::KeyPair => it.key_pair.of(0),
        Work::SharedSecret => it.shared_secret.of(0),
        Work::Hash { bytes } => it.hash.of(bytes),
        Work::Erase { bytes } => it.erase.of(bytes),
        Work::Write { bytes } => it.write.of(bytes),
        Work::Read { bytes } => it.read.of(bytes),
        // What the line takes; without a line printing is free.
        Work::Print { .. } => core::time::Duration::ZERO,
    });
    board.line =
        (profile.uart_baud > 0).then(|| Line::new(profile.uart_baud, u32::from(profile.uart_fifo)));
}
