//! The air of the virtual lab: all that is on it, as a monitor would write it that misses nothing
//! and stands where one of the stations does.
//!
//! - Every frame is there with its own bytes, once for each attempt, acknowledgements, beacons and
//!   other people's frames too. It stands at the time of its end; radiotap's TSFT is when its first
//!   bit came.
//! - The signal is what reaches the observer's place; the observer's own frames have none. The noise
//!   is that of the simulated receivers in the bandwidth of the frame.
//! - A frame that none of those could read whom it was for has the bad-FCS flag, a wrong FCS and a
//!   comment that says why. One that only some could not read is whole, with a comment.
//! - Beacons have the bytes of a real one. Frames of other people's stations have an encrypted body
//!   of zeros, since nobody here knows what they say.
//! - Time is virtual, from 1970 on: the same seed gives the same file.

use super::pcapng::{PcapngPacket, PcapngSection, PcapngWriter};
use crate::TOOL;
use esp_now::frame::{ActionFrame, EspNowVersion, MPDU_MAX};
use espbench_capture::file::VIRTUAL_TIME;
use espbench_dot11::radio::airtime::psdu_octets;
use espbench_dot11::radio::he::{He, HeFormat, HeGuard};
use espbench_dot11::radio::mode::{ChannelWidth, GuardInterval, Preamble};
use espbench_dot11::radio::receiver::{NOISE_FIGURE_DB, thermal_dbm};
use espbench_dot11::radio::{Airtime, WifiMode};
use espbench_ieee80211::beacon::{Beacon, Tim};
use espbench_ieee80211::mac::Mac;
use espbench_ieee80211::mpdu::{
    AckFrame, FCS_LEN, FrameControl, HEADER_LEN, MacHeader, append_fcs,
};
use espbench_ieee80211::radiotap::{ChannelField, HeField, HeFieldGuard, McsField, Radiotap};
use espbench_model::time::Instant;
use espbench_sim::lab::nodes::NodeId;
use espbench_sim::lab::nodes::note::{Note, Watch};
use espbench_sim::lab::run::{Content, Tap};
use espbench_sim::lab::scene::Scene;
use espbench_sim::lab::trace::{AirtimeKind, Flight};
use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

/// Octets of the CCMP header and of the MIC behind the body (12.5.3.2).
const CCMP_LEN: usize = 8 + 8;
/// Extended IV, key 0 (12.5.3.2).
const CCMP_HEADER: [u8; 8] = [0, 0, 0, 0x20, 0, 0, 0, 0];
/// A time unit (3.1).
const TU: Duration = Duration::from_micros(1024);

/// The subject of a capture.
#[derive(Clone, Copy, Debug)]
pub struct CaptureOrigin<'a> {
    /// The room.
    pub scene: &'a Scene,
    /// The seed that its shadowing is drawn from.
    pub seed: u64,
    /// The station at whose place the monitor stands.
    pub observer: u32,
    /// Activity in the room, in words.
    pub what: &'a str,
}

/// Writes a capture of a lab.
#[derive(Debug)]
pub struct AirCapture<W> {
    out: PcapngWriter<W>,
    stations: Vec<StationFacts>,
    devices: usize,
    observer: u32,
    buf: Vec<u8>,
    failed: Option<io::Error>,
}

/// The facts about a station that a capture needs.
#[derive(Debug)]
struct StationFacts {
    mac: Mac,
    signal: Option<i8>,
    /// Of an access point.
    beacon: Option<Network>,
}

#[derive(Debug)]
struct Network {
    ssid: String,
    protected: bool,
    interval: u16,
}

/// Begins the file of a monitor at the place of one of these stations.
pub(super) fn begin<W: Write>(
    out: W,
    comment: &str,
    names: &[String],
    observer: u32,
) -> io::Result<PcapngWriter<W>> {
    let section = PcapngSection {
        hardware: "simulated: nothing of this was on a real air",
        os: VIRTUAL_TIME,
        application: TOOL,
        comment,
    };
    let mut out = PcapngWriter::new(out, &section)?;
    let place = names.get(observer as usize).map_or("nobody", String::as_str);
    out.interface(place, &format!("a monitor that hears everything, at the place of {place}"))?;
    Ok(out)
}

/// Converts a time between beacons to units of 1024 us.
pub(super) fn time_units(interval: Duration) -> u16 {
    (interval.as_micros() / TU.as_micros()).min(0xFFFF) as u16
}

impl<W: Write> AirCapture<W> {
    /// Begins a capture.
    ///
    /// # Errors
    /// The writer's.
    pub fn new(out: W, origin: &CaptureOrigin<'_>) -> io::Result<Self> {
        let CaptureOrigin { scene, seed, observer, what } = *origin;
        let stations = stations(origin);
        let comment = format!("{what}. Lab {}: {}. Seed {seed}.", scene.name, scene.title);
        let names = scene.names();
        let mut out = begin(out, &comment, &names, observer)?;
        out.names(stations.iter().map(|it| it.mac).zip(names.iter().map(String::as_str)))?;
        let devices = scene.nodes.len();
        Ok(Self { out, stations, devices, observer, buf: vec![0; MPDU_MAX], failed: None })
    }

