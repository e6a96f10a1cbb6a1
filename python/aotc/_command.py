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
from typing import Any, Mapping, NoReturn

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
    """Runs `aotc ARGUMENTS...`; returns its standard output. Raises what belongs to its exit code."""
    done = subprocess.run([program(), *(os.fspath(a) for a in arguments)], capture_output=True, text=True, cwd=cwd,
                          errors="replace")
    if done.returncode != 0:
        raise _errors.of_exit_code(done.returncode, done.stderr or done.stdout)
    return done.stdout


def run_json(*arguments: str | os.PathLike[str]) -> Any:
    """Runs `aotc ARGUMENTS... --json`; returns what it printed."""
    return json.loads(run(*arguments, "--json", "--quiet"))


def version() -> str:
    """The version of the program, such as "0.1.0"."""
    return run("--version").split()[-1]


def flags(options: Mapping[str, Any]) -> list[str]:
    """Options of the command as arguments: `input="preserve"` is `--input preserve`, True is the flag alone, a list
    repeats the option, a mapping repeats it with NAME=VALUE, None and False leave it out."""
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


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(str(v) for v in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def main() -> NoReturn:
    """The command `aotc` of the package: becomes the program."""
    try:
        path = program()
        # What `aotc tune` starts.
        os.environ.setdefault("AOTC_PYTHON", sys.executable)
        os.execv(path, [path, *sys.argv[1:]])
    except (_errors.Error, OSError) as error:
        sys.exit(f"aotc: error: {error}")
