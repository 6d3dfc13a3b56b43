//! Names beside points, where there is room for them.

use super::{Frame, escape};
use std::fmt::Write as _;

/// Size of the text on a phone, the largest, and the width of one of its characters: an estimate, as
/// fonts differ.
const SIZE: f64 = 15.0;
const CHARACTER: f64 = 8.2;
/// From a point to its name, and from a line of text to the next.
const GAP: f64 = 7.0;
const LINE: f64 = 16.0;
/// How far from its point a name may be moved up or down, in lines.
const MOST: u32 = 7;

/// A box on the drawing: left, top, right, bottom.
type Place = [f64; 4];

/// Draws the names, each with its point, in their order. The first ones get the better places; a
/// thin line leads to a name that had to be moved. Names keep off all points and off each other; one
/// for which there is no room is left out.
pub(super) fn draw<'a>(
    frame: Frame,
    names: impl Iterator<Item = (&'a str, (f64, f64))>,
    points: impl Iterator<Item = (f64, f64)>,
) -> String {
    let mut names = names.peekable();
    if names.peek().is_none() {
        return String::new();
    }
    let mut taken: Vec<Place> = points.map(|(x, y)| [x - 4.0, y - 4.0, x + 4.0, y + 4.0]).collect();
    let mut out = String::new();
    for (name, (x, y)) in names {
        let width = name.chars().count() as f64 * CHARACTER;
        let free = |it: &Place| inside(frame, it) && !taken.iter().any(|other| meet(it, other));
        let all = places(x, y, width);
        // Where there is no room, the name stands in the data alone.
        let Some(place) = all.iter().copied().find(free) else { continue };
        let middle = (place[1] + place[3]) / 2.0;
        let (near, side) = if place[0] > x { (place[0], 3.0) } else { (place[2], -3.0) };
        if (middle - y).abs() > LINE / 2.0 {
            let end = near - side / 1.5;
            let _ = write!(out, "<path class=\"g\" d=\"M{x:.1} {y:.1}L{end:.1} {middle:.1}\"/>");
        }
        let _ = write!(
            out,
            "<text class=\"n\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            place[0],
            middle + SIZE / 3.0,
            escape(name)
        );
        taken.push(place);
    }
    out
}

/// Returns the places where a name may stand: to the right of its point or to the left, and further
/// up or down.
fn places(x: f64, y: f64, width: f64) -> Vec<Place> {
    let mut all = Vec::new();
    for step in 0..=MOST {
        for up in [-1.0, 1.0] {
            let middle = y + up * f64::from(step) * LINE;
            for left in [x + GAP, x - GAP - width] {
                all.push([left, middle - LINE / 2.0, left + width, middle + LINE / 2.0]);
            }
        }
    }
    all
}

fn inside(frame: Frame, it: &Place) -> bool {
    it[0] >= frame.left && it[2] <= frame.right && it[1] >= frame.top && it[3] <= frame.bottom
}

fn meet(a: &Place, b: &Place) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame { left: 0.0, right: 400.0, top: 0.0, bottom: 300.0 };

    /// Returns the place of each text.
    fn texts(svg: &str) -> Vec<(f64, f64)> {
        let number = |part: &str, key: &str| -> f64 {
            let (_, rest) = part.split_once(key).unwrap();
            rest.split_once('"').unwrap().0.parse().unwrap()
        };
        svg.split("<text").skip(1).map(|it| (number(it, " x=\""), number(it, " y=\""))).collect()
    }

    #[test]
    fn names_of_points_in_one_place_stand_apart() {
        let names = ["ps-max-li10", "ps-min-dtim10", "ps-max-li9", "ps-max-li8"];
        let at = (200.0, 150.0);
        let svg = draw(FRAME, names.iter().map(|it| (*it, at)), [at].into_iter());
        let at = texts(&svg);
        for (i, one) in at.iter().enumerate() {
            let near = |it: &&(f64, f64)| (it.0 - one.0).abs() < 60.0 && (it.1 - one.1).abs() < 9.0;
            assert!(!at[..i].iter().any(|it| near(&it)), "{at:?}");
        }
    }

    #[test]
    fn a_name_stays_in_the_picture() {
        let dot = (390.0, 10.0);
        let svg = draw(FRAME, [("a-long-name", dot)].into_iter(), [dot].into_iter());
        let at = texts(&svg);
        assert!(at[0].0 < 380.0 && at[0].0 > 0.0, "{at:?}");
    }
}
