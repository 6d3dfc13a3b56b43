//! A simulated room as bytes, from one worker to another of the same page.

use espbench_measure::predict::energy::DeviceCharge;
use espbench_measure::predict::{ChannelUse, RoomTrial};
use espbench_model::sample::Cause;

/// A room of a case.
pub(crate) struct SimulatedRoom {
    /// Case of the question.
    pub(crate) case: usize,
    /// Number of the room.
    pub(crate) room: u32,
    /// Outcome.
    pub(crate) trial: RoomTrial,
}

/// First byte: JSON begins with another.
const MARK: u64 = 1;

/// Writes a room as numbers of 64 bits, little end first.
pub(crate) fn write(it: &SimulatedRoom) -> Vec<u8> {
    let SimulatedRoom { case, room, trial } = it;
    let mut numbers: Vec<u64> = vec![MARK, *case as u64, u64::from(*room), trial.messages];
    numbers.push(trial.lost.len() as u64);
    for (cause, count) in &trial.lost {
        let at = Cause::ALL.iter().position(|it| it == cause).unwrap_or_default();
        numbers.extend([at as u64, *count]);
    }
    for list in [&trial.latency_ms, &trial.told_ms] {
        numbers.push(list.len() as u64);
        numbers.extend(list.iter().map(|it| it.to_bits()));
    }
    numbers.extend(trial.stages_ns);
    numbers.push(trial.held_ns);
    let ChannelUse { window_ns, busy_ns, own_ns, data_ns, retries_ns, acks_ns, others_ns } =
        trial.air;
    numbers.extend([window_ns, busy_ns, own_ns, data_ns, retries_ns, acks_ns, others_ns]);
    numbers.push(trial.energy.len() as u64);
    for device in &trial.energy {
        numbers.extend(device.mc.iter().chain(&device.ms).map(|it| it.to_bits()));
    }
    numbers.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// Reads a room; `None` where the bytes are none.
pub(crate) fn read(bytes: &[u8]) -> Option<SimulatedRoom> {
    let mut numbers = bytes.chunks_exact(8).map(|it| it.try_into().map(u64::from_le_bytes));
    let mut next = || numbers.next().and_then(Result::ok);
    if next()? != MARK {
        return None;
    }
    let (case, room) = (usize::try_from(next()?).ok()?, u32::try_from(next()?).ok()?);
    let mut trial = RoomTrial { messages: next()?, ..RoomTrial::default() };
    for _ in 0..next()? {
        let cause = *Cause::ALL.get(usize::try_from(next()?).ok()?)?;
        trial.lost.insert(cause, next()?);
    }
    for _ in 0..next()? {
        trial.latency_ms.push(f64::from_bits(next()?));
    }
    for _ in 0..next()? {
        trial.told_ms.push(f64::from_bits(next()?));
    }
    for stage in &mut trial.stages_ns {
        *stage = next()?;
    }
    trial.held_ns = next()?;
    let (window_ns, busy_ns, own_ns, data_ns) = (next()?, next()?, next()?, next()?);
    let (retries_ns, acks_ns, others_ns) = (next()?, next()?, next()?);
    trial.air = ChannelUse { window_ns, busy_ns, own_ns, data_ns, retries_ns, acks_ns, others_ns };
    for _ in 0..next()? {
        let mut device = DeviceCharge::default();
        for part in device.mc.iter_mut().chain(&mut device.ms) {
            *part = f64::from_bits(next()?);
        }
        trial.energy.push(device);
    }
    Some(SimulatedRoom { case, room, trial })
}
