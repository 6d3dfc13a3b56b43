//! The wireless medium of a simulation: its stations and the event loop.
//!
//! A frame is on the air once. When it begins, and when it ends, one loop visits its receivers:
//! power, reception, carrier sense and back-off of a station are side by side in memory. The heap
//! holds the ends of frames, ACKs to be sent and what the user asked for; the timers of medium
//! access are outside of it.
//!
//! Order at one instant: first the events of the heap, first in first out; then stations whose
//! time-out or back-off ends. All that send at one instant have decided to before any of them is
//! heard.
//!
//! | module | contents |
//! |---|---|
//! | `run` | the event loop |
//! | `events` | the events |
//! | `air` | the begin and end of a frame at its receivers |
//! | `deferred` | frames that are alone on the air |
//! | `visit` | the same at one receiver |
//! | `roster` | the stations on each channel |
//! | `exchange` | attempts, acknowledgements, time-outs, back-off |
//! | `clearance` | RTS, CTS and CTS-to-self |
//! | `aggregate` | A-MPDUs and block acknowledgements at the originator |
//! | `reorder` | MPDUs under an agreement at the recipient |
//! | `request` | block acknowledgement requests |
//! | `noise` | power that is no frame |
//! | `doze` | the doze state of power save |
//! | `power` | switching stations off and on; alarms |
//! | `meter` | the time that stations spend sending, receiving, listening, dozing |

mod aggregate;
mod air;
mod clearance;
mod deferred;
mod doze;
mod events;
mod exchange;
mod meter;
mod noise;
mod power;
mod reorder;
mod request;
mod roster;
mod run;
#[cfg(test)]
mod tests;
mod visit;

use super::block_ack::BlockAckAgreement;
use super::channel_access::ChannelAccess;
use super::config::{MacConfig, MediumConfig, TxFrame};
use super::frame::Ppdu;
use super::station::{MacCounters, QueuedFrame, StationMac};
use super::timers::{NEVER, StationTimers};
use super::user::{MissedReception, Reception, TxStatus};
use crate::air::adjacent::place;
use crate::air::receiver::{ReceiverParams, ReceiverState, Signal};
use crate::air::{PowerRatio, RadioLink, RadioLinks, ReceiverConfig, SignalPower};
use alloc::vec::Vec;
use core::time::Duration;
use deferred::DeferredFrames;
use espbench_model::time::Instant;
use events::{MediumEvent, MediumEvents};
use meter::StationMeters;
use roster::ChannelRosters;

pub use meter::Spent;

/// The state of a station that other stations' frames change: one for each station, in one list,
/// each in a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
struct StationState {
    receiver: ReceiverState,
    access: ChannelAccess,
}

/// A frame on the air, and its properties for receivers.
#[derive(Clone, Copy, Debug)]
struct ActivePpdu {
    frame: Ppdu,
    signal: Signal,
    /// The ratio by which the frame is sent weaker than the links assume.
    below: PowerRatio,
    below_db: i8,
    on_air: bool,
}

impl ActivePpdu {
    /// Returns the power that arrives over a link.
    #[inline]
    fn sent(&self, power: SignalPower) -> SignalPower {
        if self.below == PowerRatio::ONE { power } else { self.below.under(power) }
    }
}

/// The error for a driver without a free buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueFull;

/// Stations, the wireless medium that they share, and virtual time.
pub struct WirelessMedium {
    now: u64,
    links: RadioLinks,
    kinds: Vec<ReceiverParams>,
    config: MediumConfig,
    states: Vec<StationState>,
    /// The [`place`] of each station's channel: for a frame on another channel most stations need
    /// no more.
    places: Vec<u8>,
    rosters: ChannelRosters,
    deferred: DeferredFrames,
    stations: Vec<StationMac>,
    /// [`MacCounters::received`] of each station, apart from the others because every frame counts
    /// there for all its receivers.
    received: Vec<u64>,
    timers: StationTimers,
    alarms: StationTimers,
    events: MediumEvents,
    transmissions: Vec<ActivePpdu>,
    free: Vec<u32>,
    scratch: StepBuffers,
    meters: StationMeters,
    agreements: Vec<BlockAckAgreement>,
}

