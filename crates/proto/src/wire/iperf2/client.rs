//! The client's request to the server, in the first bytes of a TCP stream and in every UDP
//! datagram.

use super::{
    CLIENT_HEADER_MAX, CLIENT_HEADER_START, CLIENT_HEADER_V1, DATAGRAM_HEADER, MalformedHeader,
    Stamp, flags, half, put_words, upper, word,
};

mod field {
    pub(super) const FLAGS: usize = 0;
    pub(super) const THREADS: usize = 4;
    pub(super) const PORT: usize = 8;
    pub(super) const LENGTH: usize = 12;
    pub(super) const WINDOW: usize = 16;
    pub(super) const AMOUNT: usize = 20;
    pub(super) const UPPER: usize = 32;
    pub(super) const LOWER: usize = 34;
    pub(super) const VERSION_MAJOR: usize = 36;
    pub(super) const VERSION_MINOR: usize = 40;
    pub(super) const TOS: usize = 46;
    pub(super) const RATE_LOW: usize = 48;
    pub(super) const RATE_HIGH: usize = 52;
    pub(super) const PREFETCH: usize = 56;
    pub(super) const END: usize = 60;
    /// In a TCP stream; in a datagram eight words of isochronous traffic stand before it.
    pub(super) const START: usize = END;
    pub(super) const ISOCHRONOUS: usize = 32;
}

/// Where a client header stands: what follows its extension is elsewhere in a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// At the beginning of a TCP stream.
    Stream,
    /// Behind the header of a datagram.
    Datagram,
}

impl Carrier {
    /// Returns the bytes before the header, which the length in its flags counts.
    const fn before(self) -> usize {
        match self {
            Self::Stream => 0,
            Self::Datagram => DATAGRAM_HEADER,
        }
    }

    /// Returns the offset of the start time.
    const fn start(self) -> usize {
        match self {
            Self::Stream => field::START,
            Self::Datagram => field::START + field::ISOCHRONOUS,
        }
    }
}

/// The part of the header that `--trip-times`, `--txstart-time` and `--fq-rate` add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// When the client's traffic begins, by its clock.
    pub at: Stamp,
    /// `--fq-rate`, in bytes a second.
    pub fq_rate: u64,
}

/// How much the client sends, and asks the server to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// `-t`, in hundredths of a second.
    Centiseconds(u32),
    /// `-n`, in bytes; the field holds 31 bits.
    Bytes(u32),
}

/// The part that 2.0.10 and later add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extension {
    /// See [`upper`].
    pub upper: u16,
    /// None is known.
    pub lower: u16,
    /// Major and minor version, as `0x0002_0001` and `0x0008_0003` for 2.1.8.
    pub version: (u32, u32),
    /// IP type of service.
    pub tos: u16,
    /// Offered bits a second; 0 is as fast as it goes.
    pub rate: u64,
    /// `TCP_NOTSENT_LOWAT` asked of the server.
    pub prefetch: u32,
}

/// The kind of test that the header asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestMode {
    /// The client sends.
    Forward,
    /// `-R`.
    Reverse,
    /// `--full-duplex`.
    FullDuplex,
    /// `-r`: the server connects to the client's [`port`](ClientHeader::port) afterwards.
    Tradeoff,
    /// `-d`: the same at once.
    Dual,
    /// `--bounceback`: not this protocol.
    Bounceback,
}

/// The header, without what only isochronous traffic and permit keys add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientHeader {
    /// See [`flags`]. [`emit`](Self::emit) sets the bits that say what follows.
    pub flags: u32,
    /// `-P`.
    pub threads: u32,
    /// Where the client listens for `-r` and `-d`.
    pub port: u32,
    /// `-l`; 0 is the default of the transport.
    pub length: u32,
    /// `-w` of version 1.7; 0 since.
    pub window: u32,
    /// `-t` or `-n`.
    pub amount: Amount,
    /// Absent in clients before 2.0.10 and with `-C`.
    pub extension: Option<Extension>,
    /// Absent without the options that need it.
    pub start: Option<Start>,
}

