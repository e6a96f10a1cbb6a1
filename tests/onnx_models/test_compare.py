# SPDX-License-Identifier: Apache-2.0
"""scripts/onnx-compare: what it prints of a quantised and of a float model, that it sees what is wrong, and its
messages.
"""
import pathlib
import sys

import common
import numpy as np
import onnx_layers
import pytest
import quantised

HERE = pathlib.Path(__file__).resolve().parent
TORCH = HERE.parent / "models" / "torch"


@pytest.fixture(scope="module", autouse=True)
def modules():
    common.need_modules("onnx", "onnxruntime")


@pytest.fixture
def compare(tmp_path):
    """Runs it: what it prints must have these parts."""
    def run(*arguments, says, code=0):
        done = common.run([sys.executable, HERE / "compare.py", *arguments, "--work", tmp_path / "compare"], expect=None)
        text = done.stdout + done.stderr
        assert done.returncode == code and "Traceback" not in text, text
        assert [part for part in says if part not in text] == [], text
    return run


def test_differences_are_seen():
    want = np.arange(4000, dtype=np.int8).reshape(1, 4000)
    one, two, far = want.copy(), want.copy(), want.copy()
    one[0, 7] += 1
    two[0, :9] += 1
    far[0, 7] += 2
    for got, exact, good in ((want, True, True), (one, True, False), (one, False, True), (two, False, False),
                             (far, False, False)):
        found = onnx_layers.Difference("y", [want], [got.tobytes()])
        assert found.is_good(exact) == good, found.text()
    real = np.linspace(-1, 1, 50, dtype=np.float32)
    for by, good in ((1e-6, True), (1e-2, False)):
        if onnx_layers.Difference("y", [real], [(real + np.float32(by)).tobytes()]).is_good(False) != good:
            raise common.Failure(f"floats that are {by} apart are taken for {'wrong' if good else 'right'}")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("quantised") / "autoencoder.onnx"
    quantised.quantise(quantised.autoencoder(), "s8s8_channels", path, reduce_range=True)
    return path


def test_quantised(model, compare):
    compare(model, "--inputs", "2", says=["(QuantizeLinear): equal", "quantised tensors", " 0 not equal, 0 tensors wrong"])


def test_floats(compare):
    compare(TORCH / "dense_script.onnx", says=["(output of the model as it is)", " 0 tensors wrong"])


@pytest.mark.parametrize("options, says", [
    (["--input", "z=z.npy"], "there is no input 'z'; its inputs are 'x'"), (["--input", "x=none.npy"], "none.npy"),
    (["--dim", "batch"], "--dim batch: NAME=...")], ids=["no such input", "no such file", "no dimension"])
def test_options(options, says, model, compare):
    compare(model, *options, says=[says], code=1)


def test_model_that_is_not_there(tmp_path, compare):
    compare(tmp_path / "none.onnx", says=["none.onnx: there is no such file"], code=1)


def test_damaged_model(model, tmp_path, compare):
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(model.read_bytes()[:1000])
    compare(damaged, says=["damaged.onnx: onnxruntime:"], code=1)


def test_open_dimension(tmp_path, compare):
    import onnx
    open_model = onnx.load(TORCH / "dense_script.onnx")
    open_model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "rows"
    onnx.save(open_model, tmp_path / "open.onnx")
    compare(tmp_path / "open.onnx", says=["dimension 0 ('rows')", "--dim rows=1"], code=1)
