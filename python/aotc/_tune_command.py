# SPDX-License-Identifier: Apache-2.0
"""`python3 -m aotc.tune`, which `aotc tune` starts; the options are declared there (compiler/driver/cmd_tune.cpp)."""
from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import Any, Sequence

from . import _command, _errors, _store, executors, tune

_CODES = ((_errors.OptionError, 2), (_errors.DoesNotFitError, 3), (_errors.VerificationError, 4), (_errors.ToolMissingError, 5),
          (executors.Unavailable, 5), (_errors.DeviceError, 6), (tune.Disagreement, 6), (_errors.ModelError, 1))


def words(text: str, option: str, known: Sequence[str]) -> list[str]:
    return _command.words([w.strip() for w in text.split(",")], option, known)


def size(text: str | None, option: str) -> int | None:
    """Bytes: "65536", "64K", "1M"."""
    if text is None:
        return None
    factor = {"K": 1 << 10, "M": 1 << 20}.get(text[-1:].upper(), 1)
    digits = text[:-1] if factor > 1 else text
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 12:
        raise _errors.OptionError(f"{option} {text}: write a number of bytes, such as 65536, 64K or 1M")
    return int(digits) * factor


def common_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=int, metavar="N")
    parser.add_argument("--dask", metavar="ADDRESS")
    parser.add_argument("--cache", metavar="DIRECTORY")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("-q", "--quiet", action="store_true")


def executor_of(given: argparse.Namespace) -> Any:
    if given.dask:
        return executors.dask(given.dask)
    if given.jobs is not None and not 0 < given.jobs <= 1024:
        raise _errors.OptionError(f"--jobs {given.jobs}: must be 1 to 1024")
    return lambda: executors.processes(given.jobs)


def progress_of(given: argparse.Namespace) -> Any:
    return None if given.quiet or given.json else lambda text: print(text, file=sys.stderr, flush=True)


def ended(error: _errors.Error | OSError) -> int:
    print(f"aotc: {'' if 'error: ' in str(error) else 'error: '}{error}", file=sys.stderr)
    return next((code for kind, code in _CODES if isinstance(error, kind)), 1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="aotc tune", description="Search for the schedules and options that are best on a board.")
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--board", required=True, metavar="NAME")
    parser.add_argument("--objective", default="instructions", metavar="WHAT")
    parser.add_argument("--levels", default=",".join(tune.LEVELS), metavar="LIST")
    parser.add_argument("--stream", default="off", metavar="LIST")
    parser.add_argument("--prefer", default="cycles", metavar="LIST")
    parser.add_argument("--ram", metavar="BYTES")
    parser.add_argument("--flash", metavar="BYTES")
    parser.add_argument("--alternatives", type=int, default=12, metavar="N")
    parser.add_argument("--programs", type=int, default=10, metavar="N")
    parser.add_argument("-o", "--output", metavar="FILE")
    common_arguments(parser)
    return parser


def _run(given: argparse.Namespace) -> int:
    output = pathlib.Path(given.output or pathlib.Path(given.model).stem + ".schedules.json")
    if output.exists() and pathlib.Path(given.model).exists() and output.samefile(given.model):
        raise _errors.OptionError(f"--output {output}: this file is the model")
    if output.is_dir() or not output.parent.is_dir():
        raise _errors.OptionError(f"--output {output}: this is a directory, or its directory does not exist")
    best = tune.search(given.model, board=given.board, objective=given.objective,
                       levels=words(given.levels, "--levels", tune.LEVELS),
                       stream=words(given.stream, "--stream", tune.STREAMS),
                       prefer=words(given.prefer, "--prefer", tune.PREFERS), ram=size(given.ram, "--ram"),
                       flash=size(given.flash, "--flash"), alternatives=given.alternatives, programs=given.programs,
                       seed=given.seed, executor=executor_of(given), cache=given.cache, progress=progress_of(given))
    best.write(output)
    if given.json:
        print(json.dumps({**best.document()["tuned"], "gain": best.gain, "output": str(output),
                          "command": best.command(str(output)), "measured": best.counts.measured,
                          "cached": best.counts.cached, "poisoned": best.counts.poisoned}, indent=1))
        return 0
    print(best)
    print(f"points: {best.counts.measured} measured, {best.counts.cached} from the cache, {best.counts.repeated} run twice, "
          f"{len(best.counts.poisoned)} poisoned")
    print(f"wrote {output}; next: {best.command(str(output))}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        return _run(given)
    except (_errors.Error, OSError) as error:
        return ended(error)
    except KeyboardInterrupt:
        print("aotc: interrupted; measured results are stored: run the same command to continue", file=sys.stderr)
        return 130
