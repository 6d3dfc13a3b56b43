//! A stretch of the medium's history: a row for each station, a bar for each frame; below them, on the
//! same time, how windows, queues and memory went.
//!
//! Whole without a script: bars have titles, and a ruler stands above. The page's script zooms by
//! changing the transformation of the group `.z` (so all in it is in its units: no texts) and by
//! writing the ruler again; it reads the window's times from the `data-` attributes.
//!
//! What a bar is can be told without colour: acknowledgements are low, beacons and other people's
//! frames are hollow, retries have a dark line on top, and what nobody read has a line below.

mod levels;

use super::escape;
use espbench_measure::air::timeline::{AirFrame, FrameFate, Timeline, TimelineWindow};
use std::fmt::Write as _;

/// Size in its own units; the page scales it.
const WIDTH: f64 = 1080.0;
const LEFT: f64 = 170.0;
const RIGHT: f64 = 1068.0;
/// The ruler, and the space below the rows.
const TOP: f64 = 26.0;
const BELOW: f64 = 6.0;
/// Characters of a station's name.
const NAME: usize = 24;

/// Rows and how times become places.
struct Place<'a> {
    window: &'a TimelineWindow,
    /// The row of each station; `None` where it has no part in this window.
    rows: Vec<Option<usize>>,
    count: usize,
    row: f64,
}

impl<'a> Place<'a> {
    fn of(timeline: &Timeline, window: &'a TimelineWindow) -> Self {
        let mut used = vec![false; timeline.stations.len()];
        let frames = window.frames.iter().flat_map(|it| [Some(it.from), it.to]).flatten();
        let probes = window.probes.iter().map(|it| it.station);
        // A broadcast is lost at dozens that do nothing else; these have no row.
        for station in frames.chain(probes) {
            if let Some(used) = used.get_mut(station) {
                *used = true;
            }
        }
        let mut count = 0;
        let mut number = |used: &bool| {
            used.then(|| {
                count += 1;
                count - 1
            })
        };
        let rows = used.iter().map(&mut number).collect();
        let row = match count {
            0..=12 => 30.0,
            13..=40 => 18.0,
            _ => 12.0,
        };
        Self { window, rows, count, row }
    }

    fn x(&self, ns: u64) -> f64 {
        let long = (self.window.end_ns - self.window.begin_ns).max(1) as f64;
        let since = ns as f64 - self.window.begin_ns as f64;
        LEFT + since / long * (RIGHT - LEFT)
    }

    fn top(&self, station: usize) -> Option<f64> {
        let row = (*self.rows.get(station)?)?;
        Some(TOP + row as f64 * self.row)
    }

    fn bottom(&self) -> f64 {
        TOP + self.count as f64 * self.row
    }
}

/// Draws the window of that number as an `svg` element.
pub(in super::super) fn draw(timeline: &Timeline, number: usize, title: &str) -> String {
    let Some(window) = timeline.windows.get(number) else { return String::new() };
    let place = Place::of(timeline, window);
    let id = escape(&format!("{}-{number}", timeline.id));
    let lanes = levels::lanes(timeline, window);
    let height = place.bottom() + levels::height(&lanes) + BELOW;
    let mut out = format!(
        "<svg class=\"tl\" id=\"{id}\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" \
         aria-labelledby=\"{id}-t {id}-d\" data-b=\"{}\" data-e=\"{}\" data-l=\"{LEFT}\" \
         data-r=\"{RIGHT}\"><title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>\
         <clipPath id=\"{id}-c\"><rect x=\"{LEFT}\" y=\"0\" width=\"{:.0}\" height=\"{height:.0}\"/></clipPath>",
        window.begin_ns,
        window.end_ns,
        escape(title),
        escape(&window.alt()),
        RIGHT - LEFT
    );
    labels(&mut out, timeline, &place);
    levels::labels(&mut out, &lanes, place.bottom(), (LEFT, RIGHT));
    ruler(&mut out, &place, height - BELOW);
    let _ = write!(out, "<g clip-path=\"url(#{id}-c)\"><g class=\"z\">");
    probes(&mut out, timeline, &place);
    for frame in &window.frames {
        bar(&mut out, timeline, &place, frame);
    }
    losses(&mut out, timeline, &place);
    levels::draw(&mut out, &lanes, place.bottom(), |ns| place.x(ns));
    out.push_str("</g></g></svg>");
    out
}

