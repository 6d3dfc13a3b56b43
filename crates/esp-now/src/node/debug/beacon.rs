//! The answer to `beacon`: a log line that identifies this device.

use crate::node::task::Cx;
use core::fmt::{self, Write};
use espbench_ieee80211::mac::Mac;

/// An answer that is being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BeaconAnswer {
    /// Device that asked.
    pub(super) to: Mac,
    ms: u64,
    free: u32,
    total: u32,
    rssi: i8,
    /// Number of bytes of the text that have been sent.
    at: usize,
}

impl BeaconAnswer {
    /// Creates the answer. Its figures are fixed now, so that all its frames carry parts of one
    /// text.
    pub(super) fn new(cx: &Cx<'_>, to: Mac) -> Self {
        let heap = cx.board.heap();
        Self {
            to,
            ms: cx.now.as_nanos() / 1_000_000,
            free: heap.free,
            total: heap.total,
            rssi: cx.shared.air.command_rssi,
            at: 0,
        }
    }

    /// Writes the next part of the text; the NUL at its end is part of it. Returns the length, and
    /// whether more follows.
    pub(super) fn next(&mut self, cx: &Cx<'_>, place: &mut [u8]) -> (usize, bool) {
        let mut window = TextWindow { skip: self.at, place, len: 0, beyond: false };
        // A window accepts any text.
        let _ = self.write(cx, &mut window);
        self.at = self.at.saturating_add(window.len);
        (window.len, window.beyond)
    }

    fn write(&self, cx: &Cx<'_>, out: &mut TextWindow<'_>) -> fmt::Result {
        let build = cx.shared.settings.build;
        // The component does not reset the colour.
        let colour = if cx.shared.print.colours { "\x1b[0;32m" } else { "" };
        write!(
            out,
            "{colour}I ({}) beacon_func: project_name: {}, app_version: {}, esp-idf_version: {}, \
             free_heap: {}, total_heap: {}, rx_rssi: {}, compile_time: {} {}\n\0",
            self.ms,
            build.project,
            build.version,
            build.idf,
            self.free,
            self.total,
            self.rssi,
            build.date,
            build.time,
        )
    }
}

/// Writer that keeps a part of the text.
struct TextWindow<'a> {
    skip: usize,
    place: &'a mut [u8],
    len: usize,
    beyond: bool,
}

impl Write for TextWindow<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            if self.skip > 0 {
                self.skip -= 1;
            } else if let Some(place) = self.place.get_mut(self.len) {
                *place = byte;
                self.len += 1;
            } else {
                self.beyond = true;
            }
        }
        Ok(())
    }
}
