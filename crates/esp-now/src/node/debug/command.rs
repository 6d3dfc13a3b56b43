//! Sends commands to other devices, and scans for devices (`command_func`, `scan_func` and
//! `beacon_func` of `cmd_espnow.c`, section 7.2 of the protocol reference).
//!
//! | destinations | frames |
//! |---|---|
//! | `ff:ff:ff:ff:ff:ff` alone | one broadcast, 31 copies |
//! | 1 to 7 | a unicast frame each, one attempt; the first failure ends it |
//! | 8 and more | they join a group of random id, the command goes to the group, they leave |
//!
//! Unlike in the component, a command that fits no frame is refused before a group is formed, and
//! the group is left even if the command could not be sent. Text that is no address is left out of
//! the list.

use super::beacon::BeaconAnswer;
use crate::component::group::{self, MEMBERS_MAX};
use crate::component::{DataType, FrameConfig, GroupPayload, debug};
use crate::console::EspError;
use crate::console::command::{BadMac, Macs, RemoteArgs, ScanArgs};
use crate::node::air::Country;
use crate::node::print::LogLevel;
use crate::node::task::{Cx, SendRequest, Task, TaskStep, TransmitOutcome};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use heapless::Vec;

/// Tag of the commander's log lines.
const TAG: &str = "espnow_cmd";
/// Number of copies of a broadcast (`ESPNOW_RETRANSMIT_MAX_COUNT`).
const COPIES: u8 = 31;
/// Number of destinations from which on a group is formed.
const GROUP_FROM: usize = 8;
/// Number of sends on each channel of a scan of all channels, and ticks after each.
const SCAN_SENDS: u8 = 3;
const SCAN_TICKS: u32 = 100;
/// Command that a scan asks the other devices to run.
const BEACON: &[u8] = b"beacon";

/// Sender of commands, one job at a time, and of answers to `beacon`. `ADDRS`: destinations of a
/// job (a console line holds 27). `LINE`: bytes of a command.
#[derive(Clone, Debug)]
pub struct Commander<const ADDRS: usize = 32, const LINE: usize = 512> {
    job: Option<CommanderJob>,
    addrs: Vec<Mac, ADDRS>,
    line: Vec<u8, LINE>,
    config: FrameConfig,
    result: Option<Result<(), EspError>>,
    answer: Option<BeaconAnswer>,
    flight: InFlight,
}

/// Purpose of the transmission under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InFlight {
    /// No transmission is under way.
    Nothing,
    /// The job.
    Job,
    /// The answer, and whether more of it follows.
    Answer { more: bool },
    /// An answer that has been replaced.
    Replaced,
}

/// Job of the commander.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommanderJob {
    /// Send the command to one destination after the other, or to everybody.
    Each { next: usize },
    /// Send chunks of the list that join or leave the group.
    Members { id: Mac, join: bool, chunk: usize, magic: u16, failed: Option<EspError> },
    /// Send the command to the group.
    ToGroup { id: Mac },
    /// Scan for devices.
    Scan { to: Mac, magic: u16, sweep: Option<Sweep> },
}

/// State of a scan of all channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sweep {
    /// Channel before the scan.
    home: u8,
    country: Country,
    channel: u8,
    sends: u8,
    /// End of the wait for answers.
    until: Instant,
}

