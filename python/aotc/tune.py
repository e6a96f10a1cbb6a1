# SPDX-License-Identifier: Apache-2.0
"""Searches for the schedules and options with which a model is best on a board.

>>> import aotc.tune
>>> best = aotc.tune.search("kws.tflite", board="qemu_mps2_an386")
>>> best.write("kws.schedules.json")      # for aotc compile --schedules
>>> best.options, best.figures, best.default

Every figure is of a program that was compiled, built, emulated and verified layer by layer.
"""
from __future__ import annotations

import dataclasses
import itertools
import json
import numbers
import os
import pathlib
import shlex
import sys
from typing import Any, Callable, Iterable, Mapping, Sequence

from . import _command, _engine, _errors, _layers, _points, _search, _store, executors
from ._engine import Counts, Disagreement

__all__ = ["Counts", "Disagreement", "Tuned", "search"]

FIGURES = ("instructions", "cycles", "ram", "flash")
LEVELS = ("balanced", "speed", "size")
STREAMS = ("off", "auto", "max")
PREFERS = ("cycles", "ram", "flash")


@dataclasses.dataclass
class Tuned:
    """The result of a search. Figures: "instructions" of a run, "ram" and "flash" of the model in bytes, "arena",
    "constants", "code", "stack"."""

    model: str  #: the file
    board: str
    objective: dict[str, float]
    options: dict[str, Any]  #: of aotc compile, beside --schedules
    calls: list[dict[str, Any]]  #: of the schedules file
    figures: dict[str, int]
    default: dict[str, int]  #: those of the program without any of it
    front: list[dict[str, Any]]  #: programs that no other beats in instructions, RAM and flash
    key: str  #: of the point
    c: str  #: SHA-256 of the emitted C
    counts: Counts  #: what it took

    @property
    def gain(self) -> float:
        """The relative reduction of the objective compared with the default: 0.02 is 2 %; negative only if the
        default exceeds `ram` or `flash`."""
        return 1.0 - _score(self.objective, self.figures, self.default)

    def command(self, schedules: str = "FILE") -> str:
        """The command that compiles with these options."""
        parts = ["aotc", "compile", self.model, "--board", self.board, *_command.flags(self.options), "--schedules", schedules]
        return " ".join(shlex.quote(p) for p in parts)

    def document(self) -> dict[str, Any]:
        """The content that `write` writes: the same for the same model, options and versions on every machine."""
        return {"tuned": {"model": os.path.basename(self.model), "board": self.board, "objective": self.objective,
                          "options": self.options, "figures": self.figures, "default": self.default, "key": self.key,
                          "c": self.c, "front": self.front},
                "calls": self.calls}

    def write(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Writes the file for --schedules, all or nothing."""
        _store.write_whole(pathlib.Path(path), (json.dumps(self.document(), indent=1) + "\n").encode())
        return pathlib.Path(path)

    def __str__(self) -> str:
        lines = [f"{'':14}{'default':>14}{'tuned':>14}{'change':>10}"]
        for name in ("instructions", "ram", "flash"):
            old, new = self.default[name], self.figures[name]
            lines.append(f"{name:14}{old:>14,}{new:>14,}{100.0 * (new - old) / max(old, 1):>+9.2f}%")
        return "\n".join(lines)


def _score(objective: Mapping[str, float], figures: Mapping[str, int], default: Mapping[str, int]) -> float:
    """1 for the default; smaller is better."""
    return sum(w * figures[name] / max(default[name], 1) for name, w in objective.items()) / sum(objective.values())


def objective_of(given: str | Mapping[str, float]) -> dict[str, float]:
    """"instructions", "instructions=1,flash=0.5" or a mapping, checked."""
    if isinstance(given, str):
        parts = [part.partition("=") for part in given.split(",")]
        try:
            given = {name.strip(): float(weight) if equals else 1.0 for name, equals, weight in parts}
        except ValueError:
            raise _errors.OptionError(f"--objective {given}: a weight is not a number: write, for example, "
                                      "instructions=1,flash=0.5") from None
    if not isinstance(given, Mapping):
        raise _errors.OptionError(f"--objective: {given!r} is neither a string nor a mapping of weights")
    for name, weight in given.items():
        if name not in FIGURES:
            raise _errors.OptionError(f"--objective: the figure '{name}' is unknown: choose from {', '.join(FIGURES)}")
        if not isinstance(weight, numbers.Real) or not 0 < weight < 1e9:
            raise _errors.OptionError(f"--objective {name}={weight}: a weight must be a number above 0")
    if not given:
        raise _errors.OptionError(f"--objective: name one of {', '.join(FIGURES)}")
    return {name: float(weight) for name, weight in given.items()}


def search(model: str | os.PathLike[str], *, board: str, objective: str | Mapping[str, float] = "instructions",
           levels: Sequence[str] = LEVELS, stream: Sequence[str] = ("off",), prefer: Sequence[str] = ("cycles",),
           ram: int | None = None, flash: int | None = None, alternatives: int = 12, programs: int = 10, seed: int = 1,
           executor: Any = None, jobs: int | None = None, cache: str | os.PathLike[str] | None = None, repeat: float = 0.05,
           progress: Callable[[str], None] | None = None, **options: Any) -> Tuned:
    """Searches, and returns what is best; never worse than the default in the objective, unless a limit is below it.

    `ram`, `flash`: bytes that may be taken; by default those of the default program. `alternatives`: schedules to
    measure of each operator; `programs`: whole programs to verify in the end. `executor`: a concurrent.futures.Executor,
    a function that makes one, or `aotc.executors.dask(client)`; by default a pool of `jobs` processes. `cache`: the folder
    of results, by default $XDG_CACHE_HOME/aotc/tune. `repeat`: the part of the points that run on two workers. `options`
    are those of `aotc.compile` that name no file.

    Raises Disagreement where two workers differ, DoesNotFitError where nothing that was run is within `ram` and `flash`,
    DeviceError where the winner could not be run once more on this machine, OptionError, and what `aotc` reports of the
    model."""
    settings = list(itertools.product(_command.words(levels, "--levels", LEVELS), _command.words(stream, "--stream", STREAMS),
                                      _command.words(prefer, "--prefer", PREFERS)))
    for name, number in (("ram", ram), ("flash", flash), ("alternatives", alternatives), ("programs", programs)):
        if number is not None and (not isinstance(number, numbers.Integral) or number < 0):
            raise _errors.OptionError(f"--{name}: {number!r} is not a number of 0 or more")
    if board == "host":
        raise _errors.OptionError("--board host: aotc counts nothing on this machine: choose a board with an emulator ('aotc "
                                  "boards "
                                  "--emulated')")
    path = pathlib.Path(model)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _errors.ModelError(f"{path}: error: cannot read the model: {error.strerror} [file-read]\n  help: check the path") from None
    run = _Run(path, data, board, objective_of(objective), options, seed)
    run.limits = {"ram": ram, "flash": flash}
    made = executor if executor is not None else (lambda: executors.processes(jobs))
    run.engine = _engine.Engine(made, _store.Store(cache), {_points.sha256(data): data}, repeat=repeat, report=progress)
    try:
        return run.all(settings, alternatives, programs)
    finally:
        run.engine.close()


class _Run:
    engine: _engine.Engine

    def __init__(self, path: pathlib.Path, data: bytes, board: str, objective: dict[str, float], options: Mapping[str, Any],
                 seed: int):
        self.path, self.data, self.board, self.objective = path, data, board, objective
        self.given, self.seed = _command.without_files(options), seed
        self.versions = _points.versions(board)
        self.limits: dict[str, int | None] = {}
        self.default: dict[str, Any] = {}
        self.known: list[tuple[_points.Point, dict[str, Any]]] = []  # verified whole programs

    def point(self, options: Mapping[str, Any], calls: Iterable[Mapping[str, Any]] = ()) -> _points.Point:
        out = _points.point(self.data, self.path.name, self.board, self.versions, options={**self.given, **options},
                            calls=sorted(calls, key=lambda c: c["op_index"]), seed=self.seed)
        return {**out, "cycles": True} if "cycles" in self.objective else out

    def measured(self, points: Sequence[_points.Point]) -> dict[str, dict[str, Any]]:
        """Values by key. What is verified may win. Programs that layers are measured in are not asked for here: which
        these are depends on which layers are known already."""
        values = self.engine.values(points)
        have = {_points.key_of(p) for p, _ in self.known}
        for p in points:
            key = _points.key_of(p)
            if values[key]["state"] == "verified" and key not in have:
                have.add(key)
                self.known.append((p, values[key]))
        return values

    def all(self, settings: Sequence[tuple[str, str, str]], alternatives: int, programs: int) -> Tuned:
        first = self.point({})
        value = self.measured([first])[_points.key_of(first)]
        if value["state"] != "verified":
            kind = {"does not fit": _errors.DoesNotFitError, "differs": _errors.VerificationError, "error": _errors.ModelError}
            raise kind.get(value["state"], _errors.DeviceError)(_points.renamed(value["message"], self.path.name))
        self.default = value
        if "cycles" in self.objective and "cycles" not in value:
            raise _errors.OptionError("--objective cycles: 'aotc report --json' states no estimated cycles for this board: "
                                      "choose instructions")
        limits = {name: value[name] if given is None else given for name, given in self.limits.items()}
        starts = [(s, self.point(_options(*s))) for s in settings]
        values = self.measured([p for _, p in starts])
        searched = []
        seen: set[str] = set()  # settings that make no difference are searched once
        for setting, start in starts:
            base = values[_points.key_of(start)]
            if setting[1] == "off" and base["state"] == "verified" and alternatives > 0 and base["c"] not in seen:
                seen.add(base["c"])
                searched.append(_layers.Layers(self, _options(*setting), base, alternatives))
        for layers in searched:
            layers.measure()
        self.verify_best(searched, limits, programs)
        return self.winner(limits)

    def verify_best(self, searched: Sequence[_layers.Layers], limits: Mapping[str, int], programs: int) -> None:
        """The best combinations of all settings as whole programs: half of them by what the layers say, the others by that
        corrected by what the first half turned out to take."""
        tried: set[str] = {_points.key_of(p) for p, _ in self.known}
        corrections = {id(layers): 0 for layers in searched}
        for count in (programs - programs // 2, programs // 2):
            found = []
            for layers in searched:
                for cost, flash, calls in layers.best(self.objective, self.default, limits, corrections[id(layers)], programs):
                    found.append((cost, flash, layers, self.point(layers.options, calls)))
            new = []
            for cost, flash, layers, p in sorted(found, key=lambda f: (f[0], f[1], _points.canonical(f[3]))):
                if _points.key_of(p) not in tried and len(new) < count:
                    tried.add(_points.key_of(p))
                    new.append((flash, layers, p))
            values = self.measured([p for _, _, p in new])
            for flash, layers, p in new:
                value = values[_points.key_of(p)]
                if value["state"] == "verified":
                    corrections[id(layers)] = max(corrections[id(layers)], value["flash"] - flash)

    def winner(self, limits: Mapping[str, int]) -> Tuned:
        def fits(value: Mapping[str, Any]) -> bool:
            return all(value[name] <= most for name, most in limits.items())

        def order(row: tuple[_points.Point, dict[str, Any]]) -> tuple[Any, ...]:
            point, value = row
            return (_score(self.objective, value, self.default), value["flash"], value["ram"], len(point["calls"]) + len(point["options"]),
                    _points.canonical(point))

        fitting = [row for row in self.known if fits(row[1])]
        if not fitting:
            raise self.does_not_fit(limits)
        point, value = min(fitting, key=order)
        front = _search.undominated([*self.known], [(v["instructions"], v["ram"], v["flash"]) for _, v in self.known])
        self.engine.confirm([self.known[0][0], point, *([p for p, _ in front] if len(self.objective) > 1 else [])])
        # What is written was seen to be so here.
        own = _points.measure(point, self.data) if not _points.lacking(_points.requirements(self.board)) else None
        if own is not None and not _points.is_fact(own):
            raise _errors.DeviceError("this machine could not repeat the run of the best program: "
                                      f"{own['value'].get('message', '')}; finished results are stored: run the same command to "
                                      "continue")
        if own is not None and own["value"] != value:
            stored = self.engine.store.result(point) or {}
            self.engine.store.quarantine(_points.key_of(point), stored, own)
            raise Disagreement("the workers' result of the best program differs from its result on this machine", stored, own)
        rows = [{"options": p["options"], "calls": len(p["calls"]), **_figures(v)} for p, v in sorted(front, key=order)]
        return Tuned(str(self.path), self.board, self.objective, point["options"], point["calls"], _figures(value),
                     _figures(self.default), rows, _points.key_of(point), value["c"], self.engine.counts)

    def does_not_fit(self, limits: Mapping[str, int]) -> _errors.DoesNotFitError:
        def above(value: Mapping[str, Any]) -> tuple[float, ...]:
            return sum(max(value[name] - most, 0) / max(most, 1) for name, most in limits.items()), value["flash"], value["ram"]

        nearest = min((value for _, value in self.known), key=above)
        wanted = " and ".join(f"{most:,} bytes of {name}" for name, most in limits.items())
        return _errors.DoesNotFitError(
            f"{self.path.name}: error: no program that was run takes at most {wanted}: the smallest takes {nearest['ram']:,} "
            f"bytes of ram and {nearest['flash']:,} bytes of flash [does-not-fit]\n  help: allow this much, or more settings: "
            "--levels size --stream max --prefer ram --alternatives 50")


def _options(level: str, stream: str, prefer: str) -> dict[str, Any]:
    """Options without defaults, with synonyms unified, so that equal settings are one point. `flash` is -O size
    unless -O is set, and `speed` is the older name of `cycles`."""
    if prefer == "flash" and level == "balanced":
        level = "size"
    out = {"optimize": level, "stream": stream, "prefer": "ram" if prefer == "ram" else "cycles"}
    return {k: v for k, v in out.items() if (k, v) not in (("optimize", "balanced"), ("stream", "off"), ("prefer", "cycles"))}


def _figures(value: Mapping[str, Any]) -> dict[str, int]:
    names = ("instructions", "cycles", "ram", "flash", "arena", "constants", "code", "stack")
    return {name: value[name] for name in names if name in value}


if __name__ == "__main__":
    from . import _tune_command
    sys.exit(_tune_command.main())
