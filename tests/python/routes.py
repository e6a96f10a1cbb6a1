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


IMU, CAM = (np.random.default_rng(i).random((32, 6)).astype(np.float32) * scale for i, scale in ((1, 1), (2, 300)))


def two_inputs():
    """(name, model, argument of a call, example inputs): inputs of equal shape, in orders that sorting would change."""
    import keras
    dense = keras.layers.Dense

    def functional(order):
        imu, cam = keras.Input((6,), name="imu"), keras.Input((6,), name="cam")
        a, b = dense(4, name="z")(imu), dense(4, name="a")(cam)
        of_order = {"imu cam": [imu, cam], "cam imu": [cam, imu], "dict": {"imu": imu, "cam": cam}}[order]
        outputs = [a + b * 0.01, a - b * 0.02]
        return keras.Model(of_order, dict(zip(("sum", "difference"), outputs)) if order == "dict" else outputs)

    class Base(keras.Model):
        def __init__(self):
            super().__init__()
            self.first, self.second = dense(4), dense(4)

    class OfList(Base):
        def call(self, inputs):
            return self.first(inputs[0]) - self.second(inputs[1]) * 0.02, self.first(inputs[0])

    class OfDict(Base):
        def call(self, inputs, training=False):
            return {"z": self.first(inputs["imu"]) - self.second(inputs["cam"]) * 0.02, "a": self.first(inputs["imu"])}

    class OfArguments(Base):
        def call(self, imu, cam):
            return self.first(imu) - self.second(cam) * 0.02

    built = OfList()
    built([IMU, CAM])
    by_name = {"imu": IMU, "cam": CAM}
    yield "functional", functional("imu cam"), [IMU, CAM], None
    yield "sorted", functional("cam imu"), [CAM, IMU], None
    yield "dict", functional("dict"), by_name, None
    yield "built", built, [IMU, CAM], None
    yield "list", OfList(), [IMU, CAM], [IMU[:1], CAM[:1]]
    yield "subclassed_dict", OfDict(), by_name, {"cam": CAM[:1], "imu": IMU[:1]}
    yield "arguments", OfArguments(), (IMU, CAM), (IMU[:1], CAM[:1])


@test
def keras_two_inputs(aotc):
    for name, model, x, example in two_inputs():
        want = model(*x) if isinstance(x, tuple) else model(x)
        for data in (None, list(x) if isinstance(x, tuple) else x):
            m = aotc.compile(model, cpu="cortex-m4f", example_inputs=example, representative_data=data)
            if "dict" in name or name in ("functional", "sorted", "arguments"):
                assert {p.name for p in m.inputs} == {"imu", "cam"}, name
                by_name = m(imu=IMU, cam=CAM)
                assert str(by_name) == str(m(*x) if isinstance(x, tuple) else m(x)), name
            small, large = sorted(m.inputs, key=lambda p: "imu cam inputs_0 inputs_1".split().index(p.name) % 2)
            assert data is None or small.scale < 0.01 < 1 < large.scale, (name, m.inputs)
            assert not isinstance(want, dict) or set(m(x)) == set(want), name
            figures = m.compare(model, x)
            assert figures["largest_difference"] < (1e-5 if data is None else 0.2), (name, figures)


@test
def keras_recurrent(aotc):
    """With an open batch, float and int8."""
    import keras
    layers = keras.layers
    x = np.random.default_rng(3).normal(size=(40, 10, 6)).astype(np.float32)
    for kind in (layers.LSTM, layers.GRU, layers.SimpleRNN):
        for wrap in (lambda layer: layer, layers.Bidirectional):
            for sequences in (False, True):
                keras.utils.set_random_seed(1)
                parts = [wrap(kind(8, return_sequences=sequences)), layers.Flatten(), layers.Dense(3, activation="softmax")]
                model = keras.Sequential([keras.Input((10, 6)), *parts])
                figures = aotc.compile(model, cpu="cortex-m4f").compare(lambda a: model(a).numpy(), x)
                assert figures["largest_difference"] < 1e-5, (kind, wrap, sequences, figures)
                if sequences and wrap is layers.Bidirectional:
                    continue  # the converter quantises the reversed sequence otherwise than the sequence
                figures = aotc.compile(model, cpu="cortex-m4f", representative_data=x).compare(lambda a: model(a).numpy(), x)
                assert figures["largest_difference"] < 0.05, (kind, wrap, sequences, figures)


@test
def keras_says_what_to_do(aotc):
    import keras
    open_length = keras.Sequential([keras.Input((None, 6), name="motion"), keras.layers.LSTM(4)])
    try:
        aotc.compile(open_length)
    except aotc.ModelError as error:
        assert error.slug == "dynamic-shape" and "shape={'motion': (1, N, 6)}" in str(error), error
    else:
        raise AssertionError("compiled")
    assert aotc.compile(open_length, shape={"motion": (1, 7, 6)}).inputs[0].shape == (1, 7, 6)
    import tensorflow as tf
    odd = keras.Sequential([keras.Input((6,)), keras.layers.Lambda(lambda v: tf.math.betainc(v * v + 1, v * v + 1, tf.sigmoid(v)))])
    try:
        aotc.compile(odd)
    except aotc.ModelError as error:
        assert error.slug == "converter" and "Betainc" in str(error) and "loc(" not in str(error) and error.__context__ is None, error
    else:
        raise AssertionError("compiled")


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


