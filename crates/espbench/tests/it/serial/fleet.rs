//! Boards of a lab whose consoles are pseudo-terminals, in real time.

use crate::pseudo_terminals::pseudo_terminal;
use crate::util::{ChildProcess, PATIENCE};
use espbench_model::time::Instant;
use espbench_model::workload::Workload;
use espbench_sim::lab::file::Library;
use espbench_sim::lab::live::{LiveLab, LiveSetup, WallPace};
use espbench_sim::lab::nodes::NodeId;
use espbench_sim::lab::suite;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use tempfile::TempDir;

/// Deed of a test to the fleet.
pub enum Act {
    /// Closes a board's port.
    Unplug(usize),
    /// Gives a board whose port was closed a new one, under the same name.
    Plug(usize),
    /// Prints bytes at a board's port, as if its firmware did, and resets the board.
    Print(usize, &'static [u8]),
}

/// The end of a board's port that is ours, and what its reader has not had room for yet.
struct BoardPort {
    ours: File,
    /// Open for as long as the port is there, so that it lives on between two readers.
    _theirs: File,
    waiting: Vec<u8>,
}

/// Bytes that wait for a reader at most; more are lost.
const WAITING_MAX: usize = 64 << 10;

impl BoardPort {
    fn new((ours, theirs, _): (File, File, String)) -> Self {
        Self { ours, _theirs: theirs, waiting: Vec::new() }
    }

    /// Prints bytes, as far as there is room for them now.
    fn print(&mut self, bytes: impl IntoIterator<Item = u8>) {
        self.waiting.extend(bytes);
        self.waiting.truncate(WAITING_MAX);
        if let Ok(written) = self.ours.write(&self.waiting) {
            self.waiting.drain(..written);
        }
    }
}

/// The fleet, and the thread that it lives in.
pub struct PtyFleet {
    /// Names of the ports: links, which stay the same when a board is plugged in again.
    pub ports: Vec<String>,
    /// Bytes that each board printed.
    printed: Arc<Mutex<Vec<Vec<u8>>>>,
    /// Folder of the links, which goes with the fleet.
    _links: TempDir,
    acts: Option<Sender<Act>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for PtyFleet {
    fn drop(&mut self) {
        self.acts = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Returns a pseudo-terminal: our end, which never waits, the other one, and its name. It is raw.
pub fn terminal() -> (File, File, String) {
    let (ours, theirs, path) = pseudo_terminal();
    // SAFETY: fcntl sets a flag of an open file.
    unsafe { assert_eq!(libc::fcntl(ours.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK), 0) };
    (ours, theirs, path)
}

/// Starts the boards of the room in which the lab carries out a cell.
pub fn fleet(work: &Workload, library: Library) -> PtyFleet {
    let scene = suite::scene(work, &library, None, 1).unwrap();
    let count = scene.nodes.len();
    let terminals: Vec<(File, File, String)> = (0..count).map(|_| terminal()).collect();
    let links = TempDir::new().unwrap();
    let names: Vec<_> =
        (0..count).map(|board| links.path().join(format!("board{board}"))).collect();
    for ((.., path), name) in terminals.iter().zip(&names) {
        std::os::unix::fs::symlink(path, name).unwrap();
    }
    let ports = names.iter().map(|it| it.to_str().unwrap().to_owned()).collect();
    let (acts, done) = channel();
    let printed = Arc::new(Mutex::new(vec![Vec::new(); count]));
    let heard = Arc::clone(&printed);
    let thread = std::thread::spawn(move || {
        let mut lab = LiveLab::new(&scene, LiveSetup { seed: 1, baud: None }, ());
        (0..count).for_each(|node| lab.answer_cursor(NodeId(node as u16), false));
        let (mut pace, begun) = (WallPace::default(), std::time::Instant::now());
        let mut ports: Vec<Option<BoardPort>> =
            terminals.into_iter().map(|it| Some(BoardPort::new(it))).collect();
        loop {
            match done.try_recv() {
                Ok(Act::Unplug(port)) => {
                    ports[port] = None;
                    std::fs::remove_file(&names[port]).unwrap();
                }
                Ok(Act::Plug(port)) => {
                    let terminal = terminal();
                    std::os::unix::fs::symlink(&terminal.2, &names[port]).unwrap();
                    ports[port] = Some(BoardPort::new(terminal));
                }
                Ok(Act::Print(port, bytes)) => {
                    ports[port].as_mut().unwrap().print(bytes.iter().copied());
                    lab.reset(NodeId(port as u16));
                }
                Err(std::sync::mpsc::TryRecvError::Disconnected) => return,
                Err(std::sync::mpsc::TryRecvError::Empty) => {}
            }
            let wall = Instant::from_nanos(begun.elapsed().as_nanos() as u64);
            let next = lab.next_due();
            let until = pace.step(wall, lab.now(), next);
            lab.advance(until).unwrap();
            for (board, port) in ports.iter_mut().enumerate() {
                let printed = pump(&mut lab, NodeId(board as u16), port.as_mut());
                heard.lock().unwrap()[board].extend(printed);
            }
            let waits = |port: &BoardPort| libc::pollfd {
                fd: port.ours.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            };
            let mut polled: Vec<libc::pollfd> = ports.iter().flatten().map(waits).collect();
            // SAFETY: as many as there are.
            unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, 1) };
        }
    });
    PtyFleet { ports, printed, _links: links, acts: Some(acts), thread: Some(thread) }
}

/// Moves bytes between a board and its port, and returns what was printed; where there is no port, it is lost.
fn pump(lab: &mut LiveLab, node: NodeId, port: Option<&mut BoardPort>) -> Vec<u8> {
    let printed: Vec<u8> =
        std::iter::from_fn(|| lab.take_printed(node)).map(|(_, byte)| byte).collect();
    let Some(port) = port else { return printed };
    port.print(printed.iter().copied());
    let mut typed = vec![0; lab.room(node).min(256)];
    let read = port.ours.read(&mut typed).unwrap_or(0);
    typed.truncate(read);
    assert_eq!(lab.type_bytes(node, &typed), read);
    printed
}

impl PtyFleet {
    /// Does something to the fleet.
    pub fn act(&self, act: Act) {
        self.acts.as_ref().unwrap().send(act).unwrap();
    }

    /// Waits until a board has printed a text, while a command that needs it runs.
    #[track_caller]
    pub fn until_printed(&self, command: &mut ChildProcess, board: usize, text: &str) {
        let end = std::time::Instant::now() + PATIENCE;
        while !String::from_utf8_lossy(&self.printed.lock().unwrap()[board]).contains(text) {
            assert!(std::time::Instant::now() < end, "`{text}` was not printed");
            command.must_run();
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// Returns the target with all ports.
    pub fn target(&self) -> String {
        format!("serial:{}", self.ports.join(","))
    }
}
