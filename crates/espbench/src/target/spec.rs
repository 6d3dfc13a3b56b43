//! Targets as they are typed: `loopback`, `sim[:LAB]`, `udp:HOST[:PORT]`, `icmp:HOST`, `tcp:…`, `iperf:…`,
//! `mqtt:…`, `mqtts:…`, `ws://…`, `wss://…`, `serial:…`.

use super::Target;
use super::iperf::IperfTarget;
use super::loopback::LoopbackTarget;
use super::mqtt::MqttTarget;
use super::ping::PingTarget;
use super::sim::SimTarget;
use super::tcp_rate::TcpRateTarget;
use super::udp_echo::EchoTarget;
use crate::respond::echo::{SKETCH_PORT, SKETCH_REPLY_PORT};
use crate::respond::tcp;
use crate::sys;
use crate::transport::{BrokerAddress, Tls, TlsFiles, Url};
use crate::user_error::UserError;
use espbench_measure::run::Site;
use espbench_proto::wire::iperf2;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::sync::Arc;

/// Advice to whoever typed another form.
const USE: &str = "use one of loopback, sim[:LAB], udp:HOST[:PORT], icmp:HOST, tcp:HOST[:PORT], \
                   iperf:HOST[:PORT], mqtt:HOST[:PORT], mqtts:HOST[:PORT], ws://HOST[:PORT][/PATH], \
                   wss://HOST[:PORT][/PATH], serial:PORT[,PORT…], serial:auto, replay:RUN";

fn wrong(what: String, remedy: &str) -> UserError {
    UserError::new(what).remedy(remedy)
}

fn not_looked_up(host: &str, error: &std::io::Error) -> UserError {
    let remedy = "check the name or give an IP address";
    UserError::new(format!("`{host}` cannot be looked up")).because(error).remedy(remedy)
}

/// The user's options for reaching a target.
#[derive(Debug, Default)]
pub struct Access {
    /// The device and the place.
    pub site: Site,
    /// Port that echo replies come to; 10001, as the published sketch has it, where not given.
    pub local_port: Option<u16>,
    /// User name at an MQTT broker.
    pub username: Option<String>,
    /// Password at an MQTT broker.
    pub password: Option<String>,
    /// Client identifier at an MQTT broker; one of this process's own where not given.
    pub client_id: Option<String>,
    /// Keep-alive seconds asked of an MQTT broker; the default where not given.
    pub keep_alive: Option<u16>,
    /// Certificates of an MQTT broker's TLS.
    pub tls: TlsFiles,
    /// File for captures of the virtual lab's air.
    pub capture: Option<PathBuf>,
    /// Threads of the virtual lab; one for each core where not given.
    pub threads: Option<u16>,
    /// MQTT topic; one of this process's own where not given.
    pub topic: Option<String>,
}

/// Kinds of targets, as the beginnings of their descriptions.
const KINDS: [&str; 11] = [
    "sim:", "udp:", "icmp:", "tcp:", "iperf:", "mqtt:", "mqtts:", "ws://", "wss://", "serial:",
    "replay:",
];

/// Returns whether a text is the description of a target, right or not.
#[must_use]
pub fn is_one(text: &str) -> bool {
    ["sim", "loopback"].contains(&text) || KINDS.iter().any(|it| text.starts_with(it))
}

