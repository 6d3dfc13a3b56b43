//! Time synchronization (section 8 of the protocol reference; esp-now component, `espnow_time.c`).
//!
//! One device, the initiator, broadcasts its time: periodically, when it is asked, or when its
//! application wants. Responders keep the offset of their own clock against it. The accuracy is
//! low: no delay on the way is compensated, and the time is taken before the send lock, so a
//! responder is late by the wait for the lock and the radio, and by the frame's time on the air.
//! The clock itself is never set; UTC is sent but never used; any device can be the initiator.

#[cfg(test)]
mod tests;

use super::print::LogLevel;
use super::task::{Cx, EspNowEvent, Received, SendRequest, Task, TaskStep, TransmitOutcome};
use crate::component::time_sync::{TIME_SYNC_VERSION, TimeSyncKind, TimeSyncMessage};
use crate::component::{DataType, FrameConfig};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};

const TAG: &str = "espnow_time";

/// Seconds of UTC below which a clock counts as not set. The component means 2020, and takes
/// midnight of UTC+8.
const CLOCK_SET_S: i64 = 1_577_808_000;

/// Greatest number of requests and broadcasts that wait behind the one being sent.
const WAITING_MAX: u8 = 8;

/// Time synchronization of a device, which has one role at a time, as in the component.
///
/// With a period it is never [`TaskStep::Idle`]: on the device a timer's task sends, not the main task,
/// which the node must not make wait for it. See [`busy`](Self::busy).
#[derive(Clone, Debug, Default)]
pub struct TimeSync {
    role: SyncRole,
    phase: SyncPhase,
    /// Number of messages to be sent after the present one.
    waiting: u8,
    /// Number of messages that were not sent because too many waited.
    pub dropped: u32,
    /// Number of payloads that were too short or of another version.
    pub refused: u32,
    offset_us: i64,
    /// UTC when the node's clock was zero, if the wall clock was set, in microseconds.
    utc_zero_us: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default)]
enum SyncRole {
    #[default]
    Off,
    /// Initiator, with the time of the next periodic broadcast, and the period.
    Initiator(Option<(Instant, Duration)>),
    /// Responder, with the greatest drift that is left alone, in ms.
    Responder(i32),
}

#[derive(Clone, Copy, Debug, Default)]
enum SyncPhase {
    #[default]
    Idle,
    Ready(TimeSyncMessage),
    Sending,
}

impl TimeSync {
    /// Default of the component for the greatest drift that is left alone, in ms.
    pub const MAX_DRIFT_MS: i32 = 100;

    /// Becomes the initiator (`espnow_time_initiator_start`); with a period of 0 it sends only when
    /// asked. Returns false if it has a role already, or the period is less than a tick.
    pub fn start_initiator(&mut self, cx: &mut Cx<'_>, period_ms: u32) -> bool {
        if !self.free(cx) {
            return false;
        }
        let tick = cx.shared.settings.tick;
        let ticks = tick.ticks(period_ms);
        if period_ms > 0 && ticks == 0 {
            cx.log(LogLevel::Error, TAG, format_args!("Failed to create sync timer"));
            return false;
        }
        let period = tick.period().saturating_mul(ticks);
        let timer = (ticks > 0).then(|| (tick.delay(cx.now, ticks), period));
        self.role = SyncRole::Initiator(timer);
        cx.shared.air.listen(DataType::TimeSync, true);
        true
    }

    /// Becomes a responder (`espnow_time_responder_start`). Returns false if it has a role already.
    pub fn start_responder(&mut self, cx: &mut Cx<'_>, max_drift_ms: i32) -> bool {
        if !self.free(cx) {
            return false;
        }
        self.role = SyncRole::Responder(max_drift_ms);
        cx.shared.air.listen(DataType::TimeSync, true);
        true
    }

    fn free(&self, cx: &mut Cx<'_>) -> bool {
        let free = matches!(self.role, SyncRole::Off);
        if !free {
            cx.log(LogLevel::Warn, TAG, format_args!("Time sync already started"));
        }
        free
    }

