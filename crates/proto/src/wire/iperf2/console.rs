//! Lines that ESP-IDF's `iperf` example prints at its console, in every form that it has had.
//!
//! ```text
//! v3 to v5.2       "   0-   1 sec       12.34 Mbits/sec"         `examples/wifi/iperf`, `common_components`
//! iperf 0.0, 0.1   " 0.0- 1.0 sec  12.34 Mbits/sec"              `espressif/iperf`
//! iperf 1.0        "[  1]  0.0- 1.0 sec\t1.54 MBytes\t12.34 Mbits/sec"
//! ```
//!
//! Facts are from the sources of these releases and from consoles that people have published. Two things
//! differ where the text does not: [`RowForm::Dotted`] counts 2^20 bits to its "Mbit", as the forms with
//! columns do from the release on that has `-f` (v5.1); before and from 1.0 on it is a million.

use core::net::Ipv4Addr;

/// Form of a row, and with it the release that printed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowForm {
    /// Whole seconds in columns: ESP-IDF v3 to v5.2.
    Columns,
    /// Seconds with a zero behind the point: the component `iperf` before 1.0.
    Dotted,
    /// The number of the test first, and the bytes: the component `iperf` from 1.0 on.
    Numbered,
}

/// Multiple in a row's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateMultiple {
    /// `bits/sec`
    One,
    /// `Kbits/sec`
    Kilo,
    /// `Mbits/sec`
    Mega,
}

/// A row of the table: a rate over some seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateRow {
    /// Form of the row.
    pub form: RowForm,
    /// Number of the test, of several at once; 0 where the form has none.
    pub test: u16,
    /// Beginning, in seconds since the table began.
    pub start_s: u32,
    /// End, in seconds.
    pub end_s: u32,
    /// Rate, in hundredths of its unit.
    pub hundredths: u64,
    /// Multiple in the unit.
    pub multiple: RateMultiple,
    /// Whether the unit is of bytes (`MBytes/sec`), not bits.
    pub in_bytes: bool,
}

impl RateRow {
    /// Returns the bytes that the row stands for, to the nearest one. `binary_columns` says whether
    /// [`RowForm::Columns`] has 2^20 bits to its Mbit: the release has `-f`.
    #[must_use]
    pub fn bytes(&self, binary_columns: bool) -> u64 {
        let binary = match self.form {
            RowForm::Columns => binary_columns,
            RowForm::Dotted => true,
            RowForm::Numbered => self.in_bytes,
        };
        let step: u128 = if binary { 1024 } else { 1000 };
        let multiple = match self.multiple {
            RateMultiple::One => 1,
            RateMultiple::Kilo => step,
            RateMultiple::Mega => step * step,
        };
        let seconds = u128::from(self.end_s.saturating_sub(self.start_s));
        let units = u128::from(self.hundredths) * multiple * seconds;
        let each = if self.in_bytes { 100 } else { 800 };
        u64::try_from((units + each / 2) / each).unwrap_or(u64::MAX)
    }
}

/// A line of the console that tells of the network or of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdfIperfLine {
    /// Row of the table; the one that begins at 0 again is the mean over all.
    Row(RateRow),
    /// `mode=tcp-server sip=…`: the command was understood.
    Begun {
        /// UDP, not TCP.
        udp: bool,
        /// The board serves.
        server: bool,
    },
    /// `Socket created`, `[TCP Server] Socket created`: a server listens, or a client begins.
    SocketCreated,
    /// `accept: …`, or `[  1] local … connected to …`: the other end is there.
    Connected,
    /// `Socket unable to connect: errno 113`, `tcp client connect error, error code: 113, …`.
    ConnectFailed {
        /// Error of lwIP's sockets.
        errno: u16,
    },
    /// `tcp client send error, error code: 104, …`, and of receiving, binding, accepting.
    SocketFailed {
        /// Error of lwIP's sockets.
        errno: u16,
    },
    /// `iperf is running`: another test is not over.
    Busy,
    /// `sta has no IP`: the test was not begun.
    NoIp,
    /// `iperf exit`, or `DONE.IPERF_STOP,OK`.
    Exit,
    /// `WIFI_EVENT_STA_DISCONNECTED! reason: 201`, `sta disconnect, reconnect...`: the network was left, or
    /// not entered.
    Left {
        /// Reason by IEEE 802.11 or, from 200 on, by Espressif; not told before v5.3.
        reason: Option<u16>,
    },
    /// `WIFI_EVENT_STA_CONNECTED!`: associated, without an address yet.
    Associated,
    /// `sta ip: 192.168.1.79, mask: …`: the network gave an address.
    Address(Ipv4Addr),
}

