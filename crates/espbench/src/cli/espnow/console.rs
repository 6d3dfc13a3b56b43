//! Console output of nodes, as bytes in files: what a terminal would log.

use crate::cli::output::cannot_write;
use anyhow::Context as _;
use espbench_model::time::Instant;
use espbench_sim::lab::nodes::note::{Note, Watch};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;

/// A console and its file.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The node's number.
    node: usize,
    /// Path of the file.
    path: PathBuf,
}

/// Parses `node0=FILE`.
///
/// # Errors
/// It has another form.
pub fn parse(text: &str) -> Result<Wanted, String> {
    let parts = text.split_once('=').filter(|(_, path)| !path.is_empty());
    let node = |name: &str| name.strip_prefix("node")?.parse().ok();
    parts
        .and_then(|(name, path)| Some(Wanted { node: node(name)?, path: path.into() }))
        .ok_or_else(|| format!("`{text}` is not of the form node0=FILE"))
}

/// Writes consoles to their files.
#[derive(Debug, Default)]
pub struct Consoles(Vec<Console>);

#[derive(Debug)]
struct Console {
    node: usize,
    path: PathBuf,
    out: BufWriter<File>,
    failed: Option<io::Error>,
}

impl Consoles {
    /// Creates the files, of a fleet of so many nodes.
    ///
    /// # Errors
    /// There is no such node, or its file cannot be created.
    pub fn create(wanted: &[Wanted], nodes: usize) -> anyhow::Result<Self> {
        let create = |wanted: &Wanted| {
            let Wanted { node, path } = wanted.clone();
            anyhow::ensure!(node < nodes, "--console node{node}: there are {nodes} nodes");
            let file = File::create(&path).with_context(|| cannot_write(&path))?;
            Ok(Console { node, path, out: BufWriter::new(file), failed: None })
        };
        wanted.iter().map(create).collect::<anyhow::Result<_>>().map(Self)
    }

    /// Ends the files.
    ///
    /// # Errors
    /// One could not be written to its end.
    pub fn finish(self) -> anyhow::Result<()> {
        for mut console in self.0 {
            let written = console.failed.take().map_or_else(|| console.out.flush(), Err);
            written.with_context(|| cannot_write(&console.path))?;
        }
        Ok(())
    }
}

impl Watch for Consoles {
    fn note(&mut self, _: Instant, note: &Note<'_>) {
        let Note::Console { node, bytes } = note else { return };
        let its = |console: &&mut Console| console.node == node.index() && console.failed.is_none();
        for console in self.0.iter_mut().filter(its) {
            console.failed = console.out.write_all(bytes).err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_and_its_file() {
        let wanted = parse("node12=a=b.log").unwrap();
        assert_eq!((wanted.node, wanted.path), (12, PathBuf::from("a=b.log")));
        for wrong in ["node0", "node0=", "nodex=a", "0=a", "node-1=a", ""] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
