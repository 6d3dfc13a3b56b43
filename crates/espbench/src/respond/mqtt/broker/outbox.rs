//! Bytes on their way to a client.

use super::account::{Account, Charge};
use super::message::StoredMessage;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::rc::Rc;

/// Payloads from here on are not copied, but sent from where they are kept.
pub(super) const SHARED_FROM: usize = 4096;

/// Capacity that an empty outbox keeps.
const KEPT: usize = 256 * 1024;

/// Capacity that is charged with the connection, so that answers always have room.
pub(super) const FREE: usize = 512;

/// Bytes that wait to be written: own ones, and payloads of kept messages between them.
#[derive(Debug)]
pub(super) struct ClientOutbox {
    bytes: Vec<u8>,
    /// Number of `bytes` that are written.
    start: usize,
    /// Payloads, each before the own byte of that number since `base`.
    shared: VecDeque<SharedPayload>,
    /// Number of the first of `bytes`.
    base: u64,
    charge: Charge,
}

#[derive(Debug)]
struct SharedPayload {
    before: u64,
    message: Rc<StoredMessage>,
    from: usize,
}

impl SharedPayload {
    fn rest(&self) -> &[u8] {
        &self.message.payload()[self.from..]
    }
}

impl ClientOutbox {
    pub(super) fn new(account: &Rc<Account>) -> Self {
        let charge = Charge::empty(account);
        Self { bytes: Vec::new(), start: 0, shared: VecDeque::new(), base: 0, charge }
    }

    /// Returns the own bytes that wait.
    pub(super) const fn own(&self) -> usize {
        self.bytes.len() - self.start
    }

    pub(super) fn is_empty(&self) -> bool {
        self.own() == 0 && self.shared.is_empty()
    }

    /// Returns how many payloads wait that are not copied.
    pub(super) fn payloads(&self) -> usize {
        self.shared.len()
    }

    /// Returns whether the outboxes of all connections hold more than half of what they may.
    pub(super) fn is_one_of_many(&self) -> bool {
        self.charge.account().is_beyond(2)
    }

    /// Appends `len` bytes that the caller fills in; `None` where there is no memory for them.
    pub(super) fn room(&mut self, len: usize) -> Option<&mut [u8]> {
        self.room_for(len)?;
        let held = self.bytes.len();
        self.bytes.resize(held + len, 0);
        self.bytes.get_mut(held..)
    }

    /// Makes room for `len` bytes; `None` where there is no memory for them.
    pub(super) fn room_for(&mut self, len: usize) -> Option<()> {
        if self.bytes.len() + len > self.bytes.capacity() { self.grow(len) } else { Some(()) }
    }

    fn grow(&mut self, len: usize) -> Option<()> {
        // Moving what waits costs less than it frees, or is the only way.
        if self.start * 2 >= self.bytes.len() || self.bytes.len() + len > KEPT {
            self.bytes.drain(..self.start);
            self.base += self.start as u64;
            self.start = 0;
        }
        let wanted = self.bytes.len() + len;
        let capacity = self.bytes.capacity();
        if wanted > capacity {
            let larger = wanted.max((2 * capacity).min(KEPT)).max(64);
            if !self.charge.resize(larger.saturating_sub(FREE)) {
                return None;
            }
            self.bytes.reserve_exact(larger - self.bytes.len());
        }
        Some(())
    }

    /// Appends bytes; false where there is no memory for them.
    pub(super) fn put(&mut self, bytes: &[u8]) -> bool {
        let Some(room) = self.room(bytes.len()) else { return false };
        room.copy_from_slice(bytes);
        true
    }

    /// Appends a message's payload without copying it.
    pub(super) fn share(&mut self, message: Rc<StoredMessage>) {
        let before = self.base + self.bytes.len() as u64;
        self.shared.push_back(SharedPayload { before, message, from: 0 });
    }

    /// Fills `slices` with what is to be written next and returns how many were used.
    pub(super) fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let (mut at, mut used) = (self.start, 0);
        let mut shared = self.shared.iter();
        while used < slices.len() {
            let next = shared.next();
            let end = next.map_or(self.bytes.len(), |next| (next.before - self.base) as usize);
            if end > at {
                slices[used] = IoSlice::new(&self.bytes[at..end]);
                (at, used) = (end, used + 1);
            }
            let Some(next) = next else { break };
            if let Some(slice) = slices.get_mut(used) {
                *slice = IoSlice::new(next.rest());
                used += 1;
            }
        }
        used
    }

    /// Takes note that `len` bytes were written.
    pub(super) fn written(&mut self, mut len: usize) {
        while let Some(first) = self.shared.front_mut() {
            let own = (first.before - self.base) as usize - self.start;
            if len < own {
                break;
            }
            (self.start, len) = (self.start + own, len - own);
            let rest = first.rest().len();
            if len < rest {
                first.from += len;
                return;
            }
            len -= rest;
            self.shared.pop_front();
        }
        self.start = (self.start + len).min(self.bytes.len());
        if self.start == self.bytes.len() {
            self.base += self.start as u64;
            self.start = 0;
            self.bytes.clear();
            if self.bytes.capacity() > KEPT || self.is_one_of_many() {
                self.forget();
            }
        }
    }

    /// Drops all that waits, and gives its memory back.
    pub(super) fn clear(&mut self) {
        self.shared.clear();
        self.start = 0;
        self.forget();
    }

    fn forget(&mut self) {
        self.bytes = Vec::new();
        self.charge.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::Draft;
    use super::*;
    use proptest::prelude::*;

    fn pending(outbox: &ClientOutbox) -> Vec<u8> {
        let mut slices = [IoSlice::new(&[]); 100];
        let used = outbox.slices(&mut slices);
        slices[..used].iter().flat_map(|slice| slice.to_vec()).collect()
    }

    proptest! {
        /// Checks that whatever is written, and in whatever pieces, comes out in order.
        #[test]
        fn bytes_come_out_as_they_were_put_in(
            pieces in proptest::collection::vec((1usize..300, any::<bool>(), 0usize..500), 1..30)
        ) {
            let account = Account::new(1 << 20, None);
            let mut outbox = ClientOutbox::new(&account);
            let (mut put, mut taken, mut next) = (Vec::new(), 0, 0u8);
            for (len, shared, written) in pieces {
                let bytes: Vec<u8> = (0..len).map(|_| { next = next.wrapping_add(1); next }).collect();
                put.extend_from_slice(&bytes);
                if shared {
                    let draft = Draft {
                        topic: "t", properties: b"", payload: &bytes, qos: 0, retain: false, expires: None,
                    };
                    outbox.share(StoredMessage::new(&draft, &account).unwrap());
                } else {
                    prop_assert!(outbox.put(&bytes));
                }
                prop_assert_eq!(&pending(&outbox), &put[taken..]);
                let written = written.min(put.len() - taken);
                outbox.written(written);
                taken += written;
                prop_assert_eq!(&pending(&outbox), &put[taken..]);
            }
            prop_assert_eq!(outbox.is_empty(), taken == put.len());
            drop(outbox);
            prop_assert_eq!(account.used(), 0);
        }
    }
}
