//! The radiotap header (radiotap.org, version 0; link type 127 of captures): what the capturing
//! radio knows of a frame, before the frame.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | version, 0 |
//! | 1 | 1 | padding |
//! | 2 | 2 | length of the header, fields included |
//! | 4 | 4·n | presence bits; bit 31 says that a further word follows |
//! | … | … | the fields whose bit is set, in order, each aligned to its size from the header's start |
//!
//! | bit | bytes | aligned | field |
//! |---|---|---|---|
//! | 0 | 8 | 8 | TSFT: the MAC's clock when the first bit arrived, microseconds |
//! | 1 | 1 | 1 | flags: 0x10 FCS at the end, 0x20 the header is padded, 0x40 FCS is wrong, … |
//! | 2 | 1 | 1 | rate, 500 kbit/s |
//! | 3 | 2+2 | 2 | channel: frequency in MHz, then flags: 0x20 CCK, 0x40 OFDM, 0x80 2.4 GHz, 0x100 5 GHz |
//! | 4 | 2 | 2 | hop set and pattern (FHSS) |
//! | 5 | 1 | 1 | signal at the antenna, dBm |
//! | 6 | 1 | 1 | noise at the antenna, dBm |
//! | 7-10 | 2, 2, 2, 1 | same | lock quality; attenuation twice; transmit power, dBm |
//! | 11 | 1 | 1 | antenna |
//! | 12-18 | 1, 1, 2, 2, 1, 1, 8 | same; 4 for the last | signal and noise in dB; flags; retries; channel |
//! | 19 | 3 | 1 | HT: what of the next octet is known; bandwidth and guard interval; MCS |
//! | 20 | 8 | 4 | A-MPDU: a number that its MPDUs have in common; flags; CRC of the delimiter; 0 |
//! | 21, 22 | 12, 12 | 2, 8 | VHT; a time stamp with its unit |
//! | 23 | 12 | 2 | HE: six words of what is known and of what it is |
//!
//! Fields after these do not matter here: the header's length tells where the frame begins.
//! Further presence words hold the same fields for single antennas, and those of vendors.

/// Fields of a radiotap header. Fields that are missing are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Radiotap {
    /// MAC's clock when the first bit arrived, in microseconds.
    pub tsft: Option<u64>,
    /// Flags, see [`Radiotap::FCS_AT_END`] and [`Radiotap::BAD_FCS`].
    pub flags: Option<u8>,
    /// Rate in units of 500 kbit/s.
    pub rate: Option<u8>,
    /// Channel.
    pub channel: Option<ChannelField>,
    /// Signal at the antenna, in dBm.
    pub signal: Option<i8>,
    /// Noise at the antenna, in dBm.
    pub noise: Option<i8>,
    /// Antenna, from 0.
    pub antenna: Option<u8>,
    /// HT modulation, in place of a rate.
    pub mcs: Option<McsField>,
    /// A-MPDU status, for a frame that came in an A-MPDU.
    pub ampdu: Option<AmpduField>,
    /// HE modulation, in place of a rate.
    pub he: Option<HeField>,
}

/// The HE field, for a frame for one user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeField {
    /// Six words of the field: the first two say what is known, the others what it is.
    pub data: [u16; 6],
}

/// The guard interval of an HE field, as the field has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeFieldGuard {
    /// 0.8 us with a 2x HE-LTF.
    Us08,
    /// 1.6 us with a 2x HE-LTF.
    Us16,
    /// 3.2 us with a 4x HE-LTF.
    Us32,
}

