//! The receiver of a station.
//!
//! A receiver locks on to a frame whose preamble stands out, and receives the frame to its end, or
//! until the station sends. During the preamble, a second frame may spoil it (then nothing is being
//! received, only energy is there: no PHY-RXSTART, and no EIFS afterwards) or take its place. Later
//! frames interfere, or, if the receiver supports that, take its place when they are much stronger.
//!
//! The medium is busy (CCA of 15.4.6.5, 16.3.8.5, 17.3.10.6) while the receiver receives or sends,
//! or while the energy is above a threshold.

use super::decoder::{Decoder, ThresholdDecoder};
use super::power::{PowerRatio, SignalPower};
use crate::radio::{FrameCapture, WifiMode};
use alloc::boxed::Box;
use alloc::sync::Arc;

/// The index that stands for no frame.
pub(crate) const NO_FRAME: u32 = u32::MAX;

/// The configuration of a receiver. Powers are at its antenna.
#[derive(Clone, Debug)]
pub struct ReceiverConfig {
    /// The energy from which on the medium is busy, even if no preamble was detected (energy
    /// detection).
    pub energy: SignalPower,
    /// The rules of preamble detection and capture.
    pub capture: FrameCapture,
    /// Noise and error model.
    pub decoder: Arc<dyn Decoder>,
}

impl ReceiverConfig {
    /// Returns a receiver with a decoder, an energy threshold in dBm and capture rules.
    pub fn new(decoder: impl Decoder + 'static, energy_dbm: f64, capture: FrameCapture) -> Self {
        Self { energy: SignalPower::from_dbm(energy_dbm), capture, decoder: Arc::new(decoder) }
    }
}

impl Default for ReceiverConfig {
    /// Returns a receiver with a decoding threshold of 4 dB, and the energy threshold that 16.3.8.5
    /// gives for a station of 50 to 100 mW.
    fn default() -> Self {
        Self::new(ThresholdDecoder::from_db(4.0), -73.0, FrameCapture::default())
    }
}

/// A receiver's constants for one mode.
#[derive(Clone, Copy, Debug)]
struct ModeParams {
    noise: SignalPower,
    found: SignalPower,
    sure: PowerRatio,
    /// The least power of a frame that noise alone does not cost.
    clear: SignalPower,
    detect: PowerRatio,
}

/// A [`ReceiverConfig`] with its constants computed for every mode.
#[derive(Clone, Debug)]
pub(crate) struct ReceiverParams {
    energy: SignalPower,
    window_ns: u64,
    relock: Option<PowerRatio>,
    relock_ns: u64,
    facts: Box<[ModeParams; WifiMode::COUNT]>,
    decoder: Arc<dyn Decoder>,
}

impl ReceiverParams {
    pub(crate) fn new(receiver: &ReceiverConfig) -> Self {
        let ReceiverConfig { energy, capture, decoder } = receiver;
        let facts = WifiMode::ALL.map(|mode| ModeParams {
            noise: decoder.noise(mode),
            found: decoder.found(mode),
            sure: decoder.sure(mode),
            clear: decoder.sure(mode).least(decoder.noise(mode)),
            detect: PowerRatio::from_db(match mode {
                WifiMode::Hr(_) => capture.detect_db - capture.spread_db,
                WifiMode::Lr(rate) => capture.detect_db - capture.spread_db - rate.gain_db(),
                _ => capture.detect_db,
            }),
        });
        Self {
            energy: *energy,
            window_ns: capture.window_ns,
            relock: capture.relock_db.map(PowerRatio::from_db),
            relock_ns: capture.relock_ns,
            facts: Box::new(facts),
            decoder: decoder.clone(),
        }
    }

    #[inline]
    fn facts(&self, signal: &Signal) -> &ModeParams {
        &self.facts[usize::from(signal.index)]
    }

    /// Returns whether a frame that is alone from begin to end is received for certain, and the
    /// medium is idle before and after it.
    #[inline]
    pub(crate) fn surely_receives(&self, signal: &Signal, power: SignalPower) -> bool {
        let facts = self.facts(signal);
        let senses = self.energy > SignalPower::ZERO;
        senses && power >= facts.found && power >= facts.clear
    }

    /// Returns whether a frame is strong enough to be detected while it is alone.
    #[inline]
    pub(crate) fn detects(&self, signal: &Signal, power: SignalPower) -> bool {
        power >= self.facts(signal).found
    }
}

/// The properties of a frame that its receivers need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    pub(crate) frame: u32,
    pub(crate) mode: WifiMode,
    pub(crate) octets: u32,
    /// The [`WifiMode::index`] of the mode.
    pub(crate) index: u8,
    /// The time at which the frame began.
    pub(crate) begin: u64,
}

