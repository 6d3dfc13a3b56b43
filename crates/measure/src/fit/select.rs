//! The constants that measured values tell something about.

use super::linear::Normal;
use super::{FitFault, FitModel, LogValue, Search};
use alloc::vec;
use alloc::vec::Vec;
use espbench_stats::special::student_quantile;

/// Chance that a constant is taken which explains nothing, over all candidates together.
const CHANCE: f64 = 0.01;

/// Chooses at most `most` of a model's constants: again and again the one that explains most of the
/// differences that are left, as long as that is no chance (forward selection, with Bonferroni's
/// bound for the number of candidates: Draper and Smith, chapter 15). Returns them in that order, and
/// how often the model was computed.
///
/// # Errors
/// The model gives nothing for the constants as they are, or its own fault.
pub fn select<M: FitModel>(
    measured: &[LogValue],
    candidates: usize,
    most: usize,
    model: &mut M,
) -> Result<(Vec<usize>, usize), FitFault<M::Error>> {
    let mut search = Search { measured, model, evaluations: 0 };
    let place = search.at(&vec![1.0; candidates])?.ok_or(FitFault::NoModel)?;
    let mut slopes = Vec::new();
    for candidate in 0..candidates {
        slopes.push(search.slope(&place, candidate)?);
    }
    let mut chosen: Vec<usize> = Vec::new();
    let mut left = place.misfit;
    while chosen.len() < most && measured.len() > chosen.len() + 1 {
        let mut best: Option<(usize, f64)> = None;
        for candidate in (0..candidates).filter(|it| !chosen.contains(it)) {
            let of = |it: &usize| slopes[*it].clone();
            let Some(slopes) =
                chosen.iter().chain([&candidate]).map(of).collect::<Option<Vec<_>>>()
            else {
                continue;
            };
            let with = Normal::of(search.rows(&place, &slopes)).left();
            if let Some(with) = with
                && best.is_none_or(|(_, least)| with < least)
            {
                best = Some((candidate, with));
            }
        }
        let Some((candidate, with)) = best else { break };
        let freedom = (measured.len() - chosen.len() - 1) as f64;
        // One degree of freedom more: F is the square of Student's t.
        let f = (left - with) / (with / freedom).max(1.0);
        let t = student_quantile(1.0 - CHANCE / (2.0 * candidates as f64), freedom);
        if f.is_nan() || f < t * t {
            break;
        }
        chosen.push(candidate);
        left = with;
    }
    Ok((chosen, search.evaluations))
}
