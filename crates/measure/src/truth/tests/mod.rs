mod wifi;

use super::*;
use espbench_stats::Estimate;

const SOURCE: &str = "espressif-esp-now-report";

fn of_report(ours: &[Cell], published: &[Cell]) -> Option<Truth> {
    truth(ours, published, Documents::EspNow)
}

fn identity(table: &str, metric: &str) -> Identity {
    Identity { table: table.into(), metric: metric.into(), ..Identity::default() }
}

fn published(table: &str, metric: &str, value: f64) -> Cell {
    let cell =
        Cell::of(Estimate::exact(value, 0), identity(table, metric), "ms", Origin::Published);
    Cell { source: Some(SOURCE.into()), ..cell }
}

fn ours(table: &str, metric: &str, value: f64) -> Cell {
    Cell::of(Estimate::exact(value, 1), identity(table, metric), "ms", Origin::Simulated)
}

#[test]
fn within_what_prints_so_there_is_no_error_and_beyond_it_counts_from_the_nearest() {
    let row = |metric: &str, printed: f64, value: f64| {
        let truth =
            of_report(&[ours("t", metric, value)], &[published("t", metric, printed)]).unwrap();
        truth.rows[0].clone()
    };
    assert_eq!(row("rtt_min", 2.0, 2.97).error, Some(0.0));
    assert!((row("rtt_min", 2.0, 3.3).error.unwrap() - 0.1).abs() < 1e-12);
    assert!((row("rtt_min", 2.0, 1.5).error.unwrap() + 0.25).abs() < 1e-12);
    assert_eq!(row("throughput", 0.01, 0.0149).error, Some(0.0));
    assert_eq!(row("handshake_time", 3.6, 3.64).error, Some(0.0));
    assert_eq!(row("provisioning_time", 5.0, 5.49).error, Some(0.0));
    assert!((row("packets_total", 100.0, 90.0).error.unwrap() + 0.1).abs() < 1e-12);
    // Nothing is a multiple of nothing.
    assert_eq!(row("packets_lost", 0.0, 3.0).error, None);
    assert_eq!(row("packets_lost", 0.0, 0.0).error, Some(0.0));
    // A factor of two either way.
    assert!(row("latency_max", 10.0, 19.9).within && row("latency_max", 10.0, 5.1).within);
    assert!(!row("latency_max", 10.0, 20.1).within && !row("latency_max", 10.0, 4.9).within);
}

#[test]
fn ours_is_taken_without_rounding_where_there_is_such_a_figure() {
    let cells = [ours("t", "rtt_min", 3.0), ours("t", "rtt_exact_min", 3.75)];
    let truth = of_report(&cells, &[published("t", "rtt_min", 2.0)]).unwrap();
    assert_eq!((truth.rows[0].simulated, truth.rows[0].error), (3.75, Some(0.25)));
}

#[test]
fn packets_of_a_shorter_test_are_not_held_against_those_of_a_longer_one() {
    let document = ["packets_total", "throughput"].map(|metric| {
        let unit = if metric == "throughput" { "Mbit/s" } else { "packets" };
        Cell { unit: unit.into(), ..published("t", metric, 100.0) }
    });
    let short = document.clone().map(|cell| Cell {
        settings: crate::label::read("6 s").unwrap(),
        origin: Origin::Simulated,
        ..cell
    });
    let truth = of_report(&short, &document).unwrap();
    let metrics: Vec<&str> = truth.rows.iter().map(|row| row.id.metric.as_str()).collect();
    assert_eq!((metrics, truth.other_procedure, truth.missing), (["throughput"].into(), 2, 0));
}

#[test]
fn groups_count_what_was_not_fitted() {
    let document: Vec<Cell> = [10.0, 20.0, 30.0, 40.0, 50.0]
        .iter()
        .enumerate()
        .map(|(i, &value)| published(&alloc::format!("t{i}"), "rtt_avg", value))
        .collect();
    let factors = [1.0, 1.05, 1.2, 1.5, 9.0];
    let mut cells: Vec<Cell> = document
        .iter()
        .zip(factors)
        .map(|(p, f)| ours(&p.id.table, "rtt_avg", p.value.unwrap() * f))
        .collect();
    let mut fitted = document.clone();
    fitted[4].fitted = true;
    fitted[4].fitted_constant = Some("receive.fixed_us".into());
    fitted.push(published("t5", "rtt_avg", 1.0));
    let truth = of_report(&cells, &fitted).unwrap();
    let group = &truth.groups[0];
    assert_eq!((group.kind, group.cells, group.share), (CellGroup::Middle, 4, Some(0.75)));
    assert_eq!(group.held, Some(false));
    assert_eq!((truth.fitted.cells, truth.missing), (1, 1));
    let order: Vec<&str> = truth.rows.iter().map(|r| r.id.table.as_str()).collect();
    assert_eq!(order, ["t3", "t2", "t1", "t0", "t4"]);
    assert_eq!(truth.rows[4].fitted.as_deref(), Some("receive.fixed_us"));
    // Measured figures are none of the lab's.
    cells.iter_mut().for_each(|c| c.origin = Origin::Measured);
    assert_eq!(of_report(&cells, &fitted), None);
}

#[test]
fn the_groups_of_the_documents_cells() {
    let all = crate::published::shipped();
    let document = all.iter().filter(|c| c.source.as_deref() == Some(SOURCE));
    let mut counts = [0; CellGroup::ALL.len()];
    for cell in document {
        let kind = Documents::EspNow.kind_of(cell).unwrap();
        let group = kind.group(cell);
        counts[CellGroup::ALL.iter().position(|k| *k == group).unwrap()] += 1;
        let (low, high) = kind.printed(&cell.id, cell.value.unwrap());
        assert!(low <= cell.value.unwrap() && cell.value.unwrap() <= high && low >= 0.0);
    }
    assert_eq!(counts, [129, 36, 48, 72, 0]);
}
