//! The time that each station spends sending, receiving, listening and dozing.
//!
//! The meters run only if they are asked for before the simulation ([`Room::with_meters`]). Without
//! them they cost nothing: the loops over receivers are compiled twice.

use super::{Hot, Room};
use crate::air::ear::{Ear, NOTHING};
use crate::mac::frame::OnAir;
use crate::radio::Mode;
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
    /// Dozing, by [`Room::doze`].
    pub doze: Duration,
    /// Switched off, by [`Room::switch_off`].
    pub off: Duration,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Listen,
    Receive,
    Send,
    Doze,
    Off,
}

#[derive(Clone, Debug, Default)]
struct Meter {
    state: State,
    since: u64,
    totals: [u64; 5],
}

impl Meter {
    fn turn(&mut self, now: u64, state: State) {
        if state != self.state {
            self.totals[self.state as usize] += now - self.since;
            self.since = now;
            self.state = state;
        }
    }
}

/// The meters of all stations; empty if they were not asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Meters {
    meters: Vec<Meter>,
    sent: Vec<[u64; Mode::COUNT]>,
}

impl Meters {
    pub(super) const fn run(&self) -> bool {
        !self.meters.is_empty()
    }

    /// Takes note that a frame has begun or ended at a receiver.
    pub(super) fn hearer(&mut self, now: u64, station: u32, ear: &Ear) {
        if ear.deaf || ear.sending {
            return;
        }
        let state = if ear.reads == NOTHING { State::Listen } else { State::Receive };
        self.meters[station as usize].turn(now, state);
    }

    /// Counts the air time of a frame that is sent.
    pub(super) fn sends(&mut self, frame: &OnAir) {
        self.sent[frame.from as usize][frame.mode.index()] += frame.end - frame.begin;
    }
}

impl Room {
    /// Returns the medium with meters for [`Room::spent`].
    #[must_use]
    pub fn with_meters(mut self) -> Self {
        self.meters.meters = self.hot.iter().map(|_| Meter::default()).collect();
        self.meters.sent = self.hot.iter().map(|_| [0; Mode::COUNT]).collect();
        for meter in &mut self.meters.meters {
            meter.since = self.now;
        }
        for station in 0..self.stations() {
            self.note(station);
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
            send: of(State::Send),
            receive: of(State::Receive),
            listen: of(State::Listen),
            doze: of(State::Doze),
            off: of(State::Off),
        })
    }

    /// Returns how long a station has sent in a mode, whole frames as soon as they begin; `None`
    /// without meters.
    #[must_use]
    pub fn spent_sending(&self, station: u32, mode: Mode) -> Option<Duration> {
        let sent = self.meters.sent.get(station as usize)?;
        Some(Duration::from_nanos(sent[mode.index()]))
    }

    /// Takes note of a change of a station's state that another's frame has not caused.
    #[inline]
    pub(super) fn note(&mut self, station: u32) {
        if self.meters.run() {
            self.noted(station);
        }
    }

    fn noted(&mut self, station: u32) {
        let at = station as usize;
        let (Hot { ear, .. }, it) = (&self.hot[at], &self.stations[at]);
        let state = if ear.sending {
            State::Send
        } else if it.off {
            State::Off
        } else if it.dozing {
            State::Doze
        } else if ear.reads == NOTHING {
            State::Listen
        } else {
            State::Receive
        };
        self.meters.meters[at].turn(self.now, state);
    }
}
