//! Lines that a device prints of itself, in the words of ESP-IDF v5.

use alloc::format;
use alloc::string::{String, ToString as _};
use core::time::Duration;
use espbench_dot11::wifi::Joined;
use espbench_model::sample::Interval;
use espbench_model::time::Instant;
use espbench_model::workload::Transport;
use espbench_proto::wire::iperf2::PORT;

/// Words of linenoise where a terminal does not answer (`esp_console_setup_prompt`), and the example's
/// first lines.
const DUMB: &str = "\nYour terminal application does not support escape sequences.\n\n\
    Line editing and history features are disabled.\n\n\
    On Windows, try using Windows Terminal or Putty instead.\n";

/// Returns the milliseconds of a log line.
fn ms(at: Instant) -> u64 {
    at.as_nanos() / 1_000_000
}

/// Returns what is printed from a reset on.
pub(in crate::lab::live) fn boot_lines(
    hardware: [u8; 6],
    after: Instant,
    by_command: bool,
) -> String {
    let cause = if by_command { "rst:0xc (SW_CPU_RESET)" } else { "rst:0x1 (POWERON_RESET)" };
    let [a, b, c, d, e, f] = hardware;
    format!(
        "\n{cause},boot:0x13 (SPI_FAST_FLASH_BOOT)\nI ({now}) cpu_start: Pro cpu up.\n\
         I ({now}) wifi:mode : sta ({a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x})\n{DUMB}\n\
         Type 'help' to get the list of commands.\n",
        now = ms(after),
    )
}

/// Returns the lines of Wi-Fi joining a network, each with the time of its step.
pub(in crate::lab::live) fn joined_lines(
    now: Instant,
    joined: &Joined,
    (name, channel, rssi): (&str, u8, Option<i8>),
    begin: Instant,
) -> String {
    // Times of the steps are the lab's, those of the lines the device's.
    let at = |it: Instant| ms(Instant::ZERO + it.since(begin));
    let rssi = rssi.map_or_else(String::new, |it| format!(", rssi: {it}"));
    format!(
        "I ({}) wifi:new:<{channel},0>, old:<1,0>, ap:<255,255>, sta:<{channel},0>, prof:1\n\
         I ({}) wifi:state: init -> auth (b0)\n\
         I ({}) wifi:state: auth -> assoc (0)\n\
         I ({}) wifi:state: assoc -> run (10)\n\
         I ({}) wifi:connected with {name}, aid = {}, channel {channel}, BW20{rssi}\n\
         I ({}) WIFI: WIFI_EVENT_STA_CONNECTED!\n",
        at(joined.found),
        at(joined.found),
        at(joined.authenticated),
        at(joined.associated),
        ms(now),
        joined.aid,
        ms(now),
    )
}

/// Returns the line of a network that was left.
pub(in crate::lab::live) fn left_line(now: Instant, reason: u16) -> String {
    format!(
        "W ({0}) wifi:state: run -> init\nI ({0}) WIFI: WIFI_EVENT_STA_DISCONNECTED! reason: {reason}\n",
        ms(now)
    )
}

