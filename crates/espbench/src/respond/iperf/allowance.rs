//! A bound on what the server sends to an address that proves nothing, so that a datagram with a forged sender turns
//! the server on nobody.
//!
//! Such an address gets three bytes for each byte that came from it (RFC 9000, section 8.1). One that proves that it asked
//! gets all that it asks for. An iperf 2 client of `-R` sends nothing after its first datagram; but its socket is connected to
//! the server's port, so that its host answers a datagram from *another* port with ICMP's "port unreachable", and none
//! from the server's own. A host that never asked answers both so, or neither.

use super::IDLE;
use crate::clock::Clock;
use crate::pump::udp::{SendGate, is_gone};
use crate::sys::udp::TELLS_ERRORS;
use espbench_model::time::{Duration, Instant};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes that may go for each byte that came.
pub(super) const FACTOR: u64 = 3;
/// Time for which an answer proves an address; then it is asked again. A link that the test itself fills loses many
/// questions.
const PROVEN: Duration = Duration::from_secs(10);
/// Time between two questions to an address that is proven, and to one that is not any more.
const ASK: (Duration, Duration) = (Duration::from_secs(1), Duration::from_millis(200));
/// Times of the first questions, after the first datagram.
const FIRST: [Duration; 3] =
    [Duration::ZERO, Duration::from_millis(100), Duration::from_millis(400)];
/// Longest wait for the first answer.
const FIRST_MOST: Duration = Duration::from_secs(1);
/// Wait after the first answer for an error about the first datagram, at least and at most: its way is as long.
const GUARD: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

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
    proven_until: Option<Instant>,
    shut_since: Option<Instant>,
}

impl Allowance {
    const fn new(length: u64) -> Self {
        Self { length, sent: 0, proven_until: None, shut_since: None }
    }

    fn prove(&mut self, now: Instant) {
        self.proven_until = Some(now + PROVEN);
    }

    fn is_proven(&self, now: Instant) -> bool {
        self.proven_until.is_some_and(|until| now < until)
    }

    /// Returns the bytes that may go now, where `came` have come; `None` once not even a datagram could go for
    /// [`IDLE`].
    fn most(&mut self, now: Instant, came: u64) -> Option<u64> {
        if self.is_proven(now) {
            self.shut_since = None;
            return Some(u64::MAX);
        }
        let left = came.saturating_mul(FACTOR).saturating_sub(self.sent);
        if left >= self.length {
            self.shut_since = None;
            return Some(left);
        }
        let since = *self.shut_since.get_or_insert(now);
        (now.since(since) < IDLE).then_some(0)
    }
}

/// A question to the host of a client, from a port that the client did not ask.
#[derive(Debug)]
struct AddressProbe(UdpSocket);

impl AddressProbe {
    fn new(client: SocketAddr) -> std::io::Result<Self> {
        let any = if client.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(any)?;
        socket.connect(client)?;
        socket.set_nonblocking(true)?;
        Ok(Self(socket))
    }

    /// Sends an empty datagram. An answer that waits is reported by it, too.
    fn ask(&self) -> bool {
        self.0.send(&[]).is_err_and(|error| is_gone(&error))
    }

    fn is_answered(&self) -> bool {
        self.0.recv(&mut [0; 16]).is_err_and(|error| is_gone(&error))
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

    /// Waits for the first proof; the first datagram has gone.
    pub(super) fn prove(&mut self, clock: &Clock, stop: &AtomicBool) {
        let Some(probe) = &self.probe else { return };
        let (begun, mut asked) = (clock.now(), 0);
        let mut answered: Option<Instant> = None;
        loop {
            let now = clock.now();
            let waited = now.since(begun);
            if self.facts.is_gone() || stop.load(Ordering::Relaxed) {
                return;
            }
            if let Some(at) = answered {
                // The first datagram's error takes as long as the answer did.
                let guard = at.since(begun).clamp(GUARD.0, GUARD.1);
                if now.since(at) >= guard {
                    self.allowance.prove(now);
                    self.ask_at = now + ASK.0;
                    return;
                }
            } else if waited >= FIRST_MOST {
                return;
            } else if FIRST.get(asked).is_some_and(|at| waited >= *at) {
                asked += 1;
                answered = probe.ask().then_some(now);
            } else {
                answered = probe.is_answered().then_some(now);
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// Returns why sending was ended, where it was.
    pub(super) const fn shut(&self) -> Option<Shut> {
        self.shut
    }

    fn look(&mut self, now: Instant) {
        let Some(probe) = &self.probe else { return };
        // One that never proved anything is not asked on and on.
        if now < self.look_at || self.allowance.proven_until.is_none() {
            return;
        }
        self.look_at = now + Duration::from_millis(20);
        let mut is_answered = probe.is_answered();
        if now >= self.ask_at {
            is_answered |= probe.ask();
            let every = if self.allowance.is_proven(now) { ASK.0 } else { ASK.1 };
            self.ask_at = now + every;
        }
        if is_answered {
            self.allowance.prove(now);
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
        assert_eq!(allowance.most(s(2), 1470), Some(u64::MAX));
        allowance.sent = 1 << 40;
        assert_eq!(allowance.most(s(10), 1470), Some(u64::MAX));
        assert_eq!(allowance.most(s(11), 1470), Some(0), "ten seconds without an answer");
        allowance.prove(s(12));
        assert_eq!(allowance.most(s(12), 1470), Some(u64::MAX), "it is there again");
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
            gate.prove(&clock, &stop);
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
