//! Values that do not fit each other.
//!
//! "Guide" is the ESP-IDF Programming Guide, "Wi-Fi Performance and Power Save", "Parameters";
//! "Kconfig" the help texts of `components/esp_wifi/Kconfig` and `components/lwip/Kconfig`.

use super::super::words::count;
use super::*;
use Severity::{Limits, Note, Wrong};

/// A buffer may be so many times the size that fits the other; the ranks' own rounding is less.
const ROOM: f64 = 1.25;

/// Below that share of what fits, part of the buffers is never used.
const UNUSED: f64 = 0.5;

pub(super) fn all(m: &Material<'_>, out: &mut Vec<Finding>) {
    out.extend(send_buffer(m));
    out.extend(window(m));
    out.extend(block_ack(m));
    out.extend(aggregates(m));
    out.extend(tcp_mailbox(m));
    out.extend(out_of_order(m));
    out.extend(tcpip_mailbox(m));
    out.extend(receive_buffers(m));
    out.extend(segment(m));
    out.extend(sockets(m));
}

/// Returns the bytes of a window for each stream that fit so many buffers: a KB for each (guide).
fn fitting(m: &Material<'_>, buffers: u32) -> u32 {
    buffers * 1024 / m.streams().max(1)
}

/// Returns the bytes of all streams over those of the buffers.
fn ratio(m: &Material<'_>, per_stream: u32, buffers: u32) -> f64 {
    f64::from(m.streams()) * f64::from(per_stream) / (1024.0 * f64::from(buffers.max(1)))
}

fn send_buffer(m: &Material<'_>) -> Option<Finding> {
    let (send, buffers) = (m.config.tcp_send_buffer, u32::from(m.config.tx));
    let ratio = ratio(m, send, buffers);
    let streams = count(m.streams(), "stream");
    let all = bytes(send.saturating_mul(m.streams()));
    let fits = m.changes(&[(ConfigOption::SendBuffer, fitting(m, buffers))]);
    let tx = m.settings.tx_key(&m.context);
    if ratio > ROOM {
        let more = m.streams() * send.div_ceil(1024);
        let mut set = fits;
        set.extend(m.change(tx, more));
        return Some(finding(
            "send-buffer",
            Limits,
            format!("TCP's send buffers ({streams}: {all}) are larger than {buffers} TX buffers"),
            format!(
                "The guide wants a send buffer of as many KB as there are TX buffers, less with \
                 several streams: here {}. What is beyond waits until the driver refuses it (ENOMEM), \
                 and lwIP tries again later. Set one of these.",
                bytes(fitting(m, buffers))
            ),
            set,
        ));
    }
    (ratio < UNUSED).then(|| {
        finding(
            "send-buffer",
            Limits,
            format!(
                "TCP's send buffers ({streams}: {all}) use {} of {buffers} TX buffers",
                m.segments(send).min(buffers)
            ),
            "The guide wants a send buffer of as many KB as there are TX buffers. TCP waits for \
             acknowledgements while buffers are free.",
            fits,
        )
    })
}

fn window(m: &Material<'_>) -> Option<Finding> {
    let (window, buffers) = (m.config.tcp_window, u32::from(m.config.dynamic_rx));
    if buffers == 0 {
        return None;
    }
    let (segments, streams) = (m.segments(window), count(m.streams(), "stream"));
    let fits = fitting(m, buffers);
    if segments > buffers {
        return Some(finding(
            "window",
            Wrong,
            format!(
                "{streams} may have {segments} segments on the way, but there are {buffers} dynamic \
                 RX buffers"
            ),
            format!(
                "The driver drops what finds no buffer after the radio has acknowledged it, so TCP \
                 has to send it again. The guide wants a window of as many KB as there are dynamic \
                 RX buffers, less with several streams: here {}. Set one of these.",
                bytes(fits)
            ),
            m.changes(&[(ConfigOption::Window, fits), (ConfigOption::DynamicRx, segments)]),
        ));
    }
    let ratio = ratio(m, window, buffers);
    (ratio < UNUSED).then(|| {
        finding(
            "window",
            Limits,
            format!(
                "TCP's receive window ({streams}: {}) uses {segments} of {buffers} dynamic RX buffers",
                bytes(window.saturating_mul(m.streams()))
            ),
            "The guide wants a window of as many KB as there are dynamic RX buffers. The mailbox \
             has to follow: see below.",
            m.changes(&[(ConfigOption::Window, fits), (ConfigOption::TcpMailbox, fits / m.mss() + 2)]),
        )
    })
}

