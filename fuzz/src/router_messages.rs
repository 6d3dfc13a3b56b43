//! Messages to a router: DNS and DHCP.

use espbench_proto::wire::dhcp::{self, DhcpMessage};
use espbench_proto::wire::dns::{self, DnsAnswer, DnsQuestion};

/// Reads any octets as a question and as a message of DHCP; what is read is answered, and written again as it was.
pub fn router_messages(data: &[u8]) {
    if let Some(question) = DnsQuestion::parse(data) {
        let mut out = [0; dns::LONGEST];
        for answer in
            [DnsAnswer::Address([10, 0, 0, 1]), DnsAnswer::Name("device"), DnsAnswer::NoName]
        {
            let len = question.answer(answer, &mut out).expect("an answer fits");
            assert!(len >= 12 && out[..2] == data[..2], "the identifier is the question's");
        }
        let labels: usize = question.labels().map(|it| it.len() + 1).sum();
        assert!(labels <= 255);
        let _ = question.is_for("device.lab");
    }
    if let Some(message) = DhcpMessage::parse(data) {
        let mut out = [0; dhcp::LONGEST + 256];
        let len = message.emit(&mut out).expect("a message fits");
        assert_eq!(DhcpMessage::parse(&out[..len]), Some(message));
    }
}
