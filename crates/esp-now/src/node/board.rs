//! Services that a node asks of the board it runs on: randomness, storage, pins, and the time that
//! work takes.
//!
//! The simulator, the host and firmware each implement them. Radio and console are not here: they
//! are the node's [`Input`](super::Input) and [`NodeOutput`](super::NodeOutput).

use crate::component::sealed::AesPort;

/// Slot for an application image (there are two OTA slots, as in ESP-IDF's default OTA partition
/// table).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// Slot of the image that is running.
    Running,
    /// Other slot: the next to be written, or to be sent to others.
    Spare,
}

/// A value that survives a reset (NVS namespace `espnow`).
///
/// The board itself manages two keys of the component: `reboot_record`, which [`Board::started`]
/// reports, and `binary_len`, which [`Board::image_len`] reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NvsKey {
    /// Key for sending, 32 bytes (`key_info`).
    EncryptKey,
    /// Key for receiving, 32 bytes (`dec_key_info`).
    DecryptKey,
    /// Bound devices (`bindlist`).
    Bindings,
    /// Channel of the last control command that was answered (`ch_key`).
    ControlChannel,
    /// State of an unfinished upgrade (`upugrad_config`, spelled so).
    Upgrade,
    /// Wi-Fi credentials: SSID, then password (ESP-IDF keeps them in its own namespace).
    Wifi,
}

impl NvsKey {
    /// All keys.
    pub const ALL: [Self; 6] = [
        Self::EncryptKey,
        Self::DecryptKey,
        Self::Bindings,
        Self::ControlChannel,
        Self::Upgrade,
        Self::Wifi,
    ];
}

/// Work that takes processor time; a board states how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CpuWork {
    /// Reception of a frame from the driver: the receive callback, in the Wi-Fi task.
    Receive {
        /// Bytes of ESP-NOW data.
        bytes: u32,
    },
    /// Delivery of a frame to a service, in the component's main task.
    Dispatch {
        /// Bytes of payload.
        bytes: u32,
    },
    /// Delivery of a frame to the driver.
    Transmit {
        /// Bytes of ESP-NOW data.
        bytes: u32,
    },
    /// Encryption of a payload.
    Seal {
        /// Bytes of plaintext.
        bytes: u32,
    },
    /// Decryption of a payload.
    Open {
        /// Bytes decrypted; for a frame, with tag and nonce.
        bytes: u32,
    },
    /// Generation of a key pair (X25519 with the base point).
    KeyPair,
    /// Computation of a shared secret (X25519).
    SharedSecret,
    /// Computation of a hash (SHA-256).
    Hash {
        /// Bytes hashed.
        bytes: u32,
    },
    /// Erasure of flash.
    Erase {
        /// Bytes erased.
        bytes: u32,
    },
    /// Write to flash.
    Write {
        /// Bytes written.
        bytes: u32,
    },
    /// Read of flash.
    Read {
        /// Bytes read.
        bytes: u32,
    },
    /// Output on the console's UART, which blocks the task.
    Print {
        /// Bytes printed.
        bytes: u32,
    },
}

/// Memory for dynamic allocation, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapInfo {
    /// Bytes that are free now.
    pub free: u32,
    /// Least number of free bytes so far.
    pub minimum: u32,
    /// Size of the heap.
    pub total: u32,
}

/// Facts about the start of the board. The component's guard against boot loops (after 30 starts in
/// a row that each lasted less than the boot marker's time, the image is marked invalid and the
/// other one is started) is left to the board's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boot {
    /// Number of starts so far, this one included.
    pub count: u32,
    /// Reason of the last reset, `esp_reset_reason_t`; 1 is power-on.
    pub reason: u32,
    /// Whether a core dump is stored.
    pub crash: bool,
}

/// Progress of a download into the spare slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Download {
    /// Data is arriving.
    Running {
        /// Bytes received.
        received: u32,
        /// Length of the image in bytes; 0 while it is unknown.
        total: u32,
    },
    /// All of the image is in the spare slot, and `image_len` returns its length.
    Complete,
    /// The download failed, or there was none.
    Failed,
}

