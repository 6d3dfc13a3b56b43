//! One receiver.
//!
//! It locks on to a frame whose preamble stands out, and reads it to its end, or until it sends
//! something itself. While the preamble of the frame is not over, a second one may spoil it (then
//! nothing is being read, only energy is there: no PHY-RXSTART, and no EIFS after it) or take
//! its place. Later ones interfere, or, where the receiver can do that, take its place when they
//! are much stronger.
//!
//! The medium is busy (CCA of 15.4.6.5, 16.3.8.5, 17.3.10.6) while the receiver reads or sends, or
//! while there is energy above a threshold, whatever it is.

use super::decoder::{Cutoff, Decoder};
use super::power::{Power, Ratio};
use crate::radio::{Capture, Mode};
use alloc::boxed::Box;
use alloc::sync::Arc;

/// No frame.
pub(crate) const NOTHING: u32 = u32::MAX;

/// A kind of receiver: a chip in its place. Powers are at its antenna.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Energy from this on makes the medium busy, even where no preamble was found.
    pub energy: Power,
    /// Which of several frames it reads.
    pub capture: Capture,
    /// Noise, and what of a frame survives it.
    pub decoder: Arc<dyn Decoder>,
}

impl Receiver {
    /// With a decoder, a threshold of energy and the other rules.
    pub fn new(decoder: impl Decoder + 'static, energy_dbm: f64, capture: Capture) -> Self {
        Self { energy: Power::from_dbm(energy_dbm), capture, decoder: Arc::new(decoder) }
    }
}

impl Default for Receiver {
    /// All or nothing at 4 dB; energy as 16.3.8.5 has it for a station of 50 to 100 mW.
    fn default() -> Self {
        Self::new(Cutoff::from_db(4.0), -73.0, Capture::default())
    }
}

/// What a receiver makes of a mode.
#[derive(Clone, Copy, Debug)]
struct Facts {
    noise: Power,
    found: Power,
    sure: Ratio,
    detect: Ratio,
}

/// A [`Receiver`], ready for use.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    energy: Power,
    window_ns: u64,
    relock: Option<Ratio>,
    relock_ns: u64,
    facts: Box<[Facts; Mode::COUNT]>,
    decoder: Arc<dyn Decoder>,
}

impl Kind {
    pub(crate) fn new(receiver: &Receiver) -> Self {
        let Receiver { energy, capture, decoder } = receiver;
        let facts = Mode::ALL.map(|mode| Facts {
            noise: decoder.noise(mode),
            found: decoder.found(mode),
            sure: decoder.sure(mode),
            detect: Ratio::from_db(match mode {
                Mode::Hr(_) => capture.detect_db - capture.spread_db,
                _ => capture.detect_db,
            }),
        });
        Self {
            energy: *energy,
            window_ns: capture.window_ns,
            relock: capture.relock_db.map(Ratio::from_db),
            relock_ns: capture.relock_ns,
            facts: Box::new(facts),
            decoder: decoder.clone(),
        }
    }

    #[inline]
    fn facts(&self, signal: &Signal) -> &Facts {
        &self.facts[usize::from(signal.index)]
    }

    /// Whether a frame is strong enough to be found, where it is alone.
    #[inline]
    pub(crate) fn finds(&self, signal: &Signal, power: Power) -> bool {
        power >= self.facts(signal).found
    }
}

/// What of a frame a receiver must know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    pub(crate) frame: u32,
    pub(crate) mode: Mode,
    pub(crate) octets: u32,
    /// [`Mode::index`].
    pub(crate) index: u8,
}

/// The state of one receiver.
#[derive(Clone, Debug)]
pub(crate) struct Ear {
    /// All that arrives now.
    pub(crate) sum: Power,
    /// The power of the frame being read.
    strength: Power,
    /// More than this much of others while its preamble is read spoils that.
    spoils: Power,
    /// From this much interference on that frame may be lost; zero where noise alone may do it.
    critical: Power,
    /// When the reading of that frame began.
    since: u64,
    /// From when on interference is as it is now.
    steady: u64,
    /// The frame being read, or `NOTHING`.
    pub(crate) reads: u32,
    /// The chance that what was read so far arrived.
    chance: f32,
    pub(crate) channel: u8,
    pub(crate) kind: u8,
    /// It sends.
    pub(crate) sending: bool,
    /// It is being tuned to another channel.
    pub(crate) deaf: bool,
    /// The medium is busy, as the station sees it. Follows [`Ear::senses`].
    pub(crate) busy: bool,
}

impl Ear {
    pub(crate) const fn new(channel: u8, kind: u8) -> Self {
        Self {
            sum: Power::ZERO,
            strength: Power::ZERO,
            spoils: Power::ZERO,
            critical: Power::ZERO,
            since: 0,
            steady: 0,
            reads: NOTHING,
            chance: 1.0,
            channel,
            kind,
            sending: false,
            deaf: false,
            busy: false,
        }
    }

