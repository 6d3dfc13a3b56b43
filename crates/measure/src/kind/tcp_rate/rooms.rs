//! The statistics of `tcp-rate` over runs in two places: the document's runs 3 to 6 were made in a
//! closed room and 7 to 12 in sight of the router, and its table 2 is over all ten, in the office.

use super::KIND;
use super::summary::over_runs;
use crate::cell::Cell;
use crate::wifi;
use alloc::string::ToString;
use alloc::vec::Vec;

/// The places of the runs, and where both are.
const ROOMS: [&str; 2] = ["closed room", "2 m, no obstacle"];
const BOTH: &str = "office";

/// Returns the statistics over the runs of both places, where there are runs in both.
pub(super) fn over_rooms(ours: &[Cell]) -> Vec<Cell> {
    let runs = ours.iter().filter(|it| {
        it.id.table == KIND && it.id.metric == "message_rate" && wifi::device(it).is_some()
    });
    let of = |room: &'static str| {
        runs.clone().filter(move |it| it.id.environment.as_deref() == Some(room))
    };
    let (Some(first), Some(_)) = (of(ROOMS[0]).next(), of(ROOMS[1]).next()) else {
        return Vec::new();
    };
    let rates: Vec<f64> =
        ROOMS.iter().flat_map(|room| of(room).filter_map(|it| it.value)).collect();
    over_runs(&rates)
        .into_iter()
        .map(|(metric, estimate)| {
            let mut cell = Cell::of(estimate, first.id.clone(), &first.unit, first.origin);
            cell.id.metric = metric.to_string();
            cell.id.environment = Some(BOTH.into());
            cell.settings.clone_from(&first.settings);
            cell.source.clone_from(&first.source);
            cell.note = Some("over the runs of both places".into());
            cell
        })
        .collect()
}
