# SPDX-License-Identifier: Apache-2.0
"""Graphs of thousands of small ADDs: what a compiler that looks at every pair would be slow on."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
from tflite_builder import ModelBuilder  # noqa: E402


class Graph:
    def __init__(self, dtype):
        self.m = ModelBuilder("large")
        self.dtype, self.count = dtype, 0
        self.input = self.tensor()

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
        return self.m.finish([self.input], [output])


def chain(count, dtype="float32"):
    """One behind the other; the input is read by all."""
    g = Graph(dtype)
    t = g.input
    for _ in range(count):
        t = g.add(t, g.input)
    return g.bytes(t)


def window(count, dtype="float32", distance=24):
    """Every result is read once more `distance` operators later."""
    g = Graph(dtype)
    made = [g.input]
    for _ in range(count):
        made.append(g.add(made[-1], made[max(0, len(made) - distance)]))
    return g.bytes(made[-1])


def wide(count, dtype="float32"):
    """Half are made first, and are all alive when the others begin to add them up."""
    g = Graph(dtype)
    made = [g.add(g.input, g.input) for _ in range(count // 2)]
    t = made[0]
    for other in made[1:]:
        t = g.add(t, other)
    return g.bytes(t)


KINDS = {"chain": chain, "window": window, "wide": wide}


if __name__ == "__main__":  # large_graphs.py KIND COUNT DTYPE FILE
    kind, size, element, file = sys.argv[1:]
    pathlib.Path(file).write_bytes(KINDS[kind](int(size), element))
