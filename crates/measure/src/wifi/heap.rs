//! The heap of a device while a cell was measured, where the target tells it
//! ([`fact::HEAP_PEAK`](espbench_model::fact::HEAP_PEAK)).
//!
//! | metric | what |
//! |---|---|
//! | `heap_started` | free once Wi-Fi has started, without traffic |
//! | `heap_peak` | the most of that that was in use at a time |
//! | `heap_driver_peak` | what the driver's dynamic buffers had of it at most |
//! | `heap_driver_bound` | the most that they can have: p = b_rx m_rx + b_tx m_tx (ESP-IDF Programming Guide, "Wi-Fi Dynamic Buffer Peak") |
//! | `free_heap_min` | what was free at least, as `esp_get_minimum_free_heap_size()` has it |
//! | `available_heap` | the least of the tests of a rank: the row of the guide's table |
//!
//! That this row is the least while tests run, and not what is free when nothing happens, is seen
//! from the table of the ESP32: four of its ranks have six static RX buffers and the same code in
//! RAM, and differ by 32 KB as their TX buffers do. ESP-IDF's own test of throughput keeps the same:
//! the least of "min heap size" after each of its tests (`idf_iperf_test_util/IperfUtility.py`).

use crate::cell::{Cell, Identity};
use crate::run::Recorded;
use crate::settings::SettingKey;
use alloc::format;
use alloc::vec::Vec;
use espbench_model::fact::{HEAP_DRIVER_BOUND, HEAP_DRIVER_PEAK, HEAP_PEAK, HEAP_STARTED};
use espbench_stats::Estimate;

/// Metric of the least heap that was free.
pub(crate) const LEAST: &str = "free_heap_min";
/// Metrics of the heap that each cell has.
pub(crate) const METRICS: [&str; 5] =
    ["heap_started", "heap_peak", "heap_driver_peak", "heap_driver_bound", LEAST];
/// The row of the guide's table.
pub(crate) const AVAILABLE: &str = "available_heap";

/// The table of ranks, and how many tests it has of each.
const RANKS: &str = "esp32c3-rank";
const TESTS: usize = 4;

/// Returns the cells; none where the heap was not counted. `like`, a cell of the same work, gives
/// the identity columns.
pub(crate) fn cells(recorded: &Recorded, like: Option<&Cell>) -> Vec<Cell> {
    let count = |name: &str| recorded.counters.get(name).map(|bytes| *bytes as f64 / 1024.0);
    let (Some(like), Some(started), Some(peak)) = (like, count(HEAP_STARTED), count(HEAP_PEAK))
    else {
        return Vec::new();
    };
    let values = [
        Some(started),
        Some(peak),
        count(HEAP_DRIVER_PEAK),
        count(HEAP_DRIVER_BOUND),
        Some((started - peak).max(0.0)),
    ];
    let cell = |(metric, value): (&str, Option<f64>)| {
        let id = Identity { metric: metric.into(), ..like.id.clone() };
        let cell = Cell::of(Estimate::exact(value?, 1), id, "KB", like.origin);
        Some(Cell { settings: like.settings.clone(), ..cell })
    };
    METRICS.into_iter().zip(values).filter_map(cell).collect()
}

/// Returns the heap that is free in the worst of a rank's tests, where all were carried out.
pub(crate) fn over_tests<'a>(cells: impl Iterator<Item = &'a Cell> + Clone) -> Vec<Cell> {
    let least = cells
        .filter(|it| it.id.table == RANKS && it.id.metric == LEAST && super::device(it).is_some());
    let mut ranks: Vec<&Cell> = Vec::new();
    for cell in least.clone() {
        if ranks.iter().all(|it| it.id.mode != cell.id.mode) {
            ranks.push(cell);
        }
    }
    let rank = |first: &&Cell| {
        let of: Vec<&Cell> = least.clone().filter(|it| it.id.mode == first.id.mode).collect();
        // The settings tell the directions of a transport apart.
        let tests = of.iter().enumerate().filter(|(at, it)| {
            of[..*at].iter().all(|other| {
                (&other.id.transport, &other.settings) != (&it.id.transport, &it.settings)
            })
        });
        if tests.count() < TESTS {
            return None;
        }
        let value = of.iter().filter_map(|it| it.value).fold(f64::INFINITY, f64::min);
        let id = Identity {
            transport: "config".into(),
            metric: AVAILABLE.into(),
            devices: None,
            payload_bytes: None,
            ..first.id.clone()
        };
        let cell = Cell::of(Estimate::exact(value, of.len() as u64), id, "KB", first.origin);
        Some(Cell {
            settings: first.settings.only(&[SettingKey::LabVariant]),
            source: first.source.clone(),
            note: Some(format!("the least of {} tests", of.len())),
            ..cell
        })
    };
    ranks.iter().filter_map(rank).collect()
}
