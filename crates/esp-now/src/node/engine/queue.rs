//! The event queue of the main task: its entries, and their frames in a ring of bytes.

use crate::component::{DataType, HEADER_LEN, Header};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;

/// Default number of entries of the event queue (`qsize` of `ESPNOW_INIT_CONFIG_DEFAULT`).
pub const QUEUE: u8 = 32;

/// Task for a frame (`espnow_msg_id_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueEvent {
    /// Send it, an acknowledgement.
    Ack,
    /// Forward it.
    Forward,
    /// Deliver it to its service.
    Deliver,
}

/// Entry of the queue. The frame of the oldest entry begins where the ring begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueueEntry {
    pub(super) at: Instant,
    pub(super) kind: QueueEvent,
    /// Length of the frame in bytes.
    pub(super) len: u16,
    /// Bytes that leave the ring with this entry: none if the next entry has the same frame.
    frees: u16,
    pub(super) rssi: i8,
    /// Channel of the radio.
    pub(super) channel: u8,
    /// Data type, and whether the frame is encrypted, in one byte.
    what: u8,
}

impl QueueEntry {
    /// Returns the data type of the frame.
    #[inline]
    pub(super) const fn data_type(&self) -> DataType {
        DataType::from_bits(self.what)
    }

    /// Returns whether the frame is encrypted.
    #[inline]
    pub(super) const fn is_sealed(&self) -> bool {
        self.what & SEALED != 0
    }

    /// Returns whether the frame is of that type and not encrypted.
    #[inline]
    pub(super) const fn is_plain(&self, data_type: DataType) -> bool {
        self.what == data_type as u8
    }
}

impl QueueEntry {
    /// Filler where no entry is.
    const NONE: Self = Self {
        at: Instant::ZERO,
        kind: QueueEvent::Deliver,
        len: 0,
        frees: 0,
        rssi: 0,
        channel: 0,
        what: 0,
    };

    /// Returns the entry of a frame of `len` bytes, which leave the ring with it.
    #[inline]
    const fn of(kind: QueueEvent, len: u16, heard: &RxInfo<'_>) -> Self {
        let RxInfo { at, rssi, channel, header } = *heard;
        let sealed = if header.config.security { SEALED } else { 0 };
        let what = header.data_type as u8 | sealed;
        Self { at, kind, len, frees: len, rssi, channel, what }
    }
}

/// Flag in [`QueueEntry::what`]: encrypted.
const SEALED: u8 = 0x10;

/// Description of a received frame beside its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct RxInfo<'a> {
    pub(super) at: Instant,
    pub(super) rssi: i8,
    pub(super) channel: u8,
    pub(super) header: &'a Header,
}

/// A queue of frames, bounded in entries and in bytes.
// The order keeps the fields that every frame touches together.
#[derive(Debug)]
#[repr(C)]
pub(super) struct EventQueue<const BYTES: usize, const EVENTS: usize> {
    start: usize,
    used: usize,
    /// Greatest number of entries that may wait.
    most: usize,
    /// Index of the oldest entry.
    first: usize,
    /// Number of entries.
    count: usize,
    /// Whether the main task is at work on the oldest entry, which waits no more.
    taken: bool,
    /// Ring of entries, with room for one more than may wait: the one that the main task has taken.
    entries: [QueueEntry; EVENTS],
    bytes: [u8; BYTES],
}

impl<const BYTES: usize, const EVENTS: usize> EventQueue<BYTES, EVENTS> {
    pub(super) const fn new() -> Self {
        Self {
            entries: [QueueEntry::NONE; EVENTS],
            first: 0,
            count: 0,
            most: EVENTS.saturating_sub(1),
            taken: false,
            bytes: [0; BYTES],
            start: 0,
            used: 0,
        }
    }

    /// Appends a frame; returns false if it does not fit.
    #[inline]
    pub(super) fn push(&mut self, kind: QueueEvent, frame: &[u8], heard: &RxInfo<'_>) -> bool {
        let Ok(len) = u16::try_from(frame.len()) else { return false };
        if self.is_full() || frame.len() > BYTES.saturating_sub(self.used) {
            return false;
        }
        let end = self.wrap(self.start.saturating_add(self.used));
        let whole = self.bytes.get_mut(end..end.saturating_add(frame.len()));
        if let Some(place) = whole {
            place.copy_from_slice(frame);
        } else {
            self.copy_around(end, frame);
        }
        self.used = self.used.saturating_add(frame.len());
        self.append(kind, len, heard)
    }

    /// Appends a frame to an empty queue, and if `taken` lets the main task take it at once. Does
    /// nothing and returns false where something waits or the frame does not fit.
    #[inline]
    pub(super) fn push_first(&mut self, frame: &[u8], heard: &RxInfo<'_>, taken: bool) -> bool {
        let Ok(len) = u16::try_from(frame.len()) else { return false };
        if self.count > 0 || self.most == 0 {
            return false;
        }
        // An empty ring begins at its front.
        let (Some(place), [first, ..]) = (self.bytes.get_mut(..frame.len()), &mut self.entries[..])
        else {
            return false;
        };
        place.copy_from_slice(frame);
        *first = QueueEntry::of(QueueEvent::Deliver, len, heard);
        self.used = frame.len();
        self.count = 1;
        self.taken = taken;
        true
    }

