//! Crashes with the functions of a program, for programs and pages.

use super::CodeAddress;
use super::core_dump::{CoreDump, CoreRegister, CoreTask};
use super::trace::{CrashTrace, CrashTraces};
use crate::finding::{CauseFinding, Certainty, TroubleCause};
use crate::log::{EvidenceSource, LogPlace, LogReader};
use crate::matcher::RuleBook;
use crate::report::{DiagnosisEntry, answer};
use crate::rules;
use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Serialize, Serializer};

/// Frames of a crash, at most.
const FRAMES: usize = 64;

/// Digits of a SHA-256 that are shown, as ESP-IDF shows them.
const SHOWN: usize = 9;

/// Program by whose code a crash is read.
pub trait ProgramCode {
    /// Returns the functions at an address, those that were inlined first; none where no code is.
    fn functions(&self, address: u32) -> Vec<CodePlace>;

    /// Returns whether the instruction in front of an address is a call.
    fn is_behind_call(&self, address: u32) -> bool;
}

/// Place in the source of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodePlace {
    /// Function.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Line of it, from 1.
    pub line: Option<u32>,
}

/// Crash of a log or a core dump, with its frames.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CrashReport {
    /// Number of the line that has it, from 1; absent of a core dump in a file of its own.
    pub line: Option<u64>,
    /// Task that crashed; absent of a backtrace, which does not name it.
    pub task: Option<String>,
    /// Reason, in words of the panic handler or the processor.
    pub reason: Option<String>,
    /// Registers of the task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub registers: Vec<CoreRegister>,
    /// Frames, the innermost first.
    pub frames: Vec<CrashFrame>,
    /// Names of the other tasks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

/// Frame of a crash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CrashFrame {
    /// Address of the code.
    #[serde(serialize_with = "hexadecimal")]
    pub address: u32,
    /// Function; absent where no program was given, or none has it.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Line of it, from 1.
    pub line: Option<u32>,
    /// Whether the crash tells it; else it is a word of the stack behind a call, which may be of an earlier one.
    pub is_certain: bool,
}

fn hexadecimal<S: Serializer>(address: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{address:#010x}"))
}

/// Returns the frames at addresses, and those of a stack that stand behind calls.
fn frames(
    addresses: &[CodeAddress],
    stack: &[u32],
    code: Option<&dyn ProgramCode>,
) -> Vec<CrashFrame> {
    let mut out: Vec<CrashFrame> = Vec::new();
    for it in addresses {
        let places = code.map(|code| code.functions(it.within())).unwrap_or_default();
        if places.is_empty() {
            out.push(CrashFrame::at(it.address, CodePlace::default(), true));
        }
        out.extend(places.into_iter().map(|place| CrashFrame::at(it.address, place, true)));
    }
    if let Some(code) = code {
        for word in stack.iter().copied().filter(|it| code.is_behind_call(*it)) {
            // The innermost one is saved on the stack, too.
            if out.iter().all(|it| it.address != word) {
                let places = code.functions(CodeAddress::returning(word).within());
                out.extend(places.into_iter().map(|place| CrashFrame::at(word, place, false)));
            }
            if out.len() >= FRAMES {
                break;
            }
        }
    }
    out.truncate(FRAMES);
    out
}

impl CrashReport {
    /// Returns a crash that a console printed, by the code of its program.
    #[must_use]
    pub fn of_trace(trace: &CrashTrace, code: &dyn ProgramCode) -> Self {
        let frames = frames(&trace.frames, &trace.stack, Some(code));
        Self { line: Some(trace.line), frames, ..Self::default() }
    }

    /// Returns the crash of a core dump, which begins in that line of a log.
    #[must_use]
    pub fn of_dump(dump: &CoreDump, line: Option<u64>, code: Option<&dyn ProgramCode>) -> Self {
        let Some((crashed, others)) = dump.tasks.split_first() else { return Self::default() };
        Self {
            line,
            task: Some(crashed.title()),
            reason: dump.why(),
            registers: crashed.registers.clone(),
            frames: frames(&crashed.frames, &crashed.stack, code),
            others: others.iter().map(CoreTask::title).collect(),
        }
    }

    /// Returns what crashed, in words.
    #[must_use]
    pub fn title(&self) -> String {
        let place = self.line.map_or_else(String::new, |it| format!(" of line {it}"));
        match (&self.task, &self.reason) {
            // Of a file of its own the diagnosis says it.
            (Some(task), Some(reason)) if self.line.is_some() => {
                format!("core dump{place}, task {task}: {reason}")
            }
            (Some(task), _) => format!("core dump{place}, task {task}"),
            (None, _) => format!("backtrace{place}"),
        }
    }
}

impl CrashFrame {
    fn at(address: u32, place: CodePlace, is_certain: bool) -> Self {
        let CodePlace { function, file, line } = place;
        Self { address, function, file, line, is_certain }
    }

    /// Returns file and line of the source.
    #[must_use]
    pub fn source(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(self.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}")))
    }

    /// Returns the frame in a line. A question mark says that it may be of an earlier call.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = format!("{:#010x}", self.address);
        if !self.is_certain {
            words.push_str(" ?");
        }
        if let Some(function) = &self.function {
            words = format!("{words} {function}");
        }
        if let Some(source) = self.source() {
            words = format!("{words} ({source})");
        }
        words
    }
}