/// Parses the description of a target. `replay:` needs the store and is not known here.
///
/// # Errors
/// The mistake in the text, and what to write in its place.
pub fn parse(text: &str, access: &Access) -> Result<Box<dyn Target>, UserError> {
    if text == "loopback" {
        return Ok(Box::<LoopbackTarget>::default());
    }
    if text == "sim" || text.starts_with("sim:") {
        let lab = text.strip_prefix("sim:").filter(|lab| !lab.is_empty());
        return sim(lab, access);
    }
    if Url::is_one(text) {
        return Ok(Box::new(broker(text, access)?));
    }
    let (kind, rest) =
        text.split_once(':').ok_or_else(|| wrong(format!("`{text}` is no target"), USE))?;
    let site = access.site.clone();
    Ok(match kind {
        "udp" => Box::new(EchoTarget {
            peer: address(rest, SKETCH_PORT)?,
            local_port: access.local_port.unwrap_or(SKETCH_REPLY_PORT),
            site,
        }),
        "icmp" => Box::new(PingTarget { peer: host(rest, None)?, site }),
        "tcp" => Box::new(TcpRateTarget::new(address(rest, tcp::SINK_PORT)?, site)),
        "iperf" => Box::new(IperfTarget::new(address(rest, iperf2::PORT)?, site)),
        "serial" => {
            let remedy = "espbench run PLAN --on serial:auto";
            return Err(wrong("boards on serial ports carry out plans".into(), remedy));
        }
        _ => return Err(wrong(format!("`{kind}:` is no kind of target"), USE)),
    })
}

/// Parses an MQTT broker, with or without a scheme. User and password of the URL count before those
/// of `access`.
///
/// # Errors
/// The mistake in the text, and what to write in its place.
pub fn broker(text: &str, access: &Access) -> Result<MqttTarget, UserError> {
    let url = Url::parse(text)?;
    let address = lookup(&url.host, url.port)?;
    let tls = if url.scheme.is_tls() {
        Some(Arc::new(Tls::new(&access.tls, &url.host)?))
    } else if access.tls.is_given() {
        let what = format!("{}:// has no TLS, so certificates have no use", url.scheme.name());
        return Err(wrong(what, "write mqtts:// or wss://"));
    } else {
        None
    };
    let Url { scheme, username, password, host, path, .. } = url;
    let defaults = MqttTarget::new(address, access.site.clone());
    Ok(MqttTarget {
        endpoint: BrokerAddress { address, scheme, host, path, tls },
        username: username.or_else(|| access.username.clone()),
        password: password.or_else(|| access.password.clone()),
        client_id: access.client_id.clone(),
        keep_alive: access.keep_alive.unwrap_or(defaults.keep_alive),
        topic: access.topic.clone(),
        ..defaults
    })
}

/// Makes the virtual lab, which knows its devices and its place itself.
fn sim(
    lab: Option<&str>,
    Access { site, capture, threads, .. }: &Access,
) -> Result<Box<dyn Target>, UserError> {
    let unsaid = |word: &str| word.is_empty() || word == "unstated";
    if !unsaid(&site.chip)
        || !unsaid(&site.mode)
        || site.distance_m.is_some()
        || site.security.is_some()
        || site.environment.is_some()
    {
        return Err(wrong(
            "in the virtual lab, the lab and the plan say what the device and the place are".into(),
            "leave out --chip, --mode, --security, --environment and --distance; --distance of `run` moves the devices",
        ));
    }
    let target = SimTarget::new(lab, sys::threads(*threads)).map_err(UserError::from)?;
    Ok(Box::new(target.capturing(capture.clone())))
}

/// Resolves `HOST`, `HOST:PORT`, `[V6]:PORT` to an address; names are looked up, IPv4 first.
///
/// # Errors
/// The mistake in the text, and what to write in its place.
pub fn address(text: &str, port: u16) -> Result<SocketAddr, UserError> {
    if text.is_empty() {
        return Err(wrong("a host is missing".into(), "write HOST or HOST:PORT"));
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address);
    }
    if let Ok(ip) = text.trim_matches(['[', ']']).parse::<std::net::IpAddr>() {
        return Ok(SocketAddr::new(ip, port));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, digits)) => (
            host,
            digits.parse().map_err(|_| {
                wrong(format!("`{digits}` in `{text}` is no port"), "use 1 to 65535")
            })?,
        ),
        None => (text, port),
    };
    lookup(host, port)
}

