//! The time that each station spends sending, receiving, listening and dozing.
//!
//! The meters run only if they are asked for before the simulation
//! ([`WirelessMedium::with_meters`]). Without them they cost nothing: the loops over receivers are
//! compiled twice.

use super::{StationState, WirelessMedium};
use crate::air::adjacent::CHANNELS;
use crate::air::receiver::{NO_FRAME, ReceiverState};
use crate::mac::frame::Ppdu;
use crate::radio::WifiMode;
use alloc::vec::Vec;
use core::time::Duration;

/// The time that a station has spent in each state. The sum is the time of the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Sending data, acknowledgements and all else.
    pub send: Duration,
    /// Receiving a frame for any station, from its preamble on, even if the frame is lost in the
    /// end.
    pub receive: Duration,
    /// Listening: the receiver is on and receives no frame, because the medium is idle or carries
    /// energy only. Channel switches are counted here.
    pub listen: Duration,
    /// Dozing, by [`WirelessMedium::doze`].
    pub doze: Duration,
    /// Switched off, by [`WirelessMedium::switch_off`].
    pub off: Duration,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RadioState {
    #[default]
    Listen,
    Receive,
    Send,
    Doze,
    Off,
}

#[derive(Clone, Debug, Default)]
struct StationMeter {
    state: RadioState,
    since: u64,
    totals: [u64; 5],
}

impl StationMeter {
    fn set_state(&mut self, now: u64, state: RadioState) {
        if state != self.state {
            self.totals[self.state as usize] += now - self.since;
            self.since = now;
            self.state = state;
        }
    }
}

/// The meters of all stations; empty if they were not asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct StationMeters {
    meters: Vec<StationMeter>,
    sent: Vec<[u64; WifiMode::COUNT]>,
}

impl StationMeters {
    pub(super) const fn enabled(&self) -> bool {
        !self.meters.is_empty()
    }

    /// Takes note that a frame has begun or ended at a receiver.
    pub(super) fn on_rx(&mut self, now: u64, station: u32, receiver: &ReceiverState) {
        if receiver.deaf() || receiver.sending() {
            return;
        }
        let state =
            if receiver.receiving == NO_FRAME { RadioState::Listen } else { RadioState::Receive };
        self.meters[station as usize].set_state(now, state);
    }

    /// Counts the air time of a frame that is sent.
    pub(super) fn on_tx(&mut self, frame: &Ppdu) {
        self.sent[frame.from as usize][frame.mode.index()] += frame.end - frame.begin;
    }
}

impl WirelessMedium {
    /// Returns the medium with meters for [`WirelessMedium::spent`].
    #[must_use]
    pub fn with_meters(mut self) -> Self {
        (0..CHANNELS).for_each(|at| self.begin_deferred(at));
        self.meters.meters = self.states.iter().map(|_| StationMeter::default()).collect();
        self.meters.sent = self.states.iter().map(|_| [0; WifiMode::COUNT]).collect();
        for meter in &mut self.meters.meters {
            meter.since = self.now;
        }
        for station in 0..self.stations() {
            self.update_meter(station);
        }
        self
    }

    /// Returns the time that a station has spent in each state; `None` without meters.
    #[must_use]
    pub fn spent(&self, station: u32) -> Option<Spent> {
        let meter = self.meters.meters.get(station as usize)?;
        let mut now = meter.clone();
        now.totals[now.state as usize] += self.now - now.since;
        let of = |state| Duration::from_nanos(now.totals[state as usize]);
        Some(Spent {
            send: of(RadioState::Send),
            receive: of(RadioState::Receive),
            listen: of(RadioState::Listen),
            doze: of(RadioState::Doze),
            off: of(RadioState::Off),
        })
    }

    /// Returns how long a station has sent in a mode, whole frames as soon as they begin; `None`
    /// without meters.
    #[must_use]
    pub fn spent_sending(&self, station: u32, mode: WifiMode) -> Option<Duration> {
        let sent = self.meters.sent.get(station as usize)?;
        Some(Duration::from_nanos(sent[mode.index()]))
    }

    /// Takes note of a change of a station's state that another's frame has not caused.
    #[inline]
    pub(super) fn update_meter(&mut self, station: u32) {
        if self.meters.enabled() {
            self.update_running_meter(station);
        }
    }

    fn update_running_meter(&mut self, station: u32) {
        let at = station as usize;
        let (StationState { receiver, .. }, it) = (&self.states[at], &self.stations[at]);
        let state = if receiver.sending() {
            RadioState::Send
        } else if it.off {
            RadioState::Off
        } else if it.dozing {
            RadioState::Doze
        } else if receiver.receiving == NO_FRAME {
            RadioState::Listen
        } else {
            RadioState::Receive
        };
        self.meters.meters[at].set_state(self.now, state);
    }
}
