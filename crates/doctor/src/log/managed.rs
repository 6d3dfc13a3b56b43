//! Exceptions of .NET nanoFramework: each frame of the stack is a line, `++++ Namespace.Class::Method [IP: 0000] ++++`, and the first,
//! of native code, says which part failed.

use super::event::LogEvent;
use super::search::SearchText;
use super::words::WordCause;

/// Native methods by their beginnings, with the event that each tells when it throws.
const PARTS: [(&str, LogEvent); 5] = [
    ("System.Device.Wifi.", LogEvent::WifiCall),
    ("System.Net.NetworkInformation.", LogEvent::WifiCall),
    ("System.Net.Security.", LogEvent::Words(WordCause::Tls)),
    ("System.Net.Sockets.NativeSocket::getaddrinfo", LogEvent::NameFailed),
    ("System.Net.Sockets.", LogEvent::ConnectionFailed),
];

/// Reads an exception that native code threw, or memory that the runtime could not have.
pub(super) fn exception(text: &SearchText<'_>) -> Option<LogEvent> {
    let line = text.trim().strip_prefix("++++ ")?.strip_suffix(" ++++")?;
    if line.starts_with("Exception ") {
        return line.contains("CLR_E_OUT_OF_MEMORY").then_some(LogEvent::NoMemory);
    }
    let method = line.strip_suffix(" [IP: 0000]")?;
    PARTS.iter().find(|it| method.starts_with(it.0)).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::super::event::{LogEvent, told};

    #[test]
    fn a_native_method_that_throws_names_the_part() {
        let frame = "    ++++ System.Device.Wifi.WifiAdapter::NativeConnect [IP: 0000] ++++";
        assert_eq!(told(frame), [LogEvent::WifiCall]);
        let managed = "    ++++ System.Device.Wifi.WifiAdapter::Connect [IP: 0011] ++++";
        assert!(told(managed).is_empty(), "{:?}", told(managed));
        let memory = "++++ Exception System.OutOfMemoryException - CLR_E_OUT_OF_MEMORY (1) ++++";
        assert_eq!(told(memory), [LogEvent::NoMemory]);
    }
}
