//! A line of JSON on the control socket.

use serde::Deserialize;

/// Bytes of a line at most.
pub(super) const LINE_MAX: usize = 4096;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum ControlRequest {
    /// Changes a property of a device, or of all.
    Set {
        /// `loss`, `distance`, `load` or `sleep`.
        key: String,
        /// Value with its unit.
        value: String,
        /// Name of the device; all where there is none.
        device: Option<String>,
    },
    /// Types a line at a device's console.
    Type {
        /// Name of the device.
        device: String,
        /// The line, without its end.
        line: String,
    },
    /// Presses a device's reset button.
    Restart {
        /// Name of the device.
        device: String,
    },
    /// Asks for time, hosts and counts.
    Status,
    /// Ends the lab.
    Stop,
}

impl ControlRequest {
    /// Example in errors.
    pub(super) const EXAMPLE: &'static str = r#"write a line such as {"do":"set","key":"loss","value":"10%"}, {"do":"type","device":"device","line":"ping pc"}, {"do":"restart","device":"device"}, {"do":"status"} or {"do":"stop"}"#;

    /// Returns the name of the device that it is about.
    pub(super) fn device(&self) -> Option<&str> {
        match self {
            Self::Set { device, .. } => device.as_deref(),
            Self::Type { device, .. } | Self::Restart { device } => Some(device),
            Self::Status | Self::Stop => None,
        }
    }

    /// Reads a line; `None` of an empty one.
    ///
    /// # Errors
    /// The reason for which it is no request, in words.
    pub(super) fn parse(line: &[u8]) -> Result<Option<Self>, String> {
        let text = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8".to_owned())?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        serde_json::from_str(text).map(Some).map_err(|error| format!("no request: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_and_rubbish_is_told() {
        let set = ControlRequest::parse(br#"{"do":"set","key":"loss","value":"10%"}"#);
        let (key, value) = ("loss".to_owned(), "10%".to_owned());
        assert_eq!(set, Ok(Some(ControlRequest::Set { key, value, device: None })));
        assert_eq!(
            ControlRequest::parse(b"{\"do\":\"status\"}\n"),
            Ok(Some(ControlRequest::Status))
        );
        assert_eq!(ControlRequest::parse(b" \n"), Ok(None));
        for line in [
            &b"\xff"[..],
            b"{",
            b"[]",
            br#"{"do":"jump"}"#,
            br#"{"do":"set","key":"loss"}"#,
            br#"{"do":"restart","device":"a","x":1}"#,
        ] {
            assert!(ControlRequest::parse(line).is_err(), "{}", String::from_utf8_lossy(line));
        }
    }
}
