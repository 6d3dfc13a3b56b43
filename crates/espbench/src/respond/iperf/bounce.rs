//! The server of `--bounceback`: each request goes back with this side's times in it.

use super::{IDLE, ServerTest};
use crate::pump::{SLICE, epoch_ns, is_pause};
use crate::sys::options::{quick_ack, set_tos};
use espbench_model::flow::{FlowCounts, FlowMeter};
use espbench_model::sample::{Link, Observer, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_proto::wire::iperf2::{BOUNCE_HEADER, Bounce, Stamp, bounce_flags};
use socket2::SockRef;
use std::io::{self, Read, Write};
use std::net::TcpStream;

/// The longest request that is served.
const LONGEST: u32 = 1 << 20;
/// The longest hold that a client may ask for.
const HOLD: Duration = Duration::from_secs(60);

/// The longest silence between two requests.
const PERIOD: Duration = Duration::from_secs(600);

/// The end of a read.
enum Got {
    All,
    Closed,
    Stopped,
}

/// Serves one client until it closes. `before` bytes of its first request were read: the flags.
pub(super) fn serve(test: &ServerTest, stream: &TcpStream, before: usize) {
    match serve_all(test, stream, before) {
        Ok(()) => {}
        Err(error) => test.note(&format!("the bounce-back test ended: {error}")),
    }
}

fn serve_all(test: &ServerTest, mut stream: &TcpStream, before: usize) -> io::Result<()> {
    let clock = &test.shared.clock;
    let start = clock.now();
    let epoch_ns = epoch_ns(clock);
    let stamp = |at: Instant| Stamp::from_nanos(epoch_ns.saturating_add(at.as_nanos()));
    let mut request = vec![0; BOUNCE_HEADER];
    // The flags were read to tell the test by; they are what says so.
    let flags = espbench_proto::wire::iperf2::flags::BOUNCEBACK.to_be_bytes();
    request[..4].copy_from_slice(&flags);
    let Got::All = read(test, stream, &mut request[before.min(4)..])? else { return Ok(()) };
    let first = Bounce::parse(&request).ok().filter(|it| it.size <= LONGEST).ok_or_else(|| {
        io::Error::other(format!("its request is malformed, or longer than {LONGEST} B: closed"))
    })?;
    prepare(test, stream, &first)?;
    let size = first.size as usize;
    request.resize(size, 0);
    let Got::All = read(test, stream, &mut request[BOUNCE_HEADER..])? else { return Ok(()) };
    let mut meter =
        FlowMeter::new(Link(0), Observer::Receiver, test.shared.options.interval, start);
    let mut counts = FlowCounts { datagrams: Some(0), ..FlowCounts::default() };
    let mut heard = clock.now();
    let ended = loop {
        let asked = match Bounce::parse(&request) {
            Ok(asked) if asked.size == first.size => asked,
            _ => break Err(io::Error::other("a further request is malformed, or of another size")),
        };
        if asked.has(bounce_flags::STOP) || !hold(test, &asked) {
            break Ok(());
        }
        Bounce::answer(&mut request, stamp(heard), stamp(clock.now()));
        if let Err(error) = stream.write_all(&request) {
            break Err(error);
        }
        counts.bytes += 2 * size as u64;
        counts.datagrams = counts.datagrams.map(|n| n + 1);
        let now = clock.now();
        while let Some(interval) = meter.ended(now, &counts) {
            test.sample(Sample::Interval(interval));
        }
        if asked.has(bounce_flags::QUICK_ACK) {
            quick_ack(stream);
        }
        match read(test, stream, &mut request) {
            Ok(Got::All) => heard = clock.now(),
            Ok(Got::Closed | Got::Stopped) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    let end = clock.now();
    while let Some(interval) = meter.ended(end, &counts) {
        test.sample(Sample::Interval(interval));
    }
    if let Some(interval) = meter.rest(end, &counts) {
        test.sample(Sample::Interval(interval));
    }
    test.sample(Sample::Interval(meter.total(end, &counts)));
    ended
}

fn prepare(test: &ServerTest, stream: &TcpStream, first: &Bounce) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(IDLE))?;
    if first.has(bounce_flags::TOS) && test.shared.options.socket.tos == 0 {
        set_tos(&SockRef::from(stream), (first.tos & 0xFF) as u8)?;
    }
    if first.has(bounce_flags::QUICK_ACK) {
        quick_ack(stream);
    }
    Ok(())
}

/// Waits as long as the client asks for; false where the service stops.
fn hold(test: &ServerTest, asked: &Bounce) -> bool {
    let clock = &test.shared.clock;
    let until = clock.now() + Duration::from_micros(asked.hold.into()).min(HOLD);
    loop {
        let now = clock.now();
        if test.shared.stop.load(std::sync::atomic::Ordering::Relaxed) {
            return false;
        }
        if now >= until {
            return true;
        }
        if until.since(now) > SLICE {
            std::thread::sleep(SLICE);
        } else {
            crate::sys::timer::wait_until(clock, until);
        }
    }
}

/// Fills the buffer.
fn read(test: &ServerTest, mut stream: &TcpStream, buffer: &mut [u8]) -> io::Result<Got> {
    let clock = &test.shared.clock;
    let (mut have, mut heard) = (0, clock.now());
    while have < buffer.len() {
        match stream.read(&mut buffer[have..]) {
            Ok(0) if have == 0 => return Ok(Got::Closed),
            Ok(0) => return Err(io::Error::other("it closed in the midst of a request")),
            Ok(count) => (have, heard) = (have + count, clock.now()),
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error),
        }
        if test.shared.stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(Got::Stopped);
        }
        // Between requests a client may be silent for its whole period.
        let longest = if have > 0 { IDLE } else { PERIOD };
        if clock.now().since(heard) > longest {
            return Err(io::Error::other("it fell silent: given up"));
        }
    }
    Ok(Got::All)
}
