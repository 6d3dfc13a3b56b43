//! Constants of Wi-Fi and IP: the processor's time for each step of a packet's way, memory, currents.

use super::super::constant::{
    ASSUMED, BY_HAND, CONFIDENCE, ConstantGroup, ConstantKey, FITTED, LOOKED_AT, ORIGIN, SOURCE,
    constant, group, rounded,
};
use super::super::key::{KeySpec, KeyType, key};
use super::device::{COST, cost};
use crate::lab::profile::Profile;

const fn percent(name: &'static str, about: &'static str) -> KeySpec {
    key(name, KeyType::Whole(100, 1000), "", about)
}

const fn bytes(name: &'static str, about: &'static str) -> KeySpec {
    key(name, KeyType::Whole(0, 10_000_000), "", about)
}

const fn can(name: &'static str, about: &'static str) -> KeySpec {
    key(name, KeyType::Whole(0, 1), "", about)
}

const fn ma(name: &'static str, about: &'static str) -> KeySpec {
    key(name, KeyType::Number(0.001, 2000.0), "", about)
}

const fn dbm(name: &'static str) -> KeySpec {
    key(name, KeyType::Number(-20.0, 30.0), "", "at which power, dBm")
}

/// Makes the key of a current at a clock that not every chip has.
const fn clock(name: &'static str, about: &'static str) -> KeySpec {
    key(name, KeyType::Number(0.001, 2000.0), "no such clock", about)
}

