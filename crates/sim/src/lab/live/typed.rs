//! Programs that a device of a live network starts when somebody types their names at it.

use crate::lab::suite::programs::mqtt_settings;
use crate::lab::wifi::setup::Program;
use alloc::boxed::Box;
use alloc::string::String;
use espbench_model::sample::Link;
use espbench_model::workload::{Iperf, MqttMode, MqttRate};
use espbench_proto::node::app::iperf::IperfStyle;
use espbench_proto::node::app::mqtt::PublisherMemory;
use espbench_proto::node::app::{Endpoint, IperfClient, IperfSetup, Mqtt};
use espbench_proto::node::mqtt::{MqttSettings, OfferedLoad};

/// A sender of iperf 2, as a device is told to start one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IperfCommand {
    /// Where it sends to.
    pub to: Endpoint,
    /// The test; a length of 0 is the device's own.
    pub work: Iperf,
}

impl IperfCommand {
    pub(super) fn program<'a>(&self, style: IperfStyle) -> Box<dyn Program + 'a> {
        Box::new(IperfClient::<16384>::new(IperfSetup::of(&self.work, style), self.to))
    }
}

/// A publisher of numbered MQTT messages, as a device is told to start one, with its memory.
#[derive(Clone, Debug)]
pub struct MqttCommand {
    /// The broker.
    pub broker: Endpoint,
    /// Topic.
    pub topic: String,
    /// Identifier of the client.
    pub client: String,
    /// The messages. A mode that is no offered rate publishes as fast as it goes.
    pub work: MqttRate,
    memory: Box<PublisherMemory>,
}

impl MqttCommand {
    /// Bytes of a message at most.
    pub const SIZE_MAX: u32 = 1024;

    /// Returns a publisher that has not begun.
    #[must_use]
    pub fn new(broker: Endpoint, topic: String, client: String, work: MqttRate) -> Self {
        Self { broker, topic, client, work, memory: Box::default() }
    }

    pub(super) fn program(&mut self, link: Link) -> Mqtt<'_> {
        let pace = match self.work.mode {
            MqttMode::Offered(rate) => OfferedLoad::Rate(rate),
            _ => OfferedLoad::Saturate,
        };
        let usual: MqttSettings<'_> = mqtt_settings(&self.work, pace, link);
        // The second one is a subscriber's, of which there is none here.
        let client_ids = [self.client.as_str(), ""];
        let settings = MqttSettings { topic: &self.topic, client_ids, ..usual };
        let (storage, out) = self.memory.lend();
        Mqtt::new(settings, self.broker, storage, out)
    }
}
