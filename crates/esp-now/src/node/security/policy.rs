//! Policy of a node: refusals beyond those of the component.

use crate::component::DataType;

/// Refusals of a node beyond those of the component. The table is in the [module's
/// documentation](super).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Types (a mask of [`DataType::mask`]) that the engine drops when they arrive unencrypted.
    pub encrypted_only: u16,
    /// Whether the engine drops a payload whose nonce is one of the last [`NONCES`](super::NONCES),
    /// found with [`NodeKeys::first_sight`](super::NodeKeys::first_sight). Needs a release whose nonce
    /// trails the payload.
    pub refuse_replays: bool,
    /// Whether a responder ignores the reset message.
    pub refuse_reset: bool,
    /// Whether a responder answers only in the time that
    /// [`open_window`](super::SecurityResponder::open_window) gave it.
    pub windowed: bool,
    /// Whether a responder keeps its initiator when a message fails; then
    /// [`PROOFS_MAX`](super::responder::PROOFS_MAX) wrong proofs close its window.
    pub keep_binding: bool,
    /// Whether an initiator counts a device only when the key came back correctly encrypted.
    pub check_echo: bool,
    /// Whether both ends refuse a handshake with an empty proof of possession.
    pub require_pop: bool,
}

impl Policy {
    /// Policy of the component.
    pub const COMPATIBLE: Self = Self {
        encrypted_only: 0,
        refuse_replays: false,
        refuse_reset: false,
        windowed: false,
        keep_binding: false,
        check_echo: false,
        require_pop: false,
    };

    /// Policy that closes everything that a node alone can close. A node that is to talk to this
    /// one must encrypt every service that it uses.
    pub const STRICT: Self = Self {
        encrypted_only: !PLAIN,
        refuse_replays: true,
        refuse_reset: true,
        windowed: true,
        keep_binding: true,
        check_echo: true,
        require_pop: true,
    };

    /// Returns whether a frame of this type is dropped if it is not encrypted.
    #[must_use]
    pub const fn refuses_plain(self, data_type: DataType) -> bool {
        self.encrypted_only & data_type.mask() != 0
    }
}

/// Types that the component never encrypts.
const PLAIN: u16 = DataType::Ack.mask()
    | DataType::Forward.mask()
    | DataType::Group.mask()
    | DataType::SecurityStatus.mask()
    | DataType::Security.mask();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_leaves_alone_what_cannot_be_encrypted() {
        let plain = [
            DataType::Ack,
            DataType::Forward,
            DataType::Group,
            DataType::SecurityStatus,
            DataType::Security,
        ];
        for data_type in DataType::ALL {
            assert_eq!(Policy::STRICT.refuses_plain(data_type), !plain.contains(&data_type));
            assert!(!Policy::COMPATIBLE.refuses_plain(data_type));
        }
        assert_eq!(Policy::default(), Policy::COMPATIBLE);
    }
}
