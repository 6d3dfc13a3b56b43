//! `espbench board`: ports, and what is done to the boards behind them.

mod list;
