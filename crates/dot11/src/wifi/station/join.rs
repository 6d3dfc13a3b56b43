//! Joining a network (11.1.4, 11.3, 12.4, 12.7.6): a station scans, authenticates, associates and
//! gets its keys, and it notices when it is out again.

use super::radio::{ACTIVE, JOIN, OF_A_LINK};
use super::sleep::AnnouncedState;
use super::{ApInfo, WifiStation, deadline};
use crate::mac::{GROUP, WirelessMedium};
use crate::radio::{Hr, WifiMode};
use crate::wifi::config::WifiSecurity;
use crate::wifi::elements::Elements;
use crate::wifi::frame::{FrameContents, FrameInfo, FrameStore, Subtype, WifiFrame};
use crate::wifi::upper::{DisconnectReason, Joined, UpperLayer};
use core::time::Duration;
use espbench_model::time::Instant;

/// The step of joining that a station has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JoinPhase {
    /// The station does nothing, or is associated.
    Rest,
    /// The station is on the channel with this index in its list.
    Scan(usize),
    /// The station waits for the answer to its authentication.
    Authentication,
    /// The station waits for the answer to its association.
    Association,
    /// The station waits for its keys.
    Keys,
    /// The station is associated, hears no beacons, and probes this many times more.
    Probing(u8),
    /// The station will try again.
    Pause,
}

/// The state of a station's joining.
#[derive(Clone, Copy, Debug)]
pub(super) struct JoinState {
    pub(super) phase: JoinPhase,
    /// The time at which the station began.
    since: Instant,
    /// The times at which the access point was found, and the station authenticated and associated.
    found: Instant,
    authenticated: Instant,
    associated: Instant,
    /// The chosen access point, its signal strength, and the association identifier that it gave.
    target: Option<ApInfo>,
    rssi: i8,
    aid: u16,
    /// The frame that the station sends when it has been computed.
    work: Option<Subtype>,
}

impl JoinState {
    pub(super) const fn new() -> Self {
        Self {
            phase: JoinPhase::Rest,
            since: Instant::ZERO,
            found: Instant::ZERO,
            authenticated: Instant::ZERO,
            associated: Instant::ZERO,
            target: None,
            rssi: i8::MIN,
            aid: 0,
            work: None,
        }
    }
}

impl WifiStation {
    /// Begins to look for the network, unless the station is in it or about to be.
    pub(in crate::wifi) fn join(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        upper: &mut dyn UpperLayer,
    ) {
        let free = matches!(self.joining.phase, JoinPhase::Rest | JoinPhase::Pause);
        if !self.powered || self.link.is_some() || !free {
            return;
        }
        self.joining = JoinState { since: medium.now(), ..JoinState::new() };
        self.want(medium, ACTIVE, true, upper);
        self.scan(medium, frames, 0, upper);
    }

    /// Goes on to a channel of the list.
    fn scan(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        at: usize,
        upper: &mut dyn UpperLayer,
    ) {
        let join = &self.config.join;
        let active = at < join.active.len();
        let channel = join.active.iter().chain(&join.passive).nth(at);
        let found = join.first && self.joining.target.is_some();
        let Some(&channel) = channel.filter(|_| !found) else {
            match self.joining.target {
                Some(terms) => self.authenticate(medium, frames, terms, upper),
                None => self.fail(medium, DisconnectReason::NotFound, upper),
            }
            return;
        };
        let dwell = join.hop + if active { join.dwell } else { join.dwell_passive };
        medium.tune(self.number, channel, join.hop);
        self.joining.phase = JoinPhase::Scan(at);
        self.clock.set(medium, deadline::JOIN, medium.now() + dwell);
        if active {
            let says = FrameContents::Network(self.config.network);
            self.send_mgmt(
                medium,
                frames,
                (GROUP, WifiMode::Hr(Hr::M1)),
                Subtype::ProbeRequest,
                says,
            );
        }
    }

    /// Takes note of an access point that the station hears.
    pub(in crate::wifi) fn found(
        &mut self,
        medium: &mut WirelessMedium,
        (terms, rssi): (ApInfo, i8),
        upper: &mut dyn UpperLayer,
    ) {
        if let (JoinPhase::Probing(_), Some(link)) = (self.joining.phase, self.link)
            && link.ap == terms.ap
        {
            self.joining.phase = JoinPhase::Rest;
            self.clock.stop(deadline::JOIN);
            self.expect_beacons(medium);
            self.want(medium, JOIN, false, upper);
        }
        let fits =
            terms.network == self.config.network && terms.elements.security == self.config.security;
        if !fits || !matches!(self.joining.phase, JoinPhase::Scan(_)) {
            return;
        }
        if self.joining.target.is_none() || rssi > self.joining.rssi {
            (self.joining.target, self.joining.rssi) = (Some(terms), rssi);
        }
    }

