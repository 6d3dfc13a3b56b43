//! A file of a capture that is read while it is written.

use crate::clock::Clock;
use espbench_model::time::Instant;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time after which what is written is handed on.
const FLUSH: Duration = Duration::from_millis(100);

/// A file whose reader may wait for what comes: it is handed on with the first write after
/// 100 ms, and at the end.
#[derive(Debug)]
pub(super) struct FlushedFile {
    file: BufWriter<File>,
    clock: Clock,
    flushed: Instant,
    /// Whether it takes no more: its reader has gone.
    gone: Arc<AtomicBool>,
}

impl FlushedFile {
    /// Creates it. One that is a pipe waits for its reader.
    pub(super) fn create(path: &Path, gone: Arc<AtomicBool>) -> io::Result<Self> {
        let file = BufWriter::new(File::create(path)?);
        Ok(Self { file, clock: Clock::start(), flushed: Instant::ZERO, gone })
    }

    /// Notes that it takes no more.
    fn noted<T>(&self, done: io::Result<T>) -> io::Result<T> {
        if done.is_err() {
            self.gone.store(true, Ordering::Relaxed);
        }
        done
    }
}

impl Write for FlushedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.file.write(bytes);
        let written = self.noted(done)?;
        if self.clock.now().since(self.flushed) >= FLUSH {
            self.flush()?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flushed = self.clock.now();
        let done = self.file.flush();
        self.noted(done)
    }
}
