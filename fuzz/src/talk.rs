//! The conversation harness: scripts as people write them, and what consoles print.

use espbench_model::time::Instant;
use espbench_sim::lab::nodes::terminal::{LINE_MAX, Terminal};
use espbench_sim::talk::script::{Statement, parse};

/// Reads a script for as many nodes as the first byte says. A script without errors names only
/// nodes that exist; an error has a place, and says what would be right.
pub fn talk_script(data: &[u8]) {
    let [count, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let count = usize::from(*count);
    let script = match parse(text, count) {
        Ok(script) => script,
        Err(wrong) => {
            assert!(wrong.line >= 1 && wrong.line as usize <= text.lines().count());
            assert!(wrong.column >= 1 && !wrong.wanted.is_empty());
            return;
        }
    };
    for (line, statement) in &script.statements {
        assert!(*line >= 1 && *line as usize <= text.lines().count());
        let nodes: &[_] = match statement {
            Statement::Command { nodes, .. }
            | Statement::Until { nodes, .. }
            | Statement::Reset(nodes)
            | Statement::Key(nodes)
            | Statement::Link { from: nodes, .. }
            | Statement::Image { nodes, .. }
            | Statement::Offer { nodes, .. } => nodes,
            Statement::Wait(_) | Statement::Loss(_) => &[],
        };
        assert!(nodes.iter().all(|node| node.index() < count));
    }
}

/// Reads a console's output, with commands typed at it: bytes above 0xF0 are the host's operations,
/// the others come from the device.
pub fn talk_terminal(data: &[u8]) {
    let mut terminal = Terminal::default();
    let (mut commands, mut typed) = (0, 0);
    let mut due = Instant::ZERO;
    for byte in data {
        match byte {
            0xF1 => {
                terminal.command("help");
                commands += 1;
            }
            0xF2 => {
                let ready = terminal.is_ready();
                let begun = terminal.begin(due).map(|(_, at)| due = at).is_some();
                assert!(ready || !begun, "nothing is typed without a prompt");
                typed += usize::from(begun);
            }
            0xF3 => {
                due = terminal.echoed(due).unwrap_or(due);
                assert!(!terminal.enters(due) || !terminal.enters(due), "one carriage return");
            }
            0xF4 => terminal.reset(),
            0xF5 => {
                let had = terminal.has_answers();
                assert_eq!(terminal.take_answers().is_some(), had);
                assert!(!terminal.has_answers());
            }
            byte => {
                if let Some(line) = terminal.feed(*byte) {
                    assert!(line.text.chars().count() <= LINE_MAX);
                }
            }
        }
        // A command is queued, being typed, or was typed.
        let pending = terminal.pending();
        assert!(pending + typed >= commands && pending <= commands - typed + 1);
    }
}
