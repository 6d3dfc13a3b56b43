//! Names of the facts and counters by which a target describes what its samples were taken of. The
//! runner of a cell writes them; summaries and reports read them.

/// Fact: variant of the device, in the plan's word.
pub const VARIANT: &str = "variant";
/// Fact: name of the chip, such as `esp32c3`.
pub const CHIP: &str = "chip";
/// Fact: Wi-Fi mode or driver of the device, as the published table names it: `station`, `softap`.
pub const MODE: &str = "mode";
/// Fact: number of devices that were measured at once, where there are several.
pub const DEVICES: &str = "devices";
/// Fact: transport of the messages, where the name of the test does not imply it: `esp-now`.
pub const TRANSPORT: &str = "transport";
/// Fact: security of the link: `open`, `wpa2`, `wpa3`; `unstated` where a document does not say.
pub const SECURITY: &str = "security";
/// Fact: environment of the measurement: `home`, `shield-box`.
pub const ENVIRONMENT: &str = "environment";
/// Fact: firmware that distinguishes the rows of a document, in its words: `RTOS SDK 2.2`.
pub const FIRMWARE: &str = "firmware";
/// Fact: PHY mode of the frames that carried the payload, with the channel width: `HT20-MCS7`.
pub const PHY_MODE: &str = "wifi-phy-mode";
/// Fact: release of the esp-now component, which sets how long frames are: `2.0`.
pub const ESP_NOW_RELEASE: &str = "esp-now-release";
/// Fact: release of ESP-IDF under that component: `4.4`.
pub const IDF_RELEASE: &str = "esp-idf-release";
/// Fact: PHY mode of the responses to these frames (ACK and block ack): `24M`.
pub const RESPONSE_MODE: &str = "wifi-response-mode";
/// Fact: greatest number of MPDUs in an A-MPDU, which is the smaller of the two ends' limits; 1
/// without aggregation.
pub const AGGREGATED: &str = "wifi-ampdu-frames";
/// Fact: octets that the cipher adds to each packet on the air: 16 with CCMP, 0 without a cipher.
pub const CIPHER_OCTETS: &str = "wifi-cipher-octets";
/// Fact: properties of the lab that the plan set to other values than the lab's file.
pub const OVERRIDDEN: &str = "plan-sets";
/// Fact: distance in metres of the farthest measured device, where the model of the place ends before it.
pub const FARTHEST_M: &str = "farthest-m";
/// Fact: distance in metres at which the model of the place ends, where a device is farther away.
pub const MODEL_ENDS_M: &str = "model-ends-m";
/// Fact: whether the server's certificate was checked: [`TLS_VERIFIED`] or [`TLS_NOT_VERIFIED`].
pub const TLS_CERTIFICATE: &str = "tls_certificate";
/// Value of [`TLS_CERTIFICATE`]: a trusted authority signed it for the server's name.
pub const TLS_VERIFIED: &str = "verified";
/// Value of [`TLS_CERTIFICATE`]: any certificate was taken.
pub const TLS_NOT_VERIFIED: &str = "not-verified";
/// Fact: name that the server's certificate was to be for (RFC 6066, section 3).
pub const TLS_SERVER_NAME: &str = "tls_server_name";

/// Counter: further copies of probes that are not samples, because there were more copies than
/// probes.
pub const DUPLICATES_NOT_KEPT: &str = "duplicates-not-kept";
/// Counter: charge that the device drew while the cell was measured, in nanocoulombs. With the
/// suffix `-STATE`, the share of one power state.
pub const CHARGE_NC: &str = "charge-nanocoulomb";
/// Counter: free heap once Wi-Fi has started and before any traffic, in bytes.
pub const HEAP_STARTED: &str = "heap-started";
/// Counter: peak use of that heap, in bytes.
pub const HEAP_PEAK: &str = "heap-peak";
/// Counter: peak use of that heap by the driver's dynamic buffers, in bytes.
pub const HEAP_DRIVER_PEAK: &str = "heap-driver-peak";
/// Counter: upper bound of the heap that the dynamic buffers can take, p = b_rx m_rx + b_tx m_tx,
/// in bytes.
pub const HEAP_DRIVER_BOUND: &str = "heap-driver-bound";
/// Counter: time for which the charge was counted, in nanoseconds. With the suffix `-STATE`, the
/// time in one power state.
pub const TIME_NS: &str = "time-ns";
