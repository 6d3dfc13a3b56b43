//! The device of smoltcp's interface in one call: at most one packet in, and one out.

use alloc::vec;
use alloc::vec::Vec;
use smoltcp::phy::{self, ChecksumCapabilities, DeviceCapabilities, Medium};
use smoltcp::time::Instant;

/// The longest packet that Ethernet and Wi-Fi carry for hosts.
pub(super) const MTU: usize = 1500;

/// The buffer into which a packet is written.
pub(super) struct TxBuffer {
    pub(super) bytes: Vec<u8>,
    /// The length of the written packet; 0 for none.
    pub(super) len: usize,
}

impl TxBuffer {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; MTU], len: 0 }
    }
}

/// A device for one call.
pub(super) struct SinglePacketDevice<'a> {
    pub(super) packet: Option<&'a [u8]>,
    pub(super) out: &'a mut TxBuffer,
}

/// The packet that comes in.
pub(super) struct RxToken<'a>(&'a [u8]);

impl phy::Device for SinglePacketDevice<'_> {
    type RxToken<'b>
        = RxToken<'b>
    where
        Self: 'b;
    type TxToken<'b>
        = &'b mut TxBuffer
    where
        Self: 'b;

    fn receive(&mut self, _: Instant) -> Option<(RxToken<'_>, &mut TxBuffer)> {
        let packet = self.packet.take()?;
        Some((RxToken(packet), self.out))
    }

    fn transmit(&mut self, _: Instant) -> Option<&mut TxBuffer> {
        (self.out.len == 0).then_some(&mut *self.out)
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut it = DeviceCapabilities::default();
        it.medium = Medium::Ip;
        it.max_transmission_unit = MTU;
        // Nothing here changes a bit: the lab loses whole packets.
        it.checksum = ChecksumCapabilities::ignored();
        it
    }
}

impl phy::RxToken for RxToken<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(self.0)
    }
}

impl phy::TxToken for &mut TxBuffer {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        self.len = len;
        f(&mut self.bytes[..len])
    }
}
