//! ESP-IDF's `iperf` example at the console of one board: it joins a Wi-Fi network, and sends to this
//! host or receives from it.
//!
//! ```text
//! reset ─▶ version, help ─▶ sta_connect NAME **** ─▶ address
//!     forward: iperf -s …      this host sends      ┐
//!     reverse: iperf -c HOST … this host serves     ├▶ rows of the console, counts of this host
//! ```
//!
//! Commands and rows are those of the release, as its `help` tells (`sta` before v5.3, `-b` in Mbit/s before
//! 1.0 of the component). A row covers the seconds before it came, on the clock of this host: rows that
//! are not within the stream, as of a server of v4 that counts from its start on, are no part of the
//! figures, and their bytes are part of the total.

use super::desk::{BoardDesk, INITIATOR as BOARD};
use super::fault::is_refusal;
use super::learned::{IPERF, RateOption};
use super::{BoardError, BoardFault, BoardSetup, start};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::net::{Ipv4Addr, SocketAddrV4};
use core::time::Duration;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{Direction, Iperf, Transport};
use espbench_proto::wire::iperf2::PORT;
use espbench_proto::wire::iperf2::console::{IdfIperfLine, RateRow};
use espbench_sim::lab::record::Record;
use espbench_sim::lab::suite::mark::{LineMark, MarkedLine};
use espbench_sim::lab::suite::procedure::quoted;

/// Longest time in which a board joins its network; it tries anew by itself.
const JOIN_MOST: Duration = Duration::from_secs(30);
/// Number of refusals after which the password is taken to be wrong: one may be a lost frame.
const REFUSALS: u32 = 3;
/// Time for an answer to a command.
const ANSWER: Duration = Duration::from_secs(5);
/// Time from a server's first line until it listens.
const LISTENS: Duration = Duration::from_millis(500);
/// Seconds that a board's server is told to run beyond the test.
const MORE: u64 = 3;
/// Time beyond a test for what comes before and behind it.
const MARGIN: Duration = Duration::from_secs(20);
/// Time for the last counts of this host, once the board is done.
const SETTLED: Duration = Duration::from_secs(3);
/// Share of a row by which it may lie outside of the stream.
const OUTSIDE: u32 = 20;
/// Bytes of a datagram that a board sends where no length is named.
const UDP_LENGTH: u32 = 1470;
/// Rows that are kept; a day has 86,400 seconds.
const ROWS: usize = 100_000;

/// Stage of this host's end of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerStage {
    /// The test goes on, or has not begun.
    Going,
    /// All is counted.
    Done,
    /// Failure, with the error in words.
    Failed(String),
}

/// An iperf 2 of this host, as the other end of a board's.
pub trait StreamPeer {
    /// Begins to serve; returns the address at which a board of that address reaches it.
    ///
    /// # Errors
    /// The reason for which it cannot serve, in words.
    fn serve(&mut self, work: &Iperf, board: Ipv4Addr) -> Result<SocketAddrV4, String>;
    /// Begins to send to a board's server.
    ///
    /// # Errors
    /// The reason for which it cannot send, in words.
    fn send(&mut self, work: &Iperf, board: SocketAddrV4) -> Result<(), String>;
    /// Records what was counted since the last call; returns how far it is.
    fn poll(&mut self, record: &mut dyn Record) -> PeerStage;
    /// Ends what still goes on, and records the last counts.
    fn finish(&mut self, record: &mut dyn Record);
}

/// Lines of the board's test.
#[derive(Debug, Default)]
struct BoardRows {
    /// Rows, each with the time at which it came.
    rows: Vec<(Instant, RateRow)>,
    /// Texts of the means over all, once they are there: one for each stream.
    means: Vec<String>,
    /// Streams of the test; each has rows and a mean of its own.
    streams: usize,
    begun: bool,
    over: bool,
    failed: Option<IdfIperfLine>,
}

impl BoardRows {
    fn take(&mut self, line: MarkedLine) {
        let LineMark::Network(what) = line.mark else { return };
        match what {
            IdfIperfLine::Row(row)
                if row.start_s == 0 && self.rows.iter().any(|it| it.1.test == row.test) =>
            {
                self.means.push(line.text);
                self.over |= self.means.len() >= self.streams.max(1);
            }
            IdfIperfLine::Row(row) if self.rows.len() < ROWS => self.rows.push((line.at, row)),
            IdfIperfLine::Begun { .. } | IdfIperfLine::SocketCreated => self.begun = true,
            IdfIperfLine::Exit => self.over = true,
            IdfIperfLine::ConnectFailed { .. } | IdfIperfLine::Busy | IdfIperfLine::NoIp => {
                self.failed = Some(what);
            }
            // A receiving end tells so that its sender is done.
            IdfIperfLine::SocketFailed { .. } if self.rows.is_empty() => self.failed = Some(what),
            _ => {}
        }
    }
}