/// Program of a device, as a file that was given.
pub struct NamedProgram {
    /// Name of the file.
    pub name: String,
    /// SHA-256 of the file, in hexadecimal digits: a console names the build by it.
    pub sha256: String,
    /// Code of it.
    pub code: Box<dyn ProgramCode>,
}

impl NamedProgram {
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
pub fn add_traces(
    program: Option<&NamedProgram>,
    traces: &CrashTraces,
    entry: &mut DiagnosisEntry,
) {
    for printed in &traces.dumps {
        let line = printed.line;
        match &printed.dump {
            Ok(dump) => add_dump(program, dump, Some(line), entry),
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
        let told = format!("The log has no backtrace that {} could tell.", program.name);
        entry.diagnosis.notes.push(told);
    }
}

/// Adds the crash of a core dump to its diagnosis; in a log the dump begins in that line.
pub fn add_dump(
    program: Option<&NamedProgram>,
    dump: &CoreDump,
    line: Option<u64>,
    entry: &mut DiagnosisEntry,
) {
    let place = match line {
        Some(line) => format!("the core dump of line {line}"),
        None => "the core dump".into(),
    };
    let code = program.and_then(|it| it.code_of(dump.build.as_deref(), &place, entry));
    entry.crashes.push(CrashReport::of_dump(dump, line, code));
}

/// Returns the diagnosis of a core dump as an entry of a document. Rules know the reason: a console prints it, too.
#[must_use]
pub fn core_entry(name: String, dump: &CoreDump, book: &'static RuleBook) -> DiagnosisEntry {
    let mut reader = LogReader::with_rules(book);
    reader.push(dump.reason.as_deref().unwrap_or_default().as_bytes());
    let known = rules::diagnose(&reader.finish()).findings.into_iter().next();
    let (cause, remedy) = match known.filter(|it| !it.cause.is("panic")) {
        Some(it) => (it.cause, it.remedy),
        None => (
            TroubleCause::of("panic"),
            "mend what the frames name: the first one in the program's own source (--elf FILE shows functions and lines)"
                .into(),
        ),
    };
    let task = dump.tasks.first().map(CoreTask::title).unwrap_or_default();
    let (title, why) = match dump.why() {
        Some(why) => (format!("task {task} crashed: {why}"), why),
        None => (format!("task {task} crashed"), "it does not say why".into()),
    };
    let text = why.chars().take(120).collect();
    let place = LogPlace { source: EvidenceSource::CoreDump, line: 1, uptime_ms: None, text };
    let finding = CauseFinding {
        cause,
        record: None,
        title,
        certainty: Certainty::High,
        incidents: 1,
        share: 1.0,
        link: None,
        follows_from: None,
        evidence: alloc::vec![place],
        remedy,
        confirm: "the same frames come again with the next crash".into(),
        set: Vec::new(),
    };
    let diagnosis = rules::ranked(alloc::vec![finding], true, Vec::new());
    DiagnosisEntry {
        files: alloc::vec![name],
        lines: None,
        recorded: None,
        answer: answer(&diagnosis),
        diagnosis,
        crashes: Vec::new(),
        proof: None,
    }
}