/// Returns the answer of `version`.
pub(in crate::lab::live) fn version(chip: &str, cores: u8) -> String {
    let model = match chip.strip_prefix("esp32").filter(|it| !it.is_empty()) {
        Some(kind) => format!("ESP32-{}", kind.to_uppercase()),
        None => chip.to_uppercase(),
    };
    format!(
        "IDF Version:v5.3.1\nChip info:\n\tmodel:{model}\n\tcores:{cores}\n\tsimulated by espbench {}\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// Returns the answer of `help`.
pub(in crate::lab::live) fn help() -> String {
    "help  [<string>]\n  Print the summary of all registered commands\n\n\
     version \n  Get version of chip and SDK\n\n\
     restart \n  Software reset of the chip\n\n\
     heap \n  Get the current size of free heap memory\n\n\
     sta_connect  <ssid> [<pass>]\n  WiFi is station mode, join specified soft-AP\n\n\
     iperf  [-suVa] [-c <ip>] [-p <port>] [-l <length>] [-i <interval>] [-t <time>] [-b <bandwidth>]\n  \
     iperf command\n\
     \x20 -c, --client=<ip>  run in client mode, connecting to <host>\n\
     \x20 -s, --server  run in server mode\n\
     \x20 -u, --udp  use UDP rather than TCP\n\
     \x20 -p, --port=<port>  server port to listen on/connect to\n\
     \x20 -l, --len=<length>  Set read/write buffer size\n\
     \x20 -i, --interval=<interval>  seconds between periodic bandwidth reports\n\
     \x20 -t, --time=<time>  time in seconds to transmit for (default 30 secs)\n\
     \x20 -b, --bandwidth=<bandwidth>  #[kmgKMG]  bandwidth to send at in bits/sec\n\
     \x20 -f, --format=<format>  'b' = bits/sec 'k' = Kbits/sec 'm' = Mbits/sec\n\
     \x20 -a, --abort  abort running iperf\n\n\
     ping  [-W <t>] [-i <t>] [-s <n>] [-c <n>] <host>\n  send ICMP ECHO_REQUEST to network hosts\n\n"
        .to_string()
}

/// Returns the line that tells of the beginning of a test.
pub(in crate::lab::live) fn iperf_begins(
    now: Instant,
    transport: Transport,
    server: bool,
    (own, other, port): ([u8; 4], [u8; 4], u16),
    (interval, time): (Duration, Duration),
) -> String {
    let kind = if transport == Transport::Udp { "udp" } else { "tcp" };
    let role = if server { "server" } else { "client" };
    // `-p` is of the server's end; the other one is told with the default, whatever a socket has.
    let (own_port, other_port) = if server { (port, PORT) } else { (PORT, port) };
    let dotted = |[a, b, c, d]: [u8; 4], port: u16| format!("{a}.{b}.{c}.{d}:{port}");
    let created =
        if server { format!("I ({}) iperf: Socket created\n", ms(now)) } else { String::new() };
    format!(
        "I ({}) IPERF: mode={kind}-{role} sip={}, dip={}, interval={}, time={}\n{created}",
        ms(now),
        dotted(own, own_port),
        dotted(other, other_port),
        interval.as_secs(),
        time.as_secs(),
    )
}

/// Returns the line of a client whose server refuses it, or is not there (`ECONNRESET`).
pub(in crate::lab::live) fn connect_failed(now: Instant) -> String {
    format!(
        "E ({}) iperf: tcp client connect error, error code: 104, reason: Connection reset by peer\n",
        ms(now)
    )
}

/// Returns a row of the table (the component `iperf` from 1.0 on); the head of the table before the first.
pub(in crate::lab::live) fn rate_row(row: &Interval, headed: bool) -> String {
    let head = if headed { "" } else { "\n[ ID] Interval\t\tTransfer\tBandwidth\n" };
    let span = row.end.since(row.start).as_secs_f64();
    // Rows of a table have one length, but for the last one.
    let whole = libm::rint(span).max(1.0);
    let from = if row.total { 0.0 } else { row.seq as f64 * whole };
    let to = from + whole;
    let megabytes = row.bytes as f64 / 1e6;
    let rate = if span > 0.0 { megabytes * 8.0 / span } else { 0.0 };
    format!("{head}[  1] {from:2.0}.0-{to:2.0}.0 sec\t{megabytes:.2} MBytes\t{rate:.2} Mbits/sec\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_of_iperf_names_both_ends_with_their_ports() {
        let line = |server, port| {
            let spans = (Duration::from_secs(1), Duration::from_secs(10));
            let ends = ([10, 0, 0, 2], [10, 0, 0, 3], port);
            iperf_begins(Instant::ZERO, Transport::Tcp, server, ends, spans)
        };
        assert!(
            line(false, 5005).contains("mode=tcp-client sip=10.0.0.2:5001, dip=10.0.0.3:5005, ")
        );
        assert!(
            line(true, 5005).contains("mode=tcp-server sip=10.0.0.2:5005, dip=10.0.0.3:5001, ")
        );
    }
}
