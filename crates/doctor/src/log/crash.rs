//! Restarts: what the ROM, panic handlers, watchdogs and allocators print.

use super::event::{LogEvent, ResetReason, number};
use super::search::{SearchText, has_number};
use alloc::string::String;

/// Returns why a device started: `rst:0xc (SW_CPU_RESET)` of the ESP32 and later chips, `rst cause:4` of the ESP8266.
pub(super) fn reset(text: &SearchText<'_>) -> Option<LogEvent> {
    if let Some(rest) = text.split_once("rst cause:").map(|it| it.1) {
        // The ESP8266's ROM: 1 is power, 2 the pin, 4 the watchdog of the hardware.
        return Some(LogEvent::Reset(match number(rest)? {
            1 => ResetReason::PowerOn,
            4 => ResetReason::Watchdog,
            _ => ResetReason::Other,
        }));
    }
    let (code, rest) = text.split_once("rst:0x")?.1.split_once('(')?;
    let name = rest.split_once(')')?.0;
    let has = |word: &str| name.contains(word);
    Some(LogEvent::Reset(if has("BROWN_OUT") || has("BROWNOUT") {
        ResetReason::Brownout
    } else if code.trim() == "3" && name == "SW_RESET" {
        ResetReason::Silent
    } else if has("RTCWDT") || has("RTC_WDT") || has("GLITCH") {
        ResetReason::RtcWatchdog
    } else if has("WDT") {
        ResetReason::Watchdog
    } else if has("DEEPSLEEP") || has("DSLEEP") {
        ResetReason::DeepSleep
    } else if has("POWERON") || has("POWER_ON") {
        ResetReason::PowerOn
    } else if has("SW_") || has("_SW") {
        ResetReason::Software
    } else {
        ResetReason::Other
    }))
}

/// Reads the reason of the last restart as programs tell it: "Reset reason: Hardware Watchdog" of the ESP8266's core and
/// Tasmota, "Reset Reason: Task WDT" of ESPHome, "reset_reason: ESP_RST_PANIC".
pub(super) fn told_reset(lower: &SearchText<'_>) -> Option<LogEvent> {
    let words = [
        "reset reason",
        "restart reason",
        "reset_reason",
        "restartreason",
        "resetreason",
        "reset cause",
        "reason for reset",
        "last reset",
    ];
    let at = words.iter().find_map(|it| Some(lower.find(it)? + it.len()))?;
    let has = |words: &[&str]| words.iter().any(|it| lower[at..].contains(it));
    if has(&["brownout", "brown out", "brown_out", "brown-out"]) {
        return Some(LogEvent::Reset(ResetReason::Brownout));
    }
    if has(&["watchdog", "wdt"]) {
        return Some(LogEvent::Reset(ResetReason::Watchdog));
    }
    has(&["panic", "exception"]).then_some(LogEvent::Panic)
}

