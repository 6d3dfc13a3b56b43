//! The stored corpus through every target, without a fuzzer.

#[test]
fn every_stored_input_passes() {
    for (name, run) in espbench_fuzz::TARGETS {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
        let inputs: Vec<_> = std::fs::read_dir(&folder)
            .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
            .map(|entry| entry.expect("an entry").path())
            .collect();
        assert!(!inputs.is_empty(), "{name} has no corpus");
        for path in inputs {
            run(&std::fs::read(&path).expect("a readable input"));
        }
    }
}