/// Lists that are reused in every step.
#[derive(Debug, Default)]
struct StepBuffers {
    due: Vec<u32>,
    rings: Vec<u32>,
    heard: Vec<Reception>,
    missed: Vec<MissedReception>,
    /// Stations that waited for a response and have read a frame, or failed to.
    answered: Vec<(u32, bool)>,
    /// The outcomes of the packets of an A-MPDU.
    finished: Vec<TxStatus>,
}

impl core::fmt::Debug for WirelessMedium {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("WirelessMedium")
            .field("now", &self.now)
            .field("stations", &self.states.len())
            .finish()
    }
}

impl WirelessMedium {
    /// Returns a medium with as many stations as there are settings. `links` says who receives
    /// whom, `receivers` lists the kinds of receivers ([`MacConfig::receiver`] chooses one; a
    /// default one stands in for an empty list).
    #[must_use]
    pub fn new(
        seed: u64,
        links: RadioLinks,
        receivers: &[ReceiverConfig],
        settings: impl IntoIterator<Item = MacConfig>,
    ) -> Self {
        let last = receivers.len().saturating_sub(1);
        let (mut states, mut stations) = (Vec::new(), Vec::new());
        for (number, settings) in settings.into_iter().take(links.stations()).enumerate() {
            let kind = usize::from(settings.receiver).min(last) as u8;
            states.push(StationState {
                receiver: ReceiverState::new(settings.channel, kind),
                access: ChannelAccess::new(settings.timing),
            });
            stations.push(StationMac::new(seed, number as u32, settings));
        }
        assert_eq!(states.len(), links.stations(), "settings for every station of the links");
        let mut kinds: Vec<ReceiverParams> = receivers.iter().map(ReceiverParams::new).collect();
        if kinds.is_empty() {
            kinds.push(ReceiverParams::new(&ReceiverConfig::default()));
        }
        let places: Vec<u8> =
            states.iter().map(|it: &StationState| place(it.receiver.channel) as u8).collect();
        Self {
            now: 0,
            rosters: ChannelRosters::new(&places),
            deferred: DeferredFrames::new(places.len()),
            places,
            timers: StationTimers::new(states.len()),
            alarms: StationTimers::new(states.len()),
            received: alloc::vec![0; states.len()],
            links,
            kinds,
            config: MediumConfig::default(),
            states,
            stations,
            events: MediumEvents::default(),
            transmissions: Vec::new(),
            free: Vec::new(),
            scratch: StepBuffers::default(),
            meters: StationMeters::default(),
            agreements: Vec::new(),
        }
    }

    /// Returns the medium with other properties.
    #[must_use]
    pub fn with_config(mut self, config: MediumConfig) -> Self {
        self.config = config;
        self
    }

    /// Returns the time.
    #[must_use]
    pub const fn now(&self) -> Instant {
        Instant::from_nanos(self.now)
    }

    /// Returns the number of stations.
    #[must_use]
    pub fn stations(&self) -> u32 {
        self.states.len() as u32
    }

    /// Returns the counters of a station.
    #[must_use]
    pub fn counters(&self, station: u32) -> MacCounters {
        let at = station as usize;
        let Some(it) = self.stations.get(at) else { return MacCounters::default() };
        MacCounters { received: self.received[at], ..it.counters }
    }

    /// Returns the number of frames in the queue of a station, with the one that is being sent.
    #[must_use]
    pub fn queued(&self, station: u32) -> usize {
        self.stations.get(station as usize).map_or(0, StationMac::packets)
    }

    /// Returns the channel of a station.
    #[must_use]
    pub fn channel(&self, station: u32) -> u8 {
        self.states.get(station as usize).map_or(0, |it| it.receiver.channel)
    }

    /// Calls [`MacUser::on_wake`](super::MacUser::on_wake) with `token` at a time or, if it is
    /// past, next.
    pub fn wake_at(&mut self, at: Instant, token: u64) {
        self.events.push(at.as_nanos().max(self.now), MediumEvent::Wake(token));
    }

    /// Calls [`MacUser::on_wake`](super::MacUser::on_wake) with `token` after a time from now.
    pub fn wake_in(&mut self, time: Duration, token: u64) {
        self.wake_at(self.now() + time, token);
    }

