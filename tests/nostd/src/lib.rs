//! The lower crates in a program that has a panic handler and an allocator of its own, as firmware
//! has. Where one of them (or a crate below them) links std, there are two panic handlers,
//! and the compiler says so: E0152, duplicate lang item. Run by `ci/nostd.sh`.
#![no_std]

extern crate alloc;
extern crate esp_now as _;
extern crate espbench_dot11 as _;
extern crate espbench_engine as _;
extern crate espbench_ieee80211 as _;
extern crate espbench_measure as _;
extern crate espbench_model as _;
extern crate espbench_proto as _;
extern crate espbench_sim as _;

use core::alloc::{GlobalAlloc, Layout};

/// Has no memory: the program is built and never run.
struct Nothing;

// SAFETY: a null pointer is the answer that `GlobalAlloc` allows for "no memory"; nothing was ever
// given out, so nothing can be given back.
unsafe impl GlobalAlloc for Nothing {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: Nothing = Nothing;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
