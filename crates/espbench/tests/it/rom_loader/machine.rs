//! A chip in its loader, as a machine: frames in, frames out. The flash is memory.

use super::packet::{Refusal, Request, op, response};
use flate2::{Decompress, FlushDecompress, Status};
use md5::{Digest as _, Md5};
use std::collections::HashMap;

/// Size of what is erased at once.
const SECTOR: usize = 0x1000;

/// Largest flash that there is, for sizes that a host may ask for.
const LARGEST: usize = 16 << 20;

/// Facts of a chip that hosts ask for.
#[derive(Clone, Copy, Debug)]
pub struct ChipModel {
    /// Number in images and in the answer to `GET_SECURITY_INFO`.
    pub id: u32,
    /// Value at 0x4000_1000, by which chips were told apart before.
    pub magic: u32,
    /// First eFuse register with the MAC address.
    pub mac_register: u32,
    /// Registers of the SPI that flash is at.
    pub spi_base: u32,
}

impl ChipModel {
    /// ESP32-C3, whose revision is v0.4.
    pub const C3: Self =
        Self { id: 5, magic: 0x1B31_506F, mac_register: 0x6000_8844, spi_base: 0x6000_2000 };
    /// ESP32-C6.
    pub const C6: Self =
        Self { id: 13, magic: 0x2CE0_806F, mac_register: 0x600B_0844, spi_base: 0x6000_3000 };
}

/// MAC address in the eFuses.
pub const MAC: [u8; 6] = [0x60, 0x55, 0xF9, 0xC0, 0xDB, 0x01];

/// Ways in which a chip or its answers may be wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wrong {
    /// No answer to anything.
    pub is_silent: bool,
    /// Flash keeps one byte other than it was told.
    pub has_bad_cell: bool,
    /// Answers to reads of registers say a length that they have not.
    pub lies_about_length: bool,
}

/// A write that is under way.
#[derive(Debug)]
struct Transfer {
    /// Address of the next byte.
    at: usize,
    /// Bytes that are still to come, uncompressed.
    left: usize,
    next_block: u32,
    inflate: Option<Decompress>,
}

/// Counts of what was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoaderCounts {
    pub requests: u32,
    pub syncs: u32,
    pub digests: u32,
    pub blocks: u32,
    pub compressed_blocks: u32,
    pub erased_sectors: u32,
    pub refused: u32,
}

/// Machine.
#[derive(Debug)]
pub struct Loader {
    chip: ChipModel,
    pub flash: Vec<u8>,
    registers: HashMap<u32, u32>,
    /// Pieces of memory that were written, by their address.
    memory: Vec<(u32, Vec<u8>)>,
    memory_left: usize,
    memory_block: u32,
    transfer: Option<Transfer>,
    reading: Option<Reading>,
    /// Loader that runs: the one in ROM, or the stub that the host brought.
    pub is_stub: bool,
    /// Rate that the host asked for.
    pub baud: Option<u32>,
    pub wrong: Wrong,
    pub counts: LoaderCounts,
}

/// A read of flash that the host acknowledges packet by packet.
#[derive(Debug)]
struct Reading {
    range: std::ops::Range<usize>,
    packet: usize,
    sent: usize,
}

impl Loader {
    /// Creates a chip with an erased flash of so many bytes.
    pub fn new(chip: ChipModel, flash: usize, wrong: Wrong) -> Self {
        let [m0, m1, m2, m3, m4, m5] = MAC;
        let registers = HashMap::from([
            (0x4000_1000, chip.magic),
            (chip.mac_register, u32::from_be_bytes([m2, m3, m4, m5])),
            (chip.mac_register + 4, u32::from_be_bytes([0, 0, m0, m1])),
            // Minor revision 4 of the wafer, in the word behind the MAC address of C3.
            (chip.mac_register + 12, 4 << 18),
        ]);
        Self {
            chip,
            flash: vec![0xFF; flash.min(LARGEST)],
            registers,
            memory: Vec::new(),
            memory_left: 0,
            memory_block: 0,
            transfer: None,
            reading: None,
            is_stub: false,
            baud: None,
            wrong,
            counts: LoaderCounts::default(),
        }
    }

