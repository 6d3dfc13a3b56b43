//! WebSocket: the handshake's heads, and frames fed in any chunks.

use espbench_proto::wire::websocket::{DeframedPiece, Deframer, Role, handshake};

/// Asserts that data and verdict are the same whatever the chunks; heads are read or refused.
pub fn websocket(data: &[u8]) {
    let [step, bytes @ ..] = data else { return };
    for role in [Role::Client, Role::Server] {
        let whole = pieces(role, bytes, bytes.len().max(1));
        assert_eq!(pieces(role, bytes, usize::from(*step) + 1), whole, "chunks make no difference");
    }
    if let Ok(Some(len)) = handshake::head(bytes) {
        let _ = handshake::answer(&bytes[..len], b"dGhlIHNhbXBsZSBub25jZQ==");
        if let Ok(asked) = handshake::asked(&bytes[..len]) {
            assert_eq!(asked.key.len(), handshake::KEY);
        }
    }
}

/// Returns data, pings and closes up to the first fault, and whether there was one.
fn pieces(role: Role, bytes: &[u8], step: usize) -> (Vec<u8>, Vec<u16>, bool) {
    let mut deframer = Deframer::new(role);
    let (mut bytes, mut data, mut controls) = (bytes.to_vec(), Vec::new(), Vec::new());
    for mut chunk in bytes.chunks_mut(step) {
        loop {
            match deframer.next(&mut chunk) {
                Ok(Some(DeframedPiece::Data(more))) => data.extend_from_slice(more),
                Ok(Some(DeframedPiece::Ping)) => controls.push(deframer.control().len() as u16),
                Ok(Some(DeframedPiece::Close(code))) => controls.push(code.unwrap_or(0)),
                Ok(None) => break,
                Err(_) => return (data, controls, true),
            }
        }
    }
    (data, controls, false)
}
