//! Boards on serial ports, for [`espbench_engine::boards`]: a thread reads each port, and one writes to
//! all.

use super::open::{self, NativePort};
use super::ports::BoardPort;
use super::reset::BootMode;
use crate::clock::Clock;
use crate::user_error::UserError;
use espbench_engine::boards::{BoardBench, PortEvent, ResetWay};
use espbench_model::time::Instant;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Pieces that wait to be taken, of all ports; further ones are dropped and counted.
const WAITING: usize = 4096;
/// Bytes of a piece.
const PIECE: usize = 1024;
/// Longest wait of a reading thread until it looks whether it is still wanted.
const PATIENCE: Duration = Duration::from_millis(100);
/// Time in which a board whose USB is its own comes back after a reset.
const RETURN: Duration = Duration::from_secs(3);

/// News of a reading thread.
enum PortNews {
    Bytes(Vec<u8>),
    Gone(String),
}

/// A port's news, with the number of the port and of its opening.
struct Tidings {
    port: usize,
    life: u32,
    at: Instant,
    news: PortNews,
}

/// A port that is open.
struct OpenPort {
    native: NativePort,
    stop: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Drop for OpenPort {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// A port of the bench.
struct BenchPort {
    port: BoardPort,
    open: Option<OpenPort>,
    /// Number of times that it was opened: what an earlier opening tells is old.
    life: u32,
    dropped: Arc<AtomicU64>,
}

/// Boards on serial ports, and the time.
pub struct SerialBench {
    ports: Vec<BenchPort>,
    baud: u32,
    clock: Clock,
    sender: SyncSender<Tidings>,
    receiver: Receiver<Tidings>,
    /// Changes of control lines for which ports have no lines.
    unsupported: u64,
    /// Errors of the ports that could not be opened at first.
    missing: Vec<UserError>,
}

impl SerialBench {
    /// Opens all ports. Of more than two, one that cannot be opened stays closed, since the others can be measured
    /// without its board; each reset tries again.
    ///
    /// # Errors
    /// One of two ports cannot be opened, or the first of many.
    pub fn open(ports: Vec<BoardPort>, baud: u32) -> Result<Self, UserError> {
        let (sender, receiver) = sync_channel(WAITING);
        let closed = |port| BenchPort { port, open: None, life: 0, dropped: Arc::default() };
        let ports: Vec<BenchPort> = ports.into_iter().map(closed).collect();
        let (clock, missing) = (Clock::start(), Vec::new());
        let mut bench = Self { ports, baud, clock, sender, receiver, unsupported: 0, missing };
        for port in 0..bench.ports.len() {
            match bench.open_one(port) {
                Err(error) if port > 0 && bench.ports.len() > 2 => bench.missing.push(error),
                result => result?,
            }
        }
        Ok(bench)
    }

    /// Returns why ports could not be opened at first.
    pub fn missing(&self) -> &[UserError] {
        &self.missing
    }

    /// Returns how many changes of control lines were asked for that ports have no lines for.
    pub const fn take_unsupported(&mut self) -> u64 {
        std::mem::replace(&mut self.unsupported, 0)
    }

    fn open_one(&mut self, number: usize) -> Result<(), UserError> {
        let it = &mut self.ports[number];
        it.open = None;
        it.life += 1;
        let native = open::open(&it.port, self.baud, PATIENCE)?;
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            UserError::new(format!("cannot read {}: {what}", it.port.name)).because(error)
        };
        let reading = native.try_clone_native().map_err(|e| failed("no second handle", &e))?;
        let stop = Arc::new(AtomicBool::new(false));
        let reader = Reader {
            port: number,
            life: it.life,
            clock: self.clock,
            sender: self.sender.clone(),
            stop: Arc::clone(&stop),
            dropped: Arc::clone(&it.dropped),
        };
        let reader = std::thread::Builder::new()
            .name(format!("port {number}"))
            .spawn(move || reader.read(reading))
            .map_err(|e| failed("no thread", &e))?;
        it.open = Some(OpenPort { native, stop, reader: Some(reader) });
        Ok(())
    }

    /// Opens a port again that is gone, if it comes back soon.
    fn reopen(&mut self, number: usize) -> Result<(), UserError> {
        let end = self.clock.now() + RETURN;
        loop {
            match self.open_one(number) {
                Err(_) if self.clock.now() < end => std::thread::sleep(PATIENCE),
                result => return result,
            }
        }
    }

    fn hand_over(
        &mut self,
        Tidings { port, life, at, news }: Tidings,
        take: &mut dyn FnMut(usize, Instant, PortEvent<'_>),
    ) {
        if self.ports[port].life != life {
            return;
        }
        match news {
            PortNews::Bytes(bytes) => take(port, at, PortEvent::Bytes(&bytes)),
            PortNews::Gone(error) => {
                self.ports[port].open = None;
                take(port, at, PortEvent::Gone(&error));
            }
        }
        let dropped = self.ports[port].dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            take(port, at, PortEvent::Dropped(dropped));
        }
    }
}

/// A thread that reads a port.
struct Reader {
    port: usize,
    life: u32,
    clock: Clock,
    sender: SyncSender<Tidings>,
    stop: Arc<AtomicBool>,
    dropped: Arc<AtomicU64>,
}

impl Reader {
    fn read(self, mut port: NativePort) {
        let mut piece = [0; PIECE];
        while !self.stop.load(Ordering::Relaxed) {
            match port.read(&mut piece) {
                Ok(0) => return self.gone("the port has ended"),
                Ok(n) => self.bytes(&piece[..n]),
                Err(error) => match error.kind() {
                    io::ErrorKind::TimedOut
                    | io::ErrorKind::WouldBlock
                    | io::ErrorKind::Interrupted => {}
                    _ => return self.gone(&error.to_string()),
                },
            }
        }
    }

