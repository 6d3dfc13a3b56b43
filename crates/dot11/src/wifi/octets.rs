//! The lengths of frames on the air: IEEE Std 802.11-2020, clauses 9.2, 9.3 and 12.5.3.

/// Frame Control, Duration, three addresses, Sequence Control (9.3.2.1, 9.3.3.1).
pub const HEADER: u32 = 24;
/// QoS Control (9.2.4.5).
pub const QOS_CONTROL: u32 = 2;
/// The CCMP header, with the packet number (12.5.3.2).
pub const CCMP_HEADER: u32 = 8;
/// The message integrity code of CCMP-128 (12.5.3.2).
pub const CCMP_MIC: u32 = 8;
/// LLC and SNAP, which announce IP, ARP or EAPOL (IEEE Std 802-2014, 9.4; RFC 1042).
pub const LLC_SNAP: u32 = 8;
/// The frame check sequence (9.2.4.8).
pub const FCS: u32 = 4;
/// The largest MSDU (9.2.4.7.1), LLC and SNAP included.
pub const LARGEST_MSDU: u32 = 2304;
/// A PS-Poll: Frame Control, AID, BSSID, the sender, FCS (9.3.1.5).
pub const PS_POLL: u32 = 20;

/// The encapsulation of packets in data frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encapsulation {
    /// Whether both ends have QoS (all HT stations have).
    pub qos: bool,
    /// Whether the frame is encrypted with CCMP.
    pub protected: bool,
}

impl Encapsulation {
    /// Returns the octets of the MPDU that carries a packet of the network layer (IP, ARP, EAPOL),
    /// with FCS. The frame has no HT Control field, which serves link adaptation and beams that
    /// ESPs do not have.
    #[must_use]
    pub const fn data(self, packet: u32) -> u32 {
        self.empty() + LLC_SNAP + packet + if self.protected { CCMP_HEADER + CCMP_MIC } else { 0 }
    }

    /// Returns the octets of a Null or QoS Null frame (9.3.2.1): a data frame without a body is not
    /// encrypted (12.5.3.1).
    #[must_use]
    pub const fn empty(self) -> u32 {
        HEADER + FCS + if self.qos { QOS_CONTROL } else { 0 }
    }
}

/// Returns the octets of a management frame with a body of that size, with FCS (9.3.3.1).
#[must_use]
pub const fn management(body: u32) -> u32 {
    HEADER + body + FCS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_ip_packet() {
        // 1500 octets of IP in QoS data with CCMP take 1554, as captures of WPA2 networks show.
        assert_eq!(Encapsulation { qos: true, protected: true }.data(1500), 1554);
        assert_eq!(Encapsulation { qos: true, protected: false }.data(1500), 1538);
        assert_eq!(Encapsulation::default().data(1500), 1536);
        assert_eq!(
            (
                Encapsulation::default().empty(),
                Encapsulation { qos: true, protected: true }.empty()
            ),
            (28, 30)
        );
    }
}
