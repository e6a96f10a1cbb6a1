#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A runner that speaks the MLPerf Tiny benchmark's serial protocol as the benchmark's own does.

Usage: runner.py (--project DIR | --port PATH | --tcp HOST:PORT) --dataset DIR [--mode a|p] ...

The same commands in the same order, 31 bytes of data in each, an answer ends with the
line that holds m-ready. The benchmark's own gives up where a line takes 5 seconds, or 30 behind
`infer`; a test may run on a slow machine, so this one waits as long as something may still come. The device is firmware that this program starts (--project, an emulated board or the
host), a terminal or serial port (--port), or a socket (--tcp).
"""
import argparse
import csv
import json
import os
import pathlib
import re
import select
import socket
import subprocess
import sys
import termios
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE, PATIENCE_INFER = 600.0, 600.0
BYTES_A_COMMAND = 31
LOOPS, LEAST_SECONDS = 5, 10.0


class RunnerFailed(Exception):
    """The device did not behave as the benchmark's runner wants it to."""


# --- Lines ---------------------------------------------------------------------------------------


class Line:
    """A line to a device: two file descriptors, and what must be done when it is not needed."""

    def __init__(self, reading, writing, close):
        self._reading, self._writing, self._close = reading, writing, close
        self._bytes = b""

    def write(self, data):
        while data:
            data = data[os.write(self._writing, data):]

    def read_line(self, patience):
        """The next line without its end; None if it does not come in time."""
        end = time.monotonic() + patience
        while b"\n" not in self._bytes:
            ready, _, _ = select.select([self._reading], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return None
            more = os.read(self._reading, 65536)
            if not more:
                raise RunnerFailed(f"the device is gone; its last bytes: {self._bytes!r}")
            self._bytes += more
        line, self._bytes = self._bytes.split(b"\n", 1)
        return line.decode("ascii", "replace").replace("\r", "").replace("\0", "")

    def drain(self, seconds):
        """What comes until there is silence."""
        lines = []
        while (line := self.read_line(seconds)) is not None:
            lines.append(line)
        return lines

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._close()


def emulator_command(project, counts=True):
    """What runs the firmware of a project with its line on standard input and output.

    Without `counts` an emulator does not count instructions: several times as fast, but its time
    is the host's.
    """
    project = pathlib.Path(project)
    manifest = json.loads((project / "aotc.json").read_text())
    board = json.loads((ROOT / "boards" / manifest["board"] / "board.json").read_text())
    image = str(project.resolve() / manifest["image"])
    words = [word.replace("{image}", image).replace("{arguments}", "")
             for word in board["emulator"]["argv"]]
    words = [word for word in words if word]
    if not counts and "-icount" in words:
        at = words.index("-icount")
        del words[at:at + 2]
    return words


def start(project, counts=True):
    """A line to firmware that is started for it; it has said that it is ready."""
    return start_command(emulator_command(project, counts))


def start_command(command):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def close():
        process.stdin.close()
        process.kill()
        process.wait()
        process.stdout.close()

    line = Line(process.stdout.fileno(), process.stdin.fileno(), close)
    line.boot = []
    while not line.boot or "m-ready" not in line.boot[-1]:
        said = line.read_line(PATIENCE_INFER)
        if said is None:
            close()
            raise RunnerFailed(f"the firmware does not boot: {line.boot}")
        line.boot.append(said)
    return line


def open_port(path):
    """A terminal or a serial port, at 115200 baud."""
    port = os.open(path, os.O_RDWR | os.O_NOCTTY)
    mode = termios.tcgetattr(port)
    control = (mode[2] | termios.CREAD | termios.CLOCAL | termios.CS8) & ~termios.PARENB
    termios.tcsetattr(port, termios.TCSANOW,
                      [0, 0, control, 0, termios.B115200, termios.B115200, mode[6]])
    termios.tcflush(port, termios.TCIOFLUSH)
    return Line(port, port, lambda: os.close(port))


def open_tcp(address):
    host, number = address.rsplit(":", 1)
    connection = socket.create_connection((host, int(number)), timeout=PATIENCE)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setblocking(True)
    return Line(connection.fileno(), connection.fileno(), connection.close)


# --- The device ----------------------------------------------------------------------------------


class Device:
    """What the benchmark calls the device under test."""

    def __init__(self, line):
        self.line = line
        self.name = self.model = self.profile = None

    def command(self, text, patience=PATIENCE):
        self.line.write(f"{text}%".encode())
        lines = []
        while not lines or "m-ready" not in lines[-1]:
            said = self.line.read_line(patience)
            if said is None:
                raise RunnerFailed(f"no response to command {text}; it said {lines}")
            lines.append(said)
        return lines

    def identify(self):
        for line in self.command("name"):
            if match := re.match(r"^m-(name)-dut-\[([^]]+)]$", line):
                self.name = match.group(2)
        for line in self.command("profile"):
            if match := re.match(r"^m-(model|profile)-\[([^]]+)]$", line):
                setattr(self, match.group(1), match.group(2))
        if not (self.name and self.model and self.profile):
            raise RunnerFailed(f"name {self.name}, model {self.model}, profile {self.profile}")
        return self

    def load(self, data):
        self.command(f"db load {len(data)}")
        for at in range(0, len(data), BYTES_A_COMMAND):
            answer = self.command(f"db {data[at:at + BYTES_A_COMMAND].hex()}")
        if answer != ["m-load-done", "m-ready"]:
            raise RunnerFailed(f"the data is not loaded: {answer}")

    def infer(self, count, warmups):
        """(results, microseconds) as the runner reads them out of the answer."""
        answer = self.command(f"infer {count} {warmups}", PATIENCE_INFER)
        results, laps = None, []
        for line in answer:
            if match := re.match(r"^m-results-\[([^]]+)\]$", line):
                results = [float(x) for x in match.group(1).split(",") if x.strip()]
            if match := re.match(r"^m-lap-us-([0-9]+)$", line):
                laps.append(int(match.group(1)))
        if not results or len(laps) != 2 or laps[1] < laps[0]:
            raise RunnerFailed(f"no results or not two laps: {answer}")
        return results, laps[1] - laps[0]


# --- Data sets and modes -------------------------------------------------------------------------


class DataSet:
    """y_labels.csv: file, number of classes, class, and for windows their bytes and the stride."""

    def __init__(self, folder, limit=None):
        self.folder = pathlib.Path(folder)
        with open(self.folder / "y_labels.csv", newline="") as file:
            self.rows = [row for row in csv.reader(file) if row][:limit]

    def __len__(self):
        return len(self.rows)

    def label(self, i):
        return int(self.rows[i][2])

    def inputs(self, i):
        """What is sent for a file: itself, or its windows."""
        data = (self.folder / self.rows[i][0]).read_bytes()
        if len(self.rows[i]) < 5:
            return [data]
        size, stride = int(self.rows[i][3]), int(self.rows[i][4])
        return [data[at:at + size] for at in range(0, len(data) - size + 1, stride)]


def accuracy(device, dataset, first=0, step=1):
    """{index of the file: results of each of its inputs}, one inference each."""
    found = {}
    for i in range(first, len(dataset), step):
        found[i] = []
        for data in dataset.inputs(i):
            device.load(data)
            found[i].append(device.infer(1, 0)[0])
    return found


def area_under_curve(scores, positive):
    """Of one class against the rest: the chance that a positive scores higher than a negative."""
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    for value in np.unique(scores):
        same = scores == value
        ranks[same] = ranks[same].mean()
    count = positive.sum()
    return ((ranks[positive].sum() - count * (count + 1) / 2)
            / (count * (len(scores) - count)))


def judge(dataset, found):
    """(percent right, AUC) of classes; of anomaly scores the best (precision + recall) / 2."""
    labels = np.array([dataset.label(i) for i in sorted(found)])
    scores = np.array([np.mean([r if len(r) == 1 else np.array(r) / sum(r) for r in found[i]],
                               axis=0) for i in sorted(found)])
    classes = np.unique(labels)
    if scores.shape[1] == 1:
        best, values = 0.0, scores[:, 0]
        for threshold in values.min() + np.arange(0.0, 1.0, 0.01) * np.ptp(values):
            above = values > threshold
            right = (above & (labels == 1)).sum()
            best = max(best, 50 * (right / max(above.sum(), 1) + right / max(labels.sum(), 1)))
        area = area_under_curve(values, labels == 1) if len(classes) == 2 else float("nan")
        return best, area
    right = 100.0 * np.mean(scores.argmax(axis=1) == labels)
    if len(classes) != scores.shape[1]:
        return right, float("nan")  # the benchmark's runner stops here
    return right, np.mean([area_under_curve(scores[:, c], labels == c) for c in classes])


def performance(device, dataset, count, warmups):
    """(inferences a second by the device's clock of each loop, seconds that all took here)."""
    begin = time.monotonic()
    rates = []
    for i in range(LOOPS):
        device.load(dataset.inputs(i % len(dataset))[0])
        rates.append(count / (device.infer(count, warmups)[1] / 1e6))
    return rates, time.monotonic() - begin


# --- Scripts of the benchmark's runner -----------------------------------------------------------


def inferences_of(device, dataset, seconds):
    """How many take so long by the device's clock, and by this one no longer than the runner waits."""
    device.load(dataset.inputs(0)[0])
    begin, count = time.monotonic(), 1
    while (took := device.infer(count, 0)[1]) < 1e5 and time.monotonic() - begin < 10 and count < 100000:
        begin, count = time.monotonic(), count * 4
    here = (time.monotonic() - begin) / count
    return max(1, min(int(seconds * 1.05e6 * count / max(took, 1)) + 1, int(25.0 / here)))


def plays_of(truth, seconds):
    """How often the first wave file of a list of the streaming benchmark is played in so long."""
    return max(1, -int(-seconds // json.loads(pathlib.Path(truth).read_text())[0]["length_sec"]))


def script_of(model, truth, steps, loops):
    """A script for performance mode, in the runner's YAML."""
    return "\n".join([f"{model}:", f"  name: {model}", f"  model: {model}", f"  truth_file: {truth}",
                      "  script:", f"    - loop {loops}:", *(f"      - {step}" for step in steps), ""])


def write_script(device, folder, truth, path):
    if device.model == "sww01":
        loops = plays_of(pathlib.Path(folder) / truth, LEAST_SECONDS)
        text = script_of(device.model, truth, ["stream 0"], loops)
    elif device.model in ("kws01", "ic01", "vww01", "ad01"):
        count = inferences_of(device, DataSet(folder), LEAST_SECONDS)
        text = script_of(device.model, "y_labels.csv", ["download", f"infer {count} 10"], LOOPS)
    else:
        raise RunnerFailed(f"{device.model} is of no benchmark: the runner has no script for it")
    pathlib.Path(path).write_text(text)
    print(f"wrote {path}: loops of {LEAST_SECONDS:.0f} seconds", text, sep="\n", end="")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--project", help="a built project: its firmware is started")
    where.add_argument("--port", help="terminal or serial port of a device that runs")
    where.add_argument("--tcp", help="HOST:PORT of a device that runs")
    parser.add_argument("--dataset", required=True, help="folder with y_labels.csv, or with --truth")
    parser.add_argument("--mode", choices=["a", "p"], default="a", help="accuracy or performance")
    parser.add_argument("--limit", type=int, help="only the first files of the data set")
    parser.add_argument("--count", type=int, default=70, help="inferences of a performance loop")
    parser.add_argument("--warmups", type=int, default=10)
    parser.add_argument("--script", help="write the benchmark's script for performance mode to this file, "
                                         "with loops as long as it wants")
    parser.add_argument("--truth", default="sww_short_test.json",
                        help="sww01: the list of wave files, in the data set")
    args = parser.parse_args()
    if args.project:
        line = start(args.project, counts=args.mode == "p" or args.script)
    else:
        line = open_port(args.port) if args.port else open_tcp(args.tcp)
    with line:
        device = Device(line).identify()
        print(f"device {device.name}, model {device.model}")
        if args.script:
            write_script(device, args.dataset, args.truth, args.script)
            return 0
        dataset = DataSet(args.dataset, args.limit)
        if args.mode == "a":
            right, area = judge(dataset, accuracy(device, dataset))
            print(f"{len(dataset)} files: top-1 {right:.1f} %, AUC {area:.3f}")
            return 0
        rates, seconds = performance(device, dataset, args.count, args.warmups)
        print(f"median throughput {np.median(rates):.3f} inferences/s of {LOOPS} loops of "
              f"{args.count}; {seconds:.1f} s by this machine's clock")
        if seconds < LEAST_SECONDS:
            print(f"the benchmark wants at least {LEAST_SECONDS:.0f} s: raise --count")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RunnerFailed as failure:
        sys.exit(f"error: {failure}")
