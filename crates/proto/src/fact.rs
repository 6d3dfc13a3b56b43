//! Names of facts and counters by which a target tells what its samples were taken of. Whoever
//! carries a cell out writes them; whoever makes results of it reads them.

/// Which variant of a device a cell was of: the plan's word.
pub const VARIANT: &str = "variant";
/// The chip: `esp32c3`.
pub const CHIP: &str = "chip";
/// How the device was attached or driven, as a document's table has it: `station`, `softap`.
pub const MODE: &str = "mode";
/// What carries the messages, where it is not what the test is named for: `esp-now`.
pub const TRANSPORT: &str = "transport";
/// What protects the link: `open`, `wpa2`, `wpa3`; `unstated` where a document does not say.
pub const SECURITY: &str = "security";
/// The place: `home`, `shield-box`.
pub const ENVIRONMENT: &str = "environment";
/// The firmware that a document tells its rows apart by, in its words: `RTOS SDK 2.2`.
pub const FIRMWARE: &str = "firmware";
/// PHY mode of the frames that carried the payload, with its width: `HT20-MCS7`.
pub const PHY_MODE: &str = "wifi-phy-mode";
/// PHY mode in which these are answered (ACK and block ack): `24M`.
pub const RESPONSE_MODE: &str = "wifi-response-mode";
/// Most MPDUs of an A-MPDU: the smaller of what both ends agreed on; 1 without aggregation.
pub const AGGREGATED: &str = "wifi-ampdu-frames";
/// Octets of a packet's payload that are added to it on the air by the cipher: 16 of CCMP; 0.
pub const CIPHER_OCTETS: &str = "wifi-cipher-octets";

/// Counter: further copies of probes that are no samples, since there were more copies than probes.
pub const DUPLICATES_NOT_KEPT: &str = "duplicates-not-kept";
/// Counter: the charge that the device drew while the cell was measured, in nanocoulombs. With
/// `-STATE` after it, the part of a state.
pub const CHARGE_NC: &str = "charge-nanocoulomb";
/// Counter: the heap that is free once Wi-Fi has started, without traffic, in bytes.
pub const HEAP_STARTED: &str = "heap-started";
/// Counter: the most of it that was in use at a time, in bytes.
pub const HEAP_PEAK: &str = "heap-peak";
/// Counter: the most that the driver's dynamic buffers took of it at a time, in bytes.
pub const HEAP_DRIVER_PEAK: &str = "heap-driver-peak";
/// Counter: the most that these can take, p = b_rx m_rx + b_tx m_tx, in bytes.
pub const HEAP_DRIVER_BOUND: &str = "heap-driver-bound";
/// Counter: for how long the charge was counted, in nanoseconds. With `-STATE` after it, in a state.
pub const TIME_NS: &str = "time-ns";