    /// Ends it and gives the number of packets.
    ///
    /// # Errors
    /// The first that the writer had.
    pub fn finish(self) -> io::Result<u64> {
        self.failed.map_or_else(|| self.out.finish(), Err)
    }

    fn mac(&self, station: u32) -> Mac {
        self.stations.get(station as usize).map_or(Mac::BROADCAST, |it| it.mac)
    }

    fn frame(&mut self, flight: &Flight, content: Option<Content<'_>>) -> io::Result<()> {
        let len = self.bytes(flight, content).unwrap_or(0);
        let unread = flight.heard == 0 && flight.collided + flight.noise > 0;
        if unread && let Some(last) = self.buf[..len].last_mut() {
            *last = !*last;
        }
        let station = self.stations.get(flight.from as usize);
        let signal = station.filter(|_| flight.from != self.observer).and_then(|it| it.signal);
        let mut head = [0; Radiotap::EMIT_MAX];
        let head_len = radiotap(flight, signal, unread).emit(&mut head).unwrap_or(0);
        let comment = comment(flight);
        let parts = [&head[..head_len], &self.buf[..len]];
        self.out.packet(&PcapngPacket { at: flight.end, parts, bad: unread, comment: &comment })
    }

    /// Writes the frame into the buffer and gives its length.
    fn bytes(&mut self, flight: &Flight, content: Option<Content<'_>>) -> Option<usize> {
        // A single MPDU of HE has a delimiter before it.
        let delimiter = psdu_octets(flight.mode, 0);
        let octets = flight.octets.saturating_sub(delimiter) as usize;
        self.buf.resize(octets.max(MPDU_MAX), 0);
        let to = flight.to.map_or(Mac::BROADCAST, |to| self.mac(to));
        match (flight.what, content) {
            (AirtimeKind::Ack, _) => {
                let ack = AckFrame { duration: 0, receiver: to }.emit();
                self.buf[..ack.len()].copy_from_slice(&ack);
                Some(ack.len())
            }
            (AirtimeKind::Data, Some(content)) => {
                let mpdu = ActionFrame {
                    receiver: content.to,
                    transmitter: content.from,
                    sequence: flight.sequence,
                    retry: flight.attempt > 1,
                    random: random(flight),
                    version: EspNowVersion::of_data(content.data.len()),
                };
                mpdu.emit_with_fcs(content.data, &mut self.buf)
            }
            (AirtimeKind::Beacon, _) => self.beacon(flight),
            // Of what only Wi-Fi has there is nothing here.
            _ => {
                let from = self.mac(flight.from);
                data(flight, from, to, &mut self.buf[..octets])
            }
        }
    }

    fn beacon(&mut self, flight: &Flight) -> Option<usize> {
        let station = self.stations.get(flight.from as usize)?;
        let network = station.beacon.as_ref()?;
        let beacon = Beacon {
            bssid: station.mac,
            sequence: flight.sequence,
            timestamp: micros(flight.begin),
            interval: network.interval,
            ssid: &network.ssid,
            channel: flight.channel,
            protected: network.protected,
            tim: Tim::default(),
        };
        beacon.emit_with_fcs(flight.octets as usize, &mut self.buf)
    }
}

/// Lists the stations of the room. Access points and background stations have locally administered
/// addresses; devices have those of their consoles.
fn stations(origin: &CaptureOrigin<'_>) -> Vec<StationFacts> {
    let CaptureOrigin { scene, seed, observer, .. } = *origin;
    let macs = (0..scene.nodes.len()).map(|at| (NodeId(at as u16).mac(), None));
    let local = |kind: u8, at: usize| Mac([2, 0, 0, kind, (at >> 8) as u8, at as u8]);
    let routers = scene.routers.iter().enumerate().map(|(at, router)| {
        let network = Network {
            ssid: router.ssid.clone(),
            protected: !router.password.is_empty(),
            interval: time_units(router.beacon),
        };
        (local(1, at), Some(network))
    });
    let others = (0..scene.background.len()).map(|at| (local(2, at), None));
    let all = macs.chain(routers).chain(others).enumerate();
    all.map(|(number, (mac, beacon))| {
        let dbm = scene.arriving_dbm(seed, number as u32, observer);
        let signal = dbm.is_finite().then_some(dbm.round().clamp(-128.0, 127.0) as i8);
        StationFacts { mac, signal, beacon }
    })
    .collect()
}

pub(super) const fn micros(at: Instant) -> u64 {
    at.as_nanos() / 1000
}

/// Returns the random value of a frame: new for each, the same for its retries and in each run.
fn random(flight: &Flight) -> [u8; 4] {
    let frame = u64::from(flight.from) << 12 | u64::from(flight.sequence);
    let mixed = (frame ^ flight.queued.as_nanos()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed >> 32) as u32).to_le_bytes()
}

