#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our statement of what every operator computes: numpy models equal to LiteRT bit for bit.

`MODELS[kind](call)` gives the results of one operator. Integers and data movement are equal bit
for bit; for floats the models do the same operations in the same order and are equal too, as far
as the C library's expf and tanhf are the same. Run as a program, it compares every operator case
with LiteRT and prints 'N passed, N failed'.
"""

import argparse
import sys

import models_activation as activation
import models_counted as counted
import models_elementwise as elementwise
import models_families as families
import models_movement as movement
import models_real as real
import models_reductions as reductions
import models_rows as rows
import models_shapes as shapes
import models_volume as volume
import models_window as windowed
import numpy as np
from case import call_of

MODELS = {
    "CONV_2D": windowed.conv_2d,
    "DEPTHWISE_CONV_2D": windowed.depthwise_conv_2d,
    "TRANSPOSE_CONV": windowed.transpose_conv,
    "BATCH_MATMUL": windowed.batch_matmul,
    "FULLY_CONNECTED": windowed.fully_connected,
    "AVERAGE_POOL_2D": windowed.average_pool_2d,
    "L2_POOL_2D": windowed.l2_pool_2d,
    "MAX_POOL_2D": windowed.max_pool_2d,
    "SOFTMAX": activation.softmax,
    "RELU": activation.relu,
    "RELU6": activation.relu6,
    "RELU_N1_TO_1": activation.relu_n1_to_1,
    "LEAKY_RELU": activation.leaky_relu,
    "HARD_SWISH": activation.hard_swish,
    "LOGISTIC": activation.logistic,
    "TANH": activation.tanh,
    "ADD": elementwise.add,
    "SUB": elementwise.sub,
    "MUL": elementwise.mul,
    "MAXIMUM": elementwise.maximum,
    "MINIMUM": elementwise.minimum,
    "MEAN": reductions.mean,
    "QUANTIZE": elementwise.quantize,
    "DEQUANTIZE": elementwise.dequantize,
    "CAST": elementwise.cast,
    "ARG_MAX": elementwise.arg_max,
    "ARG_MIN": elementwise.arg_min,
    "RESHAPE": movement.reshape,
    "SQUEEZE": movement.reshape,
    "EXPAND_DIMS": movement.reshape,
    "PAD": movement.pad,
    "PADV2": movement.pad_v2,
    "CONCATENATION": movement.concatenation,
    "SPLIT": movement.split,
    "SPLIT_V": movement.split_v,
    "SLICE": movement.slice_,
    "STRIDED_SLICE": movement.strided_slice,
    "TRANSPOSE": movement.transpose,
    "PACK": movement.pack,
    "UNPACK": movement.unpack,
    "REVERSE_V2": movement.reverse,
    "TILE": movement.tile,
    "MIRROR_PAD": movement.mirror_pad,
    "DEPTH_TO_SPACE": movement.depth_to_space,
    "SPACE_TO_DEPTH": movement.space_to_depth,
    "SPACE_TO_BATCH_ND": movement.space_to_batch,
    "BATCH_TO_SPACE_ND": movement.batch_to_space,
    "GATHER_ND": movement.gather_nd,
    "SCATTER_ND": movement.scatter_nd,
    "EMBEDDING_LOOKUP": movement.embedding_lookup,
    "DYNAMIC_UPDATE_SLICE": movement.dynamic_update_slice,
    "RESIZE_BILINEAR": movement.resize_bilinear,
    "MATRIX_DIAG": movement.matrix_diag,
    "MATRIX_SET_DIAG": movement.matrix_set_diag,
    "ONE_HOT": movement.one_hot,
    "REVERSE_SEQUENCE": movement.reverse_sequence,
    "RESIZE_NEAREST_NEIGHBOR": movement.resize_nearest_neighbor,
    "SHAPE": shapes.shape,
    "RANK": shapes.rank,
    "FILL": shapes.fill,
    "ZEROS_LIKE": shapes.zeros_like,
    "RANGE": shapes.range_,
    "BROADCAST_TO": shapes.broadcast_to,
    "BROADCAST_ARGS": shapes.broadcast_args,
    "GATHER": shapes.gather,
    "REDUCE_PROD": reductions.reduce_prod,
    "SUM": reductions.sum_,
    "REDUCE_MAX": reductions.reduce_max,
    "REDUCE_MIN": reductions.reduce_min,
    "REDUCE_ANY": reductions.reduce_any,
    "REDUCE_ALL": reductions.reduce_all,
    **families.MODELS,
    **rows.MODELS,
    **real.MODELS,
    **volume.MODELS,
    **counted.MODELS,
}


# LiteRT computes these with vector approximations of its own; the models are within the cases' ulp.
APPROXIMATED = ("GELU", "LOCAL_RESPONSE_NORMALIZATION")


def _ulps(g, e):
    def key(x):
        bits = x.view(np.int32).astype(np.int64)
        return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)
    return np.abs(key(g) - key(e))


def difference(case, arrays, expected):
    """None if the model gives exactly `expected` (LiteRT's results), else what differs first."""
    if case.follow:
        return None  # several operators
    with np.errstate(all="ignore"):
        got = MODELS[case.kind](call_of(case, arrays, [e.shape for e in expected]))
        if case.join is not None:
            got = [np.asarray(np.maximum(got[0], arrays[-1]))]
    if len(got) != len(expected):
        return f"{len(got)} results, LiteRT has {len(expected)}"
    for r, (g, e) in enumerate(zip(got, expected)):
        if g.shape != e.shape or g.dtype != e.dtype:
            return f"result {r}: {g.dtype}{g.shape}, LiteRT has {e.dtype}{e.shape}"
        g, e = np.atleast_1d(g), np.atleast_1d(e)
        bits = np.dtype(f"u{e.dtype.itemsize}")
        same = np.ascontiguousarray(g).view(bits) == np.ascontiguousarray(e).view(bits)
        if e.dtype.kind == "f":
            same = same | (np.isnan(g) & np.isnan(e))  # which NaN it is does not matter
            if case.kind in APPROXIMATED:
                same = same | (_ulps(g, e) <= case.ulp)
        if not np.all(same):
            at = np.unravel_index(np.argmin(same), same.shape)
            return (f"result {r}{[int(i) for i in at]}: {g[at]!r}, LiteRT has {e[at]!r}; "
                    f"{same.size - np.count_nonzero(same)} of {same.size} differ")
    return None


def main():
    import make_cases

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", help="comma separated folder names; all by default")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    passed = failed = 0
    for op in make_cases.operator_names(args.ops):
        good = 0
        results = list(make_cases.run_operator(op, args.seed))
        supported = [r for r in results if r.reason is None]
        for r in supported:
            reasons = [difference(r.case, a, e) for a, e in zip(r.samples, r.expected)]
            reasons = [x for x in reasons if x]
            if reasons:
                print(f"{op}/{r.case.name}: {reasons[0]}")
            good += not reasons
        passed, failed = passed + good, failed + len(supported) - good
        print(f"{op}: {good} of {len(supported)} cases equal, "
              f"{len(results) - len(supported)} not supported by LiteRT")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
