//! Figures of losses by cell and cause: one for each kind of workload, and for each ESP-NOW test.

use super::{Axis, Figure, FigurePoint, MOST_SERIES, Mark, Scale, Series, SeriesMeaning};
use crate::kind;
use crate::report::digest::{Digest, Material};
use crate::report::{Losses, OfCell};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sample::{Cause, Fate};

/// Bars in one figure, the worst; the table has all.
const MOST: usize = 30;

/// The chapter of what has none of its own.
const SECTION: &str = "losses";

/// A cell that lost something.
struct Lossy<'a> {
    losses: &'a Losses,
    digest: &'a Digest,
}

impl<'a> Lossy<'a> {
    fn of(material: &Material<'a>, (cell, losses): &'a OfCell) -> Option<Self> {
        let digest = material.digests.iter().find(|d| (d.ordinal, d.repetition) == *cell)?;
        (losses.probes > 0 && losses.lost() > 0).then_some(Self { losses, digest })
    }
}

/// Returns the figures; none where nothing was lost.
pub(crate) fn figures(material: &Material<'_>, losses: &[OfCell]) -> Vec<Figure> {
    let mut groups: Vec<(&'static str, Vec<Lossy<'_>>)> = Vec::new();
    for it in losses.iter().filter_map(|l| Lossy::of(material, l)) {
        let kind = kind::of(&it.digest.workload);
        let of = kind.losses_chapter().unwrap_or(kind.name());
        match groups.iter_mut().find(|(name, _)| *name == of) {
            Some((_, group)) => group.push(it),
            None => groups.push((of, alloc::vec![it])),
        }
    }
    groups.into_iter().filter_map(|(of, group)| figure(material, of, group)).collect()
}

fn figure(material: &Material<'_>, of: &str, mut lossy: Vec<Lossy<'_>>) -> Option<Figure> {
    let all = lossy.len();
    if all > MOST {
        lossy.sort_by(|a, b| b.losses.share().total_cmp(&a.losses.share()));
        lossy.truncate(MOST);
    }
    let chapter = kind::of(&lossy.first()?.digest.workload).losses_chapter();
    let worst = lossy.iter().max_by(|a, b| a.losses.share().total_cmp(&b.losses.share()))?;
    let alt = format!(
        "Share of the probes that were lost, stacked by cause: {} of {all} cells that lost any. {} lost {:.2} %.",
        lossy.len(),
        worst.losses.place,
        worst.losses.share()
    );
    Some(Figure {
        id: format!("losses-{of}"),
        section: chapter.unwrap_or(SECTION).into(),
        title: format!("Loss by cell and cause, {of}"),
        alt,
        x: Axis {
            label: "cell".into(),
            scale: Scale::Category,
            categories: lossy
                .iter()
                .map(|l| if chapter.is_some() { l.digest.brief() } else { l.losses.place.clone() })
                .collect(),
            ..Axis::default()
        },
        y: Axis { label: "lost".into(), unit: "%".into(), ..Axis::default() },
        series: stacked(material, &lossy),
    })
}

/// Returns one series for each cause that occurs, in the order of a packet's way.
fn stacked(material: &Material<'_>, lossy: &[Lossy<'_>]) -> Vec<Series> {
    let share = |l: &Losses, cause: &str| {
        let lost = l.causes.get(cause).copied().unwrap_or_default();
        100.0 * lost as f64 / l.probes as f64
    };
    let series = |cause: &str| Series {
        name: String::from(cause),
        origin: material.origin,
        mark: Mark::Stacked,
        meaning: (cause == Cause::Collision.name()).then_some(SeriesMeaning::Collided),
        points: lossy
            .iter()
            .enumerate()
            .map(|(i, l)| FigurePoint::new(i as f64, share(l.losses, cause)))
            .collect(),
    };
    let some = |s: &Series| s.points.iter().any(|p| p.y > 0.0);
    let causes = Cause::ALL.into_iter().map(Cause::name).chain([Fate::Corrupt.name()]);
    few(causes.map(series).filter(some).collect())
}

/// Keeps the series of the most losses, and puts all others into one.
fn few(series: Vec<Series>) -> Vec<Series> {
    if series.len() <= MOST_SERIES {
        return series;
    }
    let sum = |it: &Series| it.points.iter().map(|point| point.y).sum::<f64>();
    let mut sums: Vec<f64> = series.iter().map(sum).collect();
    sums.sort_by(|a, b| b.total_cmp(a));
    let least = sums[MOST_SERIES - 2];
    let (mut kept, rest): (Vec<Series>, Vec<Series>) =
        series.into_iter().partition(|it| sum(it) >= least);
    if let Some((first, more)) = rest.split_first() {
        let mut others = Series { name: "other causes".into(), meaning: None, ..first.clone() };
        for (at, point) in others.points.iter_mut().enumerate() {
            point.y += more.iter().filter_map(|it| it.points.get(at)).map(|it| it.y).sum::<f64>();
        }
        kept.push(others);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_has_at_most_six_parts_and_loses_nothing() {
        let one = |number: u32| Series {
            name: alloc::format!("cause {number}"),
            points: alloc::vec![FigurePoint::new(0.0, f64::from(number)); 2],
            ..Series::default()
        };
        let all: Vec<Series> = (1..=9).map(one).collect();
        let kept = few(all.clone());
        assert_eq!(kept.len(), MOST_SERIES);
        let sum = |of: &[Series]| of.iter().flat_map(|it| &it.points).map(|it| it.y).sum::<f64>();
        assert_eq!(sum(&kept), sum(&all));
        assert_eq!((kept[0].name.as_str(), kept[5].name.as_str()), ("cause 5", "other causes"));
        assert_eq!(few(all[..6].to_vec()), all[..6]);
    }
}