/// The board under a node. A board without application slots omits the methods about them.
pub trait Board {
    /// Fills `out` with random bytes, fit for keys.
    fn random(&mut self, out: &mut [u8]);

    /// Returns the chip's accelerator of AES; `None` where the node computes it.
    fn aes(&mut self) -> Option<&mut dyn AesPort> {
        None
    }

    /// Returns for how many nanoseconds this work keeps the processor busy. Zero where the work is
    /// really done here and time passes by itself. (It is called for every frame of every node, and
    /// a plain number costs least.)
    fn cost_ns(&mut self, work: CpuWork) -> u64 {
        let _ = work;
        0
    }

    /// Returns the number of bytes that a slot can hold; 0 if there is none.
    fn slot_size(&self, slot: Slot) -> u32 {
        let _ = slot;
        0
    }

    /// Returns the length of the image in a slot, as its header and the length of the download give
    /// it; 0 if there is none.
    fn image_len(&self, slot: Slot) -> u32 {
        let _ = slot;
        0
    }

    /// Reads flash; returns false if it fails.
    fn read(&mut self, slot: Slot, offset: u32, out: &mut [u8]) -> bool {
        let _ = (slot, offset, out);
        false
    }

    /// Erases the first `len` bytes of the spare slot; returns false if it fails.
    fn erase(&mut self, len: u32) -> bool {
        let _ = len;
        false
    }

    /// Writes into the spare slot; returns false if it fails.
    fn write(&mut self, offset: u32, data: &[u8]) -> bool {
        let _ = (offset, data);
        false
    }

    /// Selects the slot to start after the next reset; returns false if it fails.
    fn boot(&mut self, slot: Slot) -> bool {
        let _ = slot;
        false
    }

    /// Loads a stored value and returns its length, cut to `out`; `None` if nothing is stored.
    fn load(&mut self, key: NvsKey, out: &mut [u8]) -> Option<usize>;

    /// Stores a value; returns false if it fails.
    fn save(&mut self, key: NvsKey, value: &[u8]) -> bool;

    /// Removes a stored value.
    fn forget(&mut self, key: NvsKey);

    /// Removes every stored value.
    fn forget_all(&mut self) {
        for key in NvsKey::ALL {
            self.forget(key);
        }
    }

    /// Returns the state of the heap; zeros where there is none.
    fn heap(&self) -> HeapInfo {
        HeapInfo::default()
    }

    /// Returns the facts about this start.
    fn started(&self) -> Boot {
        Boot { count: 1, reason: 1, crash: false }
    }

    /// Begins to load an application image from this address into the spare slot (`ota -d`);
    /// returns false if this board cannot. [`download`](Self::download) reports the progress.
    fn fetch(&mut self, url: &str) -> bool {
        let _ = url;
        false
    }

    /// Returns the progress of the last [`fetch`](Self::fetch).
    fn download(&mut self) -> Download {
        Download::Failed
    }

    /// Sets a pin's level.
    fn pin(&mut self, number: u8, high: bool) {
        let _ = (number, high);
    }
}

/// A board without storage, whose random bytes are a fixed sequence: for tests and examples only,
/// since keys made of them are no secret.
#[derive(Clone, Debug)]
pub struct BareBoard(pub u64);

impl Board for BareBoard {
    fn random(&mut self, out: &mut [u8]) {
        for byte in out {
            // SplitMix64 (Steele, Lea and Flood 2014), with one output for each byte.
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            *byte = (z ^ (z >> 31)) as u8;
        }
    }

    fn load(&mut self, _: NvsKey, _: &mut [u8]) -> Option<usize> {
        None
    }

    fn save(&mut self, _: NvsKey, _: &[u8]) -> bool {
        false
    }

    fn forget(&mut self, _: NvsKey) {}
}
