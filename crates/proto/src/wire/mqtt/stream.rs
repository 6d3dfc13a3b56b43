//! Cuts a byte stream into packets. It is fed, not read: any chunks give the same packets.

use super::MalformedPacket;
use super::bytes::varint;

/// One packet, not yet parsed: its first byte and what follows the remaining length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawPacket<'a> {
    /// Packet type in the high four bits, flags in the low four.
    pub first: u8,
    /// Variable header and payload.
    pub body: &'a [u8],
}

impl<'a> RawPacket<'a> {
    /// Returns the packet type, one of [`kind`](super::kind).
    #[must_use]
    pub const fn kind(&self) -> u8 {
        self.first >> 4
    }

    /// Returns the flags.
    #[must_use]
    pub const fn flags(&self) -> u8 {
        self.first & 0x0f
    }

    /// Returns the packet at the start of `bytes`, and its whole length; `None` where it is cut
    /// off.
    ///
    /// # Errors
    /// A length of more than four bytes.
    pub fn cut(bytes: &'a [u8]) -> Result<Option<(Self, usize)>, MalformedPacket> {
        let Some(len) = length(bytes)? else { return Ok(None) };
        Ok(bytes.get(len.header..len.whole).map(|body| (Self { first: bytes[0], body }, len.whole)))
    }
}

struct Length {
    header: usize,
    whole: usize,
}

fn length(bytes: &[u8]) -> Result<Option<Length>, MalformedPacket> {
    let Some((_, rest)) = bytes.split_first() else { return Ok(None) };
    Ok(varint(rest)?.map(|(body, digits)| Length { header: 1 + digits, whole: 1 + digits + body }))
}

/// Keeps the packet that is not yet complete; whole packets are cut where they lie.
#[derive(Debug)]
pub struct Splitter<'b> {
    buf: &'b mut [u8],
    held: usize,
    /// The held packet was answered by the last `next`.
    taken: bool,
}

impl<'b> Splitter<'b> {
    /// Creates a splitter of packets, which may come in pieces if they are no longer than `buf`.
    pub const fn new(buf: &'b mut [u8]) -> Self {
        Self { buf, held: 0, taken: false }
    }

    /// Tells whether a packet has begun and is not complete.
    #[must_use]
    pub const fn is_partial(&self) -> bool {
        self.held > 0 && !self.taken
    }

    /// Forgets a packet that is not complete: the connection is a new one.
    pub const fn reset(&mut self) {
        self.held = 0;
        self.taken = false;
    }

    /// Returns the next packet. Takes bytes from the front of `chunk`; once it answers `None` it
    /// has taken all of them and wants more.
    ///
    /// # Errors
    /// A length of more than four bytes, or a packet longer than the buffer. The stream cannot be
    /// read any further.
    pub fn next<'x, 'c: 'x>(
        &'x mut self,
        chunk: &mut &'c [u8],
    ) -> Result<Option<RawPacket<'x>>, MalformedPacket> {
        if self.taken {
            self.reset();
        }
        if self.held > 0 {
            return self.complete(chunk);
        }
        let bytes: &'c [u8] = chunk;
        if let Some((frame, len)) = RawPacket::cut(bytes)?
            && len <= self.buf.len()
        {
            *chunk = &bytes[len..];
            return Ok(Some(frame));
        }
        if length(bytes)?.is_some_and(|l| l.whole > self.buf.len()) {
            return Err(TOO_LARGE);
        }
        self.buf.get_mut(..bytes.len()).ok_or(TOO_LARGE)?.copy_from_slice(bytes);
        self.held = bytes.len();
        *chunk = &[];
        Ok(None)
    }

    /// Adds to the held packet just what it lacks.
    fn complete<'x, 'c: 'x>(
        &'x mut self,
        chunk: &mut &'c [u8],
    ) -> Result<Option<RawPacket<'x>>, MalformedPacket> {
        loop {
            let want = match length(&self.buf[..self.held])? {
                Some(len) if len.whole > self.buf.len() => return Err(TOO_LARGE),
                Some(len) if len.whole <= self.held => {
                    self.taken = true;
                    let frame =
                        RawPacket { first: self.buf[0], body: &self.buf[len.header..len.whole] };
                    return Ok(Some(frame));
                }
                Some(len) => len.whole - self.held,
                None => 1,
            };
            let bytes: &'c [u8] = chunk;
            let (head, rest) = bytes.split_at(want.min(bytes.len()));
            let room = self.buf.get_mut(self.held..self.held + head.len()).ok_or(TOO_LARGE)?;
            room.copy_from_slice(head);
            self.held += head.len();
            *chunk = rest;
            if head.is_empty() {
                return Ok(None);
            }
        }
    }
}

const TOO_LARGE: MalformedPacket = MalformedPacket("a packet larger than the receive buffer");
