//! The tool's own costs: raw observations for [`Overhead`], taken before every run.

use super::udp_echo::EchoTarget;
use super::{Sink, Target as _, TargetError, loopback};
use crate::clock::Clock;
use crate::respond::echo::{self, ReplyTo};
use espbench_measure::plan::defaults;
use espbench_measure::report::Overhead;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;
use espbench_model::workload::{EchoFormat, Workload};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Round trips of 64 bytes; some tens of milliseconds.
const PROBES: u32 = 2000;
/// Readings of the clock, one after the other.
const READINGS: usize = 10_000;

struct Keep<'a> {
    samples: Vec<Sample>,
    cancel: &'a AtomicBool,
}

impl Sink for Keep<'_> {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn count(&mut self, _: &str, _: u64) {}

    fn fact(&mut self, _: &str, _: String) {}

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// Measures the tool on loopback: its clock, and a round trip with nothing in between.
///
/// # Errors
/// Loopback itself does not work.
pub fn calibrate(cancel: &AtomicBool) -> Result<Overhead, TargetError> {
    let clock = Clock::start();
    let readings: Vec<Instant> = (0..READINGS).map(|_| clock.now()).collect();
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let service =
        echo::start(any, ReplyTo::Sender, &(Arc::new(|_: &str| {}) as _)).map_err(|source| {
            TargetError::Local {
                what: "starting the calibration's echo on 127.0.0.1".into(),
                source,
                hint: "check that the loopback interface is up".into(),
            }
        })?;
    let mut target = EchoTarget { peer: service.address, local_port: 0, site: loopback::site() };
    let mut keep = Keep { samples: Vec::new(), cancel };
    if let Some(Workload::UdpEcho(mut work)) = defaults("udp-echo") {
        (work.size, work.count, work.discard) = (64, PROBES, 100);
        work.format = EchoFormat::Binary;
        target.run(&Workload::UdpEcho(work), &mut keep)?;
    }
    Ok(Overhead::from_samples(&readings, &keep.samples))
}
