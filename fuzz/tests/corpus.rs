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

#[test]
fn every_program_of_a_target_is_in_the_list() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz_targets");
    let files = std::fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry").path());
    let mut programs: Vec<String> =
        files.map(|it| it.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    programs.retain(|it| it != "any");
    programs.sort();
    let mut names: Vec<&str> = espbench_fuzz::TARGETS.iter().map(|it| it.0).collect();
    names.sort_unstable();
    assert_eq!(names, programs);
}