    /// Hands a frame to the driver of a station.
    ///
    /// # Errors
    ///
    /// [`QueueFull`] if it has no buffer left, or there is no such station.
    pub fn send(&mut self, station: u32, packet: TxFrame) -> Result<(), QueueFull> {
        let at = station as usize;
        let (Some(it), Some(state)) = (self.stations.get_mut(at), self.states.get(at)) else {
            return Err(QueueFull);
        };
        if it.packets() >= it.settings.buffers {
            it.counters.refused += 1;
            return Err(QueueFull);
        }
        it.counters.queued += 1;
        it.enqueue(QueuedFrame::new(packet));
        if !it.engaged && !state.access.contending() && !it.dozing {
            self.request_access(station);
        }
        Ok(())
    }

    /// Lets a station that neither sends nor contends request access to the medium, if it has a
    /// frame to send.
    fn request_access(&mut self, station: u32) {
        self.touch(station);
        let (it, state) =
            (&mut self.stations[station as usize], &mut self.states[station as usize]);
        if it.queue.is_empty() {
            return;
        }
        if state.access.request_access(self.now, state.receiver.busy()) {
            state.access.set_backoff(it.draw());
        }
        if !state.receiver.busy() {
            self.timers.set(station, state.access.backoff_end());
        }
    }

    /// Returns how strongly a station that has sent arrives at another, in whole dBm, as a driver reports it.
    #[must_use]
    pub fn rssi(&self, from: u32, to: u32) -> Option<i8> {
        self.links.between(from, to).map(RadioLink::rssi)
    }

    /// Gives all links of a station a gain in dB beside what the links say, in place of an earlier one:
    /// frames that begin from now on have it. A room whose links are all alike has none.
    pub fn set_gain(&mut self, station: u32, gain_db: f64) {
        self.links.set_gain(station, gain_db);
    }

    /// Tunes a station to another channel. A frame that it receives is lost; a frame that it sends
    /// goes on where it began. During the hop the station neither receives nor sends.
    pub fn tune(&mut self, station: u32, channel: u8, hop: Duration) {
        self.touch(station);
        let at = station as usize;
        let Some(state) = self.states.get_mut(at) else { return };
        if state.receiver.channel == channel {
            return;
        }
        state.receiver.retune(channel);
        self.rosters.tuned(usize::from(self.places[at]), place(channel));
        self.places[at] = place(channel) as u8;
        for transmission in self.transmissions.iter().filter(|it| it.on_air) {
            if let Some(link) = self.links.between(transmission.frame.from, station) {
                let path =
                    self.config.adjacent.from(transmission.frame.mode, transmission.frame.channel);
                state.receiver.sum += path[place(channel)].through(transmission.sent(link.power()));
            }
        }
        if !hop.is_zero() && !self.stations[at].off {
            state.receiver.set_deaf(true);
            let tuned = self.now().after(hop).as_nanos();
            self.stations[at].tuned = tuned;
            self.events.push(tuned, MediumEvent::Tuned(station));
        }
        self.update_cca(station);
        self.update_meter(station);
        let state = &self.states[at];
        if state.access.contending() && state.receiver.deaf() {
            self.timers.set(station, NEVER);
        }
        // With its time-out past, the station was waiting for the end of the frame it received.
        if state.access.awaiting_response()
            && !state.receiver.sending()
            && !self.timers.runs(station)
        {
            self.timers.set(station, self.now);
        }
    }

    /// Ends a channel switch, unless another one began meanwhile.
    fn tuned(&mut self, station: u32) {
        self.touch(station);
        let it = &self.stations[station as usize];
        if it.tuned <= self.now && !it.dozing {
            self.states[station as usize].receiver.set_deaf(false);
            self.update_cca(station);
        }
    }

    /// Notices a change of a station's carrier sense. What the station gets is [known to
    /// it](Self::touch) by now.
    fn update_cca(&mut self, station: u32) {
        let at = station as usize;
        let state = &mut self.states[at];
        let cca_busy = state.receiver.cca_busy(&self.kinds[usize::from(state.receiver.kind)]);
        if cca_busy == state.receiver.busy() {
            return;
        }
        state.receiver.set_busy(cca_busy);
        if cca_busy {
            let turnaround = self.config.turnaround_ns;
            let it = &mut self.stations[at];
            visit::on_medium_busy(self.now, turnaround, station, state, it, &mut self.timers);
        } else {
            state.access.on_medium_idle(self.now);
            if state.access.contending() {
                self.timers.set(station, state.access.backoff_end());
            }
        }
    }
}
