# SPDX-License-Identifier: Apache-2.0
"""Models x boards x levels: which are verified layer by layer, and what they take.

>>> import aotc.conformance
>>> table = aotc.conformance.table(["kws.tflite", "vww.tflite"], boards=["qemu_mps2_an386", "qemu_riscv32"])
>>> print(table)                     # text; table.markdown, table.html, table.json
>>> table.passed                     # everything is verified

    python3 -m aotc.conformance kws.tflite vww.tflite --boards qemu_mps2_an386,qemu_riscv32 --markdown
"""
from __future__ import annotations

import argparse
import dataclasses
import html
import json
import os
import pathlib
import sys
from typing import Any, Callable, Iterator, Sequence

from . import _command, _engine, _errors, _points, _store, executors

__all__ = ["Cell", "Table", "table"]

LEVELS = ("size", "balanced", "speed")


@dataclasses.dataclass(frozen=True)
class Cell:
    model: str
    board: str
    level: str
    state: str  #: "verified", "differs", "does not fit", "error", or "poisoned": nobody could tell
    message: str = ""  #: the error, with its place
    instructions: int = 0
    arena: int = 0
    flash: int = 0
    exact: int = 0  #: layers that are bit-exact, of
    layers: int = 0

    @property
    def text(self) -> str:
        if self.state != "verified":
            return f"{self.state}: {self.message.splitlines()[0] if self.message else ''}"
        return self.state if self.exact == self.layers else f"verified, {self.exact} of {self.layers} layers to the bit"


class Table:
    """The cells, in the order of models, boards and levels."""

    _HEAD = ("model", "board", "level", "result", "instructions", "arena", "flash")

    def __init__(self, cells: Sequence[Cell], counts: _engine.Counts):
        self.cells, self.counts = list(cells), counts

    @property
    def passed(self) -> bool:
        return all(c.state == "verified" for c in self.cells)

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for c in self.cells:
            figures = (f"{c.instructions:,}", f"{c.arena:,}", f"{c.flash:,}") if c.state == "verified" else ("", "", "")
            yield (c.model, c.board, c.level, c.text, *figures)

    def _totals(self) -> str:
        return f"{sum(c.state == 'verified' for c in self.cells)} of {len(self.cells)} verified"

    def __str__(self) -> str:
        rows = [self._HEAD, *self._rows()]
        widths = [max(len(r[i]) for r in rows) for i in range(len(self._HEAD))]
        lines = ["  ".join(cell.rjust(w) if i > 3 else cell.ljust(w) for i, (cell, w) in enumerate(zip(r, widths))).rstrip()
                 for r in rows]
        return "\n".join([*lines, self._totals()])

    @property
    def markdown(self) -> str:
        def line(row: Sequence[str]) -> str:
            return "| " + " | ".join(html.escape(c, quote=False).replace("|", "\\|") for c in row) + " |\n"
        return line(self._HEAD) + "|---|---|---|---|---:|---:|---:|\n" + "".join(map(line, self._rows())) + f"\n{self._totals()}\n"

    @property
    def html(self) -> str:
        """A page that loads nothing."""
        head = "".join(f"<th>{h}</th>" for h in self._HEAD)
        body = "".join(f'<tr class="{"good" if c.state == "verified" else "bad"}" title="{html.escape(c.message)}">'
                       + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n"
                       for c, row in zip(self.cells, self._rows()))
        return ('<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Conformance</title>\n<style>'
                "body{font:14px sans-serif}td,th{padding:2px 10px;text-align:left}td:nth-child(n+5){text-align:right}"
                ".bad{background:#fdd}.good{background:#efe}</style></head><body>\n"
                f"<h1>Conformance</h1><p>{self._totals()}</p>\n<table><tr>{head}</tr>\n{body}</table></body></html>\n")

    def _repr_html_(self) -> str:
        return self.html

    @property
    def json(self) -> str:
        return json.dumps({"passed": self.passed, "cells": [dataclasses.asdict(c) for c in self.cells]}, indent=1)


