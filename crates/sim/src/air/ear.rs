//! The receiver of a station.
//!
//! A receiver locks on to a frame whose preamble stands out, and receives the frame to its end, or
//! until the station sends. During the preamble, a second frame may spoil it (then nothing is being
//! received, only energy is there: no PHY-RXSTART, and no EIFS afterwards) or take its place. Later
//! frames interfere, or, if the receiver supports that, take its place when they are much stronger.
//!
//! The medium is busy (CCA of 15.4.6.5, 16.3.8.5, 17.3.10.6) while the receiver receives or sends,
//! or while the energy is above a threshold.

use super::decoder::{Cutoff, Decoder};
use super::power::{Power, Ratio};
use crate::radio::{Capture, Mode};
use alloc::boxed::Box;
use alloc::sync::Arc;

/// The index that stands for no frame.
pub(crate) const NOTHING: u32 = u32::MAX;

/// The configuration of a receiver. Powers are at its antenna.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The energy from which on the medium is busy, even if no preamble was detected (energy
    /// detection).
    pub energy: Power,
    /// The rules of preamble detection and capture.
    pub capture: Capture,
    /// Noise and error model.
    pub decoder: Arc<dyn Decoder>,
}

impl Receiver {
    /// Returns a receiver with a decoder, an energy threshold in dBm and capture rules.
    pub fn new(decoder: impl Decoder + 'static, energy_dbm: f64, capture: Capture) -> Self {
        Self { energy: Power::from_dbm(energy_dbm), capture, decoder: Arc::new(decoder) }
    }
}

impl Default for Receiver {
    /// Returns a receiver with a decoding threshold of 4 dB, and the energy threshold that 16.3.8.5
    /// gives for a station of 50 to 100 mW.
    fn default() -> Self {
        Self::new(Cutoff::from_db(4.0), -73.0, Capture::default())
    }
}

/// A receiver's constants for one mode.
#[derive(Clone, Copy, Debug)]
struct Facts {
    noise: Power,
    found: Power,
    sure: Ratio,
    detect: Ratio,
}

/// A [`Receiver`] with its constants computed for every mode.
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

    /// Returns whether a frame is strong enough to be detected while it is alone.
    #[inline]
    pub(crate) fn finds(&self, signal: &Signal, power: Power) -> bool {
        power >= self.facts(signal).found
    }
}

/// The properties of a frame that its receivers need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    pub(crate) frame: u32,
    pub(crate) mode: Mode,
    pub(crate) octets: u32,
    /// The [`Mode::index`] of the mode.
    pub(crate) index: u8,
}

/// The state of one receiver.
#[derive(Clone, Debug)]
pub(crate) struct Ear {
    /// The sum of all power that arrives now.
    pub(crate) sum: Power,
    /// The power of the frame being received.
    strength: Power,
    /// The interference that spoils the frame's preamble while that is being received.
    spoils: Power,
    /// The interference from which on the frame may be lost; zero if noise alone may cost it.
    critical: Power,
    /// The time at which reception of the frame began.
    since: u64,
    /// The time since which interference has been constant.
    steady: u64,
    /// The frame being received, or `NOTHING`.
    pub(crate) reads: u32,
    /// The chance that the frame has been received up to now.
    chance: f32,
    pub(crate) channel: u8,
    pub(crate) kind: u8,
    /// Whether the station sends.
    pub(crate) sending: bool,
    /// Whether the receiver is off or being tuned to another channel.
    pub(crate) deaf: bool,
    /// Whether the medium is busy, as the station has noticed it. Follows [`Ear::senses`].
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

    /// Returns whether the medium is busy (CCA).
    #[inline]
    pub(crate) fn senses(&self, kind: &Kind) -> bool {
        self.sending || self.deaf || self.reads != NOTHING || self.sum >= kind.energy
    }

    /// Takes note that a frame begins, which arrives with `power`. `signal` is `None` if the frame,
    /// on another channel, cannot be decoded here. Nothing is received while sending or tuning.
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
        // Up to now there was no more than `others`, the sum before this frame came.
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

    /// Takes into account the stretch up to now, in which there was `against` beside noise and the
    /// frame being received.
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

    /// Takes note that a frame ends, which arrived with `power`. Returns the chance that it was
    /// received, if it is the one being received.
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

    /// Takes note that a part of the frame being received ends and another one begins. Returns the
    /// chance that the part was received.
    pub(crate) fn part(
        &mut self,
        now: u64,
        kind: &Kind,
        reading: impl FnOnce(u32) -> Signal,
    ) -> f32 {
        self.settle(now, self.sum.without(self.strength), kind, reading);
        core::mem::replace(&mut self.chance, 1.0)
    }

    /// Returns whether the frame just received would have survived noise alone.
    pub(crate) fn clean(&self) -> bool {
        self.critical > Power::ZERO
    }

    /// Takes note that the station begins to send; a frame being received is lost.
    pub(crate) fn begin_sending(&mut self) {
        self.sending = true;
        self.busy = true;
        self.reads = NOTHING;
    }

    /// Takes note that the station begins to send, but leaves `busy` for the caller to update from
    /// [`Ear::senses`].
    pub(crate) fn begin_sending_soon(&mut self) {
        self.sending = true;
        self.reads = NOTHING;
    }

    /// Changes the channel: the power is zero until the caller adds what is on the air there.
    pub(crate) fn retune(&mut self, channel: u8) {
        self.channel = channel;
        self.sum = Power::ZERO;
        self.reads = NOTHING;
    }

    /// Switches the receiver off, or begins to tune it; a frame being received is lost.
    pub(crate) fn go_deaf(&mut self) {
        self.deaf = true;
        self.reads = NOTHING;
    }

    /// Returns the time at which reception of the current frame began.
    pub(crate) const fn reads_since(&self) -> u64 {
        self.since
    }
}
