# SPDX-License-Identifier: Apache-2.0
"""Runs a program on this computer: the emitted C, compiled once into a shared library and called through ctypes,
or, without a C compiler, aotc's own evaluation in a child process."""
from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings
import weakref
from typing import IO, Any, Protocol, Sequence

from . import _command, _errors

_DRIVER = """\
#include <string.h>
#include "{prefix}.h"

/* The only names that the library exports. */
#if defined(__GNUC__)
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif

/* Runs `count` times: buffers hold one element of the batch after the other. Returns 0 or the first status that is not. */
EXPORTED int32_t aotc_batch(int64_t count, const uint8_t *const *in, uint8_t *const *out, void *arena{state_parameter})
{{
    for (int64_t i = 0; i < count; ++i) {{
        {outputs}
{inputs}
        int32_t status = {prefix}_run({input_argument}, &outputs, arena{state_argument});
        if (status != 0) {{
            return status;
        }}
{results}
    }}
    return 0;
}}
{reset}"""

_RESET = """
EXPORTED int32_t aotc_reset(void *state)
{{
    return {prefix}_init(state);
}}
"""


def _driver(summary: dict[str, Any]) -> str:
    prefix = summary["prefix"]
    upper = prefix.upper()
    inputs, fields, outputs, results = [], [], [], []
    for k, port in enumerate(summary["inputs"]):
        size = f"{upper}_INPUT_{port['field'].upper()}_BYTES"
        if summary["input_in_arena"]:
            inputs.append(f"        memcpy({prefix}_input_{port['field']}(arena), in[{k}] + i * (int64_t){size}, {size});")
        else:
            fields.append(f".{port['field']} = (const void *)(in[{k}] + i * (int64_t){size})")
    for k, port in enumerate(summary["outputs"]):
        size = f"{upper}_OUTPUT_{port['field'].upper()}_BYTES"
        if summary["output_in_arena"]:
            results.append(f"        memcpy(out[{k}] + i * (int64_t){size}, {prefix}_output_{port['field']}(arena), {size});")
        else:
            outputs.append(f".{port['field']} = (void *)(out[{k}] + i * (int64_t){size})")
    if fields:
        inputs.append(f"        const struct {prefix}_inputs inputs = {{ {', '.join(fields)} }};")
    struct = f"struct {prefix}_outputs outputs = {{ {', '.join(outputs) or '0'} }};"
    state = bool(summary.get("state_bytes"))
    return _DRIVER.format(prefix=prefix, outputs=struct, inputs="\n".join(inputs), results="\n".join(results),
                          input_argument="&inputs" if fields else "0", state_parameter=", void *state" if state else "",
                          state_argument=", state" if state else "", reset=_RESET.format(prefix=prefix) if state else "")


