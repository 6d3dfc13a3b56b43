use super::*;
use proptest::prelude::*;

fn assert_interval(got: &Estimate, low: f64, high: f64, within: f64) {
    let (l, h) = (got.low.unwrap(), got.high.unwrap());
    assert!(libm::fabs(l - low) <= within && libm::fabs(h - high) <= within, "{got:?}");
}

#[test]
fn wilson_as_newcombe_1998() {
    // Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3.
    for (k, n, low, high) in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ] {
        assert_interval(&wilson(k, n), low, high, 0.000_05);
    }
}

#[test]
fn difference_of_proportions_as_newcombe_1998() {
    // Newcombe 1998, "Interval estimation for the difference between independent proportions",
    // table II, method 10.
    for (k1, n1, k2, n2, low, high) in [
        (56, 70, 48, 80, 0.0524, 0.3339),
        (9, 10, 3, 10, 0.1705, 0.8090),
        (6, 7, 2, 7, 0.0582, 0.8062),
        (5, 56, 0, 29, -0.0381, 0.1926),
        (0, 10, 0, 20, -0.1611, 0.2775),
        (0, 10, 0, 10, -0.2775, 0.2775),
        (10, 10, 0, 20, 0.6791, 1.0),
        (10, 10, 0, 10, 0.6075, 1.0),
    ] {
        assert_interval(&difference(&wilson(k1, n1), &wilson(k2, n2)), low, high, 0.000_05);
    }
}

#[test]
fn student_interval_as_scipy_1_17() {
    // scipy.stats.t.interval over the ten one-second runs 3 to 12 of the published TCP benchmark.
    let runs = [4230., 4642., 4982., 2920., 3418., 4654., 4087., 3655., 3500., 4000.];
    let got = mean_t(&runs);
    assert_eq!(got.value, Some(4008.8));
    assert_interval(&got, 3_547.775_576_867_172_3, 4_469.824_423_132_828, 1e-6);
    assert!(mean_t_at(&runs, 0.99).low < got.low);
}

#[test]
fn the_number_of_observations_stays_where_there_is_no_value() {
    let of = |e: Estimate| (e.value, e.n);
    assert_eq!(of(wilson(5, 3)), (None, 3));
    assert_eq!(of(wilson(0, 0)), (None, 0));
    let same = wilson(3, 10);
    assert_interval(&wilson_at(3, 10, 0.95), same.low.unwrap(), same.high.unwrap(), 1e-12);
    assert!(wilson_at(3, 10, 0.99).low < wilson(3, 10).low);
    let (unknown, known) = (Estimate { n: 7, ..Estimate::default() }, Estimate::exact(2.0, 9));
    assert_eq!(of(difference(&unknown, &known)), (None, 7));
    assert_eq!(of(ratio(&known, &unknown)), (None, 7));
    for (a, b) in [(-1.0, 2.0), (1.0, -2.0), (1.0, 0.0), (f64::INFINITY, 1.0), (1.0, f64::INFINITY)]
    {
        assert_eq!(
            of(ratio(&Estimate::exact(a, 4), &Estimate::exact(b, 5))),
            (None, 4),
            "{a} / {b}"
        );
    }
}

#[test]
fn few_or_strange_values_have_no_interval() {
    assert_eq!(mean_t(&[]), Estimate::default());
    assert_eq!(mean_t(&[3.0]), Estimate::exact(3.0, 1));
    assert_eq!(mean_t(&[1.0, f64::NAN]).value, None);
    assert_eq!(mean_t(&[1.0, f64::INFINITY]).value, None);
    assert_eq!(mean_t(&[5.0, 5.0]).low, Some(5.0));
    assert_eq!(wilson(0, 0).value, None);
    assert_eq!(wilson(3, 2).value, None);
}

#[test]
fn ratio_with_a_known_denominator_is_the_scaled_interval() {
    let a = Estimate { value: Some(6.0), n: 10, low: Some(4.0), high: Some(9.0) };
    let got = ratio(&a, &Estimate::exact(2.0, 1));
    assert_eq!(got.value, Some(3.0));
    assert_interval(&got, 2.0, 4.5, 1e-12);
}

