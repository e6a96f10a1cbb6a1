# SPDX-License-Identifier: Apache-2.0
"""ReduceMean between DequantizeLinear and QuantizeLinear, as PyTorch's exporters write it. onnxruntime adds floats,
and beside a tie the order of its sum decides the result. aotc must give the same bytes, with integer sums
elsewhere. More than 100,000 rows. Takes 27 CPU seconds."""
import argparse
import json

import common
import node_tests
import numpy as np
import pytest

# Shape, axes. Names begin with the order of onnxruntime's sum.
LAYOUTS = {
    "lanes_planes_8x8": ((1, 256, 8, 8), (2, 3)), "lanes_planes_7x7": ((1, 130, 7, 7), (2, 3)),
    "lanes_planes_7x6": ((2, 65, 7, 6), (2, 3)), "lanes_planes_5x4": ((3, 30, 5, 4), (2, 3)),
    "lanes_planes_2x2": ((1, 300, 2, 2), (-1, -2)), "lanes_planes_16x25": ((1, 100, 16, 25), (2, 3)),
    "lanes_rows_2": ((1, 999, 2), (2,)), "lanes_rows_6": ((40, 50, 6), (2,)), "lanes_rows_11": ((777, 11), (1,)),
    "lanes_rows_14": ((5, 155, 14), (2,)), "lanes_rows_24": ((1, 30000, 24), (2,)), "lanes_rows_35": ((800, 35), (1,)),
    "lanes_rows_64": ((30000, 64), (1,)), "lanes_rows_100": ((1, 300, 100), (2,)), "lanes_rows_126": ((600, 126), (1,)),
    "lanes_rows_3": ((500, 3), (1,)), "lanes_all": ((6, 5, 4), (0, 1, 2)), "lanes_line": ((50,), (0,)),
    "in_order_tokens": ((1, 64, 300), (1,)), "in_order_many_tokens": ((1, 196, 64), (1,)),
    "in_order_columns": ((64, 30000), (0,)), "in_order_images": ((1, 7, 6, 500), (1, 2)),
    "in_order_torn": ((3, 4, 5, 6), (1, 3)), "in_order_channels": ((1, 12, 9, 10), (1,)),
    "in_order_one": ((6, 1, 10), (0, 2)), "fours_tokens": ((2, 64, 400), (1,)), "fours_rest_3": ((5, 19, 300), (1,)),
    "fours_rest_2": ((3, 6, 500), (1,)), "fours_rest_1": ((4, 49, 7000), (1,)), "floats_batch": ((4, 16, 10), (0, 2)),
}
# Scale of the operand, of the result, zero points, element type. Results of "coarse" saturate.
SCALES = {
    "same": (0.0213, 0.0213, 117, 117, np.uint8), "even": (0.25, 0.125, 3, -9, np.int8),
    "other": (0.0317, 0.0171, -5, 100, np.int8), "coarse": (0.031, 0.0062, 131, 7, np.uint8),
}


