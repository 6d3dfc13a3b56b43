//! How programs learn that devices are simulated: `espbench live` tells the programs that it starts by a
//! variable of their environment, and all others by a file for each pseudo-terminal. What is measured there is
//! neither measured on real devices nor simulated in virtual time: its origin is "live".

use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

/// Name of the variable; its value is a [`LiveMark`] as JSON.
pub const VARIABLE: &str = "ESPBENCH_LIVE";

/// A lab that runs in real time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveMark {
    /// Name of the lab.
    pub lab: String,
    /// Variant; empty where there is one only.
    #[serde(default)]
    pub variant: String,
    /// Address of the PC in it, where programs run; none of a fleet without IP.
    #[serde(default)]
    pub pc: Option<Ipv4Addr>,
    /// Process that runs the lab.
    pub process: u32,
}

impl LiveMark {
    /// Returns the lab in whose network this process is.
    #[must_use]
    pub fn of_environment() -> Option<Self> {
        serde_json::from_str(&std::env::var(VARIABLE).ok()?).ok()
    }

    /// Returns the lab whose simulated device has that address, if this process is in its network.
    #[must_use]
    pub fn of_peer(peer: IpAddr) -> Option<Self> {
        Self::of_environment().filter(|it| it.has(peer))
    }

    /// Returns whether an address is that of a simulated device: of the lab's network, and not the PC's own.
    fn has(&self, peer: IpAddr) -> bool {
        let (IpAddr::V4(peer), Some(pc)) = (peer, self.pc) else { return false };
        peer != pc && peer.octets()[..2] == pc.octets()[..2]
    }

    /// Returns the lab whose simulated device has its console on that pseudo-terminal, while it runs.
    #[must_use]
    pub fn of_port(port: &Path) -> Option<Self> {
        let text = std::fs::read(file(port)?).ok()?;
        let mark: Self = serde_json::from_slice(&text).ok()?;
        is_alive(mark.process).then_some(mark)
    }

    /// Returns the lab in words.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { lab, variant, .. } = self;
        if variant.is_empty() { lab.clone() } else { format!("{lab}, variant {variant}") }
    }
}

/// Returns whether a process is there; systems that cannot tell say yes.
fn is_alive(process: u32) -> bool {
    let all = Path::new("/proc/self");
    !all.exists() || Path::new("/proc").join(process.to_string()).exists()
}

/// Returns the folder of the marks of this user.
fn folder() -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    runtime.filter(|it| it.is_dir()).unwrap_or_else(std::env::temp_dir).join("espbench-live")
}

/// Returns the file of a pseudo-terminal's mark, whatever link leads to it.
fn file(port: &Path) -> Option<PathBuf> {
    let port = std::fs::canonicalize(port).ok()?;
    let name: Vec<String> =
        port.components().skip(1).map(|it| it.as_os_str().to_string_lossy().into_owned()).collect();
    Some(folder().join(format!("{}.json", name.join("-"))))
}

/// The mark of a pseudo-terminal, which is removed when this is dropped.
#[derive(Debug)]
pub struct PortMark(PathBuf);

impl PortMark {
    /// Marks a pseudo-terminal as that of a simulated device; `None` where no file can be written, and
    /// programs take the device for a real one.
    #[must_use]
    pub fn new(port: &Path, mark: &LiveMark) -> Option<Self> {
        let path = file(port)?;
        std::fs::create_dir_all(folder()).ok()?;
        std::fs::write(&path, serde_json::to_vec(mark).ok()?).ok()?;
        Some(Self(path))
    }
}

impl Drop for PortMark {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark() -> LiveMark {
        let (lab, variant) = ("wifi-home".into(), "idf-echo".into());
        LiveMark { lab, variant, pc: Some([10, 0, 0, 2].into()), process: std::process::id() }
    }

    #[test]
    fn devices_of_the_lab_are_told_from_others() {
        let has = |address: [u8; 4]| mark().has(address.into());
        assert!(has([10, 0, 0, 1]) && has([10, 0, 3, 1]));
        assert!(!has([10, 0, 0, 2]) && !has([127, 0, 0, 1]) && !has([10, 1, 0, 1]));
        assert!(!LiveMark { pc: None, ..mark() }.has([10, 0, 0, 1].into()));
        let text = serde_json::to_string(&mark()).unwrap();
        assert_eq!(serde_json::from_str::<LiveMark>(&text).unwrap(), mark());
        assert_eq!(mark().words(), "wifi-home, variant idf-echo");
    }

    #[test]
    fn a_port_is_marked_while_its_lab_runs() {
        let temp = tempfile::NamedTempFile::new().unwrap();
        let link = temp.path().with_extension("link");
        assert_eq!(LiveMark::of_port(temp.path()), None);
        let marked = PortMark::new(temp.path(), &mark()).unwrap();
        assert_eq!(LiveMark::of_port(temp.path()), Some(mark()));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(temp.path(), &link).unwrap();
            assert_eq!(LiveMark::of_port(&link), Some(mark()), "by a link, too");
            std::fs::remove_file(&link).unwrap();
        }
        drop(marked);
        assert_eq!(LiveMark::of_port(temp.path()), None);
        // One that was killed has left its file.
        let gone = LiveMark { process: u32::MAX, ..mark() };
        let _left = PortMark::new(temp.path(), &gone).unwrap();
        assert_eq!(LiveMark::of_port(temp.path()), None);
    }
}
