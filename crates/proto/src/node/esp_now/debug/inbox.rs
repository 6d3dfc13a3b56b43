//! A command that another device sent (`console_espnow_handle`, section 7.2 of the protocol
//! reference).
//!
//! On the device it runs at once inside the component's main task. So there is one place: the
//! node executes the line before it takes the next frame.

use crate::node::esp_now::console::editor::LINE;
use crate::node::esp_now::task::{Cx, Received};
use crate::wire::component::debug;
use crate::wire::mac::Mac;
use heapless::Vec;

/// Takes commands of other devices.
#[derive(Clone, Debug)]
pub struct Inbox {
    line: Vec<u8, { LINE - 1 }>,
    waiting: bool,
    from: Mac,
    /// Commands that were lost because the one before was not taken.
    pub lost: u32,
}

impl Default for Inbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Inbox {
    /// Nothing has come yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { line: Vec::new(), waiting: false, from: Mac::BROADCAST, lost: 0 }
    }

    /// A command has come. What is longer than the console's line is cut.
    pub fn receive(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>) {
        if self.waiting {
            self.lost = self.lost.saturating_add(1);
            return;
        }
        let text = debug::text(frame.data);
        self.line.clear();
        // It has that room.
        let _ = self.line.extend_from_slice(text.get(..LINE - 1).unwrap_or(text));
        self.waiting = true;
        self.from = frame.from;
        cx.shared.air.command_rssi = frame.rssi;
    }

    /// The line to execute, once.
    pub fn take(&mut self) -> Option<&mut [u8]> {
        core::mem::take(&mut self.waiting).then_some(&mut self.line)
    }

    /// The line that was taken last, as its execution has left it.
    #[must_use]
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// Who sent the last command; everybody before the first. `beacon` answers to it.
    #[must_use]
    pub const fn from(&self) -> Mac {
        self.from
    }
}
