# SPDX-License-Identifier: Apache-2.0
"""Cases of operators.py: attention as exporters write it out, which becomes one operator where that needs no more memory,
and what stays as it is written."""
import numpy as np

from operator_models import floats, graph_of
from written_out_cases import Steps

LENGTH, SIZE = 12, 4


def steps_case(s, inputs, outputs=("y0",)):
    return graph_of(s.nodes, inputs, list(outputs), s.known), inputs


def attend(s, q, k, v, scale="mul", mask=None, axis=-1, to=None):
    """Keys are turned already."""
    if scale == "both":
        q, k = s("Mul", q, s.of(0.7)), s("Mul", k, s.of([[0.7]]))
    x = s("MatMul", q, k)
    if scale in ("mul", "div"):
        x = s("Mul", s.of(0.5), x) if scale == "mul" else s("Div", x, s.of(2))
    if mask is not None:
        x = s("Add", x, mask)
    return s("MatMul", s("Softmax", x, axis=axis), v, to=to)


def of_heads(heads=2, length=LENGTH, keys=LENGTH, batch=1):
    return {"x0": floats(batch, heads, length, SIZE), "x1": floats(batch, heads, keys, SIZE), "x2": floats(batch, heads, keys, SIZE)}


def turned(s, of, order=(0, 1, 3, 2)):
    return s("Transpose", of, perm=list(order))


def heads():
    """Operands of four dimensions."""
    causal = np.triu(np.full((LENGTH, LENGTH), -np.inf, np.float32), 1)
    for name, scale, mask, keys in (
            ("mul", "mul", None, LENGTH), ("div", "div", None, LENGTH), ("both", "both", None, LENGTH), ("bare", "", None, 9),
            ("causal", "mul", causal, LENGTH), ("mask_of_heads", "div", floats(2, 1, LENGTH), LENGTH),
            ("mask_of_all", "both", floats(1, 2, LENGTH, LENGTH), LENGTH), ("one_number", "mul", np.float32(0.25), LENGTH)):
        s = Steps()
        attend(s, "x0", turned(s, "x1"), "x2", scale, None if mask is None else s.of(mask), to="y0")
        yield f"one_operator_attention_{name}", steps_case(s, of_heads(keys=keys))
    s, given = Steps(), of_heads(batch=2)
    attend(s, "x0", turned(s, "x1"), "x2", "mul", "x3", to="y0")
    yield "one_operator_attention_mask_given", steps_case(s, {**given, "x3": floats(2, 1, 1, LENGTH)})
    s = Steps()
    s("MatMul", s("Softmax", s("MatMul", "x0", "x1"), axis=-1), "x2", to="y0")
    yield "one_operator_attention_two_dimensions", steps_case(
        s, {"x0": floats(LENGTH, SIZE), "x1": floats(SIZE, LENGTH), "x2": floats(LENGTH, 3)})


def rows():
    """Operands with all heads in a row, in any order of batch and places."""
    def parts(s, x, heads, batch, order, length=LENGTH):
        return turned(s, s("Reshape", x, s.of([batch, length, heads, SIZE], np.int64)), order)

    for name, batch, kv in (("rows", 1, 4), ("batches", 2, 4), ("shared", 1, 2), ("shared_batches", 2, 2)):
        s = Steps()
        q, k, v = (parts(s, x, h, batch, (0, 2, 1, 3)) for x, h in (("x0", 4), ("x1", kv), ("x2", kv)))
        k = turned(s, k)
        if kv != 4:
            several = [s("Reshape", s("Expand", s("Unsqueeze", x, s.of([2], np.int64)), s.of([1, 1, 2, 1, 1], np.int64)),
                         s.of([batch, 4, *shape], np.int64)) for x, shape in ((k, (SIZE, LENGTH)), (v, (LENGTH, SIZE)))]
            k, v = several
        y = turned(s, attend(s, q, k, v), (0, 2, 1, 3))
        s("Reshape", y, s.of([batch, LENGTH, 4 * SIZE], np.int64), to="y0")
        given = {f"x{i}": floats(batch, LENGTH, h * SIZE) for i, h in enumerate((4, kv, kv))}
        yield f"one_operator_attention_{name}", steps_case(s, given)


def others():
    s = Steps()
    attend(s, "x0", turned(s, "x1"), "x2", axis=2, to="y0")
    yield "written_out_attention_columns", steps_case(s, of_heads())
    s = Steps()
    x = s("Softmax", s("MatMul", "x0", turned(s, "x1")), axis=-1, to="y1")
    s("MatMul", x, "x2", to="y0")
    yield "written_out_attention_looked_at", steps_case(s, of_heads(), ("y0", "y1"))
    s = Steps()
    attend(s, "x0", turned(s, "x1"), "x2", to="y0")
    yield "written_out_attention_short", steps_case(s, of_heads(length=3, keys=3))
    s = Steps()  # one tensor for all: the result must not lie in it
    x = s("Relu", "x0")
    s("MatMul", s("Softmax", s("MatMul", x, turned(s, x)), axis=-1), x, to="y0")
    yield "written_out_attention_alone", steps_case(s, {"x0": floats(1, 2, LENGTH, SIZE)})
    s = Steps()  # a row that a mask hides as a whole
    mask = np.zeros((LENGTH, LENGTH), np.float32)
    mask[3] = -np.inf
    attend(s, "x0", turned(s, "x1"), "x2", mask=s.of(mask), to="y0")
    yield "written_out_attention_hidden", steps_case(s, of_heads())


def operators():
    """Of the operator set that has it."""
    from onnx import helper
    for name, kv, attributes in (("operator", 4, {}), ("operator_causal", 4, {"is_causal": 1}), ("operator_shared", 2, {}),
                                 ("operator_scale", 2, {"scale": 0.3})):
        given = {"x0": floats(2, LENGTH, 4 * SIZE), "x1": floats(2, LENGTH, kv * SIZE), "x2": floats(2, LENGTH, kv * SIZE)}
        node = helper.make_node("Attention", list(given), ["y0"], q_num_heads=4, kv_num_heads=kv, **attributes)
        model = helper.make_model(graph_of([node], given, ["y0"]), opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
        yield f"one_operator_attention_{name}", (model, given)


def attention_cases():
    for family in (heads, rows, others, operators):
        yield from family()
