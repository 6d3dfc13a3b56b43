//! Options of the command, and its errors.

use crate::console::command::BadMac;
use espbench_ieee80211::mac::Mac;

/// Options of the command, as they were typed. [`IperfOptions::default`] has those of a command without
/// any, which starts nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IperfOptions {
    /// `-c`: address of the responder.
    pub initiator: Option<Result<Mac, BadMac>>,
    /// `-s`: be the responder.
    pub responder: bool,
    /// `-p`: measure the round-trip time.
    pub ping: bool,
    /// `-C`: number of pings.
    pub count: u32,
    /// `-i`: seconds between reports (16 bits on the device, where more is cut off). Zero reports
    /// after each message.
    pub interval: u16,
    /// `-t`: duration in seconds (16 bits on the device).
    pub time: u16,
    /// `-l`: length of a message in bytes; the longest payload if not given.
    pub len: Option<u16>,
    /// `-b`: number of copies of a broadcast (five bits on the air; 0 becomes 1).
    pub broadcast: Option<u8>,
    /// `-g`: send to a group.
    pub group: bool,
    /// `-A`: request acknowledgements of the application layer.
    pub ack: bool,
    /// `-G`: pin that goes low when a ping or its answer is sent.
    pub gpio: Option<u8>,
}

impl Default for IperfOptions {
    fn default() -> Self {
        Self {
            initiator: None,
            responder: false,
            ping: false,
            count: 64,
            interval: 3,
            time: 60,
            len: None,
            broadcast: None,
            group: false,
            ack: false,
            gpio: None,
        }
    }
}

/// Reason why nothing was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError {
    /// A test is running (`ESP_ERR_NOT_SUPPORTED`).
    Running,
    /// `-c` and `-s` were both given, or neither (`ESP_ERR_INVALID_ARG`).
    Role,
    /// The text after `-c` is no address (`ESP_ERR_INVALID_ARG`). As in the component, the test
    /// then counts as running until `-a`.
    Address,
    /// No message can have this length (`ESP_ERR_INVALID_ARG`).
    Length,
}

/// Counts of messages that were not handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IperfDropped {
    /// Messages that found the queue full.
    pub queue: u32,
    /// Messages below eight bytes.
    pub short: u32,
    /// Throughput messages of another initiator while one was being recorded: printed, not
    /// recorded.
    pub strangers: u32,
}
