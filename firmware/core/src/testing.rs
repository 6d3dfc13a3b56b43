//! A flash chip in memory, which holds its user to the rules and may lose power.

use crate::flash::{FlashChip, SECTOR, WORD};
use std::vec;
use std::vec::Vec;

/// A flash chip of whole sectors.
#[derive(Clone, Debug)]
pub(crate) struct RamFlash {
    /// Contents.
    pub(crate) bytes: Vec<u8>,
    /// Words and sectors that can still be written or erased before the power is cut.
    pub(crate) left: Option<u32>,
    /// Erasures of each sector.
    pub(crate) erased: Vec<u32>,
    /// Words written and sectors erased.
    pub(crate) steps: u32,
}

impl RamFlash {
    /// Creates an erased chip.
    pub(crate) fn new(len: u32) -> Self {
        assert_eq!(len % SECTOR, 0);
        let sectors = (len / SECTOR) as usize;
        Self { bytes: vec![0xFF; len as usize], left: None, erased: vec![0; sectors], steps: 0 }
    }

    fn step(&mut self) -> bool {
        self.steps += 1;
        match &mut self.left {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }
}

impl FlashChip for RamFlash {
    fn read(&mut self, at: u32, out: &mut [u8]) -> bool {
        let Some(from) = self.bytes.get(at as usize..at as usize + out.len()) else { return false };
        out.copy_from_slice(from);
        true
    }

    fn write(&mut self, at: u32, data: &[u8]) -> bool {
        assert_eq!((at % WORD, data.len() % WORD as usize), (0, 0), "whole words");
        for (i, word) in data.chunks(WORD as usize).enumerate() {
            if !self.step() {
                // Half a word reached the chip.
                if self.left == Some(0) {
                    self.bytes[at as usize + i * 4] &= word[0];
                }
                return false;
            }
            for (place, byte) in self.bytes[at as usize + i * 4..].iter_mut().zip(word) {
                *place &= byte;
            }
        }
        true
    }

    fn erase_sector(&mut self, at: u32) -> bool {
        assert_eq!(at % SECTOR, 0, "whole sectors");
        if !self.step() {
            // An erasure that was cut leaves some of the sector as it was.
            self.bytes[at as usize..][..SECTOR as usize / 2].fill(0xFF);
            return false;
        }
        self.bytes[at as usize..][..SECTOR as usize].fill(0xFF);
        self.erased[(at / SECTOR) as usize] += 1;
        true
    }
}
