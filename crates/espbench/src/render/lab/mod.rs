//! Drawings of a room: text, SVG, HTML.
//!
//! | module | what |
//! |---|---|
//! | `plan` | the room seen from above, in characters |
//! | `drawing` | the same as SVG |
//! | `walls` | walls, cut to what a drawing shows |
//! | `tables` | who is there, and what reaches whom |

mod drawing;
mod plan;
mod tables;
#[cfg(test)]
mod tests;
mod walls;

use super::glance::Screen;
use super::html::{self, escape};
use super::text;
use espbench_sim::lab::scene::{Environment, Point, Scene};
use espbench_sim::lab::survey::{StationKind, Survey};
use std::fmt::Write as _;

/// A room to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct Room<'r> {
    /// The room: what stands where.
    pub scene: &'r Scene,
    /// Who hears whom.
    pub survey: &'r Survey,
    /// Seed that places and shadowing were drawn from.
    pub seed: u64,
}

/// Somebody in the room.
#[derive(Clone, Copy, Debug)]
struct Spot {
    at: Point,
    /// An index of the survey's groups.
    group: usize,
    number: u32,
}

impl Room<'_> {
    /// Returns all stations, in the order of their numbers.
    fn spots(&self) -> Vec<Spot> {
        let scene = self.scene;
        let places = scene.nodes.iter().map(|it| it.at);
        let places = places.chain(scene.routers.iter().map(|it| it.at));
        let places = places.chain(scene.background.iter().map(|it| it.at));
        let mut spots = Vec::new();
        let mut group = 0;
        for (number, at) in (0..).zip(places) {
            let groups = &self.survey.groups;
            while groups.get(group).is_some_and(|it| it.stations.end <= number) {
                group += 1;
            }
            spots.push(Spot { at, group: group.min(groups.len().saturating_sub(1)), number });
        }
        spots
    }

    fn kind(&self, spot: &Spot) -> StationKind {
        self.survey.groups.get(spot.group).map_or(StationKind::Device, |it| it.kind)
    }

    /// Returns the character of a group: groups of devices are capitals, routers digits, other
    /// people's stations small letters.
    fn mark(&self, group: usize) -> char {
        let kind = self.survey.groups.get(group).map(|it| it.kind);
        let before = self.survey.groups.iter().take(group).filter(|it| Some(it.kind) == kind);
        let place = before.count() as u8;
        match kind {
            Some(StationKind::Router) => char::from(b'1' + place % 9),
            Some(StationKind::Background) => char::from(b'a' + place % 26),
            _ => char::from(b'A' + place % 26),
        }
    }

    /// Returns the devices alone, where they are small in the room.
    fn close_up(&self, spots: &[Spot]) -> Option<Vec<Spot>> {
        let devices: Vec<Spot> =
            spots.iter().filter(|it| self.kind(it) == StationKind::Device).copied().collect();
        let whole = View::of(spots);
        let part = View::of(&devices);
        (devices.len() > 1 && part.size() * 5.0 < whole.size()).then_some(devices)
    }

    /// Returns the remark about walls and floors; `None` where there are none.
    fn barriers(&self) -> Option<String> {
        let it = &self.scene.environment.barriers;
        let many = |count: usize, one: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {one}s")),
        };
        let kinds = [many(it.walls.len(), "wall"), many(it.floors.len(), "floor")];
        let kinds: Vec<String> = kinds.into_iter().flatten().collect();
        (!kinds.is_empty()).then(|| {
            format!("{} weaken the links whose straight lines go through.", kinds.join(" and "))
        })
    }

    /// Returns remarks about the room that no table has.
    fn remarks(&self) -> Vec<String> {
        let survey = self.survey;
        let mut list = Vec::new();
        if let Some(trace) = &self.scene.link_trace {
            let count = trace.links.len();
            let links = if count == 1 { "link" } else { "links" };
            list.push(format!(
                "{} drives {count} {links}; the strongest of its measurements stands above.",
                trace.name
            ));
        }
        list.extend(self.barriers());
        if survey.deaf == 0 {
            list.push("All devices of a channel can read each other.".to_owned());
        } else {
            let pairs = survey.named.iter().map(|(one, other)| format!("{one}-{other}"));
            let pairs: Vec<String> = pairs.collect();
            let more = if survey.deaf as usize > pairs.len() { ", …" } else { "" };
            list.push(format!(
                "{} pairs of devices cannot read each other: {}{more}.",
                survey.deaf,
                pairs.join(", ")
            ));
            list.push(format!(
                "{} of these pairs are hidden nodes: the initiator reads both, and neither waits \
                 for the other.",
                survey.hidden
            ));
        }
        for &(group, router) in &survey.unscanned {
            let [group, router] = [group, router].map(|at| &survey.groups[at]);
            list.push(format!(
                "{} do not scan channel {}, and so never join {}: see `country` and \
                 `country_policy` of their firmware.",
                group.name, router.channel, router.name
            ));
        }
        if survey.left_out > 0 {
            list.push(format!("{} stations were left out of links.", survey.left_out));
        }
        list
    }
}