fn block_ack(m: &Material<'_>) -> Option<Finding> {
    let (fixed, dynamic) = (u32::from(m.config.static_rx), u32::from(m.config.dynamic_rx));
    let window = u32::from(m.config.rx_ba_window);
    let fits = if dynamic == 0 { 2 * fixed } else { (2 * fixed).min(dynamic) };
    let rule = "The guide wants the smaller of twice the static RX buffers and the dynamic ones";
    if window == 0 {
        return Some(finding(
            "rx-ba-window",
            Limits,
            "No aggregates are received (AMPDU RX is off)".into(),
            "Each frame then has medium access, preamble and acknowledgement of its own.",
            m.changes(&[(ConfigOption::AmpduRx, 1)]),
        ));
    }
    if window > fits {
        return Some(finding(
            "rx-ba-window",
            Limits,
            format!(
                "An aggregate may have {window} frames, but {fixed} static and {dynamic} dynamic RX \
                 buffers fit {fits}"
            ),
            format!("{rule}. Frames that find no buffer are not acknowledged and come again."),
            m.changes(&[
                (ConfigOption::RxBaWindow, fits),
                (ConfigOption::StaticRx, window.div_ceil(2)),
            ]),
        ));
    }
    if window > fixed {
        return Some(finding(
            "rx-ba-window",
            Note,
            format!("An aggregate may have {window} frames, more than {fixed} static RX buffers"),
            format!(
                "{rule}, which this keeps. Kconfig recommends as many static RX buffers as that; \
                 with fewer, the driver's task must come in time."
            ),
            m.changes(&[(ConfigOption::StaticRx, window)]),
        ));
    }
    (f64::from(window) < UNUSED * f64::from(fits)).then(|| {
        finding(
            "rx-ba-window",
            Limits,
            format!("An aggregate may have {window} frames, though the RX buffers fit {fits}"),
            format!("{rule}. Longer aggregates spare air time; they cost no buffer more."),
            m.changes(&[(ConfigOption::RxBaWindow, fits)]),
        )
    })
}

fn aggregates(m: &Material<'_>) -> Option<Finding> {
    let (rx, tx) = (u32::from(m.config.rx_ba_window), u32::from(m.config.tx_ba_window));
    if tx == 0 {
        return Some(finding(
            "tx-ba-window",
            Limits,
            "No aggregates are sent (AMPDU TX is off)".into(),
            "Each frame then has medium access, preamble and acknowledgement of its own.",
            m.changes(&[(ConfigOption::AmpduTx, 1)]),
        ));
    }
    let (received, sent) = (m.segments(m.config.tcp_window), m.segments(m.config.tcp_send_buffer));
    let mut parts: Vec<String> = Vec::new();
    if received < rx {
        parts.push(format!("{received} of {rx} when receiving"));
    }
    if sent < tx {
        parts.push(format!("{sent} of {tx} when sending"));
    }
    (!parts.is_empty()).then(|| {
        finding(
            "aggregate",
            Limits,
            format!("TCP fills aggregates in part: {}", parts.join(", ")),
            "A window of fewer segments than the block-ack window keeps aggregates short: after \
             them the sender waits for TCP's acknowledgement.",
            m.changes(&[
                (
                    ConfigOption::Window,
                    if received < rx { rx * m.mss() } else { m.config.tcp_window },
                ),
                (
                    ConfigOption::SendBuffer,
                    if sent < tx { tx * m.mss() } else { m.config.tcp_send_buffer },
                ),
            ])
            .into_iter()
            .filter(|it| it.from != it.to)
            .collect(),
        )
    })
}

fn tcp_mailbox(m: &Material<'_>) -> Option<Finding> {
    let mailbox = u32::from(m.config.tcp_mailbox);
    let wanted = m.config.tcp_window / m.mss() + 2;
    let most = *ConfigOption::TcpMailbox.range(&m.context).end();
    (mailbox < wanted.min(most)).then(|| {
        finding(
            "tcp-mailbox",
            Limits,
            format!(
                "A TCP socket's mailbox holds {mailbox} segments, its window {}",
                m.config.tcp_window.div_ceil(m.mss())
            ),
            format!(
                "Kconfig recommends window / MSS + 2 = {wanted}. lwIP refuses what finds the \
                 mailbox full, so a burst that the window allows stalls."
            ),
            m.changes(&[(ConfigOption::TcpMailbox, wanted)]),
        )
    })
}

