#!/usr/bin/env python3
"""Runs all mutants of cargo-mutants from one build: `mutants_at_once.py FOLDER PACKAGE JSON`.

FOLDER is the scratch folder of ci/mutants.sh, JSON what `cargo mutants --list --json` has printed there.
Each mutant becomes a copy of its function, and the function calls the copy whose number the
environment variable MUTANT has. So the compiler runs a few times and not once for each mutant.
Writes FOLDER/at-once/{caught,missed,timeout,unviable,left}.txt; `left` are mutants for cargo-mutants
itself: in implementations of traits, and where a copy does not compile but the mutant may.
"""
import functools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections import defaultdict

FOLDER, PACKAGE, LIST = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
# Tests that are run only where all others have passed, because they take long.
SLOW = sys.argv[4:]
# Seconds of processor time after which tests do not end any more, quick and slow ones.
LIMIT_S, SLOW_LIMIT_S = 4, 20
OUT = os.path.join(FOLDER, "at-once")
SELECTOR = """
#[cfg(test)]
pub fn mutant() -> u32 {
    static NUMBER: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *NUMBER.get_or_init(|| std::env::var("MUTANT").ok().and_then(|it| it.parse().ok()).unwrap_or(0))
}
#[cfg(not(test))]
pub fn mutant() -> u32 {
    0
}
"""


def offset(starts, place):
    """Returns the index of a line and column, both from 1, in a text whose lines begin at `starts`."""
    return starts[place["line"] - 1] + place["column"] - 1


def closing(text, at):
    """Returns the index of the bracket that closes the one at `at`."""
    pairs = {"(": ")", "<": ">", "[": "]", "{": "}"}
    depth, i = [], at
    while True:
        c = text[i]
        if c in pairs and not (c == "<" and text[i - 1] in " -="):
            depth.append(pairs[c])
        elif depth and c == depth[-1] and not (c == ">" and text[i - 1] in "-="):
            depth.pop()
            if not depth:
                return i
        i += 1


def split(text):
    """Splits a list at its commas, but not within brackets."""
    parts, depth, part = [], 0, ""
    for i, c in enumerate(text):
        depth += c in "(<[{"
        depth -= c in ")]}" or c == ">" and text[i - 1] not in "-="
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return [it.strip() for it in parts + [part] if it.strip()]


def call_of(item):
    """Returns a function that makes the call of a copy, and where the function's body begins."""
    head = re.search(r"(?m)^\s*(?:pub(?:\([^)]*\))? )?(?:const )?fn (\w+)", item)
    at, generics = head.end(), ""
    if item[at] == "<":
        end = closing(item, at)
        names = [it.split(":")[0].strip() for it in split(item[at + 1 : end])]
        if any(it.startswith("const ") for it in names):
            names = [it.removeprefix("const ") for it in names if not it.startswith("'")]
            generics = "::<" + ", ".join(names) + ">"
        at = end + 1
    end = closing(item, at)
    names = []
    for parameter in split(item[at + 1 : end]):
        name = parameter.split(":")[0].strip().removeprefix("mut ").strip()
        names.append("self" if re.fullmatch(r"(&('\w+ )?)?(mut )?self", name) else name)
    body = item.index("{", end) + 1
    if any(not re.fullmatch(r"\w+", it) or it == "_" for it in names):
        return None, body, head
    return lambda copy, path: f"{path}{copy}{generics}({', '.join(names)})", body, head


def rewrite(path, mutants, left):
    """Returns the text of a file with copies, and the number of the mutant of each range of it."""
    text = open(path).read()
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    functions = defaultdict(list)
    for number, mutant in mutants:
        if not mutant["function"]:
            left.add(number)
            continue
        span = mutant["function"]["span"]
        functions[offset(starts, span["start"]), offset(starts, span["end"])].append((number, mutant))
    for (begin, end), of in sorted(functions.items(), reverse=True):
        item = text[begin:end]
        name = of[0][1]["function"]["function_name"]
        call, body, head = call_of(item)
        if call is None or name.startswith("<impl") or "fn fmt(" in item or "-> impl " in item:
            left.update(number for number, _ in of)
            continue
        path_of = "Self::" if "::" in name else ""
        arms = "".join(
            f"{number} => return {call(f'{head[1]}_m{number}', path_of)}, " for number, _ in of
        )
        item_at_once = item[:body] + " match crate::mutant() { " + arms + "_ => {} }" + item[body:]
        copies = []
        for number, mutant in of:
            from_, to = (offset(starts, mutant["span"][it]) - begin for it in ("start", "end"))
            copy = item[:from_] + mutant["replacement"] + item[to:]
            copy = re.sub(r"\bfn " + head[1] + r"\b", f"fn {head[1]}_m{number}", copy, count=1)
            copies.append(f"/*m{number}*/ {copy} /*end*/")
        whole = "\n".join([item_at_once, *copies])
        whole = re.sub(r"(?m)\bconst fn ", "fn ", whole)
        text = text[:begin] + whole + text[end:]
    return text


