//! Stations.

use super::config::{Rates, StationConfig};
use super::frame::{Frame, FrameInfo, Frames, Subtype};
use super::octets::Wrap;
use super::{Counters, Msdu, Refused};
use crate::mac::{Packet, Room};
use crate::radio::{Hr, Mode};
use espbench_proto::time::Instant;

/// What a station knows of the access point that it is associated with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) ap: u32,
    #[expect(dead_code, reason = "the next slice reads the TIM")]
    aid: u16,
    wrap: Wrap,
    #[expect(dead_code, reason = "the next slice sleeps")]
    next_beacon: Instant,
}

#[derive(Debug)]
pub(super) struct Station {
    pub(super) config: StationConfig,
    pub(super) counters: Counters,
    pub(super) link: Option<Link>,
}

impl Station {
    pub(super) fn new(config: StationConfig) -> Self {
        Self { config, counters: Counters::default(), link: None }
    }

    pub(super) fn ap(&self) -> Option<u32> {
        self.link.map(|link| link.ap)
    }

    pub(super) const fn is_awake(&self) -> bool {
        true
    }

    /// It is associated, and has its keys.
    pub(super) fn associate(&mut self, ap: u32, aid: u16, wrap: Wrap, next_beacon: Instant) {
        let qos = wrap.qos && self.config.capabilities.qos;
        self.link = Some(Link { ap, aid, wrap: Wrap { qos, ..wrap }, next_beacon });
    }

    fn mode(&self) -> Mode {
        match &self.config.rates {
            Rates::Fixed(mode) => *mode,
            Rates::Adaptive(modes) => modes.last().copied().unwrap_or(Mode::Hr(Hr::M1)),
        }
    }

    pub(super) fn send(
        &mut self,
        room: &mut Room,
        frames: &mut Frames,
        number: u32,
        packet: Msdu,
    ) -> Result<(), Refused> {
        let Some(link) = self.link else {
            self.counters.refused += 1;
            return Err(Refused::NotJoined);
        };
        let info = FrameInfo {
            subtype: Subtype::Data { qos: link.wrap.qos },
            protected: link.wrap.protected,
            power_management: false,
            more_data: false,
            tim: None,
            packet: Some((packet.tag, packet.octets)),
        };
        let tag = frames.keep(Frame { info, from: number });
        let octets = link.wrap.data(packet.octets);
        let mode = self.mode();
        if room.send(number, Packet::new(link.ap, octets, mode, tag)).is_err() {
            frames.take(tag);
            self.counters.refused += 1;
            return Err(Refused::NoBuffers);
        }
        self.counters.taken += 1;
        Ok(())
    }
}