impl HeField {
    /// Returns the field of a frame in 20 MHz with one stream and the convolutional code: HE SU, or of extended
    /// range (HE ER SU) in all tones or in the upper 106.
    #[must_use]
    pub const fn single(
        mcs: u8,
        dcm: bool,
        guard: HeFieldGuard,
        extended: bool,
        upper: bool,
    ) -> Self {
        // Format; MCS, DCM, code, STBC and bandwidth are known.
        let known = 0x0020 | 0x0040 | 0x0080 | 0x0200 | 0x4000 | extended as u16;
        let scheme = (mcs as u16 & 0x0F) << 8 | (dcm as u16) << 12;
        let (interval, ltf) = match guard {
            HeFieldGuard::Us08 => (0, 2),
            HeFieldGuard::Us16 => (1, 2),
            HeFieldGuard::Us32 => (2, 3),
        };
        let tones = if upper { 6 } else { 0 };
        // The guard interval is known; one space-time stream.
        Self { data: [known, 0x0002, scheme, 0, tones | interval << 4 | ltf << 6, 1] }
    }

    /// Returns the number of the modulation and coding scheme, if the field tells it.
    #[must_use]
    pub const fn mcs(self) -> Option<u8> {
        if self.data[0] & 0x0020 != 0 { Some((self.data[2] >> 8 & 0x0F) as u8) } else { None }
    }
}

/// The A-MPDU status field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmpduField {
    /// Number that all MPDUs of an A-MPDU have in common.
    pub reference: u32,
    /// 0x0004: the last MPDU is known; 0x0008: this is the last.
    pub flags: u16,
}

impl AmpduField {
    /// Returns the field of an MPDU that is or is not the last of its A-MPDU.
    #[must_use]
    pub const fn of(reference: u32, last: bool) -> Self {
        Self { reference, flags: 0x0004 | if last { 0x0008 } else { 0 } }
    }
}

/// The MCS field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McsField {
    /// Valid bits of `flags`: 0x01 bandwidth, 0x02 the MCS, 0x04 guard interval, 0x08 format, 0x10
    /// code, 0x20 space-time block code, 0x40 extension streams (0x80 is the upper bit of their
    /// number).
    pub known: u8,
    /// Bits 0 and 1: 0 is 20 MHz, 1 is 40 MHz; 0x04 short guard interval; 0x08 greenfield; 0x10
    /// LDPC; 0x60 streams of the space-time block code; 0x80 lower bit of the extension streams.
    pub flags: u8,
    /// MCS index.
    pub index: u8,
}

impl McsField {
    /// Returns the field of HT in mixed format with the convolutional code, and no extension
    /// streams.
    #[must_use]
    pub const fn mixed(index: u8, wide: bool, short_guard: bool) -> Self {
        Self { known: 0x7F, flags: wide as u8 | (short_guard as u8) << 2, index }
    }
}

/// The channel field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelField {
    /// Centre frequency, MHz.
    pub mhz: u16,
    /// Flags of the kind of channel.
    pub flags: u16,
}

impl ChannelField {
    /// Flag: CCK (802.11b).
    pub const CCK: u16 = 0x0020;
    /// Flag: OFDM.
    pub const OFDM: u16 = 0x0040;
    /// Flag: 2.4 GHz.
    pub const GHZ2: u16 = 0x0080;
    /// Flag: 5 GHz.
    pub const GHZ5: u16 = 0x0100;

    /// Returns channel 1 to 14 with CCK rates (IEEE 802.11-2020, clause 15).
    #[must_use]
    pub const fn cck(number: u8) -> Self {
        Self { mhz: mhz(number), flags: Self::CCK | Self::GHZ2 }
    }

    /// Returns channel 1 to 14, or 36 to 177 in 5 GHz, with OFDM rates, those of HT and HE among them (clauses
    /// 17 to 19 and 27).
    #[must_use]
    pub const fn ofdm(number: u8) -> Self {
        let band = if number > 14 { Self::GHZ5 } else { Self::GHZ2 };
        Self { mhz: mhz(number), flags: Self::OFDM | band }
    }

    /// Returns the number, if it is one of the channels 1 to 14 or 36 to 177.
    #[must_use]
    pub const fn number(self) -> Option<u8> {
        match self.mhz {
            2484 => Some(14),
            2412..=2472 if (self.mhz - 2407).is_multiple_of(5) => {
                Some(((self.mhz - 2407) / 5) as u8)
            }
            5180..=5885 if self.mhz.is_multiple_of(5) => Some(((self.mhz - 5000) / 5) as u8),
            _ => None,
        }
    }
}