def at_line(text, line):
    """Returns the number of the mutant in whose copy a line is."""
    lines = text.split("\n")
    for i in range(line - 1, -1, -1):
        if found := re.search(r"/\*m(\d+)\*/", lines[i]):
            return int(found[1])
        if "/*end*/" in lines[i] and i < line - 1:
            return None
    return None


def cargo(*arguments):
    command = ["cargo", *arguments, "--offline", "-p", PACKAGE, "--lib", "--message-format=json"]
    run = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True)
    return [json.loads(it) for it in run.stdout.splitlines() if it.startswith("{")], run


def failures(messages, texts):
    """Returns the numbers of the mutants in whose copies the compiler has found errors."""
    bad = set()
    for message in messages:
        told = message.get("message") or {}
        if told.get("level") != "error":
            continue
        for span in told["spans"]:
            text = texts.get(span["file_name"])
            number = span["is_primary"] and text and at_line(text, span["line_start"])
            bad |= {number} if number else set()
    return bad


def build(files):
    """Writes the copies that compile, and returns the tests' binary and what does not compile."""
    left, unviable = set(), set()
    originals = {path: open(os.path.join(FOLDER, path)).read() for path in files}
    lib = os.path.join(FOLDER, os.path.dirname(next(iter(files))).split("/src")[0], "src/lib.rs")
    open(lib, "a").write(SELECTOR)
    while True:
        texts = {}
        for path, mutants in files.items():
            open(os.path.join(FOLDER, path), "w").write(originals[path])
            chosen = [it for it in mutants if it[0] not in unviable | left]
            texts[path] = rewrite(os.path.join(FOLDER, path), chosen, left)
        for path, text in texts.items():
            open(os.path.join(FOLDER, path), "w").write(text)
        for step in ("check", "--tests"), ("test", "--no-run"):
            messages, run = cargo(*step)
            bad = failures(messages, texts)
            print(f"cargo {step[0]}: {len(bad)} copies do not compile", flush=True)
            unviable |= bad
            if bad:
                break
            if run.returncode:
                told = [it["message"]["rendered"] for it in messages if it.get("message")]
                sys.exit("".join(told) + run.stderr)
        else:
            binary = [it["executable"] for it in messages if it.get("executable")]
            return binary[0], left, unviable, lib


def fate(binary, where, number):
    """Runs the tests with a mutant: the quick ones, and where they pass the slow ones."""
    environment = {**os.environ, "MUTANT": str(number), "INSTA_WORKSPACE_ROOT": FOLDER}
    skip = [it for test in SLOW for it in ("--skip", test)]
    for filters, seconds in [(skip, LIMIT_S), (SLOW, SLOW_LIMIT_S)][: 1 + bool(SLOW)]:
        limit = functools.partial(resource.setrlimit, resource.RLIMIT_CPU, (seconds, seconds))
        run = subprocess.run([binary, "-q", *filters], cwd=where, env=environment,
                             capture_output=True, preexec_fn=limit)
        if run.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return "timeout"
        if run.returncode:
            return "caught"
    return "missed"


def main():
    mutants = list(enumerate(json.load(open(LIST)), 1))
    files = defaultdict(list)
    for number, mutant in mutants:
        files[mutant["file"]].append((number, mutant))
    binary, left, unviable, lib = build(files)
    where = os.path.dirname(os.path.dirname(lib))
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    results = defaultdict(int)
    if fate(binary, where, 0) != "missed":
        sys.exit("the tests do not pass without a mutant")
    for number, mutant in mutants:
        kind = ("left" if number in left else "unviable" if number in unviable
                else fate(binary, where, number))
        results[kind] += 1
        with open(os.path.join(OUT, kind + ".txt"), "a") as out:
            out.write(mutant["name"] + "\n")
        if kind == "missed":
            print("MISSED  ", mutant["name"], flush=True)
    print(", ".join(f"{n} {kind}" for kind, n in sorted(results.items())))


main()