    /// Whether the medium is busy.
    #[inline]
    pub(crate) fn senses(&self, kind: &Kind) -> bool {
        self.sending || self.deaf || self.reads != NOTHING || self.sum >= kind.energy
    }

    /// A frame begins that is `power` strong here, and can be read here or (from another channel)
    /// not. Nothing is heard while sending or being tuned.
    #[inline]
    pub(crate) fn arrive(
        &mut self,
        now: u64,
        power: Power,
        signal: Option<&Signal>,
        kind: &Kind,
        reading: impl FnOnce(u32) -> Signal,
    ) {
        let others = self.sum;
        self.sum += power;
        if self.sending || self.deaf {
            return;
        }
        if self.reads != NOTHING {
            self.disturbed(now, power, others, signal, kind, reading);
        } else if let Some(signal) = signal
            && (others == Power::ZERO || others <= kind.facts(signal).detect.under(power))
            && kind.finds(signal, power)
        {
            self.lock(now, power, signal, kind);
        }
    }

    fn disturbed(
        &mut self,
        now: u64,
        power: Power,
        others: Power,
        signal: Option<&Signal>,
        kind: &Kind,
        reading: impl FnOnce(u32) -> Signal,
    ) {
        let age = now - self.since;
        let early = age < kind.window_ns;
        if let Some(signal) = signal
            && (early && power > self.strength
                || kind.relock.is_some_and(|it| self.strength <= it.under(power))
                    && age <= kind.relock_ns)
            && others <= kind.facts(signal).detect.under(power)
            && kind.finds(signal, power)
        {
            self.lock(now, power, signal, kind);
            return;
        }
        // As before this frame came: up to now there was no more than `others`.
        let against = others.without(self.strength);
        if early && against + power > self.spoils {
            self.reads = NOTHING;
            return;
        }
        self.settle(now, against, kind, reading);
    }

    fn lock(&mut self, now: u64, power: Power, signal: &Signal, kind: &Kind) {
        let facts = kind.facts(signal);
        self.reads = signal.frame;
        self.strength = power;
        self.spoils = facts.detect.under(power);
        self.critical = facts.sure.under(power).above(facts.noise);
        self.since = now;
        self.steady = now;
        self.chance = 1.0;
    }

    /// Counts the stretch up to now, in which there was `against` beside noise and the frame being
    /// read.
    #[inline]
    fn settle(
        &mut self,
        now: u64,
        against: Power,
        kind: &Kind,
        reading: impl FnOnce(u32) -> Signal,
    ) {
        if against >= self.critical && now > self.steady {
            let signal = reading(self.reads);
            let sinr = self.strength.over(against + kind.facts(&signal).noise);
            let span = (self.steady - self.since, now - self.since);
            let chance = kind.decoder.chance(signal.mode, signal.octets, sinr, span);
            self.chance *= chance.clamp(0.0, 1.0) as f32;
        }
        self.steady = now;
    }

    /// A frame that is `power` strong ends here. Gives the chance that it was read, if it was the
    /// one being read.
    #[inline]
    pub(crate) fn leave(
        &mut self,
        now: u64,
        power: Power,
        frame: u32,
        kind: &Kind,
        reading: impl FnOnce(u32) -> Signal,
    ) -> Option<f32> {
        let all = self.sum;
        self.sum -= power;
        if self.reads == NOTHING {
            return None;
        }
        self.settle(now, all.without(self.strength), kind, reading);
        if self.reads != frame {
            return None;
        }
        self.reads = NOTHING;
        Some(self.chance)
    }

    /// A part of the frame being read ends here, and another one begins. Gives the chance that it
    /// was read.
    pub(crate) fn part(
        &mut self,
        now: u64,
        kind: &Kind,
        reading: impl FnOnce(u32) -> Signal,
    ) -> f32 {
        self.settle(now, self.sum.without(self.strength), kind, reading);
        core::mem::replace(&mut self.chance, 1.0)
    }

    /// Whether the frame just read would have survived noise alone.
    pub(crate) fn clean(&self) -> bool {
        self.critical > Power::ZERO
    }

    /// The station begins to send: what it reads is gone.
    pub(crate) fn begin_sending(&mut self) {
        self.sending = true;
        self.busy = true;
        self.reads = NOTHING;
    }

    /// The same, for one that takes note of the change of [`Ear::senses`] by itself.
    pub(crate) fn begin_sending_soon(&mut self) {
        self.sending = true;
        self.reads = NOTHING;
    }

    /// Another channel: nothing is there, as long as nothing is added.
    pub(crate) fn retune(&mut self, channel: u8) {
        self.channel = channel;
        self.sum = Power::ZERO;
        self.reads = NOTHING;
    }

    /// It is switched off, or being tuned: what it reads is gone.
    pub(crate) fn go_deaf(&mut self) {
        self.deaf = true;
        self.reads = NOTHING;
    }

    /// Since when it reads the frame it reads.
    pub(crate) const fn reads_since(&self) -> u64 {
        self.since
    }
}