/// Constants of Wi-Fi and IP.
pub(super) const GROUPS: &[ConstantGroup<Profile>] = &[
    group!(
        "processor",
        "the processor",
        (
            key(
                "clock_mhz",
                KeyType::Whole(10, 1000),
                "",
                "its clock: the times of the packet's way are for this one"
            ),
            whole u32 processor.clock_mhz
        ),
        (
            key("cores", KeyType::Whole(1, 2), "", "cores that tasks may run on"),
            whole u8 processor.cores
        ),
        (
            key(
                "coremark_per_mhz",
                KeyType::Number(0.1, 100.0),
                "that of the work",
                "CoreMark of one core for each MHz: the cycles of its work are those of `work`, times the reference core's figure, divided by this"
            ),
            scaled u32 1e3 processor.coremark_milli
        ),
    ),
    group!(
        "software",
        "the firmware, where it is not ESP-IDF's",
        (
            key(
                "work_percent",
                KeyType::Number(1.0, 10_000.0),
                "100",
                "its work, in percent of that of `work`"
            ),
            scaled u32 10.0 processor.work_permille
        ),
    ),
    cost!(wifi_receive, ip.wifi_receive, "Wi-Fi task: a frame from the hardware to lwIP's mailbox"),
    cost!(wifi_send, ip.wifi_send, "sender's task: a packet from lwIP to the driver's queue"),
    cost!(wifi_start, ip.wifi_start, "Wi-Fi task: a frame from the driver's queue to the hardware"),
    cost!(wifi_sent, ip.wifi_sent, "Wi-Fi task: a frame was sent, its buffer is free"),
    cost!(
        wifi_cipher,
        ip.wifi_cipher,
        "Wi-Fi task: CCMP of one frame, where the hardware has none"
    ),
    cost!(
        refill,
        ip.refill,
        "lwIP's task, where new dynamic RX buffers come after the driver had run out of them; at most once for that number of packets"
    ),
    cost!(udp_receive, ip.udp_receive, "lwIP's task: a datagram received"),
    cost!(udp_send, ip.udp_send, "lwIP's task: a datagram sent"),
    cost!(tcp_receive, ip.tcp_receive, "lwIP's task: a segment with data received"),
    cost!(
        tcp_write,
        ip.tcp_write,
        "lwIP's task: data of a call go into the send buffer, and it looks whether a segment may leave"
    ),
    cost!(tcp_send, ip.tcp_send, "lwIP's task: a segment with data sent"),
    cost!(ack_receive, ip.ack_receive, "lwIP's task: a segment without data received"),
    cost!(ack_send, ip.ack_send, "lwIP's task: a segment without data sent"),
    cost!(socket_send, ip.socket_send, "program: a call that sends, by way of lwIP's task"),
    cost!(socket_receive, ip.socket_receive, "program: a call that takes what was received"),
    cost!(copy, ip.copy, "program: bytes copied or compared in one piece"),
    cost!(bytewise, ip.bytewise, "program: bytes that are each read through a call of their own"),
    cost!(print, ip.print, "program: a line printed, without the UART's time"),
    cost!(round, ip.round, "program: a round of its own loop that finds nothing to do"),
    group!(
        "flash",
        "code that runs from flash, in percent of its time in IRAM",
        (percent("wifi_percent", "the driver's send path (`CONFIG_ESP_WIFI_IRAM_OPT` off)"), whole u16 ip.wifi_flash_percent),
        (percent("wifi_rx_percent", "its receive path (`CONFIG_ESP_WIFI_RX_IRAM_OPT` off)"), whole u16 ip.wifi_rx_flash_percent),
        (percent("lwip_percent", "lwIP's paths (`CONFIG_LWIP_IRAM_OPTIMIZATION` off)"), whole u16 ip.lwip_flash_percent),
    ),
    group!(
        "psram",
        "bytes of packets in PSRAM, in percent of what misses of the cache say",
        (key("received_percent", KeyType::Whole(0, 1000), "", "of packets that are received"), whole u16 ip.psram_received_percent),
        (key("sent_percent", KeyType::Whole(0, 1000), "", "of packets that are sent"), whole u16 ip.psram_sent_percent),
    ),
    group!(
        "wifi",
        "what radio and driver can do",
        (can("ht40", "1: channels of 40 MHz"), switch wifi.ht40),
        (can("ampdu_tx", "1: it sends A-MPDUs"), switch wifi.ampdu_tx),
        (can("ht_tx", "1: it sends at HT rates; 0: at 11g rates at most"), switch wifi.ht_tx),
        (
            key("rx_in_place", KeyType::Whole(0, 1), "0", "1: what was received stays in the hardware's buffers until lwIP has done with it; 0: it is copied"),
            switch wifi.rx_in_place
        ),
        (
            key("sae_ms", KeyType::Number(0.0, 60_000.0), "0", "the processor's time for one side of WPA3's SAE, milliseconds"),
            spare 1e6 wifi.sae_ns
        ),
        (
            key("pmk_ms", KeyType::Number(0.0, 60_000.0), "0", "the processor's time for the key of a WPA2 password, milliseconds"),
            spare 1e6 wifi.pmk_ns
        ),
        (
            key("wake_us", KeyType::Number(0.0, 100_000.0), "0", "from the radio's being switched on until it receives, microseconds"),
            spare 1e3 wifi.wake_ns
        ),
        (
            key("early_us", KeyType::Number(0.0, 100_000.0), "0", "how long before a beacon is due the radio is switched on, with that time; microseconds"),
            spare 1e3 wifi.early_ns
        ),
        (
            key("stop_at_tim", KeyType::Whole(0, 1), "0", "1: a station that sleeps stops receiving a beacon after its TIM, if that has nothing for it"),
            switch wifi.stop_at_tim
        ),
    ),
    group!(
        "light_sleep",
        "automatic light sleep: what wakes the processor, and what that costs",
        (
            key("out_us", KeyType::Number(0.0, 100_000.0), "0", "hardware and ESP-IDF from the alarm until tasks run, microseconds"),
            spare 1e3 light.out_ns
        ),
        (
            key("work_us", KeyType::Number(0.0, 100_000.0), "0", "the processor's work for a wake-up, with falling asleep again, microseconds"),
            spare 1e3 light.work_ns
        ),
        (
            key("timer_ms", KeyType::Number(0.0, 3_600_000.0), "0", "period of timers that wake it beside Wi-Fi, milliseconds; 0: none"),
            spare 1e6 light.timer_ns
        ),
        (
            key("drift_ppm", KeyType::Whole(0, 100_000), "0", "drift of the clock by which it sleeps: the radio is switched on earlier by that part of the time since the last beacon, parts per million"),
            whole u32 light.drift_ppm
        ),
    ),
    group!(
        "memory",
        "the heap, and what takes from it, in bytes",
        (bytes("heap", "free before Wi-Fi starts, with none of the code below in RAM"), whole u32 memory.heap_bytes),
        (bytes("static_rx", "a static RX buffer"), whole u32 memory.static_rx_bytes),
        (bytes("dynamic_rx", "a dynamic RX buffer, beside the frame in it"), whole u32 memory.dynamic_rx_bytes),
        (bytes("tx", "a TX buffer, beside the frame in it"), whole u32 memory.tx_bytes),
        (bytes("socket", "a socket"), whole u32 memory.socket_bytes),
        (bytes("tcp", "a TCP connection, beside its segments"), whole u32 memory.tcp_bytes),
        (bytes("wifi_iram", "the driver's send path in IRAM"), whole u32 memory.wifi_iram_bytes),
        (bytes("wifi_rx_iram", "its receive path in IRAM"), whole u32 memory.wifi_rx_iram_bytes),
        (bytes("lwip_iram", "lwIP's paths in IRAM"), whole u32 memory.lwip_iram_bytes),
    ),
    group!(
        "current",
        "what it draws with the radio on, in milliamperes",
        (
            key("supply_v", KeyType::Number(1.0, 6.0), "", "at this supply voltage"),
            scaled u32 1e3 currents.supply_mv
        ),
        (ma("send_11b", "sending DSSS or CCK"), scaled u32 1e6 currents.transmit[0].na),
        (dbm("send_11b_dbm"), float currents.transmit[0].at_dbm),
        (ma("send_11g", "sending OFDM"), scaled u32 1e6 currents.transmit[1].na),
        (dbm("send_11g_dbm"), float currents.transmit[1].at_dbm),
        (ma("send_11n", "sending HT"), scaled u32 1e6 currents.transmit[2].na),
        (dbm("send_11n_dbm"), float currents.transmit[2].at_dbm),
        (ma("receive", "receiving or listening on 20 MHz, the processor idle"), scaled u32 1e6 currents.receive_na),
        (ma("receive_40", "the same on 40 MHz"), scaled u32 1e6 currents.receive_40_na),
    ),
    group!(
        "sleep_current",
        "what it draws with the radio off, in milliamperes",
        (clock("idle_40", "modem sleep at the crystal's clock, the processor idle"), scaled u32 1e6 currents.modem_sleep[0].idle_na),
        (clock("active_40", "modem sleep at the crystal's clock, the processor computing"), scaled u32 1e6 currents.modem_sleep[0].active_na),
        (clock("idle_80", "modem sleep at 80 MHz, the processor idle"), scaled u32 1e6 currents.modem_sleep[1].idle_na),
        (clock("active_80", "modem sleep at 80 MHz, the processor computing"), scaled u32 1e6 currents.modem_sleep[1].active_na),
        (clock("idle_120", "at 120 MHz, idle"), scaled u32 1e6 currents.modem_sleep[2].idle_na),
        (clock("active_120", "at 120 MHz, computing"), scaled u32 1e6 currents.modem_sleep[2].active_na),
        (clock("idle_160", "at 160 MHz, idle"), scaled u32 1e6 currents.modem_sleep[3].idle_na),
        (clock("active_160", "at 160 MHz, computing"), scaled u32 1e6 currents.modem_sleep[3].active_na),
        (clock("idle_240", "at 240 MHz, idle"), scaled u32 1e6 currents.modem_sleep[4].idle_na),
        (clock("active_240", "at 240 MHz, computing"), scaled u32 1e6 currents.modem_sleep[4].active_na),
        (ma("light_sleep", "light sleep"), scaled u32 1e6 currents.light_sleep_na),
        (
            key("flash", KeyType::Number(0.0, 10.0), "0", "the flash beside it, which stays powered in light sleep"),
            scaled u32 1e6 currents.flash_na
        ),
        (ma("deep_sleep", "deep sleep with the RTC timer"), scaled u32 1e6 currents.deep_sleep_na),
    ),
];
