//! Joining a network: how long, in which steps, and for what charge.

use super::{Column, Table, remaining};
use crate::digits;
use crate::report::digest::Material;
use crate::settings::Setting;
use crate::summary::wifi_join::STEPS;
use alloc::string::ToString;
use alloc::vec::Vec;

pub(crate) const KIND: &str = "wifi-join";
const TIME: &str = "join_time_avg";
const P99: &str = "join_time_p99";
const LOSS: &str = "loss";
const CHARGE: &str = "charge_per_message";

/// Its tables.
pub(crate) fn tables(material: &Material<'_>) -> Vec<Table> {
    let digests = material.of_kind(KIND);
    if digests.is_empty() {
        return Vec::new();
    }
    let results = || {
        [(TIME, "join, mean", "ms"), (P99, "join, p99", "ms")]
            .into_iter()
            .chain(STEPS.map(|(metric, name)| (metric, name, "ms")))
            .chain([(LOSS, "not joined", "percent"), (CHARGE, "charge a join", "uC")])
    };
    let mut columns = ["device", "security", "key"].map(Column::words).to_vec();
    columns.extend(results().map(|it| Column::result(it.1, it.2, material.origin)));
    let row = |digest: &&crate::report::digest::Digest| {
        let cell = digest.cell(TIME);
        let key = match cell.and_then(|it| it.id.security.as_deref()) {
            Some("open") => "none",
            Some("wpa3") => "by SAE",
            _ if digest.settings.has(&Setting::KeyKnown(true)) => "known",
            _ => "computed",
        };
        let mut row = alloc::vec![
            Some(super::super::figure::wifi_join::device(digest)),
            cell.and_then(|it| it.id.security.clone()),
            Some(key.to_string()),
        ];
        row.extend(results().map(|(metric, ..)| digest.cell(metric).and_then(digits::value)));
        row
    };
    let table = Table {
        id: KIND.into(),
        section: KIND.into(),
        title: material.titled("From being told to join until packets may flow"),
        columns,
        rows: digests.iter().map(row).collect(),
        notes: alloc::vec![
            "The key of a WPA2 password is computed before authentication, once; SAE of WPA3 is \
             part of authentication, each time. DHCP comes on top of all this."
                .into()
        ],
        ..Table::default()
    };
    let specs: Vec<super::Spec> = results()
        .map(|it| it.0)
        .chain(["response_avg", "response_p99", "current_mean"])
        .map(|metric| (metric, "", super::Show::Value))
        .collect();
    let mut tables = alloc::vec![table];
    tables.extend(remaining(KIND, material, &digests, &[&specs]));
    tables
}
