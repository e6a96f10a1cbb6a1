#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small PyTorch networks as .onnx files, by both of PyTorch's exporters.

Usage: torch_models.py OUT_DIR [NAME...]

NAME_dynamo.onnx comes from torch.onnx.export(dynamo=True), NAME_script.onnx from dynamo=False; NAME_outside.onnx
(of one network) has its weights in a file beside it. Weights are random, from a fixed seed.
"""
import pathlib
import sys

import onnx
import torch
from torch import nn


class Convolutional(nn.Module):
    """Depthwise-separable, with batch normalisation, as MobileNet has it."""

    def __init__(self):
        super().__init__()

        def block(before, after, stride):
            return [nn.Conv2d(before, before, 3, stride, 1, groups=before, bias=False), nn.BatchNorm2d(before), nn.ReLU6(),
                    nn.Conv2d(before, after, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU6()]

        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(), *block(8, 16, 1),
                                  *block(16, 24, 2))
        self.head = nn.Linear(24, 5)

    def forward(self, x):
        x = self.body(x).mean([2, 3])
        return torch.softmax(self.head(x), dim=1)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.left = nn.Sequential(nn.Conv2d(8, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 3, 1, 1),
                                  nn.BatchNorm2d(16))
        self.side = nn.Conv2d(8, 16, 1, 2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        x = self.first(x)
        x = torch.relu(self.left(x) + self.side(x))
        return self.head(torch.flatten(self.pool(x), 1))


class SqueezeExcite(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 5, 2, 2)
        self.down, self.up = nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 1)
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.1), nn.Linear(8 * 4 * 4, 3))

    def forward(self, x):
        x = nn.functional.hardswish(self.conv(x))
        gate = nn.functional.hardsigmoid(self.up(torch.relu(self.down(nn.functional.adaptive_avg_pool2d(x, 1)))))
        return self.head(nn.functional.max_pool2d(x * gate, 2))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, activation="gelu", batch_first=True)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.layer(x)[:, 0])


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cells = getattr(nn, kind)(6, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.cells(x)[0][:, -1])


class Sound(nn.Module):
    """One dimension, causal padding, a bit of normalisation."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv1d(4, 8, 3, dilation=2), nn.Conv1d(8, 8, 3, stride=2, groups=2)
        self.norm = nn.GroupNorm(2, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        x = torch.tanh(self.first(nn.functional.pad(x, (4, 0))))
        x = nn.functional.leaky_relu(self.norm(self.second(x)), 0.1)
        return torch.log_softmax(self.head(x.amax(2)), dim=1)


class Upscale(nn.Module):
    """As an autoencoder's decoder, or a segmenting network."""

    def __init__(self):
        super().__init__()
        self.down, self.across = nn.Conv2d(1, 8, 3, 2, 1), nn.ConvTranspose2d(8, 4, 2, 2)
        self.last = nn.Conv2d(5, 1, 3, padding=1)

    def forward(self, x):
        y = nn.functional.elu(self.across(torch.relu(self.down(x))))
        return torch.sigmoid(self.last(torch.cat([x, y], 1)))


class Interpolate(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(1, 4, 3, 2, 1), nn.Conv2d(4, 1, 3, padding=1)

    def forward(self, x):
        x = nn.functional.silu(self.first(x))
        x = nn.functional.interpolate(x, scale_factor=2, mode="nearest")
        x = nn.functional.interpolate(x, size=(12, 12), mode="bilinear", align_corners=False)
        return self.last(x)


def dense():
    return nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16), nn.PReLU(), nn.Linear(16, 10),
                         nn.Tanh())


MODELS = {
    "convolutional": (Convolutional, (1, 3, 16, 16)),
    "residual": (Residual, (1, 1, 12, 12)),
    "squeeze": (SqueezeExcite, (1, 3, 16, 16)),
    "transformer": (Transformer, (1, 6, 16)),
    "lstm": (lambda: Recurrent("LSTM"), (1, 5, 6)),
    "gru": (lambda: Recurrent("GRU"), (1, 5, 6)),
    "sound": (Sound, (1, 4, 20)),
    "upscale": (Upscale, (1, 1, 8, 8)),
    "interpolate": (Interpolate, (1, 1, 8, 8)),
    "dense": (dense, (1, 10)),
}
OUTSIDE = "dense"  # also with its weights in a file of their own


def without_places(path):
    """What the exporter notes of each node is where the source lies and how long which pass took."""
    model = onnx.load(path, load_external_data=False)
    for node in model.graph.node:
        del node.metadata_props[:]
        node.ClearField("doc_string")
    for value in [*model.graph.value_info, *model.graph.initializer, *model.graph.input, *model.graph.output]:
        del value.metadata_props[:]
    del model.graph.metadata_props[:], model.metadata_props[:]
    model.graph.ClearField("doc_string")
    path.write_bytes(model.SerializeToString())


def export(name, out):
    torch.manual_seed(1)
    make, shape = MODELS[name]
    model = make().eval()
    for layer in model.modules():  # what training would leave there
        if isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d)):
            layer.running_mean.normal_(0, 0.2)
            layer.running_var.uniform_(0.5, 1.5)
    example = (torch.randn(shape),)
    names = {"input_names": ["x"], "output_names": ["y"]}
    torch.onnx.export(model, example, str(out / f"{name}_script.onnx"), dynamo=False, **names)
    torch.onnx.export(model, example, str(out / f"{name}_dynamo.onnx"), dynamo=True, external_data=False, **names)
    if name == OUTSIDE:
        torch.onnx.export(model, example, str(out / f"{name}_outside.onnx"), dynamo=True, external_data=True, **names)
    for path in out.glob(f"{name}_*.onnx"):
        without_places(path)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or MODELS:
        if name not in MODELS:
            sys.exit(f"torch_models.py: no network '{name}': {', '.join(MODELS)}")
        export(name, out)


if __name__ == "__main__":
    main()
