//! One-way delays from the time stamps of both boards.
//!
//! The report's authors held an oscilloscope to two pins. Our firmware prints when its pin fell and rose, on its own
//! clock; round trips align the two clocks ([`measure::clocks`](espbench_measure::clocks)).

use super::BoardError;
use super::desk::{BoardDesk, DEVICE, INITIATOR};
use super::single::probes;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_measure::clocks::{ClockFit, StampedArrival, StampedRequest, align};
use espbench_model::sample::{Fate, Probe, Sample};
use espbench_model::time::Instant;

/// Time in which both boards print their stamps of a ping that is over.
const STAMPS_MOST: Duration = Duration::from_millis(500);
/// Command with which our firmware prints them.
const TELL: &str = "log -m uart -l DEBUG";

/// Pings one by one, with the stamps of both boards.
pub(super) struct PingStamps {
    /// Whether the boards print stamps.
    expected: bool,
    requests: Vec<StampedRequest>,
    arrivals: Vec<StampedArrival>,
    /// Pings that wait for the clocks to be aligned.
    held: Vec<Probe>,
    /// Pins of initiator and device.
    pins: [u8; 2],
}

impl PingStamps {
    /// Makes both boards print stamps, where both have our firmware.
    pub(super) fn begin(desk: &mut BoardDesk<'_>, pins: [u8; 2]) -> Result<Self, BoardError> {
        let boards = [INITIATOR, DEVICE];
        let ours = boards.iter().all(|board| desk.console(*board).learned().is_ours());
        if ours {
            desk.command_at(&boards, TELL, |_, _| {})?;
        }
        Ok(Self {
            expected: ours,
            requests: Vec::new(),
            arrivals: Vec::new(),
            held: Vec::new(),
            pins,
        })
    }

    /// Takes what both consoles have told of a ping that is over.
    pub(super) fn take(&mut self, desk: &mut BoardDesk<'_>, seq: u32) -> Result<(), BoardError> {
        self.expected |= desk.seats[INITIATOR].edges.is_some();
        if self.expected {
            desk.until(STAMPS_MOST, |desk| {
                [INITIATOR, DEVICE].iter().all(|board| desk.seats[*board].edges.is_some())
            })?;
        }
        if let Some((sent, answered)) = desk.seats[INITIATOR].edges {
            self.requests.push(StampedRequest { seq, sent, answered });
        }
        if let Some((at, _)) = desk.seats[DEVICE].edges {
            self.arrivals.push(StampedArrival { seq, at });
        }
        for sample in desk.seats[INITIATOR].console.take_samples() {
            let Some(Sample::Probe(probe)) = probes(INITIATOR, sample) else { continue };
            // The numbers of `espnow_iperf` begin anew with each command.
            let seq = probe.seq.saturating_add(seq.into());
            desk.told[INITIATOR].push(seq);
            let probe = Probe { seq, sent: None, received: None, ..probe };
            if self.expected {
                self.held.push(probe);
            } else {
                desk.notes.sample(Sample::Probe(probe));
            }
        }
        Ok(())
    }

    /// Gives the pings that wait, with their delays where the clocks can be aligned, and says where the delays are.
    pub(super) fn give(self, desk: &mut BoardDesk<'_>) {
        let clock = align(&self.requests, &self.arrivals);
        for probe in &self.held {
            let delayed = clock.as_ref().ok().and_then(|clock| self.delayed(probe, clock));
            desk.notes.sample(Sample::Probe(delayed.unwrap_or(*probe)));
        }
        let pins = match self.pins {
            [from, to] if from == to => format!("pin {from}"),
            [from, to] => format!("pin {from} of the initiator and pin {to} of the device"),
        };
        let pins = format!("between the falling edges of {pins}: espbench espnow edges");
        let told: String = match clock {
            Ok(clock) => {
                let apart = clock.uncertainty().as_secs_f64() * 1e3;
                let (drift, trips) = (clock.drift_ppm(), clock.trips());
                format!(
                    "from the time stamps of both boards: all may be off together by {apart:.3} ms ({trips} round trips, \
                     {drift:+.1} ppm)"
                )
            }
            Err(error) if self.expected => {
                format!("{pins}; the time stamps of both boards tell none, since {error}")
            }
            Err(_) => {
                format!("{pins}; our firmware on both boards tells them without an instrument")
            }
        };
        desk.notes.fact("delay", told);
    }

    /// Returns a ping with both times on the sender's clock; `None` where one of the stamps is missing.
    fn delayed(&self, probe: &Probe, clock: &ClockFit) -> Option<Probe> {
        let sent = self.requests.iter().find(|it| u64::from(it.seq) == probe.seq)?.sent;
        let there = self.arrivals.iter().find(|it| u64::from(it.seq) == probe.seq)?.at;
        let there = Instant::from_nanos(u64::try_from(clock.on_first(there)).unwrap_or(0));
        let received = Some(there.max(sent));
        // A ping whose answer was lost arrived all the same.
        Some(Probe { due: sent, sent: Some(sent), received, fate: Fate::Delivered, ..*probe })
    }
}
