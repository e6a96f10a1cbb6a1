# SPDX-License-Identifier: Apache-2.0
"""Cases of operators.py: functions that exporters write out, which become one operator, and what only looks like one."""
import numpy as np

from operator_models import floats, graph_of


# What stays as it is written.
STEPS = {"layer_one_number", "layer_scale_of_rows", "layer_wider_scale", "layer_looked_at", "layer_root_looked_at", "rms_cubes",
         "layer_other_axis", "layer_other_squares", "gelu_erf_other_half", "gelu_erf_other_root", "gelu_erf_other_sum",
         "gelu_tanh_other", "gelu_looked_at", "hard_swish_other_most", "hard_swish_other_share", "softmax_columns", "softmax_least"}


class Steps:
    """Nodes in the order in which they are added; each gives one tensor."""

    def __init__(self):
        self.nodes, self.known = [], {}

    def __call__(self, op, *operands, to=None, **attributes):
        from onnx import helper
        to = to or f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(operands), [to], **attributes))
        return to

    def of(self, value, kind=np.float32):
        name = f"c{len(self.known)}"
        self.known[name] = np.array(value, kind)
        return name

    def mean(self, x):
        return self("ReduceMean", x, axes=[-1], keepdims=1)

    def root(self, squares, epsilon=1e-5):
        return self("Sqrt", self("Add", squares, self.of(epsilon)))

    def case(self, shape, scale=1.0, outputs=("y0",)):
        given = {"x0": floats(*shape) * np.float32(scale)}
        return graph_of(self.nodes, given, list(outputs), self.known), given


def normalisations():
    """(name, shape, steps, outputs)"""
    def layer(square, divide, scale=(10,), bias=(10,), twice=False, shape=(3, 4, 10), turned=False, outputs=("y0",)):
        s = Steps()
        centred = s("Sub", "x0", s.mean("x0"))
        again = s("Sub", "x0", s.mean("x0")) if twice else centred
        variance = s.mean(s("Pow", again, s.of(2)) if square == "pow" else s("Mul", again, again))
        root = s.root(variance)
        out = s("Div", centred, root) if divide else s("Mul", centred, s("Reciprocal", root))
        for op, of in (("Mul", scale), ("Add", bias)):
            if of:
                operands = [out, s.of(floats(*of))]
                out = s(op, *(operands[::-1] if turned else operands), to=None)
        s.nodes[-1].output[0] = "y0"
        for name in outputs[1:]:
            s("Identity", {"centred": centred, "root": root}[name], to=name)
        return shape, s, outputs

    yield "layer_pow", *layer("pow", True)
    yield "layer_mul", *layer("mul", False, turned=True)
    yield "layer_twice", *layer("pow", True, twice=True)
    yield "layer_bare", *layer("pow", True, (), ())
    yield "layer_scale", *layer("mul", True, bias=())
    yield "layer_bias", *layer("mul", True, scale=(), bias=(1, 10))
    yield "layer_one_number", *layer("mul", True, scale=(1,), bias=())
    yield "layer_scale_of_rows", *layer("mul", True, scale=(4, 10), bias=(10,))
    yield "layer_wider_scale", *layer("mul", True, scale=(2, 3, 4, 10), bias=(10,))
    yield "layer_looked_at", *layer("pow", True, outputs=("y0", "centred"))
    yield "layer_root_looked_at", *layer("pow", True, outputs=("y0", "root"))
    yield "layer_list", *layer("pow", True, shape=(10,))
    for name, divide, exponent in (("mul", False, 2), ("div", True, 2), ("cubes", True, 3)):
        s = Steps()
        root = s.root(s.mean(s("Abs", s("Pow", "x0", s.of(exponent))) if exponent == 3 else s("Pow", "x0", s.of(exponent))))
        out = s("Div", "x0", root) if divide else s("Mul", "x0", s("Reciprocal", root))
        s("Mul", s.of(floats(10)), out, to="y0")
        yield f"rms_{name}", (3, 4, 10), s, ("y0",)
    # Another axis, and squares of something else.
    s = Steps()
    mean = s("ReduceMean", "x0", axes=[1], keepdims=1)
    centred = s("Sub", "x0", mean)
    s("Div", centred, s.root(s("ReduceMean", s("Mul", centred, centred), axes=[1], keepdims=1)), to="y0")
    yield "layer_other_axis", (3, 4, 10), s, ("y0",)
    s = Steps()
    centred = s("Sub", "x0", s.mean("x0"))
    s("Div", centred, s.root(s.mean(s("Mul", "x0", "x0"))), to="y0")
    yield "layer_other_squares", (3, 4, 10), s, ("y0",)