/// The station sends.
const SENDING: u8 = 1;
/// The receiver is off or being tuned to another channel.
const DEAF: u8 = 2;
/// The medium is busy, as the station has noticed it. Follows [`ReceiverState::cca_busy`].
const BUSY: u8 = 4;
/// Noise alone may cost the frame being received.
const NOISY: u8 = 8;

/// The state of one receiver, in half a cache line: a frame changes it at each of its receivers.
#[derive(Clone, Debug)]
pub(crate) struct ReceiverState {
    /// The sum of all power that arrives now.
    pub(crate) sum: SignalPower,
    /// The power of the frame being received.
    signal_power: SignalPower,
    /// The time since which interference has been constant, from the begin of the frame being
    /// received.
    constant_since: u32,
    /// The frame being received, or `NO_FRAME`.
    pub(crate) receiving: u32,
    /// The chance that the frame has been received up to now.
    chance: f32,
    pub(crate) channel: u8,
    pub(crate) kind: u8,
    flags: u8,
}

const _: () = assert!(size_of::<ReceiverState>() == 32);

impl ReceiverState {
    pub(crate) const fn new(channel: u8, kind: u8) -> Self {
        Self {
            sum: SignalPower::ZERO,
            signal_power: SignalPower::ZERO,
            constant_since: 0,
            receiving: NO_FRAME,
            chance: 1.0,
            channel,
            kind,
            flags: 0,
        }
    }

    #[inline]
    const fn set(&mut self, flag: u8, on: bool) {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
    }

    /// Returns whether the station sends.
    #[inline]
    pub(crate) const fn sending(&self) -> bool {
        self.flags & SENDING != 0
    }

    /// Takes note that the station no longer sends.
    #[inline]
    pub(crate) const fn end_tx(&mut self) {
        self.set(SENDING, false);
    }

    /// Returns whether the receiver is off or being tuned to another channel.
    #[inline]
    pub(crate) const fn deaf(&self) -> bool {
        self.flags & DEAF != 0
    }

    #[inline]
    pub(crate) const fn set_deaf(&mut self, deaf: bool) {
        self.set(DEAF, deaf);
    }

    /// Returns whether the medium is busy, as the station has noticed it.
    #[inline]
    pub(crate) const fn busy(&self) -> bool {
        self.flags & BUSY != 0
    }

    /// Takes note of what [`ReceiverState::cca_busy`] says.
    #[inline]
    pub(crate) const fn set_busy(&mut self, busy: bool) {
        self.set(BUSY, busy);
    }

    /// Returns whether the receiver listens, gets nothing, and senses an idle medium.
    #[inline]
    pub(crate) fn is_silent(&self) -> bool {
        self.flags & (SENDING | DEAF | BUSY) == 0
            && self.receiving == NO_FRAME
            && self.sum == SignalPower::ZERO
    }

    /// Returns whether the medium is busy (CCA).
    #[inline]
    pub(crate) fn cca_busy(&self, kind: &ReceiverParams) -> bool {
        self.flags & (SENDING | DEAF) != 0 || self.receiving != NO_FRAME || self.sum >= kind.energy
    }

    /// Takes note that a frame begins, which arrives with `power`. `signal` is `None` if the frame,
    /// on another channel, cannot be decoded here. Nothing is received while sending or tuning.
    #[inline(always)]
    pub(crate) fn on_rx_start(
        &mut self,
        now: u64,
        power: SignalPower,
        signal: Option<&Signal>,
        kind: &ReceiverParams,
        reading: impl Fn(u32) -> Signal,
    ) {
        let others = self.sum;
        self.sum += power;
        if self.flags & (SENDING | DEAF) != 0 {
            return;
        }
        if self.receiving != NO_FRAME {
            self.on_interference(now, power, others, signal, kind, reading);
        } else if let Some(signal) = signal
            && (others == SignalPower::ZERO || others <= kind.facts(signal).detect.under(power))
            && kind.detects(signal, power)
        {
            self.lock(power, signal, kind);
        }
    }

    #[inline(never)]
    fn on_interference(
        &mut self,
        now: u64,
        power: SignalPower,
        others: SignalPower,
        signal: Option<&Signal>,
        kind: &ReceiverParams,
        reading: impl Fn(u32) -> Signal,
    ) {
        let locked = reading(self.receiving);
        let age = now - locked.begin;
        let early = age < kind.window_ns;
        if let Some(signal) = signal
            && (early && power > self.signal_power
                || kind.relock.is_some_and(|it| self.signal_power <= it.under(power))
                    && age <= kind.relock_ns)
            && others <= kind.facts(signal).detect.under(power)
            && kind.detects(signal, power)
        {
            self.lock(power, signal, kind);
            return;
        }
        // Up to now there was no more than `others`, the sum before this frame came.
        let against = others.without(self.signal_power);
        if early && against + power > kind.facts(&locked).detect.under(self.signal_power) {
            self.receiving = NO_FRAME;
            return;
        }
        self.add_interference(now, against, kind, &locked);
    }

