//! Plans of measurements, and the meaning of their results: statistics, comparisons, reports.
//!
//! # A map of the code, in reading order
//!
//! | module | content |
//! |---|---|
//! | [`plan`] | plans in TOML, a matrix of [`Workload`](espbench_model::workload::Workload)s; a plan knows no target |
//! | [`units`] | "10 s", "40 Mbit/s", "1470 B": parsed and printed in one place |
//! | [`run`] | the immutable facts of a run and of each of its cells, with the recorded samples |
//! | `bounds` | natural ends of quantities, which no interval reaches beyond |
//! | [`overhead`] | the tool's own share of a time, from its calibration |
//! | [`kind`] | the kinds of test, each in a folder with all that is its own, behind one trait |
//! | [`summary`] | samples of one workload to result cells: the parts that kinds share |
//! | [`live`] | a cell while it is measured: counts so far, and whether anything was measured at all |
//! | [`cell`] | the result cell, which reports, stores and comparisons exchange |
//! | [`metric`] | the meaning of a metric's name: quantity, statistic, which direction is better |
//! | [`published`] | reads cells in the columns of `published.csv` |
//! | [`columns`] | the table of results: columns of CSV, fields of JSON, with units and meanings |
//! | [`compare`] | joins two lists of cells: ratio, interval, verdict |
//! | [`truth`] | how far simulated figures are from the published ones |
//! | [`clocks`] | offset and drift between the clocks of two devices, from round trips |
//! | [`edges`] | edges of the sender's and the receiver's pin to one-way delays |
//! | [`console`] | the output of ESP-NOW devices' consoles, as cells and tables |
//! | [`predict`] | predictions of the virtual lab as estimates, and what limits them |
//! | [`tune`] | settings of a firmware: those that limit it, and those that meet a wish |
//! | [`limit`] | theoretical limits: the time that a test takes at its PHY rate with no waste |
//! | [`search`] | searches: the highest rate without loss, the largest fleet within limits |
//! | [`threshold`] | limits that a plan sets on results, and whether they held |
//! | [`wifi`] | tests of devices over Wi-Fi: which published cell stands beside which of ours |
//! | [`warning`] | the closed set of advice |
//! | [`settings`] | the settings that tell cells apart, as typed values: compared, joined, fields of JSON |
//! | [`label`] | words for settings, made where something is drawn; reads those that people typed |
//! | [`series`] | intervals of a stream to a rate over time |
//! | [`sound`] | figures of one test that contradict each other |
//! | [`digits`] | how many digits a number is worth |
//! | [`table`] | tables in the shape of the documents, as data |
//! | [`binning`] | histograms and cumulative curves of few points |
//! | [`figure`] | curves and bars as data: nothing downstream computes |
//! | [`fit`] | constants of a model from measured values |
//! | [`air`] | the medium of the virtual lab: who sent when, and the shares of each channel's time |
//! | [`beside`] | a run beside the same plan in a lab: is the board as the lab predicts? |
//! | [`report`] | a whole run as one value |
//!
//! A first program is `examples/cells.rs`: from a plan and its samples to result cells.
//!
//! The crate has no clock, no I/O and no drawing. Floats go through `libm`, so that results are the
//! same everywhere.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod air;
pub mod beside;
pub mod binning;
mod bounds;
pub mod cell;
pub mod clocks;
pub mod columns;
pub mod compare;
pub mod console;
pub mod digits;
pub mod edges;
pub mod figure;
pub mod fit;
pub mod kind;
pub mod label;
pub mod limit;
pub mod live;
pub mod metric;
pub mod overhead;
pub mod plan;
pub mod predict;
pub mod published;
pub mod report;
pub mod run;
pub mod search;
pub mod series;
pub mod settings;
pub mod sound;
pub mod summary;
pub mod table;
pub mod threshold;
pub mod truth;
pub mod tune;
pub mod units;
pub mod warning;
pub mod wifi;

/// The program of the README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