/// For normal means MOVER-R from large-sample intervals is Fieller's interval (Fieller 1954), which
/// can be written down on its own.
#[test]
fn ratio_of_symmetric_intervals_is_fiellers() {
    let (m1, h1, m2, h2) = (10.0, 1.0, 4.0, 0.5);
    let estimate =
        |m: f64, h: f64| Estimate { value: Some(m), n: 50, low: Some(m - h), high: Some(m + h) };
    let got = ratio(&estimate(m1, h1), &estimate(m2, h2));
    let a = m2 * m2 - h2 * h2;
    let root = libm::sqrt(m1 * m2 * m1 * m2 - a * (m1 * m1 - h1 * h1));
    assert_interval(&got, (m1 * m2 - root) / a, (m1 * m2 + root) / a, 1e-12);
}

#[test]
fn ratio_at_its_limits() {
    let open = Estimate { value: Some(2.0), n: 5, low: Some(0.0), high: Some(5.0) };
    let got = ratio(&Estimate::exact(1.0, 1), &open);
    assert_eq!(got.high, None, "a denominator that may be 0 leaves the ratio unbounded");
    assert!(got.low.unwrap() > 0.0);
    assert_eq!(ratio(&open, &Estimate::exact(0.0, 1)).value, None);
    assert_eq!(ratio(&Estimate::exact(0.0, 1), &open).value, Some(0.0));
    let half = Estimate { low: None, ..open };
    assert_eq!(ratio(&half, &Estimate::exact(1.0, 1)).low, None);
    assert!(ratio(&half, &Estimate::exact(1.0, 1)).high.is_some());
}

fn estimate() -> impl Strategy<Value = Estimate> {
    (0.01..100.0f64, prop::option::of(0.0..=1.0f64), prop::option::of(0.0..3.0f64)).prop_map(
        |(v, low, high)| Estimate {
            value: Some(v),
            n: 10,
            low: low.map(|f| v * f),
            high: high.map(|f| v * (1.0 + f)),
        },
    )
}

fn anything() -> impl Strategy<Value = Estimate> {
    let end = || prop::option::of(any::<f64>());
    (end(), any::<u64>(), end(), end()).prop_map(|(value, n, low, high)| Estimate {
        value,
        n,
        low,
        high,
    })
}

proptest! {
    #[test]
    fn wilson_holds_its_value_and_grows_with_confidence(n in 1..5000u64, part in 0.0..=1.0f64) {
        let k = (part * n as f64) as u64;
        let (narrow, wide) = (wilson_at(k, n, 0.8), wilson_at(k, n, 0.99));
        let p = narrow.value.unwrap();
        prop_assert!(wide.low <= narrow.low && narrow.low.unwrap() <= p);
        prop_assert!(wide.high >= narrow.high && narrow.high.unwrap() >= p);
    }

    #[test]
    fn mean_t_holds_its_value_and_grows_with_confidence(
        values in prop::collection::vec(-1e3..1e3f64, 2..40),
    ) {
        let (narrow, wide) = (mean_t_at(&values, 0.8), mean_t_at(&values, 0.99));
        let m = narrow.value.unwrap();
        prop_assert!(wide.low <= narrow.low && narrow.low.unwrap() <= m);
        prop_assert!(wide.high >= narrow.high && narrow.high.unwrap() >= m);
    }

    #[test]
    fn ratio_holds_its_value_and_turns_over(a in estimate(), b in estimate()) {
        let (there, back) = (ratio(&a, &b), ratio(&b, &a));
        let r = there.value.unwrap();
        prop_assert!(there.low.is_none_or(|low| low <= r));
        prop_assert!(there.high.is_none_or(|high| high >= r));
        // The interval of b / a is the interval of a / b turned over, wherever both have the end.
        if let (Some(low), Some(high)) = (there.low, back.high) {
            prop_assert!(libm::fabs(low * high - 1.0) < 1e-6, "{there:?} {back:?}");
        }
    }

    #[test]
    fn difference_turns_over(a in estimate(), b in estimate()) {
        let (there, back) = (difference(&a, &b), difference(&b, &a));
        prop_assert_eq!(there.low, back.high.map(|v| -v));
        prop_assert_eq!(there.value, back.value.map(|v| -v));
    }

    #[test]
    fn nothing_panics_and_nothing_is_not_a_number(a in anything(), b in anything()) {
        for got in [ratio(&a, &b), difference(&a, &b)] {
            for v in [got.value, got.low, got.high].into_iter().flatten() {
                prop_assert!(!v.is_nan());
            }
        }
    }
}
