//! Upgrades and handshakes, whose result follows from several lines; and `sec_test`.

use super::super::item::{Crypto, Item, Ota, Security};
use super::result::{CryptoResult, Finding, HandshakeResult, UpdateResult};
use crate::wire::mac::Mac;

/// State of the current jobs of a device.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Jobs {
    /// Number of devices that the last scan found; both kinds of job print the same line.
    found: Option<u32>,
    image: Option<(u32, u32)>,
    update_round: Option<u32>,
    seconds: Option<u32>,
    key_round: Option<u32>,
    spent: Option<(u32, Option<u32>)>,
}

impl Jobs {
    /// Takes a line; returns a result if the job is over.
    pub(super) fn take(&mut self, device: Option<Mac>, item: &Item<'_>) -> Option<Finding> {
        match item {
            Item::Devices(list) => self.found = Some(list.num),
            Item::Ota(ota) => return self.ota(device, ota),
            Item::Security(security) => return self.security(device, security),
            Item::Crypto(crypto) => return self::crypto(device, crypto),
            _ => {}
        }
        None
    }

    fn ota(&mut self, device: Option<Mac>, ota: &Ota<'_>) -> Option<Finding> {
        match *ota {
            Ota::Sending(_) => *self = Self { found: self.found, ..Self::default() },
            Ota::Scanned(num) => self.found = Some(num),
            Ota::Start { bytes, packets } => self.image = Some((bytes, packets)),
            Ota::Progress(progress) => self.update_round = Some(progress.round),
            Ota::Complete { seconds } => self.seconds = Some(seconds),
            Ota::Result { successed, unfinished } => {
                let done = core::mem::take(self);
                return Some(Finding::Update(UpdateResult {
                    device,
                    found: done.found,
                    bytes: done.image.map(|image| image.0),
                    packets: done.image.map(|image| image.1),
                    rounds: done.update_round,
                    seconds: done.seconds,
                    successed,
                    unfinished,
                }));
            }
            _ => {}
        }
        None
    }

    fn security(&mut self, device: Option<Mac>, security: &Security<'_>) -> Option<Finding> {
        match *security {
            Security::Start(_) => *self = Self { found: self.found, ..Self::default() },
            Security::Progress(progress) => self.key_round = Some(progress.round),
            Security::Waiting(num) => self.found = Some(num),
            Security::Complete { ms, scan_ms } => self.spent = Some((ms, scan_ms)),
            Security::Result { successed, unfinished } => {
                let done = core::mem::take(self);
                return Some(Finding::Handshake(HandshakeResult {
                    device,
                    found: done.found,
                    rounds: done.key_round,
                    ms: done.spent.map(|spent| spent.0),
                    scan_ms: done.spent.and_then(|spent| spent.1),
                    successed,
                    unfinished,
                }));
            }
            _ => {}
        }
        None
    }
}

fn crypto(device: Option<Mac>, crypto: &Crypto) -> Option<Finding> {
    let (encrypting, bytes, us) = match *crypto {
        Crypto::Encrypting { bytes, us } => (true, bytes, us),
        Crypto::Decrypting { bytes, us } => (false, bytes, us),
        Crypto::Failed => return None,
    };
    Some(Finding::Crypto(CryptoResult { device, encrypting, bytes, us }))
}
