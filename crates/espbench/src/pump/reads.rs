//! The sizes and one-way times of a TCP stream's reads.

use espbench_model::sample::{Interval, Spread};
use espbench_model::time::Instant;
use espbench_proto::node::iperf::BurstReader;

/// Sizes of reads and one-way times of bursts, for an interval and for the whole stream.
#[derive(Debug)]
pub struct Reads {
    /// Bytes of a class of sizes: an eighth of the longest read.
    class: usize,
    sizes: [[u32; 8]; 2],
    bursts: Option<(BurstReader, u64)>,
    transit: [Spread; 2],
}

impl Reads {
    /// Creates a record for reads of at most `longest` bytes; `epoch_ns` is given where each write
    /// says when it was written: nanoseconds since the epoch at the clock's zero.
    #[must_use]
    pub fn new(longest: usize, epoch_ns: Option<u64>) -> Self {
        Self {
            class: (longest / 8).max(1),
            sizes: [[0; 8]; 2],
            bursts: epoch_ns.map(|epoch_ns| (BurstReader::default(), epoch_ns)),
            transit: [Spread::default(); 2],
        }
    }

    /// Takes a read.
    pub fn take(&mut self, bytes: &[u8], now: Instant) {
        let class = (bytes.len().saturating_sub(1) / self.class).min(7);
        for sizes in &mut self.sizes {
            sizes[class] = sizes[class].saturating_add(1);
        }
        if let Some((reader, epoch_ns)) = &mut self.bursts {
            let now = epoch_ns.saturating_add(now.as_nanos()).cast_signed();
            let transit = &mut self.transit;
            reader.take(bytes, now, &mut |ns| transit.iter_mut().for_each(|t| t.take(ns)));
        }
    }

    /// Adds what was taken since the last interval, or of a total since the beginning.
    pub fn with(&mut self, interval: Interval) -> Interval {
        let (sizes, transit) = if interval.total {
            (self.sizes[1], self.transit[1])
        } else {
            (std::mem::take(&mut self.sizes[0]), std::mem::take(&mut self.transit[0]))
        };
        Interval { read_sizes: Some(sizes), transit: transit.known(), ..interval }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fall_into_eight_classes_by_interval_and_in_all() {
        let mut reads = Reads::new(800, None);
        for length in [1, 100, 101, 800] {
            reads.take(&vec![0; length], Instant::ZERO);
        }
        let first = reads.with(Interval::default());
        assert_eq!(first.read_sizes, Some([2, 1, 0, 0, 0, 0, 0, 1]));
        reads.take(&[0; 350], Instant::ZERO);
        assert_eq!(reads.with(Interval::default()).read_sizes, Some([0, 0, 0, 1, 0, 0, 0, 0]));
        let total = reads.with(Interval { total: true, ..Interval::default() });
        assert_eq!((total.read_sizes, total.transit), (Some([2, 1, 0, 1, 0, 0, 0, 1]), None));
    }
}
