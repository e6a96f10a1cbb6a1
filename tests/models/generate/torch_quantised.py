#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantises float ONNX networks with PyTorch, and exports them by three routes.

Usage: torch_quantised.py OUT_DIR MODEL.onnx...

MODEL becomes a torch.fx module with the same weights. NAME_fx.onnx: FX graph mode, exported by dynamo=False.
NAME_qat.onnx: FX graph mode for training, with fake quantisation. NAME_pt2e.onnx: PT2E, exported by dynamo=True.
Calibration data are random, from a fixed seed. tests/models/torch/quantised has the networks convolutional and
residual of tests/models/torch, without "_script" in their names. It needs requirements-torch.txt and torchao
0.18.0.
"""
import operator
import pathlib
import sys
import warnings

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch import nn

warnings.filterwarnings("ignore")


class Translator:
    """A torch.fx module with the nodes of a float network."""

    def __init__(self, model):
        self.graph, self.root, self.shapes = torch.fx.Graph(), nn.Module(), {}
        inferred = onnx.shape_inference.infer_shapes(model).graph
        for value in (*inferred.value_info, *inferred.input, *inferred.output):
            self.shapes[value.name] = [d.dim_value for d in value.type.tensor_type.shape.dim]
        self.known = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
        self.values = {}
        given = [i for i in model.graph.input if i.name not in self.known]
        self.shape = self.shapes[given[0].name]
        self.values[given[0].name] = self.graph.placeholder("x")
        for node in model.graph.node:
            if node.op_type == "Constant":
                self.known[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
            elif node.op_type == "Identity" and node.input[0] in self.known:
                self.known[node.output[0]] = self.known[node.input[0]]
            else:
                attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
                self.values[node.output[0]] = getattr(self, f"make_{node.op_type}")(node, attributes)
        self.graph.output(self.values[model.graph.output[0].name])

    def module(self, name, made):
        name = f"{name}{len(list(self.root.children()))}"
        self.root.add_module(name, made)
        return name

    def call(self, name, made, x):
        return self.graph.call_module(self.module(name, made), (self.values[x],))

    def make_Conv(self, node, a):
        w = self.known[node.input[1]]
        bias = self.known[node.input[2]] if len(node.input) > 2 else None
        dims, groups = w.ndim - 2, a.get("group", 1)
        pads = a.get("pads", [0] * 2 * dims)
        strides = tuple(a.get("strides", [1] * dims))
        made = (nn.Conv1d, nn.Conv2d)[dims - 1](w.shape[1] * groups, w.shape[0], w.shape[2:], strides,
                                               tuple(pads[:dims]) if pads[:dims] == pads[dims:] else 0,
                                               tuple(a.get("dilations", [1] * dims)), groups, bias is not None)
        made.weight.data = torch.tensor(w)
        if bias is not None:
            made.bias.data = torch.tensor(bias)
        x = self.values[node.input[0]]
        if pads[:dims] != pads[dims:]:
            widths = [p for d in reversed(range(dims)) for p in (pads[d], pads[d + dims])]
            x = self.graph.call_function(nn.functional.pad, (x, widths))
        return self.graph.call_module(self.module("conv", made), (x,))

    def make_Gemm(self, node, a):
        w = self.known[node.input[1]]
        w = w if a.get("transB", 0) else w.T
        made = nn.Linear(w.shape[1], w.shape[0], len(node.input) > 2)
        made.weight.data = torch.tensor(np.ascontiguousarray(w))
        if len(node.input) > 2:
            made.bias.data = torch.tensor(self.known[node.input[2]])
        return self.call("linear", made, node.input[0])

    def make_MatMul(self, node, a):
        w = self.known[node.input[1]]
        made = nn.Linear(*w.shape, bias=False)
        made.weight.data = torch.tensor(np.ascontiguousarray(w.T))
        return self.call("linear", made, node.input[0])

    def make_Relu(self, node, a):
        return self.call("relu", nn.ReLU(), node.input[0])

    def make_Clip(self, node, a):
        if [float(self.known[i]) for i in node.input[1:]] != [0.0, 6.0]:
            raise ValueError(f"{node.name} is no ReLU6")
        return self.call("relu", nn.ReLU6(), node.input[0])

    def make_Softmax(self, node, a):
        return self.call("softmax", nn.Softmax(a.get("axis", -1)), node.input[0])

    def make_Add(self, node, a):
        return self.graph.call_function(torch.add, tuple(
            self.values[i] if i in self.values else self.constant(self.known[i]) for i in node.input))

    def constant(self, array):
        name = f"constant{len(dict(self.root.named_buffers()))}"
        self.root.register_buffer(name, torch.tensor(array))
        return self.graph.get_attr(name)

    def make_MaxPool(self, node, a):
        return self.call("pool", nn.MaxPool2d(a["kernel_shape"], a["strides"]), node.input[0])

    def make_AveragePool(self, node, a):
        return self.call("pool", nn.AvgPool2d(a["kernel_shape"], a["strides"]), node.input[0])

    def make_GlobalAveragePool(self, node, a):
        dims = len(self.shapes[node.input[0]]) - 2
        return self.call("pool", (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d)[dims - 1](1), node.input[0])

    def make_ReduceMean(self, node, a):
        axes = a["axes"] if "axes" in a else self.known[node.input[1]].tolist()
        return self.graph.call_method("mean", (self.values[node.input[0]], list(axes), bool(a.get("keepdims", 1))))

    def make_Flatten(self, node, a):
        return self.call("flatten", nn.Flatten(), node.input[0])

    make_Reshape = make_Flatten

    def make_Slice(self, node, a):
        starts, ends, axes = (self.known[i].tolist() for i in node.input[1:4])
        index = [slice(None)] * len(self.shapes[node.input[0]])
        for s, e, x in zip(starts, ends, axes):
            index[x] = slice(s, None if e > 1 << 30 else e)
        return self.graph.call_function(operator.getitem, (self.values[node.input[0]], tuple(index)))

    def made(self):
        return torch.fx.GraphModule(self.root, self.graph).eval()


def cleaned(path):
    """Without notes about sources and times."""
    model = onnx.load(path)
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    for value in (*model.graph.value_info, *model.graph.input, *model.graph.output):
        del value.metadata_props[:]
    del model.graph.metadata_props[:]
    onnx.save(model, path)


def samples(shape):
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(shape, generator=generator) for _ in range(8)]


def by_fx(network, shape, path, training):
    from torch.ao.quantization import QConfigMapping, get_default_qat_qconfig_mapping, get_default_qconfig_mapping
    from torch.ao.quantization import disable_observer, quantize_fx
    data = samples(shape)
    if training:
        mapping = get_default_qat_qconfig_mapping("x86", version=0)
        network = quantize_fx.prepare_qat_fx(network.train(), mapping, (data[0],))
    else:
        # The exporter has no quantised Softmax.
        mapping = get_default_qconfig_mapping("x86").set_object_type(nn.Softmax, None)
        network = quantize_fx.prepare_fx(network, mapping, (data[0],))
    with torch.no_grad():
        for x in data:
            network(x)
    if training:
        network.apply(disable_observer)
        network.eval()
    else:
        network = quantize_fx.convert_fx(network)
    torch.onnx.export(network, (data[0],), path, dynamo=False, opset_version=17, input_names=["x"], output_names=["y"],
                      verbose=False)


def by_pt2e(network, shape, path):
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e import move_exported_model_to_eval
    from torchao.testing.pt2e._xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
    data = samples(shape)
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    network = prepare_pt2e(torch.export.export(network, (data[0],)).module(), quantizer)
    with torch.no_grad():
        for x in data:
            network(x)
    network = convert_pt2e(network)
    move_exported_model_to_eval(network)
    torch.onnx.export(network, (data[0],), path, dynamo=True, opset_version=21, input_names=["x"], output_names=["y"],
                      external_data=False, verbose=False)


ROUTES = ("fx", "qat", "pt2e")


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    for source in map(pathlib.Path, sys.argv[2:]):
        model = onnx.load(source)
        for route in ROUTES:
            path = out / f"{source.stem.removesuffix('_script')}_{route}.onnx"
            made = Translator(model)
            network = made.made()
            if route == "pt2e":
                by_pt2e(network, made.shape, path)
            else:
                by_fx(network, made.shape, path, route == "qat")
            cleaned(path)
            print(path, path.stat().st_size)


if __name__ == "__main__":
    main()
