//! Writes that say when they were written: TCP with `--trip-times`.

use crate::wire::iperf2::{BURST_HEADER, Burst, Stamp};

/// Writes the heads of a stream's bursts.
#[derive(Clone, Copy, Debug)]
pub struct BurstWriter {
    start: Stamp,
    id: u32,
    sequence: u64,
}

impl BurstWriter {
    /// Creates a writer for a stream that began at `start`.
    #[must_use]
    pub const fn new(start: Stamp) -> Self {
        Self { start, id: 0, sequence: 0 }
    }

    /// Returns the bytes of the next burst: `length`, or what is `left` of the stream. A rest that
    /// would not hold a head is sent with the last but one burst, which gives up a head's bytes for it
    /// where it can.
    #[must_use]
    pub const fn size(length: usize, left: usize) -> usize {
        if left <= length {
            return left;
        }
        let rest = left - length;
        if rest < BURST_HEADER && length >= 2 * BURST_HEADER {
            length - BURST_HEADER
        } else {
            length
        }
    }

    /// Writes the head of a burst that is as long as `burst`, which is written now.
    pub fn head(&mut self, burst: &mut [u8], now: Stamp) {
        let size = u32::try_from(burst.len()).unwrap_or(u32::MAX);
        self.id = self.id.wrapping_add(1);
        self.sequence = self.sequence.wrapping_add(u64::from(size));
        let (id, sequence, start) = (self.id, self.sequence, self.start);
        Burst { id, size, sequence, start, written: now }.emit(burst);
    }
}

/// Follows the bursts in what is read of a stream, however it is cut.
#[derive(Clone, Debug)]
pub struct BurstReader {
    head: [u8; BURST_HEADER],
    have: usize,
    left: usize,
    written: Stamp,
    lost_track: bool,
}

impl Default for BurstReader {
    fn default() -> Self {
        Self {
            head: [0; BURST_HEADER],
            have: 0,
            left: 0,
            written: Stamp::default(),
            lost_track: false,
        }
    }
}

impl BurstReader {
    /// Takes bytes of the stream, which were read at `now_ns` since the epoch. `done` gets the one-way
    /// time in nanoseconds of each burst that is complete with them: from its write to its last byte.
    pub fn take(&mut self, mut bytes: &[u8], now_ns: i64, done: &mut dyn FnMut(i64)) {
        while !bytes.is_empty() && !self.lost_track {
            if self.left > 0 {
                let count = self.left.min(bytes.len());
                (self.left, bytes) = (self.left - count, &bytes[count..]);
            } else {
                let count = (BURST_HEADER - self.have).min(bytes.len());
                self.head[self.have..self.have + count].copy_from_slice(&bytes[..count]);
                (self.have, bytes) = (self.have + count, &bytes[count..]);
                if self.have < BURST_HEADER {
                    return;
                }
                self.have = 0;
                let Ok(burst) = Burst::parse(&self.head) else {
                    self.lost_track = true;
                    return;
                };
                (self.left, self.written) = (burst.size as usize - BURST_HEADER, burst.written);
            }
            if self.left == 0 {
                done(now_ns.saturating_sub(self.written.as_nanos()));
            }
        }
    }

    /// Tells whether something else was read where a head should have been: no further times are
    /// told.
    #[must_use]
    pub const fn lost_track(&self) -> bool {
        self.lost_track
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    const fn ms(n: u64) -> Stamp {
        Stamp::from_nanos(n * 1_000_000)
    }

    fn stream(sizes: &[usize]) -> Vec<u8> {
        let mut writer = BurstWriter::new(ms(0));
        let mut all = Vec::new();
        for (nth, &size) in sizes.iter().enumerate() {
            let mut burst = vec![b'7'; size];
            writer.head(&mut burst, ms(nth as u64 * 10));
            all.extend(burst);
        }
        all
    }

    #[test]
    fn a_burst_is_timed_from_its_write_to_its_last_byte_however_reads_cut_it() {
        let bytes = stream(&[92, 200, 1000, 93]);
        for cut in [1, 7, 91, 92, 93, 500, 5000] {
            let (mut reader, mut times) = (BurstReader::default(), Vec::new());
            for part in bytes.chunks(cut) {
                reader.take(part, 100_000_000, &mut |ns| times.push(ns / 1_000_000));
            }
            assert_eq!(times, [100, 90, 80, 70], "in parts of {cut}");
        }
    }

    #[test]
    fn an_unfinished_burst_has_no_time_and_nonsense_ends_the_times() {
        let (mut reader, mut count) = (BurstReader::default(), 0);
        reader.take(&stream(&[200, 200])[..399], 0, &mut |_| count += 1);
        assert_eq!((count, reader.lost_track()), (1, false));
        let mut reader = BurstReader::default();
        reader.take(&[0; 500], 0, &mut |_| panic!("a size of zero has no time"));
        assert!(reader.lost_track());
    }

    #[test]
    fn no_rest_is_shorter_than_a_head() {
        let cut = |mut left: usize, length: usize| {
            let mut sizes = Vec::new();
            while left > 0 {
                let size = BurstWriter::size(length, left);
                sizes.push(size);
                left -= size;
            }
            sizes
        };
        assert_eq!(cut(3000, 1000), [1000, 1000, 1000]);
        assert_eq!(cut(2500, 1000), [1000, 1000, 500]);
        assert_eq!(cut(2040, 1000), [1000, 908, 132]);
        assert_eq!(cut(50, 1000), [50], "nothing can be done about that");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_taken(bytes in proptest::collection::vec(0u8.., 0..600), at in 0i64..) {
            let mut reader = BurstReader::default();
            reader.take(&bytes, at, &mut |_| {});
        }
    }
}
