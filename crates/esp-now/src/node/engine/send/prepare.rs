//! Preparation of a frame from a caller's request.

use super::Sender;
use super::job::{SendFunction, Transmission};
use crate::component::header::VERSION;
use crate::component::sealed::NONCE_LEN;
use crate::component::{DataType, FrameConfig, HEADER_LEN, Header};
use crate::node::board::CpuWork;
use crate::node::engine::TAG;
use crate::node::print::LogLevel;
use crate::node::task::{Cx, SendRequest};
use espbench_ieee80211::mac::Mac;

impl<const FRAME: usize> Sender<FRAME> {
    /// Prepares a transmission by steps 1 to 3 of section 2.4: seals the payload and writes the
    /// header.
    pub(super) fn prepare(&mut self, cx: &mut Cx<'_>, out: &SendRequest) -> Option<Transmission> {
        let settings = &cx.shared.settings;
        if out.len > settings.compat.data_max() {
            return None;
        }
        let kind =
            if out.data_type == DataType::Group { SendFunction::Group } else { SendFunction::Send };
        let dest = if kind == SendFunction::Group { Mac::BROADCAST } else { out.dest };
        let plain = matches!(
            out.data_type,
            DataType::Ack
                | DataType::Forward
                | DataType::Group
                | DataType::SecurityStatus
                | DataType::Security
        );
        let mut len = out.len;
        // Without `sec_enable` the frame leaves in clear with the bit set, as on the device.
        if settings.encrypt.enabled && out.config.security && !plain {
            len = self.seal(cx, len)?;
        }
        let end = HEADER_LEN.saturating_add(len);
        if end > cx.shared.settings.compat.frame_max().min(FRAME) {
            return None;
        }
        let primary = cx.shared.air.channel;
        let mut config = out.config;
        config.broadcast |= kind == SendFunction::Send && dest.is_broadcast();
        if config.channel == 0 {
            config.channel = primary;
        }
        if kind == SendFunction::Send {
            config.copies = config.copies.max(1);
        }
        // Values that the header has no room for are cut here as well.
        config = FrameConfig::from_word(config.to_word());
        let magic = if out.magic == 0 { cx.random_u16() } else { out.magic };
        let header = Header {
            data_type: out.data_type,
            version: VERSION,
            size: len as u8,
            magic,
            config,
            dest,
            src: cx.shared.air.mac,
        };
        self.frame.first_chunk_mut().map(|head| *head = header.emit())?;
        let job = Transmission::new(cx, kind, &header, end as u16, out.wait);
        Some(job)
    }

    /// Encrypts the payload in place (section 3.1); all copies are the same bytes.
    fn seal(&mut self, cx: &mut Cx<'_>, len: usize) -> Option<usize> {
        let trails = cx.shared.settings.compat.nonce_trails();
        let Some(secret) = &cx.shared.keys.encrypt else {
            let text = format_args!("[espnow_send, 583] <ESP_FAIL> Security key is not set");
            cx.log(LogLevel::Warn, TAG, text);
            return None;
        };
        let mut nonce = secret.constant_nonce();
        if trails {
            let mut random = [0; NONCE_LEN];
            cx.board.random(&mut random);
            nonce = random;
        }
        let buf = self.frame.get_mut(HEADER_LEN..)?;
        let sealed = secret.sealer().seal_by(cx.board.aes(), &nonce, trails, buf, len);
        cx.spend(CpuWork::Seal { bytes: len as u32 });
        if sealed.is_none() {
            cx.log(LogLevel::Error, TAG, format_args!("Security encrypt return error"));
        }
        sealed
    }
}
