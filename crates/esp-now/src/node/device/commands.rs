//! Execution of console commands, by the part that each concerns.

use super::parts::Services;
use crate::component::FrameConfig;
use crate::console::{Command, EspError, command};
use crate::node::ota::initiator::OtaBusy;
use crate::node::print::LogLevel;
use crate::node::schedule::NodePart;
use crate::node::task::Cx;
use crate::node::{control, iperf, ota, prov, security};
use espbench_ieee80211::mac::Mac;

/// Log tag of these commands in the component.
const TAG: &str = "espnow_cmd";

/// Result of a step of a command.
#[derive(Clone, Copy, Debug)]
pub(super) enum CommandStep {
    /// The command is over, or goes on in a task of its own.
    Returned(Result<(), EspError>),
    /// The console waits until this part has a result; then this remains to be done.
    Waits(NodePart, Todo),
    /// The command goes on at its console's next turn.
    Again(Todo),
}

/// Remaining steps of a command that does several things one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) enum Todo {
    Nothing,
    /// Options of `control` that are not done yet, and the next row of the list.
    Control(command::ControlArgs, usize),
    Ota {
        download: Option<WordSpan>,
        find_ms: Option<u32>,
        send: Option<WordSpan>,
    },
    Security {
        find_ms: Option<u32>,
        send: Option<WordSpan>,
    },
}

/// Position of a word in the command's line, which stays in place until the command has returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordSpan {
    start: usize,
    len: usize,
}

impl WordSpan {
    fn of(word: &[u8], base: usize) -> Self {
        Self { start: word.as_ptr().addr().wrapping_sub(base), len: word.len() }
    }

    /// Returns the word as text; invalid UTF-8, which is neither address nor URL, becomes empty.
    fn in_line(self, line: &[u8]) -> &str {
        let word = line.get(self.start..).and_then(|rest| rest.get(..self.len));
        core::str::from_utf8(word.unwrap_or_default()).unwrap_or_default()
    }
}

impl Todo {
    /// Returns the steps of a command whose line begins at address `base`; `None` if it has only
    /// one.
    pub(super) fn of(command: &Command<'_>, base: usize) -> Option<Self> {
        let list = |list: command::Macs<'_>| WordSpan::of(list.0, base);
        Some(match command {
            Command::Control(it) => Self::Control(*it, 0),
            Command::Ota(it) => Self::Ota {
                download: it.download.map(|url| WordSpan::of(url, base)),
                find_ms: it.find_ms,
                send: it.send.map(list),
            },
            Command::Security(it) if !it.erase => {
                Self::Security { find_ms: it.find_ms, send: it.send.map(list) }
            }
            _ => return None,
        })
    }
}

/// Returns the part that a command reaches, unless that part never waits for a turn.
pub(super) fn part_of(command: &Command<'_>) -> Option<NodePart> {
    Some(match command {
        Command::Iperf(_) => NodePart::Iperf,
        Command::Provisioning(_) => NodePart::Prov,
        Command::Remote(_) | Command::Scan(_) | Command::Beacon => NodePart::Commander,
        _ => return None,
    })
}

/// Waits for a part that has begun, or returns the error if it has not.
fn waits(part: NodePart, begun: Result<(), EspError>) -> CommandStep {
    match begun {
        Ok(()) => CommandStep::Waits(part, Todo::Nothing),
        Err(error) => CommandStep::Returned(Err(error)),
    }
}

