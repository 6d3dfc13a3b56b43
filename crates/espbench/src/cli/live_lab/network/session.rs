//! The network in which a command runs: namespaces, interface, names of hosts, and the command.

use crate::sys::namespace::{self, NamespaceError};
use crate::sys::tun::Tun;
use crate::user_error::UserError;
use espbench_sim::lab::live::{DOMAIN, LiveHost, LiveRole};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};

/// Name of the interface.
const INTERFACE: &str = "esp0";

/// Bits of the network that a lab's machines are in: 10.0.0.0/16.
const PREFIX: u8 = 16;

/// File in which names of hosts are looked up first.
const HOSTS: &str = "/etc/hosts";

/// File that says who is asked for names.
const RESOLVER: &str = "/etc/resolv.conf";

/// A network of this process's own, and a command in it.
#[derive(Debug)]
pub(super) struct NetworkSession {
    pub(super) tun: Tun,
    child: Option<Child>,
    /// Variables of the command's environment beside those of this process.
    pub(super) environment: Vec<(&'static str, OsString)>,
}

/// How the network is set up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SessionSetup {
    /// Whether the interface has no address: a client of DHCP asks for one.
    pub(super) without_address: bool,
}

impl NetworkSession {
    /// Puts this process into a network of its own, where the PC among the hosts is this machine.
    pub(super) fn open(hosts: &[LiveHost], setup: SessionSetup) -> anyhow::Result<Self> {
        let address = |role| hosts.iter().find(|it| it.role == role).map(|it| it.address.into());
        let own = if setup.without_address { None } else { address(LiveRole::Pc) };
        namespace::enter().map_err(no_rights)?;
        let tun = Tun::open(INTERFACE, own, PREFIX).map_err(no_tun)?;
        name(hosts)?;
        if let Some(router) = address(LiveRole::Router) {
            // Where that file is none, names are in the other one.
            let _ = resolve(router);
        }
        Ok(Self { tun, child: None, environment: Vec::new() })
    }

    /// Starts the command; a shell where there is none.
    pub(super) fn start(&mut self, command: &[OsString]) -> anyhow::Result<()> {
        let shell = || std::env::var_os("SHELL").unwrap_or_else(|| "sh".into());
        let (program, arguments) = match command {
            [program, arguments @ ..] => (program.clone(), arguments),
            [] => (shell(), &[][..]),
        };
        let child = Command::new(&program)
            .args(arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .spawn();
        let child = child.map_err(|error| {
            UserError::new(format!("cannot start `{}`", program.to_string_lossy()))
                .because(error)
                .remedy("give a program of this machine after --")
        })?;
        self.child = Some(child);
        Ok(())
    }

    /// Returns how the command has ended, once it has.
    pub(super) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.as_mut().map_or(Ok(None), Child::try_wait)
    }

    /// Ends the command.
    pub(super) fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for NetworkSession {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Lets the names of hosts be found by all programs of this process's namespaces.
fn name(hosts: &[LiveHost]) -> anyhow::Result<()> {
    let mut text = String::from("127.0.0.1 localhost\n::1 localhost\n");
    for LiveHost { name, address, .. } in hosts {
        text += &format!("{} {name}\n", Ipv4Addr::from(*address));
    }
    Ok(bind("hosts", &text, HOSTS).map_err(|error| cannot_name(&error))?)
}

/// Lets all programs of this process's namespaces ask the router for names.
fn resolve(router: Ipv4Addr) -> io::Result<()> {
    // Ten seconds of silence would be the default.
    let text = format!("nameserver {router}\nsearch {DOMAIN}\noptions timeout:1 attempts:3\n");
    let place = std::fs::canonicalize(RESOLVER)?;
    bind("resolv", &text, &place)
}

/// Puts a text in a file's place, for the programs of this process's namespaces.
fn bind(name: &str, text: &str, place: impl AsRef<Path>) -> io::Result<()> {
    let file = temporary(name, text)?;
    let bound = namespace::bind_file(&file, place.as_ref());
    // The mount keeps what is in it.
    let _ = std::fs::remove_file(&file);
    bound.map_err(|NamespaceError { error, .. }| error)
}

/// Writes a text to a new file that everybody may read.
fn temporary(name: &str, text: &str) -> io::Result<PathBuf> {
    let path = std::env::temp_dir().join(format!("espbench-{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
    file.write_all(text.as_bytes())?;
    Ok(path)
}

fn cannot_name(error: &io::Error) -> UserError {
    UserError::new(format!("the devices' names cannot be put into {HOSTS}"))
        .because(error)
        .remedy("the folder for temporary files (TMPDIR) must be writable, and /etc/hosts a file")
}

fn no_rights(NamespaceError { step, error }: NamespaceError) -> UserError {
    UserError::new("the lab gets no network of its own").because(format!("{step}: {error}")).remedy(
        "start it with `unshare -Ur`, as root, or let users have namespaces (sysctl \
         user.max_user_namespaces, kernel.unprivileged_userns_clone=1, \
         kernel.apparmor_restrict_unprivileged_userns=0); consoles and captures of `espbench live \
         --pty`, and `espbench run --on sim:LAB`, need no rights",
    )
}

fn no_tun(error: io::Error) -> UserError {
    UserError::new("the lab gets no network interface")
        .because(format!("/dev/net/tun: {error}"))
        .remedy(
            "load the kernel's module (modprobe tun), and give a container the device (--device \
         /dev/net/tun); consoles and captures of `espbench live --pty`, and `espbench run --on \
         sim:LAB`, need no rights",
        )
}
