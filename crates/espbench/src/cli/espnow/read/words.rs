//! Words for lines and results. Wi-Fi passwords, tokens and secrets are not in them.

use esp_now::transcript::item::iperf::IperfLine;
use esp_now::transcript::item::{
    CryptoLine, DeviceLine, OtaLine, Problem, ProvisioningLine, SecurityLine, UsageError,
};
use esp_now::transcript::session::{IperfRun, UnfinishedReason};
use esp_now::transcript::{ConsoleLine, TestResult, TranscriptItem};

/// Text in place of a secret.
const MASK: &str = "(not shown)";

/// Describes an event that no table of results has.
pub(super) fn story(line: &ConsoleLine<'_>, item: &TranscriptItem<'_>) -> Option<String> {
    let text = match item {
        TranscriptItem::Provisioning(item) => provisioning(item)?,
        TranscriptItem::Device(item) => device(item)?,
        TranscriptItem::Ota(OtaLine::Version(version)) => format!("Application version: {version}"),
        TranscriptItem::Ota(OtaLine::Downloaded { bytes, seconds }) => {
            format!("Downloaded an image of {bytes} bytes in {seconds} s")
        }
        TranscriptItem::Security(SecurityLine::GotKey) => {
            "Got the application key by a handshake".into()
        }
        _ => return None,
    };
    Some(match line.remote {
        Some(remote) => format!("{}, heard over the air: {text}", remote.mac),
        None => text,
    })
}

fn provisioning(item: &ProvisioningLine<'_>) -> Option<String> {
    Some(match item {
        ProvisioningLine::Holder(heard, product) => format!(
            "Provisioning: {} offers credentials (product {:?}, {:?})",
            heard.mac, product.id, product.name
        ),
        ProvisioningLine::Credentials { from, ssid, .. } => format!(
            "Provisioning: got credentials from {}: SSID {ssid:?}, password {MASK}, token {MASK}",
            from.mac
        ),
        ProvisioningLine::Device { from, product, .. } => format!(
            "Provisioning: {} asks for credentials (product {:?}, {:?}; secret {MASK})",
            from.mac, product.id, product.name
        ),
        ProvisioningLine::BeaconStart { seconds } => {
            format!("Provisioning: offers credentials for {seconds} s")
        }
        ProvisioningLine::BeaconEnd => "Provisioning: the offer ended".into(),
        ProvisioningLine::Exit => "Provisioning: done".into(),
        _ => return None,
    })
}

fn device(item: &DeviceLine<'_>) -> Option<String> {
    Some(match item {
        DeviceLine::Component(major, minor, patch) => {
            format!("esp-now component {major}.{minor}.{patch}")
        }
        DeviceLine::Own(mac, _) => format!("The device is {mac}"),
        DeviceLine::Idf(version) => format!("ESP-IDF {version}"),
        DeviceLine::Chip { name, cores, revision, .. } => {
            format!("Chip {name}, {cores} cores, revision {revision}")
        }
        _ => return None,
    })
}

/// Describes the fault that a line reports.
pub(super) fn problem(item: &TranscriptItem<'_>) -> Option<String> {
    Some(match item {
        TranscriptItem::Iperf(IperfLine::QueueFull) => {
            "The test's queue of ten was full: messages were lost in the device, not on the air"
                .into()
        }
        TranscriptItem::Iperf(IperfLine::Running) => {
            "A test was refused, since one is running: `espnow_iperf -a` ends it".into()
        }
        TranscriptItem::Iperf(IperfLine::NoRole) => "A test was refused: it needs -c or -s".into(),
        TranscriptItem::Crypto(CryptoLine::Failed) => "sec_test failed: no key".into(),
        TranscriptItem::Security(SecurityLine::NoKey) => {
            "security: there is no key to hand out".into()
        }
        TranscriptItem::Ota(OtaLine::NotDownloaded) => "ota: no image has been downloaded".into(),
        TranscriptItem::Provisioning(ProvisioningLine::NoCredentials) => {
            "Provisioning: no credentials came in time".into()
        }
        TranscriptItem::Device(DeviceLine::Panic(_)) => "The device crashed".into(),
        TranscriptItem::Device(DeviceLine::Reset { name, .. }) => {
            format!("The device was reset: {name}")
        }
        TranscriptItem::Device(DeviceLine::Rollback) => "The firmware was rolled back".into(),
        TranscriptItem::Problem(problem) => refused(problem),
        _ => return None,
    })
}

/// Arguments are not repeated: one may be a password.
fn refused(problem: &Problem<'_>) -> String {
    match problem {
        Problem::Unrecognized => "A command that the device does not know".into(),
        Problem::Failed { code, name } => format!("A command failed: {name} (0x{code:x})"),
        Problem::Internal(name) => format!("The console failed: {name}"),
        Problem::Usage { command, usage } => {
            let why = match usage {
                UsageError::InvalidOption(_) => "an unknown option",
                UsageError::InvalidArgument(_) => "an argument of the wrong kind",
                UsageError::Unexpected(_) => "an argument too many",
                UsageError::NeedsArgument(_) => "an option without its argument",
                UsageError::Missing(_) => "an option is missing",
                UsageError::Excess(_) => "an option given twice",
            };
            format!("A command could not be read: {command}: {why}")
        }
        Problem::Check { function, error: Some(error), .. } => {
            format!("A check failed in {function}: {error}")
        }
        Problem::Check { function, error: None, .. } => format!("A check failed in {function}"),
    }
}

/// Describes the fault of a result, with how often it was seen.
pub(super) fn wrong(finding: &TestResult) -> Option<(String, u64)> {
    if let TestResult::Ping(result) = finding {
        let text = "A ping of which the log has no line: it was lost between device and log";
        return (result.missing > 0).then(|| (text.into(), result.missing.into()));
    }
    unreported(finding).map(|text| (text, 1))
}

fn unreported(finding: &TestResult) -> Option<String> {
    Some(match finding {
        TestResult::Unfinished(test) => {
            let what = match test.run {
                Some(IperfRun::Ping) => "A ping",
                Some(IperfRun::Sending) => "A throughput test at the sender",
                Some(IperfRun::Receiving) => "A throughput test at the receiver",
                None => "A test",
            };
            let why = match test.why {
                UnfinishedReason::NoAnswer => "STOP was not answered",
                UnfinishedReason::Another => "another test began",
                UnfinishedReason::Restarted => "the device restarted",
                UnfinishedReason::End => "the log ends",
            };
            format!("{what} has no final report: {why}")
        }
        TestResult::Throughput(result) if result.continued => {
            "Message 0 of a throughput test was lost, so its counters go on from the run before: \
             its loss cannot be known"
                .into()
        }
        TestResult::Throughput(result) if result.total.is_none() => {
            "A final report whose counts are impossible".into()
        }
        _ => return None,
    })
}
