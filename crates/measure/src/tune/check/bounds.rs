//! Rules on what follows from the values: most throughput over a round trip, bursts that do not
//! fit, heap.

use super::super::words::{count, kb, mbit};
use super::*;
use Severity::{Limits, Note, Wrong};
use espbench_model::speech::FlagValue;

/// Heap that is left at the peak should be no less: lwIP's control blocks, timers and the
/// application's own peaks come on top of what the model has.
const SPARE: i64 = 20 * 1024;

pub(super) fn all(m: &Material<'_>, out: &mut Vec<Finding>) {
    out.extend(round_trip(m));
    out.extend(burst(m));
    out.extend(sends(m));
    out.extend(memory(m));
}

/// Returns the throughput of the chip's fastest rank as Espressif measured it, in Mbit/s, or what
/// HT20 carries at most in TCP where no rank is known.
fn reachable(m: &Material<'_>) -> [f64; 2] {
    let fastest = Rank::of(m.context.chip).next();
    fastest.map_or([40.0; 2], |rank| [rank.mbit_s[1], rank.mbit_s[0]])
}

/// Finds a limit by window / round trip: TCP has no more than a window on the way.
fn round_trip(m: &Material<'_>) -> Option<Finding> {
    let rtt = m.question.rtt.time;
    let values = [
        ("receives", ConfigOption::Window, m.config.tcp_window, ConfigOption::DynamicRx),
        (
            "sends",
            ConfigOption::SendBuffer,
            m.config.tcp_send_buffer,
            m.settings.tx_key(&m.context),
        ),
    ];
    let bounds = values.map(|it| m.bound(it.2, rtt));
    let reachable = reachable(m);
    let low = |at: usize| bounds[at] < reachable[at];
    if !low(0) && !low(1) {
        return None;
    }
    let mut set = Vec::new();
    for (at, (_, key, _, buffers)) in values.into_iter().enumerate().filter(|it| low(it.0)) {
        let bits = reachable[at] * 1e6 * rtt.as_secs_f64() / f64::from(m.streams().max(1));
        let wanted = libm::ceil(bits / 8.0).min(f64::from(*key.range(&m.context).end())) as u32;
        set.extend(m.change(key, wanted));
        let all = (wanted * m.streams()).div_ceil(1024);
        if all > m.value(buffers) {
            set.extend(m.change(buffers, all));
        }
    }
    let what = values
        .iter()
        .zip(bounds)
        .map(|((verb, ..), bound)| format!("{verb} at most {}", mbit(bound)));
    Some(finding(
        "window-rtt",
        Limits,
        format!(
            "At a round trip of {} ms TCP {} ({})",
            number(rtt.as_secs_f64() * 1e3),
            what.collect::<Vec<_>>().join(" and "),
            count(m.streams(), "stream")
        ),
        format!(
            "No more than a window is on the way: {} / {} ms to receive, {} / {} ms to send, whatever \
             the radio does. Espressif's fastest rank of this chip receives {} and sends {}.",
            bytes(m.config.tcp_window),
            number(rtt.as_secs_f64() * 1e3),
            bytes(m.config.tcp_send_buffer),
            number(rtt.as_secs_f64() * 1e3),
            mbit(reachable[0]),
            mbit(reachable[1]),
        ),
        set,
    ))
}