fn labels(out: &mut String, timeline: &Timeline, place: &Place<'_>) {
    let small = if place.row < 16.0 { " class=\"sm\"" } else { "" };
    for (station, name) in timeline.stations.iter().enumerate() {
        let Some(top) = place.top(station) else { continue };
        let short: String = name.chars().take(NAME).collect();
        let bottom = top + place.row;
        let _ = write!(
            out,
            "<path class=\"g\" d=\"M4 {bottom}H{RIGHT}\"/><text{small} x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            bottom - place.row * 0.5 + 4.0,
            escape(&short)
        );
    }
}

/// Ticks of round steps from the window's beginning.
fn ruler(out: &mut String, place: &Place<'_>, bottom: f64) {
    let window = place.window;
    let long = (window.end_ns - window.begin_ns).max(1);
    let step = step(long / 7);
    out.push_str("<g class=\"ru\">");
    let mut at = 0;
    while at <= long {
        let x = place.x(window.begin_ns + at);
        // There is no room for half a label at the right.
        let anchor = if x > RIGHT - 24.0 { "end" } else { "middle" };
        let _ = write!(
            out,
            "<path class=\"g\" d=\"M{x:.1} {:.0}V{bottom:.0}\"/><text x=\"{x:.1}\" y=\"14\" text-anchor=\"{anchor}\">{}</text>",
            TOP - 6.0,
            time(at, step)
        );
        at += step;
    }
    out.push_str("</g>");
}

/// Returns the least of 1, 2 and 5 times powers of ten that is not smaller than `least`.
fn step(least: u64) -> u64 {
    let mut decade = 1;
    loop {
        for step in [1, 2, 5].map(|factor| factor * decade) {
            if step >= least {
                return step;
            }
        }
        decade *= 10;
    }
}

/// Returns a time since the window's beginning, in the unit of the ruler's steps.
fn time(ns: u64, step: u64) -> String {
    let (unit, per) = if step >= 100_000 { ("ms", 1e6) } else { ("us", 1e3) };
    format!("{} {unit}", ns as f64 / per)
}

/// Draws a frame in its sender's lane: the wait in the queue, the wait for the medium, and the
/// frame.
fn bar(out: &mut String, timeline: &Timeline, place: &Place<'_>, frame: &AirFrame) {
    let Some(top) = place.top(frame.from) else { return };
    let (x, first) = (place.x(frame.begin_ns), frame.begin_ns.saturating_sub(frame.waited_ns));
    let (row, width) = (place.row, place.x(frame.begin_ns + frame.took_ns) - x);
    let at = |share: f64| top + row * share;
    let from = |ns: u64| place.x(ns.max(place.window.begin_ns.saturating_sub(1_000_000_000)));
    let _ =
        write!(out, "<g class=\"f\"><title>{}</title>", escape(&frame.words(&timeline.stations)));
    if frame.queued_ns > 0 && frame.attempt <= 1 {
        let (begin, end) = (from(first.saturating_sub(frame.queued_ns)), from(first));
        rect(out, "q", begin, end - begin, at(0.86), row * 0.1);
    }
    if frame.waited_ns > 0 {
        let begin = from(first);
        rect(out, "wt", begin, x - begin, at(0.44), row * 0.22);
    }
    let low = matches!(frame.kind.as_str(), "ack" | "block-ack" | "rts-cts");
    let (y, height) = if low { (at(0.42), row * 0.36) } else { (at(0.18), row * 0.6) };
    let kind = match frame.kind.as_str() {
        "ack" | "block-ack" | "rts-cts" => "ka",
        "beacon" | "management" | "null" => "kb",
        "background" => "ko",
        _ => "kd",
    };
    rect(out, &format!("{kind} {}", fate(frame.fate)), x, width, y, height);
    if frame.attempt > 1 {
        rect(out, "rt", x, width, y, row * 0.1);
    }
    if matches!(frame.fate, FrameFate::Collided | FrameFate::Weak) {
        rect(out, "rt", x, width, y + height, row * 0.08);
    }
    out.push_str("</g>");
}

const fn fate(fate: FrameFate) -> &'static str {
    match fate {
        FrameFate::Read => "ok",
        FrameFate::Partly => "pa",
        FrameFate::Collided => "co",
        FrameFate::Weak => "we",
        FrameFate::Unheard => "un",
    }
}

fn rect(out: &mut String, class: &str, x: f64, width: f64, y: f64, height: f64) {
    // A ten thousandth of a unit is 50 ns of half a second.
    let _ = write!(
        out,
        "<rect class=\"{class}\" x=\"{x:.4}\" y=\"{y:.1}\" width=\"{width:.4}\" height=\"{height:.1}\"/>"
    );
}

