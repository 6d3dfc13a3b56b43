//! Fit of a lab: the run, its plan, the figures and the constants. `espbench fit` writes it, so that
//! reports of the lab can say of which figures it knows the answer.

use super::block::{Keys, TomlTable};
use super::key::{KeyType, key};
use super::wrong::FileError;
use alloc::string::String;
use alloc::vec::Vec;

/// Name of the blocks.
const BLOCKS: &str = "fitted";

/// Name of the blocks in each of them.
const CELLS: &str = "cells";

/// Tests that a plan may have.
const MOST_TESTS: i64 = 1_000_000;

pub(super) static KEYS: [super::key::KeySpec; 4] = [
    key("run", KeyType::Text, "", "name of the run whose measurements the lab was fitted to"),
    key("plan", KeyType::Text, "", "the plan of that run, whole"),
    key(
        "constants",
        KeyType::Texts,
        "",
        "the constants that were fitted, each with its file: `mine-esp32.toml/dispatch.fixed_us`",
    ),
    key(CELLS, KeyType::Blocks, "", "`[[fitted.cells]]`: the figures that were fitted to"),
];

pub(super) static CELL: [super::key::KeySpec; 2] = [
    key("test", KeyType::Whole(1, MOST_TESTS), "", "number of the test in that plan, from 1"),
    key("metric", KeyType::Text, "", "name of the metric"),
];

/// The measurements that a lab was fitted to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FitRecord {
    /// Name of the run.
    pub run: String,
    /// Plan of the run.
    pub plan: String,
    /// Constants that were fitted, each with its file.
    pub constants: Vec<String>,
    /// Figures: number of the test in the plan, from 1, and metric.
    pub cells: Vec<(u32, String)>,
}

/// Reads the blocks of a lab: one for each run.
pub(super) fn read(lab: &TomlTable<'_>) -> Result<Vec<FitRecord>, FileError> {
    let (keys, cell): (Keys, Keys) = (&KEYS, &CELL);
    let figure = |it: TomlTable<'_>| {
        Ok((it.must("test", it.whole("test")?)?, it.must("metric", it.text("metric")?)?))
    };
    let one = |block: TomlTable<'_>| {
        let constants = block.must("constants", block.texts("constants")?)?;
        let cells = block.blocks(CELLS, cell)?.into_iter().map(figure);
        Ok(FitRecord {
            run: block.must("run", block.text("run")?)?,
            plan: block.must("plan", block.text("plan")?)?,
            constants: constants.into_iter().map(|(name, _)| name).collect(),
            cells: cells.collect::<Result<_, FileError>>()?,
        })
    };
    lab.blocks(BLOCKS, keys)?.into_iter().map(one).collect()
}
