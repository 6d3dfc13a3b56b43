//! The services of a node, and their setup.

use super::job::DeviceJob;
use crate::component::DataType;
use crate::component::prov::ProvIdentity;
use crate::console::{Console, Local};
use crate::node::debug::{Commander, Inbox, RemoteLog};
use crate::node::schedule::NodePart;
use crate::node::security::{CryptoBench, NodeKeys, Pop};
use crate::node::task::{Cx, Task};
use crate::node::time_sync::TimeSync;
use crate::node::{control, iperf, ota, prov, security};
use espbench_model::time::Duration;

/// Services that run from the start, as an application's `app_main` would set them up.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Proof of possession of the handshake, in both roles.
    pub pop: Pop,
    /// Whether the node accepts a key from an initiator.
    pub security: bool,
    /// Time for which the window for handshakes is open after a start, where the policy has one
    /// ([`Policy::windowed`](security::Policy::windowed)).
    pub window: Duration,
    /// Options for receiving images; `None` to receive none.
    pub ota: Option<ota::responder::OtaConfig>,
    /// Whether the node executes remote commands (`monitor_command.espnow`).
    pub commands: bool,
    /// Whether the node prints the remote log of others.
    pub monitor: bool,
    /// Window for binding control initiators: its length after the start, in milliseconds, and the
    /// least signal, in dBm; `None` to ignore control commands.
    pub control: Option<(u32, i8)>,
    /// Role in time synchronization.
    pub time: Option<TimeRole>,
    /// Options for sending images (`ota -s`).
    pub ota_send: ota::initiator::OtaSendConfig,
    /// Identity of the node when it asks for, or hands out, Wi-Fi credentials.
    pub identity: ProvIdentity,
    /// Whether the node hands [`DataType::Data`] to the application.
    pub data: bool,
}

impl Default for Setup {
    /// Returns a setup with all services on, with the values of the component's examples.
    fn default() -> Self {
        Self {
            pop: Pop::new(b"espnow_pop"),
            security: true,
            window: Duration::from_secs(30),
            ota: Some(ota::responder::OtaConfig::default()),
            commands: true,
            monitor: true,
            control: Some((30_000, -55)),
            time: None,
            ota_send: ota::initiator::OtaSendConfig::default(),
            identity: prov::Prov::default().identity,
            data: true,
        }
    }
}

/// Role in time synchronization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeRole {
    /// Broadcasts its own time at this period, in milliseconds; at 0 only on request.
    Leads(u32),
    /// Follows another clock if its own is off by more than this, in milliseconds;
    /// [`TimeSync::MAX_DRIFT_MS`] is the component's default.
    Follows(i32),
}

/// Parts of a node.
#[derive(Debug)]
pub struct Parts<const DEVICES: usize, const SESSIONS: usize, const FRAME: usize> {
    /// Console at the terminal.
    pub console: Console,
    /// Command that another device sent.
    pub inbox: Inbox,
    /// Services that commands and frames reach.
    pub services: Services<DEVICES, SESSIONS, FRAME>,
}

/// Services that a command or a frame reaches.
#[derive(Debug)]
pub struct Services<const DEVICES: usize, const SESSIONS: usize, const FRAME: usize> {
    /// Test of throughput and round-trip time, `espnow_iperf`.
    pub iperf: iperf::IperfTask,
    /// Sending of an image, or distribution of the key.
    pub job: DeviceJob<DEVICES, SESSIONS>,
    /// Receiver of images.
    pub ota_responder: ota::OtaResponder,
    /// Receiver of the key.
    pub security_responder: security::SecurityResponder,
    /// Benchmark of encryption, `sec_test`.
    pub security_test: CryptoBench<FRAME>,
    /// Provisioning with Wi-Fi credentials.
    pub prov: prov::Prov,
    /// Sender of control commands.
    pub control_initiator: control::ControlInitiator,
    /// Receiver of control commands.
    pub control_responder: control::ControlResponder,
    /// Time synchronization.
    pub time_sync: TimeSync,
    /// The remote log.
    pub log: RemoteLog,
    /// Remote commands.
    pub commander: Commander,
    /// Commands that need no service.
    pub local: Local,
    /// Proof of possession.
    pub pop: Pop,
    /// Options for sending images.
    pub ota_send: ota::initiator::OtaSendConfig,
}

impl<const DEVICES: usize, const SESSIONS: usize, const FRAME: usize>
    Parts<DEVICES, SESSIONS, FRAME>
{
    /// Creates the services after a start.
    pub(super) fn new(cx: &mut Cx<'_>, setup: &Setup) -> Self {
        if cx.shared.settings.encrypt.enabled {
            cx.shared.keys = NodeKeys::load(cx.board);
        }
        let air = &mut cx.shared.air;
        air.listen(DataType::DebugCommand, setup.commands);
        air.listen(DataType::DebugLog, setup.monitor);
        air.listen(DataType::Data, setup.data);
        let mut services = Services {
            iperf: iperf::IperfTask::default(),
            job: DeviceJob::new(setup.ota_send),
            ota_responder: ota::OtaResponder::new(setup.ota.unwrap_or_default()),
            security_responder: security::SecurityResponder::new(setup.pop.clone()),
            security_test: CryptoBench::new(),
            prov: prov::Prov::default(),
            control_initiator: control::ControlInitiator::default(),
            control_responder: control::ControlResponder::default(),
            time_sync: TimeSync::default(),
            log: RemoteLog::default(),
            commander: Commander::new(),
            local: Local::new(),
            pop: setup.pop.clone(),
            ota_send: setup.ota_send,
        };
        services.prov.identity = setup.identity;
        services.start(cx, setup);
        Self { console: Console::default(), inbox: Inbox::new(), services }
    }

    /// Returns the part as a task; `None` for parts that are not one.
    pub(super) fn task(&mut self, part: NodePart) -> Option<&mut dyn Task> {
        let it = &mut self.services;
        Some(match part {
            NodePart::Iperf => &mut it.iperf,
            NodePart::OtaInitiator | NodePart::SecurityInitiator => return it.job.task(part),
            NodePart::OtaResponder => &mut it.ota_responder,
            NodePart::SecurityResponder => &mut it.security_responder,
            NodePart::SecurityTest => &mut it.security_test,
            NodePart::Prov => &mut it.prov,
            NodePart::ControlInitiator => &mut it.control_initiator,
            NodePart::ControlResponder => &mut it.control_responder,
            NodePart::TimeSync => &mut it.time_sync,
            NodePart::Log => &mut it.log,
            NodePart::Commander => &mut it.commander,
            NodePart::Console | NodePart::Remote | NodePart::Local | NodePart::Application => {
                return None;
            }
        })
    }
}

impl<const DEVICES: usize, const SESSIONS: usize, const FRAME: usize>
    Services<DEVICES, SESSIONS, FRAME>
{
    fn start(&mut self, cx: &mut Cx<'_>, setup: &Setup) {
        if setup.security {
            self.security_responder.start(cx);
            self.security_responder.open_window(cx.now + setup.window);
        }
        if setup.ota.is_some() {
            self.ota_responder.start(cx);
        }
        if let Some((wait_ms, rssi)) = setup.control {
            self.control_responder.bind(cx, wait_ms, rssi);
            self.control_responder.listen(cx);
        }
        match setup.time {
            Some(TimeRole::Leads(period_ms)) => {
                self.time_sync.start_initiator(cx, period_ms);
            }
            Some(TimeRole::Follows(drift_ms)) => {
                self.time_sync.start_responder(cx, drift_ms);
            }
            None => {}
        }
    }
}
