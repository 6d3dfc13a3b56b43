use super::*;
use crate::radio::power::factor;

/// Values of the tests of ns-3 (`wifi-error-rate-models-test.cc`) for 2000 octets: curve, decibels,
/// chance of success, tolerance.
const OFDM: [(Curve, f64, f64, f64); 20] = [
    (Curve::Bpsk12, 2.5, 2.04e-10, 1e-10),
    (Curve::Bpsk12, 3.0, 0.020, 0.001),
    (Curve::Bpsk12, 4.0, 0.885, 0.001),
    (Curve::Bpsk12, 5.0, 0.997, 0.001),
    (Curve::Bpsk34, 6.0, 0.097, 0.001),
    (Curve::Bpsk34, 7.0, 0.918, 0.001),
    (Curve::Qpsk12, 6.0, 0.0174, 0.001),
    (Curve::Qpsk12, 7.0, 0.881, 0.001),
    (Curve::Qpsk34, 8.5, 2.85e-6, 1e-6),
    (Curve::Qpsk34, 9.5, 0.623, 0.001),
    (Curve::Qam16R12, 12.0, 2.22e-7, 1e-7),
    (Curve::Qam16R12, 13.0, 0.495, 0.001),
    (Curve::Qam16R34, 15.5, 0.012, 0.001),
    (Curve::Qam16R34, 16.5, 0.818, 0.001),
    (Curve::Qam64R23, 20.0, 1.3e-4, 1e-4),
    (Curve::Qam64R23, 21.0, 0.649, 0.001),
    (Curve::Qam64R34, 21.0, 5.44e-8, 1e-8),
    (Curve::Qam64R34, 22.0, 0.410, 0.001),
    (Curve::Qam64R34, 23.0, 0.958, 0.001),
    (Curve::Qam64R34, 24.0, 0.999, 0.001),
];

/// Values of the same tests for 1078 octets, at a power in dBm with a noise figure of 7 dB in 22
/// MHz.
const DSSS: [(Curve, f64, f64, f64); 20] = [
    (Curve::Dbpsk, -100.0, 1.5e-13, 1e-13),
    (Curve::Dbpsk, -99.0, 0.0003, 0.0001),
    (Curve::Dbpsk, -98.0, 0.202, 0.005),
    (Curve::Dbpsk, -97.0, 0.813, 0.005),
    (Curve::Dbpsk, -96.0, 0.984, 0.005),
    (Curve::Dqpsk, -95.0, 4.5e-6, 1e-6),
    (Curve::Dqpsk, -94.0, 0.036, 0.005),
    (Curve::Dqpsk, -93.0, 0.519, 0.005),
    (Curve::Dqpsk, -92.0, 0.915, 0.005),
    (Curve::Dqpsk, -91.0, 0.993, 0.005),
    (Curve::Cck5, -93.0, 6.6e-14, 5e-14),
    (Curve::Cck5, -92.0, 0.0001, 0.000_05),
    (Curve::Cck5, -91.0, 0.132, 0.005),
    (Curve::Cck5, -90.0, 0.744, 0.005),
    (Curve::Cck5, -89.0, 0.974, 0.005),
    (Curve::Cck11, -90.0, 4.7e-14, 1e-14),
    (Curve::Cck11, -89.0, 8.85e-5, 1e-5),
    (Curve::Cck11, -88.0, 0.128, 0.005),
    (Curve::Cck11, -87.0, 0.739, 0.005),
    (Curve::Cck11, -86.0, 0.973, 0.005),
];

fn success(curve: Curve, snr_db: f64, octets: f64) -> f64 {
    libm::exp(-curve.hazard(factor(snr_db)) * octets * 8.0)
}

#[test]
fn ofdm_as_the_nist_model_of_ns3() {
    for (curve, db, expected, tolerance) in OFDM {
        let got = success(curve, db, 2000.0);
        assert!((got - expected).abs() <= tolerance, "{curve:?} {db} dB: {got}, not {expected}");
    }
    // The MIMO test of ns-3: 2 ms of MCS 0 (6.5 Mbit/s) at 4 dB.
    let got = success(Curve::Bpsk12, 4.0, 13_000.0 / 8.0);
    assert!((got - 0.905_685).abs() < 1e-5, "{got}");
}

#[test]
fn dsss_and_cck_as_the_model_of_ns3() {
    for (curve, dbm, expected, tolerance) in DSSS {
        let got = success(curve, dbm + 100.552_278_6 - 7.0, 1078.0);
        assert!((got - expected).abs() <= tolerance, "{curve:?} {dbm} dBm: {got}, not {expected}");
    }
}

#[test]
fn every_mode_needs_more_than_the_slower_one() {
    let needs = Curve::ALL.map(|curve| curve.required_db(1000, 0.1));
    assert!(needs[..4].is_sorted_by(|a, b| a < b), "{needs:?}");
    // 9 Mbit/s needs about as much as 12 Mbit/s, as the standard's sensitivities say (Table 17-18).
    let ofdm: std::vec::Vec<f64> =
        [4, 6, 7, 8, 9, 10, 11, 12, 13, 14].into_iter().map(|at| needs[at]).collect();
    assert!(ofdm.is_sorted_by(|a, b| a < b), "{needs:?}");
}

#[test]
fn without_signal_all_is_lost() {
    for curve in Curve::ALL {
        assert!(curve.frame_loss(0.0, 14) > 0.999_999, "{curve:?}");
        assert!(curve.frame_loss(-1.0, 14) > 0.999_999, "{curve:?}");
        assert!(curve.frame_loss(f64::NAN, 14) > 0.999_999, "{curve:?}");
        assert!(curve.frame_loss(1e9, 4095) < 1e-12, "{curve:?}");
    }
}
