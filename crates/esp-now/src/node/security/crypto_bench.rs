//! The command `sec_test`: measures the time that this device takes to encrypt and decrypt a
//! payload (section 7.6 of the protocol reference).
//!
//! The component prints two averages in whole microseconds. This benchmark also records each
//! operation as a sample, on link [`SEAL`] or [`OPEN`], with the instants before and after it.
//!
//! A machine has no clock: each operation is one call of [`Task::run`], and it ends when the next
//! call begins. On a device that is the time of the call; in a simulation, the cost of
//! [`CpuWork::Seal`] or [`CpuWork::Open`].

use crate::component::sealed::{NONCE_LEN, Sealer, TAG_LEN};
use crate::node::board::CpuWork;
use crate::node::print::LogLevel;
use crate::node::task::{Cx, SendRequest, Task, TaskStep, TransmitOutcome};
use core::fmt;
use espbench_model::sample::{Fate, Link, Probe, Sample};
use espbench_model::time::{Duration, Instant};

/// Link of the samples of encryption.
pub const SEAL: Link = Link(0);
/// Link of the samples of decryption.
pub const OPEN: Link = Link(1);

/// Default number of operations of the command.
pub const COUNT: u32 = 100;

const TAG: &str = "espnow_cmd";

/// Task of the command, for payloads of up to `BYTES` less 4 bytes.
pub struct CryptoBench<const BYTES: usize = 256> {
    phase: BenchPhase,
    sealer: Option<Sealer>,
    nonce: [u8; NONCE_LEN],
    seed: u64,
    buf: [u8; BYTES],
    len: usize,
    count: u32,
    done: u32,
    seal: Duration,
    open: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BenchPhase {
    Idle,
    /// The next plaintext is to be generated.
    Fill,
    Seal,
    /// Encryption began at this instant; it is over with the next run.
    Sealing(Instant),
    /// Encryption lasted from the first to the second instant, which is to be recorded.
    Sealed(Instant, Instant),
    Open,
    Opening(Instant, bool),
    Opened(Instant, Instant, bool),
}

impl<const BYTES: usize> fmt::Debug for CryptoBench<BYTES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecTest({:?}, {} of {})", self.phase, self.done, self.count)
    }
}

