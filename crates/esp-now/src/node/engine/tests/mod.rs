//! Conversations of engines on virtual time.
//!
//! | module | contents |
//! |---|---|
//! | `acknowledge` | acknowledgement by the application layer: sections 2.4 and 2.7, and the traps around it |
//! | `ahead` | `espnow_send` of July 2022: all copies go to the driver ahead of any answer |
//! | `forward` | forwarding, section 2.8 |
//! | `receive` | the receive path: filters, duplicates, groups, and the cost of a full queue |
//! | `seal` | encrypted payloads between engines: section 3.1 |
//! | `send` | transmissions, row by row of section 2.4, and the channels of 2.9 |

mod acknowledge;
mod ahead;
mod forward;
mod receive;
mod seal;
mod send;

use super::Engine;
use crate::node::tests::medium::TestMedium;
use espbench_model::time::Instant;

/// Returns the milliseconds after the start at which station `n` sent something.
fn instants(medium: &TestMedium, n: usize) -> std::vec::Vec<u64> {
    let mine = medium.log.iter().filter(|aired| aired.from == n);
    mine.map(|aired| aired.at.since(Instant::ZERO).as_millis() as u64).collect()
}

#[test]
fn an_engine_fits_in_eleven_kibibytes() {
    let bytes = size_of::<Engine>();
    std::println!("an engine has {bytes} bytes");
    assert!(bytes <= 11 * 1024, "{bytes}");
}
