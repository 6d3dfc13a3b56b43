//! An echo over ESP-NOW between two boards of which one sleeps, in their network or beside it.
//!
//! The device listens for a window in each interval (`esp_now_set_wake_window`,
//! `esp_wifi_connectionless_module_set_wake_interval`), and can send at any time. The other board has a
//! request at a random time of each of the plan's intervals, and the device sends it back.

use super::{Cell, SuiteError};
use crate::lab::nodes::Conversation as _;
use crate::lab::wifi::MachineId;
use crate::lab::wifi::esp_now::EspNowEcho;
use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_model::fact;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;
use espbench_model::workload::UdpEcho;

/// The longest body (`ESP_NOW_MAX_DATA_LEN`).
const MOST_BODY: u32 = 250;
/// Time after which the test asks again whether to stop.
const SLICE: Duration = Duration::from_secs(1);

impl Cell<'_, '_> {
    /// Carries it out.
    pub(super) fn esp_now_echo(&mut self, work: &UdpEcho) -> Result<(), SuiteError> {
        let [device, other, ..] = &self.scene.devices[..] else {
            return self.unable("ESP-NOW needs a second board, [other]");
        };
        if work.size > MOST_BODY {
            return self.unable(&format!("ESP-NOW carries {MOST_BODY} bytes at the most"));
        }
        if other.at_interval && other.connectionless.is_none() {
            return self
                .unable("`esp_now_send = \"at-interval\"` of [other] needs its `interval_ms`");
        }
        self.record.fact(fact::TRANSPORT, "esp-now".into());
        let every = work.interval.unwrap_or(work.timeout);
        let mut random = RngStream::stream(self.seed, 0, Purpose::Arrival);
        let (count, begin) = (work.count + work.discard, self.lab.now());
        let due: Vec<Instant> = (0..count)
            .map(|number| begin + every * number + random.time_below(every / 2))
            .collect();
        let costs = [device.profile.receive, device.profile.dispatch, device.profile.esp_now_send];
        let echo = EspNowEcho {
            device: self.device,
            asks: MachineId(1),
            bytes: work.size,
            mode: device.esp_now_mode,
            work: Duration::from_nanos(costs.iter().map(|it| it.ns(work.size)).sum()),
            at_interval: other.at_interval,
            timeout: work.timeout,
        };
        self.lab.echo_esp_now(echo, &due);
        let end = begin + every * count + work.timeout;
        while self.lab.now() < end {
            if self.record.cancelled() {
                return Err(SuiteError::Cancelled);
            }
            let until = (self.lab.now() + SLICE).min(end);
            self.lab.run_until(until)?;
        }
        let discard = u64::from(work.discard);
        for mut probe in self.lab.take_esp_now().into_iter().skip(work.discard as usize) {
            probe.seq -= discard;
            self.record.sample(Sample::Probe(probe));
        }
        Ok(())
    }
}
