//! A profile as what a board asks: how long work takes.

use crate::lab::profile::Profile;
use crate::talk::MemoryBoard;
use crate::talk::board::{Costs, Line};
use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use espbench_proto::node::esp_now::board::Work;

/// Gives a board the costs of a profile.
pub(super) fn install(board: &mut MemoryBoard, profile: &Arc<Profile>) {
    let it = profile.clone();
    // Whether the cipher's code is still in the cache: it is after the cipher alone.
    let warm = AtomicBool::new(false);
    board.costs = Costs::new(move |work| {
        let cipher = matches!(work, Work::Seal { .. } | Work::Open { .. });
        let cold = cipher && !warm.load(Ordering::Relaxed);
        warm.store(cipher, Ordering::Relaxed);
        of(&it, work) + if cold { it.cold } else { Duration::ZERO }
    });
    board.line =
        (profile.uart_baud > 0).then(|| Line::new(profile.uart_baud, u32::from(profile.uart_fifo)));
}

/// What work costs whose code and data are in the cache.
fn of(it: &Profile, work: Work) -> Duration {
    match work {
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
        Work::Print { .. } => Duration::ZERO,
    }
}