    fn authenticate(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        terms: ApInfo,
        upper: &mut dyn UpperLayer,
    ) {
        self.joining.target = Some(terms);
        self.joining.phase = JoinPhase::Authentication;
        self.joining.found = medium.now();
        let sae = terms.elements.security == WifiSecurity::Wpa3;
        let work = self.config.join.work;
        medium.tune(self.number, terms.channel, self.config.join.hop);
        let first = match terms.elements.security {
            WifiSecurity::Wpa3 => work.sae_commit,
            WifiSecurity::Wpa2 if !self.has_key => work.pmk,
            WifiSecurity::Wpa2 | WifiSecurity::Open => Duration::ZERO,
        };
        self.has_key = true;
        self.wait(medium, self.config.join.answer + first);
        let subtype = Subtype::Authentication { sae, sequence: 1 };
        if first > Duration::ZERO {
            self.compute(medium, first, subtype, upper);
        } else {
            self.send_to_target(medium, frames, subtype);
        }
    }

    fn wait(&mut self, medium: &mut WirelessMedium, time: Duration) {
        self.clock.set(medium, deadline::JOIN, medium.now() + time);
    }

    /// Sends a frame when it has been computed.
    fn compute(
        &mut self,
        medium: &mut WirelessMedium,
        work: Duration,
        subtype: Subtype,
        upper: &mut dyn UpperLayer,
    ) {
        self.joining.work = Some(subtype);
        upper.on_computing(medium, self.number, work);
        self.clock.set(medium, deadline::WORK, medium.now() + work);
    }

    /// Sends the frame that has been computed.
    pub(super) fn computed(&mut self, medium: &mut WirelessMedium, frames: &mut FrameStore) {
        if let Some(subtype) = self.joining.work.take() {
            self.send_to_target(medium, frames, subtype);
        }
    }

    fn send_to_target(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        subtype: Subtype,
    ) {
        let Some(terms) = self.joining.target else { return };
        let qos = self.config.capabilities.qos;
        let says = match subtype {
            Subtype::AssociationRequest => FrameContents::Verdict(Some(u16::from(qos))),
            _ => FrameContents::Nothing,
        };
        self.send_mgmt(medium, frames, (terms.ap, terms.basic), subtype, says);
    }

    /// Hands a frame to the MAC, if it has a buffer. Returns whether it had.
    pub(super) fn send_mgmt(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        (to, mode): (u32, WifiMode),
        subtype: Subtype,
        says: FrameContents,
    ) -> bool {
        let elements = Elements {
            security: self.config.security,
            capabilities: self.config.capabilities,
            ssid_octets: self.config.join.ssid_octets,
        };
        let octets = elements.frame(subtype);
        self.hand_over(medium, frames, (to, mode, octets), FrameInfo::bare(subtype), says)
    }

    /// Handles a frame of the access point that the station is joining.
    pub(in crate::wifi) fn answered(
        &mut self,
        medium: &mut WirelessMedium,
        (from, frame): (u32, &WifiFrame),
        upper: &mut dyn UpperLayer,
    ) {
        if frame.info.subtype == Subtype::Deauthentication {
            if self.link.is_some_and(|link| link.ap == from)
                || self.joining.target.is_some_and(|it| it.ap == from)
            {
                self.fail(medium, DisconnectReason::Deauthenticated, upper);
            }
            return;
        }
        let (Some(terms), phase) = (self.joining.target, self.joining.phase) else { return };
        if terms.ap != from {
            return;
        }
        let work = self.config.join.work;
        match (phase, frame.info.subtype, frame.says) {
            (JoinPhase::Authentication, Subtype::Authentication { sae: true, sequence: 1 }, _) => {
                self.wait(medium, self.config.join.answer + work.sae_confirm);
                let confirm = Subtype::Authentication { sae: true, sequence: 2 };
                self.compute(medium, work.sae_confirm, confirm, upper);
            }
            (JoinPhase::Authentication, Subtype::Authentication { .. }, _) => {
                self.joining.phase = JoinPhase::Association;
                self.joining.authenticated = medium.now();
                self.wait(medium, self.config.join.answer + work.management);
                self.compute(medium, work.management, Subtype::AssociationRequest, upper);
            }
            (
                JoinPhase::Association,
                Subtype::AssociationResponse,
                FrameContents::Verdict(Some(aid)),
            ) => {
                self.joining.aid = aid;
                self.joining.associated = medium.now();
                if terms.elements.security.encrypts() {
                    self.joining.phase = JoinPhase::Keys;
                    self.wait(medium, self.config.join.keys);
                } else {
                    self.on_joined(medium, terms, upper);
                }
            }
            (JoinPhase::Association, Subtype::AssociationResponse, _) => {
                self.fail(medium, DisconnectReason::Refused, upper);
            }
            (JoinPhase::Keys, Subtype::Eapol { message, qos }, _) => {
                let answer = Subtype::Eapol { message: message + 1, qos };
                self.compute(medium, work.eapol, answer, upper);
            }
            // The access point has not received the last message.
            (JoinPhase::Rest, Subtype::Eapol { message: 3, qos }, _) => {
                self.compute(medium, work.eapol, Subtype::Eapol { message: 4, qos }, upper);
            }
            _ => {}
        }
    }