/// Looks up the address of a name, IPv4 first.
fn lookup(host: &str, port: u16) -> Result<SocketAddr, UserError> {
    let found: Vec<SocketAddr> =
        (host, port).to_socket_addrs().map_err(|error| not_looked_up(host, &error))?.collect();
    found
        .iter()
        .find(|a| a.is_ipv4())
        .or(found.first())
        .copied()
        .ok_or_else(|| UserError::new(format!("`{host}` has no address")))
}

/// Resolves a host without a port to an address with port 0; of a name the one of that version of
/// IP, or else IPv4 first. A zone may follow a link-local address: `fe80::1%wlan0` (RFC 4007,
/// section 11).
///
/// # Errors
/// The mistake in the text, and what to write in its place.
pub fn host(text: &str, v6: Option<bool>) -> Result<SocketAddr, UserError> {
    if text.is_empty() {
        return Err(wrong("a host is missing".into(), "write a name or an IP address"));
    }
    if text.parse::<SocketAddr>().is_ok() {
        return Err(wrong(format!("`{text}` has a port, and ICMP has none"), "leave it out"));
    }
    let name = text.trim_matches(['[', ']']);
    let found: Vec<SocketAddr> =
        (name, 0).to_socket_addrs().map_err(|error| not_looked_up(text, &error))?.collect();
    let wanted = |a: &&SocketAddr| v6.is_none_or(|v6| a.is_ipv6() == v6);
    let first = found.iter().find(|a| a.is_ipv4() && wanted(a));
    first.or_else(|| found.iter().find(wanted)).copied().ok_or_else(|| match v6 {
        Some(true) => wrong(format!("`{text}` has no IPv6 address"), "leave out -6"),
        Some(false) => wrong(format!("`{text}` has no IPv4 address"), "leave out -4"),
        None => UserError::new(format!("`{text}` has no address")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_and_without_a_port() {
        assert_eq!(address("192.0.2.7", 5001), Ok("192.0.2.7:5001".parse().unwrap()));
        assert_eq!(address("192.0.2.7:80", 5001), Ok("192.0.2.7:80".parse().unwrap()));
        assert_eq!(address("::1", 5001), Ok("[::1]:5001".parse().unwrap()));
        assert_eq!(address("[::1]:80", 5001), Ok("[::1]:80".parse().unwrap()));
        assert_eq!(address("localhost:80", 1).map(|a| a.port()), Ok(80));
        assert!(address("", 1).unwrap_err().to_string().contains("a host is missing"));
        assert!(address("localhost:http", 1).unwrap_err().to_string().contains("is no port"));
        assert!(address("localhost:70000", 1).unwrap_err().to_string().contains("use 1 to 65535"));
    }

    #[test]
    fn hosts_have_no_port() {
        assert_eq!(host("192.0.2.7", None), Ok("192.0.2.7:0".parse().unwrap()));
        assert_eq!(host("[::1]", None), Ok("[::1]:0".parse().unwrap()));
        assert_eq!(host("::1", Some(true)), Ok("[::1]:0".parse().unwrap()));
        assert!(host("::1", Some(false)).unwrap_err().to_string().contains("no IPv4 address"));
        assert!(host("192.0.2.7:80", None).unwrap_err().to_string().contains("has a port"));
        assert!(host("", None).unwrap_err().to_string().contains("a host is missing"));
    }

    #[test]
    fn what_is_no_target_is_told_what_would_be() {
        let error = |text| parse(text, &Access::default()).err().unwrap().to_string();
        assert!(error("esp").contains("use one of loopback, sim[:LAB], udp:HOST"));
        assert!(error("ble:1").contains("no kind of target"));
        assert!(error("serial:/dev/ttyUSB0").contains("espbench run PLAN --on serial:auto"));
        assert!(error("sim:nowhere").contains("no lab is called `nowhere`. Known here: "));
        assert!(error("sim:no/such.toml").contains("cannot read the lab no/such.toml"));
    }
}
