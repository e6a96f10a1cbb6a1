#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The node tests of the onnx package: each is a small model with inputs and what comes out. Those that aotc
compiles run as C, many in one program, each in its planned arena; what is accepted must be right.

Usage: node_tests.py --work DIR [--only TEXT ...] [--frozen] [--list] [--least N] [--subset N] [--markdown]
                     [--target host|cortex_m4|cortex_m55|riscv32] [--compiler CC] [--jobs N]
                     [--root FOLDER]

  --only TEXT    tests whose name has the text; may be given again
  --subset N     N of them, spread over the list
  --frozen       inputs that must be known at compile time (axes, shapes) have their value by --value
  --least N      fail if fewer pass
  --list         what became of each test, with the message
  --markdown     the table as docs/reliability.md has it
  --target       where programs run: host, or cortex_m4, cortex_m55 and riscv32 in the emulator (default host)
  --root         tests of another version of the package: write_node_tests.py

The last line counts: N passed, N refused, N wrong. Without the package it is skipped; with CI=true it fails.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import common  # noqa: E402
import onnx_families as families  # noqa: E402
import onnx_programs as programs  # noqa: E402

TYPES = {"float32": "float", "int64": "int64_t", "int32": "int32_t", "uint8": "uint8_t", "int8": "int8_t",
         "bool": "uint8_t", "int16": "int16_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "int64_t",
         "float16": "uint16_t", "float64": "double", "bfloat16": "uint16_t", "float8_e4m3fn": "uint8_t",
         "float8_e4m3fnuz": "uint8_t", "float8_e5m2": "uint8_t", "float8_e5m2fnuz": "uint8_t",
         "float8_e8m0fnu": "uint8_t", "float4_e2m1fn": "uint8_t", "int4": "int8_t", "uint4": "uint8_t"}


CPUS = {"host": [], "cortex_m4": ["--cpu", "cortex-m4"], "cortex_m55": ["--cpu", "cortex-m55"], "riscv32": ["--cpu", "rv32imac"]}


# Tests whose recorded results are not those of their model.
UNFIT = {"test_adam_multiple": "its results were made with epsilon 0.01, which the model does not have"}


# Their recorded results wrap around where the operator saturates (20 in place of -235.7): what onnxruntime gives counts.
WRAPPED = {f"test_qlinearmatmul_{dims}D_int8_{scales}" for dims in (2, 3) for scales in ("float16", "float32")}


# Norms of 0 gave what is not a number there, and give 0 by a later version of the package and by onnxruntime.
ZEROS = {"test_l2normalization_axis_0"}


# The specification put softcap behind the mask, and numbered the last output so, until it was corrected for the same
# versions of the operator (onnx 1.23.2 has other results for them): what onnxruntime gives counts.
CORRECTED = {f"test_attention_{name}" for name in (
    "3d_with_past_and_present_qk_matmul_bias", "3d_with_past_and_present_qk_matmul_softcap",
    "4d_with_past_and_present_qk_matmul_bias", "4d_with_past_and_present_qk_matmul_bias_3d_mask",
    "4d_with_past_and_present_qk_matmul_bias_3d_mask_causal", "4d_with_past_and_present_qk_matmul_bias_4d_mask",
    "4d_with_past_and_present_qk_matmul_bias_4d_mask_causal", "4d_with_qk_matmul_bias", "4d_with_qk_matmul_softcap")}


# Their recorded results have 1.9e-7 where the sum is 0, the noise of a transform in float32: numpy's in float64 count.
ROUGH = {"test_dft_inverse", "test_dft_inverse_opset19"}


@dataclasses.dataclass
class Case:
    name: str
    path: pathlib.Path
    family: str
    inputs: list  # (name, array) of tensors
    outputs: list  # arrays
    verdict: str = ""  # passed, refused, wrong
    why: str = ""  # slug, or how it is wrong
    text: str = ""
    frozen: bool = False
    given: list = dataclasses.field(default_factory=list)  # inputs of the program, in its order
    later: list = dataclasses.field(default_factory=list)  # the same for further runs, one behind the other
    options: list = dataclasses.field(default_factory=list)  # more of them for aotc
    shapes: list = dataclasses.field(default_factory=list)  # of the program's outputs
    counts: int = 0  # how many of those, the last ones, say how much of others counts


def tensors_of(folder, kind, count):
    """What the test's files hold; None in place of what is no tensor of numbers."""
    import onnx
    from onnx import numpy_helper
    out = []
    for i in range(count):
        path = folder / "test_data_set_0" / f"{kind}_{i}.pb"
        array = None
        try:
            tensor = onnx.TensorProto()
            tensor.ParseFromString(path.read_bytes())
            array = numpy_helper.to_array(tensor)
            if array.dtype.name not in TYPES:
                array = None
        except Exception:  # sequences, optionals, strings
            pass
        out.append(array)
    return out


