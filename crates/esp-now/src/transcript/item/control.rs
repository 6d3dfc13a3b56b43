//! Lines of `control` (reference, section 7.6).

use super::super::line::ConsoleLine;
use super::super::scan::LineCursor;
use espbench_ieee80211::mac::Mac;

/// A line about control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlLine {
    /// `command, initiator_attribute: %d, responder_attribute: %d, responder_value: %d`
    Command {
        /// Attribute of the sender.
        initiator: i64,
        /// Attribute of the receivers.
        responder: i64,
        /// Value to set.
        value: i64,
    },
    /// `The binding device, attribute: %d`
    Bind(i64),
    /// `The unbinding device, attribute: %d`
    Unbind(i64),
    /// `mac: <MAC>, initiator_type: %d, initiator_value: %d`: a row of the list of bindings.
    Bound {
        /// Address of the sender.
        mac: Mac,
        /// Attribute of the sender.
        kind: i64,
        /// Value of the attribute.
        value: i64,
    },
}

pub(super) fn read(line: &ConsoleLine<'_>) -> Option<ControlLine> {
    let mut s = LineCursor::new(line.text);
    let found = if s.maybe("command, initiator_attribute: ") {
        let initiator = s.int()?;
        s.lit(", responder_attribute: ")?;
        let responder = s.int()?;
        s.lit(", responder_value: ")?;
        ControlLine::Command { initiator, responder, value: s.int()? }
    } else if s.maybe("The binding device, attribute: ") {
        ControlLine::Bind(s.int()?)
    } else if s.maybe("The unbinding device, attribute: ") {
        ControlLine::Unbind(s.int()?)
    } else {
        s.lit("mac: ")?;
        let mac = s.mac()?;
        s.lit(", initiator_type: ")?;
        let kind = s.int()?;
        s.lit(", initiator_value: ")?;
        ControlLine::Bound { mac, kind, value: s.int()? }
    };
    s.end()?;
    Some(found)
}
