# SPDX-License-Identifier: Apache-2.0
"""Sparse constants of .tflite files, which aotc decompresses while it reads them: results are LiteRT's. About 10 CPU
seconds."""
from ai_edge_litert import interpreter as litert
import common
import numpy as np
import pytest
from tflite_builder import ModelBuilder


def levels(dense, order, blocks, sparse, index):
    """(sparsity, data) of a constant: dimensions in the order of storage, blocks {dimension: length}, which are the last
    ones, and the set of dimensions that list their indices; `index`: the type of these lists."""
    rank = dense.ndim
    lengths = [n // blocks.get(d, 1) for d, n in enumerate(dense.shape)] + list(blocks.values())
    # [dimensions in units of blocks, places in blocks]
    view = dense.reshape([n for d in range(rank) for n in ((lengths[d], blocks[d]) if d in blocks else (lengths[d],))])
    places, at = {}, 0
    for d in range(rank):
        places[d] = at
        at += 2 if d in blocks else 1
    axes = [places[d] for d in order[:rank]] + [places[list(blocks)[d - rank]] + 1 for d in order[rank:]]
    view = view.transpose(axes)
    out, nodes = [], [()]
    for level, d in enumerate(order):
        children = [[i for i in range(lengths[d]) if d not in sparse or np.any(view[(*node, i)])] for node in nodes]
        if d in sparse:
            segments = np.cumsum([0, *map(len, children)]).astype(index)
            out.append((segments, np.array([i for c in children for i in c], index)))
        else:
            out.append(lengths[d])
        nodes = [(*node, i) for node, c in zip(nodes, children) for i in c]
    data = np.array([view[node] for node in nodes], dense.dtype)
    return (list(order), list(blocks), out), data


def sparse_weights(m, dense, form, **quantisation):
    sparsity, data = levels(dense, *form)
    return m.tensor("sparse", dense.dtype, dense.shape, data=data.tobytes(), sparsity=sparsity, **quantisation)


def holes(rng, shape, kind, blocks):
    """Weights of which most blocks are zeros."""
    kept = rng.random([n // blocks.get(d, 1) for d, n in enumerate(shape)]) < 0.3
    for d, n in blocks.items():
        kept = kept.repeat(n, axis=d)
    values = rng.normal(size=shape) if kind == "float32" else rng.integers(-127, 128, shape)
    return np.where(kept, values, 0).astype(kind)


FORMS = {
    "rows": ((8, 12), ((0, 1), {}, {1}, np.int32)),
    "columns": ((8, 12), ((1, 0), {}, {0}, np.uint16)),
    "both": ((8, 12), ((0, 1), {}, {0, 1}, np.uint8)),
    "blocks": ((8, 12), ((0, 1, 2), {1: 4}, {1}, np.uint8)),
    "tiles": ((8, 12), ((1, 0, 3, 2), {0: 2, 1: 3}, {0}, np.int32)),
    "filters": ((4, 3, 2, 8), ((0, 3, 1, 2), {}, {3}, np.uint8)),
}


def densified(rng, kind, form):
    """DENSIFY of constant weights, in front of the layer that reads them."""
    shape, (order, blocks, sparse, index) = FORMS[form]
    m = ModelBuilder()
    byte = kind == "int8"
    scales = dict(scale=list(rng.uniform(0.01, 0.02, shape[0])), zero_point=[0]) if byte else {}
    w = sparse_weights(m, holes(rng, shape, kind, blocks), (order, blocks, sparse, index), **scales)
    dense = m.tensor("dense", kind, shape, **scales)
    m.op("DENSIFY", [w], [dense])
    side = (1, 5, 6, shape[-1]) if len(shape) == 4 else (2, shape[-1])
    x = m.tensor("x", kind, side, **(dict(scale=0.05, zero_point=3) if byte else {}))
    result = (1, 5, 6, shape[0]) if len(shape) == 4 else (2, shape[0])
    y = m.tensor("y", kind, result, **(dict(scale=0.3, zero_point=-5) if byte else {}))
    if len(shape) == 4:
        bias = m.const("b", np.zeros(shape[0], np.int32 if byte else np.float32),
                       **(dict(scale=[s * 0.05 for s in scales["scale"]], zero_point=[0]) if byte else {}))
        m.op("CONV_2D", [x, dense, bias], [y], padding="SAME", stride_w=1, stride_h=1)
    else:
        m.op("FULLY_CONNECTED", [x, dense, -1], [y])
    return m.finish([x], [y])


@pytest.mark.parametrize("kind", ("float32", "int8"))
@pytest.mark.parametrize("form", FORMS)
def test_densify(form, kind, tmp_path):
    rng = np.random.default_rng(3)
    content = densified(rng, kind, form)
    (tmp_path / "m.tflite").write_bytes(content)
    interpreter = litert.Interpreter(model_content=content, experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    (given,), (made,) = interpreter.get_input_details(), interpreter.get_output_details()
    x = rng.integers(-128, 128, given["shape"]).astype(kind) if kind == "int8" else rng.normal(size=given["shape"]).astype(kind)
    interpreter.set_tensor(given["index"], x)
    interpreter.invoke()
    np.save(tmp_path / "x.npy", x)
    common.aotc("evaluate", tmp_path / "m.tflite", "--input", tmp_path / "x.npy", "-o", tmp_path / "out", "--quiet")
    assert np.array_equal(np.load(tmp_path / "out" / "y.npy"), interpreter.get_tensor(made["index"]))


@pytest.mark.parametrize("wrong", ("segments", "indices", "data", "order", "block"))
def test_damaged(wrong, tmp_path):
    rng = np.random.default_rng(3)
    dense = holes(rng, (8, 12), "float32", {1: 4})
    (order, blocks, made), data = levels(dense, (0, 1, 2), {1: 4}, {1}, np.int32)
    segments, indices = made[1]
    if wrong == "segments":
        segments[-1] += 1
    elif wrong == "indices":
        indices[-1] = 3
    elif wrong == "data":
        data = data[:-1]
    elif wrong == "order":
        order[1] = 0
    else:
        made[2] = 1 << 30
    m = ModelBuilder()
    w = m.tensor("w", "float32", (8, 12), data=data.tobytes(), sparsity=(order, blocks, made))
    x, dense, y = m.tensor("x", "float32", (1, 12)), m.tensor("d", "float32", (8, 12)), m.tensor("y", "float32", (1, 8))
    m.op("DENSIFY", [w], [dense])
    m.op("FULLY_CONNECTED", [x, dense, -1], [y])
    (tmp_path / "m.tflite").write_bytes(m.finish([x], [y]))
    done = common.aotc("check", tmp_path / "m.tflite", expect=None)
    assert done.returncode == 1 and "[tflite-sparse]" in done.stderr, done.stderr
