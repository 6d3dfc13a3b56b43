//! MQTT programs: two publishers, a subscriber, a broker.
//!
//! The clients are the machines of [`node::mqtt`](crate::node::mqtt) over a socket, with memory that
//! is lent to them. A publisher records one sample a message with its stages as far as that end
//! knows them: due, queued, sent, acked; a message that never entered the queue is lost for
//! [`Cause::ApplicationQueue`](espbench_model::sample::Cause). The [`MqttListener`] records its
//! fate at the subscriber. [`join`] makes one sample of both, where they share a clock.
//!
//! | module | contents |
//! |---|---|
//! | `broker` | the broker of the lab |
//! | `listen` | a subscriber to a device's own messages |
//! | `publish` | a publisher, written well |
//! | `smooth` | a publisher as Smooth's client is one |
//! | `pipe` | the socket of a client, and its connection to the broker |
//! | `memory` | the memory that clients are lent |

mod broker;
mod listen;
mod memory;
mod pipe;
mod publish;
mod smooth;

pub use broker::LabBroker;
pub use listen::MqttListener;
pub use memory::{ListenerMemory, PublisherMemory};
pub use publish::Mqtt;
pub use smooth::{SmoothMqtt, SmoothSetup};

use espbench_model::sample::{Cause, Fate, Probe};

/// Joins into one sample what a message's publisher and its subscriber recorded, on one clock.
///
/// A message that arrived is delivered (or came twice, or changed), whatever the publisher heard of
/// it. One that did not is lost: for the publisher's cause, or, where that end saw the broker take
/// it, in the broker.
#[must_use]
pub fn join(published: &Probe, received: Option<&Probe>) -> Probe {
    match (received, published.fate) {
        (Some(arrived), _) if !matches!(arrived.fate, Fate::Lost(_)) => Probe {
            received: arrived.received,
            stamped: arrived.stamped,
            fate: arrived.fate,
            ..*published
        },
        (_, Fate::Lost(_)) => *published,
        _ => Probe { fate: Fate::Lost(Cause::Broker), ..*published },
    }
}
