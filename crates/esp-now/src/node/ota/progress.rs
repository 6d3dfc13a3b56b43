//! State that a responder keeps over a reset: the image being received, and the packets of it that
//! are there.
//!
//! The last part of the store has the component's layout: the 30 bytes of a [`OtaStatus`], then the
//! bitmap.

use super::bits;
use crate::component::Compat;
use crate::component::ota::{OtaStatus, STATUS_LEN};

/// Length of a stored session with the largest bitmap, in bytes.
pub const STORE: usize = STATUS_LEN + bits::BITMAP;

/// Progress of an image. `N` bytes hold the status and the bitmap, so that it can be stored in one
/// piece.
#[derive(Clone, Debug)]
pub struct ImageProgress<const N: usize = STORE> {
    store: [u8; N],
    status: OtaStatus,
    chunk: u16,
}

impl<const N: usize> Default for ImageProgress<N> {
    fn default() -> Self {
        Self { store: [0; N], status: OtaStatus::default(), chunk: 0 }
    }
}

impl<const N: usize> ImageProgress<N> {
    /// Returns whether an image can be received at all: its length is not zero, matches the
    /// announced number of packets, and is not too great.
    #[must_use]
    pub fn takes(status: &OtaStatus, compat: Compat) -> bool {
        let packets = status.total.div_ceil(compat.ota_chunk() as u32);
        let room = N.saturating_sub(STATUS_LEN).saturating_mul(8);
        packets > 0
            && packets == u32::from(status.packets)
            && packets <= u32::from(compat.ota_packets())
            && packets as usize <= room
    }

    /// Begins an image, with nothing of it received.
    pub fn begin(&mut self, status: &OtaStatus, compat: Compat) {
        self.status = OtaStatus { written: 0, index: 0, ..*status };
        self.chunk = compat.ota_chunk() as u16;
        self.store.fill(0);
    }

