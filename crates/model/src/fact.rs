//! Names of the facts and counters by which a target describes what its samples were taken of. The
//! runner of a cell writes them; summaries and reports read them.
//!
//! A store holds a fact as text. Where that text is a number, a mode or one of a few words, the name is a
//! [`TypedFact`], by which both ends agree on the type: who records it gives a value, and who reads it gets one.

use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;

/// Name of a fact whose value is a `T`.
pub struct TypedFact<T> {
    name: &'static str,
    value: PhantomData<fn() -> T>,
}

impl<T> TypedFact<T> {
    /// Creates the name of a fact.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, value: PhantomData }
    }

    /// Returns the name under which a store keeps the fact.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl<T: fmt::Display> TypedFact<T> {
    /// Returns the fact as a store keeps it: its name, and its value to be written as text.
    #[must_use]
    pub const fn of(self, value: T) -> (&'static str, T) {
        (self.name, value)
    }
}

impl<T: FromStr> TypedFact<T> {
    /// Reads the value from the text of a store; `None` where it is not one.
    #[must_use]
    pub fn read(self, text: &str) -> Option<T> {
        text.parse().ok()
    }
}

impl<T> Clone for TypedFact<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for TypedFact<T> {}

impl<T> fmt::Debug for TypedFact<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Outcome of the check of a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateCheck {
    /// A trusted authority signed it for the server's name.
    Verified,
    /// Any certificate was taken.
    NotVerified,
}

impl fmt::Display for CertificateCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Verified => "verified",
            Self::NotVerified => "not-verified",
        })
    }
}

impl FromStr for CertificateCheck {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "verified" => Ok(Self::Verified),
            "not-verified" => Ok(Self::NotVerified),
            _ => Err(()),
        }
    }
}

/// Fact: variant of the device, in the plan's word.
pub const VARIANT: &str = "variant";
/// Fact: lab that a cell was simulated in.
pub const LAB: &str = "lab";
/// Fact: name of the chip, such as `esp32c3`.
pub const CHIP: &str = "chip";
/// Fact: Wi-Fi mode or driver of the device, as the published table names it: `station`, `softap`.
pub const MODE: &str = "mode";
/// Fact: number of devices that were measured at once, where there are several.
pub const DEVICES: TypedFact<u32> = TypedFact::new("devices");
/// Fact: transport of the messages, where the name of the test does not imply it: `esp-now`.
pub const TRANSPORT: &str = "transport";
/// Fact: security of the link: `open`, `wpa2`, `wpa3`; `unstated` where a document does not say.
pub const SECURITY: &str = "security";
/// Fact: environment of the measurement: `home`, `shield-box`.
pub const ENVIRONMENT: &str = "environment";
/// Fact: firmware that distinguishes the rows of a document, in its words: `RTOS SDK 2.2`.
pub const FIRMWARE: &str = "firmware";
/// Fact: release of the esp-now component, which sets how long frames are: `2.0`.
pub const ESP_NOW_RELEASE: &str = "esp-now-release";
/// Fact: release of ESP-IDF under that component: `4.4`.
pub const IDF_RELEASE: &str = "esp-idf-release";
/// Fact: greatest number of MPDUs in an A-MPDU, which is the smaller of the two ends' limits; 1
/// without aggregation.
pub const AGGREGATED: TypedFact<u32> = TypedFact::new("wifi-ampdu-frames");
/// Fact: octets that the cipher adds to each packet on the air: 16 with CCMP, 0 without a cipher.
pub const CIPHER_OCTETS: TypedFact<u32> = TypedFact::new("wifi-cipher-octets");
/// Beginning of facts: a property of the lab, named behind it, has this value by the plan, and another by the lab's file.
pub const PLAN_SETS: &str = "plan-sets ";
/// Beginning of facts: the value of the lab's file for a property that the plan sets.
pub const LAB_HAS: &str = "lab-has ";
/// Fact: number of devices of a lab beside the initiator, where the plan leaves it to the lab.
pub const LAB_DEVICES: TypedFact<u16> = TypedFact::new("lab-devices");
/// Fact: distance in metres of the nearest of a lab's devices, where the plan leaves it to the lab.
pub const LAB_NEAREST_M: TypedFact<f32> = TypedFact::new("lab-nearest-m");
/// Fact: distance in metres of the farthest of a lab's devices, where the plan leaves it to the lab.
pub const LAB_FARTHEST_M: TypedFact<f32> = TypedFact::new("lab-farthest-m");
/// Fact: distance in metres of the farthest measured device, where the model of the place ends before it.
pub const FARTHEST_M: TypedFact<f64> = TypedFact::new("farthest-m");
/// Fact: distance in metres at which the model of the place ends, where a device is farther away.
pub const MODEL_ENDS_M: TypedFact<f64> = TypedFact::new("model-ends-m");
/// Fact: the user stopped the cell before its end; what was recorded until then is there.
pub const STOPPED: &str = "stopped";
/// Fact: whether the server's certificate was checked.
pub const TLS_CERTIFICATE: TypedFact<CertificateCheck> = TypedFact::new("tls_certificate");
/// Fact: name that the server's certificate was to be for (RFC 6066, section 3).
pub const TLS_SERVER_NAME: &str = "tls_server_name";

/// Counter: further copies of probes that are not samples, because there were more copies than
/// probes.
pub const DUPLICATES_NOT_KEPT: &str = "duplicates-not-kept";
/// Counter: characters of typed commands that a console has lost: such a command is cut.
pub const TYPED_LOST: &str = "typed-lost";
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString as _;

    #[test]
    fn a_typed_fact_reads_what_it_wrote_and_nothing_else() {
        for metres in [0.01, 0.3, 150.0, 1e5] {
            let (name, value) = FARTHEST_M.of(metres);
            assert_eq!(name, "farthest-m");
            assert_eq!(FARTHEST_M.read(&value.to_string()), Some(metres));
        }
        assert_eq!(
            (AGGREGATED.read("6"), AGGREGATED.read("six"), AGGREGATED.read("")),
            (Some(6), None, None)
        );
        assert_eq!(AGGREGATED.read("-1"), None);
        for check in [CertificateCheck::Verified, CertificateCheck::NotVerified] {
            let (name, value) = TLS_CERTIFICATE.of(check);
            assert_eq!(
                (name, TLS_CERTIFICATE.read(&value.to_string())),
                ("tls_certificate", Some(check))
            );
        }
        assert_eq!(TLS_CERTIFICATE.read("Verified"), None, "the words are exact");
    }
}
