//! Questions and answers of DNS (RFC 1035), as far as a resolver of a handful of hosts needs them.
//!
//! A message; integers are big-endian.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | identifier |
//! | 2 | 2 | flags: 0x8000 response, 0x7800 opcode, 0x0400 authoritative, 0x0100 recursion desired, 0x0080 available, 0x000F code |
//! | 4 | 8 | numbers of questions, answers, authorities, additional records |
//! | 12 | … | the question: labels (a length and so many octets each, 0 at the end), type, class |

/// Port of a name server.
pub const PORT: u16 = 53;

/// Bytes of the longest message over UDP without EDNS (RFC 1035 section 4.2.1).
pub const LONGEST: usize = 512;

/// Bytes before the question.
const HEADER: usize = 12;

/// Bytes of the longest name on the wire (RFC 1035 section 2.3.4).
const NAME_MAX: usize = 255;

/// Seconds for which an answer may be kept.
const TTL: u32 = 10;

/// Types of records.
const A: u16 = 1;
const PTR: u16 = 12;
const ANY: u16 = 255;

/// The class of the Internet.
const INTERNET: u16 = 1;

/// Subject of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsSubject {
    /// The address of a name, type A (or any type).
    Address,
    /// The name of an address, type PTR below `in-addr.arpa` (RFC 1035 section 3.5).
    NameOf([u8; 4]),
    /// Records of another type.
    Other,
}

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DnsQuestion<'a> {
    id: u16,
    /// Opcode and "recursion desired", which an answer repeats.
    kept: u16,
    /// The question as it came: name, type, class.
    octets: &'a [u8],
    /// Subject; `None` where it asks for something else than the Internet's records.
    pub subject: Option<DnsSubject>,
}

/// Answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsAnswer<'a> {
    /// An address.
    Address([u8; 4]),
    /// A name without dots, or with dots between its labels.
    Name(&'a str),
    /// The name is there, but has no record of that type.
    NoRecord,
    /// No such name.
    NoName,
    /// A kind of question that is not answered.
    NotImplemented,
}

impl<'a> DnsQuestion<'a> {
    /// Reads the question of a message; `None` where it is no question, or there is more than one.
    #[must_use]
    pub fn parse(message: &'a [u8]) -> Option<Self> {
        let half = |at: usize| Some(u16::from_be_bytes([*message.get(at)?, *message.get(at + 1)?]));
        let (id, flags, questions) = (half(0)?, half(2)?, half(4)?);
        if flags & 0x8000 != 0 || questions != 1 || half(6)? != 0 {
            return None;
        }
        let mut at = HEADER;
        loop {
            match usize::from(*message.get(at)?) {
                0 => break,
                // A pointer or an extension: no question has one.
                64.. => return None,
                len => at += 1 + len,
            }
            if at - HEADER >= NAME_MAX {
                return None;
            }
        }
        let (kind, class) = (half(at + 1)?, half(at + 3)?);
        let octets = &message[HEADER..at + 5];
        let mut question = Self { id, kept: flags & 0x7900, octets, subject: None };
        if flags & 0x7800 == 0 && (class == INTERNET || class == ANY) {
            let subject = match kind {
                A | ANY => DnsSubject::Address,
                PTR => question.reverse().map_or(DnsSubject::Other, DnsSubject::NameOf),
                _ => DnsSubject::Other,
            };
            question.subject = Some(subject);
        }
        Some(question)
    }

    /// Returns the labels of the name.
    pub fn labels(&self) -> impl Iterator<Item = &'a [u8]> + Clone + use<'a> {
        let mut rest = self.octets;
        core::iter::from_fn(move || {
            let (len, after) = rest.split_first().filter(|it| *it.0 > 0)?;
            let label = after.get(..usize::from(*len))?;
            rest = &after[usize::from(*len)..];
            Some(label)
        })
    }

    /// Returns whether the name is that one, with a dot between labels: letters of either case are the
    /// same (RFC 4343).
    #[must_use]
    pub fn is_for(&self, name: &str) -> bool {
        let mut labels = self.labels();
        let mut parts = name.split('.');
        loop {
            match (labels.next(), parts.next()) {
                (None, None) => return true,
                (Some(label), Some(part)) if label.eq_ignore_ascii_case(part.as_bytes()) => {}
                _ => return false,
            }
        }
    }

    fn reverse(&self) -> Option<[u8; 4]> {
        let mut labels = self.labels();
        let mut address = [0; 4];
        for octet in address.iter_mut().rev() {
            *octet = core::str::from_utf8(labels.next()?).ok()?.parse().ok()?;
        }
        let is = |label: Option<&[u8]>, text: &str| {
            label.is_some_and(|it| it.eq_ignore_ascii_case(text.as_bytes()))
        };
        let ends = is(labels.next(), "in-addr") && is(labels.next(), "arpa");
        (ends && labels.next().is_none()).then_some(address)
    }

