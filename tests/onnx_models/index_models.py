# SPDX-License-Identifier: Apache-2.0
"""Models whose inputs are indices: the samples that aotc draws for them lie inside of what they index."""
import numpy as np

from operator_models import floats, graph_of


def index_models():
    """(name, model) that `aotc verify` runs on samples of its own."""
    from onnx import helper
    node = helper.make_node
    for kind in (np.int32, np.int64):
        yield f"ids_{np.dtype(kind)}", graph_of([node("Gather", ["t", "x0"], ["y0"])], {"x0": np.zeros(6, kind)}, ["y0"], {"t": floats(5, 4)})
    # Tables of two sizes; indices that are computed from the inputs.
    nodes = [node("Gather", ["t", "x0"], ["a"]), node("Add", ["x1", "one"], ["p"]), node("Gather", ["u", "p"], ["b"]),
             node("Add", ["a", "b"], ["y0"])]
    inputs = {"x0": np.zeros((1, 8), np.int64), "x1": np.zeros((1, 8), np.int64)}
    yield "ids_and_places", graph_of(nodes, inputs, ["y0"], {"t": floats(3, 4), "u": floats(41, 4), "one": np.array(1, np.int64)})
    yield "tuples", graph_of([node("GatherND", ["x1", "x0"], ["y0"])], {"x0": np.zeros((5, 2), np.int64), "x1": floats(2, 7, 3)}, ["y0"])
    yield "elements", graph_of([node("GatherElements", ["x1", "x0"], ["y0"], axis=1)],
                               {"x0": np.zeros((3, 4), np.int64), "x1": floats(3, 6)}, ["y0"])
