#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models whose functions have names that the C library exports, too: names.py --work DIR

glibc has svc_run, sem_init, mtx_init and pthread_mutex_init. Each model runs in aotc verify and through the Python
module, where the C library is loaded first; every result is LiteRT's. tests/mlf/writing.py does the same for MLF.
"""
import argparse
import ctypes
import pathlib
import subprocess
import sys

import numpy as np

import common
import litert_layers

sys.path.insert(0, str(common.ROOT / "python"))
import aotc  # noqa: E402

STATEFUL = "state/accumulator_int8"
# The prefix, the model, and the function of the C library that has the name of one of the model's.
CASES = (("svc", "digits/digits_int8", "svc_run"), ("sem", STATEFUL, "sem_init"), ("mtx", STATEFUL, "mtx_init"),
         ("pthread_mutex", STATEFUL, "pthread_mutex_init"))
RUNS = 4


def check(work, prefix, path):
    common.aotc("verify", path, "--prefix", prefix, "--only", "host")
    model = aotc.compile(path, name=prefix)
    layers, rng = litert_layers.Layers(path, sequence=True), np.random.default_rng(1)
    for run in range(RUNS):
        inputs = layers.random_inputs(rng)
        layers.run(inputs)
        want = layers.model_outputs()[0]
        have = model(inputs[0], raw=True)
        if not np.array_equal(np.asarray(have).reshape(want.shape), want):
            raise common.Failure(f"{prefix}, run {run}: {have} instead of {want}")


def exports(library):
    """Names that a shared library exports."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    work = common.fresh(parser.parse_args().work.resolve())
    common.require("gcc", "nm")
    collisions = 0
    for prefix, name, function in CASES:
        collisions += hasattr(ctypes.CDLL(None), function)
        check(work, prefix, common.ROOT / "tests/models" / f"{name}.tflite")
    print(f"{len(CASES)} models as LiteRT's; {collisions} of their functions are exported by the C library")
    if collisions == 0 and sys.platform == "linux":
        raise common.Failure("the C library exports none of the names: the test shows nothing")
    # Nothing of the model is seen outside of the library of the Python module.
    model = aotc.compile(common.ROOT / "tests/models" / f"{STATEFUL}.tflite", name="sem")
    model(np.zeros(model.inputs[0].shape, np.int8), raw=True)
    [library] = (pathlib.Path(p.split()[-1]) for p in set(pathlib.Path("/proc/self/maps").read_text().splitlines())
                 if "aotc_program.so" in p and str(model._code) in p and " r-xp " in p)
    if exports(library) != {"aotc_batch", "aotc_reset"}:
        raise common.Failure(f"{library} exports {exports(library)}")


if __name__ == "__main__":
    common.main_of(main)
