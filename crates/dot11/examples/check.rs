//! One of the rooms of `espbench_dot11::check`, for scripts: what was counted, as one line of JSON
//! with the same keys as `bench/ns3/room.cc` prints.
//!
//!     check NAME SECONDS [SEED]
//!     check --for-ns3 NAME SECONDS    the room as room.cc reads it
//!     check --air                     air times of HE frames, for bench/ns3/air.cc
//!     check --list
//!     check --table                   all models, as `espbench lab check` prints them

mod common;

use espbench_dot11::check::{Scenario, run};
use espbench_dot11::radio::airtime::psdu_airtime;
use espbench_dot11::radio::{He, HeFormat, WifiMode};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["--list"] => Scenario::all().iter().for_each(|it| println!("{}", it.name)),
        ["--table"] => print!("{}", espbench_dot11::check::table::table(1)),
        ["--air"] => print_air(),
        ["--for-ns3", name, seconds] => {
            let (Some(room), Ok(seconds)) = (Scenario::named(name), seconds.parse()) else {
                return usage();
            };
            print!("{}", room.for_ns3(seconds));
        }
        [name, seconds] | [name, seconds, _] => {
            let seed = words.get(2).map_or(Ok(1), |seed| seed.parse());
            let (Some(room), Ok(seconds), Ok(seed)) =
                (Scenario::named(name), seconds.parse(), seed)
            else {
                return usage();
            };
            print_run(&room, seconds, seed);
        }
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

/// Prints scheme, guard interval, whether it is ER SU, octets of the PSDU, length of the HE-LTF and air time of frames,
/// in nanoseconds: all modes without DCM in 242 tones.
fn print_air() {
    let all = (0..He::COUNT).filter_map(He::at);
    for he in all.filter(|he| !he.dcm() && he.format() != HeFormat::ErSu106) {
        let (guard, extended) = (he.guard(), u8::from(he.is_extended()));
        for octets in [18, 100, 293, 1500, 4000] {
            let ns = psdu_airtime(WifiMode::He(he), octets);
            println!("{} {} {extended} {octets} {} {ns}", he.mcs(), guard.ns(), guard.ltf_ns());
        }
    }
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: check NAME SECONDS [SEED] | --for-ns3 NAME SECONDS | --air | --list | --table"
    );
    ExitCode::from(2)
}

fn print_run(room: &Scenario, seconds: u32, seed: u64) {
    let began = Instant::now();
    let before = common::spent(began);
    let is = run(room, seed, seconds);
    let (cpu, wall) = (common::spent(began) - before, began.elapsed().as_secs_f64());
    println!(
        "{{\"name\":\"{}\",\"seconds\":{seconds},\"good\":{:.3},\"sent\":{:.3},\"collide\":{:.5},\"dropped\":{:.5},\"frames\":{},\"cpu_s\":{cpu:.4},\"wall_s\":{wall:.4}}}",
        room.name,
        is.good(),
        is.sent(),
        is.collide(),
        if is.finished == 0 { 0.0 } else { is.dropped() },
        is.sent,
    );
}
