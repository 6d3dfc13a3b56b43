//! Costs of a frame's way between the antenna and a program on a device that speaks IP.

use super::Cost;
use espbench_model::sdkconfig::{ConfigOption, SdkConfig};

/// Bytes of TCP's paths in IRAM (ESP-IDF, components/lwip/Kconfig, `LWIP_EXTRA_IRAM_OPTIMIZATION`: "about
/// 17 KB").
const TCP_CODE: u32 = 17 * 1024;

/// Returns these bytes, for lists of constants.
pub(in crate::lab) const fn tcp_code_bytes() -> u32 {
    TCP_CODE
}

/// The processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor {
    /// Clock of the processor in MHz at which the costs of [`IpCosts`] hold.
    pub clock_mhz: u32,
    /// Cores that tasks may run on.
    pub cores: u8,
    /// CoreMark of one core for each MHz, in thousandths; 0 where it is not known.
    pub coremark_milli: u32,
    /// Work of the software, in thousandths of ESP-IDF's; 0 where nothing says so.
    pub work_permille: u32,
}

impl Processor {
    /// Clock in MHz and CoreMark for each MHz, in thousandths, of the core for which the work of all chips is
    /// stated (`profiles/work.toml`).
    const REFERENCE: (u32, u32) = (160, 2545);

    /// Returns how many times as fast as the reference core it works.
    pub(super) fn speed(self) -> f64 {
        let (mhz, milli) = Self::REFERENCE;
        let own = if self.coremark_milli > 0 { self.coremark_milli } else { milli };
        f64::from(self.clock_mhz) * f64::from(own) / (f64::from(mhz) * f64::from(milli))
    }
}

/// Time of the processor for each step of a packet's way, with the code in IRAM or in the cache.
///
/// A step runs in the task that is named there. With the priorities of ESP-IDF (Wi-Fi 23, lwIP 18,
/// an application 5) this decides which queue overflows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IpCosts {
    /// Wi-Fi task: a frame from the hardware's buffer to the mailbox of lwIP's task.
    pub wifi_receive: Cost,
    /// Caller's task: a packet from lwIP to the driver's queue.
    pub wifi_send: Cost,
    /// Wi-Fi task: a frame from the driver's queue to the hardware.
    pub wifi_start: Cost,
    /// Wi-Fi task: a frame was sent, or given up; its buffer is free.
    pub wifi_sent: Cost,
    /// Wi-Fi task: CCMP of one frame where the hardware has none; nothing where it has.
    pub wifi_cipher: Cost,
    /// lwIP's task, where new dynamic RX buffers come after the driver had run out of them; at most once for that number of
    /// packets.
    pub refill: Cost,
    /// lwIP's task: a datagram received.
    pub udp_receive: Cost,
    /// lwIP's task: a datagram sent.
    pub udp_send: Cost,
    /// lwIP's task: a segment with data received.
    pub tcp_receive: Cost,
    /// lwIP's task: a call's data go into the send buffer, and it looks whether a segment may leave.
    pub tcp_write: Cost,
    /// lwIP's task: a segment with data sent.
    pub tcp_send: Cost,
    /// lwIP's task: a segment without data received.
    pub ack_receive: Cost,
    /// lwIP's task: a segment without data sent.
    pub ack_send: Cost,
    /// Application's task: a call that sends, with its way to lwIP's task and back.
    pub socket_send: Cost,
    /// Application's task: a call that takes what was received, with its being woken.
    pub socket_receive: Cost,
    /// Application's task: bytes copied or compared in one piece.
    pub copy: Cost,
    /// Application's task: bytes that are each read through a call of their own.
    pub bytewise: Cost,
    /// Application's task: a line printed, without the UART's own time.
    pub print: Cost,
    /// Application's task: a round of its own loop that finds nothing to do.
    pub round: Cost,
    /// The driver's send path in flash takes so many percent of its time in IRAM.
    pub wifi_flash_percent: u16,
    /// Factor of the driver's receive path in flash, in percent.
    pub wifi_rx_flash_percent: u16,
    /// lwIP's paths.
    pub lwip_flash_percent: u16,
    /// Cost of the bytes of packets in PSRAM that are received, in percent of what misses of the cache say.
    pub psram_received_percent: u16,
    /// Cost of the bytes of packets that are sent.
    pub psram_sent_percent: u16,
}

impl IpCosts {
    /// Returns the costs at another clock.
    #[must_use]
    pub fn at_clock(self, from_mhz: u32, to_mhz: u32) -> Self {
        let (from, to) = (u64::from(from_mhz), u64::from(to_mhz.max(1)));
        self.map(|cost| cost.times(from, to))
    }

