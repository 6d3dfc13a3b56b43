//! Values that a plan, the command line and labels write alike.

use crate::units::{self, Dimension};
use alloc::format;
use alloc::string::{String, ToString};
use espbench_model::workload::{EspNowCast, LatencyBy};

/// Port of the UDP echo of the published sketch, and of `espbench respond`.
pub const ECHO_PORT: u16 = 10_000;

/// Copies that the header of the ESP-NOW component has room to say: five bits.
const COPIES: u8 = 31;

/// Reads `icmp`, `udp` or `udp:PORT`.
///
/// # Errors
/// A sentence that names them.
pub fn latency_by(text: &str) -> Result<LatencyBy, String> {
    let wrong = || format!("`{text}` is no way to probe: use icmp, udp or udp:PORT");
    match text.split_once(':') {
        None if text == "icmp" => Ok(LatencyBy::Icmp),
        None if text == "udp" => Ok(LatencyBy::Udp(ECHO_PORT)),
        Some(("udp", port)) => {
            let port: u16 = port.parse().map_err(|_| wrong())?;
            if port == 0 { Err(wrong()) } else { Ok(LatencyBy::Udp(port)) }
        }
        _ => Err(wrong()),
    }
}

/// Prints what [`latency_by`] reads.
pub(crate) fn print_latency(by: LatencyBy) -> String {
    match by {
        LatencyBy::Icmp => "icmp".to_string(),
        LatencyBy::Udp(port) => format!("udp:{port}"),
    }
}

/// Reads a distance: `3 m`.
///
/// # Errors
/// A sentence that says what would do.
pub(crate) fn metres(text: &str) -> Result<f32, String> {
    let metres = units::parse(text, Dimension::Length)? as f32;
    if (0.01..=100_000.0).contains(&metres) {
        Ok(metres)
    } else {
        Err(format!("`{text}` is out of range: use 0.01 m to 100 km"))
    }
}

/// Reads `unicast`, `broadcast`, `broadcast 3` or `broadcast 3 + ack`.
///
/// # Errors
/// A sentence that names these forms.
pub(crate) fn cast(text: &str) -> Result<EspNowCast, String> {
    const FORMS: &str = "use \"unicast\", \"broadcast\", \"broadcast 3\" or \"broadcast 3 + ack\"";
    if text == "unicast" {
        return Ok(EspNowCast::Unicast);
    }
    let wrong = || format!("`{text}` is no way to send: {FORMS}");
    let rest = text.strip_prefix("broadcast").ok_or_else(wrong)?;
    let (copies, ack) = match rest.split_once('+') {
        Some((copies, word)) if word.trim() == "ack" => (copies.trim(), true),
        Some(_) => return Err(wrong()),
        None => (rest.trim(), false),
    };
    let copies = match copies {
        "" => 0,
        digits if rest.starts_with(' ') => digits
            .parse()
            .ok()
            .filter(|n| (1..=COPIES).contains(n))
            .ok_or_else(|| format!("`{digits}` copies: {FORMS}; up to {COPIES} copies"))?,
        _ => return Err(wrong()),
    };
    Ok(EspNowCast::Broadcast { copies, ack })
}

/// Prints what [`cast`] reads.
pub(crate) fn print_cast(cast: EspNowCast) -> String {
    match cast {
        EspNowCast::Unicast => "unicast".into(),
        EspNowCast::Broadcast { copies, ack } => {
            let copies = if copies > 0 { format!(" {copies}") } else { String::new() };
            format!("broadcast{copies}{}", if ack { " + ack" } else { "" })
        }
    }
}
