//! One connection to a broker, and the bytes that the system has yet to take.

use super::MqttTarget;
use crate::target::TargetError;
use std::io::{self, ErrorKind, Write as _};
use std::net::TcpStream;

/// Bytes written or read at once. A packet that is longer is written alone.
pub(super) const BATCH: usize = 64 * 1024;

/// Bytes that a packet may have beside its topic and its payload: first byte, remaining length, length
/// of the topic, packet identifier, and properties of version 5 that brokers add.
const AROUND: usize = 4096;

/// Room for the largest packet with a message of that many bytes.
pub(super) const fn packet_room(topic: &str, size: usize) -> usize {
    AROUND + topic.len() + size
}

/// One connection, and what the system has yet to take.
pub(super) struct Wire {
    pub(super) socket: TcpStream,
    pub(super) out: Vec<u8>,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) open: bool,
}

impl Wire {
    /// Opens one to the broker, for packets of up to `packet` bytes.
    pub(super) fn connect(target: &MqttTarget, packet: usize) -> Result<Self, TargetError> {
        let peer = target.peer;
        let open = || {
            let socket = TcpStream::connect_timeout(&peer, target.patience)?;
            socket.set_nodelay(true)?;
            socket.set_nonblocking(true)?;
            Ok(Self { socket, out: vec![0; BATCH.max(packet)], from: 0, to: 0, open: true })
        };
        open().map_err(|source: io::Error| TargetError::Peer {
            peer: format!("mqtt:{peer}"),
            what: "connecting",
            hint: match source.kind() {
                ErrorKind::ConnectionRefused => {
                    "start a broker there (`espbench respond` has one), or name another port"
                }
                _ => "check the address and the network",
            }
            .into(),
            source,
        })
    }

    pub(super) const fn is_pending(&self) -> bool {
        self.from < self.to
    }

    /// Writes what is pending; true once nothing is.
    pub(super) fn flush(&mut self) -> io::Result<bool> {
        while self.is_pending() {
            match self.socket.write(&self.out[self.from..self.to]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(len) => self.from += len,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(true)
    }
}
