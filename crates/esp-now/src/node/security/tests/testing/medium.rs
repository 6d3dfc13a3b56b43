//! One initiator and its responders on virtual time. A frame takes a millisecond; its copies are
//! lost independently, and the MAC tries unicast frames several times. The answer of a responder is
//! heard at once.

use super::Flash;
use crate::component::DataType;
use crate::node::security::{NodeKeys, Pop, SecurityInitiator, SecurityResponder};
use crate::node::task::{
    Cx, NodeSettings, Received, SendRequest, Shared, Task, TaskStep, TransmitOutcome,
};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use std::string::String;
use std::vec::Vec;

pub(crate) const INITIATOR: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);

/// Returns the address of the responder of that number.
pub(crate) fn address(number: usize) -> Mac {
    Mac([0x24, 0x0A, 0xC4, 1, (number >> 8) as u8, number as u8])
}

/// A node: shared state, board, and a responder.
pub(crate) struct SecurityStation {
    pub(crate) shared: Shared,
    pub(crate) board: Flash,
    pub(crate) responder: SecurityResponder,
    seen: Vec<(DataType, u16)>,
}

impl SecurityStation {
    pub(crate) fn new(mac: Mac, seed: u64) -> Self {
        let mut settings = NodeSettings::default();
        settings.encrypt.enabled = true;
        let mut board = Flash::default();
        board.bare.0 = seed.wrapping_mul(0x1234_5678_9ABC_DEF1);
        let responder = SecurityResponder::new(Pop::new(Pop::DEFAULT));
        Self { shared: Shared::new(mac, settings), board, responder, seen: Vec::new() }
    }

    /// Resets the node; its flash stays.
    pub(crate) fn restart(&mut self) {
        let (mac, settings) = (self.shared.air.mac, self.shared.settings.clone());
        self.shared = Shared::new(mac, settings);
        self.shared.keys = NodeKeys::load(&mut self.board);
        self.responder = SecurityResponder::new(Pop::new(Pop::DEFAULT));
        self.seen.clear();
    }

    pub(crate) fn cx(&mut self, now: Instant) -> Cx<'_> {
        Cx { now, board: &mut self.board, shared: &mut self.shared }
    }

    pub(crate) fn output(&mut self) -> String {
        let mut buf = [0; 4096];
        let len = self.shared.print.take_output(&mut buf);
        String::from_utf8_lossy(&buf[..len]).replace('\r', "")
    }

    /// Hands a payload to the responder and returns its answer.
    pub(crate) fn ask(
        &mut self,
        now: Instant,
        from: Mac,
        data: &[u8],
    ) -> Option<(SendRequest, Vec<u8>)> {
        let Self { shared, board, responder, .. } = self;
        let cx = &mut Cx { now, board, shared };
        let (data_type, rssi, channel) = (DataType::Security, -40, 1);
        responder.receive(cx, &Received { from, data_type, data, rssi, channel, at: now });
        if responder.run(cx) == TaskStep::Idle {
            return None;
        }
        let mut payload = [0; 250];
        let outgoing = responder.compose(cx, &mut payload)?;
        responder.sent(cx, TransmitOutcome::Done { attempts: 1 });
        assert_eq!(responder.run(cx), TaskStep::Idle);
        Some((outgoing, payload[..outgoing.len].to_vec()))
    }

    /// Returns whether the node's engine would accept a frame: it checks membership, and
    /// duplicates.
    fn hears(&mut self, outgoing: &SendRequest, payload: &[u8]) -> bool {
        let id = (outgoing.data_type, outgoing.magic);
        if outgoing.magic != 0 {
            if self.seen.contains(&id) {
                return false;
            }
            self.seen.push(id);
        }
        let air = &mut self.shared.air;
        if outgoing.data_type == DataType::Group {
            let (group, members) = (Mac::at(payload, 1).unwrap(), &payload[8..]);
            assert_eq!(members.len(), 6 * usize::from(payload[7]));
            if members.as_chunks::<6>().0.contains(&air.mac.0) {
                air.groups.retain(|g| *g != group);
                if payload[0] == 1 {
                    air.groups.push(group).unwrap();
                }
            }
            return false;
        }
        let to_me = outgoing.dest == air.mac || outgoing.dest.is_broadcast();
        to_me || outgoing.config.group && air.in_group(outgoing.dest)
    }
}

/// A medium with an initiator.
pub(crate) struct SecurityTestbed {
    pub(crate) now: Instant,
    pub(crate) node: SecurityStation,
    pub(crate) initiator: SecurityInitiator<512>,
    pub(crate) responders: Vec<SecurityStation>,
    /// Number of frames lost in a thousand.
    pub(crate) loss: u64,
    /// Number of tries of the MAC for a unicast frame.
    pub(crate) tries: u8,
    /// All payloads of type SECURITY, sender first.
    pub(crate) heard: Vec<(Mac, Vec<u8>)>,
    /// All frames that the initiator sent.
    pub(crate) sent: Vec<SendRequest>,
    printed: String,
    seed: u64,
}

