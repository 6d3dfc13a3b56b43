#!/usr/bin/env python3
"""Tests the component on this machine, under sanitizers, against real peers over loopback.

    components/espbench/test/run.py [-v] [NAME …]

A peer that is not installed skips its tests with a message; with CI=true it fails them. The files of tests
run beside each other: most of their time is waiting.
"""

import concurrent.futures
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def run_module(name, patterns, verbosity):
    """Runs one file of tests in this process; returns its status, 2 where no test has such a name."""
    sys.path.insert(0, str(HERE))
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{pattern}*" for pattern in patterns] or None
    suite = loader.loadTestsFromName(name)
    if suite.countTestCases() == 0:
        return 2
    result = unittest.TextTestRunner(verbosity=verbosity).run(suite)
    for test, why in result.skipped:
        print(f"skipped: {test.id()}: {why}", file=sys.stderr)
    return 0 if result.wasSuccessful() else 1


def main():
    """Runs each file of tests as a process of its own; answers 0 where all hold."""
    words = sys.argv[1:]
    verbosity = 2 if "-v" in words else 1
    patterns = [word for word in words if not word.startswith("-")]
    if words[:1] == ["--module"]:
        return run_module(patterns[0], patterns[1:], verbosity)
    modules = sorted(path.stem for path in HERE.glob("test_*.py"))
    flags = ["-v"] if verbosity == 2 else []

    def one(module):
        command = [sys.executable, __file__, "--module", module, *patterns, *flags]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=500)

    with concurrent.futures.ThreadPoolExecutor(len(modules)) as pool:
        results = list(pool.map(one, modules))
    for module, result in zip(modules, results):
        print(f"-- {module}\n{result.stdout}", end="")
    codes = {result.returncode for result in results}
    if codes == {2}:
        print(f"no test has a name like {patterns}")
    return 0 if codes <= {0, 2} and 0 in codes else 1


if __name__ == "__main__":
    sys.exit(main())
