//! The conversation as it goes: on stdout, and consoles in files.

use super::super::console::Consoles;
use super::Args;
use crate::say;
use anyhow::Context as _;
use espbench_model::time::Instant;
use espbench_model::untrusted::Untrusted;
use espbench_sim::lab::nodes::note::{Note, Watch};
use espbench_sim::lab::run::Tap;
use espbench_sim::talk::transcript::{TalkEntry, TalkFilter};
use std::io::{self, BufWriter, StdoutLock, Write};

/// Printed output of a conversation, and the files of its consoles.
pub(super) struct TalkOutput {
    printer: Printer<StdoutLock<'static>>,
    consoles: Consoles,
}

impl TalkOutput {
    /// Creates the output of a conversation of `nodes` devices.
    pub(super) fn new(args: &Args, nodes: usize) -> anyhow::Result<Self> {
        let consoles = Consoles::create(&args.console, nodes)?;
        Ok(Self { printer: Printer::new(args, io::stdout().lock()), consoles })
    }

    /// Writes all of it to its end.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        say::unless_gone(self.printer.finish()).context("cannot write to stdout")?;
        self.consoles.finish()
    }
}

impl Watch for TalkOutput {
    fn note(&mut self, at: Instant, note: &Note<'_>) {
        self.printer.note(at, note);
        self.consoles.note(at, note);
    }
}

impl Tap for TalkOutput {
    fn wants_frames(&self) -> bool {
        self.printer.show.frames
    }
}

/// Prints the conversation as it goes.
struct Printer<W: Write> {
    out: BufWriter<W>,
    show: TalkFilter,
    failed: Option<io::Error>,
}

impl<W: Write> Printer<W> {
    fn new(args: &Args, out: W) -> Self {
        let show = TalkFilter { frames: args.frames, samples: args.samples, ..TalkFilter::TALK };
        let show = TalkFilter { channels: args.frames, ..show };
        Self { out: BufWriter::new(out), show, failed: None }
    }

    fn finish(mut self) -> io::Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }
}

impl<W: Write> Watch for Printer<W> {
    fn note(&mut self, at: Instant, note: &Note<'_>) {
        if self.failed.is_some() {
            return;
        }
        if let Some(entry) = TalkEntry::of(at, note, self.show) {
            let entry = entry.to_string();
            self.failed = writeln!(self.out, "{}", Untrusted::line(&entry)).err();
        }
    }
}
