# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of models of Keras, PyTorch and ONNX have the framework's names and order: in calls, calibration,
accuracy, the C header and the report. Every model has inputs of equal shape, so that only results tell them apart.

frameworks.py stands in for the frameworks; routes.py tries the real ones.
"""
import collections
import os
import pathlib
import subprocess
import sys
import types

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(pathlib.Path(__file__).parent)]
import common  # noqa: E402
import frameworks  # noqa: E402
from errors import raises  # noqa: E402
from frameworks import Model, Value  # noqa: E402

RNG = np.random.default_rng(1)
IMU, CAM = RNG.normal(0, 1, (20, 6)).astype(np.float32), RNG.normal(0, 50, (20, 6)).astype(np.float32)


@pytest.fixture
def aotc(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", frameworks.tensorflow())
    monkeypatch.setitem(sys.modules, "torch", frameworks.torch())
    import aotc
    return aotc


def mixed(imu, cam):
    """Neither order of the inputs nor of the results can be mistaken."""
    return imu * 2 - cam, cam * 3 + imu


def same(got, want, tolerance=0.0):
    got = list(got.values()) if isinstance(got, dict) else list(got) if isinstance(got, tuple) else [got]
    assert len(got) == len(want)
    for a, b in zip(got, want):
        assert np.abs(a - b).max() <= tolerance, np.abs(a - b).max()


def inputs(*names, shape=(None, 6)):
    return [Value(shape, name) for name in names]


def functional(order="imu cam"):
    def call(values):
        by_name = dict(zip(order.split(), values))
        return list(mixed(by_name["imu"], by_name["cam"]))
    return Model(inputs(*order.split()), call, ["minus", "add"])


def of_dict():
    imu, cam = inputs("first", "second")
    def call(values):
        minus, add = mixed(values["imu"], values["cam"])
        return {"minus": minus, "add": add}
    return Model({"imu": imu, "cam": cam}, call, ["out", "out_1"])


class Subclassed(Model):
    def call(self, imu, cam, training=False):
        return mixed(imu, cam)


class OfList(Model):
    def call(self, values):
        return mixed(values[0], values[1])


EXAMPLE = np.zeros((1, 6), np.float32)


# --- Keras ---------------------------------------------------------------------------------------


def test_functional_models_keep_the_order_of_their_inputs(aotc):
    for order in ("imu cam", "cam imu"):
        m = aotc.compile(functional(order))
        assert [p.name for p in m.inputs] == order.split() and [p.name for p in m.outputs] == ["minus", "add"]
        values = {"imu": IMU, "cam": CAM}
        arrays = [values[name] for name in order.split()]
        want = mixed(IMU, CAM)
        for got in (m(*arrays), m(arrays), m(imu=IMU, cam=CAM), m(cam=CAM, imu=IMU), m({"cam": CAM, "imu": IMU}), m(arrays[0], **{
                order.split()[1]: arrays[1]})):
            same(got, want)
        assert np.array_equal(m(*arrays)["add"], want[1])


def test_the_header_and_the_report_have_that_order(aotc):
    m = aotc.compile(functional("imu cam"))
    header = m.files["net.h"]
    assert header.index("NET_INPUT_IMU_BYTES") < header.index("NET_INPUT_CAM_BYTES")
    assert header.index("NET_OUTPUT_MINUS_BYTES") < header.index("NET_OUTPUT_ADD_BYTES")
    assert "aotc_input" not in header and "aotc_output" not in header
    report = m.report()
    assert [p["name"] for p in report.data["inputs"]] == ["imu", "cam"], report.data["inputs"]
    assert [p["name"] for p in report.data["outputs"]] == ["minus", "add"]
    assert "aotc_input" not in report.html


def test_calibration_has_that_order(aotc):
    """Of every form of representative data, and the ranges differ by 50."""
    want = [float(np.abs(a).max() / 127) for a in (IMU, CAM)]
    pairs = list(zip(IMU, CAM))
    forms = ([IMU, CAM], (IMU, CAM), {"cam": CAM, "imu": IMU}, pairs, [list(p) for p in pairs], (p for p in pairs),
             [{"cam": b, "imu": a} for a, b in pairs], lambda: pairs, [(IMU[:7], CAM[:7]), (IMU[7:], CAM[7:])],
             lambda: ([a[None], b[None]] for a, b in pairs))
    for data in forms:
        for model, scales in ((functional("imu cam"), want), (of_dict(), want)):
            if isinstance(model._inputs_struct, dict) and not isinstance(data, dict):
                continue
            m = aotc.compile(model, representative_data=data)
            got = [p.scale for p in m.inputs]
            assert np.allclose(got, scales, rtol=1e-6), (got, scales)
            same(m(imu=IMU, cam=CAM), mixed(IMU, CAM), 2.0)
    m = aotc.compile(functional("cam imu"), representative_data=[CAM, IMU])
    assert np.allclose([p.scale for p in m.inputs], want[::-1], rtol=1e-6)


def test_models_of_a_dict_have_names_and_no_order(aotc):
    m = aotc.compile(of_dict())
    got = m({"cam": CAM, "imu": IMU})
    assert list(got) == ["minus", "add"] and [p.name for p in m.inputs] == ["imu", "cam"]
    same(got, mixed(IMU, CAM))
    same(m(cam=CAM, imu=IMU), mixed(IMU, CAM))
    raises(TypeError, lambda: m(IMU, CAM), "names but no order", "'imu', 'cam'")
    raises(TypeError, lambda: aotc.compile(of_dict(), representative_data=[IMU, CAM]), "names but no order")
    assert m.accuracy({"imu": IMU, "cam": CAM}, mixed(IMU, CAM)[1].argmax(1), output="add") == 1


def test_subclassed_models_are_called_as_their_call(aotc):
    for example in ((EXAMPLE, EXAMPLE), {"cam": EXAMPLE, "imu": EXAMPLE}):
        m = aotc.compile(Subclassed(), example_inputs=example)
        assert [p.name for p in m.inputs] == ["imu", "cam"]
        same(m(IMU, CAM), mixed(IMU, CAM))
        same(m(cam=CAM, imu=IMU), mixed(IMU, CAM))
    m = aotc.compile(OfList(), example_inputs=[EXAMPLE, EXAMPLE])
    same(m([IMU, CAM]), mixed(IMU, CAM))
    built = OfList()
    built._build_shapes_dict = {"input_shape": [(3, 6), (3, 6)]}
    same(aotc.compile(built)(IMU, CAM), mixed(IMU, CAM))
    raises(TypeError, lambda: aotc.compile(Subclassed()), "example_inputs")
    raises(TypeError, lambda: aotc.compile(Subclassed(), example_inputs=(EXAMPLE,)), "(imu, cam)")


def test_outputs_that_are_equal_have_both_names(aotc):
    def call(values):
        minus, add = mixed(*values)
        return [minus, add, minus]
    m = aotc.compile(Model(inputs("imu", "cam"), call, ["a", "b", "c"]))
    assert [p.name for p in m.outputs] == ["a", "b", "c"]
    same(m(IMU, CAM), [*mixed(IMU, CAM), mixed(IMU, CAM)[0]])


def test_a_wrong_wiring_is_an_error(aotc):
    """A converter that loses or merges an input."""
    from aotc import _ports, _tflite
    m = aotc.compile(functional())
    file = m._source.read_bytes()
    names = [("minus", "minus"), ("add", "add")]
    raises(aotc.ModelError, lambda: _tflite.rewire(file, [("imu", "imu"), ("lost", "gps")], names), "'gps'", "[converter]")
    raises(aotc.InternalError, lambda: _tflite.rewire(file[:200], [("imu", "imu")], names))
    interface = _ports.Interface(("imu", "cam"), ("y",))
    assert not _ports.check(interface, ["imu", "cam"], ["y"]) and not _ports.check(interface, ["cam"], ["y"])
    assert _ports.check(interface, ["cam", "imu"], ["y"]) and _ports.check(interface, ["imu", "cam"], ["z"])


# --- PyTorch -------------------------------------------------------------------------------------


def modules():
    torch = sys.modules["torch"]

    class Pair(torch.nn.Module):
        def forward(self, imu, cam, gain=2.0):
            return imu * gain - cam, cam * 3 + imu

    class Dict(torch.nn.Module):
        def forward(self, imu, cam):
            minus, add = mixed(imu, cam)
            return {"minus": minus, "imu": add}

    class Named(torch.nn.Module):
        def forward(self, features):
            return collections.namedtuple("Two", "minus add")(*mixed(features["imu"], features["cam"]))

    class Unused(torch.nn.Module):
        def forward(self, imu, gps, cam):
            return mixed(imu, cam)
    return Pair(), Dict(), Named(), Unused()


def pytorch(aotc, suffix):
    pair, of_a_dict, named, unused = modules()
    one, two, three = inputs("", "", "", shape=(1, 6))
    for example in ((one, two), {"cam": two, "imu": one}):
        m = aotc.compile(pair, example_inputs=example)
        assert m._source.suffix == suffix and [p.name for p in m.inputs] == ["imu", "cam"] and pair.training
        for got in (m(IMU, CAM), m(cam=CAM, imu=IMU), m(IMU, cam=CAM)):
            same(got, mixed(IMU, CAM))
    m = aotc.compile(of_a_dict, example_inputs=(one, two))
    assert list(m(IMU, CAM)) == ["minus", "imu"] and [p.name for p in m.outputs] == ["minus", "imu_1"]
    same(m(IMU, CAM), mixed(IMU, CAM))
    m = aotc.compile(named, example_inputs={"imu": one, "cam": two})
    assert [p.name for p in m.outputs] == ["minus", "add"]
    same(m(imu=IMU, cam=CAM), mixed(IMU, CAM))
    raises(TypeError, lambda: m(IMU, CAM), "no order")
    m = aotc.compile(unused, example_inputs=(one, two, three))
    same(m(**{"imu": IMU, "cam": CAM, **({"gps": IMU} if len(m.inputs) == 3 else {})}), mixed(IMU, CAM))
    if len(m.inputs) == 2:
        raises(TypeError, lambda: m(IMU, IMU, CAM), "'imu', 'cam'")


def test_pytorch_by_onnx(aotc, monkeypatch):
    common.need_modules("onnx")
    for name in ("litert_torch", "ai_edge_torch"):
        monkeypatch.setitem(sys.modules, name, None)
    pytorch(aotc, ".onnx")


def test_pytorch_by_litert(aotc, monkeypatch):
    monkeypatch.setitem(sys.modules, "litert_torch", frameworks.litert_torch())
    pytorch(aotc, ".tflite")


# --- Files ---------------------------------------------------------------------------------------


def test_files_have_their_own_order(aotc):
    """ONNX lists inputs in a graph, and a .tflite file in its subgraph."""
    onnx, _ = common.need_modules("onnx", "onnxruntime")
    from onnx import TensorProto, helper
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 6]) for n in ("zeta", "alpha", "y", "b")]
    graph = helper.make_graph([helper.make_node("Sub", ["zeta", "alpha"], ["y"]), helper.make_node("Add", ["y", "zeta"], ["b"])],
                              "two", info[:2], info[2:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    import onnxruntime
    session = onnxruntime.InferenceSession(model.SerializeToString())
    assert [i.name for i in session.get_inputs()] == ["zeta", "alpha"]
    want = [np.concatenate(rows) for rows in zip(*(session.run(None, {"zeta": a[None], "alpha": b[None]}) for a, b in zip(IMU, CAM)))]
    m = aotc.compile(model)
    for got in (m(IMU, CAM), m(alpha=CAM, zeta=IMU), m({"alpha": CAM, "zeta": IMU}), m([IMU, CAM])):
        same(got, want)
    assert m(IMU, CAM)["b"] is not None and [p.name for p in m.outputs] == ["y", "b"]
    raises(KeyError, lambda: m(IMU, CAM)["x"], "'y', 'b'")


# --- Calls and samples that are wrong ------------------------------------------------------------


def test_wrong_calls_are_refused(aotc):
    m = aotc.compile(functional())
    raises(TypeError, lambda: m(IMU), "takes 2 inputs, but 1 were given", "'imu', 'cam'")
    raises(TypeError, lambda: m(IMU, CAM, CAM), "takes 2 inputs, but 3 were given")
    raises(TypeError, lambda: m(imu=IMU), "'cam' is missing")
    raises(TypeError, lambda: m(IMU, imu=CAM), "given twice")
    raises(TypeError, lambda: m(imu=IMU, gps=CAM), "no input 'gps'", "'imu', 'cam'")
    raises(TypeError, lambda: m({"imu": IMU}, cam=CAM), "not both")
    data = types.SimpleNamespace(as_numpy_iterator=lambda: iter([IMU]))
    raises(TypeError, lambda: m(data, CAM), "not an array", "unbatch()")


def test_wrong_representative_data_says_what_to_do(aotc):
    def compiled(data, model=None):
        return aotc.compile(model or functional(), representative_data=data)
    one = lambda: Model(inputs("image", shape=(None, 6)), lambda v: [v[0] * 2], ["y"])  # noqa: E731
    single = Model(Value((None, 6), "image"), lambda v: v * 2, ["y"])
    raises(ValueError, lambda: compiled([IMU.reshape(-1, 3, 2), CAM]), "'imu'", "(6,)", "(n, 6)", "(20, 3, 2)")
    raises(ValueError, lambda: compiled([IMU, CAM[:7]]), "'imu' 20, 'cam' 7")
    raises(ValueError, lambda: compiled([]), "no samples")
    raises(TypeError, lambda: compiled(IMU), "takes 2 inputs, but 1 were given")
    raises(TypeError, lambda: compiled({"imu": IMU}), "'cam' is missing")
    raises(ValueError, lambda: compiled([IMU * np.float32(np.nan), CAM]), "NaN", "'imu'")
    raises(ValueError, lambda: compiled([(x, 3) for x in IMU], single), "labels", "lambda x, y: x")
    batches = types.SimpleNamespace(as_numpy_iterator=lambda: iter([IMU[:8], IMU[8:]]), cardinality=lambda: 2)
    assert np.isclose(compiled(batches, single).inputs[0].scale, np.abs(IMU).max() / 127)
    endless = types.SimpleNamespace(as_numpy_iterator=lambda: iter([IMU]), cardinality=lambda: -1)
    raises(ValueError, lambda: compiled(endless, single), "take(")
    assert compiled(IMU, one()).inputs[0].name == "image"
    for other in ("model.tflite", b"TFL3", Estimator()):
        raises(TypeError, lambda: compiled(IMU, other), "quantises only models of Keras and PyTorch", "omit")  # noqa: B023


def test_wrong_samples_say_what_to_do(aotc):
    m = aotc.compile(Model(Value((None, 6), "image"), lambda v: v * 2, ["y"]), representative_data=IMU)
    real = np.abs(IMU) * 50
    raises(TypeError, lambda: m(real.astype(np.uint8)), "uint8 was given", "exceed int8", "astype(numpy.float32) / 255", "raw=True")
    raises(TypeError, lambda: m(np.full((1, 6), 3)), "raw=True")
    assert m((np.zeros((1, 6), np.int8)), raw=True).shape == (1, 6)
    labels = np.zeros(20, int)
    m = aotc.compile(functional())
    raises(ValueError, lambda: m.accuracy([IMU, CAM], labels), "'minus', 'add'", "output=")
    raises(ValueError, lambda: m.accuracy([IMU, CAM], labels[:10], output="add"), "x has 20 samples, but y has 10")
    raises(ValueError, lambda: m.accuracy([IMU, CAM], labels[:4], output="add"), "x has 20 samples, but y has 4")
    raises(ValueError, lambda: m.accuracy([IMU, CAM], labels + 6, output="add"), "from 0 to 5")
    raises(ValueError, lambda: m.accuracy([IMU, CAM], np.eye(4)[labels], output="add"), "6 classes")
    raises(ValueError, lambda: m.accuracy([IMU, CAM], labels, output="sub"), "no output 'sub'")
    want = mixed(IMU, CAM)
    assert m.accuracy([IMU, CAM], want[0].argmax(1), output="minus") == m.accuracy([IMU, CAM], want[1].argmax(1), output=1) == 1
    assert m.accuracy([CAM, IMU], want[0].argmax(1), output="minus") < 1
    assert m.compare(lambda x: list(mixed(*x)), [IMU, CAM]) == m.compare(mixed, (IMU, CAM)) == {
        "largest_difference": 0, "mean_difference": 0, "agreement": 1}
    assert m.compare(mixed, (IMU, CAM), output="add")["largest_difference"] == 0
    assert m.compare(lambda a, b: mixed(b, a), (IMU, CAM))["largest_difference"] > 1
    raises(ValueError, lambda: m.compare(lambda a, b: mixed(a, b)[0], (IMU, CAM)), "output=")
    raises(ValueError, lambda: m.compare(lambda a, b: mixed(a, b)[0][:, :3], (IMU, CAM), output="minus"), "(20, 3)")


def test_open_dimensions_are_fixed_by_name(aotc):
    model = lambda: Model(Value((None, None, 6), "motion"), lambda v: v * 2, ["y"])  # noqa: E731
    raises(aotc.ModelError, lambda: aotc.compile(model()), "'motion'", "(1, N, 6)", "shape=").slug == "dynamic-shape"
    assert aotc.compile(model(), shape={"motion": (1, 4, 6)}).inputs[0].shape == (1, 4, 6)
    x = np.zeros((3, 5, 6), np.float32)
    assert aotc.compile(model(), representative_data=x + 1).inputs[0].shape == (1, 5, 6)
    raises(ValueError, lambda: aotc.compile(model(), representative_data=[x[0], x[0][:4]]), "(1, 5, 6)", "(1, 4, 6)")
    raises(aotc.OptionError, lambda: aotc.compile(model(), shape={"motion": (1, 6)}), "3 dimensions")


MLIR = """<unknown>:0: error: loc(callsite(fused["TensorListReserve:", "x@__inference_1"] at fused["Call:"])): 'tf.TensorListReserve' op requires element_shape to be static during TF Lite transformation pass
<unknown>:0: note: loc(fused["Call:"]): called from
func.func @main(%arg0: tensor<?x6xf32>) -> tensor<?x3xf32>
"""


def test_the_converters_own_form_is_not_shown(aotc, monkeypatch):
    """Neither in the message, nor as its cause, nor on standard error."""
    monkeypatch.setattr(frameworks._Converter, "refusal", MLIR)
    error = raises(aotc.ModelError, lambda: aotc.compile(functional()), "op requires element_shape to be static", "help: ")
    assert error.slug == "converter" and error.converter_output == MLIR
    assert error.__cause__ is None and error.__context__ is None
    assert "loc(" not in str(error) and "func.func" not in str(error) and len(str(error)) < 500
    code = """
