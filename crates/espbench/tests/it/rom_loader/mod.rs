//! A chip in its serial loader behind a pseudo-terminal, for hosts that flash it: ours and esptool.
//!
//! It is made after the page "Serial Protocol" of esptool's documentation, without code of any loader.
//! Nothing of a stub is executed: a stub that came whole is taken for one.
//!
//! | module | contents |
//! |---|---|
//! | `elf` | a small program, as a linker leaves it |
//! | `slip` | frames on a line |
//! | `packet` | requests and responses |
//! | `machine` | the chip: flash, registers, memory, writes under way |
//! | `properties` | of these, for any bytes |

pub mod elf;
pub mod machine;
pub mod packet;
mod properties;
pub mod slip;

use crate::pseudo_terminals::pseudo_terminal;
use machine::{ChipModel, Loader, Wrong};
use slip::{SlipReader, framed};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Faults of the line and of the port.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineFaults {
    /// The port goes away after so many requests.
    pub closes_after: Option<u32>,
    /// Bytes that stand before each frame, after so many requests.
    pub noise: Option<(u32, &'static [u8])>,
    /// Rate that the chip really has, whatever it was told: at any other nothing is understood.
    pub only_baud: Option<u32>,
}

/// Chip on a pseudo-terminal, until it is dropped.
pub struct AttachedLoader {
    /// Name of the port.
    pub name: String,
    loader: Arc<Mutex<Loader>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl AttachedLoader {
    /// Attaches an ESP32-C3 with 4 MiB of flash.
    pub fn c3() -> Self {
        Self::new(ChipModel::C3, Wrong::default(), LineFaults::default())
    }

    /// Attaches a chip with 4 MiB of flash.
    pub fn new(chip: ChipModel, wrong: Wrong, faults: LineFaults) -> Self {
        let (line, host, name) = pseudo_terminal();
        let loader = Arc::new(Mutex::new(Loader::new(chip, 4 << 20, wrong)));
        let ends = Arc::new(AtomicBool::new(false));
        let (shared, flag) = (Arc::clone(&loader), Arc::clone(&ends));
        let thread = std::thread::spawn(move || serve(line, host, &shared, &flag, faults));
        Self { name, loader, ends, thread: Some(thread) }
    }

    /// Returns the target as it is typed.
    pub fn on(&self) -> String {
        format!("serial:{}", self.name)
    }

    /// Lends the chip to look at it.
    pub fn with<T>(&self, look: impl FnOnce(&mut Loader) -> T) -> T {
        look(&mut self.loader.lock().unwrap())
    }

    /// Starts the loader in ROM again, as a reset does that a pseudo-terminal has no lines for.
    pub fn reset(&self) {
        self.with(|it| (it.is_stub, it.baud) = (false, None));
    }

    /// Returns a range of the flash.
    pub fn flash(&self, range: std::ops::Range<usize>) -> Vec<u8> {
        self.with(|it| it.flash[range].to_vec())
    }
}

impl Drop for AttachedLoader {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Answers what a host says on the line, until the flag is set or the port goes away.
fn serve(
    mut line: File,
    host: File,
    loader: &Mutex<Loader>,
    ends: &AtomicBool,
    faults: LineFaults,
) {
    let mut reader = SlipReader::default();
    let (mut some, mut requests) = (vec![0; 0x1000], 0);
    // A chip that starts says so before anybody asks.
    let _ = line.write_all(b"ESP-ROM:esp32c3-api1-20210207\r\nboot:0x5 (DOWNLOAD(USB/UART0/1))\r\nwaiting for download\r\n");
    while !ends.load(Ordering::Relaxed) {
        if !is_readable(line.as_raw_fd()) {
            continue;
        }
        let Ok(n @ 1..) = line.read(&mut some) else { return };
        for byte in &some[..n] {
            let Some(frame) = reader.push(*byte) else { continue };
            if faults.only_baud.is_some_and(|it| it != baud(host.as_raw_fd())) {
                continue;
            }
            requests += 1;
            if faults.closes_after.is_some_and(|it| requests > it) {
                return;
            }
            let mut answer = Vec::new();
            let frames = loader.lock().unwrap().handle(&frame);
            for frame in frames {
                if let Some((_, noise)) = faults.noise.filter(|it| requests > it.0) {
                    answer.extend(noise);
                }
                answer.extend(framed(&frame));
            }
            if line.write_all(&answer).is_err() {
                return;
            }
        }
    }
}

/// Waits a moment for bytes.
fn is_readable(fd: RawFd) -> bool {
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: poll reads and writes one entry, of a variable of that type.
    unsafe { libc::poll(&raw mut poll, 1, 20) > 0 }
}

/// Returns the rate that the host has set.
fn baud(fd: RawFd) -> u32 {
    let mut settings = std::mem::MaybeUninit::<libc::termios2>::uninit();
    // SAFETY: TCGETS2 writes one termios2, which is read only where the call says that it did.
    unsafe {
        if libc::ioctl(fd, libc::TCGETS2, settings.as_mut_ptr()) != 0 {
            return 0;
        }
        settings.assume_init().c_ospeed
    }
}
