//! The facts of a capture, as values for JSON and tables. Unknown is null.

use crate::air::class::FrameClass;
use crate::air::esp_now::type_name;
use crate::air::link::{LinkKey, LinkRecord, RateCount};
use crate::analysis::CaptureSummary;
use crate::limits::CaptureLimits;
use crate::tcp::end::TcpEnd;
use crate::tcp::limit::TcpLimit;
use crate::tcp::{TcpAddress, TcpFlow};
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use esp_now::component::DataType;
use espbench_ieee80211::mac::Mac;
use espbench_measure::cell::Origin;
use serde::Serialize;

/// Version of the JSON form.
pub const SCHEMA: &str = "espbench-capture/1";

/// Frames of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassRow {
    /// The kind.
    pub kind: FrameClass,
    /// Frames.
    pub frames: u64,
    /// Retries among them.
    pub retries: u64,
    /// Octets with FCS.
    pub octets: u64,
    /// Share of the time on the air, from 0 to 1.
    pub air_share: Option<f64>,
}

/// A channel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ChannelRow {
    /// Number of the channel; null where the capture does not tell.
    pub channel: Option<u8>,
    /// Frames.
    pub frames: u64,
    /// Share of time in which frames were on the air.
    pub busy: Option<f64>,
}

/// A station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationRow {
    /// Address of the station.
    pub station: String,
    /// Frames that it sent.
    pub frames: u64,
    /// Retries among them.
    pub retries: u64,
    /// Share of time that its frames and responses took.
    pub air_share: Option<f64>,
    /// Mean strength, dBm.
    pub rssi_dbm: Option<f64>,
}

/// Frames of a link at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RateShare {
    /// Rate in kbit/s.
    pub kbit_s: u32,
    /// Frames.
    pub frames: u64,
    /// Retries among them.
    pub retries: u64,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkRow {
    /// Sender.
    pub from: String,
    /// Receiver.
    pub to: String,
    /// Frames.
    pub frames: u64,
    /// Retries among them.
    pub retries: u64,
    /// Messages.
    pub messages: u64,
    /// Share of messages that were acknowledged; unknown for groups, and where no acknowledgement is heard, though the
    /// sender does not repeat.
    pub delivered: Option<f64>,
    /// First frames of messages without an acknowledgement.
    pub unacknowledged: Vec<u64>,
    /// Attempts after an acknowledgement.
    pub repeated: u64,
    /// Sequence numbers of the sender that are missing.
    pub missing: u64,
    /// Retries that were slower than the attempt before.
    pub slower_retries: u64,
    /// Mean strength, dBm.
    pub rssi_dbm: Option<f64>,
    /// Weakest and strongest frame, dBm.
    pub rssi_range_dbm: Option<(i8, i8)>,
    /// Rates.
    pub rates: Vec<RateShare>,
    /// Share of the time on the air.
    pub air_share: Option<f64>,
    /// Mean number of MPDUs of its A-MPDUs, and the greatest.
    pub ampdu: Option<(f64, u8)>,
    /// ESP-NOW's data; absent for other links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub esp_now: Option<EspNowRow>,
}

/// ESP-NOW's data of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EspNowRow {
    /// Bytes of data.
    pub bytes: u64,
    /// Messages of ESP-NOW v2.0.
    pub version_2: u64,
    /// Messages of the component by data type.
    pub types: Vec<(&'static str, u64)>,
    /// Messages that repeat a packet id of the component.
    pub copies: u64,
    /// Messages of the component that the sender forwarded.
    pub forwarded: u64,
    /// Encrypted messages of the component.
    pub sealed: u64,
    /// Those of them that a key opened.
    pub opened: u64,
}

/// A decoded frame of the component.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EspNowFrameRow {
    /// Number of the frame.
    pub frame: u64,
    /// Seconds since the first packet.
    pub at_s: Option<f64>,
    /// Radio that sent.
    pub transmitter: String,
    /// Originator of the component's header.
    pub source: String,
    /// Destination of the component's header.
    pub destination: String,
    /// Data type.
    pub data_type: &'static str,
    /// Packet id.
    pub packet_id: u16,
    /// Whether the payload is encrypted.
    pub sealed: bool,
    /// Content in words; null where no key fits.
    pub content: Option<String>,
}

