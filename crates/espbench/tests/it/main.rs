//! Whole commands and whole conversations: one module per behaviour.

#![expect(unreachable_pub, reason = "a test binary has no outside")]

mod apps;
mod before;
mod broker;
mod echo;
mod engine;
mod espnow;
mod espnow_read;
mod iperf;
mod kinds;
mod latency;
mod layers;
mod listen;
mod live;
mod maps;
mod mqtt;
mod mqtt_clients;
mod mqtt_hostile;
mod mqtt_sessions;
mod mqtt_tls;
mod names;
mod netns;
mod nothing;
mod page;
mod ping;
mod predict;
mod predict_doc;
mod readmes;
mod record;
mod report;
mod results;
mod results_wifi;
mod sim;
mod sink;
mod store;
mod streams;
mod suites;
mod synthetic;
mod tcp;
mod timeline;
mod tune;
mod tune_doc;
mod util;
mod wlan;
