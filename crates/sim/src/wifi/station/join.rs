//! How a station gets into a network (11.1.4, 11.3, 12.4, 12.7.6): it looks for an access point,
//! authenticates, associates, gets keys; and how it finds out that it is out again.

use super::radio::{ACTIVE, JOIN, OF_A_LINK};
use super::sleep::Doze;
use super::{Station, Terms, deadline};
use crate::mac::{GROUP, Room};
use crate::radio::{Hr, Mode};
use crate::wifi::above::{Above, Joined, Left};
use crate::wifi::config::Security;
use crate::wifi::elements::Elements;
use crate::wifi::frame::{Frame, FrameInfo, Frames, Says, Subtype};
use core::time::Duration;
use espbench_proto::time::Instant;

/// How far a station has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It does nothing, or is associated.
    Rest,
    /// It is on that channel of its list.
    Scan(usize),
    /// It waits for the answer to its authentication.
    Authentication,
    /// It waits for the answer to its association.
    Association,
    /// It waits for its keys.
    Keys,
    /// It is associated, hears no beacons, and asks so many times more.
    Probing(u8),
    /// It will try again.
    Pause,
}

/// Where it is in joining.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joining {
    pub(super) phase: Phase,
    /// When it began.
    since: Instant,
    /// When it had found its access point, was authenticated, was associated.
    found: Instant,
    authenticated: Instant,
    associated: Instant,
    /// Whom it wants to join, how loud that is, and as whom it is taken.
    target: Option<Terms>,
    rssi: i8,
    aid: u16,
    /// What it sends when it has computed it.
    work: Option<Subtype>,
}

