//! What was lost, by cell and cause.

use super::{Axis, Figure, Mark, Point, Scale, Series};
use crate::report::Losses;
use crate::report::digest::Material;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Cells shown, the worst first; the table has all.
const MOST: usize = 12;

/// The figure; `None` where nothing was lost.
pub(crate) fn figure(material: &Material<'_>, losses: &[Losses]) -> Option<Figure> {
    let mut lossy: Vec<&Losses> = losses.iter().filter(|l| l.probes > 0 && l.lost() > 0).collect();
    let all = lossy.len();
    lossy.sort_by(|a, b| b.share().total_cmp(&a.share()));
    lossy.truncate(MOST);
    let worst = lossy.first()?;
    let causes: BTreeSet<&String> =
        lossy.iter().flat_map(|l| &l.causes).filter(|(_, n)| **n > 0).map(|(c, _)| c).collect();
    let series: Vec<Series> = causes
        .into_iter()
        .map(|cause| Series {
            name: cause.clone(),
            origin: material.origin,
            mark: Mark::Stacked,
            points: lossy
                .iter()
                .enumerate()
                .map(|(i, l)| Point::new(i as f64, share(l, cause)))
                .collect(),
        })
        .collect();
    Some(Figure {
        id: "losses-figure".into(),
        section: "losses".into(),
        title: material.titled("Loss by cell and cause"),
        alt: format!(
            "Share of the probes that were lost, stacked by cause: the worst {} of {all} cells that lost any. {} lost {:.2} %.",
            lossy.len(),
            worst.place,
            worst.share()
        ),
        x: Axis {
            label: "cell".into(),
            scale: Scale::Category,
            categories: lossy.iter().map(|l| l.place.to_string()).collect(),
            ..Axis::default()
        },
        y: Axis { label: "lost".into(), unit: "%".into(), ..Axis::default() },
        series,
    })
}

fn share(losses: &Losses, cause: &str) -> f64 {
    let lost = losses.causes.get(cause).copied().unwrap_or_default();
    100.0 * lost as f64 / losses.probes as f64
}
