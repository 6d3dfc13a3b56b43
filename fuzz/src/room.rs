//! The medium: any script of sending, hopping and waking in any small room.

use core::time::Duration;
use espbench_dot11::air::{
    AdjacentChannels, PowerRatio, RadioLinks, ReceiverConfig, ThresholdDecoder,
};
use espbench_dot11::mac::{
    AmpduConfig, FrameKind, GROUP, MacConfig, MacUser, MediumConfig, MissedReception, Ppdu,
    Reception, TxFrame, TxStatus, WirelessMedium,
};
use espbench_dot11::radio::{FrameCapture, WifiMode};
use espbench_model::time::Instant;
use std::collections::BTreeSet;

const STATIONS: u32 = 6;

/// Carries a script out, four bytes a step, and keeps the books.
struct Script<'a> {
    steps: std::slice::Chunks<'a, u8>,
    now: u64,
    /// Sent by each station until then.
    until: [u64; STATIONS as usize],
    queued: u64,
    done: u64,
    /// Stations aggregate, and announce long frames.
    more: bool,
    /// Number of coming packets to be refused.
    refusals: u32,
}

impl Script<'_> {
    fn passes(&mut self, now: Instant) {
        assert!(now.as_nanos() >= self.now, "time goes on");
        self.now = now.as_nanos();
    }
}

impl MacUser for Script<'_> {
    fn on_wake(&mut self, room: &mut WirelessMedium, token: u64) {
        self.passes(room.now());
        let Some(&[what, who, more, wait]) = self.steps.next() else {
            (0..STATIONS).for_each(|station| room.wake_up(station));
            return;
        };
        let station = u32::from(who) % (STATIONS + 1);
        if what < 40 {
            let hop = Duration::from_micros(u64::from(wait) * 20);
            room.tune(station, more % 16, hop);
        } else if self.more && what < 48 {
            match more % 4 {
                0 => room.doze(station),
                1 => room.wake_up(station),
                _ => self.refusals += u32::from(more / 4),
            }
        } else {
            let to = if more & 0x80 == 0 { GROUP } else { u32::from(more & 0x07) };
            let mode = WifiMode::ALL[usize::from(what) % WifiMode::COUNT];
            let packet = TxFrame::new(to, 14 + u32::from(wait) * 6, mode, 0);
            let packet = if more & 0x40 == 0 { packet } else { packet.aggregated() };
            let packet = if more & 0x20 == 0 { packet } else { packet.at_once() };
            self.queued += u64::from(room.send(station, packet).is_ok());
        }
        room.wake_in(Duration::from_micros(u64::from(wait) * u64::from(what & 0x1F)), token);
    }

    fn accepts(&mut self, _: u32, _: &Ppdu) -> bool {
        let refuses = self.refusals > 0;
        self.refusals = self.refusals.saturating_sub(1);
        !refuses
    }

    fn on_data(
        &mut self,
        room: &mut WirelessMedium,
        frame: &Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
    ) {
        self.passes(room.now());
        let fates = heard.iter().map(|it| it.station).chain(missed.iter().map(|it| it.station));
        let fates: Vec<u32> = fates.collect();
        let stations: BTreeSet<u32> = fates.iter().copied().collect();
        assert_eq!(stations.len(), fates.len(), "one fate for each hearer");
        assert!(!stations.contains(&frame.from), "nobody hears himself");
        assert!(frame.is_group() || stations.iter().all(|&it| it == frame.to));
        assert_eq!(frame.kind, FrameKind::Data);
        assert!(self.more || frame.end == room.now().as_nanos());
    }

    fn on_tx_status(&mut self, room: &mut WirelessMedium, _: u32, done: TxStatus) {
        self.passes(room.now());
        self.done += 1;
        // None where no RTS was answered.
        assert!((u8::from(!self.more)..=7).contains(&done.attempts));
    }

    fn on_tx_start(&mut self, frame: &Ppdu) {
        let until = &mut self.until[frame.from as usize];
        assert!(*until <= frame.begin && frame.begin < frame.end, "one frame at a time");
        *until = frame.end;
    }
}

/// Runs a room: the first byte chooses the receivers, the next 36 are the powers between stations,
/// the rest is the script. A bit of the first byte adds A-MPDUs, RTS, CTS, and stations that doze.
pub fn room(data: &[u8]) {
    let [kind, rest @ ..] = data else { return };
    let pairs = (STATIONS * STATIONS) as usize;
    let Some((powers, script)) = rest.split_at_checked(pairs) else { return };
    let dbm = |from: u32, to: u32| -30.0 - f64::from(powers[(from * STATIONS + to) as usize]) / 2.0;
    let capture = match kind % 3 {
        0 => FrameCapture::default(),
        1 => FrameCapture::EARLY,
        _ => FrameCapture::any_time(8.0),
    };
    let receiver =
        ReceiverConfig::new(ThresholdDecoder::from_db(f64::from(kind / 16)), -75.0, capture);
    let more = kind & 0x08 != 0;
    let settings = (0..STATIONS).map(|station| MacConfig {
        buffers: if more { 12 } else { 3 },
        ampdu: (more && station > 0).then_some(AmpduConfig { receive: 4, ..AmpduConfig::MOST }),
        rts: more && station % 2 == 0,
        rts_threshold: if more { 400 } else { u32::MAX },
        protect: (more && station % 3 == 1).then_some(WifiMode::ESP_NOW),
        ..MacConfig::default()
    });
    let adjacent = AdjacentChannels::by_distance(&[12.0, 40.0].map(PowerRatio::from_db));
    let mut room =
        WirelessMedium::new(1, RadioLinks::new(STATIONS, -110.0, dbm), &[receiver], settings)
            .with_config(MediumConfig { adjacent, ..MediumConfig::default() });
    let steps = script[..script.len() / 4 * 4].chunks(4);
    let count = steps.len() as u64;
    let until = [0; STATIONS as usize];
    let mut host = Script { steps, now: 0, until, queued: 0, done: 0, more, refusals: 0 };
    room.wake_at(Instant::ZERO, 0);
    // Long enough for every frame to be tried seven times, one after the other.
    room.run(&mut host, Instant::from_nanos((count + 10) * 1_000_000_000));
    assert_eq!(host.done, host.queued, "every frame ends");
    let sum = |of: fn(&espbench_dot11::mac::MacCounters) -> u64| -> u64 {
        (0..STATIONS).map(|station| of(&room.counters(station))).sum()
    };
    assert_eq!(sum(|it| it.queued), host.queued);
    assert!(more || sum(|it| it.acknowledged) <= sum(|it| it.acks));
    for station in 0..STATIONS {
        assert_eq!(room.queued(station), 0);
    }
}
