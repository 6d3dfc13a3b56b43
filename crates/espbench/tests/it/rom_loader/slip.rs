//! SLIP (RFC 1055) as Espressif's serial loaders speak it: each frame stands between two END bytes.

const END: u8 = 0xC0;
const ESC: u8 = 0xDB;
const ESC_END: u8 = 0xDC;
const ESC_ESC: u8 = 0xDD;

/// Longest frame that is taken in, in bytes: a block of the stub is 16 KiB, with its headers.
pub const LONGEST: usize = 0x8000;

/// Takes bytes from a line and gives frames.
#[derive(Debug, Default)]
pub struct SlipReader {
    /// Bytes since the frame began; `None` outside of frames.
    frame: Option<Vec<u8>>,
    is_escaped: bool,
    /// Bytes between frames, of frames with a wrong escape, and of those that are too long.
    pub dropped: u64,
}

impl SlipReader {
    /// Takes a byte; returns a frame where the byte ended one.
    pub fn push(&mut self, byte: u8) -> Option<Vec<u8>> {
        let Some(frame) = &mut self.frame else {
            if byte == END {
                self.frame = Some(Vec::new());
            } else {
                self.dropped += 1;
            }
            return None;
        };
        let plain = match (std::mem::take(&mut self.is_escaped), byte) {
            (false, END) if frame.is_empty() => return None,
            (false, END) => return self.frame.take(),
            (false, ESC) => {
                self.is_escaped = true;
                return None;
            }
            (false, _) => Some(byte),
            (true, ESC_END) => Some(END),
            (true, ESC_ESC) => Some(ESC),
            (true, _) => None,
        };
        match plain {
            Some(byte) if frame.len() < LONGEST => frame.push(byte),
            _ => {
                self.dropped += frame.len() as u64 + 1;
                // An END that stands where an escape should end begins the next frame.
                self.frame = (byte == END).then(Vec::new);
            }
        }
        None
    }
}

/// Returns a frame as it is on the line.
pub fn framed(frame: &[u8]) -> Vec<u8> {
    let mut line = vec![END];
    for byte in frame {
        match *byte {
            END => line.extend([ESC, ESC_END]),
            ESC => line.extend([ESC, ESC_ESC]),
            byte => line.push(byte),
        }
    }
    line.push(END);
    line
}
