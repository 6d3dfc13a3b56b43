//! Statistics against tables, to the digits that textbooks print.
//!
//! The tables were made with SciPy 1.17, whose algorithms are others than ours.

mod distributions;
mod intervals;

/// Checks that a value prints as the table has it.
#[track_caller]
fn prints(value: f64, digits: usize, printed: &str, of: &str) {
    assert_eq!(format!("{value:.digits$}"), printed, "{of}");
}
