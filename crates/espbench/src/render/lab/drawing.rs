//! The room seen from above, as SVG in the style of the reports' figures.

use super::super::html::{escape, style};
use super::super::svg::{STYLES, WIDTH, marker, round_step};
use super::{Room, Spot, View, walls};
use espbench_sim::lab::survey::{StationGroup, StationKind};
use std::fmt::Write as _;

/// Space left of the plan, for the texts of its axis.
const LEFT: f64 = 44.0;
const TOP: f64 = 12.0;
const BELOW: f64 = 30.0;
/// The highest plan.
const HIGHEST: f64 = 420.0;
/// The lowest: devices in a row need some room for their names.
const LOWEST: f64 = 60.0;

/// A drawing without its element.
pub(super) struct Drawn {
    height: f64,
    title: String,
    body: String,
}

impl Drawn {
    /// Returns the drawing as an `svg` element.
    pub(super) fn element(&self) -> String {
        let Self { height, title, body } = self;
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\"><title>{}</title>{body}</svg>",
            escape(title)
        )
    }
}

/// From metres to places.
struct Map {
    view: View,
    scale: f64,
    bottom: f64,
}

impl Map {
    fn new(spots: &[Spot]) -> Self {
        let mut view = View::of(spots);
        let margin = (view.size() * 0.06).max(0.02);
        view.left -= margin;
        view.right += margin;
        view.near -= margin;
        view.far += margin;
        let scale = ((WIDTH - LEFT - 10.0) / view.width()).min(HIGHEST / view.depth());
        let missing = (LOWEST / scale - view.depth()).max(0.0) / 2.0;
        view.near -= missing;
        view.far += missing;
        Self { view, scale, bottom: TOP + view.depth() * scale }
    }

    fn x(&self, metres: f64) -> f64 {
        LEFT + (metres - self.view.left) * self.scale
    }

    fn y(&self, metres: f64) -> f64 {
        self.bottom - (metres - self.view.near) * self.scale
    }

    fn right(&self) -> f64 {
        self.x(self.view.right)
    }

    /// Returns whether the markers of a group would hide each other.
    fn is_dense(&self, spots: &[Spot], group: usize) -> bool {
        let of: Vec<Spot> = spots.iter().filter(|it| it.group == group).copied().collect();
        let view = View::of(&of);
        // A marker needs 8 by 8.
        let area = (view.width() * self.scale + 8.0) * (view.depth() * self.scale + 8.0);
        area < 64.0 * of.len() as f64
    }
}

/// Draws some spots.
pub(super) fn draw(room: &Room<'_>, spots: &[Spot], title: &str) -> Drawn {
    let map = Map::new(spots);
    let mut body = grid(&map);
    for wall in &room.scene.environment.barriers.walls {
        let Some([from, to]) = walls::visible(map.view, wall) else { continue };
        let _ = write!(
            body,
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"currentColor\" stroke-width=\"2.5\">\
             <title>a wall of {} dB</title></path>",
            map.x(from.0),
            map.y(from.1),
            map.x(to.0),
            map.y(to.1),
            wall.loss_db
        );
    }
    deaf(&mut body, room, spots, &map);
    // The initiator lies on top.
    let dense: Vec<bool> =
        (0..room.survey.groups.len()).map(|it| map.is_dense(spots, it)).collect();
    for spot in spots.iter().rev() {
        let small = dense.get(spot.group).is_some_and(|dense| *dense);
        one(&mut body, room, spot, &map, small);
    }
    names(&mut body, room, spots, &map);
    Drawn { height: map.bottom + BELOW, title: format!("{}: {title}", room.scene.name), body }
}

