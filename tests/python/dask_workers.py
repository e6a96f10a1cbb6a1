#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""aotc.tune on a real Dask cluster: a scheduler and workers that are processes of their own. One is killed (SIGKILL) in the
middle, one has a wrong label, one returns garbage, one lies. What comes out is what one process gives, byte for byte, or
Disagreement."""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "tests/oracle"), str(ROOT / "python")]
import common  # noqa: E402

os.environ["AOTC"] = str(common.AOTC)
import aotc  # noqa: E402
import aotc.tune  # noqa: E402
from aotc import _points, executors  # noqa: E402

MODEL = ROOT / "tests/models/digits/digits_int8.tflite"
BOARD = "qemu_mps2_an386"
FEW = {"board": BOARD, "levels": ["balanced"], "alternatives": 1, "programs": 2}
RIGHT = "toolchain:arm-none-eabi-gcc=1 emulator:qemu-system-arm=1"
WRONG = "toolchain:arm-none-eabi-gcc=1 emulator:qemu-system-riscv32=1"
# Worker's preload: what it does instead of measuring. `_on_worker` calls what it is given by name.
PRELOAD = """
import os, signal
from aotc import _points
# Preloads are read twice.
real = _points.__dict__.setdefault("real_measure", _points.measure)
what = {what!r}
def measure(point, model, avoid=()):
    if what == "dies":
        open({mark!r}, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    result = real(point, model, avoid)
    if what == "garbage":
        return {{"instructions": "none"}}
    if what == "lies":
        return _points.sealed(result["key"], {{**result["value"], "instructions": result["value"]["instructions"] // 2}}, "me")
    if what == "wrong":
        open({mark!r}, "w").close()
    return result
_points.measure = measure
"""


class Cluster:
    """A scheduler in this process, and workers by name."""

    def __init__(self, work, distributed):
        self.work, self.processes, self.marks = work, {}, {}
        self.cluster = distributed.LocalCluster(n_workers=0, dashboard_address=None, host="127.0.0.1")
        self.client = distributed.Client(self.cluster)

    def start(self, name, resources, what=""):
        self.marks[name] = self.work / f"{name}.mark"
        preload = self.work / f"{name}_preload.py"
        preload.write_text(PRELOAD.format(what=what, mark=str(self.marks[name])))
        self.processes[name] = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", self.cluster.scheduler_address, "--name", name, "--nthreads", "1",
             "--no-nanny", "--no-dashboard", "--resources", resources, "--preload", str(preload), "--local-directory", str(self.work)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, stdout=subprocess.DEVNULL,
            stderr=open(self.work / f"{name}.log", "w"))

    def wait_for(self, *names):
        """Until these are there, and no others."""
        while {w["name"] for w in self.client.scheduler_info(n_workers=-1)["workers"].values()} != set(names):
            threading.Event().wait(0.2)

    def stop(self):
        self.client.close()
        for process in self.processes.values():
            process.kill()
            process.wait()
        self.cluster.close()


def search(work, cluster, name, **more):
    found = aotc.tune.search(MODEL, cache=work / name, executor=executors.dask(cluster.client), **{**FEW, **more})
    return found, found.write(work / f"{name}.json").read_bytes()


def run(cluster, work):
    serial = aotc.tune.search(MODEL, cache=work / "serial", executor=executors.Serial(), **FEW)
    text = serial.write(work / "serial.json").read_bytes()

    cluster.start("wrong", WRONG, "wrong")
    cluster.client.wait_for_workers(1, timeout=120)
    try:
        search(work, cluster, "nobody")
        raise common.Failure("a point ran where nobody can run it")
    except aotc.Error as error:
        assert "no worker has" in str(error) and "qemu-system-arm" in str(error), error

    # Two workers each time, and each point runs on both: the second run is bound to who did not make the first.
    cluster.start("good", RIGHT)
    cluster.start("garbage", RIGHT, "garbage")
    cluster.wait_for("wrong", "good", "garbage")
    found, got = search(work, cluster, "garbage", repeat=1.0)
    assert got == text, "another file than one process gives"
    assert found.counts.refused and not found.counts.poisoned, found.counts

    cluster.processes["garbage"].kill()
    cluster.start("dies", RIGHT, "dies")
    cluster.wait_for("wrong", "good", "dies")
    found, got = search(work, cluster, "dies", repeat=1.0)
    assert got == text and not found.counts.poisoned, found.counts
    assert cluster.marks["dies"].exists() and cluster.processes["dies"].wait(timeout=60) == -signal.SIGKILL, "nobody died"

    cluster.start("better", RIGHT)
    cluster.wait_for("wrong", "good", "better")
    found, got = search(work, cluster, "healthy", repeat=1.0)
    assert got == text and found.counts.repeated, found.counts
    again, got = search(work, cluster, "healthy")
    assert got == text and again.counts.measured == 0
    assert not cluster.marks["wrong"].exists(), "the worker with the wrong label was given a point"

    cluster.processes["better"].kill()
    cluster.start("lies", RIGHT, "lies")
    cluster.wait_for("wrong", "good", "lies")
    try:
        search(work, cluster, "lie", repeat=1.0)
        raise common.Failure("a lie was believed")
    except aotc.tune.Disagreement as error:
        assert error.first["value"]["instructions"] != error.second["value"]["instructions"]
        names = {about["name"]: address for address, about in cluster.client.scheduler_info(n_workers=-1)["workers"].items()}
        assert names["lies"] in (error.first["worker"], error.second["worker"]), "the liar is not named by its address"
    assert not cluster.marks["wrong"].exists()
    print("8 passed, 0 failed, 0 skipped")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    [distributed] = common.need_modules("distributed")
    common.require(common.board(BOARD)["emulator"]["program"])
    work = common.fresh(arguments.work.resolve())
    cluster = Cluster(work, distributed)
    # A scheduler that does not end would hang the test.
    watch = threading.Timer(900, lambda: (print("FAILED: no end after 900 s", flush=True), os._exit(1)))
    watch.daemon = True
    watch.start()
    try:
        run(cluster, work)
    finally:
        cluster.stop()
        watch.cancel()


if __name__ == "__main__":
    common.main_of(main)
