//! Helpers of the tests: commands in folders of their own, and real peers.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Bounds a hang, and measures nothing: a machine that is busy with other work may take minutes for
/// what takes seconds on a free one.
pub const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// A folder of the test's own, with a store in it.
pub struct TestDir {
    pub dir: TempDir,
}

impl TestDir {
    pub fn new() -> Self {
        Self { dir: TempDir::new().expect("a temporary folder") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn store(&self) -> PathBuf {
        self.path("runs.sqlite")
    }

    /// Returns the command `espbench` with these arguments, in the folder, with the folder's store.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_espbench"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("ESPBENCH_STORE", self.store())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&mut self.command(args))
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a file in the temporary folder");
        path
    }
}

/// A command that has ended.
#[derive(Debug)]
pub struct Ran {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn of(command: &mut Command) -> Self {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{command:?}: {e}"));
        let output = finish(child);
        Self {
            status: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Returns the command's stdout; panics with all output where the command failed.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.status, Some(0), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self.out
    }
}

/// Waits for a child, at most [`PATIENCE`]; then it is killed and the test fails.
fn finish(mut child: Child) -> Output {
    fn read(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.read_to_end(&mut bytes);
            bytes
        })
    }
    let out = read(child.stdout.take().expect("a piped stdout"));
    let err = read(child.stderr.take().expect("a piped stderr"));
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait().expect("the child's status") {
            break status;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            panic!("a command did not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Output { status, stdout: out.join().unwrap(), stderr: err.join().unwrap() }
}

/// A process that runs beside the test and is killed with it.
pub struct ChildProcess {
    child: Child,
    lines: Receiver<String>,
}

impl ChildProcess {
    /// Starts a command whose stdout (`err` false) or stderr (`err` true) is read line by line.
    pub fn start(command: &mut Command, err: bool) -> Self {
        let (out, errs) =
            if err { (Stdio::null(), Stdio::piped()) } else { (Stdio::piped(), Stdio::null()) };
        let mut child =
            command.stdout(out).stderr(errs).spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
        let pipe: Box<dyn Read + Send> = if err {
            Box::new(child.stderr.take().unwrap())
        } else {
            Box::new(child.stdout.take().unwrap())
        };
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    /// Waits for the next line that contains `what`.
    #[track_caller]
    pub fn line(&self, what: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        let mut others = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if line.contains(what) => return line,
                Ok(line) => others.push(line),
                Err(e) => panic!("no line with `{what}`: {e}; it printed {others:#?}"),
            }
        }
    }

    /// Ends the process with SIGKILL, as a power cut would.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns whether a line that nobody has read yet contains `what`; those before it are gone.
    pub fn has_said(&self, what: &str) -> bool {
        self.lines.try_iter().any(|line| line.contains(what))
    }

    /// Returns how it ended, if it has.
    pub fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("the child's status")
    }

    /// Fails the test where it has ended, with the lines that it printed and nobody read.
    #[track_caller]
    pub fn must_run(&mut self) {
        if let Some(status) = self.status() {
            let lines: Vec<String> = self.lines.iter().collect();
            panic!("a background command ended, {status}: {lines:#?}");
        }
    }

    /// Waits for its own end.
    #[track_caller]
    pub fn wait(&mut self) -> Option<i32> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.status() {
                return status.code();
            }
            assert!(Instant::now() < deadline, "a background command did not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads one TCP connection after the other at a rate of its own, with a receive buffer of a few
/// kilobytes as an ESP32 has, and counts.
pub struct Paced {
    pub address: SocketAddr,
    counted: Receiver<f64>,
}

impl Paced {
    /// Starts a reader of `rate` bytes a second.
    pub fn start(rate: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let buffer = socket2::SockRef::from(&listener).set_recv_buffer_size(5744);
        buffer.expect("a receive buffer");
        let address = listener.local_addr().expect("its address");
        let (sender, counted) = channel();
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if sender.send(read_paced(stream, rate)).is_err() {
                    break;
                }
            }
        });
        Self { address, counted }
    }

    /// Returns the bytes a second that the reader counted on the next connection, from its first
    /// read to its last.
    pub fn rate(&self) -> f64 {
        self.counted.recv_timeout(PATIENCE).expect("the reader is done")
    }
}

fn read_paced(mut stream: TcpStream, rate: u64) -> f64 {
    let start = Instant::now();
    let (mut count, mut last) = (0, start);
    let mut buffer = [0; 2048];
    loop {
        let due = (start.elapsed().as_secs_f64() * rate as f64) as u64 - count;
        if due < 19 {
            std::thread::sleep(Duration::from_micros(500));
            continue;
        }
        let room = buffer.len().min(due as usize);
        match stream.read(&mut buffer[..room]) {
            Ok(0) | Err(_) => return count as f64 / last.duration_since(start).as_secs_f64(),
            Ok(length) => {
                count += length as u64;
                last = Instant::now();
            }
        }
    }
}

