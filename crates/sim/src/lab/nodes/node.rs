//! Fleets of the device that speaks ESP-NOW as the component does.

use super::board::MemoryBoard;
use super::device::{Birth, NodeId};
use super::image::FirmwareImage;
use super::note::Watch;
use crate::lab::ideal::{Fleet, FleetSetup};
use alloc::boxed::Box;
use esp_now::node::board::{Board, Slot};
pub use esp_now::node::device::RoomyNode as Node;
use esp_now::node::device::Setup as Services;
use esp_now::node::task::NodeSettings;
use espbench_model::time::Instant;

/// Makes a fleet of nodes that are all set up alike, with the services of [`Services::default`].
pub fn fleet<W: Watch>(setup: FleetSetup, watch: W, settings: NodeSettings) -> Fleet<Box<Node>, W> {
    fleet_of(setup, watch, move |_| (settings.clone(), Services::default()))
}

/// Makes a fleet of nodes, each set up as `choose` says for its place.
///
/// What a node runs is an image of 64 KiB with version 1.0.0, unless its board has another.
pub fn fleet_of<W: Watch>(
    setup: FleetSetup,
    watch: W,
    mut choose: impl FnMut(NodeId) -> (NodeSettings, Services) + 'static,
) -> Fleet<Box<Node>, W> {
    let first = first_image();
    Fleet::new(setup, watch, move |birth: &Birth, board| {
        let (settings, services) = choose(birth.node);
        start(birth, board, &first, settings, &services)
    })
}

/// Returns the image that a node runs if its board has none yet.
pub(crate) fn first_image() -> FirmwareImage {
    FirmwareImage::synthetic(0x1_0000, "1.0.0", 0)
}

/// Makes a node that is switched on.
pub(crate) fn start(
    birth: &Birth,
    board: &mut MemoryBoard,
    first: &FirmwareImage,
    settings: NodeSettings,
    services: &Services,
) -> Box<Node> {
    if board.image_len(Slot::Running) == 0 {
        board.install(Slot::Running, first.clone());
    }
    Box::new(Node::new(Instant::ZERO, board, birth.mac, settings, services))
}
