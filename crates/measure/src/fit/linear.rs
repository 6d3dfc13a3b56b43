//! Linear least squares with few unknowns, by the normal equations.

use alloc::vec;
use alloc::vec::Vec;

/// A pivot below this part of its column's square is 0.
const SINGULAR: f64 = 1e-6;

/// One equation: `difference` is to be the sum of slopes times unknowns.
pub(super) struct Row {
    pub(super) weight: f64,
    pub(super) difference: f64,
    pub(super) slopes: Vec<f64>,
}

/// The normal equations of weighted rows.
pub(super) struct Normal {
    rows: Vec<Row>,
    inverse: Option<Vec<Vec<f64>>>,
}

impl Normal {
    pub(super) fn of(rows: Vec<Row>) -> Self {
        let unknowns = rows.first().map_or(0, |row| row.slopes.len());
        let mut matrix = vec![vec![0.0; unknowns]; unknowns];
        for row in &rows {
            for (line, a) in matrix.iter_mut().zip(&row.slopes) {
                for (cell, b) in line.iter_mut().zip(&row.slopes) {
                    *cell += row.weight * a * b;
                }
            }
        }
        Self { rows, inverse: invert(matrix) }
    }

    /// Returns the unknowns; `None` where the rows do not determine them.
    pub(super) fn solution(&self) -> Option<Vec<f64>> {
        let inverse = self.inverse.as_ref()?;
        let mut right = vec![0.0; inverse.len()];
        for row in &self.rows {
            for (sum, slope) in right.iter_mut().zip(&row.slopes) {
                *sum += row.weight * slope * row.difference;
            }
        }
        let product = |line: &Vec<f64>| line.iter().zip(&right).map(|(a, b)| a * b).sum();
        Some(inverse.iter().map(product).collect())
    }

    /// Returns the variance of each unknown, where the weights are those of the rows' errors.
    pub(super) fn variances(&self) -> Option<Vec<f64>> {
        let inverse = self.inverse.as_ref()?;
        Some(inverse.iter().enumerate().map(|(at, line)| line[at]).collect())
    }

    /// Returns the weighted sum of the squares that are left.
    pub(super) fn left(&self) -> Option<f64> {
        let solution = self.solution()?;
        let square = |row: &Row| {
            let fitted: f64 = row.slopes.iter().zip(&solution).map(|(a, b)| a * b).sum();
            row.weight * (row.difference - fitted) * (row.difference - fitted)
        };
        Some(self.rows.iter().map(square).sum())
    }
}

