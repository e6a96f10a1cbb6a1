# SPDX-License-Identifier: Apache-2.0
"""Stores results on disk, by key. Files are written beside and then renamed, so a killed run can continue from the
stored results; a damaged file counts as missing."""
from __future__ import annotations

import json
import os
import pathlib
import tempfile
from typing import Any

from . import _points


def default_folder() -> pathlib.Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(base) / "aotc" / "tune"


def write_whole(path: pathlib.Path, data: bytes) -> None:
    """Writes a file, all or nothing; a link is followed. A pipe, /dev/null or another special file is written to
    directly and not replaced."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    path = pathlib.Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


class Store:
    def __init__(self, folder: str | os.PathLike[str] | None):
        self.folder = pathlib.Path(folder) if folder is not None else default_folder()
        self.folder.mkdir(parents=True, exist_ok=True)

    def _path(self, kind: str, key: str) -> pathlib.Path:
        return self.folder / kind / key[:2] / f"{key}.json"

    def _read(self, path: pathlib.Path) -> Any:
        try:
            return json.loads(path.read_bytes())
        except (OSError, ValueError):
            return None

    def result(self, point: _points.Point) -> dict[str, Any] | None:
        """What is known of the point: a result that would be taken from a worker, or nothing."""
        found = self._read(self._path("results", _points.key_of(point)))
        return None if found is None or _points.problem_of(point, found) or not _points.is_fact(found) else found

    def keep(self, result: dict[str, Any]) -> None:
        if not _points.is_fact(result):
            raise ValueError(f"not a fact about a point: {result['value'].get('message', '')}")
        write_whole(self._path("results", result["key"]), _points.canonical(result) + b"\n")

    def confirmed(self, key: str) -> bool:
        """True if two workers agreed on it."""
        return self._path("confirmed", key).is_file()

    def confirm(self, key: str, workers: list[str]) -> None:
        write_whole(self._path("confirmed", key), _points.canonical(workers) + b"\n")

    def quarantine(self, key: str, first: dict[str, Any], second: dict[str, Any]) -> pathlib.Path:
        """Stores two different results for one key for inspection; neither is used."""
        path = self._path("alarms", key)
        write_whole(path, json.dumps([first, second], indent=1).encode())
        self._path("results", key).unlink(missing_ok=True)
        self._path("confirmed", key).unlink(missing_ok=True)
        return path

    def layers(self, environment: str) -> dict[str, Any]:
        """Figures of single layers by computation, level and schedule, for one board with its tools."""
        found = self._read(self._path("layers", environment))
        return found if isinstance(found, dict) else {}

    def keep_layers(self, environment: str, figures: dict[str, Any]) -> None:
        """Adds figures; existing ones stay."""
        both = {**figures, **self.layers(environment)}
        write_whole(self._path("layers", environment), _points.canonical(both) + b"\n")
