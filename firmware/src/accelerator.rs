//! The chip's accelerator of AES. ESP32-C2 has none.

use esp_now::component::sealed::AesPort;

#[cfg(not(feature = "esp32c2"))]
use esp_hal::{aes::Aes, peripherals::AES};

/// Example of FIPS-197, appendix C.1: key, plaintext and ciphertext.
#[cfg(not(feature = "esp32c2"))]
const EXAMPLE: [u128; 3] = [
    0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f,
    0x0011_2233_4455_6677_8899_aabb_ccdd_eeff,
    0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a,
];

/// Accelerator of AES, if the chip has one that computes rightly.
pub(crate) struct Accelerator {
    #[cfg(not(feature = "esp32c2"))]
    aes: Option<ChipAes>,
}

#[cfg(not(feature = "esp32c2"))]
struct ChipAes(Aes<'static>);

#[cfg(not(feature = "esp32c2"))]
impl AesPort for ChipAes {
    fn encrypt(&mut self, key: &[u8; 16], block: &mut [u8; 16]) {
        self.0.encrypt(block, *key);
    }
}

#[cfg(not(feature = "esp32c2"))]
impl Accelerator {
    /// Starts the accelerator and tries it.
    pub(crate) fn new() -> Self {
        // SAFETY: no other part of the program uses it.
        let mut aes = ChipAes(Aes::new(unsafe { AES::steal() }));
        let [key, plain, sealed] = EXAMPLE.map(u128::to_be_bytes);
        let mut block = plain;
        aes.encrypt(&key, &mut block);
        Self { aes: (block == sealed).then_some(aes) }
    }

    /// Returns the accelerator.
    pub(crate) fn port(&mut self) -> Option<&mut dyn AesPort> {
        self.aes.as_mut().map(|it| it as &mut dyn AesPort)
    }
}

#[cfg(feature = "esp32c2")]
impl Accelerator {
    /// Returns that there is none.
    pub(crate) const fn new() -> Self {
        Self {}
    }

    /// Returns nothing: the node computes.
    pub(crate) fn port(&mut self) -> Option<&mut dyn AesPort> {
        None
    }
}
