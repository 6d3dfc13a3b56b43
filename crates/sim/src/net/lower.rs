//! The driver below a host, and the device around a program.

use espbench_model::sample::Sample;
use espbench_proto::node::app::ProgramWork;

/// The driver below a host.
pub trait NetDriver {
    /// Returns the number of packets that the driver takes now.
    fn room(&self) -> usize;

    /// Takes an IP packet; returns false if the driver has no room. The bytes belong to the caller:
    /// the driver copies them.
    fn send(&mut self, packet: &[u8]) -> bool;

    /// Returns the bytes of the heap that segments may still use.
    fn heap(&self) -> u32 {
        u32::MAX
    }

    /// Takes note that segments have used bytes of the heap.
    fn use_heap(&mut self, _bytes: u32) {}
}

/// The device around a program, beside its network: the rest of
/// [`Sockets`](espbench_proto::node::app::Sockets).
pub trait ProgramEnv: NetDriver {
    /// Takes note that the program is busy with some work.
    fn spend(&mut self, work: ProgramWork);
    /// Prints text of the program.
    fn print(&mut self, text: &[u8]);
    /// Records a sample.
    fn sample(&mut self, sample: Sample);
    /// Increases a counter.
    fn count(&mut self, name: &'static str, by: u64);
}
