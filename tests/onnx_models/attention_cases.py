# SPDX-License-Identifier: Apache-2.0
"""Cases of operators.py: attention as exporters write it out, which becomes one operator where that needs no more memory,
and what stays as it is written."""
import numpy as np

from operator_models import RNG, floats, graph_of
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


def bounded(s, x, most=20, again=20):
    return s("Mul", s("Tanh", s("Div", x, s.of(most))), s.of(again))


def weighted(s, x, instead=0.0):
    """Weights that are no numbers are another number, as PyTorch writes it."""
    weights = s("Softmax", x, axis=-1)
    return s("Where", s("IsNaN", weights), s.of(instead), weights)


def truths(*shape, first=False):
    """Some of each, but in the first row of each matrix."""
    values = RNG.random(shape) < 0.6
    values[..., 0, :] = first
    return values


def soft():
    """Products that are softly bounded."""
    causal = np.triu(np.full((LENGTH, LENGTH), -np.inf, np.float32), 1)
    for name, scale, mask, (most, again) in (("", None, None, (20, 20)), ("_scaled", 30, None, (2, 2)), ("_causal", 30, causal, (20, 20)),
                                             ("_other", None, None, (20, 30))):
        s = Steps()
        x = s("MatMul", "x0", turned(s, "x1"))
        x = bounded(s, s("Mul", x, s.of(scale)) if scale else x, most, again)
        x = x if mask is None else s("Add", x, s.of(mask))
        s("MatMul", s("Softmax", x, axis=-1), "x2", to="y0")
        yield f"{'written_out' if name == '_other' else 'one_operator'}_attention_soft{name}", steps_case(s, of_heads())


def masks():
    """Of truth values, and with rows that they hide as a whole."""
    low = float(np.finfo(np.float32).min)
    for name, shape, values, first in (
            ("shown", (1, 1, LENGTH, LENGTH), (0, -np.inf), True), ("not_shown", (2, LENGTH, LENGTH), (-1e4, 0), True),
            ("hidden_rows", (1, 2, LENGTH, LENGTH), (0, -np.inf), False), ("of_keys", (1, 1, 1, LENGTH), (0, low), False),
            ("two_numbers", (LENGTH, LENGTH), (1, low), False)):
        s = Steps()
        x = s("Mul", s("MatMul", "x0", turned(s, "x1")), s.of(0.5))
        x = s("Add", s("Where", "x3", *(s.of(v) for v in values)), x)
        s("MatMul", weighted(s, x), "x2", to="y0")
        several = "written_out" if name == "two_numbers" else "one_operator"
        yield f"{several}_attention_truths_{name}", steps_case(s, {**of_heads(), "x3": truths(*shape, first=first)})
    for name, first, instead in (("chosen", True, low), ("chosen_otherwise", False, -np.inf), ("chosen_number", True, 0.5)):
        s = Steps()
        x = s("Mul", s("MatMul", "x0", turned(s, "x1")), s.of(0.5))
        mask = truths(1, 1, LENGTH, LENGTH, first=name != "chosen")
        given = {**of_heads(), "x3": mask} if first else of_heads()
        x = s("Where", "x3" if first else s.of(mask, bool), *((x, s.of(instead)) if first else (s.of(instead), x)))
        s("MatMul", weighted(s, x), "x2", to="y0")
        yield f"one_operator_attention_{name}", steps_case(s, given)
    s, mask = Steps(), floats(LENGTH, LENGTH)
    mask[3], mask[5, 2:] = -np.inf, -np.inf
    s("MatMul", weighted(s, s("Add", s("MatMul", "x0", turned(s, "x1")), "x3")), "x2", to="y0")
    yield "one_operator_attention_hidden_row", steps_case(s, {**of_heads(), "x3": mask})
    s = Steps()
    s("MatMul", weighted(s, s("MatMul", "x0", turned(s, "x1")), 1), "x2", to="y0")
    yield "written_out_attention_ones", steps_case(s, {**of_heads(), "x0": floats(1, 2, LENGTH, SIZE) * np.float32(np.nan)})
    s = Steps()  # as PyTorch exports scaled_dot_product_attention
    q, k = s("Mul", "x0", s.of(SIZE ** -0.25)), s("Mul", turned(s, "x1"), s.of(SIZE ** -0.25))
    mask = s("Where", "x3", s.of(0), s.of(-np.inf))
    y = turned(s, s("MatMul", weighted(s, s("Add", s("MatMul", q, k), mask)), "x2"), (0, 2, 1, 3))
    s("Reshape", y, s.of([1, LENGTH, 2 * SIZE], np.int64), to="y0")
    yield "one_operator_attention_torch", steps_case(s, {**of_heads(), "x3": truths(1, 1, LENGTH, LENGTH)})


def operator_masks():
    """Of the operator: a soft bound, and masks that hide rows as a whole."""
    from onnx import helper
    added = floats(LENGTH, LENGTH)
    added[2], added[4, 3:] = -np.inf, -np.inf
    for name, mask, attributes in (("soft", None, {"softcap": 1.5}), ("truths", truths(LENGTH, LENGTH), {}),
                                   ("hidden_rows", truths(2, 4, LENGTH, LENGTH), {"softcap": 2.0}),
                                   ("hidden_row", added, {}), ("causal_truths", truths(LENGTH, LENGTH), {"is_causal": 1})):
        given = {f"x{i}": floats(2, LENGTH, 4 * SIZE) for i in range(3)} | ({} if mask is None else {"x3": mask})
        node = helper.make_node("Attention", list(given), ["y0"], q_num_heads=4, kv_num_heads=4, **attributes)
        model = helper.make_model(graph_of([node], given, ["y0"]), opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
        several = "" if name == "causal_truths" else "one_operator_"
        yield f"{several}attention_operator_{name}", (model, given)


def attention_cases():
    for family in (heads, rows, others, operators, soft, masks, operator_masks):
        yield from family()
