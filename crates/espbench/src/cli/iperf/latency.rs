//! `--latency` and what belongs to it.

use espbench_measure::plan::latency_by;
use espbench_measure::units;
use espbench_model::workload::{Latency, LatencyBy};
use std::time::Duration;

/// Flags of the echo probes around the test.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Latency under load")]
pub(super) struct EchoArgs {
    /// Send echoes first over the idle link and then beside the streams, and hold both latencies against
    /// each other; by ICMP [default], or as UDP datagrams to a port that echoes (10000 where not given).
    /// Where ICMP is not permitted, UDP is used and said
    #[arg(
        long,
        value_name = "icmp|udp[:PORT]",
        num_args = 0..=1,
        default_missing_value = "icmp",
        value_parser = latency_by,
        conflicts_with = "server"
    )]
    latency: Option<LatencyBy>,
    /// Time for which the idle link is probed first, such as 10s [default: 5 s]
    #[arg(long, value_name = "TIME", value_parser = units::seconds, requires = "latency")]
    latency_idle: Option<Duration>,
    /// Time from one probe to the next, such as 20ms [default: 50 ms]
    #[arg(long, value_name = "TIME", value_parser = units::seconds, requires = "latency")]
    latency_interval: Option<Duration>,
}

impl EchoArgs {
    /// Returns the echo probes that the flags ask for.
    pub(super) fn wanted(&self) -> Option<Latency> {
        let usual = Latency::DEFAULT;
        self.latency.map(|by| Latency {
            by,
            idle: self.latency_idle.unwrap_or(usual.idle),
            interval: self.latency_interval.unwrap_or(usual.interval),
        })
    }
}