    /// Gives up the role; a responder forgets its offset. Returns false if it had none.
    pub fn stop(&mut self, cx: &mut Cx<'_>) -> bool {
        let name = match self.role {
            SyncRole::Off => return false,
            SyncRole::Initiator(_) => "Initiator",
            SyncRole::Responder(_) => {
                self.offset_us = 0;
                "Responder"
            }
        };
        self.role = SyncRole::Off;
        self.waiting = 0;
        if matches!(self.phase, SyncPhase::Ready(_)) {
            self.phase = SyncPhase::Idle;
        }
        cx.shared.air.listen(DataType::TimeSync, false);
        cx.log(LogLevel::Info, TAG, format_args!("{name} stopped"));
        true
    }

    /// Broadcasts the time (`espnow_time_initiator_broadcast`). Returns false if it is no
    /// initiator.
    pub fn broadcast(&mut self) -> bool {
        matches!(self.role, SyncRole::Initiator(_)) && self.want()
    }

    /// Asks for the time (`espnow_time_responder_request`). Returns false if it is no responder.
    pub fn request(&mut self) -> bool {
        matches!(self.role, SyncRole::Responder(_)) && self.want()
    }

    fn want(&mut self) -> bool {
        let room = self.waiting < WAITING_MAX;
        if room {
            self.waiting += 1;
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
        room
    }

    /// Returns whether a message is being sent or waits to be sent.
    #[must_use]
    pub fn busy(&self) -> bool {
        self.waiting > 0 || !matches!(self.phase, SyncPhase::Idle)
    }

    /// Returns the offset of the initiator's clock from the own clock, in microseconds; 0 before
    /// the first correction.
    #[must_use]
    pub const fn offset_us(&self) -> i64 {
        self.offset_us
    }

    /// Returns the initiator's time at `now`, as far as this device knows, in microseconds.
    #[must_use]
    pub fn synced_us(&self, now: Instant) -> i64 {
        micros(now).wrapping_add(self.offset_us)
    }

    /// Sets the wall clock, in microseconds since 1970. It is sent but never used.
    pub fn set_utc(&mut self, now: Instant, utc_us: i64) {
        self.utc_zero_us = Some(utc_us.wrapping_sub(micros(now)));
    }

    /// Takes a frame of type [`DataType::TimeSync`]. `espnow_iperf` of components 2.0 to 2.5.2 uses
    /// the same number; its frames are refused for their version or ignored for their kind.
    pub fn receive(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>) {
        if frame.data_type != DataType::TimeSync {
            return;
        }
        let Some(message) = TimeSyncMessage::parse(frame.data) else {
            self.refused = self.refused.saturating_add(1);
            let size = frame.data.len();
            return cx.log(LogLevel::Warn, TAG, format_args!("Invalid time packet size: {size}"));
        };
        if message.version != TIME_SYNC_VERSION {
            self.refused = self.refused.saturating_add(1);
            let version = message.version;
            let text = format_args!("Unsupported time packet version: {version}");
            return cx.log(LogLevel::Warn, TAG, text);
        }
        match (self.role, message.kind) {
            (SyncRole::Initiator(_), TimeSyncKind::Request) => {
                self.want();
            }
            (SyncRole::Responder(max_drift_ms), TimeSyncKind::Broadcast) => {
                self.correct(cx, frame.from, message.timestamp_us, max_drift_ms);
            }
            (SyncRole::Off, _) => {
                cx.log(LogLevel::Warn, TAG, format_args!("Time sync not started, ignoring packet"));
            }
            _ => {}
        }
    }

    /// Corrects the offset if it has drifted too far. The subtractions wrap, since the other clock
    /// can show any number.
    fn correct(&mut self, cx: &mut Cx<'_>, from: Mac, remote_us: i64, max_drift_ms: i32) {
        let ahead_us = remote_us.wrapping_sub(micros(cx.now));
        let drift_ms = (ahead_us.wrapping_sub(self.offset_us) / 1000) as i32;
        if drift_ms.wrapping_abs() > max_drift_ms {
            self.offset_us = ahead_us;
            cx.log(LogLevel::Info, TAG, format_args!("Time adjusted by {drift_ms} ms"));
        }
        cx.event(EspNowEvent::TimeSynced { from, drift_ms });
    }

    /// Returns the next message. The clock is read here and not in `compose`, as the component reads
    /// it before it waits for the lock.
    fn message(&self, now: Instant) -> Option<TimeSyncMessage> {
        let kind = match self.role {
            SyncRole::Off => return None,
            SyncRole::Initiator(_) => TimeSyncKind::Broadcast,
            SyncRole::Responder(_) => TimeSyncKind::Request,
        };
        let utc_us = self.utc_zero_us.map_or(0, |zero| zero.wrapping_add(micros(now)));
        let set = utc_us / 1_000_000 > CLOCK_SET_S;
        Some(TimeSyncMessage {
            version: TIME_SYNC_VERSION,
            kind,
            timestamp_us: self.synced_us(now),
            utc_us: if set { utc_us } else { 0 },
        })
    }

    /// Queues a periodic broadcast that is due. Of several that were missed, because sending took
    /// longer than the period, one is sent; FreeRTOS would make up for all.
    fn tick(&mut self, now: Instant) {
        let SyncRole::Initiator(Some((next, period))) = &mut self.role else { return };
        if *next > now {
            return;
        }
        let nanos = period.as_nanos().max(1) as u64;
        let whole = (now.since(*next).as_nanos() as u64 / nanos).saturating_add(1);
        let at = next.as_nanos().saturating_add(whole.saturating_mul(nanos));
        *next = Instant::from_nanos(at);
        self.want();
    }
}

impl Task for TimeSync {
    fn run(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        self.tick(cx.now);
        match (self.phase, self.role) {
            (SyncPhase::Ready(_), _) => TaskStep::Send,
            (SyncPhase::Idle, _) if self.waiting > 0 => {
                self.waiting -= 1;
                match self.message(cx.now) {
                    Some(message) => {
                        self.phase = SyncPhase::Ready(message);
                        TaskStep::Send
                    }
                    None => TaskStep::Idle,
                }
            }
            (SyncPhase::Idle, SyncRole::Initiator(Some((next, _)))) => TaskStep::Until(next),
            (SyncPhase::Idle | SyncPhase::Sending, _) => TaskStep::Idle,
        }
    }