    fn bytes(&self, bytes: &[u8]) {
        let tidings = self.tidings(PortNews::Bytes(bytes.to_vec()));
        if let Err(TrySendError::Full(_)) = self.sender.try_send(tidings) {
            self.dropped.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
    }

    fn gone(&self, error: &str) {
        let mut tidings = self.tidings(PortNews::Gone(error.into()));
        // That a port is gone is never dropped, but a bench that is closed takes nothing any more.
        while let Err(TrySendError::Full(back)) = self.sender.try_send(tidings) {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            tidings = back;
            std::thread::sleep(PATIENCE);
        }
    }

    fn tidings(&self, news: PortNews) -> Tidings {
        Tidings { port: self.port, life: self.life, at: self.clock.now(), news }
    }
}

impl BoardBench for SerialBench {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn name(&self, port: usize) -> String {
        self.ports[port].port.name.clone()
    }

    fn reset(&mut self, ports: &[usize]) -> Vec<Result<ResetWay, String>> {
        let mut ways: Vec<Result<ResetWay, String>> = Vec::new();
        for &number in ports {
            let closed = self.ports[number].open.is_none();
            let opened = if closed { self.reopen(number) } else { Ok(()) };
            ways.push(opened.map(|()| ResetWay::None).map_err(|error| error.to_string()));
        }
        // What was printed before is of the test before.
        while self.receiver.try_recv().is_ok() {}
        // All at once: the pauses of a hundred boards would take half a minute.
        let (all, mut unsupported) = (&mut self.ports, 0);
        std::thread::scope(|scope| {
            let mut resets = Vec::new();
            for (number, it) in all.iter_mut().enumerate() {
                let Some(at) = ports.iter().position(|port| *port == number) else { continue };
                let BenchPort { port, open: Some(open), .. } = it else { continue };
                let native = &mut open.native;
                let work = move || open::reset(port, native, BootMode::Program, 0);
                match std::thread::Builder::new().spawn_scoped(scope, work) {
                    Ok(reset) => resets.push((at, reset)),
                    Err(error) => ways[at] = Err(format!("no thread for it: {error}")),
                }
            }
            for (at, reset) in resets {
                ways[at] = match reset.join() {
                    Ok(Ok(counts)) => {
                        unsupported += u64::from(counts.unsupported);
                        Ok(if counts.set > 0 { ResetWay::Pins } else { ResetWay::None })
                    }
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(_) => Err("its reset did not end".into()),
                };
            }
        });
        self.unsupported += unsupported;
        ways
    }

    fn write(&mut self, port: usize, bytes: &[u8]) -> Result<(), String> {
        let Some(open) = &mut self.ports[port].open else { return Err("it is closed".into()) };
        open.native.write_all(bytes).map_err(|error| error.to_string())
    }

