//! Firmware of the devices of a live lab, and the image that they find for others.

use crate::named_file;
use crate::user_error::UserError;
use anyhow::Context as _;
use espbench_sim::lab::live::{ExampleApp, IMAGE_LEN, LiveLab};
use espbench_sim::lab::nodes::FirmwareImage;
use espbench_sim::lab::nodes::image::{LEN_MAX, LEN_MIN};
use espbench_sim::lab::run::Tap;
use std::path::PathBuf;

/// First byte of an application image (`ESP_IMAGE_HEADER_MAGIC` of ESP-IDF).
const MAGIC: u8 = 0xE9;

/// `--app`: an example of the esp-now component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum LiveApp {
    /// Data only: no remote commands, images or keys
    GetStarted,
    /// All services; with --encrypt the first device hands the key out at each start
    Solution,
    /// The first device hands the key out at each start
    Security,
    /// The first device sends images
    Ota,
    /// The first device hands Wi-Fi credentials out
    Provisioning,
}

impl LiveApp {
    /// Returns the firmware.
    pub(super) const fn firmware(self) -> ExampleApp {
        match self {
            Self::GetStarted => ExampleApp::GetStarted,
            Self::Solution => ExampleApp::Solution,
            Self::Security => ExampleApp::Security,
            Self::Ota => ExampleApp::Ota,
            Self::Provisioning => ExampleApp::Provisioning,
        }
    }
}

/// `--image`: what `ota -d` fetches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ImageSource {
    /// A new build of so many bytes at each start of the device.
    Builds(u32),
    /// A file.
    File(PathBuf),
}

/// Parses `--image`: a number of bytes, or the name of a file.
pub(super) fn image(text: &str) -> Result<ImageSource, String> {
    let Ok(len) = text.parse::<u32>() else { return Ok(ImageSource::File(text.into())) };
    if (LEN_MIN..=LEN_MAX).contains(&len) && len.is_multiple_of(16) {
        Ok(ImageSource::Builds(len))
    } else {
        Err(format!("an image has {LEN_MIN} to {LEN_MAX} bytes, a multiple of 16"))
    }
}

/// Offers an image to the devices of a lab: the one that is named, or for an application that sends
/// images builds as long as that of the ESP-NOW test report.
pub(super) fn offer<W: Tap>(
    lab: &mut LiveLab<W>,
    source: Option<&ImageSource>,
    app: Option<LiveApp>,
) -> anyhow::Result<()> {
    match source {
        Some(ImageSource::Builds(len)) => lab.offer_builds(*len),
        Some(ImageSource::File(path)) => {
            let bytes = named_file::bytes(path, named_file::IMAGE)
                .with_context(|| format!("{}", path.display()))?;
            let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            if bytes.first() != Some(&MAGIC) || !(LEN_MIN..=LEN_MAX).contains(&len) {
                let error = UserError::new(format!("{} is no application image", path.display()));
                let why = format!("it would begin with 0xE9 and have {LEN_MIN} to {LEN_MAX} bytes");
                return Err(error
                    .because(why)
                    .remedy(
                        "name the .bin of an application, or a number of bytes: --image 1029248",
                    )
                    .into());
            }
            lab.offer(&FirmwareImage::new(&bytes));
        }
        None if app.is_some_and(|app| app.firmware().sends_images()) => lab.offer_builds(IMAGE_LEN),
        None => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_a_number_of_bytes_or_a_file() {
        assert_eq!(image("65536"), Ok(ImageSource::Builds(65_536)));
        assert_eq!(image("app.bin"), Ok(ImageSource::File("app.bin".into())));
        for text in ["0", "16", "65537", "999999984"] {
            assert!(image(text).is_err(), "{text}");
        }
    }
}
