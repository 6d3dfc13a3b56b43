//! Upgrade over the air, as the esp-now component does it (section 4 of the protocol reference).
//!
//! | module | contents |
//! |---|---|
//! | [`responder`] | receives an image, checks it, and selects it for the next start |
//! | [`initiator`] | finds devices and sends them an image; the console command `ota` |
//! | [`image`] | an application image and its check |
//! | [`build`] | builds images for tests and the simulator |
//! | [`bits`] | bitmap of received packets |
//! | [`devices`] | state of the initiator: its devices |
//! | [`progress`] | state of the responder: the image being received |

pub mod bits;
pub mod build;
pub mod devices;
pub mod image;
pub mod initiator;
pub mod progress;
pub mod responder;

#[cfg(test)]
mod tests;

pub use initiator::OtaInitiator;
pub use responder::OtaResponder;

use super::board::{CpuWork, Slot};
use super::print::LogLevel;
use super::task::Cx;
use espbench_model::time::Instant;

/// Executes the console command `rollback`: selects the other slot for the next start. Returns
/// false if no image lies there or the board refuses.
///
/// The component lets ESP-IDF check the whole image here; the board's `boot` may do that. This
/// function only checks whether an image begins there, and spends the time of a whole check.
pub fn rollback(cx: &mut Cx<'_>) -> bool {
    let bytes = cx.board.image_len(Slot::Spare);
    cx.spend(CpuWork::Read { bytes });
    cx.spend(CpuWork::Hash { bytes });
    if image::describe(cx.board, Slot::Spare).is_none() || !cx.board.boot(Slot::Spare) {
        let text = format_args!(
            "[rollback_func, 507] <ESP_ERR_OTA_VALIDATE_FAILED> \
                                 esp_ota_set_boot_partition failed!"
        );
        cx.log(LogLevel::Warn, "system_cmd", text);
        return false;
    }
    let text = format_args!("The next reboot will fall back to the previous version");
    cx.log(LogLevel::Info, "rollback_func", text);
    true
}

/// Returns whole seconds since `from`, counted in ticks as the component counts them.
fn seconds(cx: &Cx<'_>, from: Instant) -> u64 {
    let tick = cx.shared.settings.tick;
    tick.ms(tick.between(from, cx.now)) / 1000
}
