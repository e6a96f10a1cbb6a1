#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Messages as a whole: what is wrong, where it is, and what to do about it.

Usage: messages.py --aotc PROGRAM --work DIR

Each case is a command, its exit code and all of standard error. Ends with 'N passed, N failed'.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "oracle")]
from tflite_builder import ModelBuilder  # noqa: E402

DIGITS = ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
TAKES = "  help: 'aotc check --help' shows what it takes\n"


def softmax(beta):
    m = ModelBuilder()
    x = m.tensor("x", "int8", (1, 4), 0.5, 3)
    y = m.tensor("y", "int8", (1, 4), 1 / 256, -128)
    m.op("SOFTMAX", [x], [y], beta=beta)
    return m.finish([x], [y])


def files(work):
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    shutil.copy(DIGITS, work / "digits_int8.tflite")
    (work / "beta.tflite").write_bytes(softmax(-1.0))


# Arguments, exit code, standard error.
CASES = [
    (["create", "digits_int8.tflite", "--board", "generic", "--project", "bare_metal"], 1,
     "template bare_metal: error: board 'generic' names no hardware, and a project of this kind is made for one "
     "[template-board]\n"
     "  help: pass the board that the firmware is for: 'aotc boards' lists them; 'aotc compile' writes C for any\n"),
    (["create", "digits_int8.tflite", "--board", "esp32", "--project", "bare_metal"], 1,
     "template bare_metal: error: a project of this kind cannot be made for board 'esp32' [template-board]\n"
     "  help: 'aotc templates list' names the kinds of projects, for --project\n"),
    (["check", "digits_int8.tflite", "-O", "fast"], 2,
     "aotc check: error: --optimize: fast is none of speed, balanced, size [usage]\n"
     "  help: write --optimize speed|balanced|size\n" + TAKES),
    (["check", "digits_int8.tflite", "--stream", "rows"], 2,
     "aotc check: error: --stream: rows is none of off, auto, max, time [usage]\n"
     "  help: write --stream off|auto|max|time\n" + TAKES),
    (["check", "digits_int8.tflite", "--cpu"], 2,
     "aotc check: error: option '--cpu' needs a value [usage]\n  help: write --cpu NAME\n" + TAKES),
    (["check", "digits_int8.tflite", "-O"], 2,
     "aotc check: error: option '--optimize' needs a value [usage]\n  help: write --optimize speed|balanced|size\n" + TAKES),
    (["check", "nothere.tflite"], 1,
     "nothere.tflite: error: cannot read file: no such file [file-read]\n"
     "  help: the .tflite files in '.' are 'beta.tflite', 'digits_int8.tflite'\n"),
    (["check", "digit_int8.tflite"], 1,
     "digit_int8.tflite: error: cannot read file: no such file [file-read]\n  help: there is 'digits_int8.tflite'\n"),
    (["check", "nofolder/a.tflite"], 1,
     "nofolder/a.tflite: error: cannot read file: no such file [file-read]\n  help: there is no directory 'nofolder'\n"),
    (["check", "a.onnx"], 1,
     "a.onnx: error: cannot read file: no such file [file-read]\n  help: there is no .onnx file in '.'\n"),
    (["check", "beta.tflite"], 1,
     "beta.tflite: op 0 SOFTMAX 'y': error: beta is -1; it must be a positive number [op-attribute]\n"
     "  help: export the model with another value of this attribute; 'aotc ops' lists the operators\n"),
    *[(["create", "digits_int8.tflite", "--board", "host", "-o", name], 2,
       f"{shown}: error: a project cannot be built where the path has {what}: WORK/{shown} [project-directory]\n"
       "  help: choose a directory whose whole path has no control characters and none of \" \\ ; | $\n")
      for name, shown, what in (('a"b', 'a"b', 'the character "'), ("a;b", "a;b", "the character ;"),
                                ("a\\b", "a\\x5cb", "the character \\"), ("a\nb", "a\\x0ab", "a line break"),
                                ("a|b", "a|b", "the character |"), ("a$b", "a$b", "the character $"),
                                ("a\tb", "a\\x09b", "a control character"))],
]


def run(aotc, work, arguments):
    done = subprocess.run([aotc, *arguments], cwd=work, capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, timeout=120, env={**os.environ, "NO_COLOR": "1"})
    return done.returncode, re.sub(r"(?<= )/\S*(?=/a\S*b \[project-directory\])", "WORK", done.stderr)


def built_elsewhere(aotc, work):
    """A project that was moved to such a place is not built there, and one whose files are dated in the future is."""
    problems = []
    run(aotc, work, ["create", "digits_int8.tflite", "--board", "host", "-o", "app", "--quiet"])
    build = work / "a;b" / "build"
    shutil.rmtree(work / "a;b", ignore_errors=True)
    (work / "app").rename(work / "a;b")
    code, said = run(aotc, work, ["build", "a;b", "--quiet"])
    if code != 2 or "[project-directory]" not in said or build.exists():
        problems.append(f"a build in a;b: {code} {said}")
    (work / "a;b").rename(work / "app")
    for file in [work / "app", *(work / "app").rglob("*")]:
        os.utime(file, (4_000_000_000, 4_000_000_000))
    for what in ("new", "again"):  # the second time over a build of the future
        code, said = run(aotc, work, ["build", "app", "--quiet"])
        if code != 0:
            problems.append(f"files dated in the future, {what}: {code} {said}")
        for file in (work / "app").rglob("*"):
            os.utime(file, (4_000_000_000, 4_000_000_000), follow_symlinks=False)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aotc", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    aotc, work = options.aotc.resolve(), options.work.resolve()
    files(work)
    problems = []
    for arguments, code, text in CASES:
        found = run(aotc, work, arguments)
        if found != (code, text):
            problems.append(f"{arguments}: exit code {found[0]}\n  have: {found[1]!r}\n  want: {text!r}")
        if {p.name for p in work.iterdir()} != {"digits_int8.tflite", "beta.tflite"}:
            problems.append(f"{arguments} left {sorted(p.name for p in work.iterdir())}")
    problems += built_elsewhere(aotc, work)
    for problem in problems:
        print(f"FAILED {problem}")
    print(f"{max(len(CASES) + 3 - len(problems), 0)} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
