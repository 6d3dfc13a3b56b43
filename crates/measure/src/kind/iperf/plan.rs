//! The keys of an `iperf` block that only some tests need: marks on packets, TCP's settings, one-way
//! times, requests and replies.

use crate::plan::{Scalar, quoted};
use crate::units::print_duration;
use alloc::format;
use alloc::string::{String, ToString};
use core::time::Duration;
use espbench_model::workload::{Bounceback, Direction, Iperf, Name, Transport};
use espbench_proto::wire::iperf2::{
    BOUNCE_SMALLEST, BURST_HEADER, TRIP_TIMES_LENGTH, TRIP_TIMES_SMALLEST, tos,
};

/// Longest request of `bounceback`: both ends hold a whole one in their buffers.
const BOUNCE_MOST: u32 = 64 * 1024;

/// Sets one of them.
pub(super) fn set(work: &mut Iperf, key: &str, value: &Scalar) -> Result<(), String> {
    match key {
        "tos" => work.tos = type_of_service(value)?,
        "mss" => work.mss = Some(value.int()? as u16),
        "congestion" => {
            work.congestion = Some(congestion(value.text()?)?);
        }
        "trip_times" => work.trip_times = value.bool()?,
        _ => return bounceback(work.bounceback.get_or_insert(Bounceback::DEFAULT), key, value),
    }
    Ok(())
}

/// Congestion controls of Linux (net/ipv4/Kconfig, 6.12); a kernel may have others.
const CONGESTION: &str = "reno, cubic, bbr, bic, cdg, dctcp, highspeed, htcp, hybla, illinois, lp, nv, scalable, \
                          vegas, veno, westwood, yeah";

/// Longest name of a congestion control in the kernel: `TCP_CA_NAME_MAX` with its end.
const CONGESTION_LEN: usize = 15;

/// Reads the name of a congestion control.
///
/// # Errors
/// No kernel can have one of that name; those that Linux has.
pub fn congestion(text: &str) -> Result<Name, String> {
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_one = (1..=CONGESTION_LEN).contains(&text.len()) && text.chars().all(known);
    Name::new(text).filter(|_| is_one).ok_or_else(|| {
        format!("`{text}` is no name of a congestion control: Linux has {CONGESTION}")
    })
}

fn type_of_service(value: &Scalar) -> Result<u8, String> {
    let Ok(name) = value.text() else { return Ok(value.int_in(0..=255)? as u8) };
    tos::parse(name).ok_or_else(|| {
        let names: alloc::vec::Vec<&str> = tos::NAMES.iter().map(|(name, _)| *name).collect();
        format!("`{name}` is no type of service: use 0 to 255 or one of {}", names.join(", "))
    })
}

fn bounceback(bounceback: &mut Bounceback, key: &str, value: &Scalar) -> Result<(), String> {
    match key {
        "bounceback" => bounceback.burst = value.int()? as u16,
        "bounceback_period" => bounceback.period = value.duration()?,
        "bounceback_hold" => bounceback.hold = value.duration()?,
        _ => bounceback.quick_ack = value.bool()?,
    }
    Ok(())
}

/// Returns the value of one key as TOML; `None` where a plan would leave it out.
pub(super) fn get(work: &Iperf, key: &str) -> Option<String> {
    let time =
        |time: Duration, usual: Duration| (time != usual).then(|| quoted(&print_duration(time)));
    let usual = Bounceback::DEFAULT;
    match key {
        "tos" => Some(work.tos.to_string()),
        "mss" => Some(work.mss?.to_string()),
        "congestion" => Some(quoted(work.congestion?.as_str())),
        "trip_times" => Some(work.trip_times.to_string()),
        "bounceback" => Some(work.bounceback?.burst.to_string()),
        "bounceback_period" => time(work.bounceback?.period, usual.period),
        "bounceback_hold" => time(work.bounceback?.hold, usual.hold),
        _ => (!work.bounceback?.quick_ack).then(|| "false".into()),
    }
}

/// Checks that the options go together.
pub(super) fn check(work: &Iperf) -> Result<(), String> {
    let udp = work.transport == Transport::Udp;
    if udp && (work.mss.is_some() || work.congestion.is_some()) {
        return Err(
            "`mss` and `congestion` are TCP's: leave them out, or set transport = \"tcp\"".into()
        );
    }
    if work.bounceback.is_some() {
        let plain = work.direction == Direction::Forward && work.bytes.is_none();
        if udp || !plain || work.bandwidth.is_some() {
            return Err("`bounceback` is requests and replies over TCP for a time: leave out \
                 `direction`, `bytes` and `bandwidth`, and transport = \"udp\""
                .into());
        }
        if !(BOUNCE_SMALLEST..=BOUNCE_MOST).contains(&work.length) {
            return Err(format!(
                "a `length` of {BOUNCE_SMALLEST} to {BOUNCE_MOST} bytes holds a request of \
                 `bounceback`"
            ));
        }
        return Ok(());
    }
    trip_times(work, udp)
}

/// Checks that the header of `trip_times` fits into a datagram or a write.
fn trip_times(work: &Iperf, udp: bool) -> Result<(), String> {
    let least = match (udp, work.direction) {
        (false, _) => BURST_HEADER as u32,
        (true, Direction::Forward) => TRIP_TIMES_SMALLEST,
        (true, _) => TRIP_TIMES_LENGTH,
    };
    if work.trip_times && work.length < least {
        return Err(format!("`trip_times` needs a `length` of {least} bytes or more"));
    }
    Ok(())
}
