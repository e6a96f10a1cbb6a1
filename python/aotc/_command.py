# SPDX-License-Identifier: Apache-2.0
"""Finds the `aotc` program and runs it."""
from __future__ import annotations

import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any, Iterable, Mapping, NoReturn, Sequence

from . import _errors


@functools.lru_cache(maxsize=None)
def program() -> str:
    """Path of the `aotc` program: $AOTC, else the one of this package, else the first in PATH that is not ours."""
    given = os.environ.get("AOTC")
    if given:
        return given
    own = pathlib.Path(__file__).resolve().parent / "bin" / "aotc"
    if own.is_file():
        return str(own)
    script = pathlib.Path(sys.argv[0]).resolve() if sys.argv and sys.argv[0] else None
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        found = shutil.which("aotc", path=folder) if folder else None
        if found and pathlib.Path(found).resolve() != script:
            return found
    raise _errors.ToolMissingError("the program 'aotc' is not in this package and not in PATH: set AOTC to its path")


def run(*arguments: str | os.PathLike[str], cwd: str | os.PathLike[str] | None = None) -> str:
    """Runs `aotc ARGUMENTS...` and returns its standard output. Raises the exception of its exit code."""
    done = subprocess.run([program(), *(os.fspath(a) for a in arguments)], capture_output=True, text=True, cwd=cwd,
                          errors="replace")
    if done.returncode != 0:
        raise _errors.of_exit_code(done.returncode, done.stderr or done.stdout)
    return done.stdout


def run_json(*arguments: str | os.PathLike[str]) -> Any:
    """Runs `aotc ARGUMENTS... --json` and returns the parsed output."""
    return json.loads(run(*arguments, "--json", "--quiet"))


def version() -> str:
    """The version of the program, such as "0.1.0"."""
    return run("--version").split()[-1]


def flags(options: Mapping[str, Any]) -> list[str]:
    """Converts options to arguments: `input="preserve"` is `--input preserve`, True is the flag alone, a list
    repeats the option, a mapping repeats it with NAME=VALUE, None and False omit it."""
    out: list[str] = []
    for name, value in options.items():
        flag = "--" + name.strip("_").replace("_", "-")
        if isinstance(value, Mapping):
            value = [f"{key}={_text(of)}" for key, of in value.items()]
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is None or one is False:
                continue
            out += [flag] if one is True else [flag, _text(one)]
    return out


# Options of compiling and creating whose value is a file or folder of this machine.
_FILES = ("devices", "labels", "operator-include", "operators", "params", "samples", "schedules", "templates")


def without_files(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are set. All must be plain data, because the content of a file is neither part of a point's
    key nor on other machines. OptionError names the first option that is a file."""
    out = {name: value for name, value in options.items() if value is not None}
    for name, value in out.items():
        flag = name.strip("_").replace("_", "-")
        values = [*value.values()] if isinstance(value, Mapping) else [*value] if isinstance(value, (list, tuple)) else [value]
        if flag in _FILES or any(isinstance(v, os.PathLike) or flag == "state" and "@" in str(v) for v in values):
            raise _errors.OptionError(f"--{flag}: not allowed here, because workers do not receive the file of this option: omit "
                                      "the option")
    return out


def words(given: Any, option: str, known: Sequence[str] = ()) -> list[str]:
    """The words of a list without repeats; OptionError if it is no list, is empty, or has a word outside of
    `known`."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise _errors.OptionError(f"{option}: {given!r} is not a list: write [{given!r}]")
    out = list(dict.fromkeys(given))
    if not out:
        raise _errors.OptionError(f"{option}: the list is empty")
    for word in out:
        if not isinstance(word, str) or not word or known and word not in known:
            raise _errors.OptionError(f"{option}: '{word}' is unknown" + (f": choose from {', '.join(known)}" if known else ""))
    return out


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(str(v) for v in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def main() -> NoReturn:
    """The command `aotc` of the package: replaces this process by the program."""
    try:
        path = program()
        # What `aotc tune` starts.
        os.environ.setdefault("AOTC_PYTHON", sys.executable)
        os.execv(path, [path, *sys.argv[1:]])
    except (_errors.Error, OSError) as error:
        sys.exit(f"aotc: error: {error}")
