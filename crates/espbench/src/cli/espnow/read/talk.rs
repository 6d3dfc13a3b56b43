//! A file of logs: one console's, or what `espnow talk` prints of several.

use super::log::Log;
use espbench_measure::console::LogContents;
use espbench_sim::talk::transcript::{PrintedTalk, TalkSource};
use std::collections::BTreeMap;

/// Bytes by which a file shows whether it is what `espnow talk` prints.
const BEGINNING: usize = 16 * 1024;

/// Longest line of a conversation.
const LINE: usize = 4096;

/// Logs of a file, as they are read.
pub(super) struct Logs {
    console: String,
    /// Bytes before the kind of file is known, or of the line that is not over.
    held: Vec<u8>,
    kind: LogKind,
}

enum LogKind {
    Unknown,
    One(Box<Log>),
    /// Of a conversation, by device.
    Talk(BTreeMap<String, Log>),
}

impl Logs {
    /// Creates the logs of a file; `console` names it in words.
    pub(super) fn new(console: &str) -> Self {
        Self { console: console.into(), held: Vec::new(), kind: LogKind::Unknown }
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        if let LogKind::One(log) = &mut self.kind {
            return log.take(bytes);
        }
        self.held.extend_from_slice(bytes);
        if matches!(self.kind, LogKind::Unknown) && self.held.len() >= BEGINNING {
            self.begin();
        }
        self.lines();
    }

    /// Returns whether the devices are known to be simulated ones.
    pub(super) const fn are_simulated(&self) -> bool {
        matches!(self.kind, LogKind::Talk(_))
    }

    /// Ends the logs and hands over what they gathered.
    ///
    /// # Errors
    /// One of them is none.
    pub(super) fn finish(self, read: &mut LogContents) -> anyhow::Result<()> {
        match self.kind {
            LogKind::Unknown => Log::new(&self.console).finish(read),
            LogKind::One(log) => log.finish(read),
            LogKind::Talk(logs) => logs.into_values().try_for_each(|log| log.finish(read)),
        }
    }

    /// Takes what is held as the end of the file; then nothing more comes.
    pub(super) fn end(&mut self) {
        if matches!(self.kind, LogKind::Unknown) && !self.held.is_empty() {
            self.begin();
        }
        if !self.held.is_empty() {
            self.held.push(b'\n');
        }
        self.lines();
    }

    /// Tells the kind of file from its beginning.
    fn begin(&mut self) {
        let text = String::from_utf8_lossy(&self.held);
        if text.lines().any(|line| PrintedTalk::of(line).is_some()) {
            self.kind = LogKind::Talk(BTreeMap::new());
        } else {
            let mut log = Log::new(&self.console);
            log.take(&std::mem::take(&mut self.held));
            self.kind = LogKind::One(Box::new(log));
        }
    }

    /// Hands the whole lines of a conversation to the logs of their devices.
    fn lines(&mut self) {
        let LogKind::Talk(logs) = &mut self.kind else { return };
        let whole = match self.held.iter().rposition(|it| *it == b'\n') {
            Some(last) => last + 1,
            None if self.held.len() > LINE => self.held.len(),
            None => return,
        };
        let bytes: Vec<u8> = self.held.drain(..whole).collect();
        for line in String::from_utf8_lossy(&bytes).lines() {
            let Some(PrintedTalk { node, shown: Some((source, text)) }) = PrintedTalk::of(line)
            else {
                continue;
            };
            let name = || match self.console.as_str() {
                "" => node.to_owned(),
                file => format!("{file}, {node}"),
            };
            let log = logs.entry(node.into()).or_insert_with(|| Log::new(&name()));
            let prompt: &[u8] = match source {
                TalkSource::Printed => b"",
                TalkSource::Typed => b"esp32> ",
            };
            for part in [prompt, text.as_bytes(), b"\r\n"] {
                log.take(part);
            }
        }
    }
}