impl<const ADDRS: usize, const LINE: usize> Default for Commander<ADDRS, LINE> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const ADDRS: usize, const LINE: usize> Commander<ADDRS, LINE> {
    /// Creates a commander without a job.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            job: None,
            addrs: Vec::new(),
            line: Vec::new(),
            config: FrameConfig::UNICAST,
            result: None,
            answer: None,
            flight: InFlight::Nothing,
        }
    }

    /// Begins the command `command`; [`take_result`](Self::take_result) returns its result.
    ///
    /// # Errors
    ///
    /// [`EspError::InvalidState`] during another job; [`EspError::InvalidArg`] if there is no address,
    /// too many, or the command does not fit into a frame.
    pub fn start(&mut self, cx: &mut Cx<'_>, remote: &RemoteArgs<'_>) -> Result<(), EspError> {
        if self.busy() {
            return Err(EspError::InvalidState);
        }
        let room = cx.shared.settings.compat.data_max();
        self.addressees(remote.to)?;
        self.line.clear();
        // A C string ends at a NUL.
        let line = debug::text(remote.line);
        let fits = line.len() < room && self.line.extend_from_slice(line).is_ok();
        if !fits {
            let text = "[command_func, 115] <ESP_ERR_INVALID_ARG> it does not fit into a frame";
            cx.log(LogLevel::Warn, TAG, format_args!("{text}"));
            return Err(EspError::InvalidArg);
        }
        let everybody = self.addrs.as_slice() == [Mac::BROADCAST];
        let group = self.addrs.len() >= GROUP_FROM;
        self.config = FrameConfig {
            filter_adjacent: !remote.all_channels,
            channel: if remote.all_channels { FrameConfig::ALL_CHANNELS } else { 0 },
            security: cx.shared.settings.encrypt.debug,
            ..FrameConfig::UNICAST
        };
        if everybody || group {
            self.config = FrameConfig {
                broadcast: true,
                group,
                copies: COPIES,
                ttl: 1,
                rssi: -25,
                ..self.config
            };
        }
        self.result = None;
        self.job = Some(if group { form(cx, None) } else { CommanderJob::Each { next: 0 } });
        Ok(())
    }

    fn addressees(&mut self, list: Macs<'_>) -> Result<(), EspError> {
        self.addrs.clear();
        for mac in list.iter() {
            self.addrs.push(mac).map_err(|_| EspError::InvalidArg)?;
        }
        if self.addrs.is_empty() { Err(EspError::InvalidArg) } else { Ok(()) }
    }

    /// Begins the command `scan`; [`take_result`](Self::take_result) returns its result at the end.
    /// The answers come as lines of the remote log.
    ///
    /// # Errors
    ///
    /// [`EspError::InvalidState`] during another job; [`EspError::InvalidArg`] if the address cannot be
    /// parsed.
    pub fn scan(&mut self, cx: &mut Cx<'_>, scan: &ScanArgs) -> Result<(), EspError> {
        if self.busy() {
            return Err(EspError::InvalidState);
        }
        let to = scan.to.unwrap_or(Ok(Mac::BROADCAST));
        let to = to.map_err(|BadMac| EspError::InvalidArg)?;
        self.config = FrameConfig {
            broadcast: true,
            copies: COPIES,
            filter_adjacent: true,
            filter_weak: scan.rssi.is_some(),
            rssi: scan.rssi.unwrap_or(0),
            security: cx.shared.settings.encrypt.debug,
            ..FrameConfig::UNICAST
        };
        let (home, country) = (cx.shared.air.channel, cx.shared.air.country);
        let sweep = scan.all_channels.then_some(Sweep {
            home,
            country,
            channel: country.first,
            sends: 0,
            until: cx.now,
        });
        self.result = None;
        // All frames have one magic, so that a target answers once.
        self.job = Some(CommanderJob::Scan { to, magic: cx.magic(), sweep });
        Ok(())
    }

    /// Executes `beacon`: sends this device's identity to the device that asked. An answer that is
    /// still being sent is replaced.
    pub fn beacon(&mut self, cx: &mut Cx<'_>, to: Mac) {
        self.answer = Some(BeaconAnswer::new(cx, to));
        if matches!(self.flight, InFlight::Answer { .. }) {
            self.flight = InFlight::Replaced;
        }
    }

    /// Returns whether a command or a scan is under way.
    #[must_use]
    pub const fn busy(&self) -> bool {
        self.job.is_some()
    }

    /// Returns whether an answer to `beacon` is under way.
    #[must_use]
    pub const fn answering(&self) -> bool {
        self.answer.is_some()
    }

    /// Returns the result of the last command or scan, once.
    pub fn take_result(&mut self) -> Option<Result<(), EspError>> {
        self.result.take()
    }

    fn end(&mut self, result: Result<(), EspError>) {
        self.job = None;
        self.result = Some(result);
    }

    /// Composes the next transmission of the job.
    fn compose_job(&self, cx: &Cx<'_>, payload: &mut [u8]) -> Option<SendRequest> {
        let mut out = SendRequest {
            data_type: DataType::DebugCommand,
            dest: Mac::BROADCAST,
            config: self.config,
            magic: 0,
            len: 0,
            wait: Duration::MAX,
        };
        let mut text = self.line.as_slice();
        match self.job? {
            CommanderJob::Each { next } => out.dest = *self.addrs.get(next)?,
            CommanderJob::ToGroup { id } => out.dest = id,
            CommanderJob::Members { id, join, chunk, magic, .. } => {
                let members = self.addrs.chunks(MEMBERS_MAX).nth(chunk)?;
                out.data_type = DataType::Group;
                // GROUP frames are never encrypted; yet a node that encrypts sets the bit here as
                // in the command.
                out.magic = group::magic(magic, chunk as u16);
                out.len = GroupPayload::emit(join, id, members.iter().copied(), payload)?;
                return Some(out);
            }
            CommanderJob::Scan { to, magic, sweep } => {
                out.dest = to;
                out.magic = magic;
                out.config.channel = sweep.map_or(0, |sweep| sweep.channel);
                text = BEACON;
            }
        }
        let room = cx.shared.settings.compat.data_max().min(payload.len());
        out.len = debug::emit(text, payload.get_mut(..room)?)?;
        Some(out)
    }

    /// Composes the next part of the answer to `beacon`.
    fn compose_answer(&mut self, cx: &Cx<'_>, payload: &mut [u8]) -> Option<SendRequest> {
        let answer = self.answer.as_mut()?;
        let room = cx.shared.settings.compat.data_max().min(payload.len());
        let (len, more) = answer.next(cx, payload.get_mut(..room)?);
        self.flight = InFlight::Answer { more };
        let security = cx.shared.settings.encrypt.debug;
        (len > 0).then_some(SendRequest {
            data_type: DataType::DebugLog,
            dest: answer.to,
            config: FrameConfig { security, ..FrameConfig::default() },
            magic: 0,
            len,
            wait: Duration::MAX,
        })
    }

    /// Returns the component's function and line that check the outcome of a transmission; `None`
    /// for a GROUP frame.
    fn place(&self, job: CommanderJob) -> Option<(&'static str, u32)> {
        Some(match job {
            CommanderJob::Members { .. } => return None,
            CommanderJob::Each { .. } if self.config.broadcast => ("command_func", 109),
            CommanderJob::Each { .. } => ("command_func", 115),
            CommanderJob::ToGroup { .. } => ("command_func", 130),
            CommanderJob::Scan { sweep: Some(_), .. } => ("scan_func", 213),
            CommanderJob::Scan { sweep: None, .. } => ("scan_func", 224),
        })
    }

    /// Continues the job after a transmission.
    fn advance(&mut self, cx: &mut Cx<'_>, job: CommanderJob, outcome: TransmitOutcome) {
        let result = EspError::of(outcome);
        if let (Err(error), Some((function, line))) = (result, self.place(job)) {
            let text = format_args!("[{function}, {line}] <{error}> espnow_send");
            cx.log(LogLevel::Warn, TAG, text);
            if !matches!(job, CommanderJob::ToGroup { .. }) {
                return self.end(result);
            }
        }
        match job {
            CommanderJob::Each { next } if next + 1 < self.addrs.len() => {
                self.job = Some(CommanderJob::Each { next: next + 1 });
            }
            CommanderJob::Each { .. } => self.end(Ok(())),
            CommanderJob::Members { id, join, chunk, magic, failed } => {
                // The outcome of a GROUP frame is ignored.
                let chunk = chunk + 1;
                self.job = Some(if chunk * MEMBERS_MAX < self.addrs.len() {
                    CommanderJob::Members { id, join, chunk, magic, failed }
                } else if join {
                    CommanderJob::ToGroup { id }
                } else {
                    return self.end(failed.map_or(Ok(()), Err));
                });
            }
            CommanderJob::ToGroup { id } => self.job = Some(form(cx, Some((id, result.err())))),
            CommanderJob::Scan { sweep: None, .. } => self.end(Ok(())),
            CommanderJob::Scan { to, magic, sweep: Some(mut sweep) } => {
                sweep.until = cx.shared.settings.tick.delay(cx.now, SCAN_TICKS);
                sweep.sends += 1;
                if sweep.sends == SCAN_SENDS {
                    sweep.sends = 0;
                    sweep.channel = sweep.channel.saturating_add(1);
                }
                self.job = Some(CommanderJob::Scan { to, magic, sweep: Some(sweep) });
            }
        }
    }
}