    #[inline]
    fn lock(&mut self, power: SignalPower, signal: &Signal, kind: &ReceiverParams) {
        let facts = kind.facts(signal);
        self.receiving = signal.frame;
        self.signal_power = power;
        self.constant_since = 0;
        self.chance = 1.0;
        self.set(NOISY, power < facts.clear);
    }

    /// Takes into account the stretch up to now, in which there was `against` beside noise and the
    /// frame being received, `signal`.
    #[inline(never)]
    fn add_interference(
        &mut self,
        now: u64,
        against: SignalPower,
        kind: &ReceiverParams,
        signal: &Signal,
    ) {
        let facts = kind.facts(signal);
        // A frame takes milliseconds: 32 bits of nanoseconds are four seconds.
        let (from, to) = (u64::from(self.constant_since), now - signal.begin);
        if against >= facts.sure.under(self.signal_power).above(facts.noise) && to > from {
            let sinr = self.signal_power.over(against + facts.noise);
            let chance = kind.decoder.chance(signal.mode, signal.octets, sinr, (from, to));
            self.chance *= chance.clamp(0.0, 1.0) as f32;
        }
        self.constant_since = to as u32;
    }

    /// Takes note that a frame ends, which arrived with `power`. Returns the chance that it was
    /// received, if it is the one being received.
    #[inline]
    pub(crate) fn on_rx_end(
        &mut self,
        now: u64,
        power: SignalPower,
        frame: u32,
        kind: &ReceiverParams,
        reading: impl Fn(u32) -> Signal,
    ) -> Option<f32> {
        let all = self.sum;
        self.sum -= power;
        if self.receiving == NO_FRAME {
            return None;
        }
        let against = all.without(self.signal_power);
        if against > SignalPower::ZERO || self.flags & NOISY != 0 {
            self.add_interference(now, against, kind, &reading(self.receiving));
        }
        if self.receiving != frame {
            return None;
        }
        self.receiving = NO_FRAME;
        Some(self.chance)
    }

    /// Takes note that the frame being received ends, which arrived with `power`, if it was alone all
    /// the time and no noise could cost it; then it was received. Returns false, and changes
    /// nothing, otherwise: [`ReceiverState::on_rx_end`] decides.
    #[inline]
    pub(crate) fn on_rx_end_alone(&mut self, power: SignalPower, frame: u32) -> bool {
        let alone = self.receiving == frame
            && self.sum == power
            && self.chance >= 1.0
            && self.flags & NOISY == 0;
        if alone {
            self.sum = SignalPower::ZERO;
            self.receiving = NO_FRAME;
        }
        alone
    }

    /// Takes note that a part of the frame being received ends and another one begins. Returns the
    /// chance that the part was received.
    pub(crate) fn on_part_end(
        &mut self,
        now: u64,
        kind: &ReceiverParams,
        reading: impl Fn(u32) -> Signal,
    ) -> f32 {
        let signal = reading(self.receiving);
        self.add_interference(now, self.sum.without(self.signal_power), kind, &signal);
        core::mem::replace(&mut self.chance, 1.0)
    }

    /// Returns whether the frame just received would have survived noise alone.
    pub(crate) fn survives_noise(&self) -> bool {
        self.flags & NOISY == 0
    }

    /// Takes note that the station begins to send; a frame being received is lost.
    pub(crate) fn on_tx_start(&mut self) {
        self.flags |= SENDING | BUSY;
        self.receiving = NO_FRAME;
    }

    /// Takes note that the station begins to send, but leaves `busy` for the caller to update from
    /// [`ReceiverState::cca_busy`].
    pub(crate) fn begin_tx(&mut self) {
        self.flags |= SENDING;
        self.receiving = NO_FRAME;
    }

    /// Changes the channel: the power is zero until the caller adds what is on the air there.
    pub(crate) fn retune(&mut self, channel: u8) {
        self.channel = channel;
        self.sum = SignalPower::ZERO;
        self.receiving = NO_FRAME;
    }

    /// Switches the receiver off, or begins to tune it; a frame being received is lost.
    pub(crate) fn turn_off(&mut self) {
        self.flags |= DEAF;
        self.receiving = NO_FRAME;
    }
}

#[cfg(test)]
mod tests;
