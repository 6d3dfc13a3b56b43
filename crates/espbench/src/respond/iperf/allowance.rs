//! A bound on what the server sends to an address that proves nothing, so that a datagram with a forged sender turns
//! the server on nobody.
//!
//! Such an address gets three bytes for each byte that came from it (RFC 9000, section 8.1). An iperf 2 client of `-R`
//! sends nothing after its first datagram; but its socket is connected to the server's port, so that its host answers a
//! datagram from *another* port, the question, with ICMP's "port unreachable", and none from the server's own. A host that
//! never asked answers both so, or neither.
//!
//! Two things could make it seem otherwise. ICMP can be forged: a question is random, and its answer quotes it. And hosts
//! answer few such errors a second, or a datagram is lost: right before each question one of the server's own goes, whose
//! error would come first, and an answer gives credit for eight times as much as went until then without an error.

use super::IDLE;
use crate::clock::Clock;
use crate::pump::udp::{SendGate, is_gone};
use crate::sys::udp::{TELLS_ERRORS, keep_errors, next_error};
use espbench_model::time::{Duration, Instant};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes that may go for each byte that came.
pub(super) const FACTOR: u64 = 3;
/// Time for which an answer proves an address; then it is asked again. A link that the test itself fills loses many
/// questions.
const PROVEN: Duration = Duration::from_secs(10);
/// Time between two questions to an address that is proven, and to one that has used its credit up. Hosts answer one a
/// second, and six at once.
const ASK: (Duration, Duration) = (Duration::from_secs(1), Duration::from_millis(200));
/// Times of the first questions, after the first datagram.
const FIRST: [Duration; 2] = [Duration::ZERO, Duration::from_millis(200)];
/// Longest wait for the first answer.
const FIRST_MOST: Duration = Duration::from_secs(1);
/// Wait after the first answer for an error about the first datagram, at least and at most: its way is as long.
const GUARD: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));
/// Factor by which an answer lets go more than what went before it.
const GROWTH: u64 = 8;
/// Datagrams of a credit that are kept for further questions.
const KEPT: u64 = 3;
/// Octets of a question.
const QUESTION: usize = 16;

/// Facts that the receiving thread tells the sending one about a client.
#[derive(Debug, Default)]
pub(super) struct ClientFacts {
    came: AtomicU64,
    is_gone: AtomicBool,
}

impl ClientFacts {
    /// Notes that so many bytes came from it.
    pub(super) fn came(&self, bytes: usize) {
        self.came.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Notes that nothing listens there.
    pub(super) fn gone(&self) {
        self.is_gone.store(true, Ordering::Relaxed);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.came.load(Ordering::Relaxed)
    }

    pub(super) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }
}

/// The account of one client.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    /// Bytes of a datagram.
    length: u64,
    sent: u64,
    /// Bytes that may go in all, by the last answer.
    credit: u64,
    /// Datagrams of the credit that are still kept.
    kept: u64,
    proven_until: Option<Instant>,
    shut_since: Option<Instant>,
}

impl Allowance {
    const fn new(length: u64) -> Self {
        Self { length, sent: 0, credit: 0, kept: 0, proven_until: None, shut_since: None }
    }

    /// Takes an answer in: so much went without an error.
    fn prove(&mut self, now: Instant) {
        self.proven_until = Some(now + PROVEN);
        let more = GROWTH.saturating_mul(self.sent.max(self.length));
        self.credit = self.credit.max(more.saturating_add(KEPT * self.length));
        self.kept = KEPT;
    }

    fn is_proven(&self, now: Instant) -> bool {
        self.proven_until.is_some_and(|until| now < until)
    }

    /// Returns whether half of the credit is used.
    const fn is_half_used(&self) -> bool {
        self.sent >= self.credit / 2
    }

    /// Returns the bytes that may go now, where `came` have come.
    fn left(&self, now: Instant, came: u64) -> u64 {
        let by_proof = if self.is_proven(now) { self.credit } else { 0 };
        let by_proof = by_proof.saturating_sub(self.kept * self.length);
        by_proof.max(came.saturating_mul(FACTOR)).saturating_sub(self.sent)
    }

    /// Returns the same; `None` once not even a datagram could go for [`IDLE`].
    fn most(&mut self, now: Instant, came: u64) -> Option<u64> {
        let left = self.left(now, came);
        if left >= self.length {
            self.shut_since = None;
            return Some(left);
        }
        let since = *self.shut_since.get_or_insert(now);
        (now.since(since) < IDLE).then_some(0)
    }
}

/// Questions to the host of a client, from a port that the client did not ask.
#[derive(Debug)]
struct AddressProbe {
    socket: UdpSocket,
    keys: RandomState,
    asked: u64,
    question: [u8; QUESTION],
}

impl AddressProbe {
    fn new(client: SocketAddr) -> std::io::Result<Self> {
        let any = if client.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(any)?;
        socket.connect(client)?;
        socket.set_nonblocking(true)?;
        keep_errors(&socket);
        Ok(Self { socket, keys: RandomState::new(), asked: 0, question: [0; QUESTION] })
    }

