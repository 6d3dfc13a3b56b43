//! Fleets for scenarios, and what is read of their consoles.

use esp_now::node::board::{Board, NvsKey};
use esp_now::node::device;
use esp_now::node::task::{Encrypt, NodeSettings};
use esp_now::node::tick::Tick;
use espbench_dot11::random::Chance;
use espbench_model::time::{Duration, Instant};
use espbench_sim::lab::ideal::{Fleet, FleetSetup, IdealMediumConfig};
use espbench_sim::lab::nodes::node::{Node, fleet_of};
use espbench_sim::lab::nodes::{Conversation as _, NodeId};
use espbench_sim::talk::Transcript;
use espbench_sim::talk::script::{PlayError, play};
use espbench_sim::talk::transcript::{TalkEvent, TalkFilter};

pub type Talk = Fleet<Box<Node>, Transcript>;

/// The key that node0 hands out.
pub const KEY: [u8; 32] = *b"a key of thirty-two bytes, so so";

pub const LOSSES: [u32; 3] = [0, 5, 30];

/// Returns the settings of the `solution` example: a tick of 1 kHz.
pub fn settings() -> NodeSettings {
    NodeSettings { tick: Tick::from_hz(1000), ..NodeSettings::default() }
}

/// Makes so many nodes on a medium that loses so much.
pub fn talk(nodes: usize, loss: u32) -> Talk {
    talk_with(nodes, IdealMediumConfig::lossy(Chance::percent(loss)), |_| settings())
}

pub fn talk_with(
    nodes: usize,
    medium: IdealMediumConfig,
    settings: impl Fn(NodeId) -> NodeSettings + 'static,
) -> Talk {
    let setup = FleetSetup { medium, stagger: Duration::from_millis(100), ..FleetSetup::default() };
    let watch = Transcript::new(TalkFilter { events: true, ..TalkFilter::TALK });
    let mut fleet = fleet_of(setup, watch, move |node| (settings(node), device::Setup::default()));
    fleet.add_many(nodes);
    fleet
}

/// Nodes that can encrypt, of which node0 has a key to hand out.
pub fn talk_with_key(nodes: usize, loss: u32) -> Talk {
    let encrypt = Encrypt { enabled: true, ..Encrypt::default() };
    let settings = move |_| NodeSettings { encrypt, ..settings() };
    let mut fleet = talk_with(nodes, IdealMediumConfig::lossy(Chance::percent(loss)), settings);
    fleet.board_mut(NodeId(0)).save(NvsKey::EncryptKey, &KEY);
    fleet
}

/// Plays a script to its end; a failure shows the end of the conversation.
#[track_caller]
pub fn plays(fleet: &mut Talk, script: &str) {
    if let Err(failed) = tries(fleet, script) {
        let text = fleet.watch.to_string();
        let lines: Vec<&str> = text.lines().collect();
        let end = &lines[lines.len().saturating_sub(60)..];
        panic!("{failed}\n{}", end.join("\n"));
    }
    check_clocks(fleet);
}

pub fn tries(fleet: &mut Talk, script: &str) -> Result<(), PlayError> {
    play(fleet, script)
}

/// Checks that log lines carry the time at which they come out of the device: it holds nothing
/// back.
pub fn check_clocks(fleet: &Talk) {
    let mut zero = vec![Instant::ZERO; fleet.count()];
    for entry in &fleet.watch.entries {
        match &entry.what {
            TalkEvent::Started(_) => zero[entry.node.index()] = entry.at,
            TalkEvent::Printed(text) => {
                let Some((ms, _)) = text.get(3..).and_then(|text| text.split_once(") ")) else {
                    continue;
                };
                let Ok(ms) = ms.parse::<u128>() else { continue };
                assert_eq!(ms, entry.at.since(zero[entry.node.index()]).as_millis(), "{entry}");
            }
            _ => {}
        }
    }
}

/// Returns the last line of a node with that text, from the text on.
pub fn last(fleet: &Talk, node: u16, text: &str) -> String {
    let lines = fleet.lines(NodeId(node)).iter().rev();
    let found = lines.filter_map(|line| line.text.find(text).map(|at| &line.text[at..])).next();
    found.unwrap_or("-").to_owned()
}

/// Prints virtual time in seconds, with milliseconds.
pub fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

pub fn now(fleet: &Talk) -> Duration {
    fleet.now().since(Instant::ZERO)
}

/// Counts the frames that all nodes handed to their drivers.
pub fn frames(fleet: &Talk) -> u64 {
    fleet.nodes().map(|node| fleet.counters(node).sent).sum()
}
