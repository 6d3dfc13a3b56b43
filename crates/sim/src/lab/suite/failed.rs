//! Errors for which a cell was not carried out.

use crate::lab::file::FileError;
use crate::lab::nodes::NodeId;
use crate::lab::run::Livelock;
use crate::talk::script::List;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

/// Reason why a cell was not carried out to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum SuiteError {
    /// The test was told to stop.
    Cancelled,
    /// A file of the library is wrong or missing.
    File(FileError),
    /// No device of a lab is meant: the workload names no variant.
    NoDevice,
    /// A lab, or a variant of one, has not what the test needs: which, and what is missing.
    Unable(Unable, String),
    /// A device does not come to rest.
    Livelock(Livelock),
    /// A console showed no prompt for a command.
    NoPrompt(NodeId, String),
    /// Programs did not end in this time.
    Endless(Duration),
    /// No device came to its peer, over TCP.
    NoConnection,
    /// Consoles did not print what was waited for.
    NotPrinted {
        /// Consoles that printed nothing of it.
        nodes: Vec<NodeId>,
        /// Words for the line that was waited for.
        what: &'static str,
        /// Longest time that was waited.
        most: Duration,
        /// Last command that was typed, and where.
        after: String,
        /// Last line that the first of the consoles printed.
        last: String,
    },
}

/// A part of a library that cannot do what a test needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unable {
    /// All labs.
    Library,
    /// A lab, by its name.
    Lab(String),
    /// A device of a lab with its firmware, by the name of the variant.
    Variant(String),
}

impl fmt::Display for Unable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Library => f.write_str("the labs"),
            Self::Lab(name) => write!(f, "the lab {name}"),
            Self::Variant(name) => write!(f, "the variant {name}"),
        }
    }
}

impl fmt::Display for SuiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("stopped"),
            Self::File(wrong) => wrong.fmt(f),
            Self::NoDevice => f.write_str(
                "the plan names no device of the lab: add a `variant` to the [[measure]] (`espbench lab show` lists \
                 a lab's), or use --on loopback, or a device",
            ),
            Self::Unable(who, why) => write!(f, "{who} cannot do it: {why}"),
            Self::Livelock(livelock) => livelock.fmt(f),
            Self::NoPrompt(node, text) => {
                write!(f, "{node} showed no prompt to type `{text}` at")
            }
            Self::Endless(most) => {
                write!(f, "programs did not end in {} s of virtual time", most.as_secs())
            }
            Self::NoConnection => f.write_str(
                "no device came to its peer over TCP: bring them nearer to the router, or take a lab with less loss",
            ),
            Self::NotPrinted { nodes, what, most, after, last } => {
                let seconds = most.as_secs();
                write!(f, "{} did not print {what} in {seconds} s after `{after}`; ", List(nodes))?;
                if last.is_empty() {
                    f.write_str("there was no line at all")
                } else {
                    write!(f, "the last line of {} is \"{last}\"", nodes[0])
                }
            }
        }
    }
}

impl core::error::Error for SuiteError {}

impl From<Livelock> for SuiteError {
    fn from(livelock: Livelock) -> Self {
        Self::Livelock(livelock)
    }
}

impl From<FileError> for SuiteError {
    fn from(wrong: FileError) -> Self {
        Self::File(wrong)
    }
}