/// Counts of both ends of a test.
#[derive(Debug, Default)]
struct BothEnds {
    board: BoardRows,
    /// Intervals of the board's end, as this host's system tells of it.
    inferred: Vec<Interval>,
    /// Time that this host sent or received for.
    span: Option<Duration>,
    /// When this host began to send.
    begun: Option<Instant>,
}

impl BothEnds {
    /// Reads what came from both ends.
    fn look(&mut self, desk: &mut BoardDesk<'_>, peer: &mut dyn StreamPeer) -> PeerStage {
        for line in core::mem::take(&mut desk.seats[BOARD].unread) {
            self.board.take(line);
        }
        peer.poll(&mut HostRecord { ends: self, desk })
    }

    fn finish(&mut self, desk: &mut BoardDesk<'_>, peer: &mut dyn StreamPeer) {
        peer.finish(&mut HostRecord { ends: self, desk });
    }

    /// Returns the intervals and the total of the board's end. Where the board printed nothing, they are
    /// what this host's system tells of it.
    fn told(&self, work: &Iperf, binary: bool) -> Vec<Interval> {
        if self.board.rows.is_empty() {
            return self.inferred.clone();
        }
        let length =
            |row: &RateRow| Duration::from_secs(row.end_s.saturating_sub(row.start_s).into());
        let seconds = |s: u32| Instant::ZERO + Duration::from_secs(s.into());
        let asked = work.time.as_secs().max(1);
        let is_part = |(at, row): &&(Instant, RateRow)| match (self.begun, self.span) {
            (Some(begun), Some(span)) => {
                let slack = length(row) / OUTSIDE;
                *at + slack >= begun + length(row) && *at <= begun + span + slack
            }
            _ => u64::from(row.end_s) <= asked,
        };
        let mut tests: Vec<u16> = self.board.rows.iter().map(|it| it.1.test).collect();
        tests.sort_unstable();
        tests.dedup();
        let streams = tests.iter().enumerate();
        streams
            .flat_map(|(link, test)| {
                let link = Link(u16::try_from(link).unwrap_or(u16::MAX));
                let rows = || self.board.rows.iter().filter(|it| it.1.test == *test);
                let parts: Vec<&RateRow> = rows().filter(is_part).map(|it| &it.1).collect();
                let zero = parts.first().map_or(0, |row| row.start_s);
                let of = |seq: usize, row: &RateRow| Interval {
                    link,
                    observer: Observer::Peer,
                    seq: seq as u64,
                    start: seconds(row.start_s - zero),
                    end: seconds(row.end_s - zero),
                    bytes: row.bytes(binary),
                    ..Interval::default()
                };
                let mut all: Vec<Interval> =
                    parts.iter().enumerate().map(|(seq, row)| of(seq, row)).collect();
                let last = rows().next_back().map_or(0, |it| it.1.end_s);
                // What the board received counts over the time that this host sent.
                let sent = self.begun.and(self.span);
                let end = sent.map_or_else(|| seconds(last), |span| Instant::ZERO + span);
                let bytes = rows().map(|it| it.1.bytes(binary));
                all.push(Interval {
                    link,
                    observer: Observer::Peer,
                    seq: all.len() as u64,
                    total: true,
                    end,
                    bytes: bytes.fold(0, u64::saturating_add),
                    ..Interval::default()
                });
                all
            })
            .collect()
    }
}

/// Record of this host's end: what it counted itself is recorded at once, what it infers of the board is kept.
struct HostRecord<'a, 'b> {
    ends: &'a mut BothEnds,
    desk: &'a mut BoardDesk<'b>,
}

impl Record for HostRecord<'_, '_> {
    fn sample(&mut self, sample: Sample) {
        if let Sample::Interval(it) = sample {
            if it.observer == Observer::Peer {
                self.ends.inferred.push(it);
                return;
            }
            if it.total {
                self.ends.span = Some(it.end.since(it.start));
            }
        }
        self.desk.notes.sample(sample);
    }

    fn count(&mut self, name: &str, by: u64) {
        self.desk.notes.record().count(name, by);
    }

    fn fact(&mut self, name: &str, value: String) {
        self.desk.notes.fact(name, value);
    }
}

