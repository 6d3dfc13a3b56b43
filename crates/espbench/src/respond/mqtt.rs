//! An MQTT broker that needs no set-up: 3.1.1 and 5 on one port, QoS 0 to 2, anyone may connect.
//!
//! It is the broker of the library `mqtt5`. That one was chosen because it speaks both versions on
//! one port, binds the port it is given (and says which where that was 0), and ends when told to.
//! `rumqttd` 0.20 needs a port for each version, cannot be stopped (its router and listener threads
//! run until the process ends), and lets a slow subscriber skip what has left its log, in silence.
//!
//! What it may lose, and does not count (the bench sees all of it as loss in the broker):
//! - QoS 0: a message that finds [`LANE`] others waiting for the same subscriber.
//! - QoS 1 and 2: such a message makes its publisher wait, for up to 2 s; then it goes to the
//!   session's queue of 10,000, from which the oldest is dropped.

use super::{Log, Service};
use mqtt5::broker::{BrokerConfig, MqttBroker, StorageConfig};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// The usual port.
pub const PORT: u16 = 1883;

/// Messages that may wait for one subscriber.
pub const LANE: usize = 100_000;

/// Clients at once.
const MOST_CLIENTS: usize = 256;

/// Starts the broker on `address`.
///
/// # Errors
/// The system's, from bind.
pub fn start(address: SocketAddr, log: &Log) -> io::Result<Service> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let broker = runtime.block_on(MqttBroker::with_config(config(address)));
    let broker = broker.map_err(io::Error::other)?;
    let bound = broker.local_addr().ok_or_else(|| io::Error::other("no address was bound"))?;
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, log) = (Arc::clone(&stop), Arc::clone(log));
    let thread = std::thread::Builder::new()
        .name("mqtt-broker".into())
        .spawn(move || serve(runtime, broker, &stopped, &log))?;
    Ok(Service::new("MQTT broker", bound, stop, vec![thread]))
}

fn config(address: SocketAddr) -> BrokerConfig {
    BrokerConfig {
        bind_addresses: vec![address],
        max_clients: MOST_CLIENTS,
        client_channel_capacity: LANE,
        sys_topics_enabled: false,
        // Nothing on disk: sessions end with the process.
        storage_config: StorageConfig::default().with_persistence(false),
        ..BrokerConfig::default()
    }
}

fn serve(runtime: Runtime, mut broker: MqttBroker, stop: &AtomicBool, log: &Log) {
    let handle = broker.shutdown_handle();
    let stats = broker.stats();
    let ended = runtime.block_on(async {
        let mut run = std::pin::pin!(broker.run());
        let mut told = false;
        loop {
            match tokio::time::timeout(Duration::from_millis(50), &mut run).await {
                Ok(ended) => return ended.map_err(|e| e.to_string()),
                // It says goodbye to its clients, but not for ever.
                Err(_) if told => return Ok(()),
                Err(_) if stop.load(Ordering::Relaxed) => {
                    handle.shutdown();
                    told = true;
                }
                Err(_) => {}
            }
        }
    });
    if let Err(e) = ended {
        log(&format!("MQTT broker: ended: {e}"));
    }
    let (came, went) = (
        stats.publish_received.load(Ordering::Relaxed),
        stats.publish_sent.load(Ordering::Relaxed),
    );
    if came + went > 0 {
        log(&format!("MQTT broker: {came} messages received, {went} passed on"));
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
}