    /// Returns the costs with each one changed.
    fn map(self, change: impl Fn(Cost) -> Cost) -> Self {
        Self {
            wifi_receive: change(self.wifi_receive),
            wifi_send: change(self.wifi_send),
            wifi_start: change(self.wifi_start),
            wifi_sent: change(self.wifi_sent),
            wifi_cipher: change(self.wifi_cipher),
            refill: change(self.refill),
            udp_receive: change(self.udp_receive),
            udp_send: change(self.udp_send),
            tcp_receive: change(self.tcp_receive),
            tcp_write: change(self.tcp_write),
            tcp_send: change(self.tcp_send),
            ack_receive: change(self.ack_receive),
            ack_send: change(self.ack_send),
            socket_send: change(self.socket_send),
            socket_receive: change(self.socket_receive),
            copy: change(self.copy),
            bytewise: change(self.bytewise),
            print: change(self.print),
            round: change(self.round),
            ..self
        }
    }
}

/// Limits of the radio and its driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WifiLimits {
    /// Channels of 40 MHz.
    pub ht40: bool,
    /// Sends A-MPDUs.
    pub ampdu_tx: bool,
    /// Sends at HT rates; 11g rates if not.
    pub ht_tx: bool,
    /// True where a received frame stays in the hardware's buffers until lwIP has done with it;
    /// otherwise it is copied.
    pub rx_in_place: bool,
    /// Time of the processor for one side of an SAE exchange, nanoseconds.
    pub sae_ns: u64,
    /// Time of the processor for the PMK of a WPA2 password, nanoseconds.
    pub pmk_ns: u64,
    /// Time from the radio's being switched on until it can receive, nanoseconds.
    pub wake_ns: u64,
    /// Before a beacon is due the radio is switched on by so many nanoseconds, for the drift of the
    /// clock that it slept by.
    pub early_ns: u64,
    /// True where it stops receiving a beacon after its TIM, if that has nothing for it.
    pub stop_at_tim: bool,
}

/// Automatic light sleep: what wakes the processor, and what that costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LightSleepCosts {
    /// Time of hardware and ESP-IDF from the alarm until tasks run, nanoseconds.
    pub out_ns: u64,
    /// Time of the processor for what it does then, and for falling asleep again, nanoseconds.
    pub work_ns: u64,
    /// Period of timers that wake it beside Wi-Fi, nanoseconds; 0: there are none.
    pub timer_ns: u64,
    /// Drift of the clock by which it sleeps, in parts per million.
    pub drift_ppm: u32,
}

/// The heap, and what takes from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Free heap before Wi-Fi starts, in a program as small as the iperf example, with none of the
    /// code below in RAM.
    pub heap_bytes: u32,
    /// A static RX buffer.
    pub static_rx_bytes: u32,
    /// A dynamic RX buffer, beside the frame in it.
    pub dynamic_rx_bytes: u32,
    /// A TX buffer, beside the frame in it.
    pub tx_bytes: u32,
    /// A socket.
    pub socket_bytes: u32,
    /// A TCP connection, beside its segments.
    pub tcp_bytes: u32,
    /// Heap that the driver's send path in IRAM takes, in bytes.
    pub wifi_iram_bytes: u32,
    /// Heap that the driver's receive path in IRAM takes, in bytes.
    pub wifi_rx_iram_bytes: u32,
    /// Heap that lwIP's paths in IRAM take, in bytes.
    pub lwip_iram_bytes: u32,
}

impl Memory {
    /// Returns the memory that the driver's static buffers and code in RAM take from the start of
    /// Wi-Fi on, in bytes.
    #[must_use]
    pub fn fixed(&self, sdk: &SdkConfig) -> u32 {
        let code = |on: bool, bytes: u32| if on { bytes } else { 0 };
        u32::from(sdk.static_rx)
            .saturating_mul(self.static_rx_bytes)
            .saturating_add(code(sdk.wifi_iram, self.wifi_iram_bytes))
            .saturating_add(code(sdk.wifi_rx_iram, self.wifi_rx_iram_bytes))
            .saturating_add(code(sdk.lwip_iram, self.lwip_iram_bytes))
            .saturating_add(code(self.tcp_in_ram(sdk), TCP_CODE))
            // The radio reads what it sends from RAM of the chip.
            .saturating_add(code(
                sdk.memory.buffers_in_psram(),
                u32::from(sdk.tx).saturating_mul(self.static_rx_bytes),
            ))
    }

    /// Returns whether TCP's paths take RAM from the heap, as lwIP's others do.
    fn tcp_in_ram(&self, sdk: &SdkConfig) -> bool {
        sdk.memory.get(ConfigOption::LwipExtraIram) == Some(1) && self.lwip_iram_bytes > 0
    }

    /// Returns the free heap once Wi-Fi has started, in bytes and without traffic; `None` where it
    /// does not start: `esp_wifi_init` fails with `ESP_ERR_NO_MEM`.
    #[must_use]
    pub fn started(&self, sdk: &SdkConfig) -> Option<u32> {
        self.heap_bytes.checked_sub(self.fixed(sdk)).filter(|it| *it > 0)
    }
}
