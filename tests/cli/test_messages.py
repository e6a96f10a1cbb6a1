# SPDX-License-Identifier: Apache-2.0
"""Messages as a whole: what is wrong, where it is, and what to do about it.

Each case is a command, its exit code and all of standard error.
"""
import os
import re
import shutil
import subprocess

import common
import pytest
from tflite_builder import ModelBuilder

DIGITS = common.ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
TAKES = "  help: 'aotc check --help' shows how to use it\n"


def softmax(beta):
    m = ModelBuilder()
    x = m.tensor("x", "int8", (1, 4), 0.5, 3)
    y = m.tensor("y", "int8", (1, 4), 1 / 256, -128)
    m.op("SOFTMAX", [x], [y], beta=beta)
    return m.finish([x], [y])


# Arguments, exit code, standard error.
CASES = [
    (["create", "digits_int8.tflite", "--board", "generic", "--project", "bare_metal"], 1,
     "template bare_metal: error: board 'generic' is not a real board, but a project of this kind needs one "
     "[template-board]\n"
     "  help: pass the board of the firmware ('aotc boards' lists the boards), or write C for any board with 'aotc compile'\n"),
    (["create", "digits_int8.tflite", "--board", "esp32", "--project", "bare_metal"], 1,
     "template bare_metal: error: a project of this kind does not support board 'esp32' [template-board]\n"
     "  help: 'aotc templates list' names the kinds of projects, for --project\n"),
    (["check", "digits_int8.tflite", "-O", "fast"], 2,
     "aotc check: error: --optimize: fast is not one of speed, balanced, size [usage]\n"
     "  help: write --optimize speed|balanced|size\n" + TAKES),
    (["check", "digits_int8.tflite", "--stream", "rows"], 2,
     "aotc check: error: --stream: rows is not one of off, auto, max, time [usage]\n"
     "  help: write --stream off|auto|max|time\n" + TAKES),
    (["check", "digits_int8.tflite", "--cpu"], 2,
     "aotc check: error: option '--cpu' needs a value [usage]\n  help: write --cpu NAME\n" + TAKES),
    (["check", "digits_int8.tflite", "-O"], 2,
     "aotc check: error: option '--optimize' needs a value [usage]\n  help: write --optimize speed|balanced|size\n" + TAKES),
    (["check", "nothere.tflite"], 1,
     "nothere.tflite: error: cannot read file: no such file [file-read]\n"
     "  help: the .tflite files in '.' are 'beta.tflite', 'digits_int8.tflite'\n"),
    (["check", "digit_int8.tflite"], 1,
     "digit_int8.tflite: error: cannot read file: no such file [file-read]\n  help: similar names: 'digits_int8.tflite'\n"),
    (["check", "nofolder/a.tflite"], 1,
     "nofolder/a.tflite: error: cannot read file: no such file [file-read]\n  help: there is no directory 'nofolder'\n"),
    (["check", "a.onnx"], 1,
     "a.onnx: error: cannot read file: no such file [file-read]\n  help: there is no .onnx file in '.'\n"),
    (["check", "beta.tflite"], 1,
     "beta.tflite: op 0 SOFTMAX 'y': error: beta is -1; it must be a positive number [op-attribute]\n"
     "  help: export the model with another value of this attribute; 'aotc ops' lists the operators\n"),
    *[(["create", "digits_int8.tflite", "--board", "host", "-o", name], 2,
       f"{shown}: error: a project cannot be built in a path with {what}: WORK/{shown} [project-directory]\n"
       "  help: choose a directory whose whole path has no control characters and none of \" \\ ; | $\n")
      for name, shown, what in (('a"b', 'a"b', 'the character "'), ("a;b", "a;b", "the character ;"),
                                ("a\\b", "a\\x5cb", "the character \\"), ("a\nb", "a\\x0ab", "a line break"),
                                ("a|b", "a|b", "the character |"), ("a$b", "a$b", "the character $"),
                                ("a\tb", "a\\x09b", "a control character"))],
]


@pytest.fixture
def work(tmp_path):
    shutil.copy(DIGITS, tmp_path / "digits_int8.tflite")
    (tmp_path / "beta.tflite").write_bytes(softmax(-1.0))
    return tmp_path


def run(work, *arguments):
    done = subprocess.run([common.AOTC, *arguments], cwd=work, capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, timeout=120, env={**os.environ, "NO_COLOR": "1"})
    return done.returncode, re.sub(r"(?<= )/\S*(?=/a\S*b \[project-directory\])", "WORK", done.stderr)


@pytest.mark.parametrize("arguments, code, text", CASES, ids=[" ".join(case[0]) for case in CASES])
def test_message(arguments, code, text, work):
    assert run(work, *arguments) == (code, text)
    assert {p.name for p in work.iterdir()} == {"digits_int8.tflite", "beta.tflite"}


@pytest.fixture
def app(work):
    run(work, "create", "digits_int8.tflite", "--board", "host", "-o", "app", "--quiet")
    return work / "app"


def test_project_that_was_moved_is_not_built(app, work):
    app.rename(work / "a;b")
    code, said = run(work, "build", "a;b", "--quiet")
    assert (code, "[project-directory]" in said, (work / "a;b" / "build").exists()) == (2, True, False), said


def test_files_dated_in_the_future_are_built(app, work, record_property):
    for what in ("new", "again"):  # the second time over a build of the future
        for file in (app, *app.rglob("*")):
            os.utime(file, (4_000_000_000, 4_000_000_000), follow_symlinks=False)
        code, said = run(work, "build", "app", "--quiet")
        assert code == 0, f"{what}: {said}"
    record_property("cases", 2)
