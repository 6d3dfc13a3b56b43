//! A network of this process's own: namespaces of users, networks and mounts (Linux), so that nothing
//! of the system's changes.

use std::io;

#[cfg(target_os = "linux")]
pub use linux::{bind_file, enter};

/// A step that could not be done, and the system's reason.
#[derive(Debug)]
pub struct NamespaceError {
    /// The step.
    pub step: &'static str,
    /// The system's error.
    pub error: io::Error,
}

impl NamespaceError {
    fn of(step: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self { step, error }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::NamespaceError;
    use std::ffi::CString;
    use std::io;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;

    fn checked(result: libc::c_int) -> io::Result<()> {
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn unshare(flags: libc::c_int) -> io::Result<()> {
        // SAFETY: a call without pointers.
        checked(unsafe { libc::unshare(flags) })
    }

    /// Puts this process into namespaces of its own for networks and mounts; without the right to do
    /// that, into one of users as well, where it is root. It must have one thread.
    ///
    /// # Errors
    /// The system allows neither.
    pub fn enter() -> Result<(), NamespaceError> {
        let own = libc::CLONE_NEWNET | libc::CLONE_NEWNS;
        // SAFETY: calls without arguments, which cannot fail.
        let (user, group) = unsafe { (libc::getuid(), libc::getgid()) };
        if unshare(own).is_err() {
            unshare(own | libc::CLONE_NEWUSER).map_err(NamespaceError::of("unshare"))?;
            let write = |file: &str, text: String| {
                std::fs::write(file, text).map_err(NamespaceError::of("the maps of users"))
            };
            write("/proc/self/setgroups", "deny".into())?;
            write("/proc/self/uid_map", format!("0 {user} 1"))?;
            write("/proc/self/gid_map", format!("0 {group} 1"))?;
        }
        keep_mounts().map_err(NamespaceError::of("mount"))
    }

    /// Keeps mounts of this process from spreading to the system.
    fn keep_mounts() -> io::Result<()> {
        let flags = libc::MS_REC | libc::MS_PRIVATE;
        // SAFETY: texts that end with zero and outlive the call; null where the call takes none.
        checked(unsafe {
            libc::mount(std::ptr::null(), c"/".as_ptr(), std::ptr::null(), flags, std::ptr::null())
        })
    }

    /// Lets a file stand in another one's place, for this process and those that it starts.
    ///
    /// # Errors
    /// The system's.
    pub fn bind_file(file: &Path, place: &Path) -> Result<(), NamespaceError> {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from);
        let bind = || {
            let (file, place) = (text(file)?, text(place)?);
            let none = std::ptr::null();
            // SAFETY: as above.
            checked(unsafe {
                libc::mount(file.as_ptr(), place.as_ptr(), none, libc::MS_BIND, none.cast())
            })
        };
        bind().map_err(NamespaceError::of("mount"))
    }
}

/// Says that this system has no namespaces.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn enter() -> Result<(), NamespaceError> {
    Err(NamespaceError::of("unshare")(io::ErrorKind::Unsupported.into()))
}

/// Says that this system has no namespaces.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn bind_file(_: &std::path::Path, _: &std::path::Path) -> Result<(), NamespaceError> {
    Err(NamespaceError::of("mount")(io::ErrorKind::Unsupported.into()))
}
