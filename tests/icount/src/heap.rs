//! A heap for the IP programs, which ask for their buffers at the start: nothing is given back.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr;

/// Bytes of the heap.
const SIZE: usize = 512 * 1024;

#[repr(align(16))]
struct Heap {
    bytes: UnsafeCell<[u8; SIZE]>,
    used: UnsafeCell<usize>,
}

// SAFETY: the machine has one processor, and no interrupt is on.
unsafe impl Sync for Heap {}

#[global_allocator]
static HEAP: Heap = Heap { bytes: UnsafeCell::new([0; SIZE]), used: UnsafeCell::new(0) };

// SAFETY: pieces do not overlap, and each is aligned as asked, up to 16 bytes.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: one thread, and no reference is kept.
        let used = unsafe { &mut *self.used.get() };
        let from = used.next_multiple_of(layout.align());
        let end = from.saturating_add(layout.size());
        if end > SIZE || layout.align() > 16 {
            return ptr::null_mut();
        }
        *used = end;
        // SAFETY: within the heap.
        unsafe { self.bytes.get().cast::<u8>().add(from) }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}
