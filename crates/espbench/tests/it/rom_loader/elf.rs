//! A small program for the ESP32-C3, as a linker would leave it: an application description, code and data
//! in flash, code and data in RAM.

/// Number of a RISC-V processor in an ELF.
pub const RISC_V: u16 = 243;
/// Number of an Xtensa processor in an ELF.
pub const XTENSA: u16 = 94;

/// A section that is loaded: its name, address and flags of ELF (2 allocated, 4 code, 1 written).
struct Piece {
    name: &'static str,
    address: u32,
    flags: u32,
    bytes: Vec<u8>,
}

/// Returns bytes that do not compress to nothing, from a seed.
fn noise(length: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // A few values only, so that they compress to about a half.
        (state >> 28) as u8 * 17
    };
    (0..length).map(next).collect()
}

/// Returns the description: magic word, and the name at its place.
fn description() -> Vec<u8> {
    let mut bytes = vec![0; 256];
    bytes[..4].copy_from_slice(&0xABCD_5432_u32.to_le_bytes());
    bytes[16..21].copy_from_slice(b"0.1.0");
    bytes[48..54].copy_from_slice(b"loader");
    // Size of a page of the memory management unit: 64 KiB, as a power of two.
    bytes[180] = 16;
    bytes
}

/// Returns the program; `code` bytes of it are instructions in flash.
pub fn program(machine: u16, code: usize) -> Vec<u8> {
    let pieces = [
        Piece { name: ".flash.appdesc", address: 0x3C00_0020, flags: 2, bytes: description() },
        Piece { name: ".rodata", address: 0x3C00_0120, flags: 2, bytes: noise(5000, 1) },
        Piece { name: ".text", address: 0x4201_0020, flags: 6, bytes: noise(code, 2) },
        Piece { name: ".rwtext", address: 0x4038_0000, flags: 6, bytes: noise(2000, 3) },
        Piece { name: ".data", address: 0x3FC8_4000, flags: 3, bytes: noise(400, 4) },
    ];
    linked(machine, &pieces)
}

/// Writes an ELF of 32 bits.
fn linked(machine: u16, pieces: &[Piece]) -> Vec<u8> {
    let mut names = vec![0];
    let mut at = |name: &str| {
        let start = names.len() as u32;
        names.extend(name.as_bytes());
        names.push(0);
        start
    };
    let starts: Vec<u32> = pieces.iter().map(|it| at(it.name)).collect();
    let names_name = at(".shstrtab");
    let mut body = Vec::new();
    let (mut programs, mut sections) = (Vec::new(), vec![[0_u32; 10]]);
    let head = 52 + 32 * pieces.len();
    for (piece, start) in pieces.iter().zip(starts) {
        let offset = (head + body.len()) as u32;
        let length = piece.bytes.len() as u32;
        body.extend(&piece.bytes);
        body.resize(body.len().next_multiple_of(4), 0);
        let rights = [4, 5][usize::from(piece.flags & 4 != 0)] | (piece.flags & 1) << 1;
        programs.push([1, offset, piece.address, piece.address, length, length, rights, 4]);
        sections.push([start, 1, piece.flags, piece.address, offset, length, 0, 0, 4, 0]);
    }
    let offset = (head + body.len()) as u32;
    sections.push([names_name, 3, 0, 0, offset, names.len() as u32, 0, 0, 1, 0]);
    body.extend(&names);
    body.resize(body.len().next_multiple_of(4), 0);
    let table = (head + body.len()) as u32;
    let mut file = b"\x7FELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let halves = |file: &mut Vec<u8>, all: &[u16]| {
        file.extend(all.iter().flat_map(|it| it.to_le_bytes()));
    };
    let words = |file: &mut Vec<u8>, all: &[u32]| {
        file.extend(all.iter().flat_map(|it| it.to_le_bytes()));
    };
    halves(&mut file, &[2, machine]);
    words(&mut file, &[1, 0x4038_0000, 52, table, 0]);
    let count = sections.len() as u16;
    halves(&mut file, &[52, 32, pieces.len() as u16, 40, count, count - 1]);
    programs.iter().for_each(|it| words(&mut file, it));
    file.extend(&body);
    sections.iter().for_each(|it| words(&mut file, it));
    file
}
