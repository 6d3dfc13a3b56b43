//! Throughput equals the bound of window and round trip, or of the wire.

use super::*;

/// Returns the bits a second over five seconds, after two.
fn rate(mut net: TestNet) -> f64 {
    let (a, b) = net.connect();
    net.saturate(a, b, ms(2000));
    let read = net.saturate(a, b, ms(5000));
    read as f64 * 8.0 / 5.0
}

fn close(name: &str, got: f64, expected: f64) {
    let error = got / expected - 1.0;
    assert!(error.abs() < 0.03, "{name}: {got} for {expected}, {:.1} %", error * 100.0);
}

#[test]
fn an_esp_that_sends_has_its_buffer_on_the_way() {
    for (buffer, delay) in [(5760, 5), (5760, 25), (11_520, 10), (28_800, 10), (57_600, 40)] {
        let esp = esp(|it| it.tcp_send_buffer = buffer);
        let net = TestNet::pair(esp, Stack::pc(), TestWire::delay(ms(delay)));
        let expected = f64::from(buffer) * 8.0 / (2.0 * delay as f64 / 1000.0);
        close(&alloc::format!("buffer {buffer}, {delay} ms"), rate(net), expected);
    }
}

#[test]
fn an_esp_that_receives_gets_a_window_for_each_round_trip() {
    for (window, delay) in [(5760, 5), (5760, 25), (2880, 10), (4320, 10), (5760, 100)] {
        let net = TestNet::pair(Stack::pc(), receiver(window), TestWire::delay(ms(delay)));
        let expected = f64::from(window) * 8.0 / (2.0 * delay as f64 / 1000.0);
        close(&alloc::format!("window {window}, {delay} ms"), rate(net), expected);
    }
}

fn receiver(window: u32) -> Stack {
    esp(|it| (it.tcp_window, it.tcp_mailbox) = (window, 64))
}

/// Checks that of a larger window lwIP always holds some back: lwIP acknowledges before its program
/// has read, and announces the space only when it is `TCP_WND_UPDATE_THRESHOLD`.
#[test]
fn of_a_larger_window_lwip_holds_some_back() {
    for (window, delay) in [(7200, 10), (11_520, 10), (28_800, 10), (57_600, 40)] {
        let stack = receiver(window);
        let got = rate(TestNet::pair(Stack::pc(), stack, TestWire::delay(ms(delay))));
        let used = got * 2.0 * delay as f64 / 8000.0;
        let least = window - stack.tcp_window_update - 1440;
        assert!(used < f64::from(window) && used > f64::from(least), "{used} of {window}");
    }
}

#[test]
fn a_wire_is_filled() {
    let wire = TestWire { rate: 20_000_000, room: 40, ..TestWire::delay(ms(2)) };
    let big = esp(|it| {
        (it.tcp_window, it.tcp_send_buffer, it.tcp_mailbox) = (57_600, 57_600, 64);
    });
    // 1440 of a full packet's 1480 bytes are payload.
    let expected = 20e6 * 1440.0 / 1480.0;
    close("up", rate(TestNet::pair(big, Stack::pc(), wire)), expected);
    close("down", rate(TestNet::pair(Stack::pc(), big, wire)), expected);
}

#[test]
fn a_window_beyond_64_kib_is_scaled() {
    let mut wide = Stack::pc();
    (wide.tcp_window, wide.tcp_send_buffer) = (400_000, 1_000_000);
    let net = TestNet::pair(wide, wide, TestWire::delay(ms(20)));
    close("400 kB", rate(net), 400_000.0 * 8.0 / 0.04);
}

#[test]
fn many_connections_share_a_host() {
    let wire = TestWire::delay(ms(1));
    let clients = 40;
    let hosts: Vec<_> = (0..clients).map(|_| (esp(|_| {}), wire)).collect();
    let mut net = TestNet::new(1, &[&hosts[..], &[(Stack::pc(), wire)]].concat());
    let server = clients;
    let listener = net.at(server, |it| it.tcp_listen(80)).expect("a free port");
    let to = Endpoint::new(address(server), 80);
    let sockets: Vec<_> =
        (0..clients).map(|n| net.at(n, |it| it.tcp_connect(to)).expect("an address")).collect();
    net.run(ms(100));
    let accepted: Vec<_> =
        core::iter::from_fn(|| net.at(server, |it| it.tcp_accept(listener))).collect();
    assert_eq!(accepted.len(), clients);
    let until = net.now + ms(200);
    let mut read = 0;
    for (n, &socket) in sockets.iter().enumerate() {
        net.fill(n, socket);
    }
    while net.step(until) {
        for (n, &socket) in sockets.iter().enumerate() {
            if net.hosts[n].changed(APP) {
                net.fill(n, socket);
            }
        }
        if net.hosts[server].changed(APP) {
            for &(socket, _) in &accepted {
                read += net.drain(server, socket);
            }
        }
    }
    // Each connection is bound by its send buffer and 2 ms.
    let most = clients as u64 * 5760 * 100;
    assert!(read > most * 9 / 10 && read <= most, "{read} of {most}");
    assert_eq!(net.hosts[server].connections(), clients);
}
