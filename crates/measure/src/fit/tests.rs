//! Fits of models whose constants are known.

use super::*;
use core::convert::Infallible;

/// Round trips by size: `fixed + per_byte * size`, and a constant that changes nothing.
struct Line {
    fixed: f64,
    per_byte: f64,
    error: f64,
}

const SIZES: [f64; 6] = [10.0, 50.0, 100.0, 150.0, 200.0, 230.0];

impl FitModel for Line {
    type Error = Infallible;

    fn values(&mut self, factors: &[f64]) -> Result<Option<Vec<LogValue>>, Infallible> {
        if factors[0] > 10.0 {
            return Ok(None);
        }
        let per_byte = self.per_byte * factors.get(1).copied().unwrap_or(1.0);
        let of = |size: &f64| LogValue {
            ln: libm::log(self.fixed * factors[0] + per_byte * size),
            error: self.error,
        };
        Ok(Some(SIZES.iter().map(of).collect()))
    }
}

fn measured(fixed: f64, per_byte: f64, scatter: f64) -> Vec<LogValue> {
    let sign = |number: usize| if number.is_multiple_of(2) { scatter } else { -scatter };
    let of = |(number, size): (usize, &f64)| LogValue {
        ln: libm::log(fixed + per_byte * size) + sign(number),
        error: scatter,
    };
    SIZES.iter().enumerate().map(of).collect()
}

#[test]
fn known_constants_are_found_again() {
    let mut line = Line { fixed: 1000.0, per_byte: 8.0, error: 0.0 };
    let fit = fit(&measured(2500.0, 20.0, 0.0), 2, &mut line).unwrap();
    let factor = |at: usize| fit.factors[at].value.unwrap();
    assert!((factor(0) - 2.5).abs() < 0.01 && (factor(1) - 2.5).abs() < 0.01, "{fit:?}");
    let off = |values: &[LogValue]| {
        let wanted = measured(2500.0, 20.0, 0.0);
        values.iter().zip(wanted).map(|(a, b)| (a.ln - b.ln).abs()).fold(0.0, f64::max)
    };
    assert!(off(&fit.before) > 0.9 && off(&fit.after) < 0.001);
}

#[test]
fn an_interval_holds_the_constant_and_grows_with_the_scatter() {
    let width = |scatter: f64| {
        let mut line = Line { fixed: 1000.0, per_byte: 8.0, error: scatter };
        let fit = fit(&measured(1300.0, 8.0, scatter), 1, &mut line).unwrap();
        let (low, high) = (fit.factors[0].low.unwrap(), fit.factors[0].high.unwrap());
        assert!(low < 1.3 && 1.3 < high, "{low} to {high}");
        high - low
    };
    assert!(width(0.1) > 2.0 * width(0.01));
}

#[test]
fn what_cannot_be_told_is_refused() {
    let three = || measured(1000.0, 8.0, 0.01);
    let mut line = Line { fixed: 1000.0, per_byte: 8.0, error: 0.0 };
    assert_eq!(fit(&three()[..2], 2, &mut line), Err(FitFault::TooFew(2, 2)));
    assert_eq!(fit(&three(), 3, &mut line), Err(FitFault::Untold(2)));
    // Without the part by length, both constants are the same one.
    struct Twice;
    impl FitModel for Twice {
        type Error = Infallible;
        fn values(&mut self, factors: &[f64]) -> Result<Option<Vec<LogValue>>, Infallible> {
            let ln = libm::log(factors[0] + factors[1]);
            Ok(Some(vec![LogValue { ln, error: 0.0 }; 6]))
        }
    }
    assert_eq!(fit(&three(), 2, &mut Twice), Err(FitFault::NotApart));
}

#[test]
fn constants_that_explain_something_are_selected() {
    let mut line = Line { fixed: 1000.0, per_byte: 8.0, error: 0.0 };
    let both = select(&measured(2000.0, 30.0, 0.0), 3, 3, &mut line).unwrap().0;
    assert_eq!(
        {
            let mut it = both;
            it.sort_unstable();
            it
        },
        [0, 1]
    );
    let one = select(&measured(2000.0, 8.0, 0.0), 3, 3, &mut line).unwrap().0;
    assert_eq!(one[0], 0);
    let none = select(&measured(1000.0, 8.0, 0.01), 3, 3, &mut line).unwrap().0;
    assert!(none.is_empty(), "{none:?}");
    assert_eq!(select(&measured(2000.0, 30.0, 0.0), 3, 1, &mut line).unwrap().0.len(), 1);
}

#[test]
fn logarithms_of_values() {
    assert_eq!(LogValue::of(0.0, None, None), None);
    assert_eq!(LogValue::of(f64::NAN, None, None), None);
    let value = LogValue::of(100.0, Some(90.2), Some(109.8)).unwrap();
    assert!((value.ln - libm::log(100.0)).abs() < 1e-12 && (value.error - 0.05).abs() < 1e-9);
    assert_eq!(LogValue::mean(&[]), None);
    assert_eq!(LogValue::mean(&[1.0, -1.0]), None);
    let mean = LogValue::mean(&[1.0, 4.0]).unwrap();
    assert!(
        (mean.ln - libm::log(2.0)).abs() < 1e-12 && (mean.error - libm::log(2.0)).abs() < 1e-12
    );
}