/// Inverts a symmetric matrix by Gauss and Jordan; `None` where it is singular.
fn invert(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    let scale: Vec<f64> = (0..size).map(|at| matrix[at][at]).collect();
    for (at, line) in matrix.iter_mut().enumerate() {
        line.extend((0..size).map(|column| if column == at { 1.0 } else { 0.0 }));
    }
    for at in 0..size {
        let pivot = matrix[at][at];
        if pivot.is_nan() || pivot <= SINGULAR * scale[at] {
            return None;
        }
        matrix[at].iter_mut().for_each(|cell| *cell /= pivot);
        let line = matrix[at].clone();
        for other in (0..size).filter(|other| *other != at) {
            let times = matrix[other][at];
            matrix[other].iter_mut().zip(&line).for_each(|(cell, by)| *cell -= times * by);
        }
    }
    Some(matrix.into_iter().map(|line| line[size..].to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(weight: f64, slopes: &[f64], difference: f64) -> Row {
        Row { weight, difference, slopes: slopes.to_vec() }
    }

    fn close(is: f64, should: f64) {
        assert!((is - should).abs() <= 1e-9 * should.abs().max(1.0), "{is}, should be {should}");
    }

    /// One unknown that all rows show as it is: the weighted mean, and its variance is one over the
    /// sum of the weights.
    #[test]
    fn one_unknown_is_a_weighted_mean() {
        let rows = [(1.0, 10.0), (3.0, 14.0), (4.0, 11.0)];
        let normal = Normal::of(rows.iter().map(|&(w, d)| row(w, &[1.0], d)).collect());
        close(normal.solution().unwrap()[0], (10.0 + 42.0 + 44.0) / 8.0);
        close(normal.variances().unwrap()[0], 1.0 / 8.0);
        close(normal.left().unwrap(), 4.0 + 3.0 * 4.0 + 4.0 * 1.0);
    }

    /// A line through points: slope Sxy / Sxx, variance of the slope s^2 / Sxx, of the intercept
    /// s^2 (1/n + mean^2 / Sxx).
    #[test]
    fn a_line_is_that_of_the_textbook() {
        let points = [(1.0, 2.1), (2.0, 3.9), (4.0, 8.2), (5.0, 9.8), (8.0, 16.1)];
        let n = points.len() as f64;
        let (x, y) = points.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0 / n, sum.1 + it.1 / n));
        let sxx: f64 = points.iter().map(|it| (it.0 - x) * (it.0 - x)).sum();
        let sxy: f64 = points.iter().map(|it| (it.0 - x) * (it.1 - y)).sum();
        let syy: f64 = points.iter().map(|it| (it.1 - y) * (it.1 - y)).sum();
        // Each point with a standard error of 0.2: its weight is 25.
        let rows = points.iter().map(|&(x, y)| row(25.0, &[1.0, x], y)).collect();
        let normal = Normal::of(rows);
        let solution = normal.solution().unwrap();
        close(solution[1], sxy / sxx);
        close(solution[0], y - sxy / sxx * x);
        let variances = normal.variances().unwrap();
        close(variances[1], 0.04 / sxx);
        close(variances[0], 0.04 * (1.0 / n + x * x / sxx));
        close(normal.left().unwrap(), 25.0 * (syy - sxy * sxy / sxx));
    }

    #[test]
    fn rows_that_do_not_determine_the_unknowns_have_no_solution() {
        for rows in [
            // Two unknowns that always come together.
            vec![row(1.0, &[1.0, 2.0], 3.0), row(1.0, &[2.0, 4.0], 6.0)],
            // One that no row shows, and fewer rows than unknowns.
            vec![row(1.0, &[1.0, 0.0], 3.0), row(1.0, &[2.0, 0.0], 6.0)],
            vec![row(1.0, &[1.0, 1.0], 3.0)],
            vec![row(1.0, &[f64::NAN], 3.0)],
        ] {
            let normal = Normal::of(rows);
            assert_eq!((normal.solution(), normal.variances(), normal.left()), (None, None, None));
        }
    }

    proptest! {
        /// Unknowns that were put in come out, whatever the weights, and nothing is left.
        #[test]
        fn exact_rows_give_the_unknowns_back(
            unknowns in prop::collection::vec(-100.0..100.0_f64, 1..4),
            noise in prop::collection::vec((0.1..10.0_f64, prop::array::uniform3(-1.0..1.0_f64)), 6),
        ) {
            let size = unknowns.len();
            // A row for each unknown alone makes them certain.
            let alone = (0..size).map(|at| {
                let mut slopes = [0.0; 3];
                slopes[at] = 2.0;
                (1.0, slopes)
            });
            let rows = alone.chain(noise).map(|(weight, slopes)| {
                let slopes = &slopes[..size];
                row(weight, slopes, slopes.iter().zip(&unknowns).map(|(a, b)| a * b).sum())
            });
            let normal = Normal::of(rows.collect());
            let solution = normal.solution().unwrap();
            for (is, should) in solution.iter().zip(&unknowns) {
                prop_assert!((is - should).abs() < 1e-8, "{is} {should}");
            }
            prop_assert!(normal.left().unwrap() < 1e-12);
            prop_assert!(normal.variances().unwrap().iter().all(|it| *it > 0.0));
        }
    }
}
