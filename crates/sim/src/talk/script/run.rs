//! Carrying a script out.

use super::{CommandPiece, PATIENCE, Script, ScriptParseError, Statement};
use crate::lab::ideal::{IdealMediumConfig, MediumLink};
use crate::lab::nodes::Livelock;
use crate::lab::nodes::conversation::{Conversation, read_up_to};
use crate::lab::nodes::device::NodeId;
use crate::lab::nodes::image::FirmwareImage;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use esp_now::node::board::Board as _;

/// Seed of the images that scripts put into slots: the same length and version are the same image
/// on every node.
const IMAGE_SEED: u64 = 1;

/// The error of a script that did not come to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum PlayError {
    /// The script cannot be read.
    Parse(ScriptParseError),
    /// A device does not come to rest.
    Livelock(Livelock),
    /// Commands could not be typed: no prompt came.
    NoPrompt {
        /// Line of the script.
        line: u32,
        /// Nodes whose consoles showed no prompt.
        nodes: Vec<NodeId>,
    },
    /// The medium is a room's, which a script cannot change.
    NotIdeal {
        /// Line of the script.
        line: u32,
    },
    /// The awaited text was not printed.
    NotPrinted {
        /// Line of the script.
        line: u32,
        /// Nodes that did not print it.
        nodes: Vec<NodeId>,
        /// Text that was awaited.
        text: String,
        /// Time in which it did not come.
        most: Duration,
    },
}

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parse(wrong) => wrong.fmt(f),
            Self::Livelock(livelock) => livelock.fmt(f),
            Self::NoPrompt { line, nodes } => {
                write!(f, "line {line}: {} showed no prompt for {PATIENCE:?}", List(nodes))
            }
            Self::NotIdeal { line } => write!(
                f,
                "line {line}: in a lab, the room says who hears whom and what is lost; leave out \
                 `loss` and `link`, or change the lab"
            ),
            Self::NotPrinted { line, nodes, text, most } => {
                write!(f, "line {line}: {} did not print \"{text}\" in {most:?}", List(nodes))
            }
        }
    }
}

impl core::error::Error for PlayError {}

impl From<Livelock> for PlayError {
    fn from(livelock: Livelock) -> Self {
        Self::Livelock(livelock)
    }
}

/// The first five of them, and how many more.
pub(crate) struct List<'a>(pub(crate) &'a [NodeId]);

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
pub fn play<C: Conversation>(talk: &mut C, text: &str) -> Result<(), PlayError> {
    super::parse(text, talk.count()).map_err(PlayError::Parse)?.run(talk)
}

impl Script {
    /// Carries it out.
    ///
    /// # Errors
    /// Why it did not come to its end.
    pub fn run<C: Conversation>(&self, talk: &mut C) -> Result<(), PlayError> {
        let medium =
            |it: &&(u32, Statement)| matches!(it.1, Statement::Loss(_) | Statement::Link { .. });
        if let Some((line, _)) = self.statements.iter().find(medium)
            && talk.ideal_medium().is_none()
        {
            return Err(PlayError::NotIdeal { line: *line });
        }
        let mut seen = marks(talk);
        for (line, statement) in &self.statements {
            match statement {
                Statement::Wait(_) | Statement::Until { .. } => {}
                _ => seen = marks(talk),
            }
            match statement {
                Statement::Command { nodes, text } => type_in(talk, *line, nodes, text)?,
                Statement::Wait(time) => talk.run_for(*time)?,
                Statement::Until { nodes, text, most } => {
                    let nodes = until(talk, &mut seen, nodes, text, *most)?;
                    if !nodes.is_empty() {
                        let text = text.clone();
                        return Err(PlayError::NotPrinted {
                            line: *line,
                            nodes,
                            text,
                            most: *most,
                        });
                    }
                }
                Statement::Reset(nodes) => nodes.iter().for_each(|node| talk.reset(*node)),
                Statement::Loss(_) | Statement::Link { .. } => {
                    let medium = talk.ideal_medium().ok_or(PlayError::NotIdeal { line: *line })?;
                    change(medium, statement);
                }
                Statement::Offer { nodes, url, len, version } => {
                    let image = FirmwareImage::synthetic(*len, version, IMAGE_SEED);
                    for node in nodes {
                        talk.board_mut(*node).offers.insert(url.clone(), image.clone());
                    }
                }
                Statement::Key(nodes) => {
                    let mut key = [0; 32];
                    if let Some(first) = nodes.first() {
                        talk.board_mut(*first).random(&mut key);
                    }
                    talk.install_key(nodes.iter().copied(), &key);
                }
                Statement::Image { nodes, slot, len, version } => {
                    let image = FirmwareImage::synthetic(*len, version, IMAGE_SEED);
                    for node in nodes {
                        talk.board_mut(*node).install(*slot, image.clone());
                    }
                }
            }
        }
        Ok(())
    }
}

/// Carries out a statement that changes the medium.
fn change(medium: &mut IdealMediumConfig, statement: &Statement) {
    match statement {
        Statement::Loss(loss) => medium.loss = *loss,
        Statement::Link { from, to, rssi } => {
            for (a, b) in from.iter().flat_map(|a| to.iter().map(move |b| (*a, *b))) {
                medium.link(a, b, rssi.map(MediumLink::at));
            }
        }
        _ => {}
    }
}

/// Counts the lines that each node has printed.
fn marks<C: Conversation>(talk: &C) -> Vec<usize> {
    talk.nodes().map(|node| talk.lines(node).len()).collect()
}

fn type_in<C: Conversation>(
    talk: &mut C,
    line: u32,
    nodes: &[NodeId],
    text: &[CommandPiece],
) -> Result<(), PlayError> {
    for node in nodes {
        let command = spell(talk, *node, text);
        talk.command(*node, &command);
    }
    let typed = |talk: &C, node: &NodeId| talk.pending(*node) == 0;
    if talk.run_till(PATIENCE, |talk| nodes.iter().all(|node| typed(talk, node)))? {
        return Ok(());
    }
    let nodes = nodes.iter().copied().filter(|node| !typed(talk, node)).collect();
    Err(PlayError::NoPrompt { line, nodes })
}

/// Returns the command as it is typed at that node.
fn spell<C: Conversation>(talk: &C, node: NodeId, text: &[CommandPiece]) -> String {
    let addresses = |nodes: &mut dyn Iterator<Item = NodeId>| {
        nodes.map(|node| format!("{}", node.mac())).collect::<Vec<_>>().join(",")
    };
    let piece = |piece: &CommandPiece| match piece {
        CommandPiece::Text(text) => text.clone(),
        CommandPiece::Addresses(nodes) => addresses(&mut nodes.iter().copied()),
        CommandPiece::Others => addresses(&mut talk.nodes().filter(|other| *other != node)),
    };
    text.iter().map(piece).collect()
}

/// Waits until each has printed the text; gives those that have not.
fn until<C: Conversation>(
    talk: &mut C,
    seen: &mut [usize],
    nodes: &[NodeId],
    text: &str,
    most: Duration,
) -> Result<Vec<NodeId>, Livelock> {
    let mut missing = nodes.to_vec();
    let mut printed = None;
    talk.run_till(most, |talk| {
        // Lines are few beside frames.
        if printed.replace(talk.device_set().printed) != Some(talk.device_set().printed) {
            missing.retain(|node| {
                let seen = &mut seen[node.index()];
                !read_up_to(talk.lines(*node), seen, |line| line.text.contains(text))
            });
        }
        missing.is_empty()
    })?;
    Ok(missing)
}