    /// Writes a frame that goes around the ring's end.
    #[inline(never)]
    fn copy_around(&mut self, end: usize, frame: &[u8]) {
        let (first, second) = frame.split_at(frame.len().min(BYTES.saturating_sub(end)));
        copy(&mut self.bytes, end, first);
        copy(&mut self.bytes, 0, second);
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.count >= self.most.saturating_add(usize::from(self.taken))
    }

    /// Lets the main task take the oldest entry; returns false if it has done so before.
    #[inline]
    pub(super) fn take(&mut self) -> bool {
        !core::mem::replace(&mut self.taken, true)
    }

    /// Returns whether the main task has taken the oldest entry.
    #[inline]
    pub(super) const fn is_taken(&self) -> bool {
        self.taken
    }

    /// Appends an entry for the frame of the last one, which is not copied; returns false if there
    /// is no place.
    pub(super) fn push_again(&mut self, kind: QueueEvent, heard: &RxInfo<'_>) -> bool {
        if self.is_full() {
            return false;
        }
        let last = self.count.checked_sub(1).map(|last| self.place(last));
        let Some(last) = last.and_then(|at| self.entries.get_mut(at)) else { return false };
        last.frees = 0;
        let len = last.len;
        self.append(kind, len, heard)
    }

    #[inline]
    fn append(&mut self, kind: QueueEvent, len: u16, heard: &RxInfo<'_>) -> bool {
        let end = self.place(self.count);
        let Some(place) = self.entries.get_mut(end) else { return false };
        *place = QueueEntry::of(kind, len, heard);
        self.count = self.count.saturating_add(1);
        true
    }

    /// Returns the oldest entry.
    #[inline]
    pub(super) fn front(&self) -> Option<QueueEntry> {
        if self.count == 0 { None } else { self.entries.get(self.first).copied() }
    }

    /// Copies the bytes of the oldest entry's frame from offset `from`, as many as there are or
    /// fit; returns their number.
    #[inline]
    pub(super) fn copy_front(&self, from: usize, out: &mut [u8]) -> usize {
        let Some(entry) = self.front() else { return 0 };
        let len = usize::from(entry.len).saturating_sub(from).min(out.len());
        let start = self.wrap(self.start.saturating_add(from));
        let (out, _) = out.split_at_mut(len);
        let (first, second) = out.split_at_mut(len.min(BYTES.saturating_sub(start)));
        let here = self.bytes.get(start..).unwrap_or_default();
        for (place, part) in [(first, here), (second, &self.bytes[..])] {
            if let Some(part) = part.get(..place.len()) {
                place.copy_from_slice(part);
            }
        }
        len
    }

    /// Copies the payload of the oldest entry's frame to the front of `out`, which has room for it,
    /// and returns the source and the channel of its header.
    #[inline]
    pub(super) fn open_front(&self, out: &mut [u8]) -> Option<(Mac, u8)> {
        let len = usize::from(self.front()?.len);
        match self.bytes.get(self.start..self.start.saturating_add(len)) {
            Some(whole) => {
                let (origin, payload) = Header::origin(whole)?;
                out.get_mut(..payload.len())?.copy_from_slice(payload);
                Some(origin)
            }
            None => self.open_parts(out),
        }
    }

    /// Opens a frame that goes around the ring's end, as [`open_front`](Self::open_front) does.
    #[inline(never)]
    fn open_parts(&self, out: &mut [u8]) -> Option<(Mac, u8)> {
        self.copy_front(HEADER_LEN, out);
        let mut head = [0; HEADER_LEN];
        self.copy_front(0, &mut head);
        Some(Header::origin(&head)?.0)
    }

    /// Removes the oldest entry and returns its frame, which stays in place until the next one is
    /// pushed, and whether it was the last; does nothing and returns `None` if the frame goes
    /// around the ring's end.
    #[inline(always)]
    pub(super) fn pop_whole(&mut self) -> Option<(QueueEntry, &[u8], bool)> {
        let entry = self.front()?;
        let (start, len) = (self.start, usize::from(entry.len));
        if start.saturating_add(len) > BYTES {
            return None;
        }
        self.pop();
        Some((entry, self.bytes.get(start..start.saturating_add(len))?, self.count == 0))
    }

