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

use super::decoder::Decoder;
use super::power::{Power, Ratio};
use crate::radio::Mode;

/// No frame.
pub(crate) const NOTHING: u32 = u32::MAX;

/// What a kind of receiver can do. The powers are at its antenna.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    /// A preamble weaker than this is not found.
    pub sensitivity: Power,
    /// Energy from this on makes the medium busy, even where no preamble was found.
    pub energy: Power,
    /// Noise of the receiver itself, over the width of its channel.
    pub noise: Power,
    /// How far a preamble must stand out from noise and other frames.
    pub detect: Ratio,
    /// For how long after its start another frame may spoil or replace a preamble.
    pub window_ns: u64,
    /// How far a later frame must stand out to be read instead of the one being read; `None` if
    /// the receiver stays with that.
    pub capture: Option<Ratio>,
}

impl Default for Receiver {
    /// Thermal noise of 22 MHz with a noise figure of 7 dB: -174 + 73.4 + 7 dBm. Energy: 16.3.8.5
    /// for a station of 50 to 100 mW. Detection: 4 dB within 4 us, as `ns3::`
    /// `ThresholdPreambleDetectionModel` has it.
    fn default() -> Self {
        Self {
            sensitivity: Power::from_dbm(-98.0),
            energy: Power::from_dbm(-73.0),
            noise: Power::from_dbm(-93.6),
            detect: Ratio::from_db(4.0),
            window_ns: 4_000,
            capture: None,
        }
    }
}

/// What of a frame a receiver must know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    pub(crate) frame: u32,
    pub(crate) mode: Mode,
    pub(crate) octets: u32,
    /// [`Decoder::sure`] of it.
    pub(crate) sure: Ratio,
}

/// The state of one receiver.
#[derive(Clone, Debug)]
pub(crate) struct Ear {
    /// All that arrives now.
    pub(crate) sum: Power,
    /// The power of the frame being read.
    strength: Power,
    /// With noise and interference up to here that frame certainly survives.
    bearable: Power,
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
            bearable: Power::ZERO,
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
    pub(crate) fn senses(&self, kind: &Receiver) -> bool {
        self.sending || self.deaf || self.reads != NOTHING || self.sum >= kind.energy
    }

    /// A frame begins that is `power` strong here. Nothing is heard while sending or
    /// being tuned.
    #[inline]
    pub(crate) fn arrive<D: Decoder + ?Sized>(
        &mut self,
        now: u64,
        power: Power,
        signal: &Signal,
        kind: &Receiver,
        decoder: &D,
        reading: impl FnOnce(u32) -> Signal,
    ) {
        let others = self.sum + kind.noise;
        self.sum += power;
        if self.sending || self.deaf {
            return;
        }
        if self.reads == NOTHING {
            if power >= kind.sensitivity && others <= kind.detect.under(power) {
                self.lock(now, power, signal);
            }
            return;
        }
        self.disturbed(now, power, others, signal, kind, decoder, reading);
    }

    #[allow(clippy::too_many_arguments)]
    fn disturbed<D: Decoder + ?Sized>(
        &mut self,
        now: u64,
        power: Power,
        others: Power,
        signal: &Signal,
        kind: &Receiver,
        decoder: &D,
        reading: impl FnOnce(u32) -> Signal,
    ) {
        let early = now - self.since < kind.window_ns;
        let margin = if early { Some(kind.detect) } else { kind.capture };
        if margin.is_some_and(|margin| others <= margin.under(power)) && power >= kind.sensitivity {
            self.lock(now, power, signal);
            return;
        }
        // As before this frame came: up to now there was no more than `others`.
        self.settle(now, others.without(self.strength), decoder, reading);
        if early && (others + power).without(self.strength) > kind.detect.under(self.strength) {
            self.reads = NOTHING;
        }
    }

    fn lock(&mut self, now: u64, power: Power, signal: &Signal) {
        self.reads = signal.frame;
        self.strength = power;
        self.bearable = signal.sure.under(power);
        self.since = now;
        self.steady = now;
        self.chance = 1.0;
    }

    /// Counts the stretch up to now, in which there was `against` beside the frame being read.
    #[inline]
    fn settle<D: Decoder + ?Sized>(
        &mut self,
        now: u64,
        against: Power,
        decoder: &D,
        reading: impl FnOnce(u32) -> Signal,
    ) {
        if against > self.bearable && now > self.steady {
            let signal = reading(self.reads);
            let sinr = self.strength.over(against);
            let chance =
                decoder.chance(signal.mode, signal.octets, sinr, now - self.steady).clamp(0.0, 1.0);
            self.chance *= chance as f32;
        }
        self.steady = now;
    }

    /// A frame that is `power` strong ends here. Gives the chance that it was read, if it was the
    /// one being read.
    #[inline]
    pub(crate) fn leave<D: Decoder + ?Sized>(
        &mut self,
        now: u64,
        power: Power,
        frame: u32,
        kind: &Receiver,
        decoder: &D,
        reading: impl FnOnce(u32) -> Signal,
    ) -> Option<f32> {
        let all = self.sum + kind.noise;
        self.sum -= power;
        if self.reads == NOTHING {
            return None;
        }
        self.settle(now, all.without(self.strength), decoder, reading);
        if self.reads != frame {
            return None;
        }
        self.reads = NOTHING;
        Some(self.chance)
    }

    /// Whether the frame just read would have survived noise alone.
    pub(crate) fn clean(&self, kind: &Receiver) -> bool {
        kind.noise <= self.bearable
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

    /// Since when it reads the frame it reads.
    pub(crate) const fn reads_since(&self) -> u64 {
        self.since
    }
}