    /// Sends a question that nobody can guess.
    fn ask(&mut self) {
        self.asked += 1;
        for (half, bytes) in self.question.chunks_mut(8).enumerate() {
            bytes.copy_from_slice(&self.keys.hash_one((self.asked, half)).to_le_bytes());
        }
        // An error that waits is told in place of the send.
        if self.socket.send(&self.question).is_err_and(|error| is_gone(&error)) {
            let _ = self.socket.send(&self.question);
        }
    }

    /// Returns whether an error has come that quotes the last question.
    fn is_answered(&self) -> bool {
        let mut quoted = [0; QUESTION];
        while let Some(error) = next_error(&self.socket, &mut quoted) {
            if error.unreachable.is_some() && error.quoted >= QUESTION && quoted == self.question {
                return true;
            }
        }
        false
    }
}

/// The reason for which sending was ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shut {
    /// ICMP says that nothing listens there.
    Gone,
    /// Nothing proves that it asked, or it proves nothing any more.
    Unproven,
}

/// The gate of one client.
#[derive(Debug)]
pub(super) struct ClientGate<'a> {
    facts: &'a ClientFacts,
    allowance: Allowance,
    /// Absent where addresses are trusted, and for connections back, whose port is not the one that asked.
    probe: Option<AddressProbe>,
    trusts: bool,
    /// Whether a datagram went since the last question: no other is asked behind.
    is_fresh: bool,
    /// Whether a question was asked since the last answer.
    is_asked: bool,
    ask_at: Instant,
    look_at: Instant,
    shut: Option<Shut>,
}

impl<'a> ClientGate<'a> {
    /// Makes a gate for datagrams of that length. An address is `asked` where it sent from the socket that is sent to.
    pub(super) fn new(
        facts: &'a ClientFacts,
        length: u32,
        asked: Option<SocketAddr>,
        trusts: bool,
    ) -> Self {
        let asks = TELLS_ERRORS && !trusts;
        let probe = asked.filter(|_| asks).and_then(|client| AddressProbe::new(client).ok());
        Self {
            facts,
            allowance: Allowance::new(length.into()),
            probe,
            trusts,
            is_fresh: false,
            is_asked: false,
            ask_at: Instant::ZERO,
            look_at: Instant::ZERO,
            shut: None,
        }
    }

    /// Returns whether the address can prove that it asked.
    pub(super) const fn can_ask(&self) -> bool {
        self.probe.is_some()
    }

    /// Returns whether the address is proven.
    pub(super) fn is_proven(&self, now: Instant) -> bool {
        self.trusts || self.allowance.is_proven(now)
    }

    /// Sends the first datagram, once more where it must be, and waits for the first proof. `send` sends as many of its
    /// octets as it is given, and returns how many went.
    ///
    /// # Errors
    /// That of `send`.
    pub(super) fn prove(
        &mut self,
        clock: &Clock,
        stop: &AtomicBool,
        send: &mut dyn FnMut(u64) -> std::io::Result<u64>,
    ) -> std::io::Result<()> {
        let Some(probe) = &mut self.probe else { return Ok(()) };
        let (begun, mut asked) = (clock.now(), 0);
        let mut answered: Option<Instant> = None;
        loop {
            let now = clock.now();
            let waited = now.since(begun);
            if self.facts.is_gone() || stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            if let Some(at) = answered {
                // The first datagram's error takes as long as the answer did.
                let guard = at.since(begun).clamp(GUARD.0, GUARD.1);
                if now.since(at) >= guard {
                    self.allowance.prove(now);
                    self.ask_at = now + ASK.0;
                    return Ok(());
                }
            } else if waited >= FIRST_MOST {
                return Ok(());
            } else if FIRST.get(asked).is_some_and(|at| waited >= *at) {
                asked += 1;
                // No longer than what came: a host that did not ask refuses it.
                self.allowance.sent += send(self.facts.bytes())? + QUESTION as u64;
                probe.ask();
            }
            answered = answered.or_else(|| probe.is_answered().then_some(now));
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// Returns why sending was ended, where it was.
    pub(super) const fn shut(&self) -> Option<Shut> {
        self.shut
    }

    /// Takes answers in, and asks again: behind a datagram whose error would come first.
    fn look(&mut self, now: Instant) {
        let Some(probe) = &mut self.probe else { return };
        // One that never proved anything is not asked on and on.
        if now < self.look_at || self.allowance.proven_until.is_none() {
            return;
        }
        self.look_at = now + Duration::from_millis(1);
        if probe.is_answered() {
            self.allowance.prove(now);
            (self.is_asked, self.ask_at) = (false, now + ASK.0);
        }
        let is_due = now >= self.ask_at || (!self.is_asked && self.allowance.is_half_used());
        let is_shut = self.allowance.left(now, self.facts.bytes()) < self.allowance.length;
        if is_due && self.is_fresh {
            probe.ask();
            (self.is_fresh, self.is_asked) = (false, true);
            let is_proven = self.allowance.is_proven(now);
            self.ask_at = now + if is_shut || !is_proven { ASK.1 } else { ASK.0 };
        } else if is_shut && self.is_asked {
            self.ask_at = self.ask_at.min(now + ASK.1);
            if is_due {
                self.allowance.kept = self.allowance.kept.saturating_sub(1);
            }
        }
    }
}

impl SendGate for ClientGate<'_> {
    fn most(&mut self, now: Instant) -> Option<u64> {
        if self.facts.is_gone() {
            self.shut = Some(Shut::Gone);
            return None;
        }
        if self.trusts {
            return Some(u64::MAX);
        }
        self.look(now);
        let most = self.allowance.most(now, self.facts.bytes());
        if most.is_none() {
            self.shut = Some(Shut::Unproven);
        }
        most
    }

    fn went(&mut self, bytes: u64) {
        self.allowance.sent += bytes;
        self.is_fresh = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000_000)
    }

