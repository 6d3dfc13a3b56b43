//! The other side: one file per service, each a thread that stops when it is dropped.
//!
//! `espbench respond` starts all of them on their default ports; the `loopback` target starts the
//! one it needs, in this process, on a port that the system picks.
//!
//! | module | contents |
//! |---|---|
//! | [`echo`] | UDP echo |
//! | [`tcp`] | a sink and a source over TCP |
//! | [`iperf`] | an iperf 2 server |
//! | [`mqtt`] | an MQTT broker |
//! | `served` | rates of what echo, sink, source and broker take, in lines |

pub mod echo;
pub mod iperf;
pub mod mqtt;
mod served;
pub mod tcp;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A running service. Dropping it stops it and waits for its threads.
#[derive(Debug)]
pub struct Service {
    /// Name of the service (`UDP echo`).
    pub name: &'static str,
    /// Address at which it listens; the port is the real one where 0 was asked for.
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Returns a log that names a service and its port before each line: several of one name may run.
fn named(name: &'static str, port: u16, log: &ServiceLog) -> ServiceLog {
    let log = Arc::clone(log);
    Arc::new(move |line| log(&format!("{name}, port {port}: {line}")))
}

impl Service {
    /// Creates a service of these threads; each looks at `stop` at least ten times a second.
    #[must_use]
    pub fn new(
        name: &'static str,
        address: SocketAddr,
        stop: Arc<AtomicBool>,
        threads: Vec<JoinHandle<()>>,
    ) -> Self {
        Self { name, address, stop, threads }
    }

    /// Returns whether all its threads still run.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.threads.iter().all(|thread| !thread.is_finished())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Takes one line about what a service sees (a client came, a test ended); `espbench respond`
/// prints it to stderr, the loopback target drops it.
pub type ServiceLog = Arc<dyn Fn(&str) + Send + Sync>;