/// Words of a crash, the more telling first: a line has the first that fits.
const CRASHES: [(&[&str], LogEvent); 6] = [
    (
        &[
            "Brownout detector was triggered",
            "Brownout reset",
            "E BOD:",
            "rst_reason:brownout",
            "ESP_RST_BROWNOUT",
            "Brown out detector",
            // CircuitPython.
            "power dipped",
        ],
        LogEvent::Brownout,
    ),
    (
        &[
            "stack overflow in task",
            "***ERROR*** A stack",
            "Stack canary watchpoint triggered",
            "Stack protection fault",
            "stack overflow detected",
            // Zephyr's reason 2.
            "Stack overflow on CPU",
            "Detected a write to the stack guard",
        ],
        LogEvent::StackOverflow,
    ),
    (
        &[
            "CORRUPT HEAP",
            "Stack smashing protect failure",
            "stack smashing detected",
            "multi_heap",
            "tlsf.c",
            "heap_caps_free",
            "free() target pointer is outside heap areas",
            "umm_poison",
        ],
        LogEvent::MemoryCorrupted,
    ),
    (
        &[
            "Task watchdog got triggered",
            "Interrupt wdt timeout",
            "Interrupt WDT timeout",
            "Soft WDT reset",
            "Int wdt timeout",
            "CPU has been reset by WDT",
            // The name that espcoredump gives it.
            "(InterruptWDTTim",
        ],
        LogEvent::Watchdog,
    ),
    (
        &[
            "Guru Meditation Error",
            "ZEPHYR FATAL ERROR",
            "FATAL EXCEPTION",
            "abort() was called",
            "assert failed:",
            "ESP_ERROR_CHECK failed",
            "Fatal exception",
            "Exception occurred '",
            "!! A panic occured",
            "!! A panic occurred",
            "====================== PANIC",
            "User exception (panic/abort/assert)",
            "panicked at ",
            "PanicInfo {",
            "Panic core_esp8266",
            "PANIC: unprotected error",
            "Exception was unhandled",
            "Memory access fault",
            "Abort called",
            "assertion \"",
            "Unhandled C++ exception",
            // Zephyr, NuttX, RIOT.
            "ASSERTION FAIL [",
            "Assertion failed",
            "riscv_exception: ",
            "RIOT kernel panic",
            // MicroPython and CircuitPython.
            "NLR jump failed",
            "core code crashed hard",
            "Hard fault: memory access",
            // The register of the cause, in the dumps of all of them.
            "EXCCAUSE",
            "exccause=",
            "epc1=0x",
            "terminate called after",
            "Backtrace: 0x",
            "Backtrace:0x",
            " register dump:",
            // What ESPHome's monitor makes of a backtrace.
            "WARNING Found stack trace",
            "WARNING Decoded 0x",
            "ESP32 CORE DUMP START",
            "Cache disabled but cached memory",
            // ESPHome tells of it at the next start.
            "CRASH DETECTED ON PREVIOUS BOOT",
            "Reason: Fault - ",
            // The ESP8266's stack; a prompt and quotes in front of it are left out.
            "stack>>>",
        ],
        LogEvent::Panic,
    ),
    (
        &[
            "flash read err",
            "invalid header: 0x",
            "invalid header: Ox",
            "No bootable app partitions",
            "Failed to verify partition table",
            "invalid magic number 0x",
            "Invalid app image",
            "Image hash failed",
            "invalid segment length",
            "OTA data partition invalid and no factory app",
            "ets_main.c ",
            // The loader of later ROMs: a segment that would lie where no memory is.
            "ets_loader.c ",
            "Checksum failed. Calculated",
            "partition is not bootable",
            "is not bootable",
            "invalid magic byte",
            "overlaps bootloader",
            "doesn't fit in partition",
            "doesn't match data",
            "load partition table error",
            "Partition table failed",
            "smaller than the size in the binary image header",
            "chip revision check failed",
            "mismatch chip ID",
            "chip ID mismatch",
            "but chip is v",
            "Secure boot check failed",
            "Signature verification failed",
            "csum err",
        ],
        LogEvent::FlashUnreadable,
    ),
];

/// Returns whether a text is an address of a backtrace within the allocator of the heap, decoded: "0x42007cbd: tlsf_free at
/// heap/tlsf/tlsf.c:631".
pub(super) fn is_in_allocator(text: &str) -> bool {
    let address =
        text.strip_prefix("0x").map(|it| it.trim_start_matches(|it: char| it.is_ascii_hexdigit()));
    address.is_some_and(|it| it.contains("tlsf_") || it.contains("tlsf.c"))
}

/// Returns whether the ROM can load a segment, by its hexadecimal address and what follows it: of a negative length it cannot, nor
/// where no memory is. A program that lies where the bootloader should has addresses of flash that is mapped.
fn is_loadable(segment: &str) -> bool {
    let mapped = ["3f4", "3c0", "3f0"].iter().any(|it| segment.starts_with(it));
    let is_memory = segment.len() < 8 || segment.starts_with(['3', '4', '5', '6']);
    is_memory && !mapped && !segment.contains(",len:-")
}

