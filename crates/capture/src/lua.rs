//! A dissector of the component's ESP-NOW frames for Wireshark and tshark, written in Lua.
//!
//! Names, widths and values are those of the wire tables of `esp_now::component`: a field's bits are those that the
//! header's own `emit` sets for it, a type's number and name are the header's.

use crate::air::esp_now::type_name;
use alloc::format;
use alloc::string::String;
use core::fmt::Write as _;
use esp_now::component::header::VERSION;
use esp_now::component::iperf::IPERF_LEN;
use esp_now::component::sealed::{NONCE_LEN, TAG_LEN};
use esp_now::component::{DataType, FrameConfig, HEADER_LEN};
use esp_now::frame::{ELEMENT_ID, ELEMENT_TYPE, OUI};

/// Returns the fields of the flags word: name, title, all bits set, kind of the value.
fn flags() -> [(&'static str, &'static str, FrameConfig, &'static str); 10] {
    let none = FrameConfig::UNICAST;
    [
        ("channel", "Channel", FrameConfig { channel: 15, ..none }, "uint32"),
        (
            "filter_adjacent",
            "Only on this channel",
            FrameConfig { filter_adjacent: true, ..none },
            "bool",
        ),
        (
            "filter_weak",
            "Only as strong as the threshold",
            FrameConfig { filter_weak: true, ..none },
            "bool",
        ),
        ("security", "Encrypted", FrameConfig { security: true, ..none }, "bool"),
        ("broadcast", "Broadcast", FrameConfig { broadcast: true, ..none }, "bool"),
        ("group", "Destination is a group", FrameConfig { group: true, ..none }, "bool"),
        ("ack", "To be acknowledged", FrameConfig { ack: true, ..none }, "bool"),
        ("copies", "Copies", FrameConfig { copies: 31, ..none }, "uint32"),
        ("ttl", "Hops left", FrameConfig { ttl: 31, ..none }, "uint32"),
        ("rssi", "RSSI threshold", FrameConfig { rssi: -1, ..none }, "uint32"),
    ]
}

const HEAD: &str = r#"-- Dissector of Espressif's esp-now component, for Wireshark and tshark. Written by espbench from its wire tables.
-- tshark -X lua_script:espnow.lua -r capture.pcapng -Y espnow
local espnow = Proto("espnow", "ESP-NOW (Espressif component)")
local f = espnow.fields
f.random = ProtoField.bytes("espnow.random", "Random value")
f.espversion = ProtoField.uint8("espnow.esp_version", "ESP-NOW version", base.DEC, nil, 0x0f)
f.more = ProtoField.bool("espnow.more", "More data", 8, nil, 0x10)
f.data = ProtoField.bytes("espnow.data", "Data")
f.version = ProtoField.uint8("espnow.version", "Version", base.DEC, nil, 0x30)
f.size = ProtoField.uint8("espnow.size", "Payload length")
f.magic = ProtoField.uint16("espnow.packet_id", "Packet id", base.HEX)
f.dest = ProtoField.ether("espnow.dest", "Destination")
f.src = ProtoField.ether("espnow.src", "Source")
f.payload = ProtoField.bytes("espnow.payload", "Payload")
f.ciphertext = ProtoField.bytes("espnow.ciphertext", "Ciphertext")
f.tag = ProtoField.bytes("espnow.tag", "Tag")
f.nonce = ProtoField.bytes("espnow.nonce", "Nonce")
f.text = ProtoField.string("espnow.text", "Text")
f.iperf_kind = ProtoField.uint32("espnow.iperf.kind", "Kind of message")
f.iperf_number = ProtoField.uint32("espnow.iperf.number", "Number")
f.time_us = ProtoField.int64("espnow.time.us", "Time of the sender (us)")
"#;

const BODY: &str = r#"
local function component(data, tree, pinfo)
    if data:len() < HEADER then return false end
    local kind = bit.band(data(0, 1):uint(), 0x0f)
    local version = bit.rshift(bit.band(data(0, 1):uint(), 0x30), 4)
    local payload = data:len() - HEADER
    if version ~= VERSION or data(1, 1):uint() ~= payload % 256 then return false end
    tree:add(f.type, data(0, 1))
    tree:add(f.version, data(0, 1))
    tree:add(f.size, data(1, 1))
    tree:add_le(f.magic, data(2, 2))
    local flags = tree:add(data(4, 4), "Flags")
    for _, field in ipairs(flag_fields) do flags:add_le(field, data(4, 4)) end
    tree:add(f.dest, data(8, 6))
    tree:add(f.src, data(14, 6))
    pinfo.cols.info = string.format("ESP-NOW %s, packet id 0x%04x", types[kind], data(2, 2):le_uint())
    if payload == 0 then return true end
    local body = data(HEADER)
    if bit.band(data(4, 4):le_uint(), SECURITY) ~= 0 then
        if payload > TAG + NONCE then
            tree:add(f.ciphertext, body(0, payload - TAG - NONCE))
            tree:add(f.tag, body(payload - TAG - NONCE, TAG))
            tree:add(f.nonce, body(payload - NONCE, NONCE))
        else
            tree:add(f.payload, body)
        end
        return true
    end
    tree:add(f.payload, body)
    if kind == DEBUG_LOG or kind == DEBUG_COMMAND then
        tree:add(f.text, body, body:stringz())
    elseif kind == TIME_SYNC and payload == 18 and body(0, 1):uint() == 1 then
        tree:add_le(f.time_us, body(2, 8))
    elseif (kind == IPERF or kind == TIME_SYNC) and payload >= IPERF_LEN then
        tree:add_le(f.iperf_kind, body(0, 4))
        tree:add_le(f.iperf_number, body(4, 4))
    end
    return true
end

function espnow.dissector(buffer, pinfo, tree)
    -- Behind the OUI: a random value, then vendor-specific elements.
    local at = buffer:len() >= 3 and buffer(0, 3):uint() == OUI and 3 or 0
    if buffer:len() < at + 4 then return 0 end
    local root = tree:add(espnow, buffer(at))
    root:add(f.random, buffer(at, 4))
    pinfo.cols.protocol = "ESP-NOW"
    local all = ByteArray.new()
    local first, parts = nil, 0
    local next = at + 4
    while next + 2 <= buffer:len() do
        local id, length = buffer(next, 1):uint(), buffer(next + 1, 1):uint()
        if next + 2 + length > buffer:len() then break end
        if id == ELEMENT and length >= 5 and buffer(next + 2, 3):uint() == OUI and buffer(next + 5, 1):uint() == TYPE then
            root:add(f.espversion, buffer(next + 6, 1))
            root:add(f.more, buffer(next + 6, 1))
            if length > 5 then
                local data = buffer(next + 7, length - 5)
                root:add(f.data, data)
                all:append(data:bytes())
                first, parts = first or data, parts + 1
            end
        end
        next = next + 2 + length
    end
    if parts == 1 then
        component(first, root, pinfo)
    elseif parts > 1 then
        component(all:tvb("ESP-NOW data")(), root, pinfo)
    end
    return buffer:len()
end

DissectorTable.get("wlan.action.vendor_specific"):add(OUI, espnow)
"#;

/// Returns the dissector.
#[must_use]
pub fn dissector() -> String {
    let mut out = String::from(HEAD);
    let types: String = DataType::ALL
        .iter()
        .map(|it| format!("[{}] = \"{}\", ", *it as u8, type_name(*it)))
        .collect();
    let _ = writeln!(out, "local types = {{ {types}}}");
    let _ = writeln!(
        out,
        "f.type = ProtoField.uint8(\"espnow.type\", \"Data type\", base.DEC, types, 0x0f)"
    );
    let mut names = String::new();
    for (name, title, bits, kind) in flags() {
        let mask = bits.to_word();
        let field = if kind == "bool" {
            format!("ProtoField.bool(\"espnow.{name}\", \"{title}\", 32, nil, {mask:#x})")
        } else {
            format!("ProtoField.uint32(\"espnow.{name}\", \"{title}\", base.DEC, nil, {mask:#x})")
        };
        let _ = writeln!(out, "f.{name} = {field}");
        let _ = write!(names, "f.{name}, ");
    }
    let [a, b, c] = OUI.map(u32::from);
    let security = FrameConfig { security: true, ..FrameConfig::UNICAST }.to_word();
    let constants = [
        ("HEADER", HEADER_LEN as u32),
        ("VERSION", VERSION.into()),
        ("OUI", a << 16 | b << 8 | c),
        ("ELEMENT", ELEMENT_ID.into()),
        ("TYPE", ELEMENT_TYPE.into()),
        ("SECURITY", security),
        ("TAG", TAG_LEN as u32),
        ("NONCE", NONCE_LEN as u32),
        ("IPERF_LEN", IPERF_LEN as u32),
        ("DEBUG_LOG", DataType::DebugLog as u32),
        ("DEBUG_COMMAND", DataType::DebugCommand as u32),
        ("TIME_SYNC", DataType::TimeSync as u32),
        ("IPERF", DataType::Reserved as u32),
    ];
    let _ = writeln!(out, "local flag_fields = {{ {names}}}");
    for (name, value) in constants {
        let _ = writeln!(out, "local {name} = {value}");
    }
    out + BODY
}
