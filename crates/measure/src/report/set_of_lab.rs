//! Values that the cells of a run set of their labs, other than those of the labs' files.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::fact;

/// Properties of labs that cells set.
#[derive(Debug, Default)]
pub(super) struct SetOfLab(BTreeMap<String, PropertySet>);

/// Values of one property: each with the first cell that has it.
#[derive(Debug, Default)]
struct PropertySet {
    plan: BTreeMap<String, (u32, u32)>,
    lab: BTreeMap<String, (u32, u32)>,
}

impl SetOfLab {
    /// Adds what a cell sets.
    pub(super) fn add(&mut self, cell: (u32, u32), facts: &BTreeMap<String, String>) {
        for (name, plan) in facts {
            let Some(property) = name.strip_prefix(fact::PLAN_SETS) else { continue };
            let set = self.0.entry(property.into()).or_default();
            let lab = facts.get(&format!("{}{property}", fact::LAB_HAS));
            for (values, value) in [(&mut set.plan, Some(plan)), (&mut set.lab, lab)] {
                let Some(value) = value else { continue };
                let first = values.entry(value.clone()).or_insert(cell);
                *first = cell.min(*first);
            }
        }
    }

    /// Returns each property in words: the plan's values in the order of the cells, and those of the lab's file.
    pub(super) fn words(&self) -> Vec<String> {
        let list = |values: &BTreeMap<String, (u32, u32)>| {
            let in_order: BTreeSet<_> = values.iter().map(|(value, cell)| (cell, value)).collect();
            let values: Vec<&str> = in_order.into_iter().map(|it| it.1.as_str()).collect();
            values.join(" / ")
        };
        let words = |(property, set): (&String, &PropertySet)| {
            format!("{property} {} (lab: {})", list(&set.plan), list(&set.lab))
        };
        self.0.iter().map(words).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_has_one_line_for_each_property() {
        let facts = |facts: &[(&str, &str)]| {
            facts.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
        };
        let mut set = SetOfLab::default();
        // Cells may come in any order; one at the lab's own distance sets none.
        let far = [("plan-sets distance", "10 m"), ("lab-has distance", "0.5")];
        set.add((3, 0), &facts(&far));
        set.add((0, 0), &facts(&[("chip", "esp32")]));
        let near = [
            ("plan-sets distance", "3 m"),
            ("lab-has distance", "0.5"),
            ("plan-sets environment", "hall"),
            ("lab-has environment", "office"),
        ];
        set.add((2, 0), &facts(&near));
        set.add((2, 1), &facts(&near));
        let wanted = ["distance 3 m / 10 m (lab: 0.5)", "environment hall (lab: office)"];
        assert_eq!(set.words(), wanted);
    }
}