/// Finds the cliff of the mailbox: datagrams that come faster than they are read.
fn burst(m: &Material<'_>) -> Option<Finding> {
    let mailbox = u32::from(m.config.udp_mailbox);
    let buffers = match m.config.dynamic_rx {
        0 => u32::MAX,
        some => some.into(),
    };
    let holds = mailbox.min(buffers);
    let why = "What finds the mailbox full is dropped without a word to anybody; a burst is read in \
               time only where the reader's task runs between two datagrams. Each datagram that waits \
               keeps a dynamic RX buffer.";
    let Some(burst) = m.question.burst else {
        return Some(finding(
            "udp-burst",
            if holds <= 6 { Limits } else { Note },
            format!("A burst of more than {holds} datagrams back to back loses the rest"),
            format!("{why} {} says how many come at a time.", FlagValue("--burst", "N")),
            Vec::new(),
        ));
    };
    (burst > holds).then(|| {
        let most = *ConfigOption::UdpMailbox.range(&m.context).end();
        let beyond = match burst > most {
            true => format!(" No mailbox holds more than {most}: send in smaller bursts."),
            false => String::new(),
        };
        let mut set = m.changes(&[(ConfigOption::UdpMailbox, burst)]);
        if burst > buffers {
            set.extend(m.change(ConfigOption::DynamicRx, burst));
        }
        if burst.min(most) > u32::from(m.config.tcpip_mailbox) {
            set.extend(m.change(ConfigOption::TcpipMailbox, burst));
        }
        finding(
            "udp-burst",
            Wrong,
            format!("A burst of {burst} datagrams loses up to {}: {holds} can wait", burst - holds),
            format!("{why}{beyond}"),
            set,
        )
    })
}

/// Notes that UDP is sent faster than the radio takes it.
fn sends(m: &Material<'_>) -> Option<Finding> {
    let tx = u32::from(m.config.tx);
    Some(finding(
        "udp-send",
        Note,
        format!("sendto() fails with ENOMEM once {tx} datagrams wait in the driver"),
        "That is no loss on the air: the application has to wait a little and try again, or to pace \
         what it sends. Ticks are as fine as a wait gets.",
        match m.config.tick_hz {
            0..1000 => m.changes(&[(ConfigOption::TickHz, 1000)]),
            _ => Vec::new(),
        },
    ))
}

fn memory(m: &Material<'_>) -> Option<Finding> {
    let Some(left) = m.left() else {
        return Some(finding(
            "heap",
            Note,
            format!("These settings take up to {} of the heap", kb(m.memory.peak() as f64)),
            format!(
                "How much there is, no document says for this chip: say {}, what \
                 esp_get_free_heap_size() answers before Wi-Fi starts.",
                FlagValue("--heap", "SIZE")
            ),
            Vec::new(),
        ));
    };
    let parts = format!(
        "Static buffers {}, code in RAM {}, mailboxes {}; at the peak the driver's dynamic buffers \
         p = b_rx m_rx + b_tx m_tx = {}, and TCP's send buffers {}.",
        kb(m.memory.buffers as f64),
        kb(m.memory.code as f64),
        kb(m.memory.mailboxes as f64),
        kb(m.memory.driver_peak as f64),
        kb(m.memory.send_buffers as f64),
    );
    let base = match m.question.heap {
        Some(_) => "The heap before Wi-Fi is the one that was said.".into(),
        None => format!(
            "The heap before Wi-Fi ({}) is that of a firmware as small as the iperf example, fitted \
             on the ranks; with yours, say {}.",
            kb(left.heap as f64),
            FlagValue("--heap", "SIZE")
        ),
    };
    let line = format!(
        "Heap left (model): {} without traffic, {} at the busiest, {} with every buffer full",
        kb(left.idle as f64),
        kb(left.busy as f64),
        kb(left.peak as f64)
    );
    let severity = match () {
        () if left.busy < 0 => Wrong,
        () if left.peak < SPARE => Limits,
        () => Note,
    };
    let smaller = |key: ConfigOption| {
        let default = key.default_in(&m.context);
        (m.value(key) > default).then(|| m.change(key, default)).flatten()
    };
    let set = match severity {
        Note => Vec::new(),
        _ => [
            ConfigOption::DynamicRx,
            m.settings.tx_key(&m.context),
            ConfigOption::StaticRx,
            ConfigOption::SendBuffer,
        ]
        .into_iter()
        .filter_map(smaller)
        .collect(),
    };
    let danger = match severity {
        Note => "",
        _ => " A heap that runs out is undefined behaviour (guide).",
    };
    Some(finding("heap", severity, line, format!("{parts} {base}{danger}"), set))
}
