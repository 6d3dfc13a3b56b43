//! The key while it is handed out.

use crate::node::security::KEY_LEN;
use core::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Copy of the key that is handed out: never printed, wiped when it is dropped.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct AppKey(pub(super) [u8; KEY_LEN]);

impl Default for AppKey {
    fn default() -> Self {
        Self([0; KEY_LEN])
    }
}

impl fmt::Debug for AppKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AppKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use crate::node::security::tests::testing::{SecurityStation, address};
    use crate::node::security::{KEY_LEN, Policy, Pop, SecurityInitiator};
    use espbench_model::time::Instant;
    use std::format;

    #[test]
    fn the_key_is_not_shown_and_not_kept_where_nothing_is_sent() {
        let mut station = SecurityStation::new(address(0), 1);
        assert!(station.shared.keys.store(&mut station.board, &[0xA7; KEY_LEN]));
        station.shared.settings.policy = Policy::STRICT;
        let mut initiator = SecurityInitiator::<4, 2>::new();
        let cx = &mut station.cx(Instant::ZERO);
        assert!(!initiator.start(cx, b"", [address(1)], &Pop::new(b"")), "no proof of possession");
        assert_eq!(initiator.key.0, [0; KEY_LEN], "no copy stays");
        assert!(initiator.start(cx, b"", [address(1)], &Pop::new(b"word")));
        assert_eq!(initiator.key.0, [0xA7; KEY_LEN]);
        assert!(!format!("{initiator:?}").contains("167, 167"), "in decimal, as arrays are shown");
    }
}
