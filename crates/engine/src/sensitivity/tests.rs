//! Whether effects are those of the constants.

use super::*;
use crate::constants;
use proptest::prelude::*;

fn constant(file: &str, key: &str) -> LabConstant {
    let all = constants::built_in().unwrap();
    all.into_iter().find(|it| it.file == file && it.constant.key == key).unwrap()
}

const CRYPTO: &str = "name = \"crypto-time\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"crypto\"\n\
                      size = [226]\ncount = 20\n";

fn effect(file: &str, key: &str) -> Option<ConstantEffect> {
    let library = Library::built_in();
    let plan = Plan::parse(CRYPTO).unwrap();
    let suite = SuiteBaseline::new(plan, &library, 1, &()).unwrap().unwrap();
    suite.effect(&library, &constant(file, key), &()).unwrap()
}

#[test]
fn a_time_that_is_one_constant_goes_with_it() {
    let found = effect("work", "seal.per_byte_ns").unwrap();
    // 226 bytes (10 take too few of the report's whole microseconds) take 26 us and 313 us in proportion to the constant.
    assert!((0.85..1.0).contains(&found.elasticity) && found.told, "{found:?}");
    assert_eq!(found.suite, "crypto-time");
    let clock = effect("esp32", "processor.clock_mhz").unwrap();
    assert!((-1.05..-0.95).contains(&clock.elasticity), "{clock:?}");
}

#[test]
fn a_constant_that_no_room_has_is_without_effect() {
    assert_eq!(effect("esp8266", "seal.per_byte_ns"), None);
    assert_eq!(effect("lab-air", "path_loss.exponent"), None);
    // A constant of the code is not moved.
    assert_eq!(effect("code", "lab.wifi.esp.dropped_percent"), None);
}

#[test]
fn whole_numbers_move_by_one_at_least() {
    let library = Library::built_in();
    let values = |file, key| {
        let (up, down) = moved(&library, &constant(file, key)).unwrap();
        (up.1, down.1)
    };
    assert_eq!(values("work", "mac.cw_min"), (4.0, 2.0));
    assert_eq!(values("work", "mac.attempts"), (32.0, 28.0), "a frame is sent 32 times at most");
    let (up, down) = values("office", "background.laptop.at_x");
    assert!((up + 0.44).abs() < 1e-9 && (down + 0.36).abs() < 1e-9, "{up} {down}");
}

/// `espbench lab constants --sensitivity --compute -o reference/sensitivity.csv` makes it again.
#[test]
fn the_built_in_table_is_of_the_constants_as_they_are() {
    let rows = built_in();
    assert_eq!(parse(&csv(&rows)).unwrap(), rows);
    let library = Library::built_in();
    let all = constants::built_in().unwrap();
    for it in all.iter().filter(|it| is_movable(&library, it)) {
        let known = rows.iter().filter(|row| row.is_of(it)).count();
        assert_eq!(known, 1, "{} {}: run the command again", it.file, it.constant.key);
    }
    for row in &rows {
        assert!(all.iter().any(|it| row.is_of(it)), "{} {} is gone", row.file, row.key);
    }
    let rank = |it: &SensitivityRow| {
        it.effect.as_ref().map_or((false, 0.0), |it| (it.told, it.elasticity.abs()))
    };
    assert!(rows.is_sorted_by(|a, b| rank(a) >= rank(b)));
    let told = rows.iter().filter(|it| it.effect.as_ref().is_some_and(|it| it.told)).count();
    assert!(told > 50, "{told}");
}

#[test]
fn faults_name_line_and_column() {
    let head = csv(&[]);
    let said = |row: &str| parse(&format!("{head}{row}\n")).unwrap_err();
    assert_eq!(said("work,a.b,loud,us,,,,"), "line 2, value: `loud` is no value of it");
    assert_eq!(said("work,a.b,1,us,nan,s,f,yes"), "line 2, elasticity: `nan` is no value of it");
    assert_eq!(said("work,a.b,1,us,2,s,f,"), "line 2, told_from_chance: `` is no value of it");
    assert!(parse("file\n").unwrap_err().starts_with("line 1: the columns are file,"));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[a-z0-9,\"\n.-]{0,80}") {
        let _ = parse(&text);
        let _ = parse(&format!("{}{text}", csv(&[])));
    }
}
