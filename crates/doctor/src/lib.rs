//! Causes of wireless trouble, found in what people have: console logs, captures, `sdkconfig` files, stored runs.
//!
//! | module | contents |
//! |---|---|
//! | [`captured`] | captures: what the air and TCP show |
//! | [`crash`] | crashes by their addresses: backtraces and core dumps |
//! | [`mod@file`] | kind of a file by its contents: log, capture or `sdkconfig`, in pieces as they come |
//! | [`finding`] | what was found: cause, evidence, confidence, what would confirm it, what to do |
//! | [`incident`] | files of one incident to one diagnosis |
//! | [`log`] | console logs of ESP-IDF, Arduino, ESPHome and MicroPython: records, events, a reader |
//! | [`matcher`] | rules as data, and what finds them in a log |
//! | [`reason`] | Espressif's reasons of disconnection, each with its cause and remedy |
//! | [`report`] | diagnoses for programs, pages and tables |
//! | [`rules`] | from the events of a log to findings, ranked |
//! | [`settings`] | settings of logs and files, checked as `espbench tune --check` does |
//! | [`stored`] | losses of a stored run |
//!
//! A log streams through [`log::LogReader`] in constant memory; [`rules::diagnose`] tells the findings.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod captured;
pub mod crash;
pub mod file;
pub mod finding;
pub mod incident;
pub mod log;
pub mod matcher;
pub mod reason;
pub mod report;
pub mod rules;
pub mod settings;
pub mod stored;

/// The program of the README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
