//! Groups of reasons, by what else a log tells: a network is not found where its security is too old, and does not answer right
//! after it was lost.

use super::{AUTH_LEAVE, edge};
use crate::log::{BSS_TRANSITION, LogEvent, LogSummary};
use crate::reason::{self, ReasonGroup};

/// Groups of reasons, by what else a log tells.
pub(super) struct Groups<'a> {
    log: &'a LogSummary,
    pub(super) joined: bool,
    /// Line of the first link whose access point was gone, and how.
    lost: Option<(u64, ReasonGroup)>,
    /// Whether the network that is to be joined has an old security.
    is_old: bool,
    /// Whether a scan shows the network that is to be joined.
    is_heard: bool,
    /// Whether each association was heard at the edge.
    at_edge: bool,
}

impl<'a> Groups<'a> {
    /// Reads what a log tells of them.
    pub(super) fn of(log: &'a LogSummary) -> Self {
        let joined = log.count(|it| matches!(it, LogEvent::GotIp | LogEvent::Associated)) > 0;
        let gone = [
            (200, ReasonGroup::Beacons),
            (AUTH_LEAVE, ReasonGroup::Restarted),
            (BSS_TRANSITION, ReasonGroup::Steered),
        ];
        let first = |code: u8| {
            log.places(|it| *it == LogEvent::Disconnected(code)).first().map(|it| it.line)
        };
        let lost = gone.iter().filter_map(|it| Some((first(it.0)?, it.1))).min();
        let is_old = log.count(|it| *it == LogEvent::OldSecurity) > 0;
        let is_heard = log.count(|it| *it == LogEvent::NetworkHeard) > 0;
        Self { log, joined, lost, is_old, is_heard, at_edge: edge(log).is_some() }
    }

    /// Returns whether a reason came.
    fn has(&self, code: u8) -> bool {
        self.log.count(|it| *it == LogEvent::Disconnected(code)) > 0
    }

    /// Returns how the access point was gone before a reason first came.
    fn loss_before(&self, code: u8) -> Option<ReasonGroup> {
        let first = self.log.places(|it| *it == LogEvent::Disconnected(code));
        let (lost, group) = self.lost?;
        first.first().filter(|it| lost < it.line).map(|_| group)
    }

    /// Returns what the attempts to join fail at, where a reason says so.
    fn fails(&self) -> Option<ReasonGroup> {
        let code = [15, 202, 204, 2, 4].into_iter().find(|it| self.has(*it))?;
        Some(self.group_inside(code))
    }

    /// Returns whether an access point answered before it was first not found.
    pub(super) fn answered(&self) -> bool {
        let absent = self.log.places(|it| *it == LogEvent::Disconnected(201));
        let other =
            self.log.places(|it| matches!(it, LogEvent::Disconnected(2..=5 | 15 | 202..=204)));
        other.first().zip(absent.first()).is_some_and(|(it, absent)| it.line < absent.line)
    }

    /// Returns the group of a reason of a device that is well within reach.
    fn group_inside(&self, code: u8) -> ReasonGroup {
        match reason::by_code(code).map_or(ReasonGroup::Other, |it| it.group) {
            // Before there is an association none can be dropped for inactivity: the access point did not answer.
            ReasonGroup::Inactive if !self.joined => ReasonGroup::Handshake,
            // Nor can it be forgotten, where other attempts say what fails.
            ReasonGroup::Forgotten if !self.joined => {
                self.fails().unwrap_or(ReasonGroup::Forgotten)
            }
            // Beside the access point's word for it, the device's own time-out is of the same handshake.
            ReasonGroup::Handshake if code == 204 && self.has(15) => ReasonGroup::Password,
            // The driver passes over a network whose security is older than it accepts.
            ReasonGroup::Absent if self.is_old => ReasonGroup::Security,
            // What a scan shows is there: its access point does not answer, for another reason.
            ReasonGroup::Absent if self.is_heard => ReasonGroup::Other,
            // A network whose beacons were lost is not found right after, either, nor does it answer.
            group @ (ReasonGroup::Absent
            | ReasonGroup::Handshake
            | ReasonGroup::Signal
            | ReasonGroup::Other) => self.loss_before(code).unwrap_or(group),
            group => group,
        }
    }

    /// Returns the group that a reason counts with.
    pub(super) fn group(&self, code: u8) -> ReasonGroup {
        match self.group_inside(code) {
            // Frames of all kinds are lost at the edge, and the reason is that of the one that was missed.
            ReasonGroup::Beacons
            | ReasonGroup::Handshake
            | ReasonGroup::Inactive
            | ReasonGroup::Forgotten
                if self.at_edge =>
            {
                ReasonGroup::Signal
            }
            group => group,
        }
    }
}