/// A network's beacons.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BeaconRow {
    /// Sender.
    pub bssid: String,
    /// Beacons.
    pub heard: u64,
    /// Beacons that are missing.
    pub missing: u64,
    /// Longest run of missing ones.
    pub longest_gap: u64,
    /// From beacon to beacon, in units of 1024 us.
    pub interval_tu: u16,
    /// DTIM period.
    pub dtim: Option<u8>,
    /// First frames behind gaps.
    pub frames: Vec<u64>,
}

/// A station that dozes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SleepRow {
    /// The station.
    pub station: String,
    /// Access point of the station.
    pub access_point: String,
    /// How often it began to doze.
    pub dozes: u64,
    /// Share of the capture in which it dozed.
    pub asleep_share: Option<f64>,
    /// Packets that a beacon had told of before they came.
    pub waits: u64,
    /// Mean time from that beacon to the packet, in milliseconds.
    pub wait_ms: Option<f64>,
    /// Longest such time.
    pub longest_wait_ms: f64,
    /// First of these packets' frames.
    pub frames: Vec<u64>,
}

/// Two stations with frames at the same time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverlapRow {
    /// Stations.
    pub stations: [String; 2],
    /// Frames that began in the same slot: a collision that medium access allows.
    pub same_slot: u64,
    /// Frames that began when the other was on the air: they do not hear each other.
    pub unheard: u64,
    /// First frames of these, or of the others.
    pub frames: Vec<u64>,
}

/// Leaving of a station, or a refusal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeaveRow {
    /// How, in words.
    pub what: &'static str,
    /// Reason or status.
    pub code: u16,
    /// Sender.
    pub from: String,
    /// Receiver.
    pub to: String,
    /// How often.
    pub times: u64,
    /// First frames.
    pub frames: Vec<u64>,
}

/// A direction of a TCP connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TcpRow {
    /// Number of the connection, as Wireshark's `tcp.stream`.
    pub stream: u64,
    /// Sender.
    pub from: String,
    /// Receiver.
    pub to: String,
    /// Segments.
    pub segments: u64,
    /// Octets of data, those sent again included.
    pub octets: u64,
    /// Throughput of data, in Mbit/s.
    pub mbit_s: Option<f64>,
    /// Retransmissions of all kinds.
    pub retransmissions: u64,
    /// Those after duplicate acknowledgements.
    pub fast_retransmissions: u64,
    /// Those of what had been acknowledged.
    pub spurious_retransmissions: u64,
    /// Segments out of order.
    pub out_of_order: u64,
    /// Duplicate acknowledgements that it sent.
    pub duplicate_acks: u64,
    /// Segments that offer no window.
    pub zero_windows: u64,
    /// Segments that fill the other's window.
    pub window_full: u64,
    /// Segments before which the capture lacks others.
    pub after_gap: u64,
    /// Mean round trip, in milliseconds.
    pub rtt_ms: Option<f64>,
    /// Shortest and longest round trip, in milliseconds.
    pub rtt_range_ms: Option<(f64, f64)>,
    /// Maximum segment size.
    pub mss: Option<u16>,
    /// Greatest window that it offered.
    pub most_window: u32,
    /// Most data in flight.
    pub most_in_flight: u32,
    /// Limit with the most time; null without data.
    pub limit: Option<TcpLimit>,
    /// Share of time of that limit.
    pub limit_share: Option<f64>,
    /// First frames with retransmissions.
    pub frames: Vec<u64>,
}