impl IdfIperfLine {
    /// Parses the text of a line, without the header that log lines have.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        row(text).map(Self::Row).or_else(|| event(text.trim()))
    }
}

fn event(text: &str) -> Option<IdfIperfLine> {
    if let Some(rest) = text.strip_prefix("mode=") {
        let (udp, rest) = match rest.split_once('-')? {
            ("tcp", rest) => (false, rest),
            ("udp", rest) => (true, rest),
            _ => return None,
        };
        let server = match rest.split_once(' ')?.0 {
            "server" => true,
            "client" => false,
            _ => return None,
        };
        return Some(IdfIperfLine::Begun { udp, server });
    }
    let address = text.strip_prefix("sta ip: ").or_else(|| text.strip_prefix("ip: "));
    if let Some(rest) = address {
        return rest.split_once(", mask: ")?.0.parse().ok().map(IdfIperfLine::Address);
    }
    if let Some(reason) = text.strip_prefix("WIFI_EVENT_STA_DISCONNECTED! reason: ") {
        return Some(IdfIperfLine::Left { reason: Some(reason.parse().ok()?) });
    }
    if text.starts_with("accept: ") || is_connection(text) {
        return Some(IdfIperfLine::Connected);
    }
    Some(match text {
        "sta disconnect, reconnect..." | "sta disconnect" => IdfIperfLine::Left { reason: None },
        "WIFI_EVENT_STA_CONNECTED!" => IdfIperfLine::Associated,
        "iperf is running" | "iperf is already running." => IdfIperfLine::Busy,
        "sta has no IP" => IdfIperfLine::NoIp,
        "iperf exit" | "DONE.IPERF_STOP,OK" => IdfIperfLine::Exit,
        _ if text.ends_with("Socket created") => IdfIperfLine::SocketCreated,
        _ => return failure(text),
    })
}

/// Tells whether a line is `[  1] local 10.0.0.2:5001 connected to 10.0.0.3:50412`.
fn is_connection(text: &str) -> bool {
    let rest = text.strip_prefix('[').and_then(|rest| rest.split_once("] local "));
    rest.is_some_and(|(_, rest)| rest.contains(" connected to "))
}

/// Parses an error of a socket. Macros of ESP-IDF put the name of the function before the text.
fn failure(text: &str) -> Option<IdfIperfLine> {
    let of = |errno: &str| number(errno.trim_start()).and_then(|it| u16::try_from(it.0).ok());
    let named = text.split_once("error, error code: ");
    let (what, errno) = match named {
        Some((what, rest)) => (what, of(rest)?),
        None => {
            let (what, rest) = text.rsplit_once("errno ")?;
            (what, of(rest)?)
        }
    };
    if what.contains("unable to connect") || what.contains("client connect") {
        return Some(IdfIperfLine::ConnectFailed { errno });
    }
    let ours = ["tcp client", "tcp server", "udp client", "udp server", "Socket", "socket", "TCP"];
    let ours = ours.iter().any(|word| what.contains(word)) || what.contains("accept");
    ours.then_some(IdfIperfLine::SocketFailed { errno })
}

/// Parses a row of the table.
fn row(text: &str) -> Option<RateRow> {
    let text = text.trim();
    let numbered = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (test, rest) = match numbered {
        Some((id, rest)) => {
            let (id, _) = number(id.trim_start()).filter(|(_, rest)| rest.is_empty())?;
            (u16::try_from(id).ok()?, rest)
        }
        None => (0, text),
    };
    let (start_s, dotted, rest) = seconds(rest.trim_start())?;
    let (end_s, also, rest) = seconds(rest.strip_prefix('-')?.trim_start())?;
    let rest = rest.strip_prefix(" sec")?.strip_prefix([' ', '\t']);
    let rest = rest.unwrap_or_default().trim_start();
    let (form, rest) = match (numbered.is_some(), dotted && also) {
        (true, true) => {
            let (_, rest) = hundredths(rest)?;
            (RowForm::Numbered, rest.split_once("Bytes")?.1.trim_start())
        }
        (false, true) => (RowForm::Dotted, rest),
        (false, false) => (RowForm::Columns, rest),
        (true, false) => return None,
    };
    if dotted != also || end_s <= start_s {
        return None;
    }
    let (hundredths, rest) = hundredths(rest)?;
    let unit = rest.trim_start().strip_suffix("/sec")?;
    let (unit, in_bytes) = match unit.strip_suffix("bits") {
        Some(unit) => (unit, false),
        None => (unit.strip_suffix("Bytes")?, true),
    };
    let multiple = match unit {
        "" => RateMultiple::One,
        "K" => RateMultiple::Kilo,
        "M" => RateMultiple::Mega,
        _ => return None,
    };
    Some(RateRow { form, test, start_s, end_s, hundredths, multiple, in_bytes })
}

