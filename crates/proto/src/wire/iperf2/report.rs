//! The UDP server's closing report.

use super::{DATAGRAM_HEADER, Datagram, MalformedHeader, REPORT, Stamp, flags, put_words, word};
use espbench_model::sample::Spread;
use espbench_model::time::Duration;

mod field {
    pub(super) const FLAGS: usize = 0;
    pub(super) const BYTES_HIGH: usize = 4;
    pub(super) const BYTES_LOW: usize = 8;
    pub(super) const STOP_SECONDS: usize = 12;
    pub(super) const STOP_MICROS: usize = 16;
    pub(super) const LOST: usize = 20;
    pub(super) const OUT_OF_ORDER: usize = 24;
    pub(super) const DATAGRAMS: usize = 28;
    pub(super) const JITTER_SECONDS: usize = 32;
    pub(super) const JITTER_MICROS: usize = 36;
    pub(super) const V1_END: usize = 40;
    pub(super) const TRANSIT: usize = 40;
    pub(super) const HIGH_HALVES: usize = 100;
    pub(super) const END: usize = 112;
}

/// The report, with its datagram header before it on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerReport {
    /// Payload bytes received.
    pub bytes: u64,
    /// From the first datagram to the last.
    pub time: Duration,
    /// Datagrams missing.
    pub lost: u64,
    /// Datagrams that came after a later one (duplicates too, where iperf 2 counted).
    pub out_of_order: u64,
    /// Highest datagram number: received and lost together.
    pub datagrams: u64,
    /// Interarrival jitter.
    pub jitter: Duration,
    /// One-way times, which a server adds with `-e` or where the client has `--trip-times`. On the
    /// wire they are microseconds, and their squared deviations 32 bits of square microseconds.
    pub transit: Option<Spread>,
}

impl ServerReport {
    /// Reads a whole datagram.
    ///
    /// # Errors
    /// [`MalformedHeader`] where it is too short or not marked as a report.
    pub fn parse(datagram: &[u8]) -> Result<Self, MalformedHeader> {
        let body = datagram.get(DATAGRAM_HEADER..).ok_or(MalformedHeader)?;
        let at = |offset| word(body, offset).unwrap_or_default();
        let bits = at(field::FLAGS);
        if body.len() < field::V1_END || bits & flags::VERSION1 == 0 {
            return Err(MalformedHeader);
        }
        let full = body.len() >= field::END;
        let wide = |low: usize, nth: usize| {
            let high = field::HIGH_HALVES + 4 * nth;
            let high = if full && bits & flags::SEQNO_64 != 0 { at(high) } else { 0 };
            u64::from(high) << 32 | u64::from(at(low))
        };
        let span = |seconds, micros| {
            Duration::from_secs(u64::from(at(seconds)))
                + Duration::from_micros(u64::from(at(micros)))
        };
        Ok(Self {
            bytes: u64::from(at(field::BYTES_HIGH)) << 32 | u64::from(at(field::BYTES_LOW)),
            time: span(field::STOP_SECONDS, field::STOP_MICROS),
            lost: wide(field::LOST, 0),
            out_of_order: wide(field::OUT_OF_ORDER, 1),
            datagrams: wide(field::DATAGRAMS, 2),
            jitter: span(field::JITTER_SECONDS, field::JITTER_MICROS),
            transit: (full && bits & flags::EXTEND != 0).then(|| Self::transit(body)),
        })
    }

    fn transit(body: &[u8]) -> Spread {
        let at = |nth: usize| word(body, field::TRANSIT + 4 * nth).unwrap_or_default();
        let nanos = |nth| {
            i64::from(at(nth).cast_signed()) * 1_000_000_000
                + i64::from(at(nth + 1).cast_signed()) * 1000
        };
        let count = u64::from(at(12));
        // The mean is cut to microseconds; the sum is as well, but of all together.
        let mean_ns = if count == 0 { nanos(6) as f64 } else { nanos(4) as f64 / count as f64 };
        let m2 = (f64::from(at(8)) + f64::from(at(9)) / 1e6) * 1e6;
        Spread { count, min_ns: nanos(0), max_ns: nanos(2), mean_ns, m2 }
    }

