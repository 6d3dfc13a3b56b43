//! Backtraces of Python: which part of the program an error came from, where its number alone does not tell.

use super::event::{LogEvent, TlsFailure, number};
use super::record::LogRecord;

/// Parts of names of files and functions that speak with a server, in lower case.
const NETWORK: [&str; 18] = [
    "socket",
    "send",
    "recv",
    "request",
    "http",
    "mqtt",
    "publish",
    "subscribe",
    "connect",
    "accept",
    "server",
    "client",
    "download",
    "fetch",
    "ntp",
    "web",
    "ssl",
    "response",
];

/// Number of an error of input or output, of which Python says no more (`EIO`).
const EIO: u16 = 5;

/// Alerts of TLS (RFC 5246, 7.2), which axTLS tells as the negative number of the error.
const ALERTS: [u32; 20] =
    [10, 20, 21, 22, 30, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 70, 71, 80];

/// The backtrace whose lines come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traceback {
    open: bool,
    /// Whether a function of it speaks with a server.
    network: bool,
}

impl Traceback {
    /// Takes the next record in, and returns what the error at the end of a backtrace tells by the functions before it.
    pub(super) fn see(&mut self, record: &LogRecord<'_>) -> Option<LogEvent> {
        let text = record.text.trim_start();
        if text.starts_with("Traceback (most recent call last)") {
            *self = Self { open: true, network: false };
            return None;
        }
        if !self.open {
            return None;
        }
        if let Some(place) = text.strip_prefix("File ") {
            let lower = place.to_ascii_lowercase();
            self.network |= NETWORK.iter().any(|it| lower.contains(it));
            return None;
        }
        let error = text.strip_prefix("OSError: ")?;
        let network = core::mem::take(self).network;
        let is_io = error == "5" || error.starts_with("[Errno 5]");
        let alert = error.strip_prefix('-').filter(|it| it.bytes().all(|it| it.is_ascii_digit()));
        match alert.and_then(number) {
            Some(alert) if network && ALERTS.contains(&alert) => {
                Some(LogEvent::TlsFailed(TlsFailure::Refused))
            }
            _ if network && is_io => Some(LogEvent::SocketError(EIO)),
            _ => None,
        }
    }
}

/// Returns whether a record may be of a backtrace.
pub(super) fn concerns(record: &LogRecord<'_>) -> bool {
    let text = record.text.trim_start();
    ["Traceback ", "File ", "OSError: "].iter().any(|it| text.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::super::{LogEvent, LogReader, TlsFailure};

    #[test]
    fn an_error_is_of_the_functions_that_the_backtrace_names() {
        let told = |function: &str, error: &str| {
            let log = alloc::format!(
                "Traceback (most recent call last):\n  File \"main.py\", line 4, in {function}\nOSError: {error}\n"
            );
            let mut reader = LogReader::new();
            reader.push(log.as_bytes());
            let summary = reader.finish();
            summary.events.keys().copied().rfind(|it| *it != LogEvent::Traceback)
        };
        assert_eq!(told("send_header", "[Errno 5] EIO"), Some(LogEvent::SocketError(5)));
        assert_eq!(told("request", "-40"), Some(LogEvent::TlsFailed(TlsFailure::Refused)));
        assert_eq!(told("read_card", "[Errno 5] EIO"), None);
        assert_eq!(told("read_card", "-40"), None);
        assert_eq!(told("request", "20"), None);
    }
}