    /// Takes a frame; returns the frames that answer it.
    pub fn handle(&mut self, frame: &[u8]) -> Vec<Vec<u8>> {
        if self.wrong.is_silent {
            return Vec::new();
        }
        if let Some(frames) = self.acknowledged(frame) {
            return frames;
        }
        let Some(request) = Request::parse(frame) else {
            self.counts.refused += 1;
            return Vec::new();
        };
        self.counts.requests += 1;
        let was_stub = self.is_stub;
        let answer = self.carry_out(&request);
        let (value, data, error) = match answer {
            Ok(Answer { value, data }) => (value, data, None),
            Err(error) => {
                self.counts.refused += 1;
                (0, Vec::new(), Some(error))
            }
        };
        let mut first = response(request.op, value, &data, error, was_stub);
        if self.wrong.lies_about_length && request.op == op::READ_REG {
            first.extend([0; 3]);
            first[2..4].copy_from_slice(&0x7FF0_u16.to_le_bytes());
        }
        match request.op {
            // Eight times, so that a host at a wrong rate may miss some.
            op::SYNC if error.is_none() => vec![first; 8],
            op::MEM_END if self.is_stub && !was_stub => vec![first, b"OHAI".to_vec()],
            op::READ_FLASH if error.is_none() => [vec![first], self.next_packets()].concat(),
            op::RUN_USER_CODE => Vec::new(),
            _ => vec![first],
        }
    }

    fn carry_out(&mut self, request: &Request) -> Result<Answer, Refusal> {
        let word = |at| request.word(at).ok_or(Refusal::Invalid);
        let is_for_stub = matches!(
            request.op,
            op::ERASE_FLASH | op::ERASE_REGION | op::READ_FLASH | op::RUN_USER_CODE
        );
        if is_for_stub && !self.is_stub {
            return Err(Refusal::Invalid);
        }
        match request.op {
            op::SYNC => {
                let is_right = request.data.len() == 36
                    && request.data.starts_with(&[0x07, 0x07, 0x12, 0x20])
                    && request.data[4..].iter().all(|it| *it == 0x55);
                self.counts.syncs += u32::from(is_right);
                let value = if self.is_stub { 0 } else { 0x2012_0707 };
                if is_right { Ok(Answer::value(value)) } else { Err(Refusal::Invalid) }
            }
            op::READ_REG => Ok(Answer::value(self.read(word(0)?))),
            op::WRITE_REG => {
                for at in 0..request.data.len() / 16 {
                    self.write(word(4 * at)?, word(4 * at + 1)?, word(4 * at + 2)?);
                }
                Ok(Answer::value(0))
            }
            op::SECURITY_INFO => {
                let mut data = vec![0; 12];
                data.extend(self.chip.id.to_le_bytes());
                data.extend(0_u32.to_le_bytes());
                Ok(Answer { value: 0, data })
            }
            op::MEM_BEGIN | op::MEM_DATA | op::MEM_END => self.memory_request(request),
            op::SPI_ATTACH | op::SPI_SET_PARAMS => Ok(Answer::value(0)),
            op::CHANGE_BAUD => {
                self.baud = Some(word(0)?);
                Ok(Answer::value(0))
            }
            op::FLASH_MD5 => {
                let digest = Md5::digest(&self.flash[self.range(word(0)?, word(1)?)?]);
                self.counts.digests += 1;
                let hex = || digest.iter().map(|it| format!("{it:02x}")).collect::<String>();
                let data = if self.is_stub { digest.to_vec() } else { hex().into_bytes() };
                Ok(Answer { value: 0, data })
            }
            op::ERASE_FLASH => {
                self.erase(0..self.flash.len());
                Ok(Answer::value(0))
            }
            op::ERASE_REGION => {
                let range = self.range(word(0)?, word(1)?)?;
                let is_whole = range.start % SECTOR == 0 && range.end % SECTOR == 0;
                if !is_whole {
                    return Err(Refusal::Failed);
                }
                self.erase(range);
                Ok(Answer::value(0))
            }
            op::READ_FLASH => {
                let range = self.range(word(0)?, word(1)?)?;
                let packet = (word(2)? as usize).clamp(1, SECTOR);
                self.reading = Some(Reading { range, packet, sent: 0 });
                Ok(Answer::value(0))
            }
            op::RUN_USER_CODE => Ok(Answer::value(0)),
            _ => self.flash_request(request),
        }
    }