    /// Forgets the image.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns whether an image has begun.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        self.chunk != 0
    }

    /// Returns the image's status, with the bytes written.
    #[must_use]
    pub fn status(&self) -> OtaStatus {
        self.status
    }

    /// Returns whether the image is complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_begun() && self.status.written == self.status.total
    }

    /// Returns the percentage written.
    #[must_use]
    pub fn percent(&self) -> u8 {
        let hundred = u64::from(self.status.written) * 100;
        hundred.checked_div(u64::from(self.status.total)).unwrap_or(0).min(100) as u8
    }

    /// Returns offset and length of a packet that belongs to the image.
    #[must_use]
    pub fn place(&self, seq: u16) -> Option<(u32, u32)> {
        if seq >= self.status.packets {
            return None;
        }
        let chunk = u32::from(self.chunk);
        let offset = u32::from(seq).checked_mul(chunk)?;
        let left = self.status.total.checked_sub(offset).filter(|l| *l > 0)?;
        Some((offset, left.min(chunk)))
    }

    /// Returns whether a packet is there.
    #[must_use]
    pub fn has(&self, seq: u16) -> bool {
        bits::get(self.bits(), seq)
    }

    /// Records that a packet has been written.
    pub fn note(&mut self, seq: u16) {
        let Some((_, len)) = self.place(seq) else { return };
        let Some(bits) = self.store.get_mut(STATUS_LEN..) else { return };
        if !bits::get(bits, seq) && bits::set(bits, seq) {
            self.status.written = self.status.written.saturating_add(len);
        }
    }

    /// Returns the first row of `row` bytes in which a packet is missing, with its number; shorter
    /// where a small bitmap ends.
    #[must_use]
    pub fn missing_row(&self, row: usize) -> Option<(u8, &[u8])> {
        let missing = bits::next_clear(self.bits(), 0, self.status.packets)?;
        let index = usize::from(missing / 8).checked_div(row)?;
        let from = index.checked_mul(row)?;
        let bits = self.bits().get(from..)?;
        Some((u8::try_from(index).ok()?, bits.get(..row).unwrap_or(bits)))
    }

    /// Returns the bytes to store.
    pub fn stored(&mut self) -> &[u8] {
        if let Some(head) = self.store.first_chunk_mut::<STATUS_LEN>() {
            *head = self.status.bytes();
        }
        let len = STATUS_LEN + usize::from(self.status.packets).div_ceil(8);
        self.store.get(..len).unwrap_or(&self.store)
    }

    /// Restores a stored session; `load` fills the buffer and returns the length. Returns false,
    /// and begins nothing, if it is no session of this release. The number of written bytes is
    /// computed anew from the bitmap.
    pub fn restore(
        &mut self,
        compat: Compat,
        load: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) -> bool {
        self.clear();
        let len = load(&mut self.store).unwrap_or(0);
        let stored = self.store.get(..len).unwrap_or(&[]);
        let session = OtaStatus::parse(stored).filter(|(s, bits)| {
            Self::takes(s, compat) && bits.len() == usize::from(s.packets).div_ceil(8)
        });
        let Some((status, _)) = session else {
            self.clear();
            return false;
        };
        self.status = status;
        self.chunk = compat.ota_chunk() as u16;
        if let Some(rest) = self.store.get_mut(len..) {
            rest.fill(0);
        }
        let ones = u32::from(bits::ones(self.bits(), status.packets));
        let whole = ones.saturating_mul(u32::from(self.chunk));
        let last = status.packets.saturating_sub(1);
        // The last packet is shorter than a chunk.
        let short = match self.place(last) {
            Some((_, len)) if self.has(last) => u32::from(self.chunk).saturating_sub(len),
            _ => 0,
        };
        self.status.written = whole.saturating_sub(short);
        true
    }

    fn bits(&self) -> &[u8] {
        self.store.get(STATUS_LEN..).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn announced(total: u32) -> OtaStatus {
        OtaStatus {
            digest: [7; 16],
            packets: total.div_ceil(208) as u16,
            total,
            ..OtaStatus::default()
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let compat = Compat::default();
        let takes = |s: &OtaStatus| ImageProgress::<STORE>::takes(s, compat);
        assert!(takes(&announced(1)) && takes(&announced(21048 * 208)));
        assert!(!takes(&announced(0)) && !takes(&announced(21048 * 208 + 1)));
        assert!(!takes(&OtaStatus { packets: 480, ..announced(100_000) }), "another chunk's size");
        assert!(!ImageProgress::<40>::takes(&announced(81 * 208), compat), "ten bytes of bitmap");
    }

    proptest! {
        #[test]
        fn what_is_stored_is_taken_up_again(
            total in 1u32..60_000,
            seqs in prop::collection::vec(any::<u16>(), 0..300),
        ) {
            let compat = Compat::default();
            let mut progress = ImageProgress::<STORE>::default();
            progress.begin(&announced(total), compat);
            let packets = progress.status().packets;
            for seq in seqs {
                progress.note(seq % packets.saturating_add(3));
            }
            let stored: Vec<u8> = progress.stored().to_vec();
            let mut again = ImageProgress::<STORE>::default();
            let load = |out: &mut [u8]| { out[..stored.len()].copy_from_slice(&stored); Some(stored.len()) };
            prop_assert!(again.restore(compat, load));
            prop_assert_eq!(again.status(), progress.status());
            prop_assert!((0..packets).all(|s| again.has(s) == progress.has(s)));
            let sum: u32 = (0..packets).filter(|s| progress.has(*s)).filter_map(|s| progress.place(s)).map(|p| p.1).sum();
            prop_assert_eq!(sum, progress.status().written);
            prop_assert_eq!(progress.is_complete(), progress.missing_row(188).is_none());
        }

        #[test]
        fn any_bytes_are_taken_or_not(mut bytes in prop::collection::vec(any::<u8>(), 0..100), packets in 0u16..600) {
            if let [kind, .., ] = &mut bytes[..] { *kind = 3; }
            if bytes.len() > 25 {
                bytes[19..21].copy_from_slice(&packets.to_le_bytes());
                bytes[21..25].copy_from_slice(&(u32::from(packets) * 208).to_le_bytes());
            }
            let mut progress = ImageProgress::<STORE>::default();
            let ok = progress.restore(Compat::default(), |out| {
                out[..bytes.len()].copy_from_slice(&bytes);
                Some(bytes.len())
            });
            prop_assert_eq!(ok, progress.is_begun());
            prop_assert!(progress.status().written <= progress.status().total);
        }
    }
}
