//! Keys of the application layer, the frames that are refused without them, and the handshake that
//! delivers them (section 3 of the protocol reference).
//!
//! | module | contents |
//! |---|---|
//! | `keys` | [`NodeKeys`] in use and in storage |
//! | `policy` | [`Policy`]: refusals beyond those of the component |
//! | [`exchange`] | the key agreement |
//! | [`responder`] | receives a key |
//! | [`initiator`] | finds devices and hands the key out |
//! | `erase` | the command `security -e` |
//! | [`crypto_bench`] | the command `sec_test` |
//!
//! # Weaknesses of the component's protocol
//!
//! [`Policy::COMPATIBLE`] does as the component does; [`Policy::STRICT`] closes the weaknesses that
//! one node can close alone. Both stay compatible on the wire: a strict node talks to the
//! component, provided that both encrypt what they send.
//!
//! | weakness | the component | strict |
//! |---|---|---|
//! | Plain frames | taken even where encryption is on | dropped, for every type that can be encrypted ([`Policy::encrypted_only`]) |
//! | Recorded frames, sent again | only copies among the last 32 packet ids are dropped; a changed header makes them new | a nonce among the last 64 is dropped, whatever the header says ([`Policy::refuse_replays`]). Older ones are taken |
//! | Reset message | anybody frees a responder from its initiator and its key | ignored ([`Policy::refuse_reset`]) |
//! | Time of the handshake | always, and again after every restart | only in a window that the application opens ([`Policy::windowed`]) |
//! | Failed messages | free the responder, so that anybody can end a handshake | are ignored; a silent initiator is given up after 10 s; five wrong proofs close the window ([`Policy::keep_binding`]) |
//! | Key response | an initiator checks its type only: a forged one counts a device as done | the key must come back under the agreed key, after it was sent ([`Policy::check_echo`]) |
//! | No proof of possession | allowed: the key goes to any device that answers | refused on both ends ([`Policy::require_pop`]) |
//! | Public keys of small order | refused by the crypto library | refused, in both policies |
//!
//! One node alone cannot close these weaknesses:
//!
//! * The tag has 4 bytes: one forged frame in 2^32 is accepted, and nothing limits the tries.
//! * The header is not authenticated: source, destination, type, packet id and hops of a sealed
//!   frame can be forged. So can GROUP frames and acknowledgements, which are never encrypted.
//! * Nonces are 8 random bytes under one key that all nodes share: after about 2^32 frames of all
//!   of them two are equal.
//! * There is no order and no clock in a frame, so that a frame older than the memory of nonces is
//!   as good as new.
//! * The PoP is the only authentication. An attacker who answers in the place of a responder
//!   without knowing it gets the initiator's proof, and can try PoPs against it offline. A PoP that
//!   is a word, such as `espnow_pop`, protects nothing; it should be as random as a key.
//! * The key itself travels under a stream cipher without a tag. An attacker who replaces it makes
//!   a responder store rubbish, and, with a key that he knows, a key of his choice. The responder
//!   cannot tell; a strict initiator does, since the wrong key comes back.
//! * A responder's information is not authenticated: a forger of it is offered the handshake, not
//!   the key.
//! * Anybody can begin a handshake and so keep a responder from others for a while, or close its
//!   window with wrong proofs.
//! * The console's `security -e` leaves the key for receiving, in both policies; [`NodeKeys::erase`]
//!   removes it, too.

pub mod crypto_bench;
mod erase;
pub mod exchange;
pub mod initiator;
mod keys;
mod policy;
pub mod responder;
#[cfg(test)]
mod tests;

pub use crypto_bench::CryptoBench;
pub use erase::erase_and_restart;
pub use exchange::Pop;
pub use initiator::SecurityInitiator;
pub use keys::{KEY_LEN, NONCES, NodeKeys, Secret};
pub use policy::Policy;
pub use responder::SecurityResponder;