    fn memory_request(&mut self, request: &Request) -> Result<Answer, Refusal> {
        let word = |at| request.word(at).ok_or(Refusal::Invalid);
        match request.op {
            op::MEM_BEGIN => {
                self.memory_left = word(0)? as usize;
                self.memory_block = 0;
                self.memory.push((word(3)?, Vec::new()));
            }
            op::MEM_DATA => {
                let (number, block) = request.block()?;
                let Some((_, piece)) = self.memory.last_mut() else { return Err(Refusal::Failed) };
                if number != self.memory_block || piece.len() + block.len() > LARGEST {
                    return Err(Refusal::Failed);
                }
                self.memory_block += 1;
                self.memory_left = self.memory_left.saturating_sub(block.len());
                piece.extend_from_slice(block);
            }
            _ => {
                let entry = word(1)?;
                let holds = |(at, piece): &(u32, Vec<u8>)| {
                    entry.checked_sub(*at).is_some_and(|it| (it as usize) < piece.len())
                };
                // A stub runs only where all of it came, and where it begins in what came.
                if word(0)? == 0 {
                    if self.memory_left > 0 || !self.memory.iter().any(holds) {
                        return Err(Refusal::Failed);
                    }
                    self.is_stub = true;
                }
            }
        }
        Ok(Answer::value(0))
    }

    fn flash_request(&mut self, request: &Request) -> Result<Answer, Refusal> {
        let word = |at| request.word(at).ok_or(Refusal::Invalid);
        match request.op {
            op::FLASH_BEGIN | op::FLASH_DEFL_BEGIN => {
                let range = self.range(word(3)?, word(0)?)?;
                let is_deflated = request.op == op::FLASH_DEFL_BEGIN;
                self.erase(range.start - range.start % SECTOR..range.end.next_multiple_of(SECTOR));
                self.transfer = Some(Transfer {
                    at: range.start,
                    left: range.len(),
                    next_block: 0,
                    inflate: is_deflated.then(|| Decompress::new(true)),
                });
            }
            op::FLASH_DATA | op::FLASH_DEFL_DATA => {
                let (number, block) = request.block()?;
                let Some(mut transfer) = self.transfer.take() else { return Err(Refusal::Failed) };
                let is_deflated = request.op == op::FLASH_DEFL_DATA;
                if number != transfer.next_block || is_deflated != transfer.inflate.is_some() {
                    return Err(Refusal::Failed);
                }
                transfer.next_block += 1;
                self.counts.blocks += 1;
                self.counts.compressed_blocks += u32::from(is_deflated);
                let plain = match &mut transfer.inflate {
                    Some(inflate) => inflated(inflate, block, transfer.left)?,
                    // The last block is filled up.
                    None => block[..block.len().min(transfer.left)].to_vec(),
                };
                self.program(transfer.at, &plain);
                transfer.at += plain.len();
                transfer.left -= plain.len();
                self.transfer = Some(transfer);
            }
            op::FLASH_END | op::FLASH_DEFL_END => {
                // Sizes that the stub is told are exact, those of the loader in ROM and of plain blocks are not.
                let is_exact = self.is_stub && request.op == op::FLASH_DEFL_END;
                let left = self.transfer.take().map_or(0, |it| it.left);
                word(0)?;
                if is_exact && left > 0 {
                    return Err(Refusal::Failed);
                }
            }
            _ => return Err(Refusal::Invalid),
        }
        Ok(Answer::value(0))
    }

