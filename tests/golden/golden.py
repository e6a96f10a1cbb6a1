# SPDX-License-Identifier: 0BSD
"""The C of a few small models that is stored beside this file: test_golden.py compares it, `update` writes it.

Large tables are stored as their SHA-256 only.
"""
import hashlib
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE.parent / "models"
LARGEST = 10_000
CASES = {
    # name: (model, options); every file
    "dense": ("ops/dense_int8.tflite", ["--arena", "model"]),
    "chain": ("keras/flatten_int8.tflite", []),
    "chain_workspace": ("keras/conv1d_int8.tflite", ["--memory", "workspace"]),
    "state": ("state/accumulator_int8.tflite", []),
    "slices": ("state/while_count_f32.tflite", ["--slice", "call"]),
    "cortex_m4": ("ops/dense_int8.tflite", ["--board", "qemu_mps2_an386"]),
}
# One operator each: the functions that `prefix.c` holds, a file for each model.
OPERATORS = """
    add_int8 add_f32 avg_pool_same_int8 avg_pool_same_f32 concat_ranges_differ_int8 conv_1x1_relu6_int8
    conv_same_int8 conv_same_f32 conv_io_int8_float_io dense_f32 depthwise_same_int8 depthwise_same_f32 hard_swish_int8
    hard_swish_f32 leaky_relu_int8 leaky_relu_f32 logistic_int8 logistic_f32 max_pool_same_int8 maximum_int8 maximum_f32
    mean_hw_keep_int8 mean_hw_keep_f32 minimum_broadcast_int8 mul_channel_gate_int8 mul_relu6_f32 pack_last_int8
    pad_hw_int8 resize_nearest_up_int8 softmax_int8 softmax_f32 split_last_int8 strided_slice_masks_int8 tanh_int8 tanh_f32
    transpose_nchw_int8 unpack_last_int8
""".split()
NAMES = [*CASES, "operators"]


def stored_form(path):
    data = path.read_bytes()
    if len(data) <= LARGEST or not path.name.endswith("_data.c"):
        return path.name, data.decode()
    return path.name + ".sha256", hashlib.sha256(data).hexdigest() + "\n"


def emitted(aotc, work, name):
    """{file: text} of a folder here; `work` is an empty folder."""
    if name == "operators":
        return {f"{m}.c": one(aotc, work, m, f"ops/{m}.tflite", [], "model")["model.c"] for m in OPERATORS}
    model, options = CASES[name]
    return one(aotc, work, name, model, options, name)


def one(aotc, work, name, model, options, prefix):
    folder = work / name
    subprocess.run([aotc, "compile", MODELS / model, "--prefix", prefix, "-o", folder, "--quiet", *options],
                   check=True, stdout=subprocess.DEVNULL)
    files = [p for p in sorted(folder.iterdir()) if p.name != "aotc.json"]
    return dict(stored_form(p) for p in files)
