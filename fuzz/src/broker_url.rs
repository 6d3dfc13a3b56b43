//! URLs of MQTT brokers as people type them.

#[allow(dead_code, unreachable_pub, reason = "compiled by itself, without the rest of its crate")]
#[path = "../../crates/espbench/src/transport/url.rs"]
mod url;

use url::Url;

/// Parses text as a URL: a URL that is shown names the same broker, and never shows a password.
pub fn broker_url(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(read) = Url::parse(text) {
        assert!(!read.host.is_empty() && read.port > 0);
        assert_eq!(read.path.is_empty(), !read.scheme.is_websocket());
        let shown = Url::parse(&Url::without_user(text)).expect("the same without its user");
        assert_eq!((shown.scheme, shown.host, shown.port), (read.scheme, read.host, read.port));
        assert_eq!(shown.path, read.path);
    }
    // A sign that `text` does not have, so that it is found wherever it is shown.
    let secret = "\u{1f511}";
    if text.contains(secret) {
        return;
    }
    for (before, more) in
        [("mqtts://me:", "@"), ("ws:me:", "@"), ("me:", "@"), ("mqtt://me:", "/@")]
    {
        let with_password = format!("{before}{secret}{more}{text}");
        if let Err(error) = Url::parse(&with_password) {
            assert!(!error.contains(secret), "{error}");
        }
        if before.contains("://") && more == "@" {
            assert!(!Url::without_user(&with_password).contains(secret));
        }
    }
}
