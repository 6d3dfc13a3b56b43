//! Walls of a room, cut to what a drawing shows.

use super::View;
use espbench_sim::lab::scene::Wall;

/// Returns the ends of the part of a wall that lies in a view, as places in metres.
pub(super) fn visible(view: View, wall: &Wall) -> Option<[(f64, f64); 2]> {
    let [from, to] = wall.ends;
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    // Liang and Barsky, ACM Transactions on Graphics 3, 1984: the part of the line inside each edge.
    let edges = [
        (-dx, from.x - view.left),
        (dx, view.right - from.x),
        (-dy, from.y - view.near),
        (dy, view.far - from.y),
    ];
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for (across, room) in edges {
        if across == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if across < 0.0 {
            first = first.max(room / across);
        } else {
            last = last.min(room / across);
        }
    }
    let at = |part: f64| (from.x + part * dx, from.y + part * dy);
    (first <= last).then(|| [at(first), at(last)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_sim::lab::scene::Point;

    #[test]
    fn a_wall_is_cut_at_the_edges() {
        let view = View { left: 0.0, right: 4.0, near: 0.0, far: 2.0 };
        let seen = |from: (f64, f64), to: (f64, f64)| {
            let end = |(x, y)| Point { x, y, z: 0.0 };
            visible(view, &Wall { ends: [end(from), end(to)], loss_db: 1.0 })
        };
        assert_eq!(seen((1.0, -5.0), (1.0, 9.0)), Some([(1.0, 0.0), (1.0, 2.0)]));
        assert_eq!(seen((-2.0, 1.0), (2.0, 1.0)), Some([(0.0, 1.0), (2.0, 1.0)]));
        assert_eq!(seen((5.0, 0.0), (5.0, 2.0)), None);
        assert_eq!(seen((-1.0, 1.5), (1.5, 4.0)), None);
    }
}
