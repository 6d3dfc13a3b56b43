//! An iperf 2 of this host, as the other end of a board's.

use super::super::iperf::IperfTarget;
use super::super::{Sink, Target};
use crate::respond::iperf::{Observe, ServerEvent, ServerOptions, start};
use crate::respond::{Service, ServiceLog};
use espbench_engine::boards::{PeerStage, StreamPeer};
use espbench_measure::run::Site;
use espbench_model::sample::{Link, Sample};
use espbench_model::workload::{Direction, Iperf, Transport, Workload};
use espbench_sim::lab::record::Record;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Port of no service, to ask the system for a way.
const DISCARD: u16 = 9;

/// News of the other thread.
enum HostNews {
    Sample(Box<Sample>),
    Count(String, u64),
    Fact(String, String),
    Ended(Result<(), String>),
}

/// End of one stream on this host.
pub(super) struct HostPeer {
    sender: Sender<HostNews>,
    receiver: Receiver<HostNews>,
    stop: Arc<AtomicBool>,
    client: Option<JoinHandle<()>>,
    server: Option<Service>,
    stage: PeerStage,
}

impl HostPeer {
    pub(super) fn new() -> Self {
        let (sender, receiver) = channel();
        Self {
            sender,
            receiver,
            stop: Arc::default(),
            client: None,
            server: None,
            stage: PeerStage::Going,
        }
    }

    /// Records what there is.
    fn hand_over(&mut self, record: &mut dyn Record) {
        while let Ok(news) = self.receiver.try_recv() {
            match news {
                HostNews::Sample(sample) => record.sample(*sample),
                HostNews::Count(name, by) => record.count(&name, by),
                HostNews::Fact(name, value) => record.fact(&name, value),
                HostNews::Ended(Ok(())) => self.stage = PeerStage::Done,
                HostNews::Ended(Err(error)) => self.stage = PeerStage::Failed(error),
            }
        }
    }
}

impl Drop for HostPeer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.server = None;
        if let Some(client) = self.client.take() {
            let _ = client.join();
        }
    }
}

/// Returns the address of this host on the way to a board.
fn own_address(board: Ipv4Addr) -> Result<Ipv4Addr, String> {
    let told = |error: std::io::Error| format!("this computer has no way to {board}: {error}");
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(told)?;
    socket.connect((board, DISCARD)).map_err(told)?;
    match socket.local_addr().map_err(told)?.ip() {
        IpAddr::V4(own) => Ok(own),
        IpAddr::V6(_) => Err(format!("this computer has no IPv4 way to {board}")),
    }
}

/// Gives a client's samples to the thread of the consoles.
struct HostSink {
    sender: Sender<HostNews>,
    stop: Arc<AtomicBool>,
}

impl Sink for HostSink {
    fn sample(&mut self, sample: Sample) {
        let _ = self.sender.send(HostNews::Sample(Box::new(sample)));
    }

    fn count(&mut self, name: &str, by: u64) {
        let _ = self.sender.send(HostNews::Count(name.into(), by));
    }

