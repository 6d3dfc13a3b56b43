//! Messages of DHCP (RFC 2131, RFC 2132).
//!
//! Integers are big-endian.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | 1 from a client, 2 from a server |
//! | 1 | 2 | kind of hardware, 1 for Ethernet and Wi-Fi, and bytes of its addresses, 6 |
//! | 4 | 4 | number of the exchange |
//! | 8 | 2 | seconds since the client began |
//! | 10 | 2 | flags: 0x8000, the answer is to be a broadcast |
//! | 12 | 16 | addresses: the client's, the one that is offered, of the next server, of a relay |
//! | 28 | 16 | hardware address |
//! | 44 | 192 | names of the server and of a file; zero |
//! | 236 | 4 | 99, 130, 83, 99 |
//! | 240 | … | options: code, length, octets; 0 fills, 255 ends |

/// Port of a server.
pub const SERVER_PORT: u16 = 67;

/// Port of a client.
pub const CLIENT_PORT: u16 = 68;

/// Bytes of a message at least: BOOTP's (RFC 951).
pub const LEAST: usize = 300;

/// Bytes of a message here at most.
pub const LONGEST: usize = 548;

const COOKIE: [u8; 4] = [99, 130, 83, 99];
const OPTIONS: usize = 240;
const BROADCAST: u16 = 0x8000;

/// Kind of a message (RFC 2132 section 9.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DhcpKind {
    /// A client looks for servers.
    #[default]
    Discover,
    /// A server offers an address.
    Offer,
    /// A client asks for an address.
    Request,
    /// A client refuses an address.
    Decline,
    /// A server gives the address.
    Ack,
    /// A server refuses.
    Nak,
    /// A client gives an address back.
    Release,
    /// A client has an address and asks for the rest.
    Inform,
}

impl DhcpKind {
    const ALL: [Self; 8] = [
        Self::Discover,
        Self::Offer,
        Self::Request,
        Self::Decline,
        Self::Ack,
        Self::Nak,
        Self::Release,
        Self::Inform,
    ];

    /// Returns the number on the wire, from 1.
    const fn number(self) -> u8 {
        self as u8 + 1
    }
}

/// A message. Addresses that are 0 and options that are `None` are not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DhcpMessage<'a> {
    /// Kind.
    pub kind: DhcpKind,
    /// Number of the exchange.
    pub exchange: u32,
    /// Whether the answer is to be a broadcast.
    pub broadcast: bool,
    /// Address that the client has.
    pub client: [u8; 4],
    /// Address that the server gives.
    pub yours: [u8; 4],
    /// Hardware address.
    pub hardware: [u8; 6],
    /// Address that the client asks for.
    pub requested: Option<[u8; 4]>,
    /// Address of the server.
    pub server: Option<[u8; 4]>,
    /// Seconds of the lease.
    pub lease: Option<u32>,
    /// Mask of the network.
    pub mask: Option<[u8; 4]>,
    /// Router.
    pub router: Option<[u8; 4]>,
    /// Name server.
    pub dns: Option<[u8; 4]>,
    /// Name of the client.
    pub host: &'a [u8],
}

/// Codes of options.
mod code {
    pub(super) const MASK: u8 = 1;
    pub(super) const ROUTER: u8 = 3;
    pub(super) const DNS: u8 = 6;
    pub(super) const HOST: u8 = 12;
    pub(super) const REQUESTED: u8 = 50;
    pub(super) const LEASE: u8 = 51;
    pub(super) const KIND: u8 = 53;
    pub(super) const SERVER: u8 = 54;
    pub(super) const END: u8 = 255;
}

impl<'a> DhcpMessage<'a> {
    /// Reads a message; `None` where it is none, or its first octet does not fit its kind.
    #[must_use]
    pub fn parse(octets: &'a [u8]) -> Option<Self> {
        let head = octets.get(..OPTIONS)?;
        let four = |at: usize| [head[at], head[at + 1], head[at + 2], head[at + 3]];
        if four(OPTIONS - 4) != COOKIE || head[2] > 16 {
            return None;
        }
        let mut it = Self {
            exchange: u32::from_be_bytes(four(4)),
            broadcast: u16::from_be_bytes([head[10], head[11]]) & BROADCAST != 0,
            client: four(12),
            yours: four(16),
            hardware: [head[28], head[29], head[30], head[31], head[32], head[33]],
            ..Self::default()
        };
        let mut kind = None;
        let mut rest = &octets[OPTIONS..];
        while let Some((code, after)) = rest.split_first() {
            rest = after;
            match *code {
                0 => continue,
                code::END => break,
                _ => {}
            }
            let (len, after) = rest.split_first()?;
            let value = after.get(..usize::from(*len))?;
            rest = &after[usize::from(*len)..];
            let address = value.first_chunk::<4>().copied();
            match *code {
                code::KIND => kind = DhcpKind::ALL.into_iter().find(|it| [it.number()] == *value),
                code::REQUESTED => it.requested = address,
                code::SERVER => it.server = address,
                code::LEASE => it.lease = address.map(u32::from_be_bytes),
                code::MASK => it.mask = address,
                code::ROUTER => it.router = address,
                code::DNS => it.dns = address,
                code::HOST => it.host = value,
                _ => {}
            }
        }
        it.kind = kind?;
        (head[0] == it.direction()).then_some(it)
    }

