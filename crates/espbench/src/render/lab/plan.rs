//! The room seen from above, in characters. A character is twice as high as it is wide.

use super::{Room, Spot, View, walls};
use std::fmt::Write as _;

/// The most characters of a line, without the frame.
const COLUMNS: f64 = 72.0;
/// The most lines.
const ROWS: f64 = 22.0;

/// Spots in a frame; what stands in one place shows the mark of most of them.
pub(super) fn draw(room: &Room<'_>, spots: &[Spot]) -> String {
    let view = View::of(spots);
    let wide = (view.width() / (COLUMNS - 1.0)).max(view.depth() / (2.0 * (ROWS - 1.0))).max(1e-3);
    let columns = (view.width() / wide).round() as usize + 1;
    let rows = (view.depth() / (2.0 * wide)).round() as usize + 1;
    // Ends of the scale need some room below a narrow plan.
    let columns = columns.max(24);
    let mut cells: Vec<Option<(usize, u32)>> = vec![None; columns * rows];
    for spot in spots {
        let column = ((spot.at.x - view.left) / wide).round() as usize;
        let row = rows - 1 - (((spot.at.y - view.near) / (2.0 * wide)).round() as usize);
        let cell = &mut cells[row * columns + column];
        // The initiator is seen whatever stands beside it.
        match cell {
            Some((group, _)) if *group == 0 => {}
            _ => *cell = Some((spot.group, spot.number)),
        }
    }
    let place = |x: f64, y: f64| {
        let column = ((x - view.left) / wide).round() as usize;
        let row = rows - 1 - (((y - view.near) / (2.0 * wide)).round() as usize).min(rows - 1);
        row * columns + column.min(columns - 1)
    };
    let mut wall = vec![false; columns * rows];
    for it in &room.scene.environment.barriers.walls {
        let Some([from, to]) = walls::visible(view, it) else { continue };
        for step in 0..=2 * columns.max(rows) {
            let part = step as f64 / (2 * columns.max(rows)) as f64;
            wall[place(from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1))] = true;
        }
    }
    let mut out = format!("  +{}+\n", "-".repeat(columns));
    for (row, wall) in cells.chunks(columns).zip(wall.chunks(columns)) {
        let empty = |is_wall: bool| if is_wall { '#' } else { ' ' };
        let mark = |(cell, wall): (&Option<(usize, u32)>, &bool)| {
            cell.map_or(empty(*wall), |(group, _)| room.mark(group))
        };
        let line: String = row.iter().zip(wall).map(mark).collect();
        let _ = writeln!(out, "  |{line}|");
    }
    let left = format!("{:.2} m", view.left);
    let right = format!("{:.2} m", view.left + wide * (columns - 1) as f64);
    let gap = (columns + 2).saturating_sub(left.len() + right.len()).max(1);
    let _ = writeln!(out, "  +{}+\n  {left}{}{right}", "-".repeat(columns), " ".repeat(gap));
    let _ = writeln!(
        out,
        "  from front to back {:.2} to {:.2} m; a character is {:.2} m wide",
        view.near, view.far, wide
    );
    out
}