    #[test]
    fn an_address_gets_three_bytes_for_each_of_its_own_until_it_proves_that_it_asked() {
        let mut allowance = Allowance::new(1470);
        assert_eq!(allowance.most(s(0), 1470), Some(4410));
        allowance.sent = 4410;
        assert_eq!(allowance.most(s(0), 1470), Some(0), "three times as much went");
        assert_eq!(allowance.most(s(1), 2 * 1470), Some(4410), "more came");
        allowance.prove(s(1));
        assert_eq!(allowance.most(s(2), 1470), Some(7 * 4410), "eight times as much as went");
        allowance.sent = 8 * 4410;
        assert_eq!(allowance.most(s(2), 1470), Some(0), "the rest is kept for questions");
        allowance.kept -= 1;
        assert_eq!(allowance.most(s(2), 1470), Some(1470));
        allowance.prove(s(3));
        assert_eq!(allowance.most(s(3), 1470), Some(7 * 8 * 4410));
        assert_eq!(allowance.most(s(13), 1470), Some(0), "ten seconds without an answer");
        allowance.prove(s(14));
        assert_eq!(allowance.most(s(14), 1470), Some(7 * 8 * 4410), "it is there again");
    }

    /// A client at 1 Gbit/s needs six answers for its first ten seconds, as many as a host gives at once.
    #[test]
    fn six_answers_are_enough_for_ten_seconds_at_a_gigabit() {
        let mut allowance = Allowance::new(1470);
        for answer in 0..6 {
            allowance.prove(s(answer));
            allowance.sent = allowance.credit - KEPT * allowance.length;
        }
        assert!(allowance.sent / 1470 >= 262_144);
    }

    #[test]
    fn silence_ends_it() {
        let mut allowance = Allowance::new(1470);
        allowance.sent = 1470;
        assert_eq!(allowance.most(s(5), 100), Some(0));
        assert_eq!(allowance.most(s(14), 100), Some(0));
        assert_eq!(allowance.most(s(15), 100), None);
        // A forged datagram of 100 bytes is worth no datagram of 1470.
        assert_eq!(Allowance::new(1470).most(s(0), 100), Some(0));
    }

    /// An error that quotes another datagram is no answer: whoever forges ICMP does not know the question.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_answer_quotes_the_question() {
        let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut probe = AddressProbe::new(closed).unwrap();
        let waits = |probe: &AddressProbe| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            probe.is_answered()
        };
        probe.ask();
        let first = probe.question;
        assert!(waits(&probe));
        probe.socket.send(&[0; QUESTION]).unwrap();
        assert!(!waits(&probe), "zeros were not asked");
        probe.ask();
        assert_ne!(probe.question, first);
        assert!(waits(&probe));
    }

    #[cfg(target_os = "linux")]
    /// Asks a client, whose socket is connected, and another program's socket, which takes all; then a client whose host
    /// has refused the server's own datagram, as a closed port does.
    #[test]
    fn a_connected_socket_proves_that_it_asked_and_no_other_does() {
        let clock = Clock::start();
        let stop = AtomicBool::new(false);
        let server = UdpSocket::bind("127.0.0.1:0").unwrap();
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        client.connect(server.local_addr().unwrap()).unwrap();
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        let facts = ClientFacts::default();
        let proves = |address: SocketAddr, facts: &ClientFacts| {
            let mut gate = ClientGate::new(facts, 1470, Some(address), false);
            gate.prove(&clock, &stop, &mut |most| Ok(most.min(100))).unwrap();
            gate.is_proven(clock.now())
        };
        assert!(proves(client.local_addr().unwrap(), &facts));
        assert!(!proves(other.local_addr().unwrap(), &facts));
        let closed = ClientFacts::default();
        closed.gone();
        assert!(
            !proves(client.local_addr().unwrap(), &closed),
            "the server's own datagram was refused"
        );
    }
}
