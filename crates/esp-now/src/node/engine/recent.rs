//! The cache of recently received frames (`g_msg_magic_cache`).

/// Number of entries of each of the two caches (`ESPNOW_MSG_CACHE`).
pub const RECENT: usize = 32;

/// Types and magics of the last frames: plain ones and encrypted ones apart, with one index for
/// both.
///
/// The key is the type and the magic, not the source: two senders that draw the same magic lose a
/// frame (trap 2). The index moves for both, so that an entry of the rarer kind outlives 32 frames.
/// As on the device all entries are zero at the start, so that an acknowledgement with magic 0
/// counts as a duplicate from the beginning.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    plain: [u32; RECENT],
    sealed: [u32; RECENT],
    last: u8,
}

impl Recent {
    pub(super) const fn new() -> Self {
        Self { plain: [0; RECENT], sealed: [0; RECENT], last: 0 }
    }

    /// Returns whether the frame is a duplicate.
    #[inline]
    pub(super) fn knows(&self, sealed: bool, key: u32) -> bool {
        let cache = if sealed { &self.sealed } else { &self.plain };
        // No early end: 32 words are compared at once where the processor can.
        cache.iter().fold(false, |found, entry| found | (*entry == key))
    }

    /// Remembers a frame, over the oldest entry.
    #[inline]
    pub(super) fn remember(&mut self, sealed: bool, key: u32) {
        self.last = (self.last + 1) % RECENT as u8;
        let cache = if sealed { &mut self.sealed } else { &mut self.plain };
        if let Some(entry) = cache.get_mut(usize::from(self.last)) {
            *entry = key;
        }
    }
}
