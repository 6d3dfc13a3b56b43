//! Whole commands and whole conversations: one module per behaviour.

#![expect(unreachable_pub, reason = "a test binary has no outside")]

mod apps;
mod axes;
mod before;
mod beside;
#[cfg(feature = "serial")]
mod board;
mod broker;
mod capture;
mod ci;
mod constants;
mod data;
// Pages show the commands of all features.
#[cfg(feature = "full")]
mod docs;
mod doctor;
#[cfg(feature = "flash")]
mod doctor_crash;
mod doctor_inputs;
mod doctor_rules;
mod echo;
mod engine;
mod errors;
mod espnow;
mod espnow_edges;
mod espnow_read;
mod fit;
mod flags;
mod glance;
mod hostile;
mod interrupted;
mod iperf;
mod kinds;
mod lab_refusals;
mod latency;
mod layers;
mod layout;
mod links;
mod listen;
mod live;
mod live_change;
mod live_ip;
mod live_pty;
mod maps;
#[cfg(feature = "as-tested")]
mod mcp;
mod messages;
mod mqtt;
mod mqtt_clients;
mod mqtt_fleet;
mod mqtt_hostile;
mod mqtt_sessions;
mod mqtt_tls;
mod names;
mod narrow;
mod netns;
mod nothing;
mod page;
mod ping;
mod predict;
mod predict_compare;
mod predict_lab;
mod predict_limits;
mod predict_range;
#[cfg(target_os = "linux")]
mod pseudo_terminals;
mod readmes;
mod record;
mod report;
mod results;
mod results_wifi;
#[cfg(all(feature = "flash", target_os = "linux"))]
mod rom_loader;
#[cfg(all(feature = "serial", unix))]
mod serial;
mod serve;
mod shards;
mod shell;
mod sim;
mod sink;
mod store;
mod streams;
mod suites;
mod synthetic;
mod tables_of_fleets;
mod tcp;
mod terminal;
mod threads;
mod timeline;
mod truth;
mod tune;
#[cfg(unix)]
mod untrusted;
mod util;
mod wlan;