def load(folder, family_of):
    import onnx
    model = onnx.load(folder / "model.onnx", load_external_data=False)
    names = [i.name for i in model.graph.input]
    outputs = tensors_of(folder, "output", len(model.graph.output))
    inputs = list(zip(names, tensors_of(folder, "input", len(names))))
    if folder.name in WRAPPED | ZEROS or (folder.name in CORRECTED and of_first_reading(model)):
        outputs = by_onnxruntime(folder / "model.onnx", inputs)
    if folder.name in ROUGH:
        outputs = [dft(inputs[0][1], axis=1, inverse=True)]
    return Case(folder.name, folder / "model.onnx", family_of(folder.name, model), inputs, outputs)


def of_first_reading(model):
    """Is an Attention numbered so that 1 is behind the mask and 2 behind softcap?"""
    attributes = {a.name: a.i if a.name == "qk_matmul_output_mode" else a.f for a in model.graph.node[0].attribute}
    return attributes.get("qk_matmul_output_mode") == (2 if attributes.get("softcap") else 1)


def by_onnxruntime(path, inputs):
    import onnxruntime
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, dict(inputs))


def dft(x, axis, length=None, onesided=False, inverse=False):
    """What the operator DFT gives, in float64: the last dimension is real and perhaps imaginary parts."""
    numbers = x[..., 0].astype(np.complex128) + (1j * x[..., 1] if x.shape[-1] == 2 else 0)
    out = (np.fft.ifft if inverse else np.fft.fft)(numbers, length, axis)
    if onesided:
        out = np.take(out, range(out.shape[axis] // 2 + 1), axis)
    return np.stack([out.real, out.imag], axis=-1).astype(np.float32)


def value_text(array):
    if array.dtype == bool:
        array = array.astype(np.uint8)
    return str(array.tolist()).replace(" ", "").replace("nan", "nan")


def frozen_sets(case):
    """Which inputs to give a value, from few to all: small whole numbers behind the first, then the rest."""
    known = [(n, a) for n, a in case.inputs if a is not None]
    small = [(n, a) for n, a in known[1:] if a.dtype.kind in "iub" and a.ndim <= 1 and a.size <= 64]
    rest = [(n, a) for n, a in known[1:] if a.size <= 512]
    every = [(n, a) for n, a in known if a.size <= 512]
    return [small, rest, every]


def compile_case(case, index, folder, arguments):
    """Runs aotc; on success the model's C lies in the folder under the prefix."""
    prefix = f"m{index}"
    attempts = [[]] + (frozen_sets(case) if arguments.frozen else [])
    for values in attempts:
        options = case.options + [f"--value={n}={value_text(a)}" for n, a in values]
        options += CPUS[arguments.target]
        done = subprocess.run([common.AOTC, "compile", case.path, "--prefix", prefix, "-o", folder / prefix, *options],
                              capture_output=True, text=True, errors="replace", timeout=600)
        if done.returncode == 0:
            case.given = [a for n, a in case.inputs if n not in dict(values) and (a is None or a.size)]
            case.frozen = bool(values)
            return
        if "[onnx-constant]" not in done.stderr:
            break
    case.text = done.stderr.replace(f"{case.path}: ", "")
    slugs = re.findall(r"\[([a-z-]+)\]", done.stderr)
    case.verdict = "refused" if done.returncode == 1 and slugs else "wrong"
    case.why = slugs[0] if slugs else f"aotc ended with {done.returncode}"
    if case.why == "internal" or case.why.startswith(("tir-", "ir-", "plan-")):
        case.verdict = "wrong"


def raw_kind(array):
    """Floats of a type that has room for a tolerance."""
    return "wide" if array.dtype.name in ("float16", "float32", "float64", "bfloat16") else "narrow"


def counted_part(raw, want, shape, counts):
    """Of an output of the largest shape what counts, if that is as much as it should be."""
    apart = [d for d in range(want.ndim) if len(shape) == want.ndim and want.shape[d] != shape[d]]
    if len(apart) != 1 or want.shape[apart[0]] not in counts or len(raw) != want.itemsize * np.prod(shape):
        return raw
    array = np.frombuffer(raw, want.dtype).reshape(shape)
    return np.ascontiguousarray(array[tuple(slice(n) for n in want.shape)]).tobytes()


def settle_counts(case, found):
    """The outputs as the test has them, without how much of them counts."""
    wanted = [w for w in case.outputs if w is None or w.size or len(found) - case.counts == len(case.outputs)]
    if not case.counts or len(found) != len(wanted) + case.counts:
        return found
    counts = {int(np.frombuffer(raw, np.int32)[0]) for raw in found[len(wanted):]}
    parts = zip(found, wanted, case.shapes)
    return [raw if w is None else counted_part(raw, w, shape, counts) for raw, w, shape in parts if w is None or w.size]


def judge(case, found, rtol, atol):
    if case.name in UNFIT:
        case.verdict, case.why = "unfit", UNFIT[case.name]
        return
    found = settle_counts(case, found)
    for i, want in enumerate(case.outputs):
        if want is None:
            case.verdict, case.why = "wrong", f"output {i} was accepted, and is no tensor of numbers"
            return
        if want.size == 0:  # nothing to write, and no output of the C
            continue
        raw = found.pop(0) if found else b""
        if len(raw) != want.nbytes:
            case.verdict, case.why = "wrong", f"output {i} has {len(raw)} bytes, expected {want.nbytes}"
            return
        got = np.frombuffer(raw, want.dtype).reshape(want.shape)
        if want.dtype.isbuiltin != 1:  # types of few bits: to the bit, but for NaN's
            got, want = (a.astype(np.int32 if "int" in a.dtype.name else np.float32) for a in (got, want))
            signs = (np.signbit(np.where(np.isnan(a), 0, a)) for a in (got, want))
            exact = np.array_equal(got, want, equal_nan=True) and np.array_equal(*signs)
        else:
            exact = np.array_equal(got, want)
        good = exact or (want.dtype.kind == "f" and raw_kind(case.outputs[i]) == "wide" and
                         np.allclose(got, want, rtol=rtol, atol=atol, equal_nan=True))
        if not good:
            case.verdict, case.why = "wrong", f"output {i} differs"
            apart = ~np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True).ravel()
            case.text = f"{apart.sum()} of {apart.size}: {got.ravel()[apart][:8]} instead of {want.ravel()[apart][:8]}\n"
            return
    case.verdict = "passed"


def run(cases, arguments, rtol=1e-3, atol=1e-7, judged=None):
    judged = judged or (lambda case, found: judge(case, found, rtol, atol))
    work = pathlib.Path(arguments.work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(lambda pair: compile_case(pair[1], pair[0], work, arguments), enumerate(cases)))
        accepted = [(f"m{i}", case) for i, case in enumerate(cases) if not case.verdict]
        size = programs.BATCH[arguments.target]
        batches = [accepted[i:i + size] for i in range(0, len(accepted), size)]
        build = lambda pair: programs.run_batch(pair[1], work, pair[0], arguments)  # noqa: E731
        for batch, results in zip(batches, pool.map(build, enumerate(batches))):
            for (prefix, case), (status, found) in zip(batch, results):
                if status == 0:
                    judged(case, found)
                else:
                    case.verdict, case.why = "wrong", f"the program ended with {status}"


def report(cases, arguments):
    if arguments.list:
        for case in cases:
            print(f"{case.verdict:8} {case.name} {case.why}")
            for line in case.text.splitlines():
                print(f"    {line}")
    columns = ("passed", "refused", "wrong")
    table = collections.defaultdict(collections.Counter)
    for case in cases:
        table[case.family][case.verdict] += 1
        table["all"][case.verdict] += 1
    bar, edge = (" | ", "|") if arguments.markdown else ("  ", "")
    wide = max(len(f) for f in table)
    print(f"{edge}{'family':{wide}}{bar}{bar.join(f'{c:>7}' for c in columns)}{edge}")
    if arguments.markdown:
        print("|-|-:|-:|-:|")
    for family in sorted(table, key=lambda f: (f == "all", f)):
        print(f"{edge}{family:{wide}}{bar}{bar.join(f'{table[family][c]:7}' for c in columns)}{edge}")
    reasons = collections.Counter(c.why for c in cases if c.verdict == "refused")
    for case in cases:
        if case.verdict == "unfit":
            print(f"left out: {case.name}: {case.why}")
    print("refused: " + (", ".join(f"{why} {n}" for why, n in reasons.most_common()) or "none"))
    frozen = sum(c.frozen for c in cases if c.verdict == "passed")
    if arguments.frozen:
        print(f"{frozen} of the passed have inputs with a value")
    for case in cases:
        if case.verdict == "wrong" and not arguments.list:
            print(f"WRONG {case.name}: {case.why}\n{case.text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--work", required=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--subset", type=int, default=0)
    parser.add_argument("--frozen", action="store_true")
    parser.add_argument("--least", type=int, default=0)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--target", choices=sorted(programs.BATCH), default="host")
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 4))
    parser.add_argument("--root", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        import onnx
    except ImportError:
        if os.environ.get("CI"):
            raise common.Failure("the package onnx is not installed: scripts/setup test") from None
        common.skip("the package onnx is not installed: scripts/setup test")
    root = arguments.root or pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
    if not root.is_dir():
        raise common.Failure(f"onnx {onnx.__version__} has no node tests on disk; tests/requirements.txt names one that has")
    folders = [f for f in sorted(root.iterdir()) if all(t in f.name for t in arguments.only)]
    if arguments.subset:
        step = max(len(folders) / arguments.subset, 1.0)
        folders = [folders[int(i * step)] for i in range(min(arguments.subset, len(folders)))]
    family_of = families.finder(root)
    cases = [load(f, family_of) for f in folders]
    run(cases, arguments)
    report(cases, arguments)
    count = collections.Counter(c.verdict for c in cases)
    print(f"{count['passed']} passed, {count['refused']} refused, {count['wrong']} wrong")
    if count["wrong"]:
        raise common.Failure("what is accepted must be right")
    if count["passed"] < arguments.least:
        raise common.Failure(f"{count['passed']} passed, and it were {arguments.least}")


if __name__ == "__main__":
    common.main_of(main)
