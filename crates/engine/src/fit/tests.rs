//! A run of a lab with other constants, from which these are found again.

use super::*;
use alloc::string::ToString as _;
use espbench_sim::lab::file::{FileKind, Library};

const PLAN: &str = r#"
name = "round trips"
[[measure]]
kind = "esp-now"
test = "ping"
size = [10, 60, 120, 180, 230]
count = 60
"#;

fn set() -> PlanSet {
    PlanSet::parse(PLAN).expect("a plan")
}

/// Returns the cells of a run in a lab with that constant of the ESP32's profile.
fn run_with(key: &str, value: f64, seed: u64) -> Vec<Cell> {
    let mut library = Library::built_in();
    library.tune(FileKind::Profile, "esp32", key, value).expect("in range");
    let report = crate::run(set(), library, None, Some(seed), &mut ()).expect("carried out");
    report.cells.into_iter().filter(|it| it.origin != Origin::Published).collect()
}

fn ask(measured: &[Cell], metrics: &[String], constants: &[String]) -> Result<FitAnswer, FitError> {
    let library = Library::built_in();
    let set = set();
    let question = FitQuestion {
        set: &set,
        library: &library,
        lab: None,
        measured,
        metrics,
        constants,
        seeds: 1,
    };
    answer(&question, &mut ())
}

#[test]
fn a_constant_of_another_lab_is_found_again() {
    let measured = run_with("dispatch.fixed_us", 1200.0, 7);
    let wanted = ["rtt_exact_min".to_string()];
    let answer = ask(&measured, &wanted, &["dispatch.fixed_us".to_string()]).expect("an answer");
    let [found] = &answer.constants[..] else { panic!("{answer:?}") };
    let value = found.value.value.expect("a value");
    assert!((value / 1200.0 - 1.0).abs() < 0.15, "{found:?}");
    let (before, after) = answer.errors();
    assert!(before > 0.1 && after < before / 4.0, "{before} {after}");
    assert_eq!((answer.lab.as_str(), answer.cells.len()), ("two-boards", 5));
    // Without names, some constant of the processor explains it as well.
    let chosen = ask(&measured, &wanted, &[]).expect("an answer");
    assert!(!chosen.constants.is_empty() && chosen.errors().1 < before / 3.0, "{chosen:?}");
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let measured = run_with("dispatch.fixed_us", 1200.0, 7);
    let metric = ["rtt_exact_min".to_string()];
    let name = |it: &str| [it.to_string()];
    let FitError::NoConstant(_, known) = ask(&measured, &metric, &name("speed")).unwrap_err()
    else {
        panic!("there is no such constant")
    };
    assert!(known.iter().any(|it| it == "dispatch.fixed_us"), "{known:?}");
    assert_eq!(ask(&measured, &name("warp"), &[]).unwrap_err(), FitError::NoCells);
    assert_eq!(
        ask(&measured, &metric, &name("key_pair.fixed_us")).unwrap_err(),
        FitError::Untold("key_pair.fixed_us".into())
    );
    let few = ask(&measured[..1], &[], &name("dispatch.fixed_us")).unwrap_err();
    assert!(matches!(few, FitError::TooFew(..) | FitError::NoCells), "{few:?}");
}
