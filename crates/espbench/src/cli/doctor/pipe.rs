//! A log from a pipe, as it comes: stdin that a signal ends, and its first causes while it runs.

use crate::cli::thread;
use crate::say::say;
use crate::user_error::UserError;
use espbench_doctor::file::DoctorFileReader;
use espbench_doctor::finding::TroubleCause;
use espbench_doctor::rules::diagnose;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind, IsTerminal as _, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// Pieces that wait: the writer of a pipe waits, too, while the doctor reads.
const PIECES: usize = 4;

/// Time after which a read that has nothing says so.
const PATIENCE: Duration = Duration::from_millis(100);

/// Time between two looks at what a log tells so far.
const BETWEEN: Duration = Duration::from_millis(300);

/// Stdin, which also ends when a flag is set. A read without a byte for a while is [`ErrorKind::WouldBlock`].
pub(super) struct StdinPipe {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: io::Cursor<Vec<u8>>,
    cancel: Arc<AtomicBool>,
}

impl StdinPipe {
    /// Starts to read, in a thread of its own, which ends with the process or with stdin.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub(super) fn start(cancel: Arc<AtomicBool>) -> Result<Self, UserError> {
        let (sender, pieces) = sync_channel(PIECES);
        thread::start("stdin", move || {
            let mut some = vec![0; CHUNK];
            loop {
                let (piece, is_last) = match io::stdin().read(&mut some) {
                    Ok(0) => break,
                    Ok(count) => (Ok(some[..count].to_vec()), false),
                    Err(why) if why.kind() == ErrorKind::Interrupted => continue,
                    Err(why) => (Err(why), true),
                };
                if sender.send(piece).is_err() || is_last {
                    break;
                }
            }
        })?;
        Ok(Self { pieces, piece: io::Cursor::default(), cancel })
    }
}

impl Read for StdinPipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.piece.read(into)?;
            if count > 0 || into.is_empty() {
                return Ok(count);
            }
            if self.cancel.load(Ordering::Relaxed) {
                return Ok(0);
            }
            match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => self.piece = io::Cursor::new(piece?),
                Err(RecvTimeoutError::Timeout) => return Err(ErrorKind::WouldBlock.into()),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
    }
}

/// Causes that were told while a log came.
pub(super) struct LiveTold {
    /// Whether somebody sees them.
    is_seen: bool,
    told: BTreeSet<TroubleCause>,
    looked: Option<Instant>,
    /// Whether bytes came that were not looked at.
    is_new: bool,
}

impl Default for LiveTold {
    /// Tells where stderr is a terminal.
    fn default() -> Self {
        Self { is_seen: io::stderr().is_terminal(), ..Self::nobody() }
    }
}

impl LiveTold {
    /// Tells nobody.
    pub(super) const fn nobody() -> Self {
        Self { is_seen: false, told: BTreeSet::new(), looked: None, is_new: false }
    }

    /// Takes in that bytes came.
    pub(super) fn came(&mut self, reader: &DoctorFileReader) {
        self.is_new = true;
        if self.looked.is_none_or(|it| it.elapsed() >= BETWEEN) {
            self.look(reader);
        }
    }

    /// Takes in that nothing came for a while.
    pub(super) fn waits(&mut self, reader: &DoctorFileReader) {
        if self.is_new {
            self.look(reader);
        }
    }

    /// Tells the first cause so far, where it is a new one.
    fn look(&mut self, reader: &DoctorFileReader) {
        self.is_new = false;
        if !self.is_seen {
            return;
        }
        if let Some(log) = reader.log_so_far()
            && let Some(first) = diagnose(&log).findings.into_iter().next()
            && self.told.insert(first.cause)
        {
            match first.evidence.first() {
                Some(place) => say!("line {}: {}: {}", place.line, first.title, place.text),
                None => say!("{}", first.title),
            }
        }
        self.looked = Some(Instant::now());
    }
}