impl<const DEVICES: usize, const SESSIONS: usize, const FRAME: usize>
    Services<DEVICES, SESSIONS, FRAME>
{
    /// Runs a command of one step. `from` is the sender of the last remote command.
    pub(super) fn execute(
        &mut self,
        cx: &mut Cx<'_>,
        command: &Command<'_>,
        from: Mac,
    ) -> CommandStep {
        if let Some(result) = self.local.execute(cx, command) {
            return match (command, result) {
                (Command::Help(None), Ok(())) => CommandStep::Waits(NodePart::Local, Todo::Nothing),
                _ => CommandStep::Returned(result),
            };
        }
        match command {
            Command::Rollback => {
                CommandStep::Returned(if ota::rollback(cx) { Ok(()) } else { Err(EspError::Fail) })
            }
            Command::Iperf(it) => CommandStep::Returned(self.iperf(cx, it)),
            Command::Remote(it) => waits(NodePart::Commander, self.commander.start(cx, it)),
            Command::Scan(it) => waits(NodePart::Commander, self.commander.scan(cx, it)),
            Command::Beacon => {
                self.commander.beacon(cx, from);
                CommandStep::Returned(Ok(()))
            }
            Command::Provisioning(it) => CommandStep::Returned(self.provisioning(cx, it)),
            Command::Security(it) if it.erase => {
                security::erase_and_restart(cx);
                CommandStep::Returned(Ok(()))
            }
            Command::SecTest(it) => waits(NodePart::SecurityTest, self.sec_test(cx, it)),
            _ => CommandStep::Returned(Err(EspError::NotSupported)),
        }
    }

    /// Runs the next step of a command of several.
    pub(super) fn go_on(&mut self, cx: &mut Cx<'_>, todo: Todo, line: &[u8]) -> CommandStep {
        match todo {
            Todo::Nothing => CommandStep::Returned(Ok(())),
            Todo::Control(it, row) => self.control(cx, it, row),
            Todo::Ota { download, find_ms, send } => {
                self.ota(cx, line, download, find_ms, send).unwrap_or_else(|OtaBusy| job_runs(cx))
            }
            Todo::Security { find_ms, send } => self.security(cx, line, find_ms, send),
        }
    }

    /// Returns the result of the step that waited for this part; `None` while it runs.
    pub(super) fn result(&mut self, part: NodePart) -> Option<Result<(), EspError>> {
        let over = match part {
            NodePart::Commander => return self.commander.take_result(),
            NodePart::ControlInitiator => {
                let sent = self.control_initiator.take_result()?;
                return Some(if sent { Ok(()) } else { Err(EspError::Fail) });
            }
            NodePart::Local => !self.local.busy(),
            NodePart::OtaInitiator | NodePart::SecurityInitiator => !self.job.holds_console(part),
            NodePart::SecurityTest => self.security_test.is_idle(),
            _ => true,
        };
        over.then_some(Ok(()))
    }

    fn iperf(&mut self, cx: &mut Cx<'_>, it: &command::IperfArgs) -> Result<(), EspError> {
        if it.abort {
            self.iperf.abort();
            return Ok(());
        }
        let options = iperf::IperfOptions {
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
            iperf::StartError::Running => EspError::NotSupported,
            _ => EspError::InvalidArg,
        })
    }

    fn sec_test(&mut self, cx: &mut Cx<'_>, it: &command::SecTestArgs) -> Result<(), EspError> {
        if !self.security_test.is_idle() {
            return Err(EspError::InvalidState);
        }
        // A node for a chip has no room for the longest payload of ESP-NOW v2.0.
        let most = cx.shared.settings.compat.data_max().min(FRAME.saturating_sub(4));
        let len = it.len.map_or(most, |len| len as usize);
        self.security_test.start(cx, it.count, len).then_some(()).ok_or(EspError::InvalidArg)
    }

    fn provisioning(
        &mut self,
        cx: &mut Cx<'_>,
        it: &command::ProvisioningArgs<'_>,
    ) -> Result<(), EspError> {
        if it.erase {
            self.prov.erase(cx);
            return Ok(());
        }
        if let Some(ms) = it.initiator_ms {
            let held = self.prov.hold(cx, ms, it.ssid, it.password.unwrap_or(b""));
            // The component prints that something is missing, and returns success.
            held.or_else(|error| match error {
                prov::HoldError::Missing => Ok(()),
                prov::HoldError::TooLong => Err(EspError::InvalidArg),
            })?;
        }
        if it.responder {
            self.prov.seek(cx);
        }
        Ok(())
    }

    /// Executes `-c`, `-b`, `-u` and `-l` of one line, in that order.
    fn control(
        &mut self,
        cx: &mut Cx<'_>,
        mut it: command::ControlArgs,
        row: usize,
    ) -> CommandStep {
        let begun = if let Some(attribute) = it.command.take() {
            let (Some(responder), Some(value)) = (it.responder_attribute, it.responder_value)
            else {
                let text = "Please enter the parameters: responder_attribute & responder_value";
                cx.log(LogLevel::Warn, TAG, format_args!("{text}"));
                return CommandStep::Returned(Err(EspError::InvalidArg));
            };
            self.control_send(cx, &it, attribute, responder, value)
        } else if let Some(attribute) = it.bind.take() {
            cx.log(LogLevel::Info, TAG, format_args!("The binding device, attribute: {attribute}"));
            self.control_initiator.bind(attribute, true)
        } else if let Some(attribute) = it.unbind.take() {
            cx.log(
                LogLevel::Info,
                TAG,
                format_args!("The unbinding device, attribute: {attribute}"),
            );
            self.control_initiator.bind(attribute, false)
        } else if it.list && self.control_responder.print_row(cx, row) {
            return CommandStep::Again(Todo::Control(it, row.saturating_add(1)));
        } else {
            return CommandStep::Returned(Ok(()));
        };
        if begun {
            CommandStep::Waits(NodePart::ControlInitiator, Todo::Control(it, row))
        } else {
            CommandStep::Returned(Err(EspError::InvalidState))
        }
    }

    fn control_send(
        &mut self,
        cx: &mut Cx<'_>,
        it: &command::ControlArgs,
        initiator: u32,
        responder: u32,
        value: i32,
    ) -> bool {
        let text = format_args!(
            "command, initiator_attribute: {initiator}, responder_attribute: {responder}, \
             responder_value: {value}"
        );
        cx.log(LogLevel::Info, TAG, text);
        let own = control::ControlInitiator::CONFIG;
        let config = FrameConfig {
            ack: it.ack,
            broadcast: it.broadcast.unwrap_or(own.broadcast),
            filter_weak: it.filter_weak,
            filter_adjacent: it.filter_adjacent,
            ttl: it.ttl.unwrap_or(own.ttl),
            rssi: it.rssi.unwrap_or(own.rssi),
            security: cx.shared.settings.encrypt.control,
            ..own
        };
        self.control_initiator.send(initiator, responder, value as u32, config)
    }

    /// Executes `-d`, `-f` and `-s` of one line, in that order.
    fn ota(
        &mut self,
        cx: &mut Cx<'_>,
        line: &[u8],
        download: Option<WordSpan>,
        find_ms: Option<u32>,
        send: Option<WordSpan>,
    ) -> Result<CommandStep, OtaBusy> {
        let initiator = self.job.ota(self.ota_send).ok_or(OtaBusy)?;
        let todo = if let Some(url) = download {
            initiator.download(cx, url.in_line(line))?;
            Todo::Ota { download: None, find_ms, send }
        } else if let Some(ms) = find_ms {
            initiator.find(cx, ms)?;
            Todo::Ota { download: None, find_ms: None, send }
        } else if let Some(list) = send {
            initiator.send_list(cx, list.in_line(line))?;
            Todo::Nothing
        } else {
            return Ok(CommandStep::Returned(Ok(())));
        };
        Ok(CommandStep::Waits(NodePart::OtaInitiator, todo))
    }

    /// Executes `-f` and `-s` of one line, in that order.
    fn security(
        &mut self,
        cx: &mut Cx<'_>,
        line: &[u8],
        find_ms: Option<u32>,
        send: Option<WordSpan>,
    ) -> CommandStep {
        if find_ms.is_none() && send.is_none() {
            return CommandStep::Returned(Ok(()));
        }
        let Some(initiator) = self.job.security().filter(|it| it.is_idle()) else {
            return job_runs(cx);
        };
        if let Some(ms) = find_ms {
            initiator.find(cx, ms);
            return CommandStep::Waits(
                NodePart::SecurityInitiator,
                Todo::Security { find_ms: None, send },
            );
        }
        let list = send.map(|list| list.in_line(line)).unwrap_or_default();
        let macs = command::Macs(list.as_bytes());
        if initiator.start(cx, macs.0, macs.iter(), &self.pop) {
            CommandStep::Waits(NodePart::SecurityInitiator, Todo::Nothing)
        } else {
            CommandStep::Returned(Err(EspError::Fail))
        }
    }
}

/// Fails because a job on many devices runs already.
fn job_runs(cx: &mut Cx<'_>) -> CommandStep {
    let text = "an ota or security job is running: wait for its last line";
    cx.log(LogLevel::Error, TAG, format_args!("{text}"));
    CommandStep::Returned(Err(EspError::InvalidState))
}
