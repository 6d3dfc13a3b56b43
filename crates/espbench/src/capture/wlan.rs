//! The air of a lab of devices that speak IP over Wi-Fi, as [`AirCapture`](super::AirCapture) writes that of ESP-NOW.
//!
//! - Each MPDU of an A-MPDU is a packet of its own, all with the time of the A-MPDU's end and one
//!   number in radiotap's A-MPDU status. What its addressee could not read has a wrong FCS.
//! - Packets are shown as before encryption, so that all above can be read: the protected bit is off.
//!   CCMP's 16 octets count in the time on the air only.
//! - What nobody here knows is zero: nonces and codes of the handshake. Of the traffic indication map
//!   it is known for how many stations there is something; the first so many are shown.

use super::air::{begin, comment, data, micros, radiotap, time_units};
use super::pcapng::{PcapngPacket, PcapngWriter};
use esp_now::frame;
use espbench_dot11::mac::{FrameKind, MpduFate, MpduInfo};
use espbench_dot11::wifi::{BEACON_INTERVAL, Subtype};
use espbench_ieee80211::beacon::{Beacon, Tim};
use espbench_ieee80211::mac::Mac;
use espbench_ieee80211::mpdu::AckFrame;
use espbench_ieee80211::radiotap::{AmpduField, Radiotap};
use espbench_ieee80211::wlan::{
    self, ControlFrame, DataFrame, DsDirection, Eapol, ManagementFrame, ManagementKind,
};
use espbench_sim::lab::nodes::NodeId;
use espbench_sim::lab::scene::{Scene, StationNumbers};
use espbench_sim::lab::wifi::watch::{MpduContent, ObservedPpdu, Watcher};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Longest frame: the longest MSDU (9.2.4.7.1) and what is around it.
const LONGEST: usize = 2400;
/// Name of the network.
const SSID: &str = "espbench";

/// Writes a capture of a world.
#[derive(Debug)]
pub struct Wlan<W> {
    out: PcapngWriter<W>,
    stations: Vec<(Mac, Option<i8>)>,
    observer: u32,
    /// The access point of each station, and the station's association identifier.
    memberships: Vec<(u32, u16)>,
    protected: bool,
    /// From beacon to beacon, in units of 1024 us.
    interval: u16,
    /// Gains of stations' links that are in their signals, in dB.
    gains: BTreeMap<u32, f64>,
    /// A-MPDUs so far.
    aggregates: u32,
    buf: Vec<u8>,
    failed: Option<io::Error>,
}

impl<W: Write> Wlan<W> {
    /// Begins a capture at the place of the scene's first device. `what` is done there, in words.
    ///
    /// # Errors
    /// The writer's.
    pub fn new(out: W, scene: &Scene, seed: u64, what: &str) -> io::Result<Self> {
        let comment = format!(
            "{what}. Lab {}, variant {}: {}. Seed {seed}. Packets are shown as before encryption: \
             the protected bit is off, and the 16 octets of CCMP count in the time on the air only.",
            scene.name, scene.variant, scene.title
        );
        let (names, observer) = (scene.names(), scene.numbers().devices.start);
        let mut out = begin(out, &comment, &names, observer)?;
        let stations: Vec<_> = (0..names.len() as u32)
            .map(|station| {
                let dbm = scene.arriving_dbm(seed, station, observer);
                let signal = (station != observer && dbm.is_finite())
                    .then_some(dbm.round().clamp(-128.0, 127.0) as i8);
                (mac(scene, station), signal)
            })
            .collect();
        out.names(stations.iter().map(|it| it.0).zip(names.iter().map(String::as_str)))?;
        let (memberships, protected) = (scene.memberships(seed), scene.security.encrypts());
        let interval = scene.access_points.first().map_or(BEACON_INTERVAL, |it| it.beacon);
        let interval = time_units(interval);
        let buf = vec![0; LONGEST];
        Ok(Self {
            out,
            stations,
            observer,
            memberships,
            protected,
            interval,
            gains: BTreeMap::new(),
            aggregates: 0,
            buf,
            failed: None,
        })
    }

