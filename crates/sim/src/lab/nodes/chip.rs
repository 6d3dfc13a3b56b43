//! The time for which a chip is at work: a line for each kind of work, and the cache of its flash.

use alloc::sync::Arc;
use core::time::Duration;
use esp_now::node::board::CpuWork;

/// Time for which the code of a frame's way stays in the cache of the flash while the console and
/// timers run: an assumption. Between two pings it stays, between two commands it does not.
pub(in crate::lab) const STAYS_NS: u64 = 100_000_000;

/// A time that grows with a length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Part that does not depend on the length.
    pub fixed_ns: u64,
    /// For each byte, in picoseconds.
    pub per_byte_ps: u64,
    /// Lengths count in whole blocks of so many bytes: AES's, or a sector of flash. 0: as they are.
    pub block: u32,
}

impl Cost {
    /// Returns the time for so many bytes.
    #[must_use]
    pub const fn of(self, bytes: u32) -> Duration {
        Duration::from_nanos(self.ns(bytes))
    }

    /// Returns the time for so many bytes, in nanoseconds.
    #[must_use]
    #[inline]
    pub const fn ns(self, bytes: u32) -> u64 {
        if self.per_byte_ps == 0 {
            return self.fixed_ns;
        }
        let bytes = match self.block {
            0 | 1 => bytes as u64,
            block => bytes.div_ceil(block) as u64 * block as u64,
        };
        self.fixed_ns + self.per_byte_ps * bytes / 1000
    }

    /// Returns the cost of this work and of another after it, where neither counts in blocks.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            fixed_ns: self.fixed_ns + other.fixed_ns,
            per_byte_ps: self.per_byte_ps + other.per_byte_ps,
            block: self.block,
        }
    }

    /// Returns the cost of the same work where it takes `by / of` times as long.
    #[must_use]
    pub fn times(self, by: u64, of: u64) -> Self {
        let of = of.max(1);
        Self {
            fixed_ns: self.fixed_ns.saturating_mul(by) / of,
            per_byte_ps: self.per_byte_ps.saturating_mul(by) / of,
            block: self.block,
        }
    }
}

/// The costs of each kind of work. Printing takes the line's time instead.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkRates {
    pub(crate) receive: Cost,
    pub(crate) dispatch: Cost,
    pub(crate) transmit: Cost,
    pub(crate) seal: Cost,
    pub(crate) open: Cost,
    pub(crate) key_pair: Cost,
    pub(crate) shared_secret: Cost,
    pub(crate) hash: Cost,
    pub(crate) erase: Cost,
    pub(crate) write: Cost,
    pub(crate) read: Cost,
    /// Additional time of work whose code must be fetched from flash first.
    pub(crate) cold_ns: u64,
}

impl WorkRates {
    /// Returns the nanoseconds of work whose code is in the cache.
    #[inline]
    const fn ns(&self, work: CpuWork) -> u64 {
        match work {
            CpuWork::Receive { bytes } => self.receive.ns(bytes),
            CpuWork::Dispatch { bytes } => self.dispatch.ns(bytes),
            CpuWork::Transmit { bytes } => self.transmit.ns(bytes),
            CpuWork::Seal { bytes } => self.seal.ns(bytes),
            CpuWork::Open { bytes } => self.open.ns(bytes),
            CpuWork::KeyPair => self.key_pair.ns(0),
            CpuWork::SharedSecret => self.shared_secret.ns(0),
            CpuWork::Hash { bytes } => self.hash.ns(bytes),
            CpuWork::Erase { bytes } => self.erase.ns(bytes),
            CpuWork::Write { bytes } => self.write.ns(bytes),
            CpuWork::Read { bytes } => self.read.ns(bytes),
            CpuWork::Print { .. } => 0,
        }
    }
}

/// A chip at work.
#[derive(Clone, Debug)]
pub(crate) struct ChipCosts {
    /// Costs, which all chips of a kind share.
    rates: Arc<WorkRates>,
    cache: Cache,
}

impl ChipCosts {
    /// Creates a chip that has just started.
    pub(crate) fn new(rates: Arc<WorkRates>) -> Self {
        Self { rates, cache: Cache::default() }
    }

    /// Returns the nanoseconds of work that begins at `now`.
    #[inline]
    pub(crate) fn ns(&mut self, work: CpuWork, now: u64) -> u64 {
        let rates = &*self.rates;
        let cold = rates.cold_ns > 0 && self.cache.is_cold(work, now);
        rates.ns(work) + if cold { rates.cold_ns } else { 0 }
    }
}

/// The state of a chip's cache of the flash.
#[derive(Clone, Debug, Default)]
struct Cache {
    /// Times at which each part of a frame's way last ran: receive callback, main task, sender. The
    /// start counts as a time.
    ran: [u64; 3],
    /// The cipher ran last.
    cipher: bool,
}

impl Cache {
    /// Tells whether the code of this work must be fetched first.
    #[inline]
    const fn is_cold(&mut self, work: CpuWork, now: u64) -> bool {
        let part = match work {
            CpuWork::Receive { .. } => 0,
            CpuWork::Dispatch { .. } => 1,
            CpuWork::Transmit { .. } => 2,
            // Small enough to stay, if nothing else runs: the published test of the cipher alone.
            CpuWork::Seal { .. } | CpuWork::Open { .. } => {
                return !core::mem::replace(&mut self.cipher, true);
            }
            _ => return false,
        };
        self.cipher = false;
        let last = core::mem::replace(&mut self.ran[part], now);
        now.saturating_sub(last) > STAYS_NS
    }
}
