# SPDX-License-Identifier: Apache-2.0
"""Where onnxruntime has no rule of its own for what is not a number: how many of the same rows and windows give something else in
another place, or without its optimisations. Where one day none does there is a rule, and order_cases.py should hold aotc to it.
"""
import platform

import common
import numpy as np
import order_cases
import pytest

ALIGNED = 16  # floats in 64 bytes: more than vectors ask for


@pytest.fixture(scope="module", autouse=True)
def modules():
    common.need_modules("onnx", "onnxruntime")


def session(op, shape, attributes, optimised=True):
    import onnxruntime
    from onnx import helper
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], **attributes)], "g",
                              [helper.make_tensor_value_info("x", 1, shape)], [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    made = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda x: made.run(None, {"x": x})[0]


def others(a, b):
    """Rows that are not the same."""
    return int((~((a == b) | (np.isnan(a) & np.isnan(b)))).reshape(len(a), -1).any(1).sum())


def moved(x, by):
    """The same numbers so many floats behind a multiple of 64 bytes."""
    room = np.zeros(x.size + 2 * ALIGNED, np.float32)
    begin = -(room.ctypes.data // 4) % ALIGNED + by
    view = room[begin:begin + x.size].reshape(x.shape)
    view[...] = x
    return view


def hardmax(length):
    rows = order_cases.rows_of(length, np.float32)
    of = session("Hardmax", rows.shape, {"axis": 1})
    return len(rows), others(of(moved(rows, 0)), of(moved(rows, 1)))


def windows():
    """Of two rows and columns, not all numbers."""
    found = order_cases.rows_of(4, np.float32)
    return found[np.isnan(found).any(1)].reshape(-1, 2, 2)


def pool_columns(dimensions):
    """The first place and the last of a row of nine, whose last columns are no whole vector."""
    few = windows()
    shape = (len(few), 1, *(2,) * (dimensions - 1), 9)
    of = session("MaxPool", shape, {"kernel_shape": [2] * dimensions})
    results = []
    for column in (0, 7):
        x = np.full(shape, -5, np.float32)
        x[..., column:column + 2] = few.reshape(len(few), *(1,) * (dimensions - 1), 2, 2)
        results.append(of(x).reshape(len(few), -1)[:, column])
    return len(few), others(*results)


def pool_optimised(channels):
    """Channels: several of what the optimised one takes at once, which is 8, or 16 where the processor has AVX-512."""
    few = windows()
    x = np.repeat(few[:, None], channels, 1)
    x = np.concatenate([x, np.full((*x.shape[:3], 7), -5, np.float32)], 3)
    results = [session("MaxPool", x.shape, {"kernel_shape": [2, 2]}, optimised)(x)[:, 0, 0, 0] for optimised in (True, False)]
    return len(few), others(*results)


COUNTS = {
    **{f"Hardmax, rows of {n}, four bytes on": (hardmax, n) for n in (3, 4, 5)},
    **{f"MaxPool, {n} dimensions, another column": (pool_columns, n) for n in (2, 3)},
    "MaxPool, 32 channels, optimisations off": (pool_optimised, 32),
}


@pytest.mark.parametrize("what", COUNTS)
def test_order(what):
    if platform.machine() not in ("x86_64", "AMD64"):
        common.skip("counts are those of x86")
    function, argument = COUNTS[what]
    count, different = function(argument)
    print(f"{what}: {different} of {count} are another")
    assert (different == 0) == ("of 3," in what), "there is a rule for rows of three"