impl<const BYTES: usize> Default for CryptoBench<BYTES> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const BYTES: usize> CryptoBench<BYTES> {
    /// Creates a benchmark that does nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            phase: BenchPhase::Idle,
            sealer: None,
            nonce: [0; NONCE_LEN],
            seed: 0,
            buf: [0; BYTES],
            len: 0,
            count: 0,
            done: 0,
            seal: Duration::ZERO,
            open: Duration::ZERO,
        }
    }

    /// Returns whether it does nothing.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.phase == BenchPhase::Idle
    }

    /// Starts `count` operations on `len` bytes, with a random key. The command's defaults are
    /// [`COUNT`] and [`Compat::data_max`](crate::component::Compat::data_max). Returns false
    /// while it runs, for a count of 0 (by which the component divides), and for a length that is 0
    /// or does not fit.
    pub fn start(&mut self, cx: &mut Cx<'_>, count: u32, len: usize) -> bool {
        let fits = len > 0 && len.checked_add(TAG_LEN).is_some_and(|all| all <= BYTES);
        if !self.is_idle() || count == 0 || !fits {
            return false;
        }
        let mut key = zeroize::Zeroizing::new([0; 16]);
        cx.board.random(&mut *key);
        cx.board.random(&mut self.nonce);
        self.sealer = Some(Sealer::new(&key));
        (self.len, self.count, self.done) = (len, count, 0);
        (self.seal, self.open) = (Duration::ZERO, Duration::ZERO);
        self.phase = BenchPhase::Fill;
        true
    }

    /// Stops without a result.
    pub fn stop(&mut self) {
        self.phase = BenchPhase::Idle;
        self.sealer = None;
    }

    fn do_seal(&mut self, cx: &mut Cx<'_>) -> Option<()> {
        let (sealer, len) = (self.sealer.as_ref()?, self.len);
        sealer.seal_by(cx.board.aes(), &self.nonce, false, &mut self.buf, len)?;
        cx.spend(CpuWork::Seal { bytes: len as u32 });
        Some(())
    }

    fn do_open(&mut self, cx: &mut Cx<'_>) -> bool {
        let (nonce, end) = (self.nonce, self.len.saturating_add(TAG_LEN));
        let (Some(sealer), Some(buf)) = (self.sealer.as_ref(), self.buf.get_mut(..end)) else {
            return false;
        };
        let opened = sealer.open_by(cx.board.aes(), Some(&nonce), buf);
        cx.spend(CpuWork::Open { bytes: self.len as u32 });
        opened == Some(self.len)
    }

    /// Returns whether the plaintext is back.
    fn is_plain(&self) -> bool {
        let text = self.buf.get(..self.len).unwrap_or(&[]);
        text.iter().zip(plaintext(self.seed)).all(|(a, b)| *a == b)
    }

    fn record(&self, cx: &mut Cx<'_>, link: Link, from: Instant, to: Instant, whole: bool) {
        cx.sample(Sample::Probe(Probe {
            link,
            seq: u64::from(self.done),
            bytes: self.len as u32,
            due: from,
            sent: Some(from),
            received: Some(to),
            fate: if whole { Fate::Delivered } else { Fate::Corrupt },
            ..Probe::default()
        }));
    }

    /// Counts a plaintext that was encrypted and decrypted; begins the next one or prints the
    /// averages.
    fn next(&mut self, cx: &mut Cx<'_>) {
        self.done = self.done.saturating_add(1);
        if self.done < self.count {
            self.phase = BenchPhase::Fill;
            return;
        }
        let len = self.len;
        for (what, time) in [("Encrypting", self.seal), ("Decrypting", self.open)] {
            let us = time.as_micros() / u128::from(self.count.max(1));
            let line = format_args!("{what} data of {len} bytes takes an average of {us} us");
            cx.log(LogLevel::Info, TAG, line);
        }
        self.stop();
    }
}

impl<const BYTES: usize> Task for CryptoBench<BYTES> {
    fn run(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        match self.phase {
            BenchPhase::Idle => return TaskStep::Idle,
            BenchPhase::Fill => {
                let mut seed = [0; 8];
                cx.board.random(&mut seed);
                self.seed = u64::from_le_bytes(seed);
                let text = self.buf.get_mut(..self.len).unwrap_or(&mut []);
                text.iter_mut().zip(plaintext(self.seed)).for_each(|(to, from)| *to = from);
                self.phase = BenchPhase::Seal;
            }
            BenchPhase::Seal => {
                self.phase = BenchPhase::Sealing(cx.now);
                if self.do_seal(cx).is_none() {
                    self.stop();
                }
            }
            BenchPhase::Sealing(from) => {
                self.seal = self.seal.saturating_add(cx.now.since(from));
                self.phase = BenchPhase::Sealed(from, cx.now);
            }
            BenchPhase::Sealed(from, to) if cx.sample_room() => {
                self.record(cx, SEAL, from, to, true);
                self.phase = BenchPhase::Open;
            }
            BenchPhase::Open => {
                let from = cx.now;
                self.phase = BenchPhase::Opening(from, self.do_open(cx));
            }
            BenchPhase::Opening(from, opened) => {
                self.open = self.open.saturating_add(cx.now.since(from));
                let whole = opened && self.is_plain();
                if !whole {
                    cx.log(LogLevel::Error, TAG, format_args!("Decrypt error"));
                }
                self.phase = BenchPhase::Opened(from, cx.now, whole);
            }
            BenchPhase::Opened(from, to, whole) if cx.sample_room() => {
                self.record(cx, OPEN, from, to, whole);
                self.next(cx);
            }
            // Waits until the samples are taken.
            BenchPhase::Sealed(..) | BenchPhase::Opened(..) => {}
        }
        if self.is_idle() { TaskStep::Idle } else { TaskStep::Until(cx.now) }
    }

