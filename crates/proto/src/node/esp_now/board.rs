//! What a machine asks of the board it runs on: chance, storage, pins, and how long work takes.
//!
//! The simulator, the host and firmware each implement it. Radio and console are not here: they
//! are the node's [`Input`](super::Input) and [`Output`](super::Output).

/// Where an application image lies (two OTA slots, as ESP-IDF's default OTA partition table has).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// The image that is running.
    Running,
    /// The other slot: the next to be written, or to be sent to others.
    Spare,
}

/// What is kept over a reset (NVS namespace `espnow`).
///
/// Two keys of the component are the board's own business: `reboot_record`, which
/// [`Board::started`] tells of, and `binary_len`, which [`Board::image_len`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
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

impl Key {
    /// Every key.
    pub const ALL: [Self; 6] = [
        Self::EncryptKey,
        Self::DecryptKey,
        Self::Bindings,
        Self::ControlChannel,
        Self::Upgrade,
        Self::Wifi,
    ];
}

/// Work that takes a processor's time; a board says how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// Taking a frame from the driver: the receive callback, in the Wi-Fi task.
    Receive {
        /// Bytes of ESP-NOW data.
        bytes: u32,
    },
    /// Handing a frame to a service, in the component's main task.
    Dispatch {
        /// Bytes of payload.
        bytes: u32,
    },
    /// Handing a frame to the driver.
    Transmit {
        /// Bytes of ESP-NOW data.
        bytes: u32,
    },
    /// Encrypting a payload.
    Seal {
        /// Bytes of plaintext.
        bytes: u32,
    },
    /// Decrypting a payload.
    Open {
        /// Bytes decrypted; of a frame, with tag and nonce.
        bytes: u32,
    },
    /// Making a key pair (X25519 with the base point).
    KeyPair,
    /// A shared secret (X25519).
    SharedSecret,
    /// Hashing (SHA-256).
    Hash {
        /// Bytes hashed.
        bytes: u32,
    },
    /// Erasing flash.
    Erase {
        /// Bytes erased.
        bytes: u32,
    },
    /// Writing flash.
    Write {
        /// Bytes written.
        bytes: u32,
    },
    /// Reading flash.
    Read {
        /// Bytes read.
        bytes: u32,
    },
    /// Printing on the console's UART, which blocks the task.
    Print {
        /// Bytes printed.
        bytes: u32,
    },
}

/// Memory for dynamic allocation, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heap {
    /// Free now.
    pub free: u32,
    /// Least that was ever free.
    pub minimum: u32,
    /// All there is.
    pub total: u32,
}

/// Why the board runs. The component's guard (30 starts in a row that each lasted less than the boot
/// marker's time mark the image invalid and bring the other one back) is left to the board's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boot {
    /// Starts so far, this one with it.
    pub count: u32,
    /// Reason of the last reset, `esp_reset_reason_t`; 1 is power-on.
    pub reason: u32,
    /// Whether a core dump is stored.
    pub crash: bool,
}

/// How loading an image into the spare slot goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Download {
    /// On its way.
    Running {
        /// Bytes that are there.
        received: u32,
        /// Bytes of the image; 0 as long as that is not known.
        total: u32,
    },
    /// All of it is in the spare slot, and `image_len` tells its length.
    Complete,
    /// It failed, or there was none.
    Failed,
}

/// The board under a node. One without application slots leaves out what is about them.
pub trait Board {
    /// Fills `out` with random bytes, fit for keys.
    fn random(&mut self, out: &mut [u8]);

    /// For how many nanoseconds this work keeps the processor busy. Zero where the work is really
    /// done here and time passes by itself. (Asked for every frame of every node: a plain number is
    /// what costs least.)
    fn cost_ns(&mut self, work: Work) -> u64 {
        let _ = work;
        0
    }

    /// Bytes that a slot can hold; 0 if there is none.
    fn slot_size(&self, slot: Slot) -> u32 {
        let _ = slot;
        0
    }

    /// Length of the image in a slot, as its header and the length of the download tell; 0 if
    /// there is none.
    fn image_len(&self, slot: Slot) -> u32 {
        let _ = slot;
        0
    }

    /// Reads flash; false if it fails.
    fn read(&mut self, slot: Slot, offset: u32, out: &mut [u8]) -> bool {
        let _ = (slot, offset, out);
        false
    }

    /// Erases the first `len` bytes of the spare slot; false if it fails.
    fn erase(&mut self, len: u32) -> bool {
        let _ = len;
        false
    }

    /// Writes into the spare slot; false if it fails.
    fn write(&mut self, offset: u32, data: &[u8]) -> bool {
        let _ = (offset, data);
        false
    }

    /// Chooses the slot to start after the next reset; false if it fails.
    fn boot(&mut self, slot: Slot) -> bool {
        let _ = slot;
        false
    }

    /// Loads a stored value and gives its length, cut to `out`; `None` if nothing is stored.
    fn load(&mut self, key: Key, out: &mut [u8]) -> Option<usize>;

    /// Stores a value; false if it fails.
    fn save(&mut self, key: Key, value: &[u8]) -> bool;

    /// Removes a stored value.
    fn forget(&mut self, key: Key);

    /// Removes every stored value.
    fn forget_all(&mut self) {
        for key in Key::ALL {
            self.forget(key);
        }
    }

    /// Memory for dynamic allocation; zeros where there is none.
    fn heap(&self) -> Heap {
        Heap::default()
    }

    /// Why it runs.
    fn started(&self) -> Boot {
        Boot { count: 1, reason: 1, crash: false }
    }

    /// Begins to load an application image from this address into the spare slot (`ota -d`); false
    /// if this board cannot. How it goes on is [`download`](Self::download).
    fn fetch(&mut self, url: &str) -> bool {
        let _ = url;
        false
    }

    /// How the last [`fetch`](Self::fetch) goes on.
    fn download(&mut self) -> Download {
        Download::Failed
    }

    /// Sets a pin's level.
    fn pin(&mut self, number: u8, high: bool) {
        let _ = (number, high);
    }
}

/// A board without storage, whose chance is a fixed sequence: for tests and examples only, since
/// keys made of it are no secret.
#[derive(Clone, Debug)]
pub struct BareBoard(pub u64);

impl Board for BareBoard {
    fn random(&mut self, out: &mut [u8]) {
        for byte in out {
            // SplitMix64 (Steele, Lea and Flood 2014), one output a byte.
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            *byte = (z ^ (z >> 31)) as u8;
        }
    }

    fn load(&mut self, _: Key, _: &mut [u8]) -> Option<usize> {
        None
    }

    fn save(&mut self, _: Key, _: &[u8]) -> bool {
        false
    }

    fn forget(&mut self, _: Key) {}
}
