//! A whole node as firmware for the ESP32-C3 would link it: no heap, no std, and 24 KiB of RAM.
//! Built by `ci/riscv.sh` and never run.
#![no_std]

use core::mem::MaybeUninit;
use core::panic::PanicInfo;
use core::slice;
use esp_now::node::board::{BareBoard, Board};
use esp_now::node::device::{Setup, SmallNode};
use esp_now::node::task::NodeSettings;
use esp_now::node::{Input, NodeOutput, ReceivedFrame};
use espbench_model::time::Instant;
use espbench_ieee80211::mac::Mac;

/// Where the firmware has its node: its size in the table of symbols is the RAM that a node takes.
#[unsafe(no_mangle)]
pub static mut ESPBENCH_NODE: MaybeUninit<SmallNode> = MaybeUninit::uninit();

/// Starts the node.
#[unsafe(no_mangle)]
pub extern "C" fn espbench_start(node: &mut MaybeUninit<SmallNode>, now: u64) {
    let (mut board, mac) = (BareBoard(now), Mac([2, 0, 0, 0, 0, 1]));
    let (settings, setup) = (NodeSettings::default(), Setup::default());
    node.write(SmallNode::new(Instant::from_nanos(now), &mut board, mac, settings, &setup));
}

/// Hands a frame to the node.
///
/// # Safety
///
/// `data` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn espbench_handle(
    node: &mut SmallNode,
    now: u64,
    data: *const u8,
    len: usize,
    rssi: i8,
) {
    // SAFETY: the caller says so.
    let data = unsafe { slice::from_raw_parts(data, len) };
    let (transmitter, receiver) = (Mac([2, 0, 0, 0, 0, 2]), Mac::BROADCAST);
    let frame = ReceivedFrame { data, transmitter, receiver, rssi, channel: 1 };
    let board: &mut dyn Board = &mut BareBoard(now);
    node.handle(Instant::from_nanos(now), board, Input::Frame(frame));
}

/// Asks the node what it wants: the length of a frame to send, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn espbench_poll(node: &mut SmallNode, now: u64, buf: &mut [u8; 250]) -> usize {
    let board: &mut dyn Board = &mut BareBoard(now);
    match node.poll(Instant::from_nanos(now), board, buf) {
        NodeOutput::Transmit { len, .. } => len,
        _ => 0,
    }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}
