# SPDX-License-Identifier: Apache-2.0
"""Every program of scripts/ and tests/: --help prints help, an option that it does not have is refused
(exit code 2), and neither does anything: no file is written, no program started, no network asked.

Python programs run in a process forked from this one, which has imported what takes long, and a hook of
the interpreter watches them; shell scripts find nothing in PATH but what prints their help.
"""
import os
import pathlib
import re
import runpy
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = str(ROOT / "tests")
OPTION = "--no-such-option"
# Of these, TensorFlow's part is started by a script of scripts/, which knows the options.
LEFT_OUT = ("tests/models/generate/", "tests/lit/")
IMPORTED = ("numpy", "flatbuffers", "ai_edge_litert.interpreter", "json", "subprocess", "unittest", "xml.dom",
            "multiprocessing", "concurrent.futures", "http.server", "socket")
# What a program may not do, as the interpreter names it (https://docs.python.org/3/library/audit_events.html).
DOING = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.mkdir", "os.remove", "os.rmdir",
         "os.rename", "os.link", "os.symlink", "os.truncate", "shutil.rmtree", "shutil.copyfile", "shutil.move",
         "tempfile.mkdtemp", "tempfile.mkstemp", "socket.connect", "socket.bind", "socket.getaddrinfo"}
COMMANDS = ("sed", "dirname")  # of shell scripts


def programs():
    """(path, whether it is a shell script) of each."""
    for path in sorted([*(ROOT / "scripts").iterdir(), *(ROOT / "tests").rglob("*.py"), ROOT / "tests/golden/update"]):
        name = path.relative_to(ROOT).as_posix()
        if not path.is_file() or name.startswith(LEFT_OUT) or "__pycache__" in name:
            continue
        text = path.read_text()
        if text.startswith("#!") or re.search("^if __name__ == ", text, re.M):
            yield name, text.split("\n", 1)[0].endswith(("/bash", "bash", "sh"))


def watch(event, arguments):
    if event in DOING:
        found = f"{event} {arguments[0]!r}"
    elif event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        found = f"writes {arguments[0]!r}"
    else:
        return
    os.write(2, f"DOES SOMETHING: {found}\n".encode())
    os._exit(99)


def run_python(path, option, output):
    """In a child of this process; ends it."""
    for number in (1, 2):
        os.dup2(output[number - 1].fileno(), number)
    # As in a process of its own: without pytest's streams, and without what it found in tests/.
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    sys.argv, sys.path = [str(path), option], [str(path.parent), *(p for p in sys.path if not p.startswith(TESTS))]
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(TESTS):
            del sys.modules[name]
    sys.dont_write_bytecode = True
    sys.addaudithook(watch)
    code = 0
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as end:
        code = end.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
            code = 1
    except BaseException as error:  # what a program lets through is its failure
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        code = 98
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


def run(path, is_shell, option, folder):
    """(exit code, standard output, standard error)"""
    with open(folder / "out", "w+b") as out, open(folder / "err", "w+b") as err:
        if is_shell:
            environment = {"PATH": str(folder / "bin"), "AOTC_TENSORFLOW_VENV": str(folder / "none")}
            code = subprocess.run(["/bin/bash", path, option], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                  cwd=folder / "here", env=environment, timeout=600).returncode
        else:
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                os.chdir(folder / "here")
                run_python(path, option, (out, err))
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return code, *texts


def faults(name, is_shell, folder):
    """What is wrong with a program: texts."""
    path = ROOT / name
    code, out, err = run(path, is_shell, "--help", folder)
    if code != 0:
        yield f"--help ends with {code}: {err[-300:].strip()}"
    elif len(out.split()) < 5 or "SPDX-" in out or err:
        yield f"--help prints '{out[:100].strip()}', and as an error '{err[-300:].strip()}'"
    code, out, err = run(path, is_shell, OPTION, folder)
    if code != 2:
        yield f"{OPTION} ends with {code}, not 2: {(err or out)[-300:].strip()}"
    elif not err:
        yield f"{OPTION} is refused without a word"
    for file in (folder / "here").iterdir():
        yield f"wrote {file.name}"
        file.rename(folder / f"was_{os.urandom(4).hex()}")


@pytest.fixture(scope="module", autouse=True)
def imported():
    """What takes long to import, before programs are forked."""
    for module in IMPORTED:
        __import__(module)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "here").mkdir()
    for command in COMMANDS:
        found = next(p for p in map(pathlib.Path, ("/bin", "/usr/bin")) if (p / command).exists())
        (tmp_path / "bin" / command).symlink_to(found / command)
    return tmp_path


@pytest.mark.parametrize("name, is_shell", [pytest.param(*program, id=program[0]) for program in programs()])
def test_program(name, is_shell, folder):
    assert list(faults(name, is_shell, folder)) == []
