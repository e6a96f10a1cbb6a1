#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""aotc.compile takes a model of Keras, PyTorch or scikit-learn as it is in memory: float and, with representative data,
int8. What the emitted C computes is compared with LiteRT's reference kernels or onnxruntime on the file that the route
made, and with the framework's own model.

Usage: routes.py [--only NAME]    the packages are those of requirements-routes.txt
"""
import argparse
import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests" / "e2e")]
import common  # noqa: E402
SHAPE = (8, 8, 1)
TESTS = []


def test(f):
    TESTS.append(f)
    return f


def samples(count=64):
    return np.random.default_rng(1).random((count, *SHAPE)).astype(np.float32)


def litert(path, x):
    """Of the reference kernels, one sample after the other; integers as they are."""
    from ai_edge_litert import interpreter as tflite
    runner = tflite.Interpreter(str(path), experimental_op_resolver_type=tflite.OpResolverType.BUILTIN_REF)
    runner.allocate_tensors()
    [given], [made] = runner.get_input_details(), runner.get_output_details()
    out = []
    for sample in x:
        runner.set_tensor(given["index"], sample[None])
        runner.invoke()
        out.append(runner.get_tensor(made["index"])[0])
    return np.stack(out)


def onnxruntime_of(path, x):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options)
    name = session.get_inputs()[0].name
    return [np.concatenate(rows) for rows in zip(*(session.run(None, {name: s[None]}) for s in x))]


def keras_model():
    import keras
    keras.utils.set_random_seed(1)
    return keras.Sequential([keras.Input(SHAPE), keras.layers.Conv2D(4, 3, activation="relu"), keras.layers.Flatten(),
                             keras.layers.Dense(10, activation="softmax")], name="small_net")


@test
def keras_float(aotc):
    model, x = keras_model(), samples()
    m = aotc.compile(model, cpu="cortex-m4f")
    assert m.name == "small_net" and m.inputs[0].dtype == "float32"
    assert m.compare(lambda a: model(a).numpy(), x)["largest_difference"] < 1e-5


@test
def keras_int8(aotc):
    model, x = keras_model(), samples()
    m = aotc.compile(model, cpu="cortex-m4f", representative_data=x)
    assert m.inputs[0].dtype == m.outputs[0].dtype == "int8"
    raw = np.random.default_rng(2).integers(-128, 128, x.shape).astype(np.int8)
    assert np.array_equal(m(raw, raw=True), litert(m._source, raw))
    assert m.compare(lambda a: model(a).numpy(), x)["largest_difference"] < 0.02
    assert len(m.layers.to_pandas()) == len(m.layers)


def torch_model():
    import torch
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 10))


def without_litert_torch(f):
    """As where LiteRT's converter is not installed."""
    names = ("litert_torch", "ai_edge_torch")
    kept = {name: sys.modules.get(name) for name in names}
    sys.modules.update(dict.fromkeys(names))
    try:
        return f()
    finally:
        for name, was in kept.items():
            if was is None:
                del sys.modules[name]
            else:
                sys.modules[name] = was


def of_torch(aotc, **given):
    import torch
    model, x = torch_model(), samples().transpose(0, 3, 1, 2).copy()
    m = aotc.compile(model, cpu="cortex-m4f", example_inputs=torch.from_numpy(x[:1]), **given)
    return m, x, m.compare(lambda a: model(torch.from_numpy(a)).detach().numpy(), x)


@test
def torch_float_by_onnx(aotc):
    m, _, compared = without_litert_torch(lambda: of_torch(aotc))
    assert m._source.suffix == ".onnx"
    assert compared["largest_difference"] < 1e-5


@test
def torch_int8_by_onnx(aotc):
    x = samples().transpose(0, 3, 1, 2).copy()
    m, x, compared = without_litert_torch(lambda: of_torch(aotc, representative_data=x))
    assert m._source.suffix == ".onnx"
    assert np.array_equal(m(x), onnxruntime_of(m._source, x)[0])
    assert compared["agreement"] > 0.9


@test
def torch_float_by_litert(aotc):
    m, x, compared = of_torch(aotc)
    assert m._source.suffix == ".tflite" and m.inputs[0].dtype == "float32"
    assert compared["largest_difference"] < 1e-5
    assert np.abs(m(x) - litert(m._source, x)).max() < 1e-5


@test
def torch_int8_by_litert(aotc):
    x = samples().transpose(0, 3, 1, 2).copy()
    m, x, compared = of_torch(aotc, representative_data=x)
    assert m.inputs[0].dtype == m.outputs[0].dtype == "int8"
    raw = np.random.default_rng(2).integers(-128, 128, x.shape).astype(np.int8)
    assert np.array_equal(m(raw, raw=True), litert(m._source, raw))
    assert compared["agreement"] > 0.9


@test
def torch_two_inputs_by_litert(aotc):
    """Inputs keep the order of the module's, whatever their names are sorted as."""
    import torch

    class Difference(torch.nn.Module):
        def forward(self, a, b):
            return torch.relu(a - 2 * b)

    a, b = (np.random.default_rng(i).random((16, 12)).astype(np.float32) for i in (1, 2))
    given = (torch.from_numpy(a[:1]), torch.from_numpy(b[:1]))
    m = aotc.compile(Difference(), cpu="cortex-m4f", example_inputs=given, representative_data=[a, b])
    assert np.median(np.abs(m(a, b) - np.maximum(a - 2 * b, 0))) < 0.01  # ranges are means, the largest saturate


@test
def scikit_learn(aotc):
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPRegressor
    random = np.random.default_rng(1)
    x = random.normal(size=(200, 6)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] > 0).astype(int) + (x[:, 2] > 1)
    for estimator in (RandomForestClassifier(5, random_state=1), LogisticRegression(), MLPRegressor(hidden_layer_sizes=(8,), random_state=1, max_iter=20)):
        estimator.fit(x, y)
        m = aotc.compile(estimator, cpu="cortex-m4f", example_inputs=x)
        ours = m(x)
        ours = ours if isinstance(ours, tuple) else (ours,)
        for a, b in zip(ours, onnxruntime_of(m._source, x), strict=True):
            np.testing.assert_allclose(a.reshape(b.shape), b, rtol=1e-5, atol=1e-6)
        if len(ours) == 2:
            assert np.array_equal(ours[0].reshape(-1), estimator.predict(x)), type(estimator)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="tests whose names contain this")
    arguments = parser.parse_args()
    os.environ.setdefault("AOTC", str(ROOT / "build/release/compiler/aotc"))
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    if arguments.only:
        import aotc
        common.run_tests(TESTS, arguments.only, aotc)
        return
    # Each in a process of its own: TensorFlow's converter and LiteRT's do not live in one.
    failed = [t.__name__ for t in TESTS if subprocess.run([sys.executable, __file__, "--only", t.__name__]).returncode]
    print(f"{len(TESTS) - len(failed)} passed, {len(failed)} failed, 0 skipped")
    if failed:
        sys.exit(f"FAILED: {', '.join(failed)}")


if __name__ == "__main__":
    common.main_of(main)