/// Returns the centre frequency of a channel in 2.4 or 5 GHz, in MHz (17.3.8.4.2 and 15.4.4.3).
const fn mhz(number: u8) -> u16 {
    match number {
        0..=13 => 2407 + 5 * number as u16,
        14 => 2484,
        _ => 5000 + 5 * number as u16,
    }
}

/// Size and alignment of the fields of bits 0 to 23.
const FIELDS: [(usize, usize); 24] = [
    (8, 8),
    (1, 1),
    (1, 1),
    (4, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (2, 2),
    (2, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (1, 1),
    (1, 1),
    (2, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (8, 4),
    (3, 1),
    (8, 4),
    (12, 2),
    (12, 8),
    (12, 2),
];

impl Radiotap {
    /// Flag: the frame had a short preamble.
    pub const SHORT_PREAMBLE: u8 = 0x02;
    /// Flag: the driver has filled the header up to a multiple of four octets.
    pub const PADDED: u8 = 0x20;
    /// Flag: the frame ends with its FCS.
    pub const FCS_AT_END: u8 = 0x10;
    /// Flag: the FCS is wrong.
    pub const BAD_FCS: u8 = 0x40;
    /// Value of [`rate`](Self::rate) for 1 Mbit/s.
    pub const RATE_1M: u8 = 2;
    /// Length of the longest header that [`emit`](Self::emit) writes, in bytes.
    pub const EMIT_MAX: usize = 48;

    /// Returns the header of a frame with its FCS, captured at 1 Mbit/s.
    #[must_use]
    pub const fn captured(tsft: u64, channel: u8, signal: i8) -> Self {
        Self {
            tsft: Some(tsft),
            flags: Some(Self::FCS_AT_END),
            rate: Some(Self::RATE_1M),
            channel: Some(ChannelField::cck(channel)),
            signal: Some(signal),
            noise: None,
            antenna: None,
            mcs: None,
            ampdu: None,
            he: None,
        }
    }

    /// Returns whether the frame ends with its FCS.
    #[must_use]
    pub const fn fcs_at_end(&self) -> bool {
        matches!(self.flags, Some(flags) if flags & Self::FCS_AT_END != 0)
    }

    /// Returns whether the frame's header was filled up to a multiple of four octets.
    #[must_use]
    pub const fn is_padded(&self) -> bool {
        matches!(self.flags, Some(flags) if flags & Self::PADDED != 0)
    }

    /// Returns whether the capturing radio found the FCS wrong.
    #[must_use]
    pub const fn bad_fcs(&self) -> bool {
        matches!(self.flags, Some(flags) if flags & Self::BAD_FCS != 0)
    }

    /// Parses the header and returns it with the frame behind it. `None` for another version, a
    /// length shorter than the presence words or longer than the packet, and fields that run over
    /// it.
    #[must_use]
    pub fn parse(packet: &[u8]) -> Option<(Self, &[u8])> {
        let [version, _, l0, l1, ..] = packet else { return None };
        if *version != 0 {
            return None;
        }
        let (head, frame) = packet.split_at_checked(u16::from_le_bytes([*l0, *l1]).into())?;
        let present = word(head, 4)?;
        let (mut last, mut at) = (present, 8usize);
        while last >> 31 != 0 {
            last = word(head, at)?;
            at += 4;
        }
        let mut found = Self::default();
        for (bit, (size, align)) in FIELDS.iter().enumerate() {
            if present >> bit & 1 != 0 {
                at = at.next_multiple_of(*align);
                found.set(bit, head.get(at..at + size)?);
                at += size;
            }
        }
        Some((found, frame))
    }

    fn set(&mut self, bit: usize, value: &[u8]) {
        match (bit, value) {
            (0, _) => self.tsft = value.first_chunk().copied().map(u64::from_le_bytes),
            (1, [flags]) => self.flags = Some(*flags),
            (2, [rate]) => self.rate = Some(*rate),
            (3, &[m0, m1, f0, f1]) => {
                let mhz = u16::from_le_bytes([m0, m1]);
                self.channel = Some(ChannelField { mhz, flags: u16::from_le_bytes([f0, f1]) });
            }
            (5, [dbm]) => self.signal = Some(*dbm as i8),
            (6, [dbm]) => self.noise = Some(*dbm as i8),
            (11, [antenna]) => self.antenna = Some(*antenna),
            (19, &[known, flags, index]) => self.mcs = Some(McsField { known, flags, index }),
            (20, &[a, b, c, d, f0, f1, ..]) => {
                let (reference, flags) =
                    (u32::from_le_bytes([a, b, c, d]), u16::from_le_bytes([f0, f1]));
                self.ampdu = Some(AmpduField { reference, flags });
            }
            (23, words) => {
                let mut data = [0; 6];
                for (word, bytes) in data.iter_mut().zip(words.chunks_exact(2)) {
                    *word = u16::from_le_bytes([bytes[0], bytes[1]]);
                }
                self.he = Some(HeField { data });
            }
            _ => {}
        }
    }

    /// Writes the header and returns its length; `None` if `buf` is too short.
    pub fn emit(&self, buf: &mut [u8]) -> Option<usize> {
        let channel = self.channel.map(|channel| {
            let ([a, b], [c, d]) = (channel.mhz.to_le_bytes(), channel.flags.to_le_bytes());
            [a, b, c, d]
        });
        let tsft = self.tsft.map(u64::to_le_bytes);
        let (flags, rate) = (self.flags.map(|v| [v]), self.rate.map(|v| [v]));
        let (signal, noise) = (self.signal.map(|v| [v as u8]), self.noise.map(|v| [v as u8]));
        let antenna = self.antenna.map(|v| [v]);
        let mcs = self.mcs.map(|it| [it.known, it.flags, it.index]);
        let ampdu = self.ampdu.map(|it| {
            let ([a, b, c, d], [e, f]) = (it.reference.to_le_bytes(), it.flags.to_le_bytes());
            [a, b, c, d, e, f, 0, 0]
        });
        let he = self.he.map(|it| {
            let mut bytes = [0; 12];
            for (two, word) in bytes.chunks_exact_mut(2).zip(it.data) {
                two.copy_from_slice(&word.to_le_bytes());
            }
            bytes
        });
        let fields: [(usize, Option<&[u8]>); 10] = [
            (0, tsft.as_ref().map(|v| &v[..])),
            (1, flags.as_ref().map(|v| &v[..])),
            (2, rate.as_ref().map(|v| &v[..])),
            (3, channel.as_ref().map(|v| &v[..])),
            (5, signal.as_ref().map(|v| &v[..])),
            (6, noise.as_ref().map(|v| &v[..])),
            (11, antenna.as_ref().map(|v| &v[..])),
            (19, mcs.as_ref().map(|v| &v[..])),
            (20, ampdu.as_ref().map(|v| &v[..])),
            (23, he.as_ref().map(|v| &v[..])),
        ];
        let (mut at, mut present) = (8usize, 0u32);
        for (bit, value) in fields {
            let (Some(value), Some((_, align))) = (value, FIELDS.get(bit)) else { continue };
            let start = at.next_multiple_of(*align);
            buf.get_mut(at..start)?.fill(0);
            at = start + value.len();
            buf.get_mut(start..at)?.copy_from_slice(value);
            present |= 1 << bit;
        }
        let head = buf.first_chunk_mut::<8>()?;
        head[..2].fill(0);
        head[2..4].copy_from_slice(&(at as u16).to_le_bytes());
        head[4..].copy_from_slice(&present.to_le_bytes());
        Some(at)
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_we_write() {
        let mut buf = [0xEE; Radiotap::EMIT_MAX];
        let tap = Radiotap::captured(0x0102_0304, 6, -65);
        let wire = [
            0, 0, 23, 0, 0x2F, 0, 0, 0, 4, 3, 2, 1, 0, 0, 0, 0, 0x10, 2, 0x85, 0x09, 0xA0, 0x00,
            0xBF,
        ];
        assert_eq!(tap.emit(&mut buf), Some(23));
        assert_eq!(buf[..23], wire);
        buf[23] = 0xD4;
        assert_eq!(Radiotap::parse(&buf[..24]), Some((tap, &[0xD4][..])));
        assert_eq!(tap.emit(&mut buf[..22]), None);
        let all = Radiotap { noise: Some(-96), antenna: Some(1), ..tap };
        assert_eq!(all.emit(&mut buf), Some(25));
    }

    #[test]
    fn padding_is_kept_where_fields_are_missing() {
        let tap = Radiotap {
            flags: Some(0),
            channel: Some(ChannelField::cck(14)),
            signal: Some(-1),
            ..Radiotap::default()
        };
        let mut buf = [0xEE; 32];
        let wire = [0, 0, 15, 0, 0x2A, 0, 0, 0, 0, 0, 0xB4, 0x09, 0xA0, 0, 0xFF];
        assert_eq!(tap.emit(&mut buf).map(|len| &buf[..len]), Some(&wire[..]));
        assert_eq!(Radiotap::parse(&wire), Some((tap, &[][..])));
    }

    /// Parses a header as Linux's mac80211 writes it: with two more presence words for an antenna,
    /// and a field that is not read here (receive flags) before one that is (MCS).
    #[test]
    fn extended_presence_words_and_further_fields() {
        let wire = [
            0, 0, 40, 0, 0x2F, 0x40, 0x08, 0xA0, 0x20, 0x08, 0, 0xA0, 0x20, 0x08, 0, 0, 1, 0, 0, 0,
            0, 0, 0, 0, 0x50, 0x0B, 0x6C, 0x09, 0xA0, 0, 0xC4, 0, 0, 0, 1, 2, 3, 0xC4, 0, 0xC5,
            0x99,
        ];
        let (tap, frame) = Radiotap::parse(&wire).expect("radiotap");
        assert_eq!((tap.tsft, tap.signal, tap.rate), (Some(1), Some(-60), Some(11)));
        assert_eq!(tap.channel.and_then(ChannelField::number), Some(1));
        assert!(tap.fcs_at_end() && tap.bad_fcs());
        assert_eq!(tap.mcs, Some(McsField { known: 1, flags: 2, index: 3 }));
        assert_eq!(frame, [0x99]);
        let mut endless = wire;
        endless[15] = 0x80;
        assert_eq!(Radiotap::parse(&endless[..20]), None, "longer than the packet");
        endless[2] = 16;
        assert_eq!(Radiotap::parse(&endless), None, "presence words run over the header");
    }

    #[test]
    fn an_mpdu_of_an_ampdu() {
        let ampdu = Some(AmpduField::of(0x0102_0304, true));
        let tap =
            Radiotap { mcs: Some(McsField::mixed(7, true, false)), ampdu, ..Radiotap::default() };
        let wire = [0, 0, 20, 0, 0, 0, 0x18, 0, 0x7F, 1, 7, 0, 4, 3, 2, 1, 0x0C, 0, 0, 0];
        let mut buf = [0xEE; Radiotap::EMIT_MAX];
        assert_eq!(tap.emit(&mut buf).map(|len| &buf[..len]), Some(&wire[..]));
        assert_eq!(Radiotap::parse(&wire), Some((tap, &[][..])));
    }

    /// The words of a frame of extended range in 106 tones with DCM and 3.2 us, by the bits of radiotap.org.
    #[test]
    fn an_he_frame() {
        let he = HeField::single(0, true, HeFieldGuard::Us32, true, true);
        assert_eq!(he.data, [0x42E1, 0x0002, 0x1000, 0, 0x00E6, 1]);
        let he = HeField::single(9, false, HeFieldGuard::Us16, false, false);
        assert_eq!((he.data, he.mcs()), ([0x42E0, 0x0002, 0x0900, 0, 0x0090, 1], Some(9)));
        let tap = Radiotap { he: Some(he), ..Radiotap::default() };
        let wire = [0, 0, 20, 0, 0, 0, 0x80, 0, 0xE0, 0x42, 2, 0, 0, 9, 0, 0, 0x90, 0, 1, 0];
        let mut buf = [0xEE; Radiotap::EMIT_MAX];
        assert_eq!(tap.emit(&mut buf).map(|len| &buf[..len]), Some(&wire[..]));
        assert_eq!(Radiotap::parse(&wire), Some((tap, &[][..])));
    }

    #[test]
    fn channels() {
        for number in 1..=14 {
            assert_eq!(ChannelField::cck(number).number(), Some(number));
        }
        let other = |mhz| ChannelField { mhz, flags: 0 }.number();
        assert_eq!((other(2407), other(2413), other(2477), other(5179)), (None, None, None, None));
        assert_eq!((other(5180), other(5825)), (Some(36), Some(165)));
        assert_eq!(ChannelField::ofdm(149), ChannelField { mhz: 5745, flags: 0x0140 });
        assert_eq!((ChannelField::cck(1).mhz, ChannelField::cck(13).mhz), (2412, 2472));
        let ofdm = ChannelField { mhz: 2437, flags: 0x00C0 };
        assert_eq!((ChannelField::ofdm(6), ChannelField::cck(6).flags), (ofdm, 0x00A0));
    }

    #[test]
    fn flags_of_a_frame() {
        let of = |flags| {
            let tap = Radiotap { flags, ..Radiotap::default() };
            (tap.fcs_at_end(), tap.bad_fcs())
        };
        assert_eq!((of(None), of(Some(0x2F))), ((false, false), (false, false)));
        assert_eq!((of(Some(0x12)), of(Some(0x40))), ((true, false), (false, true)));
    }

    #[test]
    fn modulation_and_place_in_an_ampdu() {
        let mixed = |wide, short| McsField::mixed(7, wide, short).flags;
        assert_eq!((mixed(false, false), mixed(true, false)), (0, 1));
        assert_eq!((mixed(false, true), mixed(true, true)), (4, 5));
        assert_eq!((AmpduField::of(1, false).flags, AmpduField::of(1, true).flags), (4, 12));
    }

    proptest! {
        #[test]
        fn what_is_emitted_reads_back(
            tsft: Option<u64>, flags: Option<u8>, rate: Option<u8>, channel: Option<(u16, u16)>,
            signal: Option<i8>, noise: Option<i8>, antenna: Option<u8>, mcs: Option<(u8, u8, u8)>,
            ampdu: Option<(u32, u16)>, he: Option<[u16; 6]>,
        ) {
            let he = he.map(|data| HeField { data });
            let ampdu = ampdu.map(|(reference, flags)| AmpduField { reference, flags });
            let mcs = mcs.map(|(known, flags, index)| McsField { known, flags, index });
            let channel = channel.map(|(mhz, flags)| ChannelField { mhz, flags });
            let tap = Radiotap { tsft, flags, rate, channel, signal, noise, antenna, mcs, ampdu, he };
            let mut buf = [0; Radiotap::EMIT_MAX];
            let len = tap.emit(&mut buf).expect("it fits");
            prop_assert_eq!(Radiotap::parse(&buf[..len]), Some((tap, &[][..])));
        }

        #[test]
        fn any_bytes_are_read_or_refused(
            mut bytes in prop::collection::vec(any::<u8>(), 0..80), len in 0..80u8,
        ) {
            let _ = Radiotap::parse(&bytes);
            if let [version, _, low, high, ..] = &mut bytes[..] {
                (*version, *low, *high) = (0, len, 0);
            }
            if let Some((_, frame)) = Radiotap::parse(&bytes) {
                prop_assert_eq!(frame.len(), bytes.len() - usize::from(len));
            }
        }
    }
}
