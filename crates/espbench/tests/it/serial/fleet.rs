//! Boards of a lab whose consoles are pseudo-terminals, in real time.

use espbench_model::time::Instant;
use espbench_model::workload::Workload;
use espbench_sim::lab::file::Library;
use espbench_sim::lab::live::{LiveLab, LiveSetup, WallPace};
use espbench_sim::lab::nodes::NodeId;
use espbench_sim::lab::suite;
use std::ffi::CStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::sync::mpsc::{Sender, channel};
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

/// The fleet, and the thread that it lives in.
pub struct PtyFleet {
    /// Names of the ports: links, which stay the same when a board is plugged in again.
    pub ports: Vec<String>,
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

/// Returns a pseudo-terminal: our end, the other one, and its name. It is raw.
pub fn terminal() -> (File, OwnedFd, String) {
    let (mut ours, mut theirs, mut name) = (-1, -1, [0; 128]);
    // SAFETY: openpty writes two descriptors and a name shorter than 128 bytes.
    unsafe {
        let (none, size) = (std::ptr::null_mut(), std::ptr::null_mut());
        assert_eq!(libc::openpty(&raw mut ours, &raw mut theirs, name.as_mut_ptr(), none, size), 0);
        let mut mode = std::mem::zeroed();
        assert_eq!(libc::tcgetattr(theirs, &raw mut mode), 0);
        libc::cfmakeraw(&raw mut mode);
        assert_eq!(libc::tcsetattr(theirs, libc::TCSANOW, &raw const mode), 0);
        assert_eq!(libc::fcntl(ours, libc::F_SETFL, libc::O_NONBLOCK), 0);
        // A command that is started would keep them open.
        for end in [ours, theirs] {
            assert_eq!(libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC), 0);
        }
        let path = CStr::from_ptr(name.as_ptr()).to_str().unwrap().to_owned();
        (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs), path)
    }
}

/// Starts the boards of the room in which the lab carries out a cell.
pub fn fleet(work: &Workload, library: Library) -> PtyFleet {
    let scene = suite::scene(work, &library, None, 1).unwrap();
    let count = scene.nodes.len();
    let terminals: Vec<(File, OwnedFd, String)> = (0..count).map(|_| terminal()).collect();
    let links = TempDir::new().unwrap();
    let names: Vec<_> =
        (0..count).map(|board| links.path().join(format!("board{board}"))).collect();
    for ((.., path), name) in terminals.iter().zip(&names) {
        std::os::unix::fs::symlink(path, name).unwrap();
    }
    let ports = names.iter().map(|it| it.to_str().unwrap().to_owned()).collect();
    let (acts, done) = channel();
    let thread = std::thread::spawn(move || {
        let mut lab = LiveLab::new(&scene, LiveSetup { seed: 1, baud: None }, ());
        (0..count).for_each(|node| lab.answer_cursor(NodeId(node as u16), false));
        let (mut pace, begun) = (WallPace::default(), std::time::Instant::now());
        let mut terminals: Vec<Option<(File, OwnedFd)>> =
            terminals.into_iter().map(|(ours, theirs, _)| Some((ours, theirs))).collect();
        loop {
            match done.try_recv() {
                Ok(Act::Unplug(port)) => {
                    terminals[port] = None;
                    std::fs::remove_file(&names[port]).unwrap();
                }
                Ok(Act::Plug(port)) => {
                    let (ours, theirs, path) = terminal();
                    terminals[port] = Some((ours, theirs));
                    std::os::unix::fs::symlink(path, &names[port]).unwrap();
                }
                Ok(Act::Print(port, bytes)) => {
                    let (ours, _) = terminals[port].as_mut().unwrap();
                    ours.write_all(bytes).unwrap();
                    lab.reset(NodeId(port as u16));
                }
                Err(std::sync::mpsc::TryRecvError::Disconnected) => return,
                Err(std::sync::mpsc::TryRecvError::Empty) => {}
            }
            let wall = Instant::from_nanos(begun.elapsed().as_nanos() as u64);
            let next = lab.next_due();
            let until = pace.step(wall, lab.now(), next);
            lab.advance(until).unwrap();
            for (board, it) in terminals.iter_mut().enumerate() {
                pump(&mut lab, NodeId(board as u16), it.as_mut().map(|it| &mut it.0));
            }
            let mut polled: Vec<libc::pollfd> = terminals
                .iter()
                .flatten()
                .map(|it| libc::pollfd { fd: it.0.as_raw_fd(), events: libc::POLLIN, revents: 0 })
                .collect();
            // SAFETY: as many as there are.
            unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, 1) };
        }
    });
    PtyFleet { ports, _links: links, acts: Some(acts), thread: Some(thread) }
}

/// Moves bytes between a board and its terminal; what nobody reads is lost.
fn pump(lab: &mut LiveLab, node: NodeId, ours: Option<&mut File>) {
    let printed: Vec<u8> =
        std::iter::from_fn(|| lab.take_printed(node)).map(|(_, byte)| byte).collect();
    let Some(ours) = ours else { return };
    let _ = ours.write(&printed);
    let mut typed = [0; 256];
    let room = lab.room(node).min(typed.len());
    if let Ok(n) = ours.read(&mut typed[..room]) {
        assert_eq!(lab.type_bytes(node, &typed[..n]), n);
    }
}

impl PtyFleet {
    /// Does something to the fleet.
    pub fn act(&self, act: Act) {
        self.acts.as_ref().unwrap().send(act).unwrap();
    }

    /// Returns the target with all ports.
    pub fn target(&self) -> String {
        format!("serial:{}", self.ports.join(","))
    }
}
