//! Execution of commands, typed at the console or sent by another device: when they run, and when
//! they return.

use super::Node;
use super::commands::{CommandStep, Todo, part_of};
use crate::console::{self, CommandSource, EspError, Ready};
use crate::node::board::Board;
use crate::node::schedule::NodePart;
use crate::node::task::{Cx, TaskStep};
use espbench_model::time::Instant;

/// A command that has not returned yet.
#[derive(Clone, Copy, Debug)]
struct PendingCommand {
    /// Part whose result the command waits for.
    part: NodePart,
    /// Steps that follow then.
    todo: Todo,
}

/// Commands that have not returned yet: one of the terminal, one of another device.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PendingCommands {
    terminal: Option<PendingCommand>,
    remote: Option<PendingCommand>,
}

impl PendingCommands {
    /// Returns whether a command of another device runs, in the main task.
    pub(super) const fn remote(&self) -> bool {
        self.remote.is_some()
    }

    const fn of(&mut self, origin: CommandSource) -> &mut Option<PendingCommand> {
        match origin {
            CommandSource::Uart => &mut self.terminal,
            CommandSource::Remote => &mut self.remote,
        }
    }
}

/// Returns the part that gives a command of that origin its turns.
const fn own(origin: CommandSource) -> NodePart {
    match origin {
        CommandSource::Uart => NodePart::Console,
        CommandSource::Remote => NodePart::Remote,
    }
}

impl<
    const DEVICES: usize,
    const SESSIONS: usize,
    const ARENA: usize,
    const FRAME: usize,
    const EVENTS: usize,
> Node<DEVICES, SESSIONS, ARENA, FRAME, EVENTS>
{
    /// Runs the console's turn: executes the next line, if the last command has returned.
    pub(super) fn console_turn(&mut self, now: Instant, board: &mut dyn Board) -> TaskStep {
        if self.running.terminal.is_some() {
            return TaskStep::Idle;
        }
        let mut cx = Cx { now, board: &mut *board, shared: &mut self.shared };
        match self.parts.console.run(&mut cx) {
            Ready::Idle => TaskStep::Idle,
            Ready::Busy => TaskStep::Until(now),
            Ready::Line => {
                self.command(now, board, CommandSource::Uart);
                if self.running.terminal.is_some() { TaskStep::Idle } else { TaskStep::Until(now) }
            }
        }
    }

    /// Runs the command that waits at the terminal or in the inbox.
    pub(super) fn command(&mut self, now: Instant, board: &mut dyn Board, origin: CommandSource) {
        let mut cx = Cx { now, board: &mut *board, shared: &mut self.shared };
        let from = self.parts.inbox.from();
        let line = match origin {
            CommandSource::Uart => self.parts.console.line(),
            CommandSource::Remote => match self.parts.inbox.take() {
                Some(line) => line,
                None => return,
            },
        };
        let base = line.as_ptr().addr();
        let done = match console::parse(line) {
            Ok(command) => {
                let done = match Todo::of(&command, base) {
                    Some(todo) => CommandStep::Again(todo),
                    None => self.parts.services.execute(&mut cx, &command, from),
                };
                // The part that executes the command gets a turn.
                if let Some(part) = part_of(&command) {
                    self.schedule.wake(part);
                }
                Some(done)
            }
            Err(error) => {
                console::reject(&mut cx, origin, &error);
                None
            }
        };
        match (done, origin) {
            (Some(done), _) => self.settle(now, board, origin, done),
            (None, CommandSource::Uart) => self.parts.console.rejected(),
            (None, CommandSource::Remote) => {}
        }
    }

    /// Acts on the result of a command's step: waits, goes on, or reports the end.
    fn settle(
        &mut self,
        now: Instant,
        board: &mut dyn Board,
        origin: CommandSource,
        done: CommandStep,
    ) {
        let held = match done {
            CommandStep::Waits(part, todo) => Some(PendingCommand { part, todo }),
            CommandStep::Again(todo) => Some(PendingCommand { part: own(origin), todo }),
            CommandStep::Returned(_) => None,
        };
        *self.running.of(origin) = held;
        self.schedule.wake(held.map_or(own(origin), |held| held.part));
        let CommandStep::Returned(result) = done else { return };
        let mut cx = Cx { now, board, shared: &mut self.shared };
        match origin {
            CommandSource::Uart => self.parts.console.finished(&mut cx, result),
            CommandSource::Remote => console::report(&mut cx, result),
        }
    }

    /// Continues, after a part's turn, a command that waited for it.
    pub(super) fn after(&mut self, now: Instant, board: &mut dyn Board, part: NodePart) {
        for origin in [CommandSource::Uart, CommandSource::Remote] {
            let Some(held) = *self.running.of(origin) else { continue };
            if held.part != part {
                continue;
            }
            let result = match self.parts.services.result(part) {
                Some(result) => result,
                // The part waits for nothing and has no result: it must not hold the console for
                // ever.
                None if self.schedule.is_idle(part) => Err(EspError::Fail),
                None => continue,
            };
            let mut cx = Cx { now, board: &mut *board, shared: &mut self.shared };
            let line: &[u8] = match origin {
                CommandSource::Uart => self.parts.console.line(),
                CommandSource::Remote => self.parts.inbox.line(),
            };
            let done = match result {
                Ok(()) => self.parts.services.go_on(&mut cx, held.todo, line),
                Err(_) => CommandStep::Returned(result),
            };
            self.settle(now, board, origin, done);
        }
    }
}
