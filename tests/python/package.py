# SPDX-License-Identifier: Apache-2.0
"""What tests of the Python package share: its wheel, which is built of a source archive, and LiteRT's results."""
import os
import pathlib
import subprocess
import sys
import tarfile

import common
import numpy as np
from ai_edge_litert import interpreter as litert

ROOT = common.ROOT
MODELS = ROOT / "tests/models"
TAG = "py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64"


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise common.Failure(f"{' '.join(map(str, command))}: {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def source_archive(work, environment):
    """What the wheel is built of: an archive that has all that takes, and no tests."""
    code = f"from scikit_build_core import build; print(build.build_sdist({str(work / 'built')!r}))"
    name = run(sys.executable, "-c", code, cwd=ROOT, env=environment).split()[-1]
    with tarfile.open(work / "built" / name) as archive:
        names = [n.split("/", 1)[1] for n in archive.getnames() if "/" in n]
    assert "PKG-INFO" in names and "python/aotc/__init__.py" in names and "LICENSE" in names, names[:20]
    assert not [n for n in names if n.split("/")[0] in ("tests", "docs", "examples", "scripts", "build", ".venv")], names
    return work / "built" / name


def build_wheel(work):
    """Through ccache the release build's objects are found again."""
    tools = pathlib.Path(sys.executable).parent
    environment = {**os.environ, "CC": "/usr/bin/cc", "CXX": "/usr/bin/c++", "PATH": f"{tools}:{os.environ['PATH']}"}
    # Where the release build keeps them.
    environment.pop("CCACHE_DEPEND", None)
    sdist = source_archive(work, environment)
    run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", "-d", work / "wheelhouse",
        "-r", ROOT / "packaging/wheelhouse.txt")
    # Without a network, where it can be taken away: in an environment of its own that pip makes of the wheelhouse.
    alone = ["unshare", "--net"]
    if subprocess.run([*alone, "true"], capture_output=True).returncode != 0:
        alone = []
    run(*alone, sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--find-links", work / "wheelhouse",
        "-w", work / "built", sdist, env=environment)
    [wheel] = (work / "built").glob("aotc-*.whl")
    run(sys.executable, "-m", "wheel", "tags", "--platform-tag", TAG.split("-")[2], "--remove", wheel)
    [wheel] = (work / "built").glob("aotc-*.whl")
    return wheel


def reference(model, *inputs):
    """LiteRT's outputs for one sample after the other, in the order of the model's outputs."""
    runner = litert.Interpreter(str(model), experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
    runner.allocate_tensors()
    out = []
    for i in range(len(inputs[0])):
        for detail, array in zip(runner.get_input_details(), inputs):
            runner.set_tensor(detail["index"], array[i:i + 1].reshape(detail["shape"]))
        runner.invoke()
        out.append([runner.get_tensor(d["index"]) for d in runner.get_output_details()])
    return [np.concatenate(rows) for rows in zip(*out)]


def digits(kind):
    folder = MODELS / "digits"
    return folder / f"digits_{kind}.tflite", np.load(folder / f"test_inputs_{kind}.npy"), np.load(folder / "test_labels.npy")
