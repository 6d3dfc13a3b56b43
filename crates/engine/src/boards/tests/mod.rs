//! Whole cells on virtual time.
//!
//! | module | contents |
//! |---|---|
//! | `bench` | benches: the consoles of a lab, and boards that print what a test says |
//! | `faults` | boards that are missing, crash, are garbled or wait in their ROM |
//! | `jobs` | jobs that one board does for others |
//! | `lab` | cells against the same cells of the lab |
//! | `lies` | consoles that answer with what is no result |
//! | `traffic` | ESP-IDF's `iperf` example, in each of its releases |

mod bench;
mod faults;
mod jobs;
mod lab;
mod lies;
mod traffic;
