//! Time stamps of two consoles, on one clock: the lines `edges:` of our firmware.

use super::{Args, EdgeCounts, EdgePairing, EdgePin, Tests, base_name, facts, tell};
use crate::cli::output;
use crate::named_file::LogStream;
use crate::say::say;
use crate::user_error::UserError;
use anyhow::{Context as _, bail};
use esp_now::transcript::item::IperfLine;
use esp_now::transcript::{LineSplitter, TranscriptEntry, TranscriptItem};
use espbench_engine::ReportBuilder;
use espbench_ieee80211::mac::Mac;
use espbench_measure::clocks::{AlignError, ClockFit, StampedArrival, StampedRequest, align};
use espbench_model::sample::Probe;
use espbench_model::time::Instant;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

/// Bytes of the longest line.
const LINE: usize = 1024;
/// Most pings of a log.
const PINGS: usize = 1_000_000;

/// Stamps of one console.
#[derive(Debug, Default)]
struct ConsoleStamps {
    /// Number of each ping, and when the pin fell and rose.
    pings: Vec<(u32, Instant, Option<Instant>)>,
    /// Address of the board, where its log has it.
    own: Option<Mac>,
    /// Address that it sent to, where it is an initiator.
    peer: Option<Mac>,
    /// The board answered pings.
    answers: bool,
}

impl ConsoleStamps {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let name = path.display();
        let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
        let (mut stamps, mut file) = (Self::default(), LogStream::new(file));
        let mut splitter = LineSplitter::<LINE>::new();
        let mut bytes = vec![0; 65_536];
        loop {
            let count = file.read(&mut bytes).with_context(|| format!("cannot read {name}"))?;
            if count == 0 {
                break;
            }
            let mut rest = &bytes[..count];
            while let Some(piece) = splitter.next(&mut rest) {
                stamps.take(&TranscriptEntry::of(piece));
            }
            if stamps.pings.len() > PINGS {
                bail!(
                    UserError::new(format!("{name} has more than {PINGS} pings"))
                        .remedy("cut it into several")
                );
            }
        }
        if stamps.pings.is_empty() {
            let error = UserError::new(format!("{name} has no time stamps"))
                .because("no line `edges: seq=…, low=… us` is in it")
                .remedy("type `log -m uart -l DEBUG` at our firmware, and ping with a pin: `espnow_iperf -G PIN`");
            return Err(error.into());
        }
        // A board that started again in between begins at zero again.
        if !stamps.pings.is_sorted_by_key(|it| it.1) {
            bail!(
                UserError::new(format!("{name} has a restart of the board in it"))
                    .because("its clock begins anew there")
                    .remedy("give the part before the restart, or that behind it")
            );
        }
        Ok(stamps)
    }

    fn take(&mut self, entry: &TranscriptEntry<'_>) {
        if entry.line.remote.is_some() {
            return;
        }
        match entry.item {
            TranscriptItem::Iperf(IperfLine::Edges { seq, low_us, high_us }) => {
                let at = |us: u64| Instant::from_nanos(us.saturating_mul(1000));
                self.pings.push((seq, at(low_us), high_us.map(at)));
            }
            TranscriptItem::Iperf(IperfLine::Initiator { own, peer }) => {
                (self.own, self.peer) = (Some(own), Some(peer));
            }
            TranscriptItem::Iperf(IperfLine::Responder(own)) => {
                (self.own, self.answers) = (Some(own), true);
            }
            _ => {}
        }
    }
}

/// Reads the logs of both boards, and reports the delays on the sender's clock.
pub(super) fn run(args: &Args, receiver: &Path) -> anyhow::Result<ExitCode> {
    let (from, to) = (ConsoleStamps::read(&args.file)?, ConsoleStamps::read(receiver)?);
    let (sender_log, receiver_log) = (args.file.display(), receiver.display());
    // Nothing in the stamps tells which of the two sent.
    if (from.answers && from.peer.is_none()) || (to.peer.is_some() && !to.answers) {
        let error = UserError::new(format!("{sender_log} is not the sender's log"))
            .because("its board answered the pings of the other one")
            .remedy("name the sender's log first, then the receiver's");
        return Err(error.into());
    }
    if let (Some(sent_to), Some(own)) = (from.peer, to.own)
        && sent_to != own
        && sent_to != Mac::BROADCAST
    {
        bail!(
            UserError::new(format!("{sender_log} and {receiver_log} do not belong together"))
                .because(format!("the first is of pings to {sent_to}, and the second of {own}"))
                .remedy("give the logs of the two ends of one test")
        );
    }
    let clock = aligned(&from, &to).map_err(|error| {
        UserError::new(format!("nothing aligns {sender_log} and {receiver_log}"))
            .because(error)
            .remedy(
                "give the logs of one test, the sender's first; pauses of different lengths between pings help",
            )
    })?;
    // Every form of the report says how far all delays may be off together.
    let apart = clock.uncertainty().as_secs_f64() * 1e3;
    let (first, second) = (base_name(&args.file), base_name(receiver));
    let names = format!("logs {first}, {second} (clocks within {apart:.3} ms)");
    let facts = facts(args, names)?;
    let mut tests = Tests::new(args, ReportBuilder::new(&facts.run), facts.work);
    let (probes, counts) = paired(args, &from, &to, &clock);
    tests.take(probes.into_iter())?;
    let report = tests.finish(&counts)?;
    output::write(&report, &args.output, false)?;
    tell(&counts);
    say!(
        "the receiver's clock is {:+.2} ppm of the sender's, by {} round trips; all delays may be off together by \
         {apart:.3} ms, shorter or longer",
        clock.drift_ppm(),
        clock.trips()
    );
    Ok(ExitCode::SUCCESS)
}

fn aligned(from: &ConsoleStamps, to: &ConsoleStamps) -> Result<ClockFit, AlignError> {
    let request = |&(seq, sent, answered): &(u32, Instant, Option<Instant>)| StampedRequest {
        seq,
        sent,
        answered,
    };
    let arrival = |&(seq, at, _): &(u32, Instant, Option<Instant>)| StampedArrival { seq, at };
    let requests: Vec<StampedRequest> = from.pings.iter().map(request).collect();
    let arrivals: Vec<StampedArrival> = to.pings.iter().map(arrival).collect();
    align(&requests, &arrivals)
}

/// Pairs the falls of both pins on the sender's clock, as those of a capture.
fn paired(
    args: &Args,
    from: &ConsoleStamps,
    to: &ConsoleStamps,
    clock: &ClockFit,
) -> (Vec<Probe>, EdgeCounts) {
    let sent = from.pings.iter().map(|it| (it.1.as_nanos().cast_signed(), EdgePin::Sender));
    let there = to.pings.iter().map(|it| (clock.on_first(it.1), EdgePin::Receiver));
    let mut edges: Vec<(i64, EdgePin)> = sent.chain(there).collect();
    edges.sort_by_key(|it| it.0);
    let zero = edges.first().map_or(0, |it| it.0);
    let at = |ns: i64| Instant::from_nanos((ns - zero).cast_unsigned());
    let mut pairing = EdgePairing::new(args.window, args.packet.bytes());
    let mut probes = Vec::new();
    for &(ns, pin) in &edges {
        pairing.edge(at(ns), pin, &mut probes);
    }
    // A log ends behind its last ping, unlike a capture.
    let end = edges.last().map_or(Instant::ZERO, |it| at(it.0) + args.window);
    let counts = pairing.finish(end, &mut probes);
    (probes, counts)
}
