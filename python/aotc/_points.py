# SPDX-License-Identifier: Apache-2.0
"""Points: a model with its options, schedules and board, and the measurement of one on a worker.

A point is plain data with a key, the SHA-256 of everything that determines its result. Workers run `measure`: it
compiles, builds, emulates and verifies, and returns a result with the point's key, the hash of the emitted C and a
checksum. The client trusts no result: see `problem_of`.
"""
from __future__ import annotations

import functools
import hashlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
from typing import Any, Mapping, Sequence

from . import _command, _elf, _errors

FORMAT = 1  # of points and results; part of every key
SECONDS = 600  # that the emulator may take

Point = dict[str, Any]
Result = dict[str, Any]

_FIGURES = ("instructions", "ram", "flash", "code", "constants", "arena", "stack")
# What the command's exit code says of the model. Everything else is the machine's.
_OF_THE_MODEL = {1: "error", 2: "error", 3: "does not fit", 4: "differs"}


def canonical(value: Any) -> bytes:
    """JSON text that is equal for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def key_of(point: Point) -> str:
    return sha256(canonical(point))


def point(model: bytes, name: str, board: str, versions: Mapping[str, str], *, options: Mapping[str, Any] | None = None,
          calls: Sequence[Mapping[str, Any]] = (), seed: int = 1) -> Point:
    """`name`: of the file; its extension states the format. `calls`: of a schedules file."""
    ending = pathlib.PurePath(name).suffix
    return {"format": FORMAT, "model": sha256(model), "ending": ending if ending in (".tflite", ".onnx") else "", "board": board,
            "options": dict(options or {}), "calls": [dict(c) for c in calls], "seed": seed, "versions": dict(versions)}


# --- What a machine has --------------------------------------------------------------------------


def description(board: str) -> dict[str, Any]:
    """board.json. Raises the errors of `aotc boards NAME`."""
    return _description(board, *_stamp(_command.program()))


@functools.lru_cache(maxsize=None)
def _description(board: str, *stamp: Any) -> dict[str, Any]:
    return dict(_command.run_json("boards", board))


def _stamp(program: str) -> tuple[str, int, int]:
    """Changes if the program was built or installed again; ("", 0, 0) if there is none."""
    path = shutil.which(program)
    if path is None:
        return "", 0, 0
    about = os.stat(path)
    return path, about.st_mtime_ns, about.st_size


def requirements(board: str) -> tuple[str, ...]:
    """Labels that a worker must have: "toolchain:arm-none-eabi-gcc", "emulator:qemu-system-arm", and for a board
    without an emulator "board:NAME", which no machine has by default."""
    about = description(board)
    out = [f"toolchain:{about['toolchain']['compiler']}"] if about.get("toolchain", {}).get("compiler") else []
    if about.get("name") == "host":  # its emulator is the program itself
        return tuple(out)
    emulator = about.get("emulator") or {}
    return (*out, f"emulator:{emulator['program']}") if emulator.get("program") else (*out, f"board:{board}")


def lacking(labels: Sequence[str]) -> list[str]:
    """The labels that this machine does not have."""
    return [label for label in labels if label.startswith("board:") or not shutil.which(label.split(":", 1)[1])]


def _identity(program: str) -> str:
    """The version that the program prints, and the hash of its bytes."""
    path, *stamp = _stamp(program)
    return _identity_of(path, *stamp) if path else "missing"


@functools.lru_cache(maxsize=None)
def _identity_of(path: str, *stamp: int) -> str:
    said = subprocess.run([path, "--version"], capture_output=True, stdin=subprocess.DEVNULL, timeout=60).stdout
    return sha256(said + hashlib.sha256(pathlib.Path(path).resolve().read_bytes()).digest())[:32]


def versions(board: str) -> dict[str, str]:
    """Versions of aotc, the board, and its toolchain and emulator on this machine, on which a result depends
    besides the point."""
    about = description(board)
    out = {"aotc": _identity(_command.program()), "board": sha256(canonical(about))[:32]}
    for label in requirements(board):
        out[label] = "" if label.startswith("board:") else _identity(label.split(":", 1)[1])
    return out


def worker_id() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


# --- What workers do -----------------------------------------------------------------------------


def checksum(result: Result) -> str:
    return sha256(canonical({k: v for k, v in result.items() if k != "checksum"}))


def sealed(key: str, value: dict[str, Any], worker: str) -> Result:
    out = {"key": key, "worker": worker, "value": value}
    return {**out, "checksum": checksum(out)}


def measure(given: Point, model: bytes, avoid: Sequence[str] = ()) -> Result:
    """The result of a point. Its value's "state" is "verified", "differs", "does not fit" or "error", which are
    facts about the point; or "failed", if this machine could not decide; or "declined", by a worker that is to be
    avoided."""
    me, key = worker_id(), key_of(given)
    if me in avoid:
        return sealed(key, {"state": "declined"}, me)
    try:
        here = versions(given["board"])
        if here != given["versions"]:
            other = ", ".join(sorted(k for k in {**here, **given["versions"]} if here.get(k) != given["versions"].get(k)))
            return sealed(key, {"state": "failed", "message": f"this worker has another version of: {other}"}, me)
        if sha256(model) != given["model"]:
            return sealed(key, {"state": "failed", "message": "the model arrived damaged"}, me)
        with tempfile.TemporaryDirectory(prefix="aotc-point-") as folder:
            value = _value(given, model, pathlib.Path(folder))
    except (OSError, ValueError, KeyError, subprocess.SubprocessError, _errors.Error) as error:
        value = {"state": "failed", "message": f"{type(error).__name__}: {error}"[:2000]}
    return sealed(key, value, me)


class _Ended(Exception):
    def __init__(self, value: dict[str, Any]):
        self.value = value


def _step(folder: pathlib.Path, *arguments: str) -> dict[str, Any]:
    done = subprocess.run([_command.program(), *arguments, "--json", "--quiet"], cwd=folder, capture_output=True, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, timeout=3 * SECONDS)
    if done.returncode == 0:
        return dict(json.loads(done.stdout))
    error = _errors.of_exit_code(done.returncode, done.stderr or done.stdout)
    state = _OF_THE_MODEL.get(done.returncode, "failed")
    if error.slug == "onnx-external":  # the file is there, beside the model: here is only the model
        error = _errors.ModelError("net.onnx: error: a model with data in other files cannot be tuned: save it as one file "
                                   "[onnx-external]\n  help: onnx.save_model(onnx.load(MODEL), FILE)")
    raise _Ended({"state": state, "slug": error.slug or "", "message": str(error)[:2000]})


def _value(given: Point, model: bytes, folder: pathlib.Path) -> dict[str, Any]:
    # Names without a path of this machine: they are in messages, and so in results.
    name = "net" + given["ending"]
    (folder / name).write_bytes(model)
    options = _command.flags(given["options"])
    if given["calls"]:
        (folder / "schedules.json").write_bytes(canonical({"calls": given["calls"]}))
        options += ["--schedules", "schedules.json"]
    try:
        made = _step(folder, "create", name, "--project", "bare_metal", "--board", given["board"], "-o", "app", *options)
        emitted = hashlib.sha256()
        for path in sorted((folder / "app" / "model").glob("*.[ch]")):
            emitted.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
        built = _step(folder, "build", "app")
        ran = _step(folder, "verify", "app", "--only", "host" if given["board"] == "host" else "board", "--seed",
                    str(given["seed"]), "--timeout", str(SECONDS))
        more = _step(folder, "report", "app", "--no-alternatives") if given.get("cycles") else {}
    except _Ended as ended:
        return ended.value
    out = _figures(made, built, ran, emitted.hexdigest(), folder / "app", given["board"])
    return {**out, "cycles": int(more["estimated_cycles"])} if "estimated_cycles" in more else out


def _figures(made: dict[str, Any], built: dict[str, Any], ran: dict[str, Any], emitted: str, app: pathlib.Path,
             board: str) -> dict[str, Any]:
    place = ran["places"][-1]
    constants, code = int(made["constants_bytes"]), int(built.get("code_bytes") or 0)
    sizes = _elf.function_sizes(app / "build" / "CMakeFiles" / "model_plain.dir" / "model" / f"{made['prefix']}.c.obj")
    calls = [layer["function"] for layer in made["layers"]]
    layers = [{"op_index": layer.get("op_index", -1), "ticks": int(ticks), "constants": int(layer["constants_bytes"]),
               "scratch": int(layer["scratch_bytes"]), "live": int(layer["live_bytes"]),
               "code": sizes.get(layer["function"], 0) // max(calls.count(layer["function"]), 1)}
              for layer, ticks in zip(made["layers"], place["op_ticks"])]
    if board == "host":  # its clock's nanoseconds, and its C library's stack, are of the moment
        place = {**place, "length": 0, "stack_bytes": 0}
        layers = [{**layer, "ticks": 0} for layer in layers]
    return {"state": "verified", "c": emitted, "instructions": int(place["length"]), "arena": int(made["arena_bytes"]),
            "ram": int(made["arena_bytes"]) + int(made.get("state_bytes", 0)), "constants": constants, "code": code,
            "flash": constants + code, "stack": int(place["stack_bytes"]), "exact_layers": int(place["bit_exact_layers"]),
            "all_layers": int(place["layers"]), "layers": layers}


# --- What the client makes of it -----------------------------------------------------------------


def is_fact(result: Mapping[str, Any]) -> bool:
    """True if the result is a fact about the point; other results concern the machine or are invalid."""
    return result["value"].get("state") not in ("failed", "declined")


def renamed(message: str, name: str) -> str:
    """A result of a worker, with the client's name of the model's file."""
    ending = pathlib.PurePath(name).suffix
    return message.replace(f"net{ending}", name) if ending else message


def problem_of(given: Point, result: Any) -> str:
    """Why a result is invalid, or "". Every result of a worker is checked before it is used."""
    if not isinstance(result, dict) or set(result) != {"key", "worker", "value", "checksum"}:
        return "it is not a result"
    try:
        if result["checksum"] != checksum(result):
            return "its checksum is wrong"
    except (TypeError, ValueError, RecursionError):
        return "it is not plain data"
    if result["key"] != key_of(given):
        return "it is the result of another point"
    value = result["value"]
    if not isinstance(value, dict) or not isinstance(result["worker"], str):
        return "it is not a result"
    if value.get("state") != "verified":
        known = value.get("state") in ("failed", "declined", *_OF_THE_MODEL.values())
        return "" if known and isinstance(value.get("message", ""), str) else "it has neither figures nor an error"
    wrong = [f for f in _FIGURES if type(value.get(f)) is not int or not 0 <= value[f] < 1 << 53]
    if wrong or value["instructions"] == 0 and given["board"] != "host":
        return f"its figures are impossible: {', '.join(wrong) or 'instructions'}"
    if value["flash"] != value["code"] + value["constants"] or value["ram"] < value["arena"]:
        return "its figures contradict each other"
    if not isinstance(value.get("c"), str) or len(value["c"]) != 64 or not isinstance(value.get("layers"), list):
        return "it has no hash of the C, or no layers"
    return ""
