//! Errors of a connection that could not be opened, or broke, with advice.

use espbench_model::untrusted::is_unsafe;
use espbench_proto::wire::websocket::MalformedFrame;
use rustls::{AlertDescription, CertificateError, Error as TlsError};
use std::io::{self, ErrorKind};

/// A failure of the other end, in words, with advice to the user.
#[derive(Debug)]
pub struct TransportError {
    /// Event that failed: "connecting", or a sentence about the broker.
    pub what: String,
    /// The system's error, where it is one.
    pub source: Option<io::Error>,
    /// Advice to the user.
    pub hint: String,
}

impl TransportError {
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), source: None, hint: hint.into() }
    }

    /// Makes the error of a TCP connection that could not be made.
    pub(crate) fn connecting(source: io::Error) -> Self {
        let hint = match source.kind() {
            ErrorKind::ConnectionRefused => {
                "start a broker there (`espbench respond` has one), or name another port"
            }
            _ if is_out_of_descriptors(&source) => {
                "more open files are allowed with `ulimit -n`; or use fewer --clients"
            }
            _ => "check the address and the network",
        };
        Self { what: "connecting".into(), source: Some(source), hint: hint.into() }
    }

    /// Makes the error of a connection that broke while TLS or WebSocket was agreed on.
    pub(crate) fn broke(during: &str, source: io::Error) -> Self {
        match tls_error(&source) {
            Some(error) => Self::tls(error),
            None if source.kind() == ErrorKind::UnexpectedEof => Self::ended(during),
            None => {
                Self { what: during.into(), source: Some(source), hint: other_port(during).into() }
            }
        }
    }

    /// Makes the error of a broker that closed the connection during the handshake of that name.
    pub(crate) fn ended(during: &str) -> Self {
        Self::new(
            format!("the broker closed the connection during the {during}"),
            other_port(during),
        )
    }

    /// Makes the error of a handshake that was not answered.
    pub(crate) fn silent(during: &str) -> Self {
        Self::new(
            format!("the broker is silent: the {during} was not answered"),
            other_port(during),
        )
    }

    /// Makes the error of a TLS failure that rustls found.
    #[must_use]
    pub fn tls(error: &TlsError) -> Self {
        let client = "give a client certificate that the broker knows with --cert and --key";
        let (what, hint) = match error {
            TlsError::InvalidCertificate(why) => return certificate(why),
            TlsError::AlertReceived(alert) => match alert {
                AlertDescription::CertificateRequired
                | AlertDescription::BadCertificate
                | AlertDescription::UnknownCA
                | AlertDescription::CertificateUnknown
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateRevoked
                | AlertDescription::AccessDenied
                | AlertDescription::UnsupportedCertificate => (
                    format!(
                        "the broker refuses the client's certificate, or wants one ({alert:?})"
                    ),
                    client,
                ),
                AlertDescription::HandshakeFailure => (
                    "the broker refuses the TLS handshake".into(),
                    "it may want a client certificate (--cert and --key), or speak old ciphers only",
                ),
                AlertDescription::UnrecognisedName => (
                    "the broker does not know that name".into(),
                    "give the one it knows with --server-name",
                ),
                AlertDescription::ProtocolVersion => (
                    "the broker speaks no version of TLS that is still in use".into(),
                    "it must speak TLS 1.2 or 1.3",
                ),
                _ => (format!("the broker ended TLS ({alert:?})"), "look at the broker's log"),
            },
            TlsError::InvalidMessage(_)
            | TlsError::InappropriateMessage { .. }
            | TlsError::InappropriateHandshakeMessage { .. } => (
                "the broker does not speak TLS on that port".into(),
                "write mqtt:// (or ws://) for a port without TLS, or name its TLS port",
            ),
            TlsError::PeerIncompatible(why) => (
                format!("the broker's TLS has nothing in common with this one ({why:?})"),
                "it must speak TLS 1.2 or 1.3 with a usual cipher suite",
            ),
            TlsError::NoCertificatesPresented => {
                ("the broker shows no certificate".into(), "look at the broker's settings")
            }
            other => (format!("TLS failed: {other}"), "look at the broker's log"),
        };
        Self::new(what, hint)
    }

    /// Makes the error of bytes that are no WebSocket's.
    pub(crate) fn websocket(malformed: MalformedFrame) -> Self {
        Self::new(
            format!("the broker sent what WebSocket does not allow: {}", malformed.0),
            "check that a WebSocket listener of a broker is behind that port and path",
        )
    }

    /// Makes the error of an upgrade that was answered with another status.
    pub(crate) fn status(status: u16, location: Option<&str>, path: &str) -> Self {
        let what = format!("the WebSocket at {path} was refused with HTTP status {status}");
        let hint = match (status, location) {
            (300..=399, Some(location)) => {
                let location: String =
                    location.chars().filter(|c| !is_unsafe(*c)).take(200).collect();
                format!("it is sent on to {location}: name that place, as ws:// or wss://")
            }
            (400, _) => "if that port speaks TLS, write wss://; or check the path".into(),
            (401 | 403, _) => {
                "the server in front of the broker wants a login that this client has not".into()
            }
            (404 | 405, _) => {
                format!("name the broker's path instead of {path}; brokers use /mqtt, /ws or /")
            }
            (426, _) => "the server wants another version of HTTP".into(),
            (500..=599, _) => {
                "the server in front of the broker has a fault: look at its log".into()
            }
            _ => "check port and path".into(),
        };
        Self::new(what, hint)
    }
}

/// Finds the error of rustls within an I/O error.
#[must_use]
pub fn tls_error(error: &io::Error) -> Option<&TlsError> {
    error.get_ref()?.downcast_ref()
}

/// Returns whether the process or the system has no descriptor left.
pub(crate) fn is_out_of_descriptors(error: &io::Error) -> bool {
    // EMFILE and ENFILE of every Unix.
    matches!(error.raw_os_error(), Some(23 | 24)) && cfg!(unix)
}

/// Returns the advice for a handshake that breaks.
fn other_port(during: &str) -> &'static str {
    if during == "TLS handshake" {
        "check that the port speaks TLS (mqtts: 8883), or write mqtt:// (or ws://)"
    } else {
        "check that the port is the broker's WebSocket listener, and the path"
    }
}

fn certificate(error: &CertificateError) -> TransportError {
    let (what, hint): (String, String) = match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => (
            "the broker's certificate has expired".into(),
            "renew it, or set this computer's clock; --insecure measures all the same".into(),
        ),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => (
            "the broker's certificate is not valid yet".into(),
            "set this computer's clock; --insecure measures all the same".into(),
        ),
        CertificateError::UnknownIssuer => (
            "the broker's certificate is of an authority that is not trusted here".into(),
            "give the authority's certificate with --ca FILE; --insecure measures all the same".into(),
        ),
        CertificateError::NotValidForName => wrong_name(String::new()),
        CertificateError::NotValidForNameContext { presented, .. } => {
            wrong_name(format!(": it is for {}", presented.join(", ")))
        }
        CertificateError::Revoked => ("the broker's certificate is revoked".into(), "renew it".into()),
        other => (
            format!("the broker's certificate is not acceptable: {}", TlsError::from(other.clone())),
            "make one of X.509 version 3 with a subjectAltName, which is not itself an authority's; \
             --insecure measures all the same"
                .into(),
        ),
    };
    TransportError::new(what, hint)
}

fn wrong_name(names: String) -> (String, String) {
    (
        format!("the broker's certificate is not for that name{names}"),
        "name the broker as its certificate does, or give that name with --server-name".into(),
    )
}