    /// Drops the oldest entry.
    #[inline]
    pub(super) fn pop(&mut self) {
        let Some(entry) = self.front() else { return };
        self.taken = false;
        if self.count == 1 {
            // An empty ring begins again at its front, where memory is in the cache.
            (self.start, self.used, self.first, self.count) = (0, 0, 0, 0);
            return;
        }
        let frees = usize::from(entry.frees);
        self.used = self.used.saturating_sub(frees);
        self.start = self.wrap(self.start.saturating_add(frees));
        self.first = self.place(1);
        self.count = self.count.saturating_sub(1);
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Limits the number of waiting entries to `most`, and to the room there is.
    #[inline]
    pub(super) fn limit(&mut self, most: u8) {
        self.most = usize::from(most).min(EVENTS.saturating_sub(1));
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Returns the index of the entry that has `number` entries before it: at most `EVENTS`.
    #[inline]
    fn place(&self, number: usize) -> usize {
        let at = self.first.saturating_add(number);
        if at >= EVENTS { at.saturating_sub(EVENTS) } else { at }
    }

    /// Returns the position in the ring; `at` is less than twice around.
    #[inline]
    fn wrap(&self, at: usize) -> usize {
        if at >= BYTES { at.saturating_sub(BYTES) } else { at }
    }
}

fn copy(bytes: &mut [u8], at: usize, part: &[u8]) {
    if let Some(place) = bytes.get_mut(at..).and_then(|rest| rest.get_mut(..part.len())) {
        place.copy_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::FrameConfig;
    use std::collections::VecDeque;
    use std::vec;
    use std::vec::Vec;

    const HEADER: Header = Header {
        data_type: DataType::Data,
        version: 2,
        size: 0,
        magic: 1,
        config: FrameConfig::UNICAST,
        dest: Mac::BROADCAST,
        src: Mac::BROADCAST,
    };
    const HEARD: RxInfo<'_> = RxInfo { at: Instant::ZERO, rssi: -40, channel: 1, header: &HEADER };

    fn front(queue: &EventQueue<100, 33>) -> Option<Vec<u8>> {
        let mut out = vec![0; usize::from(queue.front()?.len)];
        assert_eq!(queue.copy_front(0, &mut out), out.len());
        Some(out)
    }

    #[test]
    fn frames_come_out_as_they_went_in_wherever_the_ring_wraps() {
        let mut queue = EventQueue::<100, 33>::new();
        let mut model: VecDeque<Vec<u8>> = VecDeque::new();
        let mut seed = 7u32;
        for round in 0..2000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let frame: Vec<u8> = (0..(seed >> 16) % 33).map(|i| (round + i) as u8).collect();
            let used: usize = model.iter().map(Vec::len).sum();
            let fits = used + frame.len() <= 100 && model.len() < 32;
            assert_eq!(queue.push(QueueEvent::Deliver, &frame, &HEARD), fits);
            if fits {
                model.push_back(frame);
            }
            if seed >> 30 != 0 {
                assert_eq!(front(&queue), model.pop_front());
                queue.pop();
            }
            assert_eq!(queue.len(), model.len());
        }
    }

    #[test]
    fn a_frame_that_comes_first_is_taken_at_once_and_shown_in_one_piece() {
        let mut queue = EventQueue::<100, 33>::new();
        for len in [60, 1, 100] {
            assert!(!queue.push_first(&[0; 101], &HEARD, true), "it does not fit");
            assert!(queue.push_first(&vec![7; len], &HEARD, true) && queue.is_taken());
            assert!(!queue.push_first(&[0; 1], &HEARD, true), "another waits");
            let (entry, frame, empty) = queue.pop_whole().expect("one piece");
            assert_eq!((usize::from(entry.len), frame, empty), (len, &vec![7; len][..], true));
            assert_eq!((queue.is_taken(), queue.used), (false, 0));
        }
        for _ in 0..2 {
            assert!(queue.push(QueueEvent::Deliver, &[1; 40], &HEARD));
        }
        queue.pop();
        assert!(queue.push(QueueEvent::Deliver, &[2; 40], &HEARD), "around the end");
        assert!(queue.pop_whole().is_some_and(|(.., empty)| !empty));
        assert_eq!(queue.pop_whole(), None);
        assert_eq!(front(&queue), Some(vec![2; 40]));
        queue.limit(0);
        queue.pop();
        assert!(!queue.push_first(&[0; 1], &HEARD, true), "none may wait");
    }

    #[test]
    fn two_entries_share_one_frame() {
        let mut queue = EventQueue::<100, 33>::new();
        for _ in 0..50 {
            assert!(queue.push(QueueEvent::Deliver, &[7; 60], &HEARD));
            assert!(queue.push_again(QueueEvent::Forward, &HEARD));
            assert!(
                !queue.push(QueueEvent::Deliver, &[7; 60], &HEARD),
                "60 of 100 bytes are taken"
            );
            queue.pop();
            assert_eq!(front(&queue), Some(vec![7; 60]));
            queue.pop();
            assert_eq!((queue.len(), queue.used), (0, 0));
        }
        assert!(!queue.push_again(QueueEvent::Forward, &HEARD), "nothing to share");
    }
}