/// Facts that a capture told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaptureDocument {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// File's name.
    pub file: String,
    /// Whether the air was a real one, or a lab has simulated it.
    pub origin: Origin,
    /// Packets.
    pub packets: u64,
    /// Octets of the file.
    pub file_octets: u64,
    /// Time from the first packet to the last.
    pub seconds: Option<f64>,
    /// Whether the file ends within a packet, or is damaged.
    pub cut: bool,
    /// Fault that ended the reading.
    pub fault: Option<String>,
    /// Whether it tells of a link.
    pub tells: bool,
    /// Frames of IEEE 802.11.
    pub frames: u64,
    /// Those with a wrong FCS.
    pub bad_frames: u64,
    /// Frames whose rate is not told: they have no time on the air.
    pub unrated_frames: u64,
    /// Acknowledgements whose frame was not captured.
    pub orphan_acks: u64,
    /// Channels with their frames.
    pub channels: Vec<ChannelRow>,
    /// Frames at the same time of one slot, and of stations that do not hear each other; null where the capture does
    /// not tell.
    pub overlapping: Option<(u64, u64)>,
    /// Kinds of frames.
    pub kinds: Vec<ClassRow>,
    /// Stations, those first that took most time.
    pub stations: Vec<StationRow>,
    /// Links, those first with most frames.
    pub links: Vec<LinkRow>,
    /// First decoded frames of the component.
    pub esp_now_frames: Vec<EspNowFrameRow>,
    /// Networks.
    pub networks: Vec<BeaconRow>,
    /// Stations that doze.
    pub sleepers: Vec<SleepRow>,
    /// Frames at the same time.
    pub overlaps: Vec<OverlapRow>,
    /// Leavings and refusals.
    pub leaves: Vec<LeaveRow>,
    /// Packets of IP.
    pub ip_packets: u64,
    /// TCP by direction, those first with most data.
    pub tcp: Vec<TcpRow>,
    /// Facts that limit what it tells.
    pub limits: CaptureLimits,
    /// Records that found no room.
    pub dropped: u64,
}

/// Shares of the capture's time.
#[derive(Clone, Copy)]
struct Share {
    all_ns: f64,
    known: bool,
}

impl Share {
    fn of(self, ns: u64) -> Option<f64> {
        (self.known && self.all_ns > 0.0).then(|| ns as f64 / self.all_ns)
    }
}

impl CaptureDocument {
    /// Makes the values of a capture.
    #[must_use]
    pub fn of(file: &str, seen: &CaptureSummary) -> Self {
        let air = &seen.air;
        let all_ns = seen.seconds().unwrap_or_default() * 1e9;
        let is_still = air.channel_changes() == 0;
        let share = Share { all_ns, known: air.unrated < air.frames && is_still };
        let kinds = FrameClass::ALL.into_iter().filter_map(|kind| {
            let it = air.classes.get(&kind)?;
            let (frames, retries, octets) = (it.frames, it.retries, it.octets);
            Some(ClassRow { kind, frames, retries, octets, air_share: share.of(it.air_ns) })
        });
        let dropped = air.dropped + air.networks.dropped + air.overlaps.dropped + seen.tcp.dropped;
        Self {
            schema: SCHEMA,
            file: file.into(),
            origin: if seen.simulated { Origin::Simulated } else { Origin::Measured },
            packets: seen.packets,
            file_octets: seen.file_octets,
            seconds: seen.seconds(),
            cut: seen.cut,
            fault: seen.fault.map(|it| it.to_string()),
            tells: seen.tells(),
            frames: air.frames,
            bad_frames: air.bad.frames,
            unrated_frames: air.unrated,
            orphan_acks: air.orphans,
            channels: air
                .channels
                .iter()
                .map(|(channel, it)| ChannelRow {
                    channel: Some(*channel).filter(|it| *it > 0),
                    frames: it.frames,
                    busy: seen.busy(*channel),
                })
                .collect(),
            overlapping: air.overlaps.counts(),
            kinds: kinds.collect(),
            stations: stations(seen, share),
            links: links(seen, share),
            esp_now_frames: esp_now_frames(seen),
            networks: networks(seen),
            sleepers: sleepers(seen),
            overlaps: overlaps(seen),
            leaves: leaves(seen),
            ip_packets: seen.tcp.packets[0],
            tcp: tcp(seen),
            limits: CaptureLimits::of(seen),
            dropped,
        }
    }
}

