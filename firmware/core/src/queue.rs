//! Queues of bounded size that count what they drop.
//!
//! Callbacks of the radio run in a task of Espressif's library and must return at once: what comes is
//! copied here, and the main loop takes it. A frame that finds no room is dropped and counted, and the
//! frames before it stay, as in a queue of FreeRTOS.

use espbench_ieee80211::mac::Mac;

/// Longest ESP-NOW data of v1.0, in bytes.
pub const FRAME_MAX: usize = 250;

/// Facts of a received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameInfo {
    /// Sender on the air.
    pub transmitter: Mac,
    /// Receiver on the air.
    pub receiver: Mac,
    /// Signal strength, in dBm.
    pub rssi: i8,
    /// Channel to which the radio was tuned.
    pub channel: u8,
}

/// Bytes before the data of a queued frame: its length, both addresses, signal, channel.
const HEAD: usize = 2 + 6 + 6 + 1 + 1;

/// Received frames, in a ring of `BYTES`.
#[derive(Debug)]
pub struct FrameQueue<const BYTES: usize> {
    ring: [u8; BYTES],
    /// Place of the oldest byte.
    from: usize,
    used: usize,
    /// Most bytes in use so far.
    peak: usize,
    dropped: u32,
    too_long: u32,
}

impl<const BYTES: usize> Default for FrameQueue<BYTES> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const BYTES: usize> FrameQueue<BYTES> {
    /// Creates an empty queue.
    #[must_use]
    pub const fn new() -> Self {
        Self { ring: [0; BYTES], from: 0, used: 0, peak: 0, dropped: 0, too_long: 0 }
    }

    /// Appends a frame; returns false, and counts, where it does not fit.
    pub fn push(&mut self, info: &FrameInfo, data: &[u8]) -> bool {
        if data.len() > FRAME_MAX {
            self.too_long = self.too_long.saturating_add(1);
            return false;
        }
        if self.used + HEAD + data.len() > BYTES {
            self.dropped = self.dropped.saturating_add(1);
            return false;
        }
        self.put(&(data.len() as u16).to_le_bytes());
        self.put(&info.transmitter.0);
        self.put(&info.receiver.0);
        self.put(&[info.rssi as u8, info.channel]);
        self.put(data);
        self.peak = self.peak.max(self.used);
        true
    }

    /// Takes the oldest frame and returns its facts and length.
    pub fn pop(&mut self, out: &mut [u8; FRAME_MAX]) -> Option<(FrameInfo, usize)> {
        if self.used == 0 {
            return None;
        }
        let (mut len, mut transmitter, mut receiver, mut rest) = ([0; 2], [0; 6], [0; 6], [0; 2]);
        self.take(&mut len);
        self.take(&mut transmitter);
        self.take(&mut receiver);
        self.take(&mut rest);
        let len = usize::from(u16::from_le_bytes(len)).min(FRAME_MAX);
        self.take(&mut out[..len]);
        let [rssi, channel] = rest;
        let info = FrameInfo {
            transmitter: Mac(transmitter),
            receiver: Mac(receiver),
            rssi: rssi as i8,
            channel,
        };
        Some((info, len))
    }

    /// Returns the number of frames that found no room.
    #[must_use]
    pub const fn dropped(&self) -> u32 {
        self.dropped
    }

    /// Returns the number of frames that were longer than ESP-NOW v1.0 has them.
    #[must_use]
    pub const fn too_long(&self) -> u32 {
        self.too_long
    }

    /// Returns the most bytes that were in use at once.
    #[must_use]
    pub const fn peak(&self) -> usize {
        self.peak
    }

    fn put(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.ring[(self.from + self.used) % BYTES] = *byte;
            self.used += 1;
        }
    }

    fn take(&mut self, out: &mut [u8]) {
        for byte in out {
            *byte = self.ring[self.from];
            self.from = (self.from + 1) % BYTES;
            self.used -= 1;
        }
    }
}

/// Bytes that wait, as for a console that nobody reads.
#[derive(Debug)]
pub struct ByteQueue<const BYTES: usize> {
    ring: [u8; BYTES],
    from: usize,
    used: usize,
    dropped: u32,
}

impl<const BYTES: usize> Default for ByteQueue<BYTES> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const BYTES: usize> ByteQueue<BYTES> {
    /// Creates an empty queue.
    #[must_use]
    pub const fn new() -> Self {
        Self { ring: [0; BYTES], from: 0, used: 0, dropped: 0 }
    }

    /// Appends as many bytes as fit; the rest is dropped and counted.
    pub fn push(&mut self, bytes: &[u8]) {
        let fit = bytes.len().min(BYTES - self.used);
        for byte in &bytes[..fit] {
            self.ring[(self.from + self.used) % BYTES] = *byte;
            self.used += 1;
        }
        self.dropped = self.dropped.saturating_add((bytes.len() - fit) as u32);
    }

