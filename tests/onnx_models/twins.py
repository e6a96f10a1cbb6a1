#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What quantised networks cost as ONNX models beside the .tflite files they were made from, on an emulated Cortex-M4.

Usage: twins.py --work DIR [--models kws,ad,resnet,vww]

The networks of ../shared/models become ONNX here: the same weights and scales, images as planes, each operator between
DequantizeLinear and QuantizeLinear. Printed are instructions of one run and bytes of the arena, with images fed as the
.tflite file takes them; the ONNX form may have 5 % more instructions, and no larger arena. The results must be onnxruntime's but for one step where it computes in float.
"""
import argparse
import os
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e"), str(HERE.parent / "oracle")]
import common  # noqa: E402
import onnx_layers  # noqa: E402

BOARD = "qemu_mps2_an386"
MOST = 1.05


class Twin:
    """ONNX nodes for the operators of a .tflite file."""

    def __init__(self, operators, tensors):
        self.operators, self.tensors = operators, tensors
        self.nodes, self.constants, self.made = [], [], set()

    def const(self, name, array):
        from onnx import numpy_helper
        if name not in self.made:
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
            self.made.add(name)
        return name

    def node(self, kind, inputs, output, **attributes):
        from onnx import helper
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def scales(self, i, of):
        """Names of the scale and zero point of tensor i."""
        zero = np.broadcast_to(np.atleast_1d(of.zero_point), np.shape(of.scale))
        scale, zero = np.asarray(of.scale, np.float32), np.asarray(zero, np.int8)
        if scale.size == 1:
            scale, zero = scale.reshape(()), zero.reshape(())
        return self.const(f"s{i}", scale), self.const(f"z{i}", zero)

    def real(self, i):
        """Tensor i in float."""
        return self.node("DequantizeLinear", [f"t{i}", *self.scales(i, self.tensors[i])], f"r{i}_{len(self.nodes)}")

    def stored(self, i, value):
        self.node("QuantizeLinear", [value, *self.scales(i, self.tensors[i])], f"t{i}")

    def weights(self, i, array):
        self.const(f"t{i}", array)
        return self.node("DequantizeLinear", [f"t{i}", *self.scales(i, self.tensors[i])], f"r{i}", axis=0)

    def bias(self, i):
        tensor = self.tensors[i]
        self.const(f"t{i}", tensor.data.reshape(-1))
        scale = self.const(f"s{i}", np.asarray(tensor.scale, np.float32).reshape(-1 if len(tensor.scale) > 1 else ()))
        return self.node("DequantizeLinear", [f"t{i}", scale], f"r{i}", axis=0)

    def relu(self, options, out):
        if options.get("activation") == "RELU":
            assert int(np.ravel(self.tensors[out].zero_point)[0]) == -128

    def convolution(self, options, ins, out, depthwise):
        w = self.tensors[ins[1]].data
        w = np.transpose(w, (3, 0, 1, 2) if depthwise else (0, 3, 1, 2))
        image, result = self.tensors[ins[0]].shape[1:3], self.tensors[out].shape[1:3]
        strides = [options["stride_h"], options["stride_w"]]
        total = [max(0, (result[d] - 1) * strides[d] + w.shape[2 + d] - image[d]) for d in (0, 1)]
        if options["padding"] == "VALID":
            total = [0, 0]
        self.relu(options, out)
        value = self.node("Conv", [self.real(ins[0]), self.weights(ins[1], w), self.bias(ins[2])], f"c{out}",
                          kernel_shape=list(w.shape[2:]), strides=strides, group=w.shape[0] if depthwise else 1,
                          pads=[t // 2 for t in total] + [t - t // 2 for t in total])
        self.stored(out, value)

    def add_operator(self, kind, options, ins, outs):
        out = outs[0]
        if kind in ("CONV_2D", "DEPTHWISE_CONV_2D"):
            self.convolution(options, ins, out, kind != "CONV_2D")
        elif kind == "AVERAGE_POOL_2D":
            self.stored(out, self.node("GlobalAveragePool", [self.real(ins[0])], f"c{out}"))
        elif kind == "RESHAPE":
            self.stored(out, self.node("Flatten", [self.real(ins[0])], f"c{out}"))
        elif kind == "ADD":
            self.relu(options, out)
            self.stored(out, self.node("Add", [self.real(ins[0]), self.real(ins[1])], f"c{out}"))
        elif kind == "FULLY_CONNECTED":
            self.relu(options, out)
            weights = self.weights(ins[1], self.tensors[ins[1]].data)
            self.stored(out, self.node("Gemm", [self.real(ins[0]), weights, self.bias(ins[2])], f"c{out}", transB=1))
        elif kind == "SOFTMAX":
            self.stored(out, self.node("Softmax", [self.real(ins[0])], f"c{out}", axis=-1))
        else:
            raise common.Failure(f"no twin of {kind}")

    def model(self):
        import onnx
        from onnx import helper
        first, last = self.operators[0][2][0], self.operators[-1][3][0]
        for operator in self.operators:
            self.add_operator(*operator)
        shape = list(self.tensors[first].shape)
        if len(shape) == 4:
            shape = [shape[0], shape[3], shape[1], shape[2]]
        graph = helper.make_graph(
            self.nodes, "twin", [helper.make_tensor_value_info(f"t{first}", onnx.TensorProto.INT8, shape)],
            [helper.make_tensor_value_info(f"t{last}", onnx.TensorProto.INT8, list(self.tensors[last].shape))],
            self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), shape


def instructions(path, folder, samples, *options):
    common.create_project(path, BOARD, folder, *options)
    report = common.report(folder)
    found, figures = common.verify_on_board(folder, BOARD, samples)
    return figures["instructions"], report["arena_bytes"], found, report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--models", default="kws,ad,resnet")
    arguments = parser.parse_args()
    check_model, onnx, onnxruntime = common.need_modules("check_model", "onnx", "onnxruntime")
    work = common.fresh(arguments.work.resolve())
    common.require(common.board(BOARD)["emulator"]["program"])
    failed = 0
    for name in arguments.models.split(","):
        tflite = common.model_path(name)
        model, shape = Twin(*check_model.read_operators(tflite.read_bytes())).model()
        path = work / f"{name}.onnx"
        onnx.save(model, path)
        x = np.random.default_rng(1).integers(-128, 128, shape).astype(np.int8)
        image = np.ascontiguousarray(x.transpose(0, 2, 3, 1)) if x.ndim == 4 else x
        before, arena, _, _ = instructions(tflite, work / f"{name}_tflite", [[image]])
        layout = ["--input-layout", "nhwc"] if x.ndim == 4 else []
        after, planes, found, _ = instructions(path, work / f"{name}_onnx", [[image]], *layout)
        options = onnxruntime.SessionOptions()
        if not onnx_layers.has_exact_products():
            # The quantised operators saturate there; these are in float, as the file says.
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        want = session.run(None, {session.get_inputs()[0].name: x})[0]
        got = np.frombuffer(found[-1][3], np.int8)
        apart = np.abs(got.astype(int) - want.ravel().astype(int))
        ratio = after / before
        good = ratio <= MOST and planes <= arena and apart.max() <= 1
        failed += not good
        print(f"{name:8} instructions {before:10} as TFLite, {after:10} as ONNX: {ratio:.4f}; arena {arena} and {planes} "
              f"bytes; {np.count_nonzero(apart)} of {apart.size} results off by up to {apart.max()}")
    print(f"{len(arguments.models.split(',')) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    common.main_of(main)
