//! A node says "hello" to everybody: `cargo run -p esp-now --example hello`.

use esp_now::component::{DataType, FrameConfig, Header};
use esp_now::ieee80211::mac::Mac;
use esp_now::model::time::{Duration, Instant};
use esp_now::node::board::BareBoard;
use esp_now::node::device::{Setup, SmallNode};
use esp_now::node::task::{NodeSettings, SendRequest};
use esp_now::node::{Input, NodeOutput};

fn main() {
    let (mut board, mac, mut now) = (BareBoard(1), Mac([0x24, 0x0a, 0xc4, 0, 0, 1]), Instant::ZERO);
    let mut node = SmallNode::new(now, &mut board, mac, NodeSettings::default(), &Setup::default());
    let (dest, config) = (Mac::BROADCAST, FrameConfig::default());
    let wait = Duration::from_secs(1);
    let out = SendRequest { data_type: DataType::Data, dest, config, magic: 0, len: 0, wait };
    node.send(now, &mut board, &out, b"hello").expect("nothing else is being sent");

    let (mut buf, mut sent) = ([0; 1500], 0);
    while sent == 0 {
        match node.poll(now, &mut board, &mut buf) {
            NodeOutput::Transmit { len, to } => {
                let (header, payload) = Header::parse(&buf[..len]).expect("a whole header");
                assert_eq!((to, header.src, payload), (Mac::BROADCAST, mac, &b"hello"[..]));
                sent += 1; // here esp_now_send() on a chip
                node.handle(now, &mut board, Input::Sent { delivered: true });
            }
            NodeOutput::WaitUntil(at) => now = at,
            _ => {}
        }
    }
}
