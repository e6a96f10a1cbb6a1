# SPDX-License-Identifier: Apache-2.0
"""Models with state and control flow that TensorFlow's converter does not write: int8 values that a
branch or a loop takes and gives as they are (the converter makes them floats there), several handles
of one variable, a variable without a first value. Each builder gives a model's bytes.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "oracle"))
import tflite_builder  # noqa: E402

SEED = 57
SCALE, ZERO = 0.05, -3  # of every int8 value that crosses a boundary here


class Graph(tflite_builder.ModelBuilder):
    """A subgraph with short forms for what these models are made of."""

    def int8(self, name, shape=(1, 8), scale=SCALE, zero_point=ZERO):
        return self.tensor(name, "int8", shape, scale, zero_point)

    def scalar(self, name, dtype="int32"):
        return self.tensor(name, dtype, ())

    def add(self, left, right, result):
        self.op("ADD", [left, right], [result], version=2)
        return result

    def counted(self, i):
        """i + 1."""
        return self.add(i, self.const("one", np.int32(1)), self.scalar("next"))

    def dense(self, x, seed, result):
        """A fully connected layer with weights of its own."""
        rng = np.random.default_rng(SEED + seed)
        weights = self.const("weights", rng.integers(-127, 128, (8, 8)).astype(np.int8), 0.004)
        bias = self.const("bias", rng.integers(-300, 300, 8).astype(np.int32), SCALE * 0.004)
        self.op("FULLY_CONNECTED", [x, weights, bias], [result], version=4)
        return result

    def handle(self, name):
        made = self.resource(f"{name}_handle")
        self.op("VAR_HANDLE", [], [made], shared_name=name)
        return made

    def resource(self, name):
        return self.tensor(name, None, (), type_number=tflite_builder.RESOURCE)

    def read(self, handle, result):
        self.op("READ_VARIABLE", [handle], [result])
        return result

    def assign(self, handle, value):
        self.op("ASSIGN_VARIABLE", [handle, value], [])


def below(*more):
    """The subgraph "the first operand is below the second"; `more` adds operands after them."""
    g = Graph("below")
    operands = [g.scalar("i"), g.scalar("n"), *(add(g) for add in more)]
    result = g.scalar("on", "bool")
    g.op("LESS", operands[:2], [result])
    return g, operands, [result]


def if_int8():
    """int8 operands and results; one branch is a layer, the other an addition."""
    then = Graph("then")
    x, y = then.int8("x"), then.int8("y")
    then_part = (then, [x, y], [then.dense(x, 1, then.int8("r"))])
    other = Graph("else")
    x, y = other.int8("x"), other.int8("y")
    else_part = (other, [x, y], [other.add(x, y, other.int8("r"))])
    main = Graph()
    flag, x, y = main.scalar("flag", "bool"), main.int8("x"), main.int8("y")
    chosen, result = main.int8("chosen"), main.int8("result", scale=0.1, zero_point=7)
    main.op("IF", [flag, x, y], [chosen], then=1, else_=2)
    main.add(chosen, x, result)
    return tflite_builder.model_of([(main, [flag, x, y], [result]), then_part, else_part])


def while_int8(steps=None):
    """An int8 value goes round through a layer as often as an input says, or `steps` times."""
    body = Graph("body")
    i, n, v, x = body.scalar("i"), body.scalar("n"), body.int8("v"), body.int8("x")
    moved = body.add(body.dense(v, 2, body.int8("layer")), x, body.int8("moved"))
    body_part = (body, [i, n, v, x], [body.counted(i), n, moved, x])
    main = Graph()
    n = main.scalar("n") if steps is None else main.const("n", np.int32(steps))
    x = main.int8("x")
    zero = main.const("zero", np.int32(0))
    outs = [main.scalar("i_out"), main.scalar("n_out"), main.int8("v_out"), main.int8("x_out")]
    main.op("WHILE", [zero, n, x, x], outs, cond=1, body=2)
    cond = below(lambda g: g.int8("v"), lambda g: g.int8("x"))
    inputs = [n, x] if steps is None else [x]
    return tflite_builder.model_of([(main, inputs, [outs[2], outs[0]]), cond, body_part])


CARRIED = {"int8": (SCALE, ZERO), "bool": None, "int16": (0.001, 0), "int32": None, "int64": None,
           "uint8": (0.125, 128), "float32": None}


def triples(g, prefix):
    """Three tensors of each type."""
    made = []
    for dtype, quantization in CARRIED.items():
        for k in range(3):
            made.append(g.tensor(f"{prefix}{k}_{dtype}", dtype, (1, 3), *(quantization or ())))
    return made


def while_types():
    """Values of all types move up at every step (a = b, b = c); the body needs no operator for it.

    An exchange (a = b, b = a) would not do: LiteRT loses a value (see while_shift).
    """
    body = Graph("body")
    i, n, values = body.scalar("i"), body.scalar("n"), triples(body, "in")
    moved = [values[at + (at % 3 < 2)] for at in range(len(values))]
    body_part = (body, [i, n, *values], [body.counted(i), n, *moved])
    cond = Graph("below")
    operands, on = [cond.scalar("i"), cond.scalar("n"), *triples(cond, "in")], cond.scalar("on", "bool")
    cond.op("LESS", operands[:2], [on])
    main = Graph()
    n, values, results = main.scalar("n"), triples(main, "x"), triples(main, "y")
    zero = main.const("zero", np.int32(0))
    main.op("WHILE", [zero, n, *values], [main.scalar("i_out"), main.scalar("n_out"), *results],
            cond=1, body=2)
    outputs = [*results[::3], *results[1::3], results[-1]]
    return tflite_builder.model_of([(main, [n, *values], outputs), (cond, operands, [on]), body_part])


def handles():
    """Two handles of one variable in the main graph, a third in a branch."""
    init = Graph("init")
    first = init.const("first", np.arange(-4, 4, dtype=np.int8).reshape(1, 8), SCALE, ZERO)
    init.assign(init.handle("kept"), first)
    init_part = (init, [], [])
    then = Graph("then")
    x = then.int8("x")
    inside = then.handle("kept")
    old = then.read(inside, then.int8("old"))
    then.assign(inside, then.add(old, x, then.int8("new")))
    then_part = (then, [x], [old])
    other = Graph("else")
    x = other.int8("x")
    else_part = (other, [x], [x])
    main = Graph()
    flag, x = main.scalar("flag", "bool"), main.int8("x")
    main.op("CALL_ONCE", [], [], init=1)
    one, two = main.handle("kept"), main.handle("kept")
    before = main.read(one, main.int8("before"))
    chosen = main.int8("chosen")
    main.op("IF", [flag, x], [chosen], then=2, else_=3)
    after = main.read(two, main.int8("after"))
    left = main.int8("left")
    main.op("SUB", [after, chosen], [left], version=2)
    main.assign(one, left)
    last = main.read(two, main.int8("last"))
    main_part = (main, [flag, x], [before, after, last])
    return tflite_builder.model_of([main_part, init_part, then_part, else_part])


def no_first_value():
    """No CALL_ONCE: the variable is written before it is read, in every run."""
    main = Graph()
    x = main.int8("x")
    handle = main.handle("scratch")
    main.assign(handle, x)
    result = main.add(main.read(handle, main.int8("kept")), x, main.int8("y"))
    return tflite_builder.model_of([(main, [x], [result])])


def shared_branches():
    """Two IFs with the same two subgraphs, which give an operand twice, or a constant and a sum."""
    then = Graph("then")
    x, y = then.int8("x"), then.int8("y")
    then_part = (then, [x, y], [x, x])
    other = Graph("else")
    x, y = other.int8("x"), other.int8("y")
    constant = other.const("constant", np.arange(8, dtype=np.int8).reshape(1, 8), SCALE, ZERO)
    else_part = (other, [x, y], [constant, other.add(x, y, other.int8("sum"))])
    main = Graph()
    a, b = main.scalar("a", "bool"), main.scalar("b", "bool")
    x, y = main.int8("x"), main.int8("y")
    first, second = ([main.int8(f"{name}{k}") for k in (0, 1)] for name in ("first", "second"))
    main.op("IF", [a, x, y], first, then=1, else_=2)
    main.op("IF", [b, first[1], first[0]], second, then=1, else_=2)
    return tflite_builder.model_of(
        [(main, [a, b, x, y], [*second, first[0]]), then_part, else_part])


def no_results():
    """An IF without results: one branch assigns a variable, the other has no operators at all."""
    init = Graph("init")
    init.assign(init.handle("kept"), init.const("first", np.full((1, 8), 9, np.int8), SCALE, ZERO))
    init_part = (init, [], [])
    then = Graph("then")
    handle, x = then.resource("handle"), then.int8("x")
    then.assign(handle, x)
    then_part = (then, [handle, x], [])
    other = Graph("else")
    else_part = (other, [other.resource("handle"), other.int8("x")], [])
    main = Graph()
    store, x = main.scalar("store", "bool"), main.int8("x")
    main.op("CALL_ONCE", [], [], init=1)
    handle = main.handle("kept")
    main.op("IF", [store, handle, x], [], then=2, else_=3)
    kept = main.read(handle, main.int8("y"))
    main_part = (main, [store, x], [kept])
    return tflite_builder.model_of([main_part, init_part, then_part, else_part])


def while_results():
    """A loop's body gives one result twice and a constant; the carried values begin as one tensor."""
    body = Graph("body")
    i, n = body.scalar("i"), body.scalar("n")
    a, b, c = (body.int8(name) for name in "abc")
    constant = body.const("constant", np.arange(-8, 8, 2, dtype=np.int8).reshape(1, 8), SCALE, ZERO)
    total = body.add(body.add(a, b, body.int8("ab")), c, body.int8("abc"))
    body_part = (body, [i, n, a, b, c], [body.counted(i), n, total, total, constant])
    main = Graph()
    n, x = main.scalar("n"), main.int8("x")
    zero = main.const("zero", np.int32(0))
    outs = [main.scalar("i_out"), main.scalar("n_out"), *(main.int8(f"{k}_out") for k in "abc")]
    main.op("WHILE", [zero, n, x, x, x], outs, cond=1, body=2)
    y = main.add(outs[2], x, main.int8("y"))
    cond = below(*[lambda g: g.int8("v")] * 3)
    return tflite_builder.model_of([(main, [n, x], [y, outs[3], outs[4]]), cond, body_part])


BUILDERS = {"if_direct_int8": if_int8, "while_direct_int8": while_int8, "while_types": while_types,
            "handles_int8": handles, "no_first_value_int8": no_first_value,
            "shared_branches_int8": shared_branches, "no_results_int8": no_results,
            "while_results_int8": while_results}