/// Returns the crash that a text tells of.
pub(super) fn crash(text: &SearchText<'_>) -> Option<LogEvent> {
    let waits = ["waiting for download", "wait usb download"];
    if waits.iter().any(|it| text.eq_ignore_ascii_case(it)) {
        return Some(LogEvent::WaitsForDownload);
    }
    // The ROM of the ESP8266, where its line breaks off.
    if text.as_str() == "ets_main.c" {
        return Some(LogEvent::FlashUnreadable);
    }
    if text.strip_prefix("load:0x").is_some_and(|it| !is_loadable(it)) {
        return Some(LogEvent::FlashUnreadable);
    }
    let told = CRASHES.iter().find(|it| it.0.iter().any(|words| text.contains(words)));
    if let Some((_, event)) = told {
        // Heap poisoning and the allocator are named by healthy programs, too; their assertions are not.
        let names_only = *event == LogEvent::MemoryCorrupted
            && !["CORRUPT", "assert", "smashing", "outside heap"]
                .iter()
                .any(|it| text.contains(it));
        return (!names_only).then_some(*event);
    }
    // The ESP8266 prints "Exception (28):" and "wdt reset", each as a line of its own.
    let rest = text.strip_prefix("Exception (");
    if rest.is_some_and(|it| number(it).is_some() && it.contains(')')) {
        return Some(LogEvent::Panic);
    }
    // esp-backtrace on RISC-V: "Exception 'Instruction access fault' mepc=0x3fc99218, mtval=0x3fc99218".
    if text.starts_with("Exception '") && text.contains(" mepc=0x") {
        return Some(LogEvent::Panic);
    }
    // Mongoose OS: "Trap 9: pc=0x40228c88 va=0x3fff2431".
    let rest = text.strip_prefix("Trap ");
    if rest.is_some_and(|it| number(it).is_some() && it.contains(": pc=0x")) {
        return Some(LogEvent::Panic);
    }
    None
}

/// Reads the expression that a check of errors names behind its crash: "expression: esp_wifi_start()", and an assertion of NVS.
pub(super) fn checked(text: &SearchText<'_>) -> Option<LogEvent> {
    if text.starts_with("assert") {
        let of_nvs = ["/nvs_", " nvs_", "nvs::", "\"nvs_"].iter().any(|it| text.contains(it));
        return of_nvs.then_some(LogEvent::StorageFailed);
    }
    if text.starts_with("ESP_ERROR_CHECK failed") && text.contains("ESP_ERR_HTTP_CONNECT") {
        return Some(LogEvent::ConnectionFailed);
    }
    let call = text.strip_prefix("expression: ")?;
    let of = |names: &[&str]| names.iter().any(|it| call.starts_with(it));
    if of(&["nvs_"]) {
        return Some(LogEvent::StorageFailed);
    }
    if of(&["esp_vfs_spiffs_", "esp_vfs_littlefs_", "esp_vfs_fat_spiflash_"]) {
        return Some(LogEvent::FileSystemFailed);
    }
    of(&["esp_wifi_", "esp_netif_", "esp_event_", "tcpip_adapter_"]).then_some(LogEvent::WifiCall)
}

/// Codes of mbedTLS that say that memory could not be had, of its modules (mbedTLS, `include/mbedtls/*.h`).
const TLS_MEMORY: [u32; 11] =
    [0x7f00, 0x5180, 0x3f80, 0x2880, 0x6180, 0x4d80, 0x1180, 0x0e80, 0x5880, 0x3d80, 0x006a];

/// `MBEDTLS_ERR_MPI_ALLOC_FAILED`: the low part of a code, beside the module that asked.
const MPI_MEMORY: u32 = 0x10;

/// Returns whether a text has a code of mbedTLS, hexadecimal or decimal behind a minus, that says that memory could not be had.
fn tls_memory(lower: &SearchText<'_>) -> bool {
    lower.match_indices('-').any(|(at, _)| {
        let rest = &lower[at + 1..];
        let before = lower[..at].chars().next_back();
        let code = match rest.strip_prefix("0x") {
            Some(hex) => {
                let end = hex.find(|it: char| !it.is_ascii_hexdigit()).unwrap_or(hex.len());
                u32::from_str_radix(&hex[..end], 16).ok()
            }
            None => number(rest),
        };
        !before.is_some_and(|it| it.is_ascii_alphanumeric())
            && code.is_some_and(|it| {
                TLS_MEMORY.contains(&it)
                    || (it <= 0x7f00 && it & 0x7f == MPI_MEMORY && is_of_mpi(it))
            })
    })
}

/// Returns whether the high part of a code is of a module that calculates with big numbers, or there is none.
const fn is_of_mpi(code: u32) -> bool {
    matches!(code & !0x7f, 0 | 0x3d00 | 0x3180..=0x3580 | 0x4080..=0x4400 | 0x4b80..=0x4f80 | 0x7a00..=0x7e80)
}

/// Free heap in bytes with which a frame of the driver would find memory, and its buffers are taken. A larger one has external
/// memory in it, which the driver does not take.
const ROOM: core::ops::RangeInclusive<u32> = 10_000..=400_000;

