//! Messages in one frame or in several, sent by `esp_now_send` without the component: each frame after the
//! callback of the one before, from device 1 to device 0.

use crate::lab::nodes::NodeId;
use crate::lab::nodes::note::{Note, Watch};
use crate::lab::run::{Content, Lab, Livelock, RawSends, Tap};
use crate::lab::scene::Scene;
use crate::lab::trace::{AirtimeKind, Flight};
use core::time::Duration;
use esp_now::frame::mpdu_len;
use espbench_dot11::radio::airtime::airtime;
use espbench_model::sample::{Fate, Probe};
use espbench_model::time::Instant;

use crate::lab::nodes::Conversation as _;

/// Time for which devices are left alone after their start: 5 s later each prints its last line.
const SETTLE: Duration = Duration::from_secs(6);
/// Time for a frame beside its air time: attempts, what others send, and the processor.
const FRAME_MOST: Duration = Duration::from_millis(100);
/// Time after which is looked whether all frames were sent.
const SLICE: Duration = Duration::from_secs(1);

/// Messages of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameBurst {
    /// Bytes of each frame's body.
    pub bytes: u32,
    /// Frames of a message.
    pub frames: u32,
    /// Messages.
    pub messages: u32,
    /// Frames go to all, and nobody acknowledges them.
    pub is_broadcast: bool,
}

/// Fate of a burst's messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BurstOutcome {
    /// Messages that were sent.
    pub messages: u64,
    /// Times from the first call until all frames were there, of the messages of which all came.
    pub whole: alloc::vec::Vec<Duration>,
    /// Sum of the times from a message's first call until its last callback.
    pub span: Duration,
    /// Time of the sender's frames on the air, with all repetitions.
    pub air: Duration,
}

/// Adds up the sender's time on the air.
#[derive(Default)]
struct AirMeter {
    is_watching: bool,
    air_ns: u64,
}

impl Watch for AirMeter {
    fn note(&mut self, _: Instant, _: &Note<'_>) {}
}

impl Tap for AirMeter {
    fn wants_notes(&self) -> bool {
        false
    }

    fn flight(&mut self, flight: &Flight, _: Option<Content<'_>>) {
        if self.is_watching && flight.from == 1 && flight.what == AirtimeKind::Data {
            self.air_ns += flight.end.since(flight.begin).as_nanos() as u64;
        }
    }
}

/// Sends a burst in a room. The same seed gives the same outcome.
///
/// # Errors
/// [`Livelock`].
pub fn burst(scene: &Scene, load: &FrameBurst, seed: u64) -> Result<BurstOutcome, Livelock> {
    let Some([listener, sender]) = scene.nodes.first_chunk() else {
        return Ok(BurstOutcome::default());
    };
    let mut lab = Lab::new(scene, seed, AirMeter::default());
    let boot = listener.profile.boot.max(sender.profile.boot);
    lab.run_for(boot + SETTLE)?;
    lab.watch.is_watching = true;
    let count = load.messages * load.frames;
    lab.begin_raw_sends(RawSends {
        from: NodeId(1),
        to: NodeId(0),
        is_broadcast: load.is_broadcast,
        bytes: load.bytes,
        count,
        awaits_callback: true,
    });
    let octets = mpdu_len(load.bytes as usize) as u32;
    let air = Duration::from_nanos(airtime(sender.mode, octets));
    let until = lab.now() + (air * u32::from(sender.profile.attempts) + FRAME_MOST) * count;
    while !lab.has_sent_raw() && lab.now() < until {
        lab.run_till(SLICE, |lab| lab.has_sent_raw())?;
    }
    let (probes, _) = lab.take_raw_sends();
    let air = Duration::from_nanos(lab.watch.air_ns);
    Ok(outcome(&probes, load.frames as usize, air))
}

/// Makes messages of frames that were sent one after the other.
fn outcome(probes: &[Probe], frames: usize, air: Duration) -> BurstOutcome {
    let mut all = BurstOutcome { air, ..BurstOutcome::default() };
    for message in probes.chunks_exact(frames.max(1)) {
        let Some((first, last)) = message.first().zip(message.last()) else { continue };
        all.messages += 1;
        all.span += last.acked.map_or(Duration::ZERO, |it| it.since(first.due));
        let is_whole = message.iter().all(|it| it.fate == Fate::Delivered);
        let there = message.iter().filter_map(|it| it.received).max();
        all.whole.extend(there.filter(|_| is_whole).map(|it| it.since(first.due)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::file::{Library, Overrides};
    use espbench_model::sample::Cause;

    #[test]
    fn a_message_is_there_when_its_last_frame_is() {
        let at = |ms: u64| Instant::from_nanos(1_000_000 * ms);
        let probe = |due, received: Option<u64>| Probe {
            due: at(due),
            received: received.map(at),
            acked: Some(at(due + 3)),
            fate: if received.is_some() { Fate::Delivered } else { Fate::Lost(Cause::Noise) },
            ..Probe::default()
        };
        let probes = [probe(0, Some(2)), probe(4, Some(6)), probe(10, Some(12)), probe(14, None)];
        let all = outcome(&probes, 2, Duration::ZERO);
        assert_eq!((all.messages, all.whole.len()), (2, 1));
        assert_eq!(all.whole[0], Duration::from_millis(6));
        assert_eq!(all.span, Duration::from_millis(14));
    }

    #[test]
    fn several_frames_take_longer_than_one_and_are_as_long_on_the_air_as_computed() {
        let near = Overrides { distance_m: Some((1.0, 1.0)), ..Overrides::default() };
        let scene = Library::built_in().scene("raw-esp-now", &near, 1).unwrap();
        let run = |bytes, frames| {
            let load = FrameBurst { bytes, frames, messages: 20, is_broadcast: false };
            burst(&scene, &load, 7).unwrap()
        };
        let (one, five) = (run(250, 1), run(50, 5));
        assert_eq!((one.messages, five.messages), (20, 20));
        let frame = airtime(scene.nodes[1].mode, mpdu_len(250) as u32);
        assert!(one.air >= Duration::from_nanos(20 * frame));
        let mean = |it: &BurstOutcome| it.whole.iter().sum::<Duration>() / it.whole.len() as u32;
        assert!(mean(&five) > 2 * mean(&one), "{:?} {:?}", mean(&five), mean(&one));
        assert!(five.air > one.air && five.span > one.span);
    }
}