    fn wait(&mut self, until: Instant, take: &mut dyn FnMut(usize, Instant, PortEvent<'_>)) {
        let time = until.since(self.clock.now());
        match self.receiver.recv_timeout(time) {
            Ok(tidings) => self.hand_over(tidings, take),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
        }
        while let Ok(tidings) = self.receiver.try_recv() {
            self.hand_over(tidings, take);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use serialport::SerialPort as _;
    use std::collections::BTreeMap;

    /// Returns the devices' ends of pseudo-terminals, and a bench on the other ends.
    fn bench(count: usize) -> (Vec<NativePort>, SerialBench) {
        let pairs = (0..count).map(|_| NativePort::pair().unwrap());
        let open = |(mut device, host): (NativePort, NativePort)| {
            // On a busy machine a reader may take long.
            device.set_timeout(Duration::from_secs(30)).unwrap();
            (device, BoardPort::named(&host.name().unwrap()))
        };
        let (devices, ports): (Vec<_>, Vec<_>) = pairs.map(open).unzip();
        (devices, SerialBench::open(ports, 115_200).unwrap())
    }

    /// Takes what comes for a second, or until there is so much.
    fn take(bench: &mut SerialBench, wanted: usize) -> BTreeMap<usize, Vec<u8>> {
        let mut all: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
        let end = bench.now() + Duration::from_secs(5);
        while all.values().map(Vec::len).sum::<usize>() < wanted && bench.now() < end {
            let until = bench.now() + Duration::from_millis(100);
            bench.wait(until, &mut |port, _, event| match event {
                PortEvent::Bytes(bytes) => all.entry(port).or_default().extend(bytes),
                PortEvent::Gone(error) => assert!(!error.is_empty()),
                PortEvent::Dropped(bytes) => panic!("{bytes} bytes dropped"),
            });
        }
        all
    }

    #[test]
    fn a_hundred_ports_are_read_and_written_at_once() {
        let (mut devices, mut bench) = bench(100);
        let all: Vec<usize> = (0..100).collect();
        assert_eq!(bench.reset(&all), vec![Ok(ResetWay::None); 100]);
        assert_eq!(
            bench.take_unsupported(),
            300,
            "three changes each, of lines that there are not"
        );
        let text = "I (1) iperf_cmd: ".repeat(100);
        for (number, device) in devices.iter_mut().enumerate() {
            device.write_all(format!("{number}:{text}").as_bytes()).unwrap();
            bench.write(number, format!("to {number}").as_bytes()).unwrap();
        }
        let wanted = 100 * (text.len() + 1) + 10 + 2 * 90;
        let read = take(&mut bench, wanted);
        for (number, device) in devices.iter_mut().enumerate() {
            assert_eq!(read[&number], format!("{number}:{text}").into_bytes());
            let wanted = format!("to {number}");
            let mut typed = vec![0; wanted.len()];
            device.read_exact(&mut typed).unwrap();
            assert_eq!(typed, wanted.into_bytes());
        }
    }

    #[test]
    fn a_port_that_goes_is_told_once_and_cannot_be_reset() {
        // Under a name that nobody else gets: another test's pseudo-terminal takes that of one which is gone.
        let folder = tempfile::tempdir().unwrap();
        let (mut devices, mut ports) = (Vec::new(), Vec::new());
        for name in ["stays", "goes"] {
            let (device, host) = NativePort::pair().unwrap();
            let name = folder.path().join(name);
            std::os::unix::fs::symlink(host.name().unwrap(), &name).unwrap();
            devices.push(device);
            ports.push(BoardPort::named(name.to_str().unwrap()));
        }
        let mut bench = SerialBench::open(ports, 115_200).unwrap();
        drop(devices.remove(1));
        std::fs::remove_file(folder.path().join("goes")).unwrap();
        let (mut gone, end) = (Vec::new(), bench.now() + Duration::from_secs(5));
        while gone.is_empty() && bench.now() < end {
            let until = bench.now() + Duration::from_millis(300);
            bench.wait(until, &mut |port, _, event| {
                if let PortEvent::Gone(_) = event {
                    gone.push(port);
                }
            });
        }
        assert_eq!(gone, [1]);
        assert!(bench.write(1, b"x").is_err());
        let ways = bench.reset(&[0, 1]);
        assert_eq!(ways[0], Ok(ResetWay::None));
        assert!(ways[1].as_ref().is_err_and(|error| error.contains("cannot open")), "{ways:?}");
    }

    #[test]
    fn one_board_of_many_that_is_missing_does_not_keep_the_others_from_being_measured() {
        let pairs = (0..2).map(|_| NativePort::pair().unwrap());
        let (_devices, mut names): (Vec<_>, Vec<String>) =
            pairs.map(|(device, host)| (device, host.name().unwrap())).unzip();
        let open = |names: &[String]| {
            SerialBench::open(names.iter().map(|it| BoardPort::named(it)).collect(), 115_200)
        };
        names.insert(1, "/dev/no-such-port".into());
        let mut bench = open(&names).unwrap();
        assert_eq!(bench.missing().len(), 1);
        assert_eq!(bench.missing()[0].what, "cannot open /dev/no-such-port");
        let ways = bench.reset(&[0, 1, 2]);
        assert!(ways[0].is_ok() && ways[2].is_ok(), "{ways:?}");
        assert!(ways[1].as_ref().is_err_and(|it| it.contains("no-such-port")), "{ways:?}");
        drop(bench);
        assert!(open(&names[..2]).is_err(), "nothing can be measured with one of two");
        names.swap(0, 1);
        assert!(open(&names).is_err(), "nothing can be measured without the first");
    }

    #[test]
    fn what_nobody_takes_is_dropped_and_counted() {
        let (mut devices, mut bench) = bench(1);
        let device = &mut devices[0];
        // The reading thread makes a piece of each write, since it takes it before the next one.
        let (mut written, text) = (0_u64, [b'x'; PIECE]);
        for _ in 0..WAITING + 200 {
            device.write_all(&text).unwrap();
            written += text.len() as u64;
        }
        std::thread::sleep(Duration::from_millis(500));
        let (mut read, mut dropped) = (0_u64, 0);
        for _ in 0..3 {
            let until = bench.now() + Duration::from_millis(200);
            bench.wait(until, &mut |_, _, event| match event {
                PortEvent::Bytes(bytes) => read += bytes.len() as u64,
                PortEvent::Dropped(bytes) => dropped += bytes,
                PortEvent::Gone(error) => panic!("{error}"),
            });
        }
        assert_eq!(read + dropped, written);
        assert!(dropped > 0, "{read} of {written}");
    }
}