    /// Ends it and gives the number of packets.
    ///
    /// # Errors
    /// The first that the writer had.
    pub fn finish(self) -> io::Result<u64> {
        self.failed.map_or_else(|| self.out.finish(), Err)
    }

    fn mac(&self, station: u32) -> Mac {
        self.stations.get(station as usize).map_or_else(|| other(station), |it| it.0)
    }

    fn ppdu(&mut self, seen: &ObservedPpdu<'_>) -> io::Result<()> {
        if seen.mpdus.is_empty() {
            let len = self.control(seen).unwrap_or(0);
            let unread = seen.flight.heard == 0 && seen.flight.collided + seen.flight.noise > 0;
            return self.packet(seen, len, unread, None, comment(&seen.flight));
        }
        let aggregate = seen.frame.mpdus > 1;
        self.aggregates = self.aggregates.wrapping_add(u32::from(aggregate));
        for (at, mpdu) in seen.mpdus.iter().enumerate() {
            let len = self.mpdu(seen, mpdu).unwrap_or(0);
            let last = at + 1 == seen.mpdus.len();
            let field = aggregate.then(|| AmpduField::of(self.aggregates, last));
            let flight = &seen.flight;
            let unread = match aggregate {
                true => mpdu.fate == MpduFate::Lost,
                false => flight.heard == 0 && flight.collided + flight.noise > 0,
            };
            let comment = match mpdu.fate {
                _ if !aggregate => comment(flight),
                MpduFate::Refused => "its addressee had no buffer for it".into(),
                MpduFate::Lost => "its addressee could not read it".into(),
                MpduFate::Taken | MpduFate::Repeated => "".into(),
            };
            self.packet(seen, len, unread, field, comment)?;
        }
        Ok(())
    }

    fn packet(
        &mut self,
        seen: &ObservedPpdu<'_>,
        len: usize,
        unread: bool,
        ampdu: Option<AmpduField>,
        comment: Cow<'static, str>,
    ) -> io::Result<()> {
        if unread && let Some(last) = self.buf[..len].last_mut() {
            *last = !*last;
        }
        let from = seen.flight.from;
        let station = self.stations.get(from as usize).filter(|_| from != self.observer);
        let tap = radiotap(&seen.flight, station.and_then(|it| it.1), unread);
        let mut head = [0; Radiotap::EMIT_MAX];
        let head_len = Radiotap { ampdu, ..tap }.emit(&mut head).unwrap_or(0);
        let parts = [&head[..head_len], &self.buf[..len]];
        self.out.packet(&PcapngPacket {
            at: seen.flight.end,
            parts,
            bad: unread,
            comment: &comment,
        })
    }

    fn control(&mut self, seen: &ObservedPpdu<'_>) -> Option<usize> {
        let frame = seen.frame;
        let (to, from) = (self.mac(frame.to), self.mac(frame.from));
        let duration = duration(seen);
        let control = match frame.kind {
            FrameKind::Rts => ControlFrame::Rts,
            FrameKind::Cts => ControlFrame::Cts,
            FrameKind::BlockAckRequest => ControlFrame::BlockAckRequest { start: frame.sequence },
            FrameKind::BlockAck => {
                ControlFrame::BlockAck { start: frame.sequence, bitmap: frame.bitmap() }
            }
            FrameKind::Ack | FrameKind::Data | FrameKind::Noise => {
                let ack = AckFrame { duration, receiver: to }.emit();
                self.buf.get_mut(..ack.len())?.copy_from_slice(&ack);
                return Some(ack.len());
            }
        };
        control.emit(duration, to, from, &mut self.buf)
    }