impl Joining {
    pub(super) const fn new() -> Self {
        Self {
            phase: Phase::Rest,
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

impl Station {
    /// It begins to look for its network, unless it is in it or about to be.
    pub(in crate::wifi) fn join(
        &mut self,
        room: &mut Room,
        frames: &mut Frames,
        above: &mut dyn Above,
    ) {
        let free = matches!(self.joining.phase, Phase::Rest | Phase::Pause);
        if !self.powered || self.link.is_some() || !free {
            return;
        }
        self.joining = Joining { since: room.now(), ..Joining::new() };
        self.want(room, ACTIVE, true, above);
        self.scan(room, frames, 0, above);
    }

    /// It goes on to a channel of its list.
    fn scan(&mut self, room: &mut Room, frames: &mut Frames, at: usize, above: &mut dyn Above) {
        let join = &self.config.join;
        let active = at < join.active.len();
        let channel = join.active.iter().chain(&join.passive).nth(at);
        let found = join.first && self.joining.target.is_some();
        let Some(&channel) = channel.filter(|_| !found) else {
            match self.joining.target {
                Some(terms) => self.authenticate(room, frames, terms, above),
                None => self.fail(room, Left::NotFound, above),
            }
            return;
        };
        let dwell = join.hop + if active { join.dwell } else { join.dwell_passive };
        room.tune(self.number, channel, join.hop);
        self.joining.phase = Phase::Scan(at);
        self.clock.set(room, deadline::JOIN, room.now() + dwell);
        if active {
            let says = Says::Network(self.config.network);
            self.post(room, frames, (GROUP, Mode::Hr(Hr::M1)), Subtype::ProbeRequest, says);
        }
    }

    /// It hears an access point.
    pub(in crate::wifi) fn found(
        &mut self,
        room: &mut Room,
        (terms, rssi): (Terms, i8),
        above: &mut dyn Above,
    ) {
        if let (Phase::Probing(_), Some(link)) = (self.joining.phase, self.link)
            && link.ap == terms.ap
        {
            self.joining.phase = Phase::Rest;
            self.clock.stop(deadline::JOIN);
            self.expect_beacons(room);
            self.want(room, JOIN, false, above);
        }
        let fits =
            terms.network == self.config.network && terms.elements.security == self.config.security;
        if !fits || !matches!(self.joining.phase, Phase::Scan(_)) {
            return;
        }
        if self.joining.target.is_none() || rssi > self.joining.rssi {
            (self.joining.target, self.joining.rssi) = (Some(terms), rssi);
        }
    }

    fn authenticate(
        &mut self,
        room: &mut Room,
        frames: &mut Frames,
        terms: Terms,
        above: &mut dyn Above,
    ) {
        self.joining.target = Some(terms);
        self.joining.phase = Phase::Authentication;
        self.joining.found = room.now();
        let sae = terms.elements.security == Security::Wpa3;
        let work = self.config.join.work;
        room.tune(self.number, terms.channel, self.config.join.hop);
        let first = match terms.elements.security {
            Security::Wpa3 => work.sae_commit,
            Security::Wpa2 if !self.has_key => work.pmk,
            Security::Wpa2 | Security::Open => Duration::ZERO,
        };
        self.has_key = true;
        self.wait(room, self.config.join.answer + first);
        let subtype = Subtype::Authentication { sae, sequence: 1 };
        if first > Duration::ZERO {
            self.compute(room, first, subtype, above);
        } else {
            self.tell_target(room, frames, subtype);
        }
    }

    fn wait(&mut self, room: &mut Room, time: Duration) {
        self.clock.set(room, deadline::JOIN, room.now() + time);
    }

    /// Sends something when it is computed.
    fn compute(
        &mut self,
        room: &mut Room,
        work: Duration,
        subtype: Subtype,
        above: &mut dyn Above,
    ) {
        self.joining.work = Some(subtype);
        above.computes(room, self.number, work);
        self.clock.set(room, deadline::WORK, room.now() + work);
    }

    /// It has computed what it sends.
    pub(super) fn computed(&mut self, room: &mut Room, frames: &mut Frames) {
        if let Some(subtype) = self.joining.work.take() {
            self.tell_target(room, frames, subtype);
        }
    }

    fn tell_target(&mut self, room: &mut Room, frames: &mut Frames, subtype: Subtype) {
        let Some(terms) = self.joining.target else { return };
        let qos = self.config.capabilities.qos;
        let says = match subtype {
            Subtype::AssociationRequest => Says::Verdict(Some(u16::from(qos))),
            _ => Says::Nothing,
        };
        self.post(room, frames, (terms.ap, terms.basic), subtype, says);
    }

    /// Hands a frame to the MAC, if it has a buffer.
    pub(super) fn post(
        &mut self,
        room: &mut Room,
        frames: &mut Frames,
        (to, mode): (u32, Mode),
        subtype: Subtype,
        says: Says,
    ) -> bool {
        let elements = Elements {
            security: self.config.security,
            capabilities: self.config.capabilities,
            ssid_octets: self.config.join.ssid_octets,
        };
        let octets = elements.frame(subtype);
        self.hand_over(room, frames, (to, mode, octets), FrameInfo::bare(subtype), says)
    }

    /// A frame of the access point that it wants to join.
    pub(in crate::wifi) fn answered(
        &mut self,
        room: &mut Room,
        (from, frame): (u32, &Frame),
        above: &mut dyn Above,
    ) {
        if frame.info.subtype == Subtype::Deauthentication {
            if self.link.is_some_and(|link| link.ap == from)
                || self.joining.target.is_some_and(|it| it.ap == from)
            {
                self.fail(room, Left::Deauthenticated, above);
            }
            return;
        }
        let (Some(terms), phase) = (self.joining.target, self.joining.phase) else { return };
        if terms.ap != from {
            return;
        }
        let work = self.config.join.work;
        match (phase, frame.info.subtype, frame.says) {
            (Phase::Authentication, Subtype::Authentication { sae: true, sequence: 1 }, _) => {
                self.wait(room, self.config.join.answer + work.sae_confirm);
                let confirm = Subtype::Authentication { sae: true, sequence: 2 };
                self.compute(room, work.sae_confirm, confirm, above);
            }
            (Phase::Authentication, Subtype::Authentication { .. }, _) => {
                self.joining.phase = Phase::Association;
                self.joining.authenticated = room.now();
                self.wait(room, self.config.join.answer + work.management);
                self.compute(room, work.management, Subtype::AssociationRequest, above);
            }
            (Phase::Association, Subtype::AssociationResponse, Says::Verdict(Some(aid))) => {
                self.joining.aid = aid;
                self.joining.associated = room.now();
                if terms.elements.security.encrypts() {
                    self.joining.phase = Phase::Keys;
                    self.wait(room, self.config.join.keys);
                } else {
                    self.is_in(room, terms, above);
                }
            }
            (Phase::Association, Subtype::AssociationResponse, _) => {
                self.fail(room, Left::Refused, above);
            }
            (Phase::Keys, Subtype::Eapol { message, qos }, _) => {
                let answer = Subtype::Eapol { message: message + 1, qos };
                self.compute(room, work.eapol, answer, above);
            }
            // The access point has not got the last message.
            (Phase::Rest, Subtype::Eapol { message: 3, qos }, _) => {
                self.compute(room, work.eapol, Subtype::Eapol { message: 4, qos }, above);
            }
            _ => {}
        }
    }

    /// The MAC is done with a frame of joining.
    pub(super) fn join_done(
        &mut self,
        room: &mut Room,
        subtype: Subtype,
        delivered: bool,
        above: &mut dyn Above,
    ) {
        if let (Subtype::Eapol { message: 4, .. }, true, Phase::Keys, Some(terms)) =
            (subtype, delivered, self.joining.phase, self.joining.target)
        {
            self.is_in(room, terms, above);
        }
        self.rest_apart(room, above);
    }

    fn is_in(&mut self, room: &mut Room, terms: Terms, above: &mut dyn Above) {
        let Joining { aid, since, found, authenticated, associated, .. } = self.joining;
        self.joining.phase = Phase::Rest;
        self.clock.stop(deadline::JOIN);
        self.associate(room, terms, aid);
        let times = Joined { ap: terms.ap, aid, since, found, authenticated, associated };
        above.joined(room, self.number, times);
    }

    /// A deadline of joining has come.
    pub(super) fn join_late(
        &mut self,
        room: &mut Room,
        frames: &mut Frames,
        above: &mut dyn Above,
    ) {
        match self.joining.phase {
            Phase::Scan(at) => self.scan(room, frames, at + 1, above),
            Phase::Authentication => self.fail(room, Left::AuthExpired, above),
            Phase::Association => self.fail(room, Left::AssociationExpired, above),
            Phase::Keys => self.fail(room, Left::HandshakeExpired, above),
            Phase::Probing(0) => self.fail(room, Left::BeaconLoss, above),
            Phase::Probing(left) => self.probe(room, frames, left, above),
            Phase::Pause => self.join(room, frames, above),
            Phase::Rest => {}
        }
    }

    /// There was no beacon for long: is anybody there?
    pub(super) fn lost(&mut self, room: &mut Room, frames: &mut Frames, above: &mut dyn Above) {
        if self.link.is_some() && self.joining.phase == Phase::Rest {
            self.probe(room, frames, self.config.join.probes, above);
        }
    }

    fn probe(&mut self, room: &mut Room, frames: &mut Frames, left: u8, above: &mut dyn Above) {
        let Some(link) = self.link else { return };
        self.want(room, JOIN, true, above);
        self.joining.phase = Phase::Probing(left.saturating_sub(1));
        let says = Says::Network(self.config.network);
        self.post(room, frames, (link.ap, link.basic), Subtype::ProbeRequest, says);
        self.wait(room, self.config.join.probe_interval);
    }

    /// A beacon has come: the next is expected.
    pub(super) fn expect_beacons(&mut self, room: &mut Room) {
        let at = room.now() + self.config.join.beacon_loss.max(self.three_beacons());
        self.clock.set(room, deadline::LOST, at);
    }

    /// It is told to leave.
    pub(in crate::wifi) fn leave(
        &mut self,
        room: &mut Room,
        frames: &mut Frames,
        above: &mut dyn Above,
    ) {
        if let Some(link) = self.link {
            let to = (link.ap, link.basic);
            self.want(room, ACTIVE, true, above);
            self.post(room, frames, to, Subtype::Deauthentication, Says::Nothing);
        }
        self.fail(room, Left::Asked, above);
    }

    /// It is out, or did not get in.
    fn fail(&mut self, room: &mut Room, why: Left, above: &mut dyn Above) {
        let idle = self.link.is_none() && self.joining.phase == Phase::Rest;
        self.link = None;
        self.doze = Doze::Awake;
        self.joining = Joining::new();
        for what in deadline::OF_A_LINK {
            self.clock.stop(what);
        }
        if idle {
            return;
        }
        self.want(room, ACTIVE, true, above);
        self.want(room, OF_A_LINK, false, above);
        self.plan_window(room);
        if why != Left::Asked {
            self.joining.phase = Phase::Pause;
            self.wait(room, self.config.join.again);
        }
        above.left(room, self.number, why);
        self.rest_apart(room, above);
    }

    /// A station that is in no network sleeps while it has nothing to do
    /// (`CONFIG_ESP_WIFI_STA_DISCONNECTED_PM_ENABLE`).
    pub(in crate::wifi) fn rest_apart(&mut self, room: &mut Room, above: &mut dyn Above) {
        let rests = matches!(self.joining.phase, Phase::Rest | Phase::Pause);
        let sleeps = self.config.disconnected_sleep && self.link.is_none();
        if sleeps && rests && room.queued(self.number) == 0 {
            self.want(room, ACTIVE, false, above);
        }
    }
}
