//! The WebSocket between TCP or TLS and MQTT, from the client's side (RFC 6455).

use super::{BrokerAddress, TransportError};
use espbench_proto::wire::websocket::handshake::{self, ServerResponse};
use espbench_proto::wire::websocket::{DeframedPiece, Deframer, MalformedFrame, Opcode, Role};
use rustls::crypto::ring;
use std::fmt::Write as _;

/// A client's WebSocket: its handshake, the masks of its frames, and the answers that it owes.
#[derive(Debug)]
pub(super) struct WebSocket {
    pub(super) key: [u8; handshake::KEY],
    pub(super) path: String,
    /// The response, until it is whole.
    pub(super) head: Vec<u8>,
    pub(super) deframer: Deframer,
    /// Chance for masks, and how much of it is used.
    pub(super) chance: [u8; 1024],
    pub(super) used: usize,
    /// A control frame that is to be sent.
    pub(super) owed: Option<(Opcode, Vec<u8>)>,
}

impl WebSocket {
    /// Returns one that asks for the endpoint's path, with a key of chance.
    pub(super) fn new(endpoint: &BrokerAddress) -> Result<Self, TransportError> {
        let mut websocket = Self {
            key: [0; handshake::KEY],
            path: endpoint.path.clone(),
            head: Vec::new(),
            deframer: Deframer::new(Role::Client),
            chance: [0; 1024],
            used: usize::MAX,
            owed: None,
        };
        let mut chance = [0; 16];
        for four in chance.chunks_exact_mut(4) {
            four.copy_from_slice(&websocket.mask());
        }
        websocket.key = handshake::key(chance);
        Ok(websocket)
    }

    /// Returns a mask of chance, fresh for each frame (RFC 6455, section 5.3).
    pub(super) fn mask(&mut self) -> [u8; 4] {
        if self.used >= self.chance.len() {
            // Masks protect proxies from senders of chosen bytes, which this one's are not: without
            // chance the old ones do.
            let _ = ring::default_provider().secure_random.fill(&mut self.chance);
            self.used = 0;
        }
        let mask = core::array::from_fn(|at| self.chance[self.used + at]);
        self.used += 4;
        mask
    }

    /// Returns whether the response is whole and switches protocols.
    ///
    /// # Errors
    /// Where it refuses, or is no HTTP.
    pub(super) fn answered(&mut self) -> Result<bool, TransportError> {
        let Some(len) = handshake::head(&self.head).map_err(no_http)? else { return Ok(false) };
        let mut head = std::mem::take(&mut self.head);
        match handshake::answer(&head[..len], &self.key).map_err(no_http)? {
            ServerResponse::Refused { status, location } => {
                return Err(TransportError::status(status, location, &self.path));
            }
            ServerResponse::Switched { protocol: false } => {
                let what = "the server did not choose the subprotocol `mqtt`";
                return Err(TransportError::new(
                    what,
                    "check that an MQTT broker is behind that path",
                ));
            }
            ServerResponse::Switched { protocol: true } => {}
        }
        // A ping may follow at once; a message may not, as the client speaks first in MQTT.
        let mut spoken = false;
        let open = deliver(Some(self), &mut head[len..], &mut |_| spoken = true)?;
        if spoken || !open {
            let early = "a message, or its end, before the client's first message";
            return Err(TransportError::websocket(MalformedFrame(early)));
        }
        Ok(true)
    }
}

fn no_http(malformed: MalformedFrame) -> TransportError {
    TransportError::new(
        format!("the broker did not answer the WebSocket handshake in HTTP: {}", malformed.0),
        "write mqtt:// for a port without WebSocket, and wss:// for one with TLS",
    )
}

/// Takes the WebSocket away; false once the broker has closed it.
pub(super) fn deliver(
    websocket: Option<&mut WebSocket>,
    bytes: &mut [u8],
    take: &mut dyn FnMut(&[u8]),
) -> Result<bool, TransportError> {
    let Some(websocket) = websocket else {
        take(bytes);
        return Ok(true);
    };
    let mut chunk = bytes;
    while let Some(piece) =
        websocket.deframer.next(&mut chunk).map_err(TransportError::websocket)?
    {
        match piece {
            DeframedPiece::Data(data) => take(data),
            DeframedPiece::Ping => {
                // Only the last of several need be answered (RFC 6455, section 5.5.3).
                websocket.owed = Some((Opcode::Pong, websocket.deframer.control().to_vec()));
            }
            DeframedPiece::Close(None | Some(1000)) => return Ok(false),
            DeframedPiece::Close(Some(code)) => {
                let mut what = String::from("the broker closed the WebSocket");
                let _ = write!(what, " (code {code})");
                return Err(TransportError::new(what, "look at the broker's log"));
            }
        }
    }
    Ok(true)
}
