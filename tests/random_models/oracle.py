#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LiteRT's reference kernels in a process of their own, which may die of a model.

Run as a program it is the server: pickled (file, samples) in, pickled answers out. `LiteRT` is the
client; it starts the server again after a death, and the death is the answer.
"""

import argparse
import os
import pathlib
import pickle
import resource
import select
import struct
import subprocess
import sys
import tempfile

SECONDS = 120  # far beyond what any model of the lane takes: a kernel that never ends
MEMORY = 6 << 30


class LiteRT:
    """Answers of `ask`:

    ("ran", samples)      of each sample {tensor: (shape, bytes)} for every operator's results
    ("refused", reason)   LiteRT's own words
    ("died", reason)      the last words of the process
    """

    server = __file__

    def __init__(self):
        self._process = None
        self._words = tempfile.TemporaryFile()

    def ask(self, file, samples):
        if self._process is None:
            self._words.seek(0)
            self._words.truncate()
            self._process = subprocess.Popen(
                [sys.executable, self.server], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self._words)
        try:
            _send(self._process.stdin, (file, samples))
            if not select.select([self._process.stdout], [], [], SECONDS)[0]:
                self._process.kill()
            return _receive(self._process.stdout)
        except (EOFError, BrokenPipeError):
            status = self._process.wait()
            self.close()
            self._words.seek(0)
            words = self._words.read().decode(errors="replace").strip().splitlines()
            return "died", f"status {status}: {words[-1] if words else 'without a word'}"

    def close(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdin.close()
            self._process.stdout.close()
            self._process = None


def _send(stream, value):
    data = pickle.dumps(value)
    stream.write(struct.pack("<I", len(data)) + data)
    stream.flush()


def _receive(stream):
    head = stream.read(4)
    if len(head) < 4:
        raise EOFError
    data = stream.read(struct.unpack("<I", head)[0])
    return pickle.loads(data)


def _answer(litert_layers, np, file, samples):
    try:
        layers = litert_layers.Layers(file)
        ran = []
        for sample in samples:
            arrays = [np.frombuffer(b, d["dtype"]).reshape(d["shape"])
                      for b, d in zip(sample, layers.inputs, strict=True)]
            results = layers.run(arrays)
            ran.append({int(tensor): (value.shape, value.tobytes())
                        for op, values in zip(layers.operators, results)
                        for tensor, value in zip(op["outputs"], values) if value is not None})
        return "ran", ran
    except (litert_layers.Rejected, ValueError, TypeError) as error:
        return "refused", " ".join(str(error).split())


def serve():
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
    import litert_layers
    import numpy as np
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answer_requests(lambda file, samples: _answer(litert_layers, np, file, samples))


def answer_requests(answer):
    """Serves requests on standard input until it ends. What a library prints goes to standard error."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            file, samples = _receive(sys.stdin.buffer)
        except EOFError:
            return
        _send(out, answer(file, samples))


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    serve()
