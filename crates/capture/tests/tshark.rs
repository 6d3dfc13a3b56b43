//! TCP as tshark judges it: connections by chance, with losses, copies, overtaking, windows of zero and keep-alives.
//! Each count of each connection is the same.

use espbench_capture::analysis::CaptureAnalysis;
use espbench_capture::tcp::TcpFlow;
use std::collections::BTreeMap;
use std::process::Command;

/// Fields of tshark, in the order of [`ours`].
const FIELDS: [&str; 12] = [
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.duplicate_ack",
    "tcp.analysis.zero_window",
    "tcp.analysis.zero_window_probe",
    "tcp.analysis.window_full",
    "tcp.analysis.window_update",
    "tcp.analysis.keep_alive",
    "tcp.analysis.lost_segment",
    "tcp.analysis.ack_rtt",
];

fn ours(flow: &TcpFlow) -> [u64; 12] {
    let mut sum = [0; 12];
    for it in &flow.directions {
        let counts = [
            it.resent.count,
            it.fast_retransmissions,
            it.spurious_retransmissions,
            it.out_of_order.count,
            it.duplicate_acks.count,
            it.zero_windows.count,
            it.zero_window_probes,
            it.window_full.count,
            it.window_updates,
            it.keep_alives,
            it.after_gap.count,
            it.rtt.count,
        ];
        sum.iter_mut().zip(counts).for_each(|(sum, it)| *sum += it);
    }
    sum
}

/// Numbers by chance: the multiplier of Knuth's MMIX.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(bound)) as u32
    }
}

/// A connection that is written segment by segment.
struct Writer {
    chance: Chance,
    us: u64,
    port: u16,
    file: Vec<u8>,
}

/// A segment to write.
#[derive(Clone, Copy)]
struct Segment {
    from_client: bool,
    sequence: u32,
    ack: u32,
    flags: u8,
    window: u16,
    length: u32,
    scale: Option<u8>,
}

impl Writer {
    fn write(&mut self, it: Segment) {
        self.us += u64::from([50_u32, 400, 3000, 26_000][self.chance.below(4) as usize])
            + u64::from(self.chance.below(50));
        let options: &[u8] = match (it.flags & 2 != 0, it.scale) {
            (true, Some(scale)) => &[2, 4, 5, 0xB4, 3, 3, scale, 0],
            (true, None) => &[2, 4, 5, 0xB4],
            _ => &[],
        };
        let head = 20 + options.len();
        let total = 20 + head + it.length as usize;
        let mut ip = vec![0x45, 0];
        ip.extend((total as u16).to_be_bytes());
        ip.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        let (client, server) = ([10, 0, 0, 1], [10, 0, 0, 2]);
        let ports = if it.from_client { [self.port, 5001] } else { [5001, self.port] };
        let ends = if it.from_client { [client, server] } else { [server, client] };
        ip.extend(ends.concat());
        ip.extend(ports.map(u16::to_be_bytes).concat());
        ip.extend(it.sequence.to_be_bytes());
        ip.extend(it.ack.to_be_bytes());
        ip.extend([(head / 4 * 16) as u8, it.flags]);
        ip.extend(it.window.to_be_bytes());
        ip.extend([0; 4]);
        ip.extend(options);
        ip.resize(total, 0x55);
        for word in
            [(self.us / 1_000_000) as u32, (self.us % 1_000_000) as u32, total as u32, total as u32]
        {
            self.file.extend(word.to_le_bytes());
        }
        self.file.extend(ip);
    }

    /// Writes a connection whose segments are lost, doubled and overtaken by chance.
    fn connection(&mut self) {
        let scale = [None, Some(0), Some(4)][self.chance.below(3) as usize];
        let wraps = self.chance.below(4) == 0;
        let isn = if wraps { u32::MAX - 3000 } else { 1 + self.chance.below(1 << 30) };
        let begin = isn.wrapping_add(1);
        let window = 8192_u16 >> scale.unwrap_or(0);
        let mut talk = Talk { scale, begin, next: begin, acked: begin, window };
        if self.chance.below(5) > 0 {
            let syn = Segment { sequence: isn, ack: 0, flags: 2, window: 8192, ..talk.data(0, 0) };
            self.write(syn);
            let answer = Segment { from_client: false, sequence: SERVER_ISN, ack: begin, ..syn };
            self.write(Segment { flags: 18, ..answer });
            self.write(Segment { flags: 16, window, ..talk.data(begin, 0) });
        }
        for _ in 0..self.chance.below(80) {
            match self.chance.below(16) {
                action @ 0..=8 => self.send(&mut talk, action),
                action => self.answer(&mut talk, action),
            }
        }
        if self.chance.below(2) == 0 {
            self.write(Segment { flags: 17, ..talk.data(talk.next, 0) });
            self.write(talk.reply(talk.next.wrapping_add(1)));
        }
        if self.chance.below(8) == 0 {
            self.write(Segment { flags: 4, ..talk.data(talk.next, 0) });
        }
    }

    fn length(&mut self) -> u32 {
        [1, 100, 536, 1460][self.chance.below(4) as usize]
    }

