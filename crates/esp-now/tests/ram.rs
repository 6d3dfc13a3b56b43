//! How much memory a node takes: `cargo test -p esp-now --test ram -- --nocapture`.

use esp_now::console::{Console, Local};
use esp_now::node::debug::{Commander, Inbox, RemoteLog};
use esp_now::node::device::{DeviceJob, Parts, SmallNode};
use esp_now::node::engine::Engine;
use esp_now::node::print::LogPrinter;
use esp_now::node::security::{CryptoBench, NodeKeys};
use esp_now::node::task::Shared;
use esp_now::node::time_sync::TimeSync;
use esp_now::node::{Node, control, iperf, ota, prov, security};

/// Most memory of a node whose bounds are the component's own. A `SmallNode` has its bound where it
/// is defined: the build fails beyond it. On a chip, whose pointers are half as long, both take
/// less; `ci/riscv.sh` tells how much.
const BOUND: usize = 32 * 1024;

#[test]
fn a_node_with_the_components_own_bounds_fits_32_kib() {
    let parts = [
        ("SmallNode", size_of::<SmallNode>()),
        ("  shared", size_of::<Shared>()),
        ("    printer", size_of::<LogPrinter>()),
        ("    keys", size_of::<NodeKeys>()),
        ("  engine", size_of::<Engine<4096, 250>>()),
        ("  services and consoles", size_of::<Parts<100, 48, 250>>()),
        ("    job: ota or security", size_of::<DeviceJob<100, 48>>()),
        ("      ota", size_of::<ota::OtaInitiator<100>>()),
        ("      security", size_of::<security::SecurityInitiator<100, 48>>()),
        ("    takes images", size_of::<ota::OtaResponder>()),
        ("    takes keys", size_of::<security::SecurityResponder>()),
        ("    sec_test", size_of::<CryptoBench<250>>()),
        ("    espnow_iperf", size_of::<iperf::IperfTask>()),
        ("    provisioning", size_of::<prov::Prov>()),
        ("    control, sends", size_of::<control::ControlInitiator>()),
        ("    control, takes", size_of::<control::ControlResponder>()),
        ("    time", size_of::<TimeSync>()),
        ("    remote log", size_of::<RemoteLog>()),
        ("    remote commands", size_of::<Commander>()),
        ("    inbox", size_of::<Inbox>()),
        ("    console", size_of::<Console>()),
        ("    local commands", size_of::<Local>()),
        ("Node with the component's own bounds", size_of::<Node>()),
        ("Node that updates nobody", size_of::<Node<1, 1, 4096, 250>>()),
    ];
    for (name, bytes) in parts {
        println!("{bytes:>6} bytes  {name}");
    }
    assert!(size_of::<Node>() <= BOUND);
}