/// Returns whether a real peer is installed. A missing one is said loudly, and in CI it is a
/// failure.
pub fn peer(program: &str) -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()));
    found || missing(&format!("the program `{program}`"))
}

/// Returns the Python that has a module, as [`peer`]: the first one of the path, or the system's,
/// for which the distribution's packages are.
pub fn python_with(module: &str) -> Option<&'static str> {
    let has = |python: &&str| {
        Command::new(python)
            .args(["-c", &format!("import {module}")])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    let found = ["python3", "/usr/bin/python3"].into_iter().find(has);
    if found.is_none() {
        missing(&format!("Python's module `{module}`"));
    }
    found
}

/// Returns the folder of the published documents: `ESPBENCH_SOURCES`.
pub fn sources() -> Option<PathBuf> {
    let folder = std::env::var_os("ESPBENCH_SOURCES").map(PathBuf::from);
    let folder = folder.filter(|f| Path::new(f).is_dir());
    if folder.is_none() {
        missing("the folder of the published documents (ESPBENCH_SOURCES)");
    }
    folder
}

/// Says loudly that something is missing, and fails in CI; false.
pub fn missing(what: &str) -> bool {
    assert!(std::env::var_os("CI").is_none(), "{what} is missing, and CI skips nothing");
    eprintln!("SKIPPED: {what} is missing");
    false
}

/// Returns a port of loopback that was free a moment ago, over UDP and over TCP. It is below those that the
/// system gives to sockets without one, so that no other test is given it in between.
///
/// Linux is asked for its tables: a socket that only tries the port may live on in a command that another thread is starting,
/// and keep the port from whoever is told of it.
pub fn free_port() -> u16 {
    static NEXT: std::sync::atomic::AtomicU16 = std::sync::atomic::AtomicU16::new(0);
    let own = (std::process::id() % 97) as u16 * 211;
    for _ in 0..20_000 {
        let next = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let port = 10_500 + (own.wrapping_add(next)) % 21_000;
        if is_free(port) {
            return port;
        }
    }
    panic!("no port of loopback is free");
}

fn is_free(port: u16) -> bool {
    if cfg!(target_os = "linux") {
        let entry = format!(":{port:04X} ");
        let is_taken = |table: &str| {
            let text = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
            text.contains(&entry)
        };
        return !["udp", "tcp", "udp6", "tcp6"].into_iter().any(is_taken);
    }
    let udp = std::net::UdpSocket::bind(("127.0.0.1", port));
    udp.is_ok() && std::net::TcpListener::bind(("127.0.0.1", port)).is_ok()
}

/// Takes an address that a server of this process had before: a command that another test just starts
/// holds its closed socket for a moment.
pub fn bound_again<T>(bind: impl Fn() -> std::io::Result<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match bind() {
            Ok(it) => return it,
            Err(error) => {
                let is_held = error.kind() == std::io::ErrorKind::AddrInUse;
                assert!(is_held && Instant::now() < deadline, "{error}");
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_port_that_is_told_can_be_taken_while_commands_are_started() {
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let taken: Vec<u16> = std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    Command::new("true").status().expect("it starts");
                }
            });
        }
        let can_be_taken = |port: &u16| {
            std::net::UdpSocket::bind(("127.0.0.1", *port)).is_ok()
                && std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok()
        };
        let taken = (0..500).map(|_| free_port()).filter(|port| !can_be_taken(port)).collect();
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        taken
    });
    assert!(taken.is_empty(), "{taken:?}");
}

/// Returns a field of the frames of a capture that a display filter lets through, one a line.
pub fn tshark(file: &Path, filter: &str, field: &str) -> Vec<String> {
    let output = Command::new("tshark")
        .args(["-o", "wlan.check_checksum:TRUE", "-T", "fields", "-e", field, "-Y", filter, "-r"])
        .arg(file)
        .output()
        .expect("tshark runs");
    assert!(output.status.success(), "{filter}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(String::from).collect()
}

/// Returns the time of the processor that a process took, its own and the kernel's for it, in ticks of 10 ms; 0 once it is
/// gone.
pub fn processor_ticks(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name before it ends with a bracket, and may have spaces.
    let fields = stat.rsplit_once(')').map_or("", |it| it.1).split_whitespace();
    fields.skip(11).take(2).filter_map(|it| it.parse::<u64>().ok()).sum()
}
