//! Cells of the documents of tests over Wi-Fi.

use super::super::*;
use espbench_stats::Estimate;

fn over_wifi(ours: &[Cell], published: &[Cell]) -> Option<Truth> {
    truth(ours, published, Documents::Wifi)
}

/// Ours of each published result, so many times as large.
fn ours(published: &[Cell], factor: f64) -> Vec<Cell> {
    let words = |cell: &Cell| match cell.id.table.as_str() {
        "tcp-rate" => "device x, Nagle on",
        "mqtt-rate" => "device x, MQTT 3.1.1, QoS 0, offered 20/s",
        _ => "device x",
    };
    let own = |cell: &Cell| {
        let mut id = cell.id.clone();
        if id.table == "esp32c3-best" && id.transport != "802.11" {
            id.metric += "_best_second";
        }
        let value = cell.value.unwrap() * factor;
        Cell {
            settings: crate::label::read(words(cell)).unwrap(),
            note: cell.note.clone(),
            firmware: cell.firmware.clone(),
            ..Cell::of(Estimate::exact(value, 1), id, &cell.unit, Origin::Simulated)
        }
    };
    published.iter().filter(|it| Documents::Wifi.kind_of(it).is_some()).map(own).collect()
}

#[test]
fn every_published_result_finds_its_own() {
    let published = crate::published::shipped();
    let truth = over_wifi(&ours(&published, 1.0), &published).unwrap();
    assert_eq!(truth.missing, 0);
    let told: Vec<(CellGroup, u32, Option<f64>)> =
        truth.groups.iter().map(|g| (g.kind, g.cells, g.median)).collect();
    let wanted = [
        (CellGroup::Middle, 103, Some(0.0)),
        (CellGroup::Minima, 24, Some(0.0)),
        (CellGroup::Maxima, 24, Some(0.0)),
        (CellGroup::Spreads, 57, Some(0.0)),
    ];
    assert_eq!(told, wanted);
    assert!(truth.holds());
    let off = over_wifi(&ours(&published, 1.2), &published).unwrap();
    assert_eq!(off.groups[0].held, Some(false));
    assert!((off.groups[0].median.unwrap() - 0.2).abs() < 0.01);
}

#[test]
fn fitted_cells_are_counted_apart_with_their_constant() {
    let mut published = crate::published::shipped();
    let cells = ours(&published, 1.5);
    let first = published.iter_mut().find(|it| it.id.table == "esp8266-iperf").unwrap();
    first.fitted = true;
    first.fitted_constant = Some("receive.fixed_us".into());
    let truth = over_wifi(&cells, &published).unwrap();
    assert_eq!((truth.fitted.cells, truth.missing), (1, 0));
    assert_eq!(truth.rows.last().unwrap().fitted.as_deref(), Some("receive.fixed_us"));
}

#[test]
fn what_was_measured_is_none_of_the_labs() {
    let published = crate::published::shipped();
    let mut cells = ours(&published, 1.0);
    cells.iter_mut().for_each(|it| it.origin = Origin::Measured);
    assert_eq!(over_wifi(&cells, &published), None);
}