    fn compose(&mut self, cx: &mut Cx<'_>, payload: &mut [u8]) -> Option<SendRequest> {
        let SyncPhase::Ready(message) = self.phase else { return None };
        self.phase = SyncPhase::Idle;
        let len = message.emit(payload)?;
        self.phase = SyncPhase::Sending;
        Some(SendRequest {
            data_type: DataType::TimeSync,
            dest: Mac::BROADCAST,
            config: FrameConfig {
                copies: 3,
                security: cx.shared.settings.encrypt.time,
                ..FrameConfig::default()
            },
            magic: 0,
            len,
            wait: Duration::from_secs(1),
        })
    }

    fn sent(&mut self, cx: &mut Cx<'_>, outcome: TransmitOutcome) {
        if !matches!(self.phase, SyncPhase::Sending) {
            return;
        }
        self.phase = SyncPhase::Idle;
        let error = match outcome {
            TransmitOutcome::Done { .. } => return,
            TransmitOutcome::Failed => "ESP_FAIL",
            TransmitOutcome::TimedOut => "ESP_ERR_WIFI_TIMEOUT",
            TransmitOutcome::Refused => "ESP_ERR_INVALID_ARG",
        };
        cx.log(LogLevel::Warn, TAG, format_args!("Failed to send time packet: {error}"));
    }
}

/// Returns whole microseconds since start, as `esp_timer_get_time` does.
fn micros(now: Instant) -> i64 {
    (now.as_nanos() / 1000) as i64
}
