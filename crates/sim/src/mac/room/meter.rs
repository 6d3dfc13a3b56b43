//! How long each station sends, receives, listens and dozes.
//!
//! Whoever wants to know asks for it before the room runs ([`Room::with_meters`]). In all other
//! rooms it costs nothing: the loops over hearers are compiled twice.

use super::{Hot, Room};
use crate::air::ear::{Ear, NOTHING};
use crate::mac::frame::OnAir;
use crate::radio::Mode;
use alloc::vec::Vec;
use core::time::Duration;

/// What a station's time went to, to the nanosecond. All of it together is the time of the room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Sending: data, acknowledgements and all else.
    pub send: Duration,
    /// Reading a frame, to whomever, with its preamble and whether or not it is lost in the end.
    pub receive: Duration,
    /// The receiver is on and reads nothing: the medium is idle, or there is energy only; hops from
    /// channel to channel are counted here.
    pub listen: Duration,
    /// The receiver is off by [`Room::doze`].
    pub doze: Duration,
    /// All is off by [`Room::switch_off`].
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

/// The meters of all stations; none where nobody asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Meters {
    meters: Vec<Meter>,
    sent: Vec<[u64; Mode::COUNT]>,
}

impl Meters {
    pub(super) const fn run(&self) -> bool {
        !self.meters.is_empty()
    }

    /// A frame has begun or ended for a hearer.
    pub(super) fn hearer(&mut self, now: u64, station: u32, ear: &Ear) {
        if ear.deaf || ear.sending {
            return;
        }
        let state = if ear.reads == NOTHING { State::Listen } else { State::Receive };
        self.meters[station as usize].turn(now, state);
    }

    /// A frame is sent.
    pub(super) fn sends(&mut self, frame: &OnAir) {
        self.sent[frame.from as usize][frame.mode.index()] += frame.end - frame.begin;
    }
}

impl Room {
    /// The same room with meters for [`Room::spent`].
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

    /// What a station's time went to up to now; `None` where nobody asked for meters.
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

    /// How long a station has sent in a mode, whole frames as soon as they begin; `None` where
    /// nobody asked for meters.
    #[must_use]
    pub fn spent_sending(&self, station: u32, mode: Mode) -> Option<Duration> {
        let sent = self.meters.sent.get(station as usize)?;
        Some(Duration::from_nanos(sent[mode.index()]))
    }

    /// Follows a change of a station's state that is not another's frame.
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
