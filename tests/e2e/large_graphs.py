# SPDX-License-Identifier: Apache-2.0
"""Graphs of thousands of small ADDs: what a compiler that looks at every pair would be slow on."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
from tflite_builder import ModelBuilder  # noqa: E402


class Graph:
    def __init__(self, dtype):
        self.m = ModelBuilder("large")
        self.dtype, self.count = dtype, 0
        # Two inputs, because operators that depend on one tensor of bytes would become a table.
        self.input, self.other = self.tensor(), self.tensor()

    def tensor(self):
        self.count += 1
        name = f"t{self.count}"
        if self.dtype == "float32":
            return self.m.tensor(name, self.dtype, (1, 16))
        return self.m.tensor(name, self.dtype, (1, 16), 0.1 + self.count % 97 / 1000, 0)

    def add(self, a, b):
        y = self.tensor()
        self.m.op("ADD", [a, b], [y], activation="NONE")
        return y

    def bytes(self, output):
        return self.m.finish([self.input, self.other], [output])


def chain(count, dtype="float32"):
    """One behind the other; an input is read by all."""
    g = Graph(dtype)
    t = g.other
    for _ in range(count):
        t = g.add(t, g.input)
    return g.bytes(t)


def window(count, dtype="float32", distance=24):
    """Every result is read once more `distance` operators later."""
    g = Graph(dtype)
    made = [g.input, g.other]
    for _ in range(count):
        made.append(g.add(made[-1], made[max(0, len(made) - distance)]))
    return g.bytes(made[-1])


def wide(count, dtype="float32"):
    """Half are made first, and are all alive when the others begin to add them up."""
    g = Graph(dtype)
    made = [g.add(g.input, g.other) for _ in range(count // 2)]
    t = made[0]
    for other in made[1:]:
        t = g.add(t, other)
    return g.bytes(t)


def many(kind, count):
    """`count` small int8 operators, each with a scale of its own where the kind has one, one behind the other;
    CONCATENATION of 50 tensors at a time, and for "fan_out" MULs that all read the inputs, added up."""
    m = ModelBuilder(kind)

    def tensor(name, width=16, step=0):
        return m.tensor(name, "int8", (1, width), 0.1 + step / 100000, 0)

    a, b = tensor("a"), tensor("b")
    x = b
    if kind in ("add", "mul"):
        for i in range(count):
            y = tensor(f"y{i}", step=i)
            m.op(kind.upper(), [x, a], [y], activation="NONE")
            x = y
    elif kind == "relu":
        for i in range(count):
            y = tensor(f"y{i}", step=i)
            m.op("RELU", [x], [y])
            x = y
    elif kind == "pad":  # one element more on either side, and less
        amounts = m.const("amounts", np.array([[0, 0], [1, 1]], np.int32))
        begin, end, step = (m.const(n, np.array(v, np.int32)) for n, v in
                            (("begin", [0, 1]), ("end", [1, 17]), ("step", [1, 1])))
        for i in range(count // 2):
            y, z = tensor(f"y{i}", 18), tensor(f"z{i}")
            m.op("PAD", [x, amounts], [y])
            m.op("STRIDED_SLICE", [y, begin, end, step], [z])
            x = z
    elif kind == "concatenation":
        width, made = 50, []
        for i in range(count):
            if (i + 1) % (width + 1):
                y = tensor(f"y{i}")
                m.op("RELU", [x if i < width else a], [y])
                made.append(y)
            else:
                wide, x = tensor(f"c{i}", 16 * len(made)), tensor(f"y{i}")
                m.op("CONCATENATION", made, [wide], axis=1, activation="NONE")
                begin, end, step = (m.const(f"{n}{i}", np.array(v, np.int32)) for n, v in
                                    (("begin", [0, 0]), ("end", [1, 16]), ("step", [1, 1])))
                m.op("STRIDED_SLICE", [wide, begin, end, step], [x])
                a, made = x, []
        for y in made:
            z = tensor(f"z{y}")
            m.op("ADD", [x, y], [z], activation="NONE")
            x = z
    else:
        for i in range(count // 2):
            y, z = tensor(f"y{i}", step=i), tensor(f"z{i}", step=i)
            m.op("MUL", [a, b], [y], activation="NONE")
            m.op("ADD", [x, y], [z], activation="NONE")
            x = z
    return m.finish([0, 1], [x])


def images(count, dtype="float32"):
    """RELUs of an image, whose rows may be computed one by one."""
    m = ModelBuilder("images")
    x = m.tensor("x", dtype, (1, 8, 8, 4))
    for i in range(count):
        y = m.tensor(f"y{i}", dtype, (1, 8, 8, 4))
        m.op("RELU", [x], [y])
        x = y
    return m.finish([0], [x])


def planes(count, dtype="float32"):
    """Layers of PyTorch: each is a pool of images and a RELU of planes, with transposes between them."""
    m = ModelBuilder("planes")
    to_image, to_planes = (m.const(n, np.array(v, np.int32)) for n, v in (("i", [0, 2, 3, 1]), ("p", [0, 3, 1, 2])))
    first = x = m.tensor("x", dtype, (1, 4, 6, 8))
    for i in range(count):
        image, pooled = (m.tensor(f"{n}{i}", dtype, (1, 6, 8, 4)) for n in "ab")
        planes_of, y = (m.tensor(f"{n}{i}", dtype, (1, 4, 6, 8)) for n in "cd")
        m.op("TRANSPOSE", [x, to_image], [image])
        m.op("MAX_POOL_2D", [image], [pooled], padding="SAME", stride_h=1, stride_w=1, filter_h=3, filter_w=3)
        m.op("TRANSPOSE", [pooled, to_planes], [planes_of])
        m.op("RELU", [planes_of], [y])
        x = y
    return m.finish([first], [x])


def byte_chain(count):
    """Int8 RELUs, one behind the other, which aotc makes one table of."""
    return many("relu", count)


KINDS = {"chain": chain, "window": window, "wide": wide, "images": images, "planes": planes, "bytes": byte_chain}
