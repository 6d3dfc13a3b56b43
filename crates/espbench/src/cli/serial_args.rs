//! Flags for boards on serial ports.

use crate::user_error::UserError;
use anyhow::bail;
use espbench_engine::boards::BoardSetup;
use espbench_sim::lab::suite::procedure::PIN_MAX;

/// Rate of the consoles of ESP-IDF.
const BAUD: u32 = 115_200;

/// How to talk to boards, and what they cannot know.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Boards on serial ports")]
pub struct SerialArgs {
    /// Rate of the consoles, in baud [default: 115200]
    #[arg(long, value_name = "BAUD", value_parser = clap::value_parser!(u32).range(300..=5_000_000))]
    pub baud: Option<u32>,
    /// Wi-Fi network of the tests that need one: boards join it, provisioning hands it out, an update comes over it
    #[arg(long, value_name = "NAME")]
    pub ssid: Option<String>,
    /// Password of that network; others on this computer may see it in the list of processes
    #[arg(long, value_name = "PASSWORD", env = "ESPBENCH_WIFI_PASSWORD", hide_env_values = true)]
    pub wifi_password: Option<String>,
    /// GPIO that one-way tests drive, for a logic analyser [default: 17 as in the document; 10 on ESP32-C3 and C2,
    /// 18 on C6]
    #[arg(long, value_name = "GPIO", value_parser = clap::value_parser!(u8).range(..=i64::from(PIN_MAX)))]
    pub pin: Option<u8>,
    /// Image that the OTA test fetches and sends [default: the document's,
    /// http://192.168.0.6:8070/Resp.bin]
    #[arg(long, value_name = "URL")]
    pub firmware_url: Option<String>,
}

impl SerialArgs {
    /// Returns the first of these flags that was given; the password may be of the environment.
    #[must_use]
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--baud", self.baud.is_some()),
            ("--pin", self.pin.is_some()),
            ("--ssid", self.ssid.is_some()),
            ("--firmware-url", self.firmware_url.is_some()),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    /// Returns the rate of the consoles.
    #[must_use]
    pub fn baud(&self) -> u32 {
        self.baud.unwrap_or(BAUD)
    }

    /// Returns what boards cannot know by themselves.
    ///
    /// # Errors
    /// Something in it cannot be typed at a console.
    pub fn setup(&self) -> anyhow::Result<BoardSetup> {
        let words = [&self.ssid, &self.wifi_password, &self.firmware_url];
        if words.into_iter().flatten().any(|word| word.chars().any(char::is_control)) {
            bail!(
                UserError::new("--ssid, --wifi-password or --firmware-url has control characters")
                    .because("they are typed at consoles")
                    .remedy("leave the control characters out")
            );
        }
        let password = self.wifi_password.clone().unwrap_or_default();
        let network = self.ssid.clone().map(|ssid| (ssid, password));
        Ok(BoardSetup { network, image: self.firmware_url.clone(), pin: self.pin })
    }
}
