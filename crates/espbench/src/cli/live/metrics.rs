//! `--openmetrics`: the figures so far, in a file or over HTTP.

use super::Now;
use crate::cli::file;
use crate::cli::http::{self, HttpLimits, HttpReply, Request};
use crate::cli::output::cannot_write;
use crate::cli::thread;
use crate::render::openmetrics;
use crate::say::say;
use crate::user_error::UserError;
use anyhow::Context as _;
use std::net::{Ipv4Addr, TcpListener, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between two writings of the file.
const TICK: Duration = Duration::from_secs(1);

/// Scrapers at a time, and how long one may take.
const LIMITS: HttpLimits = HttpLimits { connections: 8, patience: Duration::from_secs(3) };

/// Where the figures are to be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    /// In a file, which is replaced each second.
    File(PathBuf),
    /// Over HTTP, at this host (loopback, where it is empty) and port.
    Http(String, u16),
}

/// Parses `FILE`, `:PORT` or `HOST:PORT`: what ends with a colon and a number is an address.
///
/// # Errors
/// The number is no port.
pub fn parse(text: &str) -> Result<Where, String> {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|c| c.is_ascii_digit());
    match text.rsplit_once(':').filter(|(_, port)| is_port(port)) {
        Some((host, port)) => {
            let port = port.parse().map_err(|_| format!("{port} is no port: 0 to 65535"))?;
            Ok(Where::Http(host.trim_matches(['[', ']']).to_owned(), port))
        }
        None if text.is_empty() => Err("give a file, :PORT or HOST:PORT".into()),
        None => Ok(Where::File(text.into())),
    }
}

/// A place that can be written to, or listened on.
#[derive(Debug)]
pub enum Outlet {
    /// A file.
    File(PathBuf),
    /// A listening socket.
    Http(TcpListener),
}

impl Outlet {
    /// Opens the place, before anything is measured.
    ///
    /// # Errors
    /// It cannot be written to, or listened on.
    pub fn open(place: &Where) -> anyhow::Result<Self> {
        let (host, port) = match place {
            Where::File(path) => {
                file::swap(path, b"# EOF\n").with_context(|| cannot_write(path))?;
                return Ok(Self::File(path.clone()));
            }
            Where::Http(host, port) => (host, *port),
        };
        let listener = if host.is_empty() {
            TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        } else {
            (host.as_str(), port)
                .to_socket_addrs()
                .and_then(|found| TcpListener::bind(found.collect::<Vec<_>>().as_slice()))
        };
        let listener = listener.with_context(|| {
            format!("cannot serve OpenMetrics on {host}:{port}: choose another port, or a file")
        })?;
        listener.set_nonblocking(true)?;
        say!("OpenMetrics on http://{}/metrics", listener.local_addr()?);
        Ok(Self::Http(listener))
    }
}

/// The thread that keeps the figures current.
#[derive(Debug)]
pub(super) struct Metrics {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Metrics {
    /// Starts the thread.
    ///
    /// # Errors
    /// There is none to be had.
    pub(super) fn start(outlet: Outlet, now: Arc<Now>) -> Result<Self, UserError> {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = thread::start("--openmetrics", move || match outlet {
            Outlet::File(path) => keep(&path, &now, &flag),
            Outlet::Http(listener) => http::serve(&listener, LIMITS, &flag, |it| answer(it, &now)),
        })?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Metrics {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Answers a scraper.
fn answer(request: &Request, now: &Now) -> HttpReply<'static> {
    match request {
        Request::Get { path, .. } if path == "/metrics" || path == "/" => HttpReply {
            kind: openmetrics::CONTENT_TYPE,
            body: openmetrics::render(&now.snapshot()).into_bytes().into(),
            ..HttpReply::said("200 OK", "")
        },
        Request::Get { .. } => HttpReply::said("404 Not Found", "the figures are at /metrics\n"),
        Request::OtherMethod => HttpReply::other_method(),
        Request::Nonsense => HttpReply::nonsense(),
    }
}

/// Replaces the file each second, and once more at the end. A failure is told once, until it is over.
fn keep(path: &Path, now: &Now, stop: &AtomicBool) {
    let mut failed = false;
    loop {
        let last = stop.load(Ordering::Relaxed);
        let written = file::swap(path, openmetrics::render(&now.snapshot()).as_bytes());
        if let Err(error) = &written
            && !failed
        {
            say!("espbench: {}: {error}; the run goes on", cannot_write(path));
        }
        failed = written.is_err();
        if last {
            return;
        }
        let next = Instant::now() + TICK;
        while !stop.load(Ordering::Relaxed) && Instant::now() < next {
            std::thread::park_timeout(next.saturating_duration_since(Instant::now()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_with_a_port_is_an_address() {
        let http = |host: &str, port| Ok(Where::Http(host.into(), port));
        assert_eq!(parse(":9100"), http("", 9100));
        assert_eq!(parse("0.0.0.0:9100"), http("0.0.0.0", 9100));
        assert_eq!(parse("[::1]:9100"), http("::1", 9100));
        for name in ["espbench.prom", "./a:b", "/var/lib/node_exporter/espbench.prom", "C:\\a.prom"]
        {
            assert_eq!(parse(name), Ok(Where::File(name.into())));
        }
        assert!(parse(":99999").is_err() && parse("").is_err());
    }
}
