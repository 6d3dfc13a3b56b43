//! Delivery of payloads from the main task to the services.

use super::Node;
use crate::component::DataType;
use crate::console::CommandSource;
use crate::node::board::Board;
use crate::node::schedule::NodePart;
use crate::node::task::{Cx, Received};
use espbench_model::time::Instant;

impl<
    const DEVICES: usize,
    const SESSIONS: usize,
    const ARENA: usize,
    const FRAME: usize,
    const EVENTS: usize,
> Node<DEVICES, SESSIONS, ARENA, FRAME, EVENTS>
{
    /// Hands a payload to its service. Payloads of [`DataType::Data`] go to the application.
    pub(super) fn deliver(&mut self, now: Instant, board: &mut dyn Board, frame: &Received<'_>) {
        let mut cx = Cx { now, board: &mut *board, shared: &mut self.shared };
        let it = &mut self.parts.services;
        // The data type of `espnow_iperf` has had three numbers. In releases without time
        // synchronization it is the number that time synchronization has now, so it is checked
        // first.
        if frame.data_type == cx.shared.settings.compat.iperf_type() {
            it.iperf.receive(&mut cx, frame);
            let inside = it.iperf.is_responder();
            self.given(NodePart::Iperf, inside);
            return;
        }
        let mut cx = Cx { now, board: &mut *board, shared: &mut self.shared };
        let it = &mut self.parts.services;
        match frame.data_type {
            DataType::Prov => {
                it.prov.receive(&mut cx, frame);
                self.given(NodePart::Prov, false);
            }
            DataType::ControlBind | DataType::ControlData => {
                it.control_responder.receive(&mut cx, frame);
                self.given(NodePart::ControlResponder, true);
            }
            DataType::Ack => {
                it.control_initiator.receive(&mut cx, frame);
                self.given(NodePart::ControlInitiator, false);
            }
            DataType::OtaStatus | DataType::SecurityStatus => {
                it.job.receive(&mut cx, frame);
                let part = it.job.part();
                self.given(part, false);
            }
            DataType::OtaData => {
                it.ota_responder.receive(&mut cx, frame);
                self.given(NodePart::OtaResponder, true);
            }
            DataType::Security if it.job.takes_security() => {
                it.job.receive(&mut cx, frame);
                self.given(NodePart::SecurityInitiator, false);
            }
            DataType::Security => {
                it.security_responder.receive(&mut cx, frame);
                self.given(NodePart::SecurityResponder, true);
            }
            DataType::TimeSync => {
                it.time_sync.receive(&mut cx, frame);
                self.given(NodePart::TimeSync, false);
            }
            DataType::DebugLog => it.log.receive(&mut cx, frame),
            DataType::DebugCommand => {
                self.parts.inbox.receive(&mut cx, frame);
                self.command(now, board, CommandSource::Remote);
            }
            DataType::Forward
            | DataType::Group
            | DataType::Data
            | DataType::SecurityData
            | DataType::Reserved => {}
        }
    }

    /// Wakes a part that got something. If the part works inside the main task, the main task waits
    /// for it.
    fn given(&mut self, part: NodePart, inside: bool) {
        self.schedule.wake(part);
        if inside {
            self.handler = Some(part);
        }
    }
}