def model_of(shape, axes, scales, keep, opset):
    from onnx import helper, numpy_helper
    sx, sy, zx, zy, kind = scales
    known = {"sx": np.float32(sx), "sy": np.float32(sy), "zx": kind(zx), "zy": kind(zy)}
    inputs, attributes = ["d"], {"keepdims": keep}
    if opset < 18:
        attributes["axes"] = list(axes)
    else:
        inputs.append("axes")
        known["axes"] = np.array(axes, np.int64)
    nodes = [helper.make_node("DequantizeLinear", ["x", "sx", "zx"], ["d"]),
             helper.make_node("ReduceMean", inputs, ["m"], **attributes),
             helper.make_node("QuantizeLinear", ["m", "sy", "zy"], ["y"])]
    element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", element, shape)],
                              [helper.make_empty_tensor_value_info("y")],
                              [numpy_helper.from_array(np.asarray(a), n) for n, a in known.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def made_case(layout, scales, number, folder):
    import onnx
    import onnxruntime
    (shape, axes), kind = LAYOUTS[layout], SCALES[scales][4]
    path = folder / f"{layout}_{scales}.onnx"
    onnx.save(model_of(shape, axes, SCALES[scales], number % 2, 13 if number % 3 else 18), path)
    limits = np.iinfo(kind)
    x = np.random.default_rng(number).integers(limits.min, limits.max + 1, shape).astype(kind)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    case = node_tests.Case(path.stem, path, layout, [("x", x)], session.run(None, {"x": x}))
    # Rounding of the exact means, and of float means from one running sum.
    reduced = [a % x.ndim for a in axes]
    order = [d for d in range(x.ndim) if d not in reduced] + reduced
    rows = (x.astype(np.int64) - SCALES[scales][2]).transpose(order)
    rows = rows.reshape(case.outputs[0].size, -1)
    sx, sy, zero = *(np.float32(s) for s in SCALES[scales][:2]), SCALES[scales][3]
    running = np.cumsum(rows.astype(np.float32) * sx, axis=1, dtype=np.float32)[:, -1] / np.float32(rows.shape[1]) / sy
    exact = rows.sum(axis=1) * (float(sx) / (float(sy) * rows.shape[1]))
    case.others = [np.clip(np.rint(p) + zero, limits.min, limits.max).astype(kind) for p in (exact, running)]
    return case


@pytest.mark.parametrize("target", ["host", "cortex_m4"])
def test_means(target, tmp_path, record_property):
    common.need_modules("onnx", "onnxruntime")
    cases = []
    for i, (layout, (shape, _)) in enumerate(LAYOUTS.items()):
        large = np.prod(shape) > 100000
        if target != "host" and large:  # more than the emulated memory
            continue
        for k, scales in enumerate(("same",) if large else SCALES):
            cases.append(made_case(layout, scales, 4 * i + k, tmp_path))
    for case in cases:
        told = json.loads(common.aotc("check", case.path, "--json"))
        case.floats = any(t["dtype"] == "f32" for t in told["tensors"])

    def judge(case, found):
        want = case.outputs[0].ravel()
        got = np.frombuffer(found[0], want.dtype)
        apart = np.count_nonzero(got != want)
        good = (case.family.startswith("floats") or apart == 0) and case.floats == case.family.startswith("floats")
        case.verdict, case.why, case.text = ("passed" if good else "wrong"), f"{apart} of {want.size}", ""

    node_tests.run(cases, argparse.Namespace(frozen=False, compiler="gcc", jobs=2, target=target, work=tmp_path / "c"),
                   judged=judge)
    assert [(c.name, c.why, c.text) for c in cases if c.verdict != "passed"] == []
    # Neither exact means nor another order give these bytes, so the comparison can fail.
    unequal = lambda case, k: np.count_nonzero(case.outputs[0].ravel() != case.others[k])  # noqa: E731
    apart = {order: [sum(unequal(c, k) for c in cases if c.name.startswith(order)) for k in (0, 1)]
             for order in ("lanes", "in_order", "fours")}
    print(apart, sum(c.outputs[0].size for c in cases))
    assert apart["lanes"][0] and apart["lanes"][1] and apart["fours"][1] and not apart["in_order"][1], apart
    record_property("cases", len(cases))


def quantised_image(size, channels, mean_scale):
    """A convolution and the mean of its image."""
    from onnx import helper, numpy_helper
    node, number = helper.make_node, np.float32
    known = {"sx": number(0.02), "sw": number(0.01), "sc": number(0.05), "sm": number(mean_scale), "z": np.int8(0),
             "w": np.random.default_rng(9).integers(-127, 128, (channels, 4, 3, 3)).astype(np.int8)}
    nodes = [node("QuantizeLinear", ["x", "sx", "z"], ["q"]), node("DequantizeLinear", ["q", "sx", "z"], ["d"]),
             node("DequantizeLinear", ["w", "sw", "z"], ["v"]), node("Conv", ["d", "v"], ["c"], pads=[1] * 4),
             node("QuantizeLinear", ["c", "sc", "z"], ["r"]), node("DequantizeLinear", ["r", "sc", "z"], ["e"]),
             node("ReduceMean", ["e"], ["m"], axes=[2, 3]), node("QuantizeLinear", ["m", "sm", "z"], ["n"]),
             node("DequantizeLinear", ["n", "sm", "z"], ["y"])]
    given = helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(np.dtype(number)), [1, 4, size, size])
    graph = helper.make_graph(nodes, "g", [given], [helper.make_empty_tensor_value_info("y")],
                              [numpy_helper.from_array(np.asarray(a), n) for n, a in known.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_a_segment_ends_in_a_mean(tmp_path, record_property):
    """Of 225 elements with one scale no sum is beside a tie; of 256 sums are, and then all elements are read again."""
    common.need_modules("onnx")
    import onnx
    for size, streams in ((15, True), (16, False)):
        onnx.save(quantised_image(size, 64, 0.05), tmp_path / f"m{size}.onnx")
        arenas = [json.loads(common.aotc("check", tmp_path / f"m{size}.onnx", "--stream", way, "--json"))["arena_bytes"]
                  for way in ("off", "max")]
        assert (arenas[1] < 64 * size * size) == streams, (size, arenas)
        common.aotc("verify", tmp_path / f"m{size}.onnx", "--stream", "max", "--quiet")
    record_property("cases", 2)
