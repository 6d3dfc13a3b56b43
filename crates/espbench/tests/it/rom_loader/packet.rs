//! Packets of Espressif's serial loaders: a request of the host, and the loader's response.

/// Operations by their numbers.
pub mod op {
    pub const FLASH_BEGIN: u8 = 0x02;
    pub const FLASH_DATA: u8 = 0x03;
    pub const FLASH_END: u8 = 0x04;
    pub const MEM_BEGIN: u8 = 0x05;
    pub const MEM_END: u8 = 0x06;
    pub const MEM_DATA: u8 = 0x07;
    pub const SYNC: u8 = 0x08;
    pub const WRITE_REG: u8 = 0x09;
    pub const READ_REG: u8 = 0x0A;
    pub const SPI_SET_PARAMS: u8 = 0x0B;
    pub const SPI_ATTACH: u8 = 0x0D;
    pub const CHANGE_BAUD: u8 = 0x0F;
    pub const FLASH_DEFL_BEGIN: u8 = 0x10;
    pub const FLASH_DEFL_DATA: u8 = 0x11;
    pub const FLASH_DEFL_END: u8 = 0x12;
    pub const FLASH_MD5: u8 = 0x13;
    pub const SECURITY_INFO: u8 = 0x14;
    pub const ERASE_FLASH: u8 = 0xD0;
    pub const ERASE_REGION: u8 = 0xD1;
    pub const READ_FLASH: u8 = 0xD2;
    pub const RUN_USER_CODE: u8 = 0xD3;
}

/// Why a request was refused, by the numbers of the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Refusal {
    Invalid = 0x05,
    Failed = 0x06,
    Checksum = 0x07,
    Deflate = 0x0B,
}

/// Request of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    pub op: u8,
    pub checksum: u32,
    pub data: &'a [u8],
}

impl<'a> Request<'a> {
    /// Reads a frame; `None` of one that is no request, or whose length is not the one it says.
    pub fn parse(frame: &'a [u8]) -> Option<Self> {
        let (head, data) = frame.split_at_checked(8)?;
        let length = usize::from(u16::from_le_bytes([head[2], head[3]]));
        (head[0] == 0 && length == data.len()).then_some(Self {
            op: head[1],
            checksum: u32::from_le_bytes([head[4], head[5], head[6], head[7]]),
            data,
        })
    }

    /// Returns a number of 32 bits of the data, in the order of the documentation; `None` beyond its end.
    pub fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.data.get(4 * at..4 * at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    /// Returns the block that a `*_DATA` request carries, with its number.
    ///
    /// # Errors
    /// It is not as long as it says, or its checksum differs.
    pub fn block(&self) -> Result<(u32, &'a [u8]), Refusal> {
        let (Some(size), Some(number), Some(block)) =
            (self.word(0), self.word(1), self.data.get(16..))
        else {
            return Err(Refusal::Invalid);
        };
        if size as usize != block.len() {
            return Err(Refusal::Invalid);
        }
        let sum = block.iter().fold(0xEF, |sum, byte| sum ^ byte);
        if u32::from(sum) == self.checksum { Ok((number, block)) } else { Err(Refusal::Checksum) }
    }
}

/// Returns the response to an operation. The loader in ROM ends it with four bytes of status, the stub with
/// two.
pub fn response(op: u8, value: u32, data: &[u8], error: Option<Refusal>, is_stub: bool) -> Vec<u8> {
    let status = [u8::from(error.is_some()), error.map_or(0, |it| it as u8), 0, 0];
    let status = &status[..if is_stub { 2 } else { 4 }];
    let length = (data.len() + status.len()) as u16;
    let mut frame = vec![1, op];
    frame.extend(length.to_le_bytes());
    frame.extend(value.to_le_bytes());
    frame.extend(data);
    frame.extend(status);
    frame
}