    fn fact(&mut self, name: &str, value: String) {
        let _ = self.sender.send(HostNews::Fact(name.into(), value));
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl StreamPeer for HostPeer {
    fn serve(&mut self, work: &Iperf, board: Ipv4Addr) -> Result<SocketAddrV4, String> {
        let own = own_address(board)?;
        let options = ServerOptions {
            interval: work.interval,
            tcp: work.transport == Transport::Tcp,
            udp: work.transport == Transport::Udp,
            // Served for the time of one test.
            trusts_clients: true,
            ..ServerOptions::default()
        };
        let sender = self.sender.clone();
        let streams = u64::from(work.parallel.max(1));
        let ended = AtomicU64::new(0);
        let observe: Observe = Arc::new(move |test, event| {
            // The board's streams are the first ones; whoever else comes is not counted.
            if let (1.., ServerEvent::Sample(sample)) = (test, event)
                && u64::from(test) <= streams
            {
                let mut sample = *sample;
                let mut is_total = false;
                if let Sample::Interval(it) = &mut sample {
                    it.link = Link(u16::try_from(test - 1).unwrap_or(u16::MAX));
                    is_total = it.total;
                }
                let _ = sender.send(HostNews::Sample(Box::new(sample)));
                if is_total && ended.fetch_add(1, Ordering::Relaxed) + 1 >= streams {
                    let _ = sender.send(HostNews::Ended(Ok(())));
                }
            }
        });
        let log: ServiceLog = Arc::new(|_| {});
        let service = start(SocketAddr::from((own, 0)), options, &log, Some(observe))
            .map_err(|error| format!("this computer cannot serve at {own}: {error}"))?;
        let port = service.address.port();
        self.server = Some(service);
        Ok(SocketAddrV4::new(own, port))
    }

    fn send(&mut self, work: &Iperf, board: SocketAddrV4) -> Result<(), String> {
        let work = Workload::Iperf(Iperf { direction: Direction::Forward, ..*work });
        let sender = self.sender.clone();
        let mut sink = HostSink { sender: sender.clone(), stop: Arc::clone(&self.stop) };
        let client = std::thread::Builder::new().name("iperf client".into()).spawn(move || {
            let mut target = IperfTarget::new(board.into(), Site::default());
            let result = target.run(&work, &mut sink).map_err(|error| error.to_string());
            let _ = sender.send(HostNews::Ended(result));
        });
        self.client = Some(client.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn poll(&mut self, record: &mut dyn Record) -> PeerStage {
        self.hand_over(record);
        self.stage.clone()
    }

    fn finish(&mut self, record: &mut dyn Record) {
        self.stop.store(true, Ordering::Relaxed);
        // A server tells its totals when it stops.
        self.server = None;
        if let Some(client) = self.client.take() {
            let _ = client.join();
        }
        self.hand_over(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Record for Nothing {
        fn sample(&mut self, _: Sample) {}
        fn count(&mut self, _: &str, _: u64) {}
        fn fact(&mut self, _: &str, _: String) {}
    }

    #[test]
    fn the_way_to_a_board_has_an_address_of_this_host() {
        assert_eq!(own_address(Ipv4Addr::LOCALHOST), Ok(Ipv4Addr::LOCALHOST));
    }

    /// Streams by number.
    #[derive(Default)]
    struct Totals(Vec<(u16, u64)>);

    impl Record for Totals {
        fn sample(&mut self, sample: Sample) {
            if let Sample::Interval(it) = sample
                && it.total
            {
                self.0.push((it.link.0, it.bytes));
            }
        }
        fn count(&mut self, _: &str, _: u64) {}
        fn fact(&mut self, _: &str, _: String) {}
    }

    /// A board that sends two streams is done when both are, and a third one is nobody's.
    #[test]
    fn each_of_a_board_s_streams_is_counted_by_itself() {
        use std::io::Write as _;
        let mut peer = HostPeer::new();
        let work = Iperf { parallel: 2, transport: Transport::Tcp, ..Iperf::DEFAULT };
        let at = peer.serve(&work, Ipv4Addr::LOCALHOST).unwrap();
        let mut totals = Totals::default();
        // One after the other, so that their numbers are known.
        for (bytes, stage) in [(1000, PeerStage::Going), (3000, PeerStage::Done)] {
            let before = totals.0.len();
            let mut stream = std::net::TcpStream::connect(at).unwrap();
            stream.write_all(&vec![0; bytes]).unwrap();
            drop(stream);
            while totals.0.len() == before {
                peer.poll(&mut totals);
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            // The end comes right behind the total.
            while stage == PeerStage::Done && peer.poll(&mut totals) == PeerStage::Going {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            assert_eq!(peer.poll(&mut totals), stage);
        }
        assert_eq!(totals.0, [(0, 1000), (1, 3000)]);
    }

    #[test]
    fn a_server_that_is_not_there_is_told_in_words() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let SocketAddr::V4(address) = taken.local_addr().unwrap() else { panic!() };
        drop(taken);
        let mut peer = HostPeer::new();
        peer.send(&Iperf::DEFAULT, address).unwrap();
        let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
        loop {
            match peer.poll(&mut Nothing) {
                PeerStage::Failed(error) => {
                    return assert!(error.contains("no iperf 2 server"), "{error}");
                }
                stage => assert_eq!(stage, PeerStage::Going),
            }
            assert!(std::time::Instant::now() < end);
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}
