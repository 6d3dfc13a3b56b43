//! Carriers of MQTT: TCP, TLS (rustls) and WebSocket, each over the one before, without blocking.
//!
//! | module | contents |
//! |---|---|
//! | [`url`] | `mqtt://`, `mqtts://`, `ws://`, `wss://` as they are typed |
//! | [`tls`] | certificates, keys and what is wrong with them, in words |
//! | [`stream`] | one connection: opened step by step, then bytes in both directions |
//! | `websocket` | the WebSocket's handshake, masks and control frames |
//! | [`fault`] | errors of a connection that could not be opened, with advice |

pub mod fault;
pub mod stream;
pub mod tls;
pub mod url;
mod websocket;

pub use fault::TransportError;
pub use stream::{BrokerStream, Opened};
pub use tls::{Tls, TlsFiles};
pub use url::{Scheme, Url};

use std::net::SocketAddr;
use std::sync::Arc;

/// The address of a broker, and the protocols below MQTT there.
#[derive(Clone, Debug)]
pub struct BrokerAddress {
    /// Address of the broker.
    pub address: SocketAddr,
    /// Carrier of MQTT.
    pub scheme: Scheme,
    /// Name or address of the host, as typed.
    pub host: String,
    /// The path of the WebSocket.
    pub path: String,
    /// Settings of TLS, where it is spoken.
    pub tls: Option<Arc<Tls>>,
}

impl BrokerAddress {
    /// Creates the address of a broker that speaks MQTT over TCP.
    #[must_use]
    pub fn plain(address: SocketAddr) -> Self {
        let host = address.ip().to_string();
        Self { address, scheme: Scheme::Mqtt, host, path: String::new(), tls: None }
    }
}

/// As it may be typed, and as it is stored: without user and password.
impl std::fmt::Display for BrokerAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { address, scheme, host, path, .. } = self;
        if *scheme == Scheme::Mqtt {
            return write!(f, "mqtt:{address}");
        }
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        write!(f, "{}://{host}:{}{path}", scheme.name(), address.port())
    }
}
