//! Lines that people write to a live lab: `--what-if`, and those of the control socket.

#[allow(dead_code, unreachable_pub, reason = "compiled by itself, without the rest of its crate")]
#[path = "../../crates/espbench/src/cli/live_lab/request.rs"]
mod request;
#[allow(dead_code, unreachable_pub, reason = "compiled by itself, without the rest of its crate")]
#[path = "../../crates/espbench/src/cli/live_lab/what_if.rs"]
mod what_if;

use espbench_sim::lab::live::WhatIf;
use request::ControlRequest;

/// Reads any octets as a line of the control socket, and as a change: what is accepted is within its bounds.
pub fn live_control(data: &[u8]) {
    if let Ok(Some(ControlRequest::Set { key, value, .. })) = ControlRequest::parse(data) {
        let _ = what_if::parse(&key, &value).map(is_within);
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(change) = what_if::what_if(text) {
        is_within(change.what);
    }
}

fn is_within(what: WhatIf) {
    match what {
        WhatIf::Loss(share) | WhatIf::Load(share) => assert!((0.0..=1.0).contains(&share)),
        WhatIf::Distance(metres) => assert!((0.1..=100_000.0).contains(&metres)),
        WhatIf::Sleep(_) => {}
    }
}