    fn compose(&mut self, _: &mut Cx<'_>, _: &mut [u8]) -> Option<SendRequest> {
        None
    }

    fn sent(&mut self, _: &mut Cx<'_>, _: TransmitOutcome) {}
}

/// Generates bytes that look random and can be generated again: a linear congruential generator
/// (Knuth's MMIX).
fn plaintext(mut state: u64) -> impl Iterator<Item = u8> {
    core::iter::from_fn(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some((state >> 56) as u8)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::security::tests::testing::SecurityStation;
    use espbench_ieee80211::mac::Mac;
    use std::vec::Vec;

    /// Runs to the end on virtual time and returns the samples, taken after every `every` runs.
    fn finish(station: &mut SecurityStation, test: &mut CryptoBench, every: u32) -> Vec<Probe> {
        let (mut now, mut samples) = (Instant::ZERO, Vec::new());
        for i in 0..10_000 {
            let step = test.run(&mut station.cx(now));
            now = now.after_nanos(core::mem::take(&mut station.shared.busy_ns));
            if i % every == 0 || step == TaskStep::Idle {
                while let Some(Sample::Probe(probe)) = station.shared.take_sample() {
                    samples.push(probe);
                }
            }
            if step == TaskStep::Idle {
                return samples;
            }
        }
        panic!("it does not end");
    }

    fn station() -> SecurityStation {
        let mut station = SecurityStation::new(Mac([2; 6]), 1);
        station.board.cost = |work| match work {
            CpuWork::Seal { bytes } => Duration::from_micros(u64::from(bytes)),
            CpuWork::Open { bytes } => Duration::from_micros(u64::from(bytes) * 2),
            _ => Duration::ZERO,
        };
        station
    }

    #[test]
    fn every_operation_is_a_sample_and_the_averages_are_printed() {
        for every in [1, 37] {
            let (mut station, mut test) = (station(), CryptoBench::new());
            assert!(test.start(&mut station.cx(Instant::ZERO), COUNT, 218));
            let samples = finish(&mut station, &mut test, every);
            assert_eq!((samples.len(), station.shared.lost), (200, 0));
            for (i, pair) in samples.chunks(2).enumerate() {
                let took = |p: &Probe| p.received.unwrap().since(p.sent.unwrap()).as_micros();
                assert_eq!((pair[0].link, pair[1].link), (SEAL, OPEN));
                assert_eq!((pair[0].seq, pair[1].bytes), (i as u64, 218));
                assert_eq!((took(&pair[0]), took(&pair[1])), (218, 436));
                assert_eq!(pair[1].fate, Fate::Delivered);
            }
            let out = station.output();
            let lines: Vec<&str> = out.lines().map(|l| l.split_once(") ").unwrap().1).collect();
            let expected = [
                "espnow_cmd: Encrypting data of 218 bytes takes an average of 218 us",
                "espnow_cmd: Decrypting data of 218 bytes takes an average of 436 us",
            ];
            assert_eq!(lines, expected);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_and_what_breaks_is_told() {
        let (mut station, mut test) = (station(), CryptoBench::<256>::new());
        let cx = &mut station.cx(Instant::ZERO);
        for (count, len) in [(0, 8), (1, 0), (1, 253), (1, usize::MAX)] {
            assert!(!test.start(cx, count, len));
        }
        assert!(test.start(cx, 1, 252) && !test.start(cx, 1, 8), "busy");
        while !matches!(test.phase, BenchPhase::Open) {
            test.run(cx);
        }
        test.buf[0] ^= 1;
        let samples = finish(&mut station, &mut test, 1);
        assert_eq!(samples.last().unwrap().fate, Fate::Corrupt);
        assert!(station.output().starts_with("E (0) espnow_cmd: Decrypt error\n"));
    }
}