/// Carries out a test at the console of the board, with this host as the other end.
pub(super) fn traffic(
    desk: &mut BoardDesk<'_>,
    work: &Iperf,
    setup: &BoardSetup,
    peer: &mut dyn StreamPeer,
) -> Result<(), BoardError> {
    let result = begin(desk, setup).and_then(|address| {
        let mut ends = BothEnds::default();
        ends.board.streams = usize::from(work.parallel);
        let result = match work.direction {
            Direction::Reverse => reverse(desk, work, address, peer, &mut ends),
            _ => forward(desk, work, address, peer, &mut ends),
        };
        ends.finish(desk, peer);
        let binary = desk.console(BOARD).learned().iperf.format;
        if result != Err(BoardError::Cancelled) {
            ends.told(work, binary)
                .into_iter()
                .for_each(|it| desk.notes.sample(Sample::Interval(it)));
        }
        // The mean of a server has the seconds in it in which nobody sent.
        if !ends.board.means.is_empty() && work.direction == Direction::Reverse {
            desk.notes.fact("printed", ends.board.means.join("\n"));
        }
        if result.is_ok() && !ends.board.over {
            let _ = desk.command(BOARD, "iperf --abort");
        }
        result
    });
    if let Err(error) = &result
        && *error != BoardError::Cancelled
    {
        let fault = desk.console(BOARD).fault().map(BoardFault::cause);
        let fate = Fate::Lost(fault.unwrap_or(Cause::Unknown));
        let due = desk.now();
        desk.notes.sample(Sample::Probe(Probe {
            bytes: work.length,
            due,
            fate,
            ..Probe::default()
        }));
    }
    result
}

/// Starts the board and lets it join its network; returns its address.
fn begin(desk: &mut BoardDesk<'_>, setup: &BoardSetup) -> Result<Ipv4Addr, BoardError> {
    let Some((ssid, password)) = setup.network.clone() else {
        return Err(BoardError::NotTold { what: "the network", flag: "--ssid NAME" });
    };
    start::reset(desk, &[BOARD])?;
    desk.sound(BOARD)?;
    start::ask(desk, &[BOARD])?;
    desk.sound(BOARD)?;
    start::note(desk);
    let commands = &desk.console(BOARD).learned().commands;
    let join = ["sta_connect", "sta"].into_iter().find(|it| commands.contains(*it));
    let (Some(join), true) = (join, commands.contains(IPERF)) else {
        return Err(BoardError::NoCommand { port: desk.name(BOARD), command: IPERF });
    };
    let named = format!("{join} {}", quoted(&ssid));
    if password.is_empty() {
        desk.command(BOARD, &named)?;
    } else {
        desk.keep_out(&password);
        desk.secret_command(BOARD, &format!("{named} {}", quoted(&password)))?;
    }
    joined(desk, &ssid)
}

/// Waits for the board's address in its network.
fn joined(desk: &mut BoardDesk<'_>, ssid: &str) -> Result<Ipv4Addr, BoardError> {
    let (mut address, mut left, mut refusals) = (None, None, 0);
    desk.until(JOIN_MOST, |desk| {
        for line in core::mem::take(&mut desk.seats[BOARD].unread) {
            match line.mark {
                LineMark::Network(IdfIperfLine::Address(it)) if !it.is_unspecified() => {
                    address = Some(it);
                }
                LineMark::Network(IdfIperfLine::Associated) => left = None,
                LineMark::Network(IdfIperfLine::Left { reason }) => {
                    left = Some(reason);
                    refusals += u32::from(reason.is_some_and(is_refusal));
                }
                _ => {}
            }
        }
        address.is_some() || refusals >= REFUSALS || desk.goes_on(BOARD).is_err()
    })?;
    desk.goes_on(BOARD)?;
    if let Some(address) = address {
        desk.notes.fact("address", address.to_string());
        return Ok(address);
    }
    let ssid = String::from(ssid);
    fail(
        desk,
        match left {
            Some(Some(reason)) if is_refusal(reason) => BoardFault::Refused { ssid, reason },
            Some(reason) => BoardFault::NotJoined { ssid, reason },
            None => BoardFault::NoAddress { ssid },
        },
    )
}

/// Gives the board up for this cell.
fn fail<T>(desk: &mut BoardDesk<'_>, fault: BoardFault) -> Result<T, BoardError> {
    desk.seats[BOARD].console.fail(fault.clone());
    Err(BoardError::Fault { port: desk.name(BOARD), fault })
}

/// Returns the options that both roles have.
fn options(work: &Iperf, seconds: u64) -> String {
    let udp = if work.transport == Transport::Udp { " -u" } else { "" };
    format!("{udp} -i {} -t {seconds}", work.interval.as_secs().max(1))
}

