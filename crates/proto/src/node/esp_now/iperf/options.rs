//! What the command takes, and what it answers.

use crate::node::esp_now::console::command::BadMac;
use crate::wire::mac::Mac;

/// The command's options, as they were typed. [`Options::default`] has those of a command without
/// any, which starts nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// `-c`: the responder's address.
    pub initiator: Option<Result<Mac, BadMac>>,
    /// `-s`.
    pub responder: bool,
    /// `-p`.
    pub ping: bool,
    /// `-C`: pings.
    pub count: u32,
    /// `-i`: seconds between reports (16 bits on the device, where more is cut off). Zero reports
    /// after each message.
    pub interval: u16,
    /// `-t`: seconds to send (16 bits on the device).
    pub time: u16,
    /// `-l`: bytes of a message; the longest payload if not given.
    pub len: Option<u16>,
    /// `-b`: broadcast, in so many copies (five bits on the air; 0 becomes 1).
    pub broadcast: Option<u8>,
    /// `-g`.
    pub group: bool,
    /// `-A`.
    pub ack: bool,
    /// `-G`: a pin that goes low when a ping or its answer is sent.
    pub gpio: Option<u8>,
}

impl Default for Options {
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

/// Why nothing was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError {
    /// A test is running (`ESP_ERR_NOT_SUPPORTED`).
    Running,
    /// Not exactly one of `-c` and `-s` (`ESP_ERR_INVALID_ARG`).
    Role,
    /// No address after `-c` (`ESP_ERR_INVALID_ARG`). As in the component, the test then counts as
    /// running until `-a`.
    Address,
    /// A length that no message can have (`ESP_ERR_INVALID_ARG`).
    Length,
}

/// Messages that were not handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// The queue was full.
    pub queue: u32,
    /// Below eight bytes.
    pub short: u32,
    /// Throughput messages of another initiator while one was being recorded: printed, not
    /// recorded.
    pub strangers: u32,
}
