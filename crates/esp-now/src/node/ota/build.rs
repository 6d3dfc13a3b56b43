//! Builds valid application images of any length, for tests and for the simulator.

use super::image::{HEADER_LEN, SHA_LEN};
use crate::component::ota::AppDescription;
use sha2::{Digest, Sha256};

/// Recipe for an image. Equal values make equal bytes.
#[derive(Clone, Debug)]
pub struct ImageBuilder {
    /// Length of the whole image in bytes: a multiple of 16, at least [`ImageBuilder::LEN_MIN`].
    pub len: u32,
    /// Number of the chip that the image is for.
    pub chip: u16,
    /// Application description of the image.
    pub app: AppDescription,
    /// Seed of its contents.
    pub seed: u64,
}

impl ImageBuilder {
    /// Length of the shortest image, in bytes: header, two segments of which the first holds the
    /// description, checksum, digest.
    pub const LEN_MIN: u32 = 352;

    /// Writes the image into `sink` from its first byte to its last, and returns its SHA-256.
    /// `None` if there is no image of that length, or the sink refuses.
    pub fn write(&self, sink: &mut dyn FnMut(&[u8]) -> bool) -> Option<[u8; SHA_LEN]> {
        if self.len < Self::LEN_MIN || !self.len.is_multiple_of(16) {
            return None;
        }
        // There are two segments, so that a walk over them has more than one step.
        let data = self.len - HEADER_LEN as u32 - 2 * 8 - 16 - SHA_LEN as u32;
        let first = (data / 12 * 4).max(256);
        let mut out = ImageWriter { sink, sha: Sha256::new(), sum: 0xEF, chance: self.seed };
        let [c0, c1] = self.chip.to_le_bytes();
        let mut header = [0; HEADER_LEN];
        header[..4].copy_from_slice(&[0xE9, 2, 2, 0x2F]);
        header[12..14].copy_from_slice(&[c0, c1]);
        header[23] = 1;
        out.put(&header)?;
        out.segment(0x3C00_0020, first)?;
        out.data(&self.app.0)?;
        out.data(&[0; 256 - AppDescription::LEN])?;
        out.fill(first - 256)?;
        out.segment(0x4200_0020, data - first)?;
        out.fill(data - first)?;
        let mut pad = [0; 16];
        pad[15] = out.sum;
        out.put(&pad)?;
        let sha: [u8; SHA_LEN] = core::mem::take(&mut out.sha).finalize().into();
        (out.sink)(&sha).then_some(sha)
    }
}

struct ImageWriter<'a> {
    sink: &'a mut dyn FnMut(&[u8]) -> bool,
    sha: Sha256,
    sum: u8,
    chance: u64,
}

impl ImageWriter<'_> {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.sha.update(bytes);
        (self.sink)(bytes).then_some(())
    }

    fn segment(&mut self, address: u32, len: u32) -> Option<()> {
        self.put(&address.to_le_bytes())?;
        self.put(&len.to_le_bytes())
    }

    fn data(&mut self, bytes: &[u8]) -> Option<()> {
        self.sum = bytes.iter().fold(self.sum, |sum, b| sum ^ b);
        self.put(bytes)
    }

    fn fill(&mut self, mut left: u32) -> Option<()> {
        while left > 0 {
            let mut piece = [0; 256];
            for eight in piece.chunks_exact_mut(8) {
                // Weyl sequence, mixed once (Steele, Lea and Flood 2014).
                self.chance = self.chance.wrapping_add(0x9E37_79B9_7F4A_7C15);
                let z = (self.chance ^ self.chance >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                eight.copy_from_slice(&(z ^ z >> 27).to_le_bytes());
            }
            let len = left.min(piece.len() as u32);
            self.data(piece.get(..len as usize)?)?;
            left -= len;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::ota::image::{Flaw, Scanner};
    use proptest::prelude::*;
    use std::vec::Vec;

    fn image(len: u32) -> Vec<u8> {
        let app = AppDescription::new("solution", "1.0", "v5.1", "Jan  1 2026", "12:00:00");
        let mut bytes = Vec::new();
        let build = ImageBuilder { len, chip: 5, app, seed: 7 };
        let sha = build.write(&mut |piece| {
            bytes.extend_from_slice(piece);
            true
        });
        assert_eq!(sha.map(|s| s.to_vec()), Some(bytes[bytes.len() - 32..].to_vec()));
        bytes
    }

    fn scan(bytes: &[u8]) -> Result<Option<u32>, Flaw> {
        let mut scanner = Scanner::new(bytes.len() as u32);
        scanner.feed(bytes)?;
        Ok(scanner.image().map(|i| i.len))
    }

    #[test]
    fn images_have_the_length_that_was_asked_for() {
        for len in [352, 368, 1024, 100_000, 1_029_248] {
            let bytes = image(len);
            assert_eq!(bytes.len() as u32, len);
            assert_eq!(scan(&bytes), Ok(Some(len)), "{len}");
            assert_eq!(
                AppDescription::parse(&bytes[32..]).expect("description").project(),
                b"solution"
            );
        }
        let odd = ImageBuilder { len: 1001, chip: 5, app: AppDescription::default(), seed: 7 };
        assert_eq!(odd.write(&mut |_| true), None);
    }

    #[test]
    fn an_image_without_an_appended_digest_ends_before_it() {
        let mut bytes = image(1024);
        bytes[23] = 0;
        assert_eq!(scan(&bytes), Ok(Some(992)));
    }

    proptest! {
        #[test]
        fn one_wrong_bit_is_found(at in 0usize..1024, bit in 0u8..8) {
            let mut bytes = image(1024);
            bytes[at] ^= 1 << bit;
            prop_assert!(!matches!(scan(&bytes), Ok(Some(1024))));
        }

        #[test]
        fn pieces_of_any_size_give_the_same(cuts in prop::collection::vec(1usize..300, 1..40)) {
            let bytes = image(2048);
            let mut scanner = Scanner::new(2048);
            let mut rest = &bytes[..];
            for cut in cuts.into_iter().cycle() {
                let (now, later) = rest.split_at(cut.min(rest.len()));
                prop_assert_eq!(scanner.feed(now), Ok(()));
                rest = later;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(scanner.image().map(|i| i.len), Some(2048));
        }

        #[test]
        fn any_bytes_scan(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let mut like = image(352);
            for (to, from) in like.iter_mut().zip(&bytes).skip(1) {
                *to = *from;
            }
            let _ = (scan(&bytes), scan(&like));
        }
    }
}