/// Finds a window of which only a part can come while a lost segment is waited for.
fn out_of_order(m: &Material<'_>) -> Option<Finding> {
    let key = ConfigOption::OoseqMax;
    let kept = m.value(key);
    let behind = m.config.tcp_window.div_ceil(m.mss()).saturating_sub(1);
    let has_limit = m.context.release >= key.fact().since && kept > 0;
    (has_limit && behind > kept).then(|| {
        finding(
            "out-of-order",
            Limits,
            format!("Where a frame is lost, a TCP socket keeps {kept} of {behind} segments that come behind it"),
            format!(
                "What arrives beyond {} is dropped, and the other side has to send it again: a round trip in which a frame is lost \
                 brings at most {} segments. 0 is no limit: then up to a window of them takes heap, and RX buffers of the driver.",
                m.name(key),
                kept + 1
            ),
            m.changes(&[(key, 0)]),
        )
    })
}

fn tcpip_mailbox(m: &Material<'_>) -> Option<Finding> {
    let own = u32::from(m.config.tcpip_mailbox);
    let sockets = u32::from(m.config.tcp_mailbox.max(m.config.udp_mailbox));
    let buffers = u32::from(m.config.dynamic_rx);
    if own < sockets {
        return Some(finding(
            "tcpip-mailbox",
            Wrong,
            format!("lwIP's own mailbox ({own}) is smaller than a socket's ({sockets})"),
            "Kconfig: it should be larger than the sockets' mailboxes; packets are dropped in front \
             of it that a socket would have had room for.",
            m.changes(&[(ConfigOption::TcpipMailbox, sockets)]),
        ));
    }
    (own < buffers).then(|| {
        finding(
            "tcpip-mailbox",
            Note,
            format!("lwIP's own mailbox ({own}) is smaller than {buffers} dynamic RX buffers"),
            "While lwIP's task waits for the processor, packets beyond the mailbox are dropped \
             though the driver has buffers.",
            m.changes(&[(ConfigOption::TcpipMailbox, buffers)]),
        )
    })
}

fn receive_buffers(m: &Material<'_>) -> Option<Finding> {
    let (fixed, dynamic) = (u32::from(m.config.static_rx), u32::from(m.config.dynamic_rx));
    if dynamic == 0 {
        return Some(finding(
            "dynamic-rx",
            Wrong,
            "There is no limit to dynamic RX buffers (0)".into(),
            "Frames that come faster than they are read take the heap until it is empty, which the \
             guide calls very dangerous: undefined behaviour.",
            m.changes(&[(ConfigOption::DynamicRx, ConfigOption::DynamicRx.default_in(&m.context))]),
        ));
    }
    (dynamic < fixed).then(|| {
        finding(
            "dynamic-rx",
            Limits,
            format!("There are fewer dynamic RX buffers ({dynamic}) than static ones ({fixed})"),
            "Kconfig: a limit of the dynamic ones should be at least the number of static ones.",
            m.changes(&[(ConfigOption::DynamicRx, fixed)]),
        )
    })
}

fn segment(m: &Material<'_>) -> Option<Finding> {
    let least = 2 * m.mss();
    let (send, window) = (m.config.tcp_send_buffer, m.config.tcp_window);
    (send < least || window < least).then(|| {
        let (what, key) = match send < least {
            true => (format!("The send buffer ({send} B)"), ConfigOption::SendBuffer),
            false => (format!("The window ({window} B)"), ConfigOption::Window),
        };
        finding(
            "two-segments",
            if send < least { Wrong } else { Limits },
            format!("{what} is less than two segments ({least} B)"),
            "Kconfig wants at least two for the send buffer. With one, each segment waits for the \
             other side's delayed acknowledgement (RFC 1122, 4.2.3.2: up to 500 ms).",
            m.changes(&[(key, 4 * m.mss())]),
        )
    })
}

fn sockets(m: &Material<'_>) -> Option<Finding> {
    let wanted = m.streams() + u32::from(m.question.traffic.udp_sockets);
    let have = u32::from(m.config.sockets);
    (wanted > have).then(|| {
        finding(
            "sockets",
            Wrong,
            format!("{wanted} sockets are wanted at a time, {have} may be open"),
            "Further ones are refused (ENFILE).",
            m.changes(&[(ConfigOption::Sockets, wanted)]),
        )
    })
}
