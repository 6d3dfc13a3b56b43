//! The results of a room of the lab, as a trial of `measure`.

use core::time::Duration;
use espbench_measure::predict::energy::DeviceCharge;
use espbench_measure::predict::{ChannelUse, RoomTrial};
use espbench_model::energy::EnergyPart;
use espbench_sim::lab::predict::Outcome;
use espbench_sim::lab::predict::sleep::EnergyUse;

/// Converts an outcome of the lab to a trial of `measure`.
pub(super) fn trial(outcome: &Outcome) -> RoomTrial {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let (it, air) = (&outcome.stages, &outcome.air);
    let stages =
        [it.queue, it.start, it.sender, it.medium, it.retries, it.air, it.receiver].map(nanos);
    let air = ChannelUse {
        window_ns: nanos(air.window),
        busy_ns: nanos(air.busy),
        own_ns: nanos(air.own),
        data_ns: nanos(air.data),
        retries_ns: nanos(air.retries),
        acks_ns: nanos(air.acks),
        others_ns: nanos(air.others),
    };
    let energy = outcome.energy.iter().map(device_charge).collect();
    RoomTrial { energy, ..RoomTrial::of(&outcome.samples, stages, nanos(it.held), air) }
}

/// Converts a device's time and charge.
fn device_charge(it: &EnergyUse) -> DeviceCharge {
    let parts = EnergyPart::ALL;
    DeviceCharge {
        mc: parts.map(|part| it.charge(part).picocoulombs() as f64 / 1e9),
        ms: parts.map(|part| it.ns(part) as f64 / 1e6),
    }
}
