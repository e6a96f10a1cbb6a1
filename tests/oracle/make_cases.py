#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the operator test cases: models, inputs and the results LiteRT gives for them.

OUT_DIR/<operator>/<case>.tflite, <case>.in (inputs file), <case>.expect (results file; see
records.py) and OUT_DIR/index.json. The bytes written depend only on the case files, the seed and
LiteRT. A case that LiteRT does not accept has no files beside its model; the index says why.

Comparing: "tolerance" is "exact" or "ulp", the latter with the largest distance allowed in units
of the last place ("ulp": 0 still means equal bits). Any NaN equals any NaN.

With --keep, cases that the same case files, seed and packages have made there are left as they are: builds of one
tree share them.
"""

import argparse
import collections
import dataclasses
import fcntl
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import pickle
import re
import sys
import zlib

ORACLE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ORACLE))
import litert_layers  # noqa: E402
import numpy as np  # noqa: E402
import records  # noqa: E402
from case import Tensor, random_samples  # noqa: E402
from tflite_builder import ModelBuilder  # noqa: E402

OPS = ORACLE.parent / "ops"
MINIMUM_CASES = 20


@dataclasses.dataclass
class Result:
    """`reason`: None, or why LiteRT does not support the case."""

    case: object
    model: bytes
    samples: list
    expected: list
    reason: str | None


def operator_names(wanted=None):
    found = sorted(p.parent.name for p in OPS.glob("*/cases.py"))
    if not wanted:
        return found
    names = wanted.split(",")
    for name in names:
        if name not in found:
            raise SystemExit(f"no operator '{name}' under {OPS}")
    return names


def load_module(op):
    spec = importlib.util.spec_from_file_location(f"cases_{op}", OPS / op / "cases.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_cases(op, seed):
    cases = list(load_module(op).cases(np.random.default_rng([seed, zlib.crc32(op.encode())])))
    names = [c.name for c in cases]
    duplicates = {n for n in names if names.count(n) > 1}
    if duplicates:
        raise SystemExit(f"tests/ops/{op}/cases.py: case names not unique: {sorted(duplicates)}")
    return cases


def build(case, output_shapes):
    m = ModelBuilder()
    inputs, graph_inputs, made = [], [], {}
    for i, t in enumerate(case.inputs):
        if t is None or id(t) in made:
            inputs.append(-1 if t is None else made[id(t)])
            continue
        data = None if t.data is None else np.ascontiguousarray(t.data).tobytes()
        if t.bits == 4:
            index = m.int4(f"input_{i}", t.data, t.scale, t.zero_point, t.axis)
        else:
            index = m.tensor(f"input_{i}", t.dtype, t.shape, t.scale, t.zero_point, t.axis, data)
        inputs.append(index)
        made[id(t)] = index
        if t.data is None:
            graph_inputs.append(index)
    outputs = []
    for i, (t, shape) in enumerate(zip(case.outputs, output_shapes)):
        signature = None
        if case.most_rows is not None and i == 0:  # as converters write it
            shape = (1,) + tuple(shape[1:])
            signature = (-1,) + shape[1:]
        outputs.append(m.tensor(f"output_{i}", t.dtype, shape, t.scale, t.zero_point, t.axis,
                                shape_signature=signature))
    if case.join is None:
        m.op(case.kind, inputs, outputs, **case.options)
    else:
        t = case.join
        graph_inputs.append(m.tensor("join", t.dtype, t.shape, t.scale, t.zero_point))
        result = m.tensor("result", t.dtype, output_shapes[0], t.scale, t.zero_point)
        m.op(case.kind, inputs, [result], **case.options)
        m.op("MAXIMUM", [result, graph_inputs[-1]], outputs)
    if case.follow:
        outputs = [case.follow(m, outputs)]
    return m.finish(graph_inputs, outputs)


def samples_of(case, seed):
    rng = np.random.default_rng([seed, zlib.crc32(f"{case.kind}/{case.name}".encode())])
    samples = case.samples(rng) if case.samples else random_samples(case, rng)
    return [[np.asarray(a, t.dtype).reshape(t.shape) for a, t in zip(s, case.model_inputs())]
            for s in samples]


def run_case(case, seed):
    """Two passes: the first, with results of unknown shape, lets LiteRT infer the shapes."""
    samples = samples_of(case, seed)
    model = build(case, [t.shape for t in case.outputs])
    run, there, back = case, lambda a: a, lambda r: r.copy()
    if case.stand_in:
        run, there, back = case.stand_in.case, case.stand_in.there, case.stand_in.back
    inputs = [[there(a) for a in s] for s in samples]
    try:
        unknown = build(run, [t.shape for t in run.outputs])
        shapes = [r.shape for r in litert_layers.Layers(unknown, case.kernels).run(inputs[0])[0 if case.follow else -1]]
        model = build(case, shapes)
        layers = litert_layers.Layers(build(run, shapes), case.kernels)
        expected = [_with_count(case, [back(r) for r in layers.run(s)[-1]]) for s in inputs]
    except litert_layers.Rejected as error:
        return Result(case, model, samples, [], _clean(str(error)))
    if case.undefined:
        return Result(case, model, samples, [], f"undefined in LiteRT: {case.undefined}")
    return Result(case, model, samples, expected, None)


def _with_count(case, results):
    """A result that has as many rows as the data says, filled up, and how many rows count."""
    if case.most_rows is None:
        return results
    rows = results[0]
    rest = np.zeros((case.most_rows - len(rows),) + rows.shape[1:], rows.dtype)
    return [np.concatenate([rows, rest])] + results[1:] + [np.array([len(rows)], np.int32)]


def _clean(reason):
    """LiteRT's message without file paths and line numbers, which differ between builds."""
    reason = re.sub(r"[\w./-]*/([\w-]+\.(?:cc|h))(?::\d+)?", r"\1", reason)
    # Scales are printed with an integer format: stack garbage, different in every run.
    reason = re.sub(r"(scale != \S+) \(-?\d+ != -?\d+\)", r"\1", reason)
    return re.sub(r"\s+", " ", reason)


