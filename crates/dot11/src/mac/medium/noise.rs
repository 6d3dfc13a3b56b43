//! Power that is no frame, such as that of a microwave oven.

use super::WirelessMedium;
use super::events::MediumEvent;
use crate::mac::frame::{FrameKind, Ppdu};
use crate::mac::user::MacUser;
use crate::radio::{Ofdm, WifiMode};
use core::time::Duration;
use espbench_model::time::Instant;

/// The mode whose spectrum the noise has: that of OFDM, some 17 MHz wide.
const SPECTRUM: WifiMode = WifiMode::Ofdm(Ofdm::M6);

impl WirelessMedium {
    /// Emits noise on a channel for a time: with the station's power in OFDM's spectrum, without
    /// listening first, and whatever the station does. Nobody can read it, and it is no frame that the
    /// user is told of. A station that emits noise should do nothing else.
    ///
    /// # Panics
    /// If there is no such station.
    pub fn emit_noise(&mut self, station: u32, channel: u8, begin: Instant, time: Duration) {
        assert!(station < self.stations(), "no such station");
        let begin = begin.max(self.now());
        let until = begin.after(time).as_nanos();
        self.events.push(begin.as_nanos(), MediumEvent::Noise { station, channel, until });
    }

    pub(super) fn begin_noise<H: MacUser + ?Sized>(
        &mut self,
        user: &mut H,
        station: u32,
        channel: u8,
        until: u64,
    ) {
        let frame = Ppdu {
            kind: FrameKind::Noise,
            from: station,
            to: station,
            sequence: 0,
            mpdus: 1,
            attempt: 1,
            channel,
            mode: SPECTRUM,
            octets: 0,
            begin: self.now,
            end: until.max(self.now),
            duration_ns: 0,
            tag: 0,
            repeated: false,
        };
        self.start_tx(user, frame);
    }
}
