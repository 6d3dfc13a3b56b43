//! Commands of the console, typed here or sent by another device, and the part that does each.

use super::Node;
use super::parts::Services;
use crate::node::esp_now::board::Board;
use crate::node::esp_now::console::{self, Command, Error, Origin, Ready, command};
use crate::node::esp_now::print::Level;
use crate::node::esp_now::schedule::Part;
use crate::node::esp_now::task::{Cx, Event, Step};
use crate::node::esp_now::{control, iperf, ota, prov};
use crate::time::Instant;
use crate::wire::component::FrameConfig;
use crate::wire::mac::Mac;

/// The component's log tag of these commands.
const TAG: &str = "espnow_cmd";

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    /// It is over, or goes on in a task of its own.
    Returned(Result<(), Error>),
    /// Whoever gave it waits until this part says so.
    Waits(Part),
}

/// The commands that have not returned yet: one of the terminal, one of another device.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Running {
    terminal: Option<Part>,
    remote: Option<Part>,
}

impl<const DEVICES: usize, const SESSIONS: usize, const ARENA: usize, const FRAME: usize>
    Node<DEVICES, SESSIONS, ARENA, FRAME>
{
    /// The console's turn: the next line, if the last command has returned.
    pub(super) fn console_turn(&mut self, now: Instant, board: &mut dyn Board) -> Step {
        if self.running.terminal.is_some() {
            return Step::Idle;
        }
        let mut cx = Cx { now, board: &mut *board, shared: &mut self.shared };
        match self.parts.console.run(&mut cx) {
            Ready::Idle => Step::Idle,
            Ready::Busy => Step::Until(now),
            Ready::Line => {
                self.command(now, board, Origin::Uart);
                if self.running.terminal.is_some() { Step::Idle } else { Step::Until(now) }
            }
        }
    }

    /// Runs the command that waits at the terminal or in the inbox.
    pub(super) fn command(&mut self, now: Instant, board: &mut dyn Board, origin: Origin) {
        let mut cx = Cx { now, board, shared: &mut self.shared };
        let from = self.parts.inbox.from();
        let line = match origin {
            Origin::Uart => self.parts.console.line(),
            Origin::Remote => match self.parts.inbox.take() {
                Some(line) => line,
                None => return,
            },
        };
        let done = match console::parse(line) {
            Ok(command) => {
                let done = self.parts.services.execute(&mut cx, &command, from);
                if let Done::Waits(part) = done {
                    self.schedule.wake(part);
                }
                // Whatever was begun, whoever does it gets a turn.
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
        match (origin, done) {
            (Origin::Uart, None) => self.parts.console.rejected(),
            (Origin::Remote, None) => {}
            (Origin::Uart, Some(Done::Returned(result))) => {
                self.parts.console.finished(&mut cx, result);
            }
            (Origin::Remote, Some(Done::Returned(result))) => console::report(&mut cx, result),
            (Origin::Uart, Some(Done::Waits(part))) => self.running.terminal = Some(part),
            (Origin::Remote, Some(Done::Waits(part))) => self.running.remote = Some(part),
        }
    }

    /// After a part's turn: a command that waited for it may have returned.
    pub(super) fn after(&mut self, now: Instant, board: &mut dyn Board, part: Part) {
        let Running { terminal, remote } = self.running;
        if terminal != Some(part) && remote != Some(part) {
            return;
        }
        let Some(result) = self.parts.services.result(part) else { return };
        let mut cx = Cx { now, board, shared: &mut self.shared };
        if terminal == Some(part) {
            self.running.terminal = None;
            self.parts.console.finished(&mut cx, result);
            self.schedule.wake(Part::Console);
        }
        if remote == Some(part) {
            self.running.remote = None;
            console::report(&mut cx, result);
        }
    }
}

/// The part that a command reaches, if it is not one that never waits for a turn.
fn part_of(command: &Command<'_>) -> Option<Part> {
    Some(match command {
        Command::Iperf(_) => Part::Iperf,
        Command::Ota(_) => Part::OtaInitiator,
        Command::Security(_) => Part::SecurityInitiator,
        Command::SecTest(_) => Part::SecurityTest,
        Command::Provisioning(_) => Part::Prov,
        Command::Control(_) => Part::ControlInitiator,
        Command::Remote(_) | Command::Scan(_) | Command::Beacon => Part::Commander,
        _ => return None,
    })
}

impl<const DEVICES: usize, const SESSIONS: usize> Services<DEVICES, SESSIONS> {
    fn execute(&mut self, cx: &mut Cx<'_>, command: &Command<'_>, from: Mac) -> Done {
        if let Some(result) = self.local.execute(cx, command) {
            return if self.local.busy() {
                Done::Waits(Part::Local)
            } else {
                Done::Returned(result)
            };
        }
        let waits = |part, begun: Result<(), Error>| match begun {
            Ok(()) => Done::Waits(part),
            Err(error) => Done::Returned(Err(error)),
        };
        match command {
            Command::Rollback => {
                Done::Returned(if ota::rollback(cx) { Ok(()) } else { Err(Error::Fail) })
            }
            Command::Iperf(it) => Done::Returned(self.iperf(cx, it)),
            Command::Remote(it) => waits(Part::Commander, self.commander.start(cx, it)),
            Command::Scan(it) => waits(Part::Commander, self.commander.scan(cx, it)),
            Command::Beacon => {
                self.commander.beacon(cx, from);
                Done::Returned(Ok(()))
            }
            Command::Provisioning(it) => Done::Returned(self.provisioning(cx, it)),
            Command::Control(it) => self.control(cx, it),
            Command::Ota(it) => self.ota(cx, it),
            Command::Security(it) => self.security(cx, it),
            Command::SecTest(it) => {
                let most = cx.shared.settings.compat.data_max();
                let len = it.len.map_or(most, |len| len as usize);
                let begun = self.security_test.start(cx, it.count, len);
                waits(Part::SecurityTest, begun.then_some(()).ok_or(Error::InvalidArg))
            }
            _ => Done::Returned(Err(Error::NotSupported)),
        }
    }

    /// How the command ended that waited for this part; `None` while it runs.
    fn result(&mut self, part: Part) -> Option<Result<(), Error>> {
        match part {
            Part::Commander => self.commander.take_result(),
            Part::ControlInitiator => {
                let sent = self.control_initiator.take_result()?;
                Some(if sent { Ok(()) } else { Err(Error::Fail) })
            }
            Part::Local => (!self.local.busy()).then_some(Ok(())),
            Part::OtaInitiator | Part::SecurityInitiator => {
                (!self.job.holds_console()).then_some(Ok(()))
            }
            Part::SecurityTest => self.security_test.is_idle().then_some(Ok(())),
            _ => Some(Ok(())),
        }
    }

    fn iperf(&mut self, cx: &mut Cx<'_>, it: &command::Iperf) -> Result<(), Error> {
        if it.abort {
            self.iperf.abort();
            return Ok(());
        }
        let options = iperf::Options {
            initiator: it.initiator,
            responder: it.responder,
            ping: it.ping,
            count: it.count,
            // The device keeps 16 bits of each.
            interval: it.interval as u16,
            time: it.time as u16,
            len: it.len.map(|len| u16::try_from(len).unwrap_or(u16::MAX)),
            broadcast: it.broadcast,
            group: it.group,
            ack: it.ack,
            gpio: it.gpio,
        };
        self.iperf.start(cx, &options).map_err(|error| match error {
            iperf::StartError::Running => Error::NotSupported,
            _ => Error::InvalidArg,
        })
    }

    fn provisioning(
        &mut self,
        cx: &mut Cx<'_>,
        it: &command::Provisioning<'_>,
    ) -> Result<(), Error> {
        if it.erase {
            self.prov.erase(cx);
            return Ok(());
        }
        if let Some(ms) = it.initiator_ms {
            let held = self.prov.hold(cx, ms, it.ssid, it.password.unwrap_or(b""));
            // The component says what is missing and calls it a success.
            held.or_else(|error| match error {
                prov::HoldError::Missing => Ok(()),
                prov::HoldError::TooLong => Err(Error::InvalidArg),
            })?;
        }
        if it.responder {
            self.prov.seek(cx);
        }
        Ok(())
    }

    fn control(&mut self, cx: &mut Cx<'_>, it: &command::Control) -> Done {
        if it.list {
            let mut row = 0;
            while self.control_responder.print_row(cx, row) {
                row += 1;
            }
        }
        let begun = if let Some(initiator) = it.command {
            let (responder, value) =
                (it.responder_attribute.unwrap_or(0), it.responder_value.unwrap_or(0));
            let text = format_args!(
                "command, initiator_attribute: {initiator}, responder_attribute: {responder}, \
                 responder_value: {value}"
            );
            cx.log(Level::Info, TAG, text);
            let config = FrameConfig {
                ack: it.ack,
                broadcast: it.broadcast.unwrap_or(true),
                filter_weak: it.filter_weak,
                filter_adjacent: it.filter_adjacent,
                ttl: it.ttl.unwrap_or(control::Initiator::CONFIG.ttl),
                rssi: it.rssi.unwrap_or(control::Initiator::CONFIG.rssi),
                security: cx.shared.settings.encrypt.control,
                ..control::Initiator::CONFIG
            };
            self.control_initiator.send(initiator, responder, value as u32, config)
        } else if let Some(attribute) = it.bind {
            cx.log(Level::Info, TAG, format_args!("The binding device, attribute: {attribute}"));
            self.control_initiator.bind(attribute, true)
        } else if let Some(attribute) = it.unbind {
            cx.log(Level::Info, TAG, format_args!("The unbinding device, attribute: {attribute}"));
            self.control_initiator.bind(attribute, false)
        } else {
            return Done::Returned(Ok(()));
        };
        if begun {
            Done::Waits(Part::ControlInitiator)
        } else {
            Done::Returned(Err(Error::InvalidState))
        }
    }

    fn ota(&mut self, cx: &mut Cx<'_>, it: &command::Ota<'_>) -> Done {
        let Some(initiator) = self.job.ota() else { return job_runs(cx) };
        let mut begun = Ok(());
        if let Some(url) = it.download {
            begun = initiator.download(cx, text(url));
        }
        if let Some(ms) = it.find_ms {
            begun = begun.and_then(|()| initiator.find(cx, ms));
        }
        if let Some(list) = it.send {
            begun = begun.and_then(|()| initiator.send_list(cx, text(list.0)));
        }
        match begun {
            Err(_) => job_runs(cx),
            Ok(()) if initiator.holds_console() => Done::Waits(Part::OtaInitiator),
            Ok(()) => Done::Returned(Ok(())),
        }
    }

    fn security(&mut self, cx: &mut Cx<'_>, it: &command::Security<'_>) -> Done {
        if it.erase {
            cx.log(Level::Info, TAG, format_args!("Erase key info and restart"));
            // Only the key for sending: section 3.6 of the protocol reference.
            cx.shared.keys.erase_encrypt(cx.board);
            cx.event(Event::Restart);
            return Done::Returned(Ok(()));
        }
        if it.find_ms.is_none() && it.send.is_none() {
            return Done::Returned(Ok(()));
        }
        let Some(initiator) = self.job.security() else { return job_runs(cx) };
        if !initiator.is_idle() {
            return job_runs(cx);
        }
        if let Some(ms) = it.find_ms
            && initiator.find(cx, ms)
        {
            return Done::Waits(Part::SecurityInitiator);
        }
        if let Some(list) = it.send {
            let begun = initiator.start(cx, list.0, list.iter(), &self.pop);
            return Done::Returned(begun.then_some(()).ok_or(Error::Fail));
        }
        Done::Returned(Ok(()))
    }
}

/// A job on many devices runs already.
fn job_runs(cx: &mut Cx<'_>) -> Done {
    let text = "an ota or security job is running: wait for its last line";
    cx.log(Level::Error, TAG, format_args!("{text}"));
    Done::Returned(Err(Error::InvalidState))
}

/// An argument as text; what is no UTF-8 is no address and no URL.
fn text(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).unwrap_or("")
}
