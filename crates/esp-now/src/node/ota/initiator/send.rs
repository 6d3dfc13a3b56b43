//! Messages of an initiator, and its progress after each.

use super::{JobStage, OtaInitiator, OtaSendConfig, REQUEST_TICKS, REQUESTS, TAG};
use crate::component::group::{self, GroupPayload, MEMBERS_MAX, OTA as GROUP};
use crate::component::ota::{Chunk, OtaType};
use crate::component::{DataType, FrameConfig};
use crate::node::board::{CpuWork, Slot};
use crate::node::print::LogLevel;
use crate::node::task::{Cx, SendRequest, TransmitOutcome};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Duration;

/// A message that waits for the send lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Send {
    /// Request: which devices are there?
    Request,
    /// GROUP frame: this chunk of the devices joins.
    Join(u16),
    /// GROUP frame: this device leaves.
    LeaveOne(u16),
    /// GROUP frame: this chunk of the remaining devices leaves.
    Leave(u16),
    /// Request for the progress of each device.
    Status,
    /// Packet of this number.
    Data(u16),
}

/// Writes the payload of a GROUP frame.
fn group(join: bool, members: impl Iterator<Item = Mac>, payload: &mut [u8]) -> Option<usize> {
    let mut members = members.take(MEMBERS_MAX).peekable();
    members.peek()?;
    GroupPayload::emit(join, GROUP, members, payload)
}

impl<const D: usize, const A: usize, const B: usize> OtaInitiator<D, A, B> {
    pub(super) fn write(
        &mut self,
        cx: &mut Cx<'_>,
        what: Send,
        payload: &mut [u8],
    ) -> Option<SendRequest> {
        let OtaSendConfig { copies, request_copies, .. } = self.options;
        let config = FrameConfig {
            broadcast: true,
            copies: if matches!(what, Send::Data(_)) { copies } else { request_copies },
            ttl: self.options.ttl,
            rssi: self.options.rssi,
            security: cx.shared.settings.encrypt.ota,
            ..FrameConfig::UNICAST
        };
        let skip = |chunk: u16| usize::from(chunk).saturating_mul(MEMBERS_MAX);
        let (config, magic, len) = match what {
            Send::Request => {
                *payload.first_mut()? = OtaType::Request as u8;
                (FrameConfig { filter_adjacent: true, ..config }, self.magic, 1)
            }
            Send::Status => {
                let config = FrameConfig { filter_adjacent: true, group: true, ..config };
                (config, self.magic, self.status.emit(&[], payload)?)
            }
            Send::Data(seq) => {
                let len = self.chunk(cx, seq, payload)?;
                (FrameConfig { group: true, ..config }, 0, len)
            }
            Send::Join(chunk) => {
                let len = if self.everyone {
                    group(true, core::iter::once(Mac::BROADCAST), payload)?
                } else {
                    let macs = self.devices.iter().map(|d| d.mac);
                    group(true, macs.skip(skip(chunk)), payload)?
                };
                (FrameConfig::default(), group::magic(self.magic, chunk), len)
            }
            Send::LeaveOne(at) => {
                let mac = self.devices.get(at)?.mac;
                (FrameConfig::default(), 0, group(false, core::iter::once(mac), payload)?)
            }
            Send::Leave(chunk) => {
                let len = group(false, self.leftovers().skip(skip(chunk)), payload)?;
                (FrameConfig::default(), group::magic(self.magic, chunk), len)
            }
        };
        let (data_type, dest) = match what {
            Send::Request => (DataType::OtaData, Mac::BROADCAST),
            Send::Status | Send::Data(_) => (DataType::OtaData, GROUP),
            Send::Join(_) | Send::LeaveOne(_) | Send::Leave(_) => (DataType::Group, Mac::BROADCAST),
        };
        Some(SendRequest { data_type, dest, config, magic, len, wait: Duration::MAX })
    }

    fn chunk(&mut self, cx: &mut Cx<'_>, seq: u16, payload: &mut [u8]) -> Option<usize> {
        let chunk = cx.shared.settings.compat.ota_chunk();
        let offset = u32::from(seq).checked_mul(chunk as u32)?;
        let left = self.status.total.checked_sub(offset)?;
        let size = left.min(chunk as u32);
        cx.spend(CpuWork::Read { bytes: size });
        let board = &mut *cx.board;
        Chunk::emit(seq, size as u8, chunk, payload, |to| board.read(Slot::Spare, offset, to))
    }

    /// Continues after the send of a message, whether or not it went out.
    pub(super) fn after(&mut self, cx: &mut Cx<'_>, what: Send, outcome: TransmitOutcome) {
        match (what, self.stage) {
            (Send::Request, JobStage::Scan { request, .. }) => {
                let at = cx.shared.settings.tick.delay(cx.now, REQUEST_TICKS);
                let request = if outcome.is_done() { request.saturating_add(1) } else { REQUESTS };
                self.stage = JobStage::Scan { request, at };
            }
            (Send::Join(chunk), JobStage::Join(_)) => {
                self.stage = JobStage::Join(chunk.saturating_add(1));
            }
            (Send::Leave(chunk), JobStage::Leave(_)) => {
                self.stage = JobStage::Leave(chunk.saturating_add(1));
            }
            (Send::LeaveOne(at), _) => {
                if let Some(device) = self.devices.iter_mut().nth(usize::from(at)) {
                    device.leaves = false;
                }
                if let JobStage::Wait(_) = self.stage {
                    self.stage = JobStage::Wait(None);
                }
            }
            (Send::Status, JobStage::Ask) => {
                if !outcome.is_done() {
                    cx.log(LogLevel::Warn, TAG, format_args!("Request devices upgrade status"));
                }
                self.stage = JobStage::Wait(None);
            }
            (Send::Data(seq), JobStage::Data(_)) => {
                if !outcome.is_done() {
                    let text =
                        format_args!("[espnow_ota_initiator_send, 463]: <ESP_FAIL> espnow write");
                    cx.log(LogLevel::Warn, TAG, text);
                }
                self.totals.chunks = self.totals.chunks.saturating_add(1);
                self.stage = JobStage::Data(seq.saturating_add(1));
            }
            _ => {}
        }
    }

    /// Continues after a message that could not be written.
    pub(super) fn unsent(&mut self, cx: &mut Cx<'_>, what: Send) {
        self.sending = None;
        match what {
            Send::Data(_) => {
                let text =
                    format_args!("[espnow_ota_initiator_send, 459]<ESP_FAIL> Read data from Flash");
                cx.log(LogLevel::Warn, TAG, text);
                self.stage = JobStage::Leave(0);
            }
            // Only with a buffer that is too small for any frame.
            Send::Join(_) | Send::LeaveOne(_) | Send::Leave(_) | Send::Status => {
                self.stage = JobStage::Report;
            }
            Send::Request => self.end(cx),
        }
    }
}
