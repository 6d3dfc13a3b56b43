//! Socket buffers beyond the default limit.

use socket2::SockRef;

/// Receive buffer that a UDP receiver asks for where the user names none: what a fast sender fills
/// in some tens of milliseconds, the time for which a thread may not run on a busy machine.
pub const UDP_RECEIVE: usize = 32 << 20;

/// Asks for a receive buffer of `bytes`; beyond the system's limit where the process may
/// (`SO_RCVBUFFORCE` needs `CAP_NET_ADMIN`). Answers what the system granted.
pub fn set_receive(socket: SockRef<'_>, bytes: usize) -> Option<usize> {
    if !force(&socket, bytes) {
        let _ = socket.set_recv_buffer_size(bytes);
    }
    socket.recv_buffer_size().ok()
}

#[cfg(target_os = "linux")]
fn force(socket: &SockRef<'_>, bytes: usize) -> bool {
    use std::os::fd::AsRawFd;
    let Ok(bytes) = libc::c_int::try_from(bytes) else { return false };
    // SAFETY: the descriptor is open for the life of `socket`, and the pointer and length describe
    // `bytes`. Without the privilege the call answers an error.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVBUFFORCE,
            (&raw const bytes).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    result == 0
}

#[cfg(not(target_os = "linux"))]
fn force(_socket: &SockRef<'_>, _bytes: usize) -> bool {
    false
}
