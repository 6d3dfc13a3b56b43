//! A profile as what a board asks: how long work takes.

use crate::lab::profile::Profile;
use crate::talk::MemoryBoard;
use crate::talk::board::{Costs, Line};
use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};
use espbench_proto::node::esp_now::board::Work;

/// How long the code of a frame's way stays in the cache of the flash while the console and timers
/// run: an assumption. Between two pings it stays, between two commands it does not.
const STAYS_NS: u64 = 100_000_000;

/// Gives a board the costs of a profile.
pub(super) fn install(board: &mut MemoryBoard, profile: &Arc<Profile>) {
    let it = profile.clone();
    let cache = Cache::default();
    board.costs = Costs::new(move |work, now| {
        let cold = cache.is_cold(work, now.as_nanos());
        of(&it, work) + if cold { it.cold_ns } else { 0 }
    });
    board.line =
        (profile.uart_baud > 0).then(|| Line::new(profile.uart_baud, u32::from(profile.uart_fifo)));
}

/// What work costs whose code is in the cache, in nanoseconds.
fn of(it: &Profile, work: Work) -> u64 {
    match work {
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
    }
}

/// What a board's cache of the flash holds.
#[derive(Debug, Default)]
struct Cache {
    /// When each part of a frame's way ran: receive callback, main task, sender. 0: never.
    ran: [AtomicU64; 3],
    /// Whether the cipher ran last.
    cipher: AtomicU64,
}

impl Cache {
    /// Whether the code of this work must be fetched first.
    fn is_cold(&self, work: Work, now: u64) -> bool {
        let part = match work {
            Work::Receive { .. } => 0,
            Work::Dispatch { .. } => 1,
            Work::Transmit { .. } => 2,
            // Small enough to stay, if nothing else runs: the published test of the cipher alone.
            Work::Seal { .. } | Work::Open { .. } => {
                return self.cipher.swap(1, Ordering::Relaxed) == 0;
            }
            _ => return false,
        };
        self.cipher.store(0, Ordering::Relaxed);
        let last = self.ran[part].swap(now, Ordering::Relaxed);
        now.saturating_sub(last) > STAYS_NS
    }
}