/// Returns whether the driver has no buffer left for a frame: "esf_buf: t=3 l=24 max:8, alloc:8 no eb", where all that may be
/// are given out, or "alloc eb len=24 type=3 fail, heap:40760".
fn lacks_buffer(text: &str) -> bool {
    let after = |words: &str| text.split_once(words).and_then(|it| number(it.1));
    if text.starts_with("esf_buf: ") && text.contains(" no eb") {
        return after("max:").is_some_and(|it| after("alloc:") == Some(it));
    }
    text.starts_with("alloc eb len=") && after("fail, heap:").is_some_and(|it| ROOM.contains(&it))
}

/// Returns what a text tells of memory.
pub(super) fn memory(lower: &SearchText<'_>) -> Option<LogEvent> {
    if lacks_buffer(lower) {
        return Some(LogEvent::SendBuffersFull);
    }
    // "m f null" and "m f probe req l=0" are all that the driver prints behind its tag.
    if lower.starts_with("m f ") {
        return Some(LogEvent::FrameDropped);
    }
    let none = [
        "esp_err_no_mem",
        "malloc failed",
        "malloc fail",
        "malloc: no memory",
        "out of memory",
        "failed to allocate",
        "unable to allocate",
        "cannot allocate",
        "couldn't allocate",
        "memory allocation failed",
        "memory alloc failed",
        "memory allocation of",
        "alloc failed",
        "bad_alloc",
        "memoryerror",
        "no mem for",
        "not enough memory",
        "insufficient memory",
        "could not allocate",
        "can't allocate",
        "cannot alloc",
        "could not alloc",
        "can't alloc",
        "mem alloc fail",
        "not be malloced",
        "not be allocated",
        "memory exhausted",
        "malloc buffer fail",
        "out of heap",
        "low heap",
        "low internal heap",
        "heap too low",
        "insufficient heap",
        // The driver and the allocators of the ESP8266.
        "wifi:m f null",
        "wifi:mem fail",
        ":oom(",
        " e:m ",
        "exception: oom",
        "last failed alloc call",
    ];
    let of_driver =
        ["mem fail", "fail to alloc", "e:m ", "alloc eb "].iter().any(|it| lower.starts_with(it));
    let init = of_driver || lower.contains("expected to init") && lower.contains("rx buffer");
    // 257 and 0x101 are ESP_ERR_NO_MEM.
    let refused = [
        "esp_wifi_init",
        "esp_wifi_start",
        "error initializing wifi",
        "wifi unknown error",
        "esp_bt_controller",
    ]
    .iter()
    .filter_map(|it| Some(&lower[lower.find(it)? + it.len()..]))
    .any(|it| has_number(it, "257") || has_number(it, "0x101") || has_number(it, "0x0101"));
    let tls = ["ssl", "tls", "handshake", "ecdh"].iter().any(|it| lower.contains(it));
    // ESP-IDF's events of MQTT have the same code without its minus.
    let stack = lower.contains("tls stack error") && lower.has_number("0x7f00");
    let tls = tls && (stack || tls_memory(lower));
    // "malloc of size 4098 failed", "Allocating 937 KB frame buffer Failed".
    let takes = ["malloc", "calloc", "allocating "].iter().any(|it| lower.contains(it));
    let takes = takes && ["fail", "unable", "error"].iter().any(|it| lower.contains(it));
    if init || refused || tls || takes || none.iter().any(|it| lower.contains(it)) {
        return Some(LogEvent::NoMemory);
    }
    free_heap(lower)
}

/// Reads `free heap: 18504`, `esp_get_minimum_free_heap_size():224`, `minimum free heap size: 664 bytes`, and `Heap: 1832` in front of
/// what a program of the ESP8266 says.
fn free_heap(lower: &SearchText<'_>) -> Option<LogEvent> {
    if !lower.contains("heap") {
        return None;
    }
    let plain: String = lower.chars().map(|it| if it == '_' { ' ' } else { it }).collect();
    let labelled = plain.starts_with("heap:").then_some("heap:".len());
    let at = plain.find("free heap").map(|it| it + "free heap".len()).or(labelled)?;
    let rest = plain[at..].trim_start_matches([' ', '\t', ':', '=', '(', ')', '>']);
    let rest = rest.strip_prefix("size").unwrap_or(rest);
    let rest = rest.trim_start_matches([' ', ':', '=', '(', ')', '>', 'i', 's']);
    let value = number(rest)?;
    // "95 kB" and "95.2 KB" are not bytes.
    let unit = rest.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.').trim_start();
    let scale = if unit.starts_with('k') { 1024 } else { 1 };
    let percent = unit.starts_with('%');
    (!percent).then(|| LogEvent::FreeHeap(value.saturating_mul(scale)))
}