/// Draws grid lines at round metres.
fn grid(map: &Map) -> String {
    let mut out = String::new();
    let (view, right) = (map.view, map.right());
    let step = round_step(0.0, view.size().max(0.05));
    let count = |low: f64, high: f64| {
        let first = (low / step).ceil() as i64;
        (first..=(high / step).floor() as i64).take(60).map(|n| n as f64 * step)
    };
    let digits = (-step.log10().floor()).max(0.0) as usize;
    for x in count(view.left, view.right) {
        let at = map.x(x);
        let _ = write!(
            out,
            "<path class=\"g\" d=\"M{at:.1} {TOP}V{:.1}\"/><text x=\"{at:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{x:.digits$}</text>",
            map.bottom,
            map.bottom + 16.0
        );
    }
    for y in count(view.near, view.far) {
        let at = map.y(y);
        let _ = write!(
            out,
            "<path class=\"g\" d=\"M{LEFT} {at:.1}H{right:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{y:.digits$}</text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
    let _ = write!(
        out,
        "<text class=\"l\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">m</text>",
        LEFT - 6.0,
        map.bottom + 16.0
    );
    out
}

/// Draws lines between devices that cannot read each other.
fn deaf(out: &mut String, room: &Room<'_>, spots: &[Spot], map: &Map) {
    let find = |number: u32| spots.iter().find(|it| it.number == number);
    for (one, other) in &room.survey.named {
        let Some((one, other)) = find(*one).zip(find(*other)) else { continue };
        let _ = write!(
            out,
            "<path class=\"c s1\" stroke-opacity=\".5\" d=\"M{:.1} {:.1}L{:.1} {:.1}\">\
             <title>{} and {} cannot read each other</title></path>",
            map.x(one.at.x),
            map.y(one.at.y),
            map.x(other.at.x),
            map.y(other.at.y),
            one.number,
            other.number
        );
    }
}

/// Returns the class of a group, and its place among the markers.
fn look(room: &Room<'_>, group: usize) -> (String, usize) {
    let groups = &room.survey.groups;
    match groups.get(group).map(|it| it.kind) {
        Some(StationKind::Router) => ("s4".into(), 1),
        Some(StationKind::Background) => ("p".into(), 3),
        _ => {
            let groups =
                groups.iter().take(group).filter(|it| it.kind == StationKind::Device).count();
            // Markers of routers and of other people's stations are not for devices.
            let place = [0, 2, 4, 5][groups % 4];
            (format!("s{}", groups % (STYLES - 2)), place)
        }
    }
}

fn one(out: &mut String, room: &Room<'_>, spot: &Spot, map: &Map, small: bool) {
    let name = room.survey.groups.get(spot.group).map_or("", |it| it.name.as_str());
    let at = spot.at;
    let (class, place) = look(room, spot.group);
    let title = escape(&format!(
        "{name}, station {}: {:.2}, {:.2}, {:.2} m",
        spot.number, at.x, at.y, at.z
    ));
    let (x, y) = (map.x(at.x), map.y(at.y));
    if small {
        let _ = write!(
            out,
            "<circle class=\"b {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1\"><title>{title}</title></circle>"
        );
    } else {
        out.push_str(&marker(place, &class, x, y, &title));
    }
}

/// A part of the drawing that something covers.
#[derive(Clone, Copy)]
struct Covered {
    left: f64,
    right: f64,
    line: f64,
}

impl Covered {
    fn meets(&self, other: &Self) -> bool {
        (self.line - other.line).abs() < 12.0 && self.left < other.right && other.left < self.right
    }
}

/// Draws a name for each router and other station, and for one of each group, where there is room:
/// beside its marker, else above or below.
fn names(out: &mut String, room: &Room<'_>, spots: &[Spot], map: &Map) {
    let marker = |spot: &Spot| {
        let x = map.x(spot.at.x);
        Covered { left: x - 5.0, right: x + 5.0, line: map.y(spot.at.y) + 4.0 }
    };
    let mut taken: Vec<Covered> = spots.iter().map(marker).collect();
    let mut last = None;
    for spot in spots {
        if last == Some(spot.group) {
            continue;
        }
        last = Some(spot.group);
        let Some(group) = room.survey.groups.get(spot.group) else { continue };
        let text = name(group);
        let long = 6.8 * text.chars().count() as f64;
        let Covered { left, right, line } = marker(spot);
        let below = [0.0, -12.0, 12.0, -24.0, 24.0];
        let places = below.into_iter().flat_map(|down| {
            let line = line + down;
            let (left, right) = (left - 3.0, right + 3.0);
            [
                (Covered { left: right, right: right + long, line }, "start"),
                (Covered { left: left - long, right: left, line }, "end"),
            ]
        });
        let within = |(it, _): &(Covered, _)| it.left > 0.0 && it.right < WIDTH && it.line > TOP;
        let mut places = places.filter(within);
        let first = places.clone().next();
        let free = |(it, _): &(Covered, _)| !taken.iter().any(|other| it.meets(other));
        let Some((place, anchor)) = places.find(free).or(first) else { continue };
        taken.push(place);
        // Letters are narrower than is allowed for them: a name ends at its marker, or begins there.
        let x = if anchor == "end" { place.right } else { place.left };
        let _ = write!(
            out,
            "<text class=\"n\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            place.line,
            escape(&text)
        );
    }
}

fn name(group: &StationGroup) -> String {
    match (group.kind, group.stations.len()) {
        (StationKind::Device, 1) => group.name.clone(),
        (StationKind::Device, count) => format!("{count} {}", group.name),
        (StationKind::Router | StationKind::Background, _) => {
            format!("{} ({})", group.name, group.channel)
        }
    }
}

/// Draws the legend of the markers.
pub(super) fn legend(room: &Room<'_>) -> String {
    let mut out = String::from("<ul class=\"legend\">");
    let mut seen = Vec::new();
    for (at, group) in room.survey.groups.iter().enumerate() {
        let (class, place) = look(room, at);
        let name = match group.kind {
            StationKind::Device => group.name.clone(),
            StationKind::Router => "router (its channel)".into(),
            StationKind::Background => "other people’s station (its channel)".into(),
        };
        if seen.contains(&name) {
            continue;
        }
        let _ = write!(
            out,
            "<li><svg class=\"swatch\" viewBox=\"0 0 30 18\" aria-hidden=\"true\">{}</svg>{}</li>",
            marker(place, &class, 15.0, 9.0, ""),
            escape(&name)
        );
        seen.push(name);
    }
    out.push_str("</ul>");
    out
}

/// Drawings below each other, as a file of its own.
pub(super) fn file(room: &Room<'_>, views: &[Drawn]) -> String {
    const HEAD: f64 = 44.0;
    let style = style();
    let height = HEAD + views.iter().map(|it| it.height + 24.0).sum::<f64>();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
         width=\"960\" height=\"{:.0}\" font-family=\"system-ui, sans-serif\">\n<style>\n{style}</style>\n\
         <rect width=\"{WIDTH}\" height=\"{height:.0}\" fill=\"var(--bg)\"/>\n\
         <text class=\"l\" x=\"8\" y=\"18\" font-weight=\"600\">{}</text>\n",
        2.0 * height,
        escape(&room.scene.name)
    );
    let _ = writeln!(out, "<text x=\"8\" y=\"34\">{}</text>", escape(&room.scene.title));
    let mut top = HEAD;
    for view in views {
        let _ = writeln!(out, "<g transform=\"translate(0 {top:.0})\">{}</g>", view.body);
        top += view.height + 24.0;
    }
    out.push_str("</svg>\n");
    out
}