impl ClientHeader {
    /// Returns the length of the header that begins with these flags: 0 where there is none, and
    /// plain payload follows.
    ///
    /// # Errors
    /// [`MalformedHeader`] where the length makes no sense.
    pub fn length_of(bits: u32) -> Result<usize, MalformedHeader> {
        if bits & flags::BOUNCEBACK != 0 {
            return Ok(4);
        }
        if bits & (flags::VERSION1 | flags::VERSION2 | flags::EXTEND) == 0 {
            return Ok(0);
        }
        let length = if bits & flags::LENGTH != 0 {
            ((bits & flags::LENGTH_MASK) >> 1) as usize
        } else if bits & (flags::VERSION2 | flags::EXTEND) != 0 {
            field::END
        } else {
            CLIENT_HEADER_V1
        };
        let allowed = CLIENT_HEADER_V1..=CLIENT_HEADER_MAX;
        if allowed.contains(&length) { Ok(length) } else { Err(MalformedHeader) }
    }

    /// Reads a header; `None` where the flags say that there is none (plain payload, ESP-IDF).
    ///
    /// # Errors
    /// [`MalformedHeader`] where it ends early.
    pub fn parse(bytes: &[u8], carrier: Carrier) -> Result<Option<Self>, MalformedHeader> {
        let Some(bits) = word(bytes, field::FLAGS) else { return Ok(None) };
        if Self::length_of(bits)? == 0 {
            return Ok(None);
        }
        let at = |offset| word(bytes, offset).unwrap_or_default();
        if bits & flags::BOUNCEBACK == 0 && bytes.len() < CLIENT_HEADER_V1 {
            return Err(MalformedHeader);
        }
        let amount = at(field::AMOUNT).cast_signed();
        let extended = bits & flags::EXTEND != 0 && bits & flags::BOUNCEBACK == 0;
        Ok(Some(Self {
            flags: bits,
            threads: at(field::THREADS),
            port: at(field::PORT),
            length: at(field::LENGTH),
            window: at(field::WINDOW),
            amount: if amount < 0 {
                Amount::Centiseconds(amount.unsigned_abs())
            } else {
                Amount::Bytes(amount.unsigned_abs())
            },
            extension: extended.then(|| Self::extension(bytes)),
            start: if extended { Self::start(bytes, carrier) } else { None },
        }))
    }

    /// Returns the start time, where the flags say that there is one and the bytes reach that far.
    fn start(bytes: &[u8], carrier: Carrier) -> Option<Start> {
        let wanted = upper::TRIP_TIMES | upper::EPOCH_START | upper::FQ_RATE;
        let at = carrier.start();
        half(bytes, field::UPPER).filter(|bits| bits & wanted != 0)?;
        let words = [4, 8, 12, 16].map(|offset| word(bytes, at + offset));
        let [Some(seconds), Some(micros), Some(low), Some(high)] = words else { return None };
        let fq_rate = u64::from(high) << 32 | u64::from(low);
        Some(Start { at: Stamp { seconds, micros }, fq_rate })
    }

    /// Reads the extension. Fields beyond the end of a short datagram read as zero.
    fn extension(bytes: &[u8]) -> Extension {
        let at = |offset| word(bytes, offset).unwrap_or_default();
        Extension {
            upper: half(bytes, field::UPPER).unwrap_or_default(),
            lower: half(bytes, field::LOWER).unwrap_or_default(),
            version: (at(field::VERSION_MAJOR), at(field::VERSION_MINOR)),
            tos: half(bytes, field::TOS).unwrap_or_default(),
            // The high half is shifted by eight bits: 24 bits of it are used.
            rate: u64::from(at(field::RATE_HIGH) >> 8) << 32 | u64::from(at(field::RATE_LOW)),
            prefetch: at(field::PREFETCH),
        }
    }

    /// Returns the kind of test that the header asks for.
    #[must_use]
    pub fn mode(&self) -> TestMode {
        let upper = self.extension.map_or(0, |e| e.upper);
        if self.flags & flags::BOUNCEBACK != 0 {
            TestMode::Bounceback
        } else if self.flags & flags::VERSION2 != 0 && upper & upper::FULL_DUPLEX != 0 {
            TestMode::FullDuplex
        } else if self.flags & flags::VERSION2 != 0 && upper & upper::REVERSE != 0 {
            TestMode::Reverse
        } else if self.flags & flags::VERSION1 != 0 && self.flags & flags::VERSION2 == 0 {
            if self.flags & flags::RUN_NOW != 0 { TestMode::Dual } else { TestMode::Tradeoff }
        } else {
            TestMode::Forward
        }
    }

