//! The fixed form of the note of a row in CSV, in which our own rows carry what the columns of
//! `published.csv` have no place for:
//! `origin=measured; n=1000; ci95=6.5..6.9; limit=5.1; fitted; variant=binary, 8 in flight;
//! note=free text`.
//! Each part is left out where it says nothing; the ends of an interval may be empty. In a variant,
//! `%` and `;` are written `%25` and `%3B`. Other notes are free text.

use crate::cell::{Cell, Origin};
use crate::label::{self, Unknown};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Beginning of each of our notes.
const ORIGIN: &str = "origin=";

/// Writes the note of a cell; a published one's is as the document's reader typed it.
#[must_use]
pub fn write(cell: &Cell) -> String {
    if cell.origin == Origin::Published {
        return cell.note.clone().unwrap_or_default();
    }
    let mut parts: Vec<String> = Vec::new();
    parts.push(format!("{ORIGIN}{}", cell.origin.name()));
    parts.extend(cell.n.map(|n| format!("n={n}")));
    if cell.ci_low.is_some() || cell.ci_high.is_some() {
        let end = |end: Option<f64>| end.map_or_else(String::new, |e| e.to_string());
        parts.push(format!("ci95={}..{}", end(cell.ci_low), end(cell.ci_high)));
    }
    parts.extend(cell.limit.map(|limit| format!("limit={limit}")));
    if cell.fitted {
        parts.push("fitted".into());
    }
    let escaped = |v: String| v.replace('%', "%25").replace(';', "%3B");
    parts.extend(label::result(&cell.settings).map(|it| format!("variant={}", escaped(it))));
    parts.extend(cell.note.as_ref().map(|note| format!("note={note}")));
    parts.join("; ")
}

/// Takes a note apart again, into the cell. What is not of the fixed form stays a note.
///
/// # Errors
/// Settings that are not known.
pub fn read(note: &str, cell: &mut Cell) -> Result<(), Unknown> {
    let origin = note.split("; ").next().and_then(|first| match first.strip_prefix(ORIGIN)? {
        "measured" => Some(Origin::Measured),
        "simulated" => Some(Origin::Simulated),
        _ => None,
    });
    let Some(origin) = origin else {
        cell.note = (!note.is_empty()).then(|| note.to_string());
        return Ok(());
    };
    cell.origin = origin;
    let mut rest = note.split_once("; ").map(|(_, rest)| rest);
    while let Some(text) = rest {
        if let Some(free) = text.strip_prefix("note=") {
            cell.note = Some(free.to_string());
            return Ok(());
        }
        let (part, more) = text.split_once("; ").map_or((text, None), |(a, b)| (a, Some(b)));
        read_part(part, cell)?;
        rest = more;
    }
    Ok(())
}

fn read_part(part: &str, cell: &mut Cell) -> Result<(), Unknown> {
    if part == "fitted" {
        cell.fitted = true;
    }
    match part.split_once('=') {
        Some(("n", n)) => cell.n = n.parse().ok(),
        Some(("ci95", ends)) => {
            if let Some((low, high)) = ends.split_once("..") {
                cell.ci_low = low.parse().ok();
                cell.ci_high = high.parse().ok();
            }
        }
        // Tables of before call it the floor.
        Some(("limit" | "floor", limit)) => cell.limit = limit.parse().ok(),
        Some(("variant", v)) => {
            cell.settings = label::read(&v.replace("%3B", ";").replace("%25", "%"))?;
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Estimate, Identity};
    use crate::settings::Setting;
    use proptest::prelude::*;

    fn cell(origin: Origin) -> Cell {
        Estimate { value: Some(1.0), n: 7, low: Some(0.5), high: None }.into_cell(
            Identity::default(),
            "ms",
            origin,
        )
    }

    #[test]
    fn the_fixed_form() {
        let mut ours = cell(Origin::Simulated);
        let name = espbench_model::workload::Name::new("a;b").unwrap();
        ours.settings.set(Setting::LabVariant(name));
        ours.note = Some("free; text".into());
        ours.fitted = true;
        ours.limit = Some(0.25);
        let text = "origin=simulated; n=7; ci95=0.5..; limit=0.25; fitted; variant=device a%3Bb; \
                    note=free; text";
        assert_eq!(write(&ours), text);
    }

    #[test]
    fn a_documents_note_stays_as_typed() {
        let mut back = cell(Origin::Published);
        read("RTOS SDK 2.2; direction as seen by the device", &mut back).unwrap();
        assert_eq!(back.origin, Origin::Published);
        assert_eq!(write(&back), "RTOS SDK 2.2; direction as seen by the device");
        read("", &mut back).unwrap();
        assert_eq!(back.note, None);
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            variant in proptest::option::of("[!-+--~]{1,20}"),
            free in proptest::option::of(".{0,30}"),
            low in proptest::option::of(any::<i32>()),
            limit in proptest::option::of(0.0..1e9_f64),
        ) {
            let mut ours = cell(Origin::Measured);
            let name = variant.and_then(|it| espbench_model::workload::Name::new(&it));
            ours.settings.extend(name.map(Setting::LabVariant));
            ours.note = free;
            ours.ci_low = low.map(f64::from);
            ours.limit = limit;
            let mut back = cell(Origin::Published);
            (back.n, back.ci_low) = (None, None);
            read(&write(&ours), &mut back).unwrap();
            prop_assert_eq!(back, ours);
        }

        #[test]
        fn any_text_is_a_note(text in ".{0,80}") {
            let mut back = cell(Origin::Published);
            let _ = read(&text, &mut back);
        }
    }
}
