//! Firmware of a live lab's devices: the examples of Espressif's esp-now component.

use super::LiveLab;
use crate::lab::nodes::{Conversation as _, FirmwareImage};
use crate::lab::run::Tap;
use crate::lab::scene::Scene;
use crate::lab::suite::procedure::IMAGE_URL;
use esp_now::node::board::Slot;
use esp_now::node::device::Setup;
use esp_now::node::ota::responder::OtaConfig;
use esp_now::node::print::LogLevel;
use esp_now::node::task::Encrypt;

/// Bytes of the image of the ESP-NOW test report.
pub const IMAGE_LEN: u32 = 1_029_248;

/// Seed of the synthetic image that all boards run.
const IMAGE_SEED: u64 = 1;

/// An example of the component, with the console of `solution`. The first device of a scene has its
/// initiator, the others have its responder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleApp {
    /// Data only.
    GetStarted,
    /// All services.
    Solution,
    /// Encryption; the initiator hands the key out at each start.
    Security,
    /// Images.
    Ota,
    /// Credentials of a network.
    Provisioning,
}

impl ExampleApp {
    /// Builds the firmware of all devices of a scene. `encrypt`: services encrypt what they send.
    pub fn build(self, scene: &mut Scene, encrypt: bool) {
        let secure = encrypt || self == Self::Security;
        let beside = u8::try_from(scene.nodes.len().saturating_sub(1)).unwrap_or(u8::MAX);
        for (number, device) in scene.nodes.iter_mut().enumerate() {
            let is_initiator = number == 0;
            let settings = &mut device.settings;
            settings.compat.app_security = secure;
            settings.encrypt = Encrypt {
                enabled: secure,
                control: encrypt,
                debug: encrypt,
                ota: encrypt,
                prov: encrypt,
                time: false,
            };
            if is_initiator {
                // The advice of `solution` (CONFIG_ESPNOW_QUEUE_SIZE): as many as there are responders.
                settings.queue = settings.queue.max(beside);
            }
            self.serve(&mut device.services, is_initiator, secure);
            let logs = !is_initiator && self != Self::GetStarted;
            device.remote_log = if logs { LogLevel::Info } else { LogLevel::None };
            device.hands_out_key = is_initiator && secure;
            device.prints_address = true;
        }
    }

    /// Sets which services of a device are there.
    fn serve(self, services: &mut Setup, is_initiator: bool, secure: bool) {
        let all = self == Self::Solution;
        let control = services.control.or(Setup::default().control);
        services.security = !is_initiator && secure;
        services.ota = (!is_initiator && (all || self == Self::Ota)).then(OtaConfig::default);
        services.commands = !is_initiator && self != Self::GetStarted;
        services.monitor = is_initiator && self != Self::GetStarted;
        services.control = control.filter(|_| !is_initiator && all);
        services.data = true;
    }

    /// Returns whether its initiator sends images.
    #[must_use]
    pub const fn sends_images(self) -> bool {
        matches!(self, Self::Solution | Self::Ota)
    }
}

impl<W: Tap> LiveLab<W> {
    /// Lets every device find that image at [`IMAGE_URL`].
    pub fn offer(&mut self, image: &FirmwareImage) {
        self.run_image_of(image.len());
        for node in self.lab.nodes() {
            self.lab.board_mut(node).offers.insert(IMAGE_URL.into(), image.clone());
        }
    }

    /// Lets every device find images of so many bytes at [`IMAGE_URL`]: a new build after each of its starts,
    /// since an upgrade to what a device runs already does nothing.
    pub fn offer_builds(&mut self, len: u32) {
        self.run_image_of(len);
        for node in self.lab.nodes() {
            self.lab.board_mut(node).builds = Some((IMAGE_URL.into(), len));
        }
    }

    /// Gives all devices a running image of that length, so that their flash has room for another one.
    fn run_image_of(&mut self, len: u32) {
        let running = FirmwareImage::synthetic(len, "1.0.0", IMAGE_SEED);
        for node in self.lab.nodes() {
            self.lab.board_mut(node).install(Slot::Running, running.clone());
        }
    }
}
