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
            detect: PowerRatio::from_db(match mode {
                WifiMode::Hr(_) => capture.detect_db - capture.spread_db,
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
}

/// The state of one receiver.
#[derive(Clone, Debug)]
pub(crate) struct ReceiverState {
    /// The sum of all power that arrives now.
    pub(crate) sum: SignalPower,
    /// The power of the frame being received.
    signal_power: SignalPower,
    /// The interference that spoils the frame's preamble while that is being received.
    preamble_tolerance: SignalPower,
    /// The interference from which on the frame may be lost; zero if noise alone may cost it.
    tolerance: SignalPower,
    /// The time at which reception of the frame began.
    rx_start: u64,
    /// The time since which interference has been constant.
    constant_since: u64,
    /// The frame being received, or `NO_FRAME`.
    pub(crate) receiving: u32,
    /// The chance that the frame has been received up to now.
    chance: f32,
    pub(crate) channel: u8,
    pub(crate) kind: u8,
    /// Whether the station sends.
    pub(crate) sending: bool,
    /// Whether the receiver is off or being tuned to another channel.
    pub(crate) deaf: bool,
    /// Whether the medium is busy, as the station has noticed it. Follows
    /// [`ReceiverState::cca_busy`].
    pub(crate) busy: bool,
}

impl ReceiverState {
    pub(crate) const fn new(channel: u8, kind: u8) -> Self {
        Self {
            sum: SignalPower::ZERO,
            signal_power: SignalPower::ZERO,
            preamble_tolerance: SignalPower::ZERO,
            tolerance: SignalPower::ZERO,
            rx_start: 0,
            constant_since: 0,
            receiving: NO_FRAME,
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
    pub(crate) fn cca_busy(&self, kind: &ReceiverParams) -> bool {
        self.sending || self.deaf || self.receiving != NO_FRAME || self.sum >= kind.energy
    }

    /// Takes note that a frame begins, which arrives with `power`. `signal` is `None` if the frame,
    /// on another channel, cannot be decoded here. Nothing is received while sending or tuning.
    #[inline]
    pub(crate) fn on_rx_start(
        &mut self,
        now: u64,
        power: SignalPower,
        signal: Option<&Signal>,
        kind: &ReceiverParams,
        reading: impl FnOnce(u32) -> Signal,
    ) {
        let others = self.sum;
        self.sum += power;
        if self.sending || self.deaf {
            return;
        }
        if self.receiving != NO_FRAME {
            self.on_interference(now, power, others, signal, kind, reading);
        } else if let Some(signal) = signal
            && (others == SignalPower::ZERO || others <= kind.facts(signal).detect.under(power))
            && kind.detects(signal, power)
        {
            self.lock(now, power, signal, kind);
        }
    }

    fn on_interference(
        &mut self,
        now: u64,
        power: SignalPower,
        others: SignalPower,
        signal: Option<&Signal>,
        kind: &ReceiverParams,
        reading: impl FnOnce(u32) -> Signal,
    ) {
        let age = now - self.rx_start;
        let early = age < kind.window_ns;
        if let Some(signal) = signal
            && (early && power > self.signal_power
                || kind.relock.is_some_and(|it| self.signal_power <= it.under(power))
                    && age <= kind.relock_ns)
            && others <= kind.facts(signal).detect.under(power)
            && kind.detects(signal, power)
        {
            self.lock(now, power, signal, kind);
            return;
        }
        // Up to now there was no more than `others`, the sum before this frame came.
        let against = others.without(self.signal_power);
        if early && against + power > self.preamble_tolerance {
            self.receiving = NO_FRAME;
            return;
        }
        self.add_interference(now, against, kind, reading);
    }

    fn lock(&mut self, now: u64, power: SignalPower, signal: &Signal, kind: &ReceiverParams) {
        let facts = kind.facts(signal);
        self.receiving = signal.frame;
        self.signal_power = power;
        self.preamble_tolerance = facts.detect.under(power);
        self.tolerance = facts.sure.under(power).above(facts.noise);
        self.rx_start = now;
        self.constant_since = now;
        self.chance = 1.0;
    }

    /// Takes into account the stretch up to now, in which there was `against` beside noise and the
    /// frame being received.
    #[inline]
    fn add_interference(
        &mut self,
        now: u64,
        against: SignalPower,
        kind: &ReceiverParams,
        reading: impl FnOnce(u32) -> Signal,
    ) {
        if against >= self.tolerance && now > self.constant_since {
            let signal = reading(self.receiving);
            let sinr = self.signal_power.over(against + kind.facts(&signal).noise);
            let span = (self.constant_since - self.rx_start, now - self.rx_start);
            let chance = kind.decoder.chance(signal.mode, signal.octets, sinr, span);
            self.chance *= chance.clamp(0.0, 1.0) as f32;
        }
        self.constant_since = now;
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
        reading: impl FnOnce(u32) -> Signal,
    ) -> Option<f32> {
        let all = self.sum;
        self.sum -= power;
        if self.receiving == NO_FRAME {
            return None;
        }
        self.add_interference(now, all.without(self.signal_power), kind, reading);
        if self.receiving != frame {
            return None;
        }
        self.receiving = NO_FRAME;
        Some(self.chance)
    }

    /// Takes note that a part of the frame being received ends and another one begins. Returns the
    /// chance that the part was received.
    pub(crate) fn on_part_end(
        &mut self,
        now: u64,
        kind: &ReceiverParams,
        reading: impl FnOnce(u32) -> Signal,
    ) -> f32 {
        self.add_interference(now, self.sum.without(self.signal_power), kind, reading);
        core::mem::replace(&mut self.chance, 1.0)
    }

    /// Returns whether the frame just received would have survived noise alone.
    pub(crate) fn survives_noise(&self) -> bool {
        self.tolerance > SignalPower::ZERO
    }

    /// Takes note that the station begins to send; a frame being received is lost.
    pub(crate) fn on_tx_start(&mut self) {
        self.sending = true;
        self.busy = true;
        self.receiving = NO_FRAME;
    }

    /// Takes note that the station begins to send, but leaves `busy` for the caller to update from
    /// [`ReceiverState::cca_busy`].
    pub(crate) fn begin_tx(&mut self) {
        self.sending = true;
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
        self.deaf = true;
        self.receiving = NO_FRAME;
    }

    /// Returns the time at which reception of the current frame began.
    pub(crate) const fn receiving_since(&self) -> u64 {
        self.rx_start
    }
}

#[cfg(test)]
mod tests;
