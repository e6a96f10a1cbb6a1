#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An ONNX model beside onnxruntime, layer by layer.

Usage: compare.py MODEL --work DIR [--inputs N] [--seed N] [--input NAME=FILE.npy ...] [--dim NAME=N ...]
                  [--target host|cortex_m4|cortex_m55|riscv32] [--compiler CC]

Of a quantised model the tensors of 8 bits become outputs of the C, of another one every tensor; a second C, of the
model as it is, has its outputs compared. Expected are onnxruntime's (onnx_layers.py). Quantised tensors must be equal,
but one element of a thousand may be one step away, which happens behind layers that are computed in float; floats have
a relative tolerance of 1e-3.
"""
import argparse
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import common  # noqa: E402
import node_tests  # noqa: E402
import onnx_layers  # noqa: E402


def pairs(texts, option):
    out = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or name in out:
            raise common.Failure(f"{option} {text}: NAME=..., each name once")
        out[name] = value
    return out


def shape_of(info, dims, model):
    shape = []
    for at, d in enumerate(info.type.tensor_type.shape.dim):
        if d.HasField("dim_value"):
            shape.append(d.dim_value)
        elif d.dim_param in dims:
            shape.append(int(dims[d.dim_param]))
        elif at == 0 and not d.dim_param:
            shape.append(1)
        else:
            raise common.Failure(f"{model}: dimension {at} ('{d.dim_param}') of input '{info.name}' is open: "
                                 f"--dim {d.dim_param or 'NAME'}=1")
    return shape


def random_value(info, shape, random):
    import onnx
    kind = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
    if kind.kind == "f":
        return random.standard_normal(shape).astype(kind)
    if kind == bool:
        return random.integers(0, 2, shape).astype(bool)
    if kind.kind in "iu" and kind.itemsize == 1:
        limits = np.iinfo(kind)
        return random.integers(limits.min, limits.max + 1, shape).astype(kind)
    if kind.kind in "iu":
        return random.integers(0, 2, shape).astype(kind)
    raise common.Failure(f"no random values of {kind} for input '{info.name}': --input {info.name}=FILE.npy")


def inputs_of(arguments, model):
    """Of each turn: an array by name."""
    known = {t.name for t in model.graph.initializer}
    ports = [i for i in model.graph.input if i.name not in known]
    dims, files = pairs(arguments.dim, "--dim"), pairs(arguments.input, "--input")
    for name in files:
        if name not in {p.name for p in ports}:
            raise common.Failure(f"{arguments.model}: there is no input '{name}'; its inputs are "
                                 + ", ".join(f"'{p.name}'" for p in ports))
    random = np.random.default_rng(arguments.seed)
    turns = []
    for _ in range(arguments.inputs):
        turn = {}
        for port in ports:
            if port.name in files:
                try:
                    turn[port.name] = np.load(files[port.name])
                except (OSError, ValueError) as error:
                    raise common.Failure(f"{files[port.name]}: {error}") from None
            else:
                turn[port.name] = random_value(port, shape_of(port, dims, arguments.model), random)
        turns.append(turn)
    return turns


def case(name, path, turns, wants, options):
    first = turns[0]
    later = [array for turn in turns[1:] for array in turn.values()]
    out = node_tests.Case(name, path, "all", list(first.items()), wants[0], later=later, options=options)
    out.found = []
    return out


def kept(judged, found):
    judged.verdict, judged.found = "passed", found


def compare(arguments):
    import onnx
    path = pathlib.Path(arguments.model)
    if not path.is_file():
        raise common.Failure(f"{path}: there is no such file")
    work = common.fresh(arguments.work.resolve())
    try:
        reference = onnx_layers.Reference(path, work / "models")
        turns = inputs_of(arguments, reference.model)
        wants = [reference.run(turn) for turn in turns]
    except common.Failure:
        raise
    except Exception as error:  # of onnx and onnxruntime, which have many
        raise common.Failure(f"{path}: onnxruntime: {error}") from None
    names = [o.name for o in reference.exposed().graph.output]
    seen = work / "models" / "seen.onnx"
    onnx.save(reference.exposed(), seen)
    whole = [o.name for o in reference.model.graph.output]
    options = [f"--dim={text}" for text in arguments.dim]
    cases = [case("layers", seen, turns, wants, options),
             case("model", path.resolve(), turns, [[w[names.index(n)] for n in whole] for w in wants], options)]
    arguments.frozen, arguments.jobs, arguments.work = False, 2, work / "c"
    node_tests.run(cases, arguments, judged=kept)
    for c in cases:
        if c.verdict != "passed":
            raise common.Failure(f"{path} ({c.name}): {c.why}\n{c.text}")
    kinds = {output: node.op_type for node in reference.model.graph.node for output in node.output}
    order = {name: at for at, name in enumerate(kinds)}
    layers = sorted(onnx_layers.differences(names, wants, cases[0].found), key=lambda d: order.get(d.name, -1))
    ends = onnx_layers.differences(whole, [[w[names.index(n)] for n in whole] for w in wants], cases[1].found)
    return reference.quantised, kinds, layers, ends


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("model")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--inputs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--dim", action="append", default=[])
    parser.add_argument("--target", choices=sorted(node_tests.programs.BATCH), default="host")
    parser.add_argument("--compiler", default="gcc")
    arguments = parser.parse_args()
    if arguments.inputs < 1:
        parser.error("--inputs is at least 1")
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        raise common.Failure(f"{error}: scripts/setup test") from None
    quantised, kinds, layers, ends = compare(arguments)
    bad = 0
    for layer in layers + ends:
        good = layer.is_good(exact=False)
        bad += not good
        what = kinds.get(layer.name, "") if layer not in ends else "output of the model as it is"
        print(f"{'' if good else 'WRONG '}{layer.name} ({what}): {layer.text()}")
    if bad and quantised and not onnx_layers.has_exact_products():
        print("this processor has no VNNI: onnxruntime's sums of products of 8 bits saturate here, with weights of 7 bits they "
              "do not; results that differ may be its own")
    unequal = sum(d.unequal for d in layers)
    print(f"{len(layers)} {'quantised ' if quantised else ''}tensors, {sum(d.elements for d in layers)} elements, "
          f"{unequal} not equal, {bad} tensors wrong")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    common.main_of(main)
