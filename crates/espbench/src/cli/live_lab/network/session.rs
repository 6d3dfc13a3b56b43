//! The network in which a command runs: namespaces, interface, names of hosts, and the command.

use crate::sys::namespace::{self, NamespaceError};
use crate::sys::tun::Tun;
use crate::user_error::UserError;
use espbench_sim::lab::live::LiveHost;
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

/// A network of this process's own, and a command in it.
#[derive(Debug)]
pub(super) struct NetworkSession {
    pub(super) tun: Tun,
    child: Option<Child>,
}

impl NetworkSession {
    /// Puts this process into a network of its own, where the last of the hosts is this machine.
    pub(super) fn open(hosts: &[LiveHost]) -> anyhow::Result<Self> {
        let own = hosts.last().map_or(Ipv4Addr::UNSPECIFIED, |it| it.address.into());
        namespace::enter().map_err(no_rights)?;
        let tun = Tun::open(INTERFACE, own, PREFIX).map_err(no_tun)?;
        name(hosts)?;
        Ok(Self { tun, child: None })
    }

    /// Starts the command; a shell where there is none.
    pub(super) fn start(&mut self, command: &[OsString]) -> anyhow::Result<()> {
        let shell = || std::env::var_os("SHELL").unwrap_or_else(|| "sh".into());
        let (program, arguments) = match command {
            [program, arguments @ ..] => (program.clone(), arguments),
            [] => (shell(), &[][..]),
        };
        let child = Command::new(&program).args(arguments).spawn().map_err(|error| {
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
    let file = temporary(&text).map_err(|error| cannot_name(&error))?;
    let bound = namespace::bind_file(&file, Path::new(HOSTS));
    // The mount keeps what is in it.
    let _ = std::fs::remove_file(&file);
    Ok(bound.map_err(|NamespaceError { error, .. }| cannot_name(&error))?)
}

/// Writes a text to a new file that everybody may read.
fn temporary(text: &str) -> io::Result<PathBuf> {
    let path = std::env::temp_dir().join(format!("espbench-hosts-{}", std::process::id()));
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
