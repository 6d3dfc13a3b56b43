//! The port to a flash chip, and the part of it that holds an application's image.

/// Bytes that are erased at once.
pub const SECTOR: u32 = 4096;
/// Bytes that are written at once, at an address that is a multiple of it.
pub const WORD: u32 = 4;

/// A NOR flash: erasing sets the bits of whole sectors, writing clears bits of whole words.
pub trait FlashChip {
    /// Reads from any address; returns false if it fails.
    fn read(&mut self, at: u32, out: &mut [u8]) -> bool;
    /// Writes whole words; returns false if it fails.
    fn write(&mut self, at: u32, data: &[u8]) -> bool;
    /// Erases the sector that begins at `at`; returns false if it fails.
    fn erase_sector(&mut self, at: u32) -> bool;
}

/// A part of the flash chip, as the partition table has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// First byte.
    pub offset: u32,
    /// Bytes.
    pub len: u32,
}

impl Partition {
    /// Returns the address of a piece, if it lies within the partition.
    fn address(self, offset: u32, len: usize) -> Option<u32> {
        let end = offset.checked_add(u32::try_from(len).ok()?)?;
        (end <= self.len).then(|| self.offset + offset)
    }

    /// Reads; returns false beyond the end, or if the chip fails.
    pub fn read(self, chip: &mut dyn FlashChip, offset: u32, out: &mut [u8]) -> bool {
        self.address(offset, out.len()).is_some_and(|at| chip.read(at, out))
    }

    /// Erases the first `len` bytes, up to the end of a sector; calls `between` after each sector.
    pub fn erase(self, chip: &mut dyn FlashChip, len: u32, between: &mut dyn FnMut()) -> bool {
        if len > self.len {
            return false;
        }
        let sectors = 0..len.div_ceil(SECTOR);
        sectors.into_iter().all(|sector| {
            between();
            chip.erase_sector(self.offset + sector * SECTOR)
        })
    }

    /// Writes at any offset and length: bytes around the piece, in its first and last word, are
    /// written as ones and so stay what they are.
    pub fn write(self, chip: &mut dyn FlashChip, offset: u32, data: &[u8]) -> bool {
        let Some(mut at) = self.address(offset, data.len()) else { return false };
        let mut data = data;
        // A buffer that is aligned, as the chip's driver wants it.
        let mut words = Words([0xFF; 256]);
        while !data.is_empty() {
            let lead = (at % WORD) as usize;
            let len = data.len().min(words.0.len() - lead);
            let (now, rest) = data.split_at(len);
            let whole = (lead + len).next_multiple_of(WORD as usize);
            words.0.fill(0xFF);
            words.0[lead..lead + len].copy_from_slice(now);
            if !chip.write(at - lead as u32, &words.0[..whole]) {
                return false;
            }
            at += len as u32;
            data = rest;
        }
        true
    }
}

#[repr(align(4))]
struct Words([u8; 256]);

/// Length of the header of an image, in bytes.
const IMAGE_HEADER: u32 = 24;
/// Length of the header of a segment, in bytes.
const SEGMENT_HEADER: u32 = 8;
/// First byte of an image.
const MAGIC: u8 = 0xE9;
/// Most segments of an image (the ROM and the bootloader accept no more).
const SEGMENTS_MAX: u8 = 16;

/// Returns the length of the image that begins a partition, by its headers: segments, the checksum
/// that fills 16 bytes, and the digest; 0 if there is none.
pub fn image_len(chip: &mut dyn FlashChip, place: Partition) -> u32 {
    find_image_len(chip, place).filter(|len| *len <= place.len).unwrap_or(0)
}

fn find_image_len(chip: &mut dyn FlashChip, place: Partition) -> Option<u32> {
    let mut header = [0; IMAGE_HEADER as usize];
    let (magic, segments, digest) = {
        place.read(chip, 0, &mut header).then_some(())?;
        (header[0], header[1], header[23])
    };
    if magic != MAGIC || segments == 0 || segments > SEGMENTS_MAX {
        return None;
    }
    let mut at = IMAGE_HEADER;
    for _ in 0..segments {
        let mut head = [0; SEGMENT_HEADER as usize];
        place.read(chip, at, &mut head).then_some(())?;
        let [.., a, b, c, d] = head;
        let len = u32::from_le_bytes([a, b, c, d]);
        at = at.checked_add(SEGMENT_HEADER)?.checked_add(len)?;
    }
    let end = at.checked_add(1)?.checked_next_multiple_of(16)?;
    end.checked_add(if digest == 1 { 32 } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::RamFlash;
    use std::vec;

    const PLACE: Partition = Partition { offset: 0x2000, len: 0x2000 };

    #[test]
    fn pieces_of_any_offset_and_length_are_written() {
        let mut chip = RamFlash::new(0x5000);
        let data: vec::Vec<u8> = (0..2000).map(|i| (i * 7) as u8).collect();
        for (piece, lead) in [(1, 0), (3, 1), (7, 2), (250, 3), (997, 1)] {
            assert!(PLACE.erase(&mut chip, PLACE.len, &mut || ()));
            let mut at = 0;
            for part in data.chunks(piece) {
                assert!(PLACE.write(&mut chip, lead + at, part));
                at += part.len() as u32;
            }
            let mut out = vec![0; data.len()];
            assert!(PLACE.read(&mut chip, lead, &mut out));
            assert!(out == data, "pieces of {piece} at {lead}");
        }
        assert!(chip.bytes[..0x2000].iter().chain(&chip.bytes[0x4000..]).all(|b| *b == 0xFF));
    }

    #[test]
    fn nothing_beyond_the_partition_is_touched() {
        let mut chip = RamFlash::new(0x5000);
        assert!(!PLACE.write(&mut chip, 0x1FFF, &[0; 2]));
        assert!(!PLACE.write(&mut chip, u32::MAX, &[0; 2]));
        assert!(!PLACE.read(&mut chip, 0x2000, &mut [0]));
        assert!(!PLACE.erase(&mut chip, 0x2001, &mut || ()));
        assert!(PLACE.write(&mut chip, 0x1FFF, &[0]));
        assert_eq!(chip.bytes.iter().position(|b| *b == 0), Some(0x3FFF));
    }

    #[test]
    fn an_image_is_as_long_as_its_headers_say() {
        let mut chip = RamFlash::new(0x5000);
        assert_eq!(image_len(&mut chip, PLACE), 0, "erased");
        let mut image = vec![0; 24];
        (image[0], image[1], image[23]) = (MAGIC, 2, 1);
        for len in [100u32, 33] {
            image.extend([0; 4]);
            image.extend(len.to_le_bytes());
            image.extend(vec![1; len as usize]);
        }
        assert!(PLACE.write(&mut chip, 0, &image));
        assert_eq!(image.len(), 173);
        assert_eq!(image_len(&mut chip, PLACE), 176 + 32);
        // A length that is not to be believed: the second segment is longer than the partition.
        chip.bytes[0x2000 + 24 + 8 + 100 + 4..][..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(image_len(&mut chip, PLACE), 0);
    }
}
