//! Help for tests against the byte vectors of section 13 of the protocol reference.

use super::header::{DataType, FrameConfig, Header, VERSION};
use crate::wire::mac::Mac;
use std::vec::Vec;

/// Bytes from hexadecimal, with spaces anywhere.
pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Address A of the vectors.
pub(crate) const A: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);
/// Address D of the vectors.
pub(crate) const D: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 2]);

/// The header of a broadcast from A with the default configuration on channel 1.
pub(crate) fn header(data_type: DataType, size: u8, magic: u16) -> Header {
    let config = FrameConfig { channel: 1, ..FrameConfig::default() };
    Header { data_type, version: VERSION, size, magic, config, dest: Mac::BROADCAST, src: A }
}
