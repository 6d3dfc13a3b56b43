//! The sockets of one host, and the output of its program.

use crate::node::app::Endpoint;
use espbench_model::sample::{Interval, Probe, Sample};
use std::collections::{BTreeMap, VecDeque};
use std::string::String;
use std::vec::Vec;

/// One host.
#[derive(Debug, Default)]
pub(crate) struct Host {
    pub(crate) changed: bool,
    pub(crate) udp: BTreeMap<u16, Udp>,
    /// Listening sockets: port, and connections to be accepted.
    pub(crate) listeners: BTreeMap<u16, (u16, VecDeque<(u16, Endpoint)>)>,
    /// Sockets of connections: which, and whose side.
    pub(crate) tcp: BTreeMap<u16, (usize, usize)>,
    pub(crate) handles: u16,
    pub(crate) samples: Vec<Sample>,
    pub(crate) counts: BTreeMap<&'static str, u64>,
    pub(crate) printed: String,
    /// Datagrams sent, in order, with those that were refused.
    pub(crate) sends: u64,
    pub(crate) sent: Vec<Vec<u8>>,
    /// Bytes of the longest write on a connection, whatever fitted of it.
    pub(crate) longest_write: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Udp {
    pub(crate) port: u16,
    pub(crate) queue: VecDeque<(Endpoint, Vec<u8>)>,
}

impl Host {
    pub(crate) fn probes(&self) -> Vec<Probe> {
        let probe = |sample: &Sample| match sample {
            Sample::Probe(probe) => Some(*probe),
            Sample::Interval(_) => None,
        };
        self.samples.iter().filter_map(probe).collect()
    }

    pub(crate) fn intervals(&self) -> Vec<Interval> {
        let interval = |sample: &Sample| match sample {
            Sample::Interval(interval) => Some(*interval),
            Sample::Probe(_) => None,
        };
        self.samples.iter().filter_map(interval).collect()
    }

    pub(crate) fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or_default()
    }
}
