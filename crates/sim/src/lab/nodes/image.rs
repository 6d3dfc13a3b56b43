//! Application images, whose content many boards share.

use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;
use esp_now::component::ota::AppDescription;
use esp_now::node::ota::build::ImageBuilder;

/// Bytes of a sector of flash: the unit of erasing on every chip of the family.
pub const SECTOR: u32 = 4096;

/// Shortest image, bytes.
pub const LEN_MIN: u32 = ImageBuilder::LEN_MIN;
/// Longest image: the largest flash that chips of the family map.
pub const LEN_MAX: u32 = 16 << 20;

/// An image as it lies in a slot. Cloning shares the content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirmwareImage(Rc<[u8]>);

impl FirmwareImage {
    /// Creates an image with that content.
    #[must_use]
    pub fn new(content: &[u8]) -> Self {
        Self(content.into())
    }

    /// Builds a valid image to send about, of an application `solution` with that version; its
    /// content depends on length, version and seed. It is no program. The length is rounded up to
    /// one that an image can have: a multiple of 16, [`LEN_MIN`] at least.
    #[must_use]
    pub fn synthetic(len: u32, version: &str, seed: u64) -> Self {
        let len = len.clamp(LEN_MIN, LEN_MAX).next_multiple_of(16);
        let app = AppDescription::new("solution", version, "v5.1", "Jan  1 2026", "12:00:00");
        // The chip is the ESP32-C3, `esp_chip_id_t`.
        let build = ImageBuilder { len, chip: 5, app, seed };
        let mut bytes = Vec::with_capacity(len as usize);
        build.write(&mut |part| {
            bytes.extend_from_slice(part);
            true
        });
        Self(bytes.into())
    }

    /// Returns the content.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the length in bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "an empty image is a slot without one")]
    pub fn len(&self) -> u32 {
        self.0.len() as u32
    }
}

/// A slot of flash: nothing, an image that others may share, or one that is being written.
#[derive(Clone, Debug, Default)]
pub(super) enum FlashSlot {
    #[default]
    Empty,
    Whole(FirmwareImage),
    /// Erased to whole sectors; `len` is what was asked for.
    Open {
        bytes: Vec<u8>,
        len: u32,
    },
}

impl FlashSlot {
    pub(super) fn erased(len: u32) -> Self {
        Self::Open { bytes: vec![0xFF; len.next_multiple_of(SECTOR) as usize], len }
    }

    /// Returns the length of the image: what was erased for it counts as soon as its first byte is
    /// written.
    pub(super) fn image_len(&self) -> u32 {
        match self {
            Self::Empty => 0,
            Self::Whole(image) => image.len(),
            Self::Open { bytes, len } if bytes.first().is_some_and(|b| *b != 0xFF) => *len,
            Self::Open { .. } => 0,
        }
    }

    /// Reads what was ever written or erased, and 0xFF behind it.
    pub(super) fn read(&self, offset: u32, out: &mut [u8]) {
        let bytes = match self {
            Self::Empty => &[][..],
            Self::Whole(image) => image.bytes(),
            Self::Open { bytes, .. } => bytes,
        };
        let bytes = bytes.get(offset as usize..).unwrap_or_default();
        let len = bytes.len().min(out.len());
        out[..len].copy_from_slice(&bytes[..len]);
        out[len..].fill(0xFF);
    }

    /// Writes where it is erased. Flash only clears bits: what was not erased is spoiled.
    pub(super) fn write(&mut self, offset: u32, data: &[u8]) -> bool {
        let Self::Open { bytes, .. } = self else { return false };
        let offset = offset as usize;
        let place = offset.checked_add(data.len()).and_then(|end| bytes.get_mut(offset..end));
        let Some(place) = place else { return false };
        for (there, new) in place.iter_mut().zip(data) {
            *there &= new;
        }
        true
    }

    /// Closes the image in the slot, without what was erased beyond its end.
    pub(super) fn close(&mut self) {
        if let Self::Open { bytes, len } = self {
            bytes.truncate(*len as usize);
            *self = Self::Whole(FirmwareImage::new(bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_has_a_head_and_depends_on_what_it_is_made_of() {
        let image = FirmwareImage::synthetic(1008, "1.2.3", 1);
        assert_eq!((image.len(), image.bytes()[0]), (1008, 0xE9));
        assert_eq!(&image.bytes()[32..36], &[0x32, 0x54, 0xCD, 0xAB]);
        assert_eq!(&image.bytes()[48..54], b"1.2.3\0");
        assert_eq!(image, FirmwareImage::synthetic(1001, "1.2.3", 1));
        assert_ne!(image, FirmwareImage::synthetic(1008, "1.2.3", 2));
        assert_ne!(image, FirmwareImage::synthetic(1008, "1.2.4", 1));
        for len in [0, 1, 352] {
            assert_eq!(
                FirmwareImage::synthetic(len, "a version much too long for its field", 1).len(),
                352
            );
        }
    }

    #[test]
    fn flash_is_erased_before_it_is_written() {
        let mut flash = FlashSlot::Whole(FirmwareImage::new(&[1, 2, 3]));
        assert!(!flash.write(0, &[7]), "not erased");
        flash = FlashSlot::erased(5000);
        assert_eq!(flash.image_len(), 0);
        assert!(flash.write(0, &[0xE9, 0xF0]) && flash.write(8191, &[1]));
        assert!(!flash.write(8192, &[1]) && !flash.write(u32::MAX, &[1, 2]));
        assert!(flash.write(1, &[0x0F]), "possible, and spoils it");
        let mut out = [7; 4];
        flash.read(0, &mut out);
        assert_eq!((out, flash.image_len()), ([0xE9, 0, 0xFF, 0xFF], 5000));
        flash.close();
        assert_eq!(flash.image_len(), 5000);
        flash.read(4998, &mut out);
        assert_eq!(out, [0xFF; 4]);
    }
}
