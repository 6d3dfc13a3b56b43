//! System calls that differ by platform, each with a fallback.
//!
//! The only place with `unsafe`.
//!
//! | module | contents |
//! |---|---|
//! | [`udp`], [`stamp`], [`icmp`] | datagrams: batches of them, with receive stamps, of ICMP |
//! | [`tcp`], [`tcp_window`] | the kernel's record of a TCP connection |
//! | [`options`], [`buffers`] | options of sockets, and buffers beyond the default limit |
//! | [`ready`], [`timer`] | waits for sockets, and for an instant |
//! | [`host`], [`cpu`], [`files`] | the machine, this process's CPU time, its limit of open files, the length of files |
//! | [`localtime`], [`terminal`], [`hangup`] | local time, the terminal, SIGHUP |
//! | [`modem`], [`keys`] | control lines of serial ports; keys one by one |
//! | [`pty`], [`local_socket`] | pseudo-terminals; sockets that are files |
//! | [`namespace`], [`tun`] | a network of this process's own, and an interface in it |

pub mod buffers;
pub mod cpu;
pub mod files;
pub mod hangup;
pub mod host;
pub mod icmp;
pub mod keys;
pub mod local_socket;
pub mod localtime;
#[cfg(unix)]
pub mod modem;
pub mod namespace;
pub mod options;
pub mod pty;
pub mod ready;
pub mod stamp;
pub mod tcp;
pub mod tcp_window;
pub mod terminal;
pub mod timer;
pub mod tun;
pub mod udp;

use std::num::NonZeroUsize;
use std::sync::LazyLock;

/// Returns the number of threads: one for each core, if none is given.
#[must_use]
pub fn threads(given: Option<u16>) -> NonZeroUsize {
    // The system is asked once: on Linux the answer stands in files of control groups.
    static CORES: LazyLock<NonZeroUsize> =
        LazyLock::new(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
    given.and_then(|given| NonZeroUsize::new(given.into())).unwrap_or_else(|| *CORES)
}
