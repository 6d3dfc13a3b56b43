//! Text of the remote log (type 8) and of the remote command (type 9), `espnow_log.c`,
//! `cmd_espnow.c`.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | n | text, as the console has it: a log line with its line feed, or a command line |
//! | n | 1 | NUL |
//!
//! The text of a log frame is cut so that it fits with its NUL. The answer to `beacon` is one text
//! with one NUL at its end, spread over as many frames as it needs: a frame may be without NUL.

/// Returns the text of a payload: the bytes before the first NUL, or all of them.
#[must_use]
pub fn text(payload: &[u8]) -> &[u8] {
    payload.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// Writes the NUL behind `len` bytes of text in `buf`; it overwrites the last of them if there is
/// no room. Returns the length of the payload; `None` if `buf` is empty.
#[must_use]
pub fn terminate(buf: &mut [u8], len: usize) -> Option<usize> {
    let last = len.min(buf.len().checked_sub(1)?);
    *buf.get_mut(last)? = 0;
    Some(last + 1)
}

/// Writes a whole text with its NUL and returns the length; `None` if it does not fit.
#[must_use]
pub fn emit(text: &[u8], buf: &mut [u8]) -> Option<usize> {
    buf.get_mut(..text.len())?.copy_from_slice(text);
    *buf.get_mut(text.len())? = 0;
    Some(text.len() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::Header;
    use proptest::prelude::*;

    #[test]
    fn vector_11_of_the_protocol_reference() {
        let frame = [
            0x29, 0x08, 0x77, 0x77, 0x11, 0x40, 0, 0, 0x24, 0x0A, 0xC4, 0, 0, 2, 0x24, 0x0A, 0xC4,
            0, 0, 1, 0x72, 0x65, 0x73, 0x74, 0x61, 0x72, 0x74, 0,
        ];
        let (header, payload) = Header::parse(&frame).unwrap();
        assert_eq!((usize::from(header.size), text(payload)), (payload.len(), &b"restart"[..]));
        let mut buf = [0xFF; 16];
        assert_eq!(emit(b"restart", &mut buf), Some(8));
        assert_eq!(&buf[..8], payload);
    }

    #[test]
    fn text_is_cut_for_its_nul() {
        let mut buf = *b"abcdef";
        assert_eq!((terminate(&mut buf, 6), &buf), (Some(6), b"abcde\0"));
        assert_eq!((terminate(&mut buf, 2), text(&buf)), (Some(3), &b"ab"[..]));
        assert_eq!((terminate(&mut [], 3), emit(b"ab", &mut buf[..2])), (None, None));
    }

    proptest! {
        #[test]
        fn what_is_emitted_reads_back(line in "[ -~]{0,300}", room in 0_usize..320) {
            let mut buf = std::vec![0xAA; room];
            match emit(line.as_bytes(), &mut buf) {
                Some(len) => {
                    prop_assert_eq!(len, line.len() + 1);
                    prop_assert_eq!(text(&buf[..len]), line.as_bytes());
                }
                None => prop_assert!(room <= line.len()),
            }
        }

        #[test]
        fn any_payload_has_a_text(payload: std::vec::Vec<u8>) {
            prop_assert!(payload.starts_with(text(&payload)) && !text(&payload).contains(&0));
        }
    }
}
