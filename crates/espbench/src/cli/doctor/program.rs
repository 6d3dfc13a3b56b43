//! Addresses of crashes by the code of the program.

use super::Args;
use crate::user_error::UserError;
use espbench_doctor::crash::report::{CrashReport, ProgramCode};
use espbench_doctor::crash::trace::CrashTraces;
use espbench_doctor::report::DiagnosisEntry;

/// Digits of a SHA-256 that are shown, as ESP-IDF shows them.
const SHOWN: usize = 9;

/// Program of a device: its ELF.
pub(super) struct ElfProgram {
    /// File.
    name: String,
    /// SHA-256 of the file, in hexadecimal digits: a console names the build by it.
    sha256: String,
    code: Box<dyn ProgramCode>,
}

impl ElfProgram {
    /// Reads the ELF that was named, if one was.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    #[cfg(feature = "flash")]
    pub(super) fn read(args: &Args) -> Result<Option<Self>, UserError> {
        use crate::flash::addresses::ProgramAddresses;
        use crate::user_error::ForUser as _;
        use sha2::{Digest as _, Sha256};
        let Some(path) = &args.elf else { return Ok(None) };
        let what = || format!("cannot read {}", path.display());
        let remedy = "name the ELF of the firmware that the board ran: build/PROJECT.elf";
        let bytes = crate::named_file::program(path).for_user(what, remedy)?;
        let code = Box::new(ProgramAddresses::read(&bytes).for_user(what, remedy)?);
        let sha256 = Sha256::digest(&bytes).iter().map(|it| format!("{it:02x}")).collect();
        Ok(Some(Self { name: path.display().to_string(), sha256, code }))
    }

    /// Reads none: this build has no reader of ELF.
    ///
    /// # Errors
    /// None.
    #[cfg(not(feature = "flash"))]
    pub(super) fn read(_: &Args) -> Result<Option<Self>, UserError> {
        Ok(None)
    }

    /// Returns the code, where a build is that of the program or not known; else tells that it is another.
    fn code_of(
        &self,
        build: Option<&str>,
        place: &str,
        entry: &mut DiagnosisEntry,
    ) -> Option<&dyn ProgramCode> {
        let Some(other) = build.filter(|it| !self.sha256.starts_with(*it)) else {
            return Some(&*self.code);
        };
        let cut = |it: &str| it[..it.len().min(SHOWN)].to_owned();
        let told = format!(
            "{} is of another build: {place} names the ELF by its SHA-256 {}, and that of the file is {}; name the ELF of that build.",
            self.name,
            cut(other),
            cut(&self.sha256)
        );
        let told_before = &mut entry.diagnosis.contradictions;
        if !told_before.contains(&told) {
            told_before.push(told);
        }
        None
    }
}

/// Adds the crashes of a log to its diagnosis: core dumps, and backtraces by the program that was given.
pub(super) fn add(program: Option<&ElfProgram>, traces: &CrashTraces, entry: &mut DiagnosisEntry) {
    for printed in &traces.dumps {
        let line = printed.line;
        match &printed.dump {
            Ok(dump) => {
                let place = format!("the core dump of line {line}");
                let build = dump.build.as_deref();
                let code = program.and_then(|it| it.code_of(build, &place, entry));
                entry.crashes.push(CrashReport::of_dump(dump, Some(line), code));
            }
            Err(fault) => {
                let told = format!("The core dump of line {line} cannot be read: {fault}.");
                entry.diagnosis.notes.push(told);
            }
        }
    }
    let Some(program) = program else { return };
    for trace in &traces.traces {
        let build = trace.build.as_ref();
        let place = build.map_or_else(String::new, |it| format!("line {} of the log", it.line));
        let sha256 = build.map(|it| &*it.sha256);
        if let Some(code) = program.code_of(sha256, &place, entry) {
            entry.crashes.push(CrashReport::of_trace(trace, code));
        }
    }
    let is_unknown = traces.traces.iter().any(|it| it.build.is_none());
    if is_unknown {
        entry.diagnosis.notes.push(format!(
            "The log does not name its build (ELF file SHA256): the functions hold if {} is what the board ran.",
            program.name
        ));
    }
    if traces.more > 0 {
        entry.diagnosis.notes.push(format!("{} further backtraces are left out.", traces.more));
    }
    if traces.traces.is_empty() && traces.dumps.is_empty() {
        entry
            .diagnosis
            .notes
            .push(format!("The log has no backtrace that {} could tell.", program.name));
    }
}

/// Adds the crash of a core dump to its diagnosis.
pub(super) fn add_dump(
    program: Option<&ElfProgram>,
    dump: &espbench_doctor::crash::core_dump::CoreDump,
    entry: &mut DiagnosisEntry,
) {
    let code = program.and_then(|it| it.code_of(dump.build.as_deref(), "the core dump", entry));
    entry.crashes.push(CrashReport::of_dump(dump, None, code));
}