    /// Writes fifteen words of one-way times, as 2.1.8 does. What does not fit its field is cut at
    /// the field's end (2.1.8 lets it wrap).
    fn put_transit(&self, spread: &Spread, out: &mut [u8]) {
        let pair = |ns: f64| {
            // 2.1.8 reads these fields without a sign. Of clocks that agree a time below zero is their
            // resolution, and zero on the wire.
            let ns = if (-1e5..0.0).contains(&ns) { 0.0 } else { ns };
            let ns = ns.clamp(-2e18, 2e18) as i64;
            let micros = (ns % 1_000_000_000 / 1000) as i32;
            let seconds = (ns / 1_000_000_000).clamp(i32::MIN.into(), i32::MAX.into()) as i32;
            [seconds.cast_unsigned(), micros.cast_unsigned()]
        };
        let (min, max) = (pair(spread.min_ns as f64), pair(spread.max_ns as f64));
        let (sum, mean) = (pair(spread.mean_ns * spread.count as f64), pair(spread.mean_ns));
        let squares = (spread.m2 / 1e6).clamp(0.0, f64::from(u32::MAX));
        let seconds = self.time.as_secs_f64();
        let rate = if seconds > 0.0 { self.datagrams as f64 / seconds } else { 0.0 };
        let words = [
            min[0],
            min[1],
            max[0],
            max[1],
            sum[0],
            sum[1],
            mean[0],
            mean[1],
            squares as u32,
            ((squares - libm::floor(squares)) * 1e6) as u32,
            0, // the last deviation
            0,
            u32::try_from(spread.count).unwrap_or(u32::MAX),
            rate as u32,
            1, // in one second
        ];
        put_words(out, &words);
    }