    /// Writes an MPDU into the buffer and gives its length.
    fn mpdu(&mut self, seen: &ObservedPpdu<'_>, mpdu: &MpduInfo) -> Option<usize> {
        let (from, to) = (self.mac(seen.frame.from), self.mac(seen.frame.to));
        let octets = mpdu.octets as usize;
        self.buf.resize(octets.max(LONGEST), 0);
        let Some(content) = seen.content(mpdu) else {
            if seen.is_esp_now() {
                return self.esp_now(seen, mpdu);
            }
            return data(&seen.flight, from, to, &mut self.buf[..octets]);
        };
        let frame = self.data(seen, mpdu, &content);
        match content.info.subtype {
            Subtype::Data { .. } => {
                let packet = content.packet.map_or(&[][..], |it| it.bytes);
                frame.emit(Some((wlan::IPV4, packet)), &mut self.buf)
            }
            Subtype::Eapol { message, qos } => {
                let mut key = [0; 512];
                let octets = octets.checked_sub(DataFrame::overhead(qos))?;
                let len = Eapol { message }.emit(octets, &mut key)?;
                frame.emit(Some((wlan::EAPOL, &key[..len])), &mut self.buf)
            }
            Subtype::Null { .. } => frame.emit(None, &mut self.buf),
            Subtype::PsPoll => {
                let aid = self.aid(seen.frame.from);
                ControlFrame::PsPoll { aid }.emit(0, to, from, &mut self.buf)
            }
            Subtype::Beacon => self.beacon(seen, &content, octets),
            _ => self.join(seen, mpdu, &content),
        }
    }

    fn data(
        &self,
        seen: &ObservedPpdu<'_>,
        mpdu: &MpduInfo,
        content: &MpduContent<'_>,
    ) -> DataFrame {
        let frame = seen.frame;
        let ap = self.ap(frame.from);
        let way = if frame.from == ap { DsDirection::Down } else { DsDirection::Up };
        let third = match (way, content.packet) {
            (DsDirection::Down, Some(packet)) => self.mac(packet.from),
            (DsDirection::Up, Some(packet)) => packet.to.map_or(Mac::BROADCAST, |to| self.mac(to)),
            (_, None) => self.mac(ap),
        };
        let qos = match content.info.subtype {
            Subtype::Data { qos } | Subtype::Null { qos } | Subtype::Eapol { qos, .. } => qos,
            _ => false,
        };
        DataFrame {
            way,
            qos,
            retry: mpdu.attempt > 1,
            power_management: content.info.power_management,
            more_data: content.info.more_data,
            duration: duration(seen),
            receiver: self.mac(frame.to),
            transmitter: self.mac(frame.from),
            third,
            sequence: mpdu.sequence,
        }
    }

    /// Writes a message of ESP-NOW, with its content and the random value left at zero.
    fn esp_now(&mut self, seen: &ObservedPpdu<'_>, mpdu: &MpduInfo) -> Option<usize> {
        let frame = frame::ActionFrame {
            receiver: self.mac(seen.frame.to),
            transmitter: self.mac(seen.frame.from),
            sequence: mpdu.sequence,
            retry: mpdu.attempt > 1,
            random: [0; 4],
            version: frame::EspNowVersion::V1,
        };
        let body = (mpdu.octets as usize).checked_sub(frame::mpdu_len(0))?;
        frame.emit_with_fcs([0; frame::ELEMENT_MAX].get(..body)?, &mut self.buf)
    }

    fn beacon(
        &mut self,
        seen: &ObservedPpdu<'_>,
        content: &MpduContent<'_>,
        octets: usize,
    ) -> Option<usize> {
        let tim = content.info.tim.unwrap_or_default();
        let stations = u32::from(tim.stations.min(7));
        let beacon = Beacon {
            bssid: self.mac(seen.frame.from),
            sequence: seen.frame.sequence,
            timestamp: micros(seen.flight.begin),
            interval: self.interval,
            ssid: SSID,
            channel: seen.frame.channel,
            protected: self.protected,
            tim: Tim {
                count: tim.dtim_count,
                period: tim.dtim_period,
                group: tim.group,
                map: (((1_u32 << stations) - 1) << 1) as u8,
            },
        };
        beacon.emit_with_fcs(octets, &mut self.buf)
    }

