//! One of the rooms of `espbench_dot11::check`, for scripts: what was counted, as one line of JSON
//! with the same keys as `bench/ns3/room.cc` prints.
//!
//!     check NAME SECONDS [SEED]
//!     check --for-ns3 NAME SECONDS    the room as room.cc reads it
//!     check --list
//!     check --table                   all models, as `espbench lab check` prints them

mod common;

use espbench_dot11::check::{Scenario, run};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["--list"] => Scenario::all().iter().for_each(|it| println!("{}", it.name)),
        ["--table"] => print!("{}", espbench_dot11::check::table::table(1)),
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

fn usage() -> ExitCode {
    eprintln!("usage: check NAME SECONDS [SEED] | --for-ns3 NAME SECONDS | --list | --table");
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