import os
from aotc import _keras
with _keras._without_intermediate_form():
    os.write(2, %r.encode() + b"kept\\n")
os.write(2, b"behind\\n")
""" % MLIR
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, capture_output=True,
                          text=True, check=True)
    assert done.stderr == "kept\nbehind\n", done.stderr


# --- scikit-learn --------------------------------------------------------------------------------


class Estimator:
    """Of scikit-learn; `zipmap`: skl2onnx has that option for it."""

    def __init__(self, zipmap=True, steps=()):
        self.zipmap, self.steps = zipmap, [(str(i), step) for i, step in enumerate(steps)]

    def get_params(self):
        return {}


Estimator.__name__, Estimator.__module__ = "BaseEstimator", "sklearn.base"


@pytest.mark.parametrize("zipmap", [True, False], ids=["svc", "linear_svc"])
@pytest.mark.parametrize("nested", [0, 1, 2])
def test_classifiers_of_pipelines_give_tables(aotc, monkeypatch, zipmap, nested):
    """Also those without predict_proba, and those for which skl2onnx does not have the option."""
    asked = []

    def to_onnx(model, first, options):
        asked.append(options)
        last = model
        while last.steps:
            last = last.steps[-1][1]
        if not last.zipmap and options[id(last)]:
            raise NameError("Option 'zipmap' not in [...]")
        file = (ROOT / "tests/models/sklearn/svc.onnx").read_bytes()
        return types.SimpleNamespace(SerializeToString=lambda: file)

    base = types.SimpleNamespace(is_classifier=lambda model: True)
    monkeypatch.setitem(sys.modules, "sklearn", types.SimpleNamespace(base=base))
    monkeypatch.setitem(sys.modules, "sklearn.base", base)
    monkeypatch.setitem(sys.modules, "skl2onnx", types.SimpleNamespace(to_onnx=to_onnx))
    model = last = Estimator(zipmap)
    for _ in range(nested):
        model = Estimator(True, [Estimator(), model])
    m = aotc.compile(model, example_inputs=np.zeros((3, 8)))
    assert [p.name for p in m.outputs] == ["label", "probabilities"] and m.outputs[1].scale is None
    assert asked[0][id(last)] == {"zipmap": False} and len(asked[0]) == 1 + 2 * nested
    assert asked[1:] == ([] if zipmap else [dict.fromkeys(asked[0], {})])