fn stations(seen: &CaptureSummary, share: Share) -> Vec<StationRow> {
    let mut all: Vec<_> = seen.air.stations.iter().collect();
    all.sort_by_key(|it| core::cmp::Reverse(it.1.sent.air_ns + it.1.responses_ns));
    let row = |(mac, it): (&Mac, &crate::air::StationRecord)| StationRow {
        station: mac.to_string(),
        frames: it.sent.frames,
        retries: it.sent.retries,
        air_share: share.of(it.sent.air_ns + it.responses_ns),
        rssi_dbm: it.rssi.mean(),
    };
    all.into_iter().map(row).collect()
}

fn links(seen: &CaptureSummary, share: Share) -> Vec<LinkRow> {
    let mut all: Vec<_> = seen.air.links.iter().collect();
    all.sort_by_key(|it| core::cmp::Reverse((it.0.esp_now, it.1.frames)));
    let hears = seen.air.hears_acknowledgements();
    all.into_iter().map(|(key, it)| link(*key, it, hears, share)).collect()
}

fn link(key: LinkKey, it: &LinkRecord, hears: bool, share: Share) -> LinkRow {
    let is_unicast = key.to.0[0] & 1 == 0;
    let delivered = it.delivered().filter(|_| is_unicast && hears);
    let rate = |(kbit_s, count): (&u32, &RateCount)| RateShare {
        kbit_s: *kbit_s,
        frames: count.frames,
        retries: count.retries,
    };
    let esp_now = it.esp_now.as_ref().map(|it| EspNowRow {
        bytes: it.bytes,
        version_2: it.version_2,
        types: DataType::ALL
            .into_iter()
            .zip(it.types)
            .filter(|it| it.1 > 0)
            .map(|(kind, count)| (type_name(kind), count))
            .collect(),
        copies: it.copies,
        forwarded: it.forwarded,
        sealed: it.sealed,
        opened: it.opened,
    });
    LinkRow {
        from: key.from.to_string(),
        to: if key.to.is_broadcast() { "all".into() } else { key.to.to_string() },
        frames: it.frames,
        retries: it.retries,
        messages: it.messages,
        delivered,
        unacknowledged: if delivered.is_some() { it.unacked.first.clone() } else { Vec::new() },
        repeated: it.repeated.count,
        missing: it.missing.count,
        slower_retries: it.slower.count,
        rssi_dbm: it.rssi.mean(),
        rssi_range_dbm: it.rssi.range,
        rates: it.rates.iter().map(rate).collect(),
        air_share: share.of(it.air_ns),
        ampdu: it.aggregate_sizes(),
        esp_now,
    }
}

fn esp_now_frames(seen: &CaptureSummary) -> Vec<EspNowFrameRow> {
    let begin = seen.times.map(|it| it.0);
    let rows = seen.air.esp_now.lines.iter().map(|it| EspNowFrameRow {
        frame: it.number,
        at_s: it.at_ns.zip(begin).map(|(at, begin)| at.saturating_sub(begin) as f64 / 1e9),
        transmitter: it.transmitter.to_string(),
        source: it.header.src.to_string(),
        destination: it.header.dest.to_string(),
        data_type: type_name(it.header.data_type),
        packet_id: it.header.magic,
        sealed: it.header.config.security,
        content: it.content.clone(),
    });
    rows.collect()
}

fn networks(seen: &CaptureSummary) -> Vec<BeaconRow> {
    let rows = seen.air.networks.beacons.iter().map(|(mac, it)| BeaconRow {
        bssid: mac.to_string(),
        heard: it.heard,
        missing: it.missing,
        longest_gap: it.longest,
        interval_tu: it.interval,
        dtim: it.dtim,
        frames: it.gaps.first.clone(),
    });
    rows.collect()
}

