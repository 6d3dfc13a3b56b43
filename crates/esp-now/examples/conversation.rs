//! Two nodes over a medium that loses nothing; a command is typed at each console, and what they
//! print is shown: `cargo run -p esp-now --example conversation`.

use esp_now::ieee80211::mac::Mac;
use esp_now::model::time::{Duration, Instant};
use esp_now::node::board::BareBoard;
use esp_now::node::device::{Setup, SmallNode};
use esp_now::node::task::NodeSettings;
use esp_now::node::{Input, NodeOutput, ReceivedFrame};

fn main() {
    let macs = [1, 2].map(|last| Mac([0x24, 0x0A, 0xC4, 0, 0, last]));
    let mut boards = [1, 2].map(BareBoard);
    let mut now = Instant::ZERO;
    let mut nodes = [0, 1].map(|i| {
        SmallNode::new(now, &mut boards[i], macs[i], NodeSettings::default(), &Setup::default())
    });
    // The R answers the editor, which asks the terminal for the cursor before each prompt.
    let typed = [&b"Respnow_iperf -s\r"[..], b"Respnow_iperf -c 24:0a:c4:00:00:01 -p -C 3\r"];
    for i in [0, 1] {
        nodes[i].handle(now, &mut boards[i], Input::Console(typed[i]));
    }
    let (mut due, mut buf) = ([now; 2], [0; 1500]);
    let end = now + Duration::from_secs(5);
    while now < end {
        // The node whose turn is next, and its time.
        let me = usize::from(due[1] < due[0]);
        let other = 1 - me;
        now = now.max(due[me]);
        match nodes[me].poll(now, &mut boards[me], &mut buf) {
            NodeOutput::Transmit { len, to } => {
                let (transmitter, receiver) = (macs[me], to);
                let frame = ReceivedFrame {
                    data: &buf[..len],
                    transmitter,
                    receiver,
                    rssi: -40,
                    channel: 1,
                };
                nodes[other].handle(now, &mut boards[other], Input::Frame(frame));
                nodes[me].handle(now, &mut boards[me], Input::Sent { delivered: true });
                due[other] = now;
            }
            NodeOutput::Print { len } => {
                print!("{}", String::from_utf8_lossy(&buf[..len]).replace("\x1b[6n\0", ""))
            }
            NodeOutput::WaitUntil(at) => due[me] = at,
            NodeOutput::Idle => due[me] = end,
            NodeOutput::Data { .. }
            | NodeOutput::Tune(_)
            | NodeOutput::Sample(_)
            | NodeOutput::Event(_) => {}
        }
    }
}
