//! An application image of an ESP chip (ESP-IDF, "App Image Format").
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | 0xE9 |
//! | 1 | 1 | segments, 1 to 16 |
//! | 2 | 10 | flash mode, speed and size, entry point, pins: not checked |
//! | 12 | 2 | chip: 0 ESP32, 2 S2, 5 C3, 9 S3, 12 C2, 13 C6, 16 H2 … |
//! | 14 | 9 | chip revisions, reserved |
//! | 23 | 1 | 1 if a SHA-256 is appended |
//! | 24 | 8 | first segment: load address, length |
//! | 32 | 256 | first segment's data: the application description ([`AppDescription`]) |
//! | … | | more segments, each with its 8 bytes before it |
//! | … | 1 to 16 | zeros, and as the last byte of a block of 16 the XOR of all segment data with 0xEF |
//! | … | 32 | SHA-256 of everything before it |
//!
//! Bytes that follow (signatures) are not covered by any of these and not checked.

use crate::component::ota::{AppDescription, DIGEST_LEN};
use crate::node::board::{Board, CpuWork, Slot};
use crate::node::task::Cx;
use sha2::{Digest, Sha256};

/// Length of the header, in bytes.
pub const HEADER_LEN: usize = 24;
/// Offset of the application description.
pub const DESCRIPTION_AT: u32 = 32;
/// Length of the appended digest, in bytes.
pub const SHA_LEN: usize = 32;
/// Greatest number of segments (`ESP_IMAGE_MAX_SEGMENTS`).
pub const SEGMENTS_MAX: u8 = 16;
/// Number of bytes checked in one step.
pub const SLICE: u32 = 4096;

const MAGIC: u8 = 0xE9;
const CHECKSUM_SEED: u8 = 0xEF;

/// Flaw of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// The image does not begin as one.
    Header,
    /// The image ends before its last segment, or its digest.
    Short,
    /// The XOR of its segments differs from the stored one.
    Checksum,
    /// The SHA-256 differs from the appended one.
    Digest,
    /// The image could not be read.
    Flash,
}

/// A complete image that has passed the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// Length up to the end of the digest, in bytes.
    pub len: u32,
    /// SHA-256: the appended one, which was checked; or that of all bytes where none is appended
    /// (`esp_partition_get_sha256`).
    pub sha: [u8; SHA_LEN],
    /// Number of the chip that the image is for.
    pub chip: u16,
}

