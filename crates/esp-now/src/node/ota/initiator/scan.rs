//! Loading an image and finding devices: the commands that the console runs in its own task.

use super::send::Send;
use super::{COMMAND, JobStage, OtaInitiator, REQUESTS, TAG};
use crate::component::ota::AsciiText;
use crate::node::board::{CpuWork, Download, Slot};
use crate::node::ota::devices::{OtaDevice, OtaDevices};
use crate::node::ota::seconds;
use crate::node::print::LogLevel;
use crate::node::task::{Cx, TaskStep};
use core::fmt;
use espbench_model::time::{Duration, Instant};

impl<const D: usize, const A: usize, const B: usize> OtaInitiator<D, A, B> {
    pub(super) fn fetching(&mut self, cx: &mut Cx<'_>, next: u32) -> TaskStep {
        match cx.board.download() {
            Download::Running { received, total } if !self.stop => {
                if received >= next && total > 0 {
                    let rate = u64::from(received) * 100 / u64::from(total);
                    let text =
                        format_args!("Firmware download size: {received}, progress rate: {rate}%");
                    cx.log(LogLevel::Info, COMMAND, text);
                    // The next line comes after another hundred reads of 1460 bytes.
                    let next = (received / 146_000).saturating_add(1).saturating_mul(146_000);
                    self.stage = JobStage::Fetch { next };
                }
                return TaskStep::Until(cx.now + Duration::from_millis(100));
            }
            Download::Complete => {
                let total = cx.board.image_len(Slot::Spare);
                let seconds = seconds(cx, self.started);
                let text = format_args!(
                    "The service download firmware is complete, total_size: {total} \
                     Spend time: {seconds}s"
                );
                cx.log(LogLevel::Info, COMMAND, text);
            }
            Download::Running { .. } | Download::Failed => {
                cx.log(LogLevel::Warn, COMMAND, format_args!("<ESP_FAIL> esp_http_client_read"));
            }
        }
        self.stage = JobStage::Idle;
        TaskStep::Idle
    }

    pub(super) fn scanning(&mut self, cx: &mut Cx<'_>, request: u8, at: Instant) -> TaskStep {
        if cx.now < at && !self.stop {
            return TaskStep::Until(at);
        }
        let elapsed = cx.shared.settings.tick.between(self.scan_started, cx.now);
        // The remainder is unsigned: only exactly zero ends the scan before its time.
        if request < REQUESTS && elapsed != u64::from(self.scan_ticks) && !self.stop {
            return self.send_now(Send::Request);
        }
        self.scanned(cx);
        TaskStep::Until(cx.now)
    }

    pub(super) fn scanned(&mut self, cx: &mut Cx<'_>) {
        let num = self.devices.len();
        self.totals.dropped = self.devices.dropped;
        if !self.job {
            self.end(cx);
            if num > 0 {
                self.stage = JobStage::Rows(0);
            }
            return;
        }
        cx.log(LogLevel::Info, TAG, format_args!("Scan OTA list, num: {num}"));
        self.stage = JobStage::Join(0);
        if num == 0 {
            // Trap 14 of the protocol reference.
            cx.log(LogLevel::Error, TAG, format_args!("No device to be upgraded was found"));
            self.stage = JobStage::Report;
        }
    }

    /// Prints the result of a scan: one line or [`PIECE`] addresses in each call.
    pub(super) fn row(&mut self, cx: &mut Cx<'_>, row: u16) -> TaskStep {
        let pieces = self.devices.len().div_ceil(PIECE);
        let before = cx.shared.print.waiting();
        if row < pieces {
            self.piece(cx, row, pieces);
        } else if row == pieces {
            let text = "|         mac       | Channel | Rssi | Project name | ESP-IDF version | \
                        App version | Secure version | Compile time |";
            cx.shared.print.log(cx.now, LogLevel::Info, COMMAND, format_args!("{text}"));
        } else if let Some(device) = self.devices.get(row.saturating_sub(pieces + 1)) {
            let app = self.devices.runs(device).unwrap_or_default();
            let OtaDevice { mac, channel, rssi, .. } = device;
            let text = format_args!(
                "| {mac} |   {channel}   |  {rssi}  | {:>12} | {:>15} | {:>11} | {} | {:>6} {:>6} |",
                AsciiText(app.project()),
                AsciiText(app.idf()),
                AsciiText(app.version()),
                app.secure_version(),
                AsciiText(app.date()),
                AsciiText(app.time()),
            );
            cx.shared.print.log(cx.now, LogLevel::Info, COMMAND, text);
        } else {
            self.stage = JobStage::Idle;
            return TaskStep::Idle;
        }
        let bytes = cx.shared.print.waiting().saturating_sub(before) as u32;
        cx.spend(CpuWork::Print { bytes });
        self.stage = JobStage::Rows(row.saturating_add(1));
        TaskStep::Until(cx.now)
    }

    /// Prints a piece of the one line with all addresses.
    fn piece(&self, cx: &mut Cx<'_>, row: u16, pieces: u16) {
        let (num, print) = (self.devices.len(), &mut cx.shared.print);
        let list = AddressList { devices: &self.devices, from: row.saturating_mul(PIECE) };
        if row == 0 {
            let text = format_args!("info, num: {num}, list: {list}");
            print.open(cx.now, LogLevel::Info, COMMAND, text);
        } else {
            print.part(LogLevel::Info, COMMAND, format_args!("{list}"));
        }
        if row + 1 == pieces {
            print.close(LogLevel::Info, COMMAND);
        }
    }
}

/// Number of addresses printed in one call.
const PIECE: u16 = 32;

/// Addresses of some devices, each followed by a bar.
struct AddressList<'a, const D: usize, const A: usize> {
    devices: &'a OtaDevices<D, A>,
    from: u16,
}

impl<const D: usize, const A: usize> fmt::Display for AddressList<'_, D, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let some = self.devices.iter().skip(usize::from(self.from)).take(usize::from(PIECE));
        some.into_iter().try_for_each(|d| write!(f, "{}|", d.mac))
    }
}
