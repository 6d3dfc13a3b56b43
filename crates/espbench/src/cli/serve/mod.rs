//! `espbench serve`: the page for a browser, from a folder.
//!
//! | module | contents |
//! |---|---|
//! | `files` | files of the page by their paths |

mod files;

use super::flow::on_interrupt;
use super::http::{self, HttpLimits, HttpReply, Request};
use super::output;
use crate::user_error::{ForUser as _, UserError};
use files::PageFiles;
use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Port, if nothing else is said.
const PORT: u16 = 8370;

/// A browser has some six connections for each of its tabs.
const LIMITS: HttpLimits = HttpLimits { connections: 64, patience: Duration::from_secs(20) };

/// Rights of the page: it runs its own scripts, and fetches its own files. The page says the same itself, for
/// other hosts.
const POLICY: &str = "\
Content-Security-Policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
img-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; \
form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
trusted-types espbench\r\n\
X-Content-Type-Options: nosniff\r\n\
Referrer-Policy: no-referrer\r\n\
Cross-Origin-Opener-Policy: same-origin\r\n\
Cross-Origin-Resource-Policy: same-origin\r\n";

const AFTER_HELP: &str = "\
The page runs the lab in the browser: draw a room and run it, predict, compare settings, ask the doctor. \
Nothing is sent anywhere, and this command only hands its files out. They are static: any host can have them.

Examples:
  espbench serve
  espbench serve --page site --port 9000

Exit status: 0 stopped, 2 there is no page, or the port is taken.";

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Folder of the page [default: share/espbench/page beside the command or its folder]
    #[arg(long, value_name = "FOLDER", env = "ESPBENCH_PAGE")]
    page: Option<PathBuf>,
    /// Address to listen on; 0.0.0.0 is every network of this machine
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// Port; 0: one that is free
    #[arg(long, default_value_t = PORT)]
    port: u16,
}

/// Runs the subcommand.
///
/// # Errors
/// There is no page, or the port cannot be listened on.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let files = PageFiles::find(args.page.as_deref())?;
    let stop = on_interrupt()?;
    let address = SocketAddr::new(args.bind, args.port);
    let listener = TcpListener::bind(address)
        .for_user(|| format!("cannot listen on {address}"), "choose another port with --port")?;
    listener.set_nonblocking(true)?;
    output::print(&format!("http://{}/\n", listener.local_addr()?))?;
    http::serve(&listener, LIMITS, &stop, |request| answer(request, &files));
    Ok(ExitCode::SUCCESS)
}

fn answer<'a>(request: &Request, files: &'a PageFiles) -> HttpReply<'a> {
    match request {
        Request::Get { path, .. } => match files.get(path) {
            Some(file) => {
                let kept = if file.is_named_by_content {
                    "public, max-age=31536000, immutable"
                } else {
                    "no-cache"
                };
                HttpReply {
                    kind: file.kind,
                    head: Cow::Owned(format!("{POLICY}Cache-Control: {kept}\r\n")),
                    body: Cow::Borrowed(&file.bytes),
                    ..HttpReply::said("200 OK", "")
                }
            }
            None => HttpReply::said("404 Not Found", "the page is at /\n"),
        },
        Request::OtherMethod => HttpReply::other_method(),
        Request::Nonsense => HttpReply::nonsense(),
    }
}

/// Says that there is no page.
fn no_page(why: String) -> UserError {
    UserError::new("there is no page to serve")
        .because(why)
        .remedy("releases, packages and wheels carry it; in a checkout `ci/page.sh` builds it into target/share/espbench/page, which --page names")
}
