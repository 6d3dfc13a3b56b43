//! Values that the cells of a run set of their labs, other than those of the labs' files.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::fact;

/// Values of a property that are told one by one; of more their number is told.
const MOST: usize = 8;

/// Properties of labs that cells set.
#[derive(Debug, Default)]
pub(super) struct SetOfLab {
    properties: BTreeMap<String, PropertySet>,
    /// Words of cells that an older espbench has recorded.
    told: BTreeSet<String>,
    /// Numbers of all cells.
    cells: BTreeSet<u32>,
}

/// Values of one property: each with the first cell that has it.
#[derive(Debug, Default)]
struct PropertySet {
    plan: BTreeMap<String, (u32, u32)>,
    lab: BTreeMap<String, (u32, u32)>,
    /// Numbers of the cells that set it.
    cells: BTreeSet<u32>,
}

impl SetOfLab {
    /// Adds what a cell sets.
    pub(super) fn add(&mut self, cell: (u32, u32), facts: &BTreeMap<String, String>) {
        self.cells.insert(cell.0);
        self.told.extend(facts.get(fact::PLAN_SETS.trim_end()).cloned());
        for (name, plan) in facts {
            let Some(property) = name.strip_prefix(fact::PLAN_SETS) else { continue };
            let set = self.properties.entry(property.into()).or_default();
            set.cells.insert(cell.0);
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
            let shown: Vec<&str> = in_order.iter().take(MOST).map(|it| it.1.as_str()).collect();
            let more = in_order.len().saturating_sub(MOST);
            let more = if more == 0 { String::new() } else { format!(" / … {more} more") };
            format!("{}{more}", shown.join(" / "))
        };
        let words = |(property, set): (&String, &PropertySet)| {
            // The others have what the lab says.
            let (some, all) = (set.cells.len(), self.cells.len());
            let of = if some == all { String::new() } else { format!(" in {some} of {all} cells") };
            format!("{property} {}{of} (lab: {})", list(&set.plan), list(&set.lab))
        };
        self.told.iter().cloned().chain(self.properties.iter().map(words)).collect()
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
        let wanted = [
            "distance 3 m / 10 m in 2 of 3 cells (lab: 0.5)",
            "environment hall in 1 of 3 cells (lab: office)",
        ];
        assert_eq!(set.words(), wanted);
        // An older espbench has one fact, in words.
        let old = "power 5 dBm (lab: 20 dBm)";
        set.add((3, 1), &facts(&[("plan-sets", old)]));
        assert_eq!(set.words(), [&[old][..], &wanted].concat());
    }

    #[test]
    fn a_line_has_an_end_however_many_values_there_are() {
        let mut set = SetOfLab::default();
        for cell in 0..500 {
            let facts =
                [("plan-sets distance", format!("{cell} m")), ("lab-has distance", "9".into())];
            set.add((cell, 0), &facts.map(|(name, value)| (name.into(), value)).into());
        }
        let wanted = "distance 0 m / 1 m / 2 m / 3 m / 4 m / 5 m / 6 m / 7 m / … 492 more (lab: 9)";
        assert_eq!(set.words(), [wanted]);
    }
}
