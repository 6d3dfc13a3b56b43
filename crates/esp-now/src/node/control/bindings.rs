//! The list of bound devices.

use crate::node::board::{CpuWork, NvsKey};
use crate::node::task::Cx;
use espbench_ieee80211::mac::Mac;
use heapless::Vec;

/// Greatest number of bindings (`ESPNOW_BIND_LIST_MAX_SIZE`).
pub const BINDINGS_MAX: usize = 32;
/// Length of the stored list, in bytes.
pub const STORED_LEN: usize = HEAD_LEN + BINDINGS_MAX * ENTRY_LEN;

const HEAD_LEN: usize = 8;
const ENTRY_LEN: usize = 12;

/// Binding of one attribute of one device. A device with several buttons has several bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Address of the initiator.
    pub mac: Mac,
    /// Attribute of the initiator.
    pub attribute: u32,
}

/// List of bindings, loaded when it is first needed and stored with every change under
/// [`NvsKey::Bindings`], in the component's layout:
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 4 | n, number of bindings, little-endian |
/// | 4 | 4 | 1, then padding: "the list was loaded" |
/// | 8 + 12·i | 6 | address |
/// | 14 + 12·i | 2 | padding |
/// | 16 + 12·i | 4 | attribute, little-endian |
///
/// The stored list always has 392 bytes; those of entries from n on are zero.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    list: Vec<Binding, BINDINGS_MAX>,
    loaded: bool,
}

impl Bindings {
    /// Returns the bindings; none before [`load`](Self::load).
    #[must_use]
    pub fn as_slice(&self) -> &[Binding] {
        &self.list
    }

    /// Loads the list at the first call.
    pub fn load(&mut self, cx: &mut Cx<'_>) {
        if self.loaded {
            return;
        }
        self.loaded = true;
        let mut stored = [0; STORED_LEN];
        let Some(len) = cx.board.load(NvsKey::Bindings, &mut stored) else { return };
        cx.spend(CpuWork::Read { bytes: len as u32 });
        let stored = stored.get(..len).unwrap_or(&stored);
        let Some((head, entries)) = stored.split_first_chunk::<HEAD_LEN>() else { return };
        let [n0, n1, n2, n3, ..] = *head;
        let count = u32::from_le_bytes([n0, n1, n2, n3]).min(BINDINGS_MAX as u32) as usize;
        // A stored list may be too long or damaged; there is room for 32.
        for entry in entries.chunks_exact(ENTRY_LEN).take(count) {
            let &[a, b, c, d, e, f, _, _, v0, v1, v2, v3] = entry else { return };
            let mac = Mac([a, b, c, d, e, f]);
            let _ =
                self.list.push(Binding { mac, attribute: u32::from_le_bytes([v0, v1, v2, v3]) });
        }
    }

    /// Stores the list.
    pub fn save(&self, cx: &mut Cx<'_>) {
        let mut stored = [0; STORED_LEN];
        if let Some(head) = stored.first_chunk_mut::<HEAD_LEN>() {
            let [n, ..] = (self.list.len() as u32).to_le_bytes();
            (head[0], head[4]) = (n, 1);
        }
        let entries = stored.get_mut(HEAD_LEN..).unwrap_or(&mut []).chunks_exact_mut(ENTRY_LEN);
        for (entry, binding) in entries.zip(&self.list) {
            let ([a, b, c, d, e, f], [v0, v1, v2, v3]) =
                (binding.mac.0, binding.attribute.to_le_bytes());
            entry.copy_from_slice(&[a, b, c, d, e, f, 0, 0, v0, v1, v2, v3]);
        }
        cx.spend(CpuWork::Write { bytes: STORED_LEN as u32 });
        // A full flash cannot be helped: the list in RAM still holds (as in the component).
        let _ = cx.board.save(NvsKey::Bindings, &stored);
    }

    /// Returns whether a device is bound with that attribute.
    #[must_use]
    pub fn contains(&self, binding: Binding) -> bool {
        self.list.contains(&binding)
    }

    /// Returns whether there is no room for another binding.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.list.is_full()
    }

    /// Adds a binding in RAM; returns false if it is there already, or no room is left.
    pub(super) fn insert(&mut self, binding: Binding) -> bool {
        !self.contains(binding) && self.list.push(binding).is_ok()
    }

    /// Removes a binding in RAM; the last one takes its place. Returns false if it is not there.
    pub(super) fn remove(&mut self, binding: Binding) -> bool {
        let Some(at) = self.list.iter().position(|known| *known == binding) else { return false };
        self.list.swap_remove(at);
        true
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.loaded = true;
    }
}
