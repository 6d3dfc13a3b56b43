//! Traffic of a capture as a lab can send it again, for the proof of what the capture shows.

use espbench_capture::air::StationRecord;
use espbench_capture::air::class::FrameClass;
use espbench_capture::air::network::DozeRecord;
use espbench_capture::analysis::CaptureSummary;

/// Most stations of a load: a lab of more takes longer than somebody waits for a diagnosis.
const MOST_STATIONS: usize = 24;

/// Share of the busy time without which a station does not count: a passer-by is not one who contends.
const LEAST_SHARE: f64 = 0.01;

/// Frames of stations as they fill the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedLoad {
    /// Frames a second of all stations together.
    pub frames_hz: u16,
    /// Mean time of a frame on the air, with its acknowledgement where there is one, in microseconds.
    pub air_us: u16,
    /// Stations that send them, from 1 to 24.
    pub stations: u8,
}

/// Facts of a capture that a lab is set up with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapturedScene {
    /// Traffic of all stations; none without frames of IEEE 802.11.
    pub load: Option<CapturedLoad>,
    /// Traffic of the busier one of the two stations that do not hear each other most often.
    pub hidden: Option<CapturedLoad>,
    /// DTIM period of the network whose dozing station waits longest for its packets.
    pub dtim: Option<u8>,
}

/// Returns what a capture tells of its place.
#[must_use]
pub fn scene(seen: &CaptureSummary) -> CapturedScene {
    CapturedScene { load: load(seen), hidden: hidden(seen), dtim: dtim(seen) }
}

/// Returns how all frames of a capture fill the air.
fn load(seen: &CaptureSummary) -> Option<CapturedLoad> {
    let answers = [FrameClass::Ack, FrameClass::BlockAck, FrameClass::Clearance];
    let answers: u64 =
        answers.iter().filter_map(|it| seen.air.classes.get(it)).map(|it| it.frames).sum();
    let busy_ns = seen.air.busy_ns();
    of(seen, seen.air.frames.saturating_sub(answers), busy_ns, contenders(seen))
}

/// Returns how the hidden station fills the air that its peer does not hear.
fn hidden(seen: &CaptureSummary) -> Option<CapturedLoad> {
    let ((one, other), _) = seen.air.overlaps.pairs.iter().max_by_key(|it| it.1.unheard.count)?;
    let sent =
        [one, other].into_iter().filter_map(|it| seen.air.stations.get(it)).map(|it| it.sent);
    let busier = sent.max_by_key(|it| it.air_ns)?;
    of(seen, busier.frames, busier.air_ns, 1)
}

fn dtim(seen: &CaptureSummary) -> Option<u8> {
    let networks = &seen.air.networks;
    let waited = |it: &DozeRecord| it.wait_ns / it.waits.count.max(1);
    let longest = networks.dozes.values().max_by_key(|it| waited(it))?;
    networks.beacons.get(&longest.access_point)?.dtim
}

/// Returns the number of stations that take a part of the air that counts.
fn contenders(seen: &CaptureSummary) -> u8 {
    let least_ns = LEAST_SHARE * seen.air.busy_ns() as f64;
    let counts = |it: &&StationRecord| it.sent.air_ns as f64 >= least_ns;
    seen.air.stations.values().filter(counts).count().clamp(1, MOST_STATIONS) as u8
}

fn of(seen: &CaptureSummary, frames: u64, air_ns: u64, stations: u8) -> Option<CapturedLoad> {
    let seconds = seen.seconds().filter(|it| *it > 0.0)?;
    let small = |it: u64| u16::try_from(it).ok().filter(|it| *it > 0);
    let frames_hz = small((frames as f64 / seconds) as u64)?;
    Some(CapturedLoad { frames_hz, air_us: small(air_ns.checked_div(frames)? / 1000)?, stations })
}
