//! Facts of the test that a result cell is of, which make its row whole: a table of results needs no
//! other beside it.

use super::OfCell;
use super::digest::Digest;
use crate::cell::{Cell, PublishedFigure, TestFacts};
use crate::compare::{Comparison, VerdictKind};
use crate::run::{Recorded, RunFacts};
use crate::units;
use alloc::string::String;
use espbench_dot11::radio::name::{ESP_NOW_PHY_MODES, PHY_MODE};
use espbench_model::fact;

/// Returns the facts of a recorded test; `suite` is its plan's name.
pub(super) fn of(recorded: &Recorded, run: &RunFacts, suite: Option<&str>) -> TestFacts {
    let told = |name: &str| recorded.facts.get(name).filter(|it| !it.is_empty());
    // Devices that sent in several modes have none.
    let single = || match recorded.told(ESP_NOW_PHY_MODES)?.0[..] {
        [mode] => Some(mode),
        _ => None,
    };
    TestFacts {
        suite: suite.map(String::from),
        kind: Some(recorded.workload.kind().into()),
        number: Some(recorded.ordinal + 1),
        repetition: Some(recorded.repetition + 1),
        repetitions: Some(1),
        seed: Some(run.seed),
        phy_rate: recorded.told(PHY_MODE).or_else(single),
        esp_now_release: told(fact::ESP_NOW_RELEASE).cloned(),
        idf_release: told(fact::IDF_RELEASE).cloned(),
        ..TestFacts::default()
    }
}

/// Adds how many probes a test sent, and how many of them were lost.
pub(super) fn add_losses(digests: &mut [Digest], losses: &[OfCell]) {
    for digest in digests {
        let place = (digest.ordinal, digest.repetition);
        let found = losses.iter().find(|it| it.0 == place && it.1.probes > 0);
        let Some((_, losses)) = found else { continue };
        for cell in &mut digest.cells {
            cell.test.probes = Some(losses.probes);
            cell.test.lost = Some(losses.lost());
        }
    }
}

/// Adds the run, which cells over several tests have, too.
pub(crate) fn add_run(cells: &mut [Cell], run: &RunFacts) {
    for cell in cells {
        cell.source = Some(run.name.clone());
        cell.test.seed = Some(run.seed);
    }
}

/// Adds the published figure that stands beside each cell: of several the first that is comparable. The
/// comparisons are with published cells, in the order of the cells.
pub(crate) fn add_published(cells: &mut [Cell], comparisons: &[Comparison]) {
    let mut left = comparisons.iter().peekable();
    for cell in cells {
        let mut figure: Option<PublishedFigure> = None;
        while let Some(pair) = left.next_if(|it| it.ours == *cell) {
            let not_comparable = Some(VerdictKind::NotComparable);
            if figure.is_none_or(|it| it.verdict == not_comparable) {
                let factor = units::conversion(&pair.other.unit, &cell.unit);
                let value = pair.other.value.zip(factor).map(|(value, factor)| value * factor);
                let verdict = Some(pair.verdict.kind());
                figure = Some(PublishedFigure { value, ratio: pair.ratio, verdict });
            }
        }
        cell.test.published = figure;
    }
}