/// A part of the room.
#[derive(Clone, Copy, Debug, PartialEq)]
struct View {
    left: f64,
    right: f64,
    near: f64,
    far: f64,
}

impl View {
    /// Returns the view that holds all spots.
    fn of(spots: &[Spot]) -> Self {
        let none = f64::INFINITY;
        let mut view = Self { left: none, right: -none, near: none, far: -none };
        for Spot { at, .. } in spots {
            view.left = view.left.min(at.x);
            view.right = view.right.max(at.x);
            view.near = view.near.min(at.y);
            view.far = view.far.max(at.y);
        }
        if spots.is_empty() { Self { left: 0.0, right: 1.0, near: 0.0, far: 1.0 } } else { view }
    }

    fn width(self) -> f64 {
        self.right - self.left
    }

    fn depth(self) -> f64 {
        self.far - self.near
    }

    fn size(self) -> f64 {
        self.width().max(self.depth())
    }
}

/// Renders the room as text.
#[must_use]
pub fn text(room: &Room<'_>) -> String {
    text_on(room, Screen::default())
}

/// Draws the room as text for a screen.
#[must_use]
pub fn text_on(room: &Room<'_>, screen: Screen) -> String {
    let scene = room.scene;
    let head = super::tame(&format!("{}: {}", scene.name, scene.title));
    let mut out = format!("{head}\n{}\n", super::tame(&environment(room)));
    out.extend(fading(&room.scene.environment).map(|line| format!("{line}\n")));
    let spots = room.spots();
    let _ = write!(out, "\nThe room from above\n{}", plan::draw(room, &spots));
    if let Some(devices) = room.close_up(&spots) {
        let _ = write!(out, "\nThe devices, enlarged\n{}", plan::draw(room, &devices));
    }
    for table in tables::all(room, true) {
        let _ = write!(out, "\n{}\n{}", table.title, text::table_on(&table, screen));
        table.notes.iter().for_each(|note| out += &format!("{note}\n"));
    }
    out.push('\n');
    for remark in room.remarks() {
        let _ = writeln!(out, "{remark}");
    }
    out
}

/// Returns the line that describes the environment.
fn environment(room: &Room<'_>) -> String {
    let it = &room.scene.environment;
    let capture = it.capture_db.map_or_else(|| "never".to_owned(), |db| format!("{db} dB"));
    format!(
        "Environment {}: path loss exponent {}, shadowing {} dB (seed {}), busy from {} dBm, \
         preamble {} dB, capture {capture}",
        it.name, it.exponent, it.shadow_db, room.seed, it.energy_dbm, it.detect_db
    )
}

/// Returns the lines about the place as one sentence after the other.
fn lines_of_place(room: &Room<'_>) -> String {
    let fading = fading(&room.scene.environment).map_or_else(String::new, |it| format!(". {it}"));
    format!("{}{fading}", environment(room))
}

/// Returns the line that describes how links change in time; `None` where they do not.
fn fading(place: &Environment) -> Option<String> {
    let fast = place.fast_fading().map(|it| {
        let ms = it.coherence_ns / 1_000_000;
        format!("fast m = {} (coherence {ms} ms)", it.nakagami_m)
    });
    let slow = place.slow_fading().map(|it| {
        let s = it.coherence_ns / 1_000_000_000;
        format!("slow {} dB (coherence {s} s)", it.deviation_db)
    });
    let both: Vec<String> = fast.into_iter().chain(slow).collect();
    (!both.is_empty()).then(|| format!("Fading: {}", both.join(", ")))
}

/// Renders the room as one SVG file.
#[must_use]
pub fn svg(room: &Room<'_>) -> String {
    let spots = room.spots();
    let mut views = vec![drawing::draw(room, &spots, "The room from above")];
    views.extend(room.close_up(&spots).map(|it| drawing::draw(room, &it, "The devices, enlarged")));
    drawing::file(room, &views)
}

/// Renders the room as one HTML file.
#[must_use]
pub fn html(room: &Room<'_>) -> String {
    let scene = room.scene;
    let mut out = html::begin(&format!("{} – espbench lab", scene.name), "");
    let _ = write!(
        out,
        "<header>\n<p class=\"kicker\">espbench lab</p>\n<h1>{}</h1>\n<p>{}</p>\n\
         <p class=\"note\">{}</p>\n</header>\n<main>\n<div class=\"figures\">",
        escape(&scene.name),
        escape(&scene.title),
        escape(&lines_of_place(room))
    );
    let spots = room.spots();
    let mut figure = |spots: &[Spot], title: &str| {
        let drawn = drawing::draw(room, spots, title);
        let _ =
            writeln!(out, "<figure><figcaption>{title}</figcaption>{}</figure>", drawn.element());
    };
    figure(&spots, "The room from above");
    if let Some(devices) = room.close_up(&spots) {
        figure(&devices, "The devices, enlarged");
    }
    let _ = writeln!(out, "</div>\n{}", drawing::legend(room));
    for table in tables::all(room, false) {
        html::table(&mut out, &table);
    }
    for remark in room.remarks() {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(&remark));
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}
