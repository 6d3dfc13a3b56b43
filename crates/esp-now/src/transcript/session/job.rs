//! Upgrades and handshakes, whose result follows from several lines; and `sec_test`.

use super::super::item::{CryptoLine, OtaLine, SecurityLine, TranscriptItem};
use super::result::{CryptoResult, HandshakeResult, TestResult, UpdateResult};
use espbench_ieee80211::mac::Mac;

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
    pub(super) fn take(
        &mut self,
        device: Option<Mac>,
        item: &TranscriptItem<'_>,
    ) -> Option<TestResult> {
        match item {
            TranscriptItem::Devices(list) => self.found = Some(list.num),
            TranscriptItem::Ota(ota) => return self.ota(device, ota),
            TranscriptItem::Security(security) => return self.security(device, security),
            TranscriptItem::Crypto(crypto) => return self::crypto(device, crypto),
            _ => {}
        }
        None
    }

    fn ota(&mut self, device: Option<Mac>, ota: &OtaLine<'_>) -> Option<TestResult> {
        match *ota {
            OtaLine::Sending(_) => *self = Self { found: self.found, ..Self::default() },
            OtaLine::Scanned(num) => self.found = Some(num),
            OtaLine::Start { bytes, packets } => self.image = Some((bytes, packets)),
            OtaLine::Progress(progress) => self.update_round = Some(progress.round),
            OtaLine::Complete { seconds } => self.seconds = Some(seconds),
            OtaLine::Result { successed, unfinished } => {
                let done = core::mem::take(self);
                return Some(TestResult::Update(UpdateResult {
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

    fn security(&mut self, device: Option<Mac>, security: &SecurityLine<'_>) -> Option<TestResult> {
        match *security {
            SecurityLine::Start(_) => *self = Self { found: self.found, ..Self::default() },
            SecurityLine::Progress(progress) => self.key_round = Some(progress.round),
            SecurityLine::Waiting(num) => self.found = Some(num),
            SecurityLine::Complete { ms, scan_ms } => self.spent = Some((ms, scan_ms)),
            SecurityLine::Result { successed, unfinished } => {
                let done = core::mem::take(self);
                return Some(TestResult::Handshake(HandshakeResult {
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

fn crypto(device: Option<Mac>, crypto: &CryptoLine) -> Option<TestResult> {
    let (encrypting, bytes, us) = match *crypto {
        CryptoLine::Encrypting { bytes, us } => (true, bytes, us),
        CryptoLine::Decrypting { bytes, us } => (false, bytes, us),
        CryptoLine::Failed => return None,
    };
    Some(TestResult::Crypto(CryptoResult { device, encrypting, bytes, us }))
}
