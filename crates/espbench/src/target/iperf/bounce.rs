//! The client of `--bounceback`.

use super::{IDLE, IperfCell, StreamDirection, StreamEvent, StreamOutbox, beside, tcp};
use crate::pump::{SLICE, is_pause};
use crate::sys::options::quick_ack;
use crate::sys::tcp_window::with_window;
use crate::sys::{self, timer};
use crate::target::TargetError;
use espbench_model::sample::{Cause, Interval, Link, Sample};
use espbench_model::workload::Bounceback;
use espbench_proto::node::iperf::{BounceStep, Bouncer};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::SyncSender;

/// Byte that fills a request behind its header, as in iperf 2.
const FILL: u8 = 0x5A;

/// Runs all streams of a cell.
pub(super) fn run(
    cell: &IperfCell<'_>,
    how: Bounceback,
    events: &SyncSender<StreamEvent>,
) -> Result<(), TargetError> {
    let outbox = StreamOutbox(events.clone());
    let streams = (0..cell.work.parallel)
        .map(|_| tcp::connect(cell))
        .collect::<Result<Vec<TcpStream>, TargetError>>()?;
    std::thread::scope(|scope| {
        for (nth, stream) in (0u16..).zip(&streams) {
            let own = outbox.clone();
            outbox.needs(beside(scope, move || {
                if let Err(error) = one(cell, how, stream, Link(nth), &own) {
                    own.failed(error);
                }
            }));
        }
    });
    Ok(())
}

fn one(
    cell: &IperfCell<'_>,
    how: Bounceback,
    mut stream: &TcpStream,
    link: Link,
    outbox: &StreamOutbox,
) -> Result<(), TargetError> {
    let failed = |e| cell.peer_error("preparing the connection", e, "try again");
    if let (Ok(local), Ok(peer)) = (stream.local_addr(), stream.peer_addr()) {
        cell.target.ends.note(link, StreamDirection::Forward, local, peer);
    }
    stream.set_nodelay(true).map_err(failed)?;
    stream.set_read_timeout(Some(SLICE)).map_err(failed)?;
    stream.set_write_timeout(Some(IDLE)).map_err(failed)?;
    timer::precise_wakeups();
    let start = cell.clock.now();
    let mut bouncer = Bouncer::new(cell.work, how, link, start, cell.epoch_ns);
    let mut request = vec![FILL; cell.work.length as usize];
    let mut reply = request.clone();
    let (mut failure, mut sent_again) = (None, 0);
    loop {
        let now = cell.clock.now();
        match bouncer.poll(now) {
            BounceStep::Sample(sample) => outbox.sample(observed(stream, &mut sent_again, sample)),
            BounceStep::Wait(_) if cell.stopped() => bouncer.stop(Cause::Stopped),
            BounceStep::Wait(at) if at.since(now) > SLICE => std::thread::sleep(SLICE),
            BounceStep::Wait(at) => timer::wait_until(&cell.clock, at),
            BounceStep::Request => {
                bouncer.request(now, &mut request);
                if let Err(error) = stream.write_all(&request) {
                    bouncer.stop(Cause::Disconnected);
                    failure = Some(gone(cell, error));
                }
            }
            BounceStep::Reply => {
                if how.quick_ack {
                    quick_ack(stream);
                }
                match read(cell, stream, &mut reply) {
                    Ok(true) if bouncer.reply(cell.clock.now(), &reply) => {}
                    Ok(true) => failure = Some(changed(cell)),
                    Ok(false) => bouncer.stop(Cause::Stopped),
                    Err(error) => {
                        bouncer.stop(Cause::Disconnected);
                        failure = Some(gone(cell, error));
                    }
                }
                if failure.is_some() {
                    bouncer.stop(Cause::Disconnected);
                }
            }
            BounceStep::Done => break,
        }
    }
    let _ = stream.shutdown(Shutdown::Write);
    failure.map_or(Ok(()), Err)
}

/// Adds what the kernel knows of the connection to an interval. `sent_again` is its count of
/// segments sent again at the last interval.
fn observed(stream: &TcpStream, sent_again: &mut u64, sample: Sample) -> Sample {
    match with_window(stream, sample) {
        Sample::Interval(interval) => {
            let info = sys::tcp::info(stream);
            let before = if interval.total { 0 } else { *sent_again };
            *sent_again = info.map_or(*sent_again, |info| info.retransmits);
            Sample::Interval(Interval {
                retransmits: info.map(|info| info.retransmits.saturating_sub(before)),
                tcp_rtt_ns: info.map(|info| info.rtt_ns),
                ..interval
            })
        }
        probe @ Sample::Probe(_) => probe,
    }
}

fn gone(cell: &IperfCell<'_>, source: io::Error) -> TargetError {
    cell.peer_error(
        "in the midst of the bounce-back test",
        source,
        "the server ended it, or does not know --bounceback (ESP-IDF's iperf and iperf before 2.1.5 do \
         not): leave out --bounceback",
    )
}

fn changed(cell: &IperfCell<'_>) -> TargetError {
    cell.protocol_error(
        "a reply is not its request",
        "the server does not know --bounceback (ESP-IDF's iperf and iperf before 2.1.5 do not), or the \
         reply was changed on its way",
    )
}

/// Fills the buffer; false where the user stops.
fn read(cell: &IperfCell<'_>, mut stream: &TcpStream, buffer: &mut [u8]) -> io::Result<bool> {
    let (mut have, mut heard) = (0, cell.clock.now());
    let patience = IDLE + cell.work.bounceback.map_or(IDLE, |how| how.hold);
    while have < buffer.len() {
        match stream.read(&mut buffer[have..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => (have, heard) = (have + count, cell.clock.now()),
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error),
        }
        if cell.stopped() {
            return Ok(false);
        }
        if cell.clock.now().since(heard) > patience {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "no reply in time"));
        }
    }
    Ok(true)
}