    /// Returns a range of the flash, if it has one there.
    fn range(&self, at: u32, length: u32) -> Result<std::ops::Range<usize>, Refusal> {
        let end = (at as usize).checked_add(length as usize).ok_or(Refusal::Failed)?;
        if end > self.flash.len() { Err(Refusal::Failed) } else { Ok(at as usize..end) }
    }

    fn erase(&mut self, range: std::ops::Range<usize>) {
        let range = range.start..range.end.min(self.flash.len());
        self.counts.erased_sectors += range.len().div_ceil(SECTOR) as u32;
        self.flash[range].fill(0xFF);
    }

    /// Writes as flash does: bits go from one to zero only.
    fn program(&mut self, at: usize, bytes: &[u8]) {
        let end = (at + bytes.len()).min(self.flash.len());
        for (cell, byte) in self.flash[at.min(end)..end].iter_mut().zip(bytes) {
            *cell &= byte;
        }
        if self.wrong.has_bad_cell && at < end {
            self.flash[at] ^= 0x01;
        }
    }

    fn read(&self, address: u32) -> u32 {
        self.registers.get(&address).copied().unwrap_or(0)
    }

    fn write(&mut self, address: u32, value: u32, mask: u32) {
        let value = self.read(address) & !mask | value & mask;
        let spi = self.chip.spi_base;
        if address == spi && value & 1 << 18 != 0 {
            // A command of the host's own choice to the flash: 0x9F asks for maker, type and size.
            let command = self.read(spi + 0x20) & 0xFF;
            let size = self.flash.len().max(1).ilog2();
            let answer = if command == 0x9F { size << 16 | 0x40 << 8 | 0x20 } else { 0 };
            self.registers.insert(spi + 0x58, answer);
            self.registers.insert(address, 0);
        } else if self.registers.len() < 1000 {
            self.registers.insert(address, value);
        }
    }

    /// Takes the host's count of bytes that it has read.
    fn acknowledged(&mut self, frame: &[u8]) -> Option<Vec<Vec<u8>>> {
        let reading = self.reading.as_ref()?;
        let count: [u8; 4] = frame.try_into().ok()?;
        (u32::from_le_bytes(count) as usize == reading.sent).then(|| self.next_packets())
    }

    /// Returns the next packet of a read, or the digest of all.
    fn next_packets(&mut self) -> Vec<Vec<u8>> {
        let Some(reading) = &mut self.reading else { return Vec::new() };
        let all = &self.flash[reading.range.clone()];
        if reading.sent == all.len() {
            let digest = Md5::digest(all).to_vec();
            self.reading = None;
            return vec![digest];
        }
        let end = (reading.sent + reading.packet).min(all.len());
        let packet = all[reading.sent..end].to_vec();
        reading.sent = end;
        vec![packet]
    }
}

/// Result of a request.
struct Answer {
    value: u32,
    data: Vec<u8>,
}

impl Answer {
    const fn value(value: u32) -> Self {
        Self { value, data: Vec::new() }
    }
}

/// Inflates a block; at most so many bytes may come out.
fn inflated(inflate: &mut Decompress, block: &[u8], most: usize) -> Result<Vec<u8>, Refusal> {
    let mut plain = Vec::new();
    let (mut rest, mut out) = (block, vec![0; 0x4000]);
    loop {
        let (taken, given) = (inflate.total_in(), inflate.total_out());
        let status = inflate.decompress(rest, &mut out, FlushDecompress::None);
        let status = status.map_err(|_| Refusal::Deflate)?;
        let (taken, given) =
            ((inflate.total_in() - taken) as usize, (inflate.total_out() - given) as usize);
        rest = &rest[taken..];
        plain.extend_from_slice(&out[..given]);
        if plain.len() > most {
            return Err(Refusal::Failed);
        }
        if status == Status::StreamEnd || (rest.is_empty() && given < out.len()) {
            return Ok(plain);
        }
        if taken == 0 && given == 0 {
            return Err(Refusal::Deflate);
        }
    }
}
