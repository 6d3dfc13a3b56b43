//! Conversations as text: commands typed at consoles, and waiting for what is printed.
//!
//! One statement a line; a line that begins with `#` is a comment.
//!
//! | statement | effect |
//! |---|---|
//! | `NODES> COMMAND` | types the command at these consoles, each as soon as its prompt is there, and goes on when all are typed |
//! | `wait TIME` | lets time pass |
//! | `wait until NODES prints "TEXT" [max TIME]` | goes on when each of them has printed a line with the text; it fails after the time (60 s) |
//! | `reset NODES` | resets them |
//! | `loss PERCENT` | changes the medium's loss |
//! | `link NODES NODES off` or `link NODES NODES RSSI` | both directions between each of these and each of those: none, or with that signal strength in dBm |
//! | `image NODES running\|spare LENGTH "VERSION"` | puts an image made up from length and version into a slot |
//! | `key NODES` | stores a random key of the application layer, the same on these nodes; they have it from their next start on, so it stands at a script's beginning |
//! | `offer NODES "URL" LENGTH "VERSION"` | what these nodes can download from that address (`ota -d`) |
//!
//! `NODES` is `all`, or a list of nodes and ranges: `node0`, `node1,node4`, `node2..node9`. `TIME`
//! has a unit: `500ms`, `1.5s`, `2min`. In a command, `{node3}` or a list in braces stands for the
//! addresses, separated by commas; `{others}` for all but the node itself; `{{` and `}}` for braces.
//! `max TIME` may stand in parentheses. A text may hold `\"` and `\\`.
//!
//! `wait until` looks at lines printed since the last statement that was no waiting, and after the
//! line that the last one for that node found.

mod line;
mod parse;
mod run;

pub use parse::parse;
pub(crate) use run::List;
pub use run::{PlayError, play};

use crate::lab::nodes::device::NodeId;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use esp_now::node::board::Slot;
use espbench_dot11::random::Chance;

/// Longest wait of `wait until` where nothing is said, and of a command for its prompt.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Statements, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The statements, each with its line.
    pub statements: Vec<(u32, Statement)>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Type a command.
    Command {
        /// Nodes at whose consoles it is typed.
        nodes: Vec<NodeId>,
        /// Text of the command.
        text: Vec<CommandPiece>,
    },
    /// Let time pass.
    Wait(Duration),
    /// Wait for a line.
    Until {
        /// Nodes that print it.
        nodes: Vec<NodeId>,
        /// Text that the line contains.
        text: String,
        /// Longest wait.
        most: Duration,
    },
    /// Reset.
    Reset(Vec<NodeId>),
    /// Change the loss.
    Loss(Chance),
    /// Change a link.
    Link {
        /// Nodes at one end.
        from: Vec<NodeId>,
        /// Nodes at the other end.
        to: Vec<NodeId>,
        /// Signal strength in dBm, if they hear each other.
        rssi: Option<i8>,
    },
    /// Put an image into a slot.
    Image {
        /// Nodes that get the image.
        nodes: Vec<NodeId>,
        /// Slot of the image.
        slot: Slot,
        /// Bytes.
        len: u32,
        /// Version in its description.
        version: String,
    },
    /// Store a key on boards.
    Key(Vec<NodeId>),
    /// Let an image be downloaded.
    Offer {
        /// Nodes that may download it.
        nodes: Vec<NodeId>,
        /// Address of the image.
        url: String,
        /// Bytes.
        len: u32,
        /// Version in its description.
        version: String,
    },
}

/// A piece of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandPiece {
    /// As written.
    Text(String),
    /// The addresses of these nodes.
    Addresses(Vec<NodeId>),
    /// The addresses of all other nodes.
    Others,
}

/// The error of a script that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Text that stands there; empty at the end of a line.
    pub found: String,
    /// Description of what may stand there.
    pub wanted: String,
}

impl fmt::Display for ScriptParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: ", self.line, self.column)?;
        if self.found.is_empty() {
            f.write_str("the line ends")?;
        } else {
            write!(f, "`{}`", self.found)?;
        }
        write!(f, " where {} is wanted", self.wanted)
    }
}

impl core::error::Error for ScriptParseError {}
