//! The Pareto front: what no other is better than in everything.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Returns whether one is at least as good in everything, and better in something. More is better;
/// NaN is worse than any number.
#[must_use]
pub fn dominates(one: &[f64], other: &[f64]) -> bool {
    let mut better = false;
    for (a, b) in one.iter().zip(other) {
        match rank(*a).total_cmp(&rank(*b)) {
            Ordering::Less => return false,
            Ordering::Greater => better = true,
            Ordering::Equal => {}
        }
    }
    better
}

/// Returns a value that can be ordered: zero has no sign, and NaN is the least.
fn rank(value: f64) -> f64 {
    if value.is_nan() { f64::NEG_INFINITY } else { value + 0.0 }
}

/// Returns the indices of the points that no other dominates, in their order. Equal ones are all
/// there.
#[must_use]
pub fn front<P: AsRef<[f64]>>(points: &[P]) -> Vec<usize> {
    let dominated =
        |point: &P| points.iter().any(|other| dominates(other.as_ref(), point.as_ref()));
    points.iter().enumerate().filter(|it| !dominated(it.1)).map(|it| it.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_front_of_two_goods() {
        let points = [[1.0, 5.0], [2.0, 4.0], [2.0, 3.0], [3.0, 1.0], [2.0, 4.0], [0.0, 5.0]];
        assert_eq!(front(&points), [0, 1, 3, 4]);
        assert_eq!(front::<[f64; 2]>(&[]), [] as [usize; 0]);
        assert_eq!(front(&[[f64::NAN, 1.0], [0.0, 1.0]]), [1]);
    }

    fn points() -> impl Strategy<Value = Vec<Vec<f64>>> {
        (1..4usize).prop_flat_map(|dimensions| {
            // Few values, so that many are equal.
            let value = prop_oneof![(0..6i32).prop_map(f64::from), Just(f64::NAN), Just(-0.0)];
            let point = proptest::collection::vec(value, dimensions);
            proptest::collection::vec(point, 0..40)
        })
    }

    proptest! {
        #[test]
        fn none_on_the_front_is_dominated_and_all_others_are(points in points()) {
            let front = front(&points);
            prop_assert_eq!(front.is_empty(), points.is_empty());
            for (at, point) in points.iter().enumerate() {
                let by_all = points.iter().any(|it| dominates(it, point));
                let by_front = front.iter().any(|it| dominates(&points[*it], point));
                prop_assert_eq!(front.contains(&at), !by_all);
                prop_assert_eq!(by_all, by_front);
            }
        }

        #[test]
        fn dominating_is_a_strict_order(points in points()) {
            for a in &points {
                prop_assert!(!dominates(a, a));
                for b in &points {
                    prop_assert!(!(dominates(a, b) && dominates(b, a)));
                    for c in &points {
                        prop_assert!(!(dominates(a, b) && dominates(b, c)) || dominates(a, c));
                    }
                }
            }
        }
    }
}
