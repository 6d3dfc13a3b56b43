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