fn sleepers(seen: &CaptureSummary) -> Vec<SleepRow> {
    let all = seen.seconds();
    let rows = seen.air.networks.dozes.iter().map(|(mac, it)| SleepRow {
        station: mac.to_string(),
        access_point: it.access_point.to_string(),
        dozes: it.times,
        asleep_share: all.map(|all| it.asleep_ns as f64 / 1e9 / all),
        waits: it.waits.count,
        wait_ms: (it.waits.count > 0).then(|| it.wait_ns as f64 / 1e6 / it.waits.count as f64),
        longest_wait_ms: it.longest_ns as f64 / 1e6,
        frames: it.waits.first.clone(),
    });
    rows.collect()
}

fn overlaps(seen: &CaptureSummary) -> Vec<OverlapRow> {
    if !seen.air.overlaps.is_timed() {
        return Vec::new();
    }
    let mut all: Vec<_> = seen.air.overlaps.pairs.iter().collect();
    all.sort_by_key(|it| core::cmp::Reverse((it.1.unheard.count, it.1.same_slot.count)));
    let row = |(pair, it): (&(Mac, Mac), &crate::air::overlap::OverlapRecord)| {
        let shown = if it.unheard.count > 0 { &it.unheard } else { &it.same_slot };
        OverlapRow {
            stations: [pair.0.to_string(), pair.1.to_string()],
            same_slot: it.same_slot.count,
            unheard: it.unheard.count,
            frames: shown.first.clone(),
        }
    };
    all.into_iter().map(row).collect()
}

fn leaves(seen: &CaptureSummary) -> Vec<LeaveRow> {
    let rows = seen.air.networks.leaves.iter().map(|(key, it)| LeaveRow {
        what: key.kind.words(),
        code: key.code,
        from: key.from.to_string(),
        to: key.to.to_string(),
        times: it.count,
        frames: it.first.clone(),
    });
    rows.collect()
}

fn address((ip, port): TcpAddress) -> String {
    core::net::SocketAddr::new(ip, port).to_string()
}

fn tcp(seen: &CaptureSummary) -> Vec<TcpRow> {
    let mut rows: Vec<TcpRow> = seen
        .flows
        .iter()
        .flat_map(|flow| {
            let ways = [(0, 1), (1, 0)].map(|(from, to)| direction(flow, from, to));
            ways.into_iter().flatten()
        })
        .collect();
    rows.sort_by_key(|it| core::cmp::Reverse(it.octets));
    rows
}

fn direction(flow: &TcpFlow, from: usize, to: usize) -> Option<TcpRow> {
    let it: &TcpEnd = flow.directions.get(from)?;
    if !it.has_sent() {
        return None;
    }
    let ends = flow.ends;
    let seconds = it.data_times.map(|(first, last)| (last - first) as f64 / 1e9);
    let ms = |ns: u64| ns as f64 / 1e6;
    let limit = it.limits.most().filter(|_| it.octets > 0);
    Some(TcpRow {
        stream: flow.stream,
        from: address(ends[from]),
        to: address(ends[to]),
        segments: it.segments,
        octets: it.octets,
        mbit_s: seconds.filter(|it| *it > 0.0).map(|s| it.octets as f64 * 8.0 / 1e6 / s),
        retransmissions: it.resent.count,
        fast_retransmissions: it.fast_retransmissions,
        spurious_retransmissions: it.spurious_retransmissions,
        out_of_order: it.out_of_order.count,
        duplicate_acks: it.duplicate_acks.count,
        zero_windows: it.zero_windows.count,
        window_full: it.window_full.count,
        after_gap: it.after_gap.count,
        rtt_ms: it.rtt.mean_ms(),
        rtt_range_ms: it.rtt.range_ns.map(|(low, high)| (ms(low), ms(high))),
        mss: it.mss,
        most_window: it.most_window,
        most_in_flight: it.most_in_flight,
        limit: limit.map(|it| it.0),
        limit_share: limit.map(|it| it.1),
        frames: it.resent.first.clone(),
    })
}
