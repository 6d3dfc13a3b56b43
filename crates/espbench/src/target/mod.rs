//! Targets: one file per way to reach devices.
//!
//! A target only pumps bytes and time. Behaviour is in `espbench_proto::node`, arithmetic in
//! `espbench_measure`.
//!
//! | module | contents |
//! |---|---|
//! | [`spec`] | targets as they are typed |
//! | [`sim`] | the virtual lab |
//! | [`loopback`] | the built-in responders, in this process |
//! | [`udp_echo`], [`ping`] | round trips over UDP and ICMP |
//! | `round_trips` | one cell of round trips, over whatever carries its probes |
//! | [`tcp_rate`] | short messages over TCP |
//! | [`iperf`] | an iperf 2 client |
//! | [`mqtt`] | messages through a broker |
//! | `serial` | boards on serial ports, whose consoles are typed at |
//! | [`replay`] | a stored run |
//! | [`several`] | several targets as one |
//! | [`calibrate`] | the tool's own costs |

pub mod calibrate;
pub mod iperf;
pub mod loopback;
pub mod mqtt;
pub mod ping;
pub mod replay;
mod round_trips;
#[cfg(feature = "serial")]
pub mod serial;
pub mod several;
pub mod sim;
pub mod spec;
pub mod tcp_rate;
pub mod udp_echo;

use crate::live_mark::LiveMark;
use crate::user_error::UserError;
use espbench_engine::{CellError, SeededCell};
use espbench_measure::cell::Origin;
use espbench_measure::run::{LabFit, Site};
use espbench_model::fact;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;
use espbench_model::workload::Workload;

/// The reason for which a cell could not be measured. The text says who, what, and what to do.
#[derive(Debug)]
pub enum TargetError {
    /// The target cannot do this kind of work at all.
    Unsupported {
        /// The target.
        target: String,
        /// The workload's kind.
        kind: &'static str,
        /// Advice to the user.
        hint: String,
    },
    /// The peer could not be reached, or went away.
    Peer {
        /// Address of the peer.
        peer: String,
        /// Action that failed.
        what: &'static str,
        /// The system's error.
        source: std::io::Error,
        /// Advice to the user.
        hint: String,
    },
    /// The peer answered with something else than the protocol allows.
    Protocol {
        /// Address of the peer.
        peer: String,
        /// Action of the peer.
        what: String,
        /// Advice to the user.
        hint: String,
    },
    /// A local resource failed.
    Local {
        /// Action that failed.
        what: String,
        /// The system's error.
        source: std::io::Error,
        /// Advice to the user.
        hint: String,
    },
    /// A board or a broker cannot do it, or failed: in the words for the user.
    Told(UserError),
    /// A simulation did not come to its end.
    Simulated {
        /// The target.
        target: String,
        /// Reason of the failure.
        why: String,
    },
    /// Ctrl-C.
    Cancelled,
}

/// Names the parts of an error for the user.
impl From<&TargetError> for UserError {
    fn from(error: &TargetError) -> Self {
        match error {
            TargetError::Unsupported { target, kind, hint } => {
                Self::new(format!("{target} cannot run {kind}")).because(hint)
            }
            TargetError::Peer { peer, what, source, hint } => {
                Self::new(format!("{peer}: {what}")).because(source).remedy(hint)
            }
            TargetError::Protocol { peer, what, hint } => {
                Self::new(format!("{peer}: {what}")).remedy(hint)
            }
            TargetError::Local { what, source, hint } => {
                Self::new(what).because(source).remedy(hint)
            }
            TargetError::Told(error) => error.clone(),
            TargetError::Simulated { target, why } => Self::new(target).because(why),
            TargetError::Cancelled => Self::new("stopped"),
        }
    }
}

impl From<TargetError> for UserError {
    fn from(error: TargetError) -> Self {
        Self::from(&error)
    }
}

impl std::fmt::Display for TargetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        UserError::from(self).fmt(f)
    }
}

impl std::error::Error for TargetError {}

impl From<CellError> for TargetError {
    fn from(error: CellError) -> Self {
        match error {
            CellError::Unsupported { target, kind, hint } => {
                Self::Unsupported { target, kind, hint }
            }
            CellError::File { why, .. } => Self::Told(UserError::from(&why)),
            CellError::Failed { target, why } => Self::Simulated { target, why: why.to_string() },
            CellError::Cancelled => Self::Cancelled,
        }
    }
}

impl TargetError {
    /// Tells whether the system does not permit it to this user.
    pub(crate) fn is_permission(&self) -> bool {
        matches!(self, Self::Local { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied)
    }
}

/// Takes what a target finds, as it finds it.
pub trait Sink {
    /// Records a sample. Blocks rather than drops when the store is slow, and counts that.
    fn sample(&mut self, sample: Sample);
    /// Adds to a counter of the cell (`socket-overflow`, `late-sends`).
    fn count(&mut self, name: &str, by: u64);
    /// Notes a finding that is not a number (the peer's version).
    fn fact(&mut self, name: &str, value: String);
    /// Keeps bytes that the console of a device printed.
    fn console(&mut self, port: &str, at: Instant, bytes: &[u8]) {
        let _ = (port, at, bytes);
    }
    /// Tells whether the user wants to stop; a target looks at it at least ten times a second.
    fn cancelled(&self) -> bool;
}

/// Returns the work as real targets carry it out: without the variant, which becomes a fact of the
/// cell. The user says what boards run.
pub(crate) fn noted(workload: &Workload, sink: &mut dyn Sink) -> Workload {
    if let Some(name) = workload.variant() {
        sink.fact(fact::VARIANT, name.as_str().into());
    }
    workload.plain()
}

/// A way to reach devices.
pub trait Target {
    /// Returns the device and the place, as far as the target itself knows them.
    fn site(&self) -> Site;
    /// Returns the origin of the results: measured, live, or simulated.
    fn origin(&self) -> Origin {
        if self.live_lab().is_some() { Origin::Live } else { Origin::Measured }
    }
    /// Returns the lab that runs in real time whose simulated devices are reached.
    fn live_lab(&self) -> Option<LiveMark> {
        None
    }
    /// Returns the runs that the lab was fitted to, where the target is one.
    fn fits(&self) -> Vec<LabFit> {
        Vec::new()
    }
    /// Returns whether the target is a lab that is a file of the user's.
    fn is_own_lab(&self) -> bool {
        false
    }
    /// Returns the SHA-256 of the lab's library, where the target is a lab.
    fn library(&self) -> Option<String> {
        None
    }
    /// Returns what the cells set of the labs that they are carried out in, to other values than the
    /// labs' files: a line for people about each lab.
    fn notices(&self, cells: &[Workload]) -> Vec<String> {
        let _ = cells;
        Vec::new()
    }
    /// Returns the work of a cell with the number and distance of devices that a lab has, where its plan leaves them
    /// open: the place that the result is of.
    fn placed(&self, cell: &SeededCell) -> Workload {
        cell.step.workload
    }
    /// Tells which cells it will be asked to [`run`](Self::run), in order. A target that has its own
    /// time may begin before it is asked.
    fn prepare(&mut self, cells: &[SeededCell]) {
        let _ = cells;
    }
    /// Checks that the target can do this work, before anything is measured.
    ///
    /// # Errors
    /// [`TargetError::Unsupported`].
    fn check(&self, workload: &Workload) -> Result<(), TargetError>;
    /// Does the work of one cell.
    ///
    /// # Errors
    /// Whatever stopped it; samples already given to `sink` stay.
    fn run(&mut self, workload: &Workload, sink: &mut dyn Sink) -> Result<(), TargetError>;
}
