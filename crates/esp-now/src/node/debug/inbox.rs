//! A command that another device sent (`console_espnow_handle`, section 7.2 of the protocol
//! reference).
//!
//! On the device the command runs at once inside the component's main task. So there is one place:
//! the node executes the line before it takes the next frame.

use crate::component::debug;
use crate::console::TAG;
use crate::console::editor::LINE;
use crate::node::print::LogLevel;
use crate::node::task::{Cx, Received};
use espbench_ieee80211::mac::Mac;
use heapless::Vec;

/// Inbox for a command of another device.
#[derive(Clone, Debug)]
pub struct Inbox {
    line: Vec<u8, { LINE - 1 }>,
    waiting: bool,
    from: Mac,
    /// Number of commands that were lost because the one before was not taken, or that were cut.
    pub lost: u32,
}

impl Default for Inbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Inbox {
    /// Creates an empty inbox.
    #[must_use]
    pub const fn new() -> Self {
        Self { line: Vec::new(), waiting: false, from: Mac::BROADCAST, lost: 0 }
    }

    /// Stores a command. A command longer than the console's line is cut, which is told and counted.
    pub fn receive(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>) {
        if self.waiting {
            self.lost = self.lost.saturating_add(1);
            return;
        }
        let text = debug::text(frame.data);
        self.line.clear();
        let (kept, rest) = text.split_at(text.len().min(LINE - 1));
        if !rest.is_empty() {
            self.lost = self.lost.saturating_add(1);
            let lost = rest.len();
            cx.log(LogLevel::Warn, TAG, format_args!("{lost} bytes of the line were lost"));
        }
        // The line has that room.
        let _ = self.line.extend_from_slice(kept);
        self.waiting = true;
        self.from = frame.from;
        cx.shared.air.command_rssi = frame.rssi;
    }

    /// Takes the line to execute, once.
    pub fn take(&mut self) -> Option<&mut [u8]> {
        core::mem::take(&mut self.waiting).then_some(&mut self.line)
    }

    /// Returns the line that was taken last, as its execution has left it.
    #[must_use]
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// Returns the sender of the last command, to which `beacon` answers; broadcast before the
    /// first.
    #[must_use]
    pub const fn from(&self) -> Mac {
        self.from
    }
}
