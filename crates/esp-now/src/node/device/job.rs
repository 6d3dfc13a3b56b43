//! Work on many devices: sending an image, or handing out the key. Only one job runs at a time, so
//! that both use the same memory; on the device nothing forbids both at once.

use crate::node::schedule::NodePart;
use crate::node::task::{Cx, Received, Task};
use crate::node::{ota, security};

/// Job that was begun last; its result stays until the next.
#[derive(Debug)]
// Only one job exists at a time, and there is no heap to put it on.
#[allow(clippy::large_enum_variant)]
pub enum DeviceJob<const DEVICES: usize, const SESSIONS: usize> {
    /// Sending of an image (`ota`).
    Ota(ota::OtaInitiator<DEVICES>),
    /// Distribution of the key (`security`).
    Security(security::SecurityInitiator<DEVICES, SESSIONS>),
}

impl<const DEVICES: usize, const SESSIONS: usize> Default for DeviceJob<DEVICES, SESSIONS> {
    fn default() -> Self {
        Self::new(ota::initiator::OtaSendConfig::default())
    }
}

impl<const DEVICES: usize, const SESSIONS: usize> DeviceJob<DEVICES, SESSIONS> {
    /// Creates a job without anything to do.
    #[must_use]
    pub fn new(options: ota::initiator::OtaSendConfig) -> Self {
        Self::Ota(ota::OtaInitiator::new(options))
    }

    /// Returns the sender of images; `None` while the key is handed out.
    pub fn ota(
        &mut self,
        options: ota::initiator::OtaSendConfig,
    ) -> Option<&mut ota::OtaInitiator<DEVICES>> {
        if matches!(self, Self::Security(it) if it.is_idle()) {
            *self = Self::new(options);
        }
        match self {
            Self::Ota(it) => Some(it),
            Self::Security(_) => None,
        }
    }

    /// Returns the distributor of the key; `None` while an image is sent.
    pub fn security(&mut self) -> Option<&mut security::SecurityInitiator<DEVICES, SESSIONS>> {
        if matches!(self, Self::Ota(it) if it.is_idle()) {
            *self = Self::Security(security::SecurityInitiator::new());
        }
        match self {
            Self::Ota(_) => None,
            Self::Security(it) => Some(it),
        }
    }

    /// Returns whether frames of type SECURITY are for the job rather than for a responder.
    #[must_use]
    pub fn takes_security(&self) -> bool {
        matches!(self, Self::Security(it) if it.is_exchanging())
    }

    /// Returns whether a console that began it as this part still waits for it. The console does
    /// not wait for `-s` of either command, which has a task of its own.
    #[must_use]
    pub fn holds_console(&self, part: NodePart) -> bool {
        match (self, part) {
            (Self::Ota(it), NodePart::OtaInitiator) => it.holds_console(),
            (Self::Security(it), NodePart::SecurityInitiator) => {
                !it.is_idle() && !it.is_exchanging()
            }
            _ => false,
        }
    }

    /// Returns the part that the job is.
    #[must_use]
    pub const fn part(&self) -> NodePart {
        match self {
            Self::Ota(_) => NodePart::OtaInitiator,
            Self::Security(_) => NodePart::SecurityInitiator,
        }
    }

    /// Returns the job as a task, if it is that part.
    pub(super) fn task(&mut self, part: NodePart) -> Option<&mut dyn Task> {
        match (self, part) {
            (Self::Ota(it), NodePart::OtaInitiator) => Some(it),
            (Self::Security(it), NodePart::SecurityInitiator) => Some(it),
            _ => None,
        }
    }

    /// Hands a frame for an initiator to the job.
    pub(super) fn receive(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>) {
        use crate::component::DataType;
        match (self, frame.data_type) {
            (Self::Ota(it), DataType::OtaStatus) => it.receive(cx, frame),
            (Self::Security(it), DataType::SecurityStatus | DataType::Security) => {
                it.receive(cx, frame);
            }
            _ => {}
        }
    }
}
