//! A lab on a medium: the one loop of devices, frames and consoles in virtual time.

use crate::lab::ideal::IdealMediumConfig;
use crate::lab::nodes::Livelock;
use crate::lab::nodes::conversation::ConversationParts;
use crate::lab::nodes::device::DeviceModel;
use crate::lab::nodes::device_set::{DeviceHost, DeviceSet};
use crate::lab::nodes::note::Watch;
use core::fmt;
use espbench_model::time::Instant;

/// Devices, the medium between them, and all that is on it beside them, in virtual time. `M` is the
/// medium, `D` a device, and `W` is told what happens to devices.
pub struct LabOn<M, D, W> {
    /// The witness of what happens.
    pub watch: W,
    /// The medium.
    pub medium: M,
    pub(in crate::lab) device_set: DeviceSet<D>,
}

/// The medium of a lab. It has the clock of all.
pub(crate) trait LabMedium<D, W> {
    /// The host of the devices: the medium together with the witness.
    type Host<'h>: DeviceHost
    where
        Self: 'h,
        W: 'h;

    /// Returns the time, on the clock of all.
    fn now(&self) -> Instant;

    /// Returns the host of the devices.
    fn host<'h>(&'h mut self, watch: &'h mut W) -> Self::Host<'h>;

    /// Does what is next if it is not after `until`; else it is `until`, and the answer is false.
    fn step(
        &mut self,
        device_set: &mut DeviceSet<D>,
        watch: &mut W,
        until: Instant,
    ) -> Result<bool, Livelock>;

    /// Returns the settings of a medium that can be told what to lose.
    fn ideal(&mut self) -> Option<&mut IdealMediumConfig>;
}

impl<M, D: DeviceModel, W: Watch> ConversationParts for LabOn<M, D, W>
where
    M: LabMedium<D, W>,
{
    type Device = D;
    type Around<'a>
        = M::Host<'a>
    where
        Self: 'a;

    fn device_set(&self) -> &DeviceSet<D> {
        &self.device_set
    }

    fn device_set_mut(&mut self) -> &mut DeviceSet<D> {
        &mut self.device_set
    }

    fn parts(&mut self) -> (&mut DeviceSet<D>, M::Host<'_>) {
        self.device_set.now = self.medium.now();
        (&mut self.device_set, self.medium.host(&mut self.watch))
    }

    fn clock(&self) -> Instant {
        self.medium.now()
    }

    #[inline]
    fn next(&mut self, until: Instant) -> Result<bool, Livelock> {
        self.medium.step(&mut self.device_set, &mut self.watch, until)
    }

    fn ideal_medium(&mut self) -> Option<&mut IdealMediumConfig> {
        self.medium.ideal()
    }
}

impl<M: fmt::Debug, D, W> fmt::Debug for LabOn<M, D, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let devices = self.device_set.members.len();
        f.debug_struct("Lab").field("medium", &self.medium).field("devices", &devices).finish()
    }
}
