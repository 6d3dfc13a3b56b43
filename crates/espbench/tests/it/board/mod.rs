//! `espbench board`: ports, and what is done to the boards behind them.

#[cfg(all(feature = "flash", target_os = "linux"))]
mod flash;
mod list;
#[cfg(all(feature = "flash", target_os = "linux"))]
mod monitor;
