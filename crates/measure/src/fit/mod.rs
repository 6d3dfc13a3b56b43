//! Fits constants of a model to measured values: weighted least squares on logarithms.
//!
//! A constant is a factor of what it was before; value and model are compared by the difference of
//! their logarithms, so that 10 % too much and 10 % too little weigh alike. Each difference has the
//! weight `1 / (s² + e² + FLOOR²)`: `s` is the standard error of the measured value, `e` that of the
//! model's, and [`FLOOR`] what no model does better than. The minimum is looked for by Gauss's and
//! Newton's steps, which are halved where they make the sum larger (Nocedal and Wright, "Numerical
//! Optimization", 2nd edition, chapter 10.3). Intervals are those of the linear model at the minimum,
//! widened where the differences are larger than their errors explain (Draper and Smith, "Applied
//! Regression Analysis", 3rd edition, chapters 5 and 24).
//!
//! | module | contents |
//! |---|---|
//! | `linear` | the linear least squares of a step |
//! | `select` | the constants that the values tell something about |

mod linear;
mod select;
#[cfg(test)]
mod tests;

use alloc::vec;
use alloc::vec::Vec;
use espbench_stats::Estimate;
use espbench_stats::special::student_quantile;
use linear::{Normal, Row};
pub use select::select;

/// Relative error that each value is given beside its own, as a difference of logarithms.
pub const FLOOR: f64 = 0.02;
/// Difference quotients are taken over this factor.
const STEP: f64 = 1.25;
/// Largest factor of one step.
const STRIDE: f64 = 3.0;
/// Steps at most.
const STEPS: usize = 8;
/// Times that a step is halved at most.
const HALVINGS: usize = 4;
/// A step that changes no logarithm by more is the last one.
const CLOSE: f64 = 0.01;

/// A positive value with its standard error, as logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogValue {
    /// Natural logarithm of the value.
    pub ln: f64,
    /// Standard error of it.
    pub error: f64,
}

impl LogValue {
    /// Returns the logarithm of a value with the ends of its 95 % interval, where it has some; `None`
    /// where the value is not above 0.
    #[must_use]
    pub fn of(value: f64, low: Option<f64>, high: Option<f64>) -> Option<Self> {
        let is_fit = value > 0.0 && value.is_finite();
        let width = low.zip(high).map_or(0.0, |(low, high)| (high - low).max(0.0));
        is_fit.then(|| Self { ln: libm::log(value), error: width / (2.0 * 1.96 * value) })
    }

    /// Returns the mean of the logarithms of several positive values, with its standard error;
    /// `None` where there is none, or one is not above 0.
    #[must_use]
    pub fn mean(values: &[f64]) -> Option<Self> {
        let mut logs = Vec::with_capacity(values.len());
        for &value in values {
            logs.push(Self::of(value, None, None)?.ln);
        }
        let ln = espbench_stats::interval::mean(&logs)?;
        let deviation = espbench_stats::interval::stddev(&logs).unwrap_or(0.0);
        Some(Self { ln, error: deviation / libm::sqrt(logs.len() as f64) })
    }
}

/// A model whose constants are fitted.
pub trait FitModel {
    /// The reason for which it cannot be computed.
    type Error;

    /// Returns the model's values, in the order of the measured ones, with each constant multiplied by
    /// its factor; `None` where a constant is out of its range, or a value is not above 0.
    ///
    /// # Errors
    /// The model's own.
    fn values(&mut self, factors: &[f64]) -> Result<Option<Vec<LogValue>>, Self::Error>;
}

/// The reason for which constants are not fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitFault<E> {
    /// There must be more values than constants: values, constants.
    TooFew(usize, usize),
    /// The model gives nothing for the constants as they are.
    NoModel,
    /// The values do not depend on this constant.
    Untold(usize),
    /// The values do not tell the constants apart.
    NotApart,
    /// The model's own fault.
    Model(E),
}

impl<E> From<E> for FitFault<E> {
    fn from(fault: E) -> Self {
        Self::Model(fault)
    }
}

/// Constants that were fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Factor of each constant, with its 95 % interval.
    pub factors: Vec<Estimate>,
    /// Values of the model before.
    pub before: Vec<LogValue>,
    /// Values of the model with the factors.
    pub after: Vec<LogValue>,
    /// Times that the model was computed.
    pub evaluations: usize,
}

/// A model at one place.
struct Place {
    factors: Vec<f64>,
    values: Vec<LogValue>,
    misfit: f64,
}

/// The model beside the measured values.
struct Search<'a, M> {
    measured: &'a [LogValue],
    model: &'a mut M,
    evaluations: usize,
}