    /// Sends data: new, to the window's edge, again, behind a gap, or after duplicate acknowledgements.
    fn send(&mut self, talk: &mut Talk, action: u32) {
        let length = self.length();
        match action {
            0..=4 => {
                self.write(talk.data(talk.next, length));
                talk.next = talk.next.wrapping_add(length);
            }
            5 => {
                let limit =
                    talk.acked.wrapping_add(u32::from(talk.window) << talk.scale.unwrap_or(0));
                let room = limit.wrapping_sub(talk.next);
                if room > 0 && room < 20_000 {
                    self.write(talk.data(talk.next, room.min(1460)));
                    talk.next = talk.next.wrapping_add(room.min(1460));
                }
            }
            6 if talk.next != talk.begin => {
                let sent = talk.next.wrapping_sub(talk.begin).min(4000);
                let back = 1 + self.chance.below(sent);
                self.write(talk.data(talk.next.wrapping_sub(back), back.min(length)));
            }
            6 | 7 => {
                talk.next = talk.next.wrapping_add(length);
                self.write(talk.data(talk.next, length));
                talk.next = talk.next.wrapping_add(length);
            }
            _ => {
                for _ in 0..self.chance.below(4) {
                    self.write(talk.reply(talk.acked));
                }
                self.write(talk.data(talk.acked, length));
                if talk.acked == talk.next {
                    talk.next = talk.next.wrapping_add(length);
                }
            }
        }
    }

    /// Answers: all, a half, without a window, to a keep-alive, more than was captured, or again.
    fn answer(&mut self, talk: &mut Talk, action: u32) {
        match action {
            9 | 10 => talk.acked = talk.next,
            11 => talk.acked = talk.acked.wrapping_add(talk.next.wrapping_sub(talk.acked) / 2),
            12 => {
                let none = Segment { window: 0, ..talk.reply(talk.acked) };
                self.write(none);
                if self.chance.below(2) == 0 {
                    self.write(talk.data(talk.next, 1));
                    self.write(none);
                }
                let window = (1 + self.chance.below(8192) as u16) >> talk.scale.unwrap_or(0);
                talk.window = window.max(1);
            }
            13 => {
                let one = self.chance.below(2);
                self.write(talk.data(talk.next.wrapping_sub(1), one));
            }
            14 => {
                talk.acked = talk.next.wrapping_add(self.length());
                talk.next = talk.acked;
            }
            _ => {}
        }
        self.write(talk.reply(talk.acked));
    }
}

const SERVER_ISN: u32 = 7000;

/// A connection as its ends know it: what the client sent, and what the server took.
struct Talk {
    scale: Option<u8>,
    begin: u32,
    next: u32,
    acked: u32,
    window: u16,
}

impl Talk {
    fn data(&self, sequence: u32, length: u32) -> Segment {
        let (ack, scale) = (SERVER_ISN + 1, self.scale);
        Segment { from_client: true, sequence, ack, flags: 24, window: 4096, length, scale }
    }

    fn reply(&self, ack: u32) -> Segment {
        let (sequence, window, scale) = (SERVER_ISN + 1, self.window, self.scale);
        Segment { from_client: false, sequence, ack, flags: 16, window, length: 0, scale }
    }
}

#[test]
fn counts_are_those_of_tshark() {
    if Command::new("tshark").arg("-v").output().is_err() {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "tshark is missing");
        eprintln!("skipped: tshark is missing");
        return;
    }
    let mut file = vec![
        0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 101, 0, 0, 0,
    ];
    for seed in 0..400 {
        let mut writer =
            Writer { chance: Chance(seed), us: 1_000_000 * seed, port: 10_000 + seed as u16, file };
        writer.connection();
        file = writer.file;
    }
    let path = std::env::temp_dir().join(format!("espbench-tcp-{}.pcap", std::process::id()));
    std::fs::write(&path, &file).unwrap();
    let mut theirs: BTreeMap<u64, [u64; 12]> = BTreeMap::new();
    let fields = FIELDS.iter().flat_map(|it| ["-e", it]);
    let output = Command::new("tshark")
        .args(["-T", "fields", "-E", "separator=|", "-e", "tcp.stream"])
        .args(fields)
        .arg("-r")
        .arg(&path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut cells = line.split('|');
        let counts = theirs.entry(cells.next().unwrap().parse().unwrap()).or_default();
        counts.iter_mut().zip(cells).for_each(|(count, it)| *count += u64::from(!it.is_empty()));
    }
    let mut analysis = CaptureAnalysis::default();
    analysis.push(&file).unwrap();
    let seen = analysis.finish(None).unwrap();
    if std::env::var_os("KEEP").is_none() {
        std::fs::remove_file(&path).unwrap();
    }
    let mut wrong = Vec::new();
    let mut all = [0; 12];
    for flow in &seen.flows {
        let (ours, theirs) = (ours(flow), theirs[&flow.stream]);
        all.iter_mut().zip(theirs).for_each(|(sum, it)| *sum += it);
        for ((field, ours), theirs) in FIELDS.iter().zip(ours).zip(theirs) {
            if ours != theirs {
                wrong.push(format!("stream {}: {field} {theirs}, ours {ours}", flow.stream));
            }
        }
    }
    assert_eq!(seen.flows.len(), theirs.len());
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
    assert!(all.iter().all(|it| *it > 10), "each occurs: {all:?}");
}