def compiler() -> str | None:
    """The C compiler of this computer: $CC, cc, gcc or clang; None if there is none."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            return name
    return None


class _Buffer:
    """Zeroed memory at an aligned address."""

    def __init__(self, size: int, align: int = 64):
        self.memory = ctypes.create_string_buffer(size + align)
        self.address = -(-ctypes.addressof(self.memory) // align) * align


def _addresses(values: Sequence[int]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * max(len(values), 1))(*values)


class Runner(Protocol):
    """Runs a program and carries its state."""

    def reset(self) -> None: ...

    def run(self, count: int, inputs: Sequence[int], outputs: Sequence[int]) -> None: ...


class Library:
    """The program of a folder of emitted C, loaded into this process. Calls release the GIL."""

    def __init__(self, folder: pathlib.Path, summary: dict[str, Any]):
        cc = compiler()
        assert cc is not None
        (folder / "aotc_driver.c").write_text(_driver(summary))
        library = folder / "aotc_program.so"
        # A name of the model can be one of a library that the process has loaded already, as svc_run is one of glibc's.
        # The linker must not let that one replace the model's.
        own_names = ["-fvisibility=hidden", *(["-Wl,-Bsymbolic"] if sys.platform.startswith("linux") else [])]
        command = [*cc.split(), "-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared", *own_names, "-w", "-o", str(library),
                   *(str(p) for p in sorted(folder.glob("*.c"))), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise _errors.InternalError(f"'{cc}' does not compile the emitted C:\n{done.stderr[-4000:]}")
        self._library = ctypes.CDLL(str(library))
        self._run = self._library.aotc_batch
        self._run.restype = ctypes.c_int32
        self._summary = summary
        self._arena = _Buffer(max(summary["arena_bytes"], 1))
        self._state = _Buffer(summary["state_bytes"]) if summary.get("state_bytes") else None
        self.reset()

    def reset(self) -> None:
        """Makes the model's state that of a first run. Nothing to do for a model without."""
        if self._state is not None:
            status = self._library.aotc_reset(ctypes.c_void_p(self._state.address))
            if status != 0:
                raise _errors.InternalError(f"init ended with status {status}")

    def run(self, count: int, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Runs `count` times; inputs and outputs are addresses of buffers of `count` elements each."""
        arguments: list[Any] = [ctypes.c_int64(count), _addresses(inputs), _addresses(outputs), ctypes.c_void_p(self._arena.address)]
        if self._state is not None:
            arguments.append(ctypes.c_void_p(self._state.address))
        status = self._run(*arguments)
        if status != 0:
            raise _errors.InternalError(f"the run ended with status {status}")


_told = False


def _tell() -> None:
    global _told
    if not _told:
        warnings.warn("no C compiler (cc, gcc, clang or $CC): aotc's own evaluation runs the models, with the same results but "
                      "slower; sudo apt install gcc", stacklevel=4)
    _told = True


class Evaluator:
    """Evaluates the model in a process of `aotc evaluate --serve`, which ends with this object. Calls release the
    GIL. `sha256`: of the model as it was compiled."""

    def __init__(self, source: pathlib.Path, sha256: str, flags: Sequence[str], input_bytes: Sequence[int],
                 output_bytes: Sequence[int], stateful: bool):
        _tell()
        self._source, self._sha256, self._flags = source, sha256, list(flags)
        self._input_bytes, self._output_bytes = list(input_bytes), list(output_bytes)
        self._stateful, self._lost = stateful, False  # is the state gone?
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0  # the process that started it: one that was forked has its own

    def reset(self) -> None:
        if self._process is not None and self._owner == os.getpid():
            self._ask([b"reset\n"])
        else:  # the next one begins anew
            self._process, self._lost = None, False

    def run(self, count: int, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """As Library.run."""
        for i in range(count):
            request = [b"run\n", *(ctypes.string_at(at + i * size, size) for at, size in zip(inputs, self._input_bytes))]
            for at, size, answer in zip(outputs, self._output_bytes, self._ask(request, self._output_bytes)):
                ctypes.memmove(at + i * size, answer, size)

    def _ask(self, parts: Sequence[bytes], sizes: Sequence[int] = ()) -> list[bytes]:
        """Answers of these sizes. If the call is interrupted between request and answer, the process is ended,
        because it would give that answer to the next request."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        try:
            try:
                process.stdin.write(b"".join(parts))
                process.stdin.flush()
            except OSError:
                raise self._failure(process) from None
            word = process.stdout.readline()
            if word.startswith(b"error "):
                raise _errors.ModelError(word.decode(errors="replace").strip())
            answers = [process.stdout.read(size) for size in sizes] if word == b"ok\n" else []
            if word != b"ok\n" or [len(a) for a in answers] != list(sizes):
                raise self._failure(process)
            return answers
        except _errors.ModelError:
            raise
        except BaseException:
            self._stop()
            raise

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._owner == os.getpid():
            return self._process
        if self._lost or (self._stateful and self._process is not None):
            self._lost = True
            raise _errors.InternalError("the process with the model's state has ended: start again with reset()")
        if hashlib.sha256(self._source.read_bytes()).hexdigest() != self._sha256:
            raise _errors.ModelError(f"{self._source} has changed since it was compiled: compile it again")
        self._errors = tempfile.TemporaryFile()
        # In a session of its own: an interrupt from the keyboard is for this process.
        self._process = subprocess.Popen([_command.program(), "evaluate", os.fspath(self._source), "--serve", "--quiet", *self._flags],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True)
        self._owner = os.getpid()
        self._close = weakref.finalize(self, _end, self._process, self._owner)
        return self._process

    def _stop(self) -> None:
        if self._process is not None:
            self._close()
        self._process, self._lost = None, self._stateful

    def _failure(self, process: subprocess.Popen[bytes]) -> _errors.Error:
        process.kill()
        code = process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace")
        return _errors.of_exit_code(code if code > 0 else 70, said or "aotc evaluate ended")


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """Ends the process, unless this process is a fork of its parent: a fork shares the pipes."""
    if os.getpid() != owner:
        return
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()