def gates():
    def erf(s, by=2 ** 0.5, one=1.0):
        return s("Add", s("Erf", s("Div", "x0", s.of(by))), s.of(one))

    def tanh(s, power, k=0.044715):
        cube = s("Pow", "x0", s.of(3)) if power else s("Mul", s("Mul", "x0", "x0"), "x0")
        inner = s("Add", "x0", s("Mul", s.of(k), cube))
        return s("Add", s.of(1), s("Tanh", s("Mul", inner, s.of((2 / np.pi) ** 0.5))))

    for name, gate, half in (("erf", erf, 0.5), ("erf_other_half", erf, 0.6), ("erf_other_root", lambda s: erf(s, 1.5), 0.5),
                             ("erf_other_sum", lambda s: erf(s, one=1.25), 0.5), ("tanh_pow", lambda s: tanh(s, True), 0.5),
                             ("tanh_mul", lambda s: tanh(s, False), 0.5), ("tanh_other", lambda s: tanh(s, True, 0.05), 0.5)):
        s = Steps()
        s("Mul", s("Mul", "x0", gate(s)), s.of(half), to="y0")
        yield f"gelu_{name}", (3, 4, 10), s, ("y0",)
    s = Steps()
    s("Mul", s("Mul", "x0", s.of(0.5)), erf(s), to="y0")
    yield "gelu_half_first", (3, 4, 10), s, ("y0",)
    s = Steps()
    s("Div", s("Mul", erf(s), "x0"), s.of([[2]]), to="y0")
    yield "gelu_halved", (3, 4, 10), s, ("y0",)
    s = Steps()
    gate = erf(s)
    s("Identity", gate, to="y1")
    s("Mul", s("Mul", "x0", gate), s.of(0.5), to="y0")
    yield "gelu_looked_at", (3, 4, 10), s, ("y0", "y1")
    for name, most, by in (("", 6, 6), ("_other_most", 5, 6), ("_other_share", 6, 5)):
        s = Steps()
        s("Div", s("Mul", "x0", s("Clip", s("Add", "x0", s.of(3)), s.of(0), s.of(most))), s.of(by), to="y0")
        yield f"hard_swish{name}", (3, 4, 10), s, ("y0",)


def softmaxes():
    for name, axis, least in (("rows", -1, False), ("columns", 1, False), ("least", -1, True)):
        s = Steps()
        most = s("ReduceMin" if least else "ReduceMax", "x0", axes=[axis], keepdims=1)
        parts = s("Exp", s("Sub", "x0", most))
        s("Div", parts, s("ReduceSum", parts, s.of([axis], np.int64), keepdims=1), to="y0")
        yield f"softmax_{name}", (3, 4, 10), s, ("y0",)


def written_out_cases():
    for family in (normalisations, gates, softmaxes):
        for name, shape, steps, outputs in family():
            # operators.py counts.
            kind = "written_out" if name in STEPS else "one_operator"
            yield f"{kind}_{name}", steps.case(shape, 2.0, outputs)
    from onnx import helper
    known = {"g": floats(40), "b": floats(40)}
    for name, op, axis, operands in (("layer", "LayerNormalization", -1, 3), ("layer_no_bias", "LayerNormalization", -1, 2),
                                     ("layer_two_axes", "LayerNormalization", -2, 3)):
        shape = (10,) if axis == -1 else (4, 10)
        few = {k: v[:int(np.prod(shape))].reshape(shape) for k, v in known.items()}
        given = {"x0": floats(3, 4, 10) * 2}
        node = helper.make_node(op, ["x0", "g", "b"][:operands], ["y0"], axis=axis)
        yield f"one_operator_normalised_{name}", (graph_of([node], given, ["y0"], few), given)
    given = {"x0": floats(2, 4, 5, 6) * 2}
    yield "normalised_instance", (graph_of([helper.make_node("InstanceNormalization", ["x0", "g", "b"], ["y0"])], given, ["y0"],
                                           {k: v[:4] for k, v in known.items()}), given)
