//! The virtual lab: ESP devices, routers and other people's traffic in one room, in virtual time.
//!
//! | module | what |
//! |---|---|
//! | [`scene`] | what stands where: devices, routers, background stations, the place |
//! | [`profile`] | what a chip and its firmware cost: time of the processor, buffers, flash |
//! | [`trace`] | what was on the air, and what became of it: for captures and drawings |
//! | [`constants`] | constants that stand in the code, with their origins |
//! | [`mod@file`] | all of this as TOML, and the built-in ones |
//! | [`radio`] | a scene's links, receivers and MAC settings |
//! | [`suite`] | tests carried out in a lab, whatever their kind |
//! | [`survey`] | who hears whom, before anything is sent |
//! | [`record`] | what a test gives back while it runs |
//! | [`run`] | the lab at work |
//! | [`nodes`] | ESP-NOW devices with their boards and consoles |
//! | [`live`] | a lab whose consoles lead outside, in step with a wall clock |
//! | [`ideal`] | an ideal medium with faults by seed, and labs on it: fleets |
//! | [`wifi`] | machines with IP programs, and the Wi-Fi between them |
//! | `pool` | packets on their way, each kept once |
//! | `token` | the numbers by which the medium hands back wake-ups and frames |
//! | [`predict`] | what if so many devices send so often |

pub mod constants;
pub mod file;
pub mod ideal;
pub mod live;
pub mod nodes;
mod pool;
pub mod predict;
pub mod profile;
pub mod radio;
pub mod record;
pub mod run;
pub mod scene;
pub mod suite;
pub mod survey;
mod token;
pub mod trace;
pub mod wifi;