impl<M: FitModel> Search<'_, M> {
    fn at(&mut self, factors: &[f64]) -> Result<Option<Place>, M::Error> {
        self.evaluations += 1;
        let Some(values) = self.model.values(factors)? else { return Ok(None) };
        let pairs = self.measured.iter().zip(&values);
        let misfit =
            pairs.map(|(ours, model)| weight(ours, model) * square(ours.ln - model.ln)).sum();
        Ok(Some(Place { factors: factors.to_vec(), values, misfit }))
    }

    /// Returns the derivative of each value's logarithm by the logarithm of one constant.
    fn slope(&mut self, place: &Place, constant: usize) -> Result<Option<Vec<f64>>, M::Error> {
        for step in [STEP, 1.0 / STEP] {
            let mut factors = place.factors.clone();
            factors[constant] *= step;
            let Some(there) = self.at(&factors)? else { continue };
            let change = |(a, b): (&LogValue, &LogValue)| (b.ln - a.ln) / libm::log(step);
            return Ok(Some(place.values.iter().zip(&there.values).map(change).collect()));
        }
        Ok(None)
    }

    /// Returns the linear model about a place.
    fn linear(&mut self, place: &Place) -> Result<Normal, FitFault<M::Error>> {
        let mut slopes = Vec::new();
        for constant in 0..place.factors.len() {
            let slope = self.slope(place, constant)?.ok_or(FitFault::Untold(constant))?;
            if slope.iter().all(|it| libm::fabs(*it) < 1e-6) {
                return Err(FitFault::Untold(constant));
            }
            slopes.push(slope);
        }
        Ok(Normal::of(self.rows(place, &slopes)))
    }

    fn rows(&self, place: &Place, slopes: &[Vec<f64>]) -> Vec<Row> {
        let row = |(number, (ours, model)): (usize, (&LogValue, &LogValue))| Row {
            weight: weight(ours, model),
            difference: ours.ln - model.ln,
            slopes: slopes.iter().map(|slope| slope[number]).collect(),
        };
        self.measured.iter().zip(&place.values).enumerate().map(row).collect()
    }

    /// Takes a step, or half of it, or less, to where the model fits better.
    fn step(&mut self, place: &Place, change: &[f64]) -> Result<Option<Place>, M::Error> {
        let longest = change.iter().fold(0.0_f64, |most, it| most.max(libm::fabs(*it)));
        let mut share = (libm::log(STRIDE) / longest.max(f64::MIN_POSITIVE)).min(1.0);
        for _ in 0..=HALVINGS {
            let factors = place.factors.iter().zip(change);
            let factors: Vec<f64> = factors.map(|(at, by)| at * libm::exp(share * by)).collect();
            match self.at(&factors)? {
                Some(there) if there.misfit < place.misfit => return Ok(Some(there)),
                _ => share /= 2.0,
            }
        }
        Ok(None)
    }
}

fn square(x: f64) -> f64 {
    x * x
}

fn weight(ours: &LogValue, model: &LogValue) -> f64 {
    1.0 / (square(ours.error) + square(model.error) + square(FLOOR))
}

/// Fits so many constants of a model to measured values.
///
/// # Errors
/// Too few values, or values that tell nothing about a constant; or the model's own fault.
pub fn fit<M: FitModel>(
    measured: &[LogValue],
    constants: usize,
    model: &mut M,
) -> Result<Fit, FitFault<M::Error>> {
    if measured.len() <= constants {
        return Err(FitFault::TooFew(measured.len(), constants));
    }
    let mut search = Search { measured, model, evaluations: 0 };
    let mut place = search.at(&vec![1.0; constants])?.ok_or(FitFault::NoModel)?;
    let before = place.values.clone();
    let mut linear = search.linear(&place)?;
    for _ in 0..STEPS {
        let change = linear.solution().ok_or(FitFault::NotApart)?;
        let Some(there) = search.step(&place, &change)? else { break };
        let moved = there.factors.iter().zip(&place.factors);
        let longest = moved.fold(0.0_f64, |most, (a, b)| most.max(libm::fabs(libm::log(a / b))));
        place = there;
        linear = search.linear(&place)?;
        if longest < CLOSE {
            break;
        }
    }
    let freedom = (measured.len() - constants) as f64;
    let excess = (place.misfit / freedom).max(1.0);
    let variances = linear.variances().ok_or(FitFault::NotApart)?;
    let quantile = student_quantile(0.975, freedom);
    let interval = |(&factor, variance): (&f64, f64)| {
        let reach = libm::exp(quantile * libm::sqrt(variance * excess));
        let (low, high) = (Some(factor / reach), Some(factor * reach));
        Estimate { value: Some(factor), low, high, n: measured.len() as u64 }
    };
    let factors = place.factors.iter().zip(variances).map(interval).collect();
    Ok(Fit { factors, before, after: place.values, evaluations: search.evaluations })
}
