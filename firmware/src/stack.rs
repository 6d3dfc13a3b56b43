//! The main stack: its place is known to the linker, its deepest use by painting.

use core::arch::asm;
use core::slice;
use espbench_firmware_core::stack as paint;

unsafe extern "C" {
    /// Word that esp-hal watches; the stack must not grow down to it.
    static mut __stack_chk_guard: u32;
    /// First address above the stack.
    static _stack_start: u32;
}

/// Bytes below the stack pointer that are left alone while painting.
const MARGIN: usize = 512;

/// Returns the stack from just above the guard up to `end`.
fn words(end: usize) -> &'static mut [u32] {
    let from = (&raw mut __stack_chk_guard) as usize + 16;
    let len = end.saturating_sub(from) / size_of::<u32>();
    // SAFETY: the linker reserves this memory for the stack, and nothing but the stack is in it.
    // What is below the stack pointer may be written, and all of it may be read as words.
    unsafe { slice::from_raw_parts_mut(from as *mut u32, len) }
}

/// Paints what the stack does not use yet. Called once, before interrupts are on.
#[inline(never)]
pub(crate) fn paint() {
    let sp: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mv {}, sp", out(reg) sp, options(nomem, nostack)) };
    paint::paint(words(sp - MARGIN));
}

/// Returns the size of the stack and its deepest use so far, in bytes.
pub(crate) fn sizes() -> (usize, usize) {
    let words = words((&raw const _stack_start) as usize);
    let size = size_of_val(words);
    (size, size - paint::untouched(words))
}

/// Returns a word of the main stack, if the address is one.
pub(crate) fn word(at: u32) -> Option<u32> {
    let from = (&raw const __stack_chk_guard) as u32;
    let end = (&raw const _stack_start) as u32;
    let inside = at >= from && at < end && at.is_multiple_of(4);
    // SAFETY: the address is within the stack, and aligned.
    inside.then(|| unsafe { (at as *const u32).read_volatile() })
}