/// Begins a new group, or ends this one.
fn form(cx: &mut Cx<'_>, leave: Option<(Mac, Option<EspError>)>) -> CommanderJob {
    let magic = cx.magic();
    match leave {
        Some((id, failed)) => CommanderJob::Members { id, join: false, chunk: 0, magic, failed },
        None => {
            let mut id = [0; 6];
            cx.board.random(&mut id);
            CommanderJob::Members { id: Mac(id), join: true, chunk: 0, magic, failed: None }
        }
    }
}

impl<const ADDRS: usize, const LINE: usize> Task for Commander<ADDRS, LINE> {
    fn run(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if let Some(CommanderJob::Scan { sweep: Some(sweep), .. }) = self.job
            && cx.now >= sweep.until
            && !sweep.country.channels().contains(&sweep.channel)
        {
            // The component does so at the end, whether or not it is allowed.
            if !cx.shared.air.locked {
                cx.shared.air.channel = sweep.home;
            }
            self.end(Ok(()));
        }
        match self.job {
            _ if self.answer.is_some() => TaskStep::Send,
            None => TaskStep::Idle,
            Some(CommanderJob::Scan { sweep: Some(sweep), .. }) if cx.now < sweep.until => {
                TaskStep::Until(sweep.until)
            }
            Some(_) => TaskStep::Send,
        }
    }

    fn compose(&mut self, cx: &mut Cx<'_>, payload: &mut [u8]) -> Option<SendRequest> {
        let out = if self.answer.is_some() {
            self.flight = InFlight::Answer { more: false };
            self.compose_answer(cx, payload)
        } else {
            self.flight = InFlight::Job;
            self.compose_job(cx, payload)
        };
        if out.is_none() {
            // The buffer is too short: the job or answer is given up.
            match core::mem::replace(&mut self.flight, InFlight::Nothing) {
                InFlight::Job if self.busy() => self.end(Err(EspError::InvalidSize)),
                _ => self.answer = None,
            }
        }
        out
    }

    fn sent(&mut self, cx: &mut Cx<'_>, outcome: TransmitOutcome) {
        match (core::mem::replace(&mut self.flight, InFlight::Nothing), self.job) {
            (InFlight::Job, Some(job)) => self.advance(cx, job, outcome),
            // The outcome is ignored.
            (InFlight::Answer { more: false }, _) => self.answer = None,
            _ => {}
        }
    }
}
