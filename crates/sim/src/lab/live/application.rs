//! What applications on the devices of a live lab do, beside their consoles.

use super::LiveLab;
use crate::lab::nodes::{Conversation as _, Livelock, MemoryBoard, NodeId};
use crate::lab::run::Tap;

impl<W: Tap> LiveLab<W> {
    /// Hands the key out as the component's example `security` does at its start; says whether that
    /// began.
    ///
    /// # Errors
    /// [`Livelock`]: a device does not come to rest.
    pub fn hand_out_keys(&mut self, node: NodeId) -> Result<bool, Livelock> {
        let begun = self.lab.apply(node, |device, now, board| device.hand_out_keys(now, board))?;
        Ok(begun.unwrap_or(false))
    }

    /// Returns a node's board, to put an image into it.
    pub fn board_mut(&mut self, node: NodeId) -> &mut MemoryBoard {
        self.lab.board_mut(node)
    }
}