    /// Writes the answer; returns its length, `None` where it does not fit `out`.
    pub fn answer(&self, answer: DnsAnswer<'_>, out: &mut [u8]) -> Option<usize> {
        let code = match answer {
            DnsAnswer::Address(_) | DnsAnswer::Name(_) | DnsAnswer::NoRecord => 0,
            DnsAnswer::NoName => 3,
            DnsAnswer::NotImplemented => 4,
        };
        let has_record = matches!(answer, DnsAnswer::Address(_) | DnsAnswer::Name(_));
        let mut to = Octets { out, len: 0 };
        to.half(self.id)?;
        to.half(0x8480 | self.kept | code)?;
        for number in [1, u16::from(has_record), 0, 0] {
            to.half(number)?;
        }
        to.put(self.octets)?;
        if !has_record {
            return Some(to.len);
        }
        // The name of the question again, by its place in the message.
        to.half(0xC000 | HEADER as u16)?;
        let kind = if matches!(answer, DnsAnswer::Name(_)) { PTR } else { A };
        to.half(kind)?;
        to.half(INTERNET)?;
        to.put(&TTL.to_be_bytes())?;
        match answer {
            DnsAnswer::Address(address) => {
                to.half(4)?;
                to.put(&address)?;
            }
            DnsAnswer::Name(name) => {
                to.half(name.len() as u16 + 2)?;
                for label in name.split('.') {
                    let len = u8::try_from(label.len()).ok().filter(|len| (1..64).contains(len))?;
                    to.put(&[len])?;
                    to.put(label.as_bytes())?;
                }
                to.put(&[0])?;
            }
            _ => {}
        }
        Some(to.len)
    }
}

/// A buffer that is filled from its start.
struct Octets<'o> {
    out: &'o mut [u8],
    len: usize,
}

impl Octets<'_> {
    fn put(&mut self, octets: &[u8]) -> Option<()> {
        let end = self.len + octets.len();
        self.out.get_mut(self.len..end)?.copy_from_slice(octets);
        self.len = end;
        Some(())
    }

    fn half(&mut self, number: u16) -> Option<()> {
        self.put(&number.to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bytes that glibc's resolver sends for `getent ahostsv4 device`.
    const ASKED: &[u8] =
        b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x06device\x00\x00\x01\x00\x01";

    #[test]
    fn a_name_is_asked_for_and_answered() {
        let question = DnsQuestion::parse(ASKED).unwrap();
        assert_eq!(question.subject, Some(DnsSubject::Address));
        assert!(question.is_for("device") && question.is_for("DEVICE"));
        assert!(!question.is_for("devic") && !question.is_for("device.lab"));
        let mut out = [0; LONGEST];
        let len = question.answer(DnsAnswer::Address([10, 0, 0, 1]), &mut out).unwrap();
        let expected =
            b"\x12\x34\x85\x80\x00\x01\x00\x01\x00\x00\x00\x00\x06device\x00\x00\x01\x00\x01\
            \xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x0a\x00\x04\x0a\x00\x00\x01";
        assert_eq!(&out[..len], expected);
        let len = question.answer(DnsAnswer::NoName, &mut out).unwrap();
        assert_eq!((out[3], &out[12..len]), (0x83, &ASKED[12..]));
    }

    #[test]
    fn an_address_is_asked_for_its_name() {
        let asked =
            b"\0\x01\x01\0\0\x01\0\0\0\0\0\0\x011\x010\x010\x0210\x07in-addr\x04arpa\0\0\x0c\0\x01";
        let question = DnsQuestion::parse(asked).unwrap();
        assert_eq!(question.subject, Some(DnsSubject::NameOf([10, 0, 0, 1])));
        let mut out = [0; LONGEST];
        let len = question.answer(DnsAnswer::Name("device.lab"), &mut out).unwrap();
        assert!(out[..len].ends_with(b"\0\x0c\x06device\x03lab\0"));
        assert_eq!(question.answer(DnsAnswer::Name("device"), &mut out[..40]), None);
    }

    #[test]
    fn what_is_no_question_is_none() {
        for len in 0..ASKED.len() {
            assert_eq!(DnsQuestion::parse(&ASKED[..len]), None, "{len}");
        }
        let mut response = ASKED.to_vec();
        response[2] = 0x81;
        assert_eq!(DnsQuestion::parse(&response), None);
        let mut pointer = ASKED.to_vec();
        pointer[12] = 0xC0;
        assert_eq!(DnsQuestion::parse(&pointer), None);
        let mut status = ASKED.to_vec();
        status[2] = 0x11;
        assert_eq!(DnsQuestion::parse(&status).unwrap().subject, None);
    }

    proptest! {
        #[test]
        fn any_octets_are_read_and_answered(mut octets in proptest::collection::vec(any::<u8>(), 0..300)) {
            if octets.len() > 8 {
                octets[2..8].copy_from_slice(&[1, 0, 0, 1, 0, 0]);
            }
            if let Some(question) = DnsQuestion::parse(&octets) {
                let mut out = [0; LONGEST];
                let len = question.answer(DnsAnswer::Address([1, 2, 3, 4]), &mut out).unwrap();
                prop_assert_eq!(&out[12..12 + question.octets.len()], question.octets);
                prop_assert!(len <= LONGEST);
            }
        }
    }
}