def table(models: Sequence[str | os.PathLike[str]], *, boards: Sequence[str], levels: Sequence[str] = LEVELS, seed: int = 1,
          executor: Any = None, jobs: int | None = None, cache: str | os.PathLike[str] | None = None, repeat: float = 0.05,
          progress: Callable[[str], None] | None = None, **options: Any) -> Table:
    """Compiles, builds, emulates and verifies each model for each board at each level. `executor`, `cache`,
    `repeat`: see `aotc.tune.search`. If a model does not compile, or a board cannot run here, its cells contain the
    reason."""
    boards, levels = _command.words(boards, "--boards"), _command.words(levels, "--levels", LEVELS)
    options = _command.without_files(options)
    if isinstance(models, (str, os.PathLike)) or not models:
        raise _errors.OptionError(f"models: {models!r} is not a list of files")
    data: dict[str, tuple[pathlib.Path, bytes]] = {}
    for model in models:
        path = pathlib.Path(model)
        try:
            data[os.fspath(model)] = path, path.read_bytes()
        except OSError as error:
            raise _errors.ModelError(f"{path}: error: cannot read the model: {error.strerror} [file-read]") from None
    points, order = [], []
    for path, read in data.values():
        for board in boards:
            for level in levels:
                p = _points.point(read, path.name, board, _points.versions(board), options={**options, "optimize": level}, seed=seed)
                points.append(p)
                order.append((_points.key_of(p), path.name, board, level))
    made = executor if executor is not None else (lambda: executors.processes(jobs))
    engine = _engine.Engine(made, _store.Store(cache), {_points.sha256(read): read for _, read in data.values()}, repeat=repeat,
                            report=progress)
    try:
        values = engine.values(points)
    finally:
        engine.close()
    return Table([_cell(name, board, level, values[key]) for key, name, board, level in order], engine.counts)


def _cell(name: str, board: str, level: str, value: dict[str, Any]) -> Cell:
    if value["state"] != "verified":
        return Cell(name, board, level, value["state"], _points.renamed(value.get("message", ""), name))
    return Cell(name, board, level, "verified", "", value["instructions"], value["arena"], value["flash"], value["exact_layers"],
                value["all_layers"])


def default_boards(progress: Callable[[str], None] | None = None) -> list[str]:
    """The boards with bare-metal projects that run on this machine; `progress` reports the others."""
    listed = {b["name"]: "bare_metal" in b["projects"] for b in _command.run_json("boards", "--emulated")}
    out = [name for name, bare_metal in listed.items() if bare_metal and not _points.lacking(_points.requirements(name))]
    others = [name for name in listed if name not in out]
    if others and progress:
        progress(f"skipped: {', '.join(others)}: no bare_metal projects, or missing tools")
    return out


def main(arguments: Sequence[str] | None = None) -> int:
    from . import _tune_command
    parser = argparse.ArgumentParser(prog="python3 -m aotc.conformance", description="Models x boards x levels, verified in emulators.")
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--boards", metavar="LIST", help="boards, separated by commas (default: all that run on this machine)")
    parser.add_argument("--levels", default=",".join(LEVELS), metavar="LIST")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.add_argument("--html", metavar="FILE", help="also write a page")
    _tune_command.common_arguments(parser)
    given = parser.parse_args(arguments)
    try:
        progress = _tune_command.progress_of(given)
        boards = default_boards(progress) if given.boards is None else [b.strip() for b in given.boards.split(",")]
        made = table(given.models, boards=boards, levels=_tune_command.words(given.levels, "--levels", LEVELS), seed=given.seed,
                     executor=_tune_command.executor_of(given), cache=given.cache, progress=progress)
        if given.html:
            _store.write_whole(pathlib.Path(given.html), made.html.encode())
    except (_errors.Error, OSError) as error:
        return _tune_command.ended(error)
    print(made.json if given.json else made.markdown if given.markdown else made)
    return 0 if made.passed else 4


if __name__ == "__main__":
    sys.exit(main())
