//! `mqtt://`, `mqtts://`, `ws://`, `wss://` as they are typed (RFC 3986):
//! `SCHEME://[USER[:PASSWORD]@]HOST[:PORT][/PATH]`, or in short `SCHEME:HOST[:PORT][/PATH]`.

/// A carrier of MQTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// TCP.
    #[default]
    Mqtt,
    /// TLS.
    Mqtts,
    /// WebSocket over TCP.
    Ws,
    /// WebSocket over TLS.
    Wss,
}

impl Scheme {
    /// Each of them.
    pub const ALL: [Self; 4] = [Self::Mqtt, Self::Mqtts, Self::Ws, Self::Wss];

    /// Returns the scheme as it is typed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mqtt => "mqtt",
            Self::Mqtts => "mqtts",
            Self::Ws => "ws",
            Self::Wss => "wss",
        }
    }

    /// Finds the scheme of that name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.name().eq_ignore_ascii_case(name))
    }

    /// Returns the default port (IANA; of WebSocket those of HTTP).
    #[must_use]
    pub const fn port(self) -> u16 {
        match self {
            Self::Mqtt => 1883,
            Self::Mqtts => 8883,
            Self::Ws => 80,
            Self::Wss => 443,
        }
    }

    /// Tells whether TLS is below.
    #[must_use]
    pub const fn is_tls(self) -> bool {
        matches!(self, Self::Mqtts | Self::Wss)
    }

    /// Tells whether a WebSocket is below.
    #[must_use]
    pub const fn is_websocket(self) -> bool {
        matches!(self, Self::Ws | Self::Wss)
    }
}

/// The path of brokers' WebSockets: what mosquitto, EMQX, HiveMQ and AWS IoT have, or take.
pub const PATH: &str = "/mqtt";

/// A broker as it was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    /// Carrier of MQTT.
    pub scheme: Scheme,
    /// User name, where one is named.
    pub username: Option<String>,
    /// Password, where one is named.
    pub password: Option<String>,
    /// Name or address, without brackets.
    pub host: String,
    /// Port; the scheme's own where none is named.
    pub port: u16,
    /// Path of the WebSocket, with its query; empty for the others.
    pub path: String,
}

impl Url {
    /// Reads one; without a scheme it is `mqtt`.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it, without the password.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (scheme, rest) = split(text);
        let scheme = match scheme {
            Some(name) => Scheme::of(name).ok_or_else(|| {
                format!("`{name}://` is no way to a broker: use mqtt, mqtts, ws or wss")
            })?,
            None => Scheme::Mqtt,
        };
        let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(at);
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, authority),
        };
        // A password with a `/` ends the authority early: what is shown then would be a part of it.
        let refused = |error| if path.contains('@') { not_encoded() } else { error };
        let (host, port) = host_and_port(place, scheme).map_err(refused)?;
        let path = path_of(scheme, path).map_err(refused)?;
        let mut url = Self { scheme, host, port, path, ..Self::default() };
        if let Some(user) = user {
            let (name, password) =
                user.split_once(':').map_or((user, None), |(name, word)| (name, Some(word)));
            url.username = Some(decoded(name)?);
            url.password = password.map(decoded).transpose()?;
        }
        Ok(url)
    }

    /// Tells whether `text` names a scheme of ours.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        split(text).0.and_then(Scheme::of).is_some()
    }

    /// Returns `text` without user and password, where it has a scheme, for whatever is shown or
    /// stored.
    #[must_use]
    pub fn without_user(text: &str) -> String {
        let (Some(_), rest) = split(text) else { return text.to_owned() };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        match authority.rfind('@') {
            Some(at) => format!("{}{}", &text[..text.len() - rest.len()], &rest[at + 1..]),
            None => text.to_owned(),
        }
    }
}

/// Splits off the scheme before `://` (or, if it is one of ours, before `:`).
fn split(text: &str) -> (Option<&str>, &str) {
    // Whatever else stands before `://` may be a password, which no error may show.
    let is_scheme = |c: u8| c.is_ascii_alphanumeric() || b"+-.".contains(&c);
    if let Some((scheme, rest)) = text.split_once("://").filter(|(s, _)| s.bytes().all(is_scheme)) {
        return (Some(scheme), rest);
    }
    match text.split_once(':') {
        Some((scheme, rest)) if Scheme::of(scheme).is_some() => (Some(scheme), rest),
        _ => (None, text),
    }
}

fn host_and_port(place: &str, scheme: Scheme) -> Result<(String, u16), String> {
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, port) =
                rest.split_once(']').ok_or_else(|| format!("`{place}` lacks a `]`"))?;
            (host, port.strip_prefix(':').or((!port.is_empty()).then_some(port)))
        }
        // An address of IPv6 without brackets has no port.
        None if place.matches(':').count() > 1 => (place, None),
        None => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
    };
    if host.is_empty() {
        return Err("a host is missing: write HOST or HOST:PORT".into());
    }
    if host.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Err(format!("`{}` is no host", host.escape_default()));
    }
    let port = match port {
        None | Some("") => scheme.port(),
        Some(digits) => digits
            .parse()
            .ok()
            .filter(|port| *port > 0 && digits.bytes().all(|c| c.is_ascii_digit()))
            .ok_or_else(|| format!("`{digits}` in `{place}` is no port: use 1 to 65535"))?,
    };
    Ok((host.to_owned(), port))
}

