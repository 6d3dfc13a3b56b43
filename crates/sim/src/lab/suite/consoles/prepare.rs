//! The room of a cell, and whether it can do it.

use crate::lab::file::{Library, Overrides};
use crate::lab::nodes::image;
use crate::lab::scene::{Device, Scene};
use crate::lab::suite::{SuiteError, Unable};
use alloc::format;
use esp_now::node::print::LogLevel;
use espbench_model::overrides::OpenPlaces;
use espbench_model::text::count;
use espbench_model::workload::{EspNow, EspNowTest};

/// Devices that one job of a node can serve: the bound of its tables.
const JOB_MAX: u16 = 128;
/// The shortest message of `espnow_iperf`: its header.
const MESSAGE_MIN: u32 = 8;

/// Returns the lab of the report's scene for a test.
#[must_use]
pub const fn default_lab(test: EspNowTest) -> &'static str {
    match test {
        EspNowTest::OneWay | EspNowTest::Ping | EspNowTest::Throughput | EspNowTest::Crypto => {
            "two-boards"
        }
        EspNowTest::MultiPing => "many-boards",
        EspNowTest::Ota => "ota",
        EspNowTest::Handshake => "handshake",
        EspNowTest::Provisioning => "provisioning",
    }
}

/// Makes the room of a cell: the lab (that of the report, if none is named) with the cell's devices
/// at its distance, and with the firmware that the report's test has.
pub(in crate::lab::suite) fn scene(
    work: &EspNow,
    library: &Library,
    lab: Option<&str>,
    seed: u64,
) -> Result<Scene, SuiteError> {
    let open = lab.map_or_else(OpenPlaces::default, |_| work.lab.open);
    let lab = lab.unwrap_or(default_lab(work.test));
    let mut scene = library.scene(lab, &Overrides::from(work).leaving(open), seed)?;
    scene.open = open;
    let work = &placed(work, &scene);
    for (number, device) in scene.nodes.iter_mut().enumerate() {
        build(device, work, number == 0);
    }
    Ok(scene)
}

/// Returns the work with the devices and their distance of its room, as far as the plan leaves them to that.
pub(in crate::lab::suite) fn placed(work: &EspNow, scene: &Scene) -> EspNow {
    let mut work = *work;
    let beside = scene.nodes.len().saturating_sub(1);
    if scene.open.devices {
        work.devices = u16::try_from(beside).unwrap_or(u16::MAX);
    }
    if scene.open.distance && beside > 0 {
        let (near, far) = scene.reach_m();
        work.distance_m = (near as f32, far as f32);
    }
    work
}

/// Builds a device's firmware as the report has it.
pub(super) fn build(device: &mut Device, work: &EspNow, initiator: bool) {
    let settings = &mut device.settings;
    let secure = work.encrypted || matches!(work.test, EspNowTest::Crypto | EspNowTest::Handshake);
    settings.compat.app_security = secure;
    settings.encrypt.enabled = secure;
    // `espnow_iperf` follows the setting of log and command.
    settings.encrypt.debug = work.encrypted;
    // A responder of the `solution` example sends its log, an initiator does not. For throughput
    // the report has both ends built as initiators for that reason.
    let sends_log = !initiator && work.test != EspNowTest::Throughput;
    device.remote_log = if sends_log { LogLevel::Info } else { LogLevel::None };
    // "change the printing of `ping report` from ESP_LOGI to ESP_LOGE": the initiator's console
    // shows the results of all devices then, and nothing else.
    let reports = !initiator && work.test == EspNowTest::MultiPing;
    settings.ping_report = if reports { LogLevel::Error } else { LogLevel::Info };
    // The example's own advice (CONFIG_ESPNOW_QUEUE_SIZE in its Kconfig.projbuild): as many entries
    // as there are responders. With the usual 32 most of 100 unicast pings would be dropped.
    if initiator {
        settings.queue = settings.queue.max(u8::try_from(work.devices).unwrap_or(u8::MAX));
    }
}

/// Checks that the room has what the test needs.
pub(in crate::lab::suite) fn able(work: &EspNow, scene: &Scene) -> Result<(), SuiteError> {
    let unable = |why| Err(SuiteError::Unable(Unable::Lab(scene.name.clone()), why));
    let beside = scene.nodes.len().saturating_sub(1);
    let one = work.test == EspNowTest::Crypto;
    let Some(first) = scene.nodes.first() else {
        return unable("it has no device; add a group of devices".into());
    };
    if !one && beside != usize::from(work.devices) {
        return unable(format!(
            "it has {} beside the initiator, and the test is with {}; a group of them must be there \
             whose count can change",
            count(beside, "device"),
            work.devices
        ));
    }
    if !one && work.devices == 0 {
        return unable("the test is with no device beside the initiator".into());
    }
    if matches!(work.test, EspNowTest::Ota | EspNowTest::Handshake) && work.devices > JOB_MAX {
        return unable(format!("one job serves {JOB_MAX} devices at most, not {}", work.devices));
    }
    if work.test == EspNowTest::Provisioning && scene.routers.is_empty() {
        return unable(
            "provisioning needs a network, and there is no router to join; add a [[router]]".into(),
        );
    }
    match work.test {
        EspNowTest::Ota => {
            let (least, most) = (image::LEN_MIN, image::LEN_MAX);
            if !(least..=most).contains(&work.size) || !work.size.is_multiple_of(16) {
                return unable(format!(
                    "an image has {least} to {most} bytes, a multiple of 16, not {}",
                    work.size
                ));
            }
        }
        EspNowTest::Handshake | EspNowTest::Provisioning => {}
        _ => {
            let most = first.settings.compat.data_max() as u32;
            let least = if one { 1 } else { MESSAGE_MIN };
            if !(least..=most).contains(&work.size) {
                let secure = if work.encrypted { ", encrypted" } else { "" };
                return unable(format!(
                    "a payload has {least} to {most} bytes in this release{secure}, not {}",
                    work.size
                ));
            }
        }
    }
    Ok(())
}