def torch_two_inputs(aotc):
    """Names of forward, in their order, called by place, by name and with a dict."""
    import torch

    class Base(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Linear(6, 4), torch.nn.Linear(6, 4)

    class Difference(Base):
        def forward(self, imu, cam, gain=0.02):
            return self.first(imu) - gain * self.second(cam), self.first(imu)

    class OfDict(Base):
        def forward(self, features):
            imu = self.first(features["imu"])
            return {"z": imu - 0.02 * self.second(features["cam"]), "a": imu}

    imu, cam = torch.from_numpy(IMU), torch.from_numpy(CAM)
    model = Difference()
    want = [t.detach().numpy() for t in model(imu, cam)]
    for example in ((imu[:1], cam[:1]), {"cam": cam[:1], "imu": imu[:1]}):
        m = aotc.compile(model, cpu="cortex-m4f", example_inputs=example)
        assert [p.name for p in m.inputs] == ["imu", "cam"]
        for got in (m(IMU, CAM), m(cam=CAM, imu=IMU), m({"cam": CAM, "imu": IMU})):
            for a, b in zip(got, want, strict=True):
                assert np.abs(a - b).max() < 1e-5
    m = aotc.compile(model, cpu="cortex-m4f", example_inputs=(imu[:1], cam[:1]), representative_data=[IMU, CAM])
    assert np.median(np.abs(m(IMU, CAM)[0] - want[0])) < 0.2  # ranges are means, the largest saturate
    if m.inputs[0].scale:
        assert m.inputs[0].scale < 0.01 < 0.5 < m.inputs[1].scale, m.inputs
    of_dict = OfDict()
    m = aotc.compile(of_dict, cpu="cortex-m4f", example_inputs={"imu": imu[:1], "cam": cam[:1]})
    got, want = m(cam=CAM, imu=IMU), of_dict({"imu": imu, "cam": cam})
    assert list(got) == ["z", "a"] and all(np.abs(got[k] - want[k].detach().numpy()).max() < 1e-5 for k in got)


@test
def torch_two_inputs_by_litert(aotc):
    torch_two_inputs(aotc)


@test
def torch_two_inputs_by_onnx(aotc):
    without_litert_torch(lambda: torch_two_inputs(aotc))


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


@test
def scikit_learn_support_vectors(aotc):
    """Also at the end of pipelines and of searches, and as skl2onnx writes them by itself."""
    import skl2onnx
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, SVR, LinearSVC
    random = np.random.default_rng(1)
    x = random.normal(size=(200, 6)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] > 0).astype(int) + (x[:, 2] > 1)
    for model in (SVC(), make_pipeline(StandardScaler(), SVC()), make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), SVC())),
                  make_pipeline(StandardScaler(), LinearSVC()), GridSearchCV(SVC(), {"C": [1, 2]})):
        model.fit(x, y)
        m = aotc.compile(model, cpu="cortex-m4f", example_inputs=x)
        assert [p.name for p in m.outputs] == ["label", "probabilities"]
        assert np.array_equal(m(x)["label"].reshape(-1), model.predict(x)), model
        assert m.accuracy(x, y, output="label") == model.score(x, y)
    regressor = make_pipeline(StandardScaler(), SVR()).fit(x, x[:, 0])
    assert np.abs(aotc.compile(regressor, example_inputs=x)(x).reshape(-1) - regressor.predict(x)).max() < 1e-5
    pipeline = make_pipeline(StandardScaler(), SVC()).fit(x, y)
    m = aotc.compile(skl2onnx.to_onnx(pipeline, x[:1]).SerializeToString())
    assert np.array_equal(m(x)[0].reshape(-1), pipeline.predict(x))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="tests whose names contain this")
    arguments = parser.parse_args()
    os.environ.setdefault("AOTC", str(ROOT / "build/release/compiler/aotc"))
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    if arguments.only:
        import aotc
        chosen = [t for t in TESTS if arguments.only in t.__name__] or parser.error(f"no test is named {arguments.only}")
        for one in chosen:
            one(aotc)
        return
    # Each in a process of its own: TensorFlow's converter and LiteRT's do not live in one.
    failed = [t.__name__ for t in TESTS if subprocess.run([sys.executable, __file__, "--only", t.__name__]).returncode]
    print(f"{len(TESTS) - len(failed)} passed, {len(failed)} failed, 0 skipped")
    if failed:
        sys.exit(f"FAILED: {', '.join(failed)}")


if __name__ == "__main__":
    common.main_of(main)
