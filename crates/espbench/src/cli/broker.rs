//! Limits of the MQTT broker, as options.

use crate::respond::mqtt::BrokerLimits;
use espbench_measure::units::{Dimension, parse};

/// Flags of `espbench respond` for its MQTT broker. What does not fit is refused or dropped, counted by
/// cause, and said at the end.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "MQTT broker")]
pub(super) struct BrokerArgs {
    /// Memory for all that the broker holds
    #[arg(long, default_value = "192 MB", value_name = "SIZE", value_parser = size)]
    mqtt_memory: usize,
    /// Memory for retained messages [default: a third of --mqtt-memory]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    mqtt_retained: Option<usize>,
    /// Memory for messages that wait for clients, slow or away [default: a third of --mqtt-memory]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    mqtt_queues: Option<usize>,
    /// Memory for messages that wait for one client [default: a twelfth of --mqtt-memory]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    mqtt_queue: Option<usize>,
    /// Largest packet that a client may send
    #[arg(long, default_value = "2 MB", value_name = "SIZE", value_parser = size)]
    mqtt_packet: usize,
    /// Clients connected at once
    #[arg(long, default_value_t = BrokerLimits::default().connections, value_name = "NUMBER")]
    mqtt_connections: usize,
    /// Sessions of connected and absent clients; beyond it, the one that is absent longest is dropped
    #[arg(long, default_value_t = BrokerLimits::default().sessions, value_name = "NUMBER")]
    mqtt_sessions: usize,
    /// Subscriptions of all clients
    #[arg(long, default_value_t = BrokerLimits::default().subscriptions, value_name = "NUMBER")]
    mqtt_subscriptions: usize,
}

impl BrokerArgs {
    /// Returns the limits that they say.
    pub(super) fn limits(&self) -> BrokerLimits {
        let usual = BrokerLimits::of(self.mqtt_memory);
        BrokerLimits {
            retained: self.mqtt_retained.unwrap_or(usual.retained),
            queues: self.mqtt_queues.unwrap_or(usual.queues),
            queue: self.mqtt_queue.unwrap_or(usual.queue),
            packet: self.mqtt_packet,
            connections: self.mqtt_connections,
            sessions: self.mqtt_sessions,
            subscriptions: self.mqtt_subscriptions,
            ..usual
        }
    }
}

/// Parses a number of bytes, at least one.
fn size(text: &str) -> Result<usize, String> {
    let bytes = parse(text, Dimension::Size)?;
    // Beyond 2^53 a float is not exact, and no machine has that much.
    if (1.0..9e15).contains(&bytes) {
        Ok(bytes as usize)
    } else {
        Err("a size between 1 B and 9 PB is wanted".into())
    }
}
