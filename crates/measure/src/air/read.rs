//! A stored excerpt to a timeline. Lines of later versions are passed over.

use super::timeline::{
    AirFrame, Course, FrameFate, Loss, Timeline, TimelineLevel, TimelinePoint, TimelineProbe,
    TimelineWindow,
};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::excerpt::{self, AirtimeKind, ExcerptLine};
use espbench_model::sample::Fate as Sampled;

/// Most items that a text from outside may make; the lab writes far less.
const MOST: usize = 10_000;
/// Most points of levels that are kept.
const POINTS: usize = 20_000;

#[derive(Default)]
struct Reading {
    timeline: Timeline,
    /// The place of each station's number in the list.
    places: BTreeMap<u32, usize>,
    kept: usize,
    /// Never more than [`POINTS`].
    points: usize,
}

impl Timeline {
    /// Reads an excerpt. What refers to a station that has no name, or stands outside of a window,
    /// is passed over.
    #[must_use]
    pub fn read(place: &str, text: &str) -> Self {
        let mut reading = Reading::default();
        reading.timeline.place = place.into();
        for line in text.lines().filter_map(ExcerptLine::read) {
            if reading.kept == MOST {
                break;
            }
            if reading.line(line).is_some() {
                reading.kept += 1;
            }
        }
        reading.timeline.windows.iter_mut().for_each(acknowledgements);
        reading.timeline
    }
}

/// Sets who read an acknowledgement, which the lab does not say: the next frame of the station that
/// it was for tells, if it is a retry.
fn acknowledgements(window: &mut TimelineWindow) {
    for at in 0..window.frames.len() {
        let (before, rest) = window.frames.split_at_mut(at);
        let Some((ack, after)) = rest.split_first_mut() else { continue };
        if ack.kind != AirtimeKind::Ack.name() || ack.heard + ack.collided + ack.noise > 0 {
            continue;
        }
        let of = |it: &&AirFrame| Some(it.from) == ack.to && it.kind != AirtimeKind::Ack.name();
        let sent = before.iter().rev().find(of).map(|it| it.sequence);
        let again = after.iter().find(of);
        let again = again.is_some_and(|it| it.attempt > 1 && Some(it.sequence) == sent);
        ack.fate = if again { FrameFate::Unheard } else { FrameFate::Read };
    }
}

impl Reading {
    fn line(&mut self, line: ExcerptLine<'_>) -> Option<()> {
        match line {
            ExcerptLine::Station { number, name } => {
                self.places.insert(number, self.timeline.stations.len());
                self.timeline.stations.push(name.into());
            }
            ExcerptLine::Window { begin, end, why } => {
                let (begin_ns, end_ns) = (begin, end.max(begin));
                let window = TimelineWindow {
                    why: why.into(),
                    begin_ns,
                    end_ns,
                    ..TimelineWindow::default()
                };
                self.timeline.windows.push(window);
            }
            ExcerptLine::Share { channel, kind, step, permille } => {
                let permille: Option<Vec<u16>> =
                    permille.split(',').map(|it| it.parse().ok()).collect();
                let (kind, step_ns, permille) = (kind.into(), step, permille?);
                self.timeline.course.push(Course { channel, kind, step_ns, permille });
            }
            ExcerptLine::Frame(it) => {
                let frame = self.frame(it)?;
                self.timeline.windows.last_mut()?.frames.push(frame);
            }
            ExcerptLine::Probe { station, sequence, begin, end, fate } => {
                let station = *self.places.get(&station)?;
                let probe = TimelineProbe {
                    station,
                    sequence,
                    begin_ns: begin,
                    end_ns: end.max(begin),
                    fate: fate_name(fate),
                    lost: matches!(fate, Sampled::Lost(_)),
                };
                self.timeline.windows.last_mut()?.probes.push(probe);
            }
            ExcerptLine::Lost { station, at, cause } => {
                let station = *self.places.get(&station)?;
                let loss = Loss { station, at_ns: at, cause: cause.name().into() };
                self.timeline.windows.last_mut()?.losses.push(loss);
            }
            ExcerptLine::Series { station, level, points } => {
                let station = *self.places.get(&station)?;
                let points: Vec<TimelinePoint> = points
                    .iter()
                    .take(POINTS - self.points)
                    .map(|it| TimelinePoint { at_ns: it.at, value: it.value })
                    .collect();
                self.points += points.len();
                let (name, unit) = (level.name().into(), level.unit().into());
                self.timeline.windows.last_mut()?.levels.push(TimelineLevel {
                    station,
                    name,
                    unit,
                    points,
                });
            }
            ExcerptLine::Missing(count) => self.timeline.windows.last_mut()?.missing = count,
        }
        Some(())
    }

    fn frame(&self, it: excerpt::ExcerptFrame<'_>) -> Option<AirFrame> {
        let to = match it.to {
            None => None,
            Some(to) => Some(*self.places.get(&to)?),
        };
        let fate = match (it.heard, it.collided, it.noise) {
            (0, 0, 0) => FrameFate::Unheard,
            (_, 0, 0) if it.lost > 0 => FrameFate::Partly,
            (_, 0, 0) => FrameFate::Read,
            (0, 0, _) => FrameFate::Weak,
            (0, _, _) => FrameFate::Collided,
            _ => FrameFate::Partly,
        };
        Some(AirFrame {
            kind: it.kind.name().into(),
            from: *self.places.get(&it.from)?,
            to,
            begin_ns: it.begin,
            took_ns: it.took,
            waited_ns: it.waited,
            queued_ns: it.queued,
            channel: it.channel,
            mode: it.mode.to_string(),
            octets: it.octets,
            sequence: it.sequence,
            attempt: it.attempt,
            fate,
            heard: it.heard,
            collided: it.collided,
            noise: it.noise,
            queue: it.queue,
            mpdus: if it.mpdus > 1 { it.mpdus } else { 0 },
            lost: it.lost,
        })
    }
}

fn fate_name(fate: Sampled) -> String {
    match fate {
        Sampled::Lost(cause) => cause.name().into(),
        fate => fate.name().into(),
    }
}
