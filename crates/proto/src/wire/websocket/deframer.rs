//! A byte stream, fed in any chunks, to the data that its frames carry.

use super::frame::{FrameHeader, LONGEST_HEADER, MOST_CONTROL, Opcode, mask};
use super::{MalformedFrame, Role};

/// A part of what came.
#[derive(Debug, PartialEq, Eq)]
pub enum DeframedPiece<'c> {
    /// Bytes of a message, unmasked.
    Data(&'c [u8]),
    /// A ping; what it carries is the deframer's [`control`](Deframer::control), and is to be sent
    /// back in a pong (section 5.5.2).
    Ping,
    /// The other end wants to end the connection, and may say why (section 7.4).
    Close(Option<u16>),
}

/// Takes frames apart. The payload of a frame is handed on as it comes: no frame is too long.
#[derive(Debug)]
pub struct Deframer {
    role: Role,
    head: [u8; LONGEST_HEADER],
    held: usize,
    frame: Option<FrameHeader>,
    /// Payload bytes of the frame that were taken.
    at: u64,
    control: [u8; MOST_CONTROL],
    /// A message of several frames has begun.
    partial: bool,
}

impl Deframer {
    /// Creates a deframer for the end that is `role`.
    #[must_use]
    pub const fn new(role: Role) -> Self {
        Self {
            role,
            head: [0; LONGEST_HEADER],
            held: 0,
            frame: None,
            at: 0,
            control: [0; MOST_CONTROL],
            partial: false,
        }
    }

    /// Returns the payload of the last control frame.
    #[must_use]
    pub fn control(&self) -> &[u8] {
        &self.control[..(self.at as usize).min(MOST_CONTROL)]
    }

    /// Returns the next piece. Takes bytes from the front of `chunk`, which are unmasked in place;
    /// once it answers `None` it has taken all of them and wants more.
    ///
    /// # Errors
    /// What the header's parser refuses, text, a mask on the wrong side, or parts out of order. The
    /// stream cannot be read any further.
    pub fn next<'c>(
        &mut self,
        chunk: &mut &'c mut [u8],
    ) -> Result<Option<DeframedPiece<'c>>, MalformedFrame> {
        loop {
            let Some(header) = self.frame else {
                if !self.header(chunk)? {
                    return Ok(None);
                }
                continue;
            };
            let left = header.len - self.at;
            if left == 0 {
                self.frame = None;
                if let Some(piece) = self.ended(&header) {
                    return Ok(Some(piece));
                }
                continue;
            }
            if chunk.is_empty() {
                return Ok(None);
            }
            let len = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
            let (bytes, rest) = core::mem::take(chunk).split_at_mut(len);
            *chunk = rest;
            if let Some(key) = header.mask {
                mask(bytes, key, (self.at % 4) as usize);
            }
            if header.opcode.is_control() {
                let at = self.at as usize;
                self.control[at..at + len].copy_from_slice(bytes);
            }
            self.at += len as u64;
            if !header.opcode.is_control() {
                return Ok(Some(DeframedPiece::Data(bytes)));
            }
        }
    }

    /// Reads a header, byte by byte; whether it is there.
    fn header(&mut self, chunk: &mut &mut [u8]) -> Result<bool, MalformedFrame> {
        while let Some((first, rest)) = core::mem::take(chunk).split_first_mut() {
            *chunk = rest;
            // A header of that length has been parsed, or refused.
            if let Some(place) = self.head.get_mut(self.held) {
                *place = *first;
                self.held += 1;
            }
            if let Some((header, _)) = FrameHeader::parse(&self.head[..self.held])? {
                self.held = 0;
                self.begin(header)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn begin(&mut self, header: FrameHeader) -> Result<(), MalformedFrame> {
        if header.mask.is_some() != (self.role == Role::Server) {
            return Err(MalformedFrame(match self.role {
                Role::Server => "a client's frame without a mask",
                Role::Client => "a server's frame with a mask",
            }));
        }
        match header.opcode {
            Opcode::Text => return Err(MalformedFrame("text, where MQTT sends binary frames")),
            Opcode::Binary if self.partial => {
                return Err(MalformedFrame("a new message before the last one's end"));
            }
            Opcode::Continuation if !self.partial => {
                return Err(MalformedFrame("a continuation of no message"));
            }
            Opcode::Binary | Opcode::Continuation => self.partial = !header.fin,
            Opcode::Close | Opcode::Ping | Opcode::Pong => {}
        }
        self.frame = Some(header);
        self.at = 0;
        Ok(())
    }

    fn ended(&self, header: &FrameHeader) -> Option<DeframedPiece<'static>> {
        match header.opcode {
            Opcode::Ping => Some(DeframedPiece::Ping),
            Opcode::Close => {
                let code = self.control().first_chunk().map(|code| u16::from_be_bytes(*code));
                Some(DeframedPiece::Close(code))
            }
            _ => None,
        }
    }
}
