//! The remote log (`espnow_log.c`, section 7.1 of the protocol reference).
//!
//! One line is one frame: broadcast in ten copies. A line waits in the
//! [`LogPrinter`](crate::node::print::LogPrinter), whose bounded queue stands for the
//! component's; lines that the queue cannot hold are counted and lost.
//!
//! From ESP-IDF 5.5 on, lines of `ESP_LOGx` do not pass the function that the component wraps, and
//! the remote log stays empty. This is not reproduced: it would only make a tool useless.

use crate::component::{DataType, FrameConfig, debug};
use crate::console::args::Printable;
use crate::node::task::{Cx, Received, SendRequest, Task, TaskStep, TransmitOutcome};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Duration;

/// Sender of log lines, which counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteLog {
    /// Number of lines that were sent.
    pub sent: u32,
    /// Number of lines that could not be sent.
    pub failed: u32,
}

impl RemoteLog {
    /// Prints a log line of another device as the component's monitors do, with nothing added
    /// behind it.
    pub fn receive(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>) {
        cx.text(format_args!(
            "[{}][{}][{}]: {}",
            frame.from,
            frame.channel,
            frame.rssi,
            Printable(debug::text(frame.data))
        ));
    }
}

impl Task for RemoteLog {
    fn run(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if cx.shared.print.has_line() { TaskStep::Send } else { TaskStep::Idle }
    }

    fn compose(&mut self, cx: &mut Cx<'_>, payload: &mut [u8]) -> Option<SendRequest> {
        let room = cx.shared.settings.compat.data_max().min(payload.len());
        let place = payload.get_mut(..room)?;
        let text = place.get_mut(..room.checked_sub(1)?)?;
        let len = cx.shared.print.take_line(text)?;
        Some(SendRequest {
            data_type: DataType::DebugLog,
            dest: Mac::BROADCAST,
            config: FrameConfig {
                security: cx.shared.settings.encrypt.debug,
                ..FrameConfig::default()
            },
            magic: 0,
            len: debug::terminate(place, len)?,
            wait: Duration::MAX,
        })
    }

    fn sent(&mut self, _: &mut Cx<'_>, outcome: TransmitOutcome) {
        let count = if outcome.is_done() { &mut self.sent } else { &mut self.failed };
        *count = count.saturating_add(1);
    }
}
