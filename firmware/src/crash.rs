//! The handler of crashes: prints the reason as ESP-IDF does, remembers the crash, and restarts.

use crate::stack;
use crate::terminal::ChipTerminal;
use core::arch::asm;
use core::fmt::{self, Write};
use core::panic::PanicInfo;
use esp_hal::time::{Duration, Instant};
use espbench_firmware_core::driver::Terminal;
use espbench_firmware_core::panic::{Backtrace, Crash};

/// Word that says the last start ended in a crash.
const CRASHED: u32 = 0xC5A5_4ED1;
/// Longest wait for the terminal to take text.
const PATIENCE: Duration = Duration::from_millis(100);

/// Memory that a reset by software leaves alone: that of the RTC, or on ESP32-C2, which has none, a
/// word that the start does not clear.
#[cfg_attr(not(feature = "esp32c2"), esp_hal::ram(unstable(rtc_fast, persistent)))]
#[cfg_attr(feature = "esp32c2", unsafe(link_section = ".noinit"))]
static mut MARK: u32 = 0;

/// Returns whether the last start ended in a crash, and forgets it.
pub(crate) fn take() -> bool {
    let place = &raw mut MARK;
    // SAFETY: one core, and no interrupt uses it.
    unsafe {
        let crashed = place.read_volatile() == CRASHED;
        place.write_volatile(0);
        crashed
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let (fp, pc): (u32, u32);
    // SAFETY: reads registers; nothing runs after this but the handler, so interrupts go off.
    unsafe {
        asm!("csrci mstatus, 8", "mv {}, s0", "auipc {}, 0", out(reg) fp, out(reg) pc, options(nomem, nostack));
        (&raw mut MARK).write_volatile(CRASHED);
    }
    let exception = info.location().is_some_and(|at| at.file().contains("exception_handler"));
    let crash = Crash {
        exception,
        reason: format_args!("{}", info.message()),
        location: info.location().filter(|_| !exception).map(|at| (at.file(), at.line())),
        pc,
        backtrace: Backtrace::walk(fp, stack::word),
    };
    let mut out = Patient(ChipTerminal::steal());
    // Nobody is told if this fails, too.
    let _ = crash.print(&mut out);
    let from = Instant::now();
    while from.elapsed() < PATIENCE {}
    esp_hal::system::software_reset()
}

/// A terminal that is waited for, but not for ever: a host may not be there.
struct Patient(ChipTerminal);

impl Write for Patient {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let (mut rest, mut since) = (text.as_bytes(), Instant::now());
        while !rest.is_empty() {
            let len = self.0.write(rest);
            rest = &rest[len..];
            if len > 0 {
                since = Instant::now();
            } else if since.elapsed() > PATIENCE {
                return Err(fmt::Error);
            }
        }
        Ok(())
    }
}