    const fn direction(&self) -> u8 {
        if matches!(self.kind, DhcpKind::Offer | DhcpKind::Ack | DhcpKind::Nak) { 2 } else { 1 }
    }

    /// Writes the message; returns its length, `None` where it does not fit `out`.
    pub fn emit(&self, out: &mut [u8]) -> Option<usize> {
        let octets = |value: Option<[u8; 4]>, code| value.map(|it| (code, it));
        let options = [
            octets(self.requested, code::REQUESTED),
            octets(self.server, code::SERVER),
            octets(self.lease.map(u32::to_be_bytes), code::LEASE),
            octets(self.mask, code::MASK),
            octets(self.router, code::ROUTER),
            octets(self.dns, code::DNS),
        ];
        let host = self.host.get(..self.host.len().min(255)).unwrap_or_default();
        let name = if host.is_empty() { 0 } else { 2 + host.len() };
        let used = OPTIONS + 3 + options.iter().flatten().count() * 6 + name + 1;
        let out = out.get_mut(..used.max(LEAST))?;
        out.fill(0);
        out[..3].copy_from_slice(&[self.direction(), 1, 6]);
        out[4..8].copy_from_slice(&self.exchange.to_be_bytes());
        out[10..12].copy_from_slice(&(u16::from(self.broadcast) * BROADCAST).to_be_bytes());
        out[12..16].copy_from_slice(&self.client);
        out[16..20].copy_from_slice(&self.yours);
        out[28..34].copy_from_slice(&self.hardware);
        out[OPTIONS - 4..OPTIONS].copy_from_slice(&COOKIE);
        out[OPTIONS..OPTIONS + 3].copy_from_slice(&[code::KIND, 1, self.kind.number()]);
        let mut at = OPTIONS + 3;
        for (code, value) in options.iter().flatten() {
            out[at..at + 2].copy_from_slice(&[*code, 4]);
            out[at + 2..at + 6].copy_from_slice(value);
            at += 6;
        }
        if !host.is_empty() {
            out[at..at + 2].copy_from_slice(&[code::HOST, host.len() as u8]);
            out[at + 2..at + 2 + host.len()].copy_from_slice(host);
            at += 2 + host.len();
        }
        out[at] = code::END;
        Some(out.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn an_offer_has_its_octets() {
        let offer = DhcpMessage {
            kind: DhcpKind::Offer,
            exchange: 0x0102_0304,
            broadcast: true,
            yours: [10, 0, 0, 1],
            hardware: [0x24, 0x0a, 0xc4, 0, 0, 1],
            server: Some([10, 0, 0, 3]),
            lease: Some(7200),
            mask: Some([255, 255, 0, 0]),
            ..DhcpMessage::default()
        };
        let mut out = [0; LONGEST];
        let len = offer.emit(&mut out).unwrap();
        assert_eq!(len, LEAST);
        assert_eq!(out[..12], [2, 1, 6, 0, 1, 2, 3, 4, 0, 0, 0x80, 0]);
        assert_eq!(out[16..20], [10, 0, 0, 1]);
        assert_eq!(out[236..243], [99, 130, 83, 99, 53, 1, 2]);
        assert_eq!(
            out[243..262],
            [54, 4, 10, 0, 0, 3, 51, 4, 0, 0, 0x1c, 0x20, 1, 4, 255, 255, 0, 0, 255]
        );
        assert_eq!(DhcpMessage::parse(&out[..len]), Some(offer));
        out[0] = 1;
        assert_eq!(DhcpMessage::parse(&out[..len]), None, "no client offers");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            number in 0_usize..8,
            exchange: u32,
            addresses: [[u8; 4]; 3],
            host in proptest::collection::vec(any::<u8>(), 0..64),
            lease: Option<u32>,
        ) {
            let message = DhcpMessage {
                kind: DhcpKind::ALL[number],
                exchange,
                yours: addresses[0],
                requested: Some(addresses[1]),
                router: Some(addresses[2]),
                lease,
                host: &host,
                ..DhcpMessage::default()
            };
            let mut out = [0; LONGEST];
            let len = message.emit(&mut out).unwrap();
            prop_assert_eq!(DhcpMessage::parse(&out[..len]), Some(message));
        }

        #[test]
        fn any_options_are_read(options in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut out = [0; LONGEST];
            DhcpMessage::default().emit(&mut out).unwrap();
            let mut octets: Vec<u8> = out[..243].to_vec();
            octets.extend_from_slice(&options);
            let _ = DhcpMessage::parse(&octets);
        }
    }
}
