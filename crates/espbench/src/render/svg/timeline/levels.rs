//! Lanes below the rows of stations: how windows, queues and memory of a station went, in steps.
//!
//! What is counted in the same unit at the same station shares a lane and its scale, so that bytes in
//! flight stand below the window that bounds them. Curves are told apart by colour and by dashes; each
//! lane names its own.

use super::escape;
use espbench_measure::air::timeline::{Timeline, TimelineLevel, TimelineWindow};
use std::fmt::Write as _;

/// Height of a lane, and the part of it that is free above the highest value.
const LANE: f64 = 64.0;
const FREE: f64 = 16.0;
/// Above the first.
const GAP: f64 = 10.0;
/// Curves that styles tell apart.
const STYLES: usize = 4;
/// Lanes of one window.
const MOST: usize = 12;

/// Levels of one station in one unit.
pub(super) struct Lane<'a> {
    station: &'a str,
    unit: &'a str,
    levels: Vec<&'a TimelineLevel>,
    most: u64,
}

/// Returns the lanes of a window, in the order of its levels.
pub(super) fn lanes<'a>(timeline: &'a Timeline, window: &'a TimelineWindow) -> Vec<Lane<'a>> {
    let mut lanes: Vec<(usize, Lane<'a>)> = Vec::new();
    for level in window.levels.iter().filter(|it| !it.points.is_empty()) {
        let Some(station) = timeline.stations.get(level.station) else { continue };
        let room = lanes.len() < MOST;
        let same = lanes.iter_mut().find(|(of, lane)| {
            *of == level.station && lane.unit == level.unit && joins(lane, level)
        });
        match same {
            Some((_, lane)) => {
                lane.most = lane.most.max(level.most());
                lane.levels.push(level);
            }
            None if room => {
                let (unit, most) = (level.unit.as_str(), level.most());
                lanes.push((level.station, Lane { station, unit, levels: vec![level], most }));
            }
            None => {}
        }
    }
    lanes.into_iter().map(|(_, lane)| lane).collect()
}

/// Returns whether a level fits a lane: all of memory would press a window of a hundredth of it
/// flat.
fn joins(lane: &Lane<'_>, level: &TimelineLevel) -> bool {
    let alone = |name: &str| name == "heap";
    lane.levels.len() < STYLES
        && !alone(&level.name)
        && lane.levels.iter().all(|it| !alone(&it.name))
}

/// Returns the height of all lanes.
pub(super) fn height(lanes: &[Lane<'_>]) -> f64 {
    if lanes.is_empty() { 0.0 } else { GAP + lanes.len() as f64 * LANE }
}

fn top(number: usize, below: f64) -> f64 {
    below + GAP + number as f64 * LANE
}

/// Draws names, scales and keys of the lanes, left of them.
pub(super) fn labels(out: &mut String, lanes: &[Lane<'_>], below: f64, (left, right): (f64, f64)) {
    for (number, lane) in lanes.iter().enumerate() {
        let (top, x) = (top(number, below), left - 8.0);
        let bottom = top + LANE;
        let _ = write!(out, "<path class=\"g\" d=\"M4 {bottom}H{right}\"/>");
        // The highest value, at its height.
        let _ = write!(
            out,
            "<path class=\"g\" d=\"M{left} {:.1}H{right}\"/>\
             <text class=\"sm\" x=\"{:.1}\" y=\"{:.1}\">{} {}</text>",
            top + FREE,
            left + 3.0,
            top + FREE - 3.0,
            lane.most,
            escape(lane.unit)
        );
        let station: String = lane.station.chars().take(super::NAME).collect();
        let _ = write!(
            out,
            "<text class=\"sm\" x=\"{x:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            top + 11.0,
            escape(&station)
        );
        for (curve, level) in lane.levels.iter().enumerate() {
            let y = top + 24.0 + 11.0 * curve as f64;
            let _ = write!(
                out,
                "<text class=\"sm\" x=\"{:.0}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>\
                 <path class=\"lv l{curve}\" d=\"M{:.0} {:.1}h22\"/>",
                x - 28.0,
                escape(&level.name),
                x - 24.0,
                y - 3.5
            );
        }
    }
}

/// Draws the curves in steps: a value holds until the next. Horizontal units are those of the group
/// that is zoomed.
pub(super) fn draw(out: &mut String, lanes: &[Lane<'_>], below: f64, x: impl Fn(u64) -> f64) {
    for (number, lane) in lanes.iter().enumerate() {
        let bottom = top(number, below) + LANE;
        let scale = (LANE - FREE) / lane.most.max(1) as f64;
        for (curve, level) in lane.levels.iter().enumerate() {
            let words = format!(
                "{} of {}, up to {} {}",
                level.name,
                lane.station,
                level.most(),
                level.unit
            );
            let _ = write!(
                out,
                "<g class=\"f v\"><title>{}</title><path class=\"lv l{curve}\" d=\"",
                escape(&words)
            );
            for (at, point) in level.points.iter().enumerate() {
                let (x, y) = (x(point.at_ns), bottom - scale * point.value as f64);
                let _ = if at == 0 {
                    write!(out, "M{x:.4} {y:.1}")
                } else {
                    write!(out, "H{x:.4}V{y:.1}")
                };
            }
            // To the right end and beyond: what is cut off there is the window's.
            let _ = write!(out, "H{:.4}\"/></g>", super::RIGHT);
        }
    }
}