/// Writes a frame of other people: as long as it was, encrypted, with a body of zeros. One that is
/// too short for that has no body.
pub(super) fn data(flight: &Flight, from: Mac, to: Mac, buf: &mut [u8]) -> Option<usize> {
    let long = buf.len() >= HEADER_LEN + CCMP_LEN + FCS_LEN;
    let control = if long { FrameControl::DATA.with_protection() } else { FrameControl::NULL };
    let header = MacHeader {
        control: control.with_retry(flight.attempt > 1),
        duration: 0,
        receiver: to,
        transmitter: from,
        bssid: Mac([2, 0, 0, 2, 0xFF, 0xFF]),
        sequence: flight.sequence & 0x0FFF,
        fragment: 0,
    };
    buf.fill(0);
    buf.get_mut(..HEADER_LEN)?.copy_from_slice(&header.emit());
    if !long {
        return append_fcs(buf, HEADER_LEN);
    }
    buf[HEADER_LEN..HEADER_LEN + CCMP_HEADER.len()].copy_from_slice(&CCMP_HEADER);
    let len = buf.len() - FCS_LEN;
    append_fcs(buf, len)
}

pub(super) fn radiotap(flight: &Flight, signal: Option<i8>, unread: bool) -> Radiotap {
    let lead = Airtime::of(flight.mode, flight.octets).lead_ns();
    let mut flags = Radiotap::FCS_AT_END | if unread { Radiotap::BAD_FCS } else { 0 };
    let (mut rate, mut mcs, mut he) = (None, None, None);
    let channel = match flight.mode {
        WifiMode::Hr(hr) => {
            rate = Some(hr.half_mbit() as u8);
            if hr.preamble() == Preamble::Short {
                flags |= Radiotap::SHORT_PREAMBLE;
            }
            ChannelField::cck(flight.channel)
        }
        WifiMode::Ofdm(_) => {
            rate = Some((flight.mode.kbit_s() / 500) as u8);
            ChannelField::ofdm(flight.channel)
        }
        WifiMode::Ht(ht) => {
            let (wide, short) = (ht.width == ChannelWidth::Mhz40, ht.guard == GuardInterval::Short);
            mcs = Some(McsField::mixed(ht.mcs as u8, wide, short));
            ChannelField::ofdm(flight.channel)
        }
        WifiMode::He(mode) => {
            he = Some(he_field(mode));
            ChannelField::ofdm(flight.channel)
        }
        // Radiotap knows no Long Range.
        WifiMode::Lr(_) => ChannelField::cck(flight.channel),
    };
    Radiotap {
        tsft: Some(micros(flight.begin + Duration::from_nanos(lead))),
        flags: Some(flags),
        rate,
        channel: Some(channel),
        signal,
        noise: Some((thermal_dbm(flight.mode) + NOISE_FIGURE_DB).round() as i8),
        mcs,
        he,
        ..Radiotap::default()
    }
}

/// Returns radiotap's field of an HE mode.
fn he_field(mode: He) -> HeField {
    let guard = match mode.guard() {
        HeGuard::Us08 => HeFieldGuard::Us08,
        HeGuard::Us16 => HeFieldGuard::Us16,
        HeGuard::Us32 => HeFieldGuard::Us32,
    };
    let upper = mode.format() == HeFormat::ErSu106;
    HeField::single(mode.mcs(), mode.dcm(), guard, mode.is_extended(), upper)
}

/// Returns a remark on what a reader would not see in the bytes.
pub(super) fn comment(flight: &Flight) -> Cow<'static, str> {
    let Flight { heard, collided, noise, attempt, .. } = *flight;
    if collided + noise == 0 {
        return "".into();
    }
    let all = heard + collided + noise;
    let mut text = match (collided, noise) {
        (_, 0) => format!("collision: {collided} of {all} that it was for could not read it"),
        (0, _) => format!("too weak: {noise} of {all} that it was for could not read it"),
        _ => format!(
            "collision: {collided} of {all} that it was for could not read it, and {noise} found it too weak"
        ),
    };
    if attempt > 1 {
        text.push_str(&format!("; attempt {attempt}"));
    }
    text.into()
}

impl<W: Write> Watch for AirCapture<W> {
    fn note(&mut self, _: Instant, _: &Note<'_>) {}
}

impl<W: Write> Tap for AirCapture<W> {
    fn wants_notes(&self) -> bool {
        false
    }

    fn flight(&mut self, flight: &Flight, content: Option<Content<'_>>) {
        if let Some(content) = &content
            && let Some(station) = self.stations[..self.devices].get_mut(flight.from as usize)
        {
            station.mac = content.from;
        }
        if self.failed.is_none() {
            self.failed = self.frame(flight, content).err();
        }
    }
}

#[cfg(test)]
mod tests;