/// Draws probes, each from when it was sent until its fate was known.
fn probes(out: &mut String, timeline: &Timeline, place: &Place<'_>) {
    for probe in &place.window.probes {
        let Some(top) = place.top(probe.station) else { continue };
        let name = &timeline.stations[probe.station];
        let us = (probe.end_ns - probe.begin_ns.min(probe.end_ns)) as f64 / 1000.0;
        let words = format!("probe {} of {name}: {} after {us} us", probe.sequence, probe.fate);
        let (begin, end) = (place.x(probe.begin_ns), place.x(probe.end_ns));
        let (y, tall) = (top + place.row * 0.08, place.row * 0.8);
        let class = if probe.lost { "pr lo" } else { "pr" };
        let _ = write!(
            out,
            "<g class=\"f\"><title>{}</title><path class=\"{class}\" d=\"M{begin:.4} {:.1}V{y:.1}H{end:.4}V{:.1}\"/></g>",
            escape(&words),
            y + tall,
            y + place.row * 0.3
        );
    }
}

/// Draws losses where and when they happened.
fn losses(out: &mut String, timeline: &Timeline, place: &Place<'_>) {
    for loss in &place.window.losses {
        let Some(top) = place.top(loss.station) else { continue };
        let words = format!("lost at {}: {}", timeline.stations[loss.station], loss.cause);
        let x = place.x(loss.at_ns);
        let _ = write!(
            out,
            "<g class=\"f\"><title>{}</title><path class=\"lx\" d=\"M{x:.4} {:.1}V{:.1}\"/></g>",
            escape(&words),
            top + place.row * 0.1,
            top + place.row * 0.9
        );
    }
}

/// Draws the legend of the shapes, once for all timelines.
pub(in super::super) fn legend() -> String {
    let items = [
        ("<rect class=\"kd ok\" x=\"4\" y=\"3\" width=\"22\" height=\"12\"/>", "frame, read"),
        ("<rect class=\"kd pa\" x=\"4\" y=\"3\" width=\"22\" height=\"12\"/>", "read by some"),
        (
            "<rect class=\"kd co\" x=\"4\" y=\"3\" width=\"22\" height=\"11\"/><rect class=\"rt\" x=\"4\" y=\"14\" width=\"22\" height=\"2\"/>",
            "collided",
        ),
        (
            "<rect class=\"kd we\" x=\"4\" y=\"3\" width=\"22\" height=\"11\"/><rect class=\"rt\" x=\"4\" y=\"14\" width=\"22\" height=\"2\"/>",
            "too weak",
        ),
        ("<rect class=\"kd un\" x=\"4\" y=\"3\" width=\"22\" height=\"12\"/>", "taken by nobody"),
        (
            "<rect class=\"kd ok\" x=\"4\" y=\"3\" width=\"22\" height=\"12\"/><rect class=\"rt\" x=\"4\" y=\"3\" width=\"22\" height=\"2\"/>",
            "retry",
        ),
        ("<rect class=\"ka ok\" x=\"4\" y=\"7\" width=\"22\" height=\"7\"/>", "ACK"),
        ("<rect class=\"kb ok\" x=\"4\" y=\"3\" width=\"22\" height=\"12\"/>", "beacon"),
        ("<rect class=\"ko ok\" x=\"4\" y=\"3\" width=\"22\" height=\"12\"/>", "other people’s"),
        ("<rect class=\"wt\" x=\"4\" y=\"7\" width=\"22\" height=\"5\"/>", "waits for the medium"),
        ("<rect class=\"q\" x=\"4\" y=\"11\" width=\"22\" height=\"3\"/>", "waits in the queue"),
        ("<path class=\"pr\" d=\"M5 16V3H25V8\"/>", "probe: sent, answered"),
        ("<path class=\"pr lo\" d=\"M5 16V3H25V8\"/>", "probe, lost"),
        ("<path class=\"lx\" d=\"M15 2V16\"/>", "lost here"),
    ];
    let mut out = String::from("<ul class=\"legend\">");
    for (shape, words) in items {
        let _ = write!(
            out,
            "<li><svg class=\"swatch\" viewBox=\"0 0 30 18\" aria-hidden=\"true\">{shape}</svg> {words}</li>"
        );
    }
    out.push_str("</ul>");
    out
}
