//! The cells of a plan, each with its seeds.

use alloc::vec::Vec;
use espbench_measure::plan::{PlanSet, PlannedCell};
use espbench_sim::lab::suite::Seeds;

/// One cell of a run, with all that chance in it depends on: whoever has the lab and this value can
/// carry the cell out, and gets the same samples wherever and whenever that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeededCell {
    /// Position in the order of work, from 0: the index in [`seeded_cells`].
    pub position: usize,
    /// Place in the plan, and work of the cell.
    pub step: PlannedCell,
    /// Seeds of the place, which is the same for all cells, and of all other chance.
    pub seeds: Seeds,
}

impl SeededCell {
    /// Creates the cell of a step of a run with that seed.
    #[must_use]
    pub fn new(position: usize, step: PlannedCell, run_seed: u64) -> Self {
        let seeds = Seeds { place: run_seed, cell: cell_seed(run_seed, &step) };
        Self { position, step, seeds }
    }
}

/// Returns the cells of a run of these plans with that seed, in the order of work.
#[must_use]
pub fn seeded_cells(set: &PlanSet, seed: u64) -> Vec<SeededCell> {
    let cell = |(position, step)| SeededCell::new(position, step, seed);
    set.steps().into_iter().enumerate().map(cell).collect()
}

/// Returns the seed of a cell, by its place in the plan, so that earlier cells do not change it.
fn cell_seed(seed: u64, step: &PlannedCell) -> u64 {
    // Steps of SplitMix64 (Steele, Lea and Flood 2014), one for each part.
    [u64::from(step.ordinal), u64::from(step.repetition)].iter().fold(seed, |state, part| {
        let z = (state ^ part).wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "name = \"p\"\nrepetitions = 2\n[[measure]]\nkind = \"esp-now\"\n\
                        test = \"ping\"\nsize = [10, 230]\n";

    #[test]
    fn cells_stand_in_the_order_of_work() {
        let cells = seeded_cells(&PlanSet::parse(PLAN).unwrap(), 7);
        let places: Vec<_> =
            cells.iter().map(|it| (it.position, it.step.ordinal, it.step.repetition)).collect();
        assert_eq!(places, [(0, 0, 0), (1, 1, 0), (2, 0, 1), (3, 1, 1)]);
        assert!(cells.iter().all(|it| it.seeds.place == 7));
    }

    /// Stored runs were made with these: another seed would be another run.
    #[test]
    fn the_seed_of_a_cell_is_that_of_its_place() {
        let cells = seeded_cells(&PlanSet::parse(PLAN).unwrap(), 1);
        let seeds: Vec<u64> = cells.iter().map(|it| it.seeds.cell).collect();
        assert_eq!(seeds, SEEDS);
        let alone = SeededCell::new(0, cells[3].step, 1);
        assert_eq!(alone.seeds, cells[3].seeds, "whatever cells are beside it");
    }

    /// Computed in Python from the constants of SplitMix64.
    const SEEDS: [u64; 4] = [
        0x5E41_AB08_7439_611E,
        0xA706_DD2F_4D19_7E6F,
        0xE9FD_6049_D65A_F21E,
        0x08B4_FDA8_C892_B50E,
    ];
}