    /// Tells whether the clocks are said to agree, so that one-way times can be told.
    #[must_use]
    pub fn trip_times(&self) -> bool {
        self.extension.is_some_and(|e| e.upper & upper::TRIP_TIMES != 0)
    }

    /// Returns the name of an option that the header asks for and that is not served here, where
    /// there is one.
    #[must_use]
    pub fn unsupported(&self) -> Option<&'static str> {
        if self.flags & flags::BOUNCEBACK != 0 {
            return None;
        }
        let asked = self.extension.map_or(0, |e| e.upper);
        let sends_back = self.mode() != TestMode::Forward;
        let has = |bit: u16| asked & bit != 0;
        if self.flags & flags::KEY_CHECK != 0 {
            Some("--permit-key")
        } else if has(upper::ISOCHRONOUS) {
            Some("--isochronous")
        } else if has(upper::PERIODIC_BURST) {
            Some("--burst-period")
        } else if has(upper::L2_LENGTH) {
            Some("--l2checks")
        } else if has(upper::EPOCH_START) && sends_back {
            Some("--txstart-time with a server that sends")
        } else if has(upper::FQ_RATE) && sends_back {
            Some("--fq-rate with a server that sends")
        } else {
            None
        }
    }

    /// Tells whether a TCP server answers with a [`HeaderAck`](super::HeaderAck): extended and not version 2,
    /// or asked for (`Listener::apply_client_settings_tcp`).
    #[must_use]
    pub const fn wants_ack(&self) -> bool {
        self.flags & flags::PEER_DETECT != 0
            || (self.flags & flags::EXTEND != 0 && self.flags & flags::VERSION2 == 0)
    }

    /// Tells whether a UDP receiver owes no closing report.
    #[must_use]
    pub fn no_report(&self) -> bool {
        self.extension.is_some_and(|e| e.upper & upper::NO_UDP_FIN != 0)
    }

    /// Returns the bytes that [`emit`](Self::emit) writes.
    #[must_use]
    pub const fn buffer_len(&self, carrier: Carrier) -> usize {
        match (self.extension, self.start) {
            (None, _) => CLIENT_HEADER_V1,
            (Some(_), None) => field::END,
            (Some(_), Some(_)) => carrier.start() + CLIENT_HEADER_START - field::START,
        }
    }

    /// Returns the length that the flags carry. In a datagram with a start time that of 2.1.8 ends
    /// before it.
    const fn told_len(&self, carrier: Carrier) -> usize {
        match (carrier, self.extension, self.start) {
            (Carrier::Datagram, Some(_), Some(_)) => carrier.before() + carrier.start(),
            _ => carrier.before() + self.buffer_len(carrier),
        }
    }

    /// Writes the header, or as much of it as fits.
    pub fn emit(&self, out: &mut [u8], carrier: Carrier) {
        let length = self.told_len(carrier);
        let mut bits = self.flags;
        if self.extension.is_some() {
            bits |= flags::EXTEND | flags::LENGTH;
            bits |= (length as u32) << 1 & flags::LENGTH_MASK;
        }
        let amount = match self.amount {
            Amount::Centiseconds(n) => 0u32.wrapping_sub(n.min(0x8000_0000)),
            Amount::Bytes(n) => n & 0x7FFF_FFFF,
        };
        let v1 = [bits, self.threads, self.port, self.length, self.window, amount];
        put_words(out, &v1);
        let (Some(e), Some(rest)) = (self.extension, out.get_mut(CLIENT_HEADER_V1..)) else {
            return;
        };
        put_words(
            rest,
            &[
                0,
                0,
                u32::from(e.upper) << 16 | u32::from(e.lower),
                e.version.0,
                e.version.1,
                u32::from(e.tos),
                (e.rate & 0xFFFF_FFFF) as u32,
                ((e.rate >> 32) as u32) << 8,
                e.prefetch,
            ],
        );
        let Some(start) = self.start else { return };
        if let Some(gap) = out.get_mut(field::END..carrier.start()) {
            gap.fill(0);
        }
        if let Some(rest) = out.get_mut(carrier.start()..) {
            let (low, high) = ((start.fq_rate & 0xFFFF_FFFF) as u32, (start.fq_rate >> 32) as u32);
            put_words(rest, &[0, start.at.seconds, start.at.micros, low, high]);
        }
    }
}

#[cfg(test)]
mod tests;