impl Image {
    /// Returns the half of the SHA-256 that is announced.
    #[must_use]
    pub fn digest(&self) -> [u8; DIGEST_LEN] {
        core::array::from_fn(|i| self.sha[i])
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanStage {
    Header,
    Segment,
    Data(u32),
    Pad(u32),
    Digest,
    Done,
}

/// Checker of an image that is fed in pieces of any size.
#[derive(Clone)]
pub struct Scanner {
    stage: ScanStage,
    gathered: [u8; SHA_LEN],
    have: u8,
    segments: u8,
    appended: bool,
    chip: u16,
    at: u32,
    limit: u32,
    checksum: u8,
    sha: Sha256,
    digest: [u8; SHA_LEN],
}

impl core::fmt::Debug for Scanner {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Scanner").field("stage", &self.stage).field("at", &self.at).finish()
    }
}

impl Scanner {
    /// Creates a scanner of an image that takes at most `limit` bytes.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        Self {
            stage: ScanStage::Header,
            gathered: [0; SHA_LEN],
            have: 0,
            segments: 0,
            appended: false,
            chip: 0,
            at: 0,
            limit,
            checksum: CHECKSUM_SEED,
            sha: Sha256::new(),
            digest: [0; SHA_LEN],
        }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// Returns the flaw of the image, after which there is no use in going on.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<(), Flaw> {
        while !bytes.is_empty() && self.stage != ScanStage::Done {
            let used = match self.stage {
                ScanStage::Header => self.gather(bytes, HEADER_LEN),
                ScanStage::Segment => self.gather(bytes, 8),
                ScanStage::Digest => self.gather(bytes, SHA_LEN),
                ScanStage::Data(left) | ScanStage::Pad(left) => bytes.len().min(left as usize),
                ScanStage::Done => 0,
            };
            let (now, rest) = bytes.split_at_checked(used).ok_or(Flaw::Short)?;
            if self.stage != ScanStage::Digest {
                self.sha.update(now);
            }
            self.at = self.at.saturating_add(used as u32);
            self.advance(now)?;
            bytes = rest;
        }
        Ok(())
    }

    /// Returns the image, once it is complete.
    #[must_use]
    pub fn image(&self) -> Option<Image> {
        (self.stage == ScanStage::Done).then_some(Image {
            len: self.at,
            sha: self.digest,
            chip: self.chip,
        })
    }

    fn gather(&mut self, bytes: &[u8], want: usize) -> usize {
        let have = usize::from(self.have);
        let used = bytes.len().min(want.saturating_sub(have));
        for (to, from) in self.gathered.iter_mut().skip(have).zip(bytes).take(used) {
            *to = *from;
        }
        self.have = have.saturating_add(used) as u8;
        used
    }

    fn complete(&mut self, want: usize) -> bool {
        let complete = usize::from(self.have) >= want;
        if complete {
            self.have = 0;
        }
        complete
    }

    fn advance(&mut self, now: &[u8]) -> Result<(), Flaw> {
        let stage = self.stage;
        match stage {
            ScanStage::Header if self.complete(HEADER_LEN) => self.header()?,
            ScanStage::Segment if self.complete(8) => {
                let [_, _, _, _, a, b, c, d, ..] = self.gathered;
                self.data(u32::from_le_bytes([a, b, c, d]))?;
            }
            ScanStage::Data(left) => {
                self.checksum = now.iter().fold(self.checksum, |sum, b| sum ^ b);
                let left = left.saturating_sub(now.len() as u32);
                if left == 0 { self.next_segment() } else { self.stage = ScanStage::Data(left) }
            }
            ScanStage::Pad(left) => {
                let left = left.saturating_sub(now.len() as u32);
                self.stage = ScanStage::Pad(left);
                if left == 0 {
                    self.padded(now.last().copied().unwrap_or(0))?;
                }
            }
            ScanStage::Digest if self.complete(SHA_LEN) => {
                if self.gathered != self.digest {
                    return Err(Flaw::Digest);
                }
                self.stage = ScanStage::Done;
            }
            _ => {}
        }
        Ok(())
    }

    fn header(&mut self) -> Result<(), Flaw> {
        let h = &self.gathered;
        if h[0] != MAGIC || h[1] == 0 || h[1] > SEGMENTS_MAX || h[23] > 1 {
            return Err(Flaw::Header);
        }
        self.segments = h[1];
        self.chip = u16::from_le_bytes([h[12], h[13]]);
        self.appended = h[23] == 1;
        self.stage = ScanStage::Segment;
        Ok(())
    }

    fn data(&mut self, len: u32) -> Result<(), Flaw> {
        if len > self.limit.saturating_sub(self.at) {
            return Err(Flaw::Short);
        }
        if len == 0 {
            self.next_segment()
        } else {
            self.stage = ScanStage::Data(len)
        }
        Ok(())
    }

    fn next_segment(&mut self) {
        self.segments = self.segments.saturating_sub(1);
        self.stage = if self.segments > 0 {
            ScanStage::Segment
        } else {
            // At least one byte, the checksum, up to a whole block of 16.
            ScanStage::Pad(16 - self.at % 16)
        };
    }

    fn padded(&mut self, checksum: u8) -> Result<(), Flaw> {
        if checksum != self.checksum {
            return Err(Flaw::Checksum);
        }
        self.digest = core::mem::take(&mut self.sha).finalize().into();
        self.stage = if self.appended { ScanStage::Digest } else { ScanStage::Done };
        Ok(())
    }
}

/// Check of the image in a slot of the board, slice by slice, so that no call takes long.
#[derive(Clone, Debug)]
pub struct ImageCheck {
    slot: Slot,
    len: u32,
    at: u32,
    scanner: Scanner,
}

impl ImageCheck {
    /// Begins the check of the image of `len` bytes in a slot.
    #[must_use]
    pub fn new(slot: Slot, len: u32) -> Self {
        Self { slot, len, at: 0, scanner: Scanner::new(len) }
    }

    /// Checks the next [`SLICE`], and spends the time for it. Returns the verdict when the check is
    /// over.
    pub fn step(&mut self, cx: &mut Cx<'_>) -> Option<Result<Image, Flaw>> {
        let from = self.at;
        let verdict = self.slice(cx.board);
        let bytes = self.at.saturating_sub(from);
        cx.spend(CpuWork::Read { bytes });
        cx.spend(CpuWork::Hash { bytes });
        verdict
    }

    fn slice(&mut self, board: &mut dyn Board) -> Option<Result<Image, Flaw>> {
        let end = self.at.saturating_add(SLICE).min(self.len);
        let mut buf = [0; 512];
        while self.at < end {
            let len = (end - self.at).min(buf.len() as u32);
            let piece = buf.get_mut(..len as usize)?;
            if !board.read(self.slot, self.at, piece) {
                return Some(Err(Flaw::Flash));
            }
            self.at = self.at.saturating_add(len);
            if let Err(flaw) = self.scanner.feed(piece) {
                return Some(Err(flaw));
            }
            if let Some(image) = self.scanner.image() {
                return Some(Ok(image));
            }
        }
        (self.at >= self.len).then_some(Err(Flaw::Short))
    }
}

/// Returns the application description in a slot; `None` if there is none.
pub fn describe(board: &mut dyn Board, slot: Slot) -> Option<AppDescription> {
    let mut bytes = [0; AppDescription::LEN];
    if !board.read(slot, 0, bytes.get_mut(..1)?) || bytes.first() != Some(&MAGIC) {
        return None;
    }
    if !board.read(slot, DESCRIPTION_AT, &mut bytes) {
        return None;
    }
    AppDescription::parse(&bytes)
}