    fn join(
        &mut self,
        seen: &ObservedPpdu<'_>,
        mpdu: &MpduInfo,
        content: &MpduContent<'_>,
    ) -> Option<usize> {
        let frame = seen.frame;
        let what = match content.info.subtype {
            Subtype::ProbeRequest => ManagementKind::ProbeRequest,
            Subtype::ProbeResponse => ManagementKind::ProbeResponse {
                timestamp: micros(seen.flight.begin),
                interval: self.interval,
                channel: frame.channel,
            },
            Subtype::Authentication { sae, sequence } => {
                ManagementKind::Authentication { sae, number: sequence }
            }
            Subtype::AssociationRequest => ManagementKind::AssociationRequest,
            Subtype::AssociationResponse => {
                ManagementKind::AssociationResponse { aid: self.aid(frame.to) }
            }
            _ => ManagementKind::Deauthentication,
        };
        let join = ManagementFrame {
            what,
            retry: mpdu.attempt > 1,
            duration: duration(seen),
            receiver: self.mac(frame.to),
            transmitter: self.mac(frame.from),
            bssid: self.mac(self.ap(frame.from)),
            sequence: mpdu.sequence,
            ssid: SSID,
            protected: self.protected,
        };
        join.emit(mpdu.octets as usize, &mut self.buf)
    }

    /// Returns the access point of a station.
    fn ap(&self, station: u32) -> u32 {
        self.memberships.get(station as usize).map_or(0, |it| it.0)
    }

    /// Returns the association identifier of a station: stations are admitted in their order.
    fn aid(&self, station: u32) -> u16 {
        self.memberships.get(station as usize).map_or(0, |it| it.1)
    }
}

/// Returns the Duration field, in microseconds.
fn duration(seen: &ObservedPpdu<'_>) -> u16 {
    seen.frame.duration_ns.div_ceil(1000).min(0x7FFF) as u16
}

/// Returns a station's address. Devices have those of their consoles, others locally administered
/// ones.
fn mac(scene: &Scene, station: u32) -> Mac {
    let StationNumbers { nodes, devices, .. } = scene.numbers();
    // Nodes of ESP-NOW have the first of these addresses, then devices that speak IP.
    if nodes.contains(&station) {
        return NodeId(station as u16).mac();
    }
    if devices.contains(&station) {
        return NodeId((nodes.end + station - devices.start) as u16).mac();
    }
    if station < devices.start {
        let [high, low] = (station as u16).to_be_bytes();
        return Mac([2, 0, 0, 1, high, low]);
    }
    other(station)
}

/// Returns the address of a station behind the devices, or of a machine on a wire.
const fn other(station: u32) -> Mac {
    let [high, low] = (station as u16).to_be_bytes();
    Mac([2, 0, 0, 2, high, low])
}

impl<W: Write> Watcher for Wlan<W> {
    fn frame(&mut self, seen: &ObservedPpdu<'_>) {
        if self.failed.is_none() {
            self.failed = self.ppdu(seen).err();
        }
    }

    fn gain(&mut self, station: u32, gain_db: f64) {
        // What the observer hears of all others changes with its own links.
        let all = 0..self.stations.len();
        for at in all.filter(|at| station == self.observer || *at == station as usize) {
            let before = self.gains.get(&station).copied().unwrap_or_default();
            if let (mac, Some(signal)) = self.stations[at] {
                let changed = f64::from(signal) + gain_db - before;
                self.stations[at] = (mac, Some(changed.round().clamp(-128.0, 127.0) as i8));
            }
        }
        self.gains.insert(station, gain_db);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_sim::lab::file::Library;
    use espbench_sim::lab::nodes::Conversation as _;
    use espbench_sim::lab::run::Lab;
    use std::time::Duration;

    #[test]
    fn beacons_tell_the_interval_of_the_lab() {
        let mut scene = Library::built_in().variant_scene("power-save", "ps-none").unwrap();
        scene.access_points[0].beacon = Duration::from_micros(300 * 1024);
        let mut file = Vec::new();
        let mut wlan = Wlan::new(&mut file, &scene, 1, "nothing").unwrap();
        let mut lab = Lab::new(&scene, 1, ());
        lab.attach(&mut wlan);
        lab.run_for(Duration::from_secs(1)).unwrap();
        lab.detach();
        drop(lab);
        assert!(wlan.finish().unwrap() >= 3);
        // Behind the interval come two octets of capabilities and the element of the name.
        let name = [&[0, SSID.len() as u8], SSID.as_bytes()].concat();
        let at = file.windows(name.len()).position(|it| it == name).expect("a beacon");
        assert_eq!(file[at - 4..at - 2], 300_u16.to_le_bytes());
    }
}
