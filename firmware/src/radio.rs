//! ESP-NOW through the functions of Espressif's library, with callbacks of our own.
//!
//! esp-radio keeps ten received frames, drops the oldest beyond them and counts nothing; and it has
//! one transmission at a time. So it sets the radio up, and then its callbacks are replaced: frames
//! and outcomes go to queues that count, and the library takes as many frames as it has buffers.

use esp_radio::esp_now::{EspNow, EspNowManager, EspNowWifiInterface, PeerInfo};
use esp_radio::wifi::WifiController;
use esp_sync::NonReentrantMutex;
use espbench_firmware_core::driver::Radio;
use espbench_firmware_core::queue::{FRAME_MAX, FrameInfo, FrameQueue, Outcomes};
use espbench_ieee80211::mac::Mac;
use sys::include::{
    esp_now_recv_info_t, esp_now_register_recv_cb, esp_now_register_send_cb, esp_now_send,
    esp_now_send_info_t, esp_now_send_status_t, esp_now_send_status_t_ESP_NOW_SEND_SUCCESS,
    esp_wifi_set_max_tx_power,
};

#[cfg(feature = "esp32c2")]
pub(crate) use esp_wifi_sys_esp32c2 as sys;
#[cfg(feature = "esp32c3")]
pub(crate) use esp_wifi_sys_esp32c3 as sys;
#[cfg(feature = "esp32c6")]
pub(crate) use esp_wifi_sys_esp32c6 as sys;

/// Bytes of received frames that wait for the main loop: 30 of the longest.
pub(crate) const RING: usize = 8 * 1024;

static FRAMES: NonReentrantMutex<FrameQueue<RING>> = NonReentrantMutex::new(FrameQueue::new());
static OUTCOMES: NonReentrantMutex<Outcomes> = NonReentrantMutex::new(Outcomes::new());

/// Counts of the queues behind the callbacks.
pub(crate) struct QueueCounts {
    /// Received frames that found no room.
    pub(crate) frames: u32,
    /// Received frames longer than ESP-NOW v1.0 has them.
    pub(crate) too_long: u32,
    /// Outcomes that found no room.
    pub(crate) outcomes: u32,
    /// Most bytes of frames that waited at once.
    pub(crate) peak: usize,
}

/// Returns the counts of the queues.
pub(crate) fn queues() -> QueueCounts {
    let (frames, too_long, peak) = FRAMES.with(|it| (it.dropped(), it.too_long(), it.peak()));
    QueueCounts { frames, too_long, peak, outcomes: OUTCOMES.with(|it| it.dropped()) }
}

/// Takes a frame, in the radio's task.
unsafe extern "C" fn received(info: *const esp_now_recv_info_t, data: *const u8, len: i32) {
    // SAFETY: the library passes pointers that are valid during the call: two addresses of six bytes,
    // the control information, and `len` bytes of data.
    unsafe {
        let Some(info) = info.as_ref() else { return };
        let control = info.rx_ctrl.as_ref();
        let about = FrameInfo {
            transmitter: Mac(info.src_addr.cast::<[u8; 6]>().read()),
            receiver: Mac(info.des_addr.cast::<[u8; 6]>().read()),
            rssi: control.map_or(0, |it| it.rssi() as i8),
            channel: control.map_or(0, |it| it.channel() as u8),
        };
        let data = core::slice::from_raw_parts(data, usize::try_from(len).unwrap_or(0));
        FRAMES.with(|it| it.push(&about, data));
    }
}

/// Takes an outcome, in the radio's task.
unsafe extern "C" fn sent(_: *const esp_now_send_info_t, status: esp_now_send_status_t) {
    OUTCOMES.with(|it| it.push(status == esp_now_send_status_t_ESP_NOW_SEND_SUCCESS));
}

/// The radio of the chip.
pub(crate) struct ChipRadio {
    manager: EspNowManager,
    /// Sender and receiver of esp-radio, which hold ESP-NOW open.
    _parts: (esp_radio::esp_now::EspNowSender, esp_radio::esp_now::EspNowReceiver),
    no_memory: u32,
}

impl ChipRadio {
    /// Starts ESP-NOW and replaces the callbacks.
    pub(crate) fn new(wifi: &mut WifiController<'_>) -> Self {
        let now: EspNow = wifi.esp_now();
        let (manager, sender, receiver) = now.split();
        // SAFETY: ESP-NOW is started, and the callbacks live for ever.
        unsafe {
            esp_now_register_recv_cb(Some(received));
            esp_now_register_send_cb(Some(sent));
        }
        Self { manager, _parts: (sender, receiver), no_memory: 0 }
    }

    /// Returns the number of frames for which the library had no buffer.
    pub(crate) const fn no_memory(&self) -> u32 {
        self.no_memory
    }
}

impl Radio for ChipRadio {
    fn send(&mut self, to: Mac, data: &[u8]) -> bool {
        // SAFETY: the library copies the frame before it returns.
        let code = unsafe { esp_now_send(to.0.as_ptr(), data.as_ptr(), data.len()) };
        if code != 0 {
            self.no_memory = self.no_memory.saturating_add(1);
        }
        code == 0
    }

    fn sent(&mut self) -> Option<bool> {
        OUTCOMES.with(Outcomes::pop)
    }

    fn receive(&mut self, out: &mut [u8; FRAME_MAX]) -> Option<(FrameInfo, usize)> {
        FRAMES.with(|it| it.pop(out))
    }

    fn tune(&mut self, channel: u8) {
        let _ = self.manager.set_channel(channel);
    }

    fn set_power(&mut self, power: i8) {
        // SAFETY: the radio is started.
        unsafe { esp_wifi_set_max_tx_power(power) };
    }

    fn add_peer(&mut self, peer: Mac) -> bool {
        let peer = PeerInfo {
            interface: EspNowWifiInterface::Station,
            peer_address: peer.0,
            lmk: None,
            channel: None,
            encrypt: false,
        };
        self.manager.add_peer(peer).is_ok()
    }

    fn remove_peer(&mut self, peer: Mac) {
        let _ = self.manager.remove_peer(&peer.0);
    }
}
