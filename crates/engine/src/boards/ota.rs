//! An image for all devices.

use super::desk::{BoardDesk, INITIATOR};
use super::many::{ServedBoards, record_job};
use super::{BoardError, BoardSetup};
use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;
use espbench_model::workload::EspNow;
use espbench_sim::lab::suite::mark::{DOWNLOADED, FOUND, LineMark, SENT};
use espbench_sim::lab::suite::procedure::{
    IMAGE_URL, LISTED_MAX, SEARCH_MOST, SEARCHES, SEND_MOST, send_image, to_all,
};

/// A download through the router.
const DOWNLOAD_MOST: Duration = Duration::from_mins(5);

/// Sends the image to all devices.
pub(super) fn ota(
    desk: &mut BoardDesk<'_>,
    work: &EspNow,
    setup: &BoardSetup,
) -> Result<(), BoardError> {
    desk.sound(INITIATOR)?;
    let devices = desk.devices();
    let bytes = download(desk, setup)?;
    if bytes != work.size {
        desk.notes.fact("image-bytes", format!("{bytes}"));
    }
    desk.command(INITIATOR, &to_all("log -m espnow -l WARN"))?;
    desk.linger(Duration::from_secs(1))?;
    find(desk, devices.len())?;
    // A line that names everybody needs no addresses.
    let mut macs = Vec::new();
    for &board in &devices {
        macs.push(if devices.len() > LISTED_MAX { Mac::BROADCAST } else { desk.mac(board)? });
    }
    desk.command(INITIATOR, &send_image(&macs))?;
    let (start, end, served) = send(desk, &devices)?;
    record_job(desk, (start, end), bytes, &served);
    Ok(())
}

/// Fetches the image; returns its length.
fn download(desk: &mut BoardDesk<'_>, setup: &BoardSetup) -> Result<u32, BoardError> {
    let url = setup.image.as_deref().unwrap_or(IMAGE_URL);
    if let Some((ssid, password)) = &setup.network {
        desk.keep_out(password);
        desk.secret_command(INITIATOR, &format!("wifi_config -s {ssid} -p {password}"))?;
        let joined = LineMark::is_joined;
        // A lab's board is in no network, and needs none.
        desk.wait(&[INITIATOR], joined, Duration::from_secs(10))?;
    }
    desk.command(INITIATOR, &format!("ota -d {url}"))?;
    // The command ends with a prompt, whether it fetched the image or not.
    let mut length = None;
    desk.until(DOWNLOAD_MOST, |desk| {
        for line in core::mem::take(&mut desk.seats[INITIATOR].unread) {
            if let LineMark::Downloaded(bytes) = line.mark {
                length = Some(bytes);
            }
        }
        let console = desk.console(INITIATOR);
        length.is_some() || console.has_prompt() || console.fault().is_some()
    })?;
    desk.sound(INITIATOR)?;
    length.ok_or_else(|| desk.not_printed(INITIATOR, DOWNLOADED.what, DOWNLOAD_MOST))
}

/// Waits until the image is sent: returns when that began and ended, and when each device had it.
fn send(
    desk: &mut BoardDesk<'_>,
    devices: &[usize],
) -> Result<(Instant, Instant, ServedBoards), BoardError> {
    let (mut start, mut end, mut summary, mut rounds) = (None, None, false, 0);
    let mut served: ServedBoards = devices.iter().map(|board| (*board, None)).collect();
    let mut same = None;
    desk.until(SEND_MOST, |desk| {
        for line in core::mem::take(&mut desk.seats[INITIATOR].unread) {
            match line.mark {
                LineMark::Sending => start = Some(line.at),
                LineMark::Sent => {
                    end = Some(line.at);
                    desk.notes.fact("printed", line.text);
                }
                LineMark::Upgraded => {
                    summary = true;
                    desk.notes.fact("printed-summary", line.text);
                }
                LineMark::Round => rounds += 1,
                _ => {}
            }
        }
        for (board, at) in &mut served {
            if at.is_none() {
                let told = |mark| matches!(mark, LineMark::Written | LineMark::SameImage);
                match desk.read(*board, told) {
                    Some(line) if line.mark == LineMark::Written => *at = Some(line.at),
                    Some(_) => same = Some(*board),
                    None => {}
                }
            }
        }
        summary || same.is_some() || desk.console(INITIATOR).fault().is_some()
    })?;
    desk.sound(INITIATOR)?;
    if let Some(board) = same {
        return Err(BoardError::SameImage { port: desk.name(board) });
    }
    desk.notes.count("rounds", rounds);
    match (start, end) {
        (Some(start), Some(end)) => Ok((start, end, served)),
        _ => Err(desk.not_printed(INITIATOR, SENT.what, SEND_MOST)),
    }
}

/// Types `ota -f` until all devices are in the list, as a person would do it.
fn find(desk: &mut BoardDesk<'_>, devices: usize) -> Result<(), BoardError> {
    let mut most = 0;
    for search in 0..SEARCHES {
        desk.command(INITIATOR, "ota -f 3000")?;
        // Where nobody answered nothing is printed but the prompt.
        let mut found = 0;
        desk.until(SEARCH_MOST, |desk| {
            for line in core::mem::take(&mut desk.seats[INITIATOR].unread) {
                if let LineMark::Found(num) = line.mark {
                    found = num as usize;
                }
            }
            let console = desk.console(INITIATOR);
            found > 0 || console.has_prompt() || console.fault().is_some()
        })?;
        desk.sound(INITIATOR)?;
        most = most.max(found);
        if most >= devices {
            break;
        }
        desk.notes.count("searches-again", usize::from(search + 1 < SEARCHES));
    }
    desk.notes.count("not-found", devices.saturating_sub(most));
    if most == 0 {
        return Err(desk.not_printed(INITIATOR, FOUND.what, SEARCH_MOST * SEARCHES));
    }
    Ok(())
}
