//! Carrying a script out.

use super::{PATIENCE, Piece, Script, Statement, Wrong};
use crate::talk::device::{Device, NodeId};
use crate::talk::fleet::{Fleet, Stuck};
use crate::talk::image::Image;
use crate::talk::medium::Link;
use crate::talk::note::Watch;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use espbench_proto::node::esp_now::board::{Board as _, Key};

/// Seed of the images that scripts put into slots: the same length and version are the same image
/// on every node.
const IMAGE_SEED: u64 = 1;

/// A script did not come to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Failed {
    /// It cannot be read.
    Wrong(Wrong),
    /// A device does not come to rest.
    Stuck(Stuck),
    /// Commands could not be typed: no prompt came.
    NoPrompt {
        /// Line of the script.
        line: u32,
        /// At which consoles.
        nodes: Vec<NodeId>,
    },
    /// What was waited for was not printed.
    NotPrinted {
        /// Line of the script.
        line: u32,
        /// By whom.
        nodes: Vec<NodeId>,
        /// What.
        text: String,
        /// In this time.
        most: Duration,
    },
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(wrong) => wrong.fmt(f),
            Self::Stuck(stuck) => stuck.fmt(f),
            Self::NoPrompt { line, nodes } => {
                write!(f, "line {line}: {} showed no prompt for {PATIENCE:?}", List(nodes))
            }
            Self::NotPrinted { line, nodes, text, most } => {
                write!(f, "line {line}: {} did not print \"{text}\" in {most:?}", List(nodes))
            }
        }
    }
}

impl core::error::Error for Failed {}

impl From<Stuck> for Failed {
    fn from(stuck: Stuck) -> Self {
        Self::Stuck(stuck)
    }
}

struct List<'a>(&'a [NodeId]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, node) in self.0.iter().enumerate() {
            match i {
                0 => write!(f, "{node}")?,
                1..5 => write!(f, ", {node}")?,
                _ => return write!(f, " and {} more", self.0.len() - i),
            }
        }
        Ok(())
    }
}

/// Reads a script and carries it out.
///
/// # Errors
/// Why it did not come to its end.
pub fn play<D: Device, W: Watch>(fleet: &mut Fleet<D, W>, text: &str) -> Result<(), Failed> {
    super::parse(text, fleet.count()).map_err(Failed::Wrong)?.run(fleet)
}

impl Script {
    /// Carries it out.
    ///
    /// # Errors
    /// Why it did not come to its end.
    pub fn run<D: Device, W: Watch>(&self, fleet: &mut Fleet<D, W>) -> Result<(), Failed> {
        let mut seen = marks(fleet);
        for (line, statement) in &self.statements {
            match statement {
                Statement::Wait(_) | Statement::Until { .. } => {}
                _ => seen = marks(fleet),
            }
            match statement {
                Statement::Command { nodes, text } => type_in(fleet, *line, nodes, text)?,
                Statement::Wait(time) => fleet.run_for(*time)?,
                Statement::Until { nodes, text, most } => {
                    let nodes = until(fleet, &mut seen, nodes, text, *most)?;
                    if !nodes.is_empty() {
                        let text = text.clone();
                        return Err(Failed::NotPrinted { line: *line, nodes, text, most: *most });
                    }
                }
                Statement::Reset(nodes) => nodes.iter().for_each(|node| fleet.reset(*node)),
                Statement::Loss(loss) => fleet.medium.loss = *loss,
                Statement::Link { from, to, rssi } => {
                    for (a, b) in from.iter().flat_map(|a| to.iter().map(move |b| (*a, *b))) {
                        fleet.medium.link(a, b, rssi.map(Link::at));
                    }
                }
                Statement::Offer { nodes, url, len, version } => {
                    let image = Image::synthetic(*len, version, IMAGE_SEED);
                    for node in nodes {
                        fleet.board_mut(*node).offers.insert(url.clone(), image.clone());
                    }
                }
                Statement::Key(nodes) => {
                    let mut key = [0; 32];
                    if let Some(first) = nodes.first() {
                        fleet.board_mut(*first).random(&mut key);
                    }
                    for node in nodes {
                        let board = fleet.board_mut(*node);
                        // A broken board stores nothing, as its device will say.
                        let _ = board.save(Key::EncryptKey, &key);
                        let _ = board.save(Key::DecryptKey, &key);
                    }
                }
                Statement::Image { nodes, slot, len, version } => {
                    let image = Image::synthetic(*len, version, IMAGE_SEED);
                    for node in nodes {
                        fleet.board_mut(*node).install(*slot, image.clone());
                    }
                }
            }
        }
        Ok(())
    }
}

/// How many lines each node has printed.
fn marks<D: Device, W: Watch>(fleet: &Fleet<D, W>) -> Vec<usize> {
    fleet.nodes().map(|node| fleet.lines(node).len()).collect()
}

fn type_in<D: Device, W: Watch>(
    fleet: &mut Fleet<D, W>,
    line: u32,
    nodes: &[NodeId],
    text: &[Piece],
) -> Result<(), Failed> {
    for node in nodes {
        let command = spell(fleet, *node, text);
        fleet.command(*node, &command);
    }
    let typed = |fleet: &Fleet<D, W>, node: &NodeId| fleet.pending(*node) == 0;
    if fleet.run_till(PATIENCE, |fleet| nodes.iter().all(|node| typed(fleet, node)))? {
        return Ok(());
    }
    let nodes = nodes.iter().copied().filter(|node| !typed(fleet, node)).collect();
    Err(Failed::NoPrompt { line, nodes })
}

/// The command as it is typed at that node.
fn spell<D: Device, W: Watch>(fleet: &Fleet<D, W>, node: NodeId, text: &[Piece]) -> String {
    let addresses = |nodes: &mut dyn Iterator<Item = NodeId>| {
        nodes.map(|node| format!("{}", node.mac())).collect::<Vec<_>>().join(",")
    };
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Addresses(nodes) => addresses(&mut nodes.iter().copied()),
        Piece::Others => addresses(&mut fleet.nodes().filter(|other| *other != node)),
    };
    text.iter().map(piece).collect()
}

/// Waits until each has printed the text; gives those that have not.
fn until<D: Device, W: Watch>(
    fleet: &mut Fleet<D, W>,
    seen: &mut [usize],
    nodes: &[NodeId],
    text: &str,
    most: Duration,
) -> Result<Vec<NodeId>, Stuck> {
    let mut missing = nodes.to_vec();
    let mut printed = None;
    fleet.run_till(most, |fleet| {
        // Lines are few beside frames.
        if printed.replace(fleet.crew.printed) != Some(fleet.crew.printed) {
            missing.retain(|node| !find(fleet, seen, *node, text));
        }
        missing.is_empty()
    })?;
    Ok(missing)
}

/// Whether a node has printed the text since what was seen of it.
fn find<D: Device, W: Watch>(
    fleet: &Fleet<D, W>,
    seen: &mut [usize],
    node: NodeId,
    text: &str,
) -> bool {
    let Some(seen) = seen.get_mut(node.index()) else { return false };
    let lines = fleet.lines(node);
    let new = lines.get(*seen..).unwrap_or_default();
    match new.iter().position(|line| line.text.contains(text)) {
        Some(at) => *seen += at + 1,
        None => {
            *seen = lines.len();
            return false;
        }
    }
    true
}
