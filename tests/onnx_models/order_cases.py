# SPDX-License-Identifier: Apache-2.0
"""Cases of operators.py: what is not a number, and infinities, in every place of what is put in an order. Those called
known are computed while compiling."""
import itertools

import numpy as np

from operator_models import graph_of

ODD = (np.nan, np.inf, -np.inf, 1.0, -2.0)
KINDS = (("", np.float32), ("_half", np.float16), ("_double", np.float64))


def rows_of(length, kind):
    return np.array(list(itertools.product(ODD, repeat=length)), kind)


def case_of(op, x, attributes, outputs=1, known=(), folded=False):
    """With its operand as an input, or as a constant beside an input that is not looked at."""
    from onnx import helper
    names = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, ["x0", *(n for n, _ in known)], names, **attributes)
    if not folded:
        return graph_of([node], {"x0": x}, names, dict(known)), {"x0": x}
    beside = {"x9": np.zeros(1, np.float32)}
    nodes = [node, helper.make_node("Identity", ["x9"], ["y9"])]
    return graph_of(nodes, beside, [*names, "y9"], {"x0": x, **dict(known)}), beside


def place_cases():
    for op, last, (kind, of) in itertools.product(("ArgMax", "ArgMin"), (0, 1), KINDS):
        for length, axis, keep in ((1, 1, 0), (3, 1, 1), (4, 0, 0)):
            x = rows_of(length, of)
            x = x if axis else np.ascontiguousarray(x.T)
            attributes = {"axis": axis, "keepdims": keep, "select_last_index": last}
            name = f"{op.lower()}{'_last' if last else ''}_{length}{kind}"
            yield name, case_of(op, x, attributes)
            yield f"{name}_known", case_of(op, x, attributes, folded=True)


def largest_cases():
    for largest, (kind, of) in itertools.product((0, 1), KINDS):
        for length, k, axis in ((1, 1, 1), (3, 2, 1), (4, 4, 1), (4, 1, 0)):
            x = rows_of(length, of)
            x = x if axis else np.ascontiguousarray(x.T)
            known = [("k", np.array([k], np.int64))]
            name = f"topk{'' if largest else '_smallest'}_{length}_{k}{kind}"
            for folded in (False, True):
                yield f"{name}{'_known' if folded else ''}", case_of("TopK", x, {"axis": axis, "largest": largest}, 2, known,
                                                                     folded)


def hard_cases():
    """Of rows of four and more onnxruntime's result depends on where they lie, if one is not a number."""
    for length, axis in ((1, 1), (2, 1), (3, 1), (3, 0)):
        x = rows_of(length, np.float32)
        x = x if axis else np.ascontiguousarray(x.T)
        for folded in (False, True):
            yield f"hardmax_{length}_{axis}{'_known' if folded else ''}", case_of("Hardmax", x, {"axis": axis}, folded=folded)
    x = np.array(list(itertools.product(ODD[1:], repeat=5)), np.float32)
    yield "hardmax_infinite", case_of("Hardmax", x, {"axis": 1})


def window_cases():
    """Windows of one dimension, with dilation, of float64 and with the places of their maxima have a rule for what is not a
    number; in the others onnxruntime's result is that of the processor's vectors."""
    line = rows_of(4, np.float32)[:, None, :]
    plane, infinite = line.reshape(-1, 1, 2, 2), np.array(list(itertools.product(ODD[1:], repeat=4)), np.float32)
    wide = np.concatenate([plane, plane[::-1], np.roll(plane, 7, 0)], 3)
    solid = infinite.reshape(-1, 1, 2, 2, 1)
    volume = np.concatenate([solid, solid[::-1], np.roll(solid, 7, 0), solid, np.roll(solid, 99, 0)], 4)
    infinite = np.concatenate([infinite.reshape(-1, 1, 2, 2)] * 2, 3)
    for name, x, attributes in (
            ("line", line, {"kernel_shape": [2]}),
            ("line_pads", line, {"kernel_shape": [3], "pads": [2, 1], "strides": [2]}),
            ("line_ceil", line, {"kernel_shape": [3], "strides": [2], "ceil_mode": 1}),
            ("line_dilated", line, {"kernel_shape": [2], "dilations": [2], "pads": [1, 1]}),
            ("dilated", wide, {"kernel_shape": [2, 2], "dilations": [1, 2]}),
            ("dilated_pads", wide, {"kernel_shape": [2, 2], "dilations": [1, 3], "pads": [1, 1, 1, 1]}),
            ("dilated_outside", plane, {"kernel_shape": [2, 2], "dilations": [3, 3], "pads": [1, 1, 1, 1]}),
            ("infinite", infinite, {"kernel_shape": [2, 2]}),
            ("infinite_pads", infinite, {"kernel_shape": [2, 3], "pads": [1, 1, 1, 2], "strides": [1, 2]}),
            ("infinite_whole", infinite, {"kernel_shape": [2, 4]}),
            ("infinite_strides", infinite, {"kernel_shape": [1, 1], "strides": [1, 3]}),
            ("infinite_ceil", infinite, {"kernel_shape": [2, 3], "strides": [2, 2], "ceil_mode": 1}),
            ("infinite_long", infinite, {"kernel_shape": [40, 2], "pads": [20, 0, 20, 0]}),
            ("infinite_solid", solid, {"kernel_shape": [2, 2, 1]}), ("infinite_volume", volume, {"kernel_shape": [2, 1, 2]}),
            ("infinite_volume_pads", volume, {"kernel_shape": [2, 2, 3], "pads": [1, 0, 2, 0, 1, 1], "strides": [1, 2, 2]}),
            ("infinite_volume_strides", volume, {"kernel_shape": [1, 1, 2], "strides": [1, 1, 3]})):
        yield f"pool_{name}", case_of("MaxPool", x, attributes)
        yield f"pool_{name}_known", case_of("MaxPool", x, attributes, folded=True)
        yield f"pool_{name}_half", case_of("MaxPool", x.astype(np.float16), attributes)
    for name, x, attributes in (
            ("", wide, {"kernel_shape": [2, 2]}), ("_one", plane, {"kernel_shape": [1, 1]}),
            ("_pads", wide, {"kernel_shape": [2, 3], "pads": [1, 2, 1, 0], "strides": [1, 2]}),
            ("_whole", plane, {"kernel_shape": [2, 2]}), ("_line", line, {"kernel_shape": [2], "pads": [1, 0]})):
        for folded in (False, True):
            behind = "_known" if folded else ""
            if name != "_pads":  # float32 for float64, whose least number is another
                yield f"pool_double{name}{behind}", case_of("MaxPool", x.astype(np.float64), attributes, folded=folded)
            yield f"pool_places{name}{behind}", case_of("MaxPool", x, attributes, 2, folded=folded)
    yield "pool_global", case_of("GlobalMaxPool", infinite, {})


def order_cases():
    for family in (place_cases, largest_cases, hard_cases, window_cases):
        for name, case in family():
            yield f"order_{name}", case