fn path_of(scheme: Scheme, path: &str) -> Result<String, String> {
    if !scheme.is_websocket() {
        return match path {
            "" | "/" => Ok(String::new()),
            _ => Err(format!("`{path}`: only ws:// and wss:// have a path")),
        };
    }
    if path.contains('#') {
        return Err("a WebSocket's URL has no fragment (`#`)".into());
    }
    if path.bytes().any(|c| !c.is_ascii_graphic()) {
        return Err("a path has letters, digits and signs only: write others as %XX".into());
    }
    Ok(match path {
        "" => PATH.into(),
        query if query.starts_with('?') => format!("/{query}"),
        path => path.into(),
    })
}

/// Takes percent-encoding away (RFC 3986, section 2.1).
fn decoded(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|c| char::from(c).to_digit(16));
        let (high, low) = (digit().ok_or_else(not_encoded)?, digit().ok_or_else(not_encoded)?);
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).map_err(|_| not_encoded())
}

fn not_encoded() -> String {
    "user and password: write signs such as `@` as %40, `/` as %2F, and `%` as %25".into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn brokers_as_they_are_typed() {
        let plain = url("192.0.2.7");
        assert_eq!(
            (plain.scheme, plain.host.as_str(), plain.port),
            (Scheme::Mqtt, "192.0.2.7", 1883)
        );
        assert_eq!(url("broker:1884").port, 1884);
        assert_eq!(url("mqtt:broker:1884"), url("mqtt://broker:1884"));
        let tls = url("mqtts://me:p%40ss%3aword@broker.example");
        assert_eq!(
            (tls.scheme, tls.host.as_str(), tls.port),
            (Scheme::Mqtts, "broker.example", 8883)
        );
        assert_eq!(tls.username.as_deref(), Some("me"));
        assert_eq!(tls.password.as_deref(), Some("p@ss:word"));
        assert_eq!((url("ws://h").path.as_str(), url("ws://h").port), ("/mqtt", 80));
        assert_eq!((url("wss://h/").path.as_str(), url("wss://h/").port), ("/", 443));
        assert_eq!(url("wss://h:9001/a/b?x=1").path, "/a/b?x=1");
        assert_eq!(url("ws://h?x=1").path, "/?x=1");
        assert_eq!((url("mqtts://[::1]:1").host.as_str(), url("mqtts://[::1]:1").port), ("::1", 1));
        assert_eq!((url("::1").host.as_str(), url("::1").port), ("::1", 1883));
        assert_eq!(url("mqtt://me@h").password, None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, word) in [
            ("http://h", "use mqtt, mqtts, ws or wss"),
            ("mqtt://", "a host is missing"),
            ("mqtts://:8883", "a host is missing"),
            ("mqtt://h:0", "is no port"),
            ("mqtt://h:+1", "is no port"),
            ("mqtt://h:70000", "is no port"),
            ("mqtt://h/path", "only ws:// and wss://"),
            ("ws://h/a#b", "no fragment"),
            ("ws://h/a b", "as %XX"),
            ("mqtt://[::1", "lacks a `]`"),
            ("mqtt://u:%zz@h", "as %40"),
        ] {
            let error = Url::parse(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn secrets_are_taken_out_of_what_is_shown() {
        assert_eq!(Url::without_user("mqtts://me:secret@h:1/x"), "mqtts://h:1/x");
        assert_eq!(Url::without_user("mqtt:me:s@h"), "mqtt:h");
        assert_eq!(Url::without_user("ws://h/a@b"), "ws://h/a@b");
        for text in
            ["mqtt://me:secret@:1", "mqtt://me:secret/x@h", "me:secret://@h", "ws://me:secret#@h"]
        {
            let error = Url::parse(text).unwrap_err();
            assert!(!error.contains("secret"), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
            if let Ok(url) = Url::parse(&text) {
                prop_assert!(!url.host.is_empty() && url.port > 0);
                let shown = Url::without_user(&text);
                let again = Url::parse(&shown).unwrap();
                let wanted = match split(&text).0 {
                    Some(_) => Url { username: None, password: None, ..url },
                    None => url,
                };
                prop_assert_eq!(again, wanted);
            }
        }

        #[test]
        fn no_error_shows_a_password(
            scheme in "([a-z]{0,4}://|wss?://|mqtts?:)?",
            more in "[/@:#?%a-z]{0,9}",
            rest in "@[^\\pCs]{0,30}",
        ) {
            if let Err(error) = Url::parse(&format!("{scheme}me:SECRET{more}{rest}")) {
                prop_assert!(!error.contains("SECRET"), "{}", error);
            }
        }

        #[test]
        fn users_and_passwords_go_through(user in "[^\\pC]{1,9}", word in "[^\\pC]{0,9}") {
            let encoded = |text: &str| -> String {
                text.bytes().map(|b| format!("%{b:02x}")).collect()
            };
            let url = url(&format!("mqtt://{}:{}@h", encoded(&user), encoded(&word)));
            prop_assert_eq!(url.username, Some(user));
            prop_assert_eq!(url.password, Some(word));
        }
    }
}