def run_in_child(case, seed):
    """For cases that may end the process: the child's death is the answer."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # LiteRT prints its last words there
        result = run_case(case, seed)
        with os.fdopen(write_end, "wb") as out:
            pickle.dump((result.model, result.samples, result.expected, result.reason), out)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as source:
        data = source.read()
    _, status = os.waitpid(pid, 0)
    if status != 0 or not data:
        model = build(case, [t.shape for t in case.outputs])
        return Result(case, model, samples_of(case, seed), [], "LiteRT ends the process")
    return Result(case, *pickle.loads(data))


def run_operator(op, seed):
    for case in load_cases(op, seed):
        yield run_in_child(case, seed) if case.may_abort else run_case(case, seed)


def _describe(t):
    text = {"dtype": t.dtype, "shape": [int(d) for d in t.shape]}
    if t.data is not None:
        text["constant"] = True
    if t.bits != 8:
        text["bits"] = t.bits
    if t.scale is not None:
        text["scale"] = [float(np.float32(s)) for s in np.atleast_1d(t.scale)]
        text["zero_point"] = [int(z) for z in np.atleast_1d(t.zero_point)]
        if np.size(t.scale) > 1:
            text["axis"] = t.axis
    return text


def _entry(result):
    case = result.case
    shapes = [e.shape for e in result.expected[0]] if result.expected else []
    count = [Tensor("int32", (1,))] if case.most_rows is not None else []
    outputs = [_describe(t) for t in case.outputs + count]
    for text, shape in zip(outputs, shapes):
        text["shape"] = [int(d) for d in shape]
    entry = {
        "name": case.name, "kind": case.kind, "supported": result.reason is None,
        "inputs": [None if t is None else _describe(t) for t in case.inputs], "outputs": outputs,
        "options": {k: v if isinstance(v, (bool, int, float, str, list)) else str(v)
                    for k, v in case.options.items()},
        "tolerance": case.tolerance, "samples": len(result.expected),
    }
    if case.tolerance == "ulp":
        entry["ulp"] = case.ulp
    if result.reason is not None:
        entry["reason"] = result.reason
    if case.note:
        entry["note"] = case.note
    return entry


def write_operator(op, seed, out_dir):
    folder = out_dir / op
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.suffix in (".tflite", ".in", ".expect"):
            old.unlink()
    entries = []
    for result in run_operator(op, seed):
        name = result.case.name
        (folder / f"{name}.tflite").write_bytes(result.model)
        if result.reason is None:
            (folder / f"{name}.in").write_bytes(records.pack_inputs(result.samples))
            (folder / f"{name}.expect").write_bytes(records.pack_results(
                (s, 0, r, np.ascontiguousarray(value).tobytes())
                for s, values in enumerate(result.expected) for r, value in enumerate(values)))
        entries.append(_entry(result))
    return entries


def too_few_of_pairs(op, entries):
    """Pairs of operator and type below the minimum, of the folders that list their PAIRS. A case counts
    for the type of its last operand, or of its first result where PAIR_BY says so."""
    module = load_module(op)
    pairs, of = getattr(module, "PAIRS", ()), getattr(module, "PAIR_BY", "inputs")
    if not pairs:
        return []
    counts = collections.Counter(
        (e["kind"], e[of][0 if of == "outputs" else -1]["dtype"]) for e in entries if e["supported"])
    return [f"{kind} {dtype} ({counts[kind, dtype]})" for kind, dtype in pairs
            if counts[kind, dtype] < MINIMUM_CASES]


def key_of(args):
    """What the cases depend on."""
    key = hashlib.sha256(repr((args.seed, args.ops, sys.version)).encode())
    for package in ("numpy", "ai-edge-litert"):
        key.update(importlib.metadata.version(package).encode())
    for source in sorted([*ORACLE.glob("*.py"), *OPS.glob("*/*.py")]):
        key.update(str(source.relative_to(ORACLE.parent)).encode() + source.read_bytes())
    return key.hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out_dir", type=pathlib.Path)
    parser.add_argument("--ops", help="comma separated folder names; all by default")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="leave what the same sources have made")
    args = parser.parse_args()
    args.out_dir.mkdir(parents=True, exist_ok=True)
    with open(args.out_dir / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return make(args)


def make(args):
    stamp, key = args.out_dir / "made-by", key_of(args)
    if args.keep and stamp.exists() and stamp.read_text().split("\n")[0] == key:
        print(stamp.read_text().split("\n")[1] + ", made before")
        return 0
    stamp.unlink(missing_ok=True)
    index, few = {"seed": args.seed, "operators": {}}, []
    for op in operator_names(args.ops):
        entries = write_operator(op, args.seed, args.out_dir)
        index["operators"][op] = entries
        supported = sum(e["supported"] for e in entries)
        print(f"{op}: {supported} cases, {len(entries) - supported} not supported by LiteRT")
        if supported < MINIMUM_CASES:
            few.append(op)
        few += too_few_of_pairs(op, entries)
    (args.out_dir / "index.json").write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")
    total = sum(e["supported"] for entries in index["operators"].values() for e in entries)
    summary = f"{total} cases of {len(index['operators'])} operators in {args.out_dir}"
    print(summary)
    if few:
        print(f"error: fewer than {MINIMUM_CASES} cases: {', '.join(few)}", file=sys.stderr)
        return 1
    stamp.write_text(f"{key}\n{summary}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