    /// Returns the oldest bytes that lie in one piece.
    #[must_use]
    pub fn front(&self) -> &[u8] {
        let end = (self.from + self.used).min(BYTES);
        &self.ring[self.from..end]
    }

    /// Removes the `count` oldest bytes.
    pub fn remove(&mut self, count: usize) {
        let count = count.min(self.used);
        self.from = (self.from + count) % BYTES;
        self.used -= count;
    }

    /// Returns the number of bytes that wait.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.used
    }

    /// Returns whether no byte waits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Returns the number of bytes that found no room.
    #[must_use]
    pub const fn dropped(&self) -> u32 {
        self.dropped
    }
}

/// Outcomes of frames that were handed to the radio, oldest first.
#[derive(Debug, Default)]
pub struct Outcomes {
    /// One bit for each, the oldest lowest.
    bits: u64,
    waiting: u32,
    dropped: u32,
}

impl Outcomes {
    /// Creates an empty queue.
    #[must_use]
    pub const fn new() -> Self {
        Self { bits: 0, waiting: 0, dropped: 0 }
    }

    /// Appends an outcome: whether the other MAC acknowledged. Counts it as dropped where 64 wait.
    pub const fn push(&mut self, delivered: bool) {
        if self.waiting == u64::BITS {
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        self.bits |= (delivered as u64) << self.waiting;
        self.waiting += 1;
    }

    /// Takes the oldest outcome.
    pub const fn pop(&mut self) -> Option<bool> {
        if self.waiting == 0 {
            return None;
        }
        let delivered = self.bits & 1 == 1;
        self.bits >>= 1;
        self.waiting -= 1;
        Some(delivered)
    }

    /// Returns the number of outcomes that found no room.
    #[must_use]
    pub const fn dropped(&self) -> u32 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::vec::Vec;

    const INFO: FrameInfo = FrameInfo {
        transmitter: Mac([2, 0, 0, 0, 0, 1]),
        receiver: Mac::BROADCAST,
        rssi: -71,
        channel: 11,
    };

    /// Compares the ring with a list of frames, over sizes that make it wrap at every place.
    #[test]
    fn a_frame_queue_is_a_list_that_counts() {
        let mut queue = FrameQueue::<600>::new();
        let mut list: VecDeque<(i8, Vec<u8>)> = VecDeque::new();
        let (mut state, mut refused) = (1u32, 0);
        for round in 0..20_000u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 31 == 0 {
                let data: Vec<u8> = (0..(state >> 20) % 251).map(|i| (i + round) as u8).collect();
                let rssi = -((round % 100) as i8);
                let used: usize = list.iter().map(|(_, data)| data.len() + HEAD).sum();
                let fits = used + data.len() + HEAD <= 600;
                assert_eq!(queue.push(&FrameInfo { rssi, ..INFO }, &data), fits);
                if fits {
                    list.push_back((rssi, data));
                } else {
                    refused += 1;
                }
            } else {
                let mut out = [0; FRAME_MAX];
                let got = queue.pop(&mut out).map(|(info, len)| {
                    assert_eq!(FrameInfo { rssi: -71, ..info }, INFO);
                    (info.rssi, out[..len].to_vec())
                });
                assert_eq!(got, list.pop_front());
            }
        }
        assert!(refused > 100, "{refused}");
        assert_eq!(queue.dropped(), refused);
        assert!(queue.peak() > 500 && queue.peak() <= 600);
    }

    #[test]
    fn a_frame_longer_than_v1_is_counted_apart() {
        let mut queue = FrameQueue::<600>::new();
        assert!(!queue.push(&INFO, &[0; 251]));
        assert!(queue.push(&INFO, &[7; 250]));
        assert_eq!((queue.too_long(), queue.dropped()), (1, 0));
        let mut out = [0; FRAME_MAX];
        assert_eq!(queue.pop(&mut out), Some((INFO, 250)));
        assert_eq!(out, [7; 250]);
        assert_eq!(queue.pop(&mut out), None);
    }

    #[test]
    fn bytes_beyond_the_room_are_counted() {
        let mut queue = ByteQueue::<8>::new();
        queue.push(b"abcdef");
        queue.remove(4);
        queue.push(b"ghijklmno");
        assert_eq!((queue.len(), queue.dropped()), (8, 3));
        let mut seen = Vec::new();
        while !queue.is_empty() {
            let piece = queue.front().to_vec();
            queue.remove(piece.len());
            seen.extend(piece);
        }
        assert_eq!(seen, b"efghijkl");
    }

    #[test]
    fn outcomes_come_in_order() {
        let mut outcomes = Outcomes::new();
        for i in 0..66 {
            outcomes.push(i % 3 == 0);
        }
        assert_eq!(outcomes.dropped(), 2);
        let seen: Vec<_> = core::iter::from_fn(|| outcomes.pop()).collect();
        assert_eq!(seen, (0..64).map(|i| i % 3 == 0).collect::<Vec<_>>());
    }
}
