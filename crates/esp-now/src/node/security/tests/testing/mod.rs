//! Board with flash and a small medium, for the tests of this part.

mod medium;

pub(crate) use medium::{SecurityStation, SecurityTestbed, address};

use crate::node::board::{BareBoard, Board, CpuWork, NvsKey};
use espbench_model::time::Duration;
use std::vec::Vec;

/// A board that stores values in memory; its random bytes are fixed.
pub(crate) struct Flash {
    pub(crate) values: Vec<(NvsKey, Vec<u8>)>,
    pub(crate) writes: u32,
    pub(crate) broken: bool,
    /// Bytes to return in place of random ones, first to last.
    pub(crate) dice: Vec<u8>,
    pub(crate) cost: fn(CpuWork) -> Duration,
    pub(crate) bare: BareBoard,
}

impl Default for Flash {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            writes: 0,
            broken: false,
            dice: Vec::new(),
            cost: |_| Duration::ZERO,
            bare: BareBoard(1),
        }
    }
}

impl Board for Flash {
    fn random(&mut self, out: &mut [u8]) {
        if self.dice.len() >= out.len() {
            let rest = self.dice.split_off(out.len());
            out.copy_from_slice(&self.dice);
            self.dice = rest;
        } else {
            self.bare.random(out);
        }
    }

    fn cost_ns(&mut self, work: CpuWork) -> u64 {
        (self.cost)(work).as_nanos() as u64
    }

    fn load(&mut self, key: NvsKey, out: &mut [u8]) -> Option<usize> {
        let (_, value) = self.values.iter().find(|(k, _)| *k == key)?;
        let len = value.len().min(out.len());
        out[..len].copy_from_slice(&value[..len]);
        Some(len)
    }

    fn save(&mut self, key: NvsKey, value: &[u8]) -> bool {
        if self.broken {
            return false;
        }
        self.forget(key);
        self.values.push((key, value.to_vec()));
        self.writes += 1;
        true
    }

    fn forget(&mut self, key: NvsKey) {
        self.values.retain(|(k, _)| *k != key);
    }
}
