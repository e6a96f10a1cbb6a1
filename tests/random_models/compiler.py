# SPDX-License-Identifier: Apache-2.0
"""The compiler's half of a trial: batches through the program check_models."""

import dataclasses
import pathlib
import re
import shutil
import struct
import subprocess

REFUSED, ACCEPTED, BROKEN, EMITTED, CRASHED = range(5)


@dataclasses.dataclass
class Outcome:
    """`values`: of each sample {tensor name: (type, bytes)}. `emitted`: what was wrong with the C."""

    verdict: int
    text: str
    values: list
    emitted: str = ""

    @property
    def slug(self):
        found = re.search(r"\berror: .*\[([a-z0-9-]+)\]$", self.text, re.M)
        return found.group(1) if found else None


class Compiler:
    def __init__(self, program, folder, cc, damage=""):
        self._program, self._folder, self._cc, self._damage = program, folder, cc, damage

    def run(self, trials):
        """Outcomes of [(name, variant, file, samples)], in order."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        outcomes = {}
        left = trials
        while left:
            found, emitted, crash = self._batch(left)
            outcomes |= found
            self._blame(emitted, left, outcomes)
            if crash is None:
                break
            # The model behind the last record; what was before it was not emitted as C: again.
            culprit = len(found)
            if culprit < len(left):
                outcomes[left[culprit][0]] = Outcome(CRASHED, crash, [])
            done, rest = left[:culprit], left[culprit + 1:]
            left = done + rest if culprit < len(left) else []
        return [outcomes[t[0]] for t in trials]

    def _blame(self, emitted, trials, outcomes):
        """Attributes what went wrong with emitted C to models."""
        whole = False
        for line in emitted.splitlines():
            named = re.match(r"FAILED (model \d+[^:]*): (.*)", line)
            if named:
                outcomes[named.group(1)].emitted = named.group(2)
            whole |= bool(re.match(r"FAILED batch", line))
        if not whole:
            return
        accepted = [t for t in trials if outcomes[t[0]].verdict == ACCEPTED]
        if len(accepted) == 1:
            outcomes[accepted[0][0]].emitted = emitted.strip()
            return
        for trial in accepted:  # a program did not compile or crashed: each alone
            found, alone, _ = self._batch([trial])
            if trial[0] in found and alone:
                outcomes[trial[0]].emitted = alone.strip()

    def _batch(self, trials):
        batch, results = self._folder / "batch", self._folder / "results"
        batch.write_bytes(_pack(trials))
        results.unlink(missing_ok=True)
        command = [self._program, batch, results, "--work", self._folder / "c", "--cc", self._cc]
        if self._damage:
            command += ["--damage", self._damage]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace")
        data = results.read_bytes() if results.exists() else b""
        found, emitted = _unpack(data)
        crash = None
        if done.returncode != 0 or emitted is None:
            crash = f"check_models ended with {done.returncode}: {done.stdout[-2000:]}"
        return found, emitted or "", crash


def _block(data):
    return struct.pack("<I", len(data)) + data


def _pack(trials):
    out = [struct.pack("<I", len(trials))]
    for name, variant, file, samples in trials:
        out += [_block(name.encode()), struct.pack("<I", variant), _block(file),
                struct.pack("<I", len(samples))]
        for sample in samples:
            out.append(struct.pack("<I", len(sample)))
            out += [_block(b) for b in sample]
    return b"".join(out)


class _Reader:
    def __init__(self, data):
        self._data, self._at = data, 0

    def number(self):
        value = struct.unpack_from("<I", self._data, self._at)[0]
        self._at += 4
        return value

    def block(self):
        size = self.number()
        if self._at + size > len(self._data):
            raise struct.error
        self._at += size
        return self._data[self._at - size:self._at]


def _unpack(data):
    """Whole records by name, and the text about emitted C if the program came so far."""
    reader, found = _Reader(data), {}
    try:
        while True:
            name, verdict = reader.block().decode(), reader.number()
            text = reader.block().decode(errors="replace")
            if verdict == EMITTED:
                return found, text
            values = []
            for _ in range(reader.number()):
                values.append({})
                for _ in range(reader.number()):
                    tensor, dtype = reader.block().decode(), reader.block().decode()
                    values[-1][tensor] = (dtype, reader.block())
            found[name] = Outcome(verdict, text, values)
    except struct.error:
        return found, None
