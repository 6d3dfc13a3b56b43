//! QEMU's machine `virt`: its UART, its counter of instructions, its switch, and the stack.

use core::arch::{asm, global_asm};
use core::fmt::{self, Write};
use core::slice;
use espbench_firmware_core::stack;

global_asm!(
    ".section .init",
    ".global _start",
    "_start:",
    "la sp, _stack_top",
    "la t0, _bss",
    "la t1, _ebss",
    "1: bgeu t0, t1, 2f",
    "sw zero, 0(t0)",
    "addi t0, t0, 4",
    "j 1b",
    "2: j main"
);

unsafe extern "C" {
    /// First address above the stack.
    static _stack_top: u32;
}

/// Bytes of the stack that are painted and looked at.
const STACK: usize = 256 * 1024;
/// Bytes below the stack pointer that are left alone while painting.
const MARGIN: usize = 256;

/// UART of the machine.
pub(crate) struct Uart;

impl Write for Uart {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            // SAFETY: the transmit register of the machine's NS16550.
            unsafe { (0x1000_0000 as *mut u8).write_volatile(byte) };
        }
        Ok(())
    }
}

/// Returns the number of instructions retired so far.
pub(crate) fn instructions() -> u64 {
    loop {
        let (high, low, again): (u32, u32, u32);
        // SAFETY: reads counters.
        unsafe {
            asm!("csrr {0}, minstreth", "csrr {1}, minstret", "csrr {2}, minstreth",
                out(reg) high, out(reg) low, out(reg) again, options(nomem, nostack));
        }
        if high == again {
            return u64::from(high) << 32 | u64::from(low);
        }
    }
}

/// Switches the machine off; any code but 0 is a failure.
pub(crate) fn exit(code: u32) -> ! {
    let word = if code == 0 { 0x5555 } else { code << 16 | 0x3333 };
    // SAFETY: the machine's test device.
    unsafe { (0x10_0000 as *mut u32).write_volatile(word) };
    loop {}
}

/// Returns the painted stack up to `end`.
fn words(end: usize) -> &'static mut [u32] {
    let from = (&raw const _stack_top) as usize - STACK;
    // SAFETY: nothing but the stack is in the highest memory, and it is aligned.
    unsafe { slice::from_raw_parts_mut(from as *mut u32, (end - from) / size_of::<u32>()) }
}

/// Paints what the stack does not use now.
#[inline(never)]
pub(crate) fn paint() {
    let sp: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mv {}, sp", out(reg) sp, options(nomem, nostack)) };
    stack::paint(words(sp - MARGIN));
}

/// Returns the bytes of stack that were used at the deepest since it was painted.
pub(crate) fn deepest() -> usize {
    STACK - stack::untouched(words((&raw const _stack_top) as usize))
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let _ = writeln!(Uart, "{info}");
    exit(1)
}