/// Parses seconds, which have `.0` behind them in some forms: whether they have, and the rest.
fn seconds(text: &str) -> Option<(u32, bool, &str)> {
    let (value, rest) = number(text)?;
    let dotted = rest.strip_prefix(".0");
    Some((u32::try_from(value).ok()?, dotted.is_some(), dotted.unwrap_or(rest)))
}

/// Parses a number with at most two digits behind its point, as hundredths.
fn hundredths(text: &str) -> Option<(u64, &str)> {
    let (whole, rest) = number(text)?;
    let whole = whole.checked_mul(100)?;
    let Some(rest) = rest.strip_prefix('.') else { return Some((whole, rest)) };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (part, _) = number(rest)?;
    let part = match digits {
        1 => part * 10,
        2 => part,
        _ => return None,
    };
    Some((whole.checked_add(part)?, rest.get(digits..)?))
}

/// Parses digits; returns the rest too.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;

    fn bytes(text: &str) -> Option<u64> {
        match IdfIperfLine::parse(text)? {
            IdfIperfLine::Row(row) => Some(row.bytes(false)),
            _ => None,
        }
    }

    #[test]
    fn a_row_of_each_release() {
        assert_eq!(bytes("   0-   3 sec       8.43 Mbits/sec"), Some(3_161_250));
        assert_eq!(bytes("0-1 sec 12.3 Mbits/sec"), Some(1_537_500));
        assert_eq!(bytes(" 8.0-10.0 sec  23.84 Mbits/sec"), Some(6_249_513), "of 2^20 bits");
        assert_eq!(bytes("[  1]  1.0- 2.0 sec\t5.87 MBytes\t46.96 Mbits/sec"), Some(5_870_000));
        assert_eq!(bytes("[ 12] 10.0-12.0 sec 1.00 KBytes 0.50 KBytes/sec"), Some(1024));
        assert_eq!(bytes("   0-   1 sec       800.00 bits/sec"), Some(100));
        let row = match IdfIperfLine::parse("  27-  30 sec       1.00 Mbits/sec") {
            Some(IdfIperfLine::Row(row)) => row,
            other => panic!("{other:?}"),
        };
        assert_eq!((row.bytes(false), row.bytes(true)), (375_000, 393_216), "v5.1 has -f");
        let test = |text: &str| match IdfIperfLine::parse(text) {
            Some(IdfIperfLine::Row(row)) => Some(row.test),
            _ => None,
        };
        assert_eq!(test("[ 12] 10.0-12.0 sec 1.00 KBytes 0.50 KBytes/sec"), Some(12));
        assert_eq!(test(" 8.0-10.0 sec  23.84 Mbits/sec"), Some(0));
        assert_eq!(test("[70000] 0.0- 1.0 sec 1.00 KBytes 0.50 KBytes/sec"), None);
    }

    #[test]
    fn what_is_no_row_is_none() {
        for text in [
            "Interval       Bandwidth",
            "[ ID] Interval\t\tTransfer\tBandwidth",
            "0-1 sec",
            "1-1 sec 1.00 Mbits/sec",
            "0.0-1 sec 1.00 Mbits/sec",
            "[1] 0-1 sec 1.00 Mbits/sec",
            "0-1 sec 1.000 Mbits/sec",
            "0-1 sec 1. Mbits/sec",
            "0-1 sec 1.00 Gbits/sec",
            "0-1 sec -nan Mbits/sec",
            "99999999999999999999-1 sec 1.00 Mbits/sec",
            "[24:0a:c4:00:00:01]  0- 1 sec  0.03 MBytes  0.25 Mbps  -40 dbm",
        ] {
            assert_eq!(bytes(text), None, "{text}");
        }
        let most = format!("0-{} sec {}.00 Mbits/sec", u32::MAX, u64::MAX / 100);
        assert_eq!(bytes(&most), Some(u64::MAX), "more than there are");
    }

    #[test]
    fn events_of_each_release() {
        use IdfIperfLine as Line;
        let begun = |udp, server| Line::Begun { udp, server };
        let failed = |errno| Line::ConnectFailed { errno };
        for (text, wanted) in [
            (
                "mode=tcp-server sip=192.168.1.79:5001, dip=0.0.0.0:5001, interval=3, time=1000",
                begun(false, true),
            ),
            (
                "mode=udp-client sip=0.0.0.0:5001,             dip=10.0.0.2:5001,               interval=2, time=30",
                begun(true, false),
            ),
            ("Socket created", Line::SocketCreated),
            ("[UDP Server] Socket created", Line::SocketCreated),
            ("accept: 192.168.1.2,43726", Line::Connected),
            ("[  1] local 192.168.4.2:5001 connected to 192.168.4.1:50004", Line::Connected),
            ("iperf_run_tcp_client(361): Socket unable to connect: errno 113", failed(113)),
            (
                "iperf_start_and_run_tcp_client(414): cannot start TCP client: socket is unable to connect - errno 104",
                failed(104),
            ),
            (
                "tcp client connect error, error code: 113, reason: Software caused connection abort",
                failed(113),
            ),
            (
                "tcp client send error, error code: 104, reason: Connection reset by peer",
                Line::SocketFailed { errno: 104 },
            ),
            (
                "iperf_run_tcp_server(290): Unable to accept connection: errno 11",
                Line::SocketFailed { errno: 11 },
            ),
            ("iperf is running", Line::Busy),
            ("iperf is already running.", Line::Busy),
            ("sta has no IP", Line::NoIp),
            ("iperf exit", Line::Exit),
            ("DONE.IPERF_STOP,OK", Line::Exit),
            ("WIFI_EVENT_STA_DISCONNECTED! reason: 201", Line::Left { reason: Some(201) }),
            ("sta disconnect, reconnect...", Line::Left { reason: None }),
            ("WIFI_EVENT_STA_CONNECTED!", Line::Associated),
            (
                "sta ip: 192.168.1.79, mask: 255.255.255.0, gw: 192.168.1.1",
                Line::Address(Ipv4Addr::new(192, 168, 1, 79)),
            ),
            (
                "ip: 192.168.10.248, mask: 255.255.255.0, gw: 192.168.10.1",
                Line::Address(Ipv4Addr::new(192, 168, 10, 248)),
            ),
        ] {
            assert_eq!(Line::parse(text), Some(wanted), "{text}");
        }
        for text in [
            "sta ip: 1.2.3, mask: 0",
            "mode=tcp",
            "mode=sctp-server x",
            "errno 5",
            "sta disconnected",
        ] {
            assert_eq!(Line::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_printed_row_is_read_within_its_rounding(
            start in 0_u32..100_000,
            seconds in 1_u32..100,
            amount in 0_u64..10_000_000_000,
            form in 0..4,
        ) {
            let rate = amount as f64 * 8.0 / f64::from(seconds);
            let (end, binary) = (start + seconds, form == 1 || form == 3);
            let mega = if binary { 1_048_576.0 } else { 1e6 };
            let text = match form {
                0 | 1 => format!("{start:4}-{end:4} sec       {:.2} Mbits/sec", rate / mega),
                2 => format!("[{:3}] {start:2}.0-{end:2}.0 sec\t{:.2} MBytes\t{:.2} Mbits/sec", 7, amount as f64 / 1e6, rate / 1e6),
                _ => format!("{start:2}.0-{end:2}.0 sec  {:.2} Mbits/sec", rate / mega),
            };
            let Some(IdfIperfLine::Row(row)) = IdfIperfLine::parse(&text) else { panic!("{text}") };
            prop_assert_eq!((row.start_s, row.end_s), (start, end));
            let read = row.bytes(form == 1);
            let most = (mega * 0.005 / 8.0 * f64::from(seconds)) as u64 + 2;
            prop_assert!(read.abs_diff(amount) <= most, "{} of {}: {}", read, amount, text);
        }

        #[test]
        fn any_text_is_read_without_harm(text in "\\PC{0,80}|[0-9. \\-\\[\\]\tsecMKBitsybyte/,:]{0,60}") {
            if let Some(IdfIperfLine::Row(row)) = IdfIperfLine::parse(&text) {
                prop_assert!(row.start_s < row.end_s);
                prop_assert!(row.bytes(true) >= row.bytes(false));
            }
        }
    }
}
