//! Transmission: the send lock, and the progress of its holder (`espnow_send`,
//! `espnow_send_process`, `espnow_send_forward`, `espnow_set_group`; sections 2.4, 2.8, 2.9 and
//! 2.10).
//!
//! | module | contents |
//! |---|---|
//! | `job` | a transmission: its frame, its progress, and the time that the caller would still wait |
//! | `prepare` | preparation of a frame from a caller's request |
//! | `report` | warnings about a transmission that goes wrong, and its outcome |
//! | `steps` | the steps of a transmission |

mod job;
mod prepare;
mod report;
mod steps;

use super::counters::{EngineCounters, bump};
use super::{ACKS_MAX, Action};
use crate::component::{Compat, HEADER_LEN, Header};
use crate::node::task::{Cx, SendRequest, TransmitOutcome};
use espbench_model::time::{Duration, Instant};
use heapless::Deque;
use job::{SendFunction, SendStatus, SendStep, Transmission};

/// Magics of acknowledgements that wait for a sender.
pub(super) type PendingAcks = Deque<u16, ACKS_MAX>;

/// Last wait for an acknowledgement, after the lock was released.
#[derive(Clone, Copy, Debug)]
struct Tail {
    magic: u16,
    until: Instant,
    attempts: u8,
}

/// Answers of the driver.
#[derive(Clone, Copy, Debug, Default)]
struct DriverState {
    /// Number of frames without an answer (`g_buffered_num`).
    buffered: u16,
    /// Whether an answer was "success" since the last wait (`SEND_CB_OK`).
    ok: bool,
    /// Whether an answer was "fail" (`SEND_CB_FAIL`).
    failed: bool,
}

/// Send lock, with the transmission that holds it.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Sender<const FRAME: usize> {
    job: Option<Transmission>,
    tail: Option<Tail>,
    outcome: Option<TransmitOutcome>,
    driver: DriverState,
    frame: [u8; FRAME],
}

impl<const FRAME: usize> Sender<FRAME> {
    pub(super) const fn new() -> Self {
        Self {
            frame: [0; FRAME],
            job: None,
            tail: None,
            outcome: None,
            driver: DriverState { buffered: 0, ok: false, failed: false },
        }
    }

    #[inline]
    pub(super) const fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    #[inline]
    pub(super) const fn is_free(&self) -> bool {
        self.job.is_none() && self.tail.is_none() && self.outcome.is_none()
    }

    #[inline]
    pub(super) fn is_relaying(&self) -> bool {
        self.job.as_ref().is_some_and(|job| job.kind == SendFunction::Relay)
    }

    #[inline]
    pub(super) fn outcome(&mut self) -> Option<TransmitOutcome> {
        self.outcome.take()
    }

    pub(super) fn payload_mut(&mut self, compat: Compat) -> &mut [u8] {
        if self.is_busy() {
            return &mut [];
        }
        let end = HEADER_LEN.saturating_add(compat.data_max()).min(FRAME);
        self.frame.get_mut(HEADER_LEN..end).unwrap_or_default()
    }

    pub(super) fn start(&mut self, cx: &mut Cx<'_>, out: &SendRequest) -> bool {
        if !self.is_free() {
            return false;
        }
        self.job = self.prepare(cx, out);
        if self.job.is_none() {
            self.outcome = Some(TransmitOutcome::Refused);
        }
        true
    }

    /// Takes the lock for a frame that `read` writes, and decrements its hop count if it is
    /// forwarded.
    pub(super) fn relay(
        &mut self,
        cx: &Cx<'_>,
        forwarded: bool,
        read: impl FnOnce(&mut [u8]) -> usize,
    ) -> bool {
        if self.is_busy() {
            return false;
        }
        let len = read(&mut self.frame);
        if forwarded {
            Header::count_hop(&mut self.frame);
        }
        let Some((header, _)) = self.frame.get(..len).and_then(Header::parse) else { return false };
        self.job =
            Some(Transmission::new(cx, SendFunction::Relay, &header, len as u16, Duration::MAX));
        true
    }

    pub(super) fn sent(&mut self, cx: &Cx<'_>, counters: &mut EngineCounters, delivered: bool) {
        if let Some(job) = self.job.as_mut().filter(|job| job.step == SendStep::Handed) {
            job.step = self.driver.took(cx, counters, job);
        }
        let driver = &mut self.driver;
        driver.buffered = driver.buffered.saturating_sub(1);
        if delivered {
            driver.ok = true;
        } else {
            driver.failed = true;
        }
    }

    pub(super) fn refused(&mut self, counters: &mut EngineCounters) {
        bump(&mut counters.driver_refused);
        let Some(job) = &mut self.job else { return };
        match job.step {
            SendStep::Handed => {}
            // The frame was assumed to be accepted already: this driver answers late.
            SendStep::Callback => self.driver.buffered = self.driver.buffered.saturating_sub(1),
            _ => {
                self.driver.buffered = self.driver.buffered.saturating_sub(1);
                return;
            }
        }
        (job.status, job.step) = (SendStatus::NoMemory, SendStep::Refused);
    }

    #[inline]
    pub(super) fn callback_until(&self) -> Option<Instant> {
        let job = self.job.as_ref()?;
        let waits = job.step == SendStep::Callback
            && job.kind != SendFunction::Relay
            && !(self.driver.ok || self.driver.failed);
        (waits && self.tail.is_none() && self.outcome.is_none()).then_some(job.until)
    }

    pub(super) fn wake(&self) -> Option<Instant> {
        let job = self.job.as_ref().map(|job| match job.step {
            SendStep::Callback | SendStep::Full | SendStep::Slice => job.until,
            _ => Instant::ZERO,
        });
        [job, self.tail.as_ref().map(|tail| tail.until)].into_iter().flatten().min()
    }
}