impl SecurityTestbed {
    pub(crate) fn new(responders: usize, loss: u64, seed: u64) -> Self {
        let responders = (0..responders)
            .map(|i| SecurityStation::new(address(i), seed.wrapping_add(i as u64 + 2)))
            .collect();
        let mut node = SecurityStation::new(INITIATOR, seed);
        assert!(node.shared.keys.store(&mut node.board, &core::array::from_fn(|i| i as u8)));
        Self {
            now: Instant::ZERO,
            node,
            initiator: SecurityInitiator::new(),
            responders,
            loss,
            tries: 4,
            heard: Vec::new(),
            sent: Vec::new(),
            printed: String::new(),
            seed,
        }
    }

    pub(crate) fn find(&mut self) {
        let Self { now, node, initiator, .. } = self;
        assert!(initiator.find(&mut node.cx(*now), 3000));
        self.run();
    }

    pub(crate) fn start(&mut self, list: &[Mac], pop: &[u8]) -> bool {
        let Self { now, node, initiator, .. } = self;
        let list = list.iter().copied();
        let started = initiator.start(&mut node.cx(*now), b"list", list, &Pop::new(pop));
        self.run();
        started
    }

    /// Runs until the initiator has nothing to do.
    pub(crate) fn run(&mut self) {
        for _ in 0..1_000_000 {
            if self.initiator.is_idle() {
                return;
            }
            self.step();
        }
        panic!("it does not end");
    }

    /// Runs the initiator once, and does what it wants.
    pub(crate) fn step(&mut self) {
        self.now = self.now.after_nanos(core::mem::take(&mut self.node.shared.busy_ns));
        match self.initiator.run(&mut self.node.cx(self.now)) {
            TaskStep::Idle => {}
            TaskStep::Until(until) => self.now = self.now.max(until),
            TaskStep::Send => self.transmit(),
        }
        self.printed.push_str(&self.node.output());
    }

    /// Returns the text that the initiator has printed since the last call.
    pub(crate) fn output(&mut self) -> String {
        let last = self.node.output();
        core::mem::take(&mut self.printed) + &last
    }

    fn transmit(&mut self) {
        let mut payload = [0; 250];
        let cx = &mut self.node.cx(self.now);
        let Some(outgoing) = self.initiator.compose(cx, &mut payload) else { return };
        let payload = &payload[..outgoing.len];
        self.sent.push(outgoing);
        if outgoing.data_type == DataType::Security {
            self.heard.push((INITIATOR, payload.to_vec()));
        }
        self.now = self.now + Duration::from_millis(1);
        let broadcast = outgoing.config.broadcast;
        let tries = if broadcast { outgoing.config.copies } else { self.tries };
        let mut delivered = broadcast;
        for i in 0..self.responders.len() {
            if !broadcast && self.responders[i].shared.air.mac != outgoing.dest || self.lost(tries)
            {
                continue;
            }
            delivered = true;
            if self.responders[i].hears(&outgoing, payload) {
                let answer = self.responders[i].ask(self.now, INITIATOR, payload);
                self.answered(self.responders[i].shared.air.mac, answer);
            }
        }
        let outcome =
            if delivered { TransmitOutcome::Done { attempts: 1 } } else { TransmitOutcome::Failed };
        self.initiator.sent(&mut self.node.cx(self.now), outcome);
    }

    fn answered(&mut self, from: Mac, answer: Option<(SendRequest, Vec<u8>)>) {
        let Some((outgoing, data)) = answer else { return };
        self.heard.push((from, data.clone()));
        let listens = self.node.shared.air.listens(outgoing.data_type);
        if !self.lost(self.tries) && listens {
            self.tell(from, outgoing.data_type, &data);
        }
    }

    /// Gives a payload to the initiator.
    pub(crate) fn tell(&mut self, from: Mac, data_type: DataType, data: &[u8]) {
        let at = self.now;
        let frame = Received { from, data_type, data, rssi: -40, channel: 1, at };
        self.initiator.receive(&mut self.node.cx(at), &frame);
    }

    fn lost(&mut self, tries: u8) -> bool {
        (0..tries).all(|_| {
            self.seed ^= self.seed << 13;
            self.seed ^= self.seed >> 7;
            self.seed ^= self.seed << 17;
            self.seed % 1000 < self.loss
        })
    }

    /// Counts the responders whose key is the initiator's.
    pub(crate) fn keyed(&self) -> usize {
        let key =
            |station: &SecurityStation| station.shared.keys.encrypt.as_ref().map(|k| *k.bytes());
        let ours = key(&self.node);
        self.responders.iter().filter(|r| key(r) == ours).count()
    }
}
