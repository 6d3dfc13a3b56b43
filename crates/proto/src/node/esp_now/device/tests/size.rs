//! What a node takes of the memory.

use super::*;
use crate::node::esp_now::console::{Console, Local};
use crate::node::esp_now::debug::{Commander, Inbox, RemoteLog};
use crate::node::esp_now::device::{Job, Parts};
use crate::node::esp_now::engine::Engine;
use crate::node::esp_now::print::Printer;
use crate::node::esp_now::security::{Keys, SecTest};
use crate::node::esp_now::task::Shared;
use crate::node::esp_now::time_sync::TimeSync;
use crate::node::esp_now::{control, iperf, ota, prov, security};
use std::println;

/// On a chip, whose pointers are half as long, it is less; `ci/riscv.sh` tells how much.
#[test]
fn a_node_of_all_services_fits_24_kib() {
    let parts = [
        ("the whole node", size_of::<SmallNode>()),
        ("  shared", size_of::<Shared>()),
        ("    printer", size_of::<Printer>()),
        ("    keys", size_of::<Keys>()),
        ("  engine", size_of::<Engine<4096, 250>>()),
        ("  services and consoles", size_of::<Parts<100, 48, 250>>()),
        ("    job: ota or security", size_of::<Job<100, 48>>()),
        ("      ota", size_of::<ota::Initiator<100>>()),
        ("      security", size_of::<security::Initiator<100, 48>>()),
        ("    takes images", size_of::<ota::Responder>()),
        ("    takes keys", size_of::<security::Responder>()),
        ("    sec_test", size_of::<SecTest<250>>()),
        ("    espnow_iperf", size_of::<iperf::Iperf>()),
        ("    provisioning", size_of::<prov::Prov>()),
        ("    control, sends", size_of::<control::Initiator>()),
        ("    control, takes", size_of::<control::Responder>()),
        ("    time", size_of::<TimeSync>()),
        ("    remote log", size_of::<RemoteLog>()),
        ("    remote commands", size_of::<Commander>()),
        ("    inbox", size_of::<Inbox>()),
        ("    console", size_of::<Console>()),
        ("    local commands", size_of::<Local>()),
        ("a node with the component's own bounds", size_of::<Node>()),
    ];
    for (name, bytes) in parts {
        println!("{bytes:>6} bytes  {name}");
    }
    assert!(size_of::<SmallNode>() <= 24 * 1024);
    assert!(size_of::<Node>() <= 32 * 1024);
}
