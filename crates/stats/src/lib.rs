//! Statistics of measurements: a value with its interval, and the source of each method.
//!
//! # A map of the code, in reading order
//!
//! | module | content |
//! |---|---|
//! | `estimate` | the common form of a statistic: value, observations, interval |
//! | [`quantile`] | exact quantiles, with intervals that no distribution is assumed for |
//! | [`interval`] | proportions, means, differences, ratios; Jain's index of fairness |
//! | [`bootstrap`] | the mean of a skewed sample |
//! | [`cluster`] | intervals for observations that come in groups |
//! | [`modes`], [`trend`] | whether a sample has two modes, or drifts |
//! | [`special`], [`binomial`] | the functions under them |
//!
//! A first program is `examples/round_trips.rs`.
//!
//! The crate has no clock and no I/O. Floats go through `libm`, so that results are the same everywhere.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod binomial;
pub mod bootstrap;
pub mod cluster;
mod estimate;
pub mod interval;
pub mod modes;
pub mod quantile;
pub mod special;
pub mod trend;

pub use estimate::Estimate;

/// The program of the README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
