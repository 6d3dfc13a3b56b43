//! What a host stands on, and what is beside it.

use espbench_proto::node::app::Work;
use espbench_proto::sample::Sample;

/// The driver below a host.
pub trait Lower {
    /// How many packets it takes now.
    fn room(&self) -> usize;

    /// Takes an IP packet; false where it has no room. The bytes are the caller's: the driver
    /// copies what it keeps.
    fn send(&mut self, packet: &[u8]) -> bool;

    /// Bytes of the heap that segments may still take.
    fn heap(&self) -> u32 {
        u32::MAX
    }

    /// Segments have taken some.
    fn use_heap(&mut self, _bytes: u32) {}
}

/// What a program's device is beside its network: the rest of
/// [`Sockets`](espbench_proto::node::app::Sockets).
pub trait Around: Lower {
    /// The program is busy with this.
    fn spend(&mut self, work: Work);
    /// It prints.
    fn print(&mut self, text: &[u8]);
    /// It records a sample.
    fn sample(&mut self, sample: Sample);
    /// It counts.
    fn count(&mut self, name: &'static str, by: u64);
}