    /// Writes a datagram: a zero datagram header, as 2.1.8 has it, and the report.
    pub fn emit(&self, out: &mut [u8; REPORT]) {
        *out = [0; REPORT];
        if let Some(head) = out.first_chunk_mut() {
            Datagram::emit(head, 0, Stamp::default());
        }
        let low = |n: u64| (n & 0xFFFF_FFFF) as u32;
        let high = |n: u64| (n >> 32) as u32;
        let seconds = |d: Duration| low(d.as_secs());
        let extended = if self.transit.is_some() { flags::EXTEND } else { 0 };
        if let Some(spread) = &self.transit {
            self.put_transit(spread, &mut out[DATAGRAM_HEADER + field::TRANSIT..]);
        }
        put_words(
            &mut out[DATAGRAM_HEADER..],
            &[
                flags::VERSION1 | flags::SEQNO_64 | extended,
                high(self.bytes),
                low(self.bytes),
                seconds(self.time),
                self.time.subsec_micros(),
                low(self.lost),
                low(self.out_of_order),
                low(self.datagrams),
                seconds(self.jitter),
                self.jitter.subsec_micros(),
            ],
        );
        put_words(
            &mut out[DATAGRAM_HEADER + field::HIGH_HALVES..],
            &[high(self.lost), high(self.out_of_order), high(self.datagrams)],
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORTED: ServerReport = ServerReport {
        bytes: 0x0000_0001_0000_0002,
        time: Duration::from_micros(10_000_042),
        lost: 3,
        out_of_order: 1,
        datagrams: 0x0000_0002_0000_0010,
        jitter: Duration::from_micros(17),
        transit: None,
    };

    #[test]
    fn bytes_of_a_report() {
        let mut out = [0xFF; REPORT];
        REPORTED.emit(&mut out);
        assert_eq!(out[..16], [0; 16]);
        assert_eq!(out[16..28], [0x88, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2]);
        assert_eq!(out[28..36], [0, 0, 0, 10, 0, 0, 0, 42]);
        assert_eq!(out[36..48], [0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0x10]);
        assert_eq!(out[48..56], [0, 0, 0, 0, 0, 0, 0, 17]);
        assert_eq!(out[116..128], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(ServerReport::parse(&out), Ok(REPORTED));
    }

    #[test]
    fn one_way_times_are_written_and_read() {
        let spread = Spread {
            count: 4,
            min_ns: 1_000,
            max_ns: 2_000_003_000,
            mean_ns: 500_002_000.0,
            m2: 3e15,
        };
        let mut out = [0; REPORT];
        ServerReport { transit: Some(spread), ..REPORTED }.emit(&mut out);
        assert_eq!(out[16..20], [0xC8, 0, 0, 0]);
        assert_eq!(out[56..72], [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]);
        assert_eq!(out[72..80], [0, 0, 0, 2, 0, 0, 0, 8], "the sum");
        assert_eq!(out[88..92], 3_000_000_000u32.to_be_bytes(), "square microseconds");
        assert_eq!(out[104..108], [0, 0, 0, 4], "the count");
        let read = ServerReport::parse(&out).unwrap().transit.unwrap();
        assert_eq!((read.min_ns, read.max_ns, read.count), (1_000, 2_000_003_000, 4));
        assert!((read.mean_ns - 500_002_000.0).abs() < 1.0 && (read.m2 / 3e15 - 1.0).abs() < 1e-9);
        // Clocks that disagree: the datagrams came before they were sent.
        let early = Spread { min_ns: -3_500_000, mean_ns: -3_500_000.0, ..spread };
        ServerReport { transit: Some(early), ..REPORTED }.emit(&mut out);
        let read = ServerReport::parse(&out).unwrap().transit.unwrap();
        assert_eq!((read.min_ns, read.mean_ns), (-3_500_000, -3_500_000.0));
    }

    #[test]
    fn parts_of_microseconds_and_nothing_seen() {
        let spread = Spread {
            count: 4,
            min_ns: -50_000,
            max_ns: -150_000,
            mean_ns: 500_002_500.0,
            m2: 2_500_000.0,
        };
        let mut out = [0; REPORT];
        ServerReport { transit: Some(spread), ..REPORTED }.emit(&mut out);
        assert_eq!(out[88..96], [0, 0, 0, 2, 0, 7, 0xA1, 0x20], "2.5 square microseconds");
        // 0x2_0000_0010 datagrams in 10.000042 s; the field is 32 bits wide.
        assert_eq!(out[108..112], 858_989_853_u32.to_be_bytes(), "datagrams a second");
        let read = ServerReport::parse(&out).unwrap().transit.unwrap();
        assert_eq!((read.min_ns, read.max_ns), (0, -150_000), "a clock's resolution is no time");
        // The sum is whole microseconds, the mean is computed from it.
        assert!((read.mean_ns - 500_002_500.0).abs() < 1e-3, "{}", read.mean_ns);
        assert!((read.m2 - 2_500_000.0).abs() < 1e-3, "{}", read.m2);
        let none = Spread { count: 0, mean_ns: 7_000.0, ..spread };
        let never = ServerReport { transit: Some(none), time: Duration::ZERO, ..REPORTED };
        never.emit(&mut out);
        assert_eq!(out[108..112], [0; 4]);
        assert_eq!(ServerReport::parse(&out).unwrap().transit.unwrap().mean_ns, 7_000.0);
    }

    #[test]
    fn counts_of_32_bits_have_no_high_halves() {
        let mut out = [0; REPORT];
        REPORTED.emit(&mut out);
        out[16] = 0x80;
        let read = ServerReport::parse(&out).unwrap();
        assert_eq!((read.datagrams, read.bytes), (0x10, REPORTED.bytes));
    }

    #[test]
    fn a_report_of_version_1_alone() {
        let mut out = [0; REPORT];
        REPORTED.emit(&mut out);
        let read = ServerReport::parse(&out[..56]).unwrap();
        assert_eq!((read.datagrams, read.lost), (0x10, 3));
        assert_eq!(ServerReport::parse(&out[..55]), Err(MalformedHeader));
    }

    #[test]
    fn payload_is_not_a_report() {
        let pattern: [u8; 128] = core::array::from_fn(|i| b'0' + (i % 10) as u8);
        assert_eq!(ServerReport::parse(&pattern), Err(MalformedHeader));
        assert_eq!(ServerReport::parse(&[]), Err(MalformedHeader));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(0u8.., 0..200)) {
            let _ = ServerReport::parse(&bytes);
        }
    }
}
