//! Parts of a run, which several processes or machines carry out.
//!
//! A cell is a pure function of plan, lab, seed and place in the plan, so that it does not matter who
//! carries it out. `espbench runs merge` puts the parts together.

use crate::say::say;
use crate::store::{CellStatus, StoredRun};
use std::fmt;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::str::FromStr;

/// One of so many parts of a run's cells. Each has every so-many-th cell: neighbours in a plan often take
/// as long as each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the part, from 1.
    number: usize,
    /// Number of parts.
    of: NonZeroUsize,
}

impl Shard {
    /// Returns whether the cell at a position in the order of work, from 0, is of this part.
    #[must_use]
    pub fn holds(self, position: usize) -> bool {
        position % self.of == self.number - 1
    }

    /// Says how far the part has come and what comes next. Exit status: 0 where all of it is measured, else
    /// 2.
    ///
    /// # Errors
    /// None: the form is that of the command's other ends.
    pub(super) fn tell(self, run: &StoredRun, store: &Path) -> anyhow::Result<ExitCode> {
        let own = run.cells.iter().filter(|it| self.holds(it.position));
        let (mut all, mut done) = (0, 0);
        for cell in own {
            all += 1;
            done += usize::from(cell.status == CellStatus::Done);
        }
        let (name, store) = (&run.facts.name, store.display());
        say!("shard {self} of {name}: {done} of {all} cells are done, in {store}");
        if done < all {
            say!("to measure what is missing: espbench run --resume {name} --shard {self}");
            return Ok(ExitCode::from(2));
        }
        say!("to put all shards together: espbench runs merge STORE... -o STORE");
        Ok(ExitCode::SUCCESS)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not such as 3/8: the third of eight parts");
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        let (number, of): (usize, NonZeroUsize) =
            number.parse().ok().zip(of.parse().ok()).ok_or_else(wrong)?;
        if number == 0 || number > of.get() {
            return Err(format!("there is no part {number} of {of}: they are 1/{of} to {of}/{of}"));
        }
        Ok(Self { number, of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_shard_is_a_number_and_how_many_there_are() {
        assert_eq!("3/8".parse::<Shard>().unwrap().to_string(), "3/8");
        for text in ["", "3", "0/8", "9/8", "1/0", "-1/2", "1/2/3", "a/b", "1/99999999999999999999"]
        {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn each_cell_is_of_one_shard(position in 0_usize..10_000, of in 1_usize..100) {
            let shards = (1..=of).map(|number| format!("{number}/{of}").parse::<Shard>().unwrap());
            prop_assert_eq!(shards.filter(|it| it.holds(position)).count(), 1);
        }
    }
}
