//! A conversation on an ideal medium, with faults on request.

use super::Args;
use esp_now::component::{Compat, ComponentRelease, Idf};
use esp_now::node::security::Policy;
use esp_now::node::task::{Encrypt, NodeSettings};
use esp_now::node::tick::Tick;
use espbench_dot11::random::Chance;
use espbench_measure::units::{self, Dimension};
use espbench_model::time::Instant;
use espbench_sim::lab::ideal::{Fleet, FleetSetup, IdealMediumConfig};
use espbench_sim::lab::nodes::node::{self, Node};
use espbench_sim::lab::nodes::note::Watch;
use espbench_sim::lab::nodes::{Conversation as _, DeviceModel};
use std::time::Duration;

/// The medium.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "The medium")]
pub(super) struct MediumArgs {
    /// Frames lost on their way to a receiver, such as 5%
    #[arg(long, conflicts_with = "lab", default_value = "0%", value_parser = chance, value_name = "PERCENT")]
    loss: Chance,
    /// From the end of a frame until its receiver has it
    #[arg(long, conflicts_with = "lab", default_value = "0s", value_parser = units::seconds, value_name = "TIME")]
    delay: Duration,
    /// Further delay, uniform from zero to this
    #[arg(long, conflicts_with = "lab", default_value = "0s", value_parser = units::seconds, value_name = "TIME")]
    jitter: Duration,
    /// Frames that a receiver has twice
    #[arg(long, conflicts_with = "lab", default_value = "0%", value_parser = chance, value_name = "PERCENT")]
    duplicate: Chance,
    /// Frames that are held back for up to 5 ms, so that later ones come first
    #[arg(long, conflicts_with = "lab", default_value = "0%", value_parser = chance, value_name = "PERCENT")]
    reorder: Chance,
    /// How often the MAC tries a unicast frame again
    #[arg(long, conflicts_with = "lab", default_value_t = espbench_sim::lab::ideal::MAC_RETRIES, value_name = "RETRIES")]
    mac_retries: u8,
}

/// How the devices' firmware is built.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "The devices")]
pub(super) struct BuildArgs {
    /// FreeRTOS tick rate: 1000 in Espressif's `solution` example, 100 where nothing is set
    #[arg(long, conflicts_with = "lab", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1000),
        value_name = "HERTZ")]
    tick: u32,
    /// Release of the esp-now component: 2022-07, 1.0, 2.0, 2.3, 2.4, 2.5.2, 2.5.3 or head
    #[arg(long, conflicts_with = "lab", default_value = "2.5.3", value_parser = release)]
    release: ComponentRelease,
    /// Release of ESP-IDF under it: 4.4, 5.0, 5.0.8, 5.1, 5.4 or 5.4.2
    #[arg(long, conflicts_with = "lab", default_value = "5.1", value_name = "RELEASE", value_parser = idf)]
    idf: Idf,
    /// All services encrypt what they send, as with CONFIG_ESPNOW_ALL_SECURITY; see `key` below
    #[arg(long, conflicts_with = "lab")]
    encrypt: bool,
    /// Refuse what the component takes though it is not safe: plain frames of services, recorded
    /// messages, resets by anybody
    #[arg(long, conflicts_with = "lab")]
    hardened: bool,
}

fn chance(text: &str) -> Result<Chance, String> {
    let share = units::parse(text, Dimension::Proportion)?;
    if share <= 1.0 {
        Ok(Chance::of(share))
    } else {
        Err(format!("`{text}` is more than 100 %: use 0% to 100%"))
    }
}

fn release(text: &str) -> Result<ComponentRelease, String> {
    // Releases that speak as one before them.
    let text = match text {
        "2.1" | "2.2" => "2.0",
        "2.5.0" | "2.5.1" => "2.4",
        other => other,
    };
    let found = ComponentRelease::NAMED.into_iter().find(|(name, _)| *name == text);
    found
        .map(|(_, release)| release)
        .ok_or_else(|| format!("use {}", listed(&ComponentRelease::NAMED)))
}

fn idf(text: &str) -> Result<Idf, String> {
    let text = match text {
        "5.2" | "5.3" => "5.1",
        "5.4.1" => "5.4",
        "5.5" | "6.0" => "5.4.2",
        other => other,
    };
    let found = Idf::NAMED.into_iter().find(|(name, _)| *name == text);
    found.map(|(_, idf)| idf).ok_or_else(|| format!("use {}", listed(&Idf::NAMED)))
}

/// Joins names to `a, b or c`.
fn listed<T>(named: &[(&str, T)]) -> String {
    let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// Creates the devices on an ideal medium.
pub(super) fn fleet<W: Watch>(args: &Args, nodes: u16, watch: W) -> Fleet<Box<Node>, W> {
    let build = &args.build;
    let settings = NodeSettings {
        compat: Compat { release: build.release, idf: build.idf, ..Compat::default() },
        tick: Tick::from_hz(build.tick),
        encrypt: encrypt(build.encrypt),
        policy: if build.hardened { Policy::STRICT } else { Policy::COMPATIBLE },
        ..NodeSettings::default()
    };
    let mut fleet = node::fleet(setup(args), watch, settings);
    fleet.add_many(usize::from(nodes));
    fleet
}

/// Returns which services encrypt. Every device can encrypt and be handed a key; services do so if
/// `services` is set.
const fn encrypt(services: bool) -> Encrypt {
    Encrypt {
        enabled: true,
        control: services,
        debug: services,
        ota: services,
        prov: services,
        time: services,
    }
}

fn setup(args: &Args) -> FleetSetup {
    let MediumArgs { loss, delay, jitter, duplicate, reorder, mac_retries } = args.medium;
    FleetSetup {
        seed: args.seed,
        medium: IdealMediumConfig {
            loss,
            delay,
            jitter,
            duplicate,
            reorder,
            mac_retries,
            ..IdealMediumConfig::default()
        },
        // Within ten of the slowest ticks: no two devices have the same phase.
        stagger: Duration::from_millis(100),
        keep_samples: false,
        ..FleetSetup::default()
    }
}

/// Sums up what was on the air, in one line.
pub(super) fn summary<D: DeviceModel, W: Watch>(fleet: &Fleet<D, W>) -> String {
    let sum = |of: fn(&espbench_sim::lab::ideal::IdealRadioCounters) -> u64| -> u64 {
        fleet.nodes().map(|node| of(&fleet.counters(node))).sum()
    };
    format!(
        "{} nodes, {:.3} s: {} frames sent in {} attempts, {} received, {} lost, {} refused by \
         the driver, {} given up by the MAC",
        fleet.count(),
        fleet.now().since(Instant::ZERO).as_secs_f64(),
        sum(|c| c.sent),
        sum(|c| c.attempts),
        sum(|c| c.received),
        sum(|c| c.lost),
        sum(|c| c.refused),
        sum(|c| c.failed),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percentages() {
        assert_eq!(chance("5%"), Ok(Chance::percent(5)));
        assert_eq!(chance("100 %"), Ok(Chance::ALWAYS));
        for wrong in ["5", "101%", "-1%", "x"] {
            assert!(chance(wrong).is_err(), "{wrong}");
        }
    }
}
