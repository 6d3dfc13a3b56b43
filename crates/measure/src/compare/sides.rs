//! Differences between two runs, beside their results.

use crate::plan::{PlanSet, key_lines, test_line};
use crate::run::RunFacts;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

/// Lines of plans that are named.
const LINES: usize = 4;

/// Returns what differs between two runs that is not a result, as `name: this | other`: the target with its device and
/// place, the plan's keys, seed and tool. Empty where nothing does.
#[must_use]
pub fn sides(this: &RunFacts, other: &RunFacts) -> Vec<String> {
    let unknown = || "-".to_string();
    let optional = |it: &Option<String>| it.clone().unwrap_or_else(unknown);
    let distance = |it: &RunFacts| it.site.distance_m.map_or_else(unknown, |it| format!("{it} m"));
    let told = |it: &str| if it.is_empty() { unknown() } else { it.to_string() };
    let pairs = [
        ("target", told(&this.target), told(&other.target)),
        ("chip", told(&this.site.chip), told(&other.site.chip)),
        ("mode", told(&this.site.mode), told(&other.site.mode)),
        ("security", optional(&this.site.security), optional(&other.site.security)),
        ("environment", optional(&this.site.environment), optional(&other.site.environment)),
        ("distance", distance(this), distance(other)),
        ("plan", told(&this.plan_name), told(&other.plan_name)),
        ("seed", this.seed.to_string(), other.seed.to_string()),
        ("espbench", told(&this.tool), told(&other.tool)),
    ];
    let mut all: Vec<String> = pairs
        .into_iter()
        .filter(|(_, a, b)| a != b)
        .map(|(name, a, b)| format!("{name}: {a} | {b}"))
        .collect();
    if this.target == other.target && this.library != other.library {
        all.push("lab: its files have changed".to_string());
    }
    all.extend(plans(this, other));
    all
}

/// Returns the keys of the plans that only one of them has; where the same keys are of other tests, these tests.
fn plans(this: &RunFacts, other: &RunFacts) -> Option<String> {
    let (ours, theirs) =
        (PlanSet::parse(&this.plan_text).ok()?, PlanSet::parse(&other.plan_text).ok()?);
    let lines =
        |set: &PlanSet| -> BTreeSet<String> { set.plans.iter().flat_map(key_lines).collect() };
    let tests = |set: &PlanSet| -> BTreeSet<String> {
        set.plans.iter().flat_map(|it| &it.workloads).map(test_line).collect()
    };
    difference("keys", &lines(&ours), &lines(&theirs))
        .or_else(|| difference("tests", &tests(&ours), &tests(&theirs)))
}

/// Returns what only one of two sets has.
fn difference(what: &str, a: &BTreeSet<String>, b: &BTreeSet<String>) -> Option<String> {
    let only = |ours: &BTreeSet<String>, theirs: &BTreeSet<String>| {
        let own: Vec<&str> = ours.difference(theirs).map(String::as_str).collect();
        let named = own.iter().take(LINES).copied().collect::<Vec<_>>().join(", ");
        match own.len() {
            0 => "-".to_string(),
            n if n > LINES => format!("{named} and {} more", n - LINES),
            _ => named,
        }
    };
    (a != b).then(|| format!("{what} of the plan: {} | {}", only(a, b), only(b, a)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(rate: &str, seed: u64) -> RunFacts {
        let plan_text = format!(
            "name = \"p\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\nphy_rate = \"{rate}\"\n"
        );
        RunFacts {
            target: "sim".into(),
            plan_name: "p".into(),
            plan_text,
            seed,
            ..RunFacts::default()
        }
    }

    #[test]
    fn keys_and_facts_that_differ_are_named_and_no_others() {
        assert!(sides(&facts("1M", 1), &facts("1M", 1)).is_empty());
        assert_eq!(
            sides(&facts("1M", 1), &facts("24M", 2)),
            ["seed: 1 | 2", "keys of the plan: phy_rate = \"1M\" | phy_rate = \"24M\""]
        );
        // The same keys, of other tests.
        let counts = |first: u64, second: u64| {
            let block = |size: u64, count: u64| {
                format!("[[measure]]\nkind = \"udp-echo\"\nsize = {size}\ncount = {count}\n")
            };
            let plan_text = format!("name = \"p\"\n{}{}", block(100, first), block(200, second));
            RunFacts { plan_text, ..facts("1M", 1) }
        };
        let swapped = sides(&counts(50, 80), &counts(80, 50));
        assert_eq!(swapped.len(), 1, "{swapped:?}");
        assert!(swapped[0].starts_with("tests of the plan: kind = \"udp-echo\""), "{swapped:?}");
        let powered = |battery: &str| {
            let one = facts("1M", 1);
            RunFacts { plan_text: format!("battery = \"{battery}\"\n{}", one.plan_text), ..one }
        };
        assert_eq!(
            sides(&powered("2xAA"), &powered("CR2032")),
            ["keys of the plan: battery = \"2xAA\" | battery = \"CR2032\""]
        );
        let elsewhere = RunFacts { target: "sim:hall.toml".into(), ..facts("1M", 1) };
        assert_eq!(sides(&facts("1M", 1), &elsewhere), ["target: sim | sim:hall.toml"]);
    }
}
