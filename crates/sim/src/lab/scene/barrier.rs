//! Walls and floors of a room: what they take from a link whose straight line crosses them.

use super::Point;
use alloc::vec::Vec;

/// A wall: upright, between two points of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Wall {
    /// The ends; their heights are those of its foot and its top, or equal where it has no end above and
    /// below.
    pub ends: [Point; 2],
    /// The loss on the way through it, in dB.
    pub loss_db: f64,
}

/// A floor, over the whole plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    /// Height in metres.
    pub height_m: f64,
    /// The loss on the way through it, in dB.
    pub loss_db: f64,
}

/// The walls and floors of a room.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Barriers {
    /// The walls.
    pub walls: Vec<Wall>,
    /// The floors.
    pub floors: Vec<Floor>,
}

/// The exponent by which further floors take less than the first (COST 231, "Digital Mobile Radio Towards
/// Future Generation Systems", 1999, chapter 4.7, multi-wall model, b).
pub(in crate::lab) const FLOORS: f64 = 0.46;

impl Wall {
    /// Returns whether the straight line between two points goes through it. A line through an end
    /// counts for one of two walls that meet there.
    #[must_use]
    pub fn crosses(&self, one: Point, other: Point) -> bool {
        // The same for both directions.
        let forward = (one.x, one.y, one.z) <= (other.x, other.y, other.z);
        let (from, to) = if forward { (one, other) } else { (other, one) };
        let side =
            |a: Point, b: Point, it: Point| (b.x - a.x) * (it.y - a.y) - (b.y - a.y) * (it.x - a.x);
        let [foot, end] = self.ends;
        let (before, after) = (side(foot, end, from), side(foot, end, to));
        if (before > 0.0) == (after > 0.0)
            || (side(from, to, foot) > 0.0) == (side(from, to, end) > 0.0)
        {
            return false;
        }
        let (low, high) = (foot.z.min(end.z), foot.z.max(end.z));
        let height = from.z + (to.z - from.z) * before / (before - after);
        low == high || (low..=high).contains(&height)
    }
}

impl Barriers {
    /// Returns whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.walls.is_empty() && self.floors.is_empty()
    }

    /// Returns the loss on the straight line between two points, in dB (COST 231, multi-wall model): the
    /// sum of the walls', and for k floors the mean of theirs times k^((k + 2) / (k + 1) - 0.46).
    #[must_use]
    pub fn loss_db(&self, one: Point, other: Point) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let crossed = self.walls.iter().filter(|it| it.crosses(one, other));
        let walls: f64 = crossed.map(|it| it.loss_db).sum();
        let (low, high) = (one.z.min(other.z), one.z.max(other.z));
        let between = self.floors.iter().filter(|it| low < it.height_m && it.height_m <= high);
        let (count, sum) = between.fold((0.0, 0.0), |(n, sum), it| (n + 1.0, sum + it.loss_db));
        if count == 0.0 {
            return walls;
        }
        walls + sum / count * libm::pow(count, (count + 2.0) / (count + 1.0) - FLOORS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(x: f64, y: f64, z: f64) -> Point {
        Point { x, y, z }
    }

    fn wall(ends: [Point; 2]) -> Wall {
        Wall { ends, loss_db: 6.9 }
    }

    #[test]
    fn a_line_crosses_what_stands_in_its_way() {
        let it = wall([at(0.0, 0.0, 0.0), at(0.0, 4.0, 0.0)]);
        assert!(it.crosses(at(-1.0, 1.0, 1.0), at(1.0, 3.0, 9.0)));
        assert!(!it.crosses(at(-1.0, 5.0, 1.0), at(1.0, 5.0, 1.0)), "past its end");
        assert!(!it.crosses(at(-1.0, 1.0, 1.0), at(-0.5, 3.0, 1.0)), "before it");
        let low = wall([at(0.0, 0.0, 0.0), at(0.0, 4.0, 2.0)]);
        assert!(low.crosses(at(-1.0, 1.0, 1.0), at(1.0, 1.0, 2.0)), "at a height of 1.5 m");
        assert!(!low.crosses(at(-1.0, 1.0, 2.0), at(1.0, 1.0, 3.0)), "above its top");
    }

    #[test]
    fn further_floors_take_less() {
        let floors = [2.5, 5.0, 7.5].map(|height_m| Floor { height_m, loss_db: 18.3 });
        let it = Barriers { walls: Vec::new(), floors: floors.into() };
        let through = |z| it.loss_db(at(0.0, 0.0, 1.0), at(3.0, 0.0, z));
        assert_eq!((through(2.0), through(4.0)), (0.0, 18.3));
        // 2^(4/3 - 0.46) = 1.83.
        assert!((through(6.0) - 33.5).abs() < 0.1, "{}", through(6.0));
        assert!(through(9.0) > through(6.0) && through(9.0) < 3.0 * 18.3);
    }

    proptest! {
        #[test]
        fn walls_are_the_same_from_both_sides(
            ends in prop::array::uniform4(-9_i8..9), line in prop::array::uniform4(-9_i8..9),
            heights in prop::array::uniform4(0_u8..4),
        ) {
            let [a, b, c, d] = ends.map(f64::from);
            let [e, f, g, h] = line.map(f64::from);
            let [k, l, m, n] = heights.map(f64::from);
            let it = wall([at(a, b, k), at(c, d, l)]);
            let back = wall([at(c, d, l), at(a, b, k)]);
            let (one, other) = (at(e, f, m), at(g, h, n));
            prop_assert_eq!(it.crosses(one, other), it.crosses(other, one));
            // A wall through a point of the line is on one of its sides, whichever way it was drawn.
            let touches = |p: Point, q: Point, r: Point| {
                (q.x - p.x) * (r.y - p.y) == (q.y - p.y) * (r.x - p.x)
            };
            let on = [one, other].iter().any(|p| touches(it.ends[0], it.ends[1], *p))
                || it.ends.iter().any(|p| touches(one, other, *p));
            prop_assert!(on || it.crosses(one, other) == back.crosses(one, other));
        }
    }
}
