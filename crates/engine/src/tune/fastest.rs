//! Firmware as fast as its memories can be.

use espbench_measure::tune::Candidate;
use espbench_model::sdkconfig::{ConfigOption, SdkConfig, SdkContext};

/// Returns a firmware with all code in RAM.
pub(super) fn in_ram(base: &Candidate) -> Candidate {
    let config = SdkConfig { wifi_iram: true, wifi_rx_iram: true, lwip_iram: true, ..base.config };
    Candidate { config, ..*base }
}

/// Returns a firmware with the fastest that its memories can be: all code in RAM, the largest caches, the
/// fastest flash and PSRAM, and code that the compiler makes for speed.
pub(super) fn fastest_memory(base: &Candidate, context: &SdkContext) -> Candidate {
    let mut it = in_ram(base);
    let memory = &mut it.config.memory;
    let most = |key: ConfigOption| key.choices(context.chip).last();
    let word = |key: ConfigOption, word| key.of_word(word);
    memory.set(ConfigOption::FlashMode, word(ConfigOption::FlashMode, "QIO"));
    memory.set(ConfigOption::Optimization, word(ConfigOption::Optimization, "PERF"));
    memory.set(ConfigOption::LwipExtraIram, context.release.from(5, 2).then_some(1));
    for key in [
        ConfigOption::FlashClock,
        ConfigOption::InstructionCache,
        ConfigOption::DataCache,
        ConfigOption::PsramClock,
    ] {
        memory.set(key, most(key));
    }
    it
}