/// Lets the board serve and this host send.
fn forward(
    desk: &mut BoardDesk<'_>,
    work: &Iperf,
    address: Ipv4Addr,
    peer: &mut dyn StreamPeer,
    ends: &mut BothEnds,
) -> Result<(), BoardError> {
    let options = options(work, work.time.as_secs().max(1) + MORE);
    desk.command(BOARD, &format!("iperf -s -p {PORT}{options}"))?;
    desk.until(ANSWER, |desk| {
        ends.look(desk, peer);
        ends.board.begun || ends.board.failed.is_some() || desk.goes_on(BOARD).is_err()
    })?;
    desk.goes_on(BOARD)?;
    if !ends.board.begun {
        return Err(desk.not_printed(BOARD, "that its server begins", ANSWER));
    }
    desk.pause(LISTENS)?;
    ends.begun = Some(desk.now());
    if let Err(error) = peer.send(work, SocketAddrV4::new(address, PORT)) {
        return fail(desk, BoardFault::NoPeer { error });
    }
    let row = work.interval.max(Duration::from_secs(1));
    let mut done: Option<(Instant, PeerStage)> = None;
    desk.until(work.time + MARGIN, |desk| {
        let stage = ends.look(desk, peer);
        if stage != PeerStage::Going && done.is_none() {
            done = Some((desk.now(), stage));
        }
        // A row that comes after all is sent has counted all.
        let over = done.as_ref().is_some_and(|(at, stage)| {
            let counted = ends.board.rows.last().is_some_and(|row| row.0 >= *at);
            let failed = matches!(stage, PeerStage::Failed(_));
            counted || failed || ends.board.over || desk.now() >= *at + row + SETTLED
        });
        over || desk.goes_on(BOARD).is_err()
    })?;
    desk.goes_on(BOARD)?;
    match done {
        Some((_, PeerStage::Failed(error))) => fail(desk, BoardFault::NoPeer { error }),
        Some(_) => Ok(()),
        None => {
            let error = String::from("this computer did not come to the end of its sending");
            fail(desk, BoardFault::NoPeer { error })
        }
    }
}

/// Returns the command with which the board sends.
fn client(desk: &BoardDesk<'_>, work: &Iperf, to: SocketAddrV4) -> Result<String, BoardError> {
    let able = desk.console(BOARD).learned().iperf;
    let lacks = |option| BoardError::NoOption { port: desk.name(BOARD), option };
    let mut command = format!("iperf -c {} -p {}", to.ip(), to.port());
    command += &options(work, work.time.as_secs().max(1));
    if let Some(rate) = work.bandwidth {
        command += &match able.rate {
            Some(RateOption::Megabits) if rate.is_multiple_of(1_000_000) => {
                format!(" -b {}", rate / 1_000_000)
            }
            Some(RateOption::Suffixed) if rate.is_multiple_of(1000) => {
                if rate.is_multiple_of(1_000_000) {
                    format!(" -b {}m", rate / 1_000_000)
                } else {
                    format!(" -b {}k", rate / 1000)
                }
            }
            Some(RateOption::Megabits) => return Err(lacks("-b with less than a Mbit/s")),
            Some(RateOption::Suffixed) => return Err(lacks("-b with less than a kbit/s")),
            None => return Err(lacks("-b")),
        };
    }
    if work.parallel > 1 {
        if !able.parallel {
            return Err(lacks("-P, which the component iperf-cmd has from 1.0 on"));
        }
        command += &format!(" -P {}", work.parallel);
    }
    let usual = match work.transport {
        Transport::Tcp => Iperf::TCP_LENGTH,
        Transport::Udp => UDP_LENGTH,
    };
    if work.length != usual {
        if !able.length {
            return Err(lacks("-l"));
        }
        command += &format!(" -l {}", work.length);
    }
    Ok(command)
}

/// Lets this host serve and the board send.
fn reverse(
    desk: &mut BoardDesk<'_>,
    work: &Iperf,
    address: Ipv4Addr,
    peer: &mut dyn StreamPeer,
    ends: &mut BothEnds,
) -> Result<(), BoardError> {
    let to = match peer.serve(work, address) {
        Ok(to) => to,
        Err(error) => return fail(desk, BoardFault::NoPeer { error }),
    };
    let command = client(desk, work, to)?;
    desk.command(BOARD, &command)?;
    let most = work.time + MARGIN;
    desk.until(most, |desk| {
        ends.look(desk, peer);
        ends.board.over || ends.board.failed.is_some() || desk.goes_on(BOARD).is_err()
    })?;
    desk.goes_on(BOARD)?;
    match ends.board.failed {
        Some(IdfIperfLine::ConnectFailed { errno } | IdfIperfLine::SocketFailed { errno }) => {
            return fail(desk, BoardFault::NoWay { to: to.to_string(), errno });
        }
        Some(_) => return Err(desk.not_printed(BOARD, "that its test begins", most)),
        None => {}
    }
    if !ends.board.over {
        return Err(desk.not_printed(BOARD, "the mean of its test", most));
    }
    // The end of a TCP stream comes with its last bytes; UDP of ESP-IDF has none.
    desk.until(SETTLED, |desk| {
        let stage = ends.look(desk, peer);
        stage != PeerStage::Going || work.transport == Transport::Udp
    })?;
    ends.finish(desk, peer);
    if ends.span.is_none() {
        let error = format!("nothing came from the board at {to}, though it says that it sent");
        return fail(desk, BoardFault::NoPeer { error });
    }
    Ok(())
}