    /// Handles the outcome of a frame of joining.
    pub(super) fn join_done(
        &mut self,
        medium: &mut WirelessMedium,
        subtype: Subtype,
        delivered: bool,
        upper: &mut dyn UpperLayer,
    ) {
        if let (Subtype::Eapol { message: 4, .. }, true, JoinPhase::Keys, Some(terms)) =
            (subtype, delivered, self.joining.phase, self.joining.target)
        {
            self.on_joined(medium, terms, upper);
        }
        self.rest_apart(medium, upper);
    }

    fn on_joined(
        &mut self,
        medium: &mut WirelessMedium,
        terms: ApInfo,
        upper: &mut dyn UpperLayer,
    ) {
        let JoinState { aid, since, found, authenticated, associated, .. } = self.joining;
        self.joining.phase = JoinPhase::Rest;
        self.clock.stop(deadline::JOIN);
        self.associate(medium, terms, aid);
        let times = Joined { ap: terms.ap, aid, since, found, authenticated, associated };
        upper.on_joined(medium, self.number, times);
    }

    /// Handles a deadline of joining.
    pub(super) fn join_late(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        upper: &mut dyn UpperLayer,
    ) {
        match self.joining.phase {
            JoinPhase::Scan(at) => self.scan(medium, frames, at + 1, upper),
            JoinPhase::Authentication => self.fail(medium, DisconnectReason::AuthExpired, upper),
            JoinPhase::Association => {
                self.fail(medium, DisconnectReason::AssociationExpired, upper)
            }
            JoinPhase::Keys => self.fail(medium, DisconnectReason::HandshakeExpired, upper),
            JoinPhase::Probing(0) => self.fail(medium, DisconnectReason::BeaconLoss, upper),
            JoinPhase::Probing(left) => self.probe(medium, frames, left, upper),
            JoinPhase::Pause => self.join(medium, frames, upper),
            JoinPhase::Rest => {}
        }
    }

    /// Sends probe requests to the access point, because no beacon has come for long.
    pub(super) fn on_beacon_loss(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        upper: &mut dyn UpperLayer,
    ) {
        if self.link.is_some() && self.joining.phase == JoinPhase::Rest {
            self.probe(medium, frames, self.config.join.probes, upper);
        }
    }

    fn probe(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        left: u8,
        upper: &mut dyn UpperLayer,
    ) {
        let Some(link) = self.link else { return };
        self.want(medium, JOIN, true, upper);
        self.joining.phase = JoinPhase::Probing(left.saturating_sub(1));
        let says = FrameContents::Network(self.config.network);
        self.send_mgmt(medium, frames, (link.ap, link.basic), Subtype::ProbeRequest, says);
        self.wait(medium, self.config.join.probe_interval);
    }

    /// Sets the deadline for the next beacons; call when one has come.
    pub(super) fn expect_beacons(&mut self, medium: &mut WirelessMedium) {
        let at = medium.now() + self.config.join.beacon_loss.max(self.three_beacons());
        self.clock.set(medium, deadline::LOST, at);
    }

    /// Leaves the network, as the station was told to.
    pub(in crate::wifi) fn leave(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        upper: &mut dyn UpperLayer,
    ) {
        if let Some(link) = self.link {
            let to = (link.ap, link.basic);
            self.want(medium, ACTIVE, true, upper);
            self.send_mgmt(medium, frames, to, Subtype::Deauthentication, FrameContents::Nothing);
        }
        self.fail(medium, DisconnectReason::Asked, upper);
    }

    /// Takes note that the station is out, or did not get in.
    fn fail(
        &mut self,
        medium: &mut WirelessMedium,
        why: DisconnectReason,
        upper: &mut dyn UpperLayer,
    ) {
        let idle = self.link.is_none() && self.joining.phase == JoinPhase::Rest;
        self.link = None;
        self.doze = AnnouncedState::Awake;
        self.joining = JoinState::new();
        for what in deadline::OF_A_LINK {
            self.clock.stop(what);
        }
        if idle {
            return;
        }
        self.want(medium, ACTIVE, true, upper);
        self.want(medium, OF_A_LINK, false, upper);
        self.plan_window(medium);
        if why != DisconnectReason::Asked {
            self.joining.phase = JoinPhase::Pause;
            self.wait(medium, self.config.join.again);
        }
        upper.on_left(medium, self.number, why);
        self.rest_apart(medium, upper);
    }

    /// Lets a station that is in no network sleep while it has nothing to do
    /// (`CONFIG_ESP_WIFI_STA_DISCONNECTED_PM_ENABLE`).
    pub(in crate::wifi) fn rest_apart(
        &mut self,
        medium: &mut WirelessMedium,
        upper: &mut dyn UpperLayer,
    ) {
        let rests = matches!(self.joining.phase, JoinPhase::Rest | JoinPhase::Pause);
        let sleeps = self.config.disconnected_sleep && self.link.is_none();
        if sleeps && rests && medium.queued(self.number) == 0 {
            self.want(medium, ACTIVE, false, upper);
        }
    }
}
