# SPDX-License-Identifier: Apache-2.0
"""Models whose functions have names that the C library exports, too.

glibc has svc_run, sem_init, mtx_init and pthread_mutex_init. Each model runs in aotc verify and through the Python
module, where the C library is loaded first; every result is LiteRT's. tests/mlf/test_writing_archives.py does the same for MLF.
"""
import ctypes
import pathlib
import subprocess
import sys

import common
import litert_layers
import numpy as np
import pytest

sys.path.insert(0, str(common.ROOT / "python"))
import aotc  # noqa: E402

STATEFUL = "state/accumulator_int8"
# The prefix, the model, and the function of the C library that has the name of one of the model's.
CASES = (("svc", "digits/digits_int8", "svc_run"), ("sem", STATEFUL, "sem_init"), ("mtx", STATEFUL, "mtx_init"),
         ("pthread_mutex", STATEFUL, "pthread_mutex_init"))
RUNS = 4


@pytest.mark.parametrize("prefix, name, function", CASES, ids=[function for _, _, function in CASES])
def test_results(prefix, name, function):
    path = common.ROOT / "tests/models" / f"{name}.tflite"
    common.aotc("verify", path, "--prefix", prefix, "--only", "host")
    model = aotc.compile(path, name=prefix)
    layers, rng = litert_layers.Layers(path, sequence=True), np.random.default_rng(1)
    for run in range(RUNS):
        inputs = layers.random_inputs(rng)
        layers.run(inputs)
        want = layers.model_outputs()[0]
        have = model(inputs[0], raw=True)
        assert np.array_equal(np.asarray(have).reshape(want.shape), want), f"run {run}"


def exports(library):
    """Names that a shared library exports."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def test_the_c_library_has_such_names():
    assert sys.platform != "linux" or any(hasattr(ctypes.CDLL(None), function) for _, _, function in CASES)


def test_the_python_module_exports_nothing_of_the_model():
    common.require("gcc", "nm")
    model = aotc.compile(common.ROOT / "tests/models" / f"{STATEFUL}.tflite", name="sem")
    model(np.zeros(model.inputs[0].shape, np.int8), raw=True)
    [library] = (pathlib.Path(p.split()[-1]) for p in set(pathlib.Path("/proc/self/maps").read_text().splitlines())
                 if "aotc_program.so" in p and str(model._code) in p and " r-xp " in p)
    assert exports(library) == {"aotc_batch", "aotc_reset"}
